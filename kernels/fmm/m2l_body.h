/*
 * The body of m2l.h for one precision; the includer defines real, LANES_SINGLE and M2L_TABLE.
 *
 * Both halves of an interaction are small matrix products with the factor A[rank][length]:
 * dots G[rank][pair] = A m, lanes along `length`; and sums F[pair] += A^T G, lanes along `length`
 * as well.
 */
#include "kernels/fmm/m2l.h"

#include <math.h>
#include <stddef.h>

#include "kernels/common/lanes_body.h"

enum {
    PAIRS = 8,                       /* pairs at a time                          */
    TILE = LANE_BYTES == 64 ? 3 : 1, /* rows, or vectors, at a time: registers   */
    RANK_MAX = PS_FMM_LENGTH_MAX
};

/* Keeps a vector in its register: the compiler would load it again for each use. */
#ifdef __AVX512F__
#define IN_REGISTER(x) __asm__("" : "+v"(x))
#else
#define IN_REGISTER(x)
#endif

/* One number a pair, rank by rank. */
typedef real ranks[RANK_MAX][PAIRS];

/* A matrix [rows][length] whose rows are whole vectors. */
typedef struct matrix {
    const real *values;
    int64_t rows, length;
} matrix;

/* g[r] of `rows` rows (a constant, <= TILE) with the vectors of 8 sources. */
KERNEL_INLINE void dots_tile(const real *a, int64_t length, int rows, const real *const x[PAIRS],
                             real (*g)[PAIRS])
{
    vreal sums[TILE][PAIRS];
    for (int r = 0; r < rows; ++r)
        for (int p = 0; p < PAIRS; ++p) sums[r][p] = (vreal){0};
    for (int64_t n = 0; n < length; n += LANES) {
        vreal row[TILE];
        for (int r = 0; r < rows; ++r) row[r] = v_load(a + r * length + n);
#pragma GCC unroll 8
        for (int p = 0; p < PAIRS; ++p) {
            vreal value = v_load(x[p] + n);
            IN_REGISTER(value);
            for (int r = 0; r < rows; ++r) sums[r][p] += row[r] * value;
        }
    }
    for (int r = 0; r < rows; ++r) v_sum_8(sums[r], g[r]);
}

/* y[p][n ..] += sum_k g[k][p] a[k][n ..] over `width` vectors (a constant, <= TILE). */
KERNEL_INLINE void sums_tile(matrix a, int width, int64_t n, real (*g)[PAIRS], real *const y[PAIRS])
{
    vreal sums[TILE][PAIRS];
    for (int w = 0; w < width; ++w)
        for (int p = 0; p < PAIRS; ++p) sums[w][p] = v_load(y[p] + n + w * LANES);
    for (int64_t k = 0; k < a.rows; ++k) {
        vreal row[TILE];
        for (int w = 0; w < width; ++w) row[w] = v_load(a.values + k * a.length + n + w * LANES);
#pragma GCC unroll 8
        for (int p = 0; p < PAIRS; ++p) {
            vreal value = v_of(g[k][p]);
            IN_REGISTER(value);
            for (int w = 0; w < width; ++w) sums[w][p] += row[w] * value;
        }
    }
    for (int w = 0; w < width; ++w)
        for (int p = 0; p < PAIRS; ++p) v_store(y[p] + n + w * LANES, sums[w][p]);
}

/* Part `i` of `parts` even parts of a whole. */
static int64_t part(int64_t whole, int64_t parts, int64_t i) { return whole * i / parts; }

static void dots(matrix a, const real *const x[PAIRS], real (*g)[PAIRS])
{
    int64_t parts = (a.rows + TILE - 1) / TILE;
    for (int64_t i = 0; i < parts; ++i) {
        int64_t row = part(a.rows, parts, i), rows = part(a.rows, parts, i + 1) - row;
        const real *values = a.values + row * a.length;
        if (rows == 1) dots_tile(values, a.length, 1, x, g + row);
        if (TILE > 1 && rows == 2) dots_tile(values, a.length, TILE > 1 ? 2 : 1, x, g + row);
        if (TILE > 2 && rows == 3) dots_tile(values, a.length, TILE > 2 ? 3 : 1, x, g + row);
    }
}

static void sums(matrix a, real (*g)[PAIRS], real *const y[PAIRS])
{
    int64_t vectors = a.length / LANES, parts = (vectors + TILE - 1) / TILE;
    for (int64_t i = 0; i < parts; ++i) {
        int64_t first = part(vectors, parts, i), width = part(vectors, parts, i + 1) - first;
        if (width == 1) sums_tile(a, 1, first * LANES, g, y);
        if (TILE > 1 && width == 2) sums_tile(a, TILE > 1 ? 2 : 1, first * LANES, g, y);
        if (TILE > 2 && width == 3) sums_tile(a, TILE > 2 ? 3 : 1, first * LANES, g, y);
    }
}

