#include "kernels/linear/shifted_solve.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "runtime/isa.h"

PS_ISA_SELECT(struct ps_shifted_functions, ps_shifted)

enum { W = PS_SHIFTED_LANES, BLOCK = PS_SHIFTED_BLOCK, SUMS = 3 * W };

static int64_t block_count(int64_t dofs) { return (dofs + BLOCK - 1) / BLOCK; }

int64_t ps_shifted_workspace(int64_t dofs)
{
    return 4 * 2 * W * dofs + SUMS * block_count(dofs) + 2 * dofs;
}

/* Everything that the threads of a group share; scalars are each thread's own, equal in all. */
typedef struct solve {
    ps_shifted_group group;
    const ps_shifted_options *options;
    const ps_shifted_system *systems;
    int lanes; /* in use */
    double *sums;
    int64_t dofs, blocks;
} solve;

typedef struct outcome {
    int64_t iterations;
    double residual; /* the worst, relative */
    bool finite;
} outcome;

static void pack_rows(const solve *s, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; ++i) {
        double *r = s->group.r + 2 * W * i;
        memset(r, 0, 2 * W * sizeof *r);
        for (int w = 0; w < s->lanes; ++w)
            for (int part = 0; part < s->options->parts; ++part)
                r[part * W + w] = s->systems[w].b[part * s->dofs + i];
    }
}

static void unpack_rows(const solve *s, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; ++i)
        for (int w = 0; w < s->lanes; ++w)
            for (int part = 0; part < s->options->parts; ++part)
                s->systems[w].x[part * s->dofs + i] = s->group.x[2 * W * i + part * W + w];
}

static void add_up(const solve *s, int count, double *out)
{
    memset(out, 0, (size_t)count * W * sizeof *out);
    for (int64_t b = 0; b < s->blocks; ++b)
        for (int w = 0; w < count * W; ++w) out[w] += s->sums[b * SUMS + w];
}

/* c = a / b; 0 where b is 0, which ends what has converged to nothing. */
static void divide(const double *a, const double *b, double c[2][W], const bool *active)
{
    for (int w = 0; w < W; ++w) {
        double size = b[w] * b[w] + b[W + w] * b[W + w];
        bool use = active[w] && size != 0;
        c[0][w] = use ? (a[w] * b[w] + a[W + w] * b[W + w]) / size : 0;
        c[1][w] = use ? (a[W + w] * b[w] - a[w] * b[W + w]) / size : 0;
    }
}

/* Which lanes go on; their number. A residual that is not finite goes on, to be seen by `judge`. */
static int still_active(const solve *s, const double *rr, const double *bb, bool *active,
                        outcome *out)
{
    int count = 0;
    out->residual = 0;
    for (int w = 0; w < W; ++w) {
        double residual = bb[w] > 0 || !isfinite(bb[w]) ? sqrt(rr[w] / bb[w]) : 0;
        if (!isfinite(residual)) out->finite = false;
        out->residual = fmax(out->residual, residual);
        active[w] = active[w] && residual > s->options->tolerance;
        count += active[w];
    }
    return count;
}

#define FOR_BLOCKS(call)                                                                           \
    _Pragma("omp for schedule(static)") for (int64_t k = 0; k < s->blocks; ++k)                    \
    {                                                                                              \
        int64_t begin = k * BLOCK, end = begin + BLOCK;                                            \
        if (end > s->dofs) end = s->dofs;                                                          \
        double *sums = s->sums + k * SUMS;                                                         \
        (void)sums;                                                                                \
        call;                                                                                      \
    }

