/* The coarse correction of slab_box: face modes of low wave number, exactly. */
#include <string.h>

#include "kernels/schwarz/slab_box.h"

/* The 2 x 2 response of a slab's face values to its face loads in one mode: u = r g. */
static void response(const ps_slab *slab, double mu, double r[2][2])
{
    double h = slab->grid.spacing[0], lumped = slab->grid.lumped;
    double off = -1 / h + mu * ps_mass_beside(h, lumped);
    double inside = 2 / h + mu * ps_mass_here(h, lumped);
    double end[2], from[2]; /* Schur complements on the left and the right plane */
    int64_t layers = slab->grid.nodes[0] - 1;
    for (int s = 0; s < 2; ++s) end[s] = inside / 2 + slab->p[s] + slab->q[s] * mu;
    /* Eliminate the planes between: left gets a - sum, coupling shrinks by off / d. */
    double d = inside, left = 0, coupling = off;
    for (int64_t i = 1; i < layers; ++i) {
        left += coupling * coupling / d;
        coupling *= -off / d;
        d = inside - off * off / d;
    }
    from[0] = end[0] - left;
    from[1] = end[1] - (layers > 1 ? inside - d : 0);
    memset(r, 0, 4 * sizeof(double));
    if (!slab->free[0] || !slab->free[1]) {
        int s = slab->free[0] ? 0 : 1; /* the other end holds zeros */
        r[s][s] = 1 / from[s];
        return;
    }
    double det = from[0] * from[1] - coupling * coupling;
    r[0][0] = from[1] / det;
    r[1][1] = from[0] / det;
    r[0][1] = r[1][0] = -coupling / det;
}

/* band[row][2 + column - row] of I - T in one mode, T in units of 1 / (m_j m_k). */
static void fill_band(const ps_slab_box *box, double mu, double (*band)[5])
{
    const ps_transmission *t = &box->plan.transmission;
    double sigma = t->p[0] + t->p[1] + (t->q[0] + t->q[1]) * mu, r[2][2];
    int64_t slabs = box->plan.slabs;
    memset(band, 0, (size_t)(2 * slabs - 2) * sizeof *band);
    for (int64_t j = 0; j < slabs; ++j) {
        ps_slab slab = ps_slab_box_slab(&box->plan, j);
        response(&slab, mu, r);
        if (j > 0) { /* sends g[2j-2]; its own left trace is g[2j-1], its right one g[2j] */
            double *row = band[2 * j - 2];
            row[2] = 1, row[3] = 1 - sigma * r[0][0];
            if (j < slabs - 1) row[4] = -sigma * r[0][1];
        }
        if (j < slabs - 1) { /* sends g[2j+1] */
            double *row = band[2 * j + 1];
            row[2] = 1, row[1] = 1 - sigma * r[1][1];
            if (j > 0) row[0] = -sigma * r[1][0];
        }
    }
}

/* Gauss without pivoting: T contracts, so that I - T has no small pivots. */
static void solve_band(double (*band)[5], int64_t n, double *x)
{
    for (int64_t i = 0; i < n; ++i)
        for (int64_t row = i + 1; row < n && row <= i + 2; ++row) {
            double factor = band[row][2 + i - row] / band[i][2];
            for (int64_t c = i; c < n && c <= i + 2; ++c)
                band[row][2 + c - row] -= factor * band[i][2 + c - i];
            x[row] -= factor * x[i];
        }
    for (int64_t i = n - 1; i >= 0; --i) {
        for (int64_t c = i + 1; c < n && c <= i + 2; ++c) x[i] -= band[i][2 + c - i] * x[c];
        x[i] /= band[i][2];
    }
}

/* Doubles: the own traces as modes, where vectors are nodal; the low modes of all traces; a plane
 * of scratch; a band and its right-hand side. */
int64_t ps_slab_box_coarse_space(const ps_slab_box_plan *plan)
{
    int64_t traces = 2 * plan->slabs, plane = ps_slab_box_mode_plane(&plan->grid);
    if (plan->coarse <= 0) return 0;
    return (plan->modes ? 0 : traces * plane) + traces * plane + plane + 6 * traces + 8;
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
    double(*band)[5] = (double(*)[5])space;
    for (int64_t m = 0; m < size; ++m) {
        if (!is_low(box, m)) continue;
        fill_band(box, box->tables.mu[m], band);
        solve_band(band, all, low);
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
