/*
 * Transmission conditions: the convergence factor over the wave number (the paper's figure 8) and
 * its isolines over (p, q) (figure 7).
 */
#include <math.h>

#include "formats/transmission.h"
#include "postprocess/plot/plot.h"

enum { FILES_MAX = 4 };

static void put_curve(const ps_transmission_file *f, int condition, int curve, canvas *c)
{
    canvas_put(c, "$T%d << END\n", curve);
    for (int64_t i = 0; i < f->samples; ++i)
        canvas_put(c, "%.8g %.8g\n", f->k[i], f->rate[condition * f->samples + i]);
    canvas_put(c, "END\n");
}

/* The curves of the files, solid for the first, dashed then; one colour a kind. */
static void put_curves(const plot_request *request, const ps_transmission_file *files, canvas *c)
{
    char label[160], name[96];
    int curve = 0;
    for (int i = 0; i < request->file_count; ++i)
        for (int k = 0; k < files[i].conditions; ++k, ++curve) {
            plot_label(request, i, name, sizeof name);
            snprintf(label, sizeof label, "%s%s%s: at most %.4g",
                     request->file_count > 1 ? name : "", request->file_count > 1 ? " " : "",
                     files[i].kinds[k], files[i].factor[k]);
            canvas_put(c, "%s$T%d with lines lw 2 lc rgb '%s' dt %d title ", curve ? ", " : "plot ",
                       curve, canvas_colour(k), 1 + i);
            canvas_put_quoted(c, label);
        }
    canvas_put(c, "\n");
}

static void draw_curves(const plot_request *request, const ps_transmission_file *files, canvas *c)
{
    int curve = 0;
    double low = 1;
    for (int i = 0; i < request->file_count; ++i)
        for (int k = 0; k < files[i].conditions; ++k) {
            put_curve(&files[i], k, curve++, c);
            low = fmin(low, files[i].factor[k]);
        }
    canvas_title(c, request->title ? request->title : "convergence factor of a double step");
    canvas_put(c,
               "set xlabel 'wave number k (1/%s)'\nset ylabel 'factor'\nset logscale x\n"
               "set xrange [%.6g:%.6g]\nset bmargin 9\nset key at screen 0.5,0.08 center "
               "horizontal noenhanced\n%s",
               files[0].length_unit, files[0].k_min, files[0].k_max,
               request->log ? "set logscale y\n" : "set yrange [0:*]\n");
    if (request->log) canvas_put(c, "set yrange [%.3g:*]\n", low / 1000);
    put_curves(request, files, c);
}

ps_status plot_convergence(const plot_request *request, canvas *c)
{
    ps_transmission_file files[FILES_MAX];
    int loaded = 0;
    PS_TRY(plot_need_files(request, 1, FILES_MAX, "transmission conditions"));
    ps_status status = PS_OK;
    while (status == PS_OK && loaded < request->file_count) {
        status = ps_transmission_load(request->files[loaded], &files[loaded]);
        if (status == PS_OK) ++loaded;
    }
    if (status == PS_OK) draw_curves(request, files, c);
    for (int i = 0; i < loaded; ++i) ps_transmission_file_release(&files[i]);
    return status;
}

/* ---- isolines ---- */

static void put_map(const ps_transmission_file *f, canvas *c)
{
    canvas_put(c, "$M << END\n");
    for (int64_t i = 0; i < f->map; ++i) {
        for (int64_t j = 0; j < f->map; ++j)
            canvas_put(c, "%.7g %.7g %.7g\n", f->map_p[i], f->map_q[j],
                       f->map_rate[i * f->map + j]);
        canvas_put(c, "\n");
    }
    canvas_put(c, "END\n");
}

static double least_of_map(const ps_transmission_file *f, int64_t *where)
{
    *where = 0;
    for (int64_t i = 1; i < f->map * f->map; ++i)
        if (f->map_rate[i] < f->map_rate[*where]) *where = i;
    return f->map_rate[*where];
}

static void draw_map(const plot_request *request, const ps_transmission_file *f, canvas *c)
{
    int64_t where, last = f->map - 1;
    double least = least_of_map(f, &where), p = f->map_p[where / f->map],
           q = f->map_q[where % f->map];
    int one_sided = ps_transmission_find(f, "oo2");
    if (one_sided >= 0) {
        least = f->factor[one_sided];
        p = f->coefficients[one_sided][0];
        q = f->coefficients[one_sided][1];
    }
    put_map(f, c);
    canvas_title(c, request->title ? request->title
                                   : "factor of a double step, second order, one-sided");
    canvas_put(c,
               "set contour base\nunset surface\nset cntrparam linear\n"
               "set cntrparam levels discrete %.4g, %.4g, %.4g, .2, .3, .4, .5, .6, .7, .8, .9\n"
               "set table $C\nsplot $M using (log10($1)):(log10($2)):3 with lines\nunset table\n",
               1.05 * least, 1.25 * least, 1.6 * least);
    canvas_put(c,
               "set view map\nunset contour\nset surface\nset logscale xy\n"
               "set xrange [%.6g:%.6g]\nset yrange [%.6g:%.6g]\nset cbrange [0:1]\n",
               f->map_p[0], f->map_p[last], f->map_q[0], f->map_q[last]);
    canvas_palette_sequential(c);
    canvas_put(c,
               "set xlabel 'p (1/%s)'\nset ylabel 'q (%s)'\nset cblabel 'factor'\n"
               "set bmargin at screen 0.16\nset tmargin at screen 0.93\nset lmargin at screen "
               "0.1\nset rmargin at screen 0.86\nset key at screen 0.5,0.03 center horizontal "
               "noenhanced\nunset grid\n",
               f->length_unit, f->length_unit);
    canvas_put(c, "$O << END\n%.8g %.8g\nEND\n", p, q);
    canvas_put(c,
               "splot $M using 1:2:3 with pm3d notitle, \\\n"
               "$C using (10**$1):(10**$2):(1) with lines lc rgb '#ffffff' lw 1.2 notitle, \\\n"
               "$C using (10**$1):(10**$2):(1):(sprintf('%%.3g', $3)) every 1000::24 with labels "
               "font ',9' textcolor rgb '#ffffff' notitle, \\\n"
               "$O using 1:2:(1) with points pt 7 ps 1.4 lc rgb '#d62728' title ");
    char label[128];
    snprintf(label, sizeof label, "least: %.4g at p = %.4g, q = %.4g", least, p, q);
    canvas_put_quoted(c, label);
    canvas_put(c, "\n");
}

ps_status plot_isolines(const plot_request *request, canvas *c)
{
    ps_transmission_file file;
    PS_TRY(plot_need_files(request, 1, 1, "transmission conditions"));
    PS_TRY(ps_transmission_load(request->files[0], &file));
    ps_status status = PS_OK;
    if (file.map)
        draw_map(request, &file, c);
    else
        status = ps_fail(PS_USAGE,
                         "%s holds no map over p and q: penstock-transmission-optimize --map 120 "
                         "makes one",
                         request->files[0]);
    ps_transmission_file_release(&file);
    return status;
}
