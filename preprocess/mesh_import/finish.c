/* From an accepted mesh to its file: metres, order along the curve, figures, report. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/surface_mesh.h"
#include "formats/volume_mesh.h"
#include "kernels/common/mesh_repair.h"
#include "kernels/common/radix_sort.h"
#include "preprocess/mesh_import/import.h"
#include "runtime/memory.h"
#include "runtime/program.h"

enum { CENTROID_BLOCK = 4096, TAGS_MAX = 256 };

void import_scale(import_mesh *mesh, import_figures *figures, double scale)
{
    figures->edge.min *= scale;
    figures->edge.mean *= scale;
    figures->edge.max *= scale;
    for (int64_t i = 0; i < 3 * mesh->vertex_count; ++i) mesh->vertices[i] *= scale;
}

/* ---- order ---- */

typedef struct sorting {
    uint64_t *keys, *scratch; /* scratch: also what ps_items_reorder needs */
    int32_t *order, *order_scratch;
    double lower[3], extent;
} sorting;

static void sorting_release(sorting *s)
{
    free(s->keys);
    free(s->scratch);
    free(s->order);
    free(s->order_scratch);
    memset(s, 0, sizeof *s);
}

/* item_words: 8-byte words of the largest item that is moved. */
static ps_status sorting_init(sorting *s, int64_t count, int item_words)
{
    PS_TRY(PS_ALLOC(&s->keys, count, "ordering"));
    PS_TRY(PS_ALLOC(&s->scratch, item_words * count, "ordering"));
    PS_TRY(PS_ALLOC(&s->order, count, "ordering"));
    PS_TRY(PS_ALLOC(&s->order_scratch, count, "ordering"));
    for (int64_t i = 0; i < count; ++i) s->order[i] = (int32_t)i;
    return PS_OK;
}

static void sort_by_key(sorting *s, int64_t count)
{
    ps_radix_sort(s->keys, s->order, count, 3 * PS_CURVE_BITS, s->scratch, s->order_scratch);
}

static ps_status order_vertices(import_mesh *mesh, ps_space_curve curve)
{
    sorting s = {0};
    int64_t count = mesh->vertex_count;
    int32_t *place = NULL;
    ps_status status;
    PS_GUARD(status, done, sorting_init(&s, count, 3));
    ps_space_curve_cube(mesh->vertices, count, s.lower, &s.extent);
    ps_space_curve_keys(curve, mesh->vertices, count, s.lower, s.extent, s.keys);
    sort_by_key(&s, count);
    ps_items_reorder(mesh->vertices, count, 3 * sizeof(double), s.order, s.scratch);
    ps_items_reorder(mesh->vertex_source, count, sizeof(int32_t), s.order, s.scratch);
    place = s.order_scratch;
    for (int64_t i = 0; i < count; ++i) place[s.order[i]] = (int32_t)i;
    ps_indices_replace(mesh->triangles.vertices, 3 * mesh->triangles.count, place);
    ps_indices_replace(mesh->tetrahedra.vertices, 4 * mesh->tetrahedra.count, place);
done:
    sorting_release(&s);
    return status;
}

/* Block by block, so that the centroids of all cells need not exist at once; the threads take
 * blocks (what is called inside then runs on the thread that calls it). */
static void centroid_keys(const import_mesh *mesh, const import_cells *cells, ps_space_curve curve,
                          sorting *s)
{
    int64_t blocks = (cells->count + CENTROID_BLOCK - 1) / CENTROID_BLOCK;
#pragma omp parallel for schedule(static)
    for (int64_t block = 0; block < blocks; ++block) {
        double centroids[3 * CENTROID_BLOCK];
        int64_t first = block * CENTROID_BLOCK, n = cells->count - first;
        if (n > CENTROID_BLOCK) n = CENTROID_BLOCK;
        ps_cells_centroids(mesh->vertices, cells->vertices + cells->size * first, n, cells->size,
                           centroids);
        ps_space_curve_keys(curve, centroids, n, s->lower, s->extent, s->keys + first);
    }
}

static ps_status order_cells(const import_mesh *mesh, import_cells *cells, ps_space_curve curve)
{
    sorting s = {0};
    ps_status status;
    PS_GUARD(status, done, sorting_init(&s, cells->count, 2));
    ps_space_curve_cube(mesh->vertices, mesh->vertex_count, s.lower, &s.extent);
    centroid_keys(mesh, cells, curve, &s);
    sort_by_key(&s, cells->count);
    ps_items_reorder(cells->vertices, cells->count, (size_t)cells->size * sizeof(int32_t), s.order,
                     s.scratch);
    ps_items_reorder(cells->tags, cells->count, sizeof(int32_t), s.order, s.scratch);
    ps_items_reorder(cells->source, cells->count, sizeof(int32_t), s.order, s.scratch);
done:
    sorting_release(&s);
    return status;
}