/* Run by all threads of the team together. */
static outcome iterate(const solve *s)
{
    const struct ps_shifted_functions *f = ps_shifted_select();
    const ps_shifted_group *g = &s->group;
    double rz[SUMS], next[SUMS], pq[2 * W], bb[W], scalar[2][W];
    bool active[W];
    outcome out = {.finite = true};
    for (int w = 0; w < W; ++w) active[w] = w < s->lanes;
    FOR_BLOCKS(pack_rows(s, begin, end))
    FOR_BLOCKS(f->start(g, begin, end, sums))
    add_up(s, 3, rz);
#pragma omp barrier
    memcpy(bb, rz + 2 * W, sizeof bb);
    while (still_active(s, rz + 2 * W, bb, active, &out) && out.finite &&
           out.iterations < s->options->limit) {
        FOR_BLOCKS(f->multiply(g, begin, end, sums))
        add_up(s, 2, pq);
#pragma omp barrier
        divide(rz, pq, scalar, active);
        FOR_BLOCKS(f->advance(g, scalar, begin, end, sums))
        add_up(s, 3, next);
#pragma omp barrier
        divide(next, rz, scalar, active);
        FOR_BLOCKS(f->turn(g, scalar, begin, end))
        memcpy(rz, next, sizeof rz);
        ++out.iterations;
    }
    FOR_BLOCKS(unpack_rows(s, begin, end))
    return out;
}

ps_status ps_shifted_judge(double residual, double tolerance, int64_t iterations)
{
    if (!isfinite(residual))
        return ps_fail(PS_FAILED,
                       "numbers of a sparse system are not finite after %lld iterations: is the "
                       "right-hand side?",
                       (long long)iterations);
    if (residual <= tolerance) return PS_OK;
    return ps_fail(PS_FAILED,
                   "a sparse system of mass and stiffness has the residual %.3g after %lld "
                   "iterations, %.3g is wanted: are there triangles of very different size?",
                   residual, (long long)iterations, tolerance);
}

void ps_shifted_diagonal(const ps_pencil *matrix, double *diagonal)
{
    for (int64_t i = 0; i < matrix->dofs; ++i)
        for (int64_t e = matrix->start[i]; e < matrix->start[i + 1]; ++e)
            if (matrix->column[e] == i) {
                diagonal[2 * i] = matrix->mass[e];
                diagonal[2 * i + 1] = matrix->stiffness[e];
            }
}

static solve set_up(const ps_pencil *matrix, const ps_shifted_options *options, double *workspace)
{
    int64_t dofs = matrix->dofs, vector = 2 * W * dofs;
    solve s = {.options = options, .dofs = dofs, .blocks = block_count(dofs)};
    s.sums = workspace + 4 * vector + 2 * dofs;
    s.group = (ps_shifted_group){.matrix = matrix,
                                 .diagonal = workspace + 4 * vector,
                                 .x = workspace,
                                 .r = workspace + vector,
                                 .p = workspace + 2 * vector,
                                 .q = workspace + 3 * vector};
    ps_shifted_diagonal(matrix, workspace + 4 * vector);
    return s;
}

ps_status ps_shifted_solve(const ps_pencil *matrix, const ps_shifted_options *options,
                           int64_t count, const ps_shifted_system *systems, double *workspace,
                           int64_t *iterations)
{
    solve s = set_up(matrix, options, workspace);
    for (int64_t first = 0; first < count; first += W) {
        outcome result = {0};
        s.systems = systems + first;
        s.lanes = count - first < W ? (int)(count - first) : W;
        memset(s.group.shift, 0, sizeof s.group.shift);
        for (int w = 0; w < s.lanes; ++w)
            for (int part = 0; part < 2; ++part)
                s.group.shift[part][w] = systems[first + w].shift[part];
#pragma omp parallel
        {
            outcome mine = iterate(&s);
#pragma omp single
            result = mine;
        }
        if (iterations) *iterations += result.iterations;
        PS_TRY(ps_shifted_judge(result.finite ? result.residual : NAN, options->tolerance,
                                result.iterations));
    }
    return PS_OK;
}

ps_status ps_shifted_iterate(void *context, int64_t count, const ps_shifted_system *systems)
{
    ps_shifted_iterative *s = context;
    return ps_shifted_solve(s->matrix, &s->options, count, systems, s->workspace, &s->iterations);
}
