/* store_write: defining datasets and writing their chunks. */
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/h5zstd.h"
#include "formats/store_driver.h"
#include "formats/store_private.h"
#include "runtime/first_failure.h"
#include "runtime/memory.h"

/* ---- defining ---- */

static int64_t choose_rows(const ps_dataset_spec *spec)
{
    double row = (double)ps_type_size(spec->type), total;
    for (int r = 1; r < spec->rank; ++r) row *= (double)spec->dims[r];
    total = row * (double)spec->dims[0];
    double wanted = total > 0x1p28 ? 0x1p22 : 0x1p20;
    return row > 0 && row < wanted ? (int64_t)(wanted / row) : 1;
}

static bool named(const char *dimension)
{
    return dimension && dimension[0] == '/' && dimension[1] && !strchr(dimension, ' ') &&
           strlen(dimension) < PS_NAME_MAX;
}

static ps_status check_spec(const ps_store *store, const ps_dataset_spec *spec)
{
    const char *fault = NULL;
    int mantissa = spec->type == PS_F32 ? 23 : spec->type == PS_F64 ? 52 : 0;
    if (!spec->name || spec->name[0] != '/' || !spec->name[1] || strlen(spec->name) >= PS_NAME_MAX)
        return ps_fail(PS_FAILED, "%s: '%s' is no name of a dataset", store->path,
                       spec->name ? spec->name : "");
    if (spec->rank < 1 || spec->rank > PS_STORE_RANK_MAX) fault = "its rank is not 1 to 4";
    for (int r = 0; !fault && r < spec->rank; ++r)
        if (spec->dims[r] < 0) fault = "a dimension is negative";
    if (spec->chunk_rows < 0) fault = "its chunk_rows is negative";
    if (!spec->units || strlen(spec->units) >= sizeof((ps_dataset_info *)0)->units)
        fault = "it has no units, or too long ones";
    if (spec->keep_bits < 0 || (spec->keep_bits > 0 && mantissa == 0))
        fault = "keep_bits is for floating-point data";
    if (spec->extra_count < 0 || spec->extra_count > PS_STORE_EXTRAS_MAX)
        fault = "it has too many extra columns";
    for (int e = 0; !fault && e < spec->extra_count; ++e)
        if (!spec->extras[e] || strlen(spec->extras[e]) > 31)
            fault = "an extra column has no good name";
    for (int r = 0; !fault && r < spec->rank; ++r)
        if (!named(spec->dimensions[r]) != !spec->dimensions[0])
            fault = "its dimensions are not all named by short paths, nor none";
    if (strncmp(spec->name, "/chunks", 7) == 0 || strncmp(spec->name, "/inputs", 7) == 0 ||
        strncmp(spec->name, "/manifest", 9) == 0)
        fault = "its name is reserved";
    return fault ? ps_fail(PS_FAILED, "%s: cannot define %s: %s", store->path, spec->name, fault)
                 : PS_OK;
}

static void fill_info(const ps_dataset_spec *spec, ps_store_dataset_state *dataset)
{
    ps_dataset_info *info = &dataset->info;
    snprintf(info->name, sizeof info->name, "%s", spec->name);
    snprintf(info->units, sizeof info->units, "%s", spec->units);
    snprintf(dataset->description, sizeof dataset->description, "%s",
             spec->description ? spec->description : "");
    info->type = spec->type;
    info->rank = spec->rank;
    info->keep_bits = spec->keep_bits < (spec->type == PS_F32 ? 23 : 52) ? spec->keep_bits : 0;
    memcpy(info->dims, spec->dims, (size_t)spec->rank * sizeof *spec->dims);
    for (int r = 0; spec->dimensions[0] && r < spec->rank; ++r)
        strcpy(dataset->dimensions[r], spec->dimensions[r]);
    int64_t rows = spec->chunk_rows ? spec->chunk_rows : choose_rows(spec);
    info->chunk_rows = rows < spec->dims[0] ? rows : spec->dims[0];
    if (info->chunk_rows < 1) info->chunk_rows = 1;
    info->extra_count = spec->extra_count;
    for (int e = 0; e < spec->extra_count; ++e)
        snprintf(info->extras[e], sizeof info->extras[e], "%s", spec->extras[e]);
}

static herr_t set_compression(hid_t list, const ps_dataset_info *info, bool deflate)
{
    /* The second value lets other programs' reading notice a frame that is too short. */
    const unsigned values[2] = {PS_H5ZSTD_LEVEL, (unsigned)info->chunk_bytes};
    if (deflate) return H5Pset_deflate(list, 1);
    return H5Pset_filter(list, PS_H5ZSTD_ID, H5Z_FLAG_MANDATORY, 2, values);
}

