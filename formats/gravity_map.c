#include "formats/gravity_map.h"

#include <math.h>
#include <string.h>

#include "formats/columns.h"
#include "formats/store_scales.h"
#include "formats/vtkhdf.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

/* Those that there are; returns their number. A map of sums is there if it has one at all. */
enum { COLUMNS = 6 };
#define STATION "/stations/station"
static int list_columns(const ps_gravity_map *m, bool exact, bool observed, ps_column out[COLUMNS])
{
    int64_t n = m->stations, a = m->nodes[0], b = m->nodes[1];
    const bool there[COLUMNS] = {exact, true, n > 0, exact && n > 0, n > 0, observed};
    const ps_column all[COLUMNS] = {
        {"/map/g_z", "mGal", NULL, PS_F64, a, b, &m->map, .dimensions = {"/map/x", "/map/y"}},
        {"/map/elements", "mGal", NULL, PS_F64, a, b, &m->map_elements,
         .dimensions = {"/map/x", "/map/y"}},
        {"/stations/place", "m", NULL, PS_F64, n, 3, &m->place,
         .dimensions = {STATION, "/direction"}},
        {"/stations/g_z", "mGal", NULL, PS_F64, n, 1, &m->exact, .dimensions = {STATION}},
        {"/stations/elements", "mGal", NULL, PS_F64, n, 1, &m->elements, .dimensions = {STATION}},
        {"/stations/observed", "mGal", NULL, PS_F64, n, 1, &m->observed, .dimensions = {STATION}}};
    int count = 0;
    for (int i = 0; i < COLUMNS; ++i)
        if (there[i]) out[count++] = all[i];
    return count;
}

ps_status ps_gravity_map_init(ps_gravity_map *map, const int64_t nodes[2], int64_t stations,
                              bool exact, bool observed)
{
    ps_column columns[COLUMNS];
    *map = (ps_gravity_map){.nodes = {nodes[0], nodes[1]}, .stations = stations};
    int count = list_columns(map, exact, observed, columns);
    ps_status status = ps_columns_allocate(NULL, columns, count);
    if (status != PS_OK) ps_gravity_map_release(map);
    return status;
}

void ps_gravity_map_release(ps_gravity_map *map)
{
    PS_FREE(map->map, map->map_elements, map->place, map->elements, map->exact, map->observed);
    memset(map, 0, sizeof *map);
}

static ps_status put_axes(ps_store *store, const ps_gravity_map *map)
{
    for (int axis = 0; axis < 2; ++axis)
        PS_TRY(ps_store_put_axis(store, axis ? "/map/y" : "/map/x", axis, map->origin[axis],
                                 map->spacing[axis], map->nodes[axis]));
    PS_TRY(ps_store_put_text(store, "/", "Conventions", "CF-1.8"));
    PS_TRY(ps_store_put_text(
        store, "/map", "reference_system",
        "x, y: metres of the model's grid, of no geodetic datum; z down, the map at its top"));
    PS_TRY(ps_store_put_text(store, "/map/elements", "long_name",
                             "vertical attraction, from the potential"));
    if (!map->map) return PS_OK;
    return ps_store_put_text(store, "/map/g_z", "long_name",
                             "vertical attraction, exact sums over the model");
}

/* The map as an image of one layer of nodes, z upwards, in the order of the arrays: x slowest. */
static ps_status put_image(ps_store *store, const ps_gravity_map *map)
{
    const ps_vtkhdf_image image = {{map->nodes[0], map->nodes[1], 1},
                                   {map->origin[0], map->origin[1], map->origin[2]},
                                   {map->spacing[0], map->spacing[1], map->spacing[2]}};
    const ps_dataset_spec spec = {.name = map->map ? "/VTKHDF/PointData/g_z"
                                                   : "/VTKHDF/PointData/elements",
                                  .type = PS_F64,
                                  .rank = 3,
                                  .dims = {map->nodes[0], map->nodes[1], 1},
                                  .dimensions = {"/x", "/y", "/z"},
                                  .units = "mGal"};
    PS_TRY(ps_vtkhdf_put_image(store, &image));
    PS_TRY(ps_store_put_axes(store, image.origin, image.spacing, image.nodes));
    return ps_store_write_array(store, &spec, map->map ? map->map : map->map_elements);
}

