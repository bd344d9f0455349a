/* store_attributes: small values beside the data. */
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/store_private.h"

/* ---- writing; lock held ---- */

static hid_t open_for_writing(ps_store *store, const char *object)
{
    if (ps_hdf5_exists(store->file, object)) return H5Oopen(store->file, object, H5P_DEFAULT);
    return ps_hdf5_open_group(store->file, object);
}

/* count < 0: a scalar. */
static ps_status put(ps_store *store, const char *object, const char *name, hid_t type, int count,
                     const void *data)
{
    if (!store->temporary)
        return ps_fail(PS_FAILED, "%s: is complete, attribute %s cannot be added", store->path,
                       name);
    PS_SCOPED_HID target = open_for_writing(store, object), attribute = -1;
    hsize_t extent = (hsize_t)count;
    PS_SCOPED_HID space = count < 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &extent, NULL);
    if (target >= 0 && H5Aexists(target, name) > 0) H5Adelete(target, name);
    if (target >= 0 && space >= 0)
        attribute = H5Acreate2(target, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute >= 0 && H5Awrite(attribute, type, data) >= 0) return PS_OK;
    char what[2 * PS_NAME_MAX + 32];
    snprintf(what, sizeof what, "write attribute %s of %s", name, object);
    return ps_hdf5_fail(PS_FAILED, store->path, what);
}

static bool is_ascii(const char *text)
{
    while (*text)
        if ((unsigned char)*text++ > 127) return false;
    return true;
}

/* Fixed-length, as long as the text: what ParaView wants of /VTKHDF's Type. */
ps_status ps_attribute_put_text(ps_store *store, const char *object, const char *name,
                                const char *value)
{
    size_t length = strlen(value);
    if (length >= PS_OPTIONS_MAX)
        return ps_fail(PS_FAILED, "%s: attribute %s is too long (%zu bytes)", store->path, name,
                       length);
    PS_SCOPED_HID type = H5Tcopy(H5T_C_S1);
    if (type < 0 || H5Tset_size(type, length ? length : 1) < 0 ||
        H5Tset_strpad(type, H5T_STR_NULLPAD) < 0 ||
        (!is_ascii(value) && H5Tset_cset(type, H5T_CSET_UTF8) < 0))
        return ps_hdf5_fail(PS_FAILED, store->path, "describe a text");
    return put(store, object, name, type, -1, value);
}

ps_status ps_attribute_put_ints(ps_store *store, const char *object, const char *name,
                                const int64_t *values, int count)
{
    return put(store, object, name, H5T_STD_I64LE, count, values);
}

#define UNDER_LOCK(expression)                                                                     \
    do {                                                                                           \
        ps_hdf5_lock();                                                                            \
        ps_status status_ = (expression);                                                          \
        ps_hdf5_unlock();                                                                          \
        return status_;                                                                            \
    } while (0)

ps_status ps_store_put_int(ps_store *store, const char *object, const char *name, int64_t value)
{
    UNDER_LOCK(put(store, object, name, H5T_STD_I64LE, -1, &value));
}

ps_status ps_store_put_real(ps_store *store, const char *object, const char *name, double value)
{
    UNDER_LOCK(put(store, object, name, H5T_IEEE_F64LE, -1, &value));
}

ps_status ps_store_put_text(ps_store *store, const char *object, const char *name,
                            const char *value)
{
    UNDER_LOCK(ps_attribute_put_text(store, object, name, value));
}

ps_status ps_store_put_reals(ps_store *store, const char *object, const char *name,
                             const double *values, int count)
{
    UNDER_LOCK(put(store, object, name, H5T_IEEE_F64LE, count, values));
}

ps_status ps_store_put_ints(ps_store *store, const char *object, const char *name,
                            const int64_t *values, int count)
{
    UNDER_LOCK(put(store, object, name, H5T_STD_I64LE, count, values));
}

/* ---- reading; lock held ---- */

static ps_status absent(const ps_store *store, const char *object, const char *name)
{
    return ps_fail(PS_INVALID, "%s: has no attribute %s at %s", store->path, name, object);
}

/* Opens an attribute; *type is its type. */
static ps_status open_attribute(const ps_store *store, const char *object, const char *name,
                                hid_t *attribute, hid_t *type)
{
    if (!ps_hdf5_exists(store->file, object) ||
        H5Aexists_by_name(store->file, object, name, H5P_DEFAULT) <= 0)
        return absent(store, object, name);
    *attribute = H5Aopen_by_name(store->file, object, name, H5P_DEFAULT, H5P_DEFAULT);
    *type = *attribute < 0 ? -1 : H5Aget_type(*attribute);
    return *type >= 0 ? PS_OK : ps_hdf5_fail(PS_INVALID, store->path, "open an attribute");
}

static int64_t points_of(hid_t attribute)
{
    PS_SCOPED_HID space = H5Aget_space(attribute);
    return space < 0 ? -1 : (int64_t)H5Sget_simple_extent_npoints(space);
}

