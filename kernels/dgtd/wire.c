#include "kernels/dgtd/wire.h"

#include <math.h>
#include <string.h>

#include "kernels/common/vec3.h"
#include "kernels/dgtd/wire_tube.h"

enum { ROUNDS = 400 };
/* What the power iteration may lack of the largest eigenvalue. */
static const double rate_margin = 1.05;

/* ---- the path ---- */

/* Currents are numbered along the wire: in a closed one the last node is the first. */
static void number_currents(const ps_dgtd_wire_shape *shape, ps_dgtd_wire *x)
{
    int64_t last = shape->nodes - 1;
    bool closed = ps_distance3(shape->points[0], shape->points[last]) == 0;
    int32_t count = 0;
    x->feed = -1;
    for (int64_t n = 0; n <= last; ++n) {
        bool end = n == 0 || n == last, has = !end || closed || shape->ground[n > 0];
        int32_t current = !has ? -1 : closed && n == last ? 0 : count++;
        if (n > 0) x->ends[n - 1][1] = current;
        if (n < last) x->ends[n][0] = current;
        if (n == shape->feed) x->feed = current;
    }
    x->currents = count;
}

void ps_dgtd_wire_path(const ps_dgtd_wire_shape *shape, const ps_dgtd_body *body, ps_dgtd_wire *x)
{
    x->segments = shape->nodes - 1;
    number_currents(shape, x);
    for (int64_t k = 0; k < x->segments; ++k) {
        ps_subtract3(shape->points[k + 1], shape->points[k], x->directions[k]);
        x->lengths[k] = ps_norm3(x->directions[k]);
        for (int c = 0; c < 3; ++c) x->directions[k][c] /= x->lengths[k];
    }
    ps_dgtd_wire_list(shape, body, false, x);
}

/* a = l l' in the lower half; false where a is not positive. */
static bool factor(int64_t n, double *a)
{
    for (int64_t j = 0; j < n; ++j) {
        for (int64_t k = 0; k < j; ++k) a[j * n + j] -= a[j * n + k] * a[j * n + k];
        if (!(a[j * n + j] > 0)) return false;
        a[j * n + j] = sqrt(a[j * n + j]);
        for (int64_t i = j + 1; i < n; ++i) {
            for (int64_t k = 0; k < j; ++k) a[i * n + j] -= a[i * n + k] * a[j * n + k];
            a[i * n + j] /= a[j * n + j];
        }
    }
    return true;
}

static ps_status check_positive(const ps_dgtd_wire *x)
{
    memcpy(x->work, x->elastance, (size_t)(x->segments * x->segments) * sizeof *x->work);
    bool positive = factor(x->segments, x->work);
    memcpy(x->work, x->inductance, (size_t)(x->currents * x->currents) * sizeof *x->work);
    positive &= factor(x->currents, x->work);
    return positive
               ? PS_OK
               : ps_fail(PS_INVALID, "its path turns too sharply, or comes back to itself: the "
                                     "inductance of its own near field is not positive");
}

ps_status ps_dgtd_wire_fill(const ps_dgtd_wire_shape *shape, const ps_dgtd_reference *reference,
                            const ps_dgtd_body *body, ps_dgtd_wire *x)
{
    ps_dgtd_wire_matrices(shape, x);
    ps_dgtd_wire_list(shape, body, true, x);
    ps_dgtd_wire_weigh(shape, reference, body, x);
    return check_positive(x);
}

/* ---- steps ---- */

int64_t ps_dgtd_wire_states(const ps_dgtd_wire *x) { return x->currents + x->segments + 2; }

/* A segment's voltage, P Q. */
static double potential(const ps_dgtd_wire *x, const double *charge, int64_t k)
{
    double sum = 0;
    for (int64_t l = 0; l < x->segments; ++l) sum += x->elastance[k * x->segments + l] * charge[l];
    return sum;
}

/* out += D' P charge; charge of the network's capacitance not among them. */
static void add_potentials(const ps_dgtd_wire *x, const double *charge, double *out)
{
    for (int64_t k = 0; k < x->segments; ++k) {
        double v = potential(x, charge, k);
        if (x->ends[k][0] >= 0) out[x->ends[k][0]] += v;
        if (x->ends[k][1] >= 0) out[x->ends[k][1]] -= v;
    }
}

/* charge += dt D current. */
static void move_charges(const ps_dgtd_wire *x, const double *current, double dt, double *charge)
{
    for (int64_t k = 0; k < x->segments; ++k)
        for (int h = 0; h < 2; ++h)
            if (x->ends[k][h] >= 0) charge[k] += (h ? -dt : dt) * current[x->ends[k][h]];
}

