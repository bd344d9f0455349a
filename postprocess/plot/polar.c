/*
 * Polar diagrams: |far field|, or the field on a circle, in decibels over the angle: a curve for
 * each file and chosen frequency.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/common/vec3.h"
#include "postprocess/plot/curves.h"
#include "runtime/memory.h"
#include "runtime/option_values.h"
#include "runtime/scope.h"

enum { POLAR_CURVES_MAX = 8, POLAR_FILES_MAX = 4 };

typedef struct direction {
    double angle; /* radians, [0, 2 pi) */
    int64_t channel;
} direction;

/* A file and what is shown of it. */
typedef struct polar_file {
    ps_trace trace;
    direction *directions; /* [channels], ascending */
    int64_t samples[POLAR_CURVES_MAX];
    int count;
} polar_file;

typedef struct polar {
    polar_file files[POLAR_FILES_MAX];
    int count, normal;
} polar;

static int by_angle(const void *a, const void *b)
{
    double x = ((const direction *)a)->angle, y = ((const direction *)b)->angle;
    return (x > y) - (x < y);
}

/* The coordinate plane in which the directions lie: the axis they have least of. */
static int normal_axis(const ps_trace *trace)
{
    double sums[3] = {0, 0, 0};
    for (int64_t c = 0; c < trace->channels; ++c)
        for (int k = 0; k < 3; ++k) sums[k] += fabs(trace->places[3 * c + k]); /* to scale */
    int least = 2;
    for (int k = 0; k < 3; ++k)
        if (sums[k] < sums[least] * (1 - 1e-9)) least = k;
    return least;
}

static ps_status order_directions(const char *path, polar_file *file, int normal)
{
    static const int first[3] = {1, 0, 0}, second[3] = {2, 2, 1};
    const ps_trace *trace = &file->trace;
    for (int64_t c = 0; c < trace->channels; ++c) {
        const double *d = &trace->places[3 * c];
        if (fabs(d[normal]) > 0.02 * ps_norm3(d))
            return ps_fail(PS_INVALID,
                           "%s: direction %lld does not lie in a coordinate plane with "
                           "the others; a polar diagram needs a circle of directions",
                           path, (long long)c);
        double angle = atan2(d[second[normal]], d[first[normal]]);
        file->directions[c] = (direction){angle < 0 ? angle + 2 * M_PI : angle, c};
    }
    qsort(file->directions, (size_t)trace->channels, sizeof *file->directions, by_angle);
    return PS_OK;
}

/* The samples to show: nearest to --frequencies, or four spread over the axis. */
static ps_status choose_samples(const plot_request *request, const char *path, polar_file *file)
{
    const ps_trace *trace = &file->trace;
    if (!request->frequencies) {
        file->count = trace->samples < 4 ? (int)trace->samples : 4;
        for (int i = 0; i < file->count; ++i)
            file->samples[i] = (i + 1) * trace->samples / (file->count + 1);
        return PS_OK;
    }
    double wanted[POLAR_CURVES_MAX];
    PS_TRY_IN(ps_parse_measures(request->frequencies, "HZ", wanted, POLAR_CURVES_MAX, &file->count),
              "--frequencies");
    double last = trace->axis[trace->samples - 1];
    for (int i = 0; i < file->count; ++i) {
        if (wanted[i] < 0 || wanted[i] > last * (1 + 1e-9))
            return ps_fail(PS_USAGE,
                           "--frequencies: %.6g Hz is outside the spectrum of %s, which "
                           "reaches %.6g Hz",
                           wanted[i], path, last);
        file->samples[i] = curves_nearest(trace, wanted[i]);
    }
    return PS_OK;
}

static void put_curve(const ps_trace *trace, const direction *directions, int64_t sample, int index,
                      double floor_level, canvas *c)
{
    canvas_put(c, "$C%d << END\n", index);
    /* Close the circle where the directions go all around. */
    double gap = directions[0].angle + 2 * M_PI - directions[trace->channels - 1].angle;
    int64_t count = trace->channels + (gap < M_PI / 6);
    for (int64_t i = 0; i < count; ++i) {
        const direction *d = &directions[i % trace->channels];
        double level = decibel_value(trace, sample, d->channel);
        canvas_put(c, "%.7g %.6g\n", d->angle, fmax(level, floor_level));
    }
    canvas_put(c, "END\n");
}

static double top_level(const polar *p)
{
    double top = -INFINITY;
    for (int f = 0; f < p->count; ++f)
        for (int i = 0; i < p->files[f].count; ++i)
            for (int64_t c = 0; c < p->files[f].trace.channels; ++c)
                top = fmax(top, decibel_value(&p->files[f].trace, p->files[f].samples[i], c));
    return top;
}

