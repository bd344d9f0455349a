/* adaptive_twin: what a device does with a plan of an adaptive tree
 * (kernels/fmm/adaptive_device.h), on the host: the same steps over the plan's arrays alone, each
 * by the operators of the CPU or the bodies of the device's kernels. One right-hand side, fp64. */
#ifndef PS_TESTS_SUPPORT_ADAPTIVE_TWIN_H
#define PS_TESTS_SUPPORT_ADAPTIVE_TWIN_H

#include "kernels/fmm/adaptive_plan.h"
#include "tests/support/adaptive_case.h"

typedef double vreal;
#define KERNEL_INLINE static inline
#define v_rsqrt(x) ((x) > 0 ? 1 / sqrt(x) : 0)
#define v_exp(x) exp(x)
#define v_of(x) (x)
#define v_negated_product(a, b) (-((a) * (b)))
#include "kernels/fmm/adaptive_pairs_body.h"

typedef struct adaptive_twin {
    const adaptive_case *c;
    const ps_adaptive_plan *plan;
    double *multipoles, *locals, *coded[PS_ADAPTIVE_LEVELS];
    double *results; /* [4][targets] */
    int64_t pairs;   /* of particles that were summed directly */
} adaptive_twin;

static inline double *twin_vector(const adaptive_twin *w, double *vectors, int level, int64_t code)
{
    return vectors + (w->c->tree.level_start[level] + code) * w->c->problem.interpolation.points;
}

static inline ps_fmm_leaf twin_leaf(const ps_fmm_particles *set, const ps_fmm_device_leaf *from)
{
    return (ps_fmm_leaf){.particles = set,
                         .range = {from->begin, from->end},
                         .centre = {from->centre[0], from->centre[1], from->centre[2]},
                         .width = from->width,
                         .sides = 1};
}

/* The leaves as targets. */
static inline const ps_fmm_device_leaf *twin_targets(const adaptive_twin *w)
{
    bool all = w->c->tree.same && !w->plan->shared;
    return w->plan->part[all ? PS_PLAN_SOURCES : PS_PLAN_TARGETS].at;
}

static inline ps_fmm_particles twin_set(const adaptive_twin *w)
{
    int set = w->c->tree.same ? 0 : 1;
    ps_fmm_particles out = adaptive_case_particles(w->c, set);
    out.potential = w->results;
    out.gradient = w->results + w->c->count[set];
    return out;
}

/* P2M and M2M, added to the multipoles. */
static inline void twin_lift(adaptive_twin *w)
{
    const struct ps_fmm_cell_functions *f = ps_fmm_cell_functions_of(PS_BACKEND_CPU, PS_DOUBLE);
    const ps_fmm_interpolation *in = &w->c->problem.interpolation;
    const ps_adaptive_tree *t = &w->c->tree;
    const ps_fmm_device_leaf *leaf = w->plan->part[PS_PLAN_SOURCES].at;
    const int32_t *children = w->plan->part[PS_PLAN_CHILDREN].at;
    ps_fmm_particles set = adaptive_case_particles(w->c, 0);
    for (int64_t i = 0; i < t->leaves; ++i) {
        ps_fmm_leaf one = twin_leaf(&set, &leaf[i]);
        f->p2m(in, &one, twin_vector(w, w->multipoles, 0, leaf[i].vector));
    }
    for (int l = t->levels - 2; l >= 2; --l)
        for (int64_t c = 0; c < t->level_start[l + 1] - t->level_start[l]; ++c)
            for (int o = 0; o < 8; ++o) {
                int32_t child = children[8 * (t->level_start[l] + c) + o];
                if (child >= 0)
                    f->m2m(in, o, twin_vector(w, w->multipoles, l + 1, child),
                           twin_vector(w, w->multipoles, l, c));
            }
}

static inline void twin_encode(adaptive_twin *w)
{
    const struct ps_fmm_m2l_functions *g = ps_fmm_m2l_functions_of(PS_BACKEND_CPU, PS_DOUBLE);
    const ps_adaptive_tree *t = &w->c->tree;
    for (int l = 2; l < t->levels; ++l)
        g->encode(w->c->problem.tables[l], twin_vector(w, w->multipoles, l, 0),
                  t->level_start[l + 1] - t->level_start[l], w->coded[l]);
}

