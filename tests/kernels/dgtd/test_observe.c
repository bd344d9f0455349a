/* What a march records: probes, running transforms, energies by groups; ranges for tiles. */
#include <stdlib.h>
#include <string.h>

#include "kernels/dgtd/energy.h"
#include "kernels/dgtd/mode_error.h"
#include "kernels/dgtd/probe.h"
#include "kernels/dgtd/ranges.h"
#include "kernels/dgtd/running_dft.h"
#include "runtime/scope.h"
#include "tests/check.h"
#include "tests/support/dgtd_case.h"

/* A polynomial of the order of the elements, different by component. */
static double polynomial(int order, int c, const double x[3])
{
    double sum = c + 1;
    for (int k = 1; k <= order; ++k)
        sum += pow(x[0], k) - (c + 2) * pow(x[1], k) + k * pow(x[2], k) / (c + 1);
    return sum;
}

static void set_polynomial(const void *of, ps_dgtd_field field, const double point[3], double t,
                           double out[3])
{
    for (int c = 0; c < 3; ++c) out[c] = polynomial(*(const int *)of, c, point);
}

/* Polynomials are found exactly, everywhere in the cube, also on faces and at corners. */
static void probes_are_exact_for_polynomials(void **state)
{
    uint64_t seed = 5;
    for (int order = 1; order <= 4; ++order) {
        PS_SCOPED(dgtd_case_release) dgtd_case x = {0};
        check_ok(dgtd_case_cube(&x, order, PS_DOUBLE, 3, .3));
        dgtd_case_interpolate(&x, PS_DGTD_E, set_polynomial, &order, 0);
        for (int i = 0; i < 60; ++i) {
            double point[3], value[3];
            for (int c = 0; c < 3; ++c)
                point[c] = i < 8 ? i >> c & 1 : i < 20 ? (double)(i % 4) / 3 : check_random(&seed);
            int64_t element = ps_dgtd_probe_find(&x.body, NULL, point);
            assert_true(element >= 0);
            ps_dgtd_probe probe;
            ps_dgtd_probe_set(&probe, &x.body, &x.reference, element, point);
            ps_dgtd_probe_value(&probe, &x.system, x.field[0], value);
            for (int c = 0; c < 3; ++c)
                check_near(value[c], polynomial(order, c, point), 1e-11, 1e-12);
        }
        assert_int_equal(ps_dgtd_probe_find(&x.body, NULL, (double[]){1.001, .5, .5}), -1);
        assert_int_equal(ps_dgtd_probe_find(&x.body, NULL, (double[]){.5, -1, .5}), -1);
    }
}

/* At a corner of many elements the numbers decide, not the order. */
static void probes_on_faces_go_by_numbers(void **state)
{
    PS_SCOPED(dgtd_case_release) dgtd_case x = {0};
    const double centre[3] = {.5, .5, .5};
    check_ok(dgtd_case_cube(&x, 1, PS_DOUBLE, 2, 0));
    PS_SCOPED_MEMORY int32_t *numbers = malloc((size_t)x.mesh.elements * sizeof *numbers);
    int64_t first = ps_dgtd_probe_find(&x.body, NULL, centre);
    for (int64_t e = 0; e < x.mesh.elements; ++e) numbers[e] = (int32_t)(x.mesh.elements - e);
    int64_t last = ps_dgtd_probe_find(&x.body, numbers, centre);
    assert_true(last > first);
    numbers[first] = 0;
    assert_int_equal(ps_dgtd_probe_find(&x.body, numbers, centre), first);
}

/* Sums against the definition; ranges and precisions. */
static void running_transform_is_the_sum(void **state)
{
    enum { STEPS = 20, FREQUENCIES = 3 };
    const double omegas[FREQUENCIES] = {.7, 2.1, 3.3}, scale = 2. / STEPS;
    for (int precision = 0; precision < 2; ++precision) {
        PS_SCOPED(dgtd_case_release) dgtd_case x = {0};
        check_ok(dgtd_case_cube(&x, 2, (ps_precision)precision, 3, .3));
        int64_t groups = x.system.groups, last = x.mesh.elements - 1;
        void *sums = dgtd_take(&x, ps_dgtd_dft_bytes(&x.system, FREQUENCIES));
        void *pieces = dgtd_take(&x, ps_dgtd_dft_bytes(&x.system, FREQUENCIES));
        double expected[FREQUENCIES][2] = {{0}};
        for (int n = 0; n < STEPS; ++n) {
            double t = .1 * n;
            dgtd_case_random(&x, 7);
            ps_dgtd_set_node(&x.system, x.field[0], last, 1, 3, cos(2.1 * t + .4));
            ps_dgtd_dft_add(&x.system, x.field[0], omegas, FREQUENCIES, scale, t, 0, groups, sums);
            for (int64_t g = groups; g > 0; g -= g < 7 ? g : 7)
                ps_dgtd_dft_add(&x.system, x.field[0], omegas, FREQUENCIES, scale, t,
                                g < 7 ? 0 : g - 7, g, pieces);
            for (int f = 0; f < FREQUENCIES; ++f) {
                expected[f][0] += scale * cos(2.1 * t + .4) * cos(omegas[f] * t);
                expected[f][1] -= scale * cos(2.1 * t + .4) * sin(omegas[f] * t);
            }
        }
        assert_memory_equal(sums, pieces, ps_dgtd_dft_bytes(&x.system, FREQUENCIES));
        for (int i = 0; i < 2 * FREQUENCIES; ++i)
            check_near(ps_dgtd_dft_get(&x.system, sums, FREQUENCIES, i / 2, i % 2, last, 1, 3),
                       expected[i / 2][i % 2], precision == PS_SINGLE ? 1e-6 : 1e-14, 0);
    }
}

