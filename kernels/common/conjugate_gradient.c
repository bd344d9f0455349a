#include "kernels/common/conjugate_gradient.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 512, THREADED_ROWS = 16384 };

static int64_t block_count(int64_t rows) { return (rows + BLOCK - 1) / BLOCK; }

int64_t ps_cg_workspace(int64_t rows) { return 3 * rows + 4 * block_count(rows); }

ps_status ps_cg_prepare(const ps_csr *matrix, double *inverse_diagonal)
{
    for (int64_t i = 0; i < matrix->rows; ++i) {
        double diagonal = 0;
        for (int64_t k = matrix->row_start[i]; k < matrix->row_start[i + 1]; ++k)
            if (matrix->columns[k] == i) diagonal = matrix->values[k];
        if (!(diagonal > 0) || !isfinite(diagonal))
            return ps_fail(PS_INVALID,
                           "row %lld of M^0 has %g on the diagonal: the matrix is not positive "
                           "definite; assemble it again",
                           (long long)i, diagonal);
        inverse_diagonal[i] = 1 / diagonal;
    }
    return PS_OK;
}

/* Everything that the threads of a solve share. */
typedef struct solve {
    const ps_csr *matrix;
    const double *scale, *b;
    double *x, *r, *p, *q; /* q = A p */
    double *sums[4];       /* [blocks] partial sums: p.q, |r|^2, r.D r, |b|^2 */
    int64_t rows, blocks;
    double tolerance;
    int64_t limit;
} solve;

static double total(const solve *s, int which)
{
    double sum = 0;
    for (int64_t b = 0; b < s->blocks; ++b) sum += s->sums[which][b];
    return sum;
}

static double row_times(const ps_csr *matrix, int64_t row, const double *x)
{
    double sum = 0;
    for (int64_t k = matrix->row_start[row]; k < matrix->row_start[row + 1]; ++k)
        sum += matrix->values[k] * x[matrix->columns[k]];
    return sum;
}

/* r = b - A x, p = D r; sums: |b|^2, |r|^2, r.D r */
static void start_block(const solve *s, int64_t block, int64_t first, int64_t end)
{
    double bb = 0, rr = 0, rz = 0;
    for (int64_t i = first; i < end; ++i) {
        double r = s->b[i] - row_times(s->matrix, i, s->x), z = s->scale[i] * r;
        s->r[i] = r;
        s->p[i] = z;
        bb += s->b[i] * s->b[i];
        rr += r * r;
        rz += r * z;
    }
    s->sums[3][block] = bb;
    s->sums[1][block] = rr;
    s->sums[2][block] = rz;
}

/* q = A p; sum: p.q */
static void multiply_block(const solve *s, int64_t block, int64_t first, int64_t end)
{
    double pq = 0;
    for (int64_t i = first; i < end; ++i) {
        s->q[i] = row_times(s->matrix, i, s->p);
        pq += s->p[i] * s->q[i];
    }
    s->sums[0][block] = pq;
}

/* x += alpha p, r -= alpha q; sums: |r|^2, r.D r */
static void advance_block(const solve *s, double alpha, int64_t block, int64_t first, int64_t end)
{
    double rr = 0, rz = 0;
    for (int64_t i = first; i < end; ++i) {
        s->x[i] += alpha * s->p[i];
        double r = s->r[i] -= alpha * s->q[i];
        rr += r * r;
        rz += r * r * s->scale[i];
    }
    s->sums[1][block] = rr;
    s->sums[2][block] = rz;
}

static void turn_block(const solve *s, double beta, int64_t first, int64_t end)
{
    for (int64_t i = first; i < end; ++i) s->p[i] = s->scale[i] * s->r[i] + beta * s->p[i];
}

#define FOR_BLOCKS(call)                                                                           \
    _Pragma("omp for schedule(static)") for (int64_t k = 0; k < s->blocks; ++k)                    \
    {                                                                                              \
        int64_t first = k * BLOCK, end = first + BLOCK;                                            \
        if (end > s->rows) end = s->rows;                                                          \
        call;                                                                                      \
    }

/* Run by all threads of the team together; every thread computes the same scalars. */
static ps_cg_result iterate(const solve *s)
{
    ps_cg_result result = {0};
    FOR_BLOCKS(start_block(s, k, first, end))
    double size = sqrt(total(s, 3)), rr = total(s, 1), rz = total(s, 2);
    for (;;) {
        result.residual = sqrt(rr) / size;
        result.converged = result.residual <= s->tolerance;
        if (result.converged || !isfinite(result.residual) || result.iterations == s->limit)
            return result;
        FOR_BLOCKS(multiply_block(s, k, first, end))
        double alpha = rz / total(s, 0);
        FOR_BLOCKS(advance_block(s, alpha, k, first, end))
        rr = total(s, 1);
        double beta = total(s, 2) / rz;
        rz *= beta;
        FOR_BLOCKS(turn_block(s, beta, first, end))
        ++result.iterations;
    }
}

/* The largest |b|; NaN if there is one. */
static double largest(const double *b, int64_t rows)
{
    double most = 0;
    for (int64_t i = 0; i < rows; ++i)
        if (isnan(b[i]))
            return b[i];
        else if (fabs(b[i]) > most)
            most = fabs(b[i]);
    return most;
}

ps_cg_result ps_cg_solve(const ps_csr *matrix, const double *inverse_diagonal, const double *b,
                         double *x, double tolerance, int64_t limit, double *workspace)
{
    int64_t rows = matrix->rows, blocks = block_count(rows);
    double *sums = workspace + 3 * rows;
    solve s = {matrix,
               inverse_diagonal,
               b,
               x,
               workspace,
               workspace + rows,
               workspace + 2 * rows,
               {sums, sums + blocks, sums + 2 * blocks, sums + 3 * blocks},
               rows,
               blocks,
               tolerance,
               limit};
    if (largest(b, rows) < 1e-140) {
        memset(x, 0, (size_t)rows * sizeof *x);
        return (ps_cg_result){.converged = true};
    }
    ps_cg_result result = {0};
#pragma omp parallel if (rows >= THREADED_ROWS)
    {
        ps_cg_result mine = iterate(&s);
#pragma omp single
        result = mine;
    }
    return result;
}
