#include <math.h>
#include <string.h>

#include "kernels/dgtd/mass_average.h"
#include "runtime/isa.h"

typedef double sums __attribute__((vector_size(32))); /* mass, power, tissue voxels, 0 */
enum { MASS, POWER, TISSUE };

static const double MOST_AIR = .1, NEAR_SMALLEST = 1.05, EXACT = 1e-9;

/* Where a box ends along an axis, as weights of four entries of the table. */
typedef struct ends {
    int64_t at[4];
    double weight[4];
} ends;

static inline void locate(ends *e, double low, double high, int64_t size, int64_t stride)
{
    const double end[2] = {fmin(fmax(low, 0), (double)size), fmin(fmax(high, 0), (double)size)};
    for (int k = 0; k < 2; ++k) {
        int64_t i = (int64_t)end[k];
        if (i == size) --i;
        double f = end[k] - (double)i, sign = k ? 1 : -1;
        e->at[2 * k] = i * stride;
        e->at[2 * k + 1] = (i + 1) * stride;
        e->weight[2 * k] = sign * (1 - f);
        e->weight[2 * k + 1] = sign * f;
    }
}

/* What the box low .. high (in voxels) holds. */
static inline void box(const ps_mass_average *x, const double low[3], const double high[3],
                       sums *out)
{
    ends e[3];
    int64_t nx = x->size[0] + 1, stride[3] = {1, nx, nx * (x->size[1] + 1)};
    const sums *table = (const sums *)x->sums;
    sums total = {0};
    for (int a = 0; a < 3; ++a) locate(&e[a], low[a], high[a], x->size[a], stride[a]);
    for (int c = 0; c < 4; ++c) {
        sums plane = {0};
        for (int b = 0; b < 4; ++b) {
            const sums *row = table + e[2].at[c] + e[1].at[b];
            plane += e[1].weight[b] *
                     (e[0].weight[0] * row[e[0].at[0]] + e[0].weight[1] * row[e[0].at[1]] +
                      e[0].weight[2] * row[e[0].at[2]] + e[0].weight[3] * row[e[0].at[3]]);
        }
        total += e[2].weight[c] * plane;
    }
    *out = total;
}

/* A cube that grows: about its centre, or away from the centre of one face. */
typedef struct seed {
    double place[3]; /* centre, or centre of the face */
    int axis, sign;  /* sign 0: about the centre      */
} seed;

static inline void cube(const seed *s, double side, double low[3], double high[3])
{
    for (int a = 0; a < 3; ++a) {
        low[a] = s->place[a] - side / 2;
        high[a] = s->place[a] + side / 2;
    }
    if (s->sign == 0) return;
    low[s->axis] = s->place[s->axis] - (s->sign < 0 ? side : 0);
    high[s->axis] = s->place[s->axis] + (s->sign > 0 ? side : 0);
}

/* Side of the cube that has the mass, found from a guess, and what it holds; 0: there is not enough
 * tissue. With g(side) = cbrt(mass(side)/mass) - 1, which a homogeneous body makes linear. */
static double grow(const ps_mass_average *x, const seed *s, double guess, sums *held)
{
    double most = 2 * (double)(x->size[0] + x->size[1] + x->size[2]);
    double below = 0, above = INFINITY, former = 0, g_former = -1, side = guess;
    for (int n = 0; n < 200; ++n) {
        double low[3], high[3];
        cube(s, side, low, high);
        box(x, low, high, held);
        double g = cbrt(fmax((*held)[MASS], 0) / x->mass) - 1;
        if (fabs(g) < EXACT) return side;
        if (g < 0)
            below = side;
        else
            above = side;
        double next = side - g * (side - former) / (g - g_former);
        former = side;
        g_former = g;
        if (below >= most) return 0;
        /* no tissue far and wide: leaps, as a secant would creep */
        if (isinf(above)) next = n > 8 ? 2 * side : fmin(fmax(next, 1.001 * side), 2 * side);
        side = next > below && next < above ? next : (below + above) / 2;
        if (!isfinite(side)) side = 2 * below;
        if (above - below < 1e-13 * above) return side;
    }
    return side;
}

/* Whether a face of the shell of voxels d about the seed's is air throughout. */
static int is_bare(const ps_mass_average *x, const seed *s, int64_t d)
{
    for (int f = 0; f < 6; ++f) {
        double a[3], b[3];
        sums held;
        for (int c = 0; c < 3; ++c) {
            a[c] = floor(s->place[c]) - (double)d;
            b[c] = floor(s->place[c]) + (double)d + 1;
        }
        if (f % 2)
            a[f / 2] = b[f / 2] - 1;
        else
            b[f / 2] = a[f / 2] + 1;
        box(x, a, b, &held);
        if (held[TISSUE] < .5) return 1;
    }
    return 0;
}

/* Whether one of the shells that the cube grew by has a bare face; a millionth of a voxel is not
 * one of them. */
static int grew_bare(const ps_mass_average *x, const seed *s, double side)
{
    int64_t last = (int64_t)ceil((side - 1) / 2 - 1e-6);
    for (int64_t d = x->core > 0 ? x->core + 1 : 0; d <= last; ++d)
        if (is_bare(x, s, d)) return 1;
    return 0;
}

