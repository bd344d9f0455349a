#include "library/penstock/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/hmatrix.h"
#include "formats/store.h"
#include "library/code.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "runtime/threads.h"

_Static_assert((int)PENSTOCK_RANK_MAX == PS_STORE_RANK_MAX &&
                   (int)PENSTOCK_NAME_MAX == PS_NAME_MAX && (int)PENSTOCK_U8 == PS_U8 &&
                   (int)PENSTOCK_U16 == PS_U16 && (int)PENSTOCK_U32 == PS_U32 &&
                   (int)PENSTOCK_I32 == PS_I32 && (int)PENSTOCK_I64 == PS_I64 &&
                   (int)PENSTOCK_F32 == PS_F32 && (int)PENSTOCK_F64 == PS_F64 &&
                   (int)PENSTOCK_INTS == PS_ATTRIBUTE_INTS &&
                   (int)PENSTOCK_REALS == PS_ATTRIBUTE_REALS &&
                   (int)PENSTOCK_TEXT == PS_ATTRIBUTE_TEXT &&
                   (int)PENSTOCK_OTHER == PS_ATTRIBUTE_OTHER,
               "kinds of the library are those of stores");

struct penstock_file {
    ps_store *store;
};

/* ---- a file ---- */

penstock_status penstock_file_open(const char *path, penstock_file **out)
{
    ps_status status = PS_ALLOC(out, 1, "a file");
    if (status == PS_OK) status = ps_threads_check_default();
    if (status == PS_OK) status = ps_store_open(path, NULL, 0, &(*out)->store);
    if (status != PS_OK) penstock_file_close(out);
    return code(status);
}

void penstock_file_close(penstock_file **file)
{
    if (!*file) return;
    ps_store_close(&(*file)->store);
    free(*file);
    *file = NULL;
}

const char *penstock_file_format(const penstock_file *file) { return ps_store_format(file->store); }

int penstock_file_version(const penstock_file *file) { return ps_store_version(file->store); }

const char *penstock_file_uuid(const penstock_file *file) { return ps_store_uuid(file->store); }

penstock_status penstock_file_content_hash(const penstock_file *file, char out[17])
{
    return code(ps_store_content_hash(file->store, out));
}

/* ---- datasets ---- */

int penstock_file_datasets(const penstock_file *file)
{
    return ps_store_dataset_count(file->store);
}

static ps_status info_of(const penstock_file *file, int number, ps_dataset_info *out)
{
    int count = ps_store_dataset_count(file->store);
    if (number < 0 || number >= count)
        return ps_fail(PS_USAGE, "%s has no dataset number %d: there are %d",
                       ps_store_path(file->store), number, count);
    return ps_store_dataset(file->store, number, out);
}

static ps_status describe(const penstock_file *file, int number, penstock_dataset *out)
{
    ps_dataset_info info;
    PS_TRY(info_of(file, number, &info));
    *out = (penstock_dataset){.type = (penstock_type)info.type,
                              .rank = info.rank,
                              .chunk_rows = info.chunk_rows,
                              .chunks = info.chunk_count};
    memcpy(out->name, info.name, sizeof out->name);
    memcpy(out->units, info.units, sizeof out->units);
    memcpy(out->dims, info.dims, sizeof out->dims);
    return PS_OK;
}

penstock_status penstock_file_dataset(const penstock_file *file, int number, penstock_dataset *out)
{
    return code(describe(file, number, out));
}

penstock_status penstock_file_find(const penstock_file *file, const char *name, int *number)
{
    return code(ps_store_find(file->store, name, number));
}

static ps_status chunk_of(const penstock_file *file, int number, int64_t chunk, penstock_chunk *out)
{
    ps_dataset_info info;
    ps_chunk_info c;
    PS_TRY(info_of(file, number, &info));
    if (chunk < 0 || chunk >= info.chunk_count)
        return ps_fail(PS_USAGE, "%s: %s has no chunk %lld: there are %lld",
                       ps_store_path(file->store), info.name, (long long)chunk,
                       (long long)info.chunk_count);
    PS_TRY(ps_store_chunk(file->store, number, chunk, &c));
    *out = (penstock_chunk){c.stored_bytes, c.raw_bytes, c.count,       c.xxh3,  c.minimum,
                            c.maximum,      c.sum,       c.sum_squares, c.zeros, c.non_finite};
    return PS_OK;
}

