/* The coarse correction of slab_box: face modes of low wave number, exactly. */
#include <string.h>

#include "kernels/schwarz/slab_box.h"

#define LEAF static inline
#include "kernels/schwarz/slab_low_body.h"

ps_low_system ps_slab_box_low_system(const ps_slab_box_plan *plan)
{
    const ps_q1_grid *grid = &plan->grid;
    double h = grid->spacing[0];
    ps_slab any = ps_slab_box_slab(plan, 0);
    return (ps_low_system){.slabs = plan->slabs,
                           .layers = grid->nodes[0] - 1,
                           .h = h,
                           .mass = {ps_mass_here(h, grid->lumped), ps_mass_beside(h, grid->lumped)},
                           .p = {any.p[0], any.p[1]},
                           .q = {any.q[0], any.q[1]}};
}

/* Doubles: the own traces as modes, where vectors are nodal; the low modes of all traces; a plane
 * of scratch; a number a slab. */
int64_t ps_slab_box_coarse_space(const ps_slab_box_plan *plan)
{
    int64_t traces = 2 * plan->slabs, plane = ps_slab_box_mode_plane(&plan->grid);
    if (plan->coarse <= 0) return 0;
    return (plan->modes ? 0 : traces * plane) + traces * plane + plane + plan->slabs;
}

static bool is_low(const ps_slab_box *box, int64_t mode)
{
    const ps_fast_solver *f = &box->tables;
    return f->inverse[mode] > 0 && f->mu[mode] < box->plan.coarse * box->plan.coarse;
}

/* low[number][all traces]: from the own traces of r, those of other ranks being 0. */
static int64_t gather(const ps_slab_box *box, const double *r, double *low)
{
    int64_t size = ps_slab_box_mode_plane(&box->plan.grid), all = 2 * (box->plan.slabs - 1);
    int64_t count = 0;
    for (int64_t m = 0; m < size; ++m) {
        if (!is_low(box, m)) continue;
        for (int64_t t = 0; t < all; ++t) {
            int64_t own = t - box->base;
            low[count * all + t] = own >= 0 && own < box->traces ? r[own * size + m] : 0;
        }
        ++count;
    }
    return count;
}

int64_t ps_slab_box_low_modes(const ps_slab_box *box, int32_t *modes)
{
    int64_t size = ps_slab_box_mode_plane(&box->plan.grid), count = 0;
    for (int64_t m = 0; m < size; ++m) {
        if (!is_low(box, m)) continue;
        if (modes) modes[count] = (int32_t)m;
        ++count;
    }
    return count;
}

void ps_slab_box_solve_low(const ps_slab_box *box, double *low, double *space)
{
    int64_t size = ps_slab_box_mode_plane(&box->plan.grid), all = 2 * (box->plan.slabs - 1);
    ps_low_system system = ps_slab_box_low_system(&box->plan);
    for (int64_t m = 0; m < size; ++m) {
        if (!is_low(box, m)) continue;
        solve_low_mode(&system, box->tables.mu[m], low, space, 1);
        low += all;
    }
}

/* The own part of the solutions goes to the low modes of r; nodal: what they change there, the
 * other modes being 0. */
static void put_low(const ps_slab_box *box, const double *low, double *r)
{
    int64_t size = ps_slab_box_mode_plane(&box->plan.grid), all = 2 * (box->plan.slabs - 1);
    bool nodal = !box->plan.modes;
    for (int64_t m = 0; m < size; ++m) {
        bool solved = is_low(box, m);
        if (!solved && !nodal) continue;
        for (int64_t t = 0; t < box->traces; ++t) {
            double *value = r + t * size + m;
            *value = solved ? low[box->base + t] - (nodal ? *value : 0) : 0;
        }
        if (solved) low += all;
    }
}

/* Adds modes to nodal traces; what is added has zeros on the rim, as the traces have. */
static void add_modes(const ps_slab_box *box, const double *modes, double *scratch, double *r)
{
    int64_t size = ps_slab_box_mode_plane(&box->plan.grid);
    double *nodes = box->faces;
    for (int64_t t = 0; t < box->traces; ++t) {
        memset(nodes, 0, (size_t)box->face * sizeof *nodes);
        ps_fast_to_nodes(&box->tables, modes + t * size, nodes, scratch);
        for (int64_t i = 0; i < box->face; ++i) r[t * box->face + i] += nodes[i];
    }
}

/* Makes the low modes of all traces exact: x, (I - T) x = r. */
ps_status ps_slab_box_correct(void *context, double *r)
{
    ps_slab_box *box = context;
    const ps_slab_box_plan *plan = &box->plan;
    int64_t all = 2 * (plan->slabs - 1), size = ps_slab_box_mode_plane(&plan->grid);
    double *modes = plan->modes ? r : box->space;
    double *low = box->space + (plan->modes ? 0 : (all + 2) * size), *scratch = low + all * size;
    if (!plan->modes)
        for (int64_t t = 0; t < box->traces; ++t)
            ps_fast_to_modes(&box->tables, r + t * box->face, modes + t * size, scratch);
    int64_t count = gather(box, modes, low);
    if (plan->links) PS_TRY(plan->links->sum(plan->links->context, low, count * all));
    ps_slab_box_solve_low(box, low, scratch + size);
    put_low(box, low, modes);
    if (!plan->modes) add_modes(box, modes, scratch, r);
    return PS_OK;
}
