#include "preprocess/mesh_import/vtk_piece.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/compare.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

/* vtkCellType.h */
enum { TRIANGLE = 5, STRIP = 6, POLYGON = 7, PIXEL = 8, QUADRANGLE = 9, TETRAHEDRON = 10 };

/* How programs call the array that says regions, the surest first: Penstock, meshio (of MSH, Medit,
 * Abaqus and MED), Gmsh, VTK, others. */
static const char *const region_names[] = {"tag",
                                           "tags",
                                           "gmsh:physical",
                                           "medit:ref",
                                           "cell_tags",
                                           "MaterialIds",
                                           "CellEntityIds",
                                           "ElementBlockIds",
                                           "avsucd:material",
                                           "ObjectId",
                                           "RegionId",
                                           "region",
                                           "regions",
                                           "material",
                                           "Material",
                                           "PartId",
                                           "gmsh:geometrical"};
enum { KNOWN = sizeof region_names / sizeof *region_names };

void vtk_values_release(vtk_values *values)
{
    free(values->at);
    *values = (vtk_values){0};
}

ps_status vtk_values_put(vtk_values *values, double value)
{
    PS_TRY(ps_grow((void **)&values->at, &values->room, values->count + 1, sizeof(double),
                   "values of VTK"));
    values->at[values->count++] = value;
    return PS_OK;
}

void vtk_piece_release(vtk_piece *piece)
{
    vtk_values_release(&piece->points);
    vtk_values_release(&piece->types);
    vtk_values_release(&piece->regions);
    for (int block = 0; block < VTK_BLOCKS; ++block) {
        vtk_values_release(&piece->corners[block]);
        vtk_values_release(&piece->ends[block]);
    }
    *piece = (vtk_piece){.name = piece->name};
}

/* ---- regions ---- */

/* KNOWN for "tag" down to 1; 0 for a name that is not known. */
static int rank_of(const char *name)
{
    for (int i = 0; i < KNOWN; ++i)
        if (strcmp(name, region_names[i]) == 0) return KNOWN - i;
    return 0;
}

static void leave_out(vtk_piece *p, const char *name)
{
    size_t used = strlen(p->left), room = sizeof p->left - used;
    if (strlen(name) + 8 < room)
        snprintf(p->left + used, room, "%s%s", used ? ", " : "", name);
    else if (room > 6 && !strstr(p->left, ", .."))
        strcat(p->left, ", ..");
}

bool vtk_piece_wants(vtk_piece *piece, const char *name, int64_t components, bool whole)
{
    bool wanted = components == 1 && (rank_of(name) > 0 || whole);
    if (!wanted) leave_out(piece, name);
    return wanted;
}

static bool says_regions(const vtk_values *values)
{
    for (int64_t i = 0; i < values->count; ++i)
        if (!(fabs(values->at[i]) <= INT32_MAX) || floor(values->at[i]) != values->at[i])
            return false;
    return true;
}

void vtk_piece_offer(vtk_piece *piece, const char *name, vtk_values *values)
{
    int rank = rank_of(name);
    bool better = says_regions(values) &&
                  (piece->region_rank < 0 || !piece->regions.at || rank > piece->region_rank);
    if (rank == 0) piece->unlisted += says_regions(values);
    if (!better) {
        leave_out(piece, name);
        return;
    }
    if (piece->regions.at) leave_out(piece, piece->region_name);
    vtk_values_release(&piece->regions);
    piece->regions = *values;
    *values = (vtk_values){0};
    piece->region_rank = rank;
    snprintf(piece->region_name, sizeof piece->region_name, "%.63s", name);
}

/* Of several arrays of whole numbers without a known name none is taken: which one says regions
 * cannot be told. */
static void choose_regions(vtk_piece *p)
{
    if (p->regions.at && p->region_rank == 0 && p->unlisted > 1) {
        leave_out(p, p->region_name);
        vtk_values_release(&p->regions);
        ps_warning("%s: %d arrays of cell data could say regions, and none is taken; call the "
                   "right one \"tag\"",
                   p->name, p->unlisted);
    }
    if (p->regions.at) ps_info("%s: the cell data \"%s\" are the tags", p->name, p->region_name);
    if (p->left[0]) ps_info("%s: other cell data are left out: %s", p->name, p->left);
}

