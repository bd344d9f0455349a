#include "formats/prism_field.h"

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

ps_status ps_prism_field_put(ps_store *store, const ps_prism_field *f)
{
    const int64_t n = f->stations;
    PS_TRY(ps_store_put_int(store, "/", "stations", n));
    PS_TRY(put(store, "/place", f->place, n, 3, "m", "stations"));
    PS_TRY(put(store, "/potential", f->potential, n, 1, "m2/s2", "V, positive of positive mass"));
    PS_TRY(put(store, "/attraction", f->attraction, n, 3, "mGal", "grad V along x, y, z"));
    PS_TRY(put(store, "/gradients", f->gradients, n, 6, "Eotvos",
               "second derivatives of V: xx yy zz xy xz yz; NaN on edges of prisms"));
    return put(store, "/induction", f->induction, n, 3, "nT",
               "B of the magnetisation; NaN on edges of prisms");
}
