/* columns_chunks: what HDF5's own deflate does not check. It gives what a stream holds for a chunk,
 * however short, and the reading goes on behind it. */
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>

#include "formats/columns_chunks.h"
#include "formats/h5zstd.h"

enum { CHECKSUM = 4 /* bytes that fletcher32 puts behind what was stored */ };

/* Filters of a dataset, and buffers for one chunk. */
typedef struct pipeline {
    hid_t set;
    int rank, deflate, fletcher; /* numbers of these two filters; -1: none */
    bool known;                  /* all others leave as many bytes as they find */
    hsize_t chunk[2];
    size_t bytes; /* of a chunk */
    uint8_t *stored, *values;
    int64_t stored_size, values_size;
} pipeline;

static bool find_filters(hid_t list, pipeline *p)
{
    int filters = H5Pget_nfilters(list);
    p->known = true;
    p->deflate = p->fletcher = -1;
    for (int f = 0; f < filters; ++f) {
        unsigned flags, config;
        H5Z_filter_t id = H5Pget_filter2(list, (unsigned)f, &flags, NULL, NULL, 0, NULL, &config);
        if (id == H5Z_FILTER_DEFLATE) p->deflate = f;
        if (id == H5Z_FILTER_FLETCHER32) p->fletcher = f;
        p->known = p->known && (id == H5Z_FILTER_SHUFFLE || id == H5Z_FILTER_FLETCHER32 ||
                                id == H5Z_FILTER_DEFLATE || id == PS_H5ZSTD_ID);
    }
    return p->known;
}

static void look_at(hid_t set, pipeline *p)
{
    PS_SCOPED_HID list = H5Dget_create_plist(set), type = H5Dget_type(set);
    *p = (pipeline){.set = set, .deflate = -1, .known = true, .chunk = {1, 1}};
    if (list >= 0 && type >= 0 && H5Pget_layout(list) == H5D_CHUNKED) {
        p->rank = H5Pget_chunk(list, 2, p->chunk);
        if (find_filters(list, p)) p->bytes = H5Tget_size(type) * p->chunk[0] * p->chunk[1];
    }
}

static ps_status check_chunk(pipeline *p, const hsize_t offset[2])
{
    hsize_t size = 0;
    uint32_t skipped = 0;
    if (H5Dget_chunk_storage_size(p->set, offset, &size) < 0 || size == 0)
        return ps_fail(PS_INVALID, "it was never written");
    if (p->deflate < 0) return PS_OK;
    PS_TRY(ps_scratch_need(&p->stored, &p->stored_size, (int64_t)size));
    PS_TRY(ps_scratch_need(&p->values, &p->values_size, (int64_t)p->bytes));
    if (H5Dread_chunk(p->set, H5P_DEFAULT, offset, &skipped, p->stored) < 0)
        return ps_fail(PS_INVALID, "it cannot be read");
    if (p->fletcher > p->deflate && !(skipped >> p->fletcher & 1)) size -= CHECKSUM;
    if (skipped >> p->deflate & 1) return PS_OK; /* as many bytes as HDF5 asks for */
    return ps_inflate(p->stored, (int64_t)size, p->values, (int64_t)p->bytes);
}

static ps_status check_chunks(pipeline *p, const hsize_t first[2], const hsize_t count[2])
{
    hsize_t at[2];
    for (at[0] = first[0] / p->chunk[0]; at[0] * p->chunk[0] < first[0] + count[0]; ++at[0])
        for (at[1] = first[1] / p->chunk[1]; at[1] * p->chunk[1] < first[1] + count[1]; ++at[1]) {
            const hsize_t offset[2] = {at[0] * p->chunk[0], at[1] * p->chunk[1]};
            ps_status status = check_chunk(p, offset);
            if (status != PS_OK)
                return ps_fail(status, "the chunk at row %llu: %s", (unsigned long long)offset[0],
                               ps_message());
        }
    return PS_OK;
}

ps_status ps_hdf5_check_own(ps_hid set, const char *path, const char *name)
{
    char file[4096] = "";
    PS_SCOPED_HID list = H5Dget_create_plist(set);
    bool own = list >= 0 && H5Pget_layout(list) != H5D_VIRTUAL &&
               H5Pget_external_count(list) == 0 && H5Fget_name(set, file, sizeof file) >= 0 &&
               strcmp(file, path) == 0;
    if (own) return PS_OK;
    return ps_fail(
        PS_INVALID,
        "%s: the values of %s lie in another file (by an external link, external storage "
        "or a virtual dataset): copy them into this one",
        path, name);
}

/* Chunks that an extent has, and those of them in the index. Without chunks: of one, its storage;
 * an empty one has none. False: not known. */
static bool count_chunks(hid_t set, hid_t space, bool chunked, hid_t list, hsize_t out[2])
{
    hsize_t dims[H5S_MAX_RANK], chunk[H5S_MAX_RANK];
    H5D_space_status_t storage;
    int rank = H5Sget_simple_extent_dims(space, dims, NULL);
    if (rank < 0 || (chunked && H5Pget_chunk(list, H5S_MAX_RANK, chunk) != rank)) return false;
    out[0] = 1;
    for (int r = 0; r < rank; ++r)
        out[0] *= chunked ? dims[r] / chunk[r] + (dims[r] % chunk[r] != 0) : dims[r] != 0;
    if (chunked) return H5Dget_num_chunks(set, space, &out[1]) >= 0;
    bool known = H5Dget_space_status(set, &storage) >= 0;
    out[1] = known && storage == H5D_SPACE_STATUS_ALLOCATED;
    return known;
}

ps_status ps_hdf5_check_written(ps_hid set, const char *path, const char *name)
{
    hsize_t count[2] = {0, 0};
    PS_SCOPED_HID list = H5Dget_create_plist(set), space = H5Dget_space(set);
    bool chunked = list >= 0 && H5Pget_layout(list) == H5D_CHUNKED;
    bool known = list >= 0 && space >= 0 && count_chunks(set, space, chunked, list, count);
    hsize_t chunks = count[0], written = count[1];
    if (!known) return ps_hdf5_fail(PS_INVALID, path, "tell which chunks were written");
    if (written >= chunks) return PS_OK;
    if (!chunked)
        return ps_fail(PS_INVALID, "%s: no value of %s was ever written, it has no storage", path,
                       name);
    return ps_fail(PS_INVALID,
                   "%s: %llu of %llu chunks of %s were never written: what they hold is unknown, "
                   "HDF5 would give its fill value",
                   path, (unsigned long long)(chunks - written), (unsigned long long)chunks, name);
}

size_t ps_hdf5_chunk_bytes(ps_hid set)
{
    pipeline p;
    look_at(set, &p);
    return p.bytes;
}

ps_status ps_hdf5_check_chunks(ps_hid set, const uint64_t first[2], const uint64_t count[2])
{
    pipeline p;
    const hsize_t from[2] = {first[0], first[1]}, size[2] = {count[0], count[1]};
    look_at(set, &p);
    if (!p.known)
        return ps_fail(PS_INVALID,
                       "is packed by a filter other than shuffle, fletcher32, deflate and zstd: "
                       "h5repack -f SHUF -f GZIP=4 makes a copy that can be read");
    if (p.bytes == 0) return PS_OK;
    ps_status status = check_chunks(&p, from, size);
    free(p.stored);
    free(p.values);
    return status;
}
