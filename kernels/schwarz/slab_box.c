#include "kernels/schwarz/slab_box.h"

#include <omp.h>
#include <string.h>

#include "runtime/sizes.h"

enum { TILE = 64 };

/* ---- memory ---- */

/* A slab with free faces and the most planes: no slab needs more workspace. */
static ps_slab largest_slab(const ps_slab_box_plan *plan)
{
    ps_slab s = ps_slab_box_slab(plan, 0);
    s.free[0] = s.free[1] = true;
    return s;
}

/* Workspace of a slab's solution, and where vectors are nodal its right-hand side; also the traces
 * of the coarse solve. */
static int64_t space_of(const ps_slab_box_plan *plan)
{
    ps_slab slab = largest_slab(plan);
    int64_t solve = plan->threads * TILE * ps_slab_open_planes(&slab);
    int64_t coarse = ps_slab_box_coarse_space(plan);
    if (!plan->modes)
        solve = (plan->solve ? 0 : ps_fast_workspace(&slab, plan->threads)) +
                ps_round_up(ps_q1_grid_size(&slab.grid), 8);
    return solve > coarse ? solve : coarse;
}

/* Planes of the field that are kept: of all own slabs, or of one. */
static int64_t kept_planes(const ps_slab_box_plan *plan)
{
    int64_t end = ps_slab_end(plan);
    if (plan->walk) return ps_slab_planes(plan, 0);
    return ps_slab_first_plane(plan, end) - ps_slab_first_plane(plan, plan->first) + end -
           plan->first;
}

int64_t ps_slab_box_size(const ps_slab_box_plan *plan)
{
    ps_slab slab = largest_slab(plan);
    int64_t planes = kept_planes(plan);
    return ps_round_up(ps_fast_solver_size(&slab), 8) +
           ps_round_up((planes + 2) * ps_slab_box_plane(plan), 8) +
           ps_round_up(2 * plan->slabs, 8) + space_of(plan);
}

ps_status ps_slab_box_make(const ps_slab_box_plan *plan, double *memory, ps_slab_box *out)
{
    if (plan->slabs < 2 || plan->slabs > plan->grid.nodes[0] - 1)
        return ps_fail(PS_USAGE, "%lld planes make 2..%lld slabs, not %lld",
                       (long long)plan->grid.nodes[0], (long long)plan->grid.nodes[0] - 1,
                       (long long)plan->slabs);
    ps_slab slab = largest_slab(plan);
    *out = (ps_slab_box){
        .plan = *plan, .plane = ps_slab_box_plane(plan), .face = ps_slab_box_plane(plan)};
    out->plan.end = ps_slab_end(plan);
    out->base = plan->first > 0 ? 2 * plan->first - 1 : 0;
    out->traces =
        (out->plan.end < plan->slabs ? 2 * out->plan.end - 1 : 2 * plan->slabs - 2) - out->base;
    PS_TRY(ps_fast_solver_make(&slab, memory, &out->tables));
    out->field = memory + ps_round_up(ps_fast_solver_size(&slab), 8);
    out->faces = out->field + kept_planes(plan) * out->plane;
    out->parts = out->field + ps_round_up((kept_planes(plan) + 2) * out->plane, 8);
    out->space = out->parts + ps_round_up(2 * plan->slabs, 8);
    return PS_OK;
}

int64_t ps_slab_box_traces(const ps_slab_box *box) { return box->traces * box->face; }

static double *field_of(const ps_slab_box *box, int64_t slab)
{
    const ps_slab_box_plan *plan = &box->plan;
    int64_t before = ps_slab_first_plane(plan, slab) - ps_slab_first_plane(plan, plan->first) +
                     slab - plan->first;
    return box->field + (plan->walk ? 0 : before) * box->plane;
}