penstock_status penstock_file_chunk(const penstock_file *file, int number, int64_t chunk,
                                    penstock_chunk *out)
{
    return code(chunk_of(file, number, chunk, out));
}

/* ---- reading ---- */

/* [start, start + count) lies in every dimension. */
static ps_status check_slab(const penstock_file *file, const ps_dataset_info *info,
                            const int64_t *start, const int64_t *count, int dimensions)
{
    for (int d = 0; d < dimensions; ++d)
        if (start[d] < 0 || count[d] < 0 || start[d] > info->dims[d] - count[d])
            return ps_fail(PS_USAGE,
                           "%s: %s has %lld along dimension %d; %lld from %lld on are asked",
                           ps_store_path(file->store), info->name, (long long)info->dims[d], d,
                           (long long)count[d], (long long)start[d]);
    return PS_OK;
}

static ps_status read_rows(penstock_file *file, int number, int64_t first, int64_t count,
                           int64_t bytes, void *data)
{
    ps_dataset_info info;
    PS_TRY(info_of(file, number, &info));
    PS_TRY(check_slab(file, &info, &first, &count, 1));
    return ps_store_read_array(file->store, info.name, info.type, first, count, bytes, data);
}

penstock_status penstock_file_read(penstock_file *file, int number, int64_t first, int64_t count,
                                   int64_t bytes, void *data)
{
    return code(read_rows(file, number, first, count, bytes, data));
}

/* Copies the slab of dimensions [d, rank) from an array of those of the dataset. */
static char *copy_slab(const ps_dataset_info *info, int d, const int64_t *start,
                       const int64_t *count, const char *from, char *to)
{
    size_t each = ps_type_size(info->type);
    for (int e = d + 1; e < info->rank; ++e) each *= (size_t)info->dims[e];
    from += each * (size_t)start[d];
    if (d == info->rank - 1) {
        memcpy(to, from, each * (size_t)count[d]);
        return to + each * (size_t)count[d];
    }
    for (int64_t i = 0; i < count[d]; ++i)
        to = copy_slab(info, d + 1, start, count, from + each * (size_t)i, to);
    return to;
}

static ps_status read_slab(penstock_file *file, int number, const int64_t *start,
                           const int64_t *count, int64_t bytes, void *data)
{
    ps_dataset_info info;
    PS_SCOPED_MEMORY void *rows = NULL;
    PS_TRY(info_of(file, number, &info));
    PS_TRY(check_slab(file, &info, start, count, info.rank));
    int64_t wanted = (int64_t)ps_type_size(info.type), each = wanted;
    for (int d = 0; d < info.rank; ++d) wanted *= count[d];
    for (int d = 1; d < info.rank; ++d) each *= info.dims[d];
    if (wanted != bytes)
        return ps_fail(PS_USAGE, "%s: the slab of %s takes %lld bytes, not %lld",
                       ps_store_path(file->store), info.name, (long long)wanted, (long long)bytes);
    if (wanted == 0) return PS_OK;
    int64_t some = info.chunk_rows < count[0] ? info.chunk_rows : count[0];
    PS_TRY(ps_alloc_untouched(&rows, some * each, "rows"));
    char *to = data;
    for (int64_t done = 0; done < count[0];) {
        /* Up to the end of a chunk, so that none is read twice. */
        int64_t first = start[0] + done, now = info.chunk_rows - first % info.chunk_rows;
        if (now > count[0] - done) now = count[0] - done;
        int64_t here[PS_STORE_RANK_MAX], size[PS_STORE_RANK_MAX];
        memcpy(here, start, (size_t)info.rank * sizeof *here);
        memcpy(size, count, (size_t)info.rank * sizeof *size);
        here[0] = 0;
        size[0] = now;
        PS_TRY(
            ps_store_read_array(file->store, info.name, info.type, first, now, now * each, rows));
        to = copy_slab(&info, 0, here, size, rows, to);
        done += now;
    }
    return PS_OK;
}

