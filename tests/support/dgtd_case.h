/*
 * dgtd_case: a system on a cube of tetrahedra with its memory, and the cavity mode to start from.
 */
#ifndef PS_TESTS_SUPPORT_DGTD_CASE_H
#define PS_TESTS_SUPPORT_DGTD_CASE_H

#include <math.h>

#include "kernels/dgtd/march.h"
#include "kernels/dgtd/time_step.h"
#include "tests/support/cube_tets.h"
#include "tests/support/distance.h"
#include "tests/support/random.h"

static const double dgtd_pi = 3.14159265358979323846;
static const ps_dgtd_material dgtd_vacuum = {1, 1, 0};

typedef struct dgtd_case {
    cube_tets mesh;
    ps_dgtd_reference reference;
    ps_dgtd_operators *operators;
    ps_dgtd_system system;
    ps_dgtd_body body;
    void *field[2], *former; /* E, H, and a copy of H */
    double *partial;
    memory_pool memory; /* of all but the mesh; what is added to a case is of it, too */
} dgtd_case;

/* W^n = 1/2 (E^n' M_eps E^n + H^{n-1/2}' M_mu H^{n+1/2}): `former` is H^{n-1/2}; eps[materials],
 * mu[materials]; partial[groups] is scratch. Constant without sigma, absorption and sources. Times
 * eps0 it is in J. */
static inline double dgtd_march_energy(const ps_dgtd_march *x, const void *former,
                                       const double *eps, const double *mu, double *partial)
{
    return ps_dgtd_inner(x->system, eps, x->electric, x->electric, partial) +
           ps_dgtd_inner(x->system, mu, former, x->magnetic, partial);
}

/* The least size of an element; it goes to *element (or NULL). */
static inline double dgtd_least_size(const ps_dgtd_body *body, int64_t *element)
{
    double least = INFINITY;
    for (int64_t e = 0; e < body->elements; ++e) {
        double size = ps_dgtd_element_size(body, e);
        if (size >= least) continue;
        least = size;
        if (element) *element = e;
    }
    return least;
}

static inline void *dgtd_array(size_t bytes)
{
    void *array = aligned_alloc(PS_DGTD_ALIGN, (bytes + 63) / 64 * 64 + 64);
    if (array) memset(array, 0, bytes);
    return array;
}

/* The same as memory of a case; vectors may be read beyond the end. */
static inline void *dgtd_take(dgtd_case *x, size_t bytes)
{
    return pool_take(&x->memory, (bytes + 63) / 64 * 64 + 64);
}

static inline void dgtd_case_release(dgtd_case *x)
{
    pool_release(&x->memory);
    cube_tets_release(&x->mesh);
}

/* The mesh is there; materials[count] stay the caller's. All but the fields. */
static inline ps_status dgtd_case_init_system(dgtd_case *x, int order, ps_precision precision,
                                              const ps_dgtd_material *materials, int64_t count)
{
    ps_dgtd_system *s = &x->system;
    ps_dgtd_bytes bytes;
    ps_dgtd_reference_init(&x->reference, order);
    x->operators = dgtd_take(x, sizeof *x->operators);
    ps_dgtd_operators_init(x->operators, &x->reference);
    *s = (ps_dgtd_system){.order = order,
                          .precision = precision,
                          .reference = &x->reference,
                          .operators = x->operators};
    ps_dgtd_system_count(s, x->mesh.elements, count);
    ps_dgtd_system_bytes(s, &bytes);
    s->tangents = dgtd_take(x, bytes.tangents);
    s->links = dgtd_take(x, bytes.links);
    s->kinds = dgtd_take(x, bytes.kinds);
    s->bordered = dgtd_take(x, bytes.bordered);
    s->material = dgtd_take(x, bytes.material);
    s->steps = dgtd_take(x, bytes.steps);
    x->body = (ps_dgtd_body){x->mesh.elements, count,         x->mesh.vertices, x->mesh.tetrahedra,
                             x->mesh.links,    x->mesh.kinds, x->mesh.tags,     materials};
    return ps_dgtd_system_fill(s, &x->body);
}