ps_status import_order(import_mesh *mesh, ps_space_curve curve)
{
    if (curve == PS_CURVE_NONE) return PS_OK;
    PS_TRY(order_vertices(mesh, curve));
    PS_TRY(order_cells(mesh, &mesh->triangles, curve));
    return order_cells(mesh, &mesh->tetrahedra, curve);
}

/* ---- figures ---- */

static double enclosed_volume(const import_mesh *mesh, const import_cells *cells)
{
    double volume = 0;
    for (int64_t t = 0; t < cells->count; ++t) {
        const int32_t *v = cells->vertices + 3 * t;
        volume += ps_tetrahedron_volume(mesh->vertices, mesh->vertices + 3 * (int64_t)v[0],
                                        mesh->vertices + 3 * (int64_t)v[1],
                                        mesh->vertices + 3 * (int64_t)v[2]);
    }
    return volume;
}

ps_status import_measure(const import_mesh *mesh, const import_cells *cells,
                         import_figures *figures)
{
    int64_t *histogram;
    PS_TRY(PS_ALLOC(&histogram, PS_QUALITY_BINS, "mesh figures"));
    ps_cells_measure(mesh->vertices, cells->vertices, cells->count, cells->size, histogram,
                     &figures->cell);
    free(histogram);
    import_extent(mesh, figures->lower, figures->upper);
    if (cells->size == 4) figures->volume = figures->cell.size_sum;
    else figures->area = figures->cell.size_sum;
    if (figures->closed) figures->volume = enclosed_volume(mesh, cells);
    return PS_OK;
}

/* Cells of each tag, tags ascending. */
static int count_tags(const import_cells *cells, int64_t tags[TAGS_MAX], int64_t counts[TAGS_MAX])
{
    int found = 0;
    for (int64_t cell = 0; cell < cells->count; ++cell) {
        int i = 0;
        while (i < found && tags[i] < cells->tags[cell]) ++i;
        if (i < found && tags[i] == cells->tags[cell]) {
            ++counts[i];
            continue;
        }
        if (found == TAGS_MAX) return found;
        memmove(tags + i + 1, tags + i, (size_t)(found - i) * sizeof *tags);
        memmove(counts + i + 1, counts + i, (size_t)(found - i) * sizeof *counts);
        tags[i] = cells->tags[cell];
        counts[i] = 1;
        ++found;
    }
    return found;
}

static void report_tags(ps_report *report, const import_cells *cells, const char *tags_name,
                        const char *counts_name)
{
    int64_t tags[TAGS_MAX], counts[TAGS_MAX];
    int found = count_tags(cells, tags, counts);
    ps_report_ints(report, tags_name, tags, found);
    ps_report_ints(report, counts_name, counts, found);
}

static void report_surface(ps_report *report, const import_mesh *mesh, const import_figures *f)
{
    ps_report_int(report, "triangles", mesh->triangles.count, "");
    ps_report_int(report, "edges", f->edge.count, "");
    ps_report_int(report, "euler_characteristic",
                  mesh->vertex_count - f->edge.count + mesh->triangles.count, "");
    ps_report_int(report, "parts", f->parts, "");
    ps_report_flag(report, "closed", f->closed);
    ps_report_flag(report, "oriented", f->oriented);
    ps_report_int(report, "open_edges", f->open_edges, "");
    ps_report_int(report, "open_loops", f->open_loops, "");
    ps_report_int(report, "cavities", f->cavities, "");
    ps_report_int(report, "nested_parts", f->nested, "");
    ps_report_real(report, "area", f->area, "m2");
    if (f->closed) ps_report_real(report, "volume", f->volume, "m3");
    report_tags(report, &mesh->triangles, "tags", "triangles_of_tag");
}

