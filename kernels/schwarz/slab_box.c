#include "kernels/schwarz/slab_box.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum { TILE = 64 };

int64_t ps_slab_first(int64_t nodes, int64_t slabs, int64_t slab)
{
    int64_t layers = nodes - 1, more = layers % slabs;
    return slab * (layers / slabs) + (slab < more ? slab : more);
}

static ps_slab slab_of(const ps_slab_box_plan *plan, int64_t slab)
{
    ps_slab s = {.grid = plan->grid};
    int64_t nx = plan->grid.nodes[0], first = ps_slab_first(nx, plan->slabs, slab);
    s.grid.nodes[0] = ps_slab_first(nx, plan->slabs, slab + 1) - first + 1;
    s.free[0] = slab > 0;
    s.free[1] = slab < plan->slabs - 1;
    s.p[1] = plan->transmission.p[0], s.q[1] = plan->transmission.q[0]; /* right: S1 */
    s.p[0] = plan->transmission.p[1], s.q[0] = plan->transmission.q[1];
    return s;
}

/* ---- memory ---- */

static int64_t rounded(int64_t n) { return (n + 7) / 8 * 8; }

/* A slab with free faces and the most planes: no slab needs more workspace. */
static ps_slab largest_slab(const ps_slab_box_plan *plan)
{
    ps_slab s = slab_of(plan, 0);
    s.free[0] = s.free[1] = true;
    s.p[0] = plan->transmission.p[1], s.q[0] = plan->transmission.q[1];
    s.p[1] = plan->transmission.p[0], s.q[1] = plan->transmission.q[0];
    return s;
}

int64_t ps_slab_box_mode_plane(const ps_q1_grid *grid)
{
    int64_t my = grid->nodes[1] - 2, mz = grid->nodes[2] - 2;
    return my * ((mz + PS_FAST_COLUMNS - 1) / PS_FAST_COLUMNS * PS_FAST_COLUMNS);
}

static int64_t plane_of(const ps_slab_box_plan *plan)
{
    return plan->modes ? ps_slab_box_mode_plane(&plan->grid)
                       : plan->grid.nodes[1] * plan->grid.nodes[2];
}

/* Right-hand side of a slab and workspace of its solution; also the traces of the coarse solve. */
static int64_t space_of(const ps_slab_box_plan *plan)
{
    ps_slab slab = largest_slab(plan);
    int64_t solve = ps_fast_workspace(&slab, plan->threads) + rounded(ps_q1_grid_size(&slab.grid));
    int64_t coarse =
        plan->coarse > 0
            ? (2 * plan->slabs + 2) * ps_slab_box_mode_plane(&plan->grid) + 16 * plan->slabs
            : 0;
    return solve > coarse ? solve : coarse;
}

/* Planes of the field that are kept: of all slabs, or of one. */
static int64_t kept_planes(const ps_slab_box_plan *plan)
{
    if (plan->fetch) return ps_slab_first(plan->grid.nodes[0], plan->slabs, 1) + 1;
    return plan->grid.nodes[0] + plan->slabs - 1;
}

int64_t ps_slab_box_size(const ps_slab_box_plan *plan)
{
    ps_slab slab = largest_slab(plan);
    int64_t planes = kept_planes(plan);
    return rounded(ps_fast_solver_size(&slab)) + rounded((planes + 2) * plane_of(plan)) +
           space_of(plan);
}

ps_status ps_slab_box_make(const ps_slab_box_plan *plan, double *memory, ps_slab_box *out)
{
    if (plan->slabs < 2 || plan->slabs > plan->grid.nodes[0] - 1)
        return ps_fail(PS_USAGE, "%lld planes make 2..%lld slabs, not %lld",
                       (long long)plan->grid.nodes[0], (long long)plan->grid.nodes[0] - 1,
                       (long long)plan->slabs);
    ps_slab slab = largest_slab(plan);
    *out = (ps_slab_box){.plan = *plan, .plane = plane_of(plan), .face = plane_of(plan)};
    PS_TRY(ps_fast_solver_make(&slab, memory, &out->tables));
    out->field = memory + rounded(ps_fast_solver_size(&slab));
    out->faces = out->field + kept_planes(plan) * out->plane;
    out->space = out->field + rounded((kept_planes(plan) + 2) * out->plane);
    return PS_OK;
}

int64_t ps_slab_box_traces(const ps_slab_box *box) { return 2 * (box->plan.slabs - 1) * box->face; }

static double *field_of(const ps_slab_box *box, int64_t slab)
{
    int64_t first = ps_slab_first(box->plan.grid.nodes[0], box->plan.slabs, slab);
    return box->field + (box->plan.fetch ? 0 : first + slab) * box->plane;
}

const double *ps_slab_box_field(const ps_slab_box *box, int64_t slab)
{
    return field_of(box, slab);
}

/* ---- slab solves ---- */

static void add(int64_t n, double factor, const double *x, double *y)
{
    for (int64_t i = 0; i < n; ++i) y[i] += factor * x[i];
}

