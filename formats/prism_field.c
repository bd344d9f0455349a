#include "formats/prism_field.h"

#include "formats/store_scales.h"

static ps_status put(ps_store *store, const ps_prism_field *f, const char *name, const double *data,
                     int64_t width, const char *units, const char *description)
{
    ps_dataset_spec spec = {.name = name,
                            .type = PS_F64,
                            .rank = width > 1 ? 2 : 1,
                            .dims = {f->stations, width},
                            .units = units,
                            .description = description,
                            .dimensions = {"/station", width == 6 ? "/derivative" : "/direction"}};
    if (!data) return PS_OK;
    PS_TRY(ps_store_write_array(store, &spec, data));
    return data == f->place ? PS_OK : ps_store_put_text(store, name, "coordinates", "place");
}

/* Numbers of stations, directions and second derivatives. */
static ps_status put_numbers(ps_store *store, const ps_prism_field *f)
{
    PS_TRY(ps_store_put_text(store, "/", "Conventions", "CF-1.8"));
    PS_TRY(ps_store_put_numbers(store, "/station", f->stations, "number of the station"));
    PS_TRY(ps_store_put_numbers(store, "/direction", 3, "x, y, z"));
    if (!f->gradients) return PS_OK;
    return ps_store_put_numbers(store, "/derivative", 6, "xx, yy, zz, xy, xz, yz");
}

ps_status ps_prism_field_put(ps_store *store, const ps_prism_field *f)
{
    PS_TRY(ps_store_put_int(store, "/", "stations", f->stations));
    PS_TRY(put(store, f, "/place", f->place, 3, "m", "stations"));
    PS_TRY(put(store, f, "/potential", f->potential, 1, "m2/s2", "V, positive of positive mass"));
    PS_TRY(put(store, f, "/attraction", f->attraction, 3, "mGal", "grad V along x, y, z"));
    PS_TRY(put(store, f, "/gradients", f->gradients, 6, "Eotvos",
               "second derivatives of V: xx yy zz xy xz yz; NaN on edges of prisms"));
    PS_TRY(put(store, f, "/induction", f->induction, 3, "nT",
               "B of the magnetisation; NaN on edges of prisms"));
    return put_numbers(store, f);
}
