/* hard pairs: against integrals known to 12 digits (double exponential, numerics guide hbem-real
 * 1), against the singular rules with many points, which share nothing with them, and the other way
 * round. */
#include "kernels/hbem/narrow.h"

#include "tests/check.h"
#include "tests/support/couple_case.h"

enum { FINE = 16 };

/* Vertices of triangles that share an edge, or nothing. */
static const int32_t edge_order[6] = {0, 1, 2, 1, 0, 3}, apart_order[6] = {0, 1, 2, 3, 4, 5};

static void two_triangles(const double corners[6][3], const int32_t order[6], ps_hbem_triangle t[2])
{
    ps_hbem_surface surface;
    must(ps_hbem_surface_init(&surface, &corners[0][0], 6, order, 2, t));
}

static void moments_of(const ps_hbem_triangle *x, const ps_hbem_triangle *y, ps_hbem_kernel kernel,
                       double _Complex k, double tolerance, double out[18])
{
    PS_SCOPED(hbem_case_release) hbem_case rules = {0};
    hbem_case_rules(&rules, tolerance);
    ps_hbem_hard_job job = {x, y, &rules.quadrature.cells, creal(k), cimag(k), out};
    ps_hbem_pair_functions_here()->hard[kernel](&job);
}

static double total(const double moments[9])
{
    double sum = 0;
    for (int e = 0; e < 9; ++e) sum += moments[e];
    return sum;
}

/* Right triangles on the edge from (0, 0, 0) to (L, 0, 0), H high, at right angles. */
static void test_known(void **state)
{
    static const double known[4][4] = {{2, 2, .297112164658, .222660973148},
                                       {2, 1. / 7, .00437645088118, .017883167554},
                                       {2, .143, .0043841164, .0179010776},
                                       {2, 1. / 32, .000288376890122, .00390695181}};
    for (int n = 0; n < 4; ++n)
        for (int digits = 3; digits <= 6; ++digits) {
            double l = known[n][0], h = known[n][1], eps = pow(10, -digits), out[18];
            const double corners[6][3] = {{0, 0, 0}, {l, 0, 0}, {0, h, 0}, {l, 0, h}};
            ps_hbem_triangle t[2];
            two_triangles(corners, edge_order, t);
            moments_of(&t[0], &t[1], PS_KERNEL_SLP, 0, eps, out);
            check_near(total(out), known[n][2], 0, eps);
            moments_of(&t[0], &t[1], PS_KERNEL_DLP, 0, eps, out);
            check_near(fabs(total(out)), known[n][3], eps * l * h / 4, 0);
            moments_of(&t[1], &t[0], PS_KERNEL_ADLP, 0, eps, out);
            check_near(fabs(total(out)), known[n][3], eps * l * h / 4, 0);
        }
}

/* Two triangles of a wedge by the rules of n^4 points: values[part][9]. */
static void by_rules(const ps_hbem_triangle t[2], int shared, ps_hbem_kernel kernel,
                     double _Complex k, double values[18])
{
    ps_hbem_quadrature quadrature;
    PS_SCOPED_MEMORY ps_hbem_joint_point *points =
        calloc(13 * FINE * FINE * FINE * FINE, sizeof *points);
    ps_hbem_quadrature_fixed(&quadrature, FINE, points);
    double lanes[2][96] __attribute__((aligned(64))), out[144] __attribute__((aligned(64)));
    for (int s = 0; s < 2; ++s)
        for (int e = 0; e < 96; ++e)
            lanes[s][e] = e < 72 ? t[s].corner[e / 24][e / 8 % 3] : t[s].normal[e / 8 - 9];
    ps_hbem_pair_job job = {.x = lanes[0],
                            .y = lanes[1],
                            .joint = quadrature.joint[shared],
                            .joint_count = quadrature.joint_count[shared],
                            .wavenumber = creal(k),
                            .absorption = cimag(k),
                            .moments = out};
    ps_hbem_pair_functions_here()->joint[0][kernel][(k != 0) + (cimag(k) > 0)](&job);
    for (int e = 0; e < (k != 0 ? 18 : 9); ++e)
        values[e] = out[8 * e] * t[0].jacobian * t[1].jacobian;
}

