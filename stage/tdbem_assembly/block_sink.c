#include "stage/tdbem_assembly/block_sink.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/tdbem/blocking.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "runtime/sizes.h"

ps_status ps_block_sink_header(const ps_slice_header *slices, ps_block_layout layout, int64_t rows,
                               int64_t columns, ps_block_header *out)
{
    *out = (ps_block_header){
        .slices = *slices, .layout = layout, .block_rows = rows, .block_columns = columns};
    if (layout != PS_BLOCK_WARP && columns == 0)
        return ps_fail(PS_USAGE,
                       "--layout %s: give --block-columns, as the longest row-vector is not known "
                       "before the last is there; or assemble slices, and cut them with "
                       "penstock-slice-block",
                       ps_block_layout_name(layout));
    out->slices.d_max = 0;
    return ps_blocking_check(out);
}

/* Values of a tile of warps: each is as wide as the widest of its 32 rows. */
static double warp_values(const ps_interaction *interaction, int64_t first_row, int64_t rows,
                          double slices, double slice_sum)
{
    double values = 0;
    for (int64_t begin = first_row; begin < first_row + rows; begin += PS_WARP_ROWS) {
        double widest = 0;
        for (int64_t i = begin; i < begin + PS_WARP_ROWS && i < first_row + rows; ++i)
            widest = fmax(widest, interaction->spread[i]);
        values += 2 * (widest * slices + slice_sum) / interaction->shell + 5 * slices;
    }
    return values * PS_WARP_ROWS * (1 + 1e-9);
}

double ps_block_sink_warp_bound(const ps_interaction *interaction, int64_t first_row, int64_t rows,
                                int64_t first_slice, int64_t slices)
{
    double slice_sum = 0;
    for (int64_t j = first_slice; j < first_slice + slices; ++j)
        slice_sum += interaction->spread[j];
    return warp_values(interaction, first_row, rows, (double)slices, slice_sum);
}

/* The most of any tile: the sums over rows and over slices are bounded apart. */
static int64_t warp_capacity(const ps_interaction *interaction, const ps_slice_tiling *tiling)
{
    double slice_sum = 0, most = 0;
    for (int64_t first = 0; first < tiling->unknowns; first += tiling->tile_slices) {
        double sum = 0;
        for (int64_t j = first; j < first + tiling->tile_slices && j < tiling->unknowns; ++j)
            sum += interaction->spread[j];
        slice_sum = fmax(slice_sum, sum);
    }
    for (int64_t first = 0; first < tiling->unknowns; first += tiling->tile_rows)
        most = fmax(most, warp_values(interaction, first,
                                      ps_smaller(tiling->tile_rows, tiling->unknowns - first),
                                      (double)tiling->tile_slices, slice_sum));
    return (int64_t)most + 1;
}

void ps_block_sink_tiling(const ps_interaction *interaction, const ps_slice_tiling *t,
                          const ps_block_header *header, ps_block_tiling *out)
{
    enum { PADDING_MOST = 48 }; /* full blocks: values for a value of the slices, at most */
    int64_t vectors = t->tile_rows * t->tile_slices, rows = header->block_rows;
    *out = (ps_block_tiling){.unknowns = t->unknowns,
                             .tile_count = ps_slice_tiling_count(t),
                             .tile_rows = t->tile_rows,
                             .tile_slices = t->tile_slices};
    switch (header->layout) {
    case PS_BLOCK_FULL:
        out->block_capacity = vectors;
        out->value_capacity =
            ps_smaller(vectors * rows * header->block_columns, PADDING_MOST * t->value_capacity);
        break;
    case PS_BLOCK_CONTIGUOUS:
        out->block_capacity = t->tile_slices * ((t->tile_rows + rows - 1) / rows);
        out->value_capacity = out->block_capacity * rows * header->block_columns;
        break;
    case PS_BLOCK_WARP:
        out->block_capacity = t->tile_slices * ((t->tile_rows + rows - 1) / rows);
        out->value_capacity = warp_capacity(interaction, t);
        break;
    }
}

ps_status ps_block_sink_open(const char *path, const ps_store_identity *identity,
                             const ps_block_tiling *tiling, const ps_block_header *header,
                             ps_block_sink *out)
{
    *out = (ps_block_sink){.header = *header};
    return path ? ps_block_matrix_create(path, identity, tiling, header, &out->matrix)
                : ps_block_matrix_create_in_memory(tiling, header, &out->matrix);
}

/* Measures the tile, as writing it would, and finds its rows. */
static ps_status index_tile(ps_slice_tile *tile, uint32_t *offsets)
{
    int64_t histogram[PS_LENGTH_BINS] = {0};
    ps_slice_tile_fill_starts(tile);
    PS_TRY(ps_slice_tile_measure(tile, PS_K_LIMIT, histogram));
    tile->offsets = offsets;
    return ps_slice_tile_index(tile, PS_K_LIMIT, PS_K_LIMIT, offsets);
}

static ps_status check_width(const ps_block_header *header, const ps_slice_tile *tile)
{
    if (header->layout == PS_BLOCK_WARP || tile->d_max <= (double)header->block_columns)
        return PS_OK;
    return ps_fail(PS_USAGE,
                   "--block-columns %lld: there is a row-vector of %.0f values in the tile of row "
                   "%lld and slice %lld, and %s blocks never split one; give more",
                   (long long)header->block_columns, tile->d_max, (long long)tile->first_row,
                   (long long)tile->first_slice, ps_block_layout_name(header->layout));
}

/* Memory for the blocks, with nothing but zeros between the arrays. */
static ps_status provide_image(const ps_block_sink *sink, int64_t bytes, void **image)
{
    if (!sink->keeper || !sink->keeper->provide)
        return ps_alloc(image, bytes, 1, "blocks of a tile");
    PS_TRY(sink->keeper->provide(sink->keeper->context, bytes, image));
    memset(*image, 0, (size_t)bytes);
    return PS_OK;
}

static ps_status hand_on(const ps_block_sink *sink, int64_t index, const ps_block_tile *blocks,
                         void *image, int64_t bytes)
{
    if (sink->keeper)
        return sink->keeper->keep(sink->keeper->context, sink->matrix, index, blocks, image, bytes);
    if (ps_block_matrix_keeps(sink->matrix))
        return ps_block_matrix_keep_tile(sink->matrix, index, blocks, image);
    ps_status status = ps_block_matrix_write_tile(sink->matrix, index, blocks);
    free(image);
    return status;
}

ps_status ps_block_sink_take(void *context, int64_t index, ps_slice_tile *tile)
{
    const ps_block_sink *sink = context;
    PS_SCOPED_MEMORY uint32_t *offsets = NULL;
    ps_block_tile blocks;
    void *image;
    PS_TRY(PS_ALLOC(&offsets, tile->slices * ps_slice_tile_row_blocks(tile), "offsets of a tile"));
    PS_TRY(index_tile(tile, offsets));
    PS_TRY(check_width(&sink->header, tile));
    ps_blocking_count(&sink->header, tile, &blocks);
    if (sink->keeper && sink->keeper->wants && !sink->keeper->wants(sink->keeper->context, tile)) {
        tile->offsets = NULL;
        return ps_block_matrix_keep_tile(sink->matrix, index, &blocks, NULL);
    }
    int64_t bytes = ps_block_tile_place(&sink->header, &blocks, NULL);
    PS_TRY(provide_image(sink, bytes, &image));
    ps_block_tile_place(&sink->header, &blocks, image);
    ps_blocking_fill(&sink->header, tile, &blocks);
    tile->offsets = NULL;
    return hand_on(sink, index, &blocks, image, bytes);
}
