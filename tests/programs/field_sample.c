/* Writes three snapshots of known fields on a surface mesh: field_sample MESH BASE. Cell t has
 * the pressure t + 1000 k in snapshot k, at the time 0.1 k^2. Or, field_sample MESH FILE legendre,
 * at the vertices P_2 of the cosine of the angle to z. */
#include <stdio.h>
#include <stdlib.h>

#include "formats/field.h"
#include "formats/surface_mesh.h"
#include "runtime/memory.h"

static ps_status write_snapshots(const ps_surface_mesh *mesh, const char *base, double *pressure)
{
    char path[4096], series[4096];
    ps_field_series_path(base, series);
    for (int64_t k = 0; k < 3; ++k) {
        for (int64_t t = 0; t < mesh->triangle_count; ++t) pressure[t] = (double)(t + 1000 * k);
        ps_field fields[] = {{"pressure", "Pa", PS_F64, 1, false, pressure},
                             {"position", "m", PS_F64, 3, true, mesh->vertices}};
        ps_field_snapshot snapshot = {
            ps_surface_mesh_grid(mesh), 2, fields, 0.1 * (double)(k * k), "field_sample", "",
            mesh->content_hash};
        snapshot.grid.single = k == 1;
        ps_field_snapshot_path(base, k, path);
        PS_TRY(ps_field_save(path, &snapshot));
        PS_TRY(ps_field_series_add(series, path, snapshot.time));
    }
    return PS_OK;
}

static ps_status write_legendre(const ps_surface_mesh *mesh, const char *path, double *values)
{
    for (int64_t v = 0; v < mesh->vertex_count; ++v) {
        const double *x = mesh->vertices + 3 * v;
        values[v] = 1.5 * x[2] * x[2] / (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]) - .5;
    }
    ps_field field = {"legendre", "m/s", PS_F64, 1, true, values};
    ps_field_snapshot snapshot = {ps_surface_mesh_grid(mesh), 1, &field, 0, "field_sample", "",
                                  mesh->content_hash};
    return ps_field_save(path, &snapshot);
}

int main(int argc, char **argv)
{
    ps_surface_mesh mesh = {0};
    double *pressure = NULL;
    ps_status status = argc == 3 || argc == 4
                           ? ps_surface_mesh_load(argv[1], &mesh)
                           : ps_fail(PS_USAGE, "usage: field_sample MESH BASE [legendre]");
    if (status == PS_OK) status = PS_ALLOC(&pressure, mesh.triangle_count, "pressure");
    if (status == PS_OK)
        status = argc == 4 ? write_legendre(&mesh, argv[2], pressure)
                           : write_snapshots(&mesh, argv[2], pressure);
    if (status != PS_OK) fprintf(stderr, "field_sample: %s\n", ps_message());
    free(pressure);
    ps_surface_mesh_release(&mesh);
    return status;
}