/* Shuffle, then compression; nothing is ever stored where there are no values. */
static hid_t creation_list(const ps_dataset_info *info, bool deflate)
{
    hsize_t chunk[PS_STORE_RANK_MAX];
    hid_t list = ps_hdf5_creation(H5P_DATASET_CREATE);
    if (list < 0 || info->chunk_count == 0) return list;
    for (int r = 0; r < info->rank; ++r) chunk[r] = (hsize_t)(r ? info->dims[r] : info->chunk_rows);
    if (H5Pset_chunk(list, info->rank, chunk) >= 0 && H5Pset_shuffle(list) >= 0 &&
        set_compression(list, info, deflate) >= 0 &&
        H5Pset_fill_time(list, H5D_FILL_TIME_NEVER) >= 0)
        return list;
    H5Pclose(list);
    return -1;
}

/* Lock held. */
static ps_status make_dataset(ps_store *store, ps_store_dataset_state *dataset)
{
    const ps_dataset_info *info = &dataset->info;
    hsize_t dims[PS_STORE_RANK_MAX];
    for (int r = 0; r < info->rank; ++r) dims[r] = (hsize_t)info->dims[r];
    PS_SCOPED_HID space = H5Screate_simple(info->rank, dims, NULL),
                  list = creation_list(info, dataset->codec.deflate);
    if (space >= 0 && list >= 0 && ps_hdf5_make_parents(store->file, info->name))
        dataset->handle = H5Dcreate2(store->file, info->name, ps_hdf5_type(info->type), space,
                                     H5P_DEFAULT, list, H5P_DEFAULT);
    if (dataset->handle < 0) {
        char what[PS_NAME_MAX + 16];
        snprintf(what, sizeof what, "define %s", info->name);
        return ps_hdf5_fail(PS_FAILED, store->path, what);
    }
    int64_t bits = info->keep_bits;
    PS_TRY(ps_attribute_put_text(store, info->name, "units", info->units));
    if (dataset->description[0])
        PS_TRY(ps_attribute_put_text(store, info->name, "description", dataset->description));
    return bits ? ps_attribute_put_ints(store, info->name, "keep_bits", &bits, -1) : PS_OK;
}

ps_status ps_store_define(ps_store *store, const ps_dataset_spec *spec, int *id)
{
    ps_store_dataset_state *dataset;
    int ignored;
    if (!store->temporary) return ps_fail(PS_FAILED, "%s: is not being written", store->path);
    PS_TRY(check_spec(store, spec));
    if (ps_store_find(store, spec->name, &ignored) == PS_OK)
        return ps_fail(PS_FAILED, "%s: %s is defined twice", store->path, spec->name);
    PS_TRY(ps_store_append(store, &dataset));
    fill_info(spec, dataset);
    ps_status status = PS_OK;
    if (!ps_store_shape(dataset))
        status = ps_fail(PS_FAILED, "%s: a chunk of %s would have 4 GiB or more; take fewer rows",
                         store->path, spec->name);
    dataset->codec.plain = spec->plain;
    dataset->codec.deflate = store->layout > PS_STORE_FRAMES;
    if (status == PS_OK)
        status = PS_ALLOC(&dataset->chunks, dataset->info.chunk_count, "a chunk table");
    ps_hdf5_lock();
    if (status == PS_OK) status = make_dataset(store, dataset);
    if (status != PS_OK) { /* leave no half-defined dataset behind */
        if (dataset->handle >= 0) H5Dclose(dataset->handle);
        free(dataset->chunks);
        --store->count;
    }
    ps_hdf5_unlock();
    *id = store->count - 1;
    return status;
}

/* ---- chunks ---- */

/* Remembers the first failure, so that a commit after it tells the cause. Lock held. */
static ps_status remember(ps_store *store, ps_status status)
{
    if (status == PS_OK || store->failed != PS_OK) return status;
    store->failed = status;
    snprintf(store->failure, sizeof store->failure, "%s", ps_message());
    return status;
}

/* Below so many bytes a second hold of the lock costs more than the transfer in the first. */
enum { APART_BYTES = 1 << 16 };

static void tell_chunk(const ps_store_dataset_state *dataset, int64_t chunk, char *what,
                       size_t size)
{
    snprintf(what, size, "write chunk %lld of %s", (long long)chunk, dataset->info.name);
}

