/*
 * dgtd_trial: a shaken cube of random materials with boundaries of all kinds, in double on the host
 * and in a precision on a device, with what half steps can have beside.
 */
#ifndef PS_TESTS_SUPPORT_DGTD_TRIAL_H
#define PS_TESTS_SUPPORT_DGTD_TRIAL_H

#include <stdbool.h>

#include "stage/dgtd_local.h"
#include "tests/support/dgtd_device.h"
#include "tests/support/dgtd_media.h"
#include "tests/support/dgtd_ports.h"
#include "tests/support/random.h"

enum { MATERIALS = 50, SIDE = 3, PORTS = 6, CELLS = 14, PORT_STATES = 3 * CELLS + 2 };

/* What a case has beside PEC, PMC and random materials. */
typedef struct setting {
    const char *name;
    bool absorbing, averaged, incident, total, current, lossy, upwind;
    ps_dgtd_incident_kind kind;
    bool layer; /* in some elements, of a shape */
    ps_dgtd_pml_shape shape;
    bool local;   /* steps of up to four classes, at random */
    bool poles;   /* in most media, of all kinds            */
    bool tensors; /* in some                                */
    bool ports;   /* of all sorts                           */
} setting;

static const setting settings[] = {
    {.name = "metal", .averaged = true},
    {.name = "absorbing averaged, plane wave", .absorbing = true, .averaged = true,
     .incident = true, .lossy = true},
    {.name = "absorbing paper, dipole", .absorbing = true, .incident = true, .lossy = true,
     .kind = PS_DGTD_DIPOLE},
    {.name = "total/scattered, current", .absorbing = true, .averaged = true, .incident = true,
     .total = true, .current = true, .lossy = true},
    {.name = "upwind, plane wave, current", .absorbing = true, .averaged = true, .incident = true,
     .current = true, .lossy = true, .upwind = true},
    {.name = "layer of a box", .absorbing = true, .averaged = true, .incident = true,
     .current = true, .layer = true},
    {.name = "layer of a ball", .averaged = true, .layer = true, .shape = PS_DGTD_PML_BALL},
    {.name = "layer of a box, upwind", .averaged = true, .upwind = true, .layer = true},
    {.name = "layer of a ball, upwind", .absorbing = true, .averaged = true, .incident = true,
     .current = true, .upwind = true, .layer = true, .shape = PS_DGTD_PML_BALL},
    {.name = "local steps", .averaged = true, .lossy = true, .local = true},
    {.name = "local steps, total/scattered, current", .absorbing = true, .averaged = true,
     .incident = true, .total = true, .current = true, .lossy = true, .local = true},
    {.name = "local steps, layer of a box", .absorbing = true, .averaged = true, .incident = true,
     .current = true, .layer = true, .local = true},
    {.name = "poles", .averaged = true, .poles = true},
    {.name = "poles and tensors", .averaged = true, .lossy = true, .poles = true, .tensors = true},
    {.name = "poles, total/scattered, current", .absorbing = true, .averaged = true,
     .incident = true, .total = true, .current = true, .lossy = true, .poles = true},
    {.name = "poles, upwind, current", .absorbing = true, .averaged = true, .incident = true,
     .current = true, .lossy = true, .upwind = true, .poles = true},
    {.name = "poles, local steps", .averaged = true, .lossy = true, .local = true, .poles = true},
    {.name = "ports", .averaged = true, .lossy = true, .ports = true},
    {.name = "ports, poles, local steps", .averaged = true, .local = true, .poles = true,
     .ports = true},
};

/* The same system in a precision and in double, and the device's. */
typedef struct trial {
    dgtd_case x, exact;
    ps_dgtd_material materials[MATERIALS];
    ps_dgtd_border border, device_border;
    ps_dgtd_incident incident;
    ps_dgtd_current current;
    ps_dgtd_march march;                  /* of exact */
    ps_dgtd_upwind upwind, device_upwind; /* of exact, and of x for the device */
    ps_dgtd_pml pml, device_pml;          /* likewise */
    uint8_t *total, *layer, *reach;
    ps_dgtd_local_steps local, device_local; /* likewise */
    ps_dgtd_pole poles[MATERIALS][PS_DGTD_POLES_MAX];
    double tensors[MATERIALS][6];
    ps_dgtd_constitution media[MATERIALS];
    ps_dgtd_dispersion dispersion, device_dispersion; /* likewise */
    dgtd_port_sides sides[PORTS];
    ps_dgtd_port ports[PORTS], device_ports[PORTS]; /* likewise */
    double port_states[2][PORTS][PORT_STATES];
    dgtd_device d;
} trial;

