/*
 * Vectors of `real` as wide as the instruction set has them, and what kernel_function_body.h and
 * the operators need of them. The includer defines real (float or double) and LANES_SINGLE (1 or
 * 0); one precision a file.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
#define LANE_BYTES 64
#elif defined(__AVX__)
#define LANE_BYTES 32
#else
#define LANE_BYTES 16
#endif

#if LANES_SINGLE
typedef int32_t lane_integer;
#else
typedef int64_t lane_integer;
#endif
enum { LANES = LANE_BYTES / sizeof(real) };
typedef real vreal __attribute__((vector_size(LANE_BYTES)));
typedef lane_integer vinteger __attribute__((vector_size(LANE_BYTES)));

#define KERNEL_INLINE static inline __attribute__((always_inline, unused))

KERNEL_INLINE vreal v_of(real x) { return x - (vreal){0}; }
KERNEL_INLINE vreal v_load(const real *at) { return *(const vreal *)at; }
KERNEL_INLINE void v_store(real *at, vreal x) { *(vreal *)at = x; }
KERNEL_INLINE void v_store_unaligned(real *at, vreal x) { memcpy(at, &x, sizeof x); }

KERNEL_INLINE vreal v_load_unaligned(const real *at)
{
    vreal x;
    memcpy(&x, at, sizeof x);
    return x;
}

/* x where mask is -1, 0 where it is 0. */
KERNEL_INLINE vreal v_keep(vinteger mask, vreal x) { return (vreal)((vinteger)x & mask); }

KERNEL_INLINE real v_sum(vreal x)
{
#if defined(__AVX512F__) && LANES_SINGLE
    return _mm512_reduce_add_ps(x);
#elif defined(__AVX512F__)
    return _mm512_reduce_add_pd(x);
#else
    real sum = 0;
    for (int i = 0; i < LANES; ++i) sum += x[i];
    return sum;
#endif
}

/* out[i] = sum of the lanes of x[i], i < 8. */
KERNEL_INLINE void v_sum_8(const vreal x[8], real out[8])
{
#if defined(__AVX512F__) && !LANES_SINGLE
    __m512d t[4], u[2];
    for (int i = 0; i < 4; ++i)
        t[i] =
            _mm512_unpacklo_pd(x[2 * i], x[2 * i + 1]) + _mm512_unpackhi_pd(x[2 * i], x[2 * i + 1]);
    for (int i = 0; i < 2; ++i)
        u[i] = _mm512_shuffle_f64x2(t[2 * i], t[2 * i + 1], 0x88) +
               _mm512_shuffle_f64x2(t[2 * i], t[2 * i + 1], 0xdd);
    _mm512_storeu_pd(out, _mm512_shuffle_f64x2(u[0], u[1], 0x88) +
                              _mm512_shuffle_f64x2(u[0], u[1], 0xdd));
#elif defined(__AVX512F__)
    __m512 t[4], u[2], v;
    for (int i = 0; i < 4; ++i)
        t[i] =
            _mm512_unpacklo_ps(x[2 * i], x[2 * i + 1]) + _mm512_unpackhi_ps(x[2 * i], x[2 * i + 1]);
    for (int i = 0; i < 2; ++i)
        u[i] = _mm512_shuffle_ps(t[2 * i], t[2 * i + 1], 0x44) +
               _mm512_shuffle_ps(t[2 * i], t[2 * i + 1], 0xee);
    v = _mm512_shuffle_f32x4(u[0], u[1], 0x88) + _mm512_shuffle_f32x4(u[0], u[1], 0xdd);
    v = _mm512_shuffle_f32x4(v, v, 0x08) + _mm512_shuffle_f32x4(v, v, 0x0d);
    _mm256_storeu_ps(out, _mm512_castps512_ps256(v));
#else
    for (int i = 0; i < 8; ++i) out[i] = v_sum(x[i]);
#endif
}

/* at[i] - offset of up to LANES doubles; lanes from `count` on are not to be used. */
KERNEL_INLINE vreal v_from_doubles(const double *at, int64_t count, double offset)
{
#if defined(__AVX512F__)
    unsigned mask = count >= LANES ? ~0u : (1u << count) - 1;
    __m512d low = _mm512_maskz_loadu_pd((__mmask8)mask, at) - offset;
#if LANES_SINGLE
    __m512d high = _mm512_maskz_loadu_pd((__mmask8)(mask >> 8), at + 8) - offset;
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(low)), _mm512_cvtpd_ps(high),
                              1);
#else
    return low;
#endif
#else
    vreal x = {0};
    for (int i = 0; i < LANES; ++i)
        if (i < count) x[i] = (real)(at[i] - offset);
    return x;
