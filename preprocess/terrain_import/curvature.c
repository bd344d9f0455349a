/*
 * What a flat frame costs a geographic model: at samples of its stations the flat prisms' downward
 * attraction is compared with that of the same cells as prisms that stand on the ellipsoid, each in
 * its own east, north and up, cut until none is wider than half a minute of arc near the station
 * (L. Uieda, V. Barbosa, C. Braitenberg, Geophysics 81 (2016) F41-F48, cut tesseroids likewise).
 */
#include <math.h>
#include <stdlib.h>

#include "kernels/common/prism_field.h"
#include "preprocess/terrain_import/terrain.h"
#include "runtime/memory.h"

static const double degree = 0.017453292519943295;
/* WGS 84. */
static const double semi_axis = 6378137, flattening = 1 / 298.257223563;
static const double newton = 6.67430e-11, mgal = 1e5;

/* Squared eccentricity. */
static double eccentricity(void) { return flattening * (2 - flattening); }

void ellipsoid_radii(double latitude, double out[2])
{
    double s = sin(degree * latitude), w = 1 - eccentricity() * s * s;
    out[0] = semi_axis / sqrt(w);
    out[1] = semi_axis * (1 - eccentricity()) / (w * sqrt(w));
}

/* Place and axes (east, north, up) of a point, earth-centred. */
typedef struct site {
    double place[3], axis[3][3];
} site;

static void site_of(double longitude, double latitude, double height, site *out)
{
    double radii[2], l = degree * longitude, p = degree * latitude;
    ellipsoid_radii(latitude, radii);
    double cl = cos(l), sl = sin(l), cp = cos(p), sp = sin(p);
    *out = (site){{(radii[0] + height) * cp * cl, (radii[0] + height) * cp * sl,
                   (radii[0] * (1 - eccentricity()) + height) * sp},
                  {{-sl, cl, 0}, {-sp * cl, -sp * sl, cp}, {cp * cl, cp * sl, sp}}};
}

/* Components of an earth-centred vector along the axes of a site. */
static void turn(const site *at, const double v[3], double out[3])
{
    for (int d = 0; d < 3; ++d)
        out[d] = at->axis[d][0] * v[0] + at->axis[d][1] * v[1] + at->axis[d][2] * v[2];
}

typedef struct block {
    double longitude, latitude, step[2]; /* degrees */
    double low, high, density;
} block;

/* Downward attraction, without G, of a block as one prism of its own frame. */
static double upright(const block *b, const site *station)
{
    site own;
    double radii[2], middle = (b->low + b->high) / 2, off[3], place[3], up[3], out[4] = {0};
    site_of(b->longitude, b->latitude, middle, &own);
    ellipsoid_radii(b->latitude, radii);
    double half[3] = {(radii[0] + middle) * cos(degree * b->latitude) * degree * b->step[0] / 2,
                      (radii[1] + middle) * degree * b->step[1] / 2, (b->high - b->low) / 2};
    for (int d = 0; d < 3; ++d) off[d] = station->place[d] - own.place[d];
    turn(&own, off, place);
    turn(&own, station->axis[2], up);
    double size = 2 * fmax(half[0], fmax(half[1], half[2]));
    double r2 = place[0] * place[0] + place[1] * place[1] + place[2] * place[2];
    if (r2 > 2500 * size * size) { /* a point: off by its size over the distance squared, 1e-4 */
        double w = 8 * half[0] * half[1] * half[2] * b->density / (r2 * sqrt(r2));
        return w * (place[0] * up[0] + place[1] * up[1] + place[2] * up[2]);
    }
    double low[3] = {-half[0], -half[1], -half[2]};
    const ps_prism_set set = {
        1, {&low[0], &low[1], &low[2]}, {&half[0], &half[1], &half[2]}, {&b->density, NULL, NULL}};
    ps_prism_field_functions_here()->add(PS_PRISM_GRAVITY, &set, 0, 1, place, out);
    return -(out[1] * up[0] + out[2] * up[1] + out[3] * up[2]);
}