/* Gives the chunk its place; the bytes may be left to the caller. Lock held. */
static ps_status place_chunk(ps_store *store, ps_store_dataset_state *dataset, int64_t chunk,
                             bool packed, ps_transfer *transfer)
{
    char what[PS_NAME_MAX + 48];
    hsize_t offset[PS_STORE_RANK_MAX] = {(hsize_t)(chunk * dataset->info.chunk_rows)};
    uint32_t skipped = packed ? 0 : 3; /* both filters or none */
    if (dataset->chunks[chunk].raw_bytes)
        return ps_fail(PS_FAILED, "%s: chunk %lld of %s is written twice", store->path,
                       (long long)chunk, dataset->info.name);
    transfer->file = -1;
    if (transfer->size >= APART_BYTES) ps_driver_expect(transfer);
    herr_t done = H5Dwrite_chunk(dataset->handle, H5P_DEFAULT, skipped, offset, transfer->size,
                                 transfer->buffer);
    ps_driver_expect(NULL);
    tell_chunk(dataset, chunk, what, sizeof what);
    return done < 0 ? ps_hdf5_fail(PS_FAILED, store->path, what) : PS_OK;
}

/* The row of the table says that the chunk is there only once its bytes are. */
static ps_status put_chunk(ps_store *store, ps_store_dataset_state *dataset, int64_t chunk,
                           const ps_chunk_info *info, const void *stored)
{
    char what[PS_NAME_MAX + 48];
    ps_transfer transfer = {(void *)stored, (size_t)info->stored_bytes, -1, 0};
    ps_chunk_info *row = &dataset->chunks[chunk];
    ps_hdf5_lock();
    ps_status status =
        place_chunk(store, dataset, chunk, info->stored_bytes != info->raw_bytes, &transfer);
    if (status == PS_OK && transfer.file >= 0) {
        row->raw_bytes = -1;
        ps_hdf5_unlock();
        int error = ps_transfer_write(&transfer);
        tell_chunk(dataset, chunk, what, sizeof what);
        if (error) status = ps_system_fail(PS_FAILED, store->path, what, error);
        ps_hdf5_lock();
    }
    if (status == PS_OK) *row = *info;
    remember(store, status);
    ps_hdf5_unlock();
    return status;
}

ps_status ps_store_write_chunk(ps_store *store, int id, int64_t chunk, const void *data,
                               int64_t count, const double *extras)
{
    ps_store_dataset_state *dataset;
    ps_scratch *scratch;
    const void *stored;
    if (!store->temporary) return ps_fail(PS_FAILED, "%s: is not being written", store->path);
    PS_TRY(ps_store_pick(store, id, chunk, &dataset));
    int64_t room = ps_store_rows_of(dataset, chunk) * dataset->row_elements;
    if (count < 0 || count > room)
        return ps_fail(PS_FAILED, "%s: %lld values for chunk %lld of %s, which takes %lld",
                       store->path, (long long)count, (long long)chunk, dataset->info.name,
                       (long long)room);
    ps_chunk_info info = {0};
    if (extras) memcpy(info.extras, extras, (size_t)dataset->info.extra_count * sizeof *extras);
    PS_TRY(ps_scratch_take(&store->pool, &scratch));
    ps_status status = ps_codec_encode(&dataset->codec, data, count, scratch, &info, &stored);
    if (status == PS_OK) status = put_chunk(store, dataset, chunk, &info, stored);
    ps_scratch_give(&store->pool, scratch);
    return status;
}

ps_status ps_store_write_array(ps_store *store, const ps_dataset_spec *spec, const void *data)
{
    int id;
    PS_TRY(ps_store_define(store, spec, &id));
    const ps_store_dataset_state *dataset = &store->datasets[id];
    int64_t chunks = dataset->info.chunk_count;
    ps_failure failure = {0};
#pragma omp parallel for schedule(dynamic) if (chunks > 1)
    for (int64_t c = 0; c < chunks; ++c) {
        const char *from = (const char *)data + c * dataset->info.chunk_bytes;
        int64_t count = ps_store_rows_of(dataset, c) * dataset->row_elements;
        ps_note_failure(&failure, ps_store_write_chunk(store, id, c, from, count, NULL));
    }
    return ps_first_failure(&failure);
}

ps_status ps_store_write_made(ps_store *store, const ps_dataset_spec *spec, ps_row_maker *make,
                              const void *context)
{
    int id;
    PS_TRY(ps_store_define(store, spec, &id));
    const ps_store_dataset_state *dataset = &store->datasets[id];
    ps_failure failure = {0};
#pragma omp parallel
    {
        void *rows = NULL;
        ps_status ready = ps_alloc(&rows, dataset->info.chunk_bytes, 1, "a chunk that is made");
        ps_note_failure(&failure, ready);
#pragma omp for schedule(dynamic)
        for (int64_t c = 0; c < dataset->info.chunk_count; ++c) {
            int64_t count = ps_store_rows_of(dataset, c);
            if (ready != PS_OK) continue;
            make(context, c * dataset->info.chunk_rows, count, rows);
            ps_note_failure(&failure, ps_store_write_chunk(store, id, c, rows,
                                                           count * dataset->row_elements, NULL));
        }
        free(rows);
    }
    return ps_first_failure(&failure);
}
