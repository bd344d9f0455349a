/*
 * A density on its surface at one time, or at several in panels: MESH and HISTORY. Or a field of
 * triangles, or of tetrahedra on the skin of those that have one: FIELD.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/history.h"
#include "postprocess/plot/plot.h"
#include "postprocess/plot/scene.h"
#include "postprocess/plot/skin.h"
#include "runtime/memory.h"
#include "runtime/option_values.h"
#include "runtime/scope.h"

enum { SURFACE_PANELS_MAX = 6 };

typedef struct surface_picture {
    const plot_request *request;
    canvas *c;
    ps_surface_mesh mesh;
    ps_history *history;
    const ps_history_header *header; /* NULL: the field of a file */
    char name[64], units[32];        /* of that                   */
    double *values;                  /* [panels][unknowns] */
    double *corners;                 /* [triangles][3]     */
    int64_t steps[SURFACE_PANELS_MAX];
    int panels;
} surface_picture;

/* The skin of a field is all there is to draw. */
static ps_status open_field(surface_picture *p)
{
    skin s;
    PS_TRY(skin_load(p->request->files[0], p->request->field, &s));
    p->mesh = s.mesh;
    p->corners = s.corners;
    p->panels = 1;
    memcpy(p->units, s.units, sizeof p->units);
    memcpy(p->name, s.name, sizeof p->name);
    return PS_OK;
}

static double time_of(const surface_picture *p, int64_t step)
{
    bool mean = p->header->slices.formulation != PS_SOUND_HARD; /* means over the step */
    return ((double)step - (mean ? 0.5 : 0)) * p->header->slices.dt;
}

static ps_status open_files(surface_picture *p)
{
    PS_TRY(ps_surface_mesh_load(p->request->files[0], &p->mesh));
    PS_TRY(ps_history_open(p->request->files[1], &p->history));
    p->header = ps_history_header_of(p->history);
    const ps_slice_header *slices = &p->header->slices;
    int64_t expected =
        slices->formulation == PS_SOUND_HARD ? p->mesh.vertex_count : p->mesh.triangle_count;
    if (slices->unknowns != expected || strcmp(slices->mesh_hash, p->mesh.content_hash) != 0)
        return ps_fail(PS_INVALID,
                       "%s was not computed on the mesh %s (%lld unknowns, the mesh would "
                       "have %lld; content %s, the mesh's %s)",
                       p->request->files[1], p->request->files[0], (long long)slices->unknowns,
                       (long long)expected, slices->mesh_hash, p->mesh.content_hash);
    return PS_OK;
}

/* The step with the largest root mean square. */
static ps_status strongest_step(surface_picture *p, int64_t *out)
{
    double strongest = -1;
    PS_SCOPED_MEMORY double *row = NULL;
    int64_t unknowns = p->header->slices.unknowns;
    PS_TRY(PS_ALLOC(&row, unknowns, "densities"));
    for (int64_t n = 1; n <= p->header->steps; ++n) {
        PS_TRY(ps_history_read(p->history, n, 1, row));
        double sum = 0;
        for (int64_t i = 0; i < unknowns; ++i) sum += row[i] * row[i];
        if (sum > strongest) strongest = sum, *out = n;
    }
    return PS_OK;
}

static ps_status choose_steps(surface_picture *p)
{
    double times[SURFACE_PANELS_MAX];
    p->panels = 1;
    if (!p->request->times) return strongest_step(p, &p->steps[0]);
    PS_TRY_IN(
        ps_parse_measures(p->request->times, "SECONDS", times, SURFACE_PANELS_MAX, &p->panels),
        "--times");
    for (int i = 0; i < p->panels; ++i) {
        double n =
            round(times[i] / p->header->slices.dt + (time_of(p, 1) < p->header->slices.dt) * 0.5);
        if (n < 1 || n > (double)p->header->steps)
            return ps_fail(
                PS_USAGE, "--times: %.6g s is outside %s, which goes from %.6g to %.6g s", times[i],
                p->request->files[1], time_of(p, 1), time_of(p, p->header->steps));
        p->steps[i] = (int64_t)n;
    }
    return PS_OK;
}