static inline ps_status dgtd_case_init(dgtd_case *x, int order, ps_precision precision,
                                       const ps_dgtd_material *materials, int64_t count)
{
    ps_dgtd_bytes bytes;
    PS_TRY(dgtd_case_init_system(x, order, precision, materials, count));
    ps_dgtd_system_bytes(&x->system, &bytes);
    x->field[0] = dgtd_take(x, bytes.field);
    x->field[1] = dgtd_take(x, bytes.field);
    x->former = dgtd_take(x, bytes.field);
    x->partial = dgtd_take(x, (size_t)x->system.groups * sizeof *x->partial);
    return PS_OK;
}

/* A shaken cube of vacuum in metal, with its fields. */
static inline ps_status dgtd_case_cube(dgtd_case *x, int order, ps_precision precision,
                                       int64_t side, double shake)
{
    memset(x, 0, sizeof *x);
    PS_TRY(cube_tets_init(&x->mesh, side, shake, PS_DGTD_PEC));
    return dgtd_case_init(x, order, precision, &dgtd_vacuum, 1);
}

/* A march of the case in steps of dt, which are set. */
static inline ps_dgtd_march dgtd_case_march(dgtd_case *x, double dt)
{
    ps_dgtd_set_step(&x->system, x->body.material, dt);
    return (ps_dgtd_march){
        .system = &x->system, .dt = dt, .electric = x->field[0], .magnetic = x->field[1]};
}

/* Random numbers in (-1/2, 1/2) at all nodes of a field; of both fields. */
static inline void dgtd_field_random(dgtd_case *x, ps_dgtd_field field, uint64_t *seed)
{
    int nodes = x->reference.nodes;
    for (int64_t e = 0; e < x->mesh.elements; ++e)
        for (int i = 0; i < 3 * nodes; ++i)
            ps_dgtd_set_node(&x->system, x->field[field], e, i / nodes, i % nodes,
                             check_random(seed) - .5);
}

static inline void dgtd_case_random(dgtd_case *x, uint64_t seed)
{
    for (int field = 0; field < 2; ++field) dgtd_field_random(x, (ps_dgtd_field)field, &seed);
}

/* The largest difference of the values of fields of two cases of one mesh. */
static inline double dgtd_field_apart(const dgtd_case *x, const void *a, const dgtd_case *y,
                                      const void *b)
{
    double most = 0;
    for (int64_t e = 0; e < x->mesh.elements; ++e)
        for (int i = 0; i < 3 * x->reference.nodes; ++i)
            most = worse_of(most, fabs(ps_dgtd_get(&x->system, a, e, i % 3, i / 3) -
                                       ps_dgtd_get(&y->system, b, e, i % 3, i / 3)));
    return most;
}

static inline size_t dgtd_case_field_bytes(const dgtd_case *x)
{
    ps_dgtd_bytes bytes;
    ps_dgtd_system_bytes(&x->system, &bytes);
    return bytes.field;
}

/* A point of an element by its barycentric coordinates. */
static inline void dgtd_case_point(const dgtd_case *x, int64_t element, const double l[4],
                                   double point[3])
{
    const int32_t *corners = x->mesh.tetrahedra + 4 * element;
    for (int c = 0; c < 3; ++c) {
        point[c] = 0;
        for (int v = 0; v < 4; ++v)
            point[c] += l[v] * x->mesh.vertices[3 * (int64_t)corners[v] + c];
    }
}

/* A vector field of place and time. */
typedef void dgtd_function(const void *of, ps_dgtd_field field, const double point[3], double t,
                           double out[3]);

static inline void dgtd_case_interpolate(dgtd_case *x, ps_dgtd_field field, dgtd_function *f,
                                         const void *of, double t)
{
    for (int64_t e = 0; e < x->mesh.elements; ++e)
        for (int n = 0; n < x->reference.nodes; ++n) {
            double l[4], point[3], value[3];
            ps_dgtd_reference_node(&x->reference, n, l);
            dgtd_case_point(x, e, l, point);
            f(of, field, point, t, value);
            for (int c = 0; c < 3; ++c)
                ps_dgtd_set_node(&x->system, x->field[field], e, c, n, value[c]);
        }
}

enum { DGTD_GAUSS = 10 };