/* Half steps that tell the energy make the same bits, and the energy is that of the march. */
static void energies_by_groups(void **state)
{
    for (int precision = 0; precision < 2; ++precision) {
        PS_SCOPED(dgtd_case_release) dgtd_case a = {0}, b = {0};
        const double one = 1;
        double sums[2] = {0, 0};
        ps_dgtd_march march[2];
        dgtd_case *cases[2] = {&a, &b};
        for (int k = 0; k < 2; ++k) {
            check_ok(dgtd_case_cube(cases[k], 3, (ps_precision)precision, 4, .3));
            dgtd_case_random(cases[k], 7);
            march[k] = dgtd_case_march(cases[k], .3 * dgtd_kuhn_limit(3, 4));
        }
        memcpy(a.former, a.field[1], dgtd_case_field_bytes(&a));
        ps_dgtd_march_steps(&march[0], 1);
        double expected = dgtd_march_energy(&march[0], a.former, &one, &one, a.partial);
        ps_dgtd_energy energy = {
            .eps = &one, .mu = &one, .former = dgtd_take(&b, ps_dgtd_energy_bytes(&b.system))};
        for (int field = 0; field < 2; ++field) {
            for (int64_t g = 0; g < b.system.groups; g += 5)
                ps_dgtd_energy_half(&energy, &march[1], (ps_dgtd_field)field, g,
                                    g + 5 < b.system.groups ? g + 5 : b.system.groups, b.partial);
            for (int64_t g = 0; g < b.system.groups; ++g) sums[field] += b.partial[g];
        }
        for (int field = 0; field < 2; ++field)
            assert_memory_equal(a.field[field], b.field[field], dgtd_case_field_bytes(&a));
        check_near(sums[0] + sums[1], expected, 0, 1e-15);
    }
}

/* Links stay within a range and its neighbours, whatever the order; layers give thin ranges. */
static void ranges_touch_their_neighbours_only(void **state)
{
    PS_SCOPED(dgtd_case_release) dgtd_case x = {0};
    check_ok(dgtd_case_cube(&x, 1, PS_SINGLE, 6, .2));
    int64_t groups = x.system.groups, *bounds = dgtd_take(&x, ((size_t)groups + 1) * 8),
            *range = dgtd_take(&x, (size_t)groups * sizeof *range);
    for (int64_t first = 1; first <= groups; first = 2 * first + 1) {
        int64_t count = ps_dgtd_ranges(&x.system, first, 1 + first / 2, NULL, bounds);
        assert_int_equal(bounds[0], 0);
        assert_int_equal(bounds[count], groups);
        for (int64_t r = 0; r < count; ++r) {
            assert_true(bounds[r + 1] > bounds[r]);
            for (int64_t g = bounds[r]; g < bounds[r + 1]; ++g) range[g] = r;
        }
        for (int64_t i = 0; i < groups * 4 * PS_DGTD_LANES_F32; ++i) {
            int64_t own = range[i / 4 / PS_DGTD_LANES_F32];
            int64_t other = range[x.system.links[i] / 4 / PS_DGTD_LANES_F32];
            assert_true(other >= own - 1 && other <= own + 1);
        }
    }
}

/* The distance of an interpolated mode falls by 2^(p+1), that of no field is the mode's norm. */
static void distance_from_a_mode(void **state)
{
    const ps_dgtd_mode mode = {
        .extent = {1, 1, 1}, .number = {1, 1, 1}, .amplitude = {1, -1, 0}, .medium = {1, 1, 0}};
    dgtd_mode of = {0};
    for (int order = 1; order <= 3; ++order) {
        double error[2], squares[6 * 8 * 8 * 8];
        for (int k = 0; k < 2; ++k) {
            PS_SCOPED(dgtd_case_release) dgtd_case x = {0};
            check_ok(dgtd_case_cube(&x, order, PS_DOUBLE, k ? 6 : 3, 0));
            double nothing =
                ps_dgtd_mode_error(&mode, &x.system, &x.body, PS_DGTD_E, x.field[0], 0, squares);
            check_near(nothing, 2 * .125, 0, 1e-9); /* two components, int cos^2 sin^2 sin^2 */
            dgtd_case_interpolate(&x, PS_DGTD_E, dgtd_mode_value, &of, .3);
            error[k] = sqrt(
                ps_dgtd_mode_error(&mode, &x.system, &x.body, PS_DGTD_E, x.field[0], .3, squares));
        }
        check_near(log2(error[0] / error[1]), order + 1, .25, 0);
    }
}
