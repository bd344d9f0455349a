/* store_master: one file a rank, and a master that joins them. */
#include <dirent.h>
#include <hdf5.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/store_private.h"
#include "runtime/comm.h"
#include "runtime/memory.h"
#include "runtime/path.h"
#include "runtime/scope.h"
#include "runtime/sizes.h"

enum { PATH_SIZE = 4096 };

/* A row of /manifest. */
typedef struct manifest_row {
    char file[256], uuid[40], content_hash[16];
} manifest_row;

/* ---- names and generations ---- */

void ps_store_part_path(const char *path, int64_t generation, int part, char *out)
{
    int stem = (int)ps_path_stem(path);
    char set[24] = "";
    if (generation > 0) snprintf(set, sizeof set, ".g%lld", (long long)generation);
    snprintf(out, PATH_SIZE, "%.*s%s.part%04d%s", stem, path, set, part, path + stem);
}

/* Whether `name` in the folder of `path` is one of its parts. */
static bool is_part(const char *path, const char *name, int64_t *generation, int64_t *part)
{
    const char *last = ps_path_last(path), *suffix = path + ps_path_stem(path);
    size_t stem = (size_t)(suffix - last);
    int end = 0;
    *generation = 0;
    if (strncmp(name, last, stem) != 0) return false;
    name += stem;
    if (strncmp(name, ".g", 2) == 0) {
        if (sscanf(name, ".g%9" SCNd64 "%n", generation, &end) != 1 || *generation < 1)
            return false;
        name += end;
        end = 0;
    }
    return sscanf(name, ".part%9" SCNd64 "%n", part, &end) == 1 && end >= 9 &&
           strspn(name + 5, "0123456789") == (size_t)end - 5 && strcmp(name + end, suffix) == 0;
}

/* Calls `visit` for every part of `path` that lies in its folder. */
static void each_part(const char *path,
                      void (*visit)(void *context, const char *file, int64_t generation,
                                    int64_t part),
                      void *context)
{
    char folder[PATH_SIZE], file[2 * PATH_SIZE];
    int64_t generation, part;
    ps_path_folder(path, folder, sizeof folder);
    DIR *list = opendir(folder);
    for (struct dirent *entry; list && (entry = readdir(list));) {
        if (!is_part(path, entry->d_name, &generation, &part)) continue;
        snprintf(file, sizeof file, "%s/%s", folder, entry->d_name);
        visit(context, file, generation, part);
    }
    if (list) closedir(list);
}

static void note_highest(void *context, const char *file, int64_t generation, int64_t part)
{
    int64_t *highest = context;
    if (generation > *highest) *highest = generation;
}

ps_status ps_store_next_generation(const char *path, int64_t *out)
{
    char previous[PATH_SIZE + 16]; /* the name of an output that a stopped run set aside */
    *out = 0;
    snprintf(previous, sizeof previous, "%s.previous", path);
    const char *old = access(path, F_OK) == 0 ? path : previous;
    if (ps_comm_rank() == 0 && access(old, F_OK) == 0) {
        if (ps_store_read_generation(old, out) != PS_OK) each_part(path, note_highest, out);
        ++*out;
    }
    return ps_comm_broadcast(out, sizeof *out, 0);
}

/* What is held of the sets at a path. */
static void hold_name(const char *path, char name[PATH_SIZE + 16])
{
    snprintf(name, PATH_SIZE + 16, "%s.set", path);
}

void ps_store_tidy(const char *path)
{
    char name[PATH_SIZE + 16];
    hold_name(path, name);
    ps_output_tidy(path);
    ps_output_tidy(name);
}

ps_status ps_store_set_begin(const char *path, ps_store_set *out)
{
    char name[PATH_SIZE + 16];
    *out = (ps_store_set){0};
    hold_name(path, name);
    PS_TRY(ps_comm_agree(ps_comm_rank() == 0 ? ps_output_begin(name, &out->hold) : PS_OK));
    return ps_store_next_generation(path, &out->generation);
}

void ps_store_set_release(ps_store_set *set) { ps_output_discard(&set->hold); }

/* The set that stays. */
typedef struct kept_set {
    int64_t generation, parts;
} kept_set;

static void remove_old(void *context, const char *file, int64_t generation, int64_t part)
{
    const kept_set *kept = context;
    if (generation < kept->generation || (generation == kept->generation && part >= kept->parts))
        unlink(file);
}

void ps_store_remove_old_parts(const char *path, int64_t generation, int64_t parts)
{
    each_part(path, remove_old, &(kept_set){generation, parts});
}

/* ---- the manifest; lock held ---- */

static hid_t text_type(size_t size)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    if (type < 0) return type;
    H5Tset_size(type, size);
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    return type;
}

