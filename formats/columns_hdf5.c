#include "formats/columns_hdf5.h"

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/columns_chunks.h"
#include "formats/h5zstd.h"
#include "formats/store_private.h"
#include "runtime/memory.h"

enum { NAMES_MAX = 16 };

struct ps_hdf5_columns {
    char path[4096], names[NAMES_MAX][PS_NAME_MAX];
    char units[NAMES_MAX][32]; /* of the attribute of this name; "" if there is none */
    double gaps[NAMES_MAX][2]; /* what stands for a value that is not there; NAN: nothing */
    hid_t file, handles[NAMES_MAX];
    int count, width[NAMES_MAX];
    int64_t rows;
};

bool ps_is_hdf5(const char *path)
{
    static const char signature[8] = "\211HDF\r\n\032\n";
    char begin[8] = {0};
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    bool found = fread(begin, 1, 8, file) == 8 && memcmp(begin, signature, 8) == 0;
    fclose(file);
    return found;
}

/* Lock held. Number of dimensions with their extents; < 0 if it is no array of numbers. */
static int shape_of(hid_t handle, hsize_t dims[2])
{
    PS_SCOPED_HID type = H5Dget_type(handle), space = H5Dget_space(handle);
    H5T_class_t class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
    int rank = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
    dims[0] = dims[1] = 1;
    if ((class != H5T_FLOAT && class != H5T_INTEGER) || rank < 1 || rank > 2) rank = -1;
    if (rank > 0) H5Sget_simple_extent_dims(space, dims, NULL);
    return rank;
}

/* Lock held. An attribute of one number, or `otherwise`. */
static double attribute_of(hid_t handle, const char *name, double otherwise)
{
    double value = otherwise;
    if (H5Aexists(handle, name) <= 0) return otherwise;
    PS_SCOPED_HID attribute = H5Aopen(handle, name, H5P_DEFAULT), space = -1, type = -1;
    if (attribute >= 0) space = H5Aget_space(attribute), type = H5Aget_type(attribute);
    H5T_class_t class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
    bool number = (class == H5T_FLOAT || class == H5T_INTEGER) && space >= 0 &&
                  H5Sget_simple_extent_npoints(space) == 1;
    if (!number || H5Aread(attribute, H5T_NATIVE_DOUBLE, &value) < 0) value = otherwise;
    return value;
}

/* Lock held. An attribute of text, or "". */
static void text_of(hid_t handle, const char *name, char out[32])
{
    char *text = NULL, fixed[256] = "";
    out[0] = 0;
    if (H5Aexists(handle, name) <= 0) return;
    PS_SCOPED_HID attribute = H5Aopen(handle, name, H5P_DEFAULT), type = -1, space = -1;
    if (attribute >= 0) space = H5Aget_space(attribute), type = H5Aget_type(attribute);
    bool one = type >= 0 && space >= 0 && H5Tget_class(type) == H5T_STRING &&
               H5Sget_simple_extent_npoints(space) == 1;
    if (one && H5Tis_variable_str(type) > 0) {
        if (H5Aread(attribute, type, &text) >= 0 && text) snprintf(out, 32, "%s", text);
        H5free_memory(text);
    } else if (one && H5Tget_size(type) < sizeof fixed && H5Aread(attribute, type, fixed) >= 0) {
        snprintf(out, 32, "%.31s", fixed);
    }
}

/* Lock held. What attributes of CF say that the numbers stand for. */
static ps_status read_attributes(ps_hdf5_columns *c, int number)
{
    hid_t handle = c->handles[number];
    double scale = attribute_of(handle, "scale_factor", 1),
           offset = attribute_of(handle, "add_offset", 0);
    text_of(handle, "units", c->units[number]);
    c->gaps[number][0] = attribute_of(handle, "_FillValue", NAN);
    c->gaps[number][1] = attribute_of(handle, "missing_value", NAN);
    if (scale == 1 && offset == 0) return PS_OK;
    return ps_fail(PS_INVALID,
                   "%s: %s is packed: its values are to be multiplied by scale_factor %g and added "
                   "to add_offset %g; write them so into the file, without these attributes",
                   c->path, c->names[number], scale, offset);
}

/* Lock held. */
static ps_status open_dataset(ps_hdf5_columns *c, const char *name)
{
    hsize_t dims[2];
    char full[PS_NAME_MAX];
    snprintf(full, sizeof full, "%s%s", name[0] == '/' ? "" : "/", name);
    snprintf(c->names[c->count], PS_NAME_MAX, "%s", full);
    if (!ps_hdf5_exists(c->file, full))
        return ps_fail(PS_INVALID, "%s: there is no dataset %s", c->path, full);
    hid_t handle = H5Dopen2(c->file, full, H5P_DEFAULT);
    if (handle < 0) return ps_fail(PS_INVALID, "%s: %s is no dataset", c->path, full);
    c->handles[c->count++] = handle;
    PS_TRY(ps_hdf5_check_own(handle, c->path, full));
    PS_TRY(ps_hdf5_check_written(handle, c->path, full));
    PS_TRY(read_attributes(c, c->count - 1));
    if (shape_of(handle, dims) < 0)
        return ps_fail(PS_INVALID, "%s: %s is not an array of numbers of 1 or 2 dimensions",
                       c->path, full);
    if (c->count > 1 && (int64_t)dims[0] != c->rows)
        return ps_fail(PS_INVALID, "%s: %s has %lld rows, %s has %lld", c->path, full,
                       (long long)dims[0], c->names[0], (long long)c->rows);
    if (dims[1] < 1 || dims[1] > 1024)
        return ps_fail(PS_INVALID, "%s: %s has %lld columns", c->path, full, (long long)dims[1]);
    c->rows = (int64_t)dims[0];
    c->width[c->count - 1] = (int)dims[1];
    return PS_OK;
}

