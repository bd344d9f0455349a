/* compare: numbers in ascending order, for qsort and bsearch. */
#ifndef PS_RUNTIME_COMPARE_H
#define PS_RUNTIME_COMPARE_H

#include <stdint.h>

static inline int ps_compare_reals(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline int ps_compare_i64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static inline int ps_compare_i32(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

#endif
