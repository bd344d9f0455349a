/* Potentials: against sums in plain complex arithmetic, near flat faces by the solid angle, and of
 * exact densities of the rigid sphere. */
#include "kernels/hbem/potentials.h"

#include <complex.h>

#include "kernels/common/mie.h"
#include "kernels/common/vec3.h"
#include "kernels/hbem/closed.h"
#include "tests/check.h"
#include "tests/support/hbem_case.h"

typedef struct run {
    ps_hbem_potential_task task;
    ps_hbem_rule rule;
    double *values;
} run;

static void run_start(run *r, hbem_case *c, ps_hbem_potential kind, double k)
{
    free(r->values);
    memset(r, 0, sizeof *r);
    ps_hbem_rule_six(&r->rule);
    r->task = (ps_hbem_potential_task){.kind = kind,
                                       .wavenumber = k,
                                       .factor = 1,
                                       .space = &c->space,
                                       .rule = &r->rule,
                                       .columns = 1};
}

static void run_end(run *r) { free(r->values); }

static void run_go(run *r, const double *densities, int64_t count, const double *targets,
                   int threads)
{
    int parts = ps_hbem_potential_parts(r->task.kind, r->task.wavenumber);
    r->task.densities = densities;
    r->task.targets = targets;
    r->task.target_count = count;
    free(r->values);
    r->task.values = r->values = calloc((size_t)(count * r->task.columns * parts), 8);
    PS_SCOPED(hbem_workspace_free)
    ps_hbem_workspace w = hbem_workspace_make(ps_hbem_potentials_bytes(&r->task, threads));
    ps_hbem_potentials(&r->task, threads, w.base);
}

static void run_near(run *r, int side, int threads)
{
    const ps_hbem_nearness how = {3, 1e-3, side};
    PS_SCOPED(hbem_workspace_free)
    ps_hbem_workspace w = hbem_workspace_make(ps_hbem_potentials_bytes(&r->task, threads));
    ps_hbem_potentials_near(&r->task, &how, threads, w.base);
}

/* ---- the sums ---- */

static double complex plain_kernel(ps_hbem_potential kind, double k, const double *x,
                                   const double *y, const double *n)
{
    double d[3], phase = ps_dot3(x, y), slope = ps_dot3(x, n);
    ps_subtract3(x, y, d);
    double r = ps_norm3(d), along = ps_dot3(d, n);
    switch (kind) {
    case PS_POTENTIAL_SINGLE:
        return cexp(I * k * r) / r;
    case PS_POTENTIAL_DOUBLE:
        return cexp(I * k * r) * (1 - I * k * r) * along / (r * r * r);
    case PS_POTENTIAL_FAR_SINGLE:
        return cexp(-I * k * phase);
    default:
        return -I * k * slope * cexp(-I * k * phase);
    }
}

static double complex plain_sum(const run *r, int column, const double *x)
{
    const ps_hbem_space *space = r->task.space;
    int parts = ps_hbem_potential_parts(r->task.kind, r->task.wavenumber);
    const double *re = r->task.densities + (int64_t)column * parts * space->dofs;
    double complex sum = 0;
    for (int64_t t = 0; t < space->surface->triangle_count; ++t)
        for (int q = 0; q < r->rule.count; ++q) {
            const ps_hbem_triangle *at = &space->surface->triangles[t];
            double complex density = 0;
            double y[3] = {0};
            for (int l = 0; l < 3; ++l) {
                int64_t dof = space->dof_of[3 * t + l];
                double hat = r->rule.hat[q][l];
                density += hat * (re[dof] + (parts == 2 ? I * re[space->dofs + dof] : 0));
                for (int c = 0; c < 3; ++c) y[c] += hat * at->corner[l][c];
            }
            sum += at->jacobian * r->rule.weight[q] * density *
                   plain_kernel(r->task.kind, r->task.wavenumber, x, y, at->normal);
        }
    return r->task.factor * sum / (4 * M_PI);
}

enum { TARGETS = 13, COLUMNS = 3 };

/* Points from 3 m to 20 km away, or directions. */
static void choose_targets(ps_hbem_potential kind, double *targets)
{
    uint64_t seed = 5;
    for (int i = 0; i < TARGETS; ++i) {
        double *v = targets + 3 * i, far = kind >= PS_POTENTIAL_FAR_SINGLE;
        for (int c = 0; c < 3; ++c) v[c] = check_random(&seed) - .5;
        double scale = (far ? 1 : i % 3 ? 3 + i : 2e4) / ps_norm3(v);
        for (int c = 0; c < 3; ++c) v[c] *= scale;
    }
}

