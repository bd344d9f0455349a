#include "preprocess/incident/incident.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/cgns_surface.h"
#include "kernels/common/vec3.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/progress.h"
#include "runtime/scope.h"

static const double mach_limit = .95, start_level = 1e-4, coarse = .6, a_wave = 8;
enum { COLUMNS = 7, SIGNALS = 4 }; /* x,y,z,nx,ny,nz,area */

typedef struct panels {
    const panels_of *of;
    const source_text *text;
    table places, pressure, fluid; /* fluid of no rows: the surface lets nothing through */
    even_times times;
    double reach;       /* mean edge of the mesh, m */
    double *samples;    /* [panels][SIGNALS][rows][2] */
    ps_signal *signals; /* [panels][SIGNALS] */
    ps_sound *sounds;   /* [panels] */
} panels;

static void release(panels *p)
{
    table_release(&p->places);
    table_release(&p->pressure);
    table_release(&p->fluid);
    free(p->samples);
    free(p->signals);
    free(p->sounds);
}

/* ---- files ---- */

static ps_status check_panel(const panels *p, int64_t i)
{
    const double *row = p->places.values + COLUMNS * i;
    double length = ps_norm3(row + 3);
    if (fabs(length - 1) <= .01 && row[6] > 0) return PS_OK;
    return ps_fail(PS_INVALID,
                   "%s: panel %lld has a normal of length %g and an area of %g m^2; a panel is "
                   "x,y,z,nx,ny,nz,area with a unit normal out of what sounds",
                   p->text->where, (long long)i + 1, length, row[6]);
}

/* All of a CGNS file, which it hands on. */
static ps_status read_cgns(panels *p)
{
    const source_text *s = p->text;
    PS_SCOPED(ps_cgns_surface_release) ps_cgns_surface c = {0};
    if (strcmp(s->wave, s->where) != 0 || s->fluid[0])
        return ps_fail(PS_USAGE, "--panels %s: a CGNS file has its pressures and velocities itself",
                       s->where);
    PS_TRY(ps_cgns_surface_read(s->where, &c));
    if (c.times < 2) return ps_fail(PS_INVALID, "%s: one time; two are needed at least", s->where);
    for (int64_t n = 0; n < c.times; ++n)
        PS_TRY(even_time(s->where, n, n + 1, c.time[n], &p->times));
    for (int64_t i = 0; i < c.times * c.panels; ++i) c.pressure[i] -= s->ambient;
    if (c.turned) ps_info("%s: its normals point inward, and are turned", s->where);
    p->places = (table){c.panels, COLUMNS, c.places};
    p->pressure = (table){c.times, c.panels, c.pressure};
    if (c.velocity) p->fluid = (table){c.times, 3 * c.panels, c.velocity};
    c.places = c.pressure = c.velocity = NULL;
    for (int64_t i = 0; i < p->places.rows; ++i) PS_TRY(check_panel(p, i));
    return PS_OK;
}

static ps_status read_files(panels *p)
{
    const source_text *s = p->text;
    even_times other;
    if (ps_is_cgns(s->where)) return read_cgns(p);
    if (s->ambient != 0)
        return ps_fail(PS_USAGE, "--panels %s: ambient= is of CGNS files", s->where);
    PS_TRY(table_read(s->where, "panels", &p->places));
    if (p->places.width != COLUMNS)
        return ps_fail(PS_INVALID, "%s: %lld numbers a panel, expected x,y,z,nx,ny,nz,area",
                       s->where, (long long)p->places.width);
    for (int64_t i = 0; i < p->places.rows; ++i) PS_TRY(check_panel(p, i));
    PS_TRY(table_read_series(s->wave, "pressure", &p->pressure, &p->times));
    if (s->fluid[0]) {
        PS_TRY(table_read_series(s->fluid, "fluid", &p->fluid, &other));
        if (p->fluid.rows != p->pressure.rows || other.start != p->times.start ||
            other.step != p->times.step)
            return ps_fail(PS_INVALID, "%s and %s have different times", s->wave, s->fluid);
    }
    if (p->pressure.width == p->places.rows &&
        (p->fluid.rows == 0 || p->fluid.width == 3 * p->places.rows))
        return PS_OK;
    return ps_fail(
        PS_INVALID,
        "%s has %lld panels, but there are %lld pressures and %lld velocities at a time, "
        "expected one and three a panel",
        s->where, (long long)p->places.rows, (long long)p->pressure.width,
        (long long)p->fluid.width);
}

