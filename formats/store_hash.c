/* store_hash: what a file contains, in 16 digits; and the record of a file's inputs. */
#include <hdf5.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "formats/store_private.h"
#include "runtime/path.h"

typedef struct hashing {
    const ps_store *store;
    XXH3_state_t *state;
    const char *object;
    bool record; /* what the content hash leaves out */
} hashing;

static void add(hashing *hash, const void *data, size_t bytes)
{
    uint64_t length = bytes; /* so that neighbours cannot run into each other */
    XXH3_64bits_update(hash->state, &length, sizeof length);
    if (bytes) XXH3_64bits_update(hash->state, data, bytes);
}

static void add_text(hashing *hash, const char *text) { add(hash, text, strlen(text)); }

static herr_t add_attribute(hid_t owner, const char *name, const H5A_info_t *info, void *context)
{
    hashing *hash = context;
    if (ps_attribute_is_provenance(hash->object, name) != hash->record) return 0;
    if (hash->record && strstr(name, "_hash")) return 0; /* the hashes themselves */
    PS_SCOPED_HID attribute = H5Aopen(owner, name, H5P_DEFAULT);
    PS_SCOPED_HID type = attribute < 0 ? -1 : H5Aget_type(attribute);
    PS_SCOPED_MEMORY void *data = malloc((size_t)info->data_size + 1);
    if (type < 0 || !data || H5Tdetect_class(type, H5T_VLEN) != 0 ||
        H5Tis_variable_str(type) != 0 || H5Aread(attribute, type, data) < 0)
        return -1;
    add_text(hash, name);
    add(hash, data, (size_t)info->data_size);
    return 0;
}

/* The values enter through the hashes of their chunks. */
static void add_dataset(hashing *hash, const ps_store_dataset_state *dataset)
{
    const ps_dataset_info *info = &dataset->info;
    int64_t numbers[4] = {info->type, info->rank, info->chunk_rows, info->chunk_count};
    add(hash, numbers, sizeof numbers);
    add(hash, info->dims, (size_t)info->rank * sizeof *info->dims);
    for (int e = 0; e < info->extra_count; ++e) add_text(hash, info->extras[e]);
    for (int64_t c = 0; c < info->chunk_count; ++c) {
        const ps_chunk_info *chunk = &dataset->chunks[c];
        int64_t row[3] = {(int64_t)chunk->xxh3, chunk->count, chunk->raw_bytes};
        add(hash, row, sizeof row);
        add(hash, chunk->extras, (size_t)info->extra_count * sizeof(double));
    }
}

static bool is_inside(const char *path, const char *group)
{
    size_t length = strlen(group);
    return strncmp(path, group, length) == 0 && (path[length] == '\0' || path[length] == '/');
}

static herr_t add_object(hid_t root, const char *name, const H5O_info_t *info, void *context)
{
    hashing *hash = context;
    char path[2 * PS_NAME_MAX];
    snprintf(path, sizeof path, "/%s", strcmp(name, ".") == 0 ? "" : name);
    if (is_inside(path, "/chunks") || is_inside(path, "/inputs") || is_inside(path, "/manifest"))
        return 0;
    hash->object = path;
    add_text(hash, path);
    PS_SCOPED_HID object = H5Oopen(root, name, H5P_DEFAULT);
    if (object < 0) return -1;
    herr_t result = H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, NULL, add_attribute, hash);
    for (int d = 0; result >= 0 && d < hash->store->count; ++d)
        if (strcmp(hash->store->datasets[d].info.name, path) == 0)
            add_dataset(hash, &hash->store->datasets[d]);
    return result < 0 ? -1 : 0;
}

