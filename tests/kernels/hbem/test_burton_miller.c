/* The rigid unit sphere in a plane wave, dense matrices: traces, iterations and fictitious
 * frequencies of the numerics guide (6). */
#include "kernels/hbem/burton_miller.h"

#include <complex.h>

#include "kernels/linear/lockstep.h"
#include "kernels/common/mie.h"
#include "kernels/hbem/loads.h"
#include "tests/check.h"
#include "tests/support/hbem_sparse.h"

typedef struct sphere {
    hbem_case c;
    ps_pencil sparse;
    double wavenumber, *k, *w; /* [2][column][row] */
    ps_burton_miller equation;
    ps_shifted_iterative method;
    ps_osrc osrc;
} sphere;

static void sphere_open(sphere *s, int n, double k)
{
    memset(s, 0, sizeof *s);
    hbem_sphere(&s->c, n, PS_SPACE_P1, 0);
    s->sparse = hbem_sparse_make(&s->c.space);
    s->wavenumber = k;
    ps_hbem_operator dlp = hbem_case_operator(&s->c, PS_KERNEL_DLP, k);
    ps_hbem_operator hyps = hbem_case_operator(&s->c, PS_KERNEL_HYPS, k);
    s->k = hbem_dense(&dlp);
    s->w = hbem_dense(&hyps);
    s->method = hbem_iterative(&s->sparse, 1e-10);
    s->equation = (ps_burton_miller){
        .matrix = &s->sparse,
        .osrc = &s->osrc,
        .mass = {.context = &s->method, .solve = ps_shifted_iterate},
        .shifted = {.context = &s->method, .solve = ps_shifted_iterate},
        .workspace = calloc((size_t)ps_osrc_workspace(s->sparse.dofs), sizeof(double))};
}

static void sphere_close(sphere *s)
{
    PS_FREE(s->k, s->w, s->equation.workspace, s->method.workspace);
    hbem_sparse_free(&s->sparse);
    hbem_case_release(&s->c);
}

/* y[2][n] = A x, A complex */
static void multiply(int64_t n, const double *a, const double *x, double *y)
{
    memset(y, 0, (size_t)(2 * n) * sizeof *y);
    for (int64_t j = 0; j < n; ++j)
        for (int64_t i = 0; i < n; ++i) {
            double re = a[j * n + i], im = a[n * n + j * n + i];
            y[i] += re * x[j] - im * x[n + j];
            y[n + i] += re * x[n + j] + im * x[j];
        }
}

static ps_status apply(void *context, int64_t count, const double *x, double *y)
{
    sphere *s = context;
    int64_t n = s->sparse.dofs;
    PS_SCOPED_MEMORY double *kx = calloc((size_t)(2 * n * count), 8),
                            *wx = calloc((size_t)(2 * n * count), 8);
    for (int64_t side = 0; side < count; ++side) {
        multiply(n, s->k, x + 2 * n * side, kx + 2 * n * side);
        multiply(n, s->w, x + 2 * n * side, wx + 2 * n * side);
    }
    for (int64_t i = 0; i < 2 * n * count; ++i) kx[i] = -kx[i];
    return ps_burton_miller_pressure(&s->equation, count, x, kx, wx, y);
}

/* |b - A x| / |b| by one more product. */
static double true_residual(sphere *s, const double *b, const double *x)
{
    int64_t n = 2 * s->sparse.dofs;
    PS_SCOPED_MEMORY double *y = calloc((size_t)n, 8);
    check_ok(apply(s, 1, x, y));
    double residual = relative_l2(y, b, n);
    check_at_most(residual, 1.1e-5);
    return residual;
}

/* Solves for the wave along z; steps and the relative error of the trace, in the L2 norm of the
 * mesh. */
static double trace_error(sphere *s, ps_coupling coupling, int64_t *steps)
{
    int64_t n = s->sparse.dofs;
    PS_SCOPED_MEMORY double *b = calloc((size_t)(6 * n), 8),
                            *items = calloc(6 * (size_t)s->c.triangle_count, sizeof *items);
    double *f = b + 2 * n, *q = f + 2 * n, *memory[3];
    ps_hbem_load load = {.kind = PS_LOAD_PLANE, .wavenumber = s->wavenumber, .vector = {0, 0, 1}};
    ps_hbem_load_vector(&load, &s->c.space, 2, items, f);
    load.derivative = true;
    ps_hbem_load_vector(&load, &s->c.space, 2, items, q);
    check_ok(ps_osrc_init(&s->osrc, coupling, s->wavenumber, 1, 4));
    check_ok(ps_burton_miller_pressure(&s->equation, 1, NULL, f, q, b));
    ps_lockstep solver;
    ps_lockstep_options options = {PS_LOCKSTEP_GMRES, 1e-5, 300, 100};
    ps_lockstep_system system = {.context = s, .shape = {2, n}, .sides = 1, .b = b, .apply = apply};
    int64_t doubles[3];
    ps_lockstep_memory(&system, &options, doubles);
    for (int i = 0; i < 3; ++i) memory[i] = calloc((size_t)doubles[i], sizeof(double));
    check_ok(ps_lockstep_attach(&solver, &system, &options, memory));
    check_ok(ps_lockstep_begin(&solver));
    while (!ps_lockstep_finished(&solver)) check_ok(ps_lockstep_step(&solver));
    *steps = solver.sides[0].steps;
    check_near(true_residual(s, b, solver.x), solver.sides[0].residual, 1e-12, 1e-6);
    double error = 0, norm = 0, *exact = f, zero[2] = {0};
    for (int64_t i = 0; i < n; ++i) {
        double value[1][2], cosine = s->c.vertices[3 * i + 2];
        check_ok(ps_mie(PS_MIE_HARD_SURFACE, NULL, s->wavenumber, 1, 1, &cosine, value));
        exact[i] = value[0][0];
        exact[n + i] = value[0][1];
    }
    for (int64_t i = 0; i < 2 * n; ++i) b[i] = solver.x[i] - exact[i];
    hbem_sparse_apply(&s->sparse, zero, b, q);
    for (int64_t i = 0; i < 2 * n; ++i) error += b[i] * q[i];
    hbem_sparse_apply(&s->sparse, zero, exact, q);
    for (int64_t i = 0; i < 2 * n; ++i) norm += exact[i] * q[i];
    for (int i = 0; i < 3; ++i) free(memory[i]);
    return sqrt(error / norm);
}

