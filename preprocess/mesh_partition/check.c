/* check: what a mesh may not be: in pieces, or with outer faces that lie in one another. */
#include <stdio.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "kernels/common/mesh_intersect.h"
#include "kernels/common/mesh_topology.h"
#include "kernels/common/space_curve.h"
#include "kernels/dgtd/reference.h"
#include "partition.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

enum { PLACE = 256 };

/* "element 12 of wing.hdf": the row of the mesh file. out[256] */
static const char *element_name(const job *j, int64_t element, char out[256])
{
    snprintf(out, 256, "tetrahedron %d of %s", j->mesh.source[element], j->input);
    return out;
}

static ps_status check_pieces(job *j, const uint32_t *ids)
{
    ps_partition *p = &j->mesh;
    PS_SCOPED_MEMORY int32_t *piece = NULL;
    PS_SCOPED_MEMORY uint32_t *root = NULL;
    PS_TRY(PS_ALLOC(&piece, p->elements, "pieces"));
    PS_TRY(PS_ALLOC(&root, p->elements, "pieces"));
    p->components = ps_volume_parts(p->tetrahedra, p->elements, ids, piece, root);
    for (int64_t e = 0; e < p->elements && p->components > 1 && !j->allow_pieces; ++e) {
        char place[PLACE];
        if (piece[e] == piece[0]) continue;
        return ps_fail(PS_INVALID,
                         "%s falls into %" PRId64 " pieces that do not touch across "
                         "faces: %s belongs to another one than tetrahedron %d; "
                         "--allow-pieces takes it as it is",
                         j->input, p->components, element_name(j, e, place), p->source[0]);
    }
    return PS_OK;
}

/* ---- outer faces ---- */

typedef struct surface {
    int64_t count;
    int32_t *triangles; /* [count][3] */
    int32_t *elements;  /* [count]    */
    int32_t *hit;       /* [count] partner of an overlap or -1 */
} surface;

static ps_status list_outer(job *j, surface *s)
{
    const ps_partition *p = &j->mesh;
    for (int64_t f = 0; f < 4 * p->elements; ++f) s->count += p->links[f] < 0;
    PS_TRY(PS_ALLOC(&s->triangles, 3 * s->count, "outer faces"));
    PS_TRY(PS_ALLOC(&s->elements, s->count, "outer faces"));
    PS_TRY(PS_ALLOC(&s->hit, s->count, "outer faces"));
    int64_t at = 0;
    for (int64_t f = 0; f < 4 * p->elements; ++f) {
        if (p->links[f] >= 0) continue;
        for (int v = 0; v < 3; ++v)
            s->triangles[3 * at + v] = p->tetrahedra[f / 4 * 4 + ps_dgtd_face_vertices[f % 4][v]];
        s->elements[at++] = (int32_t)(f / 4);
    }
    j->outer_faces = s->count;
    return PS_OK;
}

static const double *corner(const ps_partition *p, int32_t vertex)
{
    return p->vertices + 3 * (int64_t)vertex;
}

static ps_status find_overlaps(const job *j, surface *s, int64_t *pairs)
{
    PS_SCOPED_MEMORY double *centroids = NULL;
    PS_SCOPED_MEMORY void *workspace = NULL;
    PS_SCOPED_MEMORY int32_t *order = NULL;
    PS_SCOPED_MEMORY float *boxes = NULL;
    PS_TRY(PS_ALLOC(&centroids, 3 * s->count, "outer faces"));
    PS_TRY(PS_ALLOC(&order, s->count, "outer faces"));
    PS_TRY(PS_ALLOC(&boxes, 6 * ps_box_tree_size(s->count), "outer faces"));
    PS_TRY(ps_alloc(&workspace, (int64_t)ps_space_curve_workspace(s->count), 1, "outer faces"));
    for (int64_t i = 0; i < 3 * s->count; ++i)
        for (int v = 0; v < 3; ++v)
            centroids[i] += corner(&j->mesh, s->triangles[i / 3 * 3 + v])[i % 3] / 3;
    ps_space_curve_order(PS_CURVE_HILBERT, centroids, s->count, workspace, order);
    ps_box_tree_build(j->mesh.vertices, s->triangles, s->count, order, boxes);
    *pairs =
        ps_surface_intersections(j->mesh.vertices, s->triangles, s->count, order, boxes, s->hit);
    return PS_OK;
}

