#include <stdlib.h>

#include "kernels/common/mesh_measure.h"
#include "kernels/common/vec3.h"
#include "kernels/tdbem/incident.h"
#include "kernels/tdbem/lag_sum.h"
#include "kernels/tdbem/potential.h"
#include "runtime/scope.h"
#include "tests/check.h"
#include "tests/support/cube.h"

/* Kirchhoff: a field radiated from inside a closed surface S is, outside of S,
 *     u(x,t) = double layer of u on S + single layer of -d_n u on S,
 * and the right side is 0 inside. S is the cube [-1,1]^3 with 12 n^2 triangles, so there is no
 * error of geometry; densities of the field of a point source inside it are sampled. */

typedef struct body {
    icosphere mesh;
    ps_triangle *triangles;
    double *reach;
} body;

static void body_init(body *c, int n)
{
    cube_init(&c->mesh, n);
    for (int64_t i = 0; i < 3 * c->mesh.vertex_count; ++i)
        c->mesh.vertices[i] = 2 * c->mesh.vertices[i] - 1;
    int64_t count = c->mesh.triangle_count;
    c->triangles = aligned_alloc(64, (size_t)count * sizeof(ps_triangle));
    c->reach = calloc((size_t)c->mesh.vertex_count, sizeof(double));
    check_ok(ps_triangles_init(c->mesh.vertices, c->mesh.triangles, count, c->triangles));
    ps_potential_reach(count, c->triangles, c->mesh.triangles, c->reach);
}

static void body_release(body *c)
{
    icosphere_release(&c->mesh);
    PS_FREE(c->triangles, c->reach);
}

enum { STEPS = 260 };
static const double speed = 2, duration = 5;

static ps_incident source(void)
{
    ps_incident incident = {.count = 1, .speed = speed};
    check_ok(ps_emitter_parse("point:at=0.2,-0.1,0.15:width=0.5:delay=2", &incident.emitters[0]));
    return incident;
}

static double density(const body *c, const ps_incident *incident, bool hard, int64_t j, double t)
{
    double gradient[3];
    if (t <= 0) return 0;
    if (hard) return ps_incident_field(incident, c->mesh.vertices + 3 * j, t, NULL);
    ps_incident_field(incident, c->triangles[j].centroid, t, gradient);
    return -ps_dot3(gradient, c->triangles[j].normal);
}

/* The weights of a receiver with their memory, at lags lowest .. highest. */
typedef struct receiver_weights {
    ps_potential potential;
    ps_lag_rows rows;
    int64_t lowest, highest;
} receiver_weights;

static void weights_init(receiver_weights *w, const body *c, bool hard, double dt,
                         const ps_receiver *receiver)
{
    ps_potential *p = &w->potential;
    *p = (ps_potential){.hard = hard,
                        .unknowns = hard ? c->mesh.vertex_count : c->mesh.triangle_count,
                        .triangle_count = c->mesh.triangle_count,
                        .triangles = c->triangles,
                        .vertices = c->mesh.vertices,
                        .corners = c->mesh.triangles,
                        .reach = c->reach,
                        .dt = dt,
                        .speed = speed,
                        .lags = STEPS};
    w->rows = (ps_lag_rows){.first = calloc((size_t)p->unknowns, sizeof(int32_t)),
                            .offset = calloc((size_t)p->unknowns + 1, sizeof(int64_t))};
    ps_potential_extent(p, receiver, &w->rows, &w->lowest, &w->highest);
    w->rows.values = calloc((size_t)w->rows.offset[p->unknowns], sizeof(double));
    PS_SCOPED_MEMORY double *work = aligned_alloc(64, (size_t)ps_potential_workspace(p) * 8 + 64);
    ps_potential_weights(p, receiver, &w->rows, work);
}

static void weights_release(receiver_weights *w)
{
    PS_FREE(w->rows.values, w->rows.offset, w->rows.first);
}

/* Adds the potential of the sampled densities at t_1 .. t_steps to out. */
static void add_potential(const body *c, bool hard, const ps_receiver *receiver, int64_t steps,
                          double *out)
{
    PS_SCOPED(weights_release) receiver_weights w = {0};
    ps_incident incident = source();
    double dt = duration / (double)steps;
    weights_init(&w, c, hard, dt, receiver);
    const ps_lag_rows *rows = &w.rows;
    int64_t before = w.highest > 0 ? w.highest : 0, after = w.lowest < 0 ? -w.lowest : 0;
    PS_SCOPED_MEMORY double *series = calloc((size_t)(before + steps + after + 2), sizeof(double));
    for (int64_t j = 0; j < w.potential.unknowns; ++j) {
        for (int64_t m = 1 - before; m <= steps + after; ++m)
            series[before + m] = density(c, &incident, hard, j, ((double)m - (hard ? 0 : .5)) * dt);
        ps_lag_sum_functions_here()->add(rows->offset[j + 1] - rows->offset[j],
                                         rows->values + rows->offset[j], steps,
                                         series + before + 1 - rows->first[j], out);
    }
}

