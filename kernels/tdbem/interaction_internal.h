/*
 * Shared by the files of interaction: batches of triangle pairs, and how row-vectors are kept.
 */
#ifndef PS_KERNELS_TDBEM_INTERACTION_INTERNAL_H
#define PS_KERNELS_TDBEM_INTERACTION_INTERNAL_H

#include <stdbool.h>

#include "kernels/tdbem/interaction.h"

/* Memory handed out piece by piece from a caller's block, 64-byte aligned. With base NULL only
 * the sizes are counted. */
typedef struct ps_carver {
    char *base;
    int64_t used;
} ps_carver;
void *ps_carve(ps_carver *carver, int64_t count, int64_t size);

/* The triangles of a tile with their outer points. */
typedef struct ps_outer {
    int64_t count;
    int32_t *triangle;    /* [count] global numbers                */
    int64_t *point_start; /* [count + 1]                           */
    ps_point *points;     /* [point_start[count]]                  */
} ps_outer;
void ps_outer_carve(const ps_interaction *interaction, int64_t count, int64_t point_count,
                    ps_carver *carver, ps_outer *out);
/* Fills the points; `triangle` is set. */
void ps_outer_fill(const ps_interaction *interaction, ps_outer *outer);

/* Sums of a pair of triangles: value i belongs to shell base + i. Soft: the integral of
 * 1/(4 pi r). Hard: moments of (r - base D) of order 0, 1, 2 over 4 pi r (C), and the nine
 * int int phi_a phi_b / (4 pi r) (W); a: corner of the lower triangle, b: of the higher.
 * Combined and linings: besides, the nine int int phi_a phi_b (x-y).n_y / (4 pi r^3) with x on the
 * lower triangle, and the nine with x on the higher one.
 */
enum { PS_PAIR_BATCH = 32, PS_HARD_SUMS = 12, PS_COMBINED_SUMS = PS_HARD_SUMS + 18 };
typedef struct ps_pair {
    int64_t row, slice;   /* soft: the entry; hard: the two triangles, lower number first     */
    int image;            /* of the second; 0: itself                                         */
    int64_t base, shells; /* shells touched: base .. base + shells - 1                        */
    double *sums;         /* [shells][per_shell]                                              */
} ps_pair;

typedef struct ps_pair_batch {
    const ps_interaction *interaction;
    const ps_shell_functions *functions;
    const ps_outer *outer;
    bool hard, combined; /* combined: with the double layer, which linings have, too */
    int per_shell;       /* sums: 1, PS_HARD_SUMS or PS_COMBINED_SUMS */
    int64_t capacity;    /* shells of any pair */
    int count, lane_count;
    ps_pair pairs[PS_PAIR_BATCH];
    int64_t width; /* doubles of a pair's sums */
    double *sums;  /* [PS_PAIR_BATCH][capacity] or [..][2 + capacity + 2][per_shell]: the sums of
                      sound-hard pairs have two rows of zeros before and after              */
    ps_shell_lanes *lanes;
    ps_shell_values values;
    int lane_pair[PS_LANES];
    double lane_weight[PS_LANES];
    const ps_point *lane_point[PS_LANES];
    const ps_triangle *lane_triangle[PS_LANES];
    bool lane_swapped[PS_LANES]; /* outer on the higher triangle */
} ps_pair_batch;

void ps_pair_batch_carve(const ps_interaction *interaction, ps_carver *carver,
                         ps_pair_batch *batch);
/* Adds the pair of the triangles number a and b of the batch's `outer`, with the lower global
 * number first, and with the pair's row, slice and image. There must be room: count <
 * PS_PAIR_BATCH.
 */
ps_status ps_pair_batch_add(ps_pair_batch *batch, int64_t a, int64_t b, const ps_pair *pair);
/* Completes all sums; the pairs are then read, and count set to 0 for the next batch. */
ps_status ps_pair_batch_finish(ps_pair_batch *batch);

/* Trims the row-vector m[count] that starts at k = first, and appends it to the tile as that of
 * (row, slice): its k = 0 entry apart. */
ps_status ps_tile_append(ps_interaction_tile *tile, int64_t row, int64_t slice, int64_t first,
                         int64_t count, const double *m);

/* Lags beyond the last shell: 0 (S-form), 1 (M-form), 2 (sound-hard). */
int ps_lags(ps_formulation formulation);

/* Both lay out their arrays in `carver`; with carver->base NULL they only count the bytes. */
ps_status ps_soft_compute(const ps_interaction *interaction, ps_interaction_tile *tile,
                          ps_carver *carver);
ps_status ps_hard_compute(const ps_interaction *interaction, ps_interaction_tile *tile,
                          ps_interaction_tile *mirror, ps_carver *carver);

#endif