/* ---- what panels send ---- */

/* out = a direction that turns with the source. */
static void turned(const ps_sound *sound, double tau, const double a[3], double out[3])
{
    double x[3], from[3], velocity[3], acceleration[3];
    ps_sound arrow = *sound, origin = *sound;
    for (int k = 0; k < 3; ++k) {
        arrow.place[k] = sound->centre[k] + a[k];
        origin.place[k] = sound->centre[k];
    }
    ps_sound_motion(&arrow, tau, x, velocity, acceleration);
    ps_sound_motion(&origin, tau, from, velocity, acceleration);
    ps_subtract3(x, from, out);
}

/* rho0 Un dS and L dS at a time of the file: Un = v_n + (rho/rho0)(u_n - v_n), L = p n +
 * rho u (u_n - v_n), rho = rho0 + p/c^2. */
static void terms_at(const panels *p, int64_t i, int64_t row, double out[SIGNALS])
{
    double tau = p->times.start + (double)row * p->times.step, x[3], v[3], acceleration[3], n[3];
    const double *panel = p->places.values + COLUMNS * i;
    double speed = p->of->header->speed, pressure = p->pressure.values[row * p->pressure.width + i];
    double density = p->of->density + pressure / (speed * speed), through = 0;
    const double *u = v;
    ps_sound_motion(&p->sounds[i], tau, x, v, acceleration);
    turned(&p->sounds[i], tau, panel + 3, n);
    if (p->fluid.rows) {
        u = p->fluid.values + row * p->fluid.width + 3 * i;
        through = ps_dot3(u, n) - ps_dot3(v, n);
    }
    out[0] = panel[6] * (p->of->density * ps_dot3(v, n) + density * through);
    for (int k = 0; k < 3; ++k)
        out[k + 1] = panel[6] * (pressure * n[k] + density * u[k] * through);
}

/* Slopes of the sixth order inside, of the first at the quiet ends. */
static void fill_slopes(double *samples, int64_t rows, double step)
{
    for (int64_t k = 0; k < rows; ++k) {
        const double *s = samples + 2 * k;
        if (k >= 3 && k + 3 < rows)
            samples[2 * k + 1] =
                (45 * (s[2] - s[-2]) - 9 * (s[4] - s[-4]) + (s[6] - s[-6])) / (60 * step);
        else if (k > 0)
            samples[2 * k + 1] = (s[0] - s[-2]) / step;
    }
}

static ps_status make_sounds(panels *p)
{
    int64_t count = p->places.rows, rows = p->pressure.rows;
    PS_TRY(PS_ALLOC(&p->sounds, count, "panels"));
    PS_TRY(PS_ALLOC(&p->signals, SIGNALS * count, "panels"));
    PS_TRY(PS_ALLOC(&p->samples, 2 * SIGNALS * count * rows, "panels"));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; ++i) {
        p->sounds[i] = p->text->sound;
        p->sounds[i].panel = p->signals + SIGNALS * i;
        memcpy(p->sounds[i].place, p->places.values + COLUMNS * i, 3 * sizeof(double));
        double *samples = p->samples + 2 * SIGNALS * i * rows, terms[SIGNALS];
        for (int64_t r = 0; r < rows; ++r) {
            terms_at(p, i, r, terms);
            for (int s = 0; s < SIGNALS; ++s) samples[2 * (s * rows + r)] = terms[s];
        }
        for (int s = 0; s < SIGNALS; ++s) {
            fill_slopes(samples + 2 * s * rows, rows, p->times.step);
            p->signals[SIGNALS * i + s] = (ps_signal){.kind = PS_SIGNAL_RECORDED,
                                                      .amplitude = 1,
                                                      .samples = samples + 2 * s * rows,
                                                      .count = rows,
                                                      .start = p->times.start,
                                                      .step = p->times.step};
        }
    }
    return PS_OK;
}

