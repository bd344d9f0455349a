#include "formats/field.h"

#include <stdio.h>
#include <string.h>

#include "runtime/memory.h"
#include "runtime/program.h"
#include "runtime/scope.h"

static ps_status check_field(const ps_field *field)
{
    if (!field->name || !field->name[0] || strchr(field->name, '/') ||
        strlen(field->name) > PS_NAME_MAX - 32)
        return ps_fail(PS_INVALID, "\"%s\" is no name for a field: at most %d characters, no '/'",
                       field->name ? field->name : "", PS_NAME_MAX - 32);
    if (field->type != PS_F32 && field->type != PS_F64)
        return ps_fail(PS_INVALID, "field %s is neither f32 nor f64", field->name);
    if (field->components < 1 || field->components > 9)
        return ps_fail(PS_INVALID, "field %s has %d components; 1 to 9 are written", field->name,
                       field->components);
    return PS_OK;
}

static ps_status put_field(ps_store *store, const ps_field *field, const ps_vtkhdf_grid *grid)
{
    char name[PS_NAME_MAX], component[32] = "/direction";
    PS_TRY(check_field(field));
    if (field->components != 3)
        snprintf(component, sizeof component, "/component_%d", field->components);
    snprintf(name, sizeof name, "/VTKHDF/%s/%s", field->on_points ? "PointData" : "CellData",
             field->name);
    ps_dataset_spec spec = {
        .name = name,
        .type = field->type,
        .rank = field->components > 1 ? 2 : 1,
        .dims = {field->on_points ? grid->vertex_count : grid->cell_count, field->components},
        .dimensions = {field->on_points ? PS_VTKHDF_POINT : PS_VTKHDF_CELL, component},
        .units = field->units};
    return ps_store_write_array(store, &spec, field->values);
}

static ps_status put_all(ps_store *store, const ps_field_snapshot *snapshot)
{
    PS_TRY(ps_store_put_real(store, "/", "time", snapshot->time));
    if (snapshot->mesh_hash && snapshot->mesh_hash[0])
        PS_TRY(ps_store_put_text(store, "/", "mesh_hash", snapshot->mesh_hash));
    PS_TRY(ps_vtkhdf_put_grid(store, &snapshot->grid));
    for (int i = 0; i < snapshot->field_count; ++i)
        PS_TRY(put_field(store, &snapshot->fields[i], &snapshot->grid));
    return PS_OK;
}

static int64_t bytes_of(const ps_field_snapshot *snapshot)
{
    const ps_vtkhdf_grid *g = &snapshot->grid;
    int64_t bytes =
        (g->single ? 12 : 24) * g->vertex_count + (4 * g->cell_size + 5) * g->cell_count;
    for (int i = 0; i < snapshot->field_count; ++i) {
        const ps_field *f = &snapshot->fields[i];
        bytes += (f->on_points ? g->vertex_count : g->cell_count) * f->components *
                 (int64_t)ps_type_size(f->type);
    }
    return bytes;
}

ps_status ps_field_save(const char *path, const ps_field_snapshot *snapshot)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    ps_store_identity identity = {PS_FIELD_FORMAT, PS_FIELD_VERSION,  snapshot->creator,
                                  ps_revision(),   snapshot->options, bytes_of(snapshot)};
    ps_status status = ps_vtkhdf_check(&snapshot->grid, "cell");
    if (status != PS_OK) return ps_context(status, "%s", path);
    PS_TRY(ps_store_create(path, &identity, &store));
    status = put_all(store, snapshot);
    if (status == PS_OK) return ps_store_commit(&store);
    return ps_context(status, "%s", path);
}

ps_status ps_field_plane_cells(const int64_t grid[2], int64_t *count, int32_t **out)
{
    int64_t cells = 2 * (grid[0] - 1) * (grid[1] - 1);
    PS_TRY(PS_ALLOC(out, 3 * cells, "cells of a plane"));
    int32_t *cell = *out;
    for (int64_t i = 0; i + 1 < grid[0]; ++i)
        for (int64_t j = 0; j + 1 < grid[1]; ++j) {
            int32_t a = (int32_t)(i * grid[1] + j), b = (int32_t)(a + grid[1]);
            const int32_t two[6] = {a, b, b + 1, a, b + 1, a + 1};
            memcpy(cell, two, sizeof two);
            cell += 6;
        }
    *count = cells;
    return PS_OK;
}
