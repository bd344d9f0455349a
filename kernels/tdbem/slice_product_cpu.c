/* The product for one instruction set: the body once per type and vector width. */
#include "kernels/tdbem/slice_product.h"

#include <stdbool.h>
#include <string.h>

#include "kernels/tdbem/half_values.h"

#if defined(__AVX512F__)
#define WIDEST 64
#elif defined(__AVX__)
#define WIDEST 32
#else
#define WIDEST 16
#endif

/* Keeping table entries in registers from one column to the next costs sums their registers. */
#pragma GCC optimize("no-predictive-commoning")

#define NAME(name) PS_ISA_PASTE(name, SUFFIX)

#if WIDEST >= 64
#include <immintrin.h>

/* Smallest and largest of 8 starts, and of 16. */
static inline void range_of(__m128i least, __m128i most, int *low, int *high)
{
    __m128i ones = _mm_set1_epi16(-1);
    *low = _mm_extract_epi16(_mm_minpos_epu16(least), 0);
    *high = 0xffff - _mm_extract_epi16(_mm_minpos_epu16(_mm_xor_si128(most, ones)), 0);
}

static inline void start_range_8(const uint16_t *starts, int *low, int *high)
{
    __m128i all = _mm_loadu_si128((const __m128i *)starts);
    range_of(all, all, low, high);
}

static inline void start_range_16(const uint16_t *starts, int *low, int *high)
{
    __m128i a = _mm_loadu_si128((const __m128i *)starts);
    __m128i b = _mm_loadu_si128((const __m128i *)(starts + 8));
    range_of(_mm_min_epu16(a, b), _mm_max_epu16(a, b), low, high);
}

/* 2^(s - 127) of 16 lanes, and of 8. */
static inline __m512 scales_16(const uint8_t *at)
{
    __m512i s = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)at));
    return _mm512_castsi512_ps(_mm512_slli_epi32(s, 23));
}

static inline __m512d scales_8(const uint8_t *at)
{
    __m256i s = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)at));
    return _mm512_cvtps_pd(_mm256_castsi256_ps(_mm256_slli_epi32(s, 23)));
}
#endif

#define real float
#define integer int32_t
#define BYTES 16
#define SUFFIX f32_16
#include "kernels/tdbem/slice_product_body.h"
#if WIDEST >= 32
#define BYTES 32
#define SUFFIX f32_32
#include "kernels/tdbem/slice_product_body.h"
#endif
#if WIDEST >= 64
#define BYTES 64
#define SUFFIX f32_64
#include "kernels/tdbem/slice_product_body.h"
#define SUFFIX f32_lanes
#define LANE_VECTOR __m512
#define LANE_INDEX __m512i
#define LANE_LOAD _mm512_loadu_ps
#define LANE_STORE _mm512_store_ps
#define LANE_HALVES(at) _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(at)))
#define LANE_SCALES(at) scales_16(at)
#define LANE_PERMUTE(index, a) _mm512_permutexvar_ps(index, a)
#define LANE_PERMUTE2(a, index, b) _mm512_permutex2var_ps(a, index, b)
#define LANE_START_RANGE(starts, low, high) start_range_16(starts, &low, &high)
#define LANE_INDEX_FROM(starts, high)                                   \
    _mm512_sub_epi32(_mm512_set1_epi32(high),                           \
                     _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(starts))))
#include "kernels/tdbem/slice_product_lanes_body.h"
#endif
#undef real
#undef integer

#define real double
#define integer int64_t
#define BYTES 16
#define SUFFIX f64_16
#include "kernels/tdbem/slice_product_body.h"
#if WIDEST >= 32
#define BYTES 32
#define SUFFIX f64_32
#include "kernels/tdbem/slice_product_body.h"
#endif
#if WIDEST >= 64
#define BYTES 64
#define SUFFIX f64_64
#include "kernels/tdbem/slice_product_body.h"
#define SUFFIX f64_lanes
#define LANE_VECTOR __m512d
#define LANE_INDEX __m512i
#define LANE_LOAD _mm512_loadu_pd
#define LANE_STORE _mm512_store_pd
#define LANE_HALVES(at) _mm512_cvtps_pd(_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(at))))
#define LANE_SCALES(at) scales_8(at)
#define LANE_PERMUTE(index, a) _mm512_permutexvar_pd(index, a)
#define LANE_PERMUTE2(a, index, b) _mm512_permutex2var_pd(a, index, b)
#define LANE_START_RANGE(starts, low, high) start_range_8(starts, &low, &high)
#define LANE_INDEX_FROM(starts, high)           \
    _mm512_sub_epi64(_mm512_set1_epi64(high),   \
                     _mm512_cvtepu16_epi64(_mm_loadu_si128((const __m128i *)(starts))))
#include "kernels/tdbem/slice_product_lanes_body.h"
#endif
#undef real
#undef integer

#if WIDEST >= 64
#define WIDTHS(type) {add_##type##_16, add_##type##_32, add_##type##_64}
enum { WIDTH_COUNT = 3 };
#elif WIDEST >= 32
#define WIDTHS(type) {add_##type##_16, add_##type##_32}
enum { WIDTH_COUNT = 2 };
#else
#define WIDTHS(type) {add_##type##_16}
enum { WIDTH_COUNT = 1 };
#endif
static const ps_slice_product_fn widths_f32[WIDTH_COUNT] = WIDTHS(f32);
static const ps_slice_product_fn widths_f64[WIDTH_COUNT] = WIDTHS(f64);

/* The narrowest vector that holds a group, else the widest; full blocks run over rows. */
static ps_slice_product_fn pick(const ps_slice_product_fn *widths, const ps_slice_product *p,
                                int64_t real_bytes)
{
    int w = 0;
    while (w + 1 < WIDTH_COUNT && (p->layout == PS_TILE_FULL || p->group * real_bytes > 16 << w))
        ++w;
    return widths[w];
}

/* Whole warps have a body of their own with AVX-512. */
#if WIDEST >= 64
#define ADD(type, p, begin, end, add)                                    \
    if ((p)->layout == PS_TILE_WARP)                                     \
        add_warps_lanes_##type##_lanes((p), (begin), (end), (add));      \
    else                                                                 \
        (add)((p), (begin), (end))
#else
#define ADD(type, p, begin, end, add) (add)((p), (begin), (end))
#endif

static void add_f32(const ps_slice_product *p, int64_t row_begin, int64_t row_end)
{
    ps_slice_product_fn add = pick(widths_f32, p, sizeof(float));
    ADD(f32, p, row_begin, row_end, add);
}

static void add_f64(const ps_slice_product *p, int64_t row_begin, int64_t row_end)
{
    ps_slice_product_fn add = pick(widths_f64, p, sizeof(double));
    ADD(f64, p, row_begin, row_end, add);
}

extern const struct ps_slice_product_functions PS_ISA_TABLE(ps_slice_product);
const struct ps_slice_product_functions PS_ISA_TABLE(ps_slice_product) = {
    .precision = {[PS_SINGLE] = add_f32, [PS_DOUBLE] = add_f64},
};