/* Of each coupling the error and the steps; 0: not given. */
static void check_sphere(int n, double k, double tolerance, const double *errors,
                         const int64_t *steps)
{
    PS_SCOPED(sphere_close) sphere s = {0};
    sphere_open(&s, n, k);
    for (int c = 0; c < PS_COUPLINGS; ++c) {
        int64_t count;
        if (errors[c] == 0 && steps[c] == 0) continue;
        double found = trace_error(&s, (ps_coupling)c, &count);
        if (errors[c] > 0) check_near(found, errors[c], 0, tolerance);
        if (steps[c] > 0) assert_int_equal(count, steps[c]);
    }
}

static void test_traces(void **state)
{
    check_sphere(8, 5, .02, (double[]){0, 0, 8.05e-2}, (int64_t[]){9, 15, 6});
    check_sphere(12, 5, .02, (double[]){0, 0, 3.76e-2}, (int64_t[]){0, 0, 5});
}

/* With the exact exterior operator, h_m/(k h_m') on degree m, the equation is the identity: what is
 * left of it on P_2 is the error of the mesh. */
static double identity_error(int n, double k)
{
    PS_SCOPED(sphere_close) sphere s = {0};
    sphere_open(&s, n, k);
    int64_t dofs = s.sparse.dofs;
    size_t bytes = (size_t)(2 * dofs) * sizeof(double);
    PS_SCOPED_MEMORY double *x = calloc(1, bytes), *kx = calloc(1, bytes), *wx = calloc(1, bytes),
                            *y = calloc(1, bytes);
    double j[4], h[4], error = 0, norm = 0;
    for (int64_t i = 0; i < dofs; ++i) x[i] = 1.5 * pow(s.c.vertices[3 * i + 2], 2) - .5;
    multiply(dofs, s.k, x, kx);
    multiply(dofs, s.w, x, wx);
    /* M^-1 W x as what Burton-Miller leaves of it: V = -i/k, so times i k */
    check_ok(ps_osrc_init(&s.osrc, PS_COUPLING_MILLER, k, 1, 1));
    assert_int_equal(ps_spherical_bessel(k, 4, j, h), 4);
    double complex outer = j[2] + I * h[2];
    double complex slope = j[1] + I * h[1] - 3 / k * outer; /* h_2' = h_1 - 3/k h_2 */
    double complex v = outer / (k * slope), number;
    check_ok(
        ps_burton_miller_pressure(&s.equation, 1, NULL, kx, wx, y)); /* M^-1 K x + i/k M^-1 W x */
    for (int64_t i = 0; i < dofs; ++i) {                             /* kx is M^-1 K x now */
        double complex mk = kx[i] + I * kx[dofs + i];
        double complex mw = (y[i] + I * y[dofs + i] - mk) * k / I;
        number = .5 * x[i] - mk - v * mw - x[i];
        error += creal(number * conj(number));
        norm += x[i] * x[i];
    }
    return sqrt(error / norm);
}

static void test_identity(void **state)
{
    double coarse = identity_error(4, 1), fine = identity_error(8, 1);
    check_at_most(fine, 2e-2);
    check_near(coarse / fine, 4, 0, .3);
}

/* Where the plain equation has a resonance, the others have none, and vary little about it; k = pi.
 */
static void test_fictitious(void **state)
{
    static const int64_t any[PS_COUPLINGS];
    check_sphere(8, 3.166, .02, (double[]){.198, 3.78e-2, 3.71e-2}, any);
    check_sphere(8, M_PI, .02, (double[]){3.87e-2, 0, 3.66e-2}, any);
    for (double k = 3.1; k < 3.3; k += .15)
        check_sphere(8, k, .06, (double[]){0, 3.78e-2, 3.71e-2}, any);
}
