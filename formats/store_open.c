/* store_open: a complete file and its tables; everything in it is doubted. */
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "formats/h5zstd.h"
#include "formats/store_format.h"
#include "formats/store_private.h"
#include "runtime/memory.h"
#include "runtime/path.h"
#include "runtime/scope.h"
#include "runtime/trust.h"

/* ---- the file ---- */

/* What can be said without HDF5. */
static ps_status look_at(ps_store *store)
{
    static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    unsigned char start[8];
    struct stat found;
    FILE *file;
    PS_TRY(ps_path_open_input(store->path, "a file of penstock", &file));
    size_t got = fread(start, 1, sizeof start, file);
    if (fstat(fileno(file), &found) == 0) store->file_bytes = found.st_size;
    fclose(file);
    if (got < sizeof start || memcmp(start, signature, sizeof start) != 0)
        return ps_fail(PS_INVALID, "%s: is not an HDF5 file, so not one of penstock", store->path);
    return PS_OK;
}

static ps_status open_file(ps_store *store)
{
    PS_SCOPED_HID access = ps_hdf5_file_access();
    store->file = access < 0 ? -1 : H5Fopen(store->path, H5F_ACC_RDONLY, access);
    return store->file < 0
               ? ps_hdf5_fail(PS_INVALID, store->path, "be opened, it is damaged or truncated")
               : PS_OK;
}

static ps_status check_version(const ps_store *store, const char *what, int64_t version,
                               int64_t most)
{
    if (version >= 1 && version <= most) return PS_OK;
    if (version < 1)
        return ps_fail(PS_INVALID, "%s: has an impossible %s, %lld", store->path, what,
                       (long long)version);
    return ps_fail(PS_INVALID,
                   "%s: %s is version %lld, this program reads up to %lld: use a newer penstock",
                   store->path, what, (long long)version, (long long)most);
}

static ps_status read_identity(ps_store *store, const char *format, int version_max)
{
    int64_t layout, version;
    if (ps_attribute_text(store, "/", "format", store->format, sizeof store->format) != PS_OK ||
        strncmp(store->format, "penstock-", 9) != 0 ||
        ps_attribute_ints(store, "/", "store_version", &layout, 1) != PS_OK)
        return ps_fail(PS_INVALID, "%s: is an HDF5 file, but not one of penstock", store->path);
    PS_TRY(check_version(store, "its container", layout, PS_STORE_VERSION));
    store->layout = (int)layout;
    PS_TRY(ps_attribute_text(store, "/", "uuid", store->uuid, sizeof store->uuid));
    PS_TRY(ps_attribute_ints(store, "/", "format_version", &version, 1));
    if (format && strcmp(format, store->format) != 0)
        return ps_fail(PS_INVALID, "%s: is a %s file, expected %s", store->path, store->format,
                       format);
    PS_TRY(check_version(store, store->format, version, version_max > 0 ? version_max : INT32_MAX));
    store->version = (int)version;
    return PS_OK;
}

ps_status ps_store_read_generation(const char *path, int64_t *out)
{
    ps_store *store;
    *out = 0;
    PS_TRY(ps_store_new(path, &store));
    ps_status status = look_at(store);
    ps_hdf5_lock();
    if (status == PS_OK) status = open_file(store);
    if (status == PS_OK) status = ps_store_try_root(store);
    if (status == PS_OK && H5Aexists(store->file, "generation") > 0)
        status = ps_attribute_ints(store, "/", "generation", out, 1);
    ps_hdf5_unlock();
    ps_store_free(store);
    if (status == PS_OK && (*out < 0 || *out > INT32_MAX))
        return ps_fail(PS_INVALID, "%s: has an impossible generation, %lld", path, (long long)*out);
    return status;
}

