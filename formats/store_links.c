/*
 * store_links: groups, before anything goes through them. Links and attributes that lie in a heap
 * of their own ("dense") have no checksum, and libhdf5 1.10 frees what it never set where such a
 * link is damaged. Stores of version 2 have all in headers, which are summed. Those of version 1
 * may have dense groups: a child goes through them first (ps_hdf5_try).
 */
#include <hdf5.h>

#include "formats/store_private.h"

enum { DEPTH_MAX = 16 };

typedef enum walk_kind { CHECK, TRIAL } walk_kind;

typedef struct walk {
    ps_store *store;
    walk_kind kind;
    int depth;
    ps_status status;
} walk;

static ps_status refuse(const ps_store *store, const char *what, const char *name)
{
    return ps_fail(PS_INVALID, "%s: %s %.100s; the file is damaged or not of this program",
                   store->path, what, name);
}

/* Attributes in the header show as messages of it; elsewhere only a note of them does. */
static bool attributes_are_compact(hid_t object)
{
    enum { ATTRIBUTE = 0x0c, ATTRIBUTE_INFO = 0x15 };
    H5O_info_t info;
    if (H5Oget_info2(object, &info, H5O_INFO_HDR | H5O_INFO_NUM_ATTRS) < 0) return false;
    bool noted = info.hdr.mesg.present >> ATTRIBUTE_INFO & 1;
    bool inside = info.hdr.mesg.present >> ATTRIBUTE & 1;
    return !noted || inside || info.num_attrs == 0;
}

static herr_t read_attribute(hid_t object, const char *name, const H5A_info_t *info, void *context)
{
    PS_SCOPED_HID attribute = H5Aopen(object, name, H5P_DEFAULT);
    return attribute < 0 ? -1 : 0;
}

static ps_status try_all(ps_store *store);

/* Something of this object has no checksum: no file of version 2 is so. */
static ps_status meets_dense(walk *w, const char *what, const char *name)
{
    if (w->kind == TRIAL) return PS_OK;
    if (w->store->layout >= 2) return refuse(w->store, what, name);
    return try_all(w->store);
}

static herr_t check_link(hid_t group, const char *name, const H5L_info_t *info, void *context);

static void check_object(hid_t object, const char *name, walk *w)
{
    H5G_info_t info;
    if (!attributes_are_compact(object)) {
        w->status = meets_dense(w, "attributes lie outside of the header of", name);
        if (w->kind == TRIAL &&
            H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, NULL, read_attribute, NULL) < 0)
            w->status = refuse(w->store, "damaged attributes of", name);
    }
    if (w->status != PS_OK || H5Iget_type(object) != H5I_GROUP) return;
    ++w->depth;
    if (H5Gget_info(object, &info) < 0)
        w->status = ps_hdf5_fail(PS_INVALID, w->store->path, "look into a group");
    else if (info.storage_type != H5G_STORAGE_TYPE_COMPACT)
        w->status = meets_dense(w, "links lie outside of the header of", name);
    if (w->status == PS_OK && w->depth > DEPTH_MAX)
        w->status = refuse(w->store, "groups are too deep at", name);
    if (w->status == PS_OK &&
        H5Literate(object, H5_INDEX_NAME, H5_ITER_INC, NULL, check_link, w) < 0)
        w->status = ps_hdf5_fail(PS_INVALID, w->store->path, "list a group");
    --w->depth;
}

static herr_t check_link(hid_t group, const char *name, const H5L_info_t *info, void *context)
{
    walk *w = context;
    if (info->type != H5L_TYPE_HARD) {
        w->status = refuse(w->store, "a link leads elsewhere:", name);
        return 1;
    }
    PS_SCOPED_HID object = H5Oopen(group, name, H5P_DEFAULT);
    if (object < 0)
        w->status = ps_hdf5_fail(PS_INVALID, w->store->path, "open an object");
    else
        check_object(object, name, w);
    return w->status == PS_OK ? 0 : 1;
}

static ps_status walk_through(ps_store *store, walk_kind kind)
{
    walk w = {store, kind, 0, PS_OK};
    PS_SCOPED_HID root = H5Oopen(store->file, "/", H5P_DEFAULT);
    if (root < 0) return ps_hdf5_fail(PS_INVALID, store->path, "open its root");
    check_object(root, "/", &w);
    return w.status;
}

static ps_status walk_as_trial(void *store) { return walk_through(store, TRIAL); }

/* Goes through all of a file in a child, once for a store. */
static ps_status try_all(ps_store *store)
{
    ps_trial_end end = PS_TRIAL_HELD;
    if (!store->tried) PS_TRY(ps_hdf5_try(store->path, walk_as_trial, store, &end));
    store->tried = true;
    return end == PS_TRIAL_HELD
               ? PS_OK
               : refuse(store, "damaged links or attributes in groups without checksums:",
                        "a trial did not survive them");
}

ps_status ps_store_try_root(ps_store *store)
{
    H5G_info_t info;
    hid_t root = H5Oopen(store->file, "/", H5P_DEFAULT);
    if (root < 0) return ps_hdf5_fail(PS_INVALID, store->path, "open its root");
    bool compact = attributes_are_compact(root) && H5Gget_info(root, &info) >= 0 &&
                   info.storage_type == H5G_STORAGE_TYPE_COMPACT;
    H5Oclose(root);
    return compact ? PS_OK : try_all(store);
}

ps_status ps_store_check_links(ps_store *store) { return walk_through(store, CHECK); }
