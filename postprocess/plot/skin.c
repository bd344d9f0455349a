#include "postprocess/plot/skin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/field.h"
#include "kernels/dgtd/mesh.h"
#include "kernels/dgtd/reference.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

/* The tetrahedra that count, vertices ascending, and what is on them. */
typedef struct solid {
    int64_t vertex_count, cell_count;
    double *vertices; /* [vertex_count][3] */
    int32_t *cells;   /* [cell_count][4]   */
    double *values;   /* [cell_count]      */
    int32_t *links;   /* [cell_count][4]   */
    int32_t *tags;    /* [cell_count]      */
} solid;

static void solid_release(solid *s)
{
    PS_FREE(s->vertices, s->cells, s->values, s->links, s->tags);
}

static ps_status read_solid(ps_store *store, const char *name, skin *out, solid *s)
{
    char path[PS_NAME_MAX];
    int id;
    ps_dataset_info info;
    snprintf(path, sizeof path, "/VTKHDF/CellData/%s", name);
    if (*name && !ps_store_has(store, path, NULL)) return skin_no_field(store, name);
    PS_TRY(ps_vtkhdf_get_sizes(store, 4, &s->vertex_count, &s->cell_count));
    PS_TRY(PS_ALLOC(&s->vertices, 3 * s->vertex_count, "vertices"));
    PS_TRY(PS_ALLOC(&s->cells, 4 * s->cell_count, "tetrahedra"));
    PS_TRY(PS_ALLOC(&s->values, s->cell_count, "values"));
    PS_TRY(PS_ALLOC(&s->links, 4 * s->cell_count, "faces"));
    PS_TRY(skin_read_reals(store, "/VTKHDF/Points", s->vertex_count, 3, s->vertices));
    PS_TRY(PS_ALLOC(&s->tags, s->cell_count, "tags"));
    PS_TRY(skin_read_tags(store, s->cell_count, s->tags, &out->mesh));
    for (int64_t e = 0; !*name && e < s->cell_count; ++e) s->values[e] = 1;
    if (*name) {
        PS_TRY(skin_read_reals(store, path, s->cell_count, 1, s->values));
        PS_TRY(ps_store_find(store, path, &id));
        PS_TRY(ps_store_dataset(store, id, &info));
        snprintf(out->units, sizeof out->units, "%.31s", info.units);
    }
    return ps_vtkhdf_get_i32(store, "/VTKHDF/Connectivity", 4 * s->cell_count, 1, s->cells);
}

/* Keeps the tetrahedra with a value above 0 and links their faces. */
static ps_status reduce(solid *s)
{
    int64_t kept = 0;
    PS_SCOPED_MEMORY uint32_t *ids = NULL;
    PS_SCOPED_MEMORY uint32_t *start = NULL;
    for (int64_t e = 0; e < s->cell_count; ++e) {
        if (!(s->values[e] > 0)) continue;
        for (int v = 0; v < 4; ++v)
            if (s->cells[4 * e + v] < 0 || s->cells[4 * e + v] >= s->vertex_count)
                return ps_fail(PS_INVALID, "tetrahedron %lld has vertices that are not there",
                               (long long)e);
        memmove(s->cells + 4 * kept, s->cells + 4 * e, 4 * sizeof *s->cells);
        s->tags[kept] = s->tags[e];
        s->values[kept++] = s->values[e];
    }
    s->cell_count = kept;
    if (kept == 0) return ps_fail(PS_INVALID, "no value is above 0: there is nothing to show");
    ps_dgtd_sort_vertices(s->cells, kept);
    PS_TRY(PS_ALLOC(&start, s->vertex_count + 1, "faces by vertex"));
    PS_TRY(PS_ALLOC(&ids, 4 * kept, "faces by vertex"));
    return ps_dgtd_link_faces(s->cells, kept, s->vertex_count, start, ids, s->links);
}

/* Vertices of face f of a tetrahedron, counterclockwise seen from outside. */
static void outward(const solid *s, const int32_t *cell, int f, int32_t out[3])
{
    const int8_t *local = ps_dgtd_face_vertices[f];
    double u[3], v[3], w[3];
    const double *apex = s->vertices + 3 * (int64_t)cell[6 - local[0] - local[1] - local[2]];
    for (int k = 0; k < 3; ++k) out[k] = cell[local[k]];
    const double *a = s->vertices + 3 * (int64_t)out[0], *b = s->vertices + 3 * (int64_t)out[1],
                 *c = s->vertices + 3 * (int64_t)out[2];
    for (int k = 0; k < 3; ++k) {
        u[k] = b[k] - a[k];
        v[k] = c[k] - a[k];
        w[k] = apex[k] - a[k];
    }
    double volume = w[0] * (u[1] * v[2] - u[2] * v[1]) + w[1] * (u[2] * v[0] - u[0] * v[2]) +
                    w[2] * (u[0] * v[1] - u[1] * v[0]);
    if (volume > 0) {
        int32_t swap = out[1];
        out[1] = out[2];
        out[2] = swap;
    }
}

