/* march: the tables of numerics/dgtd.md, section 6, and the discrete invariants. */
#include "kernels/dgtd/march.h"

#include <omp.h>
#include <stdbool.h>

#include "runtime/scope.h"
#include "tests/check.h"
#include "tests/support/dgtd_case.h"
#include "tests/support/distance.h"

/* A run against an exact solution on a Kuhn cube of one material. */
typedef struct run {
    int order, side;
    double duration, fraction; /* dt = duration / ceil(duration / (fraction limit)) */
    int every;                 /* steps between errors; the last one always         */
    double sigma;
    int kind; /* of the boundary                                   */
    bool averaged;
    const ps_dgtd_incident *incident;
    dgtd_function *exact;
    const void *of;
    ps_precision precision;
} run;

/* Errors with H^{n+1/2}: sup over steps of the L2 error of both fields. */
static double run_error(const run *r)
{
    static dgtd_rule rule;
    PS_SCOPED(dgtd_case_release) dgtd_case x = {0};
    ps_dgtd_material material = {1, 1, r->sigma};
    ps_dgtd_border border = {.averaged = r->averaged, .incident = r->incident};
    int64_t steps = (int64_t)ceil(r->duration / (r->fraction * dgtd_kuhn_limit(r->order, r->side)));
    check_ok(cube_tets_init(&x.mesh, r->side, 0, r->kind));
    check_ok(dgtd_case_init(&x, r->order, r->precision, &material, 1));
    dgtd_rule_init(&rule, &x.reference, r->side <= 2 ? 10 : r->order + 3);
    ps_dgtd_march m = dgtd_case_march(&x, r->duration / (double)steps);
    if (r->kind == PS_DGTD_ABSORBING) m.border = &border;
    dgtd_border_init(&border, &x, NULL, m.dt);
    return dgtd_march_error(&x, &m, &rule, r->exact, r->of, steps, r->every);
}

/* Order, side, the guide's figures; "interpolated". */
static void cavity_errors_are_those_of_the_guide(void **state)
{
    static const struct {
        int order, side;
        double plain, small_step;
    } rows[] = {
        {1, 2, 3.7305e-1, 3.5350e-1}, {1, 4, 1.7728e-1, 1.7950e-1}, {1, 8, 4.0102e-2, 0},
        {2, 2, 1.2002e-1, 1.1791e-1}, {2, 4, 2.4454e-2, 0},         {3, 2, 2.6830e-2, 2.6435e-2},
        {3, 4, 2.5125e-3, 0},         {4, 1, 7.7976e-2, 7.4273e-2}, {4, 2, 6.2461e-3, 0}};
    dgtd_mode mode = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        run r = {rows[i].order, rows[i].side,    1,     .9,       1, 0, PS_DGTD_PEC, true,
                 NULL,          dgtd_mode_value, &mode, PS_DOUBLE};
        check_near(run_error(&r), rows[i].plain, 0, 2e-4);
        r.fraction = .1125;
        r.every = 4;
        if (rows[i].small_step > 0) check_near(run_error(&r), rows[i].small_step, 0, 2e-4);
    }
}

static void single_precision_has_the_same_errors(void **state)
{
    dgtd_mode mode = {0};
    for (int order = 1; order <= 4; ++order) {
        run r = {order,           2,     1,        .9, 10, 0, PS_DGTD_PEC, true, NULL,
                 dgtd_mode_value, &mode, PS_DOUBLE};
        double expected = run_error(&r);
        r.precision = PS_SINGLE;
        check_near(run_error(&r), expected, 1e-6, 1e-5);
    }
}

static void damped_cavity(void **state)
{
    dgtd_mode mode = {1.5};
    run r = {1, 4, 1, .9, 1, 1.5, PS_DGTD_PEC, true, NULL, dgtd_mode_value, &mode, PS_DOUBLE};
    check_near(run_error(&r), 9.613e-2, 0, 3e-4);
    r.side = 8;
    check_near(run_error(&r), 2.846e-2, 0, 3e-4);
}

