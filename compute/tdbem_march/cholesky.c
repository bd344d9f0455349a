#include "compute/tdbem_march/cholesky.h"

#ifdef PS_WITH_CHOLMOD

#include <stdlib.h>
#include <string.h>
#include <suitesparse/cholmod.h>

#include "runtime/memory.h"

struct cholesky {
    cholmod_common common;
    cholmod_factor *factor;
    cholmod_dense *solution, *work, *spread; /* kept between solves */
    int64_t rows;
};

/* The lower triangle by columns, which by symmetry is the upper one by rows. */
static cholmod_sparse *lower_triangle(const ps_csr *matrix, cholmod_common *common)
{
    size_t entries = (size_t)(matrix->nnz + matrix->rows) / 2;
    cholmod_sparse *a = cholmod_l_allocate_sparse((size_t)matrix->rows, (size_t)matrix->rows,
                                                  entries, 1, 1, -1, CHOLMOD_REAL, common);
    if (!a) return NULL;
    SuiteSparse_long *starts = a->p, *rows = a->i, at = 0;
    double *values = a->x;
    for (int64_t i = 0; i < matrix->rows; ++i) {
        starts[i] = at;
        for (int64_t e = matrix->row_start[i]; e < matrix->row_start[i + 1]; ++e) {
            if (matrix->columns[e] < i || (size_t)at == entries) continue;
            rows[at] = matrix->columns[e];
            values[at++] = matrix->values[e];
        }
    }
    starts[matrix->rows] = at;
    return a;
}

static ps_status failure(const cholesky *c)
{
    if (c->common.status == CHOLMOD_NOT_POSDEF)
        return ps_fail(PS_INVALID, "M^0 is not positive definite: assemble the matrix again");
    return ps_fail(PS_EXHAUSTED, "no memory for the Cholesky factor of M^0; use --solver cg");
}

static ps_status factorise(cholesky *c, const ps_csr *matrix)
{
    cholmod_sparse *a = lower_triangle(matrix, &c->common);
    if (!a) return failure(c);
    c->factor = cholmod_l_analyze(a, &c->common);
    if (c->factor) cholmod_l_factorize(a, c->factor, &c->common);
    cholmod_l_free_sparse(&a, &c->common);
    return c->factor && c->common.status == CHOLMOD_OK ? PS_OK : failure(c);
}

ps_status cholesky_open(const ps_csr *matrix, cholesky **out)
{
    cholesky *c;
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
        cholesky_close(&c);
    return status;
}

int64_t cholesky_bytes(const cholesky *c) { return (int64_t)c->common.memory_inuse; }

ps_status cholesky_solve(cholesky *c, const double *b, double *x)
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

void cholesky_close(cholesky **out)
{
    cholesky *c = *out;
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

ps_status cholesky_open(const ps_csr *matrix, cholesky **out)
{
    *out = NULL;
    return ps_fail(PS_USAGE, "--solver cholesky: this build has no CHOLMOD (install "
                             "libsuitesparse-dev and build again); use --solver cg");
}

int64_t cholesky_bytes(const cholesky *factor) { return 0; }

ps_status cholesky_solve(cholesky *factor, const double *b, double *x)
{
    return ps_fail(PS_USAGE, "this build has no CHOLMOD");
}

void cholesky_close(cholesky **factor) { *factor = NULL; }

#endif
