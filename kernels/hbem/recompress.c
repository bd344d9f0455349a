#include <lapacke.h>
#include <string.h>

#include "kernels/hbem/aca.h"

/* Matrices here are column-major with the parts of a number side by side, as LAPACK has them. */
typedef lapack_complex_double wave;
enum { BLOCK = 32 };

typedef struct factor {
    int64_t length, rank;
    int parts;
    double *q, *tau; /* QR of [length][rank] */
    double *work;    /* [work_size]          */
    int64_t work_size;
} factor;

int64_t ps_recompress_bytes(int64_t rows, int64_t columns, int parts, int64_t rank)
{
    return 8 * parts * rank * (2 * (rows + columns) + 6 * rank + 4 * BLOCK + 32) + 4096;
}

static ps_status orthogonalise(factor *f, const double *planes)
{
    int p = f->parts, n = (int)f->length, k = (int)f->rank, size = (int)(f->work_size / p);
    for (int64_t l = 0; l < k; ++l)
        for (int64_t e = 0; e < n * p; ++e)
            f->q[(l * n + e / p) * p + e % p] = planes[(l * p + e % p) * n + e / p];
    int info = p == 1 ? LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, n, k, f->q, n, f->tau, f->work, size)
                      : LAPACKE_zgeqrf_work(LAPACK_COL_MAJOR, n, k, (wave *)f->q, n, (wave *)f->tau,
                                            (wave *)f->work, size);
    return info ? ps_fail(PS_FAILED, "QR of a block failed (LAPACK: %d)", info) : PS_OK;
}

/* planes = Q [c; 0], c[rank columns `count`][rank] in the scratch of size length * count. */
static ps_status apply(const factor *f, double *c, int64_t count, double *planes)
{
    int p = f->parts, n = (int)f->length, k = (int)f->rank, size = (int)(f->work_size / p);
    int info = p == 1
                   ? LAPACKE_dormqr_work(LAPACK_COL_MAJOR, 'L', 'N', n, (int)count, k, f->q, n,
                                         f->tau, c, n, f->work, size)
                   : LAPACKE_zunmqr_work(LAPACK_COL_MAJOR, 'L', 'N', n, (int)count, k, (wave *)f->q,
                                         n, (wave *)f->tau, (wave *)c, n, (wave *)f->work, size);
    if (info) return ps_fail(PS_FAILED, "recompression of a block failed (LAPACK: %d)", info);
    for (int64_t l = 0; l < count; ++l)
        for (int64_t e = 0; e < n * p; ++e)
            planes[(l * p + e % p) * n + e / p] = c[(l * n + e / p) * p + e % p];
    return PS_OK;
}

/* core[b][a] = sum_c Ru[a][c] Rv[b][c], no conjugate; R are upper triangles. */
static void multiply(const factor *u, const factor *v, double *core)
{
    int p = u->parts;
    int64_t k = u->rank;
    memset(core, 0, (size_t)(k * k * p) * sizeof *core);
    for (int64_t b = 0; b < k; ++b)
        for (int64_t a = 0; a < k; ++a)
            for (int64_t c = a > b ? a : b; c < k; ++c) {
                const double *x = u->q + (c * u->length + a) * p;
                const double *y = v->q + (c * v->length + b) * p;
                double *to = core + (b * k + a) * p;
                to[0] += x[0] * y[0] - (p > 1 ? x[1] * y[1] : 0);
                if (p > 1) to[1] += x[0] * y[1] + x[1] * y[0];
            }
}

typedef struct svd {
    double *core, *left, *right, *sigma, *superdiagonal;
} svd;

static ps_status decompose(const factor *f, const svd *s)
{
    int k = (int)f->rank, size = (int)(f->work_size / f->parts);
    int info = f->parts == 1
                   ? LAPACKE_dgesvd_work(LAPACK_COL_MAJOR, 'S', 'S', k, k, s->core, k, s->sigma,
                                         s->left, k, s->right, k, f->work, size)
                   : LAPACKE_zgesvd_work(LAPACK_COL_MAJOR, 'S', 'S', k, k, (wave *)s->core, k,
                                         s->sigma, (wave *)s->left, k, (wave *)s->right, k,
                                         (wave *)f->work, size, s->superdiagonal);
    return info ? ps_fail(PS_FAILED, "SVD of a block failed (LAPACK: %d)", info) : PS_OK;
}

