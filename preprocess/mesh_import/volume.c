/* Volumes: positive, conforming tetrahedra; the triangles given are faces of them. */
#include <stdlib.h>
#include <string.h>

#include "kernels/common/mesh_repair.h"
#include "kernels/common/mesh_topology.h"
#include "preprocess/mesh_import/import.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

enum { PLACE = 256 };

typedef struct volume {
    import_mesh *mesh;
    const import_options *options;
    import_figures *figures;
    import_findings *findings;
    uint32_t *start, *ids; /* faces, sorted */
} volume;

static void add_cell(const volume *v, import_finding *finding, const import_cells *cells,
                     int64_t cell)
{
    char place[PLACE] = "";
    if (finding->count < IMPORT_PLACES_MAX) import_cell_place(v->mesh, cells, cell, place, PLACE);
    import_finding_add(finding, "%s", place);
}

static ps_status check_positive(volume *v)
{
    PS_SCOPED_MEMORY uint8_t *turn = NULL;
    import_cells *cells = &v->mesh->tetrahedra;
    bool orient = v->options->orient || v->mesh->generated;
    import_findings mended = {0};
    import_finding *negative =
        import_finding_new(orient ? &mended : v->findings,
                           "tetrahedra have negative volumes (their vertices turn the wrong way)",
                           "--orient turns them");
    PS_TRY(PS_ALLOC(&turn, cells->count, "orientation"));
    for (int64_t t = 0; t < cells->count; ++t) {
        const double *x[4];
        for (int k = 0; k < 4; ++k)
            x[k] = v->mesh->vertices + 3 * (int64_t)cells->vertices[4 * t + k];
        turn[t] = ps_tetrahedron_volume(x[0], x[1], x[2], x[3]) < 0;
        if (turn[t]) add_cell(v, negative, cells, t);
    }
    if (orient) v->figures->turned = ps_cells_turn(cells->vertices, cells->count, 4, turn);
    return PS_OK;
}

static void check_conformity(volume *v)
{
    const import_cells *cells = &v->mesh->tetrahedra;
    int64_t count = 4 * cells->count;
    import_finding *many = import_finding_new(
        v->findings, "faces belong to three or more tetrahedra (the mesh does not conform)", NULL);
    import_finding *overlap = import_finding_new(
        v->findings, "faces have both their tetrahedra on one side (they overlap)", NULL);
    for (int64_t first = 0, end; first < count; first = end) {
        end = ps_facets_run(&ps_tetrahedron_faces, cells->vertices, v->ids, count, first);
        v->figures->open_edges += end - first == 1; /* outer faces */
        if (end - first > 2) add_cell(v, many, cells, v->ids[first] / 4);
        if (end - first == 2 && ps_facets_direction(&ps_tetrahedron_faces, cells->vertices,
                                                    v->ids[first], v->ids[first + 1]) > 0)
            add_cell(v, overlap, cells, v->ids[first] / 4);
    }
}

static bool same(const int32_t *a, const int32_t *b) { return memcmp(a, b, 3 * sizeof *a) == 0; }

/* Number of tetrahedra at the face with these vertices, and one of the face's ids. */
static int tetrahedra_at(const volume *v, const int32_t key[4], uint32_t *id)
{
    int found = 0;
    for (uint32_t i = v->start[key[0]]; i < v->start[key[0] + 1]; ++i) {
        int32_t other[4];
        ps_facet_key(&ps_tetrahedron_faces, v->mesh->tetrahedra.vertices, v->ids[i], other);
        if (!same(key, other)) continue;
        ++found;
        *id = v->ids[i];
    }
    return found;
}

/* What is known of the triangles that are given. */
typedef struct outside {
    uint8_t *outer, *turn; /* [triangles]: has one tetrahedron; looks into it */
    uint32_t *mate;        /* [3 triangles] */
    int32_t *part;         /* [triangles]: joined across edges of two triangles */
    uint8_t *flip;
    int64_t *looking[2]; /* [parts]: outer triangles that look outwards, inwards */
} outside;