/* ---- what is refused ---- */

static ps_status check_times(const panels *p, double nearest)
{
    const ps_incident_header *h = p->of->header;
    const char *path = p->text->wave;
    double end = p->times.start + (double)(p->pressure.rows - 1) * p->times.step, most = 0,
           first = 0;
    double needed = (double)(h->steps + SAMPLED_AROUND) * h->dt - nearest / h->speed;
    if (p->times.step * p->of->top > coarse)
        return ps_fail(
            PS_INVALID,
            "%s has steps of %.4g s, but mesh and march take waves up to %.4g Hz: %.4g s "
            "at most, as values between are interpolated",
            path, p->times.step, p->of->top / (2 * M_PI), coarse / p->of->top);
    if (end < needed)
        return ps_fail(PS_INVALID, "%s ends at %.6g s, but what is sent until %.6g s is heard",
                       path, end, needed);
    for (int64_t k = 0; k < p->pressure.rows * p->pressure.width; ++k) {
        most = fmax(most, fabs(p->pressure.values[k]));
        if (k < p->pressure.width) first = fmax(first, fabs(p->pressure.values[k]));
    }
    if (first <= start_level * most) return PS_OK;
    return ps_refuse(
        p->of->run, "loud-start",
        "%s begins with %.2g of its largest pressure: before there is nothing, and the "
        "step would be heard; fade it in",
        path, first / most);
}

/* The panels' own solid angle at a point: 1 inside of a surface that closes. */
static double around(const panels *p, const double x[3])
{
    double sum = 0, ray[3];
    for (int64_t i = 0; i < p->places.rows; ++i) {
        const double *row = p->places.values + COLUMNS * i;
        ps_subtract3(row, x, ray);
        double r = ps_norm3(ray);
        if (r > 0) sum += row[6] * ps_dot3(ray, row + 3) / (4 * M_PI * r * r * r);
    }
    return sum;
}

static ps_status check_places(const panels *p, double *nearest)
{
    const ps_surface_mesh *mesh = p->of->mesh;
    double speed = p->of->header->speed, largest = 0, fastest = 0;
    *nearest = INFINITY;
    for (int64_t i = 0; i < p->places.rows; ++i) {
        const double *x = p->sounds[i].place;
        fastest = fmax(fastest, ps_sound_speed(&p->sounds[i]));
        largest = fmax(largest, sqrt(p->places.values[COLUMNS * i + 6]));
        for (int64_t v = 0; v < mesh->vertex_count; ++v)
            *nearest = fmin(*nearest, ps_distance3(x, mesh->vertices + 3 * v));
        for (int m = 0; m < p->of->header->mirrors.count; ++m)
            if (ps_reflector_height(&p->of->header->mirrors.planes[m], x) < 0)
                return ps_fail(PS_INVALID, "%s: panel %lld is beyond the plane of --mirror",
                               p->text->where, (long long)i + 1);
        if (ps_is_inside(mesh, &p->of->header->mirrors, x))
            PS_TRY(ps_refuse(p->of->run, "inner-source", "%s: panel %lld is inside the closed body",
                             p->text->where, (long long)i + 1));
    }
    if (fastest >= mach_limit * speed)
        return ps_fail(PS_INVALID,
                       "--panels: they reach %.3g times the speed of sound; the retarded time is "
                       "found below %g times only",
                       fastest / speed, mach_limit);
    if (fabs(around(p, mesh->vertices)) > .5)
        return ps_fail(PS_INVALID,
                       "%s closes around the mesh: what its panels send is known outside of them "
                       "only",
                       p->text->where);
    if (*nearest < largest)
        PS_TRY(
            ps_refuse(p->of->run, "close-source",
                      "%s: panels of %.3g m come to %.3g m of the mesh: take smaller panels or a "
                      "surface farther away",
                      p->text->where, largest, *nearest));
    if (largest * a_wave * p->of->top > 2 * M_PI * speed)
        ps_warning(
            "%s: panels of %.3g m are less than %g a wavelength above %.4g Hz: errors of more "
            "than 1 %% there",
            p->text->where, largest, a_wave, speed / (a_wave * largest));
    if (fastest > 0) *nearest = 0;
    return PS_OK;
}

