/*
 * Gravity anomalies: the map of g_z on the top with the stations, filled with the colours of what
 * was observed there, and observed against computed values (or a profile) beside each other.
 */
#include <math.h>
#include "formats/gravity_map.h"
#include "postprocess/plot/plot.h"
#include "runtime/scope.h"

/* The exact sums where they are there. */
static const double *values_of(const ps_gravity_map *m)
{
    return m->map ? m->map : m->map_elements;
}

static void put_map(const ps_gravity_map *m, canvas *c)
{
    canvas_put(c, "$M << END\n");
    for (int64_t i = 0; i < m->nodes[0]; ++i) {
        for (int64_t j = 0; j < m->nodes[1]; ++j)
            canvas_put(c, "%.9g %.9g %.6g\n", (m->origin[0] + (double)i * m->spacing[0]) / 1000,
                       (m->origin[1] + (double)j * m->spacing[1]) / 1000,
                       values_of(m)[i * m->nodes[1] + j]);
        canvas_put(c, "\n");
    }
    canvas_put(c, "END\n");
}

static void put_stations(const ps_gravity_map *m, canvas *c)
{
    if (!m->stations) return;
    canvas_put(c, "$S << END\n");
    for (int64_t i = 0; i < m->stations; ++i)
        canvas_put(c, "%.9g %.9g %.6g\n", m->place[3 * i] / 1000, m->place[3 * i + 1] / 1000,
                   m->observed ? m->observed[i] : 0.);
    canvas_put(c, "END\n");
}

static ps_status draw_map(const plot_request *request, const ps_gravity_map *m, canvas *c)
{
    colour_range range;
    double width = m->spacing[0] * (double)(m->nodes[0] - 1);
    double height = m->spacing[1] * (double)(m->nodes[1] - 1);
    PS_TRY(colour_range_choose(request, values_of(m), m->nodes[0] * m->nodes[1], &range));
    if (c->height == 0)
        canvas_resize(c, c->width, (int64_t)(0.72 * (double)c->width * height / width) + 150);
    double factor = colour_range_put(&range, "g_z", "mGal", c);
    put_map(m, c);
    put_stations(m, c);
    canvas_title(c, request->title ? request->title
                    : m->map       ? "gravity anomaly on the top"
                                   : "gravity anomaly on the top, by elements");
    canvas_put(c,
               "set view map\nunset grid\nunset key\nset xlabel 'x (km)'\nset ylabel 'y (km)'\n"
               "set lmargin at screen 0.12\nset rmargin at screen 0.84\nset size ratio -1\n"
               "set xrange [%.9g:%.9g]\nset yrange [%.9g:%.9g]\n"
               "splot $M using 1:2:($3 * %.9g) with pm3d",
               m->origin[0] / 1000, (m->origin[0] + width) / 1000, m->origin[1] / 1000,
               (m->origin[1] + height) / 1000, factor);
    if (m->stations)
        canvas_put(c, ", $S using 1:2:(0) with points pt 7 ps %g lc rgb '#222222'", m->observed ? 2.3 : .4);
    if (m->observed)
        canvas_put(c, ", $S using 1:2:(0):($3 * %.9g) with points pt 7 ps 1.9 palette", factor);
    canvas_put(c, "\n");
    return PS_OK;
}

typedef ps_status drawing(const plot_request *request, const ps_gravity_map *map, canvas *c);

static ps_status draw_by(drawing *draw, const plot_request *request, canvas *c)
{
    PS_SCOPED(ps_gravity_map_release) ps_gravity_map map = {0};
    PS_TRY(plot_need_files(request, 1, 1, "gravity map"));
    PS_TRY(ps_gravity_map_load(request->files[0], &map));
    return draw(request, &map, c);
}

ps_status plot_gravity_map(const plot_request *request, canvas *c)
{
    return draw_by(draw_map, request, c);
}

/* ---- stations in a row ---- */

static void put_rows(const ps_gravity_map *m, canvas *c)
{
    double at = 0;
    canvas_put(c, "$P << END\n");
    for (int64_t i = 0; i < m->stations; ++i) {
        const double *p = m->place + 3 * i;
        if (i > 0) at += hypot(p[0] - p[-3], p[1] - p[-2]) / 1000;
        canvas_put(c, "%.9g %.7g %.7g %.7g\n", m->observed ? (double)i + 1 : at, m->elements[i],
                   m->exact ? m->exact[i] : 0., m->observed ? m->observed[i] : 0.);
    }
    canvas_put(c, "END\n");
}

/* Outside of their box the elements say nothing. */
static bool elements_say(const ps_gravity_map *m)
{
    for (int64_t i = 0; i < m->stations; ++i)
        if (isfinite(m->elements[i])) return true;
    return false;
}

static ps_status draw_profile(const plot_request *request, const ps_gravity_map *m, canvas *c)
{
    if (m->stations < 2)
        return ps_fail(PS_USAGE,
                       "%s has no stations: penstock-gravity-anomaly --stations or "
                       "--profile",
                       request->files[0]);
    put_rows(m, c);
    canvas_title(c, request->title);
    canvas_put(c,
               "set xlabel '%s'\nset ylabel 'g_z (mGal)' noenhanced\nset bmargin 5\nset key at "
               "screen 0.5,0.04 center horizontal\n"
               "set autoscale xfix\nplot ",
               m->observed ? "station" : "distance (km)");
    if (elements_say(m))
        canvas_put(c, "$P using 1:2 with lines lw 2 lc rgb '%s' title 'from the elements', ",
                   canvas_colour(0));
    if (m->exact)
        canvas_put(c, "$P using 1:3 with lines lw 2 dt 2 lc rgb '%s' title 'exact prisms', ",
                   canvas_colour(1));
    if (m->observed)
        canvas_put(c, "$P using 1:4 with points pt 7 ps 0.7 lc rgb '%s' title 'observed'",
                   canvas_colour(2));
    canvas_put(c, "\n");
    return PS_OK;
}

ps_status plot_gravity_profile(const plot_request *request, canvas *c)
{
    return draw_by(draw_profile, request, c);
}