static void put_axes(const ps_trace *trace, int normal, double low, double high, canvas *c)
{
    static const char *const ends[3][2] = {{"+y", "+z"}, {"+x", "+z"}, {"+x", "+y"}};
    char text[160];
    decibel_label(trace, text, sizeof text);
    char *unit = strrchr(text, '(');
    if (unit && unit > text) unit[-1] = 0;
    canvas_put(
        c,
        "set polar\nset angles radians\nset border 4096 lw 1.2 lc rgb '#888888'\n"
        "unset xtics\nunset ytics\nunset raxis\n"
        "set size square\nset rrange [%.4g:%.4g]\nset rtics %.4g,10 scale 0 font ',10'\n"
        "set grid polar pi/6 lt 1 dt 1 lw 0.6 lc rgb '#d4d4d4'\nset lmargin at screen 0.065\n"
        "set rmargin at screen 0.72\nset bmargin at screen 0.08\nset tmargin at screen 0.88\n"
        "set ttics 0,30 format \"%%g\xc2\xb0\" font ',11'\n",
        low, high, low);
    canvas_put_text(c, "set label 1 ", text, " at screen 0.765,0.84 left noenhanced font ',11'\n");
    canvas_put_text(c, "set label 2 ", unit ? unit : "",
                    " at screen 0.765,0.81 left noenhanced font ',11'\n");
    canvas_put(
        c,
        "set label 3 '0\xc2\xb0 is %s, 90\xc2\xb0 is %s' at screen 0.765,0.77 left font ',11'\n"
        "set key at screen 0.765,0.74 left top Left reverse nobox\n",
        ends[normal][0], ends[normal][1]);
}

/* A colour a curve; files after the first are dashed. */
static void put_plot(const plot_request *request, const polar *p, canvas *c)
{
    for (int f = 0, index = 0; f < p->count; ++f)
        for (int i = 0; i < p->files[f].count; ++i, ++index) {
            char name[256], title[320];
            plot_label(request, f, name, sizeof name);
            snprintf(title, sizeof title, "%.4g Hz%s%s",
                     p->files[f].trace.axis[p->files[f].samples[i]], p->count > 1 ? ", " : "",
                     p->count > 1 ? name : "");
            canvas_put(c, "%s$C%d using 1:2 with lines lw 2.4 dt %d lc rgb '%s' title ",
                       index ? ", \\\n  " : "plot ", index, f ? f + 1 : 1, canvas_colour(index));
            canvas_put_quoted(c, title);
        }
    canvas_put(c, "\n");
}

static ps_status draw(const plot_request *request, const polar *p, canvas *c)
{
    double top = top_level(p);
    if (!isfinite(top))
        return ps_fail(PS_INVALID, "%s: no finite value to plot", request->files[0]);
    double high = 10 * ceil(top / 10), low = high - 10 * ceil(request->dynamic / 10);
    for (int f = 0, index = 0; f < p->count; ++f)
        for (int i = 0; i < p->files[f].count; ++i, ++index)
            put_curve(&p->files[f].trace, p->files[f].directions, p->files[f].samples[i], index,
                      low, c);
    canvas_title(c, request->title);
    put_axes(&p->files[0].trace, p->normal, low, high, c);
    put_plot(request, p, c);
    return PS_OK;
}

static ps_status load_file(const plot_request *request, int f, polar *p)
{
    polar_file *file = &p->files[f];
    const char *path = request->files[f];
    PS_TRY(ps_trace_load(path, &file->trace));
    if (!file->trace.in_frequency || file->trace.channels < 3)
        return ps_fail(PS_USAGE,
                       "%s: a polar diagram needs a spectrum (penstock-spectrum) at three "
                       "directions or more",
                       path);
    if (f == 0) p->normal = normal_axis(&file->trace);
    PS_TRY(PS_ALLOC(&file->directions, file->trace.channels, "directions"));
    PS_TRY(order_directions(path, file, p->normal));
    return choose_samples(request, path, file);
}

static void release(polar *p)
{
    for (int f = 0; f < POLAR_FILES_MAX; ++f) {
        free(p->files[f].directions);
        ps_trace_release(&p->files[f].trace);
    }
}

ps_status plot_polar(const plot_request *request, canvas *c)
{
    PS_SCOPED(release) polar p = {.count = request->file_count};
    PS_TRY(plot_need_files(request, 1, POLAR_FILES_MAX, "spectra of a far field"));
    for (int f = 0; f < p.count; ++f) PS_TRY(load_file(request, f, &p));
    return draw(request, &p, c);
}