/* Where the trace at a side of a slab lies in g; NULL where the face is not free. */
static const double *trace_of(const ps_slab_box *box, const double *g, int64_t slab, int side)
{
    if (side == 0) return slab > 0 ? g + (2 * slab - 1) * box->face : NULL;
    return slab < box->plan.slabs - 1 ? g + 2 * slab * box->face : NULL;
}

/* b = f + g, planes of the slab. */
static ps_status set_right_side(const ps_slab_box *box, int64_t slab, bool source, const double *g,
                                double *b)
{
    int64_t nx = box->plan.grid.nodes[0], first = ps_slab_first(nx, box->plan.slabs, slab);
    int64_t planes = ps_slab_first(nx, box->plan.slabs, slab + 1) - first + 1, n = box->plane;
    if (source && box->plan.fetch)
        PS_TRY(box->plan.fetch(box->plan.context, slab, b));
    else if (source && box->plan.load)
        memcpy(b, box->plan.load + first * n, (size_t)(planes * n) * sizeof *b);
    else
        memset(b, 0, (size_t)(planes * n) * sizeof *b);
    for (int side = 0; side < 2; ++side) {
        const double *trace = trace_of(box, g, slab, side);
        double *plane = b + (side == 0 ? 0 : planes - 1) * n;
        if (!trace) continue;
        for (int64_t i = 0; i < n; ++i) plane[i] = plane[i] / 2 + trace[i];
    }
    return PS_OK;
}

/* Rim nodes of interface planes are fixed: their values are data, not halves of loads. */
static void restore_rim(const ps_slab_box *box, int64_t slab, bool source, double *u)
{
    int64_t nx = box->plan.grid.nodes[0], ny = box->plan.grid.nodes[1];
    int64_t nz = box->plan.grid.nodes[2], first = ps_slab_first(nx, box->plan.slabs, slab);
    int64_t planes = ps_slab_first(nx, box->plan.slabs, slab + 1) - first + 1;
    for (int side = 0; side < 2; ++side) {
        int64_t plane = side == 0 ? 0 : planes - 1;
        const double *data =
            source && box->plan.load ? box->plan.load + (first + plane) * box->plane : NULL;
        for (int64_t j = 0; j < ny; ++j)
            for (int64_t k = 0; k < nz; k += j == 0 || j == ny - 1 ? 1 : nz - 1)
                u[plane * box->plane + j * nz + k] = data ? data[j * nz + k] : 0;
    }
}

static void solve_modes(const ps_slab_box *box, const ps_fast_solver *solver, double *planes)
{
    int64_t size = box->plane, open = ps_slab_open_planes(&solver->slab);
    if (!solver->slab.free[0]) planes += size;
#pragma omp parallel for schedule(static) num_threads(box->plan.threads)
    for (int64_t first = 0; first < size; first += TILE)
        ps_fast_solve_modes(solver, first, first + TILE < size ? first + TILE : size, planes,
                            box->space + open * TILE * omp_get_thread_num());
}

static ps_status solve_slab(ps_slab_box *box, int64_t slab, bool source, const double *g)
{
    ps_fast_solver solver = box->tables;
    double *u = field_of(box, slab);
    solver.slab = slab_of(&box->plan, slab);
    if (box->plan.modes) {
        PS_TRY(set_right_side(box, slab, source, g, u));
        solve_modes(box, &solver, u);
        return PS_OK;
    }
    double *b = box->space, *work = b + rounded(ps_q1_grid_size(&solver.slab.grid));
    PS_TRY(set_right_side(box, slab, source, g, b));
    ps_fast_solve(&solver, b, u, work, box->plan.threads);
    restore_rim(box, slab, source, u);
    return PS_OK;
}

/* out = (S1 + S2) u at a face of a slab. */
static void combine(const ps_slab_box *box, int64_t slab, int side, double *out)
{
    const ps_transmission *t = &box->plan.transmission;
    double p = t->p[0] + t->p[1], q = t->q[0] + t->q[1], weights[2][2];
    int64_t nx = box->plan.grid.nodes[0];
    int64_t planes =
        ps_slab_first(nx, box->plan.slabs, slab + 1) - ps_slab_first(nx, box->plan.slabs, slab);
    const double *u = field_of(box, slab) + (side == 0 ? 0 : planes) * box->plane;
    if (!box->plan.modes) {
        ps_face_weights(&box->plan.grid, p, q, weights);
        ps_face_apply(&box->plan.grid, weights, u, out);
        return;
    }
    const double *mu = box->tables.mu, *inverse = box->tables.inverse;
    for (int64_t m = 0; m < box->face; ++m)
        out[m] = inverse[m] > 0 ? (p + q * mu[m]) / inverse[m] * u[m] : 0;
}

/* What the slab sends out of a side: (S1 + S2) u - g of that side. */
static void send(const ps_slab_box *box, int64_t slab, int side, const double *g, double *out)
{
    combine(box, slab, side, out);
    add(box->face, -1, trace_of(box, g, slab, side), out);
}

