/* What a network does in a step (port.h), for the host and for devices: LEAF, what each function
 * begins with, is the includer's. */
#include "kernels/dgtd/port_line_body.h"
#include "kernels/dgtd/pulse_body.h"

LEAF double network_source(const ps_dgtd_pulse *x, double t)
{
    double f[3];
    if (x->amplitude == 0) return 0;
    pulse_at(x, t, f);
    return x->shape == PS_DGTD_GAUSSIAN ? x->width * f[1] : f[0];
}

/* Of the mean of V^n and V*, their difference, and V_s. */
typedef struct network_step {
    double rise, mean, change, source, dt;
} network_step;

/* V_s - V = R I + L dI/dt + Q/C, dQ/dt = I. */
LEAF double series_current(const ps_dgtd_network *n, const network_step *x, double *state)
{
    double elastance = n->capacitance > 0 ? 1 / n->capacitance : 0;
    double current =
        (x->source - x->mean + 2 * n->inductance * state[0] / x->dt - state[1] * elastance) /
        (n->resistance + 2 * n->inductance / x->dt + x->dt * elastance / 2 + x->rise / 2);
    state[0] = 2 * current - state[0];
    state[1] += x->dt * current;
    return current;
}

/* V_s/R - I = V/R + C dV/dt + J, L dJ/dt = V. */
LEAF double parallel_current(const ps_dgtd_network *n, const network_step *x, double *state)
{
    double conductance = n->resistance > 0 ? 1 / n->resistance : 0;
    double reluctance = n->inductance > 0 ? x->dt / n->inductance : 0;
    double current =
        (x->source * conductance - (conductance + reluctance / 2) * x->mean -
         n->capacitance * x->change / x->dt - state[0]) /
        (1 + (conductance + reluctance / 2) * x->rise / 2 + n->capacitance * x->rise / x->dt);
    state[0] += reluctance * (x->mean + x->rise * current / 2);
    return current;
}

LEAF double network_current(const ps_dgtd_network *n, const network_step *x, double *state)
{
    return n->parallel ? parallel_current(n, x, state) : series_current(n, x, state);
}

/* Cells of a line that are at work at t, the middle of a step: one more a step. */
LEAF int64_t line_active(const ps_dgtd_line *x, double t, double dt)
{
    int64_t active = (int64_t)(t / dt) + 2;
    return active < x->cells ? active : x->cells;
}

/* I of the port, from V* of it and the currents of the line, and V of the line's first end at n + 1.
 * -I is what the line takes at V - V_s: of its C, whose V is at n + 1, and of all else; or less a
 * current source. t: the middle of the step. */
LEAF double line_join(const ps_dgtd_network *n, const line_gains *g, const line_state *s,
                      double rise, double ahead, double t)
{
    const ps_dgtd_line *line = &n->line;
    double taken = line_taken(g, s);
    double source = network_source(&n->source, g->tm ? t : t + g->dt / 2);
    double inside = g->tm ? source * sqrt(line->eps / line->mu) : 0, above = g->tm ? 0 : source;
    double current = (inside - taken - g->capacity * (ahead - above - s->v[0]) / g->dt) /
                     (1 + g->capacity * rise / g->dt);
    s->v[0] = ahead + rise * current - above;
    return current;
}
