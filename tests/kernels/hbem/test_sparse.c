/* Mass and stiffness, shifted systems with them, and OSRC operators. */
#include "kernels/hbem/osrc.h"

#include <complex.h>
#include <omp.h>

#include "tests/check.h"
#include "tests/support/hbem_sparse.h"

/* Rows of the mass add up to int phi_i; constants have no curl; the cube [-1, 1]^3: x has surface
 * gradients of length 1 on four faces of area 4. */
static void test_entries(void **state)
{
    for (int kind = PS_SPACE_P0; kind <= PS_SPACE_DP1; ++kind) {
        PS_SCOPED(hbem_case_release) hbem_case c = {0};
        hbem_cells(&c, 2, 0, (ps_hbem_space_kind)kind, 1e-3);
        PS_SCOPED(hbem_sparse_free) ps_pencil s = hbem_sparse_make(&c.space);
        int64_t n = c.space.dofs;
        PS_SCOPED_MEMORY double *integral = calloc((size_t)n, 8), *x = calloc((size_t)n, 8),
                                *y = calloc((size_t)n, 8);
        ps_hbem_space_integrals(&c.space, integral);
        for (int64_t i = 0; i < n; ++i) x[i] = sin((double)i);
        ps_hbem_mass_apply(&c.space, &c.space, x, y);
        double form = 0, scale = 0;
        for (int64_t i = 0; i < n; ++i) {
            double mass = 0, stiffness = 0, product = 0;
            for (int64_t e = s.start[i]; e < s.start[i + 1]; ++e) {
                int32_t j = s.column[e];
                assert_true(e == s.start[i] || j > s.column[e - 1]);
                mass += s.mass[e];
                stiffness += s.stiffness[e];
                product += s.mass[e] * x[j];
                if (kind == PS_SPACE_P1)
                    form += c.vertices[3 * i] * s.stiffness[e] * c.vertices[3 * j];
                scale = worse_of(scale, fabs(s.stiffness[e]));
            }
            check_near(mass, integral[i], 0, 1e-14);
            check_near(product, y[i], 1e-15, 1e-13);
            if (kind != PS_SPACE_P0) check_near(stiffness, 0, 1e-14 * scale, 0);
        }
        if (kind == PS_SPACE_P1) check_near(form, 16, 0, 1e-13);
    }
}

/* Functions that are taken out: solutions of the rest, as if those had never been. */
static void test_fixed(void **state)
{
    PS_SCOPED(hbem_case_release) hbem_case c = {0};
    hbem_cells(&c, 2, 0, PS_SPACE_P1, 1e-3);
    PS_SCOPED(hbem_sparse_free)
    ps_pencil s = hbem_sparse_make(&c.space),
              whole = hbem_sparse_make(&c.space);
    PS_SCOPED_MEMORY bool *fixed = calloc((size_t)s.dofs, sizeof *fixed);
    for (int64_t i = 0; i < s.dofs; ++i) fixed[i] = i % 3 == 1;
    ps_hbem_sparse_fix(fixed, &s);
    for (int64_t i = 0; i < s.dofs; ++i)
        for (int64_t e = s.start[i]; e < s.start[i + 1]; ++e) {
            bool out = fixed[i] || fixed[s.column[e]];
            bool keeps = !out || s.column[e] == i;
            check_near(s.mass[e], keeps ? whole.mass[e] : 0, 0, 0);
            check_near(s.stiffness[e], out ? 0 : whole.stiffness[e], 0, 0);
        }
}

/* A vertex without a triangle would make the mass singular. */
static void test_unused_vertex(void **state)
{
    PS_SCOPED(hbem_case_release) hbem_case c = {0};
    hbem_case_cells(&c, 1, 0);
    c.vertices[3 * c.vertex_count++] = 7;
    hbem_case_surface(&c);
    hbem_case_finish(&c, PS_SPACE_P1, 1e-3);
    PS_SCOPED(hbem_sparse_free)
    ps_pencil s = {.start = calloc((size_t)c.space.dofs + 1, 8),
                   .column = calloc((size_t)ps_hbem_sparse_bound(&c.space), 4)};
    check_fails(ps_hbem_sparse_pattern(&c.space, &s), PS_INVALID, "lies on no triangle");
}

static double *random_numbers(int64_t count, uint64_t seed)
{
    double *out = calloc((size_t)count, sizeof *out);
    for (int64_t i = 0; i < count; ++i) out[i] = check_random(&seed) - .5;
    return out;
}

static double relative_residual(const ps_pencil *s, const ps_shifted_system *system)
{
    int64_t n = s->dofs;
    PS_SCOPED_MEMORY double *y = calloc((size_t)(2 * n), sizeof *y);
    hbem_sparse_apply(s, system->shift, system->x, y);
    return relative_l2(y, system->b, 2 * n);
}