/* k h = 0, .6 and .6 + .3i, shared corners first in both, all kernels. */
static void test_rules(void **state)
{
    const double corners[6][3] = {{0, 0, 0}, {1, 0, 0}, {.3, .9, 0}, {.6, -.5, .7}, {-.9, -.2, .3}};
    static const int32_t order[3][6] = {{0, 1, 2, 0, 3, 4}, {0, 1, 2, 0, 1, 3}, {0, 1, 2, 0, 1, 2}};
    for (int shared = 1; shared <= 3; ++shared)
        for (int e = 0; e < 36; ++e) {
            static const double _Complex numbers[3] = {0, .6, .6 + .3 * I};
            const double _Complex k = numbers[e / 3 % 3];
            ps_hbem_kernel kernel = (ps_hbem_kernel)(e % 3);
            double eps = pow(10, -3 - e / 9), own[18], other[18];
            ps_hbem_triangle t[2];
            two_triangles(corners, order[shared - 1], t);
            double norm = kernel == PS_KERNEL_SLP ? .2 : t[0].jacobian / 4;
            if (shared == 3 && kernel != PS_KERNEL_SLP) continue;
            by_rules(t, shared, kernel, k, other);
            moments_of(&t[0], &t[1], kernel, k, eps, own);
            for (int m = 0; m < (k != 0 ? 18 : 9); ++m) check_near(own[m], other[m], eps * norm, 0);
        }
}

/* Exchanging the triangles, and DLP and ADLP, transposes; the smooth rest of waves takes another
 * rule on each, so it does to that rule's error only. */
static void test_transposed(void **state)
{
    const double corners[6][3] = {{0, 0, 0}, {1, 0, 0}, {.3, .01, 0}, {.6, -.5, .7}};
    for (int wave = 0; wave < 2; ++wave) {
        double a[18], b[18];
        ps_hbem_triangle t[2];
        two_triangles(corners, edge_order, t);
        moments_of(&t[0], &t[1], PS_KERNEL_DLP, wave, 1e-4, a);
        moments_of(&t[1], &t[0], PS_KERNEL_ADLP, wave, 1e-4, b);
        for (int e = 0; e < 9; ++e)
            check_near(a[e], b[3 * (e % 3) + e / 3], wave ? 1e-9 : 1e-16, 1e-12);
    }
}

/* The reference itself, against integrals known to 12 digits. */
static void test_polar(void **state)
{
    const double corners[6][3] = {{0, 0, 0}, {2, 0, 0}, {0, 1. / 7, 0}, {2, 0, 1. / 7}};
    ps_hbem_polar_rules rules;
    ps_hbem_polar_rules_init(&rules);
    const double known[2] = {.00437645088118, .017883167554};
    ps_hbem_triangle t[2];
    two_triangles(corners, edge_order, t);
    for (int layer = 0; layer < 2; ++layer) {
        double _Complex out[9], sum = 0;
        check_at_most(
            ps_hbem_polar_moments(&rules, &t[0], &t[1], layer, 0, 1e-8 * known[layer], out),
            1e-5 * known[layer]);
        for (int e = 0; e < 9; ++e) sum += out[e];
        check_near(fabs(creal(sum)), known[layer], 0, 1e-7);
    }
}

/* Pairs as real bodies have them, by the rules that the program takes, against polar.h. */
static void test_ugly(void **state)
{
    static const struct {
        const char *name;
        double corners[6][3];
        int32_t order[6];
    } pairs[] = {
        {"right triangles 16 : 1",
         {{0, 0, 0}, {2, 0, 0}, {0, .125, 0}, {2, 0, .125}},
         {0, 1, 2, 1, 0, 3}},
        {"wedge of 5 degrees",
         {{0, 0, 0}, {1, 0, 0}, {.5, .8, 0}, {.5, .797, .0697}},
         {0, 1, 2, 1, 0, 3}},
        {"a sliver of 1e-4 at its long edge",
         {{0, 0, 0}, {1, 0, 0}, {.4, .9, 0}, {.6, 5e-5, -8e-5}},
         {0, 1, 2, 1, 0, 3}},
        {"at a vertex, 10 degrees",
         {{0, 0, 0}, {1, -.3, 0}, {1, .5, 0}, {.9, .2, .17}, {.8, -.2, .15}},
         {0, 1, 2, 0, 3, 4}},
        {"a gap of a thousandth",
         {{0, 0, 0}, {1, 0, 0}, {.4, .9, 0}, {.1, 0, 1e-3}, {.4, .8, 3e-3}, {1, .2, 2e-3}},
         {0, 1, 2, 3, 4, 5}},
        {"a sliver over a large one",
         {{0, 0, 0}, {1, 0, 0}, {.4, .9, 0}, {.1, .2, .01}, {.8, .3, .012}, {.5, .251, .02}},
         {0, 1, 2, 3, 4, 5}},
    };
    for (int n = 0; n < 6; ++n)
        for (int kernel = 0; kernel < 3; ++kernel)
            for (int wave = 0; wave < (n == 3 ? 2 : 1); ++wave) {
                couple_case c;
                ps_hbem_triangle t[2];
                double _Complex exact[9];
                double k = wave ? .6 : 0;
                two_triangles(pairs[n].corners, pairs[n].order, t);
                couple_of(&t[0], &t[1], &c);
                check_at_most(couple_exact(&c, 0, (ps_hbem_kernel)kernel, k, 1e-5, exact), 2e-4);
                for (int digits = 3; digits <= 5; ++digits) {
                    double eps = pow(10, -digits);
                    double error = couple_error(&c, 0, (ps_hbem_kernel)kernel, k, eps, exact);
                    print_message("    %s, kernel %d, k %g: %.2f eps of %g\n", pairs[n].name,
                                  kernel, k, error / eps, eps);
                    check_at_most(error, 2 * eps);
                }
            }
}

