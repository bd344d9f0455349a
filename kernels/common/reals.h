/* reals: arrays of numbers whose precision is known only when the program runs. */
#ifndef PS_KERNELS_COMMON_REALS_H
#define PS_KERNELS_COMMON_REALS_H

#include <stdint.h>

#include "runtime/isa.h"

/* Bytes of a number. */
static inline int64_t ps_real_bytes(ps_precision precision)
{
    return precision == PS_SINGLE ? (int64_t)sizeof(float) : (int64_t)sizeof(double);
}

/* Number `at` of an array. */
static inline double ps_real_at(ps_precision precision, const void *array, int64_t at)
{
    return precision == PS_SINGLE ? (double)((const float *)array)[at]
                                  : ((const double *)array)[at];
}

/* Puts a number there, rounded. */
static inline void ps_real_put(ps_precision precision, void *array, int64_t at, double value)
{
    if (precision == PS_SINGLE)
        ((float *)array)[at] = (float)value;
    else
        ((double *)array)[at] = value;
}

/* Number `i` of another array. */
static inline void ps_real_copy(ps_precision precision, void *array, int64_t at, const void *from,
                                int64_t i)
{
    if (precision == PS_SINGLE)
        ((float *)array)[at] = ((const float *)from)[i];
    else
        ((double *)array)[at] = ((const double *)from)[i];
}

#endif