/* Makes the visits of an order. */
static ps_status walk(const ps_slab_box *box, bool source, ps_slab_order order, ps_slab_step *step,
                      void *argument)
{
    const ps_slab_box_plan *plan = &box->plan;
    if (source && plan->walk) return plan->walk(plan->context, order, step, argument);
    for (int64_t visit = 0; visit < ps_slab_visits(plan, order); ++visit) {
        int64_t plane = ps_slab_first_plane(plan, ps_slab_visited(plan, order, visit)) -
                        ps_slab_first_plane(plan, plan->first);
        PS_TRY(
            step(argument, visit, source && plan->load ? plan->load + plane * box->plane : NULL));
    }
    return PS_OK;
}

/* ---- slab solves ---- */

/* The trace at a side of a slab; NULL where the face is not free. */
static const double *trace_of(const ps_slab_box *box, const double *g, int64_t slab, int side)
{
    if (side == 0) return slab > 0 ? g + (2 * slab - 1 - box->base) * box->face : NULL;
    return slab < box->plan.slabs - 1 ? g + (2 * slab - box->base) * box->face : NULL;
}

/* b = f + g, planes of the slab. */
static void set_right_side(const ps_slab_box *box, int64_t slab, const double *load,
                           const double *g, double *b)
{
    int64_t planes = ps_slab_planes(&box->plan, slab), n = box->plane;
    if (load)
        memcpy(b, load, (size_t)(planes * n) * sizeof *b);
    else
        memset(b, 0, (size_t)(planes * n) * sizeof *b);
    for (int side = 0; side < 2; ++side) {
        const double *trace = trace_of(box, g, slab, side);
        double *plane = b + (side == 0 ? 0 : planes - 1) * n;
        if (!trace) continue;
        for (int64_t i = 0; i < n; ++i) plane[i] = plane[i] / 2 + trace[i];
    }
}