/* Cut where it is wide and near. */
static double standing(const block *b, const site *station)
{
    site own;
    double distance = 0, wide = fmax(b->step[0], b->step[1]), sum = 0;
    site_of(b->longitude, b->latitude, b->high, &own);
    for (int d = 0; d < 3; ++d)
        distance += (station->place[d] - own.place[d]) * (station->place[d] - own.place[d]);
    int parts =
        wide > 0.5 / 60 && sqrt(distance) < 10 * wide * 111e3 ? (int)fmin(ceil(wide * 120), 64) : 1;
    for (int k = 0; k < parts * parts; ++k) {
        block part = *b;
        part.step[0] /= parts, part.step[1] /= parts;
        part.longitude += ((k % parts) - 0.5 * (parts - 1)) * part.step[0];
        part.latitude += ((double)(k / parts) - 0.5 * (parts - 1)) * part.step[1];
        sum += upright(&part, station);
    }
    return sum;
}

static void from_frame(const terrain *t, const double p[2], double out[2])
{
    for (int d = 0; d < 2; ++d) out[d] = t->place[d] + p[d] / t->width[d] * t->top.step[d];
}

static double standing_sum(const terrain *t, const double station[3])
{
    double sum = 0, place[2];
    site at;
    from_frame(t, station, place);
    site_of(place[0], place[1], station[2], &at);
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (int64_t i = 0; i < t->prisms; ++i) {
        const double *p = t->prism + PRISM_WIDTH * i;
        int64_t x = t->cell[i] % t->top.count[0], y = t->cell[i] / t->top.count[0];
        const block b = {t->top.first[0] + t->top.step[0] * (double)x,
                         t->top.first[1] + t->top.step[1] * (double)y,
                         {t->top.step[0], t->top.step[1]},
                         p[4],
                         p[5],
                         p[6]};
        sum += standing(&b, &at);
    }
    return newton * mgal * sum;
}

/* columns: the prisms by columns. */
static double flat_sum(const terrain *t, const ps_prism_set *set, const double station[3])
{
    double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (int64_t first = 0; first < t->prisms; first += 4096) {
        double out[4] = {0};
        int64_t end = first + 4096 < t->prisms ? first + 4096 : t->prisms;
        ps_prism_field_functions_here()->add(PS_PRISM_GRAVITY, set, first, end, station, out);
        sum -= out[3];
    }
    return newton * mgal * sum;
}

/* Five by five of the cells, or the next that have ground; or 25 of the stations. */
enum { A_SIDE = 5 };
static void sample(const terrain *t, int k, double out[3])
{
    const int64_t *n = t->top.count;
    if (t->stations) {
        int64_t at = (int64_t)((double)k / (A_SIDE * A_SIDE - 1) * (double)(t->stations - 1));
        for (int d = 0; d < 3; ++d) out[d] = t->station[3 * at + d];
        return;
    }
    int64_t x = (n[0] - 1) * (k % A_SIDE) / (A_SIDE - 1);
    int64_t y = (n[1] - 1) * (k / A_SIDE) / (A_SIDE - 1);
    int64_t cell = y * n[0] + x;
    while (isnan(terrain_ground(t, cell))) cell = (cell + 1) % (n[0] * n[1]);
    terrain_centre(t, cell, out);
    out[2] = terrain_ground(t, cell) + 1;
}

static void measure(terrain *t, double *columns)
{
    ps_prism_set set = {.count = t->prisms, .weight = {columns + 6 * t->prisms}};
    for (int d = 0; d < 3; ++d) {
        set.low[d] = columns + 2 * d * t->prisms;
        set.high[d] = columns + (2 * d + 1) * t->prisms;
    }
    for (int64_t i = 0; i < t->prisms; ++i)
        for (int d = 0; d < PRISM_WIDTH; ++d)
            columns[d * t->prisms + i] = t->prism[PRISM_WIDTH * i + d];
    for (int k = 0; k < A_SIDE * A_SIDE; ++k) {
        double at[3];
        sample(t, k, at);
        t->error = fmax(t->error, fabs(flat_sum(t, &set, at) - standing_sum(t, at)));
        ++t->samples;
    }
}

ps_status curvature_check(terrain *t)
{
    double *columns;
    PS_TRY(PS_ALLOC(&columns, PRISM_WIDTH * t->prisms, "prisms by columns"));
    measure(t, columns);
    free(columns);
    if (t->error <= t->accuracy) return PS_OK;
    return ps_fail(PS_INACCURATE,
                   "%s: prisms in one flat frame are off by up to %.3g mGal at %lld samples, "
                   "against cells that stand on the ellipsoid; --accuracy is %.3g: take a smaller "
                   "region (the error grows with its width of %.4g x %.4g km), or allow it",
                   t->top.path, t->error, (long long)t->samples, t->accuracy,
                   1e-3 * t->width[0] * (double)t->top.count[0],
                   1e-3 * t->width[1] * (double)t->top.count[1]);
}
