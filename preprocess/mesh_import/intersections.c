/* Triangles that cut through or overlap one another. */

#include "kernels/common/mesh_intersect.h"
#include "preprocess/mesh_import/import.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

enum { PLACE = 256 };

static void tell(const import_mesh *mesh, const int32_t *hit, int64_t pairs,
                 import_findings *findings)
{
    const import_cells *cells = &mesh->triangles;
    import_finding *finding =
        import_finding_new(findings, "pairs of triangles cut through or overlap one another",
                           "--allow-intersections accepts them");
    for (int64_t t = 0; t < cells->count && finding->count < IMPORT_PLACES_MAX; ++t) {
        char first[PLACE], second[PLACE];
        if (hit[t] < 0) continue;
        import_cell_place(mesh, cells, t, first, PLACE);
        import_cell_place(mesh, cells, hit[t], second, PLACE);
        import_finding_add(finding, "%s and %s", first, second);
    }
    finding->count = pairs;
}

ps_status import_check_intersections(const import_mesh *mesh, import_findings *findings)
{
    const import_cells *cells = &mesh->triangles;
    PS_SCOPED_MEMORY int32_t *order = NULL, *hit = NULL;
    PS_SCOPED_MEMORY float *boxes = NULL;
    PS_TRY(PS_ALLOC(&order, cells->count, "intersections"));
    PS_TRY(import_cell_order(mesh, cells, PS_CURVE_HILBERT, order));
    PS_TRY(PS_ALLOC(&hit, cells->count, "intersections"));
    PS_TRY(PS_ALLOC(&boxes, 6 * ps_box_tree_size(cells->count), "intersections"));
    ps_box_tree_build(mesh->vertices, cells->vertices, cells->count, order, boxes);
    int64_t pairs =
        ps_surface_intersections(mesh->vertices, cells->vertices, cells->count, order, boxes, hit);
    if (pairs > 0) tell(mesh, hit, pairs, findings);
    return PS_OK;
}
