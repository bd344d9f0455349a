/*
 * store_scales: HDF5's dimension scales, by which xarray, netCDF and h5py know the coordinates of
 * an array. They are written as "HDF5 Dimension Scale Specification" has them, without the
 * high-level library: CLASS, NAME and REFERENCE_LIST at a scale, DIMENSION_LIST at the arrays. They
 * hold addresses of this file, no contents: neither hash has them.
 */
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/store_private.h"
#include "formats/store_scales.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

/* A dataset and the dimension of it that a scale belongs to. */
typedef struct use {
    hobj_ref_t dataset;
    int dimension;
} use;

/* An attribute of one dimension, anew. */
static bool put(hid_t owner, const char *name, hid_t type, hsize_t count, const void *data)
{
    PS_SCOPED_HID space = H5Screate_simple(1, &count, NULL);
    PS_SCOPED_HID attribute =
        space < 0 ? -1 : H5Acreate2(owner, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    return attribute >= 0 && H5Awrite(attribute, type, data) >= 0;
}

static bool put_list(const ps_store *store, const ps_store_dataset_state *array)
{
    hobj_ref_t references[PS_STORE_RANK_MAX];
    hvl_t lists[PS_STORE_RANK_MAX];
    bool good = true;
    for (int d = 0; d < array->info.rank; ++d) {
        good &= H5Rcreate(&references[d], store->file, array->dimensions[d], H5R_OBJECT, -1) >= 0;
        lists[d] = (hvl_t){1, &references[d]};
    }
    PS_SCOPED_HID type = H5Tvlen_create(H5T_STD_REF_OBJ),
                  owner = H5Oopen(store->file, array->info.name, H5P_DEFAULT);
    return good && type >= 0 && owner >= 0 &&
           put(owner, "DIMENSION_LIST", type, (hsize_t)array->info.rank, lists);
}

/* A text that ends with a zero, which readers of scales ask for. */
static bool put_text(hid_t owner, const char *name, const char *text)
{
    PS_SCOPED_HID type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR), attribute = -1;
    if (type >= 0 && space >= 0 && H5Tset_size(type, strlen(text) + 1) >= 0)
        attribute = H5Acreate2(owner, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    return attribute >= 0 && H5Awrite(attribute, type, text) >= 0;
}

static bool put_scale(const ps_store *store, const char *scale, const char *name, const use *uses,
                      int64_t count)
{
    PS_SCOPED_HID type = H5Tcreate(H5T_COMPOUND, sizeof(use));
    PS_SCOPED_HID owner = H5Oopen(store->file, scale, H5P_DEFAULT);
    return type >= 0 && owner >= 0 &&
           H5Tinsert(type, "dataset", HOFFSET(use, dataset), H5T_STD_REF_OBJ) >= 0 &&
           H5Tinsert(type, "dimension", HOFFSET(use, dimension), H5T_NATIVE_INT) >= 0 &&
           put(owner, "REFERENCE_LIST", type, (hsize_t)count, uses) &&
           put_text(owner, "CLASS", "DIMENSION_SCALE") && put_text(owner, "NAME", name);
}

/* A dimension without coordinates as netCDF-4 has it: a dataset of this length, of which nothing is
 * ever stored. */
static bool make_bare(const ps_store *store, const char *scale, int64_t length)
{
    hsize_t extent = (hsize_t)length;
    hid_t set = -1;
    PS_SCOPED_HID space = H5Screate_simple(1, &extent, NULL),
                  list = ps_hdf5_creation(H5P_DATASET_CREATE);
    if (space >= 0 && list >= 0 && ps_hdf5_make_parents(store->file, scale))
        set = H5Dcreate2(store->file, scale, H5T_IEEE_F32BE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    return set >= 0 && H5Dclose(set) >= 0;
}

/* The length of the scale where the file has it, -1 where not. */
static int64_t coordinates(const ps_store *store, const char *scale)
{
    for (int d = 0; d < store->count; ++d)
        if (strcmp(store->datasets[d].info.name, scale) == 0)
            return store->datasets[d].info.rank == 1 ? store->datasets[d].info.dims[0] : 0;
    return -1;
}

/* All uses of the scale: uses[], with room for every dimension of every dataset. */
static ps_status list_uses(const ps_store *store, const char *scale, int64_t length, use *uses,
                           int64_t *count)
{
    *count = 0;
    for (int i = 0; i < store->count; ++i) {
        const ps_store_dataset_state *array = &store->datasets[i];
        for (int d = 0; d < array->info.rank; ++d) {
            if (strcmp(array->dimensions[d], scale) != 0) continue;
            if (array->info.dims[d] != length)
                return ps_fail(PS_FAILED, "%s: dimension %d of %s has length %lld, %s has %lld",
                               store->path, d, array->info.name, (long long)array->info.dims[d],
                               scale, (long long)length);
            if (H5Rcreate(&uses[*count].dataset, store->file, array->info.name, H5R_OBJECT, -1) < 0)
                return ps_hdf5_fail(PS_FAILED, store->path, "refer to an array");
            uses[(*count)++].dimension = d;
        }
    }
    return PS_OK;
}

static ps_status make_scale(ps_store *store, const char *scale, int64_t length)
{
    PS_SCOPED_MEMORY use *uses = NULL;
    char name[96];
    int64_t count, found = coordinates(store, scale);
    if (H5Aexists_by_name(store->file, scale, "CLASS", H5P_DEFAULT) > 0) return PS_OK;
    PS_TRY(PS_ALLOC(&uses, (int64_t)PS_STORE_RANK_MAX * store->count, "uses of a scale"));
    PS_TRY(list_uses(store, scale, found < 0 ? length : found, uses, &count));
    if (found < 0)
        snprintf(name, sizeof name, "This is a netCDF dimension but not a netCDF variable.%10lld",
                 (long long)length);
    else
        snprintf(name, sizeof name, "%s", strrchr(scale, '/') + 1);
    if ((found < 0 && !make_bare(store, scale, length)) ||
        !put_scale(store, scale, name, uses, count))
        return ps_hdf5_fail(PS_FAILED, store->path, "write a dimension scale");
    return PS_OK;
}

/* ---- names ---- */

static bool is_scale(const ps_store *store, const char *name)
{
    for (int i = 0; i < store->count; ++i)
        for (int d = 0; d < store->datasets[i].info.rank; ++d)
            if (strcmp(store->datasets[i].dimensions[d], name) == 0) return true;
    return false;
}

/* NAME_0, NAME_1, .. beside a dataset that names none, so that none of a file is without. */
static ps_status name_dimensions(const ps_store *store, ps_store_dataset_state *array)
{
    if (array->dimensions[0][0] || store->layout != PS_STORE_VERSION ||
        is_scale(store, array->info.name))
        return PS_OK;
    for (int d = 0; d < array->info.rank; ++d) {
        char name[PS_NAME_MAX];
        if (snprintf(name, sizeof name, "%s_%d", array->info.name, d) >= PS_NAME_MAX)
            return ps_fail(PS_FAILED, "%s: the name of %s is too long", store->path,
                           array->info.name);
        strcpy(array->dimensions[d], name);
    }
    return PS_OK;
}

static ps_status put_names(ps_store *store, const ps_store_dataset_state *array)
{
    char text[PS_STORE_RANK_MAX * PS_NAME_MAX] = "";
    for (int d = 0; d < array->info.rank; ++d) {
        if (d) strcat(text, " ");
        strcat(text, array->dimensions[d]);
    }
    return ps_attribute_put_text(store, array->info.name, "dimensions", text);
}

ps_status ps_store_get_dimensions(const ps_store *store, ps_store_dataset_state *dataset)
{
    char text[PS_STORE_RANK_MAX * PS_NAME_MAX], *rest = text;
    if (H5Aexists_by_name(store->file, dataset->info.name, "dimensions", H5P_DEFAULT) <= 0)
        return PS_OK;
    PS_TRY(ps_attribute_text(store, dataset->info.name, "dimensions", text, sizeof text));
    for (int d = 0; d < dataset->info.rank; ++d) {
        const char *name = strsep(&rest, " ");
        if (!name || name[0] != '/' || !name[1] || strlen(name) >= PS_NAME_MAX)
            return ps_fail(PS_INVALID, "%s: attribute dimensions of %s does not name %d of them",
                           store->path, dataset->info.name, dataset->info.rank);
        strcpy(dataset->dimensions[d], name);
    }
    return PS_OK;
}

ps_status ps_store_put_scales(ps_store *store)
{
    for (int i = 0; i < store->count; ++i) PS_TRY(name_dimensions(store, &store->datasets[i]));
    for (int i = 0; i < store->count; ++i) {
        const ps_store_dataset_state *array = &store->datasets[i];
        if (!array->dimensions[0][0]) continue;
        PS_TRY(put_names(store, array));
        for (int d = 0; d < array->info.rank; ++d)
            PS_TRY(make_scale(store, array->dimensions[d], array->info.dims[d]));
        if (!put_list(store, array))
            return ps_hdf5_fail(PS_FAILED, store->path, "write dimensions");
    }
    return PS_OK;
}

/* ---- coordinates ---- */

static ps_status put_column(ps_store *store, const char *name, ps_type type, int64_t count,
                            const char *units, const char *description, const void *values)
{
    const ps_dataset_spec spec = {.name = name,
                                  .type = type,
                                  .rank = 1,
                                  .dims = {count},
                                  .units = units,
                                  .description = description};
    return ps_store_write_array(store, &spec, values);
}

ps_status ps_store_put_numbers(ps_store *store, const char *name, int64_t count,
                               const char *description)
{
    PS_SCOPED_MEMORY int32_t *numbers = NULL;
    PS_TRY(PS_ALLOC(&numbers, count, "numbers of a scale"));
    for (int64_t i = 0; i < count; ++i) numbers[i] = (int32_t)i;
    return put_column(store, name, PS_I32, count, "1", description, numbers);
}

ps_status ps_store_put_axis(ps_store *store, const char *name, int axis, double origin,
                            double spacing, int64_t count)
{
    static const char *const what[] = {"x", "y", "z, down"};
    static const char *const names[] = {"projection_x_coordinate", "projection_y_coordinate",
                                        "depth"};
    static const char *const letters[] = {"X", "Y", "Z"};
    PS_SCOPED_MEMORY double *values = NULL;
    PS_TRY(PS_ALLOC(&values, count, "an axis of a grid"));
    for (int64_t i = 0; i < count; ++i) values[i] = origin + (double)i * spacing;
    PS_TRY(put_column(store, name, PS_F64, count, "m", what[axis], values));
    if (axis == 2) PS_TRY(ps_store_put_text(store, name, "positive", "down"));
    PS_TRY(ps_store_put_text(store, name, "standard_name", names[axis]));
    return ps_store_put_text(store, name, "axis", letters[axis]);
}

ps_status ps_store_put_axes(ps_store *store, const double origin[3], const double spacing[3],
                            const int64_t count[3])
{
    static const char *const names[] = {"/x", "/y", "/z"};
    for (int a = 0; a < 3; ++a)
        PS_TRY(ps_store_put_axis(store, names[a], a, origin[a], spacing[a], count[a]));
    return PS_OK;
}
