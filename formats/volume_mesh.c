#include "formats/volume_mesh.h"

#include <string.h>

#include "formats/columns.h"
#include "runtime/memory.h"
#include "runtime/program.h"
#include "runtime/scope.h"

#define TRIANGLE "/boundary/triangle"
#define TRIANGLE_CORNER "/boundary/corner"

/* The grid comes first; it is written as such. */
enum { GRID = 2 };
static ps_status pass_arrays(ps_store *store, const ps_volume_mesh *m, int first,
                             ps_columns_pass *each)
{
    int64_t n = m->tetrahedron_count, t = m->triangle_count;
    const ps_column columns[] = {
        {"/VTKHDF/Points", "m", NULL, PS_F64, m->vertex_count, 3, .at = &m->vertices},
        {"/VTKHDF/Connectivity", "1", NULL, PS_I32, 4 * n, 1, .at = &m->tetrahedra},
        {"/VTKHDF/CellData/tag", "1", "physical group, 0 where none", PS_I32, n, 1, &m->tags,
         .dimensions = {PS_VTKHDF_CELL}},
        {"/VTKHDF/CellData/tetrahedron_source", "1",
         "place among the tetrahedra of the imported file", PS_I32, n, 1, &m->tetrahedron_source,
         .dimensions = {PS_VTKHDF_CELL}},
        {"/VTKHDF/PointData/vertex_source", "1", "place among the vertices of the imported file",
         PS_I32, m->vertex_count, 1, &m->vertex_source, .dimensions = {PS_VTKHDF_POINT}},
        {"/boundary/triangles", "1", "vertices of the tagged triangles", PS_I32, t, 3,
         &m->triangles, .dimensions = {TRIANGLE, TRIANGLE_CORNER}},
        {"/boundary/tag", "1", "physical group, 0 where none", PS_I32, t, 1, &m->triangle_tags,
         .dimensions = {TRIANGLE}},
        {"/boundary/triangle_source", "1", "place among the triangles of the imported file", PS_I32,
         t, 1, &m->triangle_source, .dimensions = {TRIANGLE}}};
    return each(store, columns + first, PS_COLUMNS(columns) - first);
}

ps_status ps_volume_mesh_init(ps_volume_mesh *mesh, int64_t vertex_count, int64_t tetrahedron_count,
                              int64_t triangle_count)
{
    *mesh = (ps_volume_mesh){.vertex_count = vertex_count,
                             .tetrahedron_count = tetrahedron_count,
                             .triangle_count = triangle_count,
                             .order = "none"};
    ps_status status = pass_arrays(NULL, mesh, 0, ps_columns_allocate);
    if (status != PS_OK) ps_volume_mesh_release(mesh);
    return status;
}

void ps_volume_mesh_release(ps_volume_mesh *mesh)
{
    PS_FREE(mesh->vertices, mesh->tetrahedra, mesh->tags, mesh->triangles, mesh->triangle_tags,
            mesh->vertex_source, mesh->tetrahedron_source, mesh->triangle_source);
    memset(mesh, 0, sizeof *mesh);
}

/* The mesh as a grid (borrowed), to save fields on it. */
static ps_vtkhdf_grid grid_of(const ps_volume_mesh *mesh)
{
    return (ps_vtkhdf_grid){mesh->vertex_count, mesh->tetrahedron_count, 4,
                            mesh->vertices,     mesh->tetrahedra,        false};
}

static double six_volumes(const double *a, const double *b, const double *c, const double *d)
{
    double u[3], v[3], w[3];
    for (int i = 0; i < 3; ++i) {
        u[i] = b[i] - a[i];
        v[i] = c[i] - a[i];
        w[i] = d[i] - a[i];
    }
    return u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2]) +
           u[2] * (v[0] * w[1] - v[1] * w[0]);
}

ps_status ps_volume_mesh_check(const ps_volume_mesh *mesh)
{
    ps_vtkhdf_grid grid = grid_of(mesh);
    PS_TRY(ps_vtkhdf_check(&grid, "tetrahedron"));
    for (int64_t t = 0; t < mesh->tetrahedron_count; ++t) {
        const int32_t *v = mesh->tetrahedra + 4 * t;
        const double *x[4];
        for (int k = 0; k < 4; ++k) x[k] = mesh->vertices + 3 * (int64_t)v[k];
        if (!(six_volumes(x[0], x[1], x[2], x[3]) > 0))
            return ps_fail(PS_INVALID,
                           "tetrahedron %lld (vertices %d %d %d %d) has no positive "
                           "volume",
                           (long long)t, v[0], v[1], v[2], v[3]);
    }
    for (int64_t i = 0; i < 3 * mesh->triangle_count; ++i)
        if (mesh->triangles[i] < 0 || mesh->triangles[i] >= mesh->vertex_count)
            return ps_fail(PS_INVALID, "boundary triangle %lld names vertex %d, but there are %lld",
                           (long long)(i / 3), mesh->triangles[i], (long long)mesh->vertex_count);
    return PS_OK;
}

static ps_status put_all(ps_store *store, const ps_volume_mesh *mesh)
{
    ps_vtkhdf_grid grid = grid_of(mesh);
    PS_TRY(ps_store_put_text(store, "/", "order", mesh->order));
    PS_TRY(ps_store_put_int(store, "/", "boundary_triangles", mesh->triangle_count));
    if (mesh->tag_names[0]) PS_TRY(ps_store_put_text(store, "/", "tag_names", mesh->tag_names));
    PS_TRY(ps_vtkhdf_put_grid(store, &grid));
    return pass_arrays(store, mesh, GRID, ps_columns_write);
}

