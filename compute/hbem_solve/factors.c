#include "compute/hbem_solve/factors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/blas_threads.h"
#include "runtime/first_failure.h"
#include "runtime/memory.h"

/* Measured on spheres of 4,000 to 65,000 vertices: 92 to 98 bytes a row and doubling. */
int64_t factors_estimate(int64_t dofs, int count)
{
    return (int64_t)(105 * log2((double)dofs + 2) * (double)dofs) * count;
}

#ifdef PS_WITH_UMFPACK

#include <suitesparse/umfpack.h>

struct factors {
    const ps_hbem_sparse *matrix;
    SuiteSparse_long *start, *row; /* the pattern; rows are columns, as the matrix is symmetric */
    void *symbolic;
    int count;
    double shift[1 + PS_OSRC_TERMS_MAX][2];
    void *numeric[1 + PS_OSRC_TERMS_MAX];
    int64_t bytes;
};

bool factors_available(void) { return true; }
int64_t factors_bytes(const factors *f) { return f->bytes; }

static void set_control(double *control)
{
    umfpack_zl_defaults(control);
    control[UMFPACK_STRATEGY] = UMFPACK_STRATEGY_SYMMETRIC;
    control[UMFPACK_ORDERING] = UMFPACK_ORDERING_METIS;
    control[UMFPACK_IRSTEP] = 0;
}

static ps_status judge(SuiteSparse_long status, const char *what)
{
    if (status == UMFPACK_OK) return PS_OK;
    if (status == UMFPACK_ERROR_out_of_memory)
        return ps_fail(PS_EXHAUSTED,
                       "no memory for the %s of sparse factors; use --sparse "
                       "iterative",
                       what);
    return ps_fail(PS_FAILED, "UMFPACK fails in the %s (status %lld); use --sparse iterative", what,
                   (long long)status);
}

static ps_status analyse(factors *f)
{
    double control[UMFPACK_CONTROL];
    int64_t n = f->matrix->dofs;
    set_control(control);
    PS_TRY(PS_ALLOC(&f->start, n + 1, "sparse factors"));
    PS_TRY(PS_ALLOC(&f->row, f->matrix->nnz, "sparse factors"));
    for (int64_t i = 0; i <= n; ++i) f->start[i] = f->matrix->start[i];
    for (int64_t e = 0; e < f->matrix->nnz; ++e) f->row[e] = f->matrix->column[e];
    return judge(
        umfpack_zl_symbolic(n, n, f->start, f->row, NULL, NULL, &f->symbolic, control, NULL),
        "analysis");
}

/* The factors of one shift. */
static ps_status factorise(factors *f, int i, int64_t *bytes)
{
    double control[UMFPACK_CONTROL], info[UMFPACK_INFO], *re;
    int64_t nnz = f->matrix->nnz;
    set_control(control);
    PS_TRY(PS_ALLOC(&re, 2 * nnz, "a sparse matrix"));
    for (int64_t e = 0; e < nnz; ++e) {
        re[e] = f->matrix->mass[e] - f->shift[i][0] * f->matrix->stiffness[e];
        re[nnz + e] = -f->shift[i][1] * f->matrix->stiffness[e];
    }
    ps_status status = judge(umfpack_zl_numeric(f->start, f->row, re, re + nnz, f->symbolic,
                                                &f->numeric[i], control, info),
                             "factorisation");
    free(re);
    if (status == PS_OK)
        *bytes = (int64_t)(info[UMFPACK_NUMERIC_SIZE] * info[UMFPACK_SIZE_OF_UNIT]);
    return status;
}

static ps_status factorise_all(factors *f)
{
    int64_t bytes[1 + PS_OSRC_TERMS_MAX] = {0};
    ps_failure failure = {0};
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < f->count; ++i) {
        (void)ps_blas_threads_single();
        ps_note_failure(&failure, factorise(f, i, &bytes[i]));
    }
    for (int i = 0; i < f->count; ++i) f->bytes += bytes[i];
    return ps_first_failure(&failure);
}

ps_status factors_open(const ps_hbem_sparse *matrix, int count, double (*shifts)[2], factors **out)
{
    factors *f;
    *out = NULL;
    PS_TRY(PS_ALLOC(&f, 1, "sparse factors"));
    f->matrix = matrix;
    f->count = count;
    memcpy(f->shift, shifts, (size_t)count * sizeof *shifts);
    ps_status status = analyse(f);
    if (status == PS_OK) status = factorise_all(f);
    if (status != PS_OK) factors_close(&f);
    *out = f;
    return status;
}

void factors_close(factors **f)
{
    if (!*f) return;
    for (int i = 0; i < (*f)->count; ++i)
        if ((*f)->numeric[i]) umfpack_zl_free_numeric(&(*f)->numeric[i]);
    if ((*f)->symbolic) umfpack_zl_free_symbolic(&(*f)->symbolic);
    free((*f)->start);
    free((*f)->row);
    free(*f);
    *f = NULL;
}

static ps_status solve_one(const factors *f, const ps_shifted_system *system)
{
    int64_t n = f->matrix->dofs;
    double control[UMFPACK_CONTROL], *memory;
    int i = 0;
    while (i < f->count && memcmp(f->shift[i], system->shift, sizeof system->shift) != 0) ++i;
    if (i == f->count)
        return ps_fail(PS_FAILED, "no factor for the shift %g + %gi", system->shift[0],
                       system->shift[1]);
    set_control(control);
    PS_TRY(PS_ALLOC(&memory, 7 * n, "a sparse solution")); /* b, work, integers of the call */
    double *b = memory, *work = memory + 2 * n;
    SuiteSparse_long *integers = (SuiteSparse_long *)(memory + 6 * n);
    memcpy(b, system->b, (size_t)(2 * n) * sizeof *b);
    ps_status status =
        judge(umfpack_zl_wsolve(UMFPACK_A, f->start, f->row, NULL, NULL, system->x, system->x + n,
                                b, b + n, f->numeric[i], control, NULL, integers, work),
              "solution");
    free(memory);
    return status;
}

ps_status factors_solve(void *context, int64_t count, const ps_shifted_system *systems)
{
    const factors *f = context;
    ps_failure failure = {0};
#pragma omp parallel for schedule(dynamic)
    for (int64_t s = 0; s < count; ++s) {
        ps_note_failure(&failure, solve_one(f, &systems[s]));
    }
    return ps_first_failure(&failure);
}

#else

bool factors_available(void) { return false; }
int64_t factors_bytes(const factors *f) { return 0; }
void factors_close(factors **f) { *f = NULL; }

ps_status factors_open(const ps_hbem_sparse *matrix, int count, double (*shifts)[2], factors **out)
{
    *out = NULL;
    return ps_fail(PS_USAGE, "--sparse direct: built without UMFPACK");
}

ps_status factors_solve(void *context, int64_t count, const ps_shifted_system *systems)
{
    return ps_fail(PS_USAGE, "--sparse direct: built without UMFPACK");
}

#endif