static hid_t manifest_type(void)
{
    hid_t row = H5Tcreate(H5T_COMPOUND, sizeof(manifest_row));
    PS_SCOPED_HID file = text_type(256), uuid = text_type(40), hash = text_type(16);
    H5Tinsert(row, "file", offsetof(manifest_row, file), file);
    H5Tinsert(row, "uuid", offsetof(manifest_row, uuid), uuid);
    H5Tinsert(row, "content_hash", offsetof(manifest_row, content_hash), hash);
    return row;
}

static ps_status write_manifest(ps_store *master)
{
    PS_SCOPED_MEMORY manifest_row *rows = NULL;
    PS_TRY(PS_ALLOC(&rows, master->parts, "a manifest"));
    for (int p = 0; p < master->parts; ++p) {
        char hash[17];
        snprintf(rows[p].file, sizeof rows[p].file, "%s", ps_path_last(master->part[p]->path));
        memcpy(rows[p].uuid, master->part[p]->uuid, sizeof rows[p].uuid);
        PS_TRY(ps_store_hash_locked(master->part[p], hash));
        memcpy(rows[p].content_hash, hash, sizeof rows[p].content_hash);
    }
    hsize_t extent = (hsize_t)master->parts;
    PS_SCOPED_HID type = manifest_type(), space = H5Screate_simple(1, &extent, NULL);
    PS_SCOPED_HID set =
        H5Dcreate2(master->file, "/manifest", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    return set < 0 || H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows) < 0
               ? ps_hdf5_fail(PS_FAILED, master->path, "write the manifest")
               : PS_OK;
}

/* *out: rows, freed by the caller; store->parts stays 0 where there is no manifest. */
static ps_status read_manifest(const ps_store *store, manifest_row **out, int *count)
{
    *out = NULL;
    *count = 0;
    if (!ps_hdf5_exists(store->file, "/manifest")) return PS_OK;
    PS_SCOPED_HID set = H5Dopen2(store->file, "/manifest", H5P_DEFAULT);
    PS_SCOPED_HID type = set < 0 ? -1 : H5Dget_type(set), space = set < 0 ? -1 : H5Dget_space(set);
    PS_SCOPED_HID expected = manifest_type();
    int64_t rows = space < 0 ? -1 : (int64_t)H5Sget_simple_extent_npoints(space);
    if (rows < 1 || rows > 1000000 || rows > store->file_bytes / (int64_t)sizeof **out ||
        type < 0 || H5Tequal(type, expected) <= 0)
        return ps_fail(PS_INVALID, "%s: has a manifest that is not one of penstock", store->path);
    PS_TRY(PS_ALLOC(out, rows, "a manifest"));
    if (H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, *out) < 0)
        return ps_hdf5_fail(PS_INVALID, store->path, "read the manifest");
    *count = (int)rows;
    return PS_OK;
}

/* ---- opening a master ---- */

static ps_status open_part(ps_store *store, const manifest_row *row, int part)
{
    char path[PATH_SIZE], hash[17] = "";
    const char *name = ps_path_last(store->path);
    int folder = (int)(name - store->path), length = (int)strnlen(row->file, sizeof row->file);
    if (length == 0 || memchr(row->file, '/', (size_t)length) || folder + length >= PATH_SIZE)
        return ps_fail(PS_INVALID, "%s: part %d has no good name in the manifest", store->path,
                       part);
    snprintf(path, sizeof path, "%.*s%.*s", folder, store->path, length, row->file);
    PS_TRY_IN(ps_store_open(path, store->format, store->version, &store->part[part]), "%s: part %d",
              store->path, part);
    if (store->part[part]->parts)
        return ps_fail(PS_INVALID, "%s: part %d, %s, is a master itself", store->path, part, path);
    PS_TRY(ps_store_content_hash(store->part[part], hash));
    if (strncmp(store->part[part]->uuid, row->uuid, sizeof row->uuid) != 0 ||
        memcmp(hash, row->content_hash, sizeof row->content_hash) != 0)
        return ps_fail(PS_INVALID,
                       "%s: part %d, %s, is not the file that was joined (its uuid or content "
                       "differs); restore it or run the program again",
                       store->path, part, path);
    return PS_OK;
}

ps_status ps_store_open_parts(ps_store *store)
{
    manifest_row *rows;
    int count;
    ps_hdf5_lock();
    ps_status status = read_manifest(store, &rows, &count);
    ps_hdf5_unlock();
    if (status == PS_OK && count) status = PS_ALLOC(&store->part, count, "parts");
    if (status == PS_OK) store->parts = count;
    for (int p = 0; p < store->parts && status == PS_OK; ++p)
        status = open_part(store, &rows[p], p);
    free(rows);
    return status;
}

