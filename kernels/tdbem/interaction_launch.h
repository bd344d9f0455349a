/*
 * interaction_launch: what interaction_device.c and the CUDA files of interaction share: a tile
 * on its way through the device. Private to them. All pointers are device memory.
 *
 * A tile's slices are treated in bands, as many at a time as the terms of the band's pairs of
 * triangles have room. Arrays whose items differ in size have no table of offsets: the room of an
 * item is a sum of a part of its row and a part of its slice, so its offset has a closed form.
 */
#ifndef PS_KERNELS_TDBEM_INTERACTION_LAUNCH_H
#define PS_KERNELS_TDBEM_INTERACTION_LAUNCH_H

#include "kernels/tdbem/interaction.h"

/* The triangles at a range of unknowns (sound-hard). */
typedef struct ps_device_side {
    int64_t count;         /* triangles                                                */
    const int32_t *list;   /* [count] their numbers                                    */
    const int32_t *shells; /* [count + 1] running sum of the shells each can add       */
    const int32_t *start;  /* [unknowns + 1] first slot of an unknown                  */
    const int32_t *slot;   /* [slots][2] triangle number, ascending at an unknown;
                              4 x place in list + corner                               */
} ps_device_side;

/* Of a pair of triangles: terms M^k, k = base .. base + count - 1. */
typedef struct ps_device_pair {
    int32_t base, count;
} ps_device_pair;

/* What the host reads first, of each of the two kinds of ps_device_entries. */
enum { PS_DEVICE_K = 1, PS_DEVICE_ROOM = 2 }; /* faults: k beyond 16 bits; room too small */
typedef struct ps_device_result {
    uint32_t near_count, k_max, faults, unused;
    int64_t value_count;
} ps_device_result;

/* Row-vectors of a tile, slice by slice, and what trimming made of them. */
typedef struct ps_device_entries {
    double *bins;               /* M^k of each entry from k = first[v] on                     */
    uint16_t *starts, *lengths; /* [slices * rows] trimmed                                    */
    int32_t *near_rows, *near_columns;
    double *near_values;
    ps_device_result *result;
} ps_device_entries;

typedef struct ps_device_tile {
    ps_formulation formulation;
    ps_precision precision;
    double shell, speed;
    double combined;      /* alpha of the combined field equation; 0: none */
    const uint8_t *lined; /* [triangles of the mesh] the matrices G^k of these; NULL: M^k */
    ps_triangle_rule rule;
    const ps_triangle *triangles;
    int64_t first_row, rows, first_slice, slices;
    const int32_t *row_widths, *slice_widths; /* [rows + 1], [slices + 1] running sums       */
    int64_t band_first, band_slices;          /* within the tile                             */
    ps_device_side row_side, band_side;
    ps_device_pair *pairs; /* [row_side.count * band_side.count], the band's triangles fastest */
    double *terms;         /* of each pair [term_rows][count]                                */
    int64_t term_rows;     /* 9 pairs of corners; combined and linings: of (lower, higher) unknowns,
                              then nine of (higher, lower) ones                              */
    double *sums;          /* [sum_shells][sums of a pair][threads of all blocks]            */
    int64_t sum_shells;
    double *apart;          /* [PS_TRIANGLE_NUMBERS][triangles of the band, or (soft) rows]   */
    int32_t *first, *count; /* [slices * rows]                                               */
    /* [1]: the mirror's, (s, r) at the place of (r, s), where they differ; else those of [0]. */
    ps_device_entries entries[2];
    int64_t *totals[2]; /* [slices + 1], [rows + 1] values before a slice, and a row         */
    uint16_t *out_starts[2], *out_lengths[2]; /* as stored; [1]: the mirror's                */
    void *out_values[2];
} ps_device_tile;

/* Room beyond the two parts: of an entry's bins (with two lags), of a pair's shells, and of its
 * terms. */
enum { PS_BIN_EXTRA = 5, PS_SHELL_EXTRA = 3, PS_TERM_EXTRA = 5 };

#ifdef __CUDACC__
#define PS_EITHER_INLINE static inline __host__ __device__
#else
#define PS_EITHER_INLINE static inline
#endif

/* Where the bins of entry (slice s, row r) begin, and their number. */
PS_EITHER_INLINE int64_t ps_device_bins(const ps_device_tile *tile, int64_t s, int64_t r,
                                        int64_t *room)
{
    const int32_t *w = tile->row_widths, *x = tile->slice_widths;
    int64_t own = x[s + 1] - x[s] + PS_BIN_EXTRA;
    *room = own + w[r + 1] - w[r];
    return s * (w[tile->rows] + PS_BIN_EXTRA * tile->rows) + tile->rows * x[s] + r * own + w[r];
}

/* Where the terms of pair (a, b) of the lists begin, and the number of their k. */
PS_EITHER_INLINE int64_t ps_device_terms(const ps_device_tile *tile, int64_t a, int64_t b,
                                         int64_t *room)
{
    const int32_t *u = tile->row_side.shells, *v = tile->band_side.shells;
    int64_t n = tile->band_side.count, own = u[a + 1] - u[a] + PS_TERM_EXTRA;
    *room = own + v[b + 1] - v[b];
    return tile->term_rows * (n * u[a] + a * (v[n] + PS_TERM_EXTRA * n) + b * own + v[b]);
}

/* Threads of a block of pairs, the largest number of blocks that share a device's pairs, and the
 * numbers of a triangle that they read. */
enum { PS_PAIR_THREADS = 32, PS_PAIR_BLOCKS = 2112, PS_TRIANGLE_NUMBERS = 30 };

#ifdef __cplusplus
extern "C" {
#endif

/* All asynchronous; `stream` is a cudaStream_t of the current device. Without CUDA they fail.
 * `both`: the mirror's entries are others. */
ps_status ps_device_soft_entries(const ps_device_tile *tile, void *stream);
ps_status ps_device_hard_pairs(const ps_device_tile *tile, void *stream); /* of the band */
ps_status ps_device_hard_entries(const ps_device_tile *tile, bool both, void *stream); /* of it */
/* Trims the row-vectors of entries[order], and puts them close together: order 0 slice by slice, 1
 * row by row. */
ps_status ps_device_trim(const ps_device_tile *tile, int order, void *stream);
ps_status ps_device_compact(const ps_device_tile *tile, int order, void *stream);

#ifdef __cplusplus
}
#endif

#endif
