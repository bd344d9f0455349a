/* Surfaces: closed, manifold, consistently oriented, normals outwards. */
#include <math.h>
#include <stdlib.h>

#include "kernels/common/mesh_repair.h"
#include "kernels/common/mesh_topology.h"
#include "preprocess/mesh_import/import.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

#define FOLD_ANGLE 1e-6 /* rad: below this two triangles lie on one another */

enum { PLACE = 256 };

typedef struct surface {
    import_mesh *mesh;
    const import_options *options;
    import_figures *figures;
    import_findings *findings;
    int64_t triangles, vertices;
    uint32_t *mate;  /* [3 triangles] */
    int32_t *part;   /* [triangles]   */
    uint8_t *flip;   /* [triangles]: to be turned so that all is well */
    double *volumes; /* [parts], after flip */
    double *boxes;   /* [parts][6]: lower, upper */
    int64_t *first;  /* [parts]: a triangle of it; then its count of flips */
    int64_t *sizes;  /* [parts] triangles */
} surface;

bool import_folds(const import_mesh *mesh, uint32_t h, uint32_t g)
{
    const double *x = mesh->vertices;
    double normal[2][3], product = 0, lengths = 1;
    uint32_t half_edges[2] = {h, g};
    for (int i = 0; i < 2; ++i) {
        const int32_t *v = mesh->triangles.vertices + 3 * (int64_t)(half_edges[i] / 3);
        ps_triangle_normal(x + 3 * (int64_t)v[0], x + 3 * (int64_t)v[1], x + 3 * (int64_t)v[2],
                           normal[i]);
    }
    for (int i = 0; i < 2; ++i)
        lengths *= sqrt(normal[i][0] * normal[i][0] + normal[i][1] * normal[i][1] +
                        normal[i][2] * normal[i][2]);
    for (int c = 0; c < 3; ++c) product += normal[0][c] * normal[1][c];
    product *= ps_facets_direction(&ps_triangle_edges, mesh->triangles.vertices, h, g);
    return lengths > 0 && product > lengths * (1 - 0.5 * FOLD_ANGLE * FOLD_ANGLE);
}

/* Edges of three or more triangles, folds, and the lengths of all edges. */
static void visit_edges(surface *s, const uint32_t *ids)
{
    const int32_t *triangles = s->mesh->triangles.vertices;
    import_finding *many = import_finding_new(
        s->findings, "edges belong to three or more triangles (the surface is not manifold)", NULL);
    import_finding *fold = import_finding_new(
        s->findings,
        "edges fold the surface back onto itself (the two triangles lie on one another)", NULL);
    ps_edge_figures_start(&s->figures->edge);
    for (int64_t first = 0, end; first < 3 * s->triangles; first = end) {
        char place[PLACE] = "";
        int32_t ends[4];
        end = ps_facets_run(&ps_triangle_edges, triangles, ids, 3 * s->triangles, first);
        ps_facet_vertices(&ps_triangle_edges, triangles, ids[first], ends);
        ps_edge_figures_add(&s->figures->edge, s->mesh->vertices + 3 * (int64_t)ends[0],
                            s->mesh->vertices + 3 * (int64_t)ends[1]);
        bool folded = end - first == 2 && import_folds(s->mesh, ids[first], ids[first + 1]);
        if (end - first < 3 && !folded) continue;
        import_edge_place(s->mesh, ends[0], ends[1], place, PLACE);
        if (folded)
            import_finding_add(fold, "%s", place);
        else
            import_finding_add(many, "%s: %lld triangles", place, (long long)(end - first));
    }
    ps_edge_figures_end(&s->figures->edge);
}

static ps_status pair_edges(surface *s)
{
    PS_SCOPED_MEMORY uint32_t *start = NULL, *ids = NULL;
    const int32_t *triangles = s->mesh->triangles.vertices;
    PS_TRY(PS_ALLOC(&start, s->vertices + 1, "edges"));
    PS_TRY(PS_ALLOC(&ids, 3 * s->triangles, "edges"));
    PS_TRY(PS_ALLOC(&s->mate, 3 * s->triangles, "edges"));
    ps_facets_sort(&ps_triangle_edges, triangles, s->triangles, s->vertices, start, ids);
    ps_edges_pair(triangles, s->triangles, ids, s->mate);
    visit_edges(s, ids);
    return PS_OK;
}