bool ps_store_is_other(const char *path, const char *format)
{
    ps_store *store;
    struct stat file;
    char found[sizeof store->format];
    if (stat(path, &file) == 0 && S_ISREG(file.st_mode) && file.st_size == 0) return false;
    if (ps_store_new(path, &store) != PS_OK) return true;
    bool other = look_at(store) != PS_OK;
    ps_hdf5_lock();
    if (!other && open_file(store) == PS_OK)
        other = ps_attribute_text(store, "/", "format", found, sizeof found) != PS_OK ||
                strcmp(found, format) != 0;
    ps_hdf5_unlock();
    ps_store_free(store);
    return other;
}

/* ---- a dataset ---- */

static ps_status odd(const ps_store *store, const char *name, const char *what)
{
    return ps_fail(PS_INVALID, "%s: dataset %s %s; the file is damaged or not of this program",
                   store->path, name, what);
}

static bool find_type(hid_t set, ps_type *out)
{
    PS_SCOPED_HID type = H5Dget_type(set);
    for (*out = PS_U8; type >= 0 && *out <= PS_F64; ++*out)
        if (H5Tequal(type, ps_hdf5_type(*out)) > 0) return true;
    return false;
}

static bool find_dims(hid_t set, ps_dataset_info *info)
{
    hsize_t dims[PS_STORE_RANK_MAX];
    PS_SCOPED_HID space = H5Dget_space(set);
    int rank = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
    bool good = rank >= 1 && rank <= PS_STORE_RANK_MAX &&
                H5Sget_simple_extent_dims(space, dims, NULL) == rank;
    for (int r = 0; good && r < rank; ++r) {
        good = dims[r] <= INT64_MAX;
        info->dims[r] = (int64_t)dims[r];
    }
    info->rank = rank;
    return good;
}

/* Chunks and filters are as this program writes them. */
static bool is_laid_out(hid_t list, const ps_dataset_info *info, bool *deflate)
{
    hsize_t chunk[PS_STORE_RANK_MAX];
    unsigned flags, config;
    if (H5Pget_layout(list) != H5D_CHUNKED ||
        H5Pget_chunk(list, PS_STORE_RANK_MAX, chunk) != info->rank || H5Pget_nfilters(list) != 2)
        return false;
    for (int r = 0; r < info->rank; ++r)
        if (chunk[r] != (hsize_t)(r ? info->dims[r] : info->chunk_rows)) return false;
    H5Z_filter_t second = H5Pget_filter2(list, 1, &flags, NULL, NULL, 0, NULL, &config);
    *deflate = second == H5Z_FILTER_DEFLATE;
    return H5Pget_filter2(list, 0, &flags, NULL, NULL, 0, NULL, &config) == H5Z_FILTER_SHUFFLE &&
           (*deflate || second == PS_H5ZSTD_ID);
}

static ps_status check_layout(const ps_store *store, ps_store_dataset_state *dataset)
{
    const ps_dataset_info *info = &dataset->info;
    PS_SCOPED_HID list = H5Dget_create_plist(dataset->handle);
    bool virtual = list >= 0 && H5Pget_layout(list) == H5D_VIRTUAL;
    bool good = list >= 0 && (virtual || info->chunk_count == 0 ||
                              is_laid_out(list, info, &dataset->codec.deflate));
    if (virtual) { /* its chunks are in the parts */
        H5Dclose(dataset->handle);
        dataset->handle = -1;
    }
    return good ? PS_OK : odd(store, info->name, "has another layout than its chunk table says");
}

static ps_status read_attributes(const ps_store *store, ps_store_dataset_state *dataset)
{
    ps_dataset_info *info = &dataset->info;
    int64_t bits = 0;
    PS_TRY(ps_attribute_text(store, info->name, "units", info->units, sizeof info->units));
    if (H5Aexists_by_name(store->file, info->name, "keep_bits", H5P_DEFAULT) > 0)
        PS_TRY(ps_attribute_ints(store, info->name, "keep_bits", &bits, 1));
    if (bits < 0 || bits > 52) return odd(store, info->name, "has impossible keep_bits");
    info->keep_bits = (int)bits;
    return PS_OK;
}

