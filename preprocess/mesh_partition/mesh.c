/* mesh: from the file to linked elements along the Hilbert curve, with the tags of their faces. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/common/mesh_topology.h"
#include "kernels/common/space_curve.h"
#include "kernels/dgtd/mesh.h"
#include "partition.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

/* ---- order ---- */

static ps_status hilbert_order(const ps_partition *p, int32_t *order)
{
    PS_SCOPED_MEMORY double *centroids = NULL;
    PS_SCOPED_MEMORY void *workspace = NULL;
    PS_TRY(PS_ALLOC(&centroids, 3 * p->elements, "centroids"));
    PS_TRY(ps_alloc(&workspace, (int64_t)ps_space_curve_workspace(p->elements), 1, "sorting"));
    ps_dgtd_order_elements(p->vertices, p->tetrahedra, p->elements, centroids, workspace, order);
    return PS_OK;
}

static ps_status order_elements(ps_partition *p)
{
    PS_SCOPED_MEMORY int32_t *order = NULL;
    PS_TRY(PS_ALLOC(&order, p->elements, "an order"));
    PS_TRY(hilbert_order(p, order));
    PS_TRY(permute_rows(&p->tetrahedra, p->elements, 4 * sizeof *p->tetrahedra, order));
    PS_TRY(permute_rows(&p->tags, p->elements, sizeof *p->tags, order));
    for (int64_t e = 0; e < p->elements; ++e) p->source[e] = order[e];
    return PS_OK;
}

/* ---- tagged faces ---- */

static bool same(const int32_t *a, const int32_t *b) { return memcmp(a, b, 3 * sizeof *a) == 0; }

/* Gives the faces at a triangle its tag: *count grows by 0, 1 or 2. */
static void tag_faces(ps_partition *p, const int32_t triangle[3], int32_t tag,
                      const uint32_t *start, const uint32_t *ids)
{
    int32_t key[4], other[4];
    ps_facet_key(&ps_triangle_itself, triangle, 0, key);
    for (uint32_t i = start[key[0]]; i < start[key[0] + 1]; ++i) {
        ps_facet_key(&ps_tetrahedron_faces, p->tetrahedra, ids[i], other);
        if (!same(key, other)) continue;
        p->faces[p->face_count] = ps_dgtd_facet_face(ids[i]);
        p->face_tags[p->face_count++] = tag;
    }
}

static ps_status take_triangles(job *j, const ps_volume_mesh *mesh, const uint32_t *start,
                                const uint32_t *ids)
{
    ps_partition *p = &j->mesh;
    PS_TRY(PS_ALLOC(&p->faces, 2 * mesh->triangle_count, "tagged faces"));
    PS_TRY(PS_ALLOC(&p->face_tags, 2 * mesh->triangle_count, "tagged faces"));
    for (int64_t t = 0; t < mesh->triangle_count; ++t) {
        int64_t before = p->face_count;
        const int32_t *v = mesh->triangles + 3 * t;
        tag_faces(p, v, mesh->triangle_tags[t], start, ids);
        if (p->face_count > before && p->face_count <= before + 2) continue;
        return ps_fail(PS_INVALID,
                       "%s: boundary triangle %" PRId64 " (vertices %d %d %d) is a "
                       "face of %" PRId64 " tetrahedra",
                       j->input, t, v[0], v[1], v[2], p->face_count - before);
    }
    return PS_OK;
}

/* ---- links ---- */

static ps_status link_elements(job *j, const ps_volume_mesh *mesh)
{
    ps_partition *p = &j->mesh;
    PS_SCOPED_MEMORY uint32_t *ids = NULL;
    PS_TRY(PS_ALLOC(&ids, 4 * p->elements, "faces"));
    {
        PS_SCOPED_MEMORY uint32_t *start = NULL;
        PS_TRY(PS_ALLOC(&start, p->vertex_count + 1, "faces"));
        PS_TRY(PS_ALLOC(&p->links, 4 * p->elements, "links of faces"));
        PS_TRY_IN(
            ps_dgtd_link_faces(p->tetrahedra, p->elements, p->vertex_count, start, ids, p->links),
            "%s", j->input);
        PS_TRY(take_triangles(j, mesh, start, ids));
    }
    return check_mesh(j, ids);
}

/* What the partition keeps of the mesh; the rest goes before the big arrays are made. */
static ps_status take_over(job *j, ps_volume_mesh *mesh)
{
    ps_partition *p = &j->mesh;
    if (mesh->tetrahedron_count >= (1 << 29))
        return ps_fail(PS_EXHAUSTED, "%s: %" PRId64 " tetrahedra, at most %d are possible",
                       j->input, mesh->tetrahedron_count, (1 << 29) - 1);
    p->elements = mesh->tetrahedron_count;
    p->vertex_count = mesh->vertex_count;
    p->vertices = mesh->vertices;
    p->tetrahedra = mesh->tetrahedra;
    p->tags = mesh->tags;
    p->source = mesh->tetrahedron_source; /* its values are written over */
    mesh->vertices = NULL;
    mesh->tetrahedra = NULL;
    mesh->tags = NULL;
    mesh->tetrahedron_source = NULL;
    free(mesh->vertex_source);
    mesh->vertex_source = NULL;
    memcpy(p->tag_names, mesh->tag_names, sizeof p->tag_names);
    memcpy(p->mesh_uuid, mesh->uuid, sizeof p->mesh_uuid);
    memcpy(p->mesh_hash, mesh->content_hash, sizeof p->mesh_hash);
    return PS_OK;
}

ps_status read_mesh(job *j)
{
    PS_SCOPED(ps_volume_mesh_release) ps_volume_mesh mesh = {0};
    double start = ps_clock();
    PS_TRY(ps_volume_mesh_load(j->input, &mesh));
    PS_TRY(take_over(j, &mesh));
    j->seconds[0] = ps_clock() - start;
    ps_dgtd_sort_vertices(j->mesh.tetrahedra, j->mesh.elements);
    PS_TRY(order_elements(&j->mesh));
    PS_TRY(link_elements(j, &mesh));
    j->seconds[1] = ps_clock() - start - j->seconds[0];
    return PS_OK;
}
