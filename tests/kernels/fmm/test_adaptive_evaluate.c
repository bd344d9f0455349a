/* The method over adaptive trees against direct sums. */
#include "kernels/fmm/adaptive_plan.h"
#include "runtime/scope.h"
#include "tests/check.h"
#include "tests/support/adaptive_case.h"
#include "tests/support/distance.h"

/* Relative L2 errors of potential and gradient, and the largest of a gradient relative to itself,
 * within these bounds. */
static void within(adaptive_places places, int64_t sources, int64_t targets, int order,
                   const double bounds[3])
{
    PS_SCOPED(adaptive_case_release) adaptive_case c = {0};
    double errors[3] = {0};
    check_ok(adaptive_case_sum(&c, places, sources, targets, ps_adaptive_leaf_size(order), order));
    check_ok(adaptive_case_errors(&c, 500, errors));
    print_message("places %d order %d levels %d: %.2e %.2e, largest %.2e\n", (int)places, order,
                  c.tree.levels, errors[0], errors[1], errors[2]);
    for (int i = 0; i < 3; ++i) check_at_most(errors[i], bounds[i]);
}

static void errors(void **state)
{
    const double l3[3] = {1e-3, 2e-2, 2}, l5[3] = {2e-5, 1e-3, .5}, l7[3] = {5e-7, 3e-5, .1};
    for (int places = 0; places < ADAPTIVE_ONE_PLACE; ++places) {
        within((adaptive_places)places, 4000, 0, 3, l3);
        within((adaptive_places)places, 4000, 3000, 5, l5);
    }
    within(ADAPTIVE_PLUMMER, 10000, 0, 5, l5);
    within(ADAPTIVE_DEEP_CUSP, 10000, 0, 7, l7);
}

/* Kernels without a degree have operators of each level; r^2 has one of degree 2. */
static void other_kernels(void **state)
{
    const ps_fmm_function functions[] = {{PS_FMM_YUKAWA, 3}, {PS_FMM_SQUARE, 0}};
    const double bounds[2] = {1e-3, 1e-4};
    for (int i = 0; i < 2; ++i) {
        PS_SCOPED(adaptive_case_release) adaptive_case c = {0};
        double errors[3] = {0};
        check_ok(adaptive_case_tree(&c, ADAPTIVE_CUSP, 3000, 0, ps_adaptive_leaf_size(3)));
        c.problem.function = functions[i];
        check_ok(adaptive_case_init(&c, 3, 2));
        check_ok(adaptive_case_run(&c));
        check_ok(adaptive_case_errors(&c, 300, errors));
        check_at_most(errors[0], bounds[i]);
    }
}

static void same_bits(void **state)
{
    PS_SCOPED(adaptive_case_release) adaptive_case one = {0}, four = {0};
    for (int i = 0; i < 2; ++i) {
        adaptive_case *c = i ? &four : &one;
        check_ok(adaptive_case_tree(c, ADAPTIVE_PLUMMER, 6000, 0, 40));
        check_ok(adaptive_case_init(c, 3, 1 + 3 * i));
        check_ok(adaptive_case_run(c));
    }
    assert_memory_equal(one.results, four.results, 4 * 6000 * sizeof(double));
}

/* The relative L2 distance of columns [first, end) of results in the order as made. */
static double distance(const adaptive_case c[2], int first, int end)
{
    int64_t n = c[0].count[0];
    PS_SCOPED_MEMORY double *room = NULL;
    check_ok(PS_ALLOC(&room, 8 * n, "results"));
    double *made[2] = {room, room + 4 * n};
    for (int i = 0; i < 2; ++i)
        for (int64_t j = 0; j < n; ++j)
            for (int r = first; r < end; ++r)
                made[i][r * n + c[i].tree.sets[0].order[j]] = c[i].results[r * n + j];
    return relative_l2(made[0] + first * n, made[1] + first * n, (end - first) * n);
}

/* Portions one after the other, and some of them alone: the bits of all at once. Work of leaves
 * adds up to what is counted. */
static void by_portions(adaptive_places places, int64_t targets, int64_t step, int64_t skipped)
{
    PS_SCOPED(adaptive_case_release) adaptive_case c = {0};
    ps_adaptive_evaluation e;
    ps_adaptive_work counted;
    int64_t n = targets ? targets : 6000, all = 0;
    PS_SCOPED_MEMORY double *whole = NULL;
    PS_SCOPED_MEMORY int64_t *work = NULL;
    check_ok(adaptive_case_sum(&c, places, 6000, targets, 6, 3));
    check_ok(PS_ALLOC(&whole, 4 * n, "results"));
    memcpy(whole, c.results, (size_t)(4 * n) * sizeof *whole);
    int64_t portions = ps_adaptive_portions(&c.tree);
    assert_true(portions > 4);
    ps_adaptive_begin(&c.problem, c.threads, c.vectors, c.workspace, &e);
    for (int64_t at = skipped; at < portions; at += step) {
        int64_t end = at + step < portions ? at + step : portions;
        ps_fmm_range own = ps_adaptive_portion_targets(&c.tree, at, end);
        check_ok(ps_adaptive_evaluate_portions(&e, at, end));
        for (int row = 0; row < 4; ++row)
            assert_memory_equal(c.results + row * n + own.begin, whole + row * n + own.begin,
                                (size_t)ps_adaptive_size(own) * sizeof *whole);
    }
    check_ok(PS_ALLOC(&work, c.tree.leaves, "work"));
    check_ok(ps_adaptive_leaf_work(&c.tree, &c.problem.rule, (ps_adaptive_costs){100, 27}, work));
    check_ok(ps_adaptive_count(&c.tree, &c.problem.rule, &counted));
    for (int64_t l = 0; l < c.tree.leaves; ++l) all += work[l];
    assert_int_equal(all, counted.direct + 100 * counted.m2l + 27 * (counted.m2p + counted.p2l));
}

static void portions(void **state)
{
    by_portions(ADAPTIVE_PLUMMER, 0, 1, 0);
    by_portions(ADAPTIVE_CUSP, 0, 2, 3);
    by_portions(ADAPTIVE_PLANE, 4000, 1, 1);
    by_portions(ADAPTIVE_ONE_FAR, 0, 3, 0);
}

/* A device has leaves of another size and other rules: its program's results and the cores' differ
 * by what both err, and no more. (Over one tree they agree to rounding: check_fmm_adaptive.) */
static void other_leaves(void **state)
{
    for (int order = 4; order <= 6; order += 2) {
        adaptive_case c[2];
        double errors[2][3];
        const int64_t sizes[2] = {ps_adaptive_leaf_size(order),
                                  ps_adaptive_device_leaf_size(order)};
        for (int i = 0; i < 2; ++i) {
            check_ok(adaptive_case_tree(&c[i], ADAPTIVE_PLUMMER, 10000, 0, sizes[i]));
            check_ok(adaptive_case_init(&c[i], order, 2));
            if (i) c[i].problem.rule = ps_adaptive_device_rule(order);
            check_ok(adaptive_case_run(&c[i]));
            check_ok(adaptive_case_errors(&c[i], 500, errors[i]));
        }
        for (int g = 0; g < 2; ++g) {
            double difference = distance(c, g, g ? 4 : 1);
            print_message("order %d, leaves of %lld and %lld: errors %.1e %.1e, apart %.1e\n",
                          order, (long long)sizes[0], (long long)sizes[1], errors[0][g],
                          errors[1][g], difference);
            check_at_most(difference, 1.5 * (errors[0][g] + errors[1][g]));
        }
        for (int i = 0; i < 2; ++i) adaptive_case_release(&c[i]);
    }
}