static void check_sums(hbem_case *c, ps_hbem_potential kind, double k)
{
    double targets[3 * TARGETS], largest[2] = {0, 0};
    PS_SCOPED(run_end) run r = {0}, again = {0};
    run_start(&r, c, kind, k);
    r.task.columns = COLUMNS;
    r.task.factor = -.7;
    int parts = ps_hbem_potential_parts(kind, k);
    int64_t size = COLUMNS * parts * c->space.dofs;
    PS_SCOPED_MEMORY double *densities = calloc((size_t)size, 8);
    for (int64_t e = 0; e < size; ++e) densities[e] = 1 + sin(.37 * (double)e);
    choose_targets(kind, targets);
    run_go(&r, densities, TARGETS, targets, 1);
    for (int i = 0; i < TARGETS * COLUMNS; ++i) {
        double complex exact = plain_sum(&r, i % COLUMNS, targets + 3 * (i / COLUMNS));
        double complex got = r.values[parts * i] + (parts == 2 ? I * r.values[parts * i + 1] : 0);
        /* Reference and sums both round the phase k r once. */
        largest[0] = worse_of(largest[0], cabs(got - exact));
        largest[1] = worse_of(largest[1], cabs(exact));
        check_at_most(cabs(got - exact), 1e-14 * (1 + 2e4 * k) * cabs(exact) + 1e-15);
    }
    check_at_most(largest[0], 1e-13 * largest[1]);
    again = r;
    again.values = NULL;
    run_go(&again, densities, TARGETS, targets, 3);
    assert_memory_equal(again.values, r.values, sizeof(double) * TARGETS * COLUMNS * (size_t)parts);
}

static void test_sums(void **state)
{
    for (int space = PS_SPACE_P0; space <= PS_SPACE_DP1; ++space) {
        PS_SCOPED(hbem_case_release) hbem_case c = {0};
        hbem_sphere(&c, 6, (ps_hbem_space_kind)space, 1e-3); /* 288 triangles: two tiles */
        for (int kind = 0; kind < PS_HBEM_POTENTIALS; ++kind) {
            check_sums(&c, (ps_hbem_potential)kind, 4.2);
            if (kind < PS_POTENTIAL_FAR_SINGLE) check_sums(&c, (ps_hbem_potential)kind, 0);
        }
    }
}

/* ---- near a surface, and on it ---- */

/* The double layer of 1 is minus the solid angle over 4 pi: -1 inside the cube, 0 outside. */
static double angle_error(hbem_case *c, double height, bool near)
{
    const double targets[4][3] = {{.31, .17, 1 + height},
                                  {.31, .17, 1 - height},
                                  {-1 - height, .02, -.4},
                                  {.23, 1 - height, -.3}};
    const double exact[4] = {0, -1, 0, -1};
    PS_SCOPED(run_end) run r = {0};
    run_start(&r, c, PS_POTENTIAL_DOUBLE, 0);
    PS_SCOPED_MEMORY double *one = calloc((size_t)c->space.dofs, 8);
    for (int64_t i = 0; i < c->space.dofs; ++i) one[i] = 1;
    run_go(&r, one, 4, &targets[0][0], 2);
    if (near) run_near(&r, 1, 2);
    for (int i = 0; i < 4; ++i) r.values[i] -= exact[i];
    return largest_of(r.values, 4);
}

static void test_near(void **state)
{
    PS_SCOPED(hbem_case_release) hbem_case c = {0};
    hbem_cells(&c, 4, 0, PS_SPACE_P1, 1e-3); /* edges of .25 */
    check_at_most(angle_error(&c, .75, false), 2e-6);
    assert_true(angle_error(&c, .05, false) > 1e-3);
    for (double height = .25; height > 1e-9; height /= 4)
        check_at_most(angle_error(&c, height, true), 1e-7);
}

/* What a plane wave or 1/r from inside gives: s1 int g d_n u + s2 int d_ny g u is the field
 * outside and 0 inside a closed surface; here of linear functions u = z, d_n u = n_z, which P1 and
 * P0 hold exactly: inside u = S d_n u - K u. */