/* A triangle must be a face; one with a single tetrahedron is on the outside. */
static void find_outside(volume *v, outside *o)
{
    const import_cells *triangles = &v->mesh->triangles;
    import_finding *stray = import_finding_new(v->findings, "triangles are no faces of tetrahedra",
                                               "--kind surface takes the triangles alone");
    for (int64_t t = 0; t < triangles->count; ++t) {
        int32_t key[4], mine[4], theirs[4];
        uint32_t id = 0;
        ps_facet_key(&ps_triangle_itself, triangles->vertices, (uint32_t)t, key);
        int around = tetrahedra_at(v, key, &id);
        if (around == 0) add_cell(v, stray, triangles, t);
        if (around != 1) continue;
        ps_facet_vertices(&ps_triangle_itself, triangles->vertices, (uint32_t)t, mine);
        ps_facet_vertices(&ps_tetrahedron_faces, v->mesh->tetrahedra.vertices, id, theirs);
        int first = theirs[0] == mine[0] ? 0 : theirs[1] == mine[0] ? 1 : 2;
        o->turn[t] = theirs[(first + 1) % 3] != mine[1];
        o->outer[t] = 1;
        ++v->figures->boundary_triangles;
    }
}

static ps_status join_outside(volume *v, outside *o)
{
    const import_cells *triangles = &v->mesh->triangles;
    uint32_t twist;
    PS_SCOPED_MEMORY uint32_t *start = NULL, *ids = NULL;
    int64_t twists, parts;
    PS_TRY(PS_ALLOC(&start, v->mesh->vertex_count + 1, "boundary triangles"));
    PS_TRY(PS_ALLOC(&ids, 3 * triangles->count, "boundary triangles"));
    ps_facets_sort(&ps_triangle_edges, triangles->vertices, triangles->count, v->mesh->vertex_count,
                   start, ids);
    ps_edges_pair(triangles->vertices, triangles->count, ids, o->mate);
    parts = ps_surface_parts(triangles->vertices, triangles->count, o->mate, o->part, o->flip, ids,
                             &twists, &twist);
    for (int side = 0; side < 2; ++side)
        PS_TRY(PS_ALLOC(&o->looking[side], parts, "boundary triangles"));
    for (int64_t t = 0; t < triangles->count; ++t)
        if (o->outer[t]) ++o->looking[o->turn[t]][o->part[t]];
    return PS_OK;
}

/* Inward parts are a convention of some files; a part that looks both ways is a fault. */
static void tell_inward(volume *v, const outside *o)
{
    int64_t inward = 0;
    import_finding *mixed = import_finding_new(
        v->findings, "boundary triangles look inwards among others that look outwards",
        "--orient turns them");
    for (int64_t t = 0; t < v->mesh->triangles.count; ++t) {
        if (!o->outer[t] || !o->turn[t]) continue;
        if (o->looking[0][o->part[t]] > 0)
            add_cell(v, mixed, &v->mesh->triangles, t);
        else
            ++inward;
    }
    if (inward > 0)
        ps_info("%s: %lld of %lld boundary triangles look inwards; --orient turns them",
                v->options->input, (long long)inward, (long long)v->figures->boundary_triangles);
}

static ps_status check_triangles(volume *v)
{
    import_cells *triangles = &v->mesh->triangles;
    outside o = {0};
    ps_status status;
    PS_GUARD(status, done, PS_ALLOC(&o.outer, triangles->count, "boundary triangles"));
    PS_GUARD(status, done, PS_ALLOC(&o.turn, triangles->count, "boundary triangles"));
    PS_GUARD(status, done, PS_ALLOC(&o.flip, triangles->count, "boundary triangles"));
    PS_GUARD(status, done, PS_ALLOC(&o.part, triangles->count, "boundary triangles"));
    PS_GUARD(status, done, PS_ALLOC(&o.mate, 3 * triangles->count, "boundary triangles"));
    find_outside(v, &o);
    if (v->options->orient || v->mesh->generated) {
        v->figures->turned += ps_cells_turn(triangles->vertices, triangles->count, 3, o.turn);
    } else {
        PS_GUARD(status, done, join_outside(v, &o));
        tell_inward(v, &o);
    }
done:
    free(o.outer), free(o.turn), free(o.flip), free(o.part), free(o.mate);
    free(o.looking[0]), free(o.looking[1]);
    return status;
}

static ps_status check_parts(volume *v)
{
    int64_t count = v->mesh->tetrahedra.count;
    PS_SCOPED_MEMORY int32_t *part = NULL;
    PS_SCOPED_MEMORY uint32_t *root = NULL;
    PS_TRY(PS_ALLOC(&part, count, "parts of the mesh"));
    PS_TRY(PS_ALLOC(&root, count, "parts of the mesh"));
    v->figures->parts = ps_volume_parts(v->mesh->tetrahedra.vertices, count, v->ids, part, root);
    return v->options->allow_intersections
               ? PS_OK
               : import_check_outer(v->mesh, v->ids, part, v->figures->parts,
                                    v->figures->open_edges, v->findings);
}

