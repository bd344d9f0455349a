/* From an accepted mesh to its file: metres, figures, report. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/surface_mesh.h"
#include "formats/volume_mesh.h"
#include "preprocess/mesh_import/import.h"
#include "runtime/memory.h"

enum { TAGS_MAX = 256 };

void import_scale(import_mesh *mesh, import_figures *figures, double scale)
{
    figures->edge.min *= scale;
    figures->edge.mean *= scale;
    figures->edge.max *= scale;
    for (int64_t i = 0; i < 3 * mesh->vertex_count; ++i) mesh->vertices[i] *= scale;
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
    if (cells->size == 4)
        figures->volume = figures->cell.size_sum;
    else
        figures->area = figures->cell.size_sum;
    if (figures->closed) figures->volume = enclosed_volume(mesh, cells);
    return PS_OK;
}

/* Significant decimal digits of a number, 10 if they are more than 9; decimals and value of the
 * last. */
static int digits_of(double x, int *decimals, int *last)
{
    char text[32];
    snprintf(text, sizeof text, "%.8e", x);
    if (strtod(text, NULL) != x) return 10;
    char *end = strchr(text, 'e'), *digit = end - 1;
    int zeros = 0;
    while (*digit == '0' && zeros < 8) --digit, ++zeros;
    *decimals = 8 - zeros - atoi(end + 1);
    *last = (*digit == '.' ? digit[-1] : *digit) - '0';
    return 9 - zeros;
}

/* Texts of 6 or 7 digits, by a sample of vertices: the largest of their numbers have fewer decimals
 * than others that have as many digits, and end in all digits there are. Numbers of as many
 * decimals everywhere, and those of even grids, are what was meant. */
void import_find_step(import_mesh *mesh)
{
    enum { ENOUGH = 6, SAMPLES = 4096 };
    const int64_t stride = 1 + mesh->vertex_count / SAMPLES;
    int most = 0, coarse = 0, fine = 0;
    unsigned lasts = 0;
    mesh->step = 0;
    for (int64_t i = 0; i < 3 * mesh->vertex_count; i += i % 3 < 2 ? 1 : 3 * stride - 2) {
        int decimals = 0, last = 0, digits = digits_of(mesh->vertices[i], &decimals, &last);
        if (digits > 9) return;
        if (digits < most) continue;
        if (digits > most) coarse = fine = decimals, lasts = 0;
        if (decimals < coarse) coarse = decimals, lasts = 0;
        if (decimals == coarse) lasts |= 1U << last;
        most = digits;
        fine = decimals > fine ? decimals : fine;
    }
    if (fine > coarse && __builtin_popcount(lasts) >= ENOUGH) mesh->step = pow(10, -coarse);
}

/* Of the mean edge, what rounding of its corners may be. */
static const double ROUNDED = 1e-2;

ps_status import_check_size(const import_mesh *mesh, const import_options *options,
                            const import_figures *figures)
{
    double extent = 0, far = 0, unit = (double)(mesh->single ? FLT_EPSILON : DBL_EPSILON) / 2;
    double step = mesh->step * options->scale / 2;
    for (int c = 0; c < 3; ++c) {
        extent = fmax(extent, figures->upper[c] - figures->lower[c]);
        far = fmax(far, fmax(fabs(figures->lower[c]), fabs(figures->upper[c])));
    }
    if (!(extent > 1e-60 && extent < 1e60))
        return ps_fail(PS_INVALID,
                       "%s: it would be %g m large, of which areas and volumes are no numbers: "
                       "--unit and --scale say what a unit of the file is",
                       options->input, extent);
    step = fmax(step, unit * far);
    if (step <= ROUNDED * figures->edge.mean) return PS_OK;
    return ps_refuse(options->run, "rounded",
                     "%s: %g m from the origin its numbers%s are rounded to %.2g m, and its edges "
                     "are %.2g m long: it is another body than was meant. Move it to the origin "
                     "where it was made",
                     options->input, far,
                     mesh->single        ? " of single precision"
                     : step > unit * far ? " of few digits"
                                         : "",
                     step, figures->edge.mean);
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
    ps_report_int(report, "triangles", mesh->triangles.count);
    ps_report_int(report, "edges", f->edge.count);
    ps_report_int(report, "euler_characteristic",
                  mesh->vertex_count - f->edge.count + mesh->triangles.count);
    ps_report_int(report, "parts", f->parts);
    ps_report_flag(report, "closed", f->closed);
    ps_report_flag(report, "oriented", f->oriented);
    ps_report_int(report, "open_edges", f->open_edges);
    ps_report_int(report, "open_loops", f->open_loops);
    ps_report_int(report, "cavities", f->cavities);
    ps_report_int(report, "nested_parts", f->nested);
    ps_report_real(report, "area", f->area);
    if (f->closed) ps_report_real(report, "volume", f->volume);
    report_tags(report, &mesh->triangles, "tags", "triangles_of_tag");
}