ps_status ps_dgtd_wire_set(ps_dgtd_wire *x, double dt)
{
    int64_t n = x->currents;
    if (x->feed >= 0) x->inductance[x->feed * (n + 1)] += x->network.inductance;
    memcpy(x->factor, x->inductance, (size_t)(n * n) * sizeof *x->factor);
    if (x->feed >= 0) x->factor[x->feed * (n + 1)] += dt / 2 * x->network.resistance;
    return factor(n, x->factor) ? PS_OK
                                : ps_fail(PS_INVALID, "a wire's inductance is not positive");
}

void ps_dgtd_wire_potentials(const ps_dgtd_wire *x, double *out)
{
    int64_t n = x->segments;
    memset(out, 0, (size_t)(x->currents * n) * sizeof *out);
    for (int64_t k = 0; k < n; ++k)
        for (int h = 0; h < 2; ++h)
            for (int64_t l = 0; l < n && x->ends[k][h] >= 0; ++l)
                out[x->ends[k][h] * n + l] += (h ? -1 : 1) * x->elastance[k * n + l];
}

void ps_dgtd_wire_inverse(const ps_dgtd_wire *x, double *out)
{
    int64_t n = x->currents;
    memset(out, 0, (size_t)(n * n) * sizeof *out);
    for (int64_t k = 0; k < n; ++k) {
        out[k * (n + 1)] = 1;
        ps_dgtd_solve_lower(n, x->factor, out + k * n);
    }
}

void ps_dgtd_wire_measure(ps_dgtd_wire *x, const ps_dgtd_system *system, const void *electric)
{
    double *out = x->measured;
    int nodes = system->reference->nodes;
    for (int64_t m = 0; m < x->currents; ++m) out[m] = 0;
    for (int64_t i = 0; i < x->elements; ++i) {
        double e[3][PS_DGTD_MAX_NODES];
        for (int c = 0; c < 3 * nodes; ++c)
            e[c / nodes][c % nodes] =
                ps_dgtd_get(system, electric, x->slots[i], c / nodes, c % nodes);
        for (int64_t p = x->first[i]; p < x->first[i + 1]; ++p) {
            const ps_dgtd_wire_pair *pair = x->pair + p;
            const double *t = x->directions[pair->segment];
            for (int h = 0; h < 2; ++h) {
                int32_t m = x->ends[pair->segment][h];
                const double *w = pair->weights + h * nodes;
                for (int j = 0; m >= 0 && j < nodes; ++j)
                    out[m] += w[j] * (t[0] * e[0][j] + t[1] * e[1][j] + t[2] * e[2][j]);
            }
        }
    }
}

/* What the network leaves to wire and field, V at n + 1/2: the slope of I goes on as it went. */
static void tell(ps_dgtd_wire *x, double before, double t, double dt)
{
    double *kept = x->state + x->currents + x->segments, slope;
    const ps_dgtd_network *n = &x->network;
    x->current = x->state[x->feed];
    slope = (x->current - before) / dt;
    kept[0] += dt * x->current;
    x->voltage = ps_dgtd_port_source(&n->source, t) - n->resistance * x->current -
                 n->inductance * (1.5 * slope - .5 * kept[1]);
    if (n->capacitance > 0) x->voltage -= (kept[0] - dt * x->current / 2) / n->capacitance;
    kept[1] = slope;
}

void ps_dgtd_wire_advance(ps_dgtd_wire *x, double t, double dt)
{
    int64_t n = x->currents;
    double *current = x->state, *charge = x->state + n, *force = x->scratch, before = 0;
    memset(force, 0, (size_t)n * sizeof *force);
    add_potentials(x, charge, force);
    for (int64_t k = 0; k < n; ++k) force[k] = dt * (x->measured[k] - force[k]);
    if (x->feed >= 0) {
        const ps_dgtd_network *w = &x->network;
        before = current[x->feed];
        force[x->feed] +=
            dt * (ps_dgtd_port_source(&w->source, t - dt / 2) - w->resistance * before);
        if (w->capacitance > 0) force[x->feed] -= dt * x->state[n + x->segments] / w->capacitance;
    }
    ps_dgtd_solve_lower(n, x->factor, force);
    for (int64_t k = 0; k < n; ++k) current[k] += force[k];
    move_charges(x, current, dt, charge);
    if (x->feed >= 0) tell(x, before, t, dt);
}