ps_status ps_store_hash_locked(const ps_store *store, char *out)
{
    hashing hash = {store, XXH3_createState(), NULL, false};
    if (!hash.state) return ps_fail(PS_EXHAUSTED, "no memory to hash %s", store->path);
    XXH3_64bits_reset(hash.state);
    add_text(&hash, store->format);
    ps_status status = PS_OK;
    if (H5Ovisit2(store->file, H5_INDEX_NAME, H5_ITER_INC, add_object, &hash, H5O_INFO_BASIC) < 0)
        status = ps_hdf5_fail(PS_INVALID, store->path, "list its contents");
    snprintf(out, 17, "%016" PRIx64, (uint64_t)XXH3_64bits_digest(hash.state));
    XXH3_freeState(hash.state);
    return status;
}

/* An object of /inputs: all of it. */
static herr_t add_input(hid_t root, const char *name, const H5O_info_t *info, void *context)
{
    hashing *hash = context;
    hash->record = false;
    hash->object = name;
    add_text(hash, name);
    PS_SCOPED_HID object = H5Oopen(root, name, H5P_DEFAULT);
    if (object < 0) return -1;
    herr_t result = H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, NULL, add_attribute, hash);
    return result < 0 ? -1 : 0;
}

ps_status ps_store_record_hash(const ps_store *store, const char *content, char *out)
{
    hashing hash = {store, XXH3_createState(), "/", true};
    if (!hash.state) return ps_fail(PS_EXHAUSTED, "no memory to hash %s", store->path);
    XXH3_64bits_reset(hash.state);
    add_text(&hash, content);
    PS_SCOPED_HID root = H5Oopen(store->file, "/", H5P_DEFAULT), inputs = -1;
    bool good =
        root >= 0 && H5Aiterate2(root, H5_INDEX_NAME, H5_ITER_INC, NULL, add_attribute, &hash) >= 0;
    if (good && ps_hdf5_exists(store->file, "/inputs")) {
        inputs = H5Oopen(store->file, "/inputs", H5P_DEFAULT);
        good = inputs >= 0 &&
               H5Ovisit2(inputs, H5_INDEX_NAME, H5_ITER_INC, add_input, &hash, H5O_INFO_BASIC) >= 0;
    }
    ps_status status =
        good ? PS_OK : ps_hdf5_fail(PS_INVALID, store->path, "list its inputs and options");
    snprintf(out, 17, "%016" PRIx64, (uint64_t)XXH3_64bits_digest(hash.state));
    XXH3_freeState(hash.state);
    return status;
}

ps_status ps_store_content_hash(const ps_store *store, char *out)
{
    if (store->hash[0]) { /* an opened file stays as it is */
        memcpy(out, store->hash, sizeof store->hash);
        return PS_OK;
    }
    ps_hdf5_lock();
    ps_status status = ps_store_hash_locked(store, out);
    ps_hdf5_unlock();
    return status;
}

/* ---- inputs ---- */

ps_status ps_store_add_input(ps_store *store, const char *role, const ps_store *input)
{
    char hash[17], object[PS_NAME_MAX];
    int64_t count = 0;
    if (!role[0] || strchr(role, '/') || strlen(role) > 64)
        return ps_fail(PS_FAILED, "'%s' is no role of an input", role);
    snprintf(object, sizeof object, "/inputs/%s", role);
    if (ps_store_has(store, object, NULL))
        return ps_fail(PS_FAILED, "%s: input %s is recorded already", store->path, role);
    if (ps_path_same(store->path, input->path))
        return ps_fail(PS_USAGE, "%s: is read; the output needs another name", store->path);
    PS_TRY(ps_store_content_hash(input, hash));
    PS_TRY(ps_store_put_text(store, object, "file", ps_path_last(input->path)));
    PS_TRY(ps_store_put_text(store, object, "format", input->format));
    PS_TRY(ps_store_put_text(store, object, "uuid", input->uuid));
    PS_TRY(ps_store_put_text(store, object, "content_hash", hash));
    PS_TRY(ps_store_get_int(store, "/inputs", "count", &count));
    return ps_store_put_int(store, "/inputs", "count", count + 1);
}