ps_status ps_gravity_map_put(ps_store *store, const ps_gravity_map *map)
{
    ps_column columns[COLUMNS];
    int count = list_columns(map, map->map != NULL, map->observed != NULL, columns);
    PS_TRY(ps_store_put_reals(store, "/", "origin", map->origin, 3));
    PS_TRY(ps_store_put_reals(store, "/", "spacing", map->spacing, 3));
    PS_TRY(ps_columns_write(store, columns, count));
    for (int i = 0; i < count; ++i)
        if (columns[i].width == 1)
            PS_TRY(ps_store_put_text(store, columns[i].name, "coordinates", "place"));
    PS_TRY(put_axes(store, map));
    return put_image(store, map);
}

static ps_status shape_of(const ps_store *store, const char *name, int64_t dims[2])
{
    ps_dataset_info info;
    PS_TRY(ps_store_describe(store, name, &info));
    if (info.rank != 2 || info.type != PS_F64)
        return ps_fail(PS_INVALID, "%s: %s has another shape or type than it should",
                       ps_store_path(store), name);
    dims[0] = info.dims[0], dims[1] = info.dims[1];
    return PS_OK;
}

/* Finite, but for what elements say outside of their box. */
static ps_status check_values(const ps_store *store, const ps_column *column)
{
    bool anything = strcmp(column->name, "/stations/elements") == 0;
    const double *values = *(double *const *)column->at;
    for (int64_t k = 0; k < column->rows * column->width; ++k)
        if (!isfinite(values[k]) && !(anything && isnan(values[k])))
            return ps_fail(PS_INVALID, "%s: %s holds %g", ps_store_path(store), column->name,
                           values[k]);
    return PS_OK;
}

static ps_status get(ps_store *store, ps_gravity_map *out)
{
    int64_t nodes[2] = {0}, places[2] = {0, 3}, version;
    ps_column columns[COLUMNS];
    PS_TRY(ps_store_get_int(store, "/", "format_version", &version));
    if (version < PS_GRAVITY_MAP_VERSION)
        return ps_fail(
            PS_INVALID,
            "%s is of version %lld, whose g_z is that of the elements: make it anew with "
            "penstock-gravity-anomaly",
            ps_store_path(store), (long long)version);
    PS_TRY(shape_of(store, "/map/elements", nodes));
    if (ps_store_has(store, "/stations", NULL)) PS_TRY(shape_of(store, "/stations/place", places));
    *out = (ps_gravity_map){.nodes = {nodes[0], nodes[1]}, .stations = places[0]};
    PS_TRY(ps_store_get_reals(store, "/", "origin", out->origin, 3));
    PS_TRY(ps_store_get_reals(store, "/", "spacing", out->spacing, 3));
    for (int a = 0; a < 3; ++a)
        if (!isfinite(out->origin[a]) || !(out->spacing[a] > 0) || !isfinite(out->spacing[a]))
            return ps_fail(PS_INVALID, "%s: origin %g, spacing %g: not those of a map",
                           ps_store_path(store), out->origin[a], out->spacing[a]);
    int count = list_columns(out, ps_store_has(store, "/map/g_z", NULL),
                             ps_store_has(store, "/stations/observed", NULL), columns);
    PS_TRY(ps_columns_load(store, columns, count));
    for (int i = 0; i < count; ++i) PS_TRY(check_values(store, &columns[i]));
    return PS_OK;
}

ps_status ps_gravity_map_load(const char *path, ps_gravity_map *out)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    memset(out, 0, sizeof *out);
    PS_TRY(ps_store_open(path, PS_GRAVITY_MAP_FORMAT, PS_GRAVITY_MAP_VERSION, &store));
    ps_status status = get(store, out);
    if (status != PS_OK) ps_gravity_map_release(out);
    return status;
}
