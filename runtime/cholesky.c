#include "runtime/cholesky.h"

#include <stddef.h>

#ifdef PS_WITH_CHOLMOD

#include <stdlib.h>
#include <string.h>
#if __has_include(<suitesparse/cholmod.h>)
#include <suitesparse/cholmod.h>
#else
#include <cholmod.h>
#endif

#include "runtime/memory.h"

struct ps_cholesky {
    cholmod_common common;
    cholmod_factor *factor;
    cholmod_dense *solution, *work, *spread; /* kept between solves */
    int64_t rows;
};

/* The lower triangle by columns, which by symmetry is the upper one by rows. */
static cholmod_sparse *lower_triangle(const ps_symmetric_rows *matrix, cholmod_common *common)
{
    size_t entries = (size_t)(matrix->start[matrix->rows] + matrix->rows) / 2;
    cholmod_sparse *a = cholmod_l_allocate_sparse((size_t)matrix->rows, (size_t)matrix->rows,
                                                  entries, 1, 1, -1, CHOLMOD_REAL, common);
    if (!a) return NULL;
    SuiteSparse_long *starts = a->p, *rows = a->i, at = 0;
    double *values = a->x;
    for (int64_t i = 0; i < matrix->rows; ++i) {
        starts[i] = at;
        for (int64_t e = matrix->start[i]; e < matrix->start[i + 1]; ++e) {
            if (matrix->columns[e] < i || (size_t)at == entries) continue;
            rows[at] = matrix->columns[e];
            values[at++] = matrix->values[e];
        }
    }
    starts[matrix->rows] = at;
    return a;
}

static ps_status failure(const ps_cholesky *c)
{
    if (c->common.status == CHOLMOD_NOT_POSDEF)
        return ps_fail(PS_INVALID, "the matrix is not positive definite");
    return ps_fail(PS_EXHAUSTED,
                   "no memory for a Cholesky factor of %lld rows; an iterative solver takes less",
                   (long long)c->rows);
}

static ps_status factorise(ps_cholesky *c, const ps_symmetric_rows *matrix)
{
    cholmod_sparse *a = lower_triangle(matrix, &c->common);
    if (!a) return failure(c);
        /* One at a time: the order may come from METIS, whose random numbers are the process's. */
#pragma omp critical(ps_cholesky_order)
    c->factor = cholmod_l_analyze(a, &c->common);
    if (c->factor) cholmod_l_factorize(a, c->factor, &c->common);
    cholmod_l_free_sparse(&a, &c->common);
    return c->factor && c->common.status == CHOLMOD_OK ? PS_OK : failure(c);
}

ps_status ps_cholesky_open(const ps_symmetric_rows *matrix, ps_cholesky **out)
{
    ps_cholesky *c;
    *out = NULL;
    PS_TRY(PS_ALLOC(&c, 1, "the Cholesky factor"));
    cholmod_l_start(&c->common);
    c->common.print = 0;
    c->common.supernodal = CHOLMOD_SIMPLICIAL;
    c->common.final_ll = 1;
    c->rows = matrix->rows;
    ps_status status = factorise(c, matrix);
    if (status == PS_OK)
        *out = c;
    else
        ps_cholesky_close(&c);
    return status;
}

int64_t ps_cholesky_bytes(const ps_cholesky *c) { return (int64_t)c->common.memory_inuse; }

ps_status ps_cholesky_solve(ps_cholesky *c, const double *b, double *x)
{
    cholmod_dense right = {.nrow = (size_t)c->rows,
                           .ncol = 1,
                           .nzmax = (size_t)c->rows,
                           .d = (size_t)c->rows,
                           .x = (void *)b,
                           .xtype = CHOLMOD_REAL,
                           .dtype = CHOLMOD_DOUBLE};
    if (!cholmod_l_solve2(CHOLMOD_A, c->factor, &right, NULL, &c->solution, NULL, &c->work,
                          &c->spread, &c->common))
        return failure(c);
    memcpy(x, c->solution->x, (size_t)c->rows * sizeof *x);
    return PS_OK;
}

void ps_cholesky_close(ps_cholesky **out)
{
    ps_cholesky *c = *out;
    if (!c) return;
    cholmod_l_free_dense(&c->solution, &c->common);
    cholmod_l_free_dense(&c->work, &c->common);
    cholmod_l_free_dense(&c->spread, &c->common);
    cholmod_l_free_factor(&c->factor, &c->common);
    cholmod_l_finish(&c->common);
    free(c);
    *out = NULL;
}

#else

ps_status ps_cholesky_open(const ps_symmetric_rows *matrix, ps_cholesky **out)
{
    *out = NULL;
    return ps_fail(PS_USAGE,
                   "this build has no CHOLMOD (install libsuitesparse-dev and build again); "
                   "an iterative solver does without");
}

int64_t ps_cholesky_bytes(const ps_cholesky *factor) { return 0; }

ps_status ps_cholesky_solve(ps_cholesky *factor, const double *b, double *x)
{
    return ps_fail(PS_USAGE, "this build has no CHOLMOD");
}

void ps_cholesky_close(ps_cholesky **factor) { *factor = NULL; }

#endif
