/* The header of block matrices: root attributes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/block_matrix.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

enum { LAYOUTS = 3, BLOCK_ROWS_MAX = 1024, LAGS_VERSION = 2 };
static const char *const layout_names[LAYOUTS] = {"full", "contiguous", "warp"};

const char *ps_block_layout_name(ps_block_layout layout)
{
    return (unsigned)layout < LAYOUTS ? layout_names[layout] : "unknown";
}

static const char *values_name(const ps_block_header *header)
{
    return header->half ? "f16" : header->slices.precision == PS_SINGLE ? "f32" : "f64";
}

/* ---- checks ---- */

static ps_status check_lags(const ps_block_header *h)
{
    bool whole = h->k_end == 0 && h->k_below == 0 && h->k_from == 0;
    if (whole || (h->k_from >= 0 && h->k_from < h->k_below && h->k_below <= h->k_end &&
                  h->k_end <= PS_K_LIMIT + 1))
        return PS_OK;
    return ps_fail(PS_INVALID,
                   "lags from %lld to below %lld of %lld; an interval of 0..%d expected",
                   (long long)h->k_from, (long long)h->k_below, (long long)h->k_end, PS_K_LIMIT);
}

ps_status ps_block_header_check(const ps_block_header *h)
{
    if ((unsigned)h->layout >= LAYOUTS || h->block_rows < 1 || h->block_rows > BLOCK_ROWS_MAX ||
        h->block_columns < 1 || h->block_columns > PS_K_LIMIT)
        return ps_fail(PS_INVALID, "blocks of %lld rows x %lld columns; 1..%d x 1..%d expected",
                       (long long)h->block_rows, (long long)h->block_columns, BLOCK_ROWS_MAX,
                       PS_K_LIMIT);
    if (h->layout == PS_BLOCK_WARP && h->block_rows != PS_WARP_ROWS)
        return ps_fail(PS_INVALID, "warps of %lld rows; %d expected", (long long)h->block_rows,
                       PS_WARP_ROWS);
    if (h->half && h->layout != PS_BLOCK_WARP)
        return ps_fail(PS_INVALID, "values f16 in %s blocks; only warps can have them",
                       ps_block_layout_name(h->layout));
    return check_lags(h);
}

/* ---- to and from attributes ---- */

ps_status ps_block_header_put(ps_store *store, const ps_block_header *h)
{
    const struct {
        const char *name;
        int64_t value;
    } ints[] = {{"block_rows", h->block_rows},   {"block_columns", h->block_columns},
                {"block_count", h->block_count}, {"k_from", h->k_from},
                {"k_below", h->k_below},         {"k_end", h->k_end}};
    PS_TRY(ps_slice_header_put(store, &h->slices));
    PS_TRY(ps_store_put_text(store, "/", "layout", ps_block_layout_name(h->layout)));
    PS_TRY(ps_store_put_text(store, "/", "values", values_name(h)));
    for (int i = 0; i < 6; ++i) PS_TRY(ps_store_put_int(store, "/", ints[i].name, ints[i].value));
    PS_TRY(ps_store_put_real(store, "/", "fill", h->fill));
    if (!h->half) return PS_OK;
    PS_TRY(ps_store_put_real(store, "/", "rounding_max", h->rounding_max));
    return ps_store_put_real(store, "/", "rounding_rms", h->rounding_rms);
}

static ps_status get_layout(const ps_store *store, ps_block_header *h)
{
    char layout[32];
    int found = 0;
    PS_TRY(ps_store_get_text(store, "/", "layout", layout, sizeof layout));
    while (found < LAYOUTS && strcmp(layout, layout_names[found]) != 0) ++found;
    if (found == LAYOUTS)
        return ps_fail(PS_INVALID, "layout \"%s\" is none of full, contiguous, warp", layout);
    h->layout = (ps_block_layout)found;
    return PS_OK;
}

/* What version 1 does not have. */
static ps_status get_lags_and_values(const ps_store *store, ps_block_header *h)
{
    char values[32];
    PS_TRY(ps_store_get_int(store, "/", "k_from", &h->k_from));
    PS_TRY(ps_store_get_int(store, "/", "k_below", &h->k_below));
    PS_TRY(ps_store_get_int(store, "/", "k_end", &h->k_end));
    PS_TRY(ps_store_get_text(store, "/", "values", values, sizeof values));
    h->half = strcmp(values, "f16") == 0;
    if (strcmp(values, values_name(h)) == 0 && h->k_end > 0) return PS_OK;
    return ps_fail(PS_INVALID, "values \"%s\" of lags below %lld do not go with precision %s",
                   values, (long long)h->k_end, h->slices.precision == PS_SINGLE ? "f32" : "f64");
}