/* Rim nodes of interface planes are fixed: their values are data, not halves of loads. */
static void set_rim(const ps_slab_box *box, int64_t slab, const double *load, double *u)
{
    int64_t ny = box->plan.grid.nodes[1], nz = box->plan.grid.nodes[2];
    for (int side = 0; side < 2; ++side) {
        int64_t at = (side == 0 ? 0 : ps_slab_planes(&box->plan, slab) - 1) * box->plane;
        for (int64_t j = 0; j < ny; ++j)
            for (int64_t k = 0; k < nz; k += j == 0 || j == ny - 1 ? 1 : nz - 1)
                u[at + j * nz + k] = load ? load[at + j * nz + k] : 0;
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

/* load: of the slab, NULL: none. */
static ps_status solve_slab(const ps_slab_box *box, int64_t slab, const double *load,
                            const double *g)
{
    const ps_slab_box_plan *plan = &box->plan;
    ps_fast_solver solver = box->tables;
    double *u = field_of(box, slab);
    solver.slab = ps_slab_box_slab(plan, slab);
    if (plan->modes) {
        set_right_side(box, slab, load, g, u);
        solve_modes(box, &solver, u);
        return PS_OK;
    }
    double *b = box->space, *work = b + ps_round_up(ps_q1_grid_size(&solver.slab.grid), 8);
    set_right_side(box, slab, load, g, b);
    set_rim(box, slab, load, b);
    if (plan->solve) return plan->solve(plan->context, slab, &solver.slab, b, u);
    ps_fast_solve(&solver, b, u, work, plan->threads);
    return PS_OK;
}

/* What the slab sends out of a side: (S1 + S2) u - g of that side. */
static void send(const ps_slab_box *box, int64_t slab, int side, const double *g, double *out)
{
    const ps_transmission *t = &box->plan.transmission;
    double p = t->p[0] + t->p[1], q = t->q[0] + t->q[1], weights[2][2];
    const double *u = field_of(box, slab);
    const double *trace = trace_of(box, g, slab, side);
    if (side == 1) u += (ps_slab_planes(&box->plan, slab) - 1) * box->plane;
    if (!box->plan.modes) {
        ps_face_weights(&box->plan.grid, p, q, weights);
        ps_face_apply(&box->plan.grid, weights, u, out);
        for (int64_t i = 0; i < box->face; ++i) out[i] -= trace[i];
        return;
    }
    const double *mu = box->tables.mu, *inverse = box->tables.inverse;
    for (int64_t m = 0; m < box->face; ++m)
        out[m] = inverse[m] > 0 ? (p + q * mu[m]) / inverse[m] * u[m] - trace[m] : 0;
}

/* ---- the parallel method ---- */

/* Whether another rank is at a side. */
static bool beside(const ps_slab_box *box, int side)
{
    return side == 0 ? box->plan.first > 0 : box->plan.end < box->plan.slabs;
}

static ps_status pass(const ps_slab_box *box, int side, const double *out, double *in)
{
    const ps_slab_links *links = box->plan.links;
    return links->pass(links->context, side, box->face, out, in);
}

static ps_status agree(const ps_slab_box *box, ps_status status)
{
    const ps_slab_links *links = box->plan.links;
    return links ? links->agree(links->context, status) : status;
}

typedef struct exchange {
    ps_slab_box *box;
    const double *g;
    double *out;
    bool posted;
} exchange;

/* The outermost traces go to the ranks beside, theirs come to the ends of out. */
static ps_status post(exchange *e)
{
    const ps_slab_box *box = e->box;
    e->posted = true;
    for (int side = 0; side < 2; ++side)
        if (beside(box, side))
            PS_TRY(pass(box, side, box->faces + side * box->face,
                        e->out + (side == 0 ? 0 : box->traces - 1) * box->face));
    return PS_OK;
}

static ps_status exchange_step(void *argument, int64_t visit, const double *load)
{
    exchange *e = argument;
    ps_slab_box *box = e->box;
    int64_t slab = ps_slab_visited(&box->plan, PS_SLAB_EXCHANGE, visit);
    int64_t edges = box->plan.end - box->plan.first > 1 ? 2 : 1;
    PS_TRY(solve_slab(box, slab, load, e->g));
    for (int side = 0; side < 2; ++side) {
        bool outer = slab == (side == 0 ? box->plan.first : box->plan.end - 1);
        int64_t trace = side == 0 ? 2 * slab - 2 : 2 * slab + 1;
        if (outer && !beside(box, side)) continue;
        send(box, slab, side, e->g,
             outer ? box->faces + side * box->face : e->out + (trace - box->base) * box->face);
    }
    return visit == edges - 1 ? post(e) : PS_OK;
}

static ps_status make_exchange(void *context, bool source, const double *g, double *out)
{
    exchange e = {context, g, out, false};
    const ps_slab_box_plan *plan = &e.box->plan;
    ps_status status = walk(e.box, source, PS_SLAB_EXCHANGE, exchange_step, &e);
    if (!e.posted) post(&e); /* others wait for it, whatever it is worth */
    for (int side = 0; side < 2; ++side)
        if (beside(e.box, side)) {
            ps_status end = plan->links->wait(plan->links->context, side);
            if (status == PS_OK) status = end;
        }
    return agree(e.box, status);
}

static ps_status reduce(void *context, double *sums, int64_t count)
{
    const ps_slab_box_plan *plan = &((ps_slab_box *)context)->plan;
    return plan->links ? plan->links->sum(plan->links->context, sums, count) : PS_OK;
}

ps_interface ps_slab_box_interface(ps_slab_box *box, bool source)
{
    return (ps_interface){.context = box,
                          .size = ps_slab_box_traces(box),
                          .traces = box->traces,
                          .first = box->base,
                          .all = 2 * (box->plan.slabs - 1),
                          .exchange = make_exchange,
                          .correct = box->plan.coarse > 0 ? ps_slab_box_correct : NULL,
                          .reduce = reduce,
                          .source = source};
}

static ps_status finish_step(void *argument, int64_t visit, const double *load)
{
    exchange *e = argument;
    const ps_slab_box_plan *plan = &e->box->plan;
    int64_t slab = ps_slab_visited(plan, PS_SLAB_FINISH, visit);
    PS_TRY(solve_slab(e->box, slab, load, e->g));
    return plan->deliver ? plan->deliver(plan->context, slab, field_of(e->box, slab)) : PS_OK;
}

ps_status ps_slab_box_finish(ps_slab_box *box, const double *g)
{
    exchange e = {box, g, NULL, false};
    return walk(box, true, PS_SLAB_FINISH, finish_step, &e);
}

/* ---- double sweeps ---- */

typedef struct sweep {
    ps_slab_box *box;
    double *g;
    bool got[2], gave[2]; /* the traces of the ranks beside */
} sweep;

/* The first slab of a way waits for the rank before it. */
static ps_status get(sweep *s, int side)
{
    const ps_slab_box *box = s->box;
    if (!beside(box, side) || s->got[side]) return PS_OK;
    s->got[side] = true;
    PS_TRY(pass(box, side, NULL, s->g + (side == 0 ? 0 : box->traces - 1) * box->face));
    return box->plan.links->wait(box->plan.links->context, side);
}

static ps_status give(sweep *s, int side)
{
    const ps_slab_box *box = s->box;
    if (!beside(box, side) || s->gave[side]) return PS_OK;
    s->gave[side] = true;
    PS_TRY(pass(box, side, box->faces + box->face, NULL));
    return box->plan.links->wait(box->plan.links->context, side);
}

/* Solves a slab and renews the trace beyond a side of it. */
static ps_status sweep_slab(sweep *s, int64_t slab, int side, const double *load)
{
    ps_slab_box *box = s->box;
    bool outer = slab == (side == 0 ? box->plan.first : box->plan.end - 1);
    int64_t number = side == 0 ? 2 * slab - 2 : 2 * slab + 1;
    double *trace = s->g + (number - box->base) * box->face;
    double *fresh = box->faces + (outer ? box->face : 0), square = 0;
    PS_TRY(solve_slab(box, slab, load, s->g));
    send(box, slab, side, s->g, fresh);
    if (outer) return give(s, side); /* its change is counted where it goes */
    for (int64_t i = 0; i < box->face; ++i) {
        square += (fresh[i] - trace[i]) * (fresh[i] - trace[i]);
        trace[i] = fresh[i];
    }
    box->parts[number] = square;
    return PS_OK;
}

/* Gets a trace from the rank at a side and counts its change. */
static ps_status get_counted(sweep *s, int side)
{
    ps_slab_box *box = s->box;
    int64_t at = side == 0 ? 0 : box->traces - 1;
    double *trace = s->g + at * box->face, square = 0;
    if (!beside(box, side) || s->got[side]) return PS_OK;
    memcpy(box->faces, trace, (size_t)box->face * sizeof *trace);
    PS_TRY(get(s, side));
    for (int64_t i = 0; i < box->face; ++i)
        square += (trace[i] - box->faces[i]) * (trace[i] - box->faces[i]);
    box->parts[box->base + at] = square;
    return PS_OK;
}

static ps_status sweep_step(void *argument, int64_t visit, const double *load)
{
    sweep *s = argument;
    const ps_slab_box_plan *plan = &s->box->plan;
    int64_t slab = ps_slab_visited(plan, PS_SLAB_SWEEP, visit),
            there = ps_slab_forward_visits(plan);
    PS_TRY(get_counted(s, 0));
    if (visit >= there) PS_TRY(get_counted(s, 1));
    return sweep_slab(s, slab, visit < there ? 1 : 0, load);
}

ps_status ps_slab_box_sweep(ps_slab_box *box, double *g, double *change)
{
    sweep s = {box, g, {false, false}, {false, false}};
    const ps_slab_box_plan *plan = &box->plan;
    memset(box->parts, 0, (size_t)(2 * plan->slabs) * sizeof *box->parts);
    ps_status status = walk(box, true, PS_SLAB_SWEEP, sweep_step, &s);
    /* After a failure others still wait. */
    for (int side = 0; side < 2; ++side) {
        ps_status end = get(&s, side);
        if (end == PS_OK) end = give(&s, 1 - side);
        if (status == PS_OK) status = end;
    }
    PS_TRY(agree(box, status));
    ps_interface problem = ps_slab_box_interface(box, true);
    return ps_interface_norm(&problem, box->parts, change);
}
