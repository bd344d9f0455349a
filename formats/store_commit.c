/* store_commit: the tables, then the steps after which a file is there for good. */
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "formats/store_private.h"
#include "runtime/memory.h"
#include "runtime/path.h"
#include "runtime/scope.h"

ps_status ps_store_write_table(ps_store *store, const ps_store_dataset_state *dataset, int id)
{
    const ps_dataset_info *info = &dataset->info;
    size_t row = (size_t)(PS_TABLE_FIELDS + info->extra_count) * PS_TABLE_FIELD_BYTES;
    char name[2 * PS_NAME_MAX];
    PS_SCOPED_MEMORY char *table = NULL;
    snprintf(name, sizeof name, "/chunks%s", info->name);
    PS_TRY(ps_alloc((void **)&table, info->chunk_count, row, "a chunk table"));
    for (int64_t c = 0; c < info->chunk_count; ++c)
        memcpy(table + (size_t)c * row, &dataset->chunks[c], row);
    int64_t hash = (int64_t)XXH3_64bits(table, (size_t)info->chunk_count * row);
    int64_t numbers[2] = {id, info->chunk_rows};

    hsize_t extent = (hsize_t)info->chunk_count;
    hid_t set = -1;
    PS_SCOPED_HID type = ps_hdf5_row_type(info->extra_count, (char(*)[32])info->extras);
    PS_SCOPED_HID space = H5Screate_simple(1, &extent, NULL);
    if (type >= 0 && space >= 0 && ps_hdf5_make_parents(store->file, name))
        set = H5Dcreate2(store->file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (set < 0 || (extent && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, table) < 0) ||
        H5Dclose(set) < 0)
        return ps_hdf5_fail(PS_FAILED, store->path, "write a chunk table");
    PS_TRY(ps_attribute_put_ints(store, name, "number", &numbers[0], -1));
    PS_TRY(ps_attribute_put_ints(store, name, "chunk_rows", &numbers[1], -1));
    return ps_attribute_put_ints(store, name, "xxh3", &hash, -1);
}

static ps_status check_complete(const ps_store *store)
{
    if (store->failed != PS_OK) return ps_fail(store->failed, "%s", store->failure);
    for (int d = 0; d < store->count; ++d) {
        const ps_store_dataset_state *dataset = &store->datasets[d];
        for (int64_t c = 0; c < dataset->info.chunk_count; ++c)
            if (dataset->chunks[c].raw_bytes <= 0)
                return ps_fail(PS_FAILED, "%s: chunk %lld of %s was never written", store->path,
                               (long long)c, dataset->info.name);
    }
    return PS_OK;
}

/* Tables and hash, then everything to the file. Lock held. */
static ps_status finish_file(ps_store *store)
{
    char hash[17], record[17];
    if (!ps_hdf5_exists(store->file, "/chunks")) {
        hid_t group = ps_hdf5_open_group(store->file, "/chunks");
        if (group < 0 || H5Gclose(group) < 0)
            return ps_hdf5_fail(PS_FAILED, store->path, "write the chunk tables");
    }
    for (int d = 0; store->parts == 0 && d < store->count; ++d)
        PS_TRY(ps_store_write_table(store, &store->datasets[d], d));
    PS_TRY(ps_store_put_scales(store));
    PS_TRY(ps_store_hash_locked(store, hash));
    PS_TRY(ps_attribute_put_text(store, "/", "content_hash", hash));
    PS_TRY(ps_store_record_hash(store, hash, record));
    PS_TRY(ps_attribute_put_text(store, "/", "record_hash", record));
    for (int d = 0; d < store->count; ++d) {
        hid_t handle = store->datasets[d].handle;
        store->datasets[d].handle = -1;
        if (handle >= 0 && H5Dclose(handle) < 0)
            return ps_hdf5_fail(PS_FAILED, store->path, "finish a dataset");
    }
    if (H5Fflush(store->file, H5F_SCOPE_GLOBAL) < 0)
        return ps_hdf5_fail(PS_FAILED, store->path, "write everything out");
    hid_t file = store->file;
    store->file = -1;
    return H5Fclose(file) < 0 ? ps_hdf5_fail(PS_FAILED, store->path, "close the file") : PS_OK;
}

/* The .tmp as a reader will see it. */
static ps_status check_written(const ps_store *store)
{
    PS_SCOPED(ps_store_close) ps_store *written = NULL;
    ps_verify_result result;
    PS_TRY(ps_store_open_unchecked(store->temporary, store->format, store->version, &written));
    return ps_store_verify(written, false, &result);
}

ps_status ps_store_publish(ps_store **store)
{
    ps_hdf5_lock();
    ps_status status = finish_file(*store);
    ps_hdf5_unlock();
    if (status == PS_OK) status = check_written(*store);
    if (status == PS_OK) status = ps_output_commit(&(*store)->output);
    ps_store_close(store);
    return status;
}

ps_status ps_store_commit(ps_store **store)
{
    if (!(*store)->temporary) {
        ps_status status = ps_fail(PS_FAILED, "%s: is not being written", (*store)->path);
        ps_store_close(store);
        return status;
    }
    ps_status status = check_complete(*store);
    if (status == PS_OK) status = ps_path_end_watch();
    if (status == PS_OK) return ps_store_publish(store);
    ps_store_close(store);
    return status;
}
