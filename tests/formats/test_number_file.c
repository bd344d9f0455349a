/* number_file: rows of numbers behind a header, a byte order mark, or nothing. */
#include "formats/number_file.h"

#include <math.h>
#include <stdio.h>

#include "tests/check.h"

static const char path[] = "numbers.txt";

static const char *const places[] = {PS_COLUMN_X, PS_COLUMN_Y, PS_COLUMN_UP};
static const ps_columns stations = {places, 3};

/* Rows of three numbers; what the reader says is the result. */
static ps_status rows_of(const char *text, int *rows, double *sum)
{
    PS_SCOPED(ps_number_file_close) ps_number_file *file = NULL;
    double row[3];
    int count = 3;
    check_write(path, text);
    *rows = 0;
    *sum = 0;
    check_ok(ps_number_file_open(path, &file));
    ps_number_file_expect(file, &stations);
    ps_status status = PS_OK;
    while (status == PS_OK && count > 0) {
        status = ps_number_file_line(file, row, 3, &count);
        *rows += status == PS_OK && count == 3;
        for (int i = 0; status == PS_OK && i < count; ++i) *sum += row[i];
    }
    return status;
}

static void no_first_row_is_lost(void **state)
{
    static const char *const taken[] = {"1 2 3\n4 5 6\n", "x y z\n1 2 3\n4 5 6\n",
                                        "\xef\xbb\xbf"
                                        "1 2 3\r\n4 5 6",
                                        "\xef\xbb\xbfx,y,z\n1,2,3\n4,5,6\n",
                                        "# 9\nx y z-axis\n1 2 3\n4 5 6\n"};
    static const char *const refused[] = {"1D0 2 3\n4 5 6\n", "1.+00 2 3\n4 5 6\n",
                                          "row 2 3\n4 5 6\n", "-.5d1 2 3\n4 5 6\n",
                                          "1 2 3D0\n4 5 6\n", "x y z\nu v w\n1 2 3\n"};
    int rows;
    double sum;
    for (size_t i = 0; i < sizeof taken / sizeof *taken; ++i) {
        check_ok(rows_of(taken[i], &rows, &sum));
        assert_int_equal(rows, 2);
        check_near(sum, 21, 0, 0);
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; ++i)
        check_fails(rows_of(refused[i], &rows, &sum), PS_INVALID, "is no number");
}

/* Columns that are called otherwise than they are read. */
static void headers_are_held_against_places(void **state)
{
    static const char *const taken[] = {
        "x y z\n1 2 3\n4 5 6\n",
        "Easting,NORTHING,h\n1,2,3\n4,5,6\n",
        "X[m] Y[m] Z(metres)\n1 2 3\n4 5 6\n",
        "x (m) y (m) z (m)\n1 2 3\n4 5 6\n",
        "# y and x, of 3 places\n1 2 3\n4 5 6\n",
        "# measured at z\n1 2 3\n4 5 6\n", /* prose */
        "a b c\n1 2 3\n4 5 6\n",
        "1 2 3\n# z y x\n4 5 6\n",
    };
    static const char *const refused[][2] = {
        {"y x z\n1 2 3\n", "calls column 1 \"y\", where x is expected"},
        {"# y x z\n1 2 3\n", "calls column 1 \"y\", where x is expected"},
        {"# y x z\n# by hand\n\n1 2 3\n", "calls column 1 \"y\", where x is expected"},
        {"\"x\",\"y\",\"depth\"\n1,2,3\n", "calls column 3 \"depth\", where z is expected"},
        {"lon lat h\n1 2 3\n", "calls column 1 \"lon\", where x is expected"},
        {"id x y\n1 2 3\n", "calls column 1 \"id\", where x is expected"},
        {"x[km] y[km] z[m]\n1 2 3\n", "column 1, x, is in \"km\": m is expected"},
        {"x (m) y (m) z (ft)\n1 2 3\n", "column 3, z, is in \"ft\": m is expected"},
    };
    int rows;
    double sum;
    (void)state;
    for (size_t i = 0; i < sizeof taken / sizeof *taken; ++i)
        check_ok(rows_of(taken[i], &rows, &sum));
    for (size_t i = 0; i < sizeof refused / sizeof *refused; ++i)
        check_fails(rows_of(refused[i][0], &rows, &sum), PS_INVALID, refused[i][1]);
}

static void flags_are_known_in_both_precisions(void **state)
{
    (void)state;
    assert_true(ps_is_usual_flag(-9999) && ps_is_usual_flag((float)-9999.99) &&
                ps_is_usual_flag((float)-1.701410009187828e38) && ps_is_usual_flag(1e20));
    assert_false(ps_is_usual_flag(0) || ps_is_usual_flag(-9998) || ps_is_usual_flag(-998.99) ||
                 ps_is_usual_flag(NAN) || ps_is_usual_flag(INFINITY));
}
