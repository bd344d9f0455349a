#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/common/mesh_measure.h"
#include "kernels/common/vec3.h"
#include "postprocess/plot/skin.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

/* Where the field is: among those of the vertices or of the cells. */
static ps_status find_field(ps_store *store, const char *name, char path[PS_NAME_MAX],
                            bool *on_points)
{
    static const char *const groups[] = {"CellData", "PointData"};
    for (int g = 0; g < 2; ++g) {
        snprintf(path, PS_NAME_MAX, "/VTKHDF/%s/%.64s", groups[g], name);
        *on_points = g == 1;
        if (ps_store_has(store, path, NULL)) return PS_OK;
    }
    return skin_no_field(store, name);
}

static ps_status check_corners(const ps_surface_mesh *mesh)
{
    for (int64_t i = 0; i < 3 * mesh->triangle_count; ++i)
        if (mesh->triangles[i] < 0 || mesh->triangles[i] >= mesh->vertex_count)
            return ps_fail(PS_INVALID, "triangle %lld has vertices that are not there",
                           (long long)(i / 3));
    return PS_OK;
}

/* A surface whose area vectors sum to nothing and that has a positive volume is taken for closed
 * and looking outwards: faces turned away need not be drawn. */
static bool looks_outward(const ps_surface_mesh *mesh)
{
    double sum[3] = {0, 0, 0}, area = 0, volume = 0;
    for (int64_t t = 0; t < mesh->triangle_count; ++t) {
        double normal[3];
        const int32_t *v = mesh->triangles + 3 * t;
        const double *a = mesh->vertices + 3 * (int64_t)v[0];
        ps_triangle_normal(a, mesh->vertices + 3 * (int64_t)v[1],
                           mesh->vertices + 3 * (int64_t)v[2], normal);
        for (int c = 0; c < 3; ++c) {
            sum[c] += normal[c];
            volume += a[c] * normal[c];
        }
        area += ps_norm3(normal);
    }
    return fmax(fabs(sum[0]), fmax(fabs(sum[1]), fabs(sum[2]))) < 1e-6 * area && volume > 0;
}

static ps_status read_values(ps_store *store, const char *path, bool on_points, skin *out)
{
    PS_SCOPED_MEMORY double *values = NULL;
    int id;
    ps_dataset_info info;
    int64_t count = on_points ? out->mesh.vertex_count : out->mesh.triangle_count;
    PS_TRY(ps_store_find(store, path, &id));
    PS_TRY(ps_store_dataset(store, id, &info));
    snprintf(out->units, sizeof out->units, "%.31s", info.units);
    PS_TRY(PS_ALLOC(&out->corners, 3 * out->mesh.triangle_count, "values"));
    PS_TRY(PS_ALLOC(&values, count, "values"));
    PS_TRY(skin_read_reals(store, path, count, 1, values));
    for (int64_t i = 0; i < 3 * out->mesh.triangle_count; ++i)
        out->corners[i] = values[on_points ? out->mesh.triangles[i] : i / 3];
    return PS_OK;
}

ps_status skin_load_triangles(ps_store *store, const char *name, skin *out)
{
    char path[PS_NAME_MAX];
    bool on_points = false;
    int64_t vertices, triangles;
    if (*name) PS_TRY(find_field(store, name, path, &on_points));
    PS_TRY(ps_vtkhdf_get_sizes(store, 3, &vertices, &triangles));
    PS_TRY(ps_surface_mesh_init(&out->mesh, vertices, triangles));
    PS_TRY(skin_read_reals(store, "/VTKHDF/Points", vertices, 3, out->mesh.vertices));
    PS_TRY(ps_vtkhdf_get_i32(store, "/VTKHDF/Connectivity", 3 * triangles, 1, out->mesh.triangles));
    PS_TRY(check_corners(&out->mesh));
    PS_TRY(skin_read_tags(store, triangles, out->mesh.tags, &out->mesh));
    if (*name) PS_TRY(read_values(store, path, on_points, out));
    out->mesh.closed = out->mesh.oriented = looks_outward(&out->mesh);
    return PS_OK;
}
