/* Packed near matrices against the near matrices, and groups of steps on the CPU device against
 * the definition (kernels/tdbem/near_pack.h, group_solve.h). */
#include "kernels/common/reals.h"
#include "kernels/tdbem/group_solve.h"

#include "tests/check.h"
#include "tests/support/distance.h"
#include "tests/support/group_case.h"
#include "tests/support/radiation_sum.h"

static group_case make_as(int64_t unknowns, int64_t group, ps_precision precision, bool unsymmetric)
{
    group_case c;
    check_ok(group_case_usual(&c, unknowns, group, precision, unsymmetric));
    return c;
}

static group_case make(int64_t unknowns, int64_t group, ps_precision precision)
{
    return make_as(unknowns, group, precision, false);
}

static void packing_keeps_every_entry(void **state)
{
    const int64_t sizes[] = {1, 31, 33, 200}, groups[] = {1, 2, 3, 5, 8, 32};
    for (int s = 0; s < 4; ++s)
        for (int k = 0; k < 6; ++k) {
            PS_SCOPED(group_case_drop) group_case c = make(sizes[s], groups[k], PS_DOUBLE);
            PS_SCOPED_MEMORY double *recent =
                calloc((size_t)(groups[k] * sizes[s]), sizeof *recent);
            PS_SCOPED_MEMORY double *sums = calloc((size_t)sizes[s], sizeof *sums);
            PS_SCOPED_MEMORY double *packed = calloc((size_t)sizes[s], sizeof *packed);
            for (int64_t i = 0; i < groups[k] * sizes[s]; ++i)
                recent[i] = group_case_random(&c, i, 7, 7);
            for (int64_t g = 0; g < groups[k]; ++g) {
                radiation_add(&c.near, recent, g, sums);
                ps_packed_near_add(&c.packed, recent, g, packed);
                for (int64_t i = 0; i < sizes[s]; ++i) check_near(packed[i], sums[i], 1e-14, 1e-14);
            }
        }
}

static void vectors_come_by_their_first_step(void **state)
{
    PS_SCOPED(group_case_drop) group_case c = make(200, 16, PS_SINGLE);
    const ps_packed_near *p = &c.packed;
    assert_true(p->vector_count > 3 * 200);
    for (int64_t w = 0; w < 7; ++w)
        for (int64_t v = p->vector_start[w]; v < p->vector_start[w + 1]; ++v) {
            const ps_near_vector *vector = &p->vectors[v];
            int64_t rank = v - p->vector_start[w];
            assert_true(rank < p->reach[w * 16 + vector->first]);
            assert_true(rank >= p->reach[w * 16 + vector->first - 1]);
            assert_true(vector->first >= 1 && vector->width >= 1);
            for (int lane = 0; lane < 32; ++lane) {
                assert_true(p->starts[v * 32 + lane] >= vector->first);
                assert_true(p->starts[v * 32 + lane] + vector->width <= 16);
            }
        }
}

/* The inner part, row by row, is M^1, M^2, M^3. */
static void inner_part_is_the_first_matrices(void **state)
{
    for (int64_t group = 1; group <= 5; ++group) {
        PS_SCOPED(group_case_drop) group_case c = make(65, group, PS_DOUBLE);
        int64_t at = 0;
        for (int64_t row = 0; row < 65; ++row)
            for (int64_t m = 1; m <= 3; ++m) {
                assert_int_equal(c.packed.inner_start[3 * row + m - 1], at);
                for (int64_t e = 0; m < group && e < c.near.row_start[(m - 1) * 66 + row + 1] -
                                                         c.near.row_start[(m - 1) * 66 + row];
                     ++e, ++at) {
                    int64_t from = c.near.row_start[(m - 1) * 66 + row] + e;
                    uint32_t word = (uint32_t)c.near.columns[from] | (uint32_t)(m - 1) << 30;
                    assert_int_equal(c.packed.inner_words[at], word);
                    check_near(((double *)c.packed.inner_values)[at],
                               ((double *)c.near.values)[from], 0, 0);
                }
            }
        assert_int_equal(at, c.packed.inner_count);
        assert_int_equal(c.packed.inner_start[3 * 65], at);
    }
}

static void threads_do_not_matter(void **state)
{
    PS_SCOPED(group_case_drop)
    group_case one = make(500, 16, PS_SINGLE),
               three = make(500, 16, PS_SINGLE);
    PS_FREE(one.packing, three.packing);
    one.threads = 1;
    three.threads = 3;
    check_ok(group_case_pack(&one));
    check_ok(group_case_pack(&three));
    int64_t bytes = ps_packed_near_bytes(&one.packed);
    assert_int_equal(bytes, ps_packed_near_bytes(&three.packed));
    assert_memory_equal(one.packing, three.packing, (size_t)bytes);
}

