/* Trees and lists that grow step by step, as on a device, against those that the host makes. */
#include "tests/check.h"
#include "tests/support/adaptive_twin.h"
#include "tests/support/distance.h"
#include "tests/support/growth_host.h"

static void same_numbers(const ps_adaptive_plan *a, const ps_adaptive_plan *b, int part)
{
    assert_int_equal(a->part[part].count, b->part[part].count);
    assert_memory_equal(a->part[part].at, b->part[part].at,
                        (size_t)(a->part[part].count * a->part[part].size));
}

/* A tree by the host, and what one that grows takes. */
typedef struct growth_case {
    adaptive_case c;
    growth_host host;
    ps_growth_engine engine;
    ps_adaptive_rule rule;
    ps_adaptive_tree tree;
    uint64_t *keys;
} growth_case;

static void growth_case_open(growth_case *g, adaptive_places places, int64_t count,
                             int64_t leaf_size, int64_t points)
{
    g->engine = growth_host_engine(&g->host);
    g->rule = (ps_adaptive_rule){points, 0};
    check_ok(adaptive_case_tree(&g->c, places, count, 0, leaf_size));
    check_ok(adaptive_case_init(&g->c, 3, 2));
    g->c.problem.rule = g->rule;
    g->keys = g->c.tree.sets[0].keys;
    for (int64_t i = 0; i < count; ++i) g->keys[i] >>= 3; /* to level 20 */
    g->tree = (ps_adaptive_tree){.room = ps_grow,
                                 .box = g->c.tree.box,
                                 .leaf_size = leaf_size,
                                 .same = true,
                                 .sets = {{.points = {.count = count}}}};
}

/* Grows the tree and its plan, whose parts are where a device has them. */
static ps_status grow(growth_case *g, const ps_adaptive_own *share, ps_adaptive_plan *plan,
                      ps_adaptive_work *work)
{
    void *parts[PS_PLAN_PARTS];
    PS_TRY(ps_adaptive_grow(&g->engine, g->keys, g->rule, share, &g->tree, plan, parts, work));
    for (int i = 0; i < PS_PLAN_PARTS; ++i) plan->part[i].at = parts[i];
    return PS_OK;
}

static void growth_case_close(growth_case *g)
{
    growth_host_release(&g->host);
    adaptive_case_release(&g->c);
}

/* ---- shares ---- */

static bool is_leaf_border(const ps_adaptive_tree *t, int64_t target)
{
    for (int64_t l = 0; l < t->leaves; ++l)
        if (t->cell[t->leaf[l]].targets.begin == target) return true;
    return target == t->cell[0].targets.end;
}

/* What a plan of a share says of its own targets is, to the bit, what that of all says. */
static int64_t same_share(const growth_case *g, const ps_adaptive_plan *plan, const double *all,
                          double *results)
{
    int64_t pairs, n = g->c.count[0];
    check_ok(adaptive_twin_run(&g->c, plan, results, &pairs));
    for (int row = 0; row < 4; ++row)
        assert_memory_equal(results + row * n + plan->own.begin, all + row * n + plan->own.begin,
                            (size_t)ps_adaptive_size(plan->own) * sizeof *all);
    return pairs;
}

/* Grown or planned, shares cover all, and do together what one does. */
static void shares(adaptive_places places, int64_t count, int ranks, bool grown)
{
    enum { MOST = 9 };
    PS_SCOPED(growth_case_close) growth_case g = {0};
    int64_t first[MOST + 1], again[MOST + 1], pairs = 0, all, room = 0;
    ps_adaptive_plan plan;
    ps_adaptive_work work;
    PS_SCOPED_MEMORY double *results = NULL;
    growth_case_open(&g, places, count, 40, 8);
    check_ok(ps_grow((void **)&results, &room, 8 * count, sizeof *results, "results"));
    check_ok(grown ? grow(&g, NULL, &plan, &work)
                   : ps_adaptive_plan_make(&g.c.tree, g.rule, NULL, &plan));
    check_ok(adaptive_twin_run(&g.c, &plan, results, &all));
    if (!grown) ps_adaptive_plan_release(&plan);
    for (int k = 0; k < ranks; ++k) {
        ps_adaptive_own share = {k, ranks, {100, 27}, k ? again : first};
        check_ok(grown ? grow(&g, &share, &plan, &work)
                       : ps_adaptive_plan_make(&g.c.tree, g.rule, &share, &plan));
        if (grown) assert_int_equal(work.direct, all);
        if (k) assert_memory_equal(first, again, (size_t)(ranks + 1) * sizeof *first);
        assert_int_equal(plan.own.begin, first[k]);
        assert_int_equal(plan.own.end, first[k + 1]);
        assert_true(is_leaf_border(&g.c.tree, first[k]));
        pairs += same_share(&g, &plan, results, results + 4 * count);
        if (!grown) ps_adaptive_plan_release(&plan);
    }
    assert_int_equal(first[0], 0);
    assert_int_equal(first[ranks], count);
    assert_int_equal(pairs, all);
}