enum { PLACES = 10 };

static const double on_cube[PLACES][3] = {
    {.31, .17, 1}, {1, -.25, .5},    {1, 1, .3}, {.1, -1, -1},   {1, 1, 1},
    {-1, -1, 1},   {.31, .17, .999}, {1, 1, .3}, {.125, .25, 1}, {1, 1, -1}};

/* The field of a source inside the cube by Gauss's theorem on a fine mesh would err by the mesh;
 * linear data do not. */
static void test_on_surface(void **state)
{
    PS_SCOPED(hbem_case_release) hbem_case p0 = {0}, p1 = {0};
    hbem_cells(&p0, 4, 0, PS_SPACE_P0, 1e-3);
    hbem_cells(&p1, 4, 0, PS_SPACE_P1, 1e-3);
    PS_SCOPED_MEMORY double *flux = calloc((size_t)p0.space.dofs, 8),
                            *trace = calloc((size_t)p1.space.dofs, 8);
    for (int64_t t = 0; t < p0.space.dofs; ++t) flux[t] = p0.surface.triangles[t].normal[2];
    for (int64_t v = 0; v < p1.space.dofs; ++v) trace[v] = p1.vertices[3 * v + 2];
    for (int side = -1; side <= 1; side += 2) {
        PS_SCOPED(run_end) run s = {0}, k = {0};
        run_start(&s, &p0, PS_POTENTIAL_SINGLE, 0);
        run_start(&k, &p1, PS_POTENTIAL_DOUBLE, 0);
        run_go(&s, flux, PLACES, &on_cube[0][0], 2);
        run_go(&k, trace, PLACES, &on_cube[0][0], 2);
        run_near(&s, side, 2);
        run_near(&k, side, 2);
        for (int i = 0; i < PLACES; ++i) {
            double inner, z = on_cube[i][2];
            int where = ps_hbem_where(&p0.surface, on_cube[i], &inner);
            assert_int_equal(where, i == 6 ? -1 : 0);
            check_near(s.values[i] - k.values[i], where < 0 || side < 0 ? z : 0, 1e-6, 0);
        }
    }
}

/* Waves near a face against points graded towards the foot, k h = .1 .. 6. */
static double complex graded_sum(const run *r, const ps_hbem_triangle *t, const double *x,
                                 const double corner[3][3], int depth, int l)
{
    ps_hbem_rule rule;
    double complex sum = 0;
    double centre[3] = {0};
    ps_hbem_rule_collapsed(8, &rule);
    for (int c = 0; c < 3; ++c)
        for (int v = 0; v < 3; ++v) centre[c] += corner[v][c] / 3;
    bool parts = depth > 0 && ps_distance3(x, centre) < 3 * ps_distance3(corner[0], corner[1]);
    for (int q = 0; parts && q < 4; ++q) {
        double part[3][3];
        for (int v = 0; v < 3; ++v)
            for (int c = 0; c < 3; ++c)
                part[v][c] = q < 3 ? (corner[v][c] + corner[q][c]) / 2
                                   : (corner[(v + 1) % 3][c] + corner[(v + 2) % 3][c]) / 2;
        sum += graded_sum(r, t, x, part, depth - 1, l);
    }
    if (parts) return sum;
    double area[3], edge[2][3];
    for (int e = 0; e < 2; ++e) ps_subtract3(corner[1 + e], corner[0], edge[e]);
    ps_cross3(edge[0], edge[1], area);
    double jacobian = ps_norm3(area);
    for (int q = 0; q < rule.count; ++q) {
        double y[3] = {0};
        for (int c = 0; c < 3; ++c)
            for (int v = 0; v < 3; ++v) y[c] += rule.hat[q][v] * corner[v][c];
        ps_hbem_closed at;
        ps_hbem_closed_at(t, y, &at);
        sum += jacobian * rule.weight[q] * at.hat[l] *
               plain_kernel(r->task.kind, r->task.wavenumber, x, y, t->normal);
    }
    return sum;
}

