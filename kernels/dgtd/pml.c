#include "kernels/dgtd/pml.h"

#include <math.h>
#include <string.h>

#include "runtime/search.h"

enum { THREADED_ROWS = 16 };

/* ---- the profile ---- */

double ps_dgtd_pml_sigma(double reflection, double grading, double thickness, double slowness)
{
    return -(grading + 1) * log(reflection) / (2 * thickness * slowness);
}

/* u^grading; with rows, its mean over the one that u is in. */
static double grown(double u, double grading, double rows)
{
    if (!(rows > 0) || !(u > 0)) return pow(u, grading);
    double row = fmin(floor(u * rows), rows - 1), more = grading + 1;
    return (pow(row + 1, more) - pow(row, more)) / (more * pow(rows, grading));
}

static double centroid(const double corners[4][3], int c)
{
    return (corners[0][c] + corners[1][c] + corners[2][c] + corners[3][c]) / 4;
}

/* Depth beyond a side of the box as a part of the thickness there, 0 inside; *side of the two. */
static double box_depth(const ps_dgtd_pml_profile *p, double x, int d, int *side)
{
    double depth[2] = {p->inner[0][d] - x, x - p->inner[1][d]};
    *side = depth[1] > depth[0];
    double thickness = p->thickness[*side][d];
    return thickness > 0 && depth[*side] > 0 ? fmin(depth[*side] / thickness, 1) : 0;
}

static void stretch_box(const ps_dgtd_pml_profile *p, const double corners[4][3], double kappa[3],
                        double sigma[3])
{
    for (int d = 0; d < 3; ++d) {
        int side;
        double low = INFINITY, high = -INFINITY, u = box_depth(p, centroid(corners, d), d, &side);
        for (int v = 0; v < 4; ++v) {
            low = fmin(low, corners[v][d]);
            high = fmax(high, corners[v][d]);
        }
        double rows = p->rows[side][d];
        if (rows > 0) u = box_depth(p, (low + high) / 2, d, &side);
        double part = grown(u, p->grading, rows);
        kappa[d] = 1 + (p->kappa - 1) * part;
        sigma[d] = p->sigma[side][d] * part;
    }
}

/* The mean of the directions of vertices, those in line with the centre as one: the three
 * tetrahedra of a prism have one direction. */
static void mean_direction(const double corners[4][3], const double centre[3], double out[3])
{
    double unit[4][3], length = 0;
    memset(out, 0, 3 * sizeof *out);
    for (int v = 0; v < 4; ++v) {
        double square = 0;
        for (int c = 0; c < 3; ++c) square += pow(corners[v][c] - centre[c], 2);
        for (int c = 0; c < 3; ++c) unit[v][c] = (corners[v][c] - centre[c]) / sqrt(square);
    }
    for (int v = 0; v < 4; ++v) {
        int same = 0;
        for (int w = 0; w < 4; ++w) {
            double off = 0;
            for (int c = 0; c < 3; ++c) off = fmax(off, fabs(unit[v][c] - unit[w][c]));
            same += off < 1e-6;
        }
        for (int c = 0; c < 3; ++c) out[c] += unit[v][c] / same;
    }
    for (int c = 0; c < 3; ++c) length += out[c] * out[c];
    for (int c = 0; c < 3; ++c) out[c] /= sqrt(length);
}

static double distance(const double point[3], const double centre[3])
{
    double square = 0;
    for (int c = 0; c < 3; ++c) square += pow(point[c] - centre[c], 2);
    return sqrt(square);
}

