/* Dipoles, second derivatives, Stokeslets and Helmholtz's kernel: closed forms and invariants. */
#include <complex.h>

#include "kernels/fmm/moment_sum.h"
#include "kernels/fmm/periodic.h"
#include "runtime/scope.h"
#include "tests/check.h"
#include "tests/support/adaptive_case.h"
#include "tests/support/distance.h"

enum { SOURCES = 13, ROWS = 10 };

static double number(int i, int k) { return 2 * ps_counter_uniform(5, (uint64_t)i, (uint64_t)k) - 1; }

/* columns[3 + moments][SOURCES]; the last source lies at the target that tests have. */
static const double target[3] = {.31, -.22, .17};
static void fill(double *columns, int moments)
{
    for (int i = 0; i < SOURCES; ++i)
        for (int c = 0; c < 3 + moments; ++c)
            columns[c * SOURCES + i] =
                i == SOURCES - 1 && c < 3 ? target[c] : number(i, c) * (c < 3 ? 1.5 : 1);
}

/* Charges and dipoles at x by moment_p2p: phi, gradient, second derivatives. */
static void sum_at(ps_fmm_function function, const double *columns, const double x[3],
                   double out[ROWS])
{
    const ps_fmm_pass pass = {function, 1, 2, 0, 1, 1};
    const ps_fmm_range all = {0, SOURCES};
    ps_fmm_particles sources = ps_fmm_pass_sources(&pass, columns, SOURCES);
    ps_fmm_particles targets = {.position = {x, x + 1, x + 2}, .stride = 1};
    memset(out, 0, ROWS * sizeof *out);
    ps_fmm_pass_targets(&pass, out, 1, &targets);
    ps_fmm_moment_p2p(&(ps_fmm_p2p){.function = function,
                                    .sides = 1,
                                    .targets = &targets,
                                    .sources = &sources,
                                    .target = {0, 1},
                                    .runs = &all,
                                    .one_sided = 1,
                                    .run_count = 1});
}

/* The same potential of K and c = K'/r alone. */
static double potential_at(ps_fmm_function function, const double *columns, const double x[3])
{
    double sum = 0;
    for (int j = 0; j < SOURCES; ++j) {
        double r[3], square = 0, along = 0, k, c;
        for (int d = 0; d < 3; ++d) {
            r[d] = x[d] - columns[d * SOURCES + j];
            square += r[d] * r[d];
            along += columns[(4 + d) * SOURCES + j] * r[d];
        }
        if (square == 0) continue;
        ps_fmm_function_at(&function, sqrt(square), &k, &c);
        sum += columns[3 * SOURCES + j] * k - along * c;
    }
    return sum;
}

/* Each derivative against differences of the one before, without the source at the target, which
 * acts on places beside it. */
static void every_kernel(void **state)
{
    const ps_fmm_function functions[] = {
        {PS_FMM_INVERSE, 0},     {PS_FMM_INVERSE_SQUARE, 0}, {PS_FMM_INVERSE_FOURTH, 0},
        {PS_FMM_DISTANCE, 0},    {PS_FMM_EXPONENTIAL, 1.3},  {PS_FMM_YUKAWA, .8},
        {PS_FMM_GAUSSIAN, .6},   {PS_FMM_SQUARE, 0},         {PS_FMM_FOURTH, 0},
        {PS_FMM_COSINE, 2.1},    {PS_FMM_SINE, 2.1}};
    static const int second[3][3] = {{4, 5, 6}, {5, 7, 8}, {6, 8, 9}};
    const double h = 1e-5;
    double columns[7 * SOURCES];
    fill(columns, 4);
    for (int d = 0; d < 3; ++d) columns[d * SOURCES + SOURCES - 1] += .4;
    for (size_t k = 0; k < sizeof functions / sizeof *functions; ++k) {
        double here[ROWS], up[ROWS], down[ROWS], size = 0;
        sum_at(functions[k], columns, target, here);
        check_near(here[0], potential_at(functions[k], columns, target), 1e-13, 1e-13);
        for (int d = 0; d < ROWS; ++d) size = worse_of(size, fabs(here[d]));
        for (int d = 0; d < 3; ++d) {
            double x[3] = {target[0], target[1], target[2]};
            x[d] += h;
            sum_at(functions[k], columns, x, up);
            x[d] -= 2 * h;
            sum_at(functions[k], columns, x, down);
            check_near(here[1 + d], (up[0] - down[0]) / (2 * h), 1e-7 * size, 0);
            for (int e = 0; e < 3; ++e)
                check_near(here[second[d][e]], (up[1 + e] - down[1 + e]) / (2 * h), 1e-7 * size, 0);
        }
    }
}

