/*
 * check_fmm_adaptive: adaptive trees on the CUDA device against the same on cores: cube, Plummer,
 * cusps, planes and lines, particles at one place, pairs close to each other, a cusp far away, one
 * particle far from all; one set and two; precisions, kernels; with W and X lists and without; all
 * twice, for the same bits, and stretch by stretch. Ends with "N passed, N failed, N skipped".
 *
 *     check_fmm_adaptive [LARGEST]    cases of at most so many particles: for a checker of memory
 */
#include <omp.h>
#include <stdio.h>

#include "tests/support/adaptive_device_case.h"
#include "tests/support/distance.h"
#include "tests/support/verdict.h"

typedef struct check_case {
    const char *name;
    adaptive_places places;
    int64_t count, targets; /* targets 0: the sources */
    int order;
    int64_t leaf_size, points; /* rule.points; 0: the device's own */
    ps_precision far, near;
    ps_fmm_function function;
    double bound; /* of the difference of potentials; ten times that of gradients */
} check_case;

static ps_status judge(const char *what, double value, double bound)
{
    if (value <= bound) return PS_OK; /* NaN is not */
    return ps_fail(PS_FAILED, "%s differs by %.3g from the cores', allowed %.3g", what, value,
                   bound);
}

/* Sort, tree, lists and all on the device against the host's tree, to whose order results come, and
 * whose bits on the device, `whole`, they have. */
static ps_status compare_whole(const check_case *c, const adaptive_case *h, adaptive_device_case *d,
                               ps_adaptive_rule rule, const double *whole, double *results,
                               double *again)
{
    int64_t n = h->count[0], memory = 64 * (int64_t)1e6 + 20000 * n;
    double seconds, stages[ADAPTIVE_WHOLE_STAGES];
    adaptive_whole w;
    ps_status status;
    PS_GUARD(status, done, adaptive_whole_open(d, memory, &w));
    status = adaptive_whole_run(d, &w, rule, &seconds, stages);
    if (status == PS_INVALID) {
        printf("    tree on the device: refused, for the host: %s\n", ps_message());
        status = PS_OK;
        goto done;
    }
    PS_GUARD(status, done, status);
    PS_GUARD(status, done, adaptive_whole_fetch(d, &w, again));
    for (int r = 0; r < 4; ++r)
        ps_tree_gather(again + r * n, h->tree.sets[0].order, n, results + r * n);
    double potential = relative_l2(results, h->results, n);
    double gradient = relative_l2(results + n, h->results + n, 3 * n);
    printf("    tree on the device: levels %d cells %lld: potential %.2g gradient %.2g\n",
           w.tree.levels, (long long)w.tree.cells, potential, gradient);
    if (w.tree.cells != h->tree.cells || w.tree.leaves != h->tree.leaves)
        PS_GUARD(status, done, ps_fail(PS_FAILED, "the tree of the device is another one"));
    if (memcmp(results, whole, (size_t)(4 * n) * 8))
        PS_GUARD(status, done, ps_fail(PS_FAILED, "with its tree, the bits are others"));
    PS_GUARD(status, done, judge("with its tree, the potential", potential, c->bound));
    PS_GUARD(status, done, judge("with its tree, the gradient", gradient, 10 * c->bound));
    PS_GUARD(status, done, adaptive_whole_run(d, &w, rule, &seconds, stages));
    PS_GUARD(status, done, adaptive_whole_fetch(d, &w, results));
    if (memcmp(results, again, (size_t)(4 * n) * 8))
        PS_GUARD(status, done, ps_fail(PS_FAILED, "with its tree, the bits do not repeat"));
done:
    adaptive_whole_close(d, &w);
    return status;
}

/* Stretch by stretch: the bits of all at once, `whole`. */
static ps_status compare_stretches(const check_case *c, const adaptive_case *h,
                                   adaptive_device_case *d, ps_adaptive_rule rule,
                                   const double *whole)
{
    enum { STRETCHES = 7 };
    adaptive_case own = *h;
    essential_case e = {.whole = &own, .work = adaptive_stretch_work, .self = d};
    int64_t portions = ps_adaptive_portions(&h->tree);
    own.problem.rule = rule;
    own.problem.far = c->far;
    ps_status status = essential_case_run(&e, (portions + STRETCHES - 1) / STRETCHES);
    printf("    by stretches: %lld portions, %lld of %lld particles at most\n", (long long)portions,
           (long long)e.largest, (long long)h->count[0]);
    if (status == PS_OK && memcmp(e.results, whole, (size_t)(4 * h->count[0]) * 8))
        status = ps_fail(PS_FAILED, "stretch by stretch the bits are others");
    essential_case_release(&e);
    return status;
}