static void stretch_ball(const ps_dgtd_pml_profile *p, const double corners[4][3], double kappa[3],
                         double sigma[3])
{
    const double rows = p->rows[0][0], thickness = p->thickness[0][0], more = p->grading + 1;
    double middle[3], low = INFINITY, high = 0, r, u;
    for (int c = 0; c < 3; ++c) middle[c] = centroid(corners, c);
    for (int v = 0; v < 4; ++v) {
        low = fmin(low, distance(corners[v], p->centre));
        high = fmax(high, distance(corners[v], p->centre));
    }
    r = rows > 0 ? (low + high) / 2 : distance(middle, p->centre);
    u = fmin(fmax((r - p->radius) / thickness, 0), 1);
    double part = grown(u, p->grading, rows), integral = thickness * pow(u, more) / more;
    kappa[0] = 1 + (p->kappa - 1) * part;
    sigma[0] = p->sigma[0][0] * part;
    kappa[1] = kappa[2] = 1 + (p->kappa - 1) * integral / r; /* r~/r, with r~ = int s dr */
    sigma[1] = sigma[2] = p->sigma[0][0] * integral / r;
}

void ps_dgtd_pml_stretch(const ps_dgtd_pml_profile *p, const double corners[4][3], double kappa[3],
                         double sigma[3], double radial[3])
{
    memset(radial, 0, 3 * sizeof *radial);
    if (p->shape == PS_DGTD_PML_BOX) {
        stretch_box(p, corners, kappa, sigma);
        return;
    }
    stretch_ball(p, corners, kappa, sigma);
    mean_direction(corners, p->centre, radial);
}

/* ---- rows ---- */

static int has_layer(const ps_dgtd_system *system, const uint8_t *layer, int64_t group)
{
    int lanes = ps_dgtd_lanes(system->precision), has = 0;
    for (int64_t e = group * lanes; e < (group + 1) * lanes && e < system->elements; ++e)
        has |= layer[e];
    return has;
}

void ps_dgtd_pml_count(ps_dgtd_pml *pml, const ps_dgtd_system *system, const uint8_t *layer)
{
    pml->rows = 0;
    for (int64_t g = 0; g < system->groups; ++g) pml->rows += has_layer(system, layer, g) != 0;
}

void ps_dgtd_pml_size(const ps_dgtd_pml *pml, const ps_dgtd_system *system, ps_dgtd_pml_shape shape,
                      ps_dgtd_pml_bytes *bytes)
{
    size_t lanes = (size_t)ps_dgtd_lanes(system->precision), rows = (size_t)pml->rows;
    size_t field = (size_t)ps_dgtd_group_bytes(system->order);
    bytes->groups = rows * sizeof *pml->groups;
    bytes->layer = rows * lanes;
    bytes->factors = rows * PS_DGTD_PML_FACTORS * lanes * sizeof *pml->factors;
    bytes->frames = shape == PS_DGTD_PML_BALL ? rows * 9 * lanes * sizeof *pml->frames : 0;
    bytes->state = rows * PS_DGTD_PML_STATES * field / 3;
    bytes->former = rows * field;
}

/* ---- filling ---- */

static void corners_of(const ps_dgtd_body *body, int64_t e, double corners[4][3])
{
    for (int v = 0; v < 4; ++v)
        memcpy(corners[v], body->vertices + 3 * (int64_t)body->tetrahedra[4 * e + v],
               sizeof corners[v]);
}

/* The filters of 1/s and s; numerator and denominator of s in delays: (n0 + n1 q)/(d0 + d1 q). */
static void fill_filter(double *out, int lanes, double kappa, double sigma, double alpha, double dt)
{
    double d0 = 1 + alpha * dt / 2, d1 = alpha * dt / 2 - 1;
    double n0 = kappa * d0 + sigma * dt / 2, n1 = kappa * d1 + sigma * dt / 2;
    const double f[6] = {d0 / n0, d1 / n0, n1 / n0, n0 / d0, n1 / d0, d1 / d0};
    for (int k = 0; k < 6; ++k) out[k * lanes] = f[k];
}

