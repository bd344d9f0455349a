/* The thin wires of a model: all ranks know all of their currents and charges, each the fields of
 * its elements. */
#include <stdlib.h>
#include <string.h>

#include "compute/dgtd_march/march.h"
#include "runtime/memory.h"

static ps_status build_wire(problem *p, int64_t k, int64_t first)
{
    const ps_dgtd_wires *all = ps_dgtd_model_wires(p->model);
    const ps_dgtd_wire_spec *spec = all->spec + k;
    ps_dgtd_wire_shape shape = {.nodes = spec->nodes,
                                .points = (const double(*)[3])all->points + first,
                                .radius = spec->radius,
                                .width = spec->width,
                                .eps = spec->eps,
                                .mu = spec->mu,
                                .ground = {spec->ground[0], spec->ground[1]},
                                .feed = spec->feed};
    memcpy(shape.normal, spec->normal, sizeof shape.normal);
    PS_TRY(ps_dgtd_wire_open(&shape, &p->reference, &p->body, p->wires + k));
    p->wires[k].port = spec->port;
    if (spec->port >= 0)
        p->wires[k].network = ports_network(p, ps_dgtd_model_ports(p->model)->spec + spec->port);
    p->wire_state_count += ps_dgtd_wire_states(p->wires + k);
    return ps_dgtd_wire_set(p->wires + k, p->timing.dt);
}

ps_status wires_build(problem *p)
{
    const ps_dgtd_wires *all = ps_dgtd_model_wires(p->model);
    p->wire_count = all->count;
    ps_status status = PS_ALLOC(&p->wires, all->count, "the wires");
    for (int64_t k = 0, first = 0; k < all->count && status == PS_OK; first += all->spec[k++].nodes)
        status = build_wire(p, k, first);
    if (status == PS_OK) status = PS_ALLOC(&p->wire_states, p->wire_state_count, "the wires");
    for (int64_t k = 0, at = 0; k < all->count && status == PS_OK; ++k) {
        p->wires[k].state = p->wire_states + at;
        at += ps_dgtd_wire_states(p->wires + k);
    }
    return ps_comm_agree(status);
}

void wires_release(problem *p)
{
    for (int64_t k = 0; k < p->wire_count && p->wires; ++k) ps_dgtd_wire_close(p->wires + k);
    free(p->wires), free(p->wire_states);
}

/* Of a guess: a disc of the tube of two edges in radius has 280 elements, segments an eighth of it.
 */
int64_t wires_bytes(const problem *p)
{
    const ps_dgtd_wires *all = ps_dgtd_model_wires(p->model);
    int64_t bytes = 0;
    for (int64_t k = 0; k < all->count; ++k) {
        int64_t n = all->spec[k].nodes;
        bytes += 24 * n * n + 8 * n * 280 * (4 * p->reference.nodes + 4);
    }
    return bytes;
}

ps_status wires_advance(march *m, int64_t step)
{
    problem *p = m->problem;
    const ps_dgtd_wires *all = ps_dgtd_model_wires(p->model);
    double t = ((double)step + 0.5) * m->march.dt;
    double *row = m->port_rows + (step - m->done) * 2 * p->port_count;
    if (m->backend->ports) return PS_OK; /* with ports_advance */
    for (int64_t k = 0; k < p->wire_count; ++k) {
        ps_dgtd_wire *x = p->wires + k;
        ps_dgtd_wire_measure(x, &p->system, m->march.electric);
        if (ps_comm_size() > 1) PS_TRY(ps_comm_sum_f64(x->measured, x->currents));
        ps_dgtd_wire_advance(x, t, m->march.dt);
        if (all->spec[k].port < 0) continue;
        row[2 * all->spec[k].port] = x->voltage;
        row[2 * all->spec[k].port + 1] = x->current;
    }
    return PS_OK;
}
