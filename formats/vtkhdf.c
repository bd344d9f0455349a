#include "formats/vtkhdf.h"

#include <math.h>
#include <string.h>

enum { VTK_TRIANGLE = 5, VTK_TETRA = 10 };

ps_status ps_vtkhdf_check(const ps_vtkhdf_grid *grid, const char *what)
{
    if (grid->vertex_count < grid->cell_size || grid->cell_count < 1)
        return ps_fail(PS_INVALID, "the mesh has %lld vertices and %lld %ss: too few",
                       (long long)grid->vertex_count, (long long)grid->cell_count, what);
    if (grid->vertex_count > INT32_MAX || grid->cell_count > INT32_MAX / grid->cell_size)
        return ps_fail(PS_INVALID,
                       "the mesh has %lld vertices and %lld %ss: more than 32-bit "
                       "indices reach",
                       (long long)grid->vertex_count, (long long)grid->cell_count, what);
    for (int64_t i = 0; i < 3 * grid->vertex_count; ++i)
        if (!isfinite(grid->vertices[i]))
            return ps_fail(PS_INVALID, "vertex %lld has a coordinate that is not a finite number",
                           (long long)(i / 3));
    for (int64_t i = 0; i < grid->cell_size * grid->cell_count; ++i)
        if (grid->cells[i] < 0 || grid->cells[i] >= grid->vertex_count)
            return ps_fail(PS_INVALID, "%s %lld names vertex %d, but there are %lld", what,
                           (long long)(i / grid->cell_size), grid->cells[i],
                           (long long)grid->vertex_count);
    return PS_OK;
}

static ps_status put_count(ps_store *store, const char *name, int64_t value)
{
    ps_dataset_spec spec = {.name = name,
                            .type = PS_I64,
                            .rank = 1,
                            .dims = {1},
                            .units = "1",
                            .dimensions = {"/partition"}};
    return ps_store_write_array(store, &spec, &value);
}

static void make_offsets(const void *context, int64_t first, int64_t count, void *out)
{
    int32_t *offsets = out;
    const ps_vtkhdf_grid *grid = context;
    for (int64_t i = 0; i < count; ++i) offsets[i] = (int32_t)((first + i) * grid->cell_size);
}

static void make_types(const void *context, int64_t first, int64_t count, void *out)
{
    const ps_vtkhdf_grid *grid = context;
    memset(out, grid->cell_size == 3 ? VTK_TRIANGLE : VTK_TETRA, (size_t)count);
}

static void make_points(const void *context, int64_t first, int64_t count, void *out)
{
    float *points = out;
    const ps_vtkhdf_grid *grid = context;
    for (int64_t i = 0; i < 3 * count; ++i) points[i] = (float)grid->vertices[3 * first + i];
}

static ps_status put_points(ps_store *store, const ps_vtkhdf_grid *grid,
                            const ps_vtkhdf_makers *makers)
{
    ps_dataset_spec spec = {.name = "/VTKHDF/Points",
                            .type = grid->single ? PS_F32 : PS_F64,
                            .rank = 2,
                            .dims = {grid->vertex_count, 3},
                            .dimensions = {PS_VTKHDF_POINT, "/direction"},
                            .units = "m",
                            .description = "vertices"};
    if (makers) return ps_store_write_made(store, &spec, makers->vertices, makers->context);
    return grid->single ? ps_store_write_made(store, &spec, make_points, grid)
                        : ps_store_write_array(store, &spec, grid->vertices);
}

static ps_status put_cells(ps_store *store, const ps_vtkhdf_grid *grid,
                           const ps_vtkhdf_makers *makers)
{
    int64_t ids = grid->cell_count * grid->cell_size;
    ps_dataset_spec spec = {.name = "/VTKHDF/Connectivity",
                            .type = PS_I32,
                            .rank = 1,
                            .dims = {ids},
                            .dimensions = {PS_VTKHDF_CORNER},
                            .units = "1",
                            .description = "vertices of each cell"};
    return makers ? ps_store_write_made(store, &spec, makers->connectivity, makers->context)
                  : ps_store_write_array(store, &spec, grid->cells);
}

ps_status ps_vtkhdf_put_made(ps_store *store, const ps_vtkhdf_grid *grid,
                             const ps_vtkhdf_makers *makers)
{
    const int64_t version[2] = {1, 0};
    int64_t ids = grid->cell_count * grid->cell_size;
    ps_dataset_spec offsets = {.name = "/VTKHDF/Offsets",
                               .type = PS_I32,
                               .rank = 1,
                               .dims = {grid->cell_count + 1},
                               .dimensions = {"/bound"},
                               .units = "1",
                               .description = "first place of each cell in Connectivity"};
    ps_dataset_spec types = {.name = "/VTKHDF/Types",
                             .type = PS_U8,
                             .rank = 1,
                             .dims = {grid->cell_count},
                             .dimensions = {PS_VTKHDF_CELL},
                             .units = "1",
                             .description = "VTK cell type: 5 triangle, 10 tetrahedron"};
    PS_TRY(put_count(store, "/VTKHDF/NumberOfPoints", grid->vertex_count));
    PS_TRY(put_count(store, "/VTKHDF/NumberOfCells", grid->cell_count));
    PS_TRY(put_count(store, "/VTKHDF/NumberOfConnectivityIds", ids));
    PS_TRY(ps_store_put_ints(store, "/VTKHDF", "Version", version, 2));
    PS_TRY(ps_store_put_text(store, "/VTKHDF", "Type", "UnstructuredGrid"));
    PS_TRY(put_points(store, grid, makers));
    PS_TRY(put_cells(store, grid, makers));
    PS_TRY(ps_store_write_made(store, &offsets, make_offsets, grid));
    return ps_store_write_made(store, &types, make_types, grid);
}

