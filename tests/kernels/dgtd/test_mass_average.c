#include "kernels/dgtd/mass_average.h"
#include "runtime/scope.h"
#include "tests/check.h"
#include "tests/support/distance.h"
#include "tests/support/pool.h"

typedef struct block {
    ps_mass_average x;
    float *density, *power;
    int64_t voxels;
    memory_pool memory;
} block;

static void make(block *b, int64_t nx, int64_t ny, int64_t nz, double step, double mass)
{
    b->voxels = nx * ny * nz;
    size_t bytes = (size_t)b->voxels * sizeof(float);
    b->density = pool_take(&b->memory, bytes);
    b->power = pool_take(&b->memory, bytes);
    b->x =
        (ps_mass_average){.size = {nx, ny, nz}, .step = step, .mass = mass, .density = b->density};
    b->x.sums = pool_take(&b->memory, (size_t)ps_mass_average_entries(b->x.size) * 32);
    b->x.value = pool_take(&b->memory, bytes);
    b->x.side = pool_take(&b->memory, bytes);
    b->x.status = pool_take(&b->memory, (size_t)b->voxels);
    b->x.work = pool_take(&b->memory, 2 * bytes);
}

static void run(block *b)
{
    ps_mass_average_sum(&b->x, b->power);
    ps_mass_average_run(&b->x);
}

static void drop(block *b) { pool_release(&b->memory); }

static int64_t at(const block *b, int64_t i, int64_t j, int64_t k)
{
    return i + b->x.size[0] * (j + b->x.size[1] * k);
}

/* At 1000 kg/m3 1 g is a cube of 10 mm, 10 g of 21.544 mm; any cube has the value of the field. */
static void uniform(void **state)
{
    static const double masses[] = {1e-3, 1e-2}, sides[] = {10, 21.5443469};
    for (int m = 0; m < 2; ++m) {
        PS_SCOPED(drop) block b = {0};
        int64_t counts[5] = {0};
        make(&b, 34, 31, 29, 1e-3, masses[m]);
        for (int64_t v = 0; v < b.voxels; ++v) {
            b.density[v] = 1000;
            b.power[v] = 2500;
        }
        run(&b);
        for (int64_t v = 0; v < b.voxels; ++v) {
            check_near(b.x.value[v], 2.5, 0, 1e-6);
            ++counts[b.x.status[v]];
        }
        check_near(b.x.side[at(&b, 16, 15, 14)], sides[m], 0, 1e-7);
        assert_int_equal(counts[PS_MASS_AIR] + counts[PS_MASS_NONE], 0);
        assert_true(counts[PS_MASS_CENTRE] > 0 && counts[PS_MASS_INSIDE] > 0);
    }
}

static double slab_mean(double depth, double thickness, double d)
{
    return d / (2 * thickness) * (exp(-2 * depth / d) - exp(-2 * (depth + thickness) / d));
}

/* A slab from depth 0 on, SAR0 e^{-2z/d}, in voxels of a/n, a the side of 1 g. A cube flush with
 * the surface has d/(2a)(1 - e^{-2a/d}); one that stands out has a face in air and is not valid.
 * Voxels within a/2 of the surface have the value of the first valid cube: flush for odd n; half a
 * voxel deep for even n, where its outer layers are halves of voxels, which are not used: the
 * outermost voxel has a cube of its own, flush with the surface. */
static void slab_of(int64_t n, double relative)
{
    PS_SCOPED(drop) block b = {0};
    const double d = 1.6e-2, a = 1e-2, h = a / (double)n;
    const int64_t air = n, width = 5 * n / 2, half = n / 2;
    make(&b, width, width, 3 * n + air, h, 1e-3);
    for (int64_t v = air * width * width; v < b.voxels; ++v) {
        double z = (double)(v / (width * width) - air) * h;
        b.density[v] = 1000;
        b.power[v] = (float)(1000 * slab_mean(z, h, d));
    }
    run(&b);
    for (int64_t k = 0; k < 5 * n / 2; ++k) {
        int64_t v = at(&b, width / 2, width / 2, air + k);
        double depth = fmax((double)k + .5 - (double)n / 2, n % 2 || k == 0 ? 0 : .5) * h;
        assert_int_equal(b.x.status[v], k >= half          ? PS_MASS_CENTRE
                                        : n % 2 == 0 && !k ? PS_MASS_FACE
                                                           : PS_MASS_INSIDE);
        check_near(b.x.value[v], slab_mean(depth, a, d), 0, relative);
    }
}

