/* Transmission conditions: the convergence factor over the wave number (the paper's figure 8). */
#include <math.h>

#include "formats/transmission.h"
#include "postprocess/plot/plot.h"
#include "runtime/scope.h"

enum { FILES_MAX = 4 };

typedef struct transmission_files {
    ps_transmission_file files[FILES_MAX];
} transmission_files;

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

static void release(transmission_files *t)
{
    for (int i = 0; i < FILES_MAX; ++i) ps_transmission_file_release(&t->files[i]);
}

ps_status plot_convergence(const plot_request *request, canvas *c)
{
    PS_SCOPED(release) transmission_files t = {.files = {{0}}};
    PS_TRY(plot_need_files(request, 1, FILES_MAX, "transmission conditions"));
    for (int i = 0; i < request->file_count; ++i)
        PS_TRY(ps_transmission_load(request->files[i], &t.files[i]));
    draw_curves(request, t.files, c);
    return PS_OK;
}
