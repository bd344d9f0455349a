/* Local steps of a run: what they take, and what they do before and after the half step of E. */
#include "compute/dgtd_march/exchange.h"
#include "compute/dgtd_march/march.h"
#include "kernels/dgtd/device_local.h"

int64_t local_bytes(const problem *p)
{
    return ps_dgtd_local_bytes(&p->system, p->domain.reach, p->header->local_levels);
}

int64_t local_device_bytes(const problem *p)
{
    ps_dgtd_device device;
    ps_dgtd_device_shape(&device, &p->system, PS_DGTD_FUSED);
    return ps_dgtd_device_local_bytes(&device, p->header->local_levels, p->domain.halo_count);
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

/* By level, whether elements of P, of Q touch another rank's: only then increments are exchanged. */
ps_status local_find_traded(march *m)
{
    const ps_dgtd_domain *d = &m->problem->domain;
    double traded[2 * PS_DGTD_LOCAL_LEVELS] = {0};
    for (int64_t f = 0; m->march.local && f < 4 * d->elements; ++f) {
        if (d->links[f] / 4 < d->halo_base) continue;
        uint8_t reach = d->reach[f / 4];
        for (int l = 0; l < ps_dgtd_reach_p(reach); ++l) traded[2 * l] = 1;
        for (int l = 0; l < ps_dgtd_reach_q(reach); ++l) traded[2 * l + 1] = 1;
    }
    PS_TRY(ps_comm_sum_f64(traded, 2 * PS_DGTD_LOCAL_LEVELS));
    for (int i = 0; i < 2 * PS_DGTD_LOCAL_LEVELS; ++i) m->local_traded[i / 2][i % 2] = traded[i] > 0;
    return PS_OK;
}

ps_status local_begin(march *m, int64_t step)
{
    const backend *b = m->backend;
    PS_TRY(b->local_keep(m->state, step));
    for (int i = 0; i < m->march.local->op_count; ++i) {
        const ps_dgtd_local_op *op = m->march.local->ops + i;
        void *source = b->local_source(m->state, i);
        bool traded = m->local_traded[op->level][op->kind == PS_DGTD_LOCAL_H];
        if (m->exchange && source && traded && i > 0) /* the first one's halo is there */
            PS_TRY(exchange_array(m->exchange, source));
        PS_TRY(b->local_op(m->state, i));
    }
    if (!m->exchange || !m->local_traded[0][1]) return PS_OK;
    return exchange_array(m->exchange, b->local_source(m->state, -1));
}

ps_status local_end(march *m) { return m->backend->local_restore(m->state); }