/* 11 systems of different shifts, in one go, one by one, and by one thread: small residuals, and
 * the same bits. */
static void test_shifted(void **state)
{
    enum { SYSTEMS = 11 };
    PS_SCOPED(hbem_case_release) hbem_case c = {0};
    hbem_sphere(&c, 9, PS_SPACE_P1, 1e-3);
    PS_SCOPED(hbem_sparse_free) ps_pencil s = hbem_sparse_make(&c.space);
    int64_t n = 2 * s.dofs, iterations = 0;
    PS_SCOPED_MEMORY double *b = random_numbers(SYSTEMS * n, 1),
                            *x = calloc((size_t)(SYSTEMS * n), sizeof *x);
    PS_SCOPED_MEMORY double *one = calloc((size_t)n, sizeof *one);
    PS_SCOPED_MEMORY double *space = calloc((size_t)ps_shifted_workspace(s.dofs), sizeof *space);
    ps_shifted_system systems[SYSTEMS];
    ps_shifted_options options = {.parts = 2, .tolerance = 1e-11, .limit = 500};
    for (int i = 0; i < SYSTEMS; ++i)
        systems[i] = (ps_shifted_system){{-.02 * i, .05 * i}, b + i * n, x + i * n};
    memset(b + 5 * n, 0, (size_t)n * sizeof *b); /* nothing to solve */
    check_ok(ps_shifted_solve(&s, &options, SYSTEMS, systems, space, &iterations));
    assert_true(iterations > 20 && iterations < 400);
    omp_set_num_threads(1);
    for (int i = 0; i < SYSTEMS; ++i) {
        if (i != 5) check_at_most(relative_residual(&s, &systems[i]), 2e-11);
        ps_shifted_system alone = {{systems[i].shift[0], systems[i].shift[1]}, systems[i].b, one};
        check_ok(ps_shifted_solve(&s, &options, 1, &alone, space, NULL));
        assert_memory_equal(one, systems[i].x, (size_t)n * sizeof *one);
    }
    check_near(x[5 * n + 3], 0, 0, 0);
    options.limit = 3;
    check_fails(ps_shifted_solve(&s, &options, 1, systems, space, NULL), PS_FAILED, "after 3");
    b[4] = NAN;
    check_fails(ps_shifted_solve(&s, &options, 1, systems, space, NULL), PS_FAILED, "not finite");
}

/* Real systems: P0 is done in a step, DP1 in as many as it has eigenvalues. */
static void test_real(void **state)
{
    for (int kind = PS_SPACE_P0; kind <= PS_SPACE_DP1; ++kind) {
        PS_SCOPED(hbem_case_release) hbem_case c = {0};
        hbem_sphere(&c, 4, (ps_hbem_space_kind)kind, 1e-3);
        PS_SCOPED(hbem_sparse_free) ps_pencil s = hbem_sparse_make(&c.space);
        int64_t iterations = 0;
        PS_SCOPED_MEMORY double *x = random_numbers(s.dofs, 2),
                                *b = calloc((size_t)s.dofs, sizeof *b);
        PS_SCOPED_MEMORY double *space =
            calloc((size_t)ps_shifted_workspace(s.dofs), sizeof *space);
        ps_hbem_mass_apply(&c.space, &c.space, x, b);
        ps_shifted_system system = {.b = b, .x = b};
        check_ok(ps_shifted_solve(&s, &(ps_shifted_options){1, 1e-13, 100}, 1, &system, space,
                                  &iterations));
        for (int64_t i = 0; i < s.dofs; ++i) check_near(b[i], x[i], 1e-11, 0);
        if (kind == PS_SPACE_P0) assert_int_equal(iterations, 1);
        if (kind == PS_SPACE_DP1) assert_true(iterations <= 3);
    }
}

/* The largest difference of the symbols with and without Pade over degrees 0 .. 10 of the unit
 * sphere, relative to V (numerics guide 4.6). */
static double symbol_error(int terms, double k)
{
    ps_osrc osrc;
    double worst = 0;
    check_ok(ps_osrc_init(&osrc, PS_COUPLING_OSRC, k, 1, terms));
    for (int m = 0; m <= 10; ++m) {
        double a[2], b[2];
        ps_osrc_symbol(&osrc, m * (m + 1), false, a);
        ps_osrc_symbol(&osrc, m * (m + 1), true, b);
        worst = worse_of(worst, hypot(a[0] - b[0], a[1] - b[1]) / hypot(b[0], b[1]));
    }
    return worst;
}

static void test_symbol(void **state)
{
    check_near(symbol_error(2, 5), 9.8e-2, 0, .02);
    check_near(symbol_error(4, 5), 8.6e-3, 0, .02);
    check_near(symbol_error(8, 5), 6.8e-5, 0, .02);
}