static void check_wave_near(ps_hbem_potential kind, double k, double height)
{
    const double x[3] = {.31, .17, 1 + height};
    double worst = 0, largest = 0;
    PS_SCOPED(hbem_case_release) hbem_case c = {0};
    PS_SCOPED(run_end) run r = {0};
    hbem_cells(&c, 4, 0, PS_SPACE_DP1, 1e-3);
    run_start(&r, &c, kind, k);
    PS_SCOPED_MEMORY double *density = calloc((size_t)(2 * c.space.dofs), 8);
    for (int64_t t = 0; t < c.surface.triangle_count; ++t) {
        const ps_hbem_triangle *at = &c.surface.triangles[t];
        for (int l = 0; l < 3 && ps_distance3(at->centroid, x) < .2; ++l) {
            double complex exact = graded_sum(&r, at, x, at->corner, 9, l) / (4 * M_PI);
            int64_t dof = c.space.dof_of[3 * t + l];
            density[dof] = 1;
            run_go(&r, density, 1, x, 1);
            run_near(&r, 1, 1);
            density[dof] = 0;
            worst = worse_of(worst, cabs(r.values[0] + I * r.values[1] - exact));
            largest = worse_of(largest, cabs(exact));
        }
    }
    print_message("    kind %d, k %g, height %g: %.1e\n", kind, k, height, worst / largest);
    check_at_most(worst, 1e-5 * largest);
}

static void test_waves_near(void **state)
{
    for (int kind = PS_POTENTIAL_SINGLE; kind <= PS_POTENTIAL_DOUBLE; ++kind)
        for (double k = .4; k < 30; k *= 8)
            for (double height = .1; height > 1e-3; height /= 40)
                check_wave_near((ps_hbem_potential)kind, k, height);
}

/* ---- the rigid sphere ---- */

/* Worst errors, relative to the largest value, of F in 37 directions and of u_s on a circle of 3
 * radii, from the exact Phi at the vertices. */
static void sphere_errors(int n, double k, double out[2])
{
    enum { ANGLES = 37 };
    double directions[ANGLES][3], points[ANGLES][3], cosines[ANGLES], radii[ANGLES];
    double exact[2][ANGLES][2];
    PS_SCOPED(hbem_case_release) hbem_case c = {0};
    PS_SCOPED(run_end) run r = {0};
    hbem_sphere(&c, n, PS_SPACE_P1, 1e-3);
    PS_SCOPED_MEMORY double *phi = calloc((size_t)(2 * c.space.dofs), 8);
    for (int64_t v = 0; v < c.space.dofs; ++v) {
        double value[2];
        check_ok(ps_mie(PS_MIE_HARD_SURFACE, NULL, k, 1, 1, &c.vertices[3 * v + 2], &value));
        phi[v] = value[0];
        phi[c.space.dofs + v] = value[1];
    }
    for (int i = 0; i < ANGLES; ++i) {
        double a = M_PI * i / (ANGLES - 1);
        const double e[3] = {sin(a), 0, cosines[i] = cos(a)};
        radii[i] = 3;
        for (int d = 0; d < 3; ++d) points[i][d] = 3 * (directions[i][d] = e[d]);
    }
    check_ok(ps_mie(PS_MIE_HARD_FAR, NULL, k, 1, ANGLES, cosines, exact[0]));
    check_ok(ps_mie_scattered(1, NULL, k, 1, ANGLES, cosines, radii, exact[1]));
    for (int which = 0; which < 2; ++which) {
        double worst = 0, largest = 0;
        run_start(&r, &c, which ? PS_POTENTIAL_DOUBLE : PS_POTENTIAL_FAR_DOUBLE, k);
        run_go(&r, phi, ANGLES, which ? &points[0][0] : &directions[0][0], 1);
        for (int i = 0; i < ANGLES; ++i) {
            const double *e = exact[which][i];
            worst = worse_of(worst, hypot(r.values[2 * i] - e[0], r.values[2 * i + 1] - e[1]));
            largest = worse_of(largest, hypot(e[0], e[1]));
        }
        out[which] = worst / largest;
    }
}

static void test_sphere(void **state)
{
    for (int k = 1; k <= 5; k += 4) {
        double coarse[2], fine[2];
        sphere_errors(8, k, coarse);
        sphere_errors(16, k, fine);
        for (int which = 0; which < 2; ++which) {
            print_message("    k = %d, %s: %.2e, %.2e\n", k, which ? "u_s" : "F", coarse[which],
                          fine[which]);
            check_near(coarse[which] / fine[which], 4, .5, 0);
        }
        check_at_most(fine[0], k == 1 ? 5e-3 : 2e-2);
    }
}