static inline void random_materials(trial *t, bool lossy, uint64_t *seed)
{
    for (int m = 0; m < MATERIALS; ++m)
        t->materials[m] = (ps_dgtd_material){1 + 5 * check_random(seed), 1 + 2 * check_random(seed),
                                             lossy ? check_random(seed) : 0};
}

/* Of every fifth medium none, else 1 to 4 poles, of the kinds in turn; rates from a hundredth of a
 * step's to a hundred times it. A tensor has the medium's eps as a bound below. */
static inline void random_media(trial *t, bool tensors)
{
    uint64_t seed = 31;
    double rate = 1 / t->march.dt;
    for (int m = 0; m < MATERIALS; ++m) {
        ps_dgtd_constitution *x = &t->media[m];
        double eps = t->materials[m].eps, off = check_random(&seed) / 3, *tensor = t->tensors[m];
        *x = (ps_dgtd_constitution){.eps = eps, .sigma = t->materials[m].sigma};
        x->pole_count = m % 5;
        x->poles = t->poles[m];
        for (int k = 0; k < x->pole_count; ++k)
            t->poles[m][k] = (ps_dgtd_pole){.kind = (ps_dgtd_pole_kind)((m + k) % 3),
                                            .strength = 3 * check_random(&seed) + .1,
                                            .frequency = rate * check_random(&seed),
                                            .rate = rate * pow(10, 4 * check_random(&seed) - 2)};
        memcpy(tensor, (double[]){eps + 1, eps + 2, eps + 1.5, off, -off, off / 2}, sizeof *t->tensors);
        if (tensors && m % 3 == 0) x->tensor = tensor;
        t->materials[m].sigma +=
            2 * rate * ps_dgtd_poles_weight(x->poles, x->pole_count, t->march.dt);
    }
}

static inline void add_media(trial *t, bool tensors)
{
    random_media(t, tensors);
    dgtd_media_init(&t->dispersion, &t->exact, t->media, t->materials, t->march.dt);
    dgtd_media_init(&t->device_dispersion, &t->x, t->media, t->materials, t->march.dt);
}

static inline ps_status make_mesh(cube_tets *mesh, bool absorbing)
{
    uint64_t seed = 11;
    int kinds = absorbing ? 3 : 2;
    PS_TRY(cube_tets_init(mesh, SIDE, .3, PS_DGTD_PEC));
    for (int64_t f = 0; f < 4 * mesh->elements; ++f)
        if (mesh->links[f] < 0)
            mesh->kinds[f] = (uint8_t)(PS_DGTD_PEC + (int)(kinds * check_random(&seed)));
    for (int64_t e = 0; e < mesh->elements; ++e)
        mesh->tags[e] = (uint16_t)(MATERIALS * check_random(&seed));
    return PS_OK;
}

/* Random coefficients in -1/2 .. 1/2, as values at nodes in the precision of x, in both cases. */
static inline void random_fields(trial *t, const ps_dgtd_bernstein *bases)
{
    uint64_t seed = 7;
    int n = t->x.reference.nodes;
    for (int64_t i = 0; i < 6 * t->x.mesh.elements; ++i) {
        double in[PS_DGTD_MAX_NODES];
        int c = (int)(i / 2 % 3), f = (int)(i % 2);
        for (int k = 0; k < n; ++k) in[k] = check_random(&seed) - .5;
        for (int k = 0; k < n; ++k) {
            double sum = 0;
            for (int j = 0; j < n; ++j) sum += bases->to_nodes[k * n + j] * in[j];
            ps_dgtd_set_node(&t->x.system, t->x.field[f], i / 6, c, k, sum);
            ps_dgtd_set_node(&t->exact.system, t->exact.field[f], i / 6, c, k,
                             ps_dgtd_get(&t->x.system, t->x.field[f], i / 6, c, k));
        }
    }
}

static inline ps_status add_current(trial *t)
{
    t->current = (ps_dgtd_current){.moment = {1, .1, .2, 3, PS_DGTD_GAUSSIAN},
                                   .axis = {.6, 0, .8},
                                   .origin = {.5, .45, .55},
                                   .radius = .35};
    t->current.count = ps_dgtd_current_count(&t->current, &t->exact.body);
    t->current.slots = dgtd_take(&t->exact, (size_t)t->current.count * sizeof *t->current.slots);
    t->current.loads = dgtd_take(&t->exact, (size_t)(t->current.count * t->x.reference.nodes) *
                                                sizeof *t->current.loads);
    PS_TRY(ps_dgtd_current_fill(&t->current, &t->exact.reference, &t->exact.body));
    t->march.currents = &t->current;
    t->march.current_count = 1;
    return dgtd_device_add_current(&t->d, &t->x, &t->current);
}