static ps_status compare(const check_case *c, const adaptive_case *h, const ps_adaptive_plan *plan,
                         double *results, double *again)
{
    int64_t n = h->count[h->tree.same ? 0 : 1];
    double *whole = results + 4 * n;
    adaptive_device_case d;
    ps_status status;
    PS_GUARD(status, done, adaptive_device_open(&d));
    PS_GUARD(status, done, adaptive_device_take(&d, h, plan, c->far, c->near));
    PS_GUARD(status, done, adaptive_device_run(&d, true, NULL, NULL));
    PS_GUARD(status, done, adaptive_device_fetch(&d, results));
    PS_GUARD(status, done, adaptive_device_run(&d, false, NULL, NULL));
    PS_GUARD(status, done, adaptive_device_fetch(&d, again));
    double potential = relative_l2(results, h->results, n);
    double gradient = relative_l2(results + n, h->results + n, 3 * n);
    printf("%s: levels %d leaves %lld W %lld X %lld: potential %.2g gradient %.2g from the cores\n",
           c->name, h->tree.levels, (long long)h->tree.leaves,
           (long long)plan->part[PS_PLAN_M2P_CELLS].count,
           (long long)plan->part[PS_PLAN_P2L_CELL].count, potential, gradient);
    PS_GUARD(status, done, judge("the potential", potential, c->bound));
    PS_GUARD(status, done, judge("the gradient", gradient, 10 * c->bound));
    if (memcmp(results, again, (size_t)(4 * n) * 8))
        PS_GUARD(status, done, ps_fail(PS_FAILED, "the bits do not repeat"));
    if (h->tree.same) PS_GUARD(status, done, compare_stretches(c, h, &d, plan->rule, results));
    if (h->tree.same) { /* particles of all again */
        PS_GUARD(status, done, adaptive_device_take(&d, h, plan, c->far, c->near));
        memcpy(whole, results, (size_t)(4 * n) * 8);
        status = compare_whole(c, h, &d, plan->rule, whole, results, again);
    }
done:
    adaptive_device_release(&d);
    return status;
}

static ps_status check(const check_case *c)
{
    adaptive_case h;
    ps_adaptive_plan plan = {0};
    ps_adaptive_rule rule = ps_adaptive_device_rule(c->order);
    int64_t n = c->targets ? c->targets : c->count;
    double *results = malloc((size_t)(8 * n) * 8), *again = malloc((size_t)(4 * n) * 8);
    ps_status status;
    if (c->points) rule.points = c->points;
    PS_GUARD(status, done, adaptive_case_tree(&h, c->places, c->count, c->targets, c->leaf_size));
    h.problem.function = c->function;
    PS_GUARD(status, done, adaptive_case_init(&h, c->order, omp_get_max_threads()));
    h.problem.rule = rule;
    PS_GUARD(status, done, adaptive_case_run(&h));
    PS_GUARD(status, done, ps_adaptive_plan_make(&h.tree, rule, NULL, &plan));
    status = compare(c, &h, &plan, results, again);
done:
    free(results);
    free(again);
    ps_adaptive_plan_release(&plan);
    adaptive_case_release(&h);
    return status;
}

#define FP64 PS_DOUBLE, PS_DOUBLE
#define MIXED PS_DOUBLE, PS_SINGLE
#define FP32 PS_SINGLE, PS_SINGLE
#define SAME 1e-12
#define ROUGH 3e-6
#define INVERSE                                                                                    \
    {                                                                                              \
        PS_FMM_INVERSE, 0                                                                          \
    }

