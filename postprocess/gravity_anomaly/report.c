/* What is told: figures, doubts, the table. */
#include <math.h>
#include <stdio.h>

#include "postprocess/gravity_anomaly/anomaly.h"
#include "runtime/log.h"
#include "runtime/output_file.h"
#include "runtime/memory.h"
#include "runtime/report.h"

typedef struct fit {
    double rms, correlation, mean, largest; /* differences: rms, mean, largest */
    double size;                            /* rms of b */
    int64_t count;
} fit;

/* Of a against b, where both are known; mean: of a - b. */
static fit compare(const double *a, const double *b, int64_t n)
{
    double ma = 0, mb = 0, aa = 0, bb = 0, ab = 0, square = 0, size = 0;
    fit f = {0};
    for (int64_t i = 0; i < n; ++i)
        if (isfinite(a[i]) && isfinite(b[i])) ++f.count, ma += a[i], mb += b[i];
    if (f.count == 0) return f;
    ma /= (double)f.count, mb /= (double)f.count;
    for (int64_t i = 0; i < n; ++i) {
        if (!isfinite(a[i]) || !isfinite(b[i])) continue;
        aa += (a[i] - ma) * (a[i] - ma);
        bb += (b[i] - mb) * (b[i] - mb);
        ab += (a[i] - ma) * (b[i] - mb);
        square += (a[i] - b[i]) * (a[i] - b[i]);
        size += b[i] * b[i];
        f.largest = fmax(f.largest, fabs(a[i] - b[i]));
    }
    f.rms = sqrt(square / (double)f.count);
    f.size = sqrt(size / (double)f.count);
    f.correlation = aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : 0;
    f.mean = ma - mb;
    return f;
}

/* Of some numbers against others, where both are there. */
static void tell_fit(ps_report *r, const char *section, const double *a, const double *b, int64_t n)
{
    if (!a || !b) return;
    fit f = compare(a, b, n);
    if (f.count == 0) return;
    ps_report_section(r, section);
    ps_report_real(r, "rms", f.rms);
    ps_report_real(r, "largest_difference", f.largest);
    ps_report_real(r, "mean_difference", f.mean);
    ps_report_real(r, "correlation", f.correlation);
}

void report_figures(const anomaly *a)
{
    const ps_gravity_map *m = &a->map;
    const double *map = m->map ? m->map : m->map_elements;
    ps_report *r = ps_report_new(a->run);
    double low = INFINITY, high = -INFINITY;
    const int64_t nodes = m->nodes[0] * m->nodes[1];
    for (int64_t i = 0; i < nodes; ++i) {
        low = fmin(low, map[i]);
        high = fmax(high, map[i]);
    }
    ps_report_text(r, "g_z", m->map ? "exact sums over the model" : "elements alone");
    ps_report_real(r, "least", low);
    ps_report_real(r, "largest", high);
    ps_report_int(r, "stations", m->stations);
    ps_report_int(r, "stations_outside", a->outside);
    ps_report_run(r, ps_memory_peak());
    tell_fit(r, "elements_against_exact_on_top", m->map_elements, m->map, nodes);
    tell_fit(r, "elements_against_exact", m->elements, m->exact, m->stations);
    tell_fit(r, "exact_against_observed", m->exact, m->observed, m->stations);
    tell_fit(r, "elements_against_observed", m->elements, m->observed, m->stations);
    ps_report_print(&r);
}

/* ---- doubts ---- */

/* A part in a hundred of the values: more than what elements are good for where models are smooth.
 */
static void warn_of_elements(const char *where, const fit *f, const char *dataset)
{
    if (!(f->rms > .01 * f->size)) return;
    ps_warning("the elements' g_z %s is off by %.3g mGal (rms, %.3g at most) of %.3g: the model is "
               "rough for its grid; %s is exact for the model's cells",
               where, f->rms, f->largest, f->size, dataset);
}

void warn_of_doubts(const anomaly *a)
{
    const ps_gravity_map *m = &a->map;
    if (m->map) {
        fit f = compare(m->map_elements, m->map, m->nodes[0] * m->nodes[1]);
        warn_of_elements("on the top", &f, "/map/g_z");
    } else
        ps_warning(
            "there is no /map/g_z: how far /map/elements is off is not known without a model");
    if (m->exact) {
        fit f = compare(m->elements, m->exact, m->stations);
        warn_of_elements("at stations", &f, "/stations/g_z");
    }
    if (a->buried > 0)
        ps_warning("%lld of %lld stations lie within cells of the model that have a density: where "
                   "its steps are not the ground, g_z is open there by up to %.3g mGal (half a "
                   "cell's slab)",
                   (long long)a->buried, (long long)m->stations, a->slab / 2);
}

/* ---- the table ---- */

static void print_table(FILE *file, const void *context)
{
    const ps_gravity_map *m = context;
    fprintf(file, "x,y,z%s,elements%s\n", m->exact ? ",g_z" : "", m->observed ? ",observed" : "");
    for (int64_t i = 0; i < m->stations; ++i) {
        const double *p = m->place + 3 * i;
        fprintf(file, "%.15g,%.15g,%.15g", p[0], p[1], p[2]);
        if (m->exact) fprintf(file, ",%.9g", m->exact[i]);
        fprintf(file, isfinite(m->elements[i]) ? ",%.9g" : ",", m->elements[i]);
        if (m->observed) fprintf(file, ",%.9g", m->observed[i]);
        fprintf(file, "\n");
    }
}

ps_status write_table(const char *path, const ps_gravity_map *m)
{
    return ps_output_print(path, print_table, m);
}