static inline ps_status add_border(trial *t, const setting *s)
{
    t->incident = (ps_dgtd_incident){s->kind,
                                     {1, .3, .4, 2, PS_DGTD_GAUSSIAN},
                                     {1. / 3, 2. / 3, 2. / 3},
                                     {2. / 3, -2. / 3, 1. / 3},
                                     {.45, .55, -.4}};
    if (s->total) {
        t->total = dgtd_take(&t->exact, (size_t)t->x.mesh.elements);
        for (int64_t e = 0; e < t->x.mesh.elements; ++e) {
            double centre[3];
            dgtd_case_point(&t->exact, e, (double[]){.25, .25, .25, .25}, centre);
            t->total[e] = centre[0] + .3 * centre[1] < .6;
        }
    }
    t->border =
        (ps_dgtd_border){.averaged = s->averaged, .incident = s->incident ? &t->incident : NULL};
    t->device_border = t->border;
    dgtd_border_init(&t->border, &t->exact, t->total, t->march.dt);
    dgtd_border_init(&t->device_border, &t->x, t->total, t->march.dt);
    t->march.border = &t->border;
    return dgtd_device_add_border(&t->d, &t->x, &t->device_border, t->total);
}

static inline ps_status add_upwind(trial *t)
{
    dgtd_upwind_init(&t->upwind, &t->exact);
    dgtd_upwind_init(&t->device_upwind, &t->x);
    ps_dgtd_upwind_start(&t->upwind, &t->exact.system, t->exact.field[0]);
    t->march.upwind = &t->upwind;
    return dgtd_device_add_upwind(&t->d, &t->device_upwind);
}

static inline void fill_pml(const trial *t, dgtd_case *x, ps_dgtd_pml_shape shape, ps_dgtd_pml *p)
{
    ps_dgtd_pml_profile profile = {.shape = shape,
                                   .inner = {{.3, -1, .35}, {2, .7, .7}},
                                   .thickness = {{.3, 0, .35}, {0, .3, .3}},
                                   .centre = {.51, .5, .49},
                                   .radius = .2,
                                   .grading = 2,
                                   .kappa = 2,
                                   .alpha = .3};
    for (int k = 0; k < 6; ++k) profile.sigma[k / 3][k % 3] = 20;
    if (shape == PS_DGTD_PML_BALL) profile.thickness[0][0] = .7;
    dgtd_pml_init(p, x, &profile, t->layer, t->march.dt);
}

/* Two of three elements, so that groups have elements of both sorts; none that absorbs, whose
 * traces a device keeps before the layer's filters. */
static inline ps_status add_pml(trial *t, ps_dgtd_pml_shape shape)
{
    t->layer = dgtd_take(&t->exact, (size_t)t->x.mesh.elements);
    for (int64_t e = 0; e < t->x.mesh.elements; ++e) {
        t->layer[e] = e % 3 > 0 && e > 20;
        for (int64_t f = 4 * e; f < 4 * e + 4; ++f)
            if (t->x.mesh.links[f] < 0 && t->x.mesh.kinds[f] == PS_DGTD_ABSORBING) t->layer[e] = 0;
    }
    fill_pml(t, &t->exact, shape, &t->pml);
    fill_pml(t, &t->x, shape, &t->device_pml);
    t->march.pml = &t->pml;
    return dgtd_device_add_pml(&t->d, &t->device_pml);
}

/* Ports that share elements: in series and parallel, one of them driven. */
static inline ps_status add_ports(trial *t)
{
    const double dt = t->march.dt;
    const ps_dgtd_pulse pulse = {1, 4 * dt, 3 * dt, .2 / dt, PS_DGTD_GAUSSIAN};
    const ps_dgtd_network networks[PORTS] = {
        {.resistance = .4, .inductance = .2, .capacitance = .3, .source = pulse},
        {.parallel = true, .resistance = 2, .inductance = .1, .capacitance = .2},
        {.resistance = 1, .source = pulse},
        {.source = pulse, .line = {PS_DGTD_GUIDE_TEM, 2.1, 1.1, .7, 0, 3 * dt, CELLS}},
        {.source = pulse, .line = {PS_DGTD_GUIDE_TE, 1.5, 1, 1, .2 / dt, 3 * dt, CELLS}},
        {.source = pulse, .line = {PS_DGTD_GUIDE_TM, 1, 1.4, 1, .3 / dt, 3 * dt, CELLS}}};
    for (int k = 0; k < PORTS; ++k) {
        dgtd_choose_sides(&t->sides[k], &t->x.mesh, 11 * k);
        dgtd_port_init(&t->ports[k], &t->exact, &t->sides[k].sides, networks[k],
                       t->port_states[0][k]);
        dgtd_port_init(&t->device_ports[k], &t->x, &t->sides[k].sides, networks[k],
                       t->port_states[1][k]);
        for (int i = 0; i < 2 * PORT_STATES; ++i)
            t->port_states[i / PORT_STATES][k][i % PORT_STATES] = .3 - .2 * (i % 2) + .1 * (k % 3);
    }
    t->march.ports = t->ports;
    t->march.port_count = PORTS;
    return dgtd_device_add_ports(&t->d, &t->x, t->device_ports, PORTS);
}