penstock_status penstock_file_read_slab(penstock_file *file, int number, const int64_t *start,
                                        const int64_t *count, int64_t bytes, void *data)
{
    return code(read_slab(file, number, start, count, bytes, data));
}

/* ---- attributes and inputs ---- */

penstock_status penstock_file_attributes(const penstock_file *file, const char *object, int *count)
{
    PS_SCOPED_MEMORY ps_attribute *list = NULL;
    return code(ps_store_list_attributes(file->store, object, &list, count));
}

static ps_status attribute_of(const penstock_file *file, const char *object, int number,
                              penstock_attribute *out)
{
    PS_SCOPED_MEMORY ps_attribute *list = NULL;
    int count;
    PS_TRY(ps_store_list_attributes(file->store, object, &list, &count));
    if (number < 0 || number >= count)
        return ps_fail(PS_USAGE, "%s: %s has no attribute number %d: there are %d",
                       ps_store_path(file->store), object, number, count);
    *out = (penstock_attribute){.kind = (penstock_attribute_kind)list[number].kind,
                                .count = list[number].count};
    memcpy(out->name, list[number].name, sizeof out->name);
    return PS_OK;
}

penstock_status penstock_file_attribute(const penstock_file *file, const char *object, int number,
                                        penstock_attribute *out)
{
    return code(attribute_of(file, object, number, out));
}

penstock_status penstock_file_ints(const penstock_file *file, const char *object, const char *name,
                                   int count, int64_t *out)
{
    return code(ps_store_get_ints(file->store, object, name, out, count));
}

penstock_status penstock_file_reals(const penstock_file *file, const char *object, const char *name,
                                    int count, double *out)
{
    return code(ps_store_get_reals(file->store, object, name, out, count));
}

penstock_status penstock_file_text(const penstock_file *file, const char *object, const char *name,
                                   char *out, int64_t size)
{
    if (size < 1) return code(ps_fail(PS_USAGE, "a text needs room for its final zero"));
    return code(ps_store_get_text(file->store, object, name, out, (size_t)size));
}

penstock_status penstock_file_inputs(const penstock_file *file, int *count)
{
    PS_SCOPED_MEMORY ps_input *list = NULL;
    return code(ps_store_list_inputs(file->store, &list, count));
}

static ps_status input_of(const penstock_file *file, int number, penstock_input *out)
{
    PS_SCOPED_MEMORY ps_input *list = NULL;
    int count;
    PS_TRY(ps_store_list_inputs(file->store, &list, &count));
    if (number < 0 || number >= count)
        return ps_fail(PS_USAGE, "%s has no input number %d: there are %d",
                       ps_store_path(file->store), number, count);
    _Static_assert(sizeof *out == sizeof *list, "inputs are the same");
    memcpy(out, &list[number], sizeof *out);
    return PS_OK;
}

penstock_status penstock_file_input(const penstock_file *file, int number, penstock_input *out)
{
    return code(input_of(file, number, out));
}

/* ---- verification ---- */

static ps_status verify_parts(const char *path, bool deep, ps_verify_result *result)
{
    PS_SCOPED(ps_hmatrix_close) ps_hmatrix_file *file = NULL;
    PS_TRY(ps_hmatrix_open(path, &file));
    return ps_hmatrix_verify(file, deep, result);
}

static ps_status verify(const char *path, bool deep, ps_verify_result *result)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    PS_TRY(ps_store_open_unchecked(path, NULL, 0, &store));
    PS_TRY(ps_store_verify(store, deep, result));
    return strcmp(ps_store_format(store), PS_HMATRIX_FORMAT) == 0 ? verify_parts(path, deep, result)
                                                                  : PS_OK;
}

penstock_status penstock_verify(const char *path, bool deep, penstock_verdict *out)
{
    ps_verify_result result = {0};
    ps_status status = verify(path, deep, &result);
    *out = (penstock_verdict){result.chunks, result.bad_chunks, result.bytes, ""};
    snprintf(out->first_problem, sizeof out->first_problem, "%s",
             result.first_problem[0] ? result.first_problem
             : status != PS_OK       ? ps_message()
                                     : "");
    return code(status);
}
