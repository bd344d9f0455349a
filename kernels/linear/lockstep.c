#include <math.h>
#include <string.h>

#include "kernels/linear/lockstep_internal.h"

enum { ACCEPT_PERCENT = 110 }; /* of the tolerance, for true residuals */

static const struct ps_lockstep_functions *method_of(const ps_lockstep_options *options)
{
    static const struct ps_lockstep_functions *const table[PS_LOCKSTEP_METHODS] = {
        &ps_lockstep_gmres, &ps_lockstep_block, &ps_lockstep_cg};
    return table[options->method];
}

/* ---- memory ---- */

static int64_t head_doubles(int64_t sides)
{
    return (int64_t)(sizeof(ps_lockstep_progress) + (size_t)sides * sizeof(ps_lockstep_side)) / 8;
}

void ps_lockstep_memory(const ps_lockstep_system *system, const ps_lockstep_options *options,
                        int64_t doubles[PS_LOCKSTEP_PIECES])
{
    const struct ps_lockstep_functions *f = method_of(options);
    int64_t vectors = system->sides * ps_lockstep_size(system);
    doubles[PS_LOCKSTEP_SMALL] = head_doubles(system->sides) + f->numbers(system, options);
    doubles[PS_LOCKSTEP_VECTORS] = vectors + f->vectors(system, options);
    doubles[PS_LOCKSTEP_WORK] = system->sides + vectors + f->work(system, options);
}

ps_status ps_lockstep_attach(ps_lockstep *solver, const ps_lockstep_system *system,
                             const ps_lockstep_options *options,
                             double *const memory[PS_LOCKSTEP_PIECES])
{
    if (options->restart < 1 || options->limit < 1 || !(options->tolerance > 0))
        return ps_fail(PS_USAGE, "a tolerance of %g, %lld steps, %lld in a cycle: all are > 0",
                       options->tolerance, (long long)options->limit, (long long)options->restart);
    if (options->method == PS_LOCKSTEP_CG && system->shape.parts != 1)
        return ps_fail(PS_USAGE, "conjugate gradients are for real systems: use GMRES");
    *solver = (ps_lockstep){.system = system, .options = *options};
    memcpy(solver->memory, memory, sizeof solver->memory);
    solver->progress = (ps_lockstep_progress *)memory[PS_LOCKSTEP_SMALL];
    solver->sides = (ps_lockstep_side *)(solver->progress + 1);
    solver->numbers = memory[PS_LOCKSTEP_SMALL] + head_doubles(system->sides);
    solver->x = memory[PS_LOCKSTEP_VECTORS];
    solver->kept = solver->x + system->sides * ps_lockstep_size(system);
    return PS_OK;
}

static bool within(int64_t value, int64_t most) { return value >= 0 && value <= most; }

bool ps_lockstep_sound(const ps_lockstep *solver)
{
    const ps_lockstep_progress *p = solver->progress;
    const int64_t sides = solver->system->sides, restart = solver->options.restart;
    if (p->products < 0 || !within(p->closing, 1) || p->step < 0) return false;
    if (solver->options.method != PS_LOCKSTEP_CG && p->step >= restart + p->closing) return false;
    if (!within(p->basis, within(p->step, restart) ? (p->step + 1) * sides : 0)) return false;
    if (!within(p->fresh, sides)) return false;
    for (int64_t s = 0; s < sides; ++s) {
        const ps_lockstep_side *side = &solver->sides[s];
        if (side->steps < 0 || !within(side->columns, restart) || !within(side->converged, 1) ||
            !within(side->done, 1) || !within(side->resting, 1))
            return false;
    }
    return true;
}

int64_t ps_lockstep_used(const ps_lockstep *solver)
{
    int64_t vectors = solver->system->sides * ps_lockstep_size(solver->system);
    if (!ps_lockstep_sound(solver)) return vectors;
    if (solver->progress->closing || ps_lockstep_finished(solver)) return vectors;
    return vectors + method_of(&solver->options)->used(solver);
}

/* ---- shared by the methods ---- */

int64_t ps_lockstep_active(const ps_lockstep *solver, int64_t *active)
{
    int64_t count = 0;
    for (int64_t s = 0; s < solver->system->sides; ++s)
        if (!solver->sides[s].done && !solver->sides[s].resting) active[count++] = s;
    return count;
}

ps_status ps_lockstep_product(ps_lockstep *solver, const int64_t *active, int64_t count,
                              const double *from, double *to, double *packed)
{
    const ps_lockstep_system *system = solver->system;
    int64_t size = ps_lockstep_size(system);
    size_t bytes = (size_t)size * sizeof *to;
    const double *x = from;
    if (count < system->sides) {
        for (int64_t a = 0; a < count; ++a)
            memcpy(packed + a * size, from + active[a] * size, bytes);
        x = packed;
    }
    PS_TRY(system->apply(system->context, count, x, to));
    for (int64_t a = count - 1; a >= 0; --a) /* active[a] >= a: nothing is lost */
        if (active[a] != a) memcpy(to + active[a] * size, to + a * size, bytes);
    ++solver->progress->products;
    return PS_OK;
}