static bool same_kind(const ps_dataset_info *a, const ps_dataset_info *b)
{
    bool ragged = a->rank == 2 && a->chunk_rows == 1 && b->chunk_rows == 1;
    bool same = a->type == b->type && a->rank == b->rank && strcmp(a->units, b->units) == 0 &&
                a->keep_bits == b->keep_bits && a->extra_count == b->extra_count &&
                memcmp(a->extras, b->extras, sizeof a->extras) == 0;
    for (int r = 1; same && r < a->rank; ++r) same = ragged || a->dims[r] == b->dims[r];
    return same;
}

ps_status ps_store_join(const ps_store *store, ps_store_dataset_state *dataset)
{
    ps_dataset_info *info = &dataset->info;
    int64_t rows = 0, chunks = 0;
    PS_TRY(PS_ALLOC(&dataset->part_rows, store->parts + 1, "parts"));
    PS_TRY(PS_ALLOC(&dataset->part_chunks, store->parts + 1, "parts"));
    PS_TRY(PS_ALLOC(&dataset->part_ids, store->parts, "parts"));
    for (int p = 0; p < store->parts; ++p) {
        PS_TRY(ps_store_find(store->part[p], info->name, &dataset->part_ids[p]));
        const ps_dataset_info *part = &store->part[p]->datasets[dataset->part_ids[p]].info;
        if (!same_kind(info, part))
            return ps_fail(PS_INVALID,
                           "%s: %s differs in type, shape, units or table columns from that of %s",
                           store->part[p]->path, info->name, store->part[0]->path);
        rows += part->dims[0];
        chunks += part->chunk_count;
        dataset->part_rows[p + 1] = rows;
        dataset->part_chunks[p + 1] = chunks;
        if (part->chunk_bytes > info->chunk_bytes) info->chunk_bytes = part->chunk_bytes;
    }
    if (rows != info->dims[0])
        return ps_fail(PS_INVALID, "%s: %s has %lld rows, its parts have %lld", store->path,
                       info->name, (long long)info->dims[0], (long long)rows);
    info->chunk_count = chunks;
    return PS_OK;
}

ps_status ps_store_check_joined(const ps_store *store, const ps_store_dataset_state *dataset)
{
    for (int p = 0; p < store->parts; ++p) {
        const ps_store_dataset_state *part = &store->part[p]->datasets[dataset->part_ids[p]];
        if (memcmp(dataset->chunks + dataset->part_chunks[p], part->chunks,
                   (size_t)part->info.chunk_count * sizeof *part->chunks) != 0)
            return ps_fail(PS_INVALID, "%s: the chunk table of %s differs from that of part %d",
                           store->path, dataset->info.name, p);
    }
    return PS_OK;
}

void ps_store_resolve(ps_store **store, int *id, int64_t *chunk)
{
    if (!(*store)->parts) return;
    const ps_store_dataset_state *dataset = &(*store)->datasets[*id];
    int64_t part = ps_range_of(dataset->part_chunks, (*store)->parts, *chunk);
    *chunk -= dataset->part_chunks[part];
    *id = dataset->part_ids[part];
    *store = (*store)->part[part];
}

/* ---- writing a master ---- */

/* A dataset that has nothing of its own but the places of its rows. Lock held. */
static hid_t virtual_list(const ps_store *master, const ps_store_dataset_state *dataset,
                          hid_t space)
{
    const ps_dataset_info *info = &dataset->info;
    hid_t list = ps_hdf5_creation(H5P_DATASET_CREATE);
    for (int p = 0; list >= 0 && p < master->parts; ++p) {
        const ps_dataset_info *part = &master->part[p]->datasets[dataset->part_ids[p]].info;
        hsize_t start[PS_STORE_RANK_MAX] = {(hsize_t)dataset->part_rows[p]},
                size[PS_STORE_RANK_MAX];
        for (int r = 0; r < info->rank; ++r) size[r] = (hsize_t)part->dims[r];
        if (part->chunk_count == 0) continue;
        PS_SCOPED_HID source = H5Screate_simple(info->rank, size, NULL);
        bool good = source >= 0 &&
                    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, size, NULL) >= 0 &&
                    H5Pset_virtual(list, space, ps_path_last(master->part[p]->path), info->name,
                                   source) >= 0;
        if (good) continue;
        H5Pclose(list);
        return -1;
    }
    H5Sselect_all(space);
    return list;
}

static ps_status write_virtual(ps_store *master, const ps_store_dataset_state *dataset)
{
    const ps_dataset_info *info = &dataset->info;
    hsize_t dims[PS_STORE_RANK_MAX];
    for (int r = 0; r < info->rank; ++r) dims[r] = (hsize_t)info->dims[r];
    PS_SCOPED_HID space = H5Screate_simple(info->rank, dims, NULL);
    PS_SCOPED_HID list = virtual_list(master, dataset, space);
    hid_t set = -1;
    if (list >= 0 && ps_hdf5_make_parents(master->file, info->name))
        set = H5Dcreate2(master->file, info->name, ps_hdf5_type(info->type), space, H5P_DEFAULT,
                         list, H5P_DEFAULT);
    return set < 0 || H5Dclose(set) < 0 ? ps_hdf5_fail(PS_FAILED, master->path, "join a dataset")
                                        : PS_OK;
}