/* The absolute values are the tags, so that -1 and 1 would be one. */
static ps_status check_signs(const vtk_piece *p)
{
    PS_SCOPED_MEMORY double *sorted = NULL;
    int64_t n = p->regions.count;
    if (n == 0) return PS_OK;
    PS_TRY(PS_ALLOC(&sorted, n, "regions"));
    memcpy(sorted, p->regions.at, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, ps_compare_reals);
    for (int64_t low = 0, high = n - 1; low < high && sorted[low] < 0 && sorted[high] > 0;) {
        if (-sorted[low] == sorted[high])
            return ps_fail(PS_INVALID,
                           "%s: the cell data \"%s\" have both %.0f and %.0f, which would be one "
                           "tag, as absolute values are taken: number regions from 1 on",
                           p->name, p->region_name, sorted[low], sorted[high]);
        -sorted[low] > sorted[high] ? ++low : --high;
    }
    return PS_OK;
}

/* ---- cells ---- */

static const char *type_name(int type)
{
    static const char *const names[] = {[11] = "voxel",
                                        [12] = "hexahedron",
                                        [13] = "wedge",
                                        [14] = "pyramid",
                                        [22] = "triangle of order 2",
                                        [23] = "quadrangle of order 2",
                                        [24] = "tetrahedron of order 2",
                                        [25] = "hexahedron of order 2",
                                        [42] = "polyhedron",
                                        [69] = "triangle of higher order",
                                        [71] = "tetrahedron of higher order"};
    const char *name = type > 0 && type < (int)(sizeof names / sizeof *names) ? names[type] : NULL;
    return name ? name : "cell that is not known";
}

typedef struct adding {
    const vtk_piece *piece;
    const import_options *options;
    import_mesh *mesh;
    int64_t first_vertex, first_cell, cell; /* cell: of the piece */
    int64_t left;                           /* cells of points and lines */
} adding;

static ps_status add_strip(adding *a, const int32_t *v, int count, int32_t tag, int64_t number)
{
    for (int k = 0; k + 2 < count; ++k) {
        const int32_t triangle[3] = {v[k + k % 2], v[k + 1 - k % 2], v[k + 2]};
        PS_TRY(import_add_cell(&a->mesh->triangles, triangle, tag, number));
    }
    a->mesh->polygons += count > 3;
    return PS_OK;
}

static ps_status add_typed(adding *a, int type, int32_t *v, int count)
{
    int64_t number = a->first_cell + a->cell;
    int32_t tag = a->piece->regions.at ? (int32_t)fabs(a->piece->regions.at[a->cell]) : 0;
    if (type == PIXEL && count == 4) {
        int32_t last = v[3];
        v[3] = v[2], v[2] = last;
    }
    if (type >= 1 && type <= 4) {
        ++a->left;
        return PS_OK;
    }
    switch (type) {
    case STRIP:
        return add_strip(a, v, count, tag, number);
    case TRIANGLE:
    case PIXEL:
    case QUADRANGLE:
    case POLYGON:
        if (count < 3 || (type == TRIANGLE && count != 3) ||
            (type != TRIANGLE && type != POLYGON && count != 4))
            break;
        return import_add_polygon(a->mesh, v, count, tag, number);
    case TETRAHEDRON:
        if (count != 4) break;
        return a->options->kind == IMPORT_SURFACE
                   ? PS_OK
                   : import_add_cell(&a->mesh->tetrahedra, v, tag, number);
    default:
        return ps_fail(PS_INVALID,
                       "%s: cell %lld is a %s (VTK type %d): only straight triangles, polygons and "
                       "tetrahedra are read; "
                       "split the cells into simplices",
                       a->piece->name, (long long)number, type_name(type), type);
    }
    return ps_fail(PS_INVALID, "%s: cell %lld of VTK type %d has %d points", a->piece->name,
                   (long long)number, type, count);
}

