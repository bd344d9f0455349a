/* port: its voltage before a step is known, and energy of field and network stays or falls. */
#include "kernels/dgtd/port.h"

#include "runtime/scope.h"
#include "tests/check.h"
#include "tests/support/dgtd_ports.h"
#include "tests/support/distance.h"

enum { MATERIALS = 5, CELLS = 9, STATES = 3 * CELLS + 2 };

typedef struct ported {
    dgtd_case x;
    ps_dgtd_port port;
    ps_dgtd_march march;
    dgtd_port_sides chosen;
    double state[STATES];
} ported;

static const ps_dgtd_material materials[MATERIALS] = {
    {1, 1, 0}, {2, 1.5, 0}, {4, 1, 0}, {1, 2, 0}, {3, 1, 0}};

static void ported_init(ported *p, int order, ps_dgtd_network network, double fraction)
{
    dgtd_case *x = &p->x;
    memset(p, 0, sizeof *p);
    check_ok(cube_tets_init(&x->mesh, 2, .2, PS_DGTD_PEC));
    for (int64_t e = 0; e < x->mesh.elements; ++e) x->mesh.tags[e] = (uint16_t)(e * 7 % MATERIALS);
    for (int64_t f = 0; f < 4 * x->mesh.elements; ++f)
        if (x->mesh.kinds[f] == PS_DGTD_PEC && f % 5 == 0) x->mesh.kinds[f] = PS_DGTD_PMC;
    check_ok(dgtd_case_init(x, order, PS_DOUBLE, materials, MATERIALS));
    double dt = fraction * ps_dgtd_step_constant(order) * dgtd_least_size(&x->body, NULL);
    p->march = dgtd_case_march(x, dt);
    dgtd_choose_sides(&p->chosen, &x->mesh, 0);
    ps_dgtd_port *port = &p->port;
    if (network.line.guide) ps_dgtd_line_size(&network.line, dt, 4 * (CELLS - 8));
    dgtd_port_init(port, x, &p->chosen.sides, network, p->state);
    p->march.ports = port;
    p->march.port_count = 1;
    dgtd_case_random(x, 17);
}

static void ported_release(ported *p) { dgtd_case_release(&p->x); }

static double voltage_of(const ported *p)
{
    double measured[2];
    ps_dgtd_port_measure(&p->port, &p->x.system, p->x.field[0], p->x.field[1], measured);
    return measured[0];
}

static void voltage_is_known_before_the_step(void **state)
{
    for (int order = 1; order <= 4; ++order) {
        PS_SCOPED(ported_release) ported p = {0};
        double measured[2];
        ported_init(&p, order, (ps_dgtd_network){.resistance = .3}, .9);
        int64_t groups = p.x.system.groups;
        ps_dgtd_port_measure(&p.port, &p.x.system, p.x.field[0], p.x.field[1], measured);
        void *before = dgtd_take(&p.x, dgtd_case_field_bytes(&p.x));
        memcpy(before, p.x.field[0], dgtd_case_field_bytes(&p.x));
        p.march.port_count = 0;
        ps_dgtd_march_half(&p.march, PS_DGTD_E, 0, groups);
        check_near(voltage_of(&p), measured[1], 0, 1e-12);
        memcpy(p.x.field[0], before, dgtd_case_field_bytes(&p.x));
        p.march.port_count = 1;
        p.port.current = 2.5;
        ps_dgtd_march_half(&p.march, PS_DGTD_E, 0, groups);
        check_near(voltage_of(&p), measured[1] + 2.5 * p.port.rise, 0, 1e-12);
        assert_true(p.port.rise > 0);
    }
}

/* Of V at n + 1, of I on either side of it. */
static double line_energy(const ported *p)
{
    const ps_dgtd_line *line = &p->port.network.line;
    double later[STATES], capacity, w = 0, dt = p->march.dt, square = line->cutoff * line->cutoff;
    const double *s = p->port.state, *i = s + CELLS + 1, *sum = i + CELLS;
    const double *i_later = later + CELLS + 1, *sum_later = i_later + CELLS;
    memcpy(later, s, sizeof later);
    ps_dgtd_line_currents(line, later, dt, CELLS, &capacity);
    for (int k = 0; k < CELLS; ++k) {
        w += (k ? 2 : 1) * capacity * s[k] * s[k] / 2 + line->mu / line->norm * line->cell * i[k] * i_later[k] / 2;
        if (line->guide == PS_DGTD_GUIDE_TE)
            w += sum[k] * sum_later[k] * line->mu / (square * line->cell * (k ? 1 : .5)) / 2;
        if (line->guide == PS_DGTD_GUIDE_TM) w += sum[k] * sum[k] * square / line->eps * line->cell / 2;
    }
    return w;
}

