/* store_hdf5: the lock around HDF5, its failures in our words, and a few helpers. */
#include <errno.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/h5zstd.h"
#include "formats/store_driver.h"
#include "formats/store_private.h"

_Static_assert(sizeof(ps_hid) == sizeof(hid_t), "ps_hid stands for hid_t");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files are little-endian, as is memory");

static pthread_mutex_t hdf5_mutex = PTHREAD_MUTEX_INITIALIZER;

static const H5Z_class2_t zstd_class = {
    .version = H5Z_CLASS_T_VERS,
    .id = PS_H5ZSTD_ID,
    .encoder_present = 1,
    .decoder_present = 1,
    .name = "zstd",
    .filter = ps_h5zstd_filter,
};

void ps_hdf5_lock(void)
{
    static bool ready;
    static _Thread_local bool silent;
    pthread_mutex_lock(&hdf5_mutex);
    if (!ready) {
        H5dont_atexit(); /* after a failed close HDF5 would try again at exit, and may crash */
        H5open();
        H5Zregister(&zstd_class);
        ready = true;
    }
    if (!silent) { /* the error stack is per thread */
        H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
        silent = true;
    }
}

void ps_hdf5_unlock(void) { pthread_mutex_unlock(&hdf5_mutex); }

void ps_hdf5_close(ps_hid *handle)
{
    if (*handle >= 0) H5Idec_ref(*handle);
}

/* ---- trials ---- */

enum { TRIAL_SECONDS = 60 };

static ps_status attempt_alone(void *trial)
{
    const ps_trial *inner = trial;
    H5set_free_list_limits(0, 0, 0, 0, 0, 0);
    H5garbage_collect();
    return inner->attempt(inner->context);
}

ps_status ps_hdf5_try(const char *path, ps_status (*attempt)(void *context), void *context,
                      ps_trial_end *out)
{
    ps_trial inner = {.attempt = attempt, .context = context};
    const ps_trial trial = {path, attempt_alone, &inner, .seconds = TRIAL_SECONDS};
    return ps_trial_run(&trial, out);
}

/* ---- failures ---- */

typedef struct reason {
    char text[160];
    int error; /* errno of the system call beneath, 0 if none */
} reason;

/* Upward: the innermost cause comes first. */
static herr_t collect(unsigned n, const H5E_error2_t *entry, void *context)
{
    reason *found = context;
    const char *mark = strstr(entry->desc, "errno = ");
    if (n == 0) snprintf(found->text, sizeof found->text, "%s", entry->desc);
    if (mark && !found->error) found->error = atoi(mark + 8);
    return 0;
}

static bool is_full(int error) { return error == ENOSPC || error == EDQUOT || error == EFBIG; }

ps_status ps_system_fail(ps_status code, const char *path, const char *what, int error)
{
    if (is_full(error))
        return ps_fail(PS_EXHAUSTED, "%s: cannot %s: %s; free some space or write elsewhere", path,
                       what, strerror(error));
    return ps_fail(code, "%s: cannot %s: %s", path, what, strerror(error));
}

ps_status ps_hdf5_fail(ps_status code, const char *path, const char *what)
{
    reason found = {.text = "no reason given by HDF5"};
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, collect, &found);
    if (found.error) return ps_system_fail(code, path, what, found.error);
    return ps_fail(code, "%s: cannot %s: %s", path, what, found.text);
}

ps_hid ps_hdf5_file_access(void)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (access < 0) return access;
    /* 1.10 structures carry checksums of their own, so that damage to them is seen. Files are
     * complete before they get their name, so locks would only trouble network disks. */
    if (H5Pset_driver(access, ps_driver_id(), NULL) < 0 ||
        H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110) < 0 ||
        H5Pset_file_locking(access, 0, 1) < 0 ||
        H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) < 0) {
        H5Pclose(access);
        return -1;
    }
    return access;
}

ps_hid ps_hdf5_type(ps_type type)
{
    switch (type) {
    case PS_U8:
        return H5T_STD_U8LE;
    case PS_U16:
        return H5T_STD_U16LE;
    case PS_U32:
        return H5T_STD_U32LE;
    case PS_I32:
        return H5T_STD_I32LE;
    case PS_I64:
        return H5T_STD_I64LE;
    case PS_F32:
        return H5T_IEEE_F32LE;
    case PS_F64:
        return H5T_IEEE_F64LE;
    }
    return -1;
}