/* How many singular values to keep: the tail is at most tolerance times all. */
static int64_t keep(const double *sigma, int64_t count, double tolerance)
{
    double all = 0, tail = 0;
    for (int64_t l = 0; l < count; ++l) all += sigma[l] * sigma[l];
    while (count > 0) {
        tail += sigma[count - 1] * sigma[count - 1];
        if (tail > tolerance * tolerance * all) break;
        --count;
    }
    return count;
}

/* c = columns of left times sigma (of right transposed), padded with zeros to `length` rows. */
static void fill(const svd *s, const factor *f, bool left, int64_t count, double *c)
{
    int p = f->parts;
    int64_t k = f->rank;
    memset(c, 0, (size_t)(f->length * count * p) * sizeof *c);
    for (int64_t l = 0; l < count; ++l)
        for (int64_t a = 0; a < k; ++a)
            for (int part = 0; part < p; ++part)
                c[(l * f->length + a) * p + part] =
                    left ? s->left[(l * k + a) * p + part] * s->sigma[l]
                         : s->right[(a * k + l) * p + part];
}

static ps_status take_factor(factor *f, ps_hbem_workspace *workspace)
{
    f->work_size = f->parts * (f->rank * 2 * BLOCK + 16 * f->rank);
    PS_TRY(ps_hbem_take(workspace, 8 * f->parts * f->length * f->rank, &f->q));
    PS_TRY(ps_hbem_take(workspace, 8 * f->parts * f->rank, &f->tau));
    return ps_hbem_take(workspace, 8 * f->work_size, &f->work);
}

static ps_status take_svd(svd *s, int64_t k, int parts, ps_hbem_workspace *workspace)
{
    PS_TRY(ps_hbem_take(workspace, 8 * parts * k * k, &s->core));
    PS_TRY(ps_hbem_take(workspace, 8 * parts * k * k, &s->left));
    PS_TRY(ps_hbem_take(workspace, 8 * parts * k * k, &s->right));
    PS_TRY(ps_hbem_take(workspace, 8 * k, &s->sigma));
    return ps_hbem_take(workspace, 8 * 5 * k, &s->superdiagonal);
}

static ps_status replace(const svd *s, const factor *f, bool left, int64_t count,
                         ps_hbem_workspace *workspace, double *planes)
{
    double *c;
    int64_t before = workspace->used;
    PS_TRY(ps_hbem_take(workspace, 8 * f->parts * f->length * count, &c));
    fill(s, f, left, count, c);
    PS_TRY(apply(f, c, count, planes));
    workspace->used = before;
    return PS_OK;
}

ps_status ps_recompress(const ps_aca_block *block, double tolerance, ps_hbem_workspace *workspace,
                        ps_aca_result *result)
{
    if (result->rank == 0) return PS_OK;
    int64_t before = workspace->used;
    factor u = {.length = block->rows, .rank = result->rank, .parts = block->parts};
    factor v = {.length = block->columns, .rank = result->rank, .parts = block->parts};
    svd s;
    PS_TRY(take_factor(&u, workspace));
    PS_TRY(take_factor(&v, workspace));
    PS_TRY(take_svd(&s, result->rank, block->parts, workspace));
    PS_TRY(orthogonalise(&u, result->u));
    PS_TRY(orthogonalise(&v, result->v));
    multiply(&u, &v, s.core);
    PS_TRY(decompose(&u, &s));
    result->rank = keep(s.sigma, result->rank, tolerance);
    PS_TRY(replace(&s, &u, true, result->rank, workspace, result->u));
    PS_TRY(replace(&s, &v, false, result->rank, workspace, result->v));
    workspace->used = before;
    return PS_OK;
}