/* m_0 = r^, the others across. */
static void fill_frame(double *out, int lanes, const double radial[3])
{
    double m[3][3] = {{radial[0], radial[1], radial[2]}}, length = 0;
    int least = 0;
    for (int c = 1; c < 3; ++c)
        if (fabs(m[0][c]) < fabs(m[0][least])) least = c;
    for (int c = 0; c < 3; ++c) m[1][c] = (c == least) - m[0][least] * m[0][c];
    for (int c = 0; c < 3; ++c) length += m[1][c] * m[1][c];
    for (int c = 0; c < 3; ++c) m[1][c] /= sqrt(length);
    for (int c = 0; c < 3; ++c) {
        int a = (c + 1) % 3, b = (c + 2) % 3;
        m[2][c] = m[0][a] * m[1][b] - m[0][b] * m[1][a];
    }
    for (int k = 0; k < 9; ++k) out[k * lanes] = m[k / 3][k % 3];
}

void ps_dgtd_pml_fill(ps_dgtd_pml *pml, const ps_dgtd_pml_profile *p, const ps_dgtd_system *system,
                      const ps_dgtd_body *body, const uint8_t *layer, double dt)
{
    int lanes = ps_dgtd_lanes(system->precision);
    ps_dgtd_pml_bytes bytes;
    ps_dgtd_pml_size(pml, system, p->shape, &bytes);
    memset(pml->layer, 0, bytes.layer);
    memset(pml->factors, 0, bytes.factors);
    if (bytes.frames) memset(pml->frames, 0, bytes.frames);
    pml->turned = p->shape == PS_DGTD_PML_BALL;
    for (int64_t g = 0, row = 0; g < system->groups; ++g) {
        if (!has_layer(system, layer, g)) continue;
        pml->groups[row] = g;
        for (int l = 0; l < lanes; ++l) {
            int64_t e = g * lanes + l;
            double corners[4][3], kappa[3], sigma[3], radial[3];
            if (e >= system->elements || !layer[e]) continue;
            pml->layer[row * lanes + l] = 1;
            corners_of(body, e, corners);
            ps_dgtd_pml_stretch(p, (const double(*)[3])corners, kappa, sigma, radial);
            for (int k = 0; k < 3; ++k)
                fill_filter(pml->factors + (row * PS_DGTD_PML_FACTORS + 6 * k) * lanes + l, lanes,
                            kappa[k], sigma[k], p->alpha, dt);
            if (pml->turned) fill_frame(pml->frames + row * 9 * lanes + l, lanes, radial);
        }
        ++row;
    }
}

/* ---- half steps ---- */

int64_t ps_dgtd_pml_row(const ps_dgtd_pml *pml, int64_t group)
{
    int64_t low;
    PS_LOWER_BOUND(low, 0, pml->rows, at, pml->groups[at] < group);
    return low;
}

#define LEAF static inline
#define real float
#define LANES PS_DGTD_LANES_F32
#define NAME(x) x##_f32
#include "kernels/dgtd/pml_body.h"
#undef real
#undef LANES
#undef NAME

#define real double
#define LANES PS_DGTD_LANES_F64
#define NAME(x) x##_f64
#include "kernels/dgtd/pml_body.h"

void ps_dgtd_pml_keep(const ps_dgtd_pml *pml, const ps_dgtd_system *system, const void *field,
                      int64_t begin, int64_t end)
{
    size_t bytes = (size_t)ps_dgtd_group_bytes(system->order);
    int64_t first = ps_dgtd_pml_row(pml, begin), last = ps_dgtd_pml_row(pml, end);
#pragma omp parallel for schedule(static) if (last - first > THREADED_ROWS)
    for (int64_t row = first; row < last; ++row)
        memcpy((char *)pml->former + (size_t)row * bytes,
               (const char *)field + (size_t)pml->groups[row] * bytes, bytes);
}

void ps_dgtd_pml_apply(const ps_dgtd_pml *pml, const ps_dgtd_system *system, ps_dgtd_field which,
                       void *field, int64_t begin, int64_t end)
{
    int64_t first = ps_dgtd_pml_row(pml, begin), last = ps_dgtd_pml_row(pml, end);
#pragma omp parallel for schedule(static) if (last - first > THREADED_ROWS)
    for (int64_t row = first; row < last; ++row)
        if (system->precision == PS_SINGLE)
            filter_f32(pml, system, which, field, row);
        else
            filter_f64(pml, system, which, field, row);
}