/* Row by row, the packed M^0 is M^0. */
static void packed_m0_is_m0(void **state)
{
    const int64_t sizes[] = {1, 31, 33, 200};
    for (int s = 0; s < 4; ++s) {
        PS_SCOPED(group_case_drop) group_case c = make(sizes[s], 1, PS_DOUBLE);
        const ps_packed_m0 *p = &c.packed_m0;
        PS_SCOPED_MEMORY double *row = calloc((size_t)sizes[s], sizeof *row);
        int64_t warps = (sizes[s] + 31) / 32;
        assert_int_equal(p->halo_start[warps], p->halo_count);
        assert_int_equal(p->value_start[warps], p->value_count);
        for (int64_t i = 0; i < sizes[s]; ++i) {
            const int32_t *halo = p->halo + p->halo_start[i / 32];
            memset(row, 0, (size_t)sizes[s] * sizeof *row);
            for (int64_t q = p->value_start[i / 32]; q < p->value_start[i / 32 + 1]; ++q) {
                assert_true(p->places[q * 32 + i % 32] < p->halo_most);
                row[halo[p->places[q * 32 + i % 32]]] += p->values[q * 32 + i % 32];
            }
            for (int64_t e = c.m0.row_start[i]; e < c.m0.row_start[i + 1]; ++e) {
                check_near(row[c.m0.columns[e]], c.m0.values[e], 0, 0);
                row[c.m0.columns[e]] = 0;
            }
            for (int64_t j = 0; j < sizes[s]; ++j) check_near(row[j], 0, 0, 0);
        }
    }
}

/* s + sum_{m=1..g} M^m a^{g-m} at row i, of M or of a lining. */
static double known(const group_case *c, const double *recent, int64_t g, int64_t i)
{
    int64_t n = c->unknowns;
    double sum = ps_real_at(c->precision, c->sums, i * (c->group + 1) + g);
    for (int64_t m = 1; m <= g; ++m)
        for (int64_t e = c->near.row_start[(m - 1) * (n + 1) + i];
             e < c->near.row_start[(m - 1) * (n + 1) + i + 1]; ++e)
            sum += ps_real_at(c->precision, c->near.values, e) *
                   recent[(g - m) * n + c->near.columns[e]];
    return sum;
}

/* M^0 a of row i. */
static double own(const group_case *c, const double *a, int64_t i)
{
    double product = 0;
    for (int64_t e = c->m0.row_start[i]; e < c->m0.row_start[i + 1]; ++e)
        product += c->m0.values[e] * a[c->m0.columns[e]];
    return product;
}

/* right[N] loses all of beta * w but its own step; the states go on. */
static void give_way(const group_case *c, const double *recent, int64_t g, double *state,
                     double *right)
{
    int64_t n = c->unknowns;
    PS_SCOPED_MEMORY double *w = calloc((size_t)(2 * n), sizeof *w);
    double *past = w + n;
    ps_admittance_past(&c->filter, n, state, past);
    for (int64_t i = 0; i < n; ++i) {
        w[i] = known(c, recent, g, i);
        right[i] -= past[i] + c->filter.direct * w[i];
        w[i] += own(c, recent + g * n, i);
    }
    ps_admittance_advance(&c->filter, n, w, state);
}

/* |l - s - sum M^m a - beta * w - M^0 a| / |b| of step g, from the matrices alone. */
static double misfit(const group_case *c, const double *recent, int64_t g, double **states)
{
    int64_t n = c->unknowns;
    double rest = 0, size = 0;
    PS_SCOPED_MEMORY double *b = calloc((size_t)n, sizeof *b);
    for (int64_t i = 0; i < n; ++i) b[i] = c->loads[g * n + i] - known(c, recent, g, i);
    for (int q = 0; q < c->linings; ++q) give_way(c->lining[q], recent, g, states[q], b);
    for (int64_t i = 0; i < n; ++i) {
        double r = b[i] - own(c, recent + g * n, i);
        rest += r * r;
        size += b[i] * b[i];
    }
    return sqrt(rest / size);
}

static void steps_solve_their_equation(void **state)
{
    const int64_t groups[] = {1, 4, 7, 32};
    for (int k = 0; k < 4; ++k)
        for (int of = 0; of < 4; ++of) {
            int precision = of % 2;
            PS_SCOPED(group_case_drop)
            group_case c = make_as(211, groups[k], (ps_precision)precision, of / 2 == 1);
            PS_SCOPED(group_answer_free) group_answer a = {0};
            c.count = groups[k] > 4 ? groups[k] - 2 : groups[k];
            check_ok(group_case_run(&c, "cpu", &a));
            for (int64_t g = 0; g < c.count; ++g) {
                assert_int_equal((int)a.steps[g].state, PS_GROUP_SOLVED);
                /* tolerance, and the rounding of a times the condition of M^0 */
                check_at_most(misfit(&c, a.recent, g, NULL), precision == PS_SINGLE ? 4e-7 : 2e-13);
                check_at_most(a.steps[g].residual, c.tolerance);
                check_at_most(1, a.steps[g].iterations);
            }
            for (int64_t g = c.count; g < c.group; ++g)
                assert_int_equal((int)a.steps[g].state, PS_GROUP_SKIPPED);
            assert_memory_equal(a.last[0], a.recent + (c.count - 1) * 211, 211 * sizeof(double));
            if (c.count > 1)
                assert_memory_equal(a.last[1], a.recent + (c.count - 2) * 211,
                                    211 * sizeof(double));
        }
}