static void slab(void **state)
{
    slab_of(9, 2e-6);
    slab_of(21, 2e-6);
    slab_of(10, 2e-3);
}

/* ---- against sums voxel by voxel ---- */

/* The part of [n, n + 1] within low .. high. */
static double part(int64_t n, double low, double high)
{
    double a = fmax((double)n, low), b = fmin((double)n + 1, high);
    return b > a ? b - a : 0;
}

static void plain_box(const block *b, const double low[3], const double high[3], double out[3])
{
    double volume = pow(b->x.step, 3);
    out[0] = out[1] = out[2] = 0;
    for (int64_t v = 0; v < b->voxels; ++v) {
        int64_t i = v % b->x.size[0], j = v / b->x.size[0] % b->x.size[1];
        double w = part(i, low[0], high[0]) * part(j, low[1], high[1]) *
                   part(v / b->x.size[0] / b->x.size[1], low[2], high[2]);
        if (b->density[v] > 0) {
            out[0] += w * volume * b->density[v];
            out[1] += w * volume * b->power[v];
            out[2] += w;
        }
    }
}

static void plain_cube(const double c[3], int axis, int sign, double side, double low[3],
                       double high[3])
{
    for (int a = 0; a < 3; ++a) {
        low[a] = c[a] - side / 2;
        high[a] = c[a] + side / 2;
    }
    if (sign > 0) low[axis] = c[axis] - .5, high[axis] = low[axis] + side;
    if (sign < 0) high[axis] = c[axis] + .5, low[axis] = high[axis] - side;
}

static double plain_grow(const block *b, const double c[3], int axis, int sign, double held[3])
{
    double below = 0, above = 100, low[3], high[3];
    for (int n = 0; n < 60; ++n) {
        double side = (below + above) / 2;
        plain_cube(c, axis, sign, side, low, high);
        plain_box(b, low, high, held);
        if (held[0] < b->x.mass)
            below = side;
        else
            above = side;
    }
    return above > 99 ? 0 : above;
}

/* Voxel i, j, k is tissue. */
static int has_tissue(const block *b, int64_t i, int64_t j, int64_t k)
{
    const int64_t *n = b->x.size;
    if (i < 0 || j < 0 || k < 0 || i >= n[0] || j >= n[1] || k >= n[2]) return 0;
    return b->density[i + n[0] * (j + n[1] * k)] > 0;
}

/* All six faces of the shell of voxels d about a voxel have tissue. */
static int plain_shell(const block *b, const double c[3], int64_t d)
{
    int64_t o[3] = {(int64_t)c[0], (int64_t)c[1], (int64_t)c[2]};
    int face[6] = {0};
    for (int64_t k = -d; k <= d; ++k)
        for (int64_t j = -d; j <= d; ++j)
            for (int64_t i = -d; i <= d; ++i) {
                if (!has_tissue(b, o[0] + i, o[1] + j, o[2] + k)) continue;
                face[0] |= i == -d, face[1] |= i == d, face[2] |= j == -d;
                face[3] |= j == d, face[4] |= k == -d, face[5] |= k == d;
            }
    return face[0] && face[1] && face[2] && face[3] && face[4] && face[5];
}

static int plain_valid(const block *b, const double c[3], double side, const double held[3])
{
    double densest = 0;
    if (held[2] < .9 * side * side * side) return 0;
    for (int64_t v = 0; v < b->voxels; ++v) densest = worse_of(densest, b->density[v]);
    int64_t core = (int64_t)fmax((cbrt(b->x.mass / densest) / b->x.step - 1) / 2, 0);
    for (int64_t d = core > 0 ? core + 1 : 0; (double)d - 1 < (side - 1) / 2 - 1e-6; ++d)
        if (!plain_shell(b, c, d)) return 0;
    return 1;
}

static double plain_face(const block *b, const double c[3])
{
    double side[6], value[6], least = INFINITY, best = -1, held[3];
    for (int f = 0; f < 6; ++f) {
        side[f] = plain_grow(b, c, f / 2, f % 2 ? 1 : -1, held);
        value[f] = held[1] / held[0];
        if (side[f] > 0) least = fmin(least, pow(side[f], 3));
    }
    for (int f = 0; f < 6; ++f)
        if (side[f] > 0 && pow(side[f], 3) <= 1.05 * least) best = worse_of(best, value[f]);
    return best;
}