static ps_status read_values(surface_picture *p, colour_range *out)
{
    int64_t unknowns = p->header->slices.unknowns, count = p->panels * unknowns;
    PS_TRY(PS_ALLOC(&p->values, count, "densities"));
    PS_TRY(PS_ALLOC(&p->corners, 3 * p->mesh.triangle_count, "densities"));
    for (int i = 0; i < p->panels; ++i)
        PS_TRY(ps_history_read(p->history, p->steps[i], 1, p->values + i * unknowns));
    return colour_range_choose(p->request, p->values, count, out);
}

static void spread_values(surface_picture *p, const double *values)
{
    bool at_vertices = p->header->slices.formulation == PS_SOUND_HARD;
    for (int64_t i = 0; i < 3 * p->mesh.triangle_count; ++i)
        p->corners[i] = values[at_vertices ? p->mesh.triangles[i] : i / 3];
}

static unsigned colour_of(const scene_piece *piece, const double ends[2])
{
    enum { LINE = 0x383838 };
    if (piece->line) return LINE;
    double rgb[3], t = (piece->value - ends[0]) / (ends[1] - ends[0]);
    if (ends[0] < 0 && ends[1] > 0)
        canvas_diverging(t, rgb);
    else
        canvas_sequential(t, rgb);
    unsigned out = 0;
    for (int k = 0; k < 3; ++k) out = out << 8 | (unsigned)(255 * rgb[k] + 0.5);
    return out;
}

/* Each piece as a degenerate quadrangle of pm3d with its own colour. */
static void put_pieces(const scene *s, const double ends[2], int index, canvas *c)
{
    canvas_put(c, "$P%d << END\n", index);
    for (int64_t i = 0; i < s->count; ++i) {
        const scene_piece *piece = &s->pieces[i];
        unsigned rgb = colour_of(piece, ends);
        canvas_put(c, "%.4g %.4g 0 %u\n%.4g %.4g 0 %u\n\n%.4g %.4g 0 %u\n%.4g %.4g 0 %u\n\n\n",
                   piece->at[0][0], piece->at[0][1], rgb, piece->at[1][0], piece->at[1][1], rgb,
                   piece->at[2][0], piece->at[2][1], rgb, piece->at[2][0], piece->at[2][1], rgb);
    }
    canvas_put(c, "END\n");
}

/* A bar of 1, 2 or 5 times a power of ten metres, a tenth to a fifth of the width, ending at x. */
static void put_scale_bar(double width, double x, double y, double height, canvas *c)
{
    double length = canvas_round_step(width / 5);
    canvas_put(
        c,
        "set arrow 1 from %.5g,%.5g,0 to %.5g,%.5g,0 heads size screen 0.004,90 lw 1.5 lc rgb "
        "'#444444' front\n"
        "set label 3 '%g m' at %.5g,%.5g,0 center textcolor rgb '#444444' front\n",
        x - length, y, x, y, length, x - length / 2, y + 0.03 * height);
}

/* Panels in rows: up to two in one row or column, then two or three a row. */
static void panel_box(int index, int count, double box[4])
{
    int columns = count < 3 ? count : count <= 4 ? 2 : 3, rows = (count + columns - 1) / columns;
    double left = 0.01, right = 0.875, bottom = 0.01, top = 0.93;
    double width = (right - left) / columns, height = (top - bottom) / rows;
    box[0] = left + (index % columns) * width;
    box[1] = box[0] + width;
    box[3] = top - (index / columns) * height;
    box[2] = box[3] - height;
}