static void report_volume(ps_report *report, const import_mesh *mesh, const import_figures *f)
{
    ps_report_int(report, "tetrahedra", mesh->tetrahedra.count, "");
    ps_report_int(report, "triangles", mesh->triangles.count, "");
    ps_report_int(report, "boundary_triangles", f->boundary_triangles, "");
    ps_report_int(report, "boundary_faces", f->open_edges, "");
    ps_report_int(report, "edges", f->edge.count, "");
    ps_report_int(report, "parts", f->parts, "");
    ps_report_real(report, "volume", f->volume, "m3");
    ps_report_real(report, "volume_min", f->cell.size_min, "m3");
    report_tags(report, &mesh->tetrahedra, "tags", "tetrahedra_of_tag");
    report_tags(report, &mesh->triangles, "triangle_tags", "triangles_of_tag");
}

static void report_repairs(ps_report *report, const import_mesh *mesh, const import_figures *f)
{
    ps_report_section(report, "repairs");
    ps_report_int(report, "unused_vertices", f->unused, "");
    ps_report_int(report, "welded_vertices", f->welded, "");
    ps_report_int(report, "dropped_degenerate", f->dropped_degenerate, "");
    ps_report_int(report, "dropped_duplicates", f->dropped_duplicates, "");
    ps_report_int(report, "turned", f->turned, "");
    ps_report_int(report, "split_polygons", mesh->polygons, "");
}

void import_report(const import_mesh *mesh, const import_options *options,
                   const import_figures *f, bool json)
{
    bool volume = mesh->tetrahedra.count > 0;
    double extent[3];
    ps_report *report = ps_report_new(json);
    for (int c = 0; c < 3; ++c) extent[c] = f->upper[c] - f->lower[c];
    ps_report_text(report, "kind", volume ? "volume" : "surface");
    ps_report_text(report, "order", ps_space_curve_name(options->order));
    ps_report_int(report, "vertices", mesh->vertex_count, "");
    if (volume) report_volume(report, mesh, f);
    else report_surface(report, mesh, f);
    ps_report_reals(report, "extent", extent, 3);
    ps_report_reals(report, "lower_corner", f->lower, 3);
    ps_report_real(report, "edge_min", f->edge.min, "m");
    ps_report_real(report, "edge_mean", f->edge.mean, "m");
    ps_report_real(report, "edge_max", f->edge.max, "m");
    ps_report_real(report, "quality_min", f->cell.quality_min, "");
    ps_report_real(report, "quality_1_percent", f->cell.quality_low, "");
    ps_report_real(report, "quality_mean", f->cell.quality_mean, "");
    ps_report_reals(report, "worst_quality_at", f->cell.worst_place, 3);
    report_repairs(report, mesh, f);
    ps_report_section(report, "run");
    ps_report_int(report, "peak_memory", ps_memory_peak(), "bytes");
    ps_report_print(&report);
}

/* ---- files: the arrays are lent, not copied ---- */

static ps_status save_surface(import_mesh *m, const import_options *options,
                              const import_figures *figures, const char *record)
{
    ps_surface_mesh mesh = {.vertex_count = m->vertex_count,
                            .triangle_count = m->triangles.count,
                            .vertices = m->vertices,
                            .triangles = m->triangles.vertices,
                            .tags = m->triangles.tags,
                            .vertex_source = m->vertex_source,
                            .triangle_source = m->triangles.source,
                            .closed = figures->closed,
                            .oriented = figures->oriented};
    strcpy(mesh.order, ps_space_curve_name(options->order));
    strcpy(mesh.tag_names, m->tag_names);
    return ps_surface_mesh_save(options->output, &mesh, ps_version(), record);
}

static ps_status save_volume(import_mesh *m, const import_options *options, const char *record)
{
    ps_volume_mesh mesh = {.vertex_count = m->vertex_count,
                           .tetrahedron_count = m->tetrahedra.count,
                           .triangle_count = m->triangles.count,
                           .vertices = m->vertices,
                           .tetrahedra = m->tetrahedra.vertices,
                           .tags = m->tetrahedra.tags,
                           .triangles = m->triangles.vertices,
                           .triangle_tags = m->triangles.tags,
                           .vertex_source = m->vertex_source,
                           .tetrahedron_source = m->tetrahedra.source,
                           .triangle_source = m->triangles.source};
    strcpy(mesh.order, ps_space_curve_name(options->order));
    strcpy(mesh.tag_names, m->tag_names);
    return ps_volume_mesh_save(options->output, &mesh, ps_version(), record);
}

ps_status import_save(import_mesh *mesh, const import_options *options,
                      const import_figures *figures, const char *record)
{
    return mesh->tetrahedra.count > 0 ? save_volume(mesh, options, record)
                                      : save_surface(mesh, options, figures, record);
}