bool ps_hdf5_exists(ps_hid file, const char *path)
{
    if (strcmp(path, "/") == 0) return true;
    if (path[0] != '/') return false;
    char part[2 * PS_NAME_MAX];
    size_t length = strlen(path);
    if (length >= sizeof part) return false;
    for (size_t i = 1; i <= length; ++i) {
        if (path[i] != '/' && path[i] != '\0') continue;
        memcpy(part, path, i);
        part[i] = '\0';
        if (H5Lexists(file, part, H5P_DEFAULT) <= 0) return false;
    }
    return H5Oexists_by_name(file, path, H5P_DEFAULT) > 0;
}

ps_hid ps_hdf5_creation(ps_hid kind)
{
    enum { MOST = 65535 }; /* libhdf5's largest number */
    hid_t list = H5Pcreate(kind);
    bool has_links = kind != H5P_DATASET_CREATE;
    if (list >= 0 && H5Pset_attr_phase_change(list, MOST, 0) >= 0 &&
        (!has_links || H5Pset_link_phase_change(list, MOST, 0) >= 0))
        return list;
    if (list >= 0) H5Pclose(list);
    return -1;
}

static hid_t create_group(hid_t file, const char *path)
{
    PS_SCOPED_HID list = ps_hdf5_creation(H5P_GROUP_CREATE);
    return list < 0 ? -1 : H5Gcreate2(file, path, H5P_DEFAULT, list, H5P_DEFAULT);
}

ps_hid ps_hdf5_open_group(ps_hid file, const char *path)
{
    char part[2 * PS_NAME_MAX];
    size_t length = strlen(path);
    if (ps_hdf5_exists(file, path)) return H5Gopen2(file, path, H5P_DEFAULT);
    if (path[0] != '/' || length >= sizeof part) return -1;
    for (size_t i = 1; i < length; ++i) {
        if (path[i] != '/') continue;
        snprintf(part, sizeof part, "%.*s", (int)i, path);
        hid_t group = ps_hdf5_exists(file, part) ? H5Gopen2(file, part, H5P_DEFAULT)
                                                 : create_group(file, part);
        if (group < 0 || H5Gclose(group) < 0) return -1;
    }
    return create_group(file, path);
}

bool ps_hdf5_make_parents(ps_hid file, const char *path)
{
    char parent[2 * PS_NAME_MAX];
    const char *last = strrchr(path, '/');
    if (!last || last == path) return true;
    snprintf(parent, sizeof parent, "%.*s", (int)(last - path), path);
    hid_t group = ps_hdf5_open_group(file, parent);
    return group >= 0 && H5Gclose(group) >= 0;
}

ps_hid ps_hdf5_row_type(int extra_count, char extras[][32])
{
    static const char *const names[PS_TABLE_FIELDS] = {
        "stored_bytes", "raw_bytes", "count",       "xxh3",  "minimum",
        "maximum",      "sum",       "sum_squares", "zeros", "non_finite"};
    hid_t types[PS_TABLE_FIELDS] = {H5T_STD_I64LE,  H5T_STD_I64LE,  H5T_STD_I64LE,  H5T_STD_U64LE,
                                    H5T_IEEE_F64LE, H5T_IEEE_F64LE, H5T_IEEE_F64LE, H5T_IEEE_F64LE,
                                    H5T_STD_I64LE,  H5T_STD_I64LE};
    size_t size = (size_t)(PS_TABLE_FIELDS + extra_count) * PS_TABLE_FIELD_BYTES;
    hid_t row = H5Tcreate(H5T_COMPOUND, size);
    for (int f = 0; row >= 0 && f < PS_TABLE_FIELDS + extra_count; ++f) {
        bool extra = f >= PS_TABLE_FIELDS;
        if (H5Tinsert(row, extra ? extras[f - PS_TABLE_FIELDS] : names[f],
                      (size_t)f * PS_TABLE_FIELD_BYTES, extra ? H5T_IEEE_F64LE : types[f]) < 0) {
            H5Tclose(row);
            row = -1;
        }
    }
    return row;
}
