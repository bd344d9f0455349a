/* The compressed far-field operators: Tables 1 and 2 of RR-8513, rank sums of the other kernels,
 * the symmetry, the truncation, and the common basis. */
#include "kernels/fmm/m2l_operators.h"

#include <stdlib.h>

#include "kernels/fmm/common_basis.h"
#include "runtime/memory.h"
#include "tests/check.h"
#include "tests/support/distance.h"

static ps_fmm_operators build(ps_fmm_function function, int order, double epsilon, double rho)
{
    ps_fmm_operators o = {.function = function, .order = order, .epsilon = epsilon, .rho = rho};
    int64_t rows = ps_fmm_operators_rows_max(order);
    PS_SCOPED_MEMORY void *workspace = NULL;
    check_ok(PS_ALLOC(&o.factors, rows * order * order * order, "factors"));
    check_ok(PS_ALLOC(&o.signs, rows, "signs"));
    check_ok(ps_alloc_untouched(&workspace, ps_fmm_operators_workspace(order), "workspace"));
    check_ok(ps_fmm_operators_build(&o, workspace));
    return o;
}

static void release(ps_fmm_operators *operators) { PS_FREE(operators->factors, operators->signs); }

/* Table 1: columns of each representative among the 189 interactions of a cell (those with the
 * parents adjacent), and among all 316 offsets. */
static void table_1(void **state)
{
    const int columns[16] = {6, 24, 24, 12, 24, 8, 3, 12, 12, 12, 24, 12, 3, 6, 6, 1};
    const int multiplicity[16] = {6, 24, 24, 12, 24, 8, 6, 24, 24, 24, 48, 24, 12, 24, 24, 8};
    int of_cell[16] = {0}, all[16] = {0};
    for (int number = 0; number < PS_FMM_OFFSETS; ++number) {
        int t[3], p, permutation;
        if (!ps_fmm_offset_of(number, t)) continue;
        assert_int_equal(ps_fmm_offset_number(t), number);
        ps_fmm_offset_class(t, &p, &permutation);
        ++all[p];
        if (t[0] < 3 && t[0] >= -3 && t[1] < 3 && t[2] < 3) ++of_cell[p]; /* target in octant 7 */
    }
    for (int p = 0; p < 16; ++p) {
        assert_int_equal(of_cell[p], columns[p]);
        assert_int_equal(all[p], multiplicity[p]);
    }
}

static void table_2(void **state)
{
    const int ranks[3][16] = {{9, 8, 7, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4},
                              {23, 18, 16, 15, 13, 9, 12, 11, 9, 9, 9, 9, 9, 9, 9, 9},
                              {45, 36, 33, 25, 25, 22, 25, 24, 23, 19, 17, 16, 16, 16, 16, 16}};
    for (int i = 0; i < 3; ++i) {
        int order = 3 + 2 * i;
        ps_fmm_operators o = build((ps_fmm_function){PS_FMM_INVERSE, 0}, order, pow(10, -order), 1);
        for (int p = 0; p < 16; ++p) assert_int_equal(o.rank[p], ranks[i][p]);
        release(&o);
    }
}

static void rank_sums(void **state)
{
    const struct {
        ps_fmm_function function;
        double rho;
        int sums[3];
    } cases[] = {{{PS_FMM_INVERSE, 0}, 1, {76, 189, 374}},
                 {{PS_FMM_INVERSE_SQUARE, 0}, 1, {96, 260, 527}},
                 {{PS_FMM_INVERSE_FOURTH, 0}, 1, {130, 344, 707}},
                 {{PS_FMM_DISTANCE, 0}, 1, {65, 167, 332}},
                 {{PS_FMM_EXPONENTIAL, 1}, 0.125, {54, 156, 340}},
                 {{PS_FMM_EXPONENTIAL, 1}, 0.0625, {49, 140, 299}},
                 {{PS_FMM_EXPONENTIAL, 1}, 0.03125, {48, 115, 262}}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c)
        for (int i = 0; i < 3; ++i) {
            int order = 3 + 2 * i;
            ps_fmm_operators o = build(cases[c].function, order, pow(10, -order), cases[c].rho);
            assert_int_equal(o.start[16], cases[c].sums[i]);
            release(&o);
        }
}

