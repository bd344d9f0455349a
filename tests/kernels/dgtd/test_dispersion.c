/* dispersion: the step of a medium against its permittivity, energies, precisions. */
#include "kernels/dgtd/dispersion.h"

#include <complex.h>

#include "runtime/scope.h"
#include "tests/check.h"
#include "tests/support/dgtd_case.h"
#include "tests/support/dgtd_media.h"

enum { STEPS = 4000 };

static const ps_dgtd_pole every[] = {{PS_DGTD_DEBYE, 3, 0, 7},
                                     {PS_DGTD_LORENTZ, 2, 9, 1.5},
                                     {PS_DGTD_DRUDE, 1, 5, 4},
                                     {PS_DGTD_DEBYE, 1.5, 0, 4e3},
                                     {PS_DGTD_LORENTZ, .5, 30, 2}};
static const double tensor[6] = {4, 3, 2, .5, -.3, .2};

/* What curl_h H has to be for E = e^{i w t} a, once what was at the start has gone: the step with
 * H = 0 tells what else E' has. */
static void drive(const ps_dgtd_constitution *medium, double dt, double w, ps_precision precision,
                  double _Complex out[3])
{
    static const double a[3] = {1, -.4, .7};
    PS_SCOPED(dgtd_case_release) dgtd_case x = {0};
    ps_dgtd_dispersion media = {0};
    check_ok(dgtd_case_cube(&x, 2, precision, 1, 0));
    dgtd_media_init(&media, &x, medium, &dgtd_vacuum, dt);
    const ps_dgtd_law *law = media.laws + 1;
    for (int c = 0; c < 3; ++c) out[c] = 0;
    for (int64_t n = 0; n < STEPS; ++n) {
        for (int c = 0; c < 3; ++c)
            ps_dgtd_set_node(&x.system, x.field[0], 3, c, 4, a[c] * cos(w * dt * (double)n));
        ps_dgtd_half_step(&x.system, PS_DGTD_E, x.field[0], x.field[1], 0, x.system.groups);
        double half = w * dt * ((double)n + .5);
        for (int c = 0; c < 3 && n >= STEPS / 2; ++c)
            out[c] += 2 * cexp(-I * half) *
                      (a[c] * cos(w * dt * ((double)n + 1)) -
                       ps_dgtd_get(&x.system, x.field[0], 3, c, 4)) /
                      (law->gain * (STEPS / 2));
    }
}