/* The distance of two triangles, of any shape and place, against the least one of many points; of
 * parallel edges, faces over each other, and in one plane by hand. */
static void test_distance(void **state)
{
    enum { SIDE = 40 };
    static const struct {
        double corners[6][3], distance;
    } known[] = {{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, -.5, 0}, {1, -.5, 0}, {.5, -1, .3}}, .5},
                 {{{0, 0, 0}, {9, 0, 0}, {0, 9, 0}, {1, 1, .25}, {1.1, 1, .25}, {1, 1.1, .3}}, .25},
                 {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {2, 0, 0}, {3, .1, 0}, {3, -.1, 0}}, 1},
                 {{{-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 0, .2}, {0, 1, 1.2}, {0, -1, 1.2}}, .2},
                 {{{0, 0, 0}, {1, 0, 0}, {.5, 1e-4, 0}, {.3, .02, 0}, {.7, .02, 1e-5}, {.5, 1, 0}},
                  .0199000006281}};
    ps_hbem_triangle t[2];
    for (int n = 0; n < 5; ++n) {
        two_triangles(known[n].corners, apart_order, t);
        check_near(narrow_distance(&t[0], &t[1]), known[n].distance, n == 4 ? 1e-9 : 1e-15, 0);
        check_near(narrow_distance(&t[1], &t[0]), known[n].distance, n == 4 ? 1e-9 : 1e-15, 0);
    }
    uint64_t seed = 5;
    for (int n = 0; n < 60; ++n) {
        double corners[6][3], flat = n % 3 == 0 ? 1 : n % 3 == 1 ? .1 : .003, least = INFINITY;
        for (int e = 0; e < 18; ++e)
            corners[e / 3][e % 3] = congruence_uniform(&seed) * (e % 3 == 1 ? flat : 1) +
                                    (e == 11) + (e / 3 > 2 && e % 3 == 1 ? 1.1 * flat : 0);
        two_triangles((const double(*)[3])corners, apart_order, t);
        for (int p = 0; p < (SIDE + 1) * (SIDE + 1); ++p)
            for (int q = 0; q < (SIDE + 1) * (SIDE + 1); ++q) {
                const int of[4] = {p % (SIDE + 1), p / (SIDE + 1), q % (SIDE + 1), q / (SIDE + 1)};
                double square = 0;
                if (of[0] + of[1] > SIDE || of[2] + of[3] > SIDE) continue;
                for (int c = 0; c < 3; ++c) {
                    const double(*x)[3] = t[0].corner, (*y)[3] = t[1].corner;
                    double d = x[0][c] - y[0][c] +
                               (of[0] * (x[1][c] - x[0][c]) + of[1] * (x[2][c] - x[0][c]) -
                                of[2] * (y[1][c] - y[0][c]) - of[3] * (y[2][c] - y[0][c])) /
                                   SIDE;
                    square += d * d;
                }
                least = fmin(least, square);
            }
        const double own = narrow_distance(&t[0], &t[1]);
        check_at_most(own, sqrt(least) * (1 + 1e-12));
        check_at_most(sqrt(least), own + .02 * fmax(t[0].diameter, t[1].diameter));
    }
}

/* Each regular rule where it begins, at the least distance, with triangles of about one size and
 * one against a third of it, round ones and needles: below a tenth of the tolerance. */