/* Numbers of any kind, converted; integers only where `integers`. */
static ps_status get_numbers(const ps_store *store, const char *object, const char *name,
                             bool integers, int count, void *out)
{
    PS_SCOPED_HID attribute = -1, type = -1;
    PS_TRY(open_attribute(store, object, name, &attribute, &type));
    H5T_class_t class = H5Tget_class(type);
    int64_t points = points_of(attribute);
    if (class != H5T_INTEGER && (integers || class != H5T_FLOAT))
        return ps_fail(PS_INVALID, "%s: attribute %s at %s is no %s", store->path, name, object,
                       integers ? "integer" : "number");
    if (points != count)
        return ps_fail(PS_INVALID, "%s: attribute %s at %s has %lld values, expected %d",
                       store->path, name, object, (long long)points, count);
    return H5Aread(attribute, integers ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE, out) < 0
               ? ps_hdf5_fail(PS_INVALID, store->path, "read an attribute")
               : PS_OK;
}

ps_status ps_attribute_ints(const ps_store *store, const char *object, const char *name,
                            int64_t *values, int count)
{
    return get_numbers(store, object, name, true, count, values);
}

ps_status ps_attribute_text(const ps_store *store, const char *object, const char *name, char *out,
                            size_t size)
{
    PS_SCOPED_HID attribute = -1, type = -1;
    PS_TRY(open_attribute(store, object, name, &attribute, &type));
    size_t length = H5Tget_size(type);
    if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0 ||
        points_of(attribute) != 1)
        return ps_fail(PS_INVALID, "%s: attribute %s at %s is no text of fixed length", store->path,
                       name, object);
    if (length >= size)
        return ps_fail(PS_INVALID, "%s: attribute %s at %s has %zu characters, at most %zu fit",
                       store->path, name, object, length, size - 1);
    if (H5Aread(attribute, type, out) < 0)
        return ps_hdf5_fail(PS_INVALID, store->path, "read an attribute");
    out[length] = '\0';
    return PS_OK;
}

ps_status ps_store_get_int(const ps_store *store, const char *object, const char *name,
                           int64_t *out)
{
    UNDER_LOCK(get_numbers(store, object, name, true, 1, out));
}

ps_status ps_store_get_real(const ps_store *store, const char *object, const char *name,
                            double *out)
{
    UNDER_LOCK(get_numbers(store, object, name, false, 1, out));
}

ps_status ps_store_get_reals(const ps_store *store, const char *object, const char *name,
                             double *out, int count)
{
    UNDER_LOCK(get_numbers(store, object, name, false, count, out));
}

ps_status ps_store_get_ints(const ps_store *store, const char *object, const char *name,
                            int64_t *out, int count)
{
    UNDER_LOCK(get_numbers(store, object, name, true, count, out));
}

ps_status ps_store_get_text(const ps_store *store, const char *object, const char *name, char *out,
                            size_t size)
{
    UNDER_LOCK(ps_attribute_text(store, object, name, out, size));
}

bool ps_store_has(const ps_store *store, const char *object, const char *name)
{
    ps_hdf5_lock();
    bool has = ps_hdf5_exists(store->file, object) &&
               (!name || H5Aexists_by_name(store->file, object, name, H5P_DEFAULT) > 0);
    ps_hdf5_unlock();
    return has;
}

/* ---- provenance, and copying ---- */

/* Addresses of dimension scales are of the file, too (store_scales.c). */
static bool is_scale(const char *name)
{
    static const char *const names[] = {"CLASS", "NAME", "REFERENCE_LIST", "DIMENSION_LIST"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

bool ps_attribute_is_provenance(const char *object, const char *name)
{
    if (is_scale(name)) return true;
    static const char *const names[] = {"uuid",    "creator",      "revision",   "created",
                                        "options", "content_hash", "generation", "record_hash"};
    if (strcmp(object, "/") != 0) return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

typedef struct copying {
    ps_store *to;
    const char *object;
    ps_status status;
} copying;

static herr_t copy_one(hid_t source, const char *name, const H5A_info_t *info, void *context)
{
    copying *copy = context;
    if (ps_attribute_is_provenance(copy->object, name)) return 0;
    PS_SCOPED_HID attribute = H5Aopen(source, name, H5P_DEFAULT);
    PS_SCOPED_HID type = attribute < 0 ? -1 : H5Aget_type(attribute);
    PS_SCOPED_HID space = attribute < 0 ? -1 : H5Aget_space(attribute);
    PS_SCOPED_MEMORY void *data = malloc((size_t)info->data_size + 1);
    int count = space < 0 || H5Sget_simple_extent_type(space) == H5S_SCALAR
                    ? -1
                    : (int)H5Sget_simple_extent_npoints(space);
    if (type < 0 || space < 0 || !data || H5Aread(attribute, type, data) < 0)
        copy->status = ps_hdf5_fail(PS_INVALID, copy->to->path, "copy an attribute");
    else
        copy->status = put(copy->to, copy->object, name, type, count, data);
    return copy->status == PS_OK ? 0 : 1;
}

ps_status ps_attribute_copy_all(ps_store *to, const ps_store *from, const char *object)
{
    copying copy = {to, object, PS_OK};
    PS_SCOPED_HID source = H5Oopen(from->file, object, H5P_DEFAULT);
    if (source < 0) return ps_hdf5_fail(PS_INVALID, from->path, "open an object");
    herr_t end = H5Aiterate2(source, H5_INDEX_NAME, H5_ITER_INC, NULL, copy_one, &copy);
    if (end < 0 && copy.status == PS_OK)
        copy.status = ps_hdf5_fail(PS_INVALID, from->path, "list attributes");
    return copy.status;
}
