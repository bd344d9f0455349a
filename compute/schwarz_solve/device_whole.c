/* The box as one on a CUDA device. */
#include <stdlib.h>

#include "compute/schwarz_solve/device.h"
#include "kernels/schwarz/fast_device.h"
#include "kernels/linear/krylov_device.h"
#include "runtime/memory.h"
#include "runtime/sizes.h"

typedef struct whole {
    solve_problem *p;
    ps_slab slab;
    ps_slab_stencil stencil;
    double *nodes;         /* host */
    device_base base;      /* b, x, workspace */
    double *x;             /* device */
    ps_fast_device solver; /* direct: tables at the start of the workspace */
} whole;

static void whole_plan(solve_problem *p, ps_ledger *ledger)
{
    ps_ledger_add(ledger, PS_ROOM_HOST, "nodes", 8 * ps_q1_grid_size(&p->grid));
}

static ps_krylov_device_system system_of(const whole *w)
{
    return (ps_krylov_device_system){
        .precision = PS_DOUBLE, .stencil = &w->stencil, .b = w->base.memory, .x = w->x};
}

static int64_t workspace_of(const whole *w)
{
    ps_krylov_device_system system = system_of(w);
    if (w->p->options.mixed) return ps_krylov_device_mixed_workspace(&system);
    if (w->p->options.method != METHOD_DIRECT)
        return ps_krylov_device_workspace(krylov_of(w->p->options.method), &system);
    return ps_device_padded(ps_fast_device_bytes(PS_DOUBLE, &w->slab)) +
           ps_fast_device_workspace(PS_DOUBLE, &w->slab);
}

static char *workspace_at(const whole *w)
{
    return (char *)w->x + ps_device_padded(8 * ps_q1_grid_size(&w->p->grid));
}

static ps_status whole_read(whole *w)
{
    int64_t bytes = 8 * ps_q1_grid_size(&w->p->grid);
    PS_TRY(ps_box_field_read(&w->p->load, 0, w->p->grid.nodes[0], w->nodes));
    PS_TRY(ps_copy_to_device(w->base.stream, w->base.memory, w->nodes, bytes));
    PS_TRY(ps_fill_zero(w->base.stream, w->x, bytes));
    return ps_stream_wait(w->base.stream);
}

static ps_status whole_open(solve_problem *p, void *state)
{
    whole *w = state;
    int64_t vector = ps_device_padded(8 * ps_q1_grid_size(&p->grid));
    *w = (whole){.p = p, .slab = ps_slab_whole(&p->grid)};
    ps_slab_stencil_make(&w->slab, &w->stencil);
    PS_TRY(PS_ALLOC(&w->nodes, ps_q1_grid_size(&p->grid), "loads"));
    PS_TRY(device_base_open(p, 2 * vector + workspace_of(w), &w->base));
    w->x = (double *)(w->base.memory + vector);
    if (p->options.method == METHOD_DIRECT)
        PS_TRY(
            ps_fast_device_make(PS_DOUBLE, &w->slab, workspace_at(w), w->base.stream, &w->solver));
    return whole_read(w);
}

static ps_status whole_direct(whole *w)
{
    int64_t tables = ps_device_padded(ps_fast_device_bytes(PS_DOUBLE, &w->slab));
    PS_TRY(ps_fast_device_solve(&w->solver, w->base.memory, w->x, workspace_at(w) + tables,
                                w->base.stream));
    w->p->result = (ps_krylov_result){.iterations = 0, .converged = true};
    return ps_stream_wait(w->base.stream);
}

static ps_status whole_krylov(whole *w)
{
    solve_problem *p = w->p;
    ps_krylov_device_system system = system_of(w);
    ps_krylov_device_control control = {.tolerance = p->options.tolerance,
                                        .limit = p->options.limit,
                                        .watch = watch_iteration,
                                        .context = p};
    void *workspace = workspace_at(w);
    ps_status status =
        p->options.mixed
            ? ps_krylov_device_mixed(&system, &control, workspace, w->base.stream, &p->result)
            : ps_krylov_device_solve(krylov_of(p->options.method), &system, &control, workspace,
                                     w->base.stream, &p->result);
    return end_of_krylov(p, status);
}

static ps_status whole_solve(void *state)
{
    whole *w = state;
    return w->p->options.method == METHOD_DIRECT ? whole_direct(w) : whole_krylov(w);
}

static ps_status whole_write(void *state, plane_writer *writer)
{
    whole *w = state;
    PS_TRY(ps_copy_to_host(w->base.stream, w->nodes, w->x, 8 * ps_q1_grid_size(&w->p->grid)));
    PS_TRY(ps_stream_wait(w->base.stream));
    for (int64_t i = 0; i < w->p->grid.nodes[0]; ++i)
        PS_TRY(plane_writer_add(writer, w->nodes + i * w->p->out.plane));
    return PS_OK;
}

static void whole_close(void *state)
{
    whole *w = state;
    device_base_close(w->p, &w->base);
    free(w->nodes);
}

const solve_way solve_whole_device = {sizeof(whole), whole_plan,  whole_open,
                                      whole_solve,   whole_write, whole_close};