/* ---- what is heard ---- */

static double heard(const panels *p, const double x[3], double t)
{
    const ps_reflectors *mirrors = &p->of->header->mirrors;
    double sum = 0, y[3];
    for (int m = 0; m < ps_reflectors_images(mirrors); ++m) {
        double sign = ps_reflectors_sign(mirrors, m);
        ps_reflectors_point(mirrors, m, x, y);
        for (int64_t i = 0; i < p->places.rows; ++i)
            sum += sign * ps_sound_field(&p->sounds[i], p->of->header->speed, y, t);
    }
    return sum;
}

static void heard_gradient(const panels *p, const double x[3], double t, double out[3])
{
    double reach = 1e-3 * p->reach, ahead[3], behind[3];
    for (int d = 0; d < 3; ++d) {
        for (int k = 0; k < 3; ++k) {
            ahead[k] = x[k] + (k == d ? reach : 0);
            behind[k] = x[k] - (k == d ? reach : 0);
        }
        out[d] = (heard(p, ahead, t) - heard(p, behind, t)) / (2 * reach);
    }
}

static ps_status fill(const panels *p, sampled *out)
{
    const ps_incident_header *h = p->of->header;
    const ps_surface_mesh *mesh = p->of->mesh;
    bool hard = h->formulation == PS_SOUND_HARD;
    int64_t rows = h->steps + 1 + 2 * SAMPLED_AROUND, count = mesh->vertex_count;
    *out = (sampled){.quantity = hard ? SAMPLED_GRADIENT : SAMPLED_PRESSURE,
                     .mesh = mesh,
                     .triangles = p->of->triangles,
                     .header = *h,
                     .at_vertices = true,
                     .count = count,
                     .width = hard ? 3 * count : count};
    PS_TRY(PS_ALLOC(&out->values, rows * out->width, "what the panels send"));
    ps_progress progress;
    ps_progress_start(&progress, "panels", "steps", 0, rows);
    for (int64_t n = 0; n < rows; ++n) {
        double t = (double)(n - SAMPLED_AROUND) * h->dt, *row = out->values + n * out->width;
#pragma omp parallel for schedule(dynamic, 16)
        for (int64_t v = 0; v < count; ++v) {
            const double *x = mesh->vertices + 3 * v;
            if (hard)
                heard_gradient(p, x, t, row + 3 * v);
            else
                row[v] = heard(p, x, t);
        }
        ps_progress_update(&progress, n + 1);
    }
    ps_progress_end(&progress);
    return PS_OK;
}

static int64_t file_size(const char *path)
{
    struct stat info;
    return path[0] && stat(path, &info) == 0 ? (int64_t)info.st_size : 0;
}

/* A number of text or HDF5 has 4 bytes at least, here 8 (in text growing by halves), and a pressure
 * SIGNALS values with slopes. */
int64_t panels_bytes(const panels_of *of, const source_text *s)
{
    int64_t values = (of->header->steps + 1 + 2 * SAMPLED_AROUND) * of->mesh->vertex_count;
    if (of->header->formulation == PS_SOUND_HARD) values *= 3;
    return 8 * values + 20 * file_size(s->wave) + 4 * (file_size(s->fluid) + file_size(s->where));
}

ps_status panels_sample(const panels_of *of, const source_text *text, sampled *out)
{
    PS_SCOPED(release) panels p = {.of = of, .text = text};
    double nearest;
    p.reach = ps_triangles_mean_edge(of->triangles, of->mesh->triangle_count);
    PS_TRY(read_files(&p));
    PS_TRY(make_sounds(&p));
    PS_TRY(check_places(&p, &nearest));
    PS_TRY(check_times(&p, nearest));
    return fill(&p, out);
}
