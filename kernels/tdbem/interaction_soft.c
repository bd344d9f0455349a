/* Sound-soft tiles: an entry is a pair of triangles, and its images. */
#include <string.h>

#include "runtime/sizes.h"
#include "kernels/tdbem/interaction_internal.h"

typedef struct soft_tile {
    const ps_interaction *interaction;
    ps_interaction_tile *tile;
    ps_outer outer; /* the rows' triangles, then the slices' */
    ps_pair_batch batch;
    double *row_vector;
} soft_tile;

static int64_t points_of(const ps_interaction *interaction, int64_t first, int64_t count)
{
    int64_t points = 0;
    for (int64_t t = first; t < first + count; ++t) {
        int64_t parts = ps_interaction_parts(interaction, t);
        points += parts * parts * interaction->rule.count;
    }
    return points;
}

static void lay_out(soft_tile *soft, ps_carver *carver)
{
    const ps_interaction *interaction = soft->interaction;
    const ps_interaction_tile *tile = soft->tile;
    int64_t points = points_of(interaction, tile->first_row, tile->rows) +
                     points_of(interaction, tile->first_slice, tile->slices);
    ps_outer_carve(interaction, tile->rows + tile->slices, points, carver, &soft->outer);
    ps_pair_batch_carve(interaction, carver, &soft->batch);
    int64_t images = ps_reflectors_images(&interaction->mirrors);
    int64_t longest = images > 1 ? ps_interaction_k_bound(interaction) : 0;
    soft->row_vector = ps_carve(carver, soft->batch.capacity + longest + 2, sizeof(double));
    soft->batch.outer = &soft->outer;
}

/* Adds the pair's values to the row-vector that begins at k = first. */
static void add_pair(const soft_tile *soft, const ps_pair *pair, int64_t first)
{
    double *m = soft->row_vector + pair->base - first;
    double sign = ps_reflectors_sign(&soft->interaction->mirrors, pair->image);
    bool difference = soft->interaction->formulation == PS_SOUND_SOFT_M;
    for (int64_t i = 0; i < pair->shells; ++i) m[i] += sign * pair->sums[i];
    for (int64_t i = 0; difference && i < pair->shells; ++i) m[i + 1] -= sign * pair->sums[i];
}

/* The row-vector of an entry from its pairs: that of the triangles and those of the images. */
static ps_status append_entry(const soft_tile *soft, const ps_pair *pairs, int images)
{
    int lags = ps_lags(soft->interaction->formulation);
    int64_t first = pairs->base, end = pairs->base;
    for (int m = 0; m < images; ++m) {
        first = ps_smaller(first, pairs[m].base);
        end = ps_larger(end, pairs[m].base + pairs[m].shells + lags);
    }
    memset(soft->row_vector, 0, (size_t)(end - first) * sizeof *soft->row_vector);
    for (int m = 0; m < images; ++m) add_pair(soft, &pairs[m], first);
    return ps_tile_append(soft->tile, pairs->row, pairs->slice, first, end - first,
                          soft->row_vector);
}

/* Row-vectors from the shells of all pairs of the batch. */
static ps_status append_batch(soft_tile *soft)
{
    ps_pair_batch *batch = &soft->batch;
    int images = ps_reflectors_images(&soft->interaction->mirrors);
    PS_TRY(ps_pair_batch_finish(batch));
    for (int p = 0; p < batch->count; p += images)
        PS_TRY(append_entry(soft, &batch->pairs[p], images));
    soft->tile->pairs += batch->count;
    batch->count = 0;
    return PS_OK;
}

ps_status ps_soft_compute(const ps_interaction *interaction, ps_interaction_tile *tile,
                          ps_carver *carver)
{
    soft_tile soft = {.interaction = interaction, .tile = tile};
    lay_out(&soft, carver);
    if (!carver->base) return PS_OK;
    for (int64_t r = 0; r < tile->rows; ++r)
        soft.outer.triangle[r] = (int32_t)(tile->first_row + r);
    for (int64_t s = 0; s < tile->slices; ++s)
        soft.outer.triangle[tile->rows + s] = (int32_t)(tile->first_slice + s);
    ps_outer_fill(interaction, &soft.outer);
    int images =
        ps_reflectors_images(&interaction->mirrors); /* 1, 2, 4: of which a batch is whole */
    for (int64_t s = 0; s < tile->slices; ++s)
        for (int64_t r = 0; r < tile->rows; ++r) {
            for (int m = 0; m < images; ++m)
                PS_TRY(ps_pair_batch_add(&soft.batch, r, tile->rows + s,
                                         &(ps_pair){.row = tile->first_row + r,
                                                    .slice = tile->first_slice + s,
                                                    .image = m}));
            if (soft.batch.count == PS_PAIR_BATCH) PS_TRY(append_batch(&soft));
        }
    return append_batch(&soft);
}