static ps_status sort_faces(volume *v)
{
    const import_cells *cells = &v->mesh->tetrahedra;
    v->start = v->ids = NULL;
    PS_TRY(PS_ALLOC(&v->start, v->mesh->vertex_count + 1, "faces"));
    PS_TRY(PS_ALLOC(&v->ids, 4 * cells->count, "faces"));
    ps_facets_sort(&ps_tetrahedron_faces, cells->vertices, cells->count, v->mesh->vertex_count,
                   v->start, v->ids);
    return PS_OK;
}

static ps_status check_faces(volume *v)
{
    ps_status status;
    PS_GUARD(status, done, sort_faces(v));
    check_conformity(v);
    PS_GUARD(status, done, check_triangles(v));
    PS_GUARD(status, done, check_parts(v));
done:
    free(v->start);
    free(v->ids);
    return status;
}

/* Bisects, and counts outer faces anew: how many come of one depends on the edges about it. */
static ps_status bisect(volume *v)
{
    import_fineness asked = v->options->longest;
    asked.length /= v->options->scale, asked.radius /= v->options->scale;
    for (int c = 0; c < 3; ++c) asked.centre[c] /= v->options->scale;
    PS_TRY(import_bisect(v->mesh, &asked));
    v->figures->open_edges = v->figures->boundary_triangles = 0;
    ps_status status = sort_faces(v);
    if (status == PS_OK) {
        const import_cells *cells = &v->mesh->tetrahedra;
        const int64_t count = 4 * cells->count;
        for (int64_t first = 0, end; first < count; first = end) {
            end = ps_facets_run(&ps_tetrahedron_faces, cells->vertices, v->ids, count, first);
            v->figures->open_edges += end - first == 1;
        }
        for (int64_t t = 0; t < v->mesh->triangles.count; ++t) {
            int32_t key[4];
            uint32_t id;
            ps_facet_key(&ps_triangle_itself, v->mesh->triangles.vertices, (uint32_t)t, key);
            v->figures->boundary_triangles += tetrahedra_at(v, key, &id) == 1;
        }
    }
    free(v->start), free(v->ids);
    return status;
}

static ps_status measure_edges(volume *v)
{
    const import_cells *cells = &v->mesh->tetrahedra;
    PS_SCOPED_MEMORY uint32_t *start = NULL, *ids = NULL;
    int64_t count = 6 * cells->count;
    PS_TRY(PS_ALLOC(&start, v->mesh->vertex_count + 1, "edges"));
    PS_TRY(PS_ALLOC(&ids, count, "edges"));
    ps_facets_sort(&ps_tetrahedron_edges, cells->vertices, cells->count, v->mesh->vertex_count,
                   start, ids);
    ps_edge_figures_start(&v->figures->edge);
    for (int64_t first = 0; first < count;
         first = ps_facets_run(&ps_tetrahedron_edges, cells->vertices, ids, count, first)) {
        int32_t ends[4];
        ps_facet_vertices(&ps_tetrahedron_edges, cells->vertices, ids[first], ends);
        ps_edge_figures_add(&v->figures->edge, v->mesh->vertices + 3 * (int64_t)ends[0],
                            v->mesh->vertices + 3 * (int64_t)ends[1]);
    }
    ps_edge_figures_end(&v->figures->edge);
    return PS_OK;
}

ps_status import_volume(import_mesh *mesh, const import_options *options, import_figures *figures)
{
    import_findings findings = {0};
    volume v = {.mesh = mesh, .options = options, .figures = figures, .findings = &findings};
    if (mesh->tetrahedra.count == 0)
        return ps_fail(PS_INVALID, "%s: no tetrahedra in it", options->input);
    PS_TRY(import_repair_vertices(mesh, options, &findings, figures));
    PS_TRY(import_repair_cells(mesh, &mesh->tetrahedra, options, &findings, figures));
    PS_TRY(import_repair_cells(mesh, &mesh->triangles, options, &findings, figures));
    if (mesh->tetrahedra.count == 0)
        return ps_fail(PS_INVALID, "%s: all tetrahedra were degenerate", options->input);
    PS_TRY(import_drop_unused(mesh, figures));
    PS_TRY(check_positive(&v));
    PS_TRY(check_faces(&v));
    PS_TRY(import_findings_verdict(&findings, options->input));
    for (int64_t k = 0; k < options->divide; ++k) PS_TRY(import_divide(mesh, figures));
    if (options->longest.length > 0) PS_TRY(bisect(&v));
    return measure_edges(&v);
}
