/* g_z on the top by convolutions against direct sums of prisms (kernels/schwarz/vertical.h), and
 * the prism far away (kernels/schwarz/prism.h). */
#include "kernels/schwarz/vertical.h"

#include <omp.h>
#include <math.h>
#include <stdlib.h>

#include "kernels/schwarz/prism.h"
#include "tests/check.h"

enum { NX = 10, NY = 13, NZ = 8, CX = NX - 1, CY = NY - 1, CZ = NZ - 1, PLANE = CX * CY };

static ps_q1_grid make_grid(const double length[3])
{
    ps_q1_grid grid;
    check_ok(ps_q1_grid_make((const int64_t[3]){NX, NY, NZ}, length, &grid));
    return grid;
}

/* density[CZ][CX][CY]: rough, a quarter empty; a whole layer empty. */
static void fill(uint64_t seed, double *density)
{
    for (int c = 0; c < PLANE * CZ; ++c) {
        double r = check_random(&seed);
        density[c] = r < .25 || c / PLANE == 2 ? 0 : 3000 * (check_random(&seed) - .4);
    }
}

static double direct(const ps_q1_grid *g, const double *density, const double point[3])
{
    const int64_t cx = g->nodes[0] - 1, cy = g->nodes[1] - 1, cells = cx * cy * (g->nodes[2] - 1);
    double sum = 0;
    for (int64_t c = 0; c < cells; ++c) {
        const int64_t cell[3] = {c % (cx * cy) / cy, c % cy, c / (cx * cy)};
        ps_prism prism = {.density = density[c]};
        for (int a = 0; a < 3; ++a) {
            prism.low[a] = (double)cell[a] * g->spacing[a];
            prism.high[a] = (double)(cell[a] + 1) * g->spacing[a];
        }
        sum += ps_prism_vertical(&prism, point, PS_NEWTON);
    }
    return sum;
}

static void sum_up(const ps_q1_grid *g, bool fft, const double *density, int64_t at_a_time,
                   const int64_t refine[2], double *out)
{
    const int64_t layers = g->nodes[2] - 1, plane = (g->nodes[0] - 1) * (g->nodes[1] - 1);
    PS_SCOPED_MEMORY double *workspace =
        calloc((size_t)ps_vertical_workspace(g, fft), sizeof *workspace);
    PS_SCOPED(ps_vertical_close) ps_vertical_sum sum = {0};
    check_ok(ps_vertical_open(g, fft, workspace, &sum));
    for (int64_t k = 0; k < layers; k += at_a_time)
        ps_vertical_add(&sum, k, layers - k < at_a_time ? layers - k : at_a_time,
                        density + k * plane);
    ps_vertical_values(&sum, PS_NEWTON, refine, out);
}

/* Boxes of cells like cubes, wide ones, and ones a hundred thousand times as wide as high. */
static void equals_direct_sums(void **state)
{
    static const double lengths[3][3] = {
        {9000, 12000, 7000}, {250e3, 250e3, 1500}, {900e3, 1200e3, 7}};
    static const double bounds[3] = {1e-12, 1e-11, 1e-7};
    static const int64_t each[2] = {1, 1};
    static double density[PLANE * CZ], out[NX * NY];
    for (int trial = 0; trial < 12; ++trial) {
        ps_q1_grid g = make_grid(lengths[trial % 3]);
        bool fft = trial % 2 && ps_vertical_by_fft();
        fill((uint64_t)trial + 3, density);
        sum_up(&g, fft, density, 1 + trial, each, out);
        const double largest = largest_of(out, NX * NY);
        assert_true(largest > 0);
        for (int64_t i = 0; i < NX; ++i)
            for (int64_t j = 0; j < NY; ++j) {
                const double point[3] = {(double)i * g.spacing[0], (double)j * g.spacing[1], 0};
                check_near(out[i * NY + j], direct(&g, density, point), bounds[trial % 3] * largest,
                           0);
            }
    }
}

