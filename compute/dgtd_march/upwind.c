/* The upwind flux of a run in memory: copies of the fields and the impedances on both sides of
 * faces. */
#include <stdlib.h>
#include <string.h>

#include "compute/dgtd_march/exchange.h"
#include "compute/dgtd_march/march.h"
#include "runtime/memory.h"

int64_t upwind_bytes(const problem *p)
{
    ps_dgtd_bytes bytes;
    ps_dgtd_system_bytes(&p->system, &bytes);
    return p->header->upwind ? (int64_t)(2 * bytes.field + ps_dgtd_upwind_other_bytes(&p->system))
                             : 0;
}

/* Where the step is judged by the larger of the two limits of the centred flux. */
ps_status upwind_check(const ps_run *run, const problem *p, march_plan *plan)
{
    const ps_dgtd_model_header *h = p->header;
    double limit = h->dt_power > h->dt_rule ? h->dt_power : h->dt_rule;
    if (!h->upwind) return PS_OK;
    if (strcmp(run->device, "auto") == 0) plan->backend = &backend_cpu;
    if (plan->backend != &backend_cpu)
        return ps_fail(PS_USAGE, "%s: the upwind flux is marched on CPU cores: --device cpu",
                       run->operands[0]);
    if (plan->file)
        return ps_fail(PS_USAGE,
                       "%s: the upwind flux is marched in memory only: raise --host-memory, or set "
                       "the model up with --flux centred",
                       run->operands[0]);
    if (h->has_total)
        return ps_fail(PS_INVALID,
                       "%s: a total-field region and the upwind flux do not go together",
                       run->operands[0]);
    if (p->timing.dt <= PS_DGTD_UPWIND_LIMIT * limit * 1.02) return PS_OK;
    return ps_fail(PS_USAGE,
                   "a time step of %.6g s is unstable with the upwind flux, whose limit is "
                   "%.6g s; lower --dt-scale",
                   p->timing.dt / PS_DGTD_C0, PS_DGTD_UPWIND_LIMIT * limit / PS_DGTD_C0);
}

/* Impedances go to the neighbours as a field E would. */
ps_status upwind_open(march *m, int64_t field_bytes)
{
    problem *p = m->problem;
    ps_dgtd_upwind *u = &m->upwind;
    if (!p->header->upwind) return PS_OK;
    for (int field = 0; field < 2; ++field)
        PS_TRY(ps_alloc(&u->former[field], field_bytes, 1, "the former fields"));
    PS_TRY(ps_alloc(&u->own, (int64_t)ps_dgtd_upwind_own_bytes(&p->system), 1, "impedances"));
    PS_TRY(ps_alloc(&u->other, (int64_t)ps_dgtd_upwind_other_bytes(&p->system), 1, "impedances"));
    u->slots = p->system.groups * ps_dgtd_lanes(p->system.precision) + p->domain.halo_count;
    m->march.upwind = u;
    return PS_OK;
}

ps_status upwind_fill(march *m, int64_t field_bytes)
{
    problem *p = m->problem;
    if (!p->header->upwind) return PS_OK;
    ps_dgtd_upwind_impedances(&p->system, p->materials, m->march.electric);
    if (m->exchange) {
        PS_TRY(exchange_start(m->exchange, PS_DGTD_E));
        PS_TRY(exchange_finish(m->exchange, PS_DGTD_E));
    }
    ps_dgtd_upwind_fill(&m->upwind, &p->system, p->materials, m->march.electric);
    memset(m->march.electric, 0, (size_t)field_bytes);
    return PS_OK;
}

void upwind_begin(march *m)
{
    if (m->march.upwind) ps_dgtd_upwind_start(&m->upwind, &m->problem->system, m->march.electric);
}

void upwind_close(march *m)
{
    free(m->upwind.former[0]);
    free(m->upwind.former[1]);
    free(m->upwind.own);
    free(m->upwind.other);
}
