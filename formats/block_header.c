/* The header of block matrices: root attributes. */
#include <string.h>

#include "formats/block_matrix.h"

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

ps_status ps_block_header_get(const ps_store *store, ps_block_header *header)
{
    *header = (ps_block_header){0};
    PS_TRY(ps_slice_header_get(store, &header->slices));
    ps_status status = get_header(store, header);
    return status == PS_OK ? PS_OK : ps_context(status, "%s", ps_store_path(store));
}
