/* What surface and volume meshes share: vertices that coincide, flat and repeated cells. */
#include <math.h>
#include <stdlib.h>

#include "kernels/common/mesh_repair.h"
#include "kernels/common/mesh_topology.h"
#include "preprocess/mesh_import/import.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

#define COINCIDENT 1e-9 /* of the extent */
#define FLAT 1e-14      /* area of extent^2, volume of extent^3 */

enum { PLACE = 256 };

double import_extent(const import_mesh *mesh, double lower[3], double upper[3])
{
    double extent = 0;
    for (int c = 0; c < 3; ++c) {
        lower[c] = mesh->vertex_count ? mesh->vertices[c] : 0;
        upper[c] = lower[c];
    }
    for (int64_t i = 0; i < 3 * mesh->vertex_count; ++i) {
        lower[i % 3] = fmin(lower[i % 3], mesh->vertices[i]);
        upper[i % 3] = fmax(upper[i % 3], mesh->vertices[i]);
    }
    for (int c = 0; c < 3; ++c) extent = fmax(extent, upper[c] - lower[c]);
    return extent;
}

static void tell_coincident(const import_mesh *mesh, const int32_t *target, const uint8_t *used,
                            import_finding *finding)
{
    for (int64_t v = 0; v < mesh->vertex_count; ++v) {
        char place[PLACE] = "", kept[PLACE] = "";
        if (target[v] == v || !used[v] || !used[target[v]]) continue;
        if (finding->count < IMPORT_PLACES_MAX) {
            import_vertex_place(mesh, v, place, PLACE);
            import_vertex_place(mesh, target[v], kept, PLACE);
        }
        import_finding_add(finding, "%s = %s", place, kept);
    }
}

ps_status import_repair_vertices(import_mesh *mesh, const import_options *options,
                                 import_findings *findings, import_figures *figures)
{
    double lower[3], upper[3], extent = import_extent(mesh, lower, upper);
    bool weld = options->weld >= 0;
    double tolerance = weld ? options->weld / options->scale : COINCIDENT * extent;
    int64_t count = mesh->vertex_count;
    PS_SCOPED_MEMORY int32_t *target = NULL;
    PS_SCOPED_MEMORY uint8_t *used = NULL;
    PS_SCOPED_MEMORY void *workspace = NULL;
    PS_TRY(PS_ALLOC(&target, count, "finding coincident vertices"));
    PS_TRY(PS_ALLOC(&used, count, "finding coincident vertices"));
    PS_TRY(
        ps_alloc(&workspace, (int64_t)ps_weld_workspace(count), 1, "finding coincident vertices"));
    int64_t merged = ps_vertices_weld(mesh->vertices, count, tolerance, workspace, target);
    if (weld) {
        figures->welded = merged;
        ps_indices_replace(mesh->triangles.vertices, 3 * mesh->triangles.count, target);
        ps_indices_replace(mesh->tetrahedra.vertices, 4 * mesh->tetrahedra.count, target);
    } else if (merged > 0) {
        ps_vertices_mark(mesh->triangles.vertices, 3 * mesh->triangles.count, used);
        ps_vertices_mark(mesh->tetrahedra.vertices, 4 * mesh->tetrahedra.count, used);
        tell_coincident(mesh, target, used,
                        import_finding_new(findings,
                                           "vertices coincide with others (within 1e-9 of "
                                           "the extent)",
                                           "--weld TOL merges those closer than TOL "
                                           "metres"));
    }
    return PS_OK;
}

static bool repeats_vertex(const int32_t *v, int size)
{
    for (int i = 0; i < size; ++i)
        for (int j = i + 1; j < size; ++j)
            if (v[i] == v[j]) return true;
    return false;
}

static bool is_flat(const import_mesh *mesh, const int32_t *v, int size, double extent)
{
    const double *x[4];
    for (int k = 0; k < size; ++k) x[k] = mesh->vertices + 3 * (int64_t)v[k];
    return size == 3 ? ps_triangle_area(x[0], x[1], x[2]) < FLAT * extent * extent
                     : fabs(ps_tetrahedron_volume(x[0], x[1], x[2], x[3])) <
                           FLAT * extent * extent * extent;
}

static void add_cell(import_finding *finding, const import_mesh *mesh, const import_cells *cells,
                     int64_t cell)
{
    char place[PLACE] = "";
    if (finding->count < IMPORT_PLACES_MAX) import_cell_place(mesh, cells, cell, place, PLACE);
    import_finding_add(finding, "%s", place);
}

