/* Local steps of a run: what they take, and what they do before and after the half step of E. */
#include "compute/dgtd_march/exchange.h"
#include "compute/dgtd_march/march.h"
#include "kernels/dgtd/device_local.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

int64_t local_bytes(const problem *p)
{
    return ps_dgtd_local_bytes(&p->system, p->domain.reach, p->header->local_levels);
}

int64_t local_device_bytes(const problem *p, bool windowed)
{
    ps_dgtd_device device;
    ps_dgtd_device_shape(&device, &p->system, PS_DGTD_FUSED);
    return ps_dgtd_device_local_bytes(&device, p->header->local_levels,
                                      windowed ? PS_DGTD_WINDOWED : p->domain.halo_count);
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

/* By level, whether elements of P, of Q touch another rank's: only then increments are exchanged.
 */
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
    for (int i = 0; i < 2 * PS_DGTD_LOCAL_LEVELS; ++i)
        m->local_traded[i / 2][i % 2] = traded[i] > 0;
    return PS_OK;
}

ps_status local_begin(march *m)
{
    const backend *b = m->backend;
    PS_TRY(b->local_keep(m->state, true));
    PS_TRY(b->local_keep(m->state, false));
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

/* ---- beside the half steps of most elements ---- */

enum { INNER, NEAR, REST };

/* Which of the three lists each group is in. */
static void sort_groups(const march *m, uint8_t *list)
{
    const ps_dgtd_system *s = m->march.system;
    const ps_dgtd_domain *d = &m->problem->domain;
    for (int64_t g = 0; g < s->groups; ++g)
        list[g] = ps_dgtd_local_inner(s, d->reach, g)            ? INNER
                  : ps_dgtd_local_near(s, d->links, d->reach, g) ? NEAR
                                                                 : REST;
}

/* Runs of groups of each list, to parts unless NULL. */
static int64_t list_parts(const uint8_t *list, int64_t groups, backend_part *parts, int64_t *start)
{
    int64_t count = 0;
    for (int which = INNER; which <= REST; start[++which] = count)
        for (int64_t g = 0; g < groups; ++g) {
            if (list[g] != which) continue;
            if (g == 0 || list[g - 1] != which) ++count;
            if (!parts) continue;
            if (g == 0 || list[g - 1] != which) parts[count - 1].begin = g;
            parts[count - 1].end = g + 1;
        }
    return count;
}

ps_status local_split_open(march *m)
{
    const problem *p = m->problem;
    int64_t groups = p->system.groups, count;
    PS_SCOPED_MEMORY uint8_t *list = NULL;
    m->split = (local_split){.parts = NULL};
    if (!m->march.local || m->march.local->levels < 2 || m->exchange || !m->backend->local_aside)
        return PS_OK;
    if (m->tiles || p->port_count > 0)
        return PS_OK; /* ports look at all of H before the half step of E */
    PS_TRY(PS_ALLOC(&list, groups, "the local steps"));
    sort_groups(m, list);
    count = list_parts(list, groups, NULL, m->split.start);
    PS_TRY(PS_ALLOC(&m->split.parts, count, "the local steps"));
    list_parts(list, groups, m->split.parts, m->split.start);
    return PS_OK;
}

/* Half steps of lists [from, to]. */
static ps_status split_halves(march *m, ps_dgtd_field field, int64_t step, int64_t first, int from,
                              int to)
{
    const int64_t *start = m->split.start;
    backend_part parts[PS_DGTD_DEVICE_PARTS];
    for (int64_t k = start[from]; k < start[to + 1];) {
        int count = 0;
        for (; count < PS_DGTD_DEVICE_PARTS && k < start[to + 1]; ++count, ++k) {
            parts[count] = m->split.parts[k];
            parts[count].step = step;
        }
        PS_TRY(march_parts(m, field, first, parts, count));
    }
    return PS_OK;
}

/* R_2 of H needs that of inner groups alone, and goes beside the half step of H of the others,
 * which is under way; R_2 of the increments of level 1 goes beside the half step of E of the rest,
 * which reads nothing that it changes. */
ps_status local_split_step(march *m, int64_t step, int64_t first)
{
    const backend *b = m->backend;
    const ps_dgtd_local *x = m->march.local;
    int outer = 0; /* the half step of E of level 1, behind which its H and R_2 of it come */
    while (x->ops[outer].level > 0) ++outer;
    if (step == first) PS_TRY(b->mark(m->state));
    PS_TRY(b->local_aside(m->state, 0, outer));
    PS_TRY(b->local_keep(m->state, false));
    PS_TRY(b->together(m->state));
    PS_TRY(b->local_op(m->state, outer));
    PS_TRY(b->local_op(m->state, outer + 1));
    PS_TRY(b->mark(m->state));
    PS_TRY(b->local_aside(m->state, outer + 2, x->op_count));
    PS_TRY(split_halves(m, PS_DGTD_E, step, first, REST, REST));
    PS_TRY(b->together(m->state));
    PS_TRY(split_halves(m, PS_DGTD_E, step, first, INNER, NEAR));
    PS_TRY(local_end(m));
    PS_TRY(split_halves(m, PS_DGTD_H, step, first, INNER, INNER));
    PS_TRY(b->mark(m->state));
    return split_halves(m, PS_DGTD_H, step, first, NEAR, REST);
}
