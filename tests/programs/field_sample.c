/* Writes three snapshots of known fields on a surface mesh: field_sample MESH BASE. Cell t has
 * the pressure t + 1000 k in snapshot k, at the time 0.1 k^2. Or, field_sample MESH FILE legendre,
 * at the vertices P_2 of the cosine of the angle to z. Or, field_sample MESH FILE K, the plane wave of the wave
 * number K along (.6, 0, .8): pressure and gradient at vertices, normal derivative at triangles' middles, and the
 * velocity -1i times the normal, each with an imaginary part; "plain" and "three" are fields of 1 and 3 numbers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/field.h"
#include "formats/surface_mesh.h"
#include "kernels/common/vec3.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

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

/* Of a triangle: middle, and in normal[] the unit normal. */
static void measure(const ps_surface_mesh *mesh, int64_t t, double middle[3], double normal[3])
{
    const double *x[3];
    double a[3], b[3];
    for (int l = 0; l < 3; ++l) x[l] = mesh->vertices + 3 * mesh->triangles[3 * t + l];
    for (int c = 0; c < 3; ++c) middle[c] = (x[0][c] + x[1][c] + x[2][c]) / 3;
    ps_subtract3(x[1], x[0], a);
    ps_subtract3(x[2], x[0], b);
    ps_cross3(a, b, normal);
    double length = ps_norm3(normal);
    for (int c = 0; c < 3; ++c) normal[c] /= length;
}

/* p[2], and i k p times the direction: gradient[6]. */
static void wave_at(double k, const double x[3], double p[2], double gradient[6])
{
    static const double d[3] = {.6, 0, .8};
    double phase = k * (d[0] * x[0] + d[1] * x[1] + d[2] * x[2]);
    p[0] = cos(phase);
    p[1] = sin(phase);
    for (int c = 0; c < 3; ++c) {
        gradient[c] = -k * d[c] * p[1];
        gradient[3 + c] = k * d[c] * p[0];
    }
}

static ps_status write_wave(const ps_surface_mesh *mesh, const char *path, double k)
{
    int64_t n = mesh->vertex_count, m = mesh->triangle_count;
    PS_SCOPED_MEMORY double *room = NULL;
    PS_TRY(PS_ALLOC(&room, 8 * n + 4 * m, "fields"));
    double *gradient = room + 2 * n, *slope = gradient + 6 * n, *velocity = slope + 2 * m;
    for (int64_t v = 0; v < n; ++v)
        wave_at(k, mesh->vertices + 3 * v, room + 2 * v, gradient + 6 * v);
    for (int64_t t = 0; t < m; ++t) {
        double middle[3], normal[3], p[2], own[6];
        measure(mesh, t, middle, normal);
        wave_at(k, middle, p, own);
        for (int c = 0; c < 6; ++c) slope[2 * t + c / 3] += own[c] * normal[c % 3];
        velocity[2 * t + 1] = -1;
    }
    ps_field fields[] = {{"p", "Pa", PS_F64, 2, true, room},
                         {"gradient", "Pa/m", PS_F64, 6, true, gradient},
                         {"slope", "Pa/m", PS_F64, 2, false, slope},
                         {"velocity", "m/s", PS_F64, 2, false, velocity},
                         {"plain", "Pa", PS_F64, 1, true, room},
                         {"three", "Pa", PS_F64, 3, true, gradient}};
    ps_field_snapshot snapshot = {ps_surface_mesh_grid(mesh), 6, fields, 0, "field_sample", "", mesh->content_hash};
    return ps_field_save(path, &snapshot);
}

int main(int argc, char **argv)
{
    PS_SCOPED(ps_surface_mesh_release) ps_surface_mesh mesh = {0};
    PS_SCOPED_MEMORY double *pressure = NULL;
    ps_status status = argc == 3 || argc == 4
                           ? ps_surface_mesh_load(argv[1], &mesh)
                           : ps_fail(PS_USAGE, "usage: field_sample MESH BASE [legendre|K]");
    if (status == PS_OK) status = PS_ALLOC(&pressure, mesh.triangle_count, "pressure");
    if (status == PS_OK)
        status = argc == 3                           ? write_snapshots(&mesh, argv[2], pressure)
                 : strcmp(argv[3], "legendre") == 0 ? write_legendre(&mesh, argv[2], pressure)
                                                     : write_wave(&mesh, argv[2], atof(argv[3]));
    if (status != PS_OK) fprintf(stderr, "field_sample: %s\n", ps_message());
    return status;
}
