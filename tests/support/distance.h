/* How far numbers are from those that are expected. */
#ifndef PS_TESTS_SUPPORT_DISTANCE_H
#define PS_TESTS_SUPPORT_DISTANCE_H

#include <math.h>
#include <stdint.h>

/* |got - want| / |want| in the 2-norm, |got| where all of `want` is 0; NaN where there is one. */
static inline double relative_l2(const double *got, const double *want, int64_t count)
{
    double difference = 0, size = 0;
    for (int64_t i = 0; i < count; ++i) {
        difference += (got[i] - want[i]) * (got[i] - want[i]);
        size += want[i] * want[i];
    }
    return sqrt(size > 0 ? difference / size : difference);
}

/* The larger of two errors, NaN if one is: fmax would drop it. */
static inline double worse_of(double a, double b) { return a >= b || isnan(a) ? a : b; }

/* The largest |number|, NaN if one is. */
static inline double largest_of(const double *numbers, int64_t count)
{
    double largest = 0;
    for (int64_t i = 0; i < count; ++i) largest = worse_of(largest, fabs(numbers[i]));
    return largest;
}

/* The largest |got - want| of the largest |want|, or alone where all of `want` is 0; NaN where
 * there is one. */
static inline double relative_most(const double *got, const double *want, int64_t count)
{
    double most = 0, largest = largest_of(want, count);
    for (int64_t i = 0; i < count; ++i) most = worse_of(most, fabs(got[i] - want[i]));
    return largest > 0 ? most / largest : most;
}

#endif