static ps_status check_open_edges(surface *s)
{
    PS_SCOPED_MEMORY uint32_t *root = NULL;
    const int32_t *triangles = s->mesh->triangles.vertices;
    import_findings accepted = {0};
    import_finding *open = import_finding_new(
        s->options->open ? &accepted : s->findings,
        "edges have a triangle on one side only (the surface is not closed)",
        s->mesh->soup ? "--weld TOL merges vertices closer than TOL metres; --open accepts a screen"
                      : "--open accepts a screen; --weld TOL closes seams of coinciding vertices");
    for (uint32_t h = 0; h < 3 * s->triangles; ++h) {
        char place[PLACE] = "";
        int32_t ends[4];
        if (s->mate[h] != PS_MATE_NONE) continue;
        ps_facet_vertices(&ps_triangle_edges, triangles, h, ends);
        if (open->count < IMPORT_PLACES_MAX)
            import_edge_place(s->mesh, ends[0], ends[1], place, PLACE);
        import_finding_add(open, "%s", place);
    }
    s->figures->open_edges = open->count;
    if (open->count == 0) return PS_OK;
    PS_TRY(PS_ALLOC(&root, s->vertices, "open edges"));
    s->figures->open_loops = ps_open_loops(triangles, s->triangles, s->mate, s->vertices, root);
    return PS_OK;
}

static ps_status check_fans(surface *s)
{
    PS_SCOPED_MEMORY uint8_t *fans = NULL;
    PS_SCOPED_MEMORY uint32_t *root = NULL;
    PS_TRY(PS_ALLOC(&fans, s->vertices, "vertex fans"));
    PS_TRY(PS_ALLOC(&root, 3 * s->triangles, "vertex fans"));
    ps_vertex_fans(s->mesh->triangles.vertices, s->triangles, s->mate, s->vertices, fans, root);
    import_finding *split = import_finding_new(
        s->findings,
        "vertices join sheets that touch nowhere else around them (the surface is not "
        "manifold there)",
        NULL);
    for (int64_t v = 0; v < s->vertices; ++v) {
        char place[PLACE] = "";
        if (fans[v] < 2) continue;
        if (split->count < IMPORT_PLACES_MAX) import_vertex_place(s->mesh, v, place, PLACE);
        import_finding_add(split, "%s: %d fans of triangles", place, fans[v]);
    }
    return PS_OK;
}

/* Sizes, boxes and first triangles of the parts. */
static void survey_parts(surface *s)
{
    for (int64_t p = 0; p < s->figures->parts; ++p) {
        s->sizes[p] = 0;
        for (int c = 0; c < 3; ++c) {
            s->boxes[6 * p + c] = INFINITY;
            s->boxes[6 * p + 3 + c] = -INFINITY;
        }
    }
    for (int64_t t = 0; t < s->triangles; ++t) {
        int64_t p = s->part[t];
        if (s->sizes[p]++ == 0) s->first[p] = t;
        for (int k = 0; k < 9; ++k) {
            double x =
                s->mesh->vertices[3 * (int64_t)s->mesh->triangles.vertices[3 * t + k / 3] + k % 3];
            double *box = s->boxes + 6 * p + k % 3;
            box[0] = fmin(box[0], x);
            box[3] = fmax(box[3], x);
        }
    }
}

/* Turns the fewer: where most triangles of a part disagree with its first, that one is wrong. */
static ps_status prefer_majority(surface *s)
{
    PS_SCOPED_MEMORY int64_t *flips = NULL;
    PS_TRY(PS_ALLOC(&flips, s->figures->parts, "orientation"));
    for (int64_t t = 0; t < s->triangles; ++t) flips[s->part[t]] += s->flip[t];
    for (int64_t t = 0; t < s->triangles; ++t)
        s->flip[t] ^= 2 * flips[s->part[t]] > s->sizes[s->part[t]];
    return PS_OK;
}

static void tell_turned(surface *s, import_findings *findings)
{
    import_finding *turned = import_finding_new(
        findings, "triangles are turned against the others of their part", "--orient turns them");
    for (int64_t t = 0; t < s->triangles; ++t) {
        char place[PLACE] = "";
        if (!s->flip[t]) continue;
        if (turned->count < IMPORT_PLACES_MAX)
            import_cell_place(s->mesh, &s->mesh->triangles, t, place, PLACE);
        import_finding_add(turned, "%s", place);
    }
}