/* Squared L2 distance of one element's field from f, over collapsed Gauss points. */
typedef struct dgtd_rule {
    int side, count; /* side <= DGTD_GAUSS points an axis */
    double l[DGTD_GAUSS * DGTD_GAUSS * DGTD_GAUSS][4], weight[DGTD_GAUSS * DGTD_GAUSS * DGTD_GAUSS];
    double values[DGTD_GAUSS * DGTD_GAUSS * DGTD_GAUSS][PS_DGTD_MAX_NODES];
} dgtd_rule;

static inline void dgtd_rule_init(dgtd_rule *rule, const ps_dgtd_reference *reference, int side)
{
    double x[DGTD_GAUSS], w[DGTD_GAUSS];
    ps_dgtd_gauss(side, x, w);
    rule->side = side;
    rule->count = 0;
    for (int i = 0; i < side; ++i)
        for (int j = 0; j < side; ++j)
            for (int k = 0; k < side; ++k, ++rule->count) {
                double *l = rule->l[rule->count], a = 1 - x[i], b = 1 - x[j];
                l[0] = x[i];
                l[1] = a * x[j];
                l[2] = a * b * x[k];
                l[3] = a * b * (1 - x[k]);
                rule->weight[rule->count] = 6 * w[i] * w[j] * w[k] * a * a * b; /* sums to 1 */
                ps_dgtd_reference_values(reference, l, rule->values[rule->count]);
            }
}

static inline double dgtd_case_error(const dgtd_case *x, const dgtd_rule *rule, ps_dgtd_field field,
                                     dgtd_function *f, const void *of, double t)
{
    double total = 0;
#ifdef _OPENMP
#pragma omp parallel for reduction(+ : total)
#endif
    for (int64_t e = 0; e < x->mesh.elements; ++e) {
        double tangents[3][3], node[3][PS_DGTD_MAX_NODES], sum = 0;
        ps_dgtd_tangents(x->mesh.vertices, x->mesh.tetrahedra + 4 * e, tangents);
        for (int c = 0; c < 3; ++c)
            for (int n = 0; n < x->reference.nodes; ++n)
                node[c][n] = ps_dgtd_get(&x->system, x->field[field], e, c, n);
        for (int q = 0; q < rule->count; ++q) {
            double point[3], exact[3];
            dgtd_case_point(x, e, rule->l[q], point);
            f(of, field, point, t, exact);
            for (int c = 0; c < 3; ++c) {
                for (int n = 0; n < x->reference.nodes; ++n)
                    exact[c] -= rule->values[q][n] * node[c][n];
                sum += rule->weight[q] * exact[c] * exact[c];
            }
        }
        total += sum * 4 / 3 * fabs(ps_dgtd_determinant(tangents));
    }
    return total;
}

/* The largest L2 distance of both fields from f, H being half a step ahead, at every so many of
 * `steps` steps that begin with f. */
static inline double dgtd_march_error(dgtd_case *x, ps_dgtd_march *m, const dgtd_rule *rule,
                                      dgtd_function *f, const void *of, int64_t steps,
                                      int64_t every)
{
    double worst = 0;
    dgtd_case_interpolate(x, PS_DGTD_E, f, of, 0);
    dgtd_case_interpolate(x, PS_DGTD_H, f, of, m->dt / 2);
    if (m->upwind) ps_dgtd_upwind_start(m->upwind, m->system, m->electric);
    while (m->step < steps) {
        ps_dgtd_march_steps(m, every < steps - m->step ? every : steps - m->step);
        double n = (double)m->step, e = dgtd_case_error(x, rule, PS_DGTD_E, f, of, n * m->dt);
        worst = worse_of(worst, e + dgtd_case_error(x, rule, PS_DGTD_H, f, of, (n + .5) * m->dt));
    }
    return sqrt(worst);
}

/* Mode (1, 1, 1) of the cavity, damped where sigma > 0 (numerics guide 6). */
typedef struct dgtd_mode {
    double sigma;
} dgtd_mode;

