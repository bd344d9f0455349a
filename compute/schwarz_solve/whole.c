/* The box as one: direct solution, or a Krylov method. */
#include <stdlib.h>
#include <string.h>

#include "compute/schwarz_solve/solve.h"
#include "kernels/schwarz/krylov_team.h"
#include "runtime/memory.h"

static ps_krylov_method krylov_of(solve_method method)
{
    return (ps_krylov_method)(method - METHOD_CG + PS_KRYLOV_CG);
}

static int64_t whole_workspace(const solve_problem *p, const ps_slab *slab,
                               const ps_slab_stencil *stencil)
{
    ps_krylov_system system = {.stencil = stencil};
    if (p->options.method == METHOD_DIRECT)
        return (ps_fast_solver_size(slab) + 7) / 8 * 8 +
               ps_fast_workspace(slab, (int)p->run->threads);
    return ps_krylov_cpu_workspace(krylov_of(p->options.method), &system);
}

int64_t whole_memory(const solve_problem *p)
{
    ps_slab slab = ps_slab_whole(&p->grid);
    ps_slab_stencil stencil;
    ps_slab_stencil_make(&slab, &stencil);
    return 8 * (2 * ps_q1_grid_size(&p->grid) + whole_workspace(p, &slab, &stencil));
}

static ps_status krylov(solve_problem *p, const ps_slab_stencil *stencil, const double *b,
                        double *u, double *workspace)
{
    ps_krylov_cpu_team team;
    ps_krylov_system system = {.stencil = stencil, .b = b, .x = u};
    ps_krylov_method method = krylov_of(p->options.method);
    PS_TRY(ps_krylov_cpu_begin(method, &system, workspace, &team));
    ps_krylov_team control = ps_krylov_cpu_team_of(&team);
    /* The team is its own context: iterations are noted from the result alone. */
    ps_status status =
        ps_krylov_solve(method, &control, p->options.tolerance, p->options.limit, &p->result);
    if (status == PS_OK) status = note_iteration(p, p->result.iterations, p->result.residual);
    return status;
}

static ps_status direct(solve_problem *p, const ps_slab *slab, const double *b, double *u,
                        double *workspace)
{
    ps_fast_solver solver;
    PS_TRY(ps_fast_solver_make(slab, workspace, &solver));
    ps_fast_solve(&solver, b, u, workspace + (ps_fast_solver_size(slab) + 7) / 8 * 8,
                  (int)p->run->threads);
    p->result = (ps_krylov_result){.iterations = 0, .converged = true};
    return PS_OK;
}

static ps_status write_field(solve_problem *p, const double *u)
{
    plane_writer writer;
    double start = ps_clock();
    ps_status status = plane_writer_open(&p->out, &writer);
    for (int64_t i = 0; i < p->grid.nodes[0] && status == PS_OK; ++i)
        status = plane_writer_add(&writer, u + i * p->out.plane);
    plane_writer_close(&writer);
    p->seconds[SECONDS_WRITE] += ps_clock() - start;
    return status;
}

ps_status solve_whole(solve_problem *p)
{
    ps_slab slab = ps_slab_whole(&p->grid);
    ps_slab_stencil stencil;
    double *b = NULL, *u = NULL, *workspace = NULL, start = ps_clock();
    int64_t nodes = ps_q1_grid_size(&p->grid);
    ps_slab_stencil_make(&slab, &stencil);
    ps_status status = PS_ALLOC(&b, nodes, "loads");
    if (status == PS_OK) status = PS_ALLOC(&u, nodes, "the solution");
    if (status == PS_OK)
        status = PS_ALLOC(&workspace, whole_workspace(p, &slab, &stencil), "solving");
    if (status == PS_OK) status = ps_box_field_read(&p->load, 0, p->grid.nodes[0], b);
    p->seconds[SECONDS_READ] = ps_clock() - start;
    start = ps_clock();
    if (status == PS_OK)
        status = p->options.method == METHOD_DIRECT ? direct(p, &slab, b, u, workspace)
                                                    : krylov(p, &stencil, b, u, workspace);
    p->seconds[SECONDS_SOLVE] = ps_clock() - start;
    free(workspace);
    free(b);
    if (status == PS_OK && !p->trial) status = write_field(p, u);
    free(u);
    return status;
}
