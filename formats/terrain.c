#include "formats/terrain.h"

#include "formats/columns.h"
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
    const ps_column columns[] = {
        {"/prisms", "m, kg/m3", "x0 x1 y0 y1 z0 z1 density, z up", PS_F64, t->prisms, 7,
         .at = &t->prism},
        {"/stations", "m", "x y z, z up", PS_F64, t->stations, 3, .at = &t->station}};
    PS_TRY(put_attributes(store, t));
    return ps_columns_write(store, columns, PS_COLUMNS(columns));
}

bool ps_terrain_is_geographic(const char *path, double place[2])
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    return ps_is_hdf5(path) && !ps_store_is_other(path, PS_TERRAIN_FORMAT) &&
           ps_store_open(path, PS_TERRAIN_FORMAT, PS_TERRAIN_VERSION, &store) == PS_OK &&
           ps_store_has(store, "/", "place") &&
           ps_store_get_reals(store, "/", "place", place, 2) == PS_OK;
}
