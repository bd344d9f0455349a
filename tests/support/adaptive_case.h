/* adaptive_case: particles of awkward places, their adaptive tree, and its evaluation. */
#ifndef PS_TESTS_SUPPORT_ADAPTIVE_CASE_H
#define PS_TESTS_SUPPORT_ADAPTIVE_CASE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/common/counter_random.h"
#include "kernels/fmm/adaptive_evaluate.h"
#include "kernels/fmm/distribution.h"
#include "kernels/fmm/evaluate.h"
#include "kernels/fmm/m2l_table.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "tests/support/distance.h"
#include "tests/support/fmm_table.h"

typedef enum adaptive_places {
    ADAPTIVE_CUBE,
    ADAPTIVE_PLUMMER,
    ADAPTIVE_CUSP,       /* radii 1e-6 .. 1, even in their logarithm       */
    ADAPTIVE_DEEP_CUSP,  /* 1e-12 .. 1                                     */
    ADAPTIVE_PLANE,      /* of a cell, and two lines in it                 */
    ADAPTIVE_COINCIDENT, /* a third at each of two places, others anywhere */
    ADAPTIVE_PAIRS,      /* dense spots 1e-9 wide                          */
    ADAPTIVE_CLOSE,      /* pairs 1e-9 apart in a cube                     */
    ADAPTIVE_ACROSS,     /* and across its cells' faces; a particle at 0   */
    ADAPTIVE_FAR_AWAY,   /* a cusp at coordinates of 1e5                   */
    ADAPTIVE_ONE_FAR,    /* a cube 1e-4 wide, and one particle 1 away */
    ADAPTIVE_ONE_PLACE,
    ADAPTIVE_CLUSTERS, /* PS_DISTRIBUTION_CLUSTERS */
    ADAPTIVE_PLACES
} adaptive_places;

static inline void adaptive_place(adaptive_places places, uint64_t seed, int64_t i, double p[3])
{
    double u[6], r = 0;
    for (int d = 0; d < 6; ++d) u[d] = ps_counter_uniform(seed, (uint64_t)i, (uint64_t)d);
    double decades = places == ADAPTIVE_DEEP_CUSP ? 12 : 6;
    for (int d = 0; d < 3; ++d) p[d] = u[d];
    switch (places) {
    case ADAPTIVE_CUSP:
    case ADAPTIVE_DEEP_CUSP:
    case ADAPTIVE_FAR_AWAY:
        for (int d = 0; d < 3; ++d) p[d] = 2 * u[d] - 1;
        for (int d = 0; d < 3; ++d) r += p[d] * p[d];
        for (int d = 0; d < 3; ++d) p[d] *= pow(10, -decades * u[3]) / sqrt(r);
        for (int d = 0; d < 3 && places == ADAPTIVE_FAR_AWAY; ++d) p[d] += 1e5 + d;
        break;
    case ADAPTIVE_PLANE:
        p[2] = 0.5;
        if (i % 3 == 0) p[1] = u[0];
        if (i % 3 == 1) p[0] = 0.25;
        break;
    case ADAPTIVE_COINCIDENT:
        for (int d = 0; d < 3 && i % 3; ++d) p[d] = i % 3 == 1 ? 0.3 : 0.3 + 1e-11;
        break;
    case ADAPTIVE_PAIRS:
        for (int d = 0; d < 3; ++d) p[d] = floor(2.999 * u[d]) / 3 + 1e-9 * u[3 + d];
        break;
    case ADAPTIVE_CLOSE:
        for (int d = 0; d < 3; ++d)
            p[d] = ps_counter_uniform(seed, (uint64_t)(i / 2), (uint64_t)d) + i % 2 * 1e-9 * u[d];
        break;
    case ADAPTIVE_ACROSS: /* both sets at the same places */
        for (int d = 0; d < 3; ++d)
            p[d] = i ? ps_counter_uniform(7, (uint64_t)(i / 2), (uint64_t)d) : 0;
        if (i > 1) p[i / 2 % 3] = ceil(7 * p[i / 2 % 3]) / 8 + (i % 2 - 0.5) * 1e-9;
        break;
    case ADAPTIVE_ONE_FAR:
        for (int d = 0; d < 3; ++d) p[d] = i == 5 ? 1 : 1e-4 * u[d];
        break;
    case ADAPTIVE_ONE_PLACE:
        for (int d = 0; d < 3; ++d) p[d] = 0.7;
        break;
    default:
        break;
    }
}

