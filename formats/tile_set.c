#include "formats/tile_set.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "runtime/sizes.h"

static void add(ps_tile_set *set, int id, const char *name, int64_t capacity, int64_t chunk_bytes)
{
    set->ids[set->count] = id;
    set->capacity[set->count] = capacity;
    set->chunk_bytes[set->count] = chunk_bytes;
    snprintf(set->names[set->count], sizeof set->names[0], "%s", name);
    ++set->count;
}

ps_status ps_tile_set_define(ps_tile_set *set, const ps_dataset_spec *spec, int64_t capacity)
{
    ps_dataset_spec own = *spec;
    own.rank = 2;
    own.dims[0] = set->tiles;
    own.dims[1] = capacity > 0 ? capacity : 1;
    own.chunk_rows = 1;
    int id;
    PS_TRY(ps_store_define(set->store, &own, &id));
    add(set, id, spec->name, own.dims[1], own.dims[1] * (int64_t)ps_type_size(own.type));
    return PS_OK;
}

ps_status ps_tile_set_find(ps_tile_set *set, const char *name, ps_type type)
{
    int id;
    ps_dataset_info info;
    const char *path = ps_store_path(set->store);
    PS_TRY(ps_store_find(set->store, name, &id));
    PS_TRY(ps_store_dataset(set->store, id, &info));
    if (info.type != type)
        return ps_fail(PS_INVALID, "%s: %s has another type of number than its kind of file has",
                       path, name);
    if (info.rank != 2 || info.chunk_rows != 1 || info.dims[0] < 1 || info.dims[1] < 1)
        return ps_fail(PS_INVALID, "%s: %s is not cut into tiles, a chunk each", path, name);
    if (set->count > 0 && info.dims[0] != set->tiles)
        return ps_fail(PS_INVALID, "%s: %s has %lld tiles, but %s has %lld", path, name,
                       (long long)info.dims[0], set->names[0], (long long)set->tiles);
    set->tiles = info.dims[0];
    add(set, id, name, info.dims[1], info.chunk_bytes);
    return PS_OK;
}

static ps_chunk_info chunk_of(const ps_tile_set *set, int dataset, int64_t tile)
{
    ps_chunk_info info = {0};
    return ps_store_chunk(set->store, set->ids[dataset], tile, &info) == PS_OK ? info
                                                                               : (ps_chunk_info){0};
}

int64_t ps_tile_set_items(const ps_tile_set *set, int dataset, int64_t tile)
{
    return chunk_of(set, dataset, tile).count;
}

/* Bytes of the valid items. */
static int64_t item_bytes(const ps_tile_set *set, int dataset, int64_t tile)
{
    return ps_tile_set_items(set, dataset, tile) *
           (set->chunk_bytes[dataset] / set->capacity[dataset]);
}

static int64_t offset_of(const ps_tile_set *set, int64_t tile, int dataset)
{
    int64_t offset = 0;
    for (int d = 0; d < dataset; ++d) offset += ps_padded(item_bytes(set, d, tile) + PS_TILE_SLACK);
    return offset;
}

void *ps_tile_set_data(const ps_tile_set *set, int64_t tile, int dataset, const void *unpacked)
{
    return (char *)unpacked + offset_of(set, tile, dataset);
}

void ps_tile_set_bytes(const ps_tile_set *set, int64_t tile, int64_t *raw, int64_t *unpacked)
{
    *raw = 0;
    for (int d = 0; d < set->count; ++d) *raw += ps_padded(chunk_of(set, d, tile).stored_bytes);
    *unpacked = offset_of(set, tile, set->count);
}

ps_status ps_tile_set_read(const ps_tile_set *set, int64_t tile, void *raw)
{
    char *place = raw;
    for (int d = 0; d < set->count; ++d) {
        int64_t bytes = ps_padded(chunk_of(set, d, tile).stored_bytes);
        PS_TRY(ps_store_read_stored(set->store, set->ids[d], tile, bytes, place));
        place += bytes;
    }
    return PS_OK;
}

ps_status ps_tile_set_decode(const ps_tile_set *set, int64_t tile, const void *raw, void *unpacked)
{
    const char *place = raw;
    for (int d = 0; d < set->count; ++d) {
        char *data = ps_tile_set_data(set, tile, d, unpacked);
        PS_TRY(ps_store_decode_values(set->store, set->ids[d], tile, place,
                                      item_bytes(set, d, tile), data));
        memset(data + item_bytes(set, d, tile), 0, PS_TILE_SLACK);
        place += ps_padded(chunk_of(set, d, tile).stored_bytes);
    }
    return PS_OK;
}

ps_status ps_tile_set_fault(const ps_tile_set *set, int64_t tile, ps_status status)
{
    if (status == PS_OK) return PS_OK;
    return ps_context(status, "%s: tile %lld", ps_store_path(set->store), (long long)tile);
}

ps_status ps_tile_set_check_extras(const ps_tile_set *set, int dataset, const char *const *names,
                                   int count)
{
    ps_dataset_info info;
    PS_TRY(ps_store_dataset(set->store, set->ids[dataset], &info));
    bool good = info.extra_count == count;
    for (int i = 0; good && i < count; ++i) good = strcmp(info.extras[i], names[i]) == 0;
    if (good) return PS_OK;
    return ps_fail(PS_INVALID, "%s: the chunk table of %s lacks the columns of its kind",
                   ps_store_path(set->store), info.name);
}

ps_status ps_tile_set_check_index(const ps_tile_set *set, int64_t tile)
{
    if (tile >= 0 && tile < set->tiles) return PS_OK;
    return ps_fail(PS_USAGE, "%s: there is no tile %lld, but %lld tiles", ps_store_path(set->store),
                   (long long)tile, (long long)set->tiles);
}

bool ps_whole_number(double value, double low, double high)
{
    return value >= low && value <= high && value == floor(value);
}