/* Of L and C, where the step has come to. */
static double network_energy(const ported *p)
{
    const ps_dgtd_network *n = &p->port.network;
    const double *s = p->port.state;
    if (n->line.guide) return line_energy(p);
    double v = voltage_of(p);
    if (n->parallel) return n->inductance * s[0] * s[0] / 2 + n->capacitance * v * v / 2;
    return n->inductance * s[0] * s[0] / 2 +
           (n->capacitance > 0 ? s[1] * s[1] / (2 * n->capacitance) : 0);
}

/* Of field and network after each of 400 steps: the largest rise and the whole fall, of the first.
 */
static void follow_energy(int order, ps_dgtd_network network, double *rise, double *fall)
{
    PS_SCOPED(ported_release) ported p = {0};
    double eps[MATERIALS], mu[MATERIALS], first = 0, last = 0;
    for (int m = 0; m < MATERIALS; ++m) eps[m] = materials[m].eps, mu[m] = materials[m].mu;
    ported_init(&p, order, network, .95);
    *rise = 0;
    for (int step = 0; step < 400; ++step) {
        memcpy(p.x.former, p.x.field[1], dgtd_case_field_bytes(&p.x));
        ps_dgtd_march_steps(&p.march, 1);
        /* E^{n+1} between H^{n+1/2}, which is `former`, and H^{n+3/2} */
        double w =
            dgtd_march_energy(&p.march, p.x.former, eps, mu, p.x.partial) + network_energy(&p);
        if (step == 0) first = w;
        if (step > 0) *rise = worse_of(*rise, (w - last) / first);
        last = w;
    }
    *fall = 1 - last / first;
}

static void energy_stays_without_resistance(void **state)
{
    static const ps_dgtd_network networks[] = {
        {.inductance = .4},
        {.capacitance = .2},
        {.inductance = .4, .capacitance = .2},
        {.parallel = true, .inductance = .4},
        {.parallel = true, .capacitance = .2},
        {.parallel = true, .inductance = .4, .capacitance = .2}};
    for (int k = 0; k < 6; ++k) {
        double rise, fall;
        follow_energy(1 + k % 3, networks[k], &rise, &fall);
        check_at_most(rise, 1e-13);
        check_at_most(fabs(fall), 1e-12);
    }
}

/* Lines that end in a short circuit: what goes in comes back. */
static void energy_stays_with_a_line(void **state)
{
    static const ps_dgtd_line lines[] = {{PS_DGTD_GUIDE_TEM, 2, 1.5, 1.3, 0, 0, 0},
                                         {PS_DGTD_GUIDE_TE, 2, 1.5, 1, 9, 0, 0},
                                         {PS_DGTD_GUIDE_TM, 2, 1.5, 1, 9, 0, 0}};
    for (int k = 0; k < 3; ++k) {
        double rise, fall;
        follow_energy(1 + k, (ps_dgtd_network){.line = lines[k]}, &rise, &fall);
        check_at_most(rise, 1e-13);
        check_at_most(fabs(fall), 1e-12);
    }
}

/* A vector at each node of a face, all the same, is a vector a face. */
static void nodes_of_a_face_may_have_vectors_of_their_own(void **state)
{
    enum { ORDER = 2, NODES = 6 };
    PS_SCOPED(ported_release) ported p = {0};
    ported_init(&p, ORDER, (ps_dgtd_network){.resistance = .3}, .9);
    double(*each)[3] = dgtd_take(&p.x, DGTD_SIDES_MAX * NODES * sizeof *each);
    int64_t entries = p.port.elements * 3 * p.x.reference.nodes;
    double *volts = dgtd_take(&p.x, (size_t)entries * 8), rise = p.port.rise;
    memcpy(volts, p.port.volts, (size_t)entries * 8);
    for (int64_t k = 0; k < p.chosen.sides.count * NODES; ++k) memcpy(each[k], p.chosen.gradients[k / NODES], sizeof *each);
    const ps_dgtd_port_sides sides = {p.chosen.sides.count, p.chosen.faces, (const double(*)[3])each, NODES};
    ps_dgtd_port_fill(&p.port, &p.x.system, &p.x.body, &sides);
    for (int64_t k = 0; k < entries; ++k) check_near(p.port.volts[k], volts[k], 1e-14, 0);
    check_near(p.port.rise, rise, 0, 1e-12);
}

static void energy_falls_by_resistance(void **state)
{
    static const ps_dgtd_network networks[] = {
        {.resistance = .02},
        {.resistance = 50},
        {.resistance = .3, .inductance = .4, .capacitance = .2},
        {.parallel = true, .resistance = .3, .inductance = .4, .capacitance = .2},
        {.parallel = true, .resistance = 1}};
    for (int k = 0; k < 5; ++k) {
        double rise, fall;
        follow_energy(1 + k % 3, networks[k], &rise, &fall);
        check_at_most(rise, 1e-14);
        assert_true(fall > 1e-4);
    }
}