/* M2L of a cell: slot 8 n + octant of its block. */
static inline void twin_m2l(adaptive_twin *w, int l, int octant, int64_t cell, double *sum)
{
    const struct ps_fmm_m2l_functions *g = ps_fmm_m2l_functions_of(PS_BACKEND_CPU, PS_DOUBLE);
    const ps_fmm_m2l_table *table = w->c->problem.tables[l];
    const int32_t *block = w->plan->part[PS_PLAN_BLOCK].at, *far = w->plan->part[PS_PLAN_FAR].at;
    int64_t row = w->plan->block_start[l] + block[w->c->tree.level_start[l] + cell], zero = 0;
    memset(sum, 0, sizeof(double) * (size_t)table->length);
    for (int s = 0; s < PS_FMM_DEVICE_FAR; ++s) {
        int32_t code = far[row * PS_FMM_DEVICE_FAR + s];
        int t[3], step[3] = {9, 3, 1};
        for (int d = 0; d < 3; ++d)
            t[d] = 2 * (s / 8 / step[d] % 3 - 1) + (s >> (2 - d) & 1) - (octant >> (2 - d) & 1);
        if (code < 0 || (abs(t[0]) < 2 && abs(t[1]) < 2 && abs(t[2]) < 2)) continue;
        const void *source = w->coded[l] + (int64_t)code * table->length;
        ps_fmm_m2l_pairs pair = {ps_fmm_offset_number(t), 1, &zero, &source};
        g->interact(table, &pair, sum);
    }
    g->decode(table, sum, 1, w->c->problem.factors[l], twin_vector(w, w->locals, l, cell));
}

static inline void twin_across(adaptive_twin *w, double *sum)
{
    const ps_adaptive_tree *t = &w->c->tree;
    const int32_t *order = w->plan->part[PS_PLAN_ORDER].at;
    const int32_t *octants = w->plan->part[PS_PLAN_OCTANTS].at;
    for (int l = 2; l < t->levels; ++l)
        for (int o = 0; o < 8; ++o)
            for (int i = octants[9 * l + o]; i < octants[9 * l + o + 1]; ++i)
                twin_m2l(w, l, o, order[t->level_start[l] + i], sum);
}

static inline void twin_p2l(adaptive_twin *w)
{
    const ps_adaptive_problem *p = &w->c->problem;
    const int32_t *cell = w->plan->part[PS_PLAN_P2L_CELL].at;
    const int32_t *start = w->plan->part[PS_PLAN_P2L_START].at;
    const ps_fmm_device_cell *boxes = w->plan->part[PS_PLAN_BOXES].at;
    ps_fmm_device_sources sources = {w->c->sorted[0], w->c->count[0], NULL};
    for (int64_t i = 0; i < w->plan->part[PS_PLAN_P2L_CELL].count; ++i)
        for (int m = 0; m < p->interpolation.points; ++m) {
            double point[3];
            ps_fmm_point(&p->interpolation, m, point);
            for (int d = 0; d < 3; ++d)
                point[d] = boxes[cell[i]].centre[d] + 0.5 * boxes[cell[i]].width * point[d];
            twin_vector(w, w->locals, 0, cell[i])[m] +=
                p2l_point(&p->function, &sources, 0, w->plan->part[PS_PLAN_P2L_RUNS].at, start[i],
                          start[i + 1], point);
        }
}

static inline void twin_down(adaptive_twin *w)
{
    const struct ps_fmm_cell_functions *f = ps_fmm_cell_functions_of(PS_BACKEND_CPU, PS_DOUBLE);
    const ps_fmm_interpolation *in = &w->c->problem.interpolation;
    const ps_adaptive_tree *t = &w->c->tree;
    const int32_t *children = w->plan->part[PS_PLAN_CHILDREN].at;
    ps_fmm_particles set = twin_set(w);
    for (int l = 2; l < t->levels - 1; ++l)
        for (int64_t c = 8 * (w->plan->cells[l].begin - t->level_start[l]);
             c < 8 * (w->plan->cells[l].end - t->level_start[l]); ++c) {
            int32_t child = children[8 * t->level_start[l] + c];
            if (child >= 0)
                f->l2l(in, (int)(c % 8), twin_vector(w, w->locals, l, c / 8),
                       twin_vector(w, w->locals, l + 1, child));
        }
    for (int64_t i = 0; i < t->leaves && t->levels > 2; ++i) {
        ps_fmm_leaf one = twin_leaf(&set, &twin_targets(w)[i]);
        f->l2p(in, &one, twin_vector(w, w->locals, 0, twin_targets(w)[i].vector));
    }
}

