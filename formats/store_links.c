/*
 * store_links: groups, before anything goes through them. Links that lie in a heap of their own (a
 * "dense" group) have no checksum, and libhdf5 1.10 frees what it never set where such a link is
 * damaged; stores of version 2 have all in headers, which are summed.
 */
#include <hdf5.h>
#include <string.h>

#include "formats/store_private.h"

enum { DEPTH_MAX = 16 };

typedef struct walk {
    const ps_store *store;
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

static herr_t check_link(hid_t group, const char *name, const H5L_info_t *info, void *context);

static void check_object(hid_t object, const char *name, walk *w)
{
    H5G_info_t info;
    bool strict = w->store->layout >= 2, is_group = H5Iget_type(object) == H5I_GROUP;
    if (strict && !attributes_are_compact(object))
        w->status = refuse(w->store, "attributes lie outside of the header of", name);
    if (w->status != PS_OK || !is_group) return;
    ++w->depth;
    if (H5Gget_info(object, &info) < 0)
        w->status = ps_hdf5_fail(PS_INVALID, w->store->path, "look into a group");
    else if (strict && info.storage_type != H5G_STORAGE_TYPE_COMPACT)
        w->status = refuse(w->store, "links lie outside of the header of", name);
    else if (w->depth > DEPTH_MAX)
        w->status = refuse(w->store, "groups are too deep at", name);
    else if (H5Literate(object, H5_INDEX_NAME, H5_ITER_INC, NULL, check_link, w) < 0)
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
    hid_t object = H5Oopen(group, name, H5P_DEFAULT);
    if (object < 0)
        w->status = ps_hdf5_fail(PS_INVALID, w->store->path, "open an object");
    else
        check_object(object, name, w);
    if (object >= 0) H5Oclose(object);
    return w->status == PS_OK ? 0 : 1;
}

ps_status ps_store_check_links(const ps_store *store)
{
    walk w = {store, 0, PS_OK};
    hid_t root = H5Oopen(store->file, "/", H5P_DEFAULT);
    if (root < 0) return ps_hdf5_fail(PS_INVALID, store->path, "open its root");
    check_object(root, "/", &w);
    H5Oclose(root);
    return w.status;
}
