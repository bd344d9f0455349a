#include "kernels/dgtd/march.h"

void ps_dgtd_march_half(const ps_dgtd_march *x, ps_dgtd_field field, int64_t begin, int64_t end)
{
    void *target = field == PS_DGTD_E ? x->electric : x->magnetic;
    const void *source = field == PS_DGTD_E ? x->magnetic : x->electric;
    double t = ((double)x->step + (field == PS_DGTD_E ? 0.5 : 1)) * x->dt;
    if (x->border) ps_dgtd_border_keep(x->border, x->system, target, begin, end);
    if (x->pml) ps_dgtd_pml_keep(x->pml, x->system, target, begin, end);
    ps_dgtd_half_step(x->system, field, target, source, begin, end);
    if (x->upwind) ps_dgtd_upwind_apply(x->upwind, x->system, field, target, source, begin, end);
    for (int64_t k = 0; field == PS_DGTD_E && k < x->current_count; ++k)
        ps_dgtd_current_apply(x->currents + k, x->system, target, t, begin, end);
    for (int64_t k = 0; field == PS_DGTD_E && k < x->port_count; ++k)
        ps_dgtd_port_apply(x->ports + k, x->system, target, begin, end);
    for (int64_t k = 0; field == PS_DGTD_E && k < x->wire_count; ++k)
        ps_dgtd_wire_apply(x->wires + k, x->system, target, begin, end);
    if (x->border) ps_dgtd_border_apply(x->border, x->system, field, target, t, begin, end);
    if (x->pml) ps_dgtd_pml_apply(x->pml, x->system, field, target, begin, end);
}

static void advance_networks(ps_dgtd_march *x)
{
    double t = ((double)x->step + 0.5) * x->dt;
    for (int64_t k = 0; k < x->wire_count; ++k) {
        ps_dgtd_wire_measure(x->wires + k, x->system, x->electric);
        ps_dgtd_wire_advance(x->wires + k, t, x->dt);
    }
    for (int64_t k = 0; k < x->port_count; ++k) {
        double measured[2];
        ps_dgtd_port_measure(x->ports + k, x->system, x->electric, x->magnetic, measured);
        ps_dgtd_port_advance(x->ports + k, measured, t, x->dt);
    }
}

void ps_dgtd_march_steps(ps_dgtd_march *x, int64_t steps)
{
    for (int64_t s = 0; s < steps; ++s, ++x->step) {
        if (x->local) ps_dgtd_local_apply(x->local, x->system, x->magnetic);
        advance_networks(x);
        ps_dgtd_march_half(x, PS_DGTD_E, 0, x->system->groups);
        if (x->local) ps_dgtd_local_swap(x->local, x->system, x->magnetic, 0, x->system->groups);
        ps_dgtd_march_half(x, PS_DGTD_H, 0, x->system->groups);
    }
}
