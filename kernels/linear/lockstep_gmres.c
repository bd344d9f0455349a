#include <math.h>

#include "kernels/linear/arnoldi.h"
#include "kernels/linear/lockstep_internal.h"

static int64_t numbers(const ps_lockstep_system *system, const ps_lockstep_options *options)
{
    return system->sides * ps_arnoldi_numbers(options->restart);
}

static int64_t vectors(const ps_lockstep_system *system, const ps_lockstep_options *options)
{
    return (options->restart + 1) * system->sides * ps_lockstep_size(system);
}

static int64_t work(const ps_lockstep_system *system, const ps_lockstep_options *options)
{
    return 2 * (options->restart + 1) + ps_panel_scratch(options->restart + 1, 1);
}

static int64_t used(const ps_lockstep *solver)
{
    return (solver->progress->step + 1) * solver->system->sides * ps_lockstep_size(solver->system);
}

/* ---- vectors: panels, added up over ranks by the system ---- */

/* The sums of a step are behind the packed vectors, the scratch of products behind them. */
static double complex *sums_of(const ps_lockstep *solver)
{
    const ps_lockstep_system *system = solver->system;
    return (double complex *)(solver->memory[PS_LOCKSTEP_WORK] +
                              system->sides * (1 + ps_lockstep_size(system)));
}

static ps_status dots(void *context, ps_panel a, double *b, double complex *out)
{
    const ps_lockstep *solver = context;
    double *scratch = (double *)(sums_of(solver) + solver->options.restart + 1);
    return ps_lockstep_dots(solver, a, (ps_panel){b, 1, 0}, out, scratch);
}

static ps_status add(void *context, ps_panel a, const double complex *factors, double *y)
{
    const ps_lockstep *solver = context;
    ps_panel_add(solver->system->shape, a, factors, (ps_panel){y, 1, 0});
    return PS_OK;
}

static ps_status divide(void *context, double by, double *x)
{
    const ps_lockstep *solver = context;
    ps_panel_scale(solver->system->shape, 1 / by, x);
    return PS_OK;
}

static ps_vector_space space_of(ps_lockstep *solver)
{
    return (ps_vector_space){solver, dots, add, divide};
}

static ps_arnoldi arnoldi_of(const ps_lockstep *solver, const ps_vector_space *space, int64_t side)
{
    int64_t size = ps_lockstep_size(solver->system), m = solver->options.restart;
    ps_arnoldi a = {.space = space,
                    .basis = {solver->kept + side * size, 0, solver->system->sides * size},
                    .scratch = sums_of(solver)};
    ps_arnoldi_attach(&a, m, solver->numbers + side * ps_arnoldi_numbers(m));
    return a;
}

/* ---- steps ---- */

static ps_status restart(ps_lockstep *solver)
{
    ps_vector_space space = space_of(solver);
    for (int64_t s = 0; s < solver->system->sides; ++s) {
        ps_lockstep_side *side = &solver->sides[s];
        if (side->done) continue;
        ps_arnoldi a = arnoldi_of(solver, &space, s);
        side->columns = 0;
        ps_arnoldi_begin(&a, side->residual * side->size);
        PS_TRY(divide(solver, side->residual * side->size, a.basis.data));
    }
    solver->progress->step = 0;
    return PS_OK;
}

static ps_status advance(ps_lockstep *solver)
{
    const ps_lockstep_system *system = solver->system;
    ps_vector_space space = space_of(solver);
    int64_t *active = (int64_t *)solver->memory[PS_LOCKSTEP_WORK], k = solver->progress->step;
    double *from = solver->kept + k * system->sides * ps_lockstep_size(system);
    int64_t count = ps_lockstep_active(solver, active), going = 0;
    PS_TRY(ps_lockstep_product(solver, active, count, from,
                               from + system->sides * ps_lockstep_size(system),
                               solver->memory[PS_LOCKSTEP_WORK] + system->sides));
    for (int64_t i = 0; i < count; ++i) {
        ps_lockstep_side *side = &solver->sides[active[i]];
        ps_arnoldi a = arnoldi_of(solver, &space, active[i]);
        double residual;
        PS_TRY(ps_arnoldi_extend(&a, k, &residual));
        ++side->columns;
        side->steps += isfinite(residual);
        PS_TRY(ps_lockstep_note(solver, active[i], residual));
        going += !side->resting;
    }
    ++solver->progress->step;
    if (going && solver->progress->step < solver->options.restart) return PS_OK;
    for (int64_t s = 0; s < system->sides; ++s) {
        ps_arnoldi a = arnoldi_of(solver, &space, s);
        if (solver->sides[s].done) continue;
        PS_TRY(ps_arnoldi_update(&a, solver->sides[s].columns,
                                 solver->x + s * ps_lockstep_size(system)));
    }
    ps_lockstep_close(solver);
    return PS_OK;
}

const struct ps_lockstep_functions ps_lockstep_gmres = {numbers, vectors, work,
                                                        used,    restart, advance};
