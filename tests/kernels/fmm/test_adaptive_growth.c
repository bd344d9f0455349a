/* Trees and lists that grow step by step, as on a device, against those that the host makes. */
#include "tests/check.h"
#include "tests/support/adaptive_twin.h"
#include "tests/support/growth_host.h"

static void same_numbers(const ps_adaptive_plan *a, const ps_adaptive_plan *b, int part)
{
    assert_int_equal(a->part[part].count, b->part[part].count);
    assert_memory_equal(a->part[part].at, b->part[part].at,
                        (size_t)(a->part[part].count * a->part[part].size));
}

static void grown(adaptive_places places, int64_t count, int64_t leaf_size, int64_t points,
                  bool refused)
{
    /* What does not depend on the order of leaves. */
    static const int same[] = {PS_PLAN_BOXES,   PS_PLAN_CHILDREN, PS_PLAN_ORDER,
                               PS_PLAN_OCTANTS, PS_PLAN_BLOCK,    PS_PLAN_FAR};
    adaptive_case c;
    growth_host host;
    ps_growth_engine engine = growth_host_engine(&host);
    ps_adaptive_plan plan, wanted;
    ps_adaptive_rule rule = {points, 0};
    void *parts[PS_PLAN_PARTS];
    check_ok(adaptive_case_tree(&c, places, count, 0, leaf_size));
    check_ok(adaptive_case_init(&c, 3, 2));
    c.problem.rule = rule;
    uint64_t *keys = c.tree.sets[0].keys;
    for (int64_t i = 0; i < count; ++i) keys[i] >>= 3; /* to level 20 */
    ps_adaptive_tree tree = {.box = c.tree.box,
                             .leaf_size = leaf_size,
                             .same = true,
                             .sets = {{.points = {.count = count}}}};
    if (refused) {
        check_fails(ps_adaptive_grow(&engine, keys, rule, &tree, &plan, parts, NULL), PS_INVALID,
                    "host");
    } else {
        double *results;
        int64_t pairs;
        ps_adaptive_work work, counted;
        check_ok(ps_adaptive_grow(&engine, keys, rule, &tree, &plan, parts, &counted));
        check_ok(ps_adaptive_plan_make(&c.tree, rule, &wanted));
        for (int i = 0; i < PS_PLAN_PARTS; ++i) plan.part[i].at = parts[i];
        assert_int_equal(tree.levels, c.tree.levels);
        assert_int_equal(tree.cells, c.tree.cells);
        assert_int_equal(tree.leaves, c.tree.leaves);
        assert_memory_equal(tree.level_start, c.tree.level_start,
                            (size_t)(tree.levels + 1) * sizeof *tree.level_start);
        for (int i = 0; i <= tree.levels; ++i)
            assert_int_equal(plan.block_start[i], wanted.block_start[i]);
        for (size_t i = 0; i < sizeof same / sizeof *same; ++i)
            same_numbers(&plan, &wanted, same[i]);
        check_ok(adaptive_case_run(&c));
        check_ok(PS_ALLOC(&results, 4 * count, "results"));
        check_ok(adaptive_twin_run(&c, &plan, results, &pairs));
        check_ok(ps_adaptive_count(&c.tree, &rule, &work));
        assert_int_equal(pairs, work.direct);
        assert_int_equal(counted.direct, work.direct);
        assert_int_equal(counted.m2l, work.m2l);
        assert_int_equal(counted.m2p, work.m2p);
        assert_int_equal(counted.p2l, work.p2l);
        assert_int_equal(counted.m2p_cells, work.m2p_cells);
        assert_int_equal(counted.p2l_cells, work.p2l_cells);
        assert_int_equal(plan.part[PS_PLAN_RUNS].count, wanted.part[PS_PLAN_RUNS].count);
        assert_int_equal(plan.part[PS_PLAN_M2P_CELLS].count, work.m2p_cells);
        double worst = 0, most = 0;
        for (int64_t i = 0; i < 4 * count; ++i) {
            worst = fmax(worst, fabs(results[i] - c.results[i]));
            most = fmax(most, fabs(c.results[i]));
        }
        print_message("places %d levels %d W %lld: %.1e of %.1e\n", (int)places, tree.levels,
                      (long long)work.m2p_cells, worst, most);
        check_at_most(worst, 1e-13 * most);
        free(results);
        ps_adaptive_plan_release(&wanted);
    }
    growth_host_release(&host);
    adaptive_case_release(&c);
}

static void growths(void **state)
{
    for (int64_t points = 8; points <= 128; points += 120) {
        grown(ADAPTIVE_CUBE, 5000, 40, points, false);
        grown(ADAPTIVE_PLUMMER, 5000, 40, points, false);
        grown(ADAPTIVE_PLUMMER, 3000, 10, points, false);
        grown(ADAPTIVE_PLANE, 3000, 40, points, false);
        grown(ADAPTIVE_CUSP, 1000, 40, points, false);
        grown(ADAPTIVE_ONE_FAR, 3000, 40, points, false);
    }
    grown(ADAPTIVE_CUBE, 1, 40, 128, false);
    grown(ADAPTIVE_CUBE, 60, 40, 128, false);
    grown(ADAPTIVE_ONE_PLACE, 30, 40, 128, false);
    grown(ADAPTIVE_ONE_PLACE, 300, 40, 128, true);
    grown(ADAPTIVE_DEEP_CUSP, 1000, 10, 128, true);
}
