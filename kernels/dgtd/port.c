#include "kernels/dgtd/port.h"

#include <math.h>

#include "kernels/common/reals.h"
#include "kernels/common/vec3.h"
#include "kernels/dgtd/mesh.h"

#define LEAF static inline
#include "kernels/dgtd/port_body.h"
#undef LEAF

void ps_dgtd_port_count(ps_dgtd_port *x, const ps_dgtd_reference *reference,
                        const ps_dgtd_port_sides *sides)
{
    x->elements = 0;
    for (int64_t i = 0; i < sides->count; ++i)
        x->elements += i == 0 || sides->faces[i] / 4 != sides->faces[i - 1] / 4;
    x->flux.count = x->elements * (3 * reference->nodes + 12 * reference->face_nodes);
}

/* ---- an element ---- */

/* One element while its lists are made: w[node] is what V takes of E there, as a vector. */
typedef struct piece {
    const ps_dgtd_system *system;
    const ps_dgtd_body *body;
    int64_t slot;
    double tangents[3][3], det, areas[4], normals[4][3];
    double w[PS_DGTD_MAX_NODES][3];
} piece;

static void open_piece(const ps_dgtd_system *system, const ps_dgtd_body *body, int64_t slot,
                       piece *x)
{
    *x = (piece){.system = system, .body = body, .slot = slot};
    ps_dgtd_tangents(body->vertices, body->tetrahedra + 4 * slot, x->tangents);
    x->det = ps_dgtd_determinant((const double(*)[3])x->tangents);
    ps_dgtd_faces((const double(*)[3])x->tangents, x->areas, x->normals);
}

/* w += -(1/W) int phi_node gradient dA over a face. */
static void add_face(piece *x, int face, const double (*gradient)[3], int nodes, double norm)
{
    const ps_dgtd_reference *r = x->system->reference;
    for (int m = 0; m < r->face_nodes; ++m) {
        const double *mass = r->face_mass + m * r->face_nodes;
        double all = 0;
        for (int k = 0; k < r->face_nodes; ++k) all += mass[k];
        for (int k = 0; k < nodes; ++k) {
            double integral = (nodes == 1 ? all : mass[k]) * (x->areas[face] / 2);
            for (int c = 0; c < 3; ++c)
                x->w[r->face[face][m]][c] -= integral * gradient[k][c] / norm;
        }
    }
}

/* The change of E by a unit of I: -gain M^-1 int phi grad phi/W = gain M^-1 w. */
static void put_loads(const piece *x, double *loads)
{
    const ps_dgtd_reference *r = x->system->reference;
    double gain = ps_dgtd_gain(x->system, PS_DGTD_E, x->slot);
    for (int c = 0; c < 3; ++c) {
        double b[PS_DGTD_MAX_NODES];
        for (int i = 0; i < r->nodes; ++i) b[i] = x->w[i][c];
        ps_dgtd_divide_by_mass(r, b);
        for (int i = 0; i < r->nodes; ++i)
            loads[c * r->nodes + i] = gain * b[i] / (4. / 3 * fabs(x->det));
    }
}

static void put_flux(const piece *x, int64_t slot, int node, const double factor[3],
                     ps_dgtd_port_list *flux)
{
    const ps_dgtd_system *s = x->system;
    int lanes = ps_dgtd_lanes(s->precision);
    for (int c = 0; c < 3; ++c) {
        flux->places[flux->count] =
            ps_dgtd_offset(s, slot) + (int64_t)(c * s->reference->nodes + node) * lanes;
        flux->factors[flux->count++] = factor[c];
    }
}

/* w . gain curl_h H: own nodes are gathered in own[], neighbours' go to the list. curl (phi_j h) at
 * node i is grad phi_j x h, so that w . of it is h . (w x grad phi_j). */
static void add_volume(const piece *x, double gain, double (*own)[3])
{
    const ps_dgtd_reference *r = x->system->reference;
    for (int q = 0; q < 3; ++q) {
        double gradient[3];
        ps_cross3(x->tangents[(q + 1) % 3], x->tangents[(q + 2) % 3], gradient);
        for (int j = 0; j < r->nodes; ++j) {
            double y[3] = {0}, turned[3];
            for (int i = 0; i < r->nodes; ++i)
                for (int c = 0; c < 3; ++c) y[c] += x->w[i][c] * r->derivative[q][i * r->nodes + j];
            ps_cross3(y, gradient, turned);
            for (int c = 0; c < 3; ++c) own[j][c] += gain * turned[c] / x->det;
        }
    }
}

static void add_lift(const piece *x, int face, double gain, double (*own)[3],
                     ps_dgtd_port_list *flux)
{
    const ps_dgtd_reference *r = x->system->reference;
    int64_t at = 4 * x->slot + face;
    int32_t link = x->body->links[at];
    uint8_t kind = x->body->kinds[at];
    double half = gain * x->areas[face] / (4 * fabs(x->det)); /* F/2 = A/(3 V), V = 4/3 det */
    if (kind == PS_DGTD_PEC) return;
    for (int m = 0; m < r->face_nodes; ++m) {
        double z[3] = {0}, turned[3];
        for (int i = 0; i < r->nodes; ++i)
            for (int c = 0; c < 3; ++c)
                z[c] += half * x->w[i][c] * r->lift[face][i * r->face_nodes + m];
        ps_cross3(z, x->normals[face], turned); /* w . (n x h) = h . (w x n) */
        for (int c = 0; c < 3; ++c)
            own[r->face[face][m]][c] -= (kind == PS_DGTD_PMC ? 2 : 1) * turned[c];
        if (kind == PS_DGTD_INNER) put_flux(x, link / 4, r->face[link % 4][m], turned, flux);
    }
}