/* The points of a cell of `block` from corner `first` on, as indices of the mesh. */
static ps_status add_cell(adding *a, vtk_block block, int type, int64_t first, int64_t count)
{
    const vtk_piece *p = a->piece;
    int32_t vertices[TEXT_POLYGON_MAX];
    if (count > TEXT_POLYGON_MAX && type > 4)
        return ps_fail(PS_INVALID, "%s: cell %lld has %lld points; up to %d are read", p->name,
                       (long long)a->cell, (long long)count, TEXT_POLYGON_MAX);
    for (int64_t k = 0; k < count && type > 4; ++k) {
        double point = p->corners[block].at[first + k];
        if (!(point >= 0 && point < (double)p->point_count &&
              point + (double)a->first_vertex <= INT32_MAX))
            return ps_fail(PS_INVALID, "%s: cell %lld refers to point %.0f; there are %lld",
                           p->name, (long long)a->cell, point, (long long)p->point_count);
        vertices[k] = (int32_t)(a->first_vertex + (int64_t)point);
    }
    return add_typed(a, type, vertices, (int)count);
}

static ps_status add_block(adding *a, vtk_block block)
{
    static const int type_of_block[] = {2, 4, POLYGON, STRIP};
    const vtk_piece *p = a->piece;
    double before = 0;
    if (block == VTK_CELLS && p->types.count != p->ends[block].count)
        return ps_fail(PS_INVALID, "%s: %lld types for %lld cells", p->name,
                       (long long)p->types.count, (long long)p->ends[block].count);
    for (int64_t i = 0; i < p->ends[block].count; ++i, ++a->cell) {
        double end = p->ends[block].at[i];
        if (!(end >= before && end <= (double)p->corners[block].count))
            return ps_fail(PS_INVALID, "%s: cell %lld ends at %.0f of %lld points of cells",
                           p->name, (long long)a->cell, end, (long long)p->corners[block].count);
        int type = block == VTK_CELLS ? (int)p->types.at[i] : type_of_block[block];
        PS_TRY(add_cell(a, block, type, (int64_t)before, (int64_t)(end - before)));
        before = end;
    }
    return PS_OK;
}

ps_status vtk_piece_add(vtk_piece *piece, const import_options *options, import_mesh *mesh)
{
    adding a = {
        piece, options, mesh, mesh->vertex_count, mesh->triangles.count + mesh->tetrahedra.count,
        0,     0};
    int64_t cells = 0;
    mesh->vertex_word = "point", mesh->vertex_words = "points", mesh->cell_word = "cell";
    for (int block = 0; block < VTK_BLOCKS; ++block) cells += piece->ends[block].count;
    if (piece->points.count != 3 * piece->point_count)
        return ps_fail(PS_INVALID, "%s: %lld coordinates for %lld points", piece->name,
                       (long long)piece->points.count, (long long)piece->point_count);
    choose_regions(piece);
    if (piece->regions.at && piece->regions.count != cells)
        return ps_fail(PS_INVALID, "%s: the cell data \"%s\" have %lld values for %lld cells",
                       piece->name, piece->region_name, (long long)piece->regions.count,
                       (long long)cells);
    PS_TRY(check_signs(piece));
    mesh->single |= piece->single;
    if (piece->point_count > 0)
        PS_TRY(import_add_vertices(mesh, piece->point_count, piece->points.at));
    for (int64_t v = mesh->vertex_count - piece->point_count; v < mesh->vertex_count; ++v) {
        PS_TRY(ps_grow((void **)&mesh->vertex_numbers, &mesh->vertex_number_room, v + 1,
                       sizeof(int32_t), "point numbers"));
        mesh->vertex_numbers[v] = (int32_t)v;
    }
    for (int block = 0; block < VTK_BLOCKS; ++block) PS_TRY(add_block(&a, (vtk_block)block));
    if (a.left > 0)
        ps_info("%s: %lld cells that are points or lines are left out", piece->name,
                (long long)a.left);
    return PS_OK;
}
