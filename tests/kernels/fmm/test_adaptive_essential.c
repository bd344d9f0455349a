/* Adaptive trees evaluated stretch by stretch: the bits of all at once; by the host's lists, and by
 * plans of what a device does. */
#include "runtime/scope.h"
#include "tests/check.h"
#include "tests/support/adaptive_twin.h"
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

/* ---- plans ---- */

typedef struct planned {
    int64_t own, cells; /* targets of M2L, and cells, of all stretches */
    double largest;     /* bytes of a plan a cell of its tree          */
} planned;

/* Own cells alone are targets of M2L and L2L, own leaves of the rest. */
static void count_own(const ps_adaptive_plan *plan, const ps_essential *e, planned *found)
{
    const ps_adaptive_tree *t = plan->tree;
    const int32_t *octants = plan->part[PS_PLAN_OCTANTS].at;
    int64_t bytes = 0;
    for (int l = 0; l < t->levels; ++l) {
        int64_t own = 0;
        for (int64_t c = t->level_start[l]; c < t->level_start[l + 1]; ++c)
            own += ps_adaptive_size(t->cell[c].targets) > 0;
        assert_int_equal(octants[9 * l + 8], own);
        assert_int_equal(ps_adaptive_size(plan->cells[l]), own);
        found->own += l >= 2 ? own : 0;
    }
    assert_int_equal(plan->own.begin, e->own.begin);
    assert_int_equal(plan->own.end, e->own.end);
    for (int i = 0; i < PS_PLAN_PARTS; ++i) bytes += plan->part[i].count * plan->part[i].size;
    found->largest = fmax(found->largest, (double)bytes / (double)t->cells);
    found->cells += t->cells;
}

/* What a device does with the plan of an essential tree, by the host. */
static ps_status by_plan(void *self, essential_case *e, bool lift)
{
    adaptive_case part = *e->whole;
    PS_SCOPED(ps_adaptive_plan_release) ps_adaptive_plan plan = {0};
    int64_t pairs;
    part.tree = e->essential.tree;
    part.problem = e->problem;
    part.sorted[0] = e->particles;
    part.count[0] = ps_essential_particles(&e->essential);
    ps_status status = ps_adaptive_plan_make(&part.tree, e->problem.rule, NULL, &plan);
    adaptive_twin w = {.c = &part, .plan = &plan, .multipoles = (double *)e->vectors};
    if (status == PS_OK && lift) twin_lift(&w);
    if (status == PS_OK && !lift) {
        count_own(&plan, &e->essential, self);
        status = adaptive_twin_sum(&part, &plan, w.multipoles, e->found, &pairs);
    }
    return status;
}

static void by_plans(adaptive_places places, int64_t points, int64_t step)
{
    PS_SCOPED(adaptive_case_release) adaptive_case c = {0};
    planned found = {0};
    PS_SCOPED(essential_case_release)
    essential_case e = {.whole = &c, .work = by_plan, .self = &found};
    PS_SCOPED(ps_adaptive_plan_release) ps_adaptive_plan plan = {0};
    PS_SCOPED_MEMORY double *results = NULL;
    int64_t pairs, shared = 0;
    check_ok(adaptive_case_tree(&c, places, COUNT, 0, 6));
    check_ok(adaptive_case_init(&c, 3, 2));
    c.problem.rule = (ps_adaptive_rule){points, 0};
    check_ok(PS_ALLOC(&results, 4 * COUNT, "results"));
    check_ok(ps_adaptive_plan_make(&c.tree, c.problem.rule, NULL, &plan));
    check_ok(adaptive_twin_run(&c, &plan, results, &pairs));
    check_ok(essential_case_run(&e, step));
    assert_memory_equal(e.results, results, 4 * COUNT * sizeof(double));
    /* those that stretches share are targets of each: two a border and level at most */
    int64_t stretches = (ps_adaptive_portions(&c.tree) + step - 1) / step;
    for (int l = 2; l < c.tree.levels; ++l) shared += stretches - 1;
    print_message("places %d, W %lld X %lld: %lld of %lld cells are targets, %.0f B a cell\n",
                  (int)places, (long long)plan.part[PS_PLAN_M2P_CELLS].count,
                  (long long)plan.part[PS_PLAN_P2L_CELL].count, (long long)found.own,
                  (long long)found.cells, found.largest);
    assert_true(found.own <= c.tree.cells + shared);
}

static void plans(void **state)
{
    by_plans(ADAPTIVE_CUBE, 128, 2);
    by_plans(ADAPTIVE_CUSP, 2, 5);
    by_plans(ADAPTIVE_DEEP_CUSP, 8, 2);
    by_plans(ADAPTIVE_COINCIDENT, 2, 2);
    by_plans(ADAPTIVE_ONE_FAR, 2, 2);
    by_plans(ADAPTIVE_PLUMMER, 2, 1);
    by_plans(ADAPTIVE_PLUMMER, 128, 3);
    by_plans(ADAPTIVE_CLUSTERS, 8, 3);
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
