/* The lumped ports of a model: what they are of in this rank's elements, their steps and signals.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compute/dgtd_march/march.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

/* Sides in own elements, by slot. */
static int64_t own_sides(const problem *p, int64_t first, int64_t count, int32_t *faces,
                         double (*gradients)[3])
{
    const ps_dgtd_ports *all = ps_dgtd_model_ports(p->model);
    int64_t own = 0;
    for (int64_t i = first; i < first + count; ++i) {
        int64_t slot = all->faces[i] / 4 - p->domain.first;
        if (slot < 0 || slot >= p->domain.elements) continue;
        faces[own] = (int32_t)(4 * slot + all->faces[i] % 4);
        memcpy(gradients + own++ * all->nodes, all->gradients + i * all->nodes,
               (size_t)all->nodes * sizeof *gradients);
    }
    return own;
}

/* What a port ends in; the line of a mode is as long as this run needs it. */
ps_dgtd_network ports_network(const problem *p, const ps_dgtd_port_spec *spec)
{
    const ps_dgtd_port_mode *mode = &spec->mode;
    ps_dgtd_network out = {
        .parallel = spec->parallel,
        .resistance = spec->resistance / PS_DGTD_Z0,
        .inductance = spec->inductance * PS_DGTD_C0 / PS_DGTD_Z0,
        .capacitance = spec->capacitance / PS_DGTD_EPS0,
        .source = {spec->amplitude, spec->centre, spec->width, spec->omega,
                   (ps_dgtd_shape)spec->shape},
        .line = {(ps_dgtd_guide)mode->guide, mode->eps, mode->mu, spec->norm, mode->cutoff, 0, 0}};
    if (mode->guide) ps_dgtd_line_size(&out.line, p->timing.dt, p->timing.steps);
    return out;
}

static ps_status build_port(problem *p, int64_t k, int64_t first)
{
    const ps_dgtd_ports *all = ps_dgtd_model_ports(p->model);
    const ps_dgtd_port_spec *spec = all->spec + k;
    ps_dgtd_port *x = p->ports + k;
    PS_SCOPED_MEMORY int32_t *faces = NULL;
    PS_SCOPED_MEMORY double(*gradients)[3] = NULL;
    PS_TRY(PS_ALLOC(&faces, spec->sides, "a port"));
    PS_TRY(PS_ALLOC(&gradients, spec->sides * all->nodes, "a port"));
    int64_t own = own_sides(p, first, spec->sides, faces, gradients);
    const ps_dgtd_port_sides sides = {own, faces, (const double(*)[3])gradients, all->nodes};
    ps_dgtd_port_count(x, &p->reference, &sides);
    int64_t entries = x->elements * 3 * p->reference.nodes;
    PS_TRY(PS_ALLOC(&x->slots, x->elements, "a port"));
    PS_TRY(PS_ALLOC(&x->places, entries, "a port"));
    PS_TRY(PS_ALLOC(&x->volts, entries, "a port"));
    PS_TRY(PS_ALLOC(&x->kept, entries, "a port"));
    PS_TRY(PS_ALLOC(&x->loads, entries, "a port"));
    PS_TRY(PS_ALLOC(&x->flux.places, x->flux.count, "a port"));
    PS_TRY(PS_ALLOC(&x->flux.factors, x->flux.count, "a port"));
    x->norm = spec->norm;
    ps_dgtd_port_fill(x, &p->system, &p->body, &sides);
    return PS_OK;
}

static int64_t ports_states(const ps_dgtd_port *x)
{
    return x->network.line.guide ? ps_dgtd_line_states(&x->network.line) : 2;
}

ps_status ports_build(problem *p)
{
    const ps_dgtd_ports *all = ps_dgtd_model_ports(p->model);
    int64_t at = 0;
    p->port_count = all->count;
    ps_status status = PS_ALLOC(&p->ports, all->count, "the ports");
    for (int64_t k = 0; k < all->count && status == PS_OK; ++k) {
        p->ports[k].network = ports_network(p, all->spec + k);
        p->port_state_count += ports_states(p->ports + k);
    }
    if (status == PS_OK) status = PS_ALLOC(&p->port_states, p->port_state_count, "the ports");
    for (int64_t k = 0; k < all->count && status == PS_OK; at += ports_states(p->ports + k++))
        p->ports[k].state = p->port_states + at;
    for (int64_t k = 0, first = 0; k < all->count && status == PS_OK; first += all->spec[k++].sides)
        if (all->spec[k].sides > 0) status = build_port(p, k, first);
    PS_TRY(ps_comm_agree(status));
    for (int64_t k = 0; k < all->count; ++k) PS_TRY(ps_comm_sum_f64(&p->ports[k].rise, 1));
    return PS_OK;
}

void ports_release(problem *p)
{
    for (int64_t k = 0; k < p->port_count && p->ports; ++k) {
        ps_dgtd_port *x = p->ports + k;
        PS_FREE(x->slots, x->places, x->volts, x->kept, x->loads, x->flux.places, x->flux.factors);
    }
    free(p->ports), free(p->port_states);
}

int64_t ports_bytes(const problem *p)
{
    const ps_dgtd_ports *all = ps_dgtd_model_ports(p->model);
    int64_t element = 8 * (15 * p->reference.nodes + 24 * p->reference.face_nodes + 1);
    int64_t bytes = all->sides * (element + 4 + 24 * all->nodes);
    for (int64_t k = 0; k < all->count; ++k) {
        const ps_dgtd_network network = ports_network(p, all->spec + k);
        bytes += 8 * ps_dgtd_line_states(&network.line);
    }
    return bytes;
}

