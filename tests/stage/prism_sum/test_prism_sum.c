/* Fields of many prisms (stage/prism_sum): against direct sums, at any height, order, kind and
 * place; the transpose; threads. */
#include "stage/prism_sum/prism_sum.h"

#include <stdbool.h>
#include <stdlib.h>

#include "tests/check.h"
#include "tests/support/prism_case.h"

enum { NUMBERS = PRISM_NUMBERS };

static void apply(prism_case *m, int height, int order, int threads, double *const *out)
{
    PS_SCOPED(ps_prism_sum_close) ps_prism_sum *s = NULL;
    ps_prism_sum_options o = {.height = height, .threads = threads};
    check_ok(ps_prism_sum_open(&m->bodies, &o, &s));
    check_ok(ps_prism_sum_operators(s, order, pow(10, -order)));
    check_ok(ps_prism_sum_apply(s, (const double *const *)m->weight, out));
}

static void compare(prism_case *m, const double bounds[3], int height, int order)
{
    double found[3];
    apply(m, height, order, 2, m->out);
    ps_prism_sum_direct(&m->bodies, (const double *const *)m->weight, m->all, m->bodies.stations, 2,
                        m->direct);
    assert_true(prism_case_differences(m, m->out, m->direct, found));
    print_message("kind %d height %d order %d: V %.1e g %.1e T %.1e\n", m->bodies.kind, height,
                  order, found[0], found[1], found[2]);
    for (int g = 0; g < 3; ++g) check_at_most(found[g], bounds[g]);
}

static void against_direct_sums(void **unused)
{
    static const double by_order[3][3] = {
        {6e-4, 2e-2, 3e-2}, {3e-6, 1e-4, 1e-3}, {6e-9, 6e-7, 2e-5}}; /* l = 3, 6, 9 */
    static const double exact[3] = {1e-12, 1e-11, 1e-11};
    for (int kind = 0; kind < 3; ++kind) {
        PS_SCOPED(prism_case_release) prism_case m = {0};
        prism_case_random(&m, (ps_prism_kind)kind, 500, 400, 30);
        for (int height = 1; height < 3; ++height) compare(&m, exact, height, 3);
        for (int o = 0; o < 3; ++o)
            for (int height = 3; height < 6; ++height) compare(&m, by_order[o], height, 3 + 3 * o);
        compare(&m, by_order[1], 0, 6);
    }
}

/* Sides from 0.1 mm to 100 m: a prism belongs to a level of its own. */
static void many_sizes(void **unused)
{
    static const double bounds[3] = {6e-6, 5e-5, 5e-4};
    PS_SCOPED(prism_case_release) prism_case m = {0};
    prism_case_random(&m, PS_PRISM_TENSOR, 400, 200, 1e6);
    compare(&m, bounds, 7, 6);
}

/* Stations on the borders of cells, where prisms are cut, are on no edge: derivatives are numbers
 * there, but on the prisms' own edges. */
static void borders_of_cells(void **unused)
{
    enum { SIDE = 5 };
    static const double bounds[3] = {1e-7, 1e-5, 1e-3};
    PS_SCOPED(prism_case_release) prism_case m = {0};
    prism_case_allocate(&m, 9, SIDE * SIDE * SIDE);
    m.bodies.kind = PS_PRISM_TENSOR;
    for (int i = 0; i < 9; ++i)
        for (int d = 0; d < 3; ++d) {
            m.low[d][i] = i == 8 ? 0 : .06 + .6 * (i >> d & 1);
            m.high[d][i] = i == 8 ? 1 : m.low[d][i] + .13;
            m.weight[d][i] = 1 + i;
        }
    for (int i = 0; i < SIDE * SIDE * SIDE; ++i) {
        const int at[3] = {i / (SIDE * SIDE), i / SIDE % SIDE, i % SIDE};
        for (int d = 0; d < 3; ++d) m.place[d][i] = at[d] / (SIDE - 1.);
    }
    for (int height = 3; height < 6; ++height) compare(&m, bounds, height, 7);
    for (int i = 0; i < SIDE * SIDE * SIDE; ++i) {
        int outer = 0;
        for (int d = 0; d < 3; ++d) outer += m.place[d][i] == 0 || m.place[d][i] == 1;
        assert_int_equal(isnan(m.out[7][i]) || isnan(m.out[8][i]) || isnan(m.out[9][i]), outer > 1);
    }
}

/* <J m, d> = <m, J^T d> to rounding, at whatever accuracy. */
static void transpose(void **unused)
{
    for (int kind = 0; kind < 3; ++kind)
        for (int height = 2; height < 6; ++height) {
            PS_SCOPED(prism_case_release) prism_case m = {0};
            ps_prism_sum *s;
            ps_prism_sum_options o = {.height = height, .threads = 2};
            double *back[3], forward = 0, backward = 0, sizes = 0;
            uint64_t state = 23;
            prism_case_random(&m, (ps_prism_kind)kind, 300, 200, 30);
            check_ok(ps_prism_sum_open(&m.bodies, &o, &s));
            check_ok(ps_prism_sum_operators(s, 4, 1e-4));
            check_ok(ps_prism_sum_apply(s, (const double *const *)m.weight, m.out));
            for (int64_t i = 0; i < m.bodies.stations; ++i) {
                bool undefined = false;
                for (int k = 0; k < ps_prism_kind_numbers(m.bodies.kind); ++k)
                    undefined = undefined || isnan(m.out[k][i]);
                for (int k = 0; k < NUMBERS; ++k) m.direct[k][i] = congruence_uniform(&state) - .5;
                if (undefined) /* away from edges, where there is no J */
                    for (int d = 0; d < 3; ++d) m.place[d][i] += 1e-3;
            }
            ps_prism_sum_close(&s);
            check_ok(ps_prism_sum_open(&m.bodies, &o, &s));
            check_ok(ps_prism_sum_operators(s, 4, 1e-4));
            check_ok(ps_prism_sum_apply(s, (const double *const *)m.weight, m.out));
            for (int d = 0; d < 3; ++d) back[d] = prism_numbers(300);
            check_ok(ps_prism_sum_transposed(s, (const double *const *)m.direct, back));
            for (int k = 0; k < ps_prism_kind_numbers(m.bodies.kind); ++k)
                for (int64_t i = 0; i < m.bodies.stations; ++i) {
                    forward += m.out[k][i] * m.direct[k][i];
                    sizes += fabs(m.out[k][i] * m.direct[k][i]);
                }
            for (int w = 0; w < ps_prism_kind_weights(m.bodies.kind); ++w)
                for (int64_t i = 0; i < 300; ++i) backward += m.weight[w][i] * back[w][i];
            check_near(backward, forward, 1e-13 * sizes, 0);
            ps_prism_sum_close(&s);
            for (int d = 0; d < 3; ++d) free(back[d]);
        }
}

static void threads_keep_bits(void **unused)
{
    PS_SCOPED(prism_case_release) prism_case m = {0};
    prism_case_random(&m, PS_PRISM_TENSOR, 500, 300, 30);
    apply(&m, 4, 5, 1, m.out);
    apply(&m, 4, 5, 3, m.direct);
    for (int k = 0; k < NUMBERS; ++k)
        assert_memory_equal(m.out[k], m.direct[k], 300 * sizeof(double));
}