static void close_piece(const piece *x, int64_t at, ps_dgtd_port *port)
{
    const ps_dgtd_system *s = x->system;
    int nodes = s->reference->nodes, lanes = ps_dgtd_lanes(s->precision);
    int64_t first = at * 3 * nodes;
    double own[PS_DGTD_MAX_NODES][3] = {{0}}, gain = ps_dgtd_gain(s, PS_DGTD_E, x->slot);
    double keep = ps_dgtd_keep(s, PS_DGTD_E, x->slot);
    port->slots[at] = x->slot;
    put_loads(x, port->loads + first);
    for (int k = 0; k < 3 * nodes; ++k) {
        double w = x->w[k % nodes][k / nodes];
        port->places[first + k] = ps_dgtd_offset(s, x->slot) + (int64_t)k * lanes;
        port->volts[first + k] = w;
        port->kept[first + k] = keep * w;
        port->rise += w * port->loads[first + k];
    }
    add_volume(x, gain, own);
    for (int f = 0; f < 4; ++f) add_lift(x, f, gain, own, &port->flux);
    for (int j = 0; j < nodes; ++j) put_flux(x, x->slot, j, own[j], &port->flux);
}

void ps_dgtd_port_fill(ps_dgtd_port *port, const ps_dgtd_system *system, const ps_dgtd_body *body,
                       const ps_dgtd_port_sides *sides)
{
    piece x;
    port->rise = 0;
    port->flux.count = 0;
    for (int64_t i = 0, at = 0, end; i < sides->count; i = end, ++at) {
        int64_t slot = sides->faces[i] / 4;
        open_piece(system, body, slot, &x);
        for (end = i; end < sides->count && sides->faces[end] / 4 == slot; ++end)
            add_face(&x, sides->faces[end] % 4, sides->gradients + end * sides->nodes, sides->nodes,
                     port->norm);
        close_piece(&x, at, port);
    }
}

/* ---- steps ---- */

void ps_dgtd_port_measure(const ps_dgtd_port *x, const ps_dgtd_system *system, const void *electric,
                          const void *magnetic, double out[2])
{
    int64_t count = x->elements * 3 * system->reference->nodes;
    out[0] = out[1] = 0;
    for (int64_t k = 0; k < count; ++k) {
        double e = ps_real_at(system->precision, electric, x->places[k]);
        out[0] += x->volts[k] * e;
        out[1] += x->kept[k] * e;
    }
    for (int64_t k = 0; k < x->flux.count; ++k)
        out[1] += x->flux.factors[k] * ps_real_at(system->precision, magnetic, x->flux.places[k]);
}

double ps_dgtd_port_source(const ps_dgtd_pulse *x, double t) { return network_source(x, t); }

/* I of the port from V*, and the states of its line a step on. */
static double line_current(ps_dgtd_port *x, double ahead, double t, double dt)
{
    const ps_dgtd_line *line = &x->network.line;
    const line_gains gains = line_gains_of(line, dt);
    const line_state state = line_state_at(line, x->state);
    int64_t active = line_active(line, t, dt);
    double capacity;
    ps_dgtd_line_currents(line, x->state, dt, active, &capacity);
    double current = line_join(&x->network, &gains, &state, x->rise, ahead, t);
    ps_dgtd_line_voltages(line, x->state, dt, active, state.v[0]);
    return current;
}

void ps_dgtd_port_advance(ps_dgtd_port *x, const double measured[2], double t, double dt)
{
    const network_step step = {x->rise, (measured[0] + measured[1]) / 2, measured[1] - measured[0],
                               network_source(&x->network.source, t), dt};
    x->current = x->network.line.guide != PS_DGTD_GUIDE_NONE
                     ? line_current(x, measured[1], t, dt)
                     : network_current(&x->network, &step, x->state);
    x->voltage = step.mean + x->rise * x->current / 2;
}

void ps_dgtd_port_apply(const ps_dgtd_port *x, const ps_dgtd_system *system, void *electric,
                        int64_t begin, int64_t end)
{
    int count = 3 * system->reference->nodes, lanes = ps_dgtd_lanes(system->precision);
    for (int64_t k = 0; k < x->elements; ++k) {
        if (x->slots[k] < begin * lanes || x->slots[k] >= end * lanes) continue;
        for (int64_t i = k * count; i < (k + 1) * count; ++i) {
            double value =
                ps_real_at(system->precision, electric, x->places[i]) + x->current * x->loads[i];
            ps_real_put(system->precision, electric, x->places[i], value);
        }
    }
}

void ps_dgtd_port_work(const ps_dgtd_port *x, const ps_dgtd_system *system, const void *u,
                       int64_t begin, int64_t end, double *work)
{
    int count = 3 * system->reference->nodes, lanes = ps_dgtd_lanes(system->precision);
    for (int64_t k = 0; k < x->elements; ++k) {
        if (x->slots[k] < begin * lanes || x->slots[k] >= end * lanes) continue;
        for (int64_t i = k * count; i < (k + 1) * count; ++i)
            work[x->slots[k] / lanes] +=
                x->current * x->volts[i] * ps_real_at(system->precision, u, x->places[i]);
    }
}
