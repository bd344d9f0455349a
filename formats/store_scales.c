/*
 * store_scales: HDF5's dimension scales, by which xarray, netCDF and h5py know the coordinates of
 * an array. They are written as "HDF5 Dimension Scale Specification" has them, without the
 * high-level library: CLASS, NAME and REFERENCE_LIST at a scale, DIMENSION_LIST at the arrays. They
 * hold addresses of this file, no contents: neither hash has them.
 */
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>

#include "formats/store_private.h"
#include "formats/store_scales.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

typedef struct use {
    hobj_ref_t dataset;
    int dimension;
} use;

enum { USES_MAX = 32 };

/* An attribute of one dimension, anew. */
static bool put(hid_t owner, const char *name, hid_t type, hsize_t count, const void *data)
{
    hid_t space = H5Screate_simple(1, &count, NULL);
    hid_t attribute =
        space < 0 ? -1 : H5Acreate2(owner, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    bool good = attribute >= 0 && H5Awrite(attribute, type, data) >= 0;
    if (attribute >= 0) H5Aclose(attribute);
    if (space >= 0) H5Sclose(space);
    return good;
}

static bool put_dimensions(const ps_store *store, const ps_scaled *array)
{
    hobj_ref_t references[PS_SCALES_MAX];
    hvl_t lists[PS_SCALES_MAX];
    int rank = 0;
    bool good = true;
    for (; rank < PS_SCALES_MAX && array->scales[rank]; ++rank) {
        good &= H5Rcreate(&references[rank], store->file, array->scales[rank], H5R_OBJECT, -1) >= 0;
        lists[rank] = (hvl_t){1, &references[rank]};
    }
    hid_t type = H5Tvlen_create(H5T_STD_REF_OBJ),
          owner = H5Oopen(store->file, array->dataset, H5P_DEFAULT);
    good =
        good && type >= 0 && owner >= 0 && put(owner, "DIMENSION_LIST", type, (hsize_t)rank, lists);
    if (owner >= 0) H5Oclose(owner);
    if (type >= 0) H5Tclose(type);
    return good;
}

/* Which dimensions of which arrays the scale belongs to. */
static int uses_of(const ps_store *store, const char *scale, const ps_scaled *arrays, int count,
                   use out[USES_MAX])
{
    int uses = 0;
    for (int i = 0; i < count; ++i)
        for (int d = 0; d < PS_SCALES_MAX && arrays[i].scales[d]; ++d) {
            if (strcmp(arrays[i].scales[d], scale) != 0 || uses == USES_MAX) continue;
            if (H5Rcreate(&out[uses].dataset, store->file, arrays[i].dataset, H5R_OBJECT, -1) < 0)
                return -1;
            out[uses++].dimension = d;
        }
    return uses;
}

/* A text that ends with a zero, which readers of scales ask for. */
static bool put_text(hid_t owner, const char *name, const char *text)
{
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR), attribute = -1;
    if (type >= 0 && space >= 0 && H5Tset_size(type, strlen(text) + 1) >= 0)
        attribute = H5Acreate2(owner, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    bool good = attribute >= 0 && H5Awrite(attribute, type, text) >= 0;
    if (attribute >= 0) H5Aclose(attribute);
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    return good;
}

static bool put_scale(const ps_store *store, const char *scale, const use *uses, int count)
{
    hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(use));
    hid_t owner = H5Oopen(store->file, scale, H5P_DEFAULT);
    bool good = type >= 0 && owner >= 0 &&
                H5Tinsert(type, "dataset", HOFFSET(use, dataset), H5T_STD_REF_OBJ) >= 0 &&
                H5Tinsert(type, "dimension", HOFFSET(use, dimension), H5T_NATIVE_INT) >= 0 &&
                put(owner, "REFERENCE_LIST", type, (hsize_t)count, uses) &&
                put_text(owner, "CLASS", "DIMENSION_SCALE") &&
                put_text(owner, "NAME", strrchr(scale, '/') + 1);
    if (owner >= 0) H5Oclose(owner);
    if (type >= 0) H5Tclose(type);
    return good;
}

static ps_status put_all(ps_store *store, const ps_scaled *arrays, int count)
{
    use uses[USES_MAX];
    for (int i = 0; i < count; ++i) {
        if (!put_dimensions(store, &arrays[i]))
            return ps_hdf5_fail(PS_FAILED, store->path, "write dimensions");
        for (int d = 0; d < PS_SCALES_MAX && arrays[i].scales[d]; ++d) {
            const char *scale = arrays[i].scales[d];
            if (H5Aexists_by_name(store->file, scale, "CLASS", H5P_DEFAULT) > 0) continue;
            int found = uses_of(store, scale, arrays, count, uses);
            if (found < 0 || !put_scale(store, scale, uses, found))
                return ps_hdf5_fail(PS_FAILED, store->path, "write a dimension scale");
        }
    }
    return PS_OK;
}

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

ps_status ps_store_put_scales(ps_store *store, const ps_scaled *arrays, int count)
{
    ps_hdf5_lock();
    ps_status status = put_all(store, arrays, count);
    ps_hdf5_unlock();
    return status;
}
