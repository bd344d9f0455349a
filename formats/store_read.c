/* store_read: chunks and arrays out of an opened file. */
#include <errno.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/store_driver.h"
#include "formats/store_private.h"
#include "runtime/first_failure.h"
#include "runtime/scope.h"

/* The size is asked for first: H5Dread_chunk reads as much as the file says. Lock held. */
static ps_status find_chunk(ps_store *store, const ps_store_dataset_state *dataset, int64_t chunk,
                            const char *what, ps_transfer *transfer)
{
    const ps_chunk_info *info = &dataset->chunks[chunk];
    hsize_t offset[PS_STORE_RANK_MAX] = {(hsize_t)(chunk * dataset->info.chunk_rows)}, size = 0;
    uint32_t skipped = 0, expected = info->stored_bytes == info->raw_bytes ? 3 : 0;
    if (H5Dget_chunk_storage_size(dataset->handle, offset, &size) < 0)
        return ps_hdf5_fail(PS_INVALID, store->path, what);
    if (size != (hsize_t)info->stored_bytes)
        return ps_fail(
            PS_INVALID,
            "%s: chunk %lld of %s has %llu bytes, its table says %lld; the file is damaged",
            store->path, (long long)chunk, dataset->info.name, (unsigned long long)size,
            (long long)info->stored_bytes);
    ps_driver_expect(transfer);
    herr_t done = H5Dread_chunk(dataset->handle, H5P_DEFAULT, offset, &skipped, transfer->buffer);
    ps_driver_expect(NULL);
    if (done < 0) return ps_hdf5_fail(PS_INVALID, store->path, what);
    if (skipped != expected)
        return ps_fail(PS_INVALID,
                       "%s: chunk %lld of %s went through other filters than its table says",
                       store->path, (long long)chunk, dataset->info.name);
    return PS_OK;
}

/* The stored bytes, read outside the lock. */
static ps_status fetch(ps_store *store, const ps_store_dataset_state *dataset, int64_t chunk,
                       void *stored)
{
    char what[PS_NAME_MAX + 64];
    ps_transfer transfer = {stored, (size_t)dataset->chunks[chunk].stored_bytes, -1, 0};
    snprintf(what, sizeof what, "read chunk %lld of %s", (long long)chunk, dataset->info.name);
    ps_hdf5_lock();
    ps_status status = find_chunk(store, dataset, chunk, what, &transfer);
    ps_hdf5_unlock();
    PS_TRY(status);
    int error = ps_transfer_read(&transfer);
    if (error == ENODATA)
        return ps_fail(PS_INVALID, "%s: cannot %s: the file ends before it; it is damaged",
                       store->path, what);
    return error ? ps_system_fail(PS_INVALID, store->path, what, error) : PS_OK;
}

static ps_status check_readable(const ps_store *store, const ps_store_dataset_state *dataset)
{
    if (store->temporary)
        return ps_fail(PS_FAILED, "%s: is being written; commit it and open it to read",
                       store->path);
    if (dataset->handle < 0)
        return ps_fail(PS_FAILED, "%s: %s has no chunks", store->path, dataset->info.name);
    return PS_OK;
}

static ps_status too_small(const ps_store *store, const ps_store_dataset_state *dataset,
                           int64_t chunk, int64_t bytes, int64_t capacity)
{
    return ps_fail(PS_INVALID,
                   "%s: chunk %lld of %s holds %lld bytes where %lld were expected; the file is "
                   "damaged or not of this program",
                   store->path, (long long)chunk, dataset->info.name, (long long)bytes,
                   (long long)capacity);
}

ps_status ps_store_read_stored(ps_store *store, int id, int64_t chunk, int64_t capacity,
                               void *stored)
{
    ps_store_dataset_state *dataset;
    PS_TRY(ps_store_pick(store, id, chunk, &dataset));
    ps_store_resolve(&store, &id, &chunk);
    dataset = &store->datasets[id];
    PS_TRY(check_readable(store, dataset));
    if (dataset->chunks[chunk].stored_bytes > capacity)
        return too_small(store, dataset, chunk, dataset->chunks[chunk].stored_bytes, capacity);
    return fetch(store, dataset, chunk, stored);
}