static const check_case cases[] = {
    /* Small ones, for a checker of memory, first. */
    {"one particle", ADAPTIVE_CUBE, 1, 0, 3, 40, 0, FP64, INVERSE, SAME},
    {"one leaf", ADAPTIVE_CUBE, 33, 0, 3, 40, 0, FP64, INVERSE, SAME},
    {"one place", ADAPTIVE_ONE_PLACE, 65, 0, 3, 20, 0, FP64, INVERSE, SAME},
    {"Plummer, W, X", ADAPTIVE_PLUMMER, 900, 0, 3, 30, 4, FP64, INVERSE, SAME},
    {"cusp, W, X, two sets", ADAPTIVE_CUSP, 800, 500, 3, 30, 4, FP64, INVERSE, SAME},
    {"duplicates, fp32", ADAPTIVE_COINCIDENT, 700, 0, 3, 30, 4, FP32, INVERSE, ROUGH},
    {"pairs across faces, mixed", ADAPTIVE_ACROSS, 2000, 0, 3, 30, 0, MIXED, INVERSE, ROUGH},
    {"cusp, l 10", ADAPTIVE_CUSP, 600, 0, 10, 30, 4, FP64, INVERSE, SAME},
    /* Larger ones. */
    {"cube", ADAPTIVE_CUBE, 20000, 0, 5, 96, 0, FP64, INVERSE, SAME},
    {"Plummer, l 3", ADAPTIVE_PLUMMER, 20000, 0, 3, 64, 0, FP64, INVERSE, SAME},
    {"Plummer, l 4", ADAPTIVE_PLUMMER, 20000, 0, 4, 64, 0, FP64, INVERSE, SAME},
    {"Plummer, l 5", ADAPTIVE_PLUMMER, 200000, 0, 5, 96, 0, FP64, INVERSE, SAME},
    {"Plummer, l 7", ADAPTIVE_PLUMMER, 20000, 0, 7, 96, 8, FP64, INVERSE, SAME},
    {"Plummer, mixed", ADAPTIVE_PLUMMER, 20000, 0, 5, 96, 0, MIXED, INVERSE, ROUGH},
    {"Plummer, fp32", ADAPTIVE_PLUMMER, 20000, 0, 5, 96, 0, FP32, INVERSE, ROUGH},
    {"Plummer, two sets", ADAPTIVE_PLUMMER, 20000, 15000, 5, 60, 0, FP64, INVERSE, SAME},
    {"cusp 1e-6", ADAPTIVE_CUSP, 20000, 0, 5, 96, 0, FP64, INVERSE, SAME},
    {"cusp 1e-6, W, X", ADAPTIVE_CUSP, 20000, 0, 5, 96, 8, FP64, INVERSE, SAME},
    {"cusp 1e-6, mixed", ADAPTIVE_CUSP, 20000, 0, 5, 96, 0, MIXED, INVERSE, ROUGH},
    {"cusp 1e-12", ADAPTIVE_DEEP_CUSP, 20000, 0, 5, 96, 8, FP64, INVERSE, SAME},
    {"cusp 1e-12, mixed", ADAPTIVE_DEEP_CUSP, 20000, 0, 5, 96, 8, MIXED, INVERSE, ROUGH},
    {"plane and lines", ADAPTIVE_PLANE, 20000, 0, 5, 96, 0, FP64, INVERSE, SAME},
    {"plane and lines, mixed", ADAPTIVE_PLANE, 20000, 0, 5, 96, 0, MIXED, INVERSE, ROUGH},
    {"duplicates", ADAPTIVE_COINCIDENT, 20000, 0, 5, 96, 0, FP64, INVERSE, SAME},
    {"duplicates, mixed", ADAPTIVE_COINCIDENT, 20000, 0, 5, 96, 0, MIXED, INVERSE, ROUGH},
    {"dense spots", ADAPTIVE_PAIRS, 20000, 0, 5, 96, 8, FP64, INVERSE, SAME},
    {"dense spots, mixed", ADAPTIVE_PAIRS, 20000, 0, 5, 96, 8, MIXED, INVERSE, ROUGH},
    {"close pairs, mixed", ADAPTIVE_CLOSE, 20000, 0, 5, 96, 0, MIXED, INVERSE, ROUGH},
    {"close pairs, mixed, two sets", ADAPTIVE_CLOSE, 20000, 15000, 5, 60, 0, MIXED, INVERSE, ROUGH},
    {"pairs across faces", ADAPTIVE_ACROSS, 20000, 0, 5, 96, 0, FP64, INVERSE, SAME},
    {"pairs across faces, fp32", ADAPTIVE_ACROSS, 20000, 0, 5, 96, 8, FP32, INVERSE, ROUGH},
    {"pairs across faces, two sets", ADAPTIVE_ACROSS, 20000, 9001, 5, 60, 0, MIXED, INVERSE, ROUGH},
    {"cusp at 1e5", ADAPTIVE_FAR_AWAY, 20000, 0, 5, 96, 0, FP64, INVERSE, SAME},
    {"one far away", ADAPTIVE_ONE_FAR, 20000, 0, 5, 96, 8, FP64, INVERSE, SAME},
    {"one far away, mixed", ADAPTIVE_ONE_FAR, 20000, 0, 5, 96, 8, MIXED, INVERSE, ROUGH},
    {"cusp, yukawa", ADAPTIVE_CUSP, 5000, 0, 3, 60, 8, FP64, {PS_FMM_YUKAWA, 3}, SAME},
    {"Plummer, r^2", ADAPTIVE_PLUMMER, 5000, 0, 3, 60, 8, FP64, {PS_FMM_SQUARE, 0}, SAME},
};

int main(int argc, char **argv)
{
    int64_t largest = argc > 1 ? atoll(argv[1]) : INT64_MAX;
    if (ps_device_count() > 0)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
            if (cases[i].count <= largest) verdict_of(check(&cases[i]), "%s", cases[i].name);
    return verdict_end();
}