/* The symbol of the fit. */
static double _Complex fit_at(const ps_osrc *osrc, const ps_osrc_reaction *r, double lambda)
{
    double shift[1 + PS_OSRC_TERMS_MAX][2];
    double _Complex sum = r->whole[0] + I * r->whole[1];
    int terms = ps_osrc_shifts(osrc, shift);
    for (int j = 0; j < terms; ++j)
        sum += (r->weight[j][0] + I * r->weight[j][1]) /
               (1 - lambda * (shift[j][0] + I * shift[j][1]));
    return sum;
}

/* The largest relative error of the fit of (1 + ik V b)^-1 on waves of the sphere up to four times
 * the wave number. */
static double reaction_error(double k, double _Complex b)
{
    ps_osrc osrc;
    ps_osrc_reaction reaction;
    double worst = 0, v[2];
    check_ok(ps_osrc_init(&osrc, PS_COUPLING_OSRC, k, 1, 4));
    check_ok(ps_osrc_reaction_init(&osrc, (double[2]){creal(b), cimag(b)}, &reaction));
    for (int m = 0; m <= 4 * k; ++m) {
        ps_osrc_symbol(&osrc, m * (m + 1), false, v);
        double _Complex whole =
            fit_at(&osrc, &reaction, m * (m + 1)) * (1 + I * k * (v[0] + I * v[1]) * b);
        worst = worse_of(worst, cabs(whole - 1));
    }
    return worst;
}

/* What a matched, a stiff and a massive boundary leave, and one with surface waves where k is
 * large. */
static void test_reaction(void **state)
{
    check_at_most(reaction_error(5, 1), .03);
    check_at_most(reaction_error(20, 1), .03);
    check_at_most(reaction_error(5, -.5 * I), .05);
    check_at_most(reaction_error(20, .5 * I), .03);
    check_at_most(reaction_error(20, -.5 * I), .4);
}

/* The fit on a mesh, times 1 + ik V b, is nearly the identity: x = P_2(z), an eigenfunction. */
static void test_reaction_on_mesh(void **state)
{
    PS_SCOPED(hbem_case_release) hbem_case c = {0};
    hbem_sphere(&c, 8, PS_SPACE_P1, 1e-3);
    PS_SCOPED(hbem_sparse_free) ps_pencil s = hbem_sparse_make(&c.space);
    ps_osrc osrc;
    ps_osrc_reaction reaction;
    const double k = 5, b[2] = {.4, -.3};
    int64_t n = s.dofs;
    PS_SCOPED_MEMORY double *x = calloc((size_t)(10 * n), 8),
                            *space = calloc((size_t)ps_osrc_workspace(n), 8);
    double *mx = x + 2 * n, *y = mx + 2 * n, *my = y + 2 * n, *vy = my + 2 * n, error = 0, norm = 0;
    ps_shifted_iterative method = hbem_iterative(&s, 1e-11);
    ps_shifted_solver solver = {.context = &method, .solve = ps_shifted_iterate};
    check_ok(ps_osrc_init(&osrc, PS_COUPLING_OSRC, k, 1, 4));
    check_ok(ps_osrc_reaction_init(&osrc, b, &reaction));
    for (int64_t i = 0; i < n; ++i) x[i] = 1.5 * pow(c.vertices[3 * i + 2], 2) - .5;
    hbem_sparse_apply(&s, (double[2]){0}, x, mx);
    check_ok(ps_osrc_react(&osrc, &reaction, &s, &solver, 1, mx, x, y, space));
    hbem_sparse_apply(&s, (double[2]){0}, y, my);
    check_ok(ps_osrc_apply(&osrc, &s, &solver, 1, my, vy, space));
    for (int64_t i = 0; i < n; ++i) {
        double _Complex own = y[i] + I * y[n + i];
        own += I * k * (b[0] + I * b[1]) * (vy[i] + I * vy[n + i]) - x[i];
        error += creal(own * conj(own));
        norm += x[i] * x[i];
    }
    check_at_most(sqrt(error / norm), .03);
    free(method.workspace);
}

/* b = M P_2(z) on the sphere: V M^-1 b is the symbol at lambda = 6 times P_2, second order in the
 * mesh; nine sides at once give the bits of one. */