/* Kernels that are polynomials of degree 2 and 4 in the coordinates have ranks 5 and 14. */
static void exact_ranks(void **state)
{
    ps_fmm_operators o = build((ps_fmm_function){PS_FMM_SQUARE, 0}, 3, 1e-14, 1);
    for (int p = 0; p < 16; ++p) assert_int_equal(o.rank[p], 5);
    release(&o);
    o = build((ps_fmm_function){PS_FMM_FOURTH, 0}, 5, 1e-13, 1);
    for (int p = 0; p < 16; ++p) assert_int_equal(o.rank[p], 14);
    release(&o);
}

/* K_t[m,n] = K_p[q(m),q(n)] for all 316, to 1e-15 relative. */
static void symmetry(void **state)
{
    enum { ORDER = 4, POINTS = 64 };
    static double exact[POINTS * POINTS], representative[POINTS * POINTS];
    ps_fmm_interpolation s;
    check_ok(ps_fmm_interpolation_init(&s, ORDER));
    ps_fmm_function function = {PS_FMM_INVERSE, 0};
    double worst = 0;
    for (int number = 0; number < PS_FMM_OFFSETS; ++number) {
        int t[3], p, permutation;
        uint16_t q[POINTS];
        if (!ps_fmm_offset_of(number, t)) continue;
        ps_fmm_offset_class(t, &p, &permutation);
        ps_fmm_permutation(ORDER, permutation, q);
        const int tp[3] = {ps_fmm_representatives[p][0], ps_fmm_representatives[p][1],
                           ps_fmm_representatives[p][2]};
        ps_fmm_operator_exact(&function, 1, &s, t, exact);
        ps_fmm_operator_exact(&function, 1, &s, tp, representative);
        for (int m = 0; m < POINTS; ++m)
            for (int n = 0; n < POINTS; ++n)
                worst = worse_of(
                    worst, fabs(exact[m * POINTS + n] / representative[q[m] * POINTS + q[n]] - 1));
    }
    check_at_most(worst, 1e-15);
}

/* Relative error, weighted as the truncation is, of approximate against exact. */
static double weighted_error(const double *approximate, const double *exact, const double *weights,
                             int points)
{
    double error = 0, norm = 0;
    for (int m = 0; m < points; ++m)
        for (int n = 0; n < points; ++n) {
            double w = weights[m] * weights[n];
            error += pow(w * (approximate[m * points + n] - exact[m * points + n]), 2);
            norm += pow(w * exact[m * points + n], 2);
        }
    return sqrt(error / norm);
}

static void truncation(void **state)
{
    enum { ORDER = 5, POINTS = 125 };
    static double exact[POINTS * POINTS], sum[POINTS * POINTS], weights[POINTS];
    ps_fmm_interpolation s;
    check_ok(ps_fmm_interpolation_init(&s, ORDER));
    ps_fmm_weights(&s, weights);
    ps_fmm_function function = {PS_FMM_INVERSE, 0};
    ps_fmm_operators o = build(function, ORDER, 1e-5, 1);
    for (int p = 0; p < 16; ++p) {
        const int t[3] = {ps_fmm_representatives[p][0], ps_fmm_representatives[p][1],
                          ps_fmm_representatives[p][2]};
        ps_fmm_operator_exact(&function, 1, &s, t, exact);
        memset(sum, 0, sizeof sum);
        for (int64_t row = o.start[p]; row < o.start[p + 1]; ++row) {
            const double *a = o.factors + row * POINTS;
            for (int m = 0; m < POINTS; ++m)
                for (int n = 0; n < POINTS; ++n)
                    sum[m * POINTS + n] += o.signs[row] * a[m] * a[POINTS - 1 - n];
        }
        double error = weighted_error(sum, exact, weights, POINTS);
        check_at_most(error, 1e-5);
        check_at_most(1e-7, error); /* it is truncated */
    }
    release(&o);
}