static void walls_that_give_way_have_their_part(void **state)
{
    for (int precision = 0; precision < 2; ++precision) {
        PS_SCOPED(group_case_drop) group_case c = make_as(101, 11, (ps_precision)precision, true);
        PS_SCOPED_MEMORY double *zeros = calloc((size_t)(4 * c.unknowns * GROUP_CASE_LININGS), 8);
        double *states[GROUP_CASE_LININGS];
        PS_SCOPED(group_answer_free) group_answer a = {0};
        c.linings = GROUP_CASE_LININGS;
        check_ok(group_case_linings(&c));
        check_ok(group_case_run(&c, "cpu", &a));
        for (int q = 0; q < c.linings; ++q) states[q] = zeros + 4 * c.unknowns * q;
        for (int64_t g = 0; g < c.count; ++g) {
            assert_int_equal((int)a.steps[g].state, PS_GROUP_SOLVED);
            check_at_most(misfit(&c, a.recent, g, states), precision == PS_SINGLE ? 4e-7 : 2e-13);
        }
        for (int64_t i = 0; i < 3 * c.unknowns; ++i)
            check_near(a.state[0][i], states[0][i], 1e-12, 1e-10);
    }
}

static void figures_are_the_definition(void **state)
{
    PS_SCOPED(group_case_drop) group_case c = make(100, 3, PS_DOUBLE);
    PS_SCOPED(group_answer_free) group_answer a = {0};
    c.loads[2 * 100 + 17] = -77;
    check_ok(group_case_run(&c, "cpu", &a));
    double mean = 0, most = 0, response = 0;
    for (int i = 0; i < 100; ++i) {
        mean += c.weights[i] * a.recent[200 + i];
        most = worse_of(most, fabs(a.recent[200 + i]));
        response = worse_of(response, fabs(c.scale[i] * c.loads[200 + i]));
    }
    check_near(a.steps[2].load, 77, 0, 0);
    check_near(a.steps[2].response, response, 0, 0);
    check_near(a.steps[2].largest, most, 0, 0);
    check_near(a.steps[2].mean, mean, 0, 1e-14);
    check_at_most(70, a.steps[2].right);
}

static void failing_steps_are_told(void **state)
{
    const int states[] = {PS_GROUP_NOT_CONVERGED, PS_GROUP_NOT_FINITE};
    for (int which = 0; which < 2; ++which) {
        PS_SCOPED(group_case_drop) group_case c = make(100, 4, PS_DOUBLE);
        PS_SCOPED(group_answer_free) group_answer a = {0};
        if (which == 0)
            c.limit = 2;
        else
            c.loads[100 + 5] = NAN;
        check_ok(group_case_run(&c, "cpu", &a));
        assert_int_equal((int)a.steps[which].state, states[which]);
        for (int g = which + 1; g < 4; ++g)
            assert_int_equal((int)a.steps[g].state, PS_GROUP_SKIPPED);
    }
}

static void quiet_loads_give_zeros(void **state)
{
    PS_SCOPED(group_case_drop) group_case c = make(40, 2, PS_SINGLE);
    PS_SCOPED(group_answer_free) group_answer a = {0};
    memset(c.loads, 0, 80 * sizeof(double));
    memset(c.sums, 0, 120 * sizeof(float));
    check_ok(group_case_run(&c, "cpu", &a));
    for (int g = 0; g < 2; ++g) assert_int_equal((int)a.steps[g].state, PS_GROUP_SOLVED);
    for (int i = 0; i < 80; ++i) check_near(a.recent[i], 0, 0, 0);
}

static void refuses_what_does_not_fit(void **state)
{
    PS_SCOPED(group_case_drop) group_case c = make(10, 2, PS_SINGLE);
    group_answer a;
    check_fails_if(c.count, 3, group_case_run(&c, "cpu", &a), PS_USAGE, "a group of 3 of 2 steps");
    check_fails_if(c.packed.group, 4, group_case_run(&c, "cpu", &a), PS_USAGE, "not of this group");
    c.linings = 1; /* whose M^0 is not symmetric */
    check_ok(group_case_linings(&c));
    check_fails(group_case_run(&c, "cpu", &a), PS_USAGE, "not of this group");
}
