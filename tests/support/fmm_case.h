/* fmm_case: a problem of kernels/fmm/evaluate.h with its particles, tree, operators and memory. */
#ifndef PS_TESTS_SUPPORT_FMM_CASE_H
#define PS_TESTS_SUPPORT_FMM_CASE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/fmm/evaluate.h"
#include "kernels/fmm/m2l_table.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "tests/support/fmm_table.h"
#include "tests/support/tree_case.h"

typedef struct fmm_options {
    int order; /* l; epsilon 10^-l unless given                          */
    double epsilon;
    int basis; /* 0: 16 operators; else a common basis cut at epsilon/basis */
    ps_fmm_function function;
    ps_precision far, near;
    int sides; /* 0: 1 */
} fmm_options;

typedef struct fmm_case {
    ps_fmm_problem problem;
    double *sorted, *results; /* sorted positions and charges; potentials and gradients */
    ps_fmm_m2l_table tables[PS_OCTREE_LEVELS_MAX];
    void *blocks[PS_OCTREE_LEVELS_MAX]; /* behind the tables */
    void *vectors, *workspace;
    int threads;
} fmm_case;

static inline ps_status fmm_case_table(const fmm_options *o, double rho, ps_fmm_m2l_table *table,
                                       void **block)
{
    ps_fmm_table_spec spec = {.function = o->function,
                              .order = o->order,
                              .epsilon = o->epsilon,
                              .rho = rho,
                              .basis_epsilon = o->basis ? o->epsilon / o->basis : 0,
                              .precision = o->far};
    return fmm_table_fill(&spec, table, block);
}

/* Operators of all levels of a box. */
static inline ps_status fmm_case_tables(fmm_case *c, const fmm_options *o, const ps_octree_box *box,
                                        int height)
{
    int degree;
    bool one = ps_fmm_kernel_degree(o->function.kernel, &degree);
    for (int l = 2; l < height; ++l) {
        c->problem.tables[l] = &c->tables[one ? 2 : l];
        c->problem.factors[l] = ps_fmm_level_factor(box, l, o->function.kernel);
        if (one && l > 2) continue;
        double rho = one ? 1 : ldexp(box->width, -l - 1);
        PS_TRY(fmm_case_table(o, rho, &c->tables[l], &c->blocks[l]));
    }
    return PS_OK;
}

/* Particles of a tree (one charge each; further sides: charges times side + 1), sorted. */
static inline ps_status fmm_case_particles(fmm_case *c, const tree_case *t, int sides)
{
    int64_t n = t->count;
    const double *columns[4] = {t->x, t->y, t->z, t->q};
    if (!c->sorted) {
        PS_TRY(ps_alloc_untouched((void **)&c->sorted, (3 + sides) * n * 8, "sorted particles"));
        PS_TRY(ps_alloc_untouched((void **)&c->results, 4 * sides * n * 8, "results"));
    }
    for (int d = 0; d < 4; ++d) ps_tree_gather(columns[d], t->order, n, c->sorted + d * n);
    for (int s = 1; s < sides; ++s)
        for (int64_t i = 0; i < n; ++i) c->sorted[(3 + s) * n + i] = (s + 1) * c->sorted[3 * n + i];
    memset(c->results, 0, (size_t)(4 * sides * n) * 8);
    c->problem.source_set =
        (ps_fmm_particles){.position = {c->sorted, c->sorted + n, c->sorted + 2 * n},
                           .charges = c->sorted + 3 * n,
                           .potential = c->results,
                           .gradient = c->results + sides * n,
                           .stride = n};
    return PS_OK;
}

static inline ps_status fmm_case_init(fmm_case *c, const fmm_options *options, const tree_case *t,
                                      int threads)
{
    fmm_options o = *options;
    if (o.epsilon == 0) o.epsilon = pow(10, -o.order);
    if (o.sides == 0) o.sides = 1;
    memset(c, 0, sizeof *c);
    c->threads = threads;
    ps_fmm_problem *p = &c->problem;
    p->sources = p->targets = &t->tree;
    p->function = o.function;
    p->sides = o.sides;
    p->far = o.far;
    p->near = o.near;
    PS_TRY(ps_fmm_interpolation_init(&p->interpolation, o.order));
    PS_TRY(fmm_case_particles(c, t, o.sides));
    PS_TRY(fmm_case_tables(c, &o, &t->tree.box, t->tree.height));
    PS_TRY(ps_alloc_untouched(&c->vectors, ps_fmm_problem_bytes(p), "vectors"));
    return ps_alloc_untouched(&c->workspace, ps_fmm_evaluate_workspace(p, threads), "workspace");
}

static inline void fmm_case_run(fmm_case *c)
{
    ps_fmm_problem_attach(&c->problem, c->vectors);
    ps_fmm_evaluate(&c->problem, c->threads, c->workspace);
}

static inline void fmm_case_release(fmm_case *c)
{
    for (int l = 0; l < PS_OCTREE_LEVELS_MAX; ++l) free(c->blocks[l]);
    PS_FREE(c->sorted, c->results, c->vectors, c->workspace);
}

/* Relative L2 errors of the potential and the gradient of a side over about `samples` strided
 * targets. */
static inline ps_status fmm_case_errors(const fmm_case *c, int64_t samples, int side,
                                        double errors[2])
{
    const ps_fmm_problem *p = &c->problem;
    int64_t n = p->sources->particles, stride = n / samples > 0 ? n / samples : 1;
    int64_t count = (n + stride - 1) / stride;
    double sums[4] = {0};
    PS_SCOPED_MEMORY int64_t *indices = NULL;
    PS_SCOPED_MEMORY double *exact = NULL;
    PS_TRY(PS_ALLOC(&indices, count, "samples"));
    PS_TRY(PS_ALLOC(&exact, 4 * p->sides * count, "direct sums"));
    for (int64_t i = 0; i < count; ++i) indices[i] = i * stride;
    double *gradient = exact + p->sides * count;
    ps_fmm_direct(p, indices, count, exact, gradient);
    for (int64_t i = 0; i < count; ++i)
        for (int r = 0; r < 4; ++r) {
            double want = r ? gradient[(3 * side + r - 1) * count + i] : exact[side * count + i];
            double got = r ? p->source_set.gradient[(3 * side + r - 1) * n + indices[i]]
                           : p->source_set.potential[side * n + indices[i]];
            sums[r > 0] += (got - want) * (got - want);
            sums[2 + (r > 0)] += want * want;
        }
    errors[0] = sqrt(sums[0] / sums[2]);
    errors[1] = sqrt(sums[1] / sums[3]);
    return PS_OK;
}

#endif