/* Where a chunk goes: it must fit, or, where only its valid values are taken, fill the room. */
typedef struct destination {
    bool whole;
    int64_t capacity;
    void *data;
} destination;

static ps_status check_room(const ps_store *store, const ps_store_dataset_state *dataset,
                            int64_t chunk, const destination *to)
{
    int64_t count = to->whole ? dataset->codec.elements : dataset->chunks[chunk].count;
    int64_t bytes = count * (int64_t)ps_type_size(dataset->info.type);
    return bytes == to->capacity || (to->whole && bytes < to->capacity)
               ? PS_OK
               : too_small(store, dataset, chunk, bytes, to->capacity);
}

/* The whole chunk, or its valid values alone. */
static ps_status decode(ps_store *store, int id, int64_t chunk, ps_scratch *scratch,
                        const void *stored, const destination *to)
{
    const ps_store_dataset_state *dataset = &store->datasets[id];
    int64_t count = to->whole ? dataset->codec.elements : dataset->chunks[chunk].count;
    PS_TRY(check_room(store, dataset, chunk, to));
    ps_status status =
        ps_codec_decode(&dataset->codec, &dataset->chunks[chunk], stored, scratch, count, to->data);
    return status == PS_OK ? PS_OK
                           : ps_context(status, "%s: chunk %lld of %s", store->path,
                                        (long long)chunk, dataset->info.name);
}

static ps_status decode_chunk(ps_store *store, int id, int64_t chunk, const void *stored,
                              const destination *to)
{
    ps_store_dataset_state *dataset;
    ps_scratch *scratch;
    PS_TRY(ps_store_pick(store, id, chunk, &dataset));
    ps_scratch_pool *pool = &store->pool;
    ps_store_resolve(&store, &id, &chunk);
    PS_TRY(ps_scratch_take(pool, &scratch));
    ps_status status = decode(store, id, chunk, scratch, stored, to);
    ps_scratch_give(pool, scratch);
    return status;
}

ps_status ps_store_decode(ps_store *store, int id, int64_t chunk, const void *stored,
                          int64_t capacity, void *data)
{
    return decode_chunk(store, id, chunk, stored, &(destination){true, capacity, data});
}

ps_status ps_store_decode_values(ps_store *store, int id, int64_t chunk, const void *stored,
                                 int64_t capacity, void *data)
{
    return decode_chunk(store, id, chunk, stored, &(destination){false, capacity, data});
}

static ps_status read_chunk(ps_store *store, int id, int64_t chunk, const destination *to)
{
    ps_store_dataset_state *dataset;
    ps_scratch *scratch;
    PS_TRY(ps_store_pick(store, id, chunk, &dataset));
    ps_scratch_pool *pool = &store->pool;
    ps_store_resolve(&store, &id, &chunk);
    dataset = &store->datasets[id];
    const ps_chunk_info *info = &dataset->chunks[chunk];
    PS_TRY(check_readable(store, dataset));
    PS_TRY(check_room(store, dataset, chunk, to));
    PS_TRY(ps_scratch_take(pool, &scratch));
    ps_status status = ps_scratch_need(&scratch->b, &scratch->b_size, info->stored_bytes);
    if (status == PS_OK) status = fetch(store, dataset, chunk, scratch->b);
    if (status == PS_OK) status = decode(store, id, chunk, scratch, scratch->b, to);
    ps_scratch_give(pool, scratch);
    return status;
}

ps_status ps_store_read_chunk(ps_store *store, int id, int64_t chunk, int64_t capacity, void *data)
{
    return read_chunk(store, id, chunk, &(destination){true, capacity, data});
}

ps_status ps_store_read_values(ps_store *store, int id, int64_t chunk, int64_t capacity, void *data)
{
    return read_chunk(store, id, chunk, &(destination){false, capacity, data});
}

/* ---- arrays ---- */