static int is_valid(const ps_mass_average *x, const seed *s, double side, const sums *held)
{
    double volume = side * side * side;
    if ((*held)[TISSUE] < (1 - MOST_AIR) * volume) return 0;
    if ((*held)[TISSUE] > (1 - 1e-9) * volume) return 1;
    return !grew_bare(x, s, side);
}

/* Where there is no power, differences of sums may leave a rounding below zero. */
static double sar_of(const sums *held) { return fmax((*held)[POWER], 0) / (*held)[MASS]; }

static double first_guess(const ps_mass_average *x, int64_t v)
{
    return cbrt(x->mass / x->density[v]) / x->step;
}

static void centres(const ps_mass_average *x, int64_t j, int64_t k)
{
    double guess = 0;
    for (int64_t i = 0; i < x->size[0]; ++i) {
        int64_t v = i + x->size[0] * (j + x->size[1] * k);
        seed s = {.place = {(double)i + .5, (double)j + .5, (double)k + .5}};
        sums held;
        x->value[v] = x->side[v] = 0;
        x->status[v] = x->density[v] > 0 ? PS_MASS_NONE : PS_MASS_AIR;
        if (!(x->density[v] > 0)) continue;
        double side = grow(x, &s, guess > 0 ? guess : first_guess(x, v), &held);
        guess = side;
        if (!(side > 0) || !is_valid(x, &s, side, &held)) continue;
        x->value[v] = (float)sar_of(&held);
        x->side[v] = (float)side;
        x->status[v] = PS_MASS_CENTRE;
    }
}

/* out[i] = largest of in[i + d stride], d = low .. high, and of in[i]. */
static void largest(float *restrict out, const float *in, int64_t stride, int64_t low, int64_t high,
                    int64_t count)
{
    memcpy(out, in, (size_t)count * sizeof *out);
    for (int64_t d = low; d <= high; ++d) {
        const float *other = in + d * stride;
#pragma omp simd
        for (int64_t i = 0; i < count; ++i) out[i] = out[i] > other[i] ? out[i] : other[i];
    }
}

static void along_x(const ps_mass_average *x, int64_t half, int64_t j, int64_t k)
{
    int64_t n = x->size[0], row = n * (j + x->size[1] * k);
    float *out = x->work + row;
    const float *in = x->value + row;
    for (int64_t i = 0; i < n; ++i) out[i] = -1;
    for (int64_t i = 0; i < n; ++i) {
        if (x->status[row + i] != PS_MASS_CENTRE || ps_mass_half(x->side[row + i]) != half)
            continue;
        int64_t end = i + half < n ? i + half : n - 1;
        for (int64_t m = i > half ? i - half : 0; m <= end; ++m)
            out[m] = out[m] > in[i] ? out[m] : in[i];
    }
}

static void along_y(const ps_mass_average *x, int64_t half, int64_t j, int64_t k)
{
    int64_t n = x->size[0], row = n * (j + x->size[1] * k), last = x->size[1] - 1 - j;
    largest(x->work + x->size[1] * x->size[2] * n + row, x->work + row, n, j < half ? -j : -half,
            last < half ? last : half, n);
}

static void along_z(const ps_mass_average *x, int64_t half, int64_t j, int64_t k)
{
    int64_t n = x->size[0], plane = n * x->size[1], row = n * j + plane * k;
    int64_t last = x->size[2] - 1 - k;
    float *best = x->work + row; /* the first half is free again */
    largest(best, x->work + plane * x->size[2] + row, plane, k < half ? -k : -half,
            last < half ? last : half, n);
    for (int64_t i = 0; i < n; ++i) {
        uint8_t *status = &x->status[row + i];
        if (best[i] < 0 || (*status != PS_MASS_NONE && *status != PS_MASS_INSIDE)) continue;
        if (*status == PS_MASS_NONE || best[i] > x->value[row + i]) x->value[row + i] = best[i];
        *status = PS_MASS_INSIDE;
    }
}

static void face_cubes(const ps_mass_average *x, int64_t v, const double centre[3])
{
    double side[6], ratio[6], least = INFINITY, best = -1;
    for (int f = 0; f < 6; ++f) {
        seed s = {
            .place = {centre[0], centre[1], centre[2]}, .axis = f / 2, .sign = f % 2 ? 1 : -1};
        sums held;
        s.place[f / 2] -= .5 * s.sign; /* the voxel is inside, its outer side is the face */
        side[f] = grow(x, &s, first_guess(x, v), &held);
        ratio[f] = sar_of(&held);
        if (side[f] > 0) least = fmin(least, side[f] * side[f] * side[f]);
    }
    for (int f = 0; f < 6; ++f)
        if (side[f] > 0 && side[f] * side[f] * side[f] <= NEAR_SMALLEST * least)
            best = fmax(best, ratio[f]);
    if (best < 0) return;
    x->value[v] = (float)best;
    x->status[v] = PS_MASS_FACE;
}

static void faces(const ps_mass_average *x, int64_t j, int64_t k)
{
    for (int64_t i = 0; i < x->size[0]; ++i) {
        int64_t v = i + x->size[0] * (j + x->size[1] * k);
        const double centre[3] = {(double)i + .5, (double)j + .5, (double)k + .5};
        if (x->status[v] == PS_MASS_NONE) face_cubes(x, v, centre);
    }
}

extern const ps_mass_average_functions PS_ISA_TABLE(ps_mass_average);
const ps_mass_average_functions PS_ISA_TABLE(ps_mass_average) = {
    centres, {along_x, along_y, along_z}, faces};
