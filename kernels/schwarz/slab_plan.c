/* How a box is cut into slabs and in which order these are visited (slab_box.h). */
#include "kernels/schwarz/slab_box.h"

int64_t ps_slab_first(int64_t nodes, int64_t slabs, int64_t slab)
{
    int64_t layers = nodes - 1, more = layers % slabs;
    return slab * (layers / slabs) + (slab < more ? slab : more);
}

int64_t ps_slab_end(const ps_slab_box_plan *plan)
{
    return plan->end > 0 ? plan->end : plan->slabs;
}

int64_t ps_slab_first_plane(const ps_slab_box_plan *plan, int64_t slab)
{
    return ps_slab_first(plan->grid.nodes[0], plan->slabs, slab);
}

int64_t ps_slab_planes(const ps_slab_box_plan *plan, int64_t slab)
{
    return ps_slab_first_plane(plan, slab + 1) - ps_slab_first_plane(plan, slab) + 1;
}

ps_slab ps_slab_box_slab(const ps_slab_box_plan *plan, int64_t slab)
{
    ps_slab s = {.grid = plan->grid};
    s.grid.nodes[0] = ps_slab_planes(plan, slab);
    s.free[0] = slab > 0;
    s.free[1] = slab < plan->slabs - 1;
    s.p[1] = plan->transmission.p[0], s.q[1] = plan->transmission.q[0]; /* right: S1 */
    s.p[0] = plan->transmission.p[1], s.q[0] = plan->transmission.q[1];
    return s;
}

/* ---- orders ---- */

/* Visits there and back in a double sweep. */
int64_t ps_slab_forward_visits(const ps_slab_box_plan *plan)
{
    return ps_slab_end(plan) - plan->first - (ps_slab_end(plan) == plan->slabs);
}
static int64_t backward_visits(const ps_slab_box_plan *plan)
{
    return ps_slab_end(plan) - plan->first - (plan->first == 0);
}

int64_t ps_slab_visits(const ps_slab_box_plan *plan, ps_slab_order order)
{
    return order == PS_SLAB_SWEEP ? ps_slab_forward_visits(plan) + backward_visits(plan)
                                  : ps_slab_end(plan) - plan->first;
}

int64_t ps_slab_visited(const ps_slab_box_plan *plan, ps_slab_order order, int64_t visit)
{
    int64_t end = ps_slab_end(plan), there = ps_slab_forward_visits(plan);
    switch (order) {
    case PS_SLAB_EXCHANGE:
        return visit == 0 ? plan->first : visit == 1 ? end - 1 : plan->first + visit - 1;
    case PS_SLAB_SWEEP:
        return visit < there ? plan->first + visit : end - 1 - (visit - there);
    default:
        return plan->first + visit;
    }
}

/* ---- planes ---- */

int64_t ps_slab_box_mode_plane(const ps_q1_grid *grid)
{
    int64_t my = grid->nodes[1] - 2, mz = grid->nodes[2] - 2;
    return my * ((mz + PS_FAST_COLUMNS - 1) / PS_FAST_COLUMNS * PS_FAST_COLUMNS);
}

int64_t ps_slab_box_plane(const ps_slab_box_plan *plan)
{
    return plan->modes ? ps_slab_box_mode_plane(&plan->grid)
                       : plan->grid.nodes[1] * plan->grid.nodes[2];
}