/* Sets margins and ranges so that a metre is as wide as high and the body fills the panel. */
static void put_panel_frame(const surface_picture *p, const scene *s, int index, canvas *c)
{
    double box[4], extent[2], centre[2], pad = 1.08;
    panel_box(index, p->panels, box);
    double pixels[2] = {(box[1] - box[0]) * (double)c->width,
                        (box[3] - box[2]) * (double)c->height};
    for (int k = 0; k < 2; ++k) centre[k] = 0.5 * (s->low[k] + s->high[k]);
    double scale =
        fmax((s->high[0] - s->low[0]) / pixels[0], (s->high[1] - s->low[1]) / pixels[1]) * pad;
    for (int k = 0; k < 2; ++k) extent[k] = 0.5 * scale * pixels[k];
    canvas_put(
        c,
        "set lmargin at screen %.4f\nset rmargin at screen %.4f\nset bmargin at screen %.4f\n"
        "set tmargin at screen %.4f\nset xrange [%.6g:%.6g]\nset yrange [%.6g:%.6g]\n",
        box[0], box[1], box[2], box[3], centre[0] - extent[0], centre[0] + extent[0],
        centre[1] - extent[1], centre[1] + extent[1]);
    if (index == 0)
        put_scale_bar(2 * extent[0], centre[0] + 0.94 * extent[0], centre[1] - 0.92 * extent[1],
                      2 * extent[1], c);
    else
        canvas_put(c, "unset arrow 1\nunset label 3\n");
    if (!p->header) return;
    const char *prefix = "";
    double time = time_of(p, p->steps[index]);
    double factor = canvas_prefix(fabs(time_of(p, p->header->steps)), &prefix);
    canvas_put(
        c,
        "set label 1 't = %.4g %ss' at screen %.4f,%.4f left textcolor rgb '#222222' font ',12' "
        "front\n",
        time * factor, prefix, box[0] + 0.02, box[3] - 0.035);
}

static void put_frame(const surface_picture *p, canvas *c)
{
    canvas_put(c, "set multiplot\nset view map\nunset key\nunset border\nunset xtics\nunset "
                  "ytics\nunset ztics\nunset grid\n"
                  "set pm3d corners2color c1 border retrace lw 0.9\n");
    if (p->request->title && *p->request->title) {
        canvas_put_text(
            c, "set label 2 ", p->request->title,
            " at screen 0.44,0.965 center noenhanced font ',14' textcolor rgb '#111111'\n");
    }
}

/* Reads what is to be drawn and sets the colours; these are computed here, in the values' own unit.
 */
static ps_status prepare(surface_picture *p, colour_range *range)
{
    bool hard = p->header && p->header->slices.formulation == PS_SOUND_HARD;
    if (p->header) {
        PS_TRY(choose_steps(p));
        PS_TRY(read_values(p, range));
        colour_range_put(range, hard ? "total pressure" : "density -du/dn", hard ? "Pa" : "Pa/m",
                         p->c);
        return PS_OK;
    }
    PS_TRY(colour_range_choose(p->request, p->corners, 3 * p->mesh.triangle_count, range));
    colour_range_put(range, p->name, p->units, p->c);
    return PS_OK;
}

static ps_status draw(surface_picture *p)
{
    canvas *c = p->c;
    colour_range range;
    double box[4];
    PS_TRY(prepare(p, &range));
    panel_box(0, p->panels, box);
    put_frame(p, c);
    for (int i = 0; i < p->panels; ++i) {
        scene s;
        scene_view view = {p->request->azimuth, p->request->elevation, 0};
        double size = 0;
        for (int64_t v = 0; v < 3 * p->mesh.vertex_count; ++v)
            size = fmax(size, fabs(p->mesh.vertices[v] - p->mesh.vertices[v % 3]));
        view.resolution = 9 * size / ((box[1] - box[0]) * (double)c->width);
        if (p->header) spread_values(p, p->values + i * p->header->slices.unknowns);
        PS_TRY(scene_init(&s, &p->mesh, p->corners, &view));
        put_pieces(&s, range.ends, i, c);
        put_panel_frame(p, &s, i, c);
        canvas_put(c, "%s\n",
                   i == 0 ? "set colorbox user origin 0.885,0.18 size 0.014,0.64 border"
                          : "unset colorbox");
        canvas_put(
            c,
            "splot $P%d using 1:2:3:4 with pm3d fc rgb variable notitle, NaN with lines palette "
            "notitle\nunset label 2\n",
            i);
        scene_release(&s);
    }
    canvas_put(c, "unset multiplot\n");
    return PS_OK;
}

static void release(surface_picture *p)
{
    PS_FREE(p->values, p->corners);
    ps_history_close(&p->history);
    ps_surface_mesh_release(&p->mesh);
}

ps_status plot_surface(const plot_request *request, canvas *c)
{
    PS_SCOPED(release) surface_picture p = {.request = request, .c = c};
    PS_TRY(plot_need_files(request, 1, 2, "a mesh and a history, or a field"));
    PS_TRY(request->file_count == 1 ? open_field(&p) : open_files(&p));
    return draw(&p);
}
