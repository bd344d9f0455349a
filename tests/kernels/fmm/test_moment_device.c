/* The steps of moment_cuda.cu, one target, point or particle at a time, on the host: against the
 * operators of the cores. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "kernels/common/counter_random.h"
#include "kernels/fmm/cell.h"
#include "kernels/fmm/device_adaptive.h"
#include "kernels/fmm/moment_sum.h"
#include "tests/check.h"
#include "tests/support/distance.h"

#define KERNEL_INLINE static inline
typedef double real;
typedef double vreal;
static inline double v_exp(double x) { return exp(x); }
static inline void v_sine_cosine(double x, double *sine, double *cosine)
{
    *sine = sin(x);
    *cosine = cos(x);
}
#include "kernels/fmm/moment_device_body.h"

enum { N = 37, TARGETS = 5, COLUMNS = 7, ORDER = 5, POINTS = ORDER * ORDER * ORDER };

static double number(int i, int k)
{
    return 2 * ps_counter_uniform(8, (uint64_t)i, (uint64_t)k) - 1;
}

/* rows[3 + 4][N]: charges and dipoles; the first targets lie at sources. */
static void fill(double *rows)
{
    for (int c = 0; c < COLUMNS; ++c)
        for (int i = 0; i < N; ++i) rows[c * N + i] = number(i, c);
}

/* Rows [10][TARGETS] by the cores. */
static void by_cores(ps_fmm_function function, const ps_fmm_pass *pass, const double *rows,
                     const double *places, double *out)
{
    const ps_fmm_range all = {0, N};
    ps_fmm_particles sources = ps_fmm_pass_sources(pass, rows, N);
    ps_fmm_particles targets = {.position = {places, places + TARGETS, places + 2 * TARGETS},
                                .stride = TARGETS};
    memset(out, 0, ROWS * TARGETS * sizeof *out);
    ps_fmm_pass_targets(pass, out, TARGETS, &targets);
    ps_fmm_moment_p2p(&(ps_fmm_p2p){.function = function,
                                    .sides = 1,
                                    .targets = &targets,
                                    .sources = &sources,
                                    .target = {0, TARGETS},
                                    .runs = &all,
                                    .one_sided = 1,
                                    .run_count = 1});
}

static void compare_pairs(ps_fmm_function function, const ps_fmm_pass *pass)
{
    const ps_fmm_device_moments m = {pass->charges, pass->dipoles, NULL};
    const bool twice = pass->derivatives > 1;
    double rows[COLUMNS * N], places[3 * TARGETS], wanted[ROWS * TARGETS];
    fill(rows);
    for (int i = 0; i < TARGETS; ++i)
        for (int d = 0; d < 3; ++d)
            places[d * TARGETS + i] = i < 2 ? rows[d * N + i] : 1.3 * number(i, 20 + d);
    by_cores(function, pass, rows, places, wanted);
    for (int i = 0; i < TARGETS; ++i) {
        const double x[3] = {places[i], places[TARGETS + i], places[2 * TARGETS + i]};
        double sums[ROWS] = {0}, size = 0;
        for (int j = 0; j < N; ++j) {
            moment_source s = source_at(&m, rows, N, 0, j);
            act_on(-1, &function, &s, x, m.charges >= 0, m.dipoles >= 0, twice, sums);
        }
        for (int r = 0; r < (twice ? ROWS : 4); ++r) size = worse_of(size, fabs(sums[r]));
        for (int r = 0; r < (twice ? ROWS : 4); ++r)
            check_near(sums[r], wanted[r * TARGETS + i], 1e-12 * size, 0);
    }
}

static void pairs(void **state)
{
    const ps_fmm_function functions[] = {
        {PS_FMM_INVERSE, 0},   {PS_FMM_INVERSE_SQUARE, 0}, {PS_FMM_INVERSE_FOURTH, 0},
        {PS_FMM_DISTANCE, 0},  {PS_FMM_EXPONENTIAL, 1.3},  {PS_FMM_YUKAWA, .8},
        {PS_FMM_GAUSSIAN, .6}, {PS_FMM_SQUARE, 0},         {PS_FMM_FOURTH, 0},
        {PS_FMM_COSINE, 2.1},  {PS_FMM_SINE, 2.1}};
    for (size_t k = 0; k < sizeof functions / sizeof *functions; ++k)
        for (int derivatives = 1; derivatives <= 2; ++derivatives) {
            compare_pairs(functions[k], &(ps_fmm_pass){functions[k], 1, derivatives, 0, -1, 1});
            compare_pairs(functions[k], &(ps_fmm_pass){functions[k], 1, derivatives, -1, 1, 1});
            compare_pairs(functions[k], &(ps_fmm_pass){functions[k], 1, derivatives, 0, 1, 1});
        }
}