static void interact(const ps_fmm_m2l_table *table, const ps_fmm_m2l_pairs *pairs,
                     void *coded_targets)
{
    const real *signs = (const real *)table->signs + table->start[pairs->offset];
    real *targets = coded_targets;
    int64_t length = table->length;
    matrix a = {(const real *)table->factors + table->start[pairs->offset] * length,
                table->rank[pairs->offset], length};
    ranks g __attribute__((aligned(64)));
    real nowhere[PS_FMM_LENGTH_MAX] __attribute__((aligned(64)));
    for (int64_t at = 0; at < pairs->count; at += PAIRS) {
        const real *x[PAIRS];
        real *y[PAIRS];
        for (int p = 0; p < PAIRS; ++p) {
            bool there = at + p < pairs->count;
            x[p] = pairs->sources[there ? at + p : at];
            y[p] = there ? targets + pairs->targets[at + p] * length : nowhere;
        }
        if (at + PAIRS > pairs->count) memset(nowhere, 0, (size_t)length * sizeof *nowhere);
        dots(a, x, g);
        for (int64_t k = 0; k < a.rows; ++k)
            for (int p = 0; p < PAIRS; ++p) g[k][p] *= signs[k];
        sums(a, g, y);
    }
}

/* ---- codes ---- */

static void encode_reversed(const ps_fmm_m2l_table *table, const real *from, int64_t cells,
                            real *to)
{
    int points = table->order * table->order * table->order;
    for (int64_t c = 0; c < cells; ++c) {
        for (int n = 0; n < points; ++n)
            to[c * table->length + n] = from[c * points + points - 1 - n];
        for (int n = points; n < table->length; ++n) to[c * table->length + n] = 0;
    }
}

typedef real whole[PAIRS][PS_FMM_LENGTH_MAX];

static void encode_basis(const ps_fmm_m2l_table *table, const real *from, int64_t cells, real *to)
{
    int points = table->order * table->order * table->order;
    matrix a = {table->encoder, table->size, table->padded};
    ranks g __attribute__((aligned(64)));
    whole copies __attribute__((aligned(64)));
    for (int64_t c = 0; c < cells; c += PAIRS) {
        const real *x[PAIRS];
        int64_t count = cells - c < PAIRS ? cells - c : PAIRS;
        for (int p = 0; p < PAIRS; ++p) {
            x[p] = copies[p];
            int64_t cell = c + (p < count ? p : 0);
            memcpy(copies[p], from + cell * points, (size_t)points * sizeof *from);
            for (int n = points; n < table->padded; ++n) copies[p][n] = 0;
        }
        dots(a, x, g);
        for (int64_t p = 0; p < count; ++p)
            for (int k = 0; k < table->length; ++k)
                to[(c + p) * table->length + k] = k < table->size ? g[k][p] : 0;
    }
}

static void encode(const ps_fmm_m2l_table *table, const void *multipoles, int64_t cells,
                   void *coded)
{
    if (table->size)
        encode_basis(table, multipoles, cells, coded);
    else
        encode_reversed(table, multipoles, cells, coded);
}

static void decode_plain(const ps_fmm_m2l_table *table, const real *from, int64_t cells,
                         real factor, real *to)
{
    int points = table->order * table->order * table->order;
    for (int64_t c = 0; c < cells; ++c)
        for (int n = 0; n < points; ++n) to[c * points + n] += factor * from[c * table->length + n];
}

static void decode_basis(const ps_fmm_m2l_table *table, const real *from, int64_t cells,
                         real factor, real *to)
{
    int points = table->order * table->order * table->order;
    matrix a = {table->decoder, table->size, table->padded};
    ranks g __attribute__((aligned(64)));
    whole result __attribute__((aligned(64)));
    for (int64_t c = 0; c < cells; c += PAIRS) {
        real *y[PAIRS];
        int64_t count = cells - c < PAIRS ? cells - c : PAIRS;
        for (int64_t p = 0; p < PAIRS; ++p) {
            y[p] = result[p];
            memset(result[p], 0, (size_t)table->padded * sizeof(real));
            for (int k = 0; k < table->size; ++k)
                g[k][p] = p < count ? from[(c + p) * table->length + k] : 0;
        }
        sums(a, g, y);
        for (int64_t p = 0; p < count; ++p)
            for (int n = 0; n < points; ++n) to[(c + p) * points + n] += factor * result[p][n];
    }
}

static void decode(const ps_fmm_m2l_table *table, const void *coded, int64_t cells, double factor,
                   void *locals)
{
    if (table->size)
        decode_basis(table, coded, cells, (real)factor, locals);
    else
        decode_plain(table, coded, cells, (real)factor, locals);
}

const struct ps_fmm_m2l_functions PS_ISA_TABLE(M2L_TABLE) = {
    .encode = encode, .interact = interact, .decode = decode};
