#include "formats/terrain.h"

#include "formats/columns_hdf5.h"
#include "formats/store_format.h"
#include "runtime/scope.h"

static ps_status put_attributes(ps_store *store, const ps_terrain *t)
{
    const int64_t grid[2] = {t->columns, t->rows};
    PS_TRY(ps_store_put_int(store, "/", "prism_count", t->prisms));
    PS_TRY(ps_store_put_int(store, "/", "station_count", t->stations));
    PS_TRY(ps_store_put_ints(store, "/", "grid", grid, 2));
    PS_TRY(ps_store_put_reals(store, "/", "origin", t->origin, 2));
    PS_TRY(ps_store_put_reals(store, "/", "cell", t->width, 2));
    PS_TRY(
        ps_store_put_text(store, "/", "coordinates", t->geographic ? "geographic" : "projected"));
    PS_TRY(ps_store_put_text(store, "/", "reference_system", t->reference[0] ? t->reference : "-"));
    if (!t->geographic) return PS_OK;
    PS_TRY(ps_store_put_reals(store, "/", "place", t->place, 2));
    return ps_store_put_real(store, "/", "frame_error", t->frame_error);
}

ps_status ps_terrain_put(ps_store *store, const ps_terrain *t)
{
    const ps_dataset_spec prisms = {.name = "/prisms",
                                    .type = PS_F64,
                                    .rank = 2,
                                    .dims = {t->prisms, 7},
                                    .units = "m, kg/m3",
                                    .description = "x0 x1 y0 y1 z0 z1 density, z up"};
    const ps_dataset_spec stations = {.name = "/stations",
                                      .type = PS_F64,
                                      .rank = 2,
                                      .dims = {t->stations, 3},
                                      .units = "m",
                                      .description = "x y z, z up"};
    PS_TRY(put_attributes(store, t));
    PS_TRY(ps_store_write_array(store, &prisms, t->prism));
    return t->stations ? ps_store_write_array(store, &stations, t->station) : PS_OK;
}

bool ps_terrain_is_geographic(const char *path, double place[2])
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    return ps_is_hdf5(path) && !ps_store_is_other(path, PS_TERRAIN_FORMAT) &&
           ps_store_open(path, PS_TERRAIN_FORMAT, PS_TERRAIN_VERSION, &store) == PS_OK &&
           ps_store_has(store, "/", "place") &&
           ps_store_get_reals(store, "/", "place", place, 2) == PS_OK;
}