typedef struct adaptive_case {
    int64_t count[2];
    double *made[2], *sorted[2]; /* [4][count]: positions, charges */
    double *results;             /* of the targets, sorted: [4][count] */
    ps_adaptive_tree tree;
    ps_adaptive_problem problem;
    ps_fmm_m2l_table tables[PS_ADAPTIVE_LEVELS];
    void *blocks[PS_ADAPTIVE_LEVELS], *vectors, *workspace;
    int threads;
} adaptive_case;

static inline ps_status adaptive_case_set(adaptive_case *c, int set, adaptive_places places)
{
    int64_t n = c->count[set];
    PS_TRY(PS_ALLOC(&c->made[set], 4 * n + 1, "particles"));
    double *x = c->made[set];
    double *const columns[3] = {x, x + n, x + 2 * n};
    if (places == ADAPTIVE_PLUMMER || places == ADAPTIVE_CLUSTERS) {
        ps_distribution_positions(places == ADAPTIVE_PLUMMER ? PS_DISTRIBUTION_PLUMMER
                                                             : PS_DISTRIBUTION_CLUSTERS,
                                  (uint64_t)set, 0, n, columns);
    } else {
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < n; ++i) {
            double p[3];
            adaptive_place(places, (uint64_t)set + 7, i, p);
            for (int d = 0; d < 3; ++d) x[d * n + i] = p[d];
        }
    }
    ps_distribution_charges(PS_CHARGES_UNIFORM, (uint64_t)set + 1, 0, 0, n, x + 3 * n);
    c->tree.sets[set].points = (ps_tree_points){n, x, x + n, x + 2 * n};
    return PS_OK;
}

static inline void adaptive_case_bounds(const adaptive_case *c, double lower[3], double upper[3])
{
    for (int d = 0; d < 3; ++d) {
        lower[d] = INFINITY;
        upper[d] = -INFINITY;
        for (int set = 0; set < 2; ++set)
            for (int64_t i = 0; i < c->count[set] && c->made[set]; ++i) {
                lower[d] = fmin(lower[d], c->made[set][d * c->count[set] + i]);
                upper[d] = worse_of(upper[d], c->made[set][d * c->count[set] + i]);
            }
    }
}

/* targets: 0: the sources. */
static inline ps_status adaptive_case_tree(adaptive_case *c, adaptive_places places,
                                           int64_t sources, int64_t targets, int64_t leaf_size)
{
    double lower[3], upper[3];
    memset(c, 0, sizeof *c);
    c->count[0] = sources;
    c->count[1] = targets;
    c->tree.same = targets == 0;
    c->tree.leaf_size = leaf_size;
    c->tree.room = ps_grow;
    c->problem.far = c->problem.near = PS_DOUBLE;
    for (int set = 0; set < (targets ? 2 : 1); ++set) PS_TRY(adaptive_case_set(c, set, places));
    adaptive_case_bounds(c, lower, upper);
    PS_TRY(ps_adaptive_root(lower, upper, &c->tree.box, &c->tree.deepest));
    for (int set = 0; set < (targets ? 2 : 1); ++set) {
        ps_adaptive_set *s = &c->tree.sets[set];
        int64_t n = c->count[set];
        PS_SCOPED_MEMORY uint64_t *workspace = NULL;
        PS_TRY(PS_ALLOC(&s->keys, n + 1, "keys"));
        PS_TRY(PS_ALLOC(&s->order, n + 1, "order"));
        PS_TRY(PS_ALLOC(&workspace, ps_adaptive_sort_workspace(n) + 1, "workspace"));
        ps_adaptive_sort(&c->tree.box, workspace, s);
        PS_TRY(PS_ALLOC(&c->sorted[set], 4 * n + 1, "particles"));
        for (int r = 0; r < 4; ++r)
            ps_tree_gather(c->made[set] + r * n, s->order, n, c->sorted[set] + r * n);
    }
    return ps_adaptive_divide(&c->tree);
}

static inline ps_fmm_particles adaptive_case_particles(const adaptive_case *c, int set)
{
    int64_t n = c->count[set];
    double *x = c->sorted[set];
    return (ps_fmm_particles){.position = {x, x + n, x + 2 * n}, .charges = x + 3 * n, .stride = n};
}

