/* wire: the kernel of its own near field against closed forms, the energy of field and wire, loops, grounds. */
#include "stage/dgtd_wire.h"

#include "tests/check.h"
#include "tests/support/dgtd_ports.h"
#include "tests/support/distance.h"

enum { MATERIALS = 1, NODES = 8, STATES = 64 };

static const ps_dgtd_material materials[MATERIALS] = {{2, 1.5, 0}};

typedef struct wired {
    dgtd_case x;
    ps_dgtd_wire wire;
    ps_dgtd_march march;
    double points[NODES][3], state[STATES];
} wired;

/* The integral over a long line is that of a coaxial pair of currents, by panels that meet the kernel's own
 * lengths, a and R. */
static void kernel_has_the_inductance_of_a_long_wire(void **state)
{
    for (int k = 0; k < 3; ++k) {
        double a = k == 0 ? 1e-2 : k == 1 ? 1e-3 : .1, sum = 0, x[40], w[40];
        double ends[] = {0, a, .1, .5, 1, 2, 4, 20, 200};
        ps_dgtd_gauss(40, x, w);
        for (int i = 0; i < 8 * 40; ++i) {
            double from = ends[i / 40], length = ends[i / 40 + 1] - from, t = x[i % 40];
            double z = from + length * (i < 40 ? pow(t, 4) : t); /* a logarithm at 0 */
            double dz = w[i % 40] * length * (i < 40 ? 4 * pow(t, 3) : 1);
            sum += 2 * dz * ps_dgtd_wire_kernel(z, a, 1);
        }
        check_near(sum, (log(1 / a) - 2297. / 1680) / (2 * M_PI), 0, 1e-5);
    }
}

static void wired_init(wired *p, int order, int path, double resistance)
{
    dgtd_case *x = &p->x;
    double rate;
    memset(p, 0, sizeof *p);
    check_ok(cube_tets_init(&x->mesh, 3, .15, PS_DGTD_PEC));
    check_ok(dgtd_case_init(x, order, PS_DOUBLE, materials, MATERIALS));
    ps_dgtd_wire_shape shape = {.nodes = NODES, .points = (const double(*)[3])p->points,
                                .radius = .01, .width = .2, .eps = 2, .mu = 1.5, .feed = 2};
    for (int n = 0; n < NODES; ++n) {
        double t = n / (NODES - 1.);
        double straight[3] = {.35 + .2 * t, .4 + .1 * t, .25 + .5 * t}, up[3] = {.5, .45, .7 * t};
        double ring[3] = {.5 + .2 * cos(2 * M_PI * t), .5 + .2 * sin(2 * M_PI * t), .5};
        memcpy(p->points[n], path == 0 ? straight : path == 1 ? ring : up, sizeof straight);
    }
    if (path == 1) memcpy(p->points[NODES - 1], p->points[0], sizeof *p->points);
    if (path == 2) shape.ground[0] = true, shape.normal[0][2] = 1;
    check_ok(ps_dgtd_wire_open(&shape, &x->reference, &x->body, &p->wire));
    p->wire.state = p->state;
    p->wire.network = (ps_dgtd_network){
        .resistance = resistance, .inductance = .03, .capacitance = .02};
    check_ok(ps_dgtd_wire_rate(&p->wire, &x->reference, &x->body, &rate));
    double field = ps_dgtd_step_constant(order) * dgtd_least_size(&x->body, NULL);
    double dt = .99 / sqrt(1 / (field * field) + rate / 4);
    p->march = dgtd_case_march(x, dt);
    check_ok(ps_dgtd_wire_set(&p->wire, dt));
    p->march.wires = &p->wire, p->march.wire_count = 1;
    uint64_t seed = 17;
    dgtd_case_random(x, seed);
    for (int k = 0; k < p->wire.currents + p->wire.segments + 1; ++k) p->state[k] = dgtd_uniform(&seed);
}

static void wired_release(wired *p)
{
    ps_dgtd_wire_close(&p->wire);
    dgtd_case_release(&p->x);
}