ps_status ps_lockstep_reduce(const ps_lockstep *solver, double *sums, int64_t count)
{
    return solver->system->reduce ? solver->system->reduce(solver->system->context, sums, count)
                                  : PS_OK;
}

ps_status ps_lockstep_dots(const ps_lockstep *solver, ps_panel v, ps_panel w, double complex *out,
                           double *scratch)
{
    ps_panel_dots(solver->system->shape, v, w, out, scratch);
    return ps_lockstep_reduce(solver, (double *)out, 2 * v.count * w.count);
}

ps_status ps_lockstep_norm(const ps_lockstep *solver, const double *v, double *out, double *scratch)
{
    double complex square;
    ps_panel one = {(double *)v, 1, 0};
    PS_TRY(ps_lockstep_dots(solver, one, one, &square, scratch));
    *out = sqrt(creal(square));
    return PS_OK;
}

ps_status ps_lockstep_note(ps_lockstep *solver, int64_t side, double size)
{
    ps_lockstep_side *s = &solver->sides[side];
    s->residual = size / s->size;
    s->resting = s->residual <= solver->options.tolerance || s->steps >= solver->options.limit;
    if (isfinite(s->residual)) return PS_OK;
    return ps_fail(PS_FAILED, "right-hand side %lld: the residual is not finite after %lld steps",
                   (long long)side, (long long)s->steps);
}

/* ---- cycles ---- */

/* Takes the true |r| of a side. */
static ps_status judge(ps_lockstep *solver, int64_t side, double size)
{
    ps_lockstep_side *s = &solver->sides[side];
    PS_TRY(ps_lockstep_note(solver, side, size));
    s->converged = s->residual <= solver->options.tolerance * ACCEPT_PERCENT / 100;
    s->done = s->converged || s->steps >= solver->options.limit;
    s->resting = 0;
    return PS_OK;
}

/* kept[side] = b - A x of the sides that are not done. */
static ps_status compute_residuals(ps_lockstep *solver)
{
    const ps_lockstep_system *system = solver->system;
    int64_t size = ps_lockstep_size(system), *active = (int64_t *)solver->memory[PS_LOCKSTEP_WORK];
    double *packed = solver->memory[PS_LOCKSTEP_WORK] + system->sides;
    for (int64_t s = 0; s < system->sides; ++s) solver->sides[s].resting = 0;
    int64_t count = ps_lockstep_active(solver, active);
    PS_TRY(ps_lockstep_product(solver, active, count, solver->x, solver->kept, packed));
    for (int64_t a = 0; a < count; ++a) {
        double *r = solver->kept + active[a] * size, norm;
        const double *b = system->b + active[a] * size;
#pragma omp parallel for simd schedule(static)
        for (int64_t i = 0; i < size; ++i) r[i] = b[i] - r[i];
        PS_TRY(ps_lockstep_norm(solver, r, &norm, packed));
        PS_TRY(judge(solver, active[a], norm));
    }
    solver->progress->closing = 0;
    return PS_OK;
}

bool ps_lockstep_finished(const ps_lockstep *solver)
{
    for (int64_t s = 0; s < solver->system->sides; ++s)
        if (!solver->sides[s].done) return false;
    return true;
}

void ps_lockstep_reopen(ps_lockstep *solver)
{
    for (int64_t s = 0; s < solver->system->sides; ++s) {
        ps_lockstep_side *side = &solver->sides[s];
        if (!side->done || side->converged || side->steps >= solver->options.limit) continue;
        side->done = 0;
        solver->progress->closing = 1;
    }
}

ps_status ps_lockstep_begin(ps_lockstep *solver)
{
    const ps_lockstep_system *system = solver->system;
    int64_t size = ps_lockstep_size(system);
    double *scratch = solver->memory[PS_LOCKSTEP_WORK] + system->sides;
    memset(solver->progress, 0, sizeof *solver->progress);
    memset(solver->sides, 0, (size_t)system->sides * sizeof *solver->sides);
    memset(solver->x, 0, (size_t)(system->sides * size) * sizeof *solver->x);
    memcpy(solver->kept, system->b, (size_t)(system->sides * size) * sizeof *solver->kept);
    for (int64_t s = 0; s < system->sides; ++s) {
        ps_lockstep_side *side = &solver->sides[s];
        PS_TRY(ps_lockstep_norm(solver, system->b + s * size, &side->size, scratch));
        if (!isfinite(side->size))
            return ps_fail(PS_FAILED, "right-hand side %lld is not finite", (long long)s);
        side->converged = side->done = side->size == 0;
        side->residual = side->size > 0;
    }
    return ps_lockstep_finished(solver) ? PS_OK : method_of(&solver->options)->restart(solver);
}

ps_status ps_lockstep_step(ps_lockstep *solver)
{
    const struct ps_lockstep_functions *f = method_of(&solver->options);
    if (!solver->progress->closing) return f->advance(solver);
    PS_TRY(compute_residuals(solver));
    return ps_lockstep_finished(solver) ? PS_OK : f->restart(solver);
}