static void tell_twist(surface *s, int64_t twists, uint32_t twist)
{
    char place[PLACE];
    int32_t ends[4];
    if (twists == 0) return;
    import_finding *finding =
        import_finding_new(s->findings,
                           "times the surface closes on itself with the wrong side (like a Moebius "
                           "band): it has no orientation",
                           NULL);
    ps_facet_vertices(&ps_triangle_edges, s->mesh->triangles.vertices, twist, ends);
    import_edge_place(s->mesh, ends[0], ends[1], place, PLACE);
    import_finding_add(finding, "%s", place);
    finding->count = twists;
}

static bool box_within(const double *inner, const double *outer)
{
    for (int c = 0; c < 3; ++c)
        if (inner[c] < outer[c] || inner[3 + c] > outer[3 + c]) return false;
    return true;
}

/* How many other parts enclose part p. */
static int depth_of(const surface *s, int64_t p)
{
    int depth = 0;
    double centre[3];
    const import_cells *cells = &s->mesh->triangles;
    ps_cells_centroids(s->mesh->vertices, cells->vertices + 3 * s->first[p], 1, 3, centre);
    for (int64_t q = 0; q < s->figures->parts; ++q)
        if (q != p && box_within(s->boxes + 6 * p, s->boxes + 6 * q))
            depth += fabs(ps_winding_number(s->mesh->vertices, cells->vertices, s->triangles,
                                            s->part, s->flip, (int32_t)q, centre)) > 0.5;
    return depth;
}

static bool box_has(const double *box, const double *x)
{
    for (int c = 0; c < 3; ++c)
        if (x[c] < box[c] || x[c] > box[3 + c]) return false;
    return true;
}

/* Whether a point is inside part q (1), outside (-1), or on it or near, which tells nothing (0). */
static int side_of(const surface *s, int64_t q, const double *at)
{
    const import_cells *cells = &s->mesh->triangles;
    double turns = 0;
    if (box_has(s->boxes + 6 * q, at))
        turns = fabs(ps_winding_number(s->mesh->vertices, cells->vertices, s->triangles, s->part,
                                       s->flip, (int32_t)q, at));
    return turns > .75 ? 1 : turns < .25 ? -1 : 0;
}

/* Whether part q has some of part p inside and some outside, as corners and middles of its
 * triangles tell, of which so many even ones are looked at. */
static bool reaches_into(const surface *s, int64_t p, int64_t q)
{
    enum { SAMPLES = 64 };
    int64_t step = 1 + s->sizes[p] / SAMPLES, seen = 0;
    bool inside = false, outside = false;
    for (int64_t t = s->first[p]; t < s->triangles && !(inside && outside); ++t) {
        const int32_t *v = s->mesh->triangles.vertices + 3 * t;
        double middle[3];
        if (s->part[t] != p || seen++ % step != 0) continue;
        ps_cells_centroids(s->mesh->vertices, v, 1, 3, middle);
        for (int k = 0; k < 4; ++k) {
            int side = side_of(s, q, k < 3 ? s->mesh->vertices + 3 * (int64_t)v[k] : middle);
            inside |= side > 0;
            outside |= side < 0;
        }
    }
    return inside && outside;
}

static bool boxes_apart(const double *a, const double *b)
{
    for (int c = 0; c < 3; ++c)
        if (a[c] >= b[3 + c] || b[c] >= a[3 + c]) return true;
    return false;
}

/* Parts may cut through one another along edges and vertices alone, as copies of a symmetric mesh
 * do, which no pair of triangles tells. */
static void check_reach(surface *s)
{
    import_finding *finding = import_finding_new(s->findings, "closed parts reach into one another",
                                                 "--allow-intersections accepts them");
    for (int64_t p = 0; p < s->figures->parts; ++p)
        for (int64_t q = 0; q < s->figures->parts; ++q) {
            char first[PLACE], second[PLACE];
            if (p == q || boxes_apart(s->boxes + 6 * p, s->boxes + 6 * q)) continue;
            if (!reaches_into(s, p, q)) continue;
            import_cell_place(s->mesh, &s->mesh->triangles, s->first[p], first, PLACE);
            import_cell_place(s->mesh, &s->mesh->triangles, s->first[q], second, PLACE);
            import_finding_add(finding, "the part of %s has some of itself inside that of %s",
                               first, second);
        }
}

/* Parts that nothing encloses must have positive volumes; enclosed ones are cavities
 * (negative) or nested interfaces (positive), and both are left as they are. */
