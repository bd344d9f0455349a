#include "preprocess/incident/incident.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/columns_hdf5.h"
#include "kernels/common/vec3.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

static const char *const names[] = {"pressure", "slope", "gradient", "velocity"};
static const double place_tolerance = 1e-3, time_tolerance = 1e-6, start_level = 1e-4;
static const double energy_level = .01;

/* ---- text ---- */

static ps_status take_part(const char *text, const char *part, sampled *s, bool *known)
{
    int q = 0;
    if (!strcmp(part, "resample")) return s->resample = true, PS_OK;
    if (!strncmp(part, "points=", 7))
        return snprintf(s->points, sizeof s->points, "%s", part + 7), PS_OK;
    if (strncmp(part, "quantity=", 9) == 0) {
        while (q < 4 && strcmp(part + 9, names[q]) != 0) ++q;
        s->quantity = (sampled_quantity)q;
        *known = q < 4;
    }
    if (*known) return PS_OK;
    return ps_fail(PS_USAGE,
                   "--samples \"%s\": \"%s\" is none of quantity=pressure, slope, gradient or "
                   "velocity, points=FILE, resample",
                   text, part);
}

ps_status sampled_parse(const char *text, sampled *s)
{
    char copy[1200], *rest = NULL, *part;
    bool known = false;
    memset(s, 0, sizeof *s);
    snprintf(copy, sizeof copy, "%s", text);
    part = strtok_r(copy, ":", &rest);
    snprintf(s->file, sizeof s->file, "%s", part ? part : "");
    while ((part = strtok_r(NULL, ":", &rest))) PS_TRY(take_part(text, part, s, &known));
    if (known && s->file[0]) return PS_OK;
    return ps_fail(PS_USAGE,
                   "--samples \"%s\" is not FILE:quantity=pressure|slope|gradient|velocity", text);
}

void sampled_release(sampled *s)
{
    free(s->values);
    s->values = NULL;
}

/* ---- places ---- */

/* place[points]: the triangle or vertex of each. */
static ps_status find_places(sampled *s, int64_t **place)
{
    PS_SCOPED(table_release) table points = {0};
    PS_SCOPED_MEMORY double *centroids = NULL;
    const ps_surface_mesh *mesh = s->mesh;
    const char *path = s->points[0] ? s->points : s->file;
    if (!s->points[0] && !ps_is_hdf5(s->file))
        return ps_fail(PS_USAGE,
                       "--samples: %s is text: say where its columns are with "
                       ":points=FILE, three numbers a line",
                       s->file);
    PS_TRY(table_read(path, "points", &points));
    s->at_vertices = points.rows == mesh->vertex_count;
    s->count = s->at_vertices ? mesh->vertex_count : mesh->triangle_count;
    if (points.width != 3 || points.rows != s->count)
        return ps_fail(PS_INVALID,
                       "%s: %lld points of %lld numbers; the mesh has %lld vertices and %lld "
                       "triangles: give its vertices or its triangles' centroids, each once",
                       path, (long long)points.rows, (long long)points.width,
                       (long long)mesh->vertex_count, (long long)mesh->triangle_count);
    PS_TRY(PS_ALLOC(place, s->count, "places"));
    PS_TRY(PS_ALLOC(&centroids, 3 * mesh->triangle_count, "places"));
    double edge = ps_triangles_mean_edge(s->triangles, mesh->triangle_count);
    for (int64_t t = 0; t < mesh->triangle_count; ++t)
        memcpy(centroids + 3 * t, s->triangles[t].centroid, 3 * sizeof *centroids);
    return table_match(path, &points, s->at_vertices ? mesh->vertices : centroids, s->count,
                       place_tolerance * edge, *place);
}

/* ---- times ---- */

