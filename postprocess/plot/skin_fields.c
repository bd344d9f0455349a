#include <stdio.h>
#include <string.h>

#include "postprocess/plot/skin.h"

ps_status skin_read_reals(ps_store *store, const char *name, int64_t rows, int64_t width,
                          double *out)
{
    int id;
    ps_dataset_info info;
    PS_TRY(ps_store_find(store, name, &id));
    PS_TRY(ps_store_dataset(store, id, &info));
    if (info.dims[0] != rows ||
        (width > 1 ? info.rank != 2 || info.dims[1] != width : info.rank != 1))
        return ps_fail(PS_INVALID, "%s is no list of %lld values or vectors of %lld", name,
                       (long long)rows, (long long)width);
    if (info.type == PS_F64)
        return ps_store_read_array(store, name, PS_F64, 0, rows, PS_ROOM(out, rows * width), out);
    /* f32 into the upper half of the array, widened from its front on */
    float *narrow = (float *)(void *)out + rows * width;
    PS_TRY(
        ps_store_read_array(store, name, PS_F32, 0, rows, PS_ROOM(narrow, rows * width), narrow));
    for (int64_t i = 0; i < rows * width; ++i) {
        float v;
        memcpy(&v, narrow + i, sizeof v);
        out[i] = v;
    }
    return PS_OK;
}

ps_status skin_read_tags(ps_store *store, int64_t count, int32_t *tags, ps_surface_mesh *names)
{
    static const char tag[] = "/VTKHDF/CellData/tag";
    if (ps_store_has(store, "/", "tag_names"))
        PS_TRY(ps_store_get_text(store, "/", "tag_names", names->tag_names,
                                 sizeof names->tag_names));
    return ps_store_has(store, tag, NULL) ? ps_vtkhdf_get_i32(store, tag, count, 1, tags) : PS_OK;
}

ps_status skin_no_field(const ps_store *store, const char *name)
{
    static const char *const prefixes[] = {"/VTKHDF/CellData/", "/VTKHDF/PointData/"};
    char names[400] = "";
    for (int id = 0; id < ps_store_dataset_count(store); ++id) {
        ps_dataset_info info;
        PS_TRY(ps_store_dataset(store, id, &info));
        for (int i = 0; i < 2; ++i) {
            size_t used = strlen(names), length = strlen(prefixes[i]);
            if (strncmp(info.name, prefixes[i], length) != 0) continue;
            snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
                     info.name + length);
        }
    }
    return ps_fail(PS_USAGE, "--field %s: the file's fields are: %s", name, names);
}
