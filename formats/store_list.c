/* store_list: attributes and inputs by name, for programs that show files. */
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/store_private.h"
#include "runtime/memory.h"

typedef struct listing {
    const ps_store *store;
    void *items;
    int64_t count, capacity;
    ps_status status;
} listing;

static ps_attribute_kind kind_of(hid_t type)
{
    switch (H5Tget_class(type)) {
    case H5T_INTEGER:
        return PS_ATTRIBUTE_INTS;
    case H5T_FLOAT:
        return PS_ATTRIBUTE_REALS;
    case H5T_STRING:
        return H5Tis_variable_str(type) == 0 ? PS_ATTRIBUTE_TEXT : PS_ATTRIBUTE_OTHER;
    default:
        return PS_ATTRIBUTE_OTHER;
    }
}

static herr_t note_attribute(hid_t owner, const char *name, const H5A_info_t *info, void *context)
{
    listing *list = context;
    list->status =
        ps_grow(&list->items, &list->capacity, list->count + 1, sizeof(ps_attribute), "attributes");
    if (list->status != PS_OK) return 1;
    ps_attribute *item = (ps_attribute *)list->items + list->count++;
    PS_SCOPED_HID attribute = H5Aopen(owner, name, H5P_DEFAULT);
    PS_SCOPED_HID type = attribute < 0 ? -1 : H5Aget_type(attribute);
    PS_SCOPED_HID space = attribute < 0 ? -1 : H5Aget_space(attribute);
    *item = (ps_attribute){.kind = PS_ATTRIBUTE_OTHER};
    snprintf(item->name, sizeof item->name, "%s", name);
    if (type >= 0 && space >= 0 && strlen(name) < sizeof item->name) {
        item->kind = kind_of(type);
        item->count = item->kind == PS_ATTRIBUTE_TEXT ? (int64_t)H5Tget_size(type)
                                                      : H5Sget_simple_extent_npoints(space);
    }
    return 0;
}

/* The items, or nothing after a failure. */
static void *hand_over(listing *list, ps_status status, int *count)
{
    *count = status == PS_OK ? (int)list->count : 0;
    if (status == PS_OK) return list->items;
    free(list->items);
    return NULL;
}

/* Lock held. */
static ps_status list_attributes(listing *list, const char *object)
{
    if (!ps_hdf5_exists(list->store->file, object))
        return ps_fail(PS_INVALID, "%s: has no object %s", list->store->path, object);
    PS_SCOPED_HID target = H5Oopen(list->store->file, object, H5P_DEFAULT);
    if (target < 0 ||
        H5Aiterate2(target, H5_INDEX_NAME, H5_ITER_INC, NULL, note_attribute, list) < 0)
        list->status = ps_hdf5_fail(PS_INVALID, list->store->path, "list attributes");
    return list->status;
}

ps_status ps_store_list_attributes(const ps_store *store, const char *object, ps_attribute **out,
                                   int *count)
{
    listing list = {.store = store, .status = PS_OK};
    ps_hdf5_lock();
    ps_status status = list_attributes(&list, object);
    ps_hdf5_unlock();
    *out = hand_over(&list, status, count);
    return status;
}

/* ---- inputs ---- */

static herr_t note_input(hid_t group, const char *name, const H5L_info_t *info, void *context)
{
    listing *list = context;
    char object[2 * PS_NAME_MAX];
    if (strlen(name) >= PS_NAME_MAX) return 0;
    list->status =
        ps_grow(&list->items, &list->capacity, list->count + 1, sizeof(ps_input), "inputs");
    if (list->status != PS_OK) return 1;
    ps_input *input = (ps_input *)list->items + list->count;
    *input = (ps_input){.role = ""};
    snprintf(input->role, sizeof input->role, "%s", name);
    snprintf(object, sizeof object, "/inputs/%s", name);
    const struct {
        const char *name;
        char *out;
        size_t size;
    } texts[] = {{"file", input->file, sizeof input->file},
                 {"format", input->format, sizeof input->format},
                 {"uuid", input->uuid, sizeof input->uuid},
                 {"content_hash", input->content_hash, sizeof input->content_hash}};
    for (int t = 0; t < 4 && list->status == PS_OK; ++t)
        list->status =
            ps_attribute_text(list->store, object, texts[t].name, texts[t].out, texts[t].size);
    ++list->count;
    return list->status == PS_OK ? 0 : 1;
}

/* Lock held. */
static ps_status list_inputs(listing *list)
{
    if (!ps_hdf5_exists(list->store->file, "/inputs")) return PS_OK;
    PS_SCOPED_HID group = H5Gopen2(list->store->file, "/inputs", H5P_DEFAULT);
    if (group < 0 || H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, NULL, note_input, list) < 0)
        list->status = ps_hdf5_fail(PS_INVALID, list->store->path, "list inputs");
    return list->status;
}

ps_status ps_store_list_inputs(const ps_store *store, ps_input **out, int *count)
{
    listing list = {.store = store, .status = PS_OK};
    ps_hdf5_lock();
    ps_status status = list_inputs(&list);
    ps_hdf5_unlock();
    *out = hand_over(&list, status, count);
    return status;
}

int ps_store_part_count(const ps_store *store) { return store->parts; }