/* A leaf around all particles. */
static ps_fmm_leaf leaf_of(const ps_fmm_particles *particles)
{
    return (ps_fmm_leaf){.particles = particles,
                         .range = {0, N},
                         .centre = {.05, -.02, .01},
                         .width = 2.2,
                         .sides = 1,
                         .vector_stride = POINTS};
}

static void to_points(void **state)
{
    const ps_fmm_device_moments m = {0, 1, NULL};
    const struct ps_fmm_cell_functions *cores = ps_fmm_cell_functions_of(PS_BACKEND_CPU, PS_DOUBLE);
    double rows[COLUMNS * N], wanted[POINTS] = {0};
    ps_fmm_interpolation s;
    fill(rows);
    check_ok(ps_fmm_interpolation_init(&s, ORDER));
    const ps_fmm_interpolation *kept = &s;
    ps_fmm_particles particles = {.position = {rows, rows + N, rows + 2 * N},
                                  .charges = rows + 3 * N,
                                  .dipoles = rows + 4 * N,
                                  .stride = N};
    ps_fmm_leaf leaf = leaf_of(&particles);
    cores->p2m(&s, &leaf, wanted);
    cores->p2m_dipoles(&s, &leaf, wanted);
    for (int p = 0; p < POINTS; ++p) {
        const int at[3] = {p / (ORDER * ORDER), p / ORDER % ORDER, p % ORDER};
        double sum = 0;
        for (int j = 0; j < N; ++j) {
            moment_source source = source_at(&m, rows, N, 0, j);
            double value[3], slope[3];
            for (int d = 0; d < 3; ++d) {
                double v[ORDER], w[ORDER], c[ORDER];
                basis_of(ORDER, kept->polynomials, (source.at[d] - leaf.centre[d]) * 2 / leaf.width,
                         v, w, c);
                value[d] = v[at[d]];
                slope[d] = w[at[d]];
            }
            sum += moment_at(&source, 2 / leaf.width, value, slope);
        }
        check_near(sum, wanted[p], 1e-13 * N, 0);
    }
}

static void from_points(void **state)
{
    const struct ps_fmm_cell_functions *cores = ps_fmm_cell_functions_of(PS_BACKEND_CPU, PS_DOUBLE);
    double rows[COLUMNS * N], locals[POINTS], wanted[ROWS * N] = {0};
    ps_fmm_interpolation s;
    fill(rows);
    check_ok(ps_fmm_interpolation_init(&s, ORDER));
    const ps_fmm_interpolation *kept = &s;
    for (int p = 0; p < POINTS; ++p) locals[p] = number(p, 40);
    ps_fmm_particles particles = {.position = {rows, rows + N, rows + 2 * N},
                                  .potential = wanted,
                                  .gradient = wanted + N,
                                  .hessian = wanted + 4 * N,
                                  .stride = N};
    ps_fmm_leaf leaf = leaf_of(&particles);
    double scale = 2 / leaf.width;
    cores->l2p(&s, &leaf, locals);
    cores->l2p_hessian(&s, &leaf, locals);
    for (int i = 0; i < N; ++i) {
        double value[3][PS_FMM_ORDER_MAX], slope[3][PS_FMM_ORDER_MAX], curve[3][PS_FMM_ORDER_MAX],
            out[ROWS];
        for (int d = 0; d < 3; ++d)
            basis_of(ORDER, kept->polynomials, (rows[d * N + i] - leaf.centre[d]) * scale, value[d],
                     slope[d], curve[d]);
        expand_twice(ORDER, locals, value, slope, curve, out);
        for (int r = 0; r < ROWS; ++r)
            check_near(out[r] * (r == 0  ? 1
                                 : r < 4 ? scale
                                         : scale * scale),
                       wanted[r * N + i], 1e-11, 1e-12);
    }
}
