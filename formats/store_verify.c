/* store_verify: is every chunk what its table says? */
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/store_private.h"

/* Sums of squares of large values overflow: then sums tell nothing. */
static bool close_to(double a, double b, double scale)
{
    return !isfinite(scale) || fabs(a - b) <= 1e-9 * scale;
}

/* Sums may be rounded otherwise by another compiler; the rest is exact. */
static ps_status compare_statistics(const ps_chunk_info *told, const ps_chunk_info *found)
{
    double root = sqrt(found->sum_squares * (double)(found->count ? found->count : 1));
    if (told->minimum == found->minimum && told->maximum == found->maximum &&
        told->zeros == found->zeros && told->non_finite == found->non_finite &&
        close_to(told->sum_squares, found->sum_squares, found->sum_squares) &&
        close_to(told->sum, found->sum, root))
        return PS_OK;
    return ps_fail(PS_INVALID, "its values differ from the statistics in the chunk table");
}

/* True if nothing but zeros follows the valid values. */
static bool is_zero(const unsigned char *data, int64_t bytes)
{
    return bytes == 0 || (data[0] == 0 && memcmp(data, data + 1, (size_t)bytes - 1) == 0);
}

static ps_status check_values(ps_store *store, int id, int64_t chunk, unsigned char *data)
{
    const ps_store_dataset_state *dataset = &store->datasets[id];
    const ps_chunk_info *told = &dataset->chunks[chunk];
    int64_t bytes = told->count * (int64_t)ps_type_size(dataset->info.type);
    PS_TRY(ps_store_read_chunk(store, id, chunk, dataset->info.chunk_bytes, data));
    ps_chunk_info found = {.count = told->count};
    ps_codec_statistics(dataset->info.type, data, told->count, &found);
    ps_status status = compare_statistics(told, &found);
    if (status == PS_OK && !is_zero(data + bytes, told->raw_bytes - bytes))
        status =
            ps_fail(PS_INVALID, "it has values beyond the %lld that count", (long long)told->count);
    return status == PS_OK ? PS_OK
                           : ps_context(status, "%s: chunk %lld of %s", store->path,
                                        (long long)chunk, dataset->info.name);
}

/* The size that the file's own index tells. */
static ps_status check_size(ps_store *store, int id, int64_t chunk)
{
    ps_store_resolve(&store, &id, &chunk);
    const ps_store_dataset_state *dataset = &store->datasets[id];
    hsize_t offset[PS_STORE_RANK_MAX] = {(hsize_t)(chunk * dataset->info.chunk_rows)}, size = 0;
    ps_hdf5_lock();
    herr_t result = H5Dget_chunk_storage_size(dataset->handle, offset, &size);
    ps_hdf5_unlock();
    if (result >= 0 && (int64_t)size == dataset->chunks[chunk].stored_bytes) return PS_OK;
    return ps_fail(PS_INVALID,
                   "%s: chunk %lld of %s is missing or has another size than its table says",
                   store->path, (long long)chunk, dataset->info.name);
}

typedef struct findings {
    ps_verify_result *result;
    int64_t first; /* number of the first bad chunk, counted through all datasets */
} findings;

static void note(findings *found, int64_t number, int64_t bytes, ps_status status)
{
#pragma omp critical(ps_store_verify)
    {
        found->result->bytes += bytes;
        found->result->chunks += 1;
        if (status != PS_OK) {
            found->result->bad_chunks += 1;
            if (found->first < 0 || number < found->first) {
                found->first = number;
                snprintf(found->result->first_problem, sizeof found->result->first_problem, "%s",
                         ps_message());
            }
        }
    }
}

/* deep: `data` has room for a chunk, or is NULL if there was no memory. */
static ps_status check_chunk(ps_store *store, int id, int64_t chunk, bool deep, unsigned char *data)
{
    ps_status status = check_size(store, id, chunk);
    if (status != PS_OK || !deep) return status;
    return data ? check_values(store, id, chunk, data)
                : ps_fail(PS_EXHAUSTED, "no memory for a chunk of %s",
                          store->datasets[id].info.name);
}

static void check_dataset(ps_store *store, int id, int64_t before, bool deep, findings *found)
{
    const ps_store_dataset_state *dataset = &store->datasets[id];
    int64_t chunks = dataset->info.chunk_count;
#pragma omp parallel if (deep && chunks > 1)
    {
        unsigned char *data = deep ? malloc((size_t)dataset->info.chunk_bytes) : NULL;
#pragma omp for schedule(dynamic)
        for (int64_t c = 0; c < chunks; ++c)
            note(found, before + c, dataset->chunks[c].stored_bytes,
                 check_chunk(store, id, c, deep, data));
        free(data);
    }
}

static ps_status check_content_hash(const ps_store *store)
{
    char told[17], found[17];
    PS_TRY(ps_store_get_text(store, "/", "content_hash", told, sizeof told));
    PS_TRY(ps_store_content_hash(store, found));
    if (strcmp(told, found) == 0) return PS_OK;
    return ps_fail(PS_INVALID,
                   "%s: its content hash is %s, recorded was %s: attributes or tables were changed",
                   store->path, found, told);
}

ps_status ps_store_verify(ps_store *store, bool deep, ps_verify_result *out)
{
    *out = (ps_verify_result){0};
    if (store->temporary) return ps_fail(PS_FAILED, "%s: is being written", store->path);
    findings found = {out, -1};
    int64_t before = 0;
    for (int d = 0; d < store->count; ++d) {
        check_dataset(store, d, before, deep, &found);
        before += store->datasets[d].info.chunk_count;
    }
    ps_status hash = check_content_hash(store);
    if (hash != PS_OK && !out->bad_chunks)
        snprintf(out->first_problem, sizeof out->first_problem, "%s", ps_message());
    if (out->bad_chunks)
        return ps_fail(PS_INVALID, "%lld of %lld chunks are bad; the first: %s",
                       (long long)out->bad_chunks, (long long)out->chunks, out->first_problem);
    return hash;
}
