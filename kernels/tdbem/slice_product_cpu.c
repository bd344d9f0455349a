/* The product for one instruction set: the body once per type and vector width. */
#include "kernels/tdbem/slice_product.h"

#include <stdbool.h>
#include <string.h>

#include "kernels/tdbem/half_values.h"
#include "kernels/tdbem/vector_bytes.h"

/* Keeping table entries in registers from one column to the next costs sums their registers. */
#pragma GCC optimize("no-predictive-commoning")

#define NAME(name) PS_ISA_PASTE(name, SUFFIX)

#if WIDEST >= 64
#include "kernels/tdbem/slice_product_avx512_body.h"
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
#define LANE_COLUMNS columns_f32
#define LANE_RANGE(starts, low, high) range_16(starts, &low, &high)
#define LANE_INDEX_FROM(starts, high)                                                              \
    _mm512_sub_epi32(_mm512_set1_epi32(high),                                                      \
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
#define LANE_COLUMNS columns_f64
#define LANE_RANGE(starts, low, high) range_8(starts, &low, &high)
#define LANE_INDEX_FROM(starts, high)                                                              \
    _mm512_sub_epi64(_mm512_set1_epi64(high),                                                      \
                     _mm512_cvtepu16_epi64(_mm_loadu_si128((const __m128i *)(starts))))
#include "kernels/tdbem/slice_product_lanes_body.h"
#endif
#undef real
#undef integer

#if WIDEST >= 64
#define WIDTHS(type)                                                                               \
    {                                                                                              \
        add_##type##_16, add_##type##_32, add_##type##_64                                          \
    }
enum { WIDTH_COUNT = 3 };
#elif WIDEST >= 32
#define WIDTHS(type)                                                                               \
    {                                                                                              \
        add_##type##_16, add_##type##_32                                                           \
    }
enum { WIDTH_COUNT = 2 };
#else
#define WIDTHS(type)                                                                               \
    {                                                                                              \
        add_##type##_16                                                                            \
    }
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

#if WIDEST >= 64
/* Whether vectors over rows are faster: measured. Vectors over g fill more and more of their lanes
 * with the group, while turning row-vectors, or columns of padding, costs the same. */
static bool in_lanes(const ps_slice_product *p, int64_t real_bytes)
{
    switch (p->layout) {
    case PS_TILE_FULL:
        return false;
    case PS_TILE_SLICES:
        return p->group * real_bytes <= 64;
    case PS_TILE_CONTIGUOUS:
        return p->group <= 16;
    default:
        return true;
    }
}

#define ADD(type, p, begin, end, add, bytes)                                                       \
    if (in_lanes((p), (bytes)))                                                                    \
        add_lanes_of_rows_##type##_lanes((p), (begin), (end), (add));                              \
    else                                                                                           \
        (add)((p), (begin), (end))
#else
#define ADD(type, p, begin, end, add, bytes) (add)((p), (begin), (end))
#endif

static void add_f32(const ps_slice_product *p, int64_t row_begin, int64_t row_end)
{
    ps_slice_product_fn add = pick(widths_f32, p, sizeof(float));
    ADD(f32, p, row_begin, row_end, add, sizeof(float));
}

static void add_f64(const ps_slice_product *p, int64_t row_begin, int64_t row_end)
{
    ps_slice_product_fn add = pick(widths_f64, p, sizeof(double));
    ADD(f64, p, row_begin, row_end, add, sizeof(double));
}

extern const struct ps_slice_product_functions PS_ISA_TABLE(ps_slice_product);
const struct ps_slice_product_functions PS_ISA_TABLE(ps_slice_product) = {
    .precision = {[PS_SINGLE] = add_f32, [PS_DOUBLE] = add_f64},
};