static ps_status load_dataset(ps_store *store, ps_store_dataset_state *dataset)
{
    ps_dataset_info *info = &dataset->info;
    if (!ps_hdf5_exists(store->file, info->name)) return odd(store, info->name, "is missing");
    dataset->handle = H5Dopen2(store->file, info->name, H5P_DEFAULT);
    if (dataset->handle < 0) return ps_hdf5_fail(PS_INVALID, store->path, "open a dataset");
    if (!find_type(dataset->handle, &info->type))
        return odd(store, info->name, "has a foreign type");
    if (!find_dims(dataset->handle, info)) return odd(store, info->name, "has a foreign shape");
    PS_TRY(read_attributes(store, dataset));
    if (!ps_store_shape(dataset)) return odd(store, info->name, "has impossible sizes");
    return check_layout(store, dataset);
}

/* ---- its table ---- */

/* Names of the extra columns; false if it is no table of ours. */
static bool find_extras(hid_t type, ps_dataset_info *info)
{
    int members = H5Tget_class(type) == H5T_COMPOUND ? H5Tget_nmembers(type) : 0;
    if (members < PS_TABLE_FIELDS || members > PS_TABLE_FIELDS + PS_STORE_EXTRAS_MAX) return false;
    info->extra_count = members - PS_TABLE_FIELDS;
    for (int e = 0; e < info->extra_count; ++e) {
        char *name = H5Tget_member_name(type, (unsigned)(PS_TABLE_FIELDS + e));
        bool fits = name && strlen(name) < sizeof info->extras[e];
        if (fits) strcpy(info->extras[e], name);
        H5free_memory(name);
        if (!fits) return false;
    }
    PS_SCOPED_HID expected = ps_hdf5_row_type(info->extra_count, info->extras);
    return expected >= 0 && H5Tequal(expected, type) > 0;
}

/* Chunks of arrays are full as far as their rows go; ragged ones hold what they hold. */
static bool is_counted(const ps_store_dataset_state *dataset, int64_t chunk)
{
    const ps_chunk_info *row = &dataset->chunks[chunk];
    bool ragged = dataset->info.rank == 2 && dataset->info.chunk_rows == 1;
    return (ragged || row->count == ps_store_rows_of(dataset, chunk) * dataset->row_elements) &&
           row->zeros >= 0 && row->non_finite >= 0 && row->zeros <= row->count - row->non_finite;
}

static ps_status check_rows(const ps_store *store, const ps_store_dataset_state *dataset)
{
    const ps_dataset_info *info = &dataset->info;
    bool whole = store->parts == 0;
    for (int64_t c = 0; c < info->chunk_count; ++c) {
        const ps_chunk_info *row = &dataset->chunks[c];
        if (row->stored_bytes < 1 || row->stored_bytes > row->raw_bytes || row->count < 0 ||
            row->raw_bytes > info->chunk_bytes ||
            !ps_h5zstd_plausible((uint64_t)row->stored_bytes, (uint64_t)row->raw_bytes) ||
            (whole && row->raw_bytes != info->chunk_bytes) ||
            row->count > row->raw_bytes / (int64_t)ps_type_size(info->type) ||
            (whole && !is_counted(dataset, c)))
            return odd(store, info->name, "has impossible sizes in its chunk table");
    }
    return PS_OK;
}

/* Reads the rows at once and checks their hash. `set` has the type `type`. */
static ps_status read_rows(const ps_store *store, ps_store_dataset_state *dataset, hid_t set,
                           hid_t type, uint64_t expected)
{
    const ps_dataset_info *info = &dataset->info;
    size_t row = (size_t)(PS_TABLE_FIELDS + info->extra_count) * PS_TABLE_FIELD_BYTES;
    PS_SCOPED_HID space = H5Dget_space(set);
    int64_t rows = space < 0 ? -1 : (int64_t)H5Sget_simple_extent_npoints(space);
    if (rows != info->chunk_count || rows > store->file_bytes / (int64_t)row)
        return odd(store, info->name, "has another number of chunks than its chunk table");
    PS_SCOPED_MEMORY char *table = NULL;
    PS_TRY(ps_alloc((void **)&table, rows, row, "a chunk table"));
    PS_TRY(PS_ALLOC(&dataset->chunks, rows, "a chunk table"));
    if (rows && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, table) < 0)
        return ps_hdf5_fail(PS_INVALID, store->path, "read a chunk table");
    if (XXH3_64bits(table, (size_t)rows * row) != expected)
        return odd(store, info->name, "has a chunk table whose hash differs");
    for (int64_t c = 0; c < rows; ++c) memcpy(&dataset->chunks[c], table + (size_t)c * row, row);
    return PS_OK;
}