static void plane_wave_through_absorbing_faces(void **state)
{
    static const struct {
        int order, side;
        double averaged, paper;
    } rows[] = {{1, 4, 1.5246e-1, 1.5563e-1},
                {1, 8, 5.1223e-2, 5.3959e-2},
                {2, 2, 1.4487e-1, 1.5026e-1},
                {3, 2, 6.124e-2, 6.649e-2}};
    const ps_dgtd_incident wave = {PS_DGTD_PLANE_WAVE,
                                   {1, 1, .25, 0, PS_DGTD_GAUSSIAN},
                                   {1. / 3, 2. / 3, 2. / 3},
                                   {2. / 3, -2. / 3, 1. / 3},
                                   {0, 0, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        run r = {rows[i].order, rows[i].side,        2,     .7,       4, 0, PS_DGTD_ABSORBING, true,
                 &wave,         dgtd_incident_value, &wave, PS_DOUBLE};
        check_near(run_error(&r), rows[i].averaged, 0, 1e-3);
        r.averaged = false;
        check_near(run_error(&r), rows[i].paper, 0, 1e-3);
    }
}

static void dipole_field_through_absorbing_faces(void **state)
{
    static const struct {
        int order, side;
        double averaged;
    } rows[] = {{1, 4, .2502}, {1, 8, .07854}, {2, 2, .2011}, {3, 2, .06823}};
    const ps_dgtd_incident dipole = {
        PS_DGTD_DIPOLE, {1, 1.2, .35, 0, PS_DGTD_GAUSSIAN}, {0, 0, 1}, {0, 0, 0}, {.45, .55, -.4}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        run r = {
            rows[i].order, rows[i].side,        2.4,     .7,       4, 0, PS_DGTD_ABSORBING, true,
            &dipole,       dgtd_incident_value, &dipole, PS_DOUBLE};
        check_near(run_error(&r) / .7468, rows[i].averaged, 0, 1e-3);
    }
}

/* ---- invariants: random meshes, fields and materials ---- */

enum { MATERIALS = 50 };

typedef struct random_case {
    dgtd_case x;
    ps_dgtd_material materials[MATERIALS];
    double eps[MATERIALS], mu[MATERIALS], sigma[MATERIALS];
    ps_dgtd_border border;
    ps_dgtd_march march;
} random_case;

/* A shaken cube of random materials, `fraction` of the rule's step. */
static void random_init(random_case *c, int order, ps_precision precision, int kind, double sigma,
                        double fraction)
{
    uint64_t seed = 3;
    memset(c, 0, sizeof *c);
    for (int m = 0; m < MATERIALS; ++m) {
        c->materials[m] = (ps_dgtd_material){
            1 + 5 * check_random(&seed), 1 + 2 * check_random(&seed), sigma * check_random(&seed)};
        c->eps[m] = c->materials[m].eps;
        c->mu[m] = c->materials[m].mu;
        c->sigma[m] = c->materials[m].sigma;
    }
    check_ok(cube_tets_init(&c->x.mesh, 3, .3, kind));
    for (int64_t e = 0; e < c->x.mesh.elements; ++e)
        c->x.mesh.tags[e] = (uint16_t)(MATERIALS * check_random(&seed));
    check_ok(dgtd_case_init(&c->x, order, precision, c->materials, MATERIALS));
    c->march = dgtd_case_march(&c->x, fraction * ps_dgtd_step_constant(order) *
                                          dgtd_least_size(&c->x.body, NULL));
    c->border.averaged = 1;
    dgtd_border_init(&c->border, &c->x, NULL, c->march.dt);
    if (kind == PS_DGTD_ABSORBING) c->march.border = &c->border;
    dgtd_case_random(&c->x, 7);
}

static void random_release(random_case *c) { dgtd_case_release(&c->x); }

static void step_keeping_former(random_case *c)
{
    memcpy(c->x.former, c->x.field[1], dgtd_case_field_bytes(&c->x));
    ps_dgtd_march_steps(&c->march, 1);
}

static double energy(random_case *c)
{
    return dgtd_march_energy(&c->march, c->x.former, c->eps, c->mu, c->x.partial);
}

/* 720 steps; gate 1e-13 in double. */
static void energy_is_conserved(void **state)
{
    for (int order = 1; order <= 4; ++order)
        for (int kind = PS_DGTD_PEC; kind <= PS_DGTD_PMC; ++kind) {
            PS_SCOPED(random_release) random_case c = {0};
            double start, drift = 0;
            random_init(&c, order, PS_DOUBLE, kind, 0, .9);
            step_keeping_former(&c);
            start = energy(&c);
            for (int s = 0; s < 72; ++s) {
                ps_dgtd_march_steps(&c.march, 9);
                step_keeping_former(&c);
                drift = worse_of(drift, fabs(energy(&c) / start - 1));
            }
            assert_true(start > 0);
            check_at_most(drift, 1e-13);
        }
}

static void energy_in_single_precision(void **state)
{
    PS_SCOPED(random_release) random_case c = {0};
    random_init(&c, 3, PS_SINGLE, PS_DGTD_PEC, 0, .9);
    step_keeping_former(&c);
    double start = energy(&c);
    ps_dgtd_march_steps(&c.march, 699);
    step_keeping_former(&c);
    check_near(energy(&c) / start, 1, 1e-6, 0);
}

/* W^{n+1} - W^n = -dt [Eb' (M_sigma + Q_E) Eb + H^{n+1/2}' Q_H (H^{n-1/2} + 2 H^{n+1/2} +
 * H^{n+3/2})/4]: by polarisation, x' Q y = ((x+y)' Q (x+y) - (x-y)' Q (x-y))/4. */
static void energy_balance_with_losses(void **state)
{
    for (int order = 1; order <= 4; ++order) {
        PS_SCOPED(random_release) random_case c = {0};
        random_init(&c, order, PS_DOUBLE, PS_DGTD_ABSORBING, 1, .9);
        size_t bytes = dgtd_case_field_bytes(&c.x);
        void *electric = dgtd_take(&c.x, bytes), *before = dgtd_take(&c.x, bytes),
             *mean = dgtd_take(&c.x, bytes);
        for (int s = 0; s < 5; ++s) {
            step_keeping_former(&c);
            double w0 = energy(&c);
            memcpy(electric, c.x.field[0], bytes);
            memcpy(before, c.x.former, bytes);
            step_keeping_former(&c);
            double w1 = energy(&c), *e = c.x.field[0];
            for (size_t i = 0; i < bytes / sizeof *e; ++i)
                ((double *)mean)[i] = (e[i] + ((double *)electric)[i]) / 2;
            double lost =
                2 * ps_dgtd_inner(&c.x.system, c.sigma, mean, mean, c.x.partial) +
                ps_dgtd_border_power(&c.border, &c.x.system, PS_DGTD_E,
                                     (const void *[]){mean, NULL, NULL}, (double[]){1, 0, 0});
            const void *h[3] = {before, c.x.former, c.x.field[1]};
            double plus = ps_dgtd_border_power(&c.border, &c.x.system, PS_DGTD_H, h,
                                               (double[]){.25, 1.5, .25});
            double minus = ps_dgtd_border_power(&c.border, &c.x.system, PS_DGTD_H, h,
                                                (double[]){-.25, .5, -.25});
            lost += (plus - minus) / 4;
            check_near(w1 - w0, -c.march.dt * lost, 1e-13 * w0, 0);
            check_at_most(w1, w0 * (1 - 1e-3));
        }
    }
}

/* Element-layer ranges in any order and any number of threads give the same bits. */
static void ranges_and_threads_do_not_change_bits(void **state)
{
    for (int precision = 0; precision < 2; ++precision) {
        PS_SCOPED(random_release) random_case a = {0}, b = {0};
        random_init(&a, 2, (ps_precision)precision, PS_DGTD_ABSORBING, 1, .9);
        random_init(&b, 2, (ps_precision)precision, PS_DGTD_ABSORBING, 1, .9);
        omp_set_num_threads(1);
        ps_dgtd_march_steps(&a.march, 10);
        omp_set_num_threads(3);
        for (int s = 0; s < 10; ++s, ++b.march.step)
            for (int field = 0; field < 2; ++field)
                for (int64_t g = b.x.system.groups; g > 0; g = g > 3 ? g - 3 : 0)
                    ps_dgtd_march_half(&b.march, (ps_dgtd_field)field, g > 3 ? g - 3 : 0, g);
        for (int field = 0; field < 2; ++field)
            assert_memory_equal(a.x.field[field], b.x.field[field], dgtd_case_field_bytes(&a.x));
    }
    omp_set_num_threads(omp_get_num_procs());
}
