#include "formats/prism_field.h"

#include "formats/store_scales.h"

static ps_status put(ps_store *store, const char *name, const double *data, int64_t rows,
                     int64_t width, const char *units, const char *description)
{
    ps_dataset_spec spec = {.name = name,
                            .type = PS_F64,
                            .rank = width > 1 ? 2 : 1,
                            .dims = {rows, width},
                            .units = units,
                            .description = description};
    return data ? ps_store_write_array(store, &spec, data) : PS_OK;
}

/* Stations, directions and second derivatives as coordinates of what there is. */
static ps_status put_scales(ps_store *store, const ps_prism_field *f)
{
    const struct {
        const double *data;
        ps_scaled scaled;
    } all[] = {{f->place, {"/place", {"/station", "/direction"}}},
               {f->potential, {"/potential", {"/station"}}},
               {f->attraction, {"/attraction", {"/station", "/direction"}}},
               {f->gradients, {"/gradients", {"/station", "/derivative"}}},
               {f->induction, {"/induction", {"/station", "/direction"}}}};
    ps_scaled used[sizeof all / sizeof *all];
    int count = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        if (all[i].data) used[count++] = all[i].scaled;
    PS_TRY(ps_store_put_text(store, "/", "Conventions", "CF-1.8"));
    PS_TRY(ps_store_put_numbers(store, "/station", f->stations, "number of the station"));
    PS_TRY(ps_store_put_numbers(store, "/direction", 3, "x, y, z"));
    if (f->gradients)
        PS_TRY(ps_store_put_numbers(store, "/derivative", 6, "xx, yy, zz, xy, xz, yz"));
    return ps_store_put_scales(store, used, count);
}

ps_status ps_prism_field_put(ps_store *store, const ps_prism_field *f)
{
    const int64_t n = f->stations;
    PS_TRY(ps_store_put_int(store, "/", "stations", n));
    PS_TRY(put(store, "/place", f->place, n, 3, "m", "stations"));
    PS_TRY(put(store, "/potential", f->potential, n, 1, "m2/s2", "V, positive of positive mass"));
    PS_TRY(put(store, "/attraction", f->attraction, n, 3, "mGal", "grad V along x, y, z"));
    PS_TRY(put(store, "/gradients", f->gradients, n, 6, "Eotvos",
               "second derivatives of V: xx yy zz xy xz yz; NaN on edges of prisms"));
    PS_TRY(put(store, "/induction", f->induction, n, 3, "nT",
               "B of the magnetisation; NaN on edges of prisms"));
    return put_scales(store, f);
}