static double operator_error(int n, ps_coupling coupling)
{
    enum { SIDES = 9 };
    PS_SCOPED(hbem_case_release) hbem_case c = {0};
    hbem_sphere(&c, n, PS_SPACE_P1, 1e-3);
    PS_SCOPED(hbem_sparse_free) ps_pencil s = hbem_sparse_make(&c.space);
    ps_osrc osrc;
    int64_t dofs = s.dofs;
    size_t size = (size_t)(2 * dofs);
    PS_SCOPED_MEMORY double *b = calloc(SIDES * size, 8), *y = calloc(SIDES * size, 8),
                            *x = calloc(size, 8),
                            *space = calloc((size_t)ps_osrc_workspace(dofs), 8);
    double symbol[2], error = 0, norm = 0;
    ps_shifted_iterative method = hbem_iterative(&s, 1e-11);
    ps_shifted_solver solver = {.context = &method, .solve = ps_shifted_iterate};
    check_ok(ps_osrc_init(&osrc, coupling, 5, 1, 4));
    ps_osrc_symbol(&osrc, 6, false, symbol);
    for (int64_t i = 0; i < dofs; ++i) x[i] = 1.5 * pow(c.vertices[3 * i + 2], 2) - .5;
    hbem_sparse_apply(&s, (double[2]){0}, x, b);
    for (int64_t side = 1; side < SIDES; ++side)
        for (int64_t i = 0; i < 2 * dofs; ++i)
            b[side * 2 * dofs + i] = side == 7 ? b[i] : sin((double)(side + i));
    check_ok(ps_osrc_apply(&osrc, &s, &solver, SIDES, b, y, space));
    assert_memory_equal(y, y + 7 * 2 * dofs, size * sizeof *y);
    for (int64_t i = 0; i < dofs; ++i) {
        error += pow(y[i] - symbol[0] * x[i], 2) + pow(y[dofs + i] - symbol[1] * x[i], 2);
        norm += x[i] * x[i];
    }
    free(method.workspace);
    return sqrt(error / norm) / hypot(symbol[0], symbol[1]);
}

/* A solver that combines, by iterations. */
typedef struct combining {
    ps_shifted_iterative method;
    ps_osrc osrc;
} combining;

static ps_status combine(void *context, int64_t sides, const double (*weight)[2], const double *b,
                         double *y)
{
    combining *c = context;
    double shift[1 + PS_OSRC_TERMS_MAX][2];
    int64_t count = ps_osrc_shifts(&c->osrc, shift), n = c->method.matrix->dofs;
    PS_SCOPED_MEMORY double *x = calloc((size_t)(2 * n), 8);
    memset(y, 0, (size_t)(sides * 2 * n) * 8);
    for (int64_t i = 0; i < sides * count; ++i) {
        int64_t side = i / count * 2 * n, j = i % count;
        ps_shifted_system system = {{shift[j][0], shift[j][1]}, b + side, x};
        check_ok(ps_shifted_iterate(&c->method, 1, &system));
        for (int64_t k = 0; k < n; ++k) {
            y[side + k] += weight[j][0] * x[k] - weight[j][1] * x[n + k];
            y[side + n + k] += weight[j][0] * x[n + k] + weight[j][1] * x[k];
        }
    }
    return PS_OK;
}

/* The operator by a solver that combines is the one by solutions of its systems. */
static void test_combined(void **state)
{
    enum { SIDES = 2 };
    PS_SCOPED(hbem_case_release) hbem_case c = {0};
    hbem_sphere(&c, 5, PS_SPACE_P1, 1e-3);
    PS_SCOPED(hbem_sparse_free) ps_pencil s = hbem_sparse_make(&c.space);
    combining own = {.method = hbem_iterative(&s, 1e-12)};
    ps_shifted_solver each = {.context = &own.method, .solve = ps_shifted_iterate};
    ps_shifted_solver all = {.context = &own, .combine = combine};
    int64_t size = SIDES * 2 * s.dofs;
    PS_SCOPED_MEMORY double *b = calloc((size_t)(3 * size), 8),
                            *space = calloc((size_t)ps_osrc_workspace(s.dofs), 8);
    double *y = b + size, *expected = y + size;
    for (int64_t i = 0; i < size; ++i) b[i] = sin((double)i);
    check_ok(ps_osrc_init(&own.osrc, PS_COUPLING_OSRC, 5, 1, 4));
    check_ok(ps_osrc_apply(&own.osrc, &s, &each, SIDES, b, expected, space));
    check_ok(ps_osrc_apply(&own.osrc, &s, &all, SIDES, b, y, space));
    check_all_near(y, expected, size, 1e-12);
    free(own.method.workspace);
}

static void test_operator(void **state)
{
    double coarse = operator_error(6, PS_COUPLING_OSRC),
           fine = operator_error(12, PS_COUPLING_OSRC);
    check_at_most(fine, 2e-2);
    check_near(coarse / fine, 4, 0, .25);
    check_at_most(operator_error(4, PS_COUPLING_MILLER), 1e-10);
    ps_osrc osrc;
    check_fails(ps_osrc_init(&osrc, PS_COUPLING_OSRC, 0, 1, 4), PS_USAGE, "wave number of 0");
    check_fails(ps_osrc_init(&osrc, PS_COUPLING_OSRC, 1, 1, 33), PS_USAGE, "1 to 32");
}
