#include "stage/prism_sum/rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/columns_hdf5.h"
#include "formats/number_file.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

enum { ROWS = 4096 };

void ps_prism_rows_release(ps_prism_rows *c)
{
    for (int k = 0; k < PS_PRISM_ROW; ++k) free(c->column[k]);
    *c = (ps_prism_rows){0};
}

static ps_status add_row(ps_prism_rows *c, int64_t *capacity, int width, const double *row)
{
    if (c->count == *capacity) {
        int64_t room = *capacity;
        for (int k = 0; k < width; ++k) {
            *capacity = room;
            PS_TRY(ps_grow((void **)&c->column[k], capacity, c->count + 1, sizeof(double),
                           "rows of a table"));
        }
    }
    for (int k = 0; k < width; ++k) c->column[k][c->count] = row[k];
    ++c->count;
    return PS_OK;
}

static ps_status check_row(const char *where, int64_t row, const double *v, int width)
{
    static const double most = 1e15;
    for (int k = 0; k < width; ++k)
        if (!(fabs(v[k]) <= most))
            return ps_fail(PS_INVALID,
                           "%s %lld: number %d is %g: finite numbers up to %g are "
                           "expected",
                           where, (long long)row, k + 1, v[k], most);
    return PS_OK;
}

/* The numbers of the first line that has more than one tell how many there are in each: a first
 * line of one number is a count of rows. */
static bool is_width(const ps_prism_row_form *form, int count, ps_prism_rows *out)
{
    if (out->count == 0 && count >= form->least && count <= form->most) out->width = count;
    return count == out->width;
}

static ps_status read_text(const char *path, const ps_prism_row_form *form, ps_prism_rows *out)
{
    PS_SCOPED(ps_number_file_close) ps_number_file *file = NULL;
    double row[PS_PRISM_ROW + 1];
    char where[320];
    int count;
    int64_t capacity = 0;
    double announced = -1;
    snprintf(where, sizeof where, "%.300s line", path);
    PS_TRY(ps_number_file_open(path, &file));
    ps_number_file_expect(file, form->columns);
    for (;;) {
        PS_TRY(ps_number_file_line(file, row, PS_PRISM_ROW + 1, &count));
        if (count == 0) break;
        int64_t line = ps_number_file_where(file);
        if (count == 1 && out->count == 0 && announced < 0) {
            announced = fabs(row[0]);
            continue;
        }
        if (!is_width(form, count, out))
            return ps_fail(PS_INVALID, "%s %lld: %d numbers; %s are expected", where,
                           (long long)line, count, form->expected);
        PS_TRY(check_row(where, line, row, count));
        PS_TRY(add_row(out, &capacity, count, row));
    }
    if (announced >= 0 && announced != (double)out->count)
        return ps_fail(PS_INVALID, "%s: the first line announces %.15g rows, there are %lld", path,
                       announced, (long long)out->count);
    return PS_OK;
}

static ps_status read_rows(ps_hdf5_columns *file, const char *path, int width, ps_prism_rows *out)
{
    PS_SCOPED_MEMORY double *rows = NULL;
    char where[320];
    int64_t all = ps_hdf5_columns_rows(file);
    snprintf(where, sizeof where, "%.300s row", path);
    PS_TRY(PS_ALLOC(&rows, ROWS * width, "rows of a dataset"));
    for (int k = 0; k < width; ++k)
        PS_TRY(ps_alloc_buffer((void **)&out->column[k], 8 * all, "rows of a dataset"));
    while (out->count < all) {
        int64_t some = all - out->count < ROWS ? all - out->count : ROWS;
        PS_TRY(ps_hdf5_columns_read(file, 0, out->count, some, rows));
        for (int64_t i = 0; i < some; ++i) {
            PS_TRY(check_row(where, out->count + i + 1, rows + i * width, width));
            for (int k = 0; k < width; ++k) out->column[k][out->count + i] = rows[i * width + k];
        }
        out->count += some;
    }
    return PS_OK;
}

static ps_status read_dataset(const char *path, const ps_prism_row_form *form, ps_prism_rows *out)
{
    PS_SCOPED(ps_hdf5_columns_close) ps_hdf5_columns *file = NULL;
    PS_TRY(ps_hdf5_columns_open(path, &form->dataset, 1, &file));
    out->width = ps_hdf5_columns_width(file, 0);
    if (out->width < form->least || out->width > form->most)
        return ps_fail(PS_INVALID, "%s: %s has %d columns; %s are expected", path, form->dataset,
                       out->width, form->expected);
    return read_rows(file, path, out->width, out);
}

ps_status ps_prism_rows_read(const char *path, const ps_prism_row_form *form, ps_prism_rows *out)
{
    PS_TRY(ps_is_hdf5(path) ? read_dataset(path, form, out) : read_text(path, form, out));
    return out->count > 0 ? PS_OK : ps_fail(PS_INVALID, "%s: no rows", path);
}
