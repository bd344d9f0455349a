/* Local steps of a run: what they take, and what they do before and after the half step of E. */
#include "compute/dgtd_march/exchange.h"
#include "compute/dgtd_march/march.h"
#include "kernels/dgtd/device_local.h"

int64_t local_bytes(const problem *p)
{
    return ps_dgtd_local_bytes(&p->system, p->domain.reach, p->header->local_levels);
}

int64_t local_device_bytes(const problem *p, bool windowed)
{
    ps_dgtd_device device;
    ps_dgtd_device_shape(&device, &p->system, PS_DGTD_FUSED);
    int levels = p->header->local_levels;
    int64_t halo = p->domain.halo_count;
    if (windowed) return ps_dgtd_device_local_bytes(&device, levels, PS_DGTD_WINDOWED);
    return ps_dgtd_device_local_bytes(&device, levels, halo) +
           ps_dgtd_device_local_fields(levels) * ps_dgtd_device_field_bytes(&device, halo);
}

ps_status local_build(problem *p)
{
    if (p->header->local_levels == 0) return PS_OK;
    return ps_dgtd_local_open(&p->local, &p->system, p->materials, p->domain.reach,
                              p->header->local_levels, p->timing.dt, march_field_bytes(p));
}

ps_status local_count(problem *p)
{
    p->updates = (double)p->domain.elements;
    if (p->header->local_levels > 0)
        p->updates = ps_dgtd_local_updates(p->domain.reach, p->domain.elements);
    return ps_comm_sum_f64(&p->updates, 1);
}

/* By level, whether an element of P touches another rank's, which is then in Q or closed: only then
 * its operations read what others make; and whether one of Q_1 does, of which others read R_1 H. */
ps_status local_find_traded(march *m)
{
    const ps_dgtd_domain *d = &m->problem->domain;
    double traded[PS_DGTD_LOCAL_LEVELS + 1] = {0};
    for (int64_t f = 0; m->march.local && f < 4 * d->elements; ++f) {
        if (d->links[f] / 4 < d->halo_base) continue;
        uint8_t reach = d->reach[f / 4];
        for (int l = 0; l < ps_dgtd_reach_p(reach); ++l) traded[l] = 1;
        if (ps_dgtd_reach_q(reach) > 0) traded[PS_DGTD_LOCAL_LEVELS] = 1;
    }
    PS_TRY(ps_comm_sum_f64(traded, PS_DGTD_LOCAL_LEVELS + 1));
    for (int i = 0; i <= PS_DGTD_LOCAL_LEVELS; ++i) m->local_traded[i] = traded[i] > 0;
    return PS_OK;
}

/* What an operation reads of other ranks, -1: what E does of R_1 H. */
static ps_status trade(march *m, int op)
{
    const backend *b = m->backend;
    int level = op < 0 ? PS_DGTD_LOCAL_LEVELS : m->march.local->ops[op].level;
    if (!m->exchange || op == 0) return PS_OK; /* the halo of H is there */
    if (m->exchange->direct) return b->local_push(m->state, op);
    void *source = b->local_source(m->state, op);
    return source && m->local_traded[level] ? exchange_array(m->exchange, source) : PS_OK;
}

ps_status local_begin(march *m)
{
    const backend *b = m->backend;
    if (m->exchange && m->exchange->direct) PS_TRY(b->local_enter(m->state));
    PS_TRY(b->local_keep(m->state, true));
    PS_TRY(b->local_keep(m->state, false));
    for (int i = 0; i < m->march.local->op_count; ++i) {
        PS_TRY(trade(m, i));
        PS_TRY(b->local_op(m->state, i));
    }
    return trade(m, -1);
}

ps_status local_end(march *m) { return m->backend->local_restore(m->state); }

/* ---- beside the half steps of most elements ---- */

bool local_is_split(const march *m)
{
    if (!m->march.local || m->march.local->levels < 2 || m->exchange || m->tiles ||
        !m->backend->local_aside)
        return false;
    return m->problem->port_count == 0; /* which look at all of H before the half step of E */
}

/* R_2 of H needs that of inner groups alone, and goes beside the half step of H of the others,
 * which is under way; R_2 of the increments of level 1 goes beside the half step of E of the rest,
 * which reads nothing that it changes. The half step of H is made of H that was kept and keeps it
 * for the next step. Where H is recorded R_2 waits until it is, and H is kept and comes back by
 * copies of groups; so it does where inner groups hold closed elements, too, whose H has to be done
 * with all that is done to it. */
ps_status local_split_step(march *m, int64_t step, int64_t first)
{
    const backend *b = m->backend;
    const ps_dgtd_local *x = m->march.local;
    bool late = m->mixed || march_is_recorded(m, step);
    bool keep = late || step == first || !m->kept;
    backend_part all = {.step = step, .end = m->march.system->groups};
    int outer = 0; /* the half step of E of level 1, behind which its H and R_2 of it come */
    while (x->ops[outer].level > 0) ++outer;
    if (step == first) PS_TRY(b->mark(m->state));
    PS_TRY(b->local_aside(m->state, 0, outer, keep));
    if (keep) PS_TRY(b->local_keep(m->state, false));
    PS_TRY(b->together(m->state));
    PS_TRY(b->local_op(m->state, outer));
    PS_TRY(b->local_op(m->state, outer + 1));
    PS_TRY(b->mark(m->state));
    PS_TRY(b->local_aside(m->state, outer + 2, x->op_count, false));
    b->local_order(m->state, BACKEND_CONCERNED_LAST);
    PS_TRY(march_parts(m, PS_DGTD_E, first, &all, 1));
    if (late) PS_TRY(local_end(m));
    m->kept = !late;
    b->local_order(m->state, late ? BACKEND_AT_ONCE : BACKEND_CONCERNED_FIRST);
    PS_TRY(march_parts(m, PS_DGTD_H, first, &all, 1));
    return late ? b->mark(m->state) : PS_OK;
}
