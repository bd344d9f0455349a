/*
 * The outer faces of a volume mesh: bodies that overlap, or touch with meshes of their own, have
 * faces that cut through one another, lie on one another, or lie inside of another part. Nothing
 * else tells, as such tetrahedra share no face.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/common/mesh_repair.h"
#include "kernels/common/mesh_topology.h"
#include "preprocess/mesh_import/import.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

enum { PLACE = 256 };

/* Of each part of the mesh: its box, and a tetrahedron of it. */
typedef struct body {
    double lower[3], upper[3];
    double reach; /* the largest upper[0] of this and all before it, in order */
    int64_t cell;
    int32_t part;
} body;

static void tell(const import_mesh *faces, import_finding *finding, int64_t face)
{
    char place[PLACE] = "";
    if (finding->count < IMPORT_PLACES_MAX)
        import_cell_place(faces, &faces->triangles, face, place, PLACE);
    import_finding_add(finding, "%s", place);
}

/* Faces that have an edge in common, which the search for intersections leaves to others. */
static ps_status check_folds(const import_mesh *faces, import_findings *findings)
{
    const import_cells *cells = &faces->triangles;
    const int64_t count = 3 * cells->count;
    PS_SCOPED_MEMORY uint32_t *start = NULL, *ids = NULL;
    PS_TRY(PS_ALLOC(&start, faces->vertex_count + 1, "edges"));
    PS_TRY(PS_ALLOC(&ids, count, "edges"));
    ps_facets_sort(&ps_triangle_edges, cells->vertices, cells->count, faces->vertex_count, start,
                   ids);
    import_finding *fold = import_finding_new(
        findings,
        "outer faces of tetrahedra lie on others with which they have an edge in common (a node "
        "hangs, or two meshes do not fit)",
        "--allow-intersections accepts them");
    for (int64_t first = 0, end; first < count; first = end) {
        end = ps_facets_run(&ps_triangle_edges, cells->vertices, ids, count, first);
        for (int64_t i = first; i < end; ++i)
            for (int64_t k = i + 1; k < end; ++k)
                if (import_folds(faces, ids[i], ids[k])) tell(faces, fold, ids[i] / 3);
    }
    return PS_OK;
}

static void survey(const import_mesh *mesh, const int32_t *part, int64_t parts, body *bodies)
{
    const import_cells *cells = &mesh->tetrahedra;
    for (int64_t p = 0; p < parts; ++p)
        bodies[p] = (body){
            {INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}, .part = (int32_t)p};
    for (int64_t t = cells->count - 1; t >= 0; --t) {
        body *b = &bodies[part[t]];
        b->cell = t;
        for (int k = 0; k < 12; ++k) {
            double x = mesh->vertices[3 * (int64_t)cells->vertices[4 * t + k / 3] + k % 3];
            b->lower[k % 3] = fmin(b->lower[k % 3], x);
            b->upper[k % 3] = fmax(b->upper[k % 3], x);
        }
    }
}

static int by_lower(const void *a, const void *b)
{
    double x = ((const body *)a)->lower[0], y = ((const body *)b)->lower[0];
    return (x > y) - (x < y);
}

/* By where they begin, so that those that may hold a part are few among many. */
static void order(body *bodies, int64_t parts)
{
    qsort(bodies, (size_t)parts, sizeof *bodies, by_lower);
    for (int64_t p = 0; p < parts; ++p)
        bodies[p].reach =
            p > 0 ? fmax(bodies[p - 1].reach, bodies[p].upper[0]) : bodies[p].upper[0];
}

static bool within(const body *inner, const body *outer)
{
    for (int c = 0; c < 3; ++c)
        if (inner->lower[c] < outer->lower[c] || inner->upper[c] > outer->upper[c]) return false;
    return true;
}

/* Whether a part lies in the midst of another; faces_part[]: of the outer faces. */
static bool lies_in(const import_mesh *mesh, const import_mesh *faces, const int32_t *faces_part,
                    const body *inner, const body *outer)
{
    double centre[3];
    if (inner == outer || !within(inner, outer)) return false;
    ps_cells_centroids(mesh->vertices, mesh->tetrahedra.vertices + 4 * inner->cell, 1, 4, centre);
    return fabs(ps_winding_number(faces->vertices, faces->triangles.vertices,
                                  faces->triangles.count, faces_part, NULL, outer->part, centre)) >=
           .5;
}

static void check_inside(const import_mesh *mesh, const import_mesh *faces, const body *bodies,
                         int64_t parts, const int32_t *faces_part, import_findings *findings)
{
    import_finding *inside =
        import_finding_new(findings, "parts lie inside of others, which fill the same space",
                           "--allow-intersections accepts them");
    for (int64_t p = 0; p < parts; ++p) {
        int64_t q = p;
        while (q + 1 < parts && bodies[q + 1].lower[0] == bodies[p].lower[0]) ++q;
        for (; q >= 0 && bodies[q].reach >= bodies[p].upper[0]; --q) {
            char place[PLACE];
            if (!lies_in(mesh, faces, faces_part, &bodies[p], &bodies[q])) continue;
            import_cell_place(mesh, &mesh->tetrahedra, bodies[p].cell, place, PLACE);
            import_finding_add(inside, "the part of %s", place);
        }
    }
}

/* A view of the mesh whose triangles are the outer faces; source and number are those of their
 * tetrahedra. */
static ps_status take_faces(const import_mesh *mesh, const uint32_t *ids, const int32_t *part,
                            import_mesh *faces, int32_t *faces_part)
{
    const import_cells *cells = &mesh->tetrahedra;
    const int64_t count = 4 * cells->count;
    import_cells *to = &faces->triangles;
    for (int64_t first = 0, end; first < count; first = end) {
        int32_t corners[4];
        end = ps_facets_run(&ps_tetrahedron_faces, cells->vertices, ids, count, first);
        if (end - first != 1) continue;
        int64_t cell = ids[first] / 4;
        ps_facet_vertices(&ps_tetrahedron_faces, cells->vertices, ids[first], corners);
        faces_part[to->count] = part[cell];
        PS_TRY(
            import_add_cell(to, corners, cells->tags[cell], cells->numbers[cells->source[cell]]));
    }
    PS_TRY(PS_ALLOC(&to->source, to->count, "outer faces"));
    for (int64_t f = 0; f < to->count; ++f) to->source[f] = (int32_t)f;
    return PS_OK;
}

ps_status import_check_outer(const import_mesh *mesh, const uint32_t *ids, const int32_t *part,
                             int64_t parts, int64_t outer, import_findings *findings)
{
    PS_SCOPED_MEMORY int32_t *faces_part = NULL;
    PS_SCOPED_MEMORY body *bodies = NULL;
    import_mesh faces = *mesh;
    memset(&faces.triangles, 0, sizeof faces.triangles);
    faces.triangles.size = 3;
    PS_TRY(PS_ALLOC(&faces_part, outer, "outer faces"));
    PS_TRY(PS_ALLOC(&bodies, parts, "parts of the mesh"));
    ps_status status = take_faces(mesh, ids, part, &faces, faces_part);
    if (status == PS_OK) status = check_folds(&faces, findings);
    if (status == PS_OK) status = import_check_intersections(&faces, findings);
    if (status == PS_OK) {
        survey(mesh, part, parts, bodies);
        order(bodies, parts);
        check_inside(mesh, &faces, bodies, parts, faces_part, findings);
    }
    import_cells_release(&faces.triangles);
    return status;
}
