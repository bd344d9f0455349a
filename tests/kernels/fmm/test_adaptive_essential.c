/* Adaptive trees evaluated stretch by stretch: the bits of all at once. */
#include "runtime/scope.h"
#include "tests/check.h"
#include "tests/support/essential_case.h"

enum { COUNT = 6000 };

static void by_stretches(adaptive_places places, ps_precision far, int64_t points, int64_t step)
{
    PS_SCOPED(adaptive_case_release) adaptive_case c = {0};
    PS_SCOPED(essential_case_release) essential_case e = {.whole = &c, .work = essential_on_cores};
    check_ok(adaptive_case_tree(&c, places, COUNT, 0, 6));
    c.problem.far = far;
    check_ok(adaptive_case_init(&c, 3, 2));
    if (points) c.problem.rule.points = points;
    check_ok(adaptive_case_run(&c));
    check_ok(essential_case_run(&e, step));
    print_message("places %d, %lld portions, %lld at a time: %lld particles of %d\n", (int)places,
                  (long long)ps_adaptive_portions(&c.tree), (long long)step, (long long)e.largest,
                  COUNT);
    assert_memory_equal(e.results, c.results, 4 * COUNT * sizeof(double));
}

/* Lists with M2P and P2L, and without. */
static void same_bits(void **state)
{
    by_stretches(ADAPTIVE_CUBE, PS_DOUBLE, 0, 2);
    by_stretches(ADAPTIVE_CUSP, PS_DOUBLE, 2, 5);
    by_stretches(ADAPTIVE_DEEP_CUSP, PS_DOUBLE, 0, 2);
    by_stretches(ADAPTIVE_PLANE, PS_DOUBLE, 2, 3);
    by_stretches(ADAPTIVE_COINCIDENT, PS_DOUBLE, 2, 2);
    by_stretches(ADAPTIVE_ONE_FAR, PS_DOUBLE, 2, 2);
    by_stretches(ADAPTIVE_PLUMMER, PS_DOUBLE, 2, 1);
    by_stretches(ADAPTIVE_PLUMMER, PS_SINGLE, 2, 3);
    by_stretches(ADAPTIVE_PLUMMER, PS_DOUBLE, 0, 1000);
    by_stretches(ADAPTIVE_CLUSTERS, PS_DOUBLE, 0, 3);
}

/* What a stretch takes is little of the whole: its own particles, and a layer around. */
static void little(void **state)
{
    PS_SCOPED(adaptive_case_release) adaptive_case c = {0};
    PS_SCOPED(ps_essential_release) ps_essential e = {0};
    check_ok(adaptive_case_tree(&c, ADAPTIVE_PLUMMER, 100000, 0, 40));
    const ps_adaptive_rule rule = ps_adaptive_rule_of(3);
    int64_t portions = ps_adaptive_portions(&c.tree), most = 0, cells = 0;
    for (int64_t at = 0; at < portions; at += 7) {
        check_ok(ps_essential_around(&c.tree, &rule, at, at + 1, &e));
        most = ps_essential_particles(&e) > most ? ps_essential_particles(&e) : most;
        cells = e.tree.cells > cells ? e.tree.cells : cells;
    }
    print_message("%lld portions: %lld particles and %lld of %lld cells at most\n",
                  (long long)portions, (long long)most, (long long)cells, (long long)c.tree.cells);
    assert_true(most < 100000 / 4);
    assert_true(cells < c.tree.cells / 2);
}