/* Grids of any size and shape, each against sums at some of its nodes. */
static void any_grid(void **state)
{
    uint64_t seed = 41;
    for (int trial = 0; trial < 30; ++trial) {
        int64_t n[3], cells = 1;
        double length[3];
        bool fft = trial % 2 && ps_vertical_by_fft();
        ps_q1_grid g;
        for (int a = 0; a < 3; ++a) {
            n[a] = 3 + (int64_t)(check_random(&seed) * (a == 2 ? 6 : 17));
            cells *= n[a] - 1;
            length[a] = (double)(n[a] - 1) * pow(10, 4 * check_random(&seed) - (a == 2));
        }
        check_ok(ps_q1_grid_make(n, length, &g));
        PS_SCOPED_MEMORY double *density = calloc((size_t)cells, sizeof *density);
        PS_SCOPED_MEMORY double *out = calloc((size_t)(n[0] * n[1]), sizeof *out);
        for (int64_t c = 0; c < cells; ++c) density[c] = 5000 * (check_random(&seed) - .5);
        sum_up(&g, fft, density, n[2] - 1, (const int64_t[2]){1, 1}, out);
        const double largest = largest_of(out, n[0] * n[1]);
        for (int s = 0; s < 5; ++s) {
            const int64_t at = (int64_t)(check_random(&seed) * (double)(n[0] * n[1]));
            const double point[3] = {(double)(at / n[1]) * g.spacing[0],
                                     (double)(at % n[1]) * g.spacing[1], 0};
            check_near(out[at], direct(&g, density, point), 1e-7 * largest, 0);
        }
    }
}

static void bits_and_refinement(void **state)
{
    static double density[PLANE * CZ], one[NX * NY], two[NX * NY], few[4 * 5];
    ps_q1_grid g = make_grid((const double[3]){9000, 12000, 7000});
    fill(77, density);
    for (int fft = 0; fft <= ps_vertical_by_fft(); ++fft) {
        omp_set_num_threads(1);
        sum_up(&g, fft, density, 3, (const int64_t[2]){1, 1}, one);
        omp_set_num_threads(2);
        sum_up(&g, fft, density, fft ? CZ : 1, (const int64_t[2]){1, 1}, two);
        if (!fft) assert_memory_equal(one, two, sizeof one);
        for (int i = 0; i < NX * NY; ++i) check_near(two[i], one[i], 0, 1e-13);
        sum_up(&g, fft, density, CZ, (const int64_t[2]){3, 3}, few);
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j < 5; ++j) check_near(few[i * 5 + j], two[3 * i * NY + 3 * j], 0, 0);
    }
}

/* A slab of cells from end to end: 2 pi G rho t above its middle, up to what is missing outside. */
static void equals_slab(void **state)
{
    static double density[PLANE * CZ], out[NX * NY];
    ps_q1_grid g = make_grid((const double[3]){9e6, 12e6, 7000});
    for (int c = 0; c < PLANE * CZ; ++c) density[c] = c / PLANE == 1 ? 100 : 0;
    sum_up(&g, ps_vertical_by_fft(), density, CZ, (const int64_t[2]){1, 1}, out);
    check_near(out[(NX / 2) * NY + NY / 2] / PS_MILLIGAL, 4.19359, 0, 1e-3);
}

/* Across the distance at which the closed form gives way, and so far that it has no digit left. */
static void far_prisms(void **state)
{
    static const double sides[3][3] = {{1, 1, 1}, {1, .6, 1e-3}, {.2, .3, 1}};
    static const double along[3][3] = {{0, 0, 1}, {.6, 0, .8}, {.7, .7, .14142135623730951}};
    for (int s = 0; s < 3; ++s)
        for (int a = 0; a < 3; ++a)
            for (double r = PS_PRISM_FAR * .98; r < 1e7; r *= 1.01 + (r > 13 ? 3 : 0)) {
                const double *h = sides[s];
                ps_prism p = {.density = 1};
                double mass = h[0] * h[1] * h[2], point[3], expansion = 0;
                for (int k = 0; k < 3; ++k) {
                    p.low[k] = -h[k] / 2;
                    p.high[k] = h[k] / 2;
                    point[k] = -r * along[a][k];
                }
                /* point mass and quadrupole: sum over axes of h^2 d/dz (3 x^2 - r^2) / (24 r^5) */
                for (int k = 0; k < 3; ++k) {
                    double x = r * along[a][k], z = r * along[a][2], own = k == 2 ? 6 * z : 0;
                    expansion +=
                        h[k] * h[k] / 24 *
                        (5 * z * (3 * x * x - r * r) / pow(r, 7) - (own - 2 * z) / pow(r, 5));
                }
                double value = mass * (r * along[a][2] / (r * r * r) + expansion);
                check_near(ps_prism_vertical(&p, point, 1), value, 0,
                           fmax(2 / (r * r * r * r), 1e-14));
            }
}