static ps_status load_table(ps_store *store, ps_store_dataset_state *dataset, const char *table)
{
    int64_t hash, rows;
    ps_dataset_info *info = &dataset->info;
    PS_TRY(ps_attribute_ints(store, table, "xxh3", &hash, 1));
    PS_TRY(ps_attribute_ints(store, table, "chunk_rows", &rows, 1));
    if (rows < 1) return odd(store, info->name, "has impossible sizes in its chunk table");
    info->chunk_rows = rows;
    PS_SCOPED_HID set = H5Dopen2(store->file, table, H5P_DEFAULT);
    PS_SCOPED_HID type = set < 0 ? -1 : H5Dget_type(set);
    if (type < 0) return ps_hdf5_fail(PS_INVALID, store->path, "open a chunk table");
    if (!find_extras(type, info)) return odd(store, info->name, "has a foreign chunk table");
    PS_TRY(load_dataset(store, dataset));
    if (store->parts) PS_TRY(ps_store_join(store, dataset));
    PS_TRY(read_rows(store, dataset, set, type, (uint64_t)hash));
    PS_TRY(check_rows(store, dataset));
    return store->parts ? ps_store_check_joined(store, dataset) : PS_OK;
}

/* ---- all tables ---- */

typedef struct listing {
    ps_store *store;
    ps_status status;
} listing;

static herr_t note_table(hid_t group, const char *name, const H5O_info_t *info, void *context)
{
    listing *list = context;
    if (info->type != H5O_TYPE_DATASET) return 0;
    ps_store_dataset_state *dataset;
    if (strlen(name) + 1 >= PS_NAME_MAX)
        list->status =
            ps_fail(PS_INVALID, "%s: has a chunk table with too long a name", list->store->path);
    else if ((list->status = ps_store_append(list->store, &dataset)) == PS_OK)
        snprintf(dataset->info.name, sizeof dataset->info.name, "/%s", name);
    return list->status == PS_OK ? 0 : 1;
}

/* Puts the datasets into the order in which they were defined. */
static ps_status order_tables(ps_store *store)
{
    PS_SCOPED_MEMORY ps_store_dataset_state *ordered = NULL;
    PS_TRY(PS_ALLOC(&ordered, store->count, "datasets"));
    for (int d = 0; d < store->count; ++d) {
        char table[2 * PS_NAME_MAX];
        int64_t number = -1;
        snprintf(table, sizeof table, "/chunks%s", store->datasets[d].info.name);
        PS_TRY(ps_attribute_ints(store, table, "number", &number, 1));
        if (number < 0 || number >= store->count || ordered[number].info.name[0])
            return odd(store, store->datasets[d].info.name, "has no good number");
        ordered[number] = store->datasets[d];
    }
    if (store->count) memcpy(store->datasets, ordered, (size_t)store->count * sizeof *ordered);
    return PS_OK;
}

static ps_status load_tables(ps_store *store)
{
    listing list = {store, PS_OK};
    if (!ps_hdf5_exists(store->file, "/chunks"))
        return ps_fail(PS_INVALID, "%s: has no chunk tables", store->path);
    PS_SCOPED_HID group = H5Gopen2(store->file, "/chunks", H5P_DEFAULT);
    if (group < 0 ||
        H5Ovisit2(group, H5_INDEX_NAME, H5_ITER_INC, note_table, &list, H5O_INFO_BASIC) < 0)
        list.status = ps_hdf5_fail(PS_INVALID, store->path, "list the chunk tables");
    PS_TRY(list.status);
    PS_TRY(order_tables(store));
    for (int d = 0; d < store->count; ++d) {
        char table[2 * PS_NAME_MAX];
        snprintf(table, sizeof table, "/chunks%s", store->datasets[d].info.name);
        PS_TRY(load_table(store, &store->datasets[d], table));
    }
    return PS_OK;
}