typedef struct opening {
    ps_hdf5_columns *columns;
    const char *const *names;
    int count;
} opening;

/* Lock held. */
static ps_status open_all(void *context)
{
    const opening *o = context;
    ps_hdf5_columns *c = o->columns;
    PS_SCOPED_HID access = ps_hdf5_file_access();
    c->file = access < 0 ? -1 : H5Fopen(c->path, H5F_ACC_RDONLY, access);
    if (c->file < 0) return ps_hdf5_fail(PS_INVALID, c->path, "open the file");
    for (int n = 0; n < o->count; ++n) PS_TRY(open_dataset(c, o->names[n]));
    return PS_OK;
}

/* Lock held. No checksum may cover the way to the datasets: a child goes there first. */
static ps_status open_tried(opening *o)
{
    const char *path = o->columns->path;
    ps_trial_end end;
    PS_TRY(ps_hdf5_try(path, open_all, o, &end));
    if (end == PS_TRIAL_DIED)
        return ps_fail(PS_INVALID, "%s: is damaged: a trial did not survive opening its datasets",
                       path);
    return open_all(o);
}

ps_status ps_hdf5_columns_open(const char *path, const char *const *names, int name_count,
                               ps_hdf5_columns **out)
{
    *out = NULL;
    if (name_count > NAMES_MAX) return ps_fail(PS_USAGE, "more than %d datasets", NAMES_MAX);
    PS_TRY(PS_ALLOC(out, 1, "an HDF5 file"));
    (*out)->file = -1;
    snprintf((*out)->path, sizeof(*out)->path, "%s", path);
    ps_hdf5_lock();
    ps_status status = open_tried(&(opening){*out, names, name_count});
    ps_hdf5_unlock();
    if (status != PS_OK) ps_hdf5_columns_close(out);
    return status;
}

int64_t ps_hdf5_columns_rows(const ps_hdf5_columns *columns) { return columns->rows; }

int ps_hdf5_columns_width(const ps_hdf5_columns *columns, int name) { return columns->width[name]; }

/* Lock held. */
static bool read_rows(hid_t handle, const hsize_t first[2], const hsize_t count[2], int rank,
                      double *out)
{
    PS_SCOPED_HID space = H5Dget_space(handle), memory = H5Screate_simple(rank, count, NULL);
    ps_h5zstd_expect(ps_hdf5_chunk_bytes(handle));
    bool good = space >= 0 && memory >= 0 &&
                H5Sselect_hyperslab(space, H5S_SELECT_SET, first, NULL, count, NULL) >= 0 &&
                H5Dread(handle, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, out) >= 0;
    ps_h5zstd_expect(0);
    return good;
}

static ps_status check_gaps(const ps_hdf5_columns *c, int name, int64_t first, int64_t count,
                            const double *values)
{
    const double *gap = c->gaps[name];
    for (int64_t i = 0; i < count * c->width[name]; ++i)
        if (values[i] == gap[0] || values[i] == gap[1])
            return ps_fail(
                PS_INVALID, "%s: %s: row %lld is %g, which its attributes say stands for no value",
                c->path, c->names[name], (long long)(first + i / c->width[name]), values[i]);
    return PS_OK;
}

ps_status ps_hdf5_columns_read(ps_hdf5_columns *columns, int name, int64_t first, int64_t count,
                               double *out)
{
    hsize_t from[2] = {(hsize_t)first, 0};
    hsize_t size[2] = {(hsize_t)count, (hsize_t)columns->width[name]};
    hsize_t dims[2];
    ps_status status = PS_OK;
    ps_hdf5_lock();
    int rank = shape_of(columns->handles[name], dims);
    if (ps_hdf5_check_chunks(columns->handles[name], (uint64_t[2]){from[0], from[1]},
                             (uint64_t[2]){size[0], size[1]}) != PS_OK) {
        status =
            ps_fail(PS_INVALID, "%s: %s: %s", columns->path, columns->names[name], ps_message());
    } else if (!read_rows(columns->handles[name], from, size, rank, out)) {
        char what[PS_NAME_MAX + 16];
        snprintf(what, sizeof what, "read %s", columns->names[name]);
        status = ps_hdf5_fail(PS_INVALID, columns->path, what);
    }
    ps_hdf5_unlock();
    return status == PS_OK ? check_gaps(columns, name, first, count, out) : status;
}

const char *ps_hdf5_columns_units(const ps_hdf5_columns *columns, int name)
{
    return columns->units[name];
}

void ps_hdf5_columns_close(ps_hdf5_columns **columns)
{
    ps_hdf5_columns *c = *columns;
    if (!c) return;
    ps_hdf5_lock();
    for (int n = 0; n < c->count; ++n) H5Dclose(c->handles[n]);
    if (c->file >= 0) H5Fclose(c->file);
    ps_hdf5_unlock();
    free(c);
    *columns = NULL;
}
