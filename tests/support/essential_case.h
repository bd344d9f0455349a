/* essential_case: an adaptive_case evaluated stretch by stretch (kernels/fmm/adaptive_essential.h),
 * with all multipoles in memory. */
#ifndef PS_TESTS_SUPPORT_ESSENTIAL_CASE_H
#define PS_TESTS_SUPPORT_ESSENTIAL_CASE_H

#include "kernels/fmm/adaptive_essential.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "tests/support/adaptive_case.h"

enum { ESSENTIAL_BEHIND = 1024 /* no numbers lie behind the particles */ };

typedef struct essential_case essential_case;
/* Evaluates e->essential: P2M and M2M to e->vectors (lift), or all from the multipoles there. */
typedef ps_status (*essential_work)(void *self, essential_case *e, bool lift);

struct essential_case {
    adaptive_case *whole;
    ps_essential essential;
    ps_adaptive_problem problem;
    char *store;               /* [cells of the whole][l^3] */
    double *particles, *found; /* [4][particles of the essential tree] */
    char *vectors;             /* begins with multipoles */
    double *results;           /* [4][targets of the whole] */
    int64_t largest;           /* particles of an essential tree */
    essential_work work;
    void *self;
};

static inline int64_t essential_vector(const essential_case *e)
{
    return e->problem.interpolation.points * (e->problem.far == PS_SINGLE ? 4 : 8);
}

/* Of a row over all particles of the whole to one of the tree; free places become 0. */
static inline void essential_gather(const ps_essential *e, const double *from, double *to)
{
    for (int64_t i = 0; i < e->run_count; ++i) {
        int64_t some = ps_adaptive_size(e->runs[i]);
        memcpy(to + e->at[i], from + e->runs[i].begin, (size_t)some * sizeof *to);
        if (i + 1 < e->run_count) to[e->at[i] + some] = 0;
    }
}

/* Particles, and the multipoles that are wanted. */
static inline ps_status essential_take(essential_case *e)
{
    const adaptive_case *c = e->whole;
    ps_adaptive_problem *p = &e->problem;
    int64_t n = ps_essential_particles(&e->essential), all = c->count[0],
            size = essential_vector(e);
    if (n > e->largest) e->largest = n;
    PS_FREE(e->particles, e->found, e->vectors);
    PS_TRY(PS_ALLOC(&e->particles, 4 * n + ESSENTIAL_BEHIND, "particles"));
    for (int64_t i = 0; i < 4 * n + ESSENTIAL_BEHIND; ++i) e->particles[i] = NAN;
    PS_TRY(PS_ALLOC(&e->found, 4 * n, "results"));
    for (int r = 0; r < 4; ++r)
        essential_gather(&e->essential, c->sorted[0] + r * all, e->particles + r * n);
    *p = c->problem;
    p->tree = &e->essential.tree;
    double *x = e->particles;
    p->sources = (ps_fmm_particles){.position = {x, x + n, x + 2 * n},
                                    .charges = x + 3 * n,
                                    .potential = e->found,
                                    .gradient = e->found + n,
                                    .stride = n};
    PS_TRY(PS_ALLOC(&e->vectors, ps_adaptive_vector_bytes(p), "vectors"));
    for (int64_t i = 0; i < e->essential.tree.cells; ++i)
        if (e->essential.given[i])
            memcpy(e->vectors + i * size, e->store + e->essential.whole[i] * size, (size_t)size);
    return PS_OK;
}

static inline void essential_keep(essential_case *e)
{
    int64_t size = essential_vector(e);
    for (int64_t i = 0; i < e->essential.tree.cells; ++i)
        if (!e->essential.given[i])
            memcpy(e->store + e->essential.whole[i] * size, e->vectors + i * size, (size_t)size);
}

/* On cores. */
static inline ps_status essential_on_cores(void *self, essential_case *e, bool lift)
{
    ps_adaptive_evaluation evaluation;
    ps_adaptive_problem *p = &e->problem;
    int threads = e->whole->threads;
    PS_SCOPED_MEMORY void *workspace = NULL;
    PS_TRY(ps_alloc_untouched(&workspace, ps_adaptive_workspace(p, threads) + 64, "workspace"));
    if (lift) return ps_adaptive_multipoles(p, threads, e->vectors, workspace);
    ps_adaptive_begin(p, threads, e->vectors, workspace, &evaluation);
    evaluation.given = true;
    return ps_adaptive_evaluate_portions(&evaluation, 0, ps_adaptive_portions(p->tree));
}

static inline ps_status essential_lift(essential_case *e)
{
    PS_TRY(essential_take(e));
    PS_TRY(e->work(e->self, e, true));
    essential_keep(e);
    return PS_OK;
}

/* Both sweeps by stretches of so many portions; e->whole, work and self are set. */
static inline ps_status essential_case_run(essential_case *e, int64_t step)
{
    const ps_adaptive_tree *t = &e->whole->tree;
    int64_t n = e->whole->count[0], portions = ps_adaptive_portions(t), borders[4096], count = 0;
    e->problem = e->whole->problem;
    PS_TRY(PS_ALLOC(&e->store, t->cells * essential_vector(e), "multipoles"));
    PS_TRY(PS_ALLOC(&e->results, 4 * n, "results"));
    for (int64_t at = 0; at < portions; at += step) {
        ps_fmm_range own =
            ps_adaptive_portion_targets(t, at, at + step < portions ? at + step : portions);
        PS_TRY(ps_essential_below(t, own, &e->essential));
        PS_TRY(essential_lift(e));
        if (own.end < n && count < 4096) borders[count++] = own.end;
    }
    PS_TRY(ps_essential_above(t, borders, count, &e->essential));
    if (e->essential.tree.cells > 0) PS_TRY(essential_lift(e));
    for (int64_t at = 0; at < portions; at += step) {
        int64_t end = at + step < portions ? at + step : portions;
        ps_fmm_range to = ps_adaptive_portion_targets(t, at, end);
        PS_TRY(ps_essential_around(t, &e->whole->problem.rule, at, end, &e->essential));
        PS_TRY(essential_take(e));
        PS_TRY(e->work(e->self, e, false));
        int64_t own = e->essential.own.begin, some = ps_essential_particles(&e->essential);
        for (int r = 0; r < 4; ++r)
            memcpy(e->results + r * n + to.begin, e->found + r * some + own,
                   (size_t)ps_adaptive_size(to) * 8);
    }
    return PS_OK;
}

static inline void essential_case_release(essential_case *e)
{
    ps_essential_release(&e->essential);
    PS_FREE(e->store, e->particles, e->found, e->vectors, e->results);
}

#endif
