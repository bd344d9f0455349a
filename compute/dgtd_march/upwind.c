/* The upwind flux: what it needs beside the state (kernels/dgtd/upwind.h). On CPU cores, also with
 * the state in a file, or in the memory of one device. */
#include "kernels/dgtd/upwind.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compute/dgtd_march/exchange.h"
#include "compute/dgtd_march/tiles.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

ps_status upwind_check(const problem *p)
{
    double limit = p->header->dt_power > 0 ? p->header->dt_power : p->header->dt_rule;
    if (!p->header->upwind) return PS_OK;
    if (p->header->upwind_layer) limit = fmin(limit / PS_DGTD_UPWIND_LIMIT, p->header->dt_layer);
    if (p->timing.dt > PS_DGTD_UPWIND_LIMIT * limit * (1 + 1e-9))
        return ps_fail(PS_USAGE,
                       "a step of %.4g s is unstable with the upwind flux, which takes %g of the "
                       "limit of the centred one, %.4g s: lower --dt-scale",
                       p->timing.dt / PS_DGTD_C0, PS_DGTD_UPWIND_LIMIT,
                       PS_DGTD_UPWIND_LIMIT * limit / PS_DGTD_C0);
    return PS_OK;
}

int64_t upwind_bytes(const problem *p)
{
    if (!p->header->upwind) return 0;
    return (int64_t)(ps_dgtd_upwind_own_bytes(&p->system) + ps_dgtd_upwind_other_bytes(&p->system));
}

static ps_status allocate(march *m, int64_t field_bytes, ps_dgtd_upwind *x)
{
    const ps_dgtd_system *s = m->march.system;
    for (int field = 0; field < 2; ++field) {
        if (m->tiles)
            x->former[field] = m->tiles->former[field];
        else if (m->backend == &backend_cpu)
            PS_TRY(ps_alloc(&x->former[field], field_bytes, 1, "the upwind flux"));
    }
    PS_TRY(ps_alloc(&x->own, (int64_t)ps_dgtd_upwind_own_bytes(s), 1, "the upwind flux"));
    return ps_alloc(&x->other, (int64_t)ps_dgtd_upwind_other_bytes(s), 1, "the upwind flux");
}

/* Impedances of the elements in the halo, from the ranks that have them. */
static ps_status exchange_impedances(const march *m, double *numbers, double *impedances)
{
    const problem *p = m->problem;
    exchange *x = m->exchange;
    double *own = numbers, *others = numbers + x->faces;
    for (int64_t i = 0; i < x->faces; ++i) {
        int64_t e = x->send[i] / 4;
        own[i] = ps_dgtd_impedance(p->materials + p->system.material[e]);
        if (p->header->upwind_layer && !p->domain.layer[e]) own[i] = 0;
    }
    PS_TRY(exchange_numbers(x, own, others));
    for (int64_t i = 0; i < x->faces; ++i)
        impedances[x->receive[i] / 4 - p->domain.halo_base] = others[i];
    return PS_OK;
}

static ps_status fill(march *m)
{
    const problem *p = m->problem;
    PS_SCOPED_MEMORY double *numbers = NULL, *impedances = NULL;
    ps_status status = PS_OK;
    if (m->exchange) {
        status = PS_ALLOC(&numbers, 2 * m->exchange->faces, "the upwind flux");
        if (status == PS_OK)
            status = PS_ALLOC(&impedances, p->domain.halo_count, "the upwind flux");
        status = ps_comm_agree(status);
        if (status == PS_OK) status = exchange_impedances(m, numbers, impedances);
    }
    if (status == PS_OK) ps_dgtd_upwind_fill(m->upwind, &p->system, p->materials, impedances);
    if (status == PS_OK && p->header->upwind_layer)
        ps_dgtd_upwind_restrict(m->upwind, &p->system, p->domain.layer);
    return status;
}

ps_status upwind_open(march *m, int64_t field_bytes)
{
    const problem *p = m->problem;
    if (!p->header->upwind) return PS_OK;
    PS_TRY(ps_comm_agree(PS_ALLOC(&m->upwind, 1, "the upwind flux")));
    PS_TRY(ps_comm_agree(allocate(m, field_bytes, m->upwind)));
    m->upwind->slots = p->domain.halo_base + p->domain.halo_count;
    PS_TRY(fill(m));
    if (m->backend->upwind) return m->backend->upwind(m->state, m->upwind);
    m->march.upwind = m->upwind;
    return PS_OK;
}

ps_status upwind_start(const march *m)
{
    if (!m->upwind) return PS_OK;
    if (m->tiles) { /* a file has the copies with the state, and so has a new start */
        size_t bytes = (size_t)(m->march.system->groups * tiles_field_bytes(m->problem));
        if (m->first > 0 && !m->tiles->paged)
            memcpy(m->upwind->former[PS_DGTD_E], m->march.electric, bytes);
        return PS_OK;
    }
    if (m->backend->upwind_start) return m->backend->upwind_start(m->state);
    ps_dgtd_upwind_start(m->upwind, m->march.system, m->march.electric);
    return PS_OK;
}

void upwind_close(march *m)
{
    if (!m->upwind) return;
    for (int field = 0; field < 2 && !m->tiles; ++field) free(m->upwind->former[field]);
    PS_FREE(m->upwind->own, m->upwind->other, m->upwind);
}