static ps_status check_span(const ps_run *run, const sampled *s, const table *series,
                            const even_times *times)
{
    double dt = s->header.dt, end = times->start + (double)(series->rows - 1) * times->step;
    double needed = (double)(s->header.steps + SAMPLED_AROUND) * dt, most = 0, first = 0;
    if (end < needed - time_tolerance * dt)
        return ps_fail(
            PS_INVALID,
            "%s ends at %.9g s: %lld steps of %.9g s need %.9g s (three steps more); what "
            "comes later is not known",
            s->file, end, (long long)s->header.steps, dt, needed);
    for (int64_t i = 0; i < series->rows * series->width; ++i) {
        double t = times->start + (double)(i / series->width) * times->step;
        most = fmax(most, fabs(series->values[i]));
        if (t <= 0 || i < series->width) first = fmax(first, fabs(series->values[i]));
    }
    if (first <= start_level * most) return PS_OK;
    return ps_refuse(run, "loud-start",
                     "%s: %.2g of the largest value is there where it begins or at t = 0, but all "
                     "must be quiet then; begin it earlier, or fade it in",
                     s->file, first / most);
}

/* Row of the file that is at t = n dt; false: there is none. */
static bool row_at(const even_times *times, double t, double dt, int64_t *row)
{
    double at = (t - times->start) / times->step, whole = round(at);
    *row = (int64_t)whole;
    return fabs(at - whole) * times->step <= time_tolerance * dt;
}

/* What lies above `top`, of up to 64 of the columns. */
static double energy_above(const table *series, const even_times *times, double top)
{
    const low_pass filter = low_pass_of(top, 1 / times->step);
    int64_t every = (series->width + 63) / 64;
    if (every % 3 == 0) ++every; /* of gradients not one component alone */
    double all = 0, lost = 0;
#pragma omp parallel for schedule(static) reduction(+ : all) reduction(+ : lost)
    for (int64_t c = 0; c < series->width; c += every) {
        const even_samples in = {series->values + c, series->rows, series->width, times->start,
                                 1 / times->step};
        for (int64_t r = 0; r < series->rows; ++r) {
            double q = series->values[r * series->width + c];
            double d = q - low_passed(&in, &filter, times->start + (double)r * times->step);
            all += q * q;
            lost += d * d;
        }
    }
    return all > 0 ? lost / all : 0;
}

/* The columns at t = (n - 3) dt of row n, in the mesh's order; out of the file: 0. */
static ps_status take_times(sampled *s, const table *series, const even_times *times, double top,
                            const int64_t *place)
{
    int64_t rows = s->header.steps + 1 + 2 * SAMPLED_AROUND, per = series->width / s->count, at;
    double dt = s->header.dt;
    const low_pass filter = low_pass_of(top, 1 / times->step);
    if (!s->resample &&
        (fabs(times->step - dt) > time_tolerance * dt || !row_at(times, 0, dt, &at)))
        return ps_fail(PS_INVALID,
                       "%s has steps of %.9g s from %.9g s on, the march has %.9g s from 0 on: say "
                       ":resample to low-pass and resample it",
                       s->file, times->step, times->start, dt);
    s->width = series->width;
    PS_TRY(PS_ALLOC(&s->values, rows * s->width, "the samples"));
#pragma omp parallel for schedule(static)
    for (int64_t c = 0; c < series->width; ++c) {
        const even_samples in = {series->values + c, series->rows, series->width, times->start,
                                 1 / times->step};
        int64_t to = place[c / per] * per + c % per, row;
        for (int64_t n = 0; n < rows; ++n) {
            double t = (double)(n - SAMPLED_AROUND) * dt, *out = s->values + n * s->width + to;
            if (s->resample)
                *out = low_passed(&in, &filter, t);
            else if (row_at(times, t, dt, &row) && row >= 0 && row < series->rows)
                *out = series->values[row * series->width + c];
        }
    }
    return PS_OK;
}

/* Gradients at centroids become slopes along the normal. */
static void project(sampled *s)
{
    int64_t rows = s->header.steps + 1 + 2 * SAMPLED_AROUND;
    if (s->quantity != SAMPLED_GRADIENT || s->at_vertices) return;
    for (int64_t k = 0; k < rows * s->count; ++k)
        s->values[k] = ps_dot3(s->values + 3 * k, s->triangles[k % s->count].normal);
    s->width = s->count;
}

