/* Local steps of a run: what they take, and what they do before and after the half step of E. */
#include "compute/dgtd_march/exchange.h"
#include "compute/dgtd_march/march.h"

int64_t local_bytes(const problem *p)
{
    return ps_dgtd_local_bytes(&p->system, p->domain.reach, p->header->local_levels);
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

ps_status local_begin(march *m)
{
    const ps_dgtd_local *x = m->march.local;
    void *magnetic = m->march.magnetic;
    ps_dgtd_local_keep(x, m->march.system, magnetic);
    for (int i = 0; i < x->op_count; ++i) {
        void *source = ps_dgtd_local_op_source(x, x->ops + i, magnetic);
        if (m->exchange && source && i > 0) /* the first one's halo is there */
            PS_TRY(exchange_array(m->exchange, m->march.system, source));
        ps_dgtd_local_op_run(x, x->ops + i, magnetic);
    }
    return m->exchange ? exchange_array(m->exchange, m->march.system, magnetic) : PS_OK;
}

void local_end(march *m) { ps_dgtd_local_swap(m->march.local, m->march.system, m->march.magnetic); }