static ps_status check_outward(surface *s, import_findings *findings)
{
    PS_SCOPED_MEMORY uint8_t *turn = NULL;
    import_finding *inward = import_finding_new(
        findings, "closed parts have normals that point inwards", "--orient turns them outwards");
    PS_TRY(PS_ALLOC(&turn, s->figures->parts, "orientation"));
    ps_parts_volumes(s->mesh->vertices, s->mesh->triangles.vertices, s->triangles, s->part, s->flip,
                     s->mesh->vertices, s->figures->parts, s->volumes);
    for (int64_t p = 0; p < s->figures->parts; ++p) {
        char place[PLACE];
        int depth = depth_of(s, p);
        s->figures->cavities += depth > 0 && s->volumes[p] < 0;
        s->figures->nested += depth > 0 && s->volumes[p] > 0;
        turn[p] = depth == 0 && s->volumes[p] < 0;
        if (!turn[p]) continue;
        import_cell_place(s->mesh, &s->mesh->triangles, s->first[p], place, PLACE);
        import_finding_add(inward,
                           "%lld triangles enclosing a volume of %.6g, the first of them %s",
                           (long long)s->sizes[p], s->volumes[p], place);
    }
    for (int64_t t = 0; t < s->triangles; ++t) s->flip[t] ^= turn[s->part[t]];
    return PS_OK;
}

static ps_status alloc_parts(surface *s)
{
    PS_TRY(PS_ALLOC(&s->volumes, s->figures->parts, "parts of the surface"));
    PS_TRY(PS_ALLOC(&s->boxes, 6 * s->figures->parts, "parts of the surface"));
    PS_TRY(PS_ALLOC(&s->first, s->figures->parts, "parts of the surface"));
    return PS_ALLOC(&s->sizes, s->figures->parts, "parts of the surface");
}

static ps_status check_orientation(surface *s)
{
    uint32_t *queue, twist = 0;
    int64_t twists;
    bool orient = s->options->orient || s->mesh->generated;
    import_findings mended = {0}, *findings = orient ? &mended : s->findings;
    PS_TRY(PS_ALLOC(&s->part, s->triangles, "parts of the surface"));
    PS_TRY(PS_ALLOC(&s->flip, s->triangles, "orientation"));
    PS_TRY(PS_ALLOC(&queue, s->triangles, "parts of the surface"));
    s->figures->parts = ps_surface_parts(s->mesh->triangles.vertices, s->triangles, s->mate,
                                         s->part, s->flip, queue, &twists, &twist);
    free(queue);
    tell_twist(s, twists, twist);
    if (twists > 0) return PS_OK;
    PS_TRY(alloc_parts(s));
    survey_parts(s);
    PS_TRY(prefer_majority(s));
    tell_turned(s, findings);
    if (s->figures->closed) PS_TRY(check_outward(s, findings));
    if (s->figures->closed && !s->options->allow_intersections) check_reach(s);
    if (orient)
        s->figures->turned = ps_cells_turn(s->mesh->triangles.vertices, s->triangles, 3, s->flip);
    s->figures->oriented = s->figures->closed;
    return PS_OK;
}

static ps_status check_topology(surface *s)
{
    s->triangles = s->mesh->triangles.count;
    s->vertices = s->mesh->vertex_count;
    PS_TRY(pair_edges(s));
    PS_TRY(check_open_edges(s));
    s->figures->closed = s->figures->open_edges == 0;
    PS_TRY(check_fans(s));
    return check_orientation(s);
}

ps_status import_surface(import_mesh *mesh, const import_options *options, import_figures *figures)
{
    import_findings findings = {0};
    surface s = {.mesh = mesh, .options = options, .figures = figures, .findings = &findings};
    if (mesh->triangles.count == 0)
        return ps_fail(PS_INVALID, "%s: no triangles in it", options->input);
    mesh->tetrahedra.count = 0;
    PS_TRY(import_repair_vertices(mesh, options, &findings, figures));
    PS_TRY(import_repair_cells(mesh, &mesh->triangles, options, &findings, figures));
    if (mesh->triangles.count == 0)
        return ps_fail(PS_INVALID, "%s: all triangles were degenerate", options->input);
    PS_TRY(import_drop_unused(mesh, figures));
    ps_status status = check_topology(&s);
    free(s.mate), free(s.part), free(s.flip), free(s.volumes), free(s.boxes), free(s.first);
    free(s.sizes);
    if (status == PS_OK && !options->allow_intersections)
        status = import_check_intersections(mesh, &findings);
    return status == PS_OK ? import_findings_verdict(&findings, options->input) : status;
}