#endif
}

/* at[i] += scale x[i] of the first `count` lanes. */
KERNEL_INLINE void v_add_to_doubles(double *at, int64_t count, double scale, vreal x)
{
#if defined(__AVX512F__)
    unsigned mask = count >= LANES ? ~0u : (1u << count) - 1;
    __mmask8 first = (__mmask8)mask;
#if LANES_SINGLE
    __mmask8 second = (__mmask8)(mask >> 8);
    __m512d low = _mm512_cvtps_pd(_mm512_castps512_ps256(x));
    __m512d high = _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1));
    _mm512_mask_storeu_pd(at + 8, second, _mm512_maskz_loadu_pd(second, at + 8) + scale * high);
#else
    __m512d low = x;
#endif
    _mm512_mask_storeu_pd(at, first, _mm512_maskz_loadu_pd(first, at) + scale * low);
#else
    for (int i = 0; i < LANES; ++i)
        if (i < count) at[i] += scale * (double)x[i];
#endif
}

/* -a b. Negating apart would cost an instruction. */
KERNEL_INLINE vreal v_negated_product(vreal a, vreal b)
{
#if defined(__AVX512F__) && LANES_SINGLE
    return _mm512_fnmsub_ps(a, b, _mm512_setzero_ps());
#elif defined(__AVX512F__)
    return _mm512_fnmsub_pd(a, b, _mm512_setzero_pd());
#else
    return -(a * b);
#endif
}

/* The square root of each lane's reciprocal, to about an ulp (single: two). */
KERNEL_INLINE vreal v_rsqrt(vreal x)
{
#if defined(__AVX512F__) && LANES_SINGLE
    vreal y = _mm512_rsqrt14_ps(x), e = 1 - x * y * y;
    return y + y * e * (0.5f + 0.375f * e);
#elif defined(__AVX512F__)
    /* y (1 + e/2 + 3e^2/8 + 5e^3/16), e = 1 - x y^2 <= 2^-13: the rest is e^4 35/128 < 2^-53. */
    vreal y = _mm512_rsqrt14_pd(x), e = 1 - x * y * y;
    return y + y * e * (0.5 + e * (0.375 + e * 0.3125));
#elif defined(__AVX__) && LANES_SINGLE
    return 1 / (vreal)_mm256_sqrt_ps(x);
#elif defined(__AVX__)
    return 1 / (vreal)_mm256_sqrt_pd(x);
#elif defined(__x86_64__) && LANES_SINGLE
    return 1 / (vreal)_mm_sqrt_ps(x);
#elif defined(__x86_64__)
    return 1 / (vreal)_mm_sqrt_pd(x);
#else
    for (int i = 0; i < LANES; ++i) x[i] = LANES_SINGLE ? 1 / sqrtf(x[i]) : 1 / sqrt(x[i]);
    return x;
#endif
}

/* exp(x) of x <= 0: 2^n sum r^k/k!, |r| <= ln(2)/2; about an ulp. No less than the least
 * normal number. */
KERNEL_INLINE vreal v_exp(vreal x)
{
#if LANES_SINGLE
    enum { DEGREE = 7, MANTISSA = 23 };
    const real least = -87, magic = 0x1.8p23f, ln2_high = 0x1.62e4p-1f, ln2_low = 0x1.7f7d1cp-20f;
#else
    enum { DEGREE = 13, MANTISSA = 52 };
    const real least = -708, magic = 0x1.8p52, ln2_high = 0x1.62e42fefa39efp-1,
               ln2_low = 0x1.abc9e3b39803fp-56;
#endif
    static const double inverse_factorials[14] = {1,
                                                  1,
                                                  1. / 2,
                                                  1. / 6,
                                                  1. / 24,
                                                  1. / 120,
                                                  1. / 720,
                                                  1. / 5040,
                                                  1. / 40320,
                                                  1. / 362880,
                                                  1. / 3628800,
                                                  1. / 39916800,
                                                  1. / 479001600,
                                                  1. / 6227020800};
    vinteger low = x < least;
    x = (vreal)(((vinteger)x & ~low) | ((vinteger)v_of(least) & low));
    vreal shifted = x * (real)1.4426950408889634 + magic, n = shifted - magic;
    vreal r = x - n * ln2_high - n * ln2_low, sum = v_of((real)inverse_factorials[DEGREE]);
    for (int k = DEGREE - 1; k >= 0; --k) sum = sum * r + (real)inverse_factorials[k];
    return (vreal)((vinteger)sum + ((vinteger)shifted << MANTISSA));
}