/* Relative L2 error over time of the Kirchhoff sum with 12 n^2 triangles; inside, the sum
 * relative to the source's field. */
static double kirchhoff_error(int n, int64_t steps, const ps_receiver *receiver, bool inside)
{
    PS_SCOPED(body_release) body c = {0};
    ps_incident incident = source();
    PS_SCOPED_MEMORY double *out = calloc((size_t)steps, sizeof(double));
    double off = 0, norm = 0;
    body_init(&c, n);
    for (int hard = 0; hard < 2; ++hard) add_potential(&c, hard, receiver, steps, out);
    for (int64_t i = 0; i < steps; ++i) {
        double t = (double)(i + 1) * duration / (double)steps, exact;
        if (receiver->far_field) {
            const double *s = incident.emitters[0].place, *e = receiver->place;
            double early = ps_dot3(e, s) / speed;
            exact = ps_pulse_value(&incident.emitters[0], t - 2 + early) / (4 * M_PI);
        } else {
            exact = ps_incident_field(&incident, receiver->place, t, NULL);
        }
        double error = inside ? out[i] : out[i] - exact;
        off += error * error;
        norm += exact * exact;
    }
    return sqrt(off / norm);
}

static void points_outside(void **state)
{
    const ps_receiver near = {{1.3, .2, -.4}, false}, far = {{-3, 2, 4}, false};
    double coarse = kirchhoff_error(6, 60, &far, false),
           fine = kirchhoff_error(12, 120, &far, false);
    check_at_most(coarse, 0.01);
    check_at_most(fine, 0.3 * coarse); /* second order in h and dt */
    check_at_most(kirchhoff_error(12, 120, &near, false), 0.008);
}

static void points_inside(void **state)
{
    const ps_receiver receiver = {{-.5, .4, -.3}, false};
    check_at_most(kirchhoff_error(12, 120, &receiver, true), 0.008);
}

static void far_field(void **state)
{
    const ps_receiver receiver = {{0.6, 0, -0.8}, true};
    double coarse = kirchhoff_error(6, 60, &receiver, false);
    double fine = kirchhoff_error(12, 120, &receiver, false);
    check_at_most(coarse, 0.025);
    check_at_most(fine, 0.3 * coarse);
}

/* A constant unit density fills all lags: the static single layer, and -1 or 0 of the double
 * layer (the solid angle). */
static void sums_of_weights(void **state)
{
    PS_SCOPED(body_release) body c = {0};
    /* Far and near from the triangles on both sides, above the middle of one and beside an edge. */
    const double places[6][3] = {{.3, .1, -.2},
                                 {1.02, .4, .2},
                                 {1 - 1e-9, 1.0 / 6, 1.0 / 3},
                                 {1 + 1e-9, 1.0 / 6, 1.0 / 3},
                                 {1 + 1e-14, 1.0 / 3, 1.0 / 6},
                                 {.5 + 1e-7, .1, 1 + 1e-6}};
    body_init(&c, 4);
    for (int i = 0; i < 6; ++i) {
        double out = 0;
        ps_receiver receiver = {{places[i][0], places[i][1], places[i][2]}, false};
        PS_SCOPED(weights_release) receiver_weights w = {0};
        weights_init(&w, &c, true, .1, &receiver);
        for (int64_t v = 0; v < w.rows.offset[w.potential.unknowns]; ++v) out += w.rows.values[v];
        double winding = ps_winding_number(c.mesh.vertices, c.mesh.triangles, c.mesh.triangle_count,
                                           NULL, NULL, 0, receiver.place);
        check_near(winding, i == 0 || i == 2, 1e-11, 0);
        check_near(out, -winding, 1e-11, 0);
    }
}

static void lag_sum_is_a_convolution(void **state)
{
    uint64_t seed = 5;
    double series[80], weights[11], out[60], expected[60];
    for (int i = 0; i < 80; ++i) series[i] = check_random(&seed) - .5;
    for (int i = 0; i < 11; ++i) weights[i] = check_random(&seed) - .5;
    for (int64_t length = 0; length <= 11; ++length) {
        for (int i = 0; i < 60; ++i) {
            out[i] = expected[i] = i;
            for (int64_t q = 0; q < length; ++q) expected[i] += weights[q] * series[11 + i - q];
        }
        ps_lag_sum_functions_here()->add(length, weights, 60, series + 11, out);
        for (int i = 0; i < 60; ++i) check_near(out[i], expected[i], 1e-13, 0);
    }
}