static ps_status get_header(const ps_store *store, ps_block_header *h)
{
    PS_TRY(get_layout(store, h));
    PS_TRY(ps_store_get_int(store, "/", "block_rows", &h->block_rows));
    PS_TRY(ps_store_get_int(store, "/", "block_columns", &h->block_columns));
    if (ps_store_version(store) >= LAGS_VERSION) PS_TRY(get_lags_and_values(store, h));
    return ps_block_header_check(h);
}

ps_status ps_block_header_get(ps_store *store, ps_block_header *header)
{
    *header = (ps_block_header){0};
    PS_TRY(ps_slice_header_get(store, &header->slices));
    PS_TRY_IN(get_header(store, header), "%s", ps_store_path(store));
    return PS_OK;
}

/* ---- from the tiles ---- */

double ps_block_fill(double nnz, double stored) { return stored > 0 ? 100 * nnz / stored : 100; }

/* The tiles as slice tiles: ranges and statistics. */
static ps_status as_slice_tiles(const ps_block_tile *tiles, int64_t count, ps_slice_tile **out)
{
    PS_TRY(PS_ALLOC(out, count, "table of tiles"));
    for (int64_t t = 0; t < count; ++t) {
        const ps_block_tile *b = &tiles[t];
        (*out)[t] = (ps_slice_tile){.first_row = b->first_row,
                                    .rows = b->rows,
                                    .first_slice = b->first_slice,
                                    .slices = b->slices,
                                    .value_count = b->nnz,
                                    .d_max = b->d_max,
                                    .k_min = b->k_min,
                                    .k_max = b->k_max,
                                    .score = b->score,
                                    .filled = b->filled};
    }
    return PS_OK;
}

/* The lags of the file hold those of its tiles. */
static ps_status check_tile_lags(const ps_block_tile *tiles, int64_t count,
                                 const ps_block_header *h)
{
    for (int64_t t = 0; t < count; ++t)
        if (tiles[t].nnz > 0 &&
            (tiles[t].k_min < (double)h->k_from || tiles[t].k_max >= (double)h->k_below))
            return ps_fail(PS_INVALID, "tile %lld holds lags %g..%g, where the file has %lld..%lld",
                           (long long)t, tiles[t].k_min, tiles[t].k_max, (long long)h->k_from,
                           (long long)h->k_below - 1);
    return PS_OK;
}

/* Blocks, fill and rounding errors from the tiles. */
static void derive_counts(const ps_block_tile *tiles, int64_t count, ps_block_header *h)
{
    double stored = 0, squares = 0, errors = 0;
    h->block_count = 0;
    h->rounding_max = 0;
    for (int64_t t = 0; t < count; ++t) {
        const ps_block_tile *tile = &tiles[t];
        h->block_count += tile->block_count;
        stored += (double)tile->value_count;
        squares += tile->square_sum;
        errors += tile->error_rms * tile->error_rms * tile->square_sum;
        h->rounding_max = fmax(h->rounding_max, tile->error_max);
    }
    h->fill = ps_block_fill((double)h->slices.nnz, stored);
    h->rounding_rms = squares > 0 ? sqrt(errors / squares) : 0;
}

ps_status ps_block_header_derive(const ps_block_tile *tiles, int64_t count, ps_block_header *header)
{
    PS_SCOPED_MEMORY ps_slice_tile *slices = NULL;
    PS_TRY(as_slice_tiles(tiles, count, &slices));
    PS_TRY(ps_slice_tiles_cover(slices, count, header->slices.unknowns));
    ps_slice_header_derive(slices, count, &header->slices);
    if (header->k_end == 0) {
        header->k_below = header->k_end = header->slices.k_max + 1;
        if (header->layout == PS_BLOCK_WARP)
            header->block_columns = header->slices.d_max > 0 ? header->slices.d_max : 1;
    }
    derive_counts(tiles, count, header);
    return check_tile_lags(tiles, count, header);
}