static inline ps_status adaptive_case_tables(adaptive_case *c)
{
    ps_adaptive_problem *p = &c->problem;
    int degree, order = p->interpolation.order;
    bool one = ps_fmm_kernel_degree(p->function.kernel, &degree);
    for (int l = 2; l < c->tree.levels; ++l) {
        p->tables[l] = &c->tables[one ? 2 : l];
        p->factors[l] = ps_fmm_level_factor(&c->tree.box, l, p->function.kernel);
        if (one && l > 2) continue;
        ps_fmm_table_spec spec = {.function = p->function,
                                  .order = order,
                                  .epsilon = pow(10, -order),
                                  .rho = one ? 1 : ldexp(c->tree.box.width, -l - 1),
                                  .precision = p->far};
        spec.basis_epsilon = ps_fmm_basis_epsilon(p->function.kernel, spec.epsilon);
        PS_TRY(fmm_table_fill(&spec, &c->tables[l], &c->blocks[l]));
    }
    return PS_OK;
}

/* After the tree; function, far and near of the problem may be set before. */
static inline ps_status adaptive_case_init(adaptive_case *c, int order, int threads)
{
    ps_adaptive_problem *p = &c->problem;
    int set = c->tree.same ? 0 : 1;
    int64_t n = c->count[set];
    c->threads = threads;
    p->tree = &c->tree;
    p->sides = 1;
    p->rule = ps_adaptive_rule_of(order);
    PS_TRY(ps_fmm_interpolation_init(&p->interpolation, order));
    PS_TRY(PS_ALLOC(&c->results, 4 * n, "results"));
    p->sources = adaptive_case_particles(c, 0);
    if (!c->tree.same) p->targets = adaptive_case_particles(c, 1);
    ps_fmm_particles *to = c->tree.same ? &p->sources : &p->targets;
    to->potential = c->results;
    to->gradient = c->results + n;
    PS_TRY(adaptive_case_tables(c));
    PS_TRY(ps_alloc_untouched(&c->vectors, ps_adaptive_vector_bytes(p) + 64, "vectors"));
    return ps_alloc_untouched(&c->workspace, ps_adaptive_workspace(p, threads), "workspace");
}

static inline ps_status adaptive_case_run(adaptive_case *c)
{
    return ps_adaptive_evaluate(&c->problem, c->threads, c->vectors, c->workspace);
}

/* All of it. */
static inline ps_status adaptive_case_sum(adaptive_case *c, adaptive_places places, int64_t sources,
                                          int64_t targets, int64_t leaf_size, int order)
{
    PS_TRY(adaptive_case_tree(c, places, sources, targets, leaf_size));
    PS_TRY(adaptive_case_init(c, order, 2));
    return adaptive_case_run(c);
}

/* Relative L2 errors of potential and gradient over about `samples` targets; and the largest error
 * of a gradient relative to itself. */
static inline ps_status adaptive_case_errors(const adaptive_case *c, int64_t samples,
                                             double errors[3])
{
    const ps_adaptive_problem *p = &c->problem;
    int set = c->tree.same ? 0 : 1;
    int64_t n = c->count[set], stride = n / samples > 0 ? n / samples : 1;
    int64_t count = (n + stride - 1) / stride;
    double sums[4] = {0};
    PS_SCOPED_MEMORY double *exact = NULL;
    PS_TRY(PS_ALLOC(&exact, 7 * count, "direct sums"));
    double *x = exact + 4 * count;
    for (int64_t i = 0; i < count; ++i)
        for (int d = 0; d < 3; ++d) x[d * count + i] = c->sorted[set][d * n + i * stride];
    ps_fmm_particles targets = {.position = {x, x + count, x + 2 * count},
                                .potential = exact,
                                .gradient = exact + count,
                                .stride = count};
    ps_fmm_direct_add(&p->function, 1, c->tree.box.width, &targets, count, &p->sources,
                      c->count[0]);
    errors[2] = 0;
    for (int64_t i = 0; i < count; ++i) {
        double error = 0, square = 0;
        for (int r = 0; r < 4; ++r) {
            double want = exact[r * count + i], got = c->results[r * n + i * stride];
            sums[r > 0] += (got - want) * (got - want);
            sums[2 + (r > 0)] += want * want;
            if (r) error += (got - want) * (got - want);
            if (r) square += want * want;
        }
        errors[2] = worse_of(errors[2], sqrt(error / square));
    }
    errors[0] = sqrt(sums[0] / sums[2]);
    errors[1] = sqrt(sums[1] / sums[3]);
    return PS_OK;
}

static inline void adaptive_case_release(adaptive_case *c)
{
    for (int l = 0; l < PS_ADAPTIVE_LEVELS; ++l) free(c->blocks[l]);
    for (int set = 0; set < 2; ++set) {
        PS_FREE(c->made[set], c->sorted[set], c->tree.sets[set].keys, c->tree.sets[set].order);
    }
    PS_FREE(c->tree.cell, c->tree.around, c->tree.leaf, c->results, c->vectors, c->workspace);
}

#endif