void ps_dgtd_wire_apply(const ps_dgtd_wire *x, const ps_dgtd_system *system, void *electric,
                        int64_t begin, int64_t end)
{
    int nodes = system->reference->nodes, lanes = ps_dgtd_lanes(system->precision);
    for (int64_t i = 0; i < x->elements; ++i) {
        int64_t slot = x->slots[i];
        double change[3][PS_DGTD_MAX_NODES] = {{0}};
        if (slot < begin * lanes || slot >= end * lanes) continue;
        double gain = ps_dgtd_gain(system, PS_DGTD_E, slot);
        for (int64_t p = x->first[i]; p < x->first[i + 1]; ++p) {
            const ps_dgtd_wire_pair *pair = x->pair + p;
            const double *t = x->directions[pair->segment];
            for (int h = 0; h < 2; ++h) {
                int32_t m = x->ends[pair->segment][h];
                const double *load = pair->loads + h * nodes;
                for (int c = 0; m >= 0 && c < 3; ++c)
                    for (int j = 0; j < nodes; ++j)
                        change[c][j] -= gain * t[c] * x->state[m] * load[j];
            }
        }
        for (int c = 0; c < 3 * nodes; ++c)
            ps_dgtd_set_node(system, electric, slot, c / nodes, c % nodes,
                             ps_dgtd_get(system, electric, slot, c / nodes, c % nodes) +
                                 change[c / nodes][c % nodes]);
    }
}

void ps_dgtd_wire_work(const ps_dgtd_wire *x, const ps_dgtd_system *system, const void *u,
                       int64_t begin, int64_t end, double *work)
{
    int nodes = system->reference->nodes, lanes = ps_dgtd_lanes(system->precision);
    for (int64_t i = 0; i < x->elements; ++i) {
        int64_t slot = x->slots[i];
        if (slot < begin * lanes || slot >= end * lanes) continue;
        for (int64_t p = x->first[i]; p < x->first[i + 1]; ++p) {
            const ps_dgtd_wire_pair *pair = x->pair + p;
            for (int h = 0; h < 2; ++h) {
                int32_t m = x->ends[pair->segment][h];
                for (int c = 0; m >= 0 && c < 3 * nodes; ++c)
                    work[slot / lanes] -= x->state[m] * x->directions[pair->segment][c / nodes] *
                                          pair->weights[h * nodes + c % nodes] *
                                          ps_dgtd_get(system, u, slot, c / nodes, c % nodes);
            }
        }
    }
}

/* ---- rate ---- */

/* coupling[currents]^2 = U of the field of unit currents after a unit of time. */
static void add_coupling(const ps_dgtd_wire *x, int nodes, const ps_dgtd_body *body,
                         double *coupling)
{
    for (int64_t i = 0; i < x->elements; ++i) {
        uint16_t tag = body->tags ? body->tags[x->slots[i]] : 0;
        for (int64_t p = x->first[i]; p < x->first[i + 1]; ++p)
            for (int64_t q = x->first[i]; q < x->first[i + 1]; ++q)
                for (int h = 0; h < 4; ++h) {
                    const ps_dgtd_wire_pair *a = x->pair + p, *b = x->pair + q;
                    int32_t m = x->ends[a->segment][h / 2], n = x->ends[b->segment][h % 2];
                    double sum = 0;
                    if (m < 0 || n < 0) continue;
                    for (int j = 0; j < nodes; ++j)
                        sum += a->weights[h / 2 * nodes + j] * b->loads[h % 2 * nodes + j];
                    coupling[m * x->currents + n] +=
                        sum * ps_dot3(x->directions[a->segment], x->directions[b->segment]) /
                        body->material[tag].eps;
                }
    }
}

ps_status ps_dgtd_wire_rate(const ps_dgtd_wire *x, const ps_dgtd_reference *reference,
                            const ps_dgtd_body *body, double *out)
{
    int64_t n = x->currents;
    double *coupling = x->work, *inductance = coupling + n * n, *v = inductance + n * n, *w = v + n;
    double *charge = w + n;
    *out = 0;
    if (n == 0) return PS_OK;
    memset(coupling, 0, (size_t)(n * n) * sizeof *coupling);
    add_coupling(x, reference->nodes, body, coupling);
    memcpy(inductance, x->inductance, (size_t)(n * n) * sizeof *inductance);
    if (x->feed >= 0) inductance[x->feed * (n + 1)] += x->network.inductance;
    if (x->feed >= 0 && x->network.capacitance > 0)
        coupling[x->feed * (n + 1)] += 1 / x->network.capacitance;
    bool positive = factor(n, inductance);
    for (int64_t k = 0; k < n; ++k) v[k] = (k % 2 ? -1 : 1) + .3 * (double)(k % 7) / 7;
    for (int round = 0; positive && round < ROUNDS; ++round) {
        double norm = 0;
        memset(charge, 0, (size_t)x->segments * sizeof *charge);
        memset(w, 0, (size_t)n * sizeof *w);
        move_charges(x, v, 1, charge);
        add_potentials(x, charge, w);
        for (int64_t k = 0; k < n * n; ++k) w[k / n] += coupling[k] * v[k % n];
        ps_dgtd_solve_lower(n, inductance, w);
        for (int64_t k = 0; k < n; ++k) norm += w[k] * w[k];
        *out = sqrt(norm);
        for (int64_t k = 0; k < n; ++k) v[k] = w[k] / *out;
    }
    *out *= rate_margin;
    return positive ? PS_OK : ps_fail(PS_INVALID, "a wire's inductance is not positive");
}