ps_status sampled_read(const ps_run *run, const ps_incident_header *header,
                       const ps_surface_mesh *mesh, const ps_triangle *triangles, double top,
                       sampled *s)
{
    PS_SCOPED(table_release) table series = {0};
    PS_SCOPED_MEMORY int64_t *place = NULL;
    even_times times;
    s->header = *header;
    s->mesh = mesh;
    s->triangles = triangles;
    bool hard = header->formulation == PS_SOUND_HARD;
    if (hard == (s->quantity == SAMPLED_PRESSURE))
        return ps_fail(PS_INVALID, "--samples: the loads of %s are of %s, not of %s",
                       ps_formulation_name(header->formulation),
                       hard ? "slopes, gradients or velocities" : "pressures", names[s->quantity]);
    PS_TRY(find_places(s, &place));
    PS_TRY(table_read_series(s->file, names[s->quantity], &series, &times));
    int64_t per = s->quantity == SAMPLED_GRADIENT ? 3 : 1;
    if (series.width != per * s->count)
        return ps_fail(PS_INVALID, "%s: %lld values at a time for %lld points, expected %lld",
                       s->file, (long long)series.width, (long long)s->count,
                       (long long)(per * s->count));
    PS_TRY(check_span(run, s, &series, &times));
    s->cut = energy_above(&series, &times, top);
    if (s->cut > energy_level)
        PS_TRY(ps_refuse(run, "short-pulse",
                         "%s: %.2g %% of its energy lies above %.4g Hz, up to which mesh and step "
                         "are accurate; refine them, or filter it",
                         s->file, 100 * s->cut, top / (2 * M_PI)));
    PS_TRY(take_times(s, &series, &times, top, place));
    project(s);
    return PS_OK;
}

/* ---- loads ---- */

static const double *row_of(const sampled *s, int64_t n)
{
    return s->values + (n + SAMPLED_AROUND) * s->width;
}

/* Of column c over the step before t_n: the integral of the quintic through six samples. */
static double step_integral(const sampled *s, int64_t n, int64_t c)
{
    static const double weight[6] = {11, -93, 802, 802, -93, 11};
    double sum = 0;
    for (int k = 0; k < 6; ++k) sum += weight[k] * row_of(s, n - 3 + k)[c];
    return s->header.dt * sum / 1440;
}

static void add_soft(const sampled *s, int64_t n, double *row)
{
    bool before = s->header.formulation == PS_SOUND_SOFT_M && n > 1;
    for (int64_t t = 0; t < s->mesh->triangle_count; ++t) {
        double sum = 0;
        for (int a = 0; a < 3; ++a) {
            int64_t c = s->at_vertices ? s->mesh->triangles[3 * t + a] : t;
            sum += row_of(s, n)[c] - (before ? row_of(s, n - 1)[c] : 0);
        }
        row[t] -= s->triangles[t].area / 3 * sum;
    }
}

/* d_n p at corner a of a triangle, over the step. */
static double corner_slope(const sampled *s, int64_t n, int64_t t, int a)
{
    int64_t v = s->mesh->triangles[3 * t + a];
    double sum = 0;
    if (!s->at_vertices) return step_integral(s, n, t);
    if (s->quantity != SAMPLED_GRADIENT) return step_integral(s, n, v);
    for (int k = 0; k < 3; ++k) sum += s->triangles[t].normal[k] * step_integral(s, n, 3 * v + k);
    return sum;
}