/* A source at the target does not act; harmonic potentials have no trace. */
static void at_one_place(void **state)
{
    double columns[7 * SOURCES], out[ROWS];
    fill(columns, 4);
    sum_at((ps_fmm_function){PS_FMM_INVERSE, 0}, columns, target, out);
    check_near(out[0], potential_at((ps_fmm_function){PS_FMM_INVERSE, 0}, columns, target), 1e-13, 0);
    check_near(out[4] + out[7] + out[9], 0, 1e-12 * fabs(out[4]), 0);
}

static void direct(const ps_fmm_sum *sum, const double *columns, double *out)
{
    const double *const at[3] = {target, target + 1, target + 2};
    double room[100];
    memset(out, 0, (size_t)ps_fmm_sum_rows(sum) * sizeof *out);
    assert_true(ps_fmm_sum_room(sum, 1) <= 100);
    ps_fmm_sum_direct(sum, at, &(ps_fmm_rows){(double *)columns, SOURCES, SOURCES}, room,
                      &(ps_fmm_rows){out, 1, 1});
}

/* u_i = f_i / r + r_i (r . f) / r^3 of two sides of forces, and its divergence, 0. */
static void stokeslets(void **state)
{
    const ps_fmm_sum sum = {PS_FIELD_STOKESLET, PS_MOMENTS_FORCES, {PS_FMM_INVERSE, 0}, 2, 1};
    double columns[9 * SOURCES], out[24], wanted[6] = {0};
    fill(columns, 6);
    for (int j = 0; j < SOURCES - 1; ++j)
        for (int side = 0; side < 2; ++side) {
            double r[3], square = 0, along = 0;
            for (int d = 0; d < 3; ++d) {
                r[d] = target[d] - columns[d * SOURCES + j];
                square += r[d] * r[d];
                along += r[d] * columns[(3 + 3 * side + d) * SOURCES + j];
            }
            for (int d = 0; d < 3; ++d)
                wanted[3 * side + d] += columns[(3 + 3 * side + d) * SOURCES + j] / sqrt(square) +
                                        r[d] * along / (square * sqrt(square));
        }
    direct(&sum, columns, out);
    for (int i = 0; i < 6; ++i) check_near(out[i], wanted[i], 1e-13, 1e-13);
    for (int side = 0; side < 2; ++side) {
        const double *slope = out + 6 + 9 * side;
        check_near(slope[0] + slope[4] + slope[8], 0, 1e-12 * fabs(slope[0]), 0);
    }
}

/* exp(i k r)/r, its gradient, and Lap phi = -k^2 phi. */
static void helmholtz(void **state)
{
    const double k = 2.4;
    const ps_fmm_sum sum = {PS_FIELD_HELMHOLTZ, PS_MOMENTS_COMPLEX, {PS_FMM_COSINE, k}, 1, 2};
    double columns[5 * SOURCES], out[20];
    double complex phi = 0, slope[3] = {0};
    fill(columns, 2);
    for (int j = 0; j < SOURCES - 1; ++j) {
        double r[3], square = 0;
        for (int d = 0; d < 3; ++d) {
            r[d] = target[d] - columns[d * SOURCES + j];
            square += r[d] * r[d];
        }
        double complex q = columns[3 * SOURCES + j] + I * columns[4 * SOURCES + j];
        double complex wave = q * cexp(I * k * sqrt(square)) / sqrt(square);
        phi += wave;
        for (int d = 0; d < 3; ++d)
            slope[d] += wave * (I * k / sqrt(square) - 1 / square) * r[d];
    }
    direct(&sum, columns, out);
    for (int part = 0; part < 2; ++part) {
        const double *h = out + 8 + 6 * part;
        check_near(out[part], part ? cimag(phi) : creal(phi), 1e-13, 1e-13);
        for (int d = 0; d < 3; ++d)
            check_near(out[2 + 3 * part + d], part ? cimag(slope[d]) : creal(slope[d]), 1e-13, 1e-12);
        check_near(h[0] + h[3] + h[5], -k * k * out[part], 1e-11, 0);
    }
}

/* ---- by the method ---- */

/* Relative L2 errors of potential, gradient and second derivatives of charges and dipoles at 200
 * targets, and the trace of the latter relative to them. */