/* Elements with absorbing faces, at the total field's surface and in the layer are closed. */
static inline ps_status add_local(trial *t)
{
    const cube_tets *mesh = &t->x.mesh;
    int64_t count = mesh->elements;
    uint64_t seed = 23;
    uint8_t *classes = dgtd_take(&t->exact, 4 * (size_t)count), *closed = classes + count;
    t->reach = dgtd_take(&t->exact, (size_t)t->x.system.groups * PS_DGTD_LANES_F32);
    for (int64_t e = 0; e < count; ++e) {
        double r = check_random(&seed);
        classes[e] = (uint8_t)((r > .8) + (r > .93) + (r > .97) + (r > .99));
        closed[e] = t->layer && t->layer[e];
        for (int64_t f = 4 * e; f < 4 * e + 4; ++f) {
            int32_t link = mesh->links[f];
            closed[e] |= mesh->kinds[f] == PS_DGTD_ABSORBING;
            closed[e] |= link >= 0 && t->total && t->total[e] != t->total[link / 4];
        }
    }
    int levels =
        ps_dgtd_local_reach(mesh->links, count, classes, closed, classes + 2 * count, t->reach);
    PS_TRY(ps_dgtd_local_open(&t->local, &t->exact.system, t->materials, t->reach, levels,
                              t->march.dt, (int64_t)dgtd_case_field_bytes(&t->exact)));
    PS_TRY(ps_dgtd_local_open(&t->device_local, &t->x.system, t->materials, t->reach, levels,
                              t->march.dt, (int64_t)dgtd_case_field_bytes(&t->x)));
    t->march.local = &t->local.local;
    return dgtd_device_add_local(&t->d, &t->x, &t->device_local.local, t->reach);
}

static inline ps_status start(trial *t, ps_device *device, int order, ps_precision precision,
                              ps_dgtd_device_mode mode, const setting *s)
{
    uint64_t seed = 3;
    memset(t, 0, sizeof *t);
    random_materials(t, s->lossy, &seed);
    PS_TRY(make_mesh(&t->x.mesh, s->absorbing));
    PS_TRY(make_mesh(&t->exact.mesh, s->absorbing));
    PS_TRY(dgtd_case_init(&t->x, order, precision, t->materials, MATERIALS));
    PS_TRY(dgtd_case_init(&t->exact, order, PS_DOUBLE, t->materials, MATERIALS));
    t->march = (ps_dgtd_march){
        .system = &t->exact.system, .electric = t->exact.field[0], .magnetic = t->exact.field[1]};
    t->march.dt = (s->upwind ? .4 : .7) * ps_dgtd_step_constant(order) *
                  dgtd_least_size(&t->exact.body, NULL);
    ps_dgtd_set_step(&t->x.system, t->materials, t->march.dt);
    ps_dgtd_set_step(&t->exact.system, t->materials, t->march.dt);
    if (s->poles) add_media(t, s->tensors);
    PS_TRY(dgtd_device_init(&t->d, device, &t->x, mode, t->march.dt, 5));
    if (s->poles) PS_TRY(dgtd_device_add_media(&t->d, &t->device_dispersion));
    random_fields(t, &t->d.tables->bases);
    if (s->absorbing) PS_TRY(add_border(t, s));
    if (s->current) PS_TRY(add_current(t));
    if (s->layer) PS_TRY(add_pml(t, s->shape));
    if (s->local) PS_TRY(add_local(t));
    if (s->ports) PS_TRY(add_ports(t));
    PS_TRY(dgtd_device_put(&t->d, t->x.field));
    return s->upwind ? add_upwind(t) : PS_OK;
}

static inline void stop(trial *t)
{
    dgtd_device_release(&t->d);
    ps_dgtd_local_close(&t->local);
    ps_dgtd_local_close(&t->device_local);
    dgtd_case_release(&t->x);
    dgtd_case_release(&t->exact);
}

/* Relative L2 distance of both fields of x from those of exact. */
static inline double distance(const trial *t)
{
    double difference = 0, size = 0;
    for (int64_t e = 0; e < t->x.mesh.elements; ++e)
        for (int i = 0; i < 6 * t->x.reference.nodes; ++i) {
            int f = i % 2, c = i / 2 % 3, n = i / 6;
            double a = ps_dgtd_get(&t->x.system, t->x.field[f], e, c, n);
            double b = ps_dgtd_get(&t->exact.system, t->exact.field[f], e, c, n);
            difference += (a - b) * (a - b);
            size += b * b;
        }
    return sqrt(difference / size);
}

#endif