ps_status ps_vtkhdf_put_grid(ps_store *store, const ps_vtkhdf_grid *grid)
{
    return ps_vtkhdf_put_made(store, grid, NULL);
}

ps_status ps_vtkhdf_put_image(ps_store *store, const ps_vtkhdf_image *image)
{
    static const double direction[9] = {0, 0, 1, 0, 1, 0, -1, 0, 0};
    const int64_t extent[6] = {0, image->nodes[2] - 1, 0, image->nodes[1] - 1,
                               0, image->nodes[0] - 1};
    const double spacing[3] = {image->spacing[2], image->spacing[1], image->spacing[0]};
    const double origin[3] = {image->origin[0], image->origin[1], -image->origin[2]};
    PS_TRY(ps_store_put_ints(store, "/VTKHDF", "Version", (const int64_t[2]){1, 0}, 2));
    PS_TRY(ps_store_put_text(store, "/VTKHDF", "Type", "ImageData"));
    PS_TRY(ps_store_put_ints(store, "/VTKHDF", "WholeExtent", extent, 6));
    PS_TRY(ps_store_put_reals(store, "/VTKHDF", "Origin", origin, 3));
    PS_TRY(ps_store_put_reals(store, "/VTKHDF", "Spacing", spacing, 3));
    return ps_store_put_reals(store, "/VTKHDF", "Direction", direction, 9);
}

ps_status ps_vtkhdf_get_sizes(ps_store *store, int cell_size, int64_t *vertex_count,
                              int64_t *cell_count)
{
    int64_t ids;
    int32_t last;
    PS_TRY(ps_store_read_array(store, "/VTKHDF/NumberOfPoints", PS_I64, 0, 1, sizeof *vertex_count,
                               vertex_count));
    PS_TRY(ps_store_read_array(store, "/VTKHDF/NumberOfCells", PS_I64, 0, 1, sizeof *cell_count,
                               cell_count));
    PS_TRY(ps_store_read_array(store, "/VTKHDF/NumberOfConnectivityIds", PS_I64, 0, 1, sizeof ids,
                               &ids));
    if (*cell_count < 1 || *cell_count > INT32_MAX / cell_size || *vertex_count < 1 ||
        *vertex_count > INT32_MAX || ids != cell_size * *cell_count)
        return ps_fail(PS_INVALID,
                       "%s: %lld vertices, %lld cells and %lld indices do not fit "
                       "cells of %d vertices",
                       ps_store_path(store), (long long)*vertex_count, (long long)*cell_count,
                       (long long)ids, cell_size);
    PS_TRY(ps_store_expect(store, "/VTKHDF/Connectivity", PS_I32, ids, 1));
    PS_TRY(ps_store_expect(store, "/VTKHDF/Offsets", PS_I32, *cell_count + 1, 1));
    PS_TRY(
        ps_store_read_array(store, "/VTKHDF/Offsets", PS_I32, *cell_count, 1, sizeof last, &last));
    if (last != ids)
        return ps_fail(PS_INVALID, "%s: /VTKHDF/Offsets ends with %d, expected %lld",
                       ps_store_path(store), last, (long long)ids);
    return PS_OK;
}

static ps_status get_rows(ps_store *store, const char *name, ps_type type, void *data,
                          int64_t count, int64_t capacity)
{
    ps_dataset_info info;
    PS_TRY(ps_store_describe(store, name, &info));
    if (info.dims[0] != count)
        return ps_fail(PS_INVALID, "%s: %s has %lld rows, expected %lld", ps_store_path(store),
                       name, (long long)info.dims[0], (long long)count);
    return ps_store_read_array(store, name, type, 0, count, capacity, data);
}

ps_status ps_vtkhdf_get_i32(ps_store *store, const char *name, int64_t count, int64_t width,
                            int32_t *data)
{
    return get_rows(store, name, PS_I32, data, count, PS_ROOM(data, count * width));
}

ps_status ps_vtkhdf_get_f64(ps_store *store, const char *name, int64_t count, int64_t width,
                            double *data)
{
    return get_rows(store, name, PS_F64, data, count, PS_ROOM(data, count * width));
}
