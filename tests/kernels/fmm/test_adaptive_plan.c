/* Plans for devices against the evaluation on cores: by the steps of a device, on the host. */
#include <omp.h>

#include "runtime/scope.h"
#include "tests/check.h"
#include "tests/support/adaptive_twin.h"
#include "tests/support/distance.h"

static void same_as_cores(adaptive_places places, int64_t sources, int64_t targets, int order,
                          int64_t leaf_size, ps_fmm_function function)
{
    PS_SCOPED(adaptive_case_release) adaptive_case c = {0};
    PS_SCOPED(ps_adaptive_plan_release) ps_adaptive_plan plan = {0};
    ps_adaptive_rule rule = ps_adaptive_device_rule(order);
    PS_SCOPED_MEMORY double *results = NULL;
    int64_t n = targets ? targets : sources, pairs;
    check_ok(adaptive_case_tree(&c, places, sources, targets, leaf_size));
    c.problem.function = function;
    check_ok(adaptive_case_init(&c, order, 2));
    /* Few direct pairs, so that W and X are there. */
    if (leaf_size > 30) rule.points = 8;
    c.problem.rule = rule;
    check_ok(adaptive_case_run(&c));
    check_ok(PS_ALLOC(&results, 4 * n, "results"));
    check_ok(ps_adaptive_plan_make(&c.tree, rule, NULL, &plan));
    check_ok(adaptive_twin_run(&c, &plan, results, &pairs));
    ps_adaptive_work work;
    check_ok(ps_adaptive_count(&c.tree, &rule, &work));
    double potential = relative_l2(results, c.results, n),
           gradient = relative_l2(results + n, c.results + n, 3 * n);
    print_message("places %d levels %d W %lld X %lld: %.1e %.1e\n", (int)places, c.tree.levels,
                  (long long)plan.part[PS_PLAN_M2P_CELLS].count,
                  (long long)plan.part[PS_PLAN_P2L_CELL].count, potential, gradient);
    assert_int_equal(pairs, work.direct);
    assert_int_equal(plan.part[PS_PLAN_M2P_CELLS].count, work.m2p_cells);
    check_at_most(potential, 1e-13);
    check_at_most(gradient, 1e-11);
}

static void plans(void **state)
{
    const ps_fmm_function inverse = {PS_FMM_INVERSE, 0}, yukawa = {PS_FMM_YUKAWA, 3};
    for (int places = 0; places < ADAPTIVE_PLACES; ++places) {
        same_as_cores((adaptive_places)places, 3000, 0, 3, 20, inverse);
        same_as_cores((adaptive_places)places, 3000, 0, 3, 60, inverse);
        same_as_cores((adaptive_places)places, 2000, 1500, 3, 40, inverse);
    }
    same_as_cores(ADAPTIVE_PLUMMER, 3000, 0, 5, 40, inverse);
    same_as_cores(ADAPTIVE_CUSP, 2000, 0, 3, 40, yukawa);
    same_as_cores(ADAPTIVE_CUBE, 1, 0, 3, 40, inverse);
    same_as_cores(ADAPTIVE_CUBE, 30, 0, 3, 40, inverse);
}

/* A plan does not depend on who makes it. */
static void same_plan(void **state)
{
    PS_SCOPED(adaptive_case_release) adaptive_case c = {0};
    ps_adaptive_plan plan[2];
    check_ok(adaptive_case_tree(&c, ADAPTIVE_PLUMMER, 20000, 0, 20));
    for (int i = 0; i < 2; ++i) {
        omp_set_num_threads(1 + 2 * i);
        check_ok(ps_adaptive_plan_make(&c.tree, ps_adaptive_device_rule(3), NULL, &plan[i]));
    }
    for (int part = 0; part < PS_PLAN_PARTS; ++part) {
        assert_int_equal(plan[0].part[part].count, plan[1].part[part].count);
        assert_memory_equal(plan[0].part[part].at, plan[1].part[part].at,
                            (size_t)(plan[0].part[part].count * plan[0].part[part].size));
    }
    for (int i = 0; i < 2; ++i) ps_adaptive_plan_release(&plan[i]);
}