static void method_errors(adaptive_places places, int64_t targets, int order, double errors[4])
{
    enum { N = 4000 };
    const ps_fmm_pass pass = {{PS_FMM_INVERSE, 0}, 1, 2, 0, 1, 1};
    PS_SCOPED(adaptive_case_release) adaptive_case c = {0};
    check_ok(adaptive_case_tree(&c, places, N, targets, ps_adaptive_leaf_size(order)));
    check_ok(adaptive_case_init(&c, order, 2));
    int64_t count = targets ? targets : N, stride = count / 200;
    double exact[ROWS], sums[8] = {0};
    PS_SCOPED_MEMORY double *columns = NULL, *rows = NULL;
    check_ok(PS_ALLOC(&columns, 7 * N, "columns"));
    check_ok(PS_ALLOC(&rows, ROWS * count, "rows"));
    memcpy(columns, c.sorted[0], 4 * N * sizeof *columns);
    for (int i = 0; i < 3 * N; ++i) columns[4 * N + i] = .1 * number(i, 9);
    c.problem.sources = ps_fmm_pass_sources(&pass, columns, N);
    ps_fmm_particles *to = targets ? &c.problem.targets : &c.problem.sources;
    ps_fmm_pass_targets(&pass, rows, count, to);
    check_ok(adaptive_case_run(&c));
    for (int64_t i = 0; i < count; i += stride) {
        double x[3];
        for (int d = 0; d < 3; ++d) x[d] = to->position[d][i];
        const double *const at[3] = {x, x + 1, x + 2};
        const ps_fmm_sum sum = {
            PS_FIELD_POTENTIAL, PS_MOMENTS_CHARGES_AND_DIPOLES, {PS_FMM_INVERSE, 0}, 1, 2};
        double room[ROWS];
        memset(exact, 0, sizeof exact);
        ps_fmm_sum_direct(&sum, at, &(ps_fmm_rows){columns, N, N}, room, &(ps_fmm_rows){exact, 1, 1});
        for (int r = 0; r < ROWS; ++r) {
            int kind = r == 0 ? 0 : r < 4 ? 1 : 2;
            sums[kind] += (rows[r * count + i] - exact[r]) * (rows[r * count + i] - exact[r]);
            sums[4 + kind] += exact[r] * exact[r];
        }
        double trace = rows[4 * count + i] + rows[7 * count + i] + rows[9 * count + i];
        sums[3] += trace * trace;
    }
    sums[7] = sums[6];
    for (int k = 0; k < 4; ++k) errors[k] = sqrt(sums[k] / sums[4 + k]);
    print_message("places %d order %d: %.2e %.2e %.2e, trace %.2e\n", (int)places, order, errors[0],
                  errors[1], errors[2], errors[3]);
}

static void dipoles_by_the_method(void **state)
{
    const struct {
        adaptive_places places;
        int targets;
    } cases[] = {{ADAPTIVE_CUBE, 0}, {ADAPTIVE_CUBE, 3000}, {ADAPTIVE_PLUMMER, 0}, {ADAPTIVE_CUSP, 0}};
    double five[4], seven[4];
    for (int i = 0; i < 4; ++i) {
        method_errors(cases[i].places, cases[i].targets, 5, five);
        method_errors(cases[i].places, cases[i].targets, 7, seven);
        for (int k = 0; k < 4; ++k) check_at_most(five[k], 1e-4);
        for (int k = 0; k < 4; ++k) check_at_most(seven[k], 3e-6);
    }
}

/* ---- the lattice of r ---- */

/* sum |d + n| over the lattice, without its own |d| at d = 0. */
static double lattice(const double d[3])
{
    double sum = ps_periodic_smooth_distance(d);
    for (int n = 0; n < 27; ++n) {
        const int s[3] = {n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1};
        double square = 0;
        for (int i = 0; i < 3; ++i) square += (d[i] + s[i]) * (d[i] + s[i]);
        sum += sqrt(square);
    }
    return sum;
}

/* It has the period of the box; the Laplacian of its smooth part at 0 is twice Hasimoto's (1959)
 * constant less those of the 26 images, 2/r each. */
static void lattice_of_distances(void **state)
{
    const double here[3] = {.3, -.45, .27}, h = 1e-3;
    double origin[3] = {0}, sum = 0;
    for (int i = 0; i < 3; ++i) {
        double there[3] = {here[0], here[1], here[2]};
        there[i] += here[i] > 0 ? -1 : 1;
        check_near(lattice(there), lattice(here), 1e-12, 0);
    }
    for (int n = 0; n < 27; ++n)
        if (n != 13) {
            const double s[3] = {n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1};
            sum += 2 / sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2]);
        }
    double centre = ps_periodic_smooth_distance(origin), laplacian = 0;
    for (int i = 0; i < 3; ++i) {
        origin[i] = h;
        laplacian += 2 * (ps_periodic_smooth_distance(origin) - centre) / (h * h); /* even */
        origin[i] = 0;
    }
    check_near(laplacian + sum, -2 * 2.837297479480620, 1e-5, 0);
}