static void test_begins(void **state)
{
    static const double shapes[4][2][3] = {{{.5, .85, 0}, {.4, .8, .3}},
                                           {{.3, .2, 0}, {.6, .9, .2}},
                                           {{.9, .1, 0}, {.2, .15, .05}},
                                           {{.02, .3, 0}, {.5, .02, .6}}};
    for (int n = 0; n < 40; ++n) {
        const int digits = 3 + n % 4, rule = n / 4 % 5, shape = n / 20 * 2 + n % 2;
        double eps = pow(10, -digits);
        double corners[6][3] = {{0, 0, 0}, {1, 0, 0}};
        PS_SCOPED(hbem_case_release) hbem_case rules = {0};
        hbem_case_rules(&rules, eps);
        const ps_hbem_quadrature *quadrature = &rules.quadrature;
        ps_hbem_triangle t[2];
        int apex[2];
        memcpy(corners[2], shapes[shape][0], sizeof corners[2]);
        for (double low = 0, high = 8, middle = 8; !(middle == high && high - low < 1e-6);) {
            middle = high - low < 1e-6 ? high : (low + high) / 2;
            double size = n % 3 ? 1 : .3;
            for (int c = 0; c < 3; ++c) {
                corners[3][c] = c == 0 ? .1 : c == 1 ? -middle : .1;
                corners[4][c] = corners[3][c] + size * (c == 0);
                corners[5][c] = corners[3][c] + size * shapes[shape][1][c] * (c == 1 ? -1 : 1);
            }
            two_triangles((const double(*)[3])corners, apart_order, t);
            double diameter = fmax(t[0].diameter, t[1].diameter);
            bool far = narrow_distance(&t[0], &t[1]) >= quadrature->distance[rule] * diameter;
            *(far ? &high : &low) = middle;
        }
        check_near(ps_hbem_rule_of(quadrature->distance, quadrature->rules, &t[0], &t[1], apex) %
                       PS_HBEM_RULES,
                   rule, 0, 0);
        for (int layer = 0; layer < 2; ++layer) {
            couple_case c;
            double _Complex exact[9];
            ps_hbem_kernel kernel = layer ? PS_KERNEL_DLP : PS_KERNEL_SLP;
            couple_of(&t[0], &t[1], &c);
            check_at_most(couple_exact(&c, 0, kernel, 0, .01 * eps, exact), .05 * eps);
            double error = couple_error(&c, 0, kernel, 0, eps, exact);
            print_message("    rule %d of %g, shape %d, kernel %d: %.3f eps\n", rule, eps, shape,
                          (int)kernel, error / eps);
            check_at_most(error, .1 * eps);
        }
    }
}

/* Needles of length 1, far enough from each other for regular rules along and for few points
 * across: side by side, one over the other, as a T, one behind the other, turned. */
static void test_needles(void **state)
{
    static const double second[5][3][3] = {{{0, 0, 0}, {1, 0, 0}, {1, .08, 0}},
                                           {{.2, .03, 0}, {1.2, 0, 0}, {.2, -.05, .03}},
                                           {{.5, .05, 0}, {.56, 1, .05}, {.5, 1, 0}},
                                           {{1.1, 0, 0}, {2.1, .05, 0}, {2.1, 0, .06}},
                                           {{.9, 0, 0}, {1, .05, .04}, {.3, .2, .8}}};
    int narrow = 0, apex[2];
    for (int n = 0; n < 40; ++n) {
        const double gap = (const double[4]){.25, .35, .55, .8}[n % 4];
        const int digits = 3 + 2 * (n / 20), pair = n / 4 % 5;
        double corners[6][3] = {{0, 0, 0}, {1, 0, 0}, {0, .0625, 0}}, eps = pow(10, -digits);
        double _Complex exact[9];
        ps_hbem_triangle t[2];
        couple_case c;
        for (int e = 0; e < 9; ++e)
            corners[3 + e / 3][e % 3] = second[pair][e / 3][e % 3] + (e % 3 == 1) * gap;
        two_triangles(corners, apart_order, t);
        couple_of(&t[0], &t[1], &c);
        narrow += narrow_are_needles(&t[0], &t[1], gap, digits == 3 ? .72 : 1.9, apex);
        for (int layer = 0; layer < 2; ++layer) {
            const ps_hbem_kernel kernel = layer == 0   ? PS_KERNEL_SLP
                                          : n % 2 == 0 ? PS_KERNEL_DLP
                                                       : PS_KERNEL_ADLP;
            const double k = layer ? .6 : 0;
            check_at_most(couple_exact(&c, 0, kernel, k, .1 * eps, exact), .5 * eps);
            double error = couple_error(&c, 0, kernel, k, eps, exact);
            if (error > .1 * eps)
                print_message("    needles %d, gap %g, kernel %d: %.2f eps of %g\n", pair, gap,
                              (int)kernel, error / eps, eps);
            check_at_most(error, eps);
        }
    }
    check_at_most(32, narrow);
}
