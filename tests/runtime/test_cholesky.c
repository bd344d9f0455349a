/* A sparse symmetric matrix factored and solved (runtime/cholesky.h). */
#include "runtime/cholesky.h"

#include "tests/check.h"

#ifdef PS_WITH_CHOLMOD
enum { ROWS = 50, AVAILABLE = 1 };
#else
enum { ROWS = 50, AVAILABLE = 0 };
#endif

/* 1D Laplace matrix plus a shift. */
static ps_symmetric_rows line(double shift, int64_t *start, int32_t *columns, double *values)
{
    int64_t at = 0;
    for (int r = 0; r < ROWS; ++r) {
        start[r] = at;
        for (int c = r - 1; c <= r + 1; ++c) {
            if (c < 0 || c >= ROWS) continue;
            columns[at] = c;
            values[at++] = c == r ? 2 + shift : -1;
        }
    }
    start[ROWS] = at;
    return (ps_symmetric_rows){ROWS, start, columns, values};
}

static void solves(void **unused)
{
    int64_t start[ROWS + 1];
    int32_t columns[3 * ROWS];
    double values[3 * ROWS], b[ROWS], x[ROWS];
    uint64_t seed = 1;
    ps_symmetric_rows a = line(.01, start, columns, values);
    ps_cholesky *factor = NULL;
    if (!AVAILABLE) {
        check_fails(ps_cholesky_open(&a, &factor), PS_USAGE, "CHOLMOD");
        return;
    }
    check_ok(ps_cholesky_open(&a, &factor));
    assert_true(ps_cholesky_bytes(factor) > 0);
    for (int turn = 0; turn < 2; ++turn) {
        double expected[ROWS];
        for (int i = 0; i < ROWS; ++i) expected[i] = check_random(&seed);
        for (int r = 0; r < ROWS; ++r) {
            b[r] = 0;
            for (int64_t e = start[r]; e < start[r + 1]; ++e)
                b[r] += values[e] * expected[columns[e]];
        }
        check_ok(ps_cholesky_solve(factor, b, x));
        for (int i = 0; i < ROWS; ++i) check_near(x[i], expected[i], 1e-12, 1e-12);
    }
    ps_cholesky_close(&factor);
    assert_null(factor);
    ps_cholesky_close(&factor);
}

static void indefinite(void **unused)
{
    int64_t start[ROWS + 1];
    int32_t columns[3 * ROWS];
    double values[3 * ROWS];
    ps_symmetric_rows a = line(-3, start, columns, values);
    ps_cholesky *factor = NULL;
    if (!AVAILABLE) return;
    check_fails(ps_cholesky_open(&a, &factor), PS_INVALID, "not positive definite");
    assert_null(factor);
}