/* 1/2 Q' P Q + 1/2 I^{n-1/2}' L I^{n+1/2} - dt r/8 ((I^{n+1/2})^2 - (I^{n-1/2})^2) at n, once the step is made; former: I^{n-1/2}. */
static double wire_energy(const wired *p, const double *former)
{
    const ps_dgtd_wire *x = &p->wire;
    const double *i = p->state, *q = p->state + x->currents, dt = p->march.dt;
    double charge[NODES], sum = 0, one = q[x->segments] - dt * i[x->feed];
    for (int k = 0; k < x->segments; ++k) {
        charge[k] = q[k];
        for (int h = 0; h < 2; ++h)
            if (x->ends[k][h] >= 0) charge[k] -= (h ? -dt : dt) * i[x->ends[k][h]];
    }
    for (int k = 0; k < x->segments * x->segments; ++k)
        sum += charge[k / x->segments] * x->elastance[k] * charge[k % x->segments] / 2;
    for (int k = 0; k < x->currents * x->currents; ++k)
        sum += former[k / x->currents] * x->inductance[k] * i[k % x->currents] / 2;
    return sum + one * one / (2 * x->network.capacitance) -
           dt / 8 * x->network.resistance * (pow(i[x->feed], 2) - pow(former[x->feed], 2));
}

/* Field and wire at n, from the second step on: the largest rise from one to the next, and the whole fall, of the
 * first. */
static void follow_energy(wired *p, double *rise, double *fall)
{
    const double eps[] = {materials[0].eps}, mu[] = {materials[0].mu};
    double field = 0, first = 0, last = 0, former[STATES];
    *rise = 0;
    for (int step = 0; step < 120; ++step) {
        memcpy(former, p->state, sizeof former);
        memcpy(p->x.former, p->x.field[1], dgtd_case_field_bytes(&p->x));
        ps_dgtd_march_steps(&p->march, 1);
        double w = field + wire_energy(p, former);
        if (step == 1) first = w;
        if (step > 1) *rise = worse_of(*rise, (w - last) / first);
        last = w;
        field = dgtd_march_energy(&p->march, p->x.former, eps, mu, p->x.partial);
    }
    *fall = 1 - last / first;
}

static void energy_stays(void **state)
{
    for (int k = 0; k < 9; ++k) {
        PS_SCOPED(wired_release) wired p = {0};
        double rise, fall;
        wired_init(&p, 1 + k / 3, k % 3, 0);
        follow_energy(&p, &rise, &fall);
        check_at_most(rise, 1e-13);
        check_at_most(fabs(fall), 1e-12);
    }
}

static void energy_falls_by_resistance(void **state)
{
    PS_SCOPED(wired_release) wired p = {0};
    double rise, fall;
    wired_init(&p, 2, 0, .5);
    follow_energy(&p, &rise, &fall);
    check_at_most(rise, 1e-14);
    assert_true(fall > 1e-4);
}

/* int g dV over the length of the wire is 1, and U of a constant field its length along the wire. */
static void tube_is_covered(void **state)
{
    for (int path = 0; path < 3; ++path) {
        PS_SCOPED(wired_release) wired p = {0};
        double e[3] = {.3, -1, 2};
        wired_init(&p, 2, path, 0);
        double covered = 0; /* points change sides at a segment's ends: the wire's, and hats', are what is exact */
        for (int64_t k = 0; k < p.wire.segments; ++k) covered += p.wire.covered[k] / (double)p.wire.segments;
        check_near(covered, 1, 0, 3e-3);
        for (int64_t s = 0; s < p.x.mesh.elements; ++s)
            for (int i = 0; i < 3 * p.x.reference.nodes; ++i)
                ps_dgtd_set_node(&p.x.system, p.x.field[0], s, i % 3, i / 3, e[i % 3]);
        ps_dgtd_wire_measure(&p.wire, &p.x.system, p.x.field[0]);
        for (int64_t k = 0, m; k < p.wire.segments; ++k) {
            double along = 0;
            for (int64_t l = 0; l < p.wire.segments; ++l)
                for (int h = 0; h < 2; ++h)
                    for (int c = 0; c < 3 && p.wire.ends[l][h] == p.wire.ends[k][0]; ++c)
                        along += e[c] * p.wire.directions[l][c] * p.wire.lengths[l] / 2;
            if ((m = p.wire.ends[k][0]) >= 0) check_near(p.wire.measured[m], along, 2e-3, 5e-3);
        }
    }
}