static void against_plain_sums(void **state)
{
    int64_t counts[5] = {0};
    PS_SCOPED(drop) block b = {0};
    uint64_t seed = 3;
    enum { N = 12 };
    make(&b, N, N - 1, N + 1, 2e-3, 2.6e-4); /* cubes of about 3 voxels */
    for (int64_t v = 0; v < b.voxels; ++v) {
        double x = (double)(v % N) - 5.6, y = (double)(v / N % (N - 1)) - 5.1,
               z = (double)(v / (N * (N - 1))) - 5.8;
        if (x * x + y * y + z * z > 26 || check_random(&seed) < .03) continue;
        b.density[v] = (float)(600 + 800 * check_random(&seed));
        b.power[v] = (float)(1000 * check_random(&seed));
    }
    b.density[0] = 900; /* alone in a corner */
    run(&b);
    PS_SCOPED_MEMORY double *side = calloc((size_t)b.voxels, 8),
                            *value = calloc((size_t)b.voxels, 8);
    PS_SCOPED_MEMORY double(*c)[3] = calloc((size_t)b.voxels, sizeof *c);
    for (int64_t v = 0; v < b.voxels; ++v) {
        double held[3];
        c[v][0] = (double)(v % N) + .5;
        c[v][1] = (double)(v / N % (N - 1)) + .5;
        c[v][2] = (double)(v / (N * (N - 1))) + .5;
        if (!(b.density[v] > 0)) continue;
        side[v] = plain_grow(&b, c[v], 0, 0, held);
        value[v] = held[1] / held[0];
        if (!plain_valid(&b, c[v], side[v], held)) side[v] = 0;
    }
    for (int64_t v = 0; v < b.voxels; ++v) {
        ++counts[b.x.status[v]];
        if (!(b.density[v] > 0)) {
            assert_int_equal(b.x.status[v], PS_MASS_AIR);
            continue;
        }
        check_near(b.x.side[v], side[v], 0, 1e-6);
        double expected = side[v] > 0 ? value[v] : -1;
        ps_mass_status status = side[v] > 0 ? PS_MASS_CENTRE : PS_MASS_INSIDE;
        for (int64_t w = 0; w < b.voxels && !(side[v] > 0); ++w) {
            double far = fmax(fabs(c[w][0] - c[v][0]),
                              fmax(fabs(c[w][1] - c[v][1]), fabs(c[w][2] - c[v][2])));
            if (side[w] > 0 && side[w] >= 2 * far + 1) expected = worse_of(expected, value[w]);
        }
        if (expected < 0) {
            expected = plain_face(&b, c[v]);
            status = PS_MASS_FACE;
        }
        assert_int_equal(b.x.status[v], status);
        check_near(b.x.value[v], expected, 0, 1e-6);
    }
    for (int s = PS_MASS_AIR; s <= PS_MASS_FACE; ++s) assert_true(counts[s] > 20);
}

/* Where nothing is absorbed the average is 0, not a rounding below it, and every voxel has one. */
static void no_power(void **state)
{
    PS_SCOPED(drop) block b = {0};
    make(&b, 40, 24, 24, 1e-3, 1e-3);
    for (int64_t v = 0; v < b.voxels; ++v) {
        if ((v * 7 / 11) % 13 == 0) continue;
        b.density[v] = 1000 + (float)(v % 37);
        b.power[v] = v % 40 < 9 ? 1e3f + (float)(v % 101) : 0;
    }
    run(&b);
    for (int64_t v = 0; v < b.voxels; ++v) {
        assert_int_not_equal(b.x.status[v], PS_MASS_NONE);
        assert_true(b.x.value[v] >= 0);
    }
    check_near(b.x.value[at(&b, 30, 12, 12)], 0, 1e-12, 0);
}

/* Less tissue than the mass: no value, and no endless growth. */
static void too_light(void **state)
{
    PS_SCOPED(drop) block b = {0};
    make(&b, 10, 10, 10, 1e-3, 1e-3);
    for (int64_t v = 0; v < b.voxels; ++v) b.density[v] = 999;
    run(&b);
    for (int64_t v = 0; v < b.voxels; ++v) assert_int_equal(b.x.status[v], PS_MASS_NONE);
}
