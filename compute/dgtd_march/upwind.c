/* The upwind flux: what it needs beside the state (kernels/dgtd/upwind.h). In one memory: of the
 * host, or of one device. */
#include "kernels/dgtd/upwind.h"

#include <stdlib.h>
#include <string.h>

#include "compute/dgtd_march/exchange.h"
#include "compute/dgtd_march/march.h"
#include "runtime/memory.h"

ps_status upwind_check(const problem *p, const march_plan *plan)
{
    double limit = p->header->dt_power > 0 ? p->header->dt_power : p->header->dt_rule;
    if (!p->header->upwind) return PS_OK;
    bool device = plan->backend == &backend_device;
    if (plan->file || plan->window || (device && ps_comm_size() > 1))
        return ps_fail(PS_USAGE,
                       "the upwind flux is marched in memory only, and on one device only: "
                       "give --state memory, more --device-memory or, for several ranks, "
                       "--device cpu, or set the model up with --flux centred");
    if (p->header->has_total)
        return ps_fail(PS_USAGE, "the upwind flux knows no surface between total and scattered "
                                 "field: set the model up with --flux centred");
    if (p->timing.dt > PS_DGTD_UPWIND_LIMIT * limit * (1 + 1e-9))
        return ps_fail(PS_USAGE,
                       "a step of %.4g s is unstable with the upwind flux, which takes %g of the "
                       "limit of the centred one, %.4g s: lower --dt-scale",
                       p->timing.dt / PS_DGTD_C0, PS_DGTD_UPWIND_LIMIT,
                       PS_DGTD_UPWIND_LIMIT * limit / PS_DGTD_C0);
    return PS_OK;
}

int64_t upwind_bytes(const problem *p, int64_t field_bytes)
{
    if (!p->header->upwind) return 0;
    return 2 * field_bytes +
           (int64_t)(ps_dgtd_upwind_own_bytes(&p->system) + ps_dgtd_upwind_other_bytes(&p->system));
}

static ps_status allocate(march *m, int64_t field_bytes, ps_dgtd_upwind *x)
{
    const ps_dgtd_system *s = m->march.system;
    for (int field = 0; field < 2 && m->backend == &backend_cpu; ++field)
        PS_TRY(ps_alloc(&x->former[field], field_bytes, 1, "the upwind flux"));
    PS_TRY(ps_alloc(&x->own, (int64_t)ps_dgtd_upwind_own_bytes(s), 1, "the upwind flux"));
    return ps_alloc(&x->other, (int64_t)ps_dgtd_upwind_other_bytes(s), 1, "the upwind flux");
}

ps_status upwind_open(march *m, int64_t field_bytes)
{
    const problem *p = m->problem;
    if (!p->header->upwind) return PS_OK;
    PS_TRY(ps_comm_agree(PS_ALLOC(&m->upwind, 1, "the upwind flux")));
    PS_TRY(ps_comm_agree(allocate(m, field_bytes, m->upwind)));
    m->upwind->slots = p->domain.halo_base + p->domain.halo_count;
    /* Impedances reach the neighbours as a field does; E has no values yet. */
    ps_dgtd_upwind_impedances(&p->system, p->materials, m->march.electric);
    if (m->exchange) PS_TRY(exchange_all(m->exchange, PS_DGTD_E));
    ps_dgtd_upwind_fill(m->upwind, &p->system, p->materials, m->march.electric);
    memset(m->march.electric, 0, (size_t)field_bytes);
    if (m->backend->upwind) return m->backend->upwind(m->state, m->upwind);
    m->march.upwind = m->upwind;
    return PS_OK;
}

ps_status upwind_start(const march *m)
{
    if (m->upwind && m->backend->upwind_start) return m->backend->upwind_start(m->state);
    if (m->upwind) ps_dgtd_upwind_start(m->upwind, m->march.system, m->march.electric);
    return PS_OK;
}

void upwind_close(march *m)
{
    if (!m->upwind) return;
    free(m->upwind->former[0]);
    free(m->upwind->former[1]);
    free(m->upwind->own);
    free(m->upwind->other);
    free(m->upwind);
}
