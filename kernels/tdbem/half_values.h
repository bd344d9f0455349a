/*
 * half_values: values of a row-vector as IEEE halves with one power of two as scale
 * (specs/block_matrix.md, "Halves"):
 *
 *     value = half * 2^(s - 127),   s in 0 .. 254;  s = 0: the row-vector is zero.
 *
 * The largest magnitude lies in [2^14, 2^15) as a half; rounding is to nearest, ties to even;
 * what would be a subnormal half becomes 0, so that machines which take subnormal numbers as zero
 * read the same values. An error is at most 2^-11 of the largest value of the row-vector.
 */
#ifndef PS_KERNELS_TDBEM_HALF_VALUES_H
#define PS_KERNELS_TDBEM_HALF_VALUES_H

#include <stdint.h>
#include <string.h>

#include "runtime/isa.h"

/* The scale 2^(s - 127); 0 for s = 0. Exact. */
static inline float ps_half_scale(uint8_t s)
{
    uint32_t bits = (uint32_t)s << 23;
    float scale;
    memcpy(&scale, &bits, sizeof scale);
    return scale;
}

/* The number that a half which is 0 or normal stands for. Exact. */
static inline float ps_half_decode(uint16_t half)
{
    uint32_t bits = (uint32_t)(half & 0x7fff) << 13 | (uint32_t)(half & 0x8000) << 16;
    float small;
    memcpy(&small, &bits, sizeof small);
    return small * 0x1p112f; /* from the exponents of a half to those of a single */
}

/* The half next to x, |x| < 65520: ties to even, 0 below 2^-14. */
uint16_t ps_half_encode(double x);

/* What rounding did, over the row-vectors so far; begins as zeros. */
typedef struct ps_half_error {
    double largest; /* max |error| / max |value| of the row-vector */
    double squares; /* sum of error^2                              */
    double values;  /* sum of value^2                              */
} ps_half_error;

/* Rounds a row-vector values[count], in this precision, to out[q * step], and returns s. Values
 * must be finite; magnitudes outside 2^-112 .. 2^142 show as an error above 2^-11. */
uint8_t ps_half_encode_row(const void *values, ps_precision precision, int64_t count, uint16_t *out,
                           int64_t step, ps_half_error *error);

#endif