static ps_store_identity identity_of(int64_t vertices, int64_t tetrahedra, int64_t triangles,
                                     const char *creator, const char *options)
{
    return (ps_store_identity){PS_VOLUME_MESH_FORMAT,
                               PS_VOLUME_MESH_VERSION,
                               creator,
                               ps_revision(),
                               options,
                               28 * vertices + 29 * tetrahedra + 20 * triangles};
}

ps_status ps_volume_mesh_save(const char *path, const ps_volume_mesh *mesh, const char *creator,
                              const char *options)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    PS_TRY_IN(ps_volume_mesh_check(mesh), "%s", path);
    ps_store_identity identity = identity_of(mesh->vertex_count, mesh->tetrahedron_count,
                                             mesh->triangle_count, creator, options);
    PS_TRY(ps_store_create(path, &identity, &store));
    PS_TRY(put_all(store, mesh));
    return ps_store_commit(&store);
}

static void count_up(const void *context, int64_t first, int64_t count, void *rows)
{
    for (int64_t i = 0; i < count; ++i) ((int32_t *)rows)[i] = (int32_t)(first + i);
}

static ps_status put_made(ps_store *store, const char *name, const char *dimension, int64_t rows,
                          int64_t width, ps_row_maker *make, const void *context)
{
    ps_dataset_spec spec = {.name = name,
                            .type = PS_I32,
                            .rank = width > 1 ? 2 : 1,
                            .dims = {rows, width},
                            .dimensions = {dimension, TRIANGLE_CORNER},
                            .units = "1"};
    return rows > 0 ? ps_store_write_made(store, &spec, make, context) : PS_OK;
}

static ps_status put_all_made(ps_store *store, const ps_volume_mesh_makers *m)
{
    ps_vtkhdf_grid grid = {m->vertex_count, m->tetrahedron_count, 4, NULL, NULL, false};
    ps_vtkhdf_makers makers = {m->context, m->vertices, m->connectivity};
    PS_TRY(ps_store_put_text(store, "/", "order", "none"));
    PS_TRY(ps_store_put_int(store, "/", "boundary_triangles", m->triangle_count));
    if (m->tag_names[0]) PS_TRY(ps_store_put_text(store, "/", "tag_names", m->tag_names));
    PS_TRY(ps_vtkhdf_put_made(store, &grid, &makers));
    PS_TRY(put_made(store, "/VTKHDF/CellData/tag", PS_VTKHDF_CELL, m->tetrahedron_count, 1, m->tags,
                    m->context));
    PS_TRY(put_made(store, "/VTKHDF/CellData/tetrahedron_source", PS_VTKHDF_CELL,
                    m->tetrahedron_count, 1, count_up, NULL));
    PS_TRY(put_made(store, "/VTKHDF/PointData/vertex_source", PS_VTKHDF_POINT, m->vertex_count, 1,
                    count_up, NULL));
    PS_TRY(put_made(store, "/boundary/triangles", TRIANGLE, m->triangle_count, 3, m->triangles,
                    m->context));
    PS_TRY(put_made(store, "/boundary/tag", TRIANGLE, m->triangle_count, 1, m->triangle_tags,
                    m->context));
    return put_made(store, "/boundary/triangle_source", TRIANGLE, m->triangle_count, 1, count_up,
                    NULL);
}

ps_status ps_volume_mesh_save_made(const char *path, const ps_volume_mesh_makers *m,
                                   const char *creator, const char *options)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    ps_store_identity identity =
        identity_of(m->vertex_count, m->tetrahedron_count, m->triangle_count, creator, options);
    PS_TRY(ps_store_create(path, &identity, &store));
    PS_TRY(put_all_made(store, m));
    return ps_store_commit(&store);
}

static ps_status get_all(ps_store *store, ps_volume_mesh *mesh)
{
    int64_t vertices, tetrahedra, triangles;
    PS_TRY(ps_vtkhdf_get_sizes(store, 4, &vertices, &tetrahedra));
    PS_TRY(ps_store_expect(store, "/VTKHDF/Points", PS_F64, vertices, 3));
    PS_TRY(ps_store_get_int(store, "/", "boundary_triangles", &triangles));
    if (triangles < 0 || triangles > INT32_MAX / 3)
        return ps_fail(PS_INVALID, "%s: %lld boundary triangles", ps_store_path(store),
                       (long long)triangles);
    if (triangles > 0) PS_TRY(ps_store_expect(store, "/boundary/triangles", PS_I32, triangles, 3));
    PS_TRY(ps_volume_mesh_init(mesh, vertices, tetrahedra, triangles));
    PS_TRY(ps_store_get_text(store, "/", "order", mesh->order, sizeof mesh->order));
    if (ps_store_has(store, "/", "tag_names"))
        PS_TRY(ps_store_get_text(store, "/", "tag_names", mesh->tag_names, sizeof mesh->tag_names));
    strncpy(mesh->uuid, ps_store_uuid(store), sizeof mesh->uuid - 1);
    PS_TRY(ps_store_content_hash(store, mesh->content_hash));
    PS_TRY(pass_arrays(store, mesh, 0, ps_columns_read));
    PS_TRY_IN(ps_volume_mesh_check(mesh), "%s", ps_store_path(store));
    return PS_OK;
}

ps_status ps_volume_mesh_load(const char *path, ps_volume_mesh *mesh)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    memset(mesh, 0, sizeof *mesh);
    PS_TRY(ps_store_open(path, PS_VOLUME_MESH_FORMAT, PS_VOLUME_MESH_VERSION, &store));
    ps_status status = get_all(store, mesh);
    if (status != PS_OK) ps_volume_mesh_release(mesh);
    return status;
}
