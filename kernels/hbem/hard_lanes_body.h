/* Part of pair_integrals_cpu.c: what closed_body.h and hard_body.h need of vectors, and both. */

#define lanes lanes_f64
#define WIDTH PS_HBEM_LANES_F64
#define ALIGNED __attribute__((aligned(64)))
#define CHOOSE(where, a, b)                                                                        \
    choose_f64((bits_f64[1]){(bits_f64)(where)}, (lanes_f64[1]){a}, (lanes_f64[1]){b})
#define SIZE_OF(a) size_f64((lanes_f64[1]){a})
#define ROOT_OF(a) root_f64((lanes_f64[1]){a})
#define LOG_OF(a) log_f64((lanes_f64[1]){a})
#define ATAN2_OF(y, x) atan2_f64((lanes_f64[1]){y}, (lanes_f64[1]){x})
#define SINE_COSINE(x, sine, cosine) sine_cosine_f64(&(x), &(sine), &(cosine))
#define DECAY_OF(a) decay_of_f64((lanes_f64[1]){a})
#define SUM_OF(a) sum_f64(&(a))
#define TOTAL_OF(a) (a)
#define CALLED static __attribute__((noinline))
#define HARD_FIRST 0
#define HARD_STEP 1
#define HARD_MEET (void)0
#define LOAD(from) (*(const lanes_f64 *)(from))
#define STORE(to, a) (*(lanes_f64 *)(to) = (a))

INLINE lanes_f64 choose_f64(const bits_f64 *where, const lanes_f64 *a, const lanes_f64 *b)
{
    return (lanes_f64)(((bits_f64)*a & *where) | ((bits_f64)*b & ~*where));
}

INLINE lanes_f64 size_f64(const lanes_f64 *a) { return (lanes_f64)((bits_f64)*a & INT64_MAX); }

INLINE lanes_f64 decay_of_f64(const lanes_f64 *a)
{
    lanes_f64 out;
    decay_f64(a, &out);
    return out;
}

INLINE lanes_f64 root_f64(const lanes_f64 *a)
{
    lanes_f64 inverse;
    reciprocal_root_f64(a, &inverse);
    return *a * inverse;
}

/* Of a > 0: 2^e m, m about 1, and the series of log((1 + s)/(1 - s)) at Chebyshev points of s^2,
 * 1e-18. */
INLINE lanes_f64 log_f64(const lanes_f64 *a)
{
    bits_f64 raw = (bits_f64)*a, exponent = (raw >> 52) - 1023;
    lanes_f64 m = (lanes_f64)((raw & 0xfffffffffffffLL) | 0x3ff0000000000000LL);
    bits_f64 above = m > M_SQRT2;
    m = CHOOSE(above, m * .5, m);
    exponent -= above; /* -1 where true */
    lanes_f64 s = (m - 1) / (m + 1), z = s * s;
    lanes_f64 p = 0.076562570559619 + z * 0.074049285724485006;
    p = 0.11111098523544492 + z * (0.090918161021891264 + z * p);
    p = 0.19999999999650969 + z * (0.14285714380365935 + z * p);
    p = 1 + z * (0.33333333333333826 + z * p);
    return __builtin_convertvector(exponent, lanes_f64) * M_LN2 + 2 * s * p;
}

/* Of the angle: tangents up to tan(pi/8) by a polynomial at Chebyshev points of their square,
 * 4e-17. */
INLINE lanes_f64 atan2_f64(const lanes_f64 *y, const lanes_f64 *x)
{
    lanes_f64 ay = size_f64(y), ax = size_f64(x);
    bits_f64 steep = ay > ax;
    lanes_f64 low = CHOOSE(steep, ax, ay), high = CHOOSE(steep, ay, ax);
    bits_f64 wide = low > .41421356237309503 * high;
    lanes_f64 t = CHOOSE(wide, low - high, low) / CHOOSE(wide, low + high, high);
    lanes_f64 z = t * t, p = -0.043478429345733101 + z * 0.021132810313338496;
    p = -0.066402200854020293 + z * (0.05688276780465485 + z * p);
    p = -0.090907729616503272 + z * (0.076899519024514459 + z * p);
    p = -0.14285714180856576 + z * (0.11111106175584769 + z * p);
    p = -0.3333333333332843 + z * (0.19999999998853618 + z * p);
    p = t + t * z * p;
    p += CHOOSE(wide, M_PI_4 + 0 * p, 0 * p);
    p = CHOOSE(steep, M_PI_2 - p, p);
    p = CHOOSE(*x < 0, M_PI - p, p);
    return CHOOSE(*y < 0, -p, p);
}

INLINE double sum_f64(const lanes_f64 *a)
{
    double sum[4];
    for (int i = 0; i < 4; ++i) sum[i] = (*a)[i] + (*a)[i + 4];
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

#include "kernels/hbem/closed_body.h"
#include "kernels/hbem/hard_body.h"