/* Direction from edge a-b to the opposite vertex of a triangle, across the edge, as a unit vector.
 */
static void inwards(const ps_partition *p, const int32_t *triangle, int edge, double out[3])
{
    const double *a = corner(p, triangle[edge]), *b = corner(p, triangle[(edge + 1) % 3]);
    const double *c = corner(p, triangle[(edge + 2) % 3]);
    double along = 0, square = 0, length = 0;
    for (int i = 0; i < 3; ++i) {
        along += (c[i] - a[i]) * (b[i] - a[i]);
        square += (b[i] - a[i]) * (b[i] - a[i]);
    }
    for (int i = 0; i < 3; ++i) {
        out[i] = c[i] - a[i] - along / square * (b[i] - a[i]);
        length += out[i] * out[i];
    }
    for (int i = 0; i < 3; ++i) out[i] /= sqrt(length);
}

/* Two outer faces at an edge that leave it in the same direction (to 1e-6 rad) lie on one another.
 */
static bool folds(const ps_partition *p, const surface *s, uint32_t a, uint32_t b)
{
    double u[3], v[3], apart = 0;
    inwards(p, s->triangles + 3 * (int64_t)(a / 3), (int)(a % 3), u);
    inwards(p, s->triangles + 3 * (int64_t)(b / 3), (int)(b % 3), v);
    for (int i = 0; i < 3; ++i) apart += (u[i] - v[i]) * (u[i] - v[i]);
    return apart < 1e-12;
}

static ps_status find_folds(const job *j, surface *s, int64_t *pairs)
{
    PS_SCOPED_MEMORY uint32_t *start = NULL, *ids = NULL;
    const int64_t count = 3 * s->count;
    PS_TRY(PS_ALLOC(&start, j->mesh.vertex_count + 1, "outer faces"));
    PS_TRY(PS_ALLOC(&ids, count, "outer faces"));
    ps_facets_sort(&ps_triangle_edges, s->triangles, s->count, j->mesh.vertex_count, start, ids);
    for (int64_t first = 0, end; first < count; first = end) {
        end = ps_facets_run(&ps_triangle_edges, s->triangles, ids, count, first);
        for (int64_t a = first; a < end; ++a)
            for (int64_t b = a + 1; b < end; ++b) {
                if (!folds(&j->mesh, s, ids[a], ids[b])) continue;
                s->hit[ids[a] / 3] = (int32_t)(ids[b] / 3);
                ++*pairs;
            }
    }
    return PS_OK;
}

static ps_status tell_overlap(const job *j, const surface *s, int64_t pairs)
{
    int64_t first = 0;
    char place[2][PLACE];
    while (s->hit[first] < 0) ++first;
    const double *x = corner(&j->mesh, s->triangles[3 * first]);
    return ps_fail(PS_INVALID,
                   "the mesh does not conform: outer faces of %s and %s, near (%g, %g, "
                   "%g), overlap or cut through one another (%" PRId64 " such pairs). "
                   "Neighbours must share their vertices: mesh the regions together, "
                   "or weld coincident vertices (penstock-mesh-import --weld)",
                   element_name(j, s->elements[first], place[0]),
                   element_name(j, s->elements[s->hit[first]], place[1]), x[0], x[1], x[2], pairs);
}

static ps_status check_outer(job *j)
{
    surface s = {0};
    int64_t pairs = 0, folded = 0;
    ps_status status = list_outer(j, &s);
    if (status == PS_OK) status = find_overlaps(j, &s, &pairs);
    if (status == PS_OK) status = find_folds(j, &s, &folded);
    if (status == PS_OK && pairs + folded > 0) status = tell_overlap(j, &s, pairs + folded);
    free(s.triangles), free(s.elements), free(s.hit);
    return status;
}

/* A mesh that does not conform often falls into pieces as well: that is told first. */
ps_status check_mesh(job *j, const uint32_t *ids)
{
    PS_TRY(check_outer(j));
    return check_pieces(j, ids);
}