/* The trapezoidal rule has i w -> (2/dt) i tan(w dt/2), and nothing else is discrete. */
static void expected(const ps_dgtd_constitution *medium, double dt, double w,
                     double _Complex out[3])
{
    static const double a[3] = {1, -.4, .7};
    static const int place[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
    double seen = 2 / dt * tan(w * dt / 2), chi[2];
    ps_dgtd_susceptibility(medium->poles, medium->pole_count, seen, chi);
    for (int c = 0; c < 3; ++c) {
        out[c] = (I * seen * (chi[0] - I * chi[1]) + medium->sigma) * cos(w * dt / 2) * a[c];
        for (int d = 0; d < 3; ++d) {
            double eps = medium->tensor ? medium->tensor[place[c][d]] : c == d ? medium->eps : 0;
            out[c] += I * seen * eps * cos(w * dt / 2) * a[d];
        }
    }
}

static void a_step_has_the_permittivity(void **state)
{
    enum { PERIODS = 64 };
    for (int k = 0; k < 8; ++k) {
        ps_dgtd_constitution medium = {2.5, .3, k < 5 ? 1 : 5, every + (k < 5 ? k : 0),
                                       k == 6 ? tensor : NULL};
        if (k == 7) medium = (ps_dgtd_constitution){0, .3, 0, NULL, tensor};
        double dt = .02, w = 2 * dgtd_pi * PERIODS / (STEPS / 2 * dt);
        double _Complex found[3], exact[3];
        drive(&medium, dt, w, PS_DOUBLE, found);
        expected(&medium, dt, w, exact);
        if (medium.tensor) { /* what was found is M^-1 times too little */
            double _Complex sum[3] = {0};
            static const int place[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
            double loss = .3 * dt / 2 + ps_dgtd_poles_weight(medium.poles, medium.pole_count, dt);
            for (int c = 0; c < 9; ++c)
                sum[c / 3] +=
                    (tensor[place[c / 3][c % 3]] + (c % 4 == 0 ? loss : 0)) * found[c % 3];
            memcpy(found, sum, sizeof found);
        }
        for (int c = 0; c < 3; ++c) {
            check_near(creal(found[c]), creal(exact[c]), 1e-9, 1e-9);
            check_near(cimag(found[c]), cimag(exact[c]), 1e-9, 1e-9);
        }
        drive(&medium, dt, w, PS_SINGLE, found);
    }
}

/* Its error falls with the square of the step. */
static void a_step_is_of_second_order(void **state)
{
    for (int k = 0; k < 5; ++k) {
        double exact[2], errors[2];
        ps_dgtd_susceptibility(every + k, 1, 8, exact);
        for (int turn = 0; turn < 2; ++turn) {
            double dt = turn ? .005 : .01, seen[2];
            ps_dgtd_susceptibility(every + k, 1, 2 / dt * tan(8 * dt / 2), seen);
            errors[turn] = hypot(seen[0] - exact[0], seen[1] - exact[1]);
        }
        check_near(errors[0] / errors[1], 4, 0, .02);
    }
}

/* ---- energy ---- */

enum { MATERIALS = 4 };

typedef struct trial {
    dgtd_case x;
    ps_dgtd_dispersion media;
    ps_dgtd_constitution constitution[MATERIALS];
    ps_dgtd_material materials[MATERIALS];
    ps_dgtd_march march;
} trial;

static void start(trial *t, int order, ps_precision precision, const ps_dgtd_pole *poles, int count,
                  const double *tensor_of_one, double fraction)
{
    memset(t, 0, sizeof *t);
    for (int m = 0; m < MATERIALS; ++m) {
        t->constitution[m] =
            (ps_dgtd_constitution){1 + m, 0, m ? count : 0, poles, m == 2 ? tensor_of_one : NULL};
        t->materials[m] = (ps_dgtd_material){1 + m, 1 + .5 * m, 0};
        if (m == 2 && tensor_of_one) {
            double bounds[2];
            ps_dgtd_tensor_bounds(tensor_of_one, bounds);
            t->materials[m].eps = bounds[0];
        }
    }
    check_ok(cube_tets_init(&t->x.mesh, 2, .2, PS_DGTD_PEC));
    for (int64_t e = 0; e < t->x.mesh.elements; ++e)
        t->x.mesh.tags[e] = (uint16_t)(e / 5 % MATERIALS);
    check_ok(dgtd_case_init(&t->x, order, precision, t->materials, MATERIALS));
    double dt = fraction * ps_dgtd_step_constant(order) * dgtd_least_size(&t->x.body, NULL);
    t->march = dgtd_case_march(&t->x, dt);
    dgtd_media_init(&t->media, &t->x, t->constitution, t->materials, dt);
    dgtd_case_random(&t->x, 5);
}

static void stop(trial *t) { dgtd_case_release(&t->x); }

/* A value of state v of a slot at node n. */
static double state_of(const trial *t, int64_t slot, int v, int component, int node)
{
    int lanes = ps_dgtd_lanes(t->x.system.precision), nodes = t->x.reference.nodes;
    int64_t row = t->media.row_of[slot / lanes];
    int64_t at =
        (((t->media.first[row] + v) * 3 + component) * nodes + node) * lanes + slot % lanes;
    return ((const double *)t->media.state)[at];
}

/* W and what a Lorentz pole without damping keeps: (J' M J/w^2 + P' M P)/(2 d). */
static double whole_energy(trial *t, const ps_dgtd_pole *pole)
{
    double eps[MATERIALS], mu[MATERIALS], ones[MATERIALS], dt = t->march.dt, sum;
    dgtd_case *x = &t->x;
    for (int m = 0; m < MATERIALS; ++m) {
        eps[m] = t->materials[m].eps, mu[m] = t->materials[m].mu;
        ones[m] = m ? 1 / pole->strength : 0;
    }
    size_t bytes = dgtd_case_field_bytes(x);
    double square = pole->frequency * pole->frequency, quarter = square * dt * dt / 4;
    double kappa = pole->strength * square * dt / (2 * (1 + quarter));
    PS_SCOPED_MEMORY void *current = dgtd_array(bytes), *moment = dgtd_array(bytes);
    void *const part[2] = {current, moment};
    for (int64_t e = 0; e < x->mesh.elements; ++e)
        for (int c = 0; c < 3 && x->mesh.tags[e] > 0; ++c)
            for (int n = 0; n < x->reference.nodes; ++n) {
                double now = ps_dgtd_get(&x->system, x->field[0], e, c, n);
                double j = state_of(t, e, 0, c, n) + kappa * now;
                double p = state_of(t, e, 1, c, n) + dt / 2 * kappa * now;
                ps_dgtd_set_node(&x->system, part[0], e, c, n, j / pole->frequency);
                ps_dgtd_set_node(&x->system, part[1], e, c, n, p);
            }
    sum = dgtd_march_energy(&t->march, x->former, eps, mu, x->partial);
    for (int k = 0; k < 2; ++k)
        sum += ps_dgtd_inner(&x->system, ones, part[k], part[k], x->partial);
    return sum;
}

static double step_energy(trial *t, const ps_dgtd_pole *pole)
{
    ps_dgtd_march_half(&t->march, PS_DGTD_E, 0, t->x.system.groups);
    memcpy(t->x.former, t->x.field[1], dgtd_case_field_bytes(&t->x));
    ps_dgtd_march_half(&t->march, PS_DGTD_H, 0, t->x.system.groups);
    ++t->march.step;
    return whole_energy(t, pole);
}

static void energy_is_kept_without_damping(void **state)
{
    for (int order = 1; order <= 4; ++order) {
        const ps_dgtd_pole pole = {PS_DGTD_LORENTZ, 2.5, 6, 0};
        PS_SCOPED(stop) trial t = {0};
        start(&t, order, PS_DOUBLE, &pole, 1, NULL, .95);
        double first = step_energy(&t, &pole);
        for (int n = 0; n < 100; ++n) check_near(step_energy(&t, &pole), first, 0, 1e-13);
    }
}

static double field_energy(trial *t)
{
    double ones[MATERIALS] = {1, 1, 1, 1};
    return ps_dgtd_inner(&t->x.system, ones, t->x.field[0], t->x.field[0], t->x.partial) +
           ps_dgtd_inner(&t->x.system, ones, t->x.field[1], t->x.field[1], t->x.partial);
}

/* Rates from a five hundredth to five hundred times that of the step, strong poles, all kinds, a
 * tensor, at nearly the limit of the permittivity of infinite frequency. */
static void nothing_grows(void **state)
{
    for (int k = 0; k < 9; ++k) {
        PS_SCOPED(stop) trial t = {0};
        double speed = pow(10, k - 4) * 200;
        const ps_dgtd_pole poles[] = {{PS_DGTD_DEBYE, 50, 0, speed},
                                      {PS_DGTD_LORENTZ, 20, speed, speed / 50},
                                      {PS_DGTD_DRUDE, 1, speed, speed / 10}};
        int kind = k % 4;
        start(&t, 1 + k % 3, PS_DOUBLE, poles + (kind < 3 ? kind : 0), kind < 3 ? 1 : 3,
              k % 2 ? tensor : NULL, .97);
        double first = field_energy(&t);
        ps_dgtd_march_steps(&t.march, 1500);
        double last = field_energy(&t);
        if (!(last <= 20 * first)) fail_msg("case %d: %g grew to %g", k, first, last);
    }
}

/* How far the electric fields of two trials are apart after so many steps. */
static double apart_after(trial *a, trial *b, int64_t steps)
{
    ps_dgtd_march_steps(&a->march, steps);
    ps_dgtd_march_steps(&b->march, steps);
    return dgtd_field_apart(&a->x, a->x.field[0], &b->x, b->x.field[0]);
}

static void precisions_agree(void **state)
{
    PS_SCOPED(stop) trial a = {0}, b = {0};
    start(&a, 3, PS_SINGLE, every, 5, tensor, .9);
    start(&b, 3, PS_DOUBLE, every, 5, tensor, .9);
    check_at_most(apart_after(&a, &b, 100), 2e-4);
}

/* A tensor that is a number is that number. */
static void a_tensor_of_a_number(void **state)
{
    PS_SCOPED(stop) trial a = {0}, b = {0};
    static const double three[6] = {3, 3, 3, 0, 0, 0};
    start(&a, 2, PS_DOUBLE, every, 5, NULL, .9);
    start(&b, 2, PS_DOUBLE, every, 5, three, .9);
    check_at_most(apart_after(&a, &b, 50), 1e-12);
}

static void bounds_of_a_tensor(void **state)
{
    double bounds[2];
    ps_dgtd_tensor_bounds((const double[6]){2, 2, 5, 1, 0, 0}, bounds);
    check_near(bounds[0], 1, 1e-14, 0);
    check_near(bounds[1], 5, 1e-14, 0);
    ps_dgtd_tensor_bounds((const double[6]){4, 4, 4, 0, 0, 0}, bounds);
    check_near(bounds[0], 4, 0, 0);
}