static ps_fmm_basis build_basis(int order, double epsilon, double basis_epsilon)
{
    ps_fmm_basis b = {.function = {PS_FMM_INVERSE, 0},
                      .order = order,
                      .epsilon = epsilon,
                      .basis_epsilon = basis_epsilon,
                      .rho = 1};
    int64_t points = (int64_t)order * order * order, rows = ps_fmm_basis_rows_max(order);
    PS_SCOPED_MEMORY void *workspace = NULL;
    check_ok(PS_ALLOC(&b.vectors, points * points, "vectors"));
    check_ok(PS_ALLOC(&b.parity, points, "parity"));
    check_ok(ps_alloc_untouched((void **)&b.cores, rows * points * 8, "cores"));
    check_ok(PS_ALLOC(&b.signs, rows, "signs"));
    check_ok(ps_alloc_untouched(&workspace, ps_fmm_basis_workspace(order), "workspace"));
    check_ok(ps_fmm_basis_build(&b, workspace));
    return b;
}

static void basis_release(ps_fmm_basis *basis)
{
    PS_FREE(basis->vectors, basis->parity, basis->cores, basis->signs);
}

/* W K_t W against B C_t B^T for t >= 0; the worst relative error. */
static double basis_error(const ps_fmm_basis *b)
{
    ps_fmm_interpolation s;
    check_ok(ps_fmm_interpolation_init(&s, b->order));
    int points = s.points, k = b->size;
    double *exact = calloc((size_t)points * (size_t)points, 8), weights[343], worst = 0;
    PS_SCOPED_MEMORY double *sum = malloc((size_t)points * (size_t)points * 8),
                            *rows = malloc((size_t)points * 8);
    ps_fmm_weights(&s, weights);
    for (int number = 0, core = 0; number < PS_FMM_OFFSETS; ++number) {
        int t[3];
        if (!ps_fmm_offset_of(number, t) || t[0] < 0 || t[1] < 0 || t[2] < 0) continue;
        assert_int_equal(ps_fmm_core_of(t), core);
        ps_fmm_operator_exact(&b->function, 1, &s, t, exact);
        memset(sum, 0, (size_t)points * (size_t)points * 8);
        for (int64_t r = b->start[core]; r < b->start[core + 1]; ++r) {
            memset(rows, 0, (size_t)points * 8);
            for (int i = 0; i < k; ++i)
                for (int m = 0; m < points; ++m)
                    rows[m] += b->cores[r * k + i] * b->vectors[i * points + m];
            for (int m = 0; m < points; ++m)
                for (int n = 0; n < points; ++n)
                    sum[m * points + n] +=
                        b->signs[r] * rows[m] * rows[points - 1 - n] / (weights[m] * weights[n]);
        }
        worst = worse_of(worst, weighted_error(sum, exact, weights, points));
        ++core;
    }
    free(exact);
    return worst;
}

/* Sizes 20 (19 would cut a pair of equal values) and 67 at eps, 22/75 at eps/2, 25/81 at eps/4, and
 * the worst operator errors. */
static void common_basis(void **state)
{
    const struct {
        int order, divide, size;
        double worst;
    } cases[] = {{3, 1, 20, 3.5}, {3, 2, 22, 2}, {3, 4, 25, 1.3},
                 {5, 1, 67, 3.5}, {5, 2, 75, 2}, {5, 4, 81, 1.3}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c) {
        double epsilon = pow(10, -cases[c].order);
        PS_SCOPED(basis_release)
        ps_fmm_basis b = build_basis(cases[c].order, epsilon, epsilon / cases[c].divide);
        print_message("l %d eps/%d: k %d, rows %d, worst %.3g eps\n", b.order, cases[c].divide,
                      b.size, (int)b.start[56], basis_error(&b) / epsilon);
        assert_int_equal(b.size, cases[c].size);
        check_at_most(basis_error(&b) / epsilon, cases[c].worst);
        check_at_most(0.1, basis_error(&b) / epsilon);
    }
}

static void refusals(void **state)
{
    ps_fmm_operators o = {.order = 3, .epsilon = -1};
    check_fails(ps_fmm_operators_build(&o, NULL), PS_USAGE, "truncation of -1");
    ps_fmm_kernel kernel;
    check_fails(ps_fmm_kernel_parse("newton", &kernel), PS_USAGE, "inverse-square");
    check_ok(ps_fmm_kernel_parse("yukawa", &kernel));
    assert_int_equal(kernel, PS_FMM_YUKAWA);
}