void sampled_add_load(const sampled *s, int64_t n, double *row)
{
    if (!s->values || s->quantity == SAMPLED_VELOCITY) return;
    if (s->header.formulation != PS_SOUND_HARD) {
        add_soft(s, n, row);
        return;
    }
    for (int64_t t = 0; t < s->mesh->triangle_count; ++t) {
        double slope[3], all = 0, area = s->triangles[t].area;
        for (int a = 0; a < 3; ++a) all += slope[a] = corner_slope(s, n, t, a);
        for (int a = 0; a < 3; ++a) /* int phi_a phi_b = area (1 + [a = b])/12 */
            row[s->mesh->triangles[3 * t + a]] += area / 12 * (all + slope[a]);
    }
}

/* ---- velocities ---- */

/* v_n of triangle t at step n, n from -3 on. */
static double velocity_of(const sampled *s, int64_t t, int64_t n)
{
    const double *row = row_of(s, n);
    const int32_t *corners = s->mesh->triangles + 3 * t;
    return s->at_vertices ? (row[corners[0]] + row[corners[1]] + row[corners[2]]) / 3 : row[t];
}

/* What is left of v_n once the modes that there are were taken out. */
typedef struct residue {
    int64_t rows, count;
    double *values; /* [steps + 1][triangles][2]: v, and dv/dt */
} residue;

static void fill_remainder(const sampled *s, residue *left)
{
    static const double weight[3] = {45, -9, 1};
#pragma omp parallel for schedule(static)
    for (int64_t n = 0; n < left->rows; ++n)
        for (int64_t t = 0; t < left->count; ++t) {
            double *v = left->values + 2 * (n * left->count + t);
            v[0] = velocity_of(s, t, n);
            for (int k = 0; k < 3; ++k)
                v[1] += weight[k] * (velocity_of(s, t, n + k + 1) - velocity_of(s, t, n - k - 1)) /
                        (60 * s->header.dt);
        }
}

/* Cross approximation (Bebendorf 2000) with whole pivoting: the column of the largest value is the
 * signal, its row the pattern; what they make is taken out. Returns the largest value. */
static double take_mode(residue *left, double *pattern, double *signal, double least)
{
    int64_t best = 0, count = left->count;
    for (int64_t k = 0; k < left->rows * count; ++k)
        if (fabs(left->values[2 * k]) > fabs(left->values[2 * best])) best = k;
    double pivot = left->values[2 * best];
    if (!(fabs(pivot) > least)) return fabs(pivot);
    for (int64_t t = 0; t < count; ++t)
        pattern[t] = left->values[2 * (best / count * count + t)] / pivot;
    for (int64_t n = 0; n < left->rows; ++n)
        memcpy(signal + 2 * n, left->values + 2 * (n * count + best % count), 2 * sizeof *signal);
#pragma omp parallel for schedule(static)
    for (int64_t n = 0; n < left->rows; ++n)
        for (int64_t t = 0; t < count; ++t)
            for (int k = 0; k < 2; ++k)
                left->values[2 * (n * count + t) + k] -= pattern[t] * signal[2 * n + k];
    return fabs(pivot);
}

static void release_remainder(residue *left) { free(left->values); }

ps_status sampled_velocity(const sampled *s, double density, ps_surface_velocity *out)
{
    PS_SCOPED(release_remainder)
    residue left = {.rows = s->header.steps + 1, .count = s->mesh->triangle_count};
    int64_t most = left.rows < left.count ? left.rows : left.count;
    double largest = 0;
    *out = (ps_surface_velocity){
        .modes = most, .triangle_count = left.count, .steps = s->header.steps, .density = density};
    PS_TRY(PS_ALLOC(&left.values, 2 * left.rows * left.count, "the velocities"));
    PS_TRY(ps_surface_velocity_init(out));
    fill_remainder(s, &left);
    for (out->modes = 0; out->modes < most; ++out->modes) {
        double pivot = take_mode(&left, out->patterns + out->modes * left.count,
                                 out->signals + 2 * out->modes * left.rows, 1e-6 * largest);
        if (out->modes == 0) largest = pivot;
        if (!(pivot > 1e-6 * largest)) break;
    }
    if (out->modes > 0) return PS_OK;
    return ps_fail(PS_INVALID, "%s: nothing moves", s->file);
}
