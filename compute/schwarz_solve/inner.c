/* Slabs solved by Krylov methods with Jacobi scaling, matrix-free. */
#include <string.h>

#include "compute/schwarz_solve/solve.h"
#include "kernels/linear/krylov_team.h"
#include "runtime/memory.h"

int64_t inner_doubles(const solve_problem *p, int64_t planes)
{
    ps_slab slab = ps_slab_whole(&p->grid);
    ps_slab_stencil stencil;
    slab.grid.nodes[0] = planes;
    ps_slab_stencil_make(&slab, &stencil);
    return ps_krylov_cpu_workspace(krylov_of(p->options.inner),
                                   &(ps_krylov_system){.stencil = &stencil});
}

ps_status inner_open(solve_problem *p, int64_t planes, inner_solver *out)
{
    out->p = p;
    return PS_ALLOC(&out->workspace, inner_doubles(p, planes), "inner solver");
}

double inner_tolerance_of(const solve_problem *p)
{
    const solve_options *o = &p->options;
    if (o->inner_tolerance > 0) return o->inner_tolerance;
    if (o->method == METHOD_GMRES) return .01 * o->tolerance;
    double residual = p->result.residual; /* 1 before the first iteration */
    return .01 * (residual < o->tolerance ? o->tolerance : residual);
}

/* Fixed point and sweeps start from the field of the iteration before, if it was kept. */
static bool starts_warm(const solve_problem *p)
{
    return p->options.method != METHOD_GMRES && !p->options.streamed;
}

ps_status inner_solve(void *context, int64_t slab, const ps_slab *geometry, const double *b,
                      double *u)
{
    inner_solver *s = context;
    ps_slab_stencil stencil;
    ps_krylov_result result;
    ps_krylov_system system = {.stencil = &stencil, .b = b, .x = u};
    ps_slab_stencil_make(geometry, &stencil);
    if (!starts_warm(s->p)) memset(u, 0, (size_t)ps_q1_grid_size(&geometry->grid) * sizeof *u);
    ps_status status =
        ps_krylov_cpu_solve(krylov_of(s->p->options.inner), &system, inner_tolerance_of(s->p),
                            INNER_LIMIT, s->workspace, &result);
    s->p->inner_iterations += result.iterations;
    return status == PS_OK ? PS_OK : ps_context(status, "slab %lld", (long long)slab);
}
