#include "formats/gravity_map.h"

#include <math.h>
#include <string.h>

#include "formats/store_scales.h"
#include "formats/vtkhdf.h"
#include "runtime/memory.h"

ps_status ps_gravity_map_init(ps_gravity_map *map, const int64_t nodes[2], int64_t stations,
                              bool exact, bool observed)
{
    static const char what[] = "a gravity map";
    memset(map, 0, sizeof *map);
    memcpy(map->nodes, nodes, sizeof map->nodes);
    map->stations = stations;
    ps_status status = PS_ALLOC(&map->map_elements, nodes[0] * nodes[1], what);
    if (status == PS_OK && exact) status = PS_ALLOC(&map->map, nodes[0] * nodes[1], what);
    if (status == PS_OK && stations) status = PS_ALLOC(&map->place, 3 * stations, what);
    if (status == PS_OK && stations) status = PS_ALLOC(&map->elements, stations, what);
    if (status == PS_OK && exact && stations) status = PS_ALLOC(&map->exact, stations, what);
    if (status == PS_OK && observed) status = PS_ALLOC(&map->observed, stations, what);
    if (status != PS_OK) ps_gravity_map_release(map);
    return status;
}

void ps_gravity_map_release(ps_gravity_map *map)
{
    PS_FREE(map->map, map->map_elements, map->place, map->elements, map->exact, map->observed);
    memset(map, 0, sizeof *map);
}

/* The arrays that there are, for both directions; returns their number. */
enum { ARRAYS = 6 };
#define STATION "/stations/station"
static int list_arrays(const ps_gravity_map *m, ps_dataset_spec specs[ARRAYS], double *data[ARRAYS])
{
    int64_t n = m->stations, a = m->nodes[0], b = m->nodes[1];
    const ps_dataset_spec all[ARRAYS] = {
        {"/map/g_z", PS_F64, 2, {a, b}, .units = "mGal", .dimensions = {"/map/x", "/map/y"}},
        {"/map/elements", PS_F64, 2, {a, b}, .units = "mGal", .dimensions = {"/map/x", "/map/y"}},
        {"/stations/place", PS_F64, 2, {n, 3}, .units = "m", .dimensions = {STATION, "/direction"}},
        {"/stations/g_z", PS_F64, 1, {n}, .units = "mGal", .dimensions = {STATION}},
        {"/stations/elements", PS_F64, 1, {n}, .units = "mGal", .dimensions = {STATION}},
        {"/stations/observed", PS_F64, 1, {n}, .units = "mGal", .dimensions = {STATION}}};
    double *const places[ARRAYS] = {m->map,   m->map_elements, m->place,
                                    m->exact, m->elements,     m->observed};
    int count = 0;
    for (int i = 0; i < ARRAYS; ++i)
        if (places[i]) {
            specs[count] = all[i];
            data[count++] = places[i];
        }
    return count;
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
    ps_dataset_spec specs[ARRAYS];
    double *data[ARRAYS];
    int count = list_arrays(map, specs, data);
    PS_TRY(ps_store_put_reals(store, "/", "origin", map->origin, 3));
    PS_TRY(ps_store_put_reals(store, "/", "spacing", map->spacing, 3));
    for (int i = 0; i < count; ++i) {
        PS_TRY(ps_store_write_array(store, &specs[i], data[i]));
        if (specs[i].rank == 1)
            PS_TRY(ps_store_put_text(store, specs[i].name, "coordinates", "place"));
    }
    PS_TRY(put_axes(store, map));
    return put_image(store, map);
}

static ps_status shape_of(const ps_store *store, const char *name, int64_t dims[2])
{
    int id;
    ps_dataset_info info;
    PS_TRY(ps_store_find(store, name, &id));
    PS_TRY(ps_store_dataset(store, id, &info));
    if (info.rank != 2 || info.type != PS_F64)
        return ps_fail(PS_INVALID, "%s: %s has another shape or type than it should",
                       ps_store_path(store), name);
    dims[0] = info.dims[0], dims[1] = info.dims[1];
    return PS_OK;
}

/* Finite, but for what elements say outside of their box. */
static ps_status check_values(const ps_store *store, const char *name, const double *values,
                              int64_t count)
{
    bool anything = strcmp(name, "/stations/elements") == 0;
    for (int64_t k = 0; k < count; ++k)
        if (!isfinite(values[k]) && !(anything && isnan(values[k])))
            return ps_fail(PS_INVALID, "%s: %s holds %g", ps_store_path(store), name, values[k]);
    return PS_OK;
}

static ps_status get(ps_store *store, ps_gravity_map *out)
{
    int64_t nodes[2], places[2] = {0, 3}, version;
    ps_dataset_spec specs[ARRAYS];
    double *data[ARRAYS];
    PS_TRY(ps_store_get_int(store, "/", "format_version", &version));
    if (version < PS_GRAVITY_MAP_VERSION)
        return ps_fail(
            PS_INVALID,
            "%s is of version %lld, whose g_z is that of the elements: make it anew with "
            "penstock-gravity-anomaly",
            ps_store_path(store), (long long)version);
    PS_TRY(shape_of(store, "/map/elements", nodes));
    if (ps_store_has(store, "/stations", NULL)) PS_TRY(shape_of(store, "/stations/place", places));
    PS_TRY(ps_gravity_map_init(out, nodes, places[0], ps_store_has(store, "/map/g_z", NULL),
                               ps_store_has(store, "/stations/observed", NULL)));
    PS_TRY(ps_store_get_reals(store, "/", "origin", out->origin, 3));
    PS_TRY(ps_store_get_reals(store, "/", "spacing", out->spacing, 3));
    for (int a = 0; a < 3; ++a)
        if (!isfinite(out->origin[a]) || !(out->spacing[a] > 0) || !isfinite(out->spacing[a]))
            return ps_fail(PS_INVALID, "%s: origin %g, spacing %g: not those of a map",
                           ps_store_path(store), out->origin[a], out->spacing[a]);
    int count = list_arrays(out, specs, data);
    for (int i = 0; i < count; ++i) {
        int64_t width = specs[i].rank == 2 ? specs[i].dims[1] : 1, size = specs[i].dims[0] * width;
        PS_TRY(ps_store_expect(store, specs[i].name, PS_F64, specs[i].dims[0], width));
        PS_TRY(ps_store_read_array(store, specs[i].name, PS_F64, 0, specs[i].dims[0],
                                   PS_ROOM(data[i], size), data[i]));
        PS_TRY(check_values(store, specs[i].name, data[i], size));
    }
    return PS_OK;
}

ps_status ps_gravity_map_load(const char *path, ps_gravity_map *out)
{
    ps_store *store = NULL;
    memset(out, 0, sizeof *out);
    PS_TRY(ps_store_open(path, PS_GRAVITY_MAP_FORMAT, PS_GRAVITY_MAP_VERSION, &store));
    ps_status status = get(store, out);
    ps_store_close(&store);
    if (status != PS_OK) ps_gravity_map_release(out);
    return status;
}
