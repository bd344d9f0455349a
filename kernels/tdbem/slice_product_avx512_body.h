/*
 * What the lanes of slice_product_lanes_body.h need of AVX-512 beyond arithmetic: the range of some
 * starts, scales of halves, and row-vectors turned into columns. Included by slice_product_cpu.c
 * alone.
 */
#ifndef PS_KERNELS_TDBEM_SLICE_PRODUCT_AVX512_BODY_H
#define PS_KERNELS_TDBEM_SLICE_PRODUCT_AVX512_BODY_H

#ifdef __AVX512F__
#include <immintrin.h>
#include <stdint.h>

/* How the values lie that lanes of rows are to find. */
typedef enum lanes_kind { LANES_SLICES, LANES_CONTIGUOUS, LANES_WARP, LANES_HALVES } lanes_kind;

/* Smallest and largest of 8 numbers. */
static inline void range_of(__m128i least, __m128i most, int *low, int *high)
{
    __m128i ones = _mm_set1_epi16(-1);
    *low = _mm_extract_epi16(_mm_minpos_epu16(least), 0);
    *high = 0xffff - _mm_extract_epi16(_mm_minpos_epu16(_mm_xor_si128(most, ones)), 0);
}

static inline void range_8(const uint16_t *numbers, int *low, int *high)
{
    __m128i all = _mm_loadu_si128((const __m128i *)numbers);
    range_of(all, all, low, high);
}

