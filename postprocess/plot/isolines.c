/*
 * Transmission conditions: isolines of the convergence factor over the coefficients, a panel for
 * each map of the file at its place in figure 7 of Magoules, Cheik Ahamed and Putanowicz (2015).
 */

#include "formats/transmission.h"
#include "postprocess/plot/plot.h"
#include "runtime/scope.h"

enum { ONE_HEIGHT = 720, FOUR_HEIGHT = 940 };

static const char *const names[PS_MAPS] = {"zeroth order, symmetric", "zeroth order, non-symmetric",
                                           "second order, symmetric",
                                           "second order, non-symmetric"};

/* What a panel marks: the condition of the file, the least value of the map without it. */
typedef struct map_optimum {
    double x, y, factor;
} map_optimum;

static map_optimum find_optimum(const ps_transmission_file *f, int which)
{
    static const int second[PS_MAPS] = {0, 2, 1, 1}; /* p, p2, q, q1 of p1, q1, p2, q2 */
    const ps_transmission_map *m = &f->maps[which];
    int condition = ps_transmission_find(f, ps_map_table[which].kind);
    if (condition >= 0)
        return (map_optimum){f->coefficients[condition][0],
                             f->coefficients[condition][second[which]], f->factor[condition]};
    int64_t least = 0;
    for (int64_t i = 1; i < f->map * f->map; ++i)
        if (m->rate[i] < m->rate[least]) least = i;
    return (map_optimum){m->x[least / f->map], m->y[least % f->map], m->rate[least]};
}

/* The map and its optimum, which over (p, k) is a p: a line. */
static void put_data(const ps_transmission_file *f, int which, const map_optimum *best, canvas *c)
{
    const ps_transmission_map *m = &f->maps[which];
    bool line = which == PS_MAP_OO0;
    canvas_put(c, "$M%d << END\n", which);
    for (int64_t i = 0; i < f->map; ++i) {
        for (int64_t j = 0; j < f->map; ++j)
            canvas_put(c, "%.7g %.7g %.7g\n", m->x[i], m->y[j], m->rate[i * f->map + j]);
        canvas_put(c, "\n");
    }
    canvas_put(c, "END\n$O%d << END\n%.8g %.8g\n", which, best->x, line ? f->k_min : best->y);
    if (line) canvas_put(c, "%.8g %.8g\n", best->x, f->k_max);
    canvas_put(c, "END\n");
}

/* The file's only panel fills the picture; otherwise zeroth order is on the left. */
static void put_frame(const plot_request *request, int which, bool alone, canvas *c)
{
    double left = alone ? .1 : which < 2 ? .07 : .545, right = alone ? .86 : left + .35;
    double low = alone ? .11 : which % 2 ? .085 : .56, top = alone ? .93 : low + .355;
    canvas_put(c,
               "set lmargin at screen %g\nset rmargin at screen %g\nset bmargin at screen %g\n"
               "set tmargin at screen %g\n",
               left, right, low, top);
    canvas_title(c, alone && request->title ? request->title : names[which]);
}

static void put_axes(const ps_transmission_file *f, int which, const map_optimum *best, canvas *c)
{
    const ps_map_axes *axes = &ps_map_table[which];
    const ps_transmission_map *m = &f->maps[which];
    int64_t last = f->map - 1;
    canvas_put(c,
               "set xrange [%.6g:%.6g]\nset yrange [%.6g:%.6g]\nset ylabel '%s (%s%s)'\n"
               "set xlabel '%s (1/%s); least factor %.4g at %s = %.3g",
               m->x[0], m->x[last], m->y[0], m->y[last], axes->y, axes->y_is_length ? "" : "1/",
               f->length_unit, axes->x, f->length_unit, best->factor, axes->x, best->x);
    if (which != PS_MAP_OO0) canvas_put(c, ", %s = %.3g", axes->y, best->y);
    canvas_put(c, "'\n");
}

static void put_panel(int which, const map_optimum *best, canvas *c)
{
    canvas_put(c, "set cntrparam levels discrete ");
    if (which == PS_MAP_OO0)
        canvas_put(c, ".05");
    else
        canvas_put(c, "%.4g, %.4g, .02, .05", 1.05 * best->factor, 1.25 * best->factor);
    canvas_put(
        c,
        ", .1, .2, .3, .4, .5, .6, .7, .8, .9\n"
        "splot $M%d using 1:2:3 with pm3d nocontour, \\\n"
        "$M%d using 1:2:3 with lines nosurface lc rgb '#ffffff' lw 1.2, \\\n"
        "$M%d using 1:2:3 with labels nosurface textcolor rgb '#ffffff', \\\n"
        "$O%d using 1:2:(1) with linespoints nocontour pt 7 ps 1.4 lw 1.5 lc rgb '#d62728'\n",
        which, which, which, which);
}

static void draw_panels(const plot_request *request, const ps_transmission_file *f, canvas *c)
{
    map_optimum best[PS_MAPS];
    int count = 0;
    for (int m = 0; m < PS_MAPS; ++m) {
        if (!f->maps[m].rate) continue;
        best[m] = find_optimum(f, m);
        put_data(f, m, &best[m], c);
        ++count;
    }
    if (c->height == 0) canvas_resize(c, c->width, count > 1 ? FOUR_HEIGHT : ONE_HEIGHT);
    canvas_palette_sequential(c);
    canvas_put(
        c, "set view map\nset contour base\nset cntrparam linear\nset cntrlabel onecolor format "
           "'%%.3g' font ',9' start 12 interval 1000\nset logscale xy\nset cbrange [0:1]\n"
           "unset grid\nunset key\nset cblabel 'factor of a double step' offset -1\n"
           "set colorbox user origin 0.92,0.11 size 0.016,0.8\nset multiplot\n");
    if (count > 1 && request->title)
        canvas_put_text(
            c, "set label 2 ", request->title,
            " at screen 0.48,0.965 center noenhanced font ',13' textcolor rgb '#111111'\n");
    for (int m = 0; m < PS_MAPS; ++m) {
        if (!f->maps[m].rate) continue;
        put_frame(request, m, count == 1, c);
        put_axes(f, m, &best[m], c);
        put_panel(m, &best[m], c);
        canvas_put(c, "unset colorbox\nunset label 2\n");
    }
    canvas_put(c, "unset multiplot\n");
}

ps_status plot_isolines(const plot_request *request, canvas *c)
{
    PS_SCOPED(ps_transmission_file_release) ps_transmission_file file = {0};
    PS_TRY(plot_need_files(request, 1, 1, "transmission conditions"));
    PS_TRY(ps_transmission_load(request->files[0], &file));
    if (!file.map)
        return ps_fail(PS_USAGE,
                       "%s holds no map of its factors: penstock-transmission-optimize --map 120 "
                       "makes them",
                       request->files[0]);
    draw_panels(request, &file, c);
    return PS_OK;
}