/* Rows [first, end) of one chunk that begins at row `start`, to `out`. */
static ps_status read_part_of_chunk(ps_store *store, int id, int64_t chunk, int64_t skip_bytes,
                                    int64_t bytes, void *out)
{
    int64_t raw = store->datasets[id].chunks[chunk].raw_bytes;
    if (skip_bytes == 0 && bytes == raw) return ps_store_read_chunk(store, id, chunk, raw, out);
    PS_SCOPED_MEMORY char *whole = malloc((size_t)raw);
    if (!whole) return ps_fail(PS_EXHAUSTED, "no memory for a chunk of %lld bytes", (long long)raw);
    PS_TRY(ps_store_read_chunk(store, id, chunk, raw, whole));
    memcpy(out, whole + skip_bytes, (size_t)bytes);
    return PS_OK;
}

/* Rows [first, first + count) of a dataset whose chunks all have chunk_rows rows. */
static ps_status read_rows(ps_store *store, int id, int64_t first, int64_t count, char *out)
{
    const ps_store_dataset_state *dataset = &store->datasets[id];
    int64_t rows = dataset->info.chunk_rows;
    int64_t row_bytes = dataset->row_elements * (int64_t)ps_type_size(dataset->info.type);
    int64_t begin = first / rows, end = (first + count - 1) / rows + 1;
    ps_failure failure = {0};
#pragma omp parallel for schedule(dynamic) if (end - begin > 1)
    for (int64_t c = begin; c < end; ++c) {
        int64_t from = c * rows > first ? c * rows : first;
        int64_t to = (c + 1) * rows < first + count ? (c + 1) * rows : first + count;
        ps_note_failure(&failure, read_part_of_chunk(store, id, c, (from - c * rows) * row_bytes,
                                                     (to - from) * row_bytes,
                                                     out + (from - first) * row_bytes));
    }
    return ps_first_failure(&failure);
}

/* Rows of a master: part by part. Rows of parts narrower than the master's are refused. */
static ps_status read_joined(ps_store *store, int id, int64_t first, int64_t count, char *out)
{
    const ps_store_dataset_state *dataset = &store->datasets[id];
    int64_t row_bytes = dataset->row_elements * (int64_t)ps_type_size(dataset->info.type);
    for (int p = 0; p < store->parts; ++p) {
        int64_t start = dataset->part_rows[p], end = dataset->part_rows[p + 1];
        int64_t from = start > first ? start : first;
        int64_t to = end < first + count ? end : first + count;
        if (from >= to) continue;
        if (store->part[p]->datasets[dataset->part_ids[p]].row_elements != dataset->row_elements)
            return ps_fail(PS_FAILED, "%s: rows of %s differ in length; read its chunks",
                           store->path, dataset->info.name);
        PS_TRY(read_rows(store->part[p], dataset->part_ids[p], from - start, to - from,
                         out + (from - first) * row_bytes));
    }
    return PS_OK;
}

ps_status ps_store_read_array(ps_store *store, const char *name, ps_type type, int64_t first,
                              int64_t count, int64_t capacity, void *data)
{
    int id;
    PS_TRY(ps_store_find(store, name, &id));
    const ps_store_dataset_state *dataset = &store->datasets[id];
    if (dataset->info.type != type)
        return ps_fail(PS_INVALID, "%s: dataset %s has another type of numbers than expected",
                       store->path, name);
    if (first < 0 || count < 0 || first > dataset->info.dims[0] - count)
        return ps_fail(PS_FAILED, "%s: rows %lld to %lld of %s asked for, it has %lld", store->path,
                       (long long)first, (long long)(first + count), name,
                       (long long)dataset->info.dims[0]);
    int64_t row_bytes = dataset->row_elements * (int64_t)ps_type_size(type);
    if (capacity < 0 ||
        count * row_bytes != capacity) /* dims[0] rows fit in 64 bits, so count do */
        return ps_fail(PS_INVALID,
                       "%s: %lld rows of %s hold %lld values each, %.6g were expected; the file is "
                       "damaged or not of this program",
                       store->path, (long long)count, name, (long long)dataset->row_elements,
                       count ? (double)capacity / (double)count / (double)ps_type_size(type) : 0.0);
    if (count == 0 || dataset->row_elements == 0) return PS_OK;
    if (store->parts) return read_joined(store, id, first, count, data);
    return read_rows(store, id, first, count, data);
}