static void mark_degenerate(const import_mesh *mesh, const import_cells *cells, uint8_t *drop,
                            import_findings *findings)
{
    double lower[3], upper[3], extent = import_extent(mesh, lower, upper);
    static const char hint[] = "--drop-degenerate leaves them away";
    import_finding *repeated = import_finding_new(findings, "cells repeat a vertex", hint);
    import_finding *flat =
        import_finding_new(findings,
                           cells->size == 3 ? "triangles have no area (below 1e-14 of extent^2)"
                                            : "tetrahedra have no volume (below 1e-14 of extent^3)",
                           hint);
    for (int64_t cell = 0; cell < cells->count; ++cell) {
        const int32_t *v = cells->vertices + cells->size * cell;
        bool repeats = repeats_vertex(v, cells->size);
        if (!repeats && !is_flat(mesh, v, cells->size, extent)) continue;
        drop[cell] = 1;
        add_cell(repeats ? repeated : flat, mesh, cells, cell);
    }
}

/* Marks all but the first of equal cells. */
static void mark_duplicates(const import_mesh *mesh, const import_cells *cells, const uint32_t *ids,
                            uint8_t *drop, import_findings *findings)
{
    const ps_facet_kind *kind = cells->size == 3 ? &ps_triangle_itself : &ps_tetrahedron_itself;
    import_finding *finding = import_finding_new(
        findings,
        "cells are given again (with the same vertices as an earlier one, in either "
        "direction)",
        "--drop-duplicates keeps the first of each");
    for (int64_t first = 0, end; first < cells->count; first = end) {
        end = ps_facets_run(kind, cells->vertices, ids, cells->count, first);
        for (int64_t i = first + 1; i < end; ++i) {
            drop[ids[i]] = 1;
            add_cell(finding, mesh, cells, ids[i]);
        }
    }
}

static int64_t drop_marked(import_cells *cells, const uint8_t *drop)
{
    int64_t before = cells->count;
    cells->count =
        ps_cells_compact(cells->vertices, cells->tags, cells->source, before, cells->size, drop);
    return before - cells->count;
}

static ps_status repair_duplicates(import_mesh *mesh, import_cells *cells,
                                   const import_options *options, import_findings *findings,
                                   import_figures *figures)
{
    PS_SCOPED_MEMORY uint32_t *start = NULL, *ids = NULL;
    PS_SCOPED_MEMORY uint8_t *drop = NULL;
    import_findings ignored = {0};
    const ps_facet_kind *kind = cells->size == 3 ? &ps_triangle_itself : &ps_tetrahedron_itself;
    PS_TRY(PS_ALLOC(&start, mesh->vertex_count + 1, "finding repeated cells"));
    PS_TRY(PS_ALLOC(&ids, cells->count, "finding repeated cells"));
    PS_TRY(PS_ALLOC(&drop, cells->count, "finding repeated cells"));
    ps_facets_sort(kind, cells->vertices, cells->count, mesh->vertex_count, start, ids);
    mark_duplicates(mesh, cells, ids, drop, options->drop_duplicates ? &ignored : findings);
    if (options->drop_duplicates) figures->dropped_duplicates += drop_marked(cells, drop);
    return PS_OK;
}

ps_status import_repair_cells(import_mesh *mesh, import_cells *cells, const import_options *options,
                              import_findings *findings, import_figures *figures)
{
    PS_SCOPED_MEMORY uint8_t *drop = NULL;
    import_findings ignored = {0};
    PS_TRY(PS_ALLOC(&drop, cells->count, "finding degenerate cells"));
    mark_degenerate(mesh, cells, drop, options->drop_degenerate ? &ignored : findings);
    if (options->drop_degenerate) figures->dropped_degenerate += drop_marked(cells, drop);
    return repair_duplicates(mesh, cells, options, findings, figures);
}

ps_status import_drop_unused(import_mesh *mesh, import_figures *figures)
{
    PS_SCOPED_MEMORY uint8_t *used = NULL;
    PS_SCOPED_MEMORY int32_t *place = NULL;
    int64_t before = mesh->vertex_count;
    PS_TRY(PS_ALLOC(&used, before, "finding unused vertices"));
    PS_TRY(PS_ALLOC(&place, before, "finding unused vertices"));
    ps_vertices_mark(mesh->triangles.vertices, 3 * mesh->triangles.count, used);
    ps_vertices_mark(mesh->tetrahedra.vertices, 4 * mesh->tetrahedra.count, used);
    mesh->vertex_count =
        ps_vertices_compact(mesh->vertices, mesh->vertex_source, before, used, place);
    ps_indices_replace(mesh->triangles.vertices, 3 * mesh->triangles.count, place);
    ps_indices_replace(mesh->tetrahedra.vertices, 4 * mesh->tetrahedra.count, place);
    figures->unused = before - mesh->vertex_count - figures->welded;
    return PS_OK;
}