static void report_volume(ps_report *report, const import_mesh *mesh, const import_figures *f)
{
    ps_report_int(report, "tetrahedra", mesh->tetrahedra.count);
    ps_report_int(report, "triangles", mesh->triangles.count);
    ps_report_int(report, "boundary_triangles", f->boundary_triangles);
    ps_report_int(report, "boundary_faces", f->open_edges);
    ps_report_int(report, "edges", f->edge.count);
    ps_report_int(report, "parts", f->parts);
    ps_report_real(report, "volume", f->volume);
    ps_report_real(report, "volume_min", f->cell.size_min);
    report_tags(report, &mesh->tetrahedra, "tags", "tetrahedra_of_tag");
    report_tags(report, &mesh->triangles, "triangle_tags", "triangles_of_tag");
}

static void report_repairs(ps_report *report, const import_mesh *mesh, const import_figures *f)
{
    ps_report_section(report, "repairs");
    ps_report_int(report, "unused_vertices", f->unused);
    ps_report_int(report, "welded_vertices", f->welded);
    ps_report_int(report, "dropped_degenerate", f->dropped_degenerate);
    ps_report_int(report, "dropped_duplicates", f->dropped_duplicates);
    ps_report_int(report, "turned", f->turned);
    ps_report_int(report, "split_polygons", mesh->polygons);
}

void import_report(const import_mesh *mesh, const import_options *options, const import_figures *f,
                   const ps_run *run)
{
    bool volume = mesh->tetrahedra.count > 0;
    double extent[3];
    ps_report *report = ps_report_new(run);
    for (int c = 0; c < 3; ++c) extent[c] = f->upper[c] - f->lower[c];
    ps_report_text(report, "kind", volume ? "volume" : "surface");
    ps_report_text(report, "order", ps_space_curve_name(options->order));
    ps_report_int(report, "vertices", mesh->vertex_count);
    if (volume)
        report_volume(report, mesh, f);
    else
        report_surface(report, mesh, f);
    ps_report_reals(report, "extent", extent, 3);
    ps_report_reals(report, "lower_corner", f->lower, 3);
    ps_report_real(report, "edge_min", f->edge.min);
    ps_report_real(report, "edge_mean", f->edge.mean);
    ps_report_real(report, "edge_max", f->edge.max);
    ps_report_real(report, "quality_min", f->cell.quality_min);
    ps_report_real(report, "quality_1_percent", f->cell.quality_low);
    ps_report_real(report, "quality_mean", f->cell.quality_mean);
    ps_report_reals(report, "worst_quality_at", f->cell.worst_place, 3);
    report_repairs(report, mesh, f);
    ps_report_run(report, ps_memory_peak());
    ps_report_print(&report);
}

/* ---- files: the arrays are lent, not copied ---- */

/* Those of surfaces, which in their own meshes have no sign. */
static void put_surface_names(const char *names, char *out, size_t size)
{
    char name[64];
    long tag;
    size_t used = 0;
    for (const char *at = names; ps_tag_names_next(names, PS_TAGS_OF_SURFACES, &at, &tag, name);)
        used += (size_t)snprintf(out + used, size - used, "%s%ld %s", used ? "\n" : "", tag, name);
}

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
    put_surface_names(m->tag_names, mesh.tag_names, sizeof mesh.tag_names);
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
