/*
 * check: what every unit test includes. Debian's cmocka 1.1.5 compares floating-point
 * numbers as float, so numbers are compared by these alone.
 */
#ifndef PS_TESTS_CHECK_H
#define PS_TESTS_CHECK_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/scope.h"
#include "runtime/status.h"
#include "tests/support/distance.h"
#include "tests/support/random.h"

/* |actual - expected| <= absolute + relative * |expected|; NaN fails. */
#define check_near(actual, expected, absolute, relative)                                           \
    check_near_((actual), (expected), (absolute), (relative), #actual, __FILE__, __LINE__)

static inline void check_near_(double actual, double expected, double absolute, double relative,
                               const char *what, const char *file, int line)
{
    double bound = absolute + relative * fabs(expected);
    if (fabs(actual - expected) <= bound) return;
    print_error("%s: %.17g, expected %.17g: off by %.3g, allowed %.3g\n", what, actual, expected,
                fabs(actual - expected), bound);
    _fail(file, line);
}

/* |actual[i] - expected[i]| <= relative * the largest |expected|, for all i; NaN fails. */
#define check_all_near(actual, expected, count, relative)                                          \
    check_all_near_((actual), (expected), (count), (relative), #actual, __FILE__, __LINE__)

static inline void check_all_near_(const double *actual, const double *expected, int64_t count,
                                   double relative, const char *what, const char *file, int line)
{
    double bound = relative * largest_of(expected, count);
    for (int64_t i = 0; i < count; ++i)
        check_near_(actual[i], expected[i], bound, 0, what, file, line);
}

/* actual <= bound; NaN fails. */
#define check_at_most(actual, bound)                                                               \
    do {                                                                                           \
        double actual_ = (actual), bound_ = (bound);                                               \
        if (!(actual_ <= bound_)) {                                                                \
            print_error("%s: %.6g exceeds %.6g\n", #actual, actual_, bound_);                      \
            _fail(__FILE__, __LINE__);                                                             \
        }                                                                                          \
    } while (0)

#define check_ok(expression)                                                                       \
    do {                                                                                           \
        ps_status status_ = (expression);                                                          \
        if (status_ != PS_OK) {                                                                    \
            print_error("%s: %d: %s\n", #expression, status_, ps_message());                       \
            _fail(__FILE__, __LINE__);                                                             \
        }                                                                                          \
    } while (0)

/* The expression fails with this code and a message that contains `text`; _if: where `place` has
 * another value, for that time alone. */
#define check_fails(expression, code, text)                                                        \
    do {                                                                                           \
        ps_status status_ = (expression);                                                          \
        if (status_ != (code) || !strstr(ps_message(), (text))) {                                  \
            print_error("%s: got %d \"%s\", expected %d and \"%s\"\n", #expression, status_,       \
                        ps_message(), (code), (text));                                             \
            _fail(__FILE__, __LINE__);                                                             \
        }                                                                                          \
    } while (0)

#define check_fails_if(place, value, expression, code, text)                                       \
    do {                                                                                           \
        __typeof__(place) kept_ = (place);                                                         \
        (place) = (value);                                                                         \
        check_fails(expression, code, text);                                                       \
        (place) = kept_;                                                                           \
    } while (0)

/* Makes a file of a text. */
static inline void check_write(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
}

#endif
