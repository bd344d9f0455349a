/* half_values: rounding against the definition, and its errors as stated. */
#include "kernels/tdbem/half_values.h"

#include <stdbool.h>

#include "tests/check.h"
#include "tests/support/distance.h"

/* What a half stands for, by IEEE 754. */
static double meaning(unsigned half)
{
    int exponent = (int)(half >> 10 & 31);
    double magnitude = exponent ? ldexp(1024 + (double)(half & 1023), exponent - 25)
                                : ldexp((double)(half & 1023), -24);
    return half & 0x8000 ? -magnitude : magnitude;
}

static bool is_normal(unsigned half) { return (half >> 10 & 31) > 0 && (half >> 10 & 31) < 31; }

static void every_normal_half_comes_back(void **state)
{
    for (unsigned half = 0; half < 0x10000; ++half) {
        if (!is_normal(half)) continue;
        check_near((double)ps_half_decode((uint16_t)half), meaning(half), 0, 0);
        assert_int_equal(ps_half_encode(meaning(half)), half);
    }
    check_near((double)ps_half_decode(0), 0, 0, 0);
    assert_int_equal(ps_half_encode(0), 0);
    assert_int_equal(ps_half_encode(0x1.ffcp-15), 0); /* the largest subnormal half */
    assert_int_equal(ps_half_encode(-0x1p-40), 0);
}

/* Between two neighbours: to the nearer one, half way to the even one. */
static void rounding_is_to_nearest_even(void **state)
{
    for (unsigned half = 0x0400; half < 0x7bff; ++half) {
        double low = meaning(half), high = meaning(half + 1), middle = (low + high) / 2;
        unsigned even = half % 2 ? half + 1 : half;
        assert_int_equal(ps_half_encode(middle), even);
        assert_int_equal(ps_half_encode(nextafter(middle, 0)), half);
        assert_int_equal(ps_half_encode(nextafter(middle, high)), half + 1);
        assert_int_equal(ps_half_encode(-middle), even | 0x8000);
    }
}

static void scales_are_powers_of_two(void **state)
{
    check_near((double)ps_half_scale(0), 0, 0, 0);
    for (int s = 1; s < 255; ++s)
        check_near((double)ps_half_scale((uint8_t)s), ldexp(1, s - 127), 0, 0);
}

enum { COUNT = 37, STEP = 3 };

/* A random row-vector of this magnitude: rounded within 2^-11 of its largest, figures as due. */
static void check_row(ps_precision precision, double magnitude, uint64_t *seed)
{
    double exact[COUNT], largest = 0, squares = 0, most = 0;
    float single[COUNT];
    uint16_t halves[COUNT * STEP];
    ps_half_error error = {0};
    for (int q = 0; q < COUNT; ++q) {
        double x = magnitude * (check_random(seed) - 0.5) * pow(2, -12 * check_random(seed));
        exact[q] = single[q] = (float)x;
        if (precision == PS_DOUBLE) exact[q] = x;
        largest = worse_of(largest, fabs(exact[q]));
    }
    const void *values = precision == PS_SINGLE ? (const void *)single : exact;
    int s = ps_half_encode_row(values, precision, COUNT, halves, STEP, &error);
    for (int q = 0; q < COUNT; ++q) {
        double value = ldexp(meaning(halves[q * STEP]), s - 127), off = value - exact[q];
        check_near(value, exact[q], 0x1p-28 * largest, 0x1p-11);
        most = worse_of(most, fabs(off));
        squares += off * off;
    }
    double top = largest * ldexp(1, 127 - s);
    assert_true(top >= 0x1p14 && top < 0x1p15);
    check_near(error.largest, most / largest, 0, 1e-14);
    check_near(error.squares, squares, 0, 1e-12);
    check_at_most(error.largest, 0x1p-11);
}

static void row_vectors_keep_their_digits(void **state)
{
    uint64_t seed = 5;
    for (int e = -100; e <= 120; e += 4)
        for (int precision = 0; precision < 2; ++precision)
            check_row((ps_precision)precision, ldexp(1, e), &seed);
}

static void what_does_not_fit_shows(void **state)
{
    const double zeros[2] = {0, 0}, huge[2] = {1e300, 1}, tiny[2] = {1e-50, -1e-51};
    uint16_t halves[2] = {9, 9};
    ps_half_error error = {0};
    assert_int_equal(ps_half_encode_row(zeros, PS_DOUBLE, 2, halves, 1, &error), 0);
    assert_int_equal(halves[0] | halves[1], 0);
    check_near(error.largest, 0, 0, 0);
    ps_half_encode_row(huge, PS_DOUBLE, 2, halves, 1, &error);
    check_at_most(0.5, error.largest);
    error.largest = 0;
    ps_half_encode_row(tiny, PS_DOUBLE, 2, halves, 1, &error);
    check_near(error.largest, 1, 0, 0);
}