static void share_work(void **state)
{
    for (int grown = 0; grown < 2; ++grown) {
        shares(ADAPTIVE_PLUMMER, 4000, 3, grown);
        shares(ADAPTIVE_CUBE, 3000, 2, grown);
        shares(ADAPTIVE_CUSP, 1000, 4, grown);
        shares(ADAPTIVE_ONE_FAR, 2000, 3, grown);
        shares(ADAPTIVE_PLANE, 2000, 5, grown);
        shares(ADAPTIVE_CUBE, 60, grown ? 3 : 9, grown); /* 8 leaves */
        shares(ADAPTIVE_CUBE, 1, 2, grown);
    }
}

static void grown(adaptive_places places, int64_t count, int64_t leaf_size, int64_t points,
                  bool refused)
{
    /* What does not depend on the order of leaves. */
    static const int same[] = {PS_PLAN_BOXES,   PS_PLAN_CHILDREN, PS_PLAN_ORDER,
                               PS_PLAN_OCTANTS, PS_PLAN_BLOCK,    PS_PLAN_FAR};
    PS_SCOPED(growth_case_close) growth_case g = {0};
    ps_adaptive_plan plan, wanted;
    growth_case_open(&g, places, count, leaf_size, points);
    const adaptive_case *c = &g.c;
    if (refused) {
        check_fails(grow(&g, NULL, &plan, NULL), PS_INVALID, "host");
    } else {
        PS_SCOPED_MEMORY double *results = NULL;
        int64_t pairs;
        ps_adaptive_work work, counted;
        check_ok(grow(&g, NULL, &plan, &counted));
        check_ok(ps_adaptive_plan_make(&c->tree, g.rule, NULL, &wanted));
        assert_int_equal(g.tree.levels, c->tree.levels);
        assert_int_equal(g.tree.cells, c->tree.cells);
        assert_int_equal(g.tree.leaves, c->tree.leaves);
        assert_memory_equal(g.tree.level_start, c->tree.level_start,
                            (size_t)(g.tree.levels + 1) * sizeof *g.tree.level_start);
        for (int i = 0; i <= g.tree.levels; ++i)
            assert_int_equal(plan.block_start[i], wanted.block_start[i]);
        for (size_t i = 0; i < sizeof same / sizeof *same; ++i)
            same_numbers(&plan, &wanted, same[i]);
        check_ok(adaptive_case_run(&g.c));
        check_ok(PS_ALLOC(&results, 8 * count, "results"));
        check_ok(adaptive_twin_run(c, &wanted, results + 4 * count, &pairs));
        check_ok(adaptive_twin_run(c, &plan, results, &pairs));
        /* lists of each leaf in one order: the same bits */
        assert_memory_equal(results, results + 4 * count, (size_t)(4 * count) * sizeof *results);
        check_ok(ps_adaptive_count(&c->tree, &g.rule, &work));
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
            worst = worse_of(worst, fabs(results[i] - c->results[i]));
            most = worse_of(most, fabs(c->results[i]));
        }
        print_message("places %d levels %d W %lld: %.1e of %.1e\n", (int)places, g.tree.levels,
                      (long long)work.m2p_cells, worst, most);
        check_at_most(worst, 1e-13 * most);
        ps_adaptive_plan_release(&wanted);
    }
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
