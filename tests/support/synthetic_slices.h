/*
 * synthetic_slices: slice matrices with the structure of a real one, made from nothing.
 *
 * Unknowns sit on a spiral over the unit sphere, so that consecutive ones are neighbours, each
 * with a patch of some radius. The row-vector (i,j) covers the shells that the two patches can
 * reach: one interval of k, symmetric in i and j; some are empty. Everything follows from
 * (seed, i, j), so any tiling gives the same matrix.
 */
#ifndef PS_TESTS_SYNTHETIC_SLICES_H
#define PS_TESTS_SYNTHETIC_SLICES_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/slice_matrix.h"
#include "kernels/common/reals.h"
#include "kernels/tdbem/slice_product.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

typedef struct synthetic_slices {
    int64_t unknowns; /* N                                                         */
    int64_t shells;   /* over the diameter: K is a little larger                   */
    double spread;    /* mean number of shells that a pair of patches covers       */
    double empty;     /* share of empty row-vectors                                */
    uint64_t seed;
} synthetic_slices;

static inline uint64_t synthetic_hash(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    uint64_t z = a * 0x9e3779b97f4a7c15u + b * 0xc2b2ae3d27d4eb4fu + c * 0x165667b19e3779f9u + d;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline double synthetic_unit(uint64_t hash) { return (double)(hash >> 11) * 0x1p-53; }

static inline void synthetic_place(const synthetic_slices *m, int64_t i, double x[3])
{
    double z = m->unknowns > 1 ? 1 - 2.0 * (double)i / (double)(m->unknowns - 1) : 0;
    double rho = sqrt(fmax(0, 1 - z * z)), turn = sqrt(3.14 * (double)m->unknowns) * acos(z);
    x[0] = rho * cos(turn);
    x[1] = rho * sin(turn);
    x[2] = z;
}

/* Start and length of row-vector (i,j); length 0 if empty. */
static inline void synthetic_vector(const synthetic_slices *m, int64_t i, int64_t j, int64_t *start,
                                    int64_t *length)
{
    int64_t low = i < j ? i : j, high = i < j ? j : i;
    double x[3], y[3], thickness = 2.0 / (double)m->shells, patch = 0.25 * m->spread * thickness;
    synthetic_place(m, low, x);
    synthetic_place(m, high, y);
    double r = sqrt((x[0] - y[0]) * (x[0] - y[0]) + (x[1] - y[1]) * (x[1] - y[1]) +
                    (x[2] - y[2]) * (x[2] - y[2]));
    double reach = patch * (1.8 + 0.2 * synthetic_unit(synthetic_hash(m->seed, low, 1, 0)) +
                            0.2 * synthetic_unit(synthetic_hash(m->seed, high, 1, 0)));
    int64_t first = (int64_t)(fmax(r - reach, 0) / thickness);
    int64_t last = (int64_t)((r + reach) / thickness);
    *start = first < 1 ? 1 : first;
    *length = last - *start + 1;
    bool empty = synthetic_unit(synthetic_hash(m->seed, low, high, 2)) < m->empty;
    if (empty || *length < 0) *length = 0;
}

/* Value q of row-vector (i,j), rounded to float so that both precisions hold the same. */
static inline double synthetic_value(const synthetic_slices *m, int64_t i, int64_t j, int64_t q)
{
    int64_t low = i < j ? i : j, high = i < j ? j : i;
    uint64_t hash = synthetic_hash(m->seed + 7, (uint64_t)low, (uint64_t)high, (uint64_t)q);
    return (float)((2 * synthetic_unit(hash) - 1) / (double)m->unknowns);
}

/* Upper bounds of K and d_max. */
static inline int64_t synthetic_k_bound(const synthetic_slices *m)
{
    return m->shells + (int64_t)m->spread + 3;
}
static inline int64_t synthetic_d_bound(const synthetic_slices *m)
{
    return (int64_t)(1.2 * m->spread) + 3;
}

/* Fills a tile whose ranges are set; allocates starts, lengths, values (with the slack that the
 * product wants) and, if `index`, offsets. Frees nothing: synthetic_tile_free does. */
static inline void synthetic_tile(const synthetic_slices *m, ps_precision precision, bool index,
                                  ps_slice_tile *tile)
{
    int64_t vectors = tile->rows * tile->slices, start, length, count = 0;
    tile->starts = calloc((size_t)vectors + 1, 2);
    tile->lengths = calloc((size_t)vectors + 1, 2);
    for (int64_t v = 0; v < vectors; ++v) {
        synthetic_vector(m, tile->first_row + v % tile->rows, tile->first_slice + v / tile->rows,
                         &start, &length);
        tile->starts[v] = (uint16_t)start;
        tile->lengths[v] = (uint16_t)length;
        count += length;
    }
    size_t size = (size_t)ps_real_bytes(precision);
    tile->value_count = count;
    tile->values = aligned_alloc(64, ((size_t)count * size + PS_PRODUCT_OVERREAD + 63) / 64 * 64);
    memset((char *)tile->values + (size_t)count * size, 0, PS_PRODUCT_OVERREAD);
    for (int64_t v = 0, at = 0; v < vectors; ++v)
        for (int64_t q = 0; q < tile->lengths[v]; ++q, ++at)
            ps_real_put(precision, tile->values, at,
                        synthetic_value(m, tile->first_row + v % tile->rows,
                                        tile->first_slice + v / tile->rows, q));
    tile->offsets = NULL;
    if (!index) return;
    ps_slice_tile_fill_starts(tile);
    uint32_t *offsets =
        calloc((size_t)(ps_slice_tile_row_blocks(tile) * tile->slices) + 1, sizeof *offsets);
    if (ps_slice_tile_index(tile, synthetic_k_bound(m), synthetic_d_bound(m), offsets) != PS_OK)
        abort();
    tile->offsets = offsets;
}

static inline void synthetic_tile_free(ps_slice_tile *tile)
{
    PS_FREE(tile->starts, tile->lengths, tile->values);
    free((void *)tile->offsets);
}

/* A diagonally dominant symmetric M^0 with neighbours along the spiral; rows first .. end-1. */
static inline ps_status synthetic_m0(const synthetic_slices *m, int64_t first, int64_t end,
                                     ps_csr *out)
{
    int64_t nnz = 0, n = m->unknowns;
    for (int64_t i = first; i < end; ++i) nnz += 1 + (i > 0) + (i < n - 1);
    PS_TRY(ps_csr_init(out, end - first, nnz));
    nnz = 0;
    for (int64_t i = first; i < end; ++i) {
        for (int64_t j = i - 1; j <= i + 1; ++j) {
            if (j < 0 || j >= n) continue;
            int64_t low = i < j ? i : j;
            double near = -0.2 * synthetic_unit(synthetic_hash(m->seed, (uint64_t)low, 3, 0));
            out->columns[nnz] = (int32_t)j;
            out->values[nnz++] = j == i ? 1.0 : near;
        }
        out->row_start[i - first + 1] = nnz;
    }
    return PS_OK;
}

/* Writes the matrix to a file, in tiles of tile_rows x tile_slices over slices [first, end). */
static inline ps_status synthetic_write(const synthetic_slices *m, const char *path,
                                        ps_precision precision, const ps_slice_tiling *tiling)
{
    ps_store_identity identity = {.creator = "synthetic", .revision = "test", .options = ""};
    ps_slice_tiling own = *tiling;
    own.unknowns = m->unknowns;
    own.value_capacity = own.tile_rows * own.tile_slices * synthetic_d_bound(m);
    PS_SCOPED(ps_slice_matrix_close) ps_slice_matrix *file = NULL;
    PS_TRY(ps_slice_matrix_create(path, &identity, &own, precision, 0, &file));
    for (int64_t t = 0; t < ps_slice_tiling_count(&own); ++t) {
        PS_SCOPED(synthetic_tile_free) ps_slice_tile tile = {0};
        ps_slice_tiling_range(&own, t, &tile);
        synthetic_tile(m, precision, false, &tile);
        PS_TRY(ps_slice_matrix_write_tile(file, t, &tile));
    }
    PS_SCOPED(ps_csr_release) ps_csr m0 = {0};
    PS_TRY(synthetic_m0(m, own.first_slice, own.end_slice, &m0));
    ps_slice_header header = {.formulation = PS_SOUND_SOFT_S,
                              .dt = 0.01,
                              .speed = 340,
                              .outer_points = 3,
                              .mesh_uuid = "none",
                              .mesh_hash = "none"};
    return ps_slice_matrix_commit(&file, &m0, &header);
}

/* The oracle, in the order of the definition ("front"): for each k, s += M^k a^{n-k}, in fp64:
 * sums[i * group + g] += sum_k sum_j M^k(i,j) past[j * stride + origin + g - k], with past(t) = 0
 * for t >= 0 by definition. */
static inline void synthetic_front(const synthetic_slices *m, const double *past, int64_t stride,
                                   int64_t origin, int64_t group, double *sums)
{
    int64_t n = m->unknowns, k_max = synthetic_k_bound(m), start, length;
    PS_SCOPED_MEMORY int64_t *starts = calloc((size_t)(2 * n * n), sizeof *starts);
    int64_t *lengths = starts + n * n;
    for (int64_t v = 0; v < n * n; ++v) {
        synthetic_vector(m, v / n, v % n, &start, &length);
        starts[v] = start;
        lengths[v] = length;
    }
    for (int64_t k = 1; k <= k_max; ++k)
        for (int64_t v = 0; v < n * n; ++v) {
            if (k < starts[v] || k >= starts[v] + lengths[v]) continue;
            double value = synthetic_value(m, v / n, v % n, k - starts[v]);
            for (int64_t g = 0; g < group && g - k < 0; ++g)
                sums[v / n * group + g] += value * past[v % n * stride + origin + g - k];
        }
}

#endif