/* e(t) and h(t); kept from one point to the next, as t is the same. */
static inline double dgtd_mode_factor(const dgtd_mode *mode, ps_dgtd_field field, double t)
{
    static _Thread_local double known[2] = {-1, -1}, factors[2];
    double s = mode->sigma, w = dgtd_pi * sqrt(3), w1 = sqrt(w * w - s * s / 4);
    if (known[0] != t || known[1] != s) {
        double damp = exp(-s * t / 2), e = damp * cos(w1 * t);
        factors[0] = e;
        factors[1] = -(-s / 2 * e - w1 * damp * sin(w1 * t) + s * e) / w;
        known[0] = t;
        known[1] = s;
    }
    return factors[field];
}

static inline void dgtd_mode_value(const void *of, ps_dgtd_field field, const double x[3], double t,
                                   double out[3])
{
    static const double amplitude[3] = {1, -1, 0};
    double factor = dgtd_mode_factor(of, field, t), sine[3], cosine[3];
    for (int a = 0; a < 3; ++a) sincos(dgtd_pi * x[a], &sine[a], &cosine[a]);
    for (int a = 0; a < 3; ++a) {
        int b = (a + 1) % 3, c = (a + 2) % 3;
        out[a] = field == PS_DGTD_E ? factor * amplitude[a] * cosine[a] * sine[b] * sine[c]
                                    : -factor * (amplitude[c] - amplitude[b]) / sqrt(3) * sine[a] *
                                          cosine[b] * cosine[c];
    }
}

/* An incident field as a dgtd_function. */
static inline void dgtd_incident_value(const void *of, ps_dgtd_field field, const double point[3],
                                       double t, double out[3])
{
    double e[3], h[3];
    ps_dgtd_incident_at(of, point, t, e, h);
    memcpy(out, field == PS_DGTD_E ? e : h, sizeof e);
}

/* The border of a case. */
static inline void dgtd_border_init(ps_dgtd_border *border, dgtd_case *x, const uint8_t *total,
                                    double dt)
{
    ps_dgtd_border_count(border, &x->system, &x->body, total);
    size_t traces = 8 * (size_t)border->count * (size_t)x->reference.face_nodes;
    border->elements = dgtd_take(x, (size_t)border->count * sizeof *border->elements);
    border->matrices = dgtd_take(x, (size_t)border->matrix_count * sizeof *border->matrices);
    border->former = dgtd_take(x, traces * sizeof *border->former);
    ps_dgtd_border_fill(border, &x->system, &x->body, total, dt);
}

/* The upwind flux of a case. */
static inline void dgtd_upwind_init(ps_dgtd_upwind *u, dgtd_case *x)
{
    u->slots = x->system.groups * ps_dgtd_lanes(x->system.precision);
    u->own = dgtd_take(x, ps_dgtd_upwind_own_bytes(&x->system));
    u->other = dgtd_take(x, ps_dgtd_upwind_other_bytes(&x->system));
    for (int f = 0; f < 2; ++f) u->former[f] = dgtd_take(x, dgtd_case_field_bytes(x));
    ps_dgtd_upwind_fill(u, &x->system, x->body.material, NULL);
}

/* A layer of some elements of a case. */
static inline void dgtd_pml_init(ps_dgtd_pml *p, dgtd_case *x, const ps_dgtd_pml_profile *profile,
                                 const uint8_t *layer, double dt)
{
    ps_dgtd_pml_bytes bytes;
    ps_dgtd_pml_count(p, &x->system, layer);
    ps_dgtd_pml_size(p, &x->system, profile->shape, &bytes);
    p->groups = dgtd_take(x, bytes.groups);
    p->layer = dgtd_take(x, bytes.layer);
    p->factors = dgtd_take(x, bytes.factors);
    p->frames = bytes.frames ? dgtd_take(x, bytes.frames) : NULL;
    p->former = dgtd_take(x, bytes.former);
    for (int k = 0; k < 2; ++k) p->state[k] = dgtd_take(x, bytes.state);
    ps_dgtd_pml_fill(p, profile, &x->system, &x->body, layer, dt);
}

/* Exact limit of the Kuhn cube as the guide's tables take it: C min V/P. */
static inline double dgtd_kuhn_limit(int order, int64_t side)
{
    static const double c[4] = {2.617, 1.608, 1.0608, .761};
    return c[order - 1] * .06904 / (double)side;
}

#endif