/* Shape and table of the joined dataset; its name, type and columns are those of part 0. */
static ps_status join_dataset(ps_store *master, int d)
{
    ps_store_dataset_state *dataset;
    const ps_store_dataset_state *first = &master->part[0]->datasets[d];
    PS_TRY(ps_store_append(master, &dataset));
    dataset->info = first->info;
    dataset->info.dims[0] = 0;
    for (int p = 0; p < master->parts; ++p) {
        int id;
        PS_TRY(ps_store_find(master->part[p], first->info.name, &id));
        const ps_dataset_info *part = &master->part[p]->datasets[id].info;
        dataset->info.dims[0] += part->dims[0];
        if (part->chunk_rows > dataset->info.chunk_rows)
            dataset->info.chunk_rows = part->chunk_rows;
        for (int r = 1; r < part->rank && r < first->info.rank; ++r)
            if (part->dims[r] > dataset->info.dims[r]) dataset->info.dims[r] = part->dims[r];
    }
    if (!ps_store_shape(dataset))
        return ps_fail(PS_FAILED, "%s: %s becomes too large", master->path, first->info.name);
    PS_TRY(ps_store_join(master, dataset));
    PS_TRY(ps_store_get_dimensions(master->part[0], dataset));
    PS_TRY(PS_ALLOC(&dataset->chunks, dataset->info.chunk_count, "a chunk table"));
    for (int p = 0; p < master->parts; ++p) {
        const ps_store_dataset_state *part = &master->part[p]->datasets[dataset->part_ids[p]];
        memcpy(dataset->chunks + dataset->part_chunks[p], part->chunks,
               (size_t)part->info.chunk_count * sizeof *part->chunks);
    }
    return PS_OK;
}

/* Attributes of groups and datasets of part 0; "/" keeps its own identity. Lock held. */
typedef struct mirroring {
    ps_store *master;
    ps_status status;
} mirroring;

static herr_t mirror(hid_t root, const char *name, const H5O_info_t *info, void *context)
{
    mirroring *state = context;
    char path[2 * PS_NAME_MAX];
    snprintf(path, sizeof path, "/%s", strcmp(name, ".") == 0 ? "" : name);
    if (strncmp(path, "/chunks", 7) == 0) return 0;
    PS_SCOPED_HID group = info->type == H5O_TYPE_GROUP && path[1]
                              ? ps_hdf5_open_group(state->master->file, path)
                              : -1;
    state->status = ps_attribute_copy_all(state->master, state->master->part[0], path);
    return state->status == PS_OK ? 0 : 1;
}

static ps_status write_joined(ps_store *master)
{
    for (int d = 0; d < master->part[0]->count; ++d) {
        PS_TRY(join_dataset(master, d));
        PS_TRY(write_virtual(master, &master->datasets[d]));
        PS_TRY(ps_store_write_table(master, &master->datasets[d], d));
    }
    mirroring state = {master, PS_OK};
    if (H5Ovisit2(master->part[0]->file, H5_INDEX_NAME, H5_ITER_INC, mirror, &state,
                  H5O_INFO_BASIC) < 0)
        return ps_hdf5_fail(PS_FAILED, master->path, "copy attributes");
    PS_TRY(state.status);
    return write_manifest(master);
}

ps_status ps_store_write_master(const char *path, const ps_store_identity *identity,
                                int64_t generation, int parts)
{
    ps_store *master;
    char name[PATH_SIZE];
    if (parts < 1) return ps_fail(PS_FAILED, "%s: a master joins at least one part", path);
    PS_TRY(ps_store_create(path, identity, &master));
    ps_status status = PS_ALLOC(&master->part, parts, "parts");
    if (status == PS_OK && generation > 0)
        status = ps_store_put_int(master, "/", "generation", generation);
    for (int p = 0; p < parts && status == PS_OK; ++p) {
        ps_store_part_path(path, generation, p, name);
        status = ps_store_open(name, identity->format, identity->format_version, &master->part[p]);
        if (status == PS_OK) master->parts = p + 1;
    }
    ps_hdf5_lock();
    if (status == PS_OK) status = write_joined(master);
    ps_hdf5_unlock();
    if (status == PS_OK)
        status = ps_store_publish(&master);
    else
        ps_store_close(&master);
    if (status == PS_OK) ps_store_remove_old_parts(path, generation, parts);
    return status;
}
