#include "kernels/tdbem/interaction.h"

#include "kernels/tdbem/interaction_internal.h"
#include "runtime/sizes.h"

int64_t ps_interaction_workspace(const ps_interaction *interaction, int64_t first_row, int64_t rows,
                                 int64_t first_slice, int64_t slices)
{
    ps_interaction_tile tile = {
        .first_row = first_row, .rows = rows, .first_slice = first_slice, .slices = slices};
    ps_carver carver = {NULL, 0};
    if (interaction->formulation == PS_SOUND_HARD)
        ps_hard_compute(interaction, &tile, NULL, &carver);
    else
        ps_soft_compute(interaction, &tile, &carver);
    return carver.used + 64;
}

/* Raises the bounds to what the square of these rows and slices needs. */
static void widen(const ps_interaction *interaction, int64_t side, int64_t row, int64_t slice,
                  int64_t bounds[2])
{
    int64_t n = interaction->unknowns;
    int64_t rows = ps_smaller(side, n - row), slices = ps_smaller(side, n - slice);
    int64_t values = ps_interaction_value_bound(interaction, row, rows, slice, slices);
    int64_t workspace = ps_interaction_workspace(interaction, row, rows, slice, slices);
    bounds[0] = values > bounds[0] ? values : bounds[0];
    bounds[1] = workspace > bounds[1] ? workspace : bounds[1];
}

void ps_interaction_square_bounds(const ps_interaction *interaction, int64_t side, int64_t *values,
                                  int64_t *workspace)
{
    enum { ROUNDING = 65536 }; /* of the pieces of the workspace */
    int64_t n = interaction->unknowns, last = (n - 1) / side * side, bounds[2] = {0, 0};
    for (int64_t first = 0; first < n; first += side) {
        widen(interaction, side, first, first, bounds);
        widen(interaction, side, first, last, bounds);
        widen(interaction, side, last, first, bounds);
    }
    *values = bounds[0];
    *workspace = bounds[1] + ROUNDING;
}

ps_status ps_interaction_compute(const ps_interaction *interaction, ps_interaction_tile *tile,
                                 void *workspace, int64_t workspace_bytes)
{
    return ps_interaction_compute_both(interaction, tile, NULL, workspace, workspace_bytes);
}

ps_status ps_interaction_compute_both(const ps_interaction *interaction, ps_interaction_tile *tile,
                                      ps_interaction_tile *mirror, void *workspace,
                                      int64_t workspace_bytes)
{
    int64_t needed = ps_interaction_workspace(interaction, tile->first_row, tile->rows,
                                              tile->first_slice, tile->slices);
    if (needed > workspace_bytes)
        return ps_fail(PS_EXHAUSTED,
                       "the workspace of an interaction tile needs %lld bytes, not %lld",
                       (long long)needed, (long long)workspace_bytes);
    uintptr_t address = (uintptr_t)workspace;
    ps_carver carver = {(char *)workspace + (64 - address % 64) % 64, 0};
    tile->value_count = tile->near_count = tile->k_max = tile->pairs = 0;
    if (mirror) mirror->value_count = mirror->near_count = mirror->k_max = mirror->pairs = 0;
    return interaction->formulation == PS_SOUND_HARD
               ? ps_hard_compute(interaction, tile, mirror, &carver)
               : ps_soft_compute(interaction, tile, &carver);
}