static inline void twin_m2p(adaptive_twin *w)
{
    const ps_adaptive_problem *p = &w->c->problem;
    const int32_t *leaf = w->plan->part[PS_PLAN_M2P_LEAF].at;
    const int32_t *start = w->plan->part[PS_PLAN_M2P_START].at;
    const int32_t *cells = w->plan->part[PS_PLAN_M2P_CELLS].at;
    const ps_fmm_device_cell *boxes = w->plan->part[PS_PLAN_BOXES].at;
    ps_fmm_particles set = twin_set(w);
    for (int64_t i = 0; i < w->plan->part[PS_PLAN_M2P_LEAF].count; ++i) {
        const ps_fmm_device_leaf *to = &twin_targets(w)[leaf[i]];
        for (int j = to->begin; j < to->end; ++j) {
            double x[3] = {set.position[0][j], set.position[1][j], set.position[2][j]},
                   sums[4] = {0};
            for (int c = start[i]; c < start[i + 1]; ++c)
                m2p_double(&p->function, p->interpolation.order, p->interpolation.nodes,
                           &boxes[cells[c]], twin_vector(w, w->multipoles, 0, cells[c]), x, sums);
            for (int r = 0; r < 4; ++r) w->results[r * set.stride + j] += sums[r];
        }
    }
}

static inline void twin_p2p(adaptive_twin *w)
{
    const int32_t *start = w->plan->part[PS_PLAN_RUN_START].at;
    const ps_fmm_device_run *runs = w->plan->part[PS_PLAN_RUNS].at;
    ps_fmm_particles set = twin_set(w), sources = adaptive_case_particles(w->c, 0);
    for (int64_t i = 0; i < w->c->tree.leaves; ++i) {
        const ps_fmm_device_leaf *to = &twin_targets(w)[i];
        for (int r = start[i]; r < start[i + 1]; ++r) {
            ps_fmm_range range = {runs[r].begin, runs[r].end};
            ps_fmm_p2p p2p = {.function = w->c->problem.function,
                              .sides = 1,
                              .targets = &set,
                              .sources = &sources,
                              .target = {to->begin, to->end},
                              .runs = &range,
                              .one_sided = 1,
                              .run_count = 1,
                              .width = to->width};
            for (int d = 0; d < 3; ++d) p2p.centre[d] = to->centre[d];
            if (to->begin < to->end)
                ps_fmm_p2p_functions_of(PS_BACKEND_CPU, PS_DOUBLE)
                    ->interact[p2p.function.kernel](&p2p);
            w->pairs += (to->end - to->begin) * (int64_t)(range.end - range.begin);
        }
    }
}

/* An evaluation into results[4][targets]; of multipoles that are given, or of its own (NULL). */
static inline ps_status adaptive_twin_sum(const adaptive_case *c, const ps_adaptive_plan *plan,
                                          double *given, double *results, int64_t *pairs)
{
    adaptive_twin w = {.c = c, .plan = plan, .results = results, .multipoles = given};
    const ps_adaptive_tree *t = &c->tree;
    int64_t numbers = t->cells * c->problem.interpolation.points, longest = 0;
    PS_SCOPED_MEMORY double *sum = NULL;
    memset(results, 0, sizeof(double) * (size_t)(4 * c->count[t->same ? 0 : 1]));
    if (!given) PS_TRY(PS_ALLOC(&w.multipoles, numbers, "multipoles"));
    PS_TRY(PS_ALLOC(&w.locals, numbers, "locals"));
    for (int l = 2; l < t->levels; ++l) {
        int64_t length = c->problem.tables[l]->length;
        longest = length > longest ? length : longest;
        PS_TRY(ps_alloc_untouched((void **)&w.coded[l],
                                  8 * length * (t->level_start[l + 1] - t->level_start[l]),
                                  "codes"));
    }
    PS_TRY(ps_alloc_untouched((void **)&sum, 8 * longest + 64, "sums"));
    twin_p2p(&w);
    if (t->levels > 2) {
        if (!given) twin_lift(&w);
        twin_encode(&w);
        twin_across(&w, sum);
        twin_p2l(&w);
        twin_down(&w);
        twin_m2p(&w);
    }
    *pairs = w.pairs;
    if (!given) free(w.multipoles);
    free(w.locals);
    for (int l = 0; l < PS_ADAPTIVE_LEVELS; ++l) free(w.coded[l]);
    return PS_OK;
}

static inline ps_status adaptive_twin_run(const adaptive_case *c, const ps_adaptive_plan *plan,
                                          double *results, int64_t *pairs)
{
    return adaptive_twin_sum(c, plan, NULL, results, pairs);
}

#endif