/* ---- contents ---- */

/* Attributes and tables are those that were written: costs no reading. Lock held. */
static ps_status check_hash(ps_store *store)
{
    char told[17], record[17];
    PS_TRY(ps_store_hash_locked(store, store->hash));
    if (ps_inputs_trusted()) return PS_OK;
    PS_TRY(ps_attribute_text(store, "/", "content_hash", told, sizeof told));
    if (strcmp(told, store->hash) != 0)
        return ps_fail(PS_INVALID,
                       "%s: its content hash is %s, recorded was %s: attributes or tables were "
                       "changed after it was written; make it again, or go on with --trust",
                       store->path, store->hash, told);
    if (store->layout < 2) return PS_OK; /* such files have no record hash */
    PS_TRY(ps_store_record_hash(store, store->hash, record));
    PS_TRY(ps_attribute_text(store, "/", "record_hash", told, sizeof told));
    if (strcmp(told, record) == 0) return PS_OK;
    return ps_fail(PS_INVALID,
                   "%s: its record hash is %s, recorded was %s: its options, inputs or origin were "
                   "changed after it was written; make it again, or go on with --trust",
                   store->path, record, told);
}

/* Fields, traces and gravity maps have gaps where nothing was computed (the maps' reader checks
 * where); those that ask for no kind show it. */
static bool may_have_gaps(const char *format)
{
    return !format || strcmp(format, "penstock-field") == 0 ||
           strcmp(format, "penstock-trace") == 0 || strcmp(format, "penstock-gravity-map") == 0;
}

ps_status ps_store_check_finite(const ps_store *store)
{
    if (ps_inputs_trusted()) return PS_OK;
    for (int d = 0; d < store->count; ++d) {
        const ps_store_dataset_state *dataset = &store->datasets[d];
        for (int64_t c = 0; c < dataset->info.chunk_count; ++c)
            if (dataset->chunks[c].non_finite > 0)
                return ps_fail(PS_INVALID,
                               "%s: chunk %lld of %s has %lld values that are not finite; make it "
                               "again, or go on with --trust",
                               store->path, (long long)c, dataset->info.name,
                               (long long)dataset->chunks[c].non_finite);
    }
    return PS_OK;
}

ps_status ps_store_open(const char *path, const char *format, int version_max, ps_store **out)
{
    PS_TRY(ps_store_open_unchecked(path, format, version_max, out));
    ps_hdf5_lock();
    ps_status status = check_hash(*out);
    ps_hdf5_unlock();
    if (status == PS_OK && !may_have_gaps(format)) status = ps_store_check_finite(*out);
    if (status != PS_OK) ps_store_close(out);
    return status;
}

ps_status ps_store_open_unchecked(const char *path, const char *format, int version_max,
                                  ps_store **out)
{
    ps_store *store;
    *out = NULL;
    PS_TRY(ps_store_new(path, &store));
    ps_status status = look_at(store);
    ps_hdf5_lock();
    if (status == PS_OK) status = open_file(store);
    if (status == PS_OK) status = ps_store_try_root(store);
    if (status == PS_OK) status = read_identity(store, format, version_max);
    if (status == PS_OK) status = ps_store_check_links(store);
    ps_hdf5_unlock();
    if (status == PS_OK) status = ps_store_open_parts(store);
    ps_hdf5_lock();
    if (status == PS_OK) status = load_tables(store);
    ps_hdf5_unlock();
    if (status == PS_OK)
        *out = store;
    else
        ps_store_free(store);
    return status;
}