static int64_t count_faces(const solid *s)
{
    int64_t count = 0;
    for (int64_t i = 0; i < 4 * s->cell_count; ++i) count += s->links[i] < 0;
    return count;
}

/* Triangles in the solid's vertex numbers, the sum and number of values at each vertex, and the tag
 * of each triangle's tetrahedron. */
static void list_triangles(const solid *s, int32_t *triangles, double (*sums)[2], int32_t *tags)
{
    int64_t at = 0;
    for (int64_t i = 0; i < 4 * s->cell_count; ++i) {
        int32_t *t = triangles + 3 * at;
        if (s->links[i] >= 0) continue;
        outward(s, s->cells + i / 4 * 4, (int)(i % 4), t);
        for (int k = 0; k < 3; ++k) {
            sums[t[k]][0] += s->values[i / 4];
            ++sums[t[k]][1];
        }
        tags[at++] = s->tags[i / 4];
    }
}

static ps_status fill_skin(const solid *s, const double (*sums)[2], const int32_t *triangles,
                           int64_t count, skin *out)
{
    PS_SCOPED_MEMORY int32_t *place = NULL;
    int64_t used = 0;
    for (int64_t v = 0; v < s->vertex_count; ++v) used += sums[v][1] > 0;
    ps_surface_mesh names = out->mesh;
    PS_TRY(ps_surface_mesh_init(&out->mesh, used, count));
    memcpy(out->mesh.tag_names, names.tag_names, sizeof names.tag_names);
    PS_TRY(PS_ALLOC(&out->corners, 3 * count, "values of the skin"));
    PS_TRY(PS_ALLOC(&place, s->vertex_count, "vertices of the skin"));
    used = 0;
    for (int64_t v = 0; v < s->vertex_count; ++v) {
        if (!(sums[v][1] > 0)) continue;
        place[v] = (int32_t)used;
        memcpy(out->mesh.vertices + 3 * used++, s->vertices + 3 * v, 3 * sizeof *s->vertices);
    }
    for (int64_t i = 0; i < 3 * count; ++i) {
        out->mesh.triangles[i] = place[triangles[i]];
        out->corners[i] = sums[triangles[i]][0] / sums[triangles[i]][1];
    }
    out->mesh.closed = out->mesh.oriented = true;
    return PS_OK;
}

static ps_status make_skin(const solid *s, skin *out)
{
    int64_t count = count_faces(s);
    PS_SCOPED_MEMORY int32_t *triangles = NULL, *tags = NULL;
    PS_SCOPED_MEMORY double(*sums)[2] = NULL;
    PS_TRY(PS_ALLOC(&triangles, 3 * count, "triangles of the skin"));
    PS_TRY(PS_ALLOC(&tags, count, "tags of the skin"));
    PS_TRY(PS_ALLOC(&sums, s->vertex_count, "values of the skin"));
    list_triangles(s, triangles, sums, tags);
    PS_TRY(fill_skin(s, (const double(*)[2])sums, triangles, count, out));
    memcpy(out->mesh.tags, tags, (size_t)count * sizeof *tags);
    return PS_OK;
}

static ps_status load_tetrahedra(ps_store *store, const char *name, skin *out)
{
    PS_SCOPED(solid_release) solid s = {0};
    PS_TRY(read_solid(store, name, out, &s));
    PS_TRY(reduce(&s));
    return make_skin(&s, out);
}

/* Cells of 3 vertices, as far as the sizes say. */
static bool has_triangles(ps_store *store)
{
    int64_t cells = 0, ids = 0;
    ps_status status =
        ps_store_read_array(store, "/VTKHDF/NumberOfCells", PS_I64, 0, 1, sizeof cells, &cells);
    if (status == PS_OK)
        status = ps_store_read_array(store, "/VTKHDF/NumberOfConnectivityIds", PS_I64, 0, 1,
                                     sizeof ids, &ids);
    return status == PS_OK && ids == 3 * cells;
}

ps_status skin_load(const char *path, const char *name, skin *out)
{
    ps_store *store = NULL;
    memset(out, 0, sizeof *out);
    PS_TRY(ps_store_open(path, NULL, 1 << 20, &store));
    bool triangles = has_triangles(store);
    if (!name) name = triangles ? "magnitude" : "SAR";
    snprintf(out->name, sizeof out->name, "%s", name);
    ps_status status = PS_OK;
    if (*name && !triangles && strcmp(ps_store_format(store), PS_FIELD_FORMAT) != 0)
        status = ps_fail(PS_INVALID, "it is a %s; a field (%s) or a surface with values is needed",
                         ps_store_format(store), PS_FIELD_FORMAT);
    if (status == PS_OK)
        status =
            triangles ? skin_load_triangles(store, name, out) : load_tetrahedra(store, name, out);
    ps_store_close(&store);
    if (status == PS_OK) return PS_OK;
    skin_release(out);
    return ps_context(status, "%s", path);
}

void skin_release(skin *s)
{
    ps_surface_mesh_release(&s->mesh);
    free(s->corners);
    s->corners = NULL;
}