static ps_status exchange(void *context, bool source, const double *g, double *out)
{
    ps_slab_box *box = context;
    for (int64_t slab = 0; slab < box->plan.slabs; ++slab) {
        PS_TRY(solve_slab(box, slab, source, g));
        if (slab > 0) send(box, slab, 0, g, out + (2 * slab - 2) * box->face);
        if (slab < box->plan.slabs - 1) send(box, slab, 1, g, out + (2 * slab + 1) * box->face);
    }
    return PS_OK;
}

ps_status ps_slab_box_finish(ps_slab_box *box, const double *g)
{
    for (int64_t slab = 0; slab < box->plan.slabs; ++slab) {
        PS_TRY(solve_slab(box, slab, true, g));
        if (box->plan.deliver)
            PS_TRY(box->plan.deliver(box->plan.context, slab, field_of(box, slab)));
    }
    return PS_OK;
}

/* ---- double sweeps ---- */

/* Solves a slab, renews the trace beyond a side of it and adds the squared change. */
static ps_status sweep_step(ps_slab_box *box, int64_t slab, int side, double *g, double *change)
{
    double *trace = g + (side == 0 ? 2 * slab - 2 : 2 * slab + 1) * box->face;
    PS_TRY(solve_slab(box, slab, true, g));
    send(box, slab, side, g, box->faces);
    for (int64_t i = 0; i < box->face; ++i) {
        *change += (box->faces[i] - trace[i]) * (box->faces[i] - trace[i]);
        trace[i] = box->faces[i];
    }
    return PS_OK;
}

ps_status ps_slab_box_sweep(ps_slab_box *box, double *g, double *change)
{
    int64_t last = box->plan.slabs - 1;
    double sum = 0;
    for (int64_t slab = 0; slab < last; ++slab) PS_TRY(sweep_step(box, slab, 1, g, &sum));
    for (int64_t slab = last; slab > 0; --slab) PS_TRY(sweep_step(box, slab, 0, g, &sum));
    *change = sqrt(sum);
    return PS_OK;
}

ps_status ps_slab_box_sweeps(ps_slab_box *box, double tolerance, int64_t limit, double *g,
                             ps_krylov_result *result)
{
    double first = 0, change;
    *result = (ps_krylov_result){0};
    while (!result->converged) {
        if (result->iterations == limit || !isfinite(result->residual))
            return ps_fail(PS_FAILED, "double sweeps: the residual is %.3g after %lld of them",
                           result->residual, (long long)result->iterations);
        PS_TRY(ps_slab_box_sweep(box, g, &change));
        if (result->iterations++ == 0) first = change;
        result->residual = change == 0 ? 0 : change / first;
        result->converged = result->residual <= tolerance;
    }
    return PS_OK;
}

/* ---- coarse correction ---- */

/* The 2 x 2 response of a slab's face values to its face loads in one mode: u = r g. */
static void response(const ps_slab *slab, double mu, double r[2][2])
{
    double h = slab->grid.spacing[0], off = -1 / h + mu * h / 6, inside = 2 / h + mu * 4 * h / 6;
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
        ps_slab slab = slab_of(&box->plan, j);
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

/* Adds to the low modes of all traces what makes them exact: x - r, (I - T) x = r. */
static ps_status correct(void *context, double *r)
{
    ps_slab_box *box = context;
    int64_t traces = 2 * (box->plan.slabs - 1), size = ps_slab_box_mode_plane(&box->plan.grid);
    double *modes = box->space, *scratch = modes + traces * size, *delta = scratch + size;
    double(*band)[5] = (double(*)[5])(delta + size), *x = (double *)(band + traces);
    const ps_fast_solver *f = &box->tables;
    bool nodal = !box->plan.modes;
    for (int64_t t = 0; t < traces; ++t)
        if (nodal) ps_fast_to_modes(f, r + t * box->face, modes + t * size, scratch);
    if (!nodal) modes = r;
    for (int64_t m = 0; m < size; ++m) {
        bool low = f->inverse[m] > 0 && f->mu[m] < box->plan.coarse * box->plan.coarse;
        if (low) {
            fill_band(box, f->mu[m], band);
            for (int64_t t = 0; t < traces; ++t) x[t] = modes[t * size + m];
            solve_band(band, traces, x);
        }
        for (int64_t t = 0; t < traces && (low || nodal); ++t)
            modes[t * size + m] = low ? x[t] - (nodal ? modes[t * size + m] : 0) : 0;
    }
    for (int64_t t = 0; t < traces && nodal; ++t) {
        /* what is added has zeros on the rim, as the traces have */
        double *nodes = box->faces;
        memset(nodes, 0, (size_t)box->face * sizeof *nodes);
        ps_fast_to_nodes(f, modes + t * size, nodes, scratch);
        add(box->face, 1, nodes, r + t * box->face);
    }
    return PS_OK;
}

ps_interface ps_slab_box_interface(ps_slab_box *box, bool source)
{
    return (ps_interface){.context = box,
                          .size = ps_slab_box_traces(box),
                          .exchange = exchange,
                          .correct = box->plan.coarse > 0 ? correct : NULL,
                          .source = source};
}
