/*
 * Models of prisms: a layer and a section upright through its largest value, and what is left of
 * the measured values at the stations.
 */
#include <math.h>
#include <string.h>

#include "formats/prism_model.h"
#include "postprocess/plot/plot.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

typedef struct cut {
    const ps_prism_model *model;
    int64_t at[3]; /* the cell of the largest value */
} cut;

static double value_of(const ps_prism_model *m, int64_t n)
{
    const double *v = m->prisms + m->width * n + 6;
    return m->width == 7 ? v[0] : sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static void place_of(const ps_prism_model *m, int64_t n, int64_t at[3])
{
    int64_t c = m->cell[n];
    at[0] = c / m->count[2] / m->count[1];
    at[1] = c / m->count[2] % m->count[1];
    at[2] = c % m->count[2];
}

/* Through the largest value; --slice chooses the layer, from below. */
static ps_status find_cut(const plot_request *r, const ps_prism_model *m, cut *out)
{
    int64_t at[3];
    double largest = -1;
    out->model = m;
    if (r->slice >= m->count[2])
        return ps_fail(PS_USAGE, "--slice %lld: the model has %lld layers, 0 is the lowest",
                       (long long)r->slice, (long long)m->count[2]);
    for (int64_t n = 0; n < m->cells; ++n) {
        place_of(m, n, at);
        if ((r->slice >= 0 && at[2] != r->slice) || !(fabs(value_of(m, n)) > largest)) continue;
        largest = fabs(value_of(m, n));
        memcpy(out->at, at, sizeof at);
    }
    return largest >= 0
               ? PS_OK
               : ps_fail(PS_USAGE, "--slice %lld: the layer is all air", (long long)r->slice);
}

/* Rectangles of the cells with at[across] as in the cut, along axes a and b, in km. */
static void put_cells(const cut *c, const char *name, int across, canvas *out)
{
    const ps_prism_model *m = c->model;
    const int a = 0, b = across == 2 ? 1 : 2;
    int64_t at[3];
    canvas_put(out, "$%s << END\n", name);
    for (int64_t n = 0; n < m->cells; ++n) {
        place_of(m, n, at);
        if (at[across] != c->at[across]) continue;
        const double *x = m->edges[a] + at[a], *y = m->edges[b] + at[b];
        canvas_put(out, "%.9g %.9g %.9g %.9g %.9g %.9g %.6g\n", (x[0] + x[1]) / 2e3,
                   (y[0] + y[1]) / 2e3, x[0] / 1e3, x[1] / 1e3, y[0] / 1e3, y[1] / 1e3,
                   value_of(m, n));
    }
    canvas_put(out, "END\n");
}

static void put_stations(const ps_prism_model *m, canvas *c)
{
    canvas_put(c, "$S << END\n");
    for (int64_t i = 0; i < m->stations; ++i)
        canvas_put(c, "%.9g %.9g %.6g\n", m->place[3 * i] / 1e3, m->place[3 * i + 1] / 1e3,
                   (m->observed[i] - m->computed[i]) / m->error[i]);
    canvas_put(c, "END\n");
}

static void put_ranges(const ps_prism_model *m, int b, canvas *c)
{
    canvas_put(c, "set xrange [%.9g:%.9g]\nset yrange [%.9g:%.9g]\n", m->edges[0][0] / 1e3,
               m->edges[0][m->count[0]] / 1e3, m->edges[b][0] / 1e3,
               m->edges[b][m->count[b]] / 1e3);
}

static void put_panels(const cut *k, double factor, canvas *c)
{
    static const char draw[] =
        "plot $%s using 1:2:3:4:5:6:($7 * %.9g) with boxxyerror fs solid noborder "
        "lc palette";
    const ps_prism_model *m = k->model;
    const double *z = m->edges[2] + k->at[2], *y = m->edges[1] + k->at[1];
    canvas_put(c, "set xlabel 'x (km)'\nset ylabel 'y (km)'\n");
    canvas_put(c,
               "set size 1,0.56\nset origin 0,0.35\nset size ratio -1\nset tmargin 2\n"
               "set label 1 'z from %.4g to %.4g km' at graph 1,1.03 right\n",
               z[0] / 1e3, z[1] / 1e3);
    put_ranges(m, 1, c);
    canvas_put(c, draw, "L", factor);
    canvas_put(c, ", $S using 1:2 with points pt 7 ps 0.4 lc rgb '#888888'\n");
    canvas_put(c,
               "unset label 2\nunset label 3\nunset colorbox\nset size noratio\nset size "
               "1,0.36\nset origin "
               "0,0\nset ylabel 'z (km)'\n"
               "set label 1 'y from %.6g to %.6g km' at graph 1,1.05 right\n",
               y[0] / 1e3, y[1] / 1e3);
    put_ranges(m, 2, c);
    canvas_put(c, draw, "U", factor);
    canvas_put(c, "\nunset multiplot\n");
}

static ps_status draw_model(const plot_request *r, const ps_prism_model *m, canvas *c)
{
    PS_SCOPED_MEMORY double *values = NULL;
    colour_range range;
    cut k;
    PS_TRY(find_cut(r, m, &k));
    PS_TRY(PS_ALLOC(&values, m->cells, "colour range"));
    for (int64_t n = 0; n < m->cells; ++n) values[n] = value_of(m, n);
    PS_TRY(colour_range_choose(r, values, m->cells, &range));
    double factor = colour_range_put(&range, m->width == 7 ? "density" : "magnetisation",
                                     ps_prism_model_units(m), c);
    put_cells(&k, "L", 2, c);
    put_cells(&k, "U", 1, c);
    put_stations(m, c);
    canvas_put(c, "unset grid\nunset key\nset multiplot\nset lmargin at screen 0.12\n"
                  "set rmargin at screen 0.84\n");
    /* Above both panels, whose own labels say where they cut. */
    canvas_put_text(c, "set label 2 ", r->title ? r->title : "the model and the stations",
                    " at screen 0.48,0.965 center noenhanced textcolor rgb '#222222'\n");
    put_panels(&k, factor, c);
    return PS_OK;
}

static ps_status draw_residuals(const plot_request *r, const ps_prism_model *m, canvas *c)
{
    double largest = 0;
    for (int64_t i = 0; i < m->stations; ++i)
        largest = fmax(largest, fabs(m->observed[i] - m->computed[i]) / m->error[i]);
    put_stations(m, c);
    canvas_palette_diverging(c);
    canvas_title(c, r->title ? r->title : "observed less computed, in errors of the stations");
    put_ranges(m, 1, c);
    canvas_put(
        c,
        "unset key\nset xlabel 'x (km)'\nset ylabel 'y (km)'\nset size ratio -1\nset rmargin at "
        "screen 0.84\n"
        "set cbrange [%.4g:%.4g]\nset label 1 'chi2 %.4g of %lld stations' at graph 1,1.03 right\n"
        "plot $S using 1:2:3 with points pt 7 ps 1.2 lc palette, $S using 1:2 with points pt 6 "
        "ps 1.2 lc rgb '#888888'\n",
        -largest, largest > 0 ? largest : 1, m->chi2, (long long)m->stations);
    return PS_OK;
}

typedef ps_status drawing(const plot_request *request, const ps_prism_model *model, canvas *c);

static ps_status draw_by(drawing *draw, const plot_request *request, canvas *c)
{
    PS_SCOPED(ps_prism_model_release) ps_prism_model model = {.cells = 0};
    PS_TRY(plot_need_files(request, 1, 1, "model of prisms"));
    PS_TRY(ps_prism_model_load(request->files[0], &model));
    return draw(request, &model, c);
}

ps_status plot_prism_model(const plot_request *request, canvas *c)
{
    return draw_by(draw_model, request, c);
}

ps_status plot_residuals(const plot_request *request, canvas *c)
{
    return draw_by(draw_residuals, request, c);
}