/* From V^n and V* of all ranks to V and I in the batch's row. */
static void port_step(march *m, int64_t k, int64_t step, const double measured[2])
{
    problem *p = m->problem;
    ps_dgtd_port *x = p->ports + k;
    double *row = m->port_rows + (step - m->done) * 2 * p->port_count;
    if (ps_dgtd_model_ports(p->model)->spec[k].sides == 0) return; /* of a wire */
    ps_dgtd_port_advance(x, measured, ((double)step + 0.5) * m->march.dt, m->march.dt);
    row[2 * k] = x->voltage;
    row[2 * k + 1] = x->current;
}

void port_advance(march *m, int64_t k, int64_t step)
{
    double measured[2];
    ps_dgtd_port_measure(m->problem->ports + k, &m->problem->system, m->march.electric,
                         m->march.magnetic, measured);
    port_step(m, k, step, measured);
}

ps_status ports_advance(march *m, int64_t step)
{
    problem *p = m->problem;
    double measured[2 * PS_DGTD_PORTS_MAX];
    if (p->port_count + p->wire_count == 0) return PS_OK;
    if (m->backend->ports) return m->backend->ports(m->state, step, step - m->done);
    for (int64_t k = 0; k < p->port_count; ++k)
        ps_dgtd_port_measure(p->ports + k, &p->system, m->march.electric, m->march.magnetic,
                             measured + 2 * k);
    if (ps_comm_size() > 1) PS_TRY(ps_comm_sum_f64(measured, 2 * p->port_count));
    for (int64_t k = 0; k < p->port_count; ++k) port_step(m, k, step, measured + 2 * k);
    return PS_OK;
}

void ports_row(const march *m, int64_t i, double *out)
{
    const int64_t count = m->problem->port_count;
    const double *row = m->port_rows + i * 2 * count;
    bool told = m->backend->ports || ps_comm_rank() == 0; /* on cores all ranks know all ports */
    for (int64_t k = 0; k < count && told; ++k) {
        out[2 * k] = row[2 * k];
        out[2 * k + 1] = row[2 * k + 1] / PS_DGTD_Z0;
    }
}

/* Elements of wires come behind those of ports. */
ps_status ports_check_device(const problem *p)
{
    double ranks[PS_DGTD_PORTS_MAX + PS_DGTD_WIRES_MAX] = {0};
    const int64_t ports = p->port_count, all = ports + p->wire_count;
    if (all == 0) return PS_OK;
    for (int64_t k = 0; k < all; ++k)
        ranks[k] = (k < ports ? p->ports[k].elements : p->wires[k - ports].elements) > 0;
    PS_TRY(ps_comm_sum_f64(ranks, all));
    for (int64_t k = 0; k < all; ++k) {
        int64_t port = k < ports ? k : ps_dgtd_model_wires(p->model)->spec[k - ports].port;
        if (ranks[k] > 1)
            return ps_fail(PS_USAGE,
                           "%s '%s' lies in elements of %d ranks, which devices cannot make its "
                           "steps of: take another number of ranks or parts, or --device cpu",
                           k < ports ? "port" : "wire",
                           port < 0 ? "without a network"
                                    : ps_dgtd_model_ports(p->model)->spec[port].name,
                           (int)ranks[k]);
    }
    return PS_OK;
}

double ports_over_after(const problem *p)
{
    const ps_dgtd_ports *all = ps_dgtd_model_ports(p->model);
    double latest = 0;
    for (int64_t k = 0; k < all->count; ++k) {
        const ps_dgtd_port_spec *x = all->spec + k;
        if (x->amplitude == 0) continue;
        latest = fmax(latest, x->shape == PS_DGTD_GAUSSIAN ? x->centre + 6 * x->width : INFINITY);
    }
    return latest;
}

bool ports_source(const problem *p, double t, double *out)
{
    const ps_dgtd_ports *all = ps_dgtd_model_ports(p->model);
    for (int64_t k = 0; k < all->count; ++k) {
        const ps_dgtd_port_spec *x = all->spec + k;
        if (x->amplitude == 0) continue;
        const ps_dgtd_pulse pulse = {x->amplitude, x->centre, x->width, x->omega,
                                     (ps_dgtd_shape)x->shape};
        *out = ps_dgtd_port_source(&pulse, t);
        return true;
    }
    return false;
}

/* ---- what is written ---- */

ps_status ports_signals_init(const march *m, ps_port_signals *out)
{
    const problem *p = m->problem;
    const ps_dgtd_ports *all = ps_dgtd_model_ports(p->model);
    PS_TRY(ps_port_signals_init(out, all->count, p->timing.steps));
    out->dt = m->march.dt / PS_DGTD_C0;
    out->left = m->figures.peak > 0 ? fmax(0, m->figures.energy / m->figures.peak) : 0;
    memcpy(out->mesh_hash, p->header->mesh_hash, sizeof out->mesh_hash);
    PS_TRY(ps_dgtd_model_body_hash(p->model, out->body_hash));
    for (int64_t k = 0; k < all->count; ++k) {
        out->reference[k] = all->spec[k].reference;
        out->mode[k] = all->spec[k].mode;
        out->driven[k] = all->spec[k].amplitude != 0;
        memcpy(out->name[k], all->spec[k].name, sizeof out->name[k]);
    }
    return PS_OK;
}

ps_status ports_signals_save(const ps_product *product, const char *path,
                             const ps_port_signals *signals)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    ps_store_identity identity =
        ps_run_identity(product->run, PS_PORT_SIGNALS_FORMAT, PS_PORT_SIGNALS_VERSION);
    identity.options = product->identity.options;
    PS_TRY(ps_store_create(path, &identity, &store));
    PS_TRY(ps_product_record(product, store));
    PS_TRY(ps_port_signals_write(store, signals));
    return ps_store_commit(&store);
}