static inline void range_16(const uint16_t *numbers, int *low, int *high)
{
    __m128i a = _mm_loadu_si128((const __m128i *)numbers);
    __m128i b = _mm_loadu_si128((const __m128i *)(numbers + 8));
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

/* Sums of the numbers before each of 16: 0, n[0], n[0] + n[1], .. */
static inline __m512i sums_before(__m512i numbers)
{
    const __m512i none = _mm512_setzero_si512();
    __m512i sum = numbers;
    sum = _mm512_add_epi32(sum, _mm512_alignr_epi32(sum, none, 15));
    sum = _mm512_add_epi32(sum, _mm512_alignr_epi32(sum, none, 14));
    sum = _mm512_add_epi32(sum, _mm512_alignr_epi32(sum, none, 12));
    sum = _mm512_add_epi32(sum, _mm512_alignr_epi32(sum, none, 8));
    return _mm512_sub_epi32(sum, numbers);
}

/* The sum of `count` numbers, a multiple of 8. */
static inline int64_t sum_of(const uint16_t *numbers, int64_t count)
{
    __m512i sum = _mm512_setzero_si512();
    for (int64_t r = 0; r < count; r += 8)
        sum = _mm512_add_epi64(
            sum, _mm512_cvtepu16_epi64(_mm_loadu_si128((const __m128i *)(numbers + r))));
    return _mm512_reduce_add_epi64(sum);
}

/* Columns of 8 values a row that begin at values[at[r]]: column[q] lane r. */
static inline void turn_f32(const float *values, const int32_t *at, __m512 column[8])
{
    const __m512i even = _mm512_set_epi64(13, 12, 5, 4, 9, 8, 1, 0);
    const __m512i odd = _mm512_set_epi64(15, 14, 7, 6, 11, 10, 3, 2);
    __m512 row[8], pair[8];
    for (int r = 0; r < 8; ++r)
        row[r] = _mm512_insertf32x8(_mm512_castps256_ps512(_mm256_loadu_ps(values + at[r])),
                                    _mm256_loadu_ps(values + at[r + 8]), 1);
    for (int r = 0; r < 8; r += 4) {
        __m512d low = _mm512_castps_pd(_mm512_unpacklo_ps(row[r], row[r + 1]));
        __m512d high = _mm512_castps_pd(_mm512_unpackhi_ps(row[r], row[r + 1]));
        __m512d low2 = _mm512_castps_pd(_mm512_unpacklo_ps(row[r + 2], row[r + 3]));
        __m512d high2 = _mm512_castps_pd(_mm512_unpackhi_ps(row[r + 2], row[r + 3]));
        pair[r] = _mm512_castpd_ps(_mm512_unpacklo_pd(low, low2));
        pair[r + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(low, low2));
        pair[r + 2] = _mm512_castpd_ps(_mm512_unpacklo_pd(high, high2));
        pair[r + 3] = _mm512_castpd_ps(_mm512_unpackhi_pd(high, high2));
    }
    for (int q = 0; q < 4; ++q) {
        __m512d a = _mm512_castps_pd(pair[q]), b = _mm512_castps_pd(pair[q + 4]);
        column[q] = _mm512_castpd_ps(_mm512_permutex2var_pd(a, even, b));
        column[q + 4] = _mm512_castpd_ps(_mm512_permutex2var_pd(a, odd, b));
    }
}

static inline void turn_f64(const double *values, const int32_t *at, __m512d column[8])
{
    __m512d low[4], high[4];
    for (int r = 0; r < 4; ++r) {
        __m512d a = _mm512_loadu_pd(values + at[2 * r]);
        __m512d b = _mm512_loadu_pd(values + at[2 * r + 1]);
        low[r] = _mm512_unpacklo_pd(a, b);
        high[r] = _mm512_unpackhi_pd(a, b);
    }
    for (int odd = 0; odd < 2; ++odd) {
        const __m512d *pair = odd ? high : low;
        __m512d a = _mm512_shuffle_f64x2(pair[0], pair[1], 0x88);
        __m512d b = _mm512_shuffle_f64x2(pair[2], pair[3], 0x88);
        __m512d c = _mm512_shuffle_f64x2(pair[0], pair[1], 0xdd);
        __m512d d = _mm512_shuffle_f64x2(pair[2], pair[3], 0xdd);
        column[odd] = _mm512_shuffle_f64x2(a, b, 0x88);
        column[odd + 4] = _mm512_shuffle_f64x2(a, b, 0xdd);
        column[odd + 2] = _mm512_shuffle_f64x2(c, d, 0x88);
        column[odd + 6] = _mm512_shuffle_f64x2(c, d, 0xdd);
    }
}

/*
 * Columns [first, first + columns) of LANES consecutive row-vectors, the first of which begins
 * at `values`, into out[(q - first) * pitch + r], zero behind the end of a row; up to 7 columns
 * more. Reads at most 8 values past the end of a row.
 */
static inline void columns_f32(const float *values, const uint16_t *lengths, int first, int columns,
                               float *out, int64_t pitch)
{
    _Alignas(64) int32_t at[16];
    __m512i length = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)lengths));
    __m512i start = sums_before(length);
    for (int q = first; q < first + columns; q += 8) {
        __m512 column[8];
        _mm512_store_si512(at,
                           _mm512_add_epi32(start, _mm512_min_epi32(length, _mm512_set1_epi32(q))));
        turn_f32(values, at, column);
        for (int c = 0; c < 8; ++c, out += pitch)
            _mm512_store_ps(
                out, _mm512_maskz_mov_ps(_mm512_cmpgt_epi32_mask(length, _mm512_set1_epi32(q + c)),
                                         column[c]));
    }
}

static inline void columns_f64(const double *values, const uint16_t *lengths, int first,
                               int columns, double *out, int64_t pitch)
{
    _Alignas(64) int32_t at[16];
    __m512i length =
        _mm512_zextsi256_si512(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)lengths)));
    __m512i start = sums_before(length);
    for (int q = first; q < first + columns; q += 8) {
        __m512d column[8];
        _mm512_store_si512(at,
                           _mm512_add_epi32(start, _mm512_min_epi32(length, _mm512_set1_epi32(q))));
        turn_f64(values, at, column);
        for (int c = 0; c < 8; ++c, out += pitch)
            _mm512_store_pd(out, _mm512_maskz_mov_pd((__mmask8)_mm512_cmpgt_epi32_mask(
                                                         length, _mm512_set1_epi32(q + c)),
                                                     column[c]));
    }
}

#endif

#endif
