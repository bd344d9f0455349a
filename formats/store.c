/* store: the object itself, and what is asked of it without touching the file. */
#include "formats/store.h"

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/store_private.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

size_t ps_type_size(ps_type type)
{
    static const size_t sizes[] = {[PS_U8] = 1,  [PS_U16] = 2, [PS_U32] = 4, [PS_I32] = 4,
                                   [PS_I64] = 8, [PS_F32] = 4, [PS_F64] = 8};
    return sizes[type];
}

ps_status ps_store_new(const char *path, ps_store **out)
{
    *out = NULL;
    ps_store *store;
    PS_TRY(PS_ALLOC(&store, 1, "a file's tables"));
    store->file = -1;
    ps_scratch_pool_init(&store->pool);
    store->path = strdup(path);
    if (!store->path) {
        ps_store_free(store);
        return ps_fail(PS_EXHAUSTED, "no memory for a file's name");
    }
    *out = store;
    return PS_OK;
}

ps_status ps_store_append(ps_store *store, ps_store_dataset_state **out)
{
    int64_t capacity = store->capacity;
    PS_TRY(ps_grow((void **)&store->datasets, &capacity, store->count + 1, sizeof *store->datasets,
                   "datasets"));
    store->capacity = (int)capacity;
    *out = &store->datasets[store->count++];
    memset(*out, 0, sizeof **out);
    (*out)->handle = -1;
    return PS_OK;
}

static void free_dataset(ps_store_dataset_state *dataset)
{
    if (dataset->handle >= 0) H5Dclose(dataset->handle);
    PS_FREE(dataset->chunks, dataset->part_rows, dataset->part_chunks, dataset->part_ids);
}

void ps_store_free(ps_store *store)
{
    if (!store) return;
    for (int p = 0; p < store->parts; ++p) ps_store_free(store->part[p]);
    ps_hdf5_lock();
    for (int d = 0; d < store->count; ++d) free_dataset(&store->datasets[d]);
    if (store->file >= 0) H5Fclose(store->file);
    ps_hdf5_unlock();
    ps_scratch_pool_release(&store->pool);
    PS_FREE(store->part, store->datasets, store->path, store);
}

bool ps_store_shape(ps_store_dataset_state *dataset)
{
    ps_dataset_info *info = &dataset->info;
    int64_t row = 1, size = (int64_t)ps_type_size(info->type);
    for (int r = 1; r < info->rank; ++r)
        if (__builtin_mul_overflow(row, info->dims[r], &row)) return false;
    int64_t elements, total;
    if (__builtin_mul_overflow(row, info->chunk_rows, &elements) ||
        __builtin_mul_overflow(elements, size, &info->chunk_bytes) ||
        __builtin_mul_overflow(row, info->dims[0], &total) ||
        __builtin_mul_overflow(total, size, &total) || info->chunk_bytes >= INT64_C(1) << 32)
        return false;
    dataset->row_elements = row;
    dataset->codec =
        (ps_codec){.type = info->type, .keep_bits = info->keep_bits, .elements = elements};
    info->chunk_count = total == 0 ? 0 : (info->dims[0] - 1) / info->chunk_rows + 1;
    return true;
}

int64_t ps_store_rows_of(const ps_store_dataset_state *dataset, int64_t chunk)
{
    int64_t left = dataset->info.dims[0] - chunk * dataset->info.chunk_rows;
    return left < dataset->info.chunk_rows ? left : dataset->info.chunk_rows;
}

ps_status ps_store_pick(const ps_store *store, int id, int64_t chunk, ps_store_dataset_state **out)
{
    if (id < 0 || id >= store->count)
        return ps_fail(PS_FAILED, "%s: asked for dataset %d of %d", store->path, id, store->count);
    *out = &store->datasets[id];
    if (chunk < 0 || chunk >= (*out)->info.chunk_count)
        return ps_fail(PS_FAILED, "%s: asked for chunk %lld of the %lld of %s", store->path,
                       (long long)chunk, (long long)(*out)->info.chunk_count, (*out)->info.name);
    return PS_OK;
}

const char *ps_store_path(const ps_store *store) { return store->path; }
const char *ps_store_format(const ps_store *store) { return store->format; }
int ps_store_version(const ps_store *store) { return store->version; }
const char *ps_store_uuid(const ps_store *store) { return store->uuid; }
int ps_store_dataset_count(const ps_store *store) { return store->count; }

ps_status ps_store_find(const ps_store *store, const char *name, int *id)
{
    for (int d = 0; d < store->count; ++d) {
        if (strcmp(store->datasets[d].info.name, name) != 0) continue;
        *id = d;
        return PS_OK;
    }
    return ps_fail(PS_INVALID, "%s: has no dataset %s", store->path, name);
}

ps_status ps_store_expect(const ps_store *store, const char *name, ps_type type, int64_t rows,
                          int64_t width)
{
    int id = 0;
    PS_TRY(ps_store_find(store, name, &id));
    const ps_store_dataset_state *dataset = &store->datasets[id];
    if (dataset->info.type == type && dataset->info.dims[0] == rows &&
        dataset->row_elements == width)
        return PS_OK;
    return ps_fail(PS_INVALID,
                   "%s: %s has %lld rows of %lld values, or another type, where the file's sizes "
                   "ask for %lld of %lld; the file is damaged or not of this program",
                   store->path, name, (long long)dataset->info.dims[0],
                   (long long)dataset->row_elements, (long long)rows, (long long)width);
}

ps_status ps_store_dataset(const ps_store *store, int id, ps_dataset_info *out)
{
    if (id < 0 || id >= store->count)
        return ps_fail(PS_FAILED, "%s: asked for dataset %d of %d", store->path, id, store->count);
    *out = store->datasets[id].info;
    return PS_OK;
}

ps_status ps_store_describe(const ps_store *store, const char *name, ps_dataset_info *out)
{
    int id = 0;
    PS_TRY(ps_store_find(store, name, &id));
    return ps_store_dataset(store, id, out);
}

ps_status ps_store_chunk(const ps_store *store, int id, int64_t chunk, ps_chunk_info *out)
{
    ps_store_dataset_state *dataset = NULL;
    PS_TRY(ps_store_pick(store, id, chunk, &dataset));
    *out = dataset->chunks[chunk];
    return PS_OK;
}

bool ps_store_matches(const char *path, const ps_store_identity *identity, int input_count,
                      const char *const *roles, ps_store *const *inputs)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    if (ps_store_open(path, identity->format, identity->format_version, &store) != PS_OK)
        return false;
    PS_SCOPED_MEMORY char *options = malloc(PS_OPTIONS_MAX);
    char object[PS_NAME_MAX], recorded[17], now[17];
    int64_t count = -1;
    bool same = options && store->version == identity->format_version &&
                ps_store_get_text(store, "/", "options", options, PS_OPTIONS_MAX) == PS_OK &&
                strcmp(options, identity->options ? identity->options : "") == 0 &&
                ps_store_get_int(store, "/inputs", "count", &count) == PS_OK &&
                count == input_count;
    for (int i = 0; same && i < input_count; ++i) {
        snprintf(object, sizeof object, "/inputs/%s", roles[i]);
        same = ps_store_get_text(store, object, "content_hash", recorded, 17) == PS_OK &&
               ps_store_content_hash(inputs[i], now) == PS_OK && strcmp(recorded, now) == 0;
    }
    return same;
}
