/* Sound-soft tiles: an entry is a pair of triangles. */
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
    soft->row_vector = ps_carve(carver, soft->batch.capacity + 2, sizeof(double));
    soft->batch.outer = &soft->outer;
}

/* Row-vectors from the shells of all pairs of the batch. */
static ps_status append_batch(soft_tile *soft)
{
    ps_pair_batch *batch = &soft->batch;
    PS_TRY(ps_pair_batch_finish(batch));
    bool difference = soft->interaction->formulation == PS_SOUND_SOFT_M;
    for (int p = 0; p < batch->count; ++p) {
        const ps_pair *pair = &batch->pairs[p];
        const double *m = pair->sums;
        if (difference) {
            for (int64_t i = 0; i <= pair->shells; ++i)
                soft->row_vector[i] =
                    (i < pair->shells ? pair->sums[i] : 0) - (i > 0 ? pair->sums[i - 1] : 0);
            m = soft->row_vector;
        }
        PS_TRY(ps_tile_append(soft->tile, pair->row, pair->slice, pair->base,
                              pair->shells + difference, m));
    }
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
    for (int64_t s = 0; s < tile->slices; ++s)
        for (int64_t r = 0; r < tile->rows; ++r) {
            PS_TRY(ps_pair_batch_add(&soft.batch, r, tile->rows + s, tile->first_row + r,
                                     tile->first_slice + s));
            if (soft.batch.count == PS_PAIR_BATCH) PS_TRY(append_batch(&soft));
        }
    return append_batch(&soft);
}
