#include <math.h>
#include <string.h>

#include "kernels/linear/lockstep_internal.h"

/* Numbers of a side: h column by column [restart][restart + 1], turned upper triangular by
 * rotations (cosine, sine), and the right-hand side turned with it. */
typedef struct side_numbers {
    double complex *h, *sine, *rest;
    double *cosine;
    int64_t rows; /* restart + 1 */
} side_numbers;

static int64_t numbers_of_side(int64_t restart)
{
    return 2 * (restart + 1) * restart + 2 * restart + 2 * (restart + 1) + restart;
}

static int64_t numbers(const ps_lockstep_system *system, const ps_lockstep_options *options)
{
    return system->sides * numbers_of_side(options->restart);
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

static side_numbers numbers_at(const ps_lockstep *solver, int64_t side)
{
    int64_t m = solver->options.restart;
    double *at = solver->numbers + side * numbers_of_side(m);
    side_numbers n = {.h = (double complex *)at, .rows = m + 1};
    n.sine = n.h + (m + 1) * m;
    n.rest = n.sine + m;
    n.cosine = (double *)(n.rest + m + 1);
    return n;
}

/* The scratch of a step, behind the packed vectors. */
static double complex *sums_of(const ps_lockstep *solver)
{
    const ps_lockstep_system *system = solver->system;
    return (double complex *)(solver->memory[PS_LOCKSTEP_WORK] +
                              system->sides * (1 + ps_lockstep_size(system)));
}

static ps_status restart(ps_lockstep *solver)
{
    for (int64_t s = 0; s < solver->system->sides; ++s) {
        ps_lockstep_side *side = &solver->sides[s];
        if (side->done) continue;
        double size = side->residual * side->size;
        side->columns = 0;
        numbers_at(solver, s).rest[0] = size;
        ps_panel_scale(solver->system->shape, 1 / size,
                       solver->kept + s * ps_lockstep_size(solver->system));
    }
    solver->progress->step = 0;
    return PS_OK;
}

/* Vector k + 1 of a side made orthogonal to the former ones (twice, as once is not enough near
 * convergence) and of length 1; column k of h. */
static ps_status orthogonalise(ps_lockstep *solver, int64_t side, double complex *column)
{
    const ps_lockstep_system *system = solver->system;
    int64_t size = ps_lockstep_size(system), k = solver->progress->step;
    double complex *sums = sums_of(solver);
    double *scratch = (double *)(sums + solver->options.restart + 1), norm;
    ps_panel former = {solver->kept + side * size, k + 1, system->sides * size};
    ps_panel next = {former.data + (k + 1) * former.stride, 1, 0};
    memset(column, 0, (size_t)(k + 1) * sizeof *column);
    for (int turn = 0; turn < 2; ++turn) {
        PS_TRY(ps_lockstep_dots(solver, former, next, sums, scratch));
        for (int64_t j = 0; j <= k; ++j) {
            column[j] += sums[j];
            sums[j] = -sums[j];
        }
        ps_panel_add(system->shape, former, sums, next);
    }
    PS_TRY(ps_lockstep_norm(solver, next.data, &norm, scratch));
    if (!isfinite(norm)) return ps_lockstep_note(solver, side, norm);
    column[k + 1] = norm;
    if (norm > 0) ps_panel_scale(system->shape, 1 / norm, next.data);
    return PS_OK;
}

/* Turns column k upper triangular, and the right-hand side with it. */
static void turn_column(const side_numbers *n, int64_t k)
{
    double complex *column = n->h + k * n->rows;
    for (int64_t j = 0; j < k; ++j) {
        double complex u = column[j], v = column[j + 1];
        column[j] = n->cosine[j] * u + n->sine[j] * v;
        column[j + 1] = n->cosine[j] * v - conj(n->sine[j]) * u;
    }
    double upper = cabs(column[k]), lower = creal(column[k + 1]), size = hypot(upper, lower);
    double complex phase = upper > 0 ? column[k] / upper : 1;
    n->cosine[k] = size > 0 ? upper / size : 1;
    n->sine[k] = size > 0 ? phase * lower / size : 0;
    column[k] = phase * size;
    column[k + 1] = 0;
    n->rest[k + 1] = -conj(n->sine[k]) * n->rest[k];
    n->rest[k] *= n->cosine[k];
}

/* x of a side += its vectors with the weights that make the residual smallest. */
static void update(ps_lockstep *solver, int64_t side)
{
    int64_t size = ps_lockstep_size(solver->system), count = solver->sides[side].columns;
    side_numbers n = numbers_at(solver, side);
    double complex *y = sums_of(solver);
    for (int64_t i = count - 1; i >= 0; --i) {
        y[i] = n.rest[i];
        for (int64_t j = i + 1; j < count; ++j) y[i] -= n.h[j * n.rows + i] * y[j];
        y[i] = n.h[i * n.rows + i] != 0 ? y[i] / n.h[i * n.rows + i] : 0;
    }
    ps_panel basis = {solver->kept + side * size, count, solver->system->sides * size};
    ps_panel_add(solver->system->shape, basis, y, (ps_panel){solver->x + side * size, 1, 0});
}

static ps_status advance(ps_lockstep *solver)
{
    const ps_lockstep_system *system = solver->system;
    int64_t *active = (int64_t *)solver->memory[PS_LOCKSTEP_WORK], k = solver->progress->step;
    double *from = solver->kept + k * system->sides * ps_lockstep_size(system);
    int64_t count = ps_lockstep_active(solver, active), going = 0;
    PS_TRY(ps_lockstep_product(solver, active, count, from,
                               from + system->sides * ps_lockstep_size(system),
                               solver->memory[PS_LOCKSTEP_WORK] + system->sides));
    for (int64_t a = 0; a < count; ++a) {
        ps_lockstep_side *side = &solver->sides[active[a]];
        side_numbers n = numbers_at(solver, active[a]);
        PS_TRY(orthogonalise(solver, active[a], n.h + k * n.rows));
        turn_column(&n, k);
        ++side->columns;
        ++side->steps;
        PS_TRY(ps_lockstep_note(solver, active[a], cabs(n.rest[k + 1])));
        going += !side->resting;
    }
    ++solver->progress->step;
    if (going && solver->progress->step < solver->options.restart) return PS_OK;
    for (int64_t s = 0; s < system->sides; ++s)
        if (!solver->sides[s].done) update(solver, s);
    ps_lockstep_close(solver);
    return PS_OK;
}

const struct ps_lockstep_functions ps_lockstep_gmres = {numbers, vectors, work,
                                                        used,    restart, advance};
