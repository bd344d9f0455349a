#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "kernels/linear/lockstep_internal.h"
#include "runtime/blas_threads.h"

/* Numbers: what the residuals are of the first vectors, start [sides][sides], and h column by
 * column, [capacity][capacity]: A v_j = sum_i h_ij v_i. */

/* Vectors of the space at most. */
static int64_t capacity(const ps_lockstep_system *system, const ps_lockstep_options *options)
{
    return (options->restart + 1) * system->sides;
}

static int64_t numbers(const ps_lockstep_system *system, const ps_lockstep_options *options)
{
    int64_t most = capacity(system, options);
    return 2 * (system->sides * system->sides + most * most);
}

static int64_t vectors(const ps_lockstep_system *system, const ps_lockstep_options *options)
{
    return capacity(system, options) * ps_lockstep_size(system);
}

/* Behind the packed vectors: sums [sides][capacity], a copy of h, its right-hand sides, scratch. */
static int64_t work(const ps_lockstep_system *system, const ps_lockstep_options *options)
{
    int64_t most = capacity(system, options);
    return 2 * most * (2 * system->sides + most) + ps_panel_scratch(most, system->sides);
}

static int64_t used(const ps_lockstep *solver)
{
    return solver->progress->basis * ps_lockstep_size(solver->system);
}

typedef struct places {
    int64_t *active, size, most, sides;
    double complex *start, *h, *sums, *matrix, *right;
    double *scratch;
} places;

static places places_of(const ps_lockstep *solver)
{
    const ps_lockstep_system *system = solver->system;
    places at = {.active = (int64_t *)solver->memory[PS_LOCKSTEP_WORK],
                 .size = ps_lockstep_size(system),
                 .most = capacity(system, &solver->options),
                 .sides = system->sides,
                 .start = (double complex *)solver->numbers};
    at.h = at.start + at.sides * at.sides;
    at.sums = (double complex *)(solver->memory[PS_LOCKSTEP_WORK] + at.sides * (1 + at.size));
    at.matrix = at.sums + at.sides * at.most;
    at.right = at.matrix + at.most * at.most;
    at.scratch = (double *)(at.right + at.sides * at.most);
    return at;
}

static ps_panel vectors_at(const ps_lockstep *solver, int64_t first, int64_t count)
{
    int64_t size = ps_lockstep_size(solver->system);
    return (ps_panel){solver->kept + first * size, count, size};
}

/* w -= V V^H w, twice; the coefficients of w_i are added to column[i][ld]. */
static ps_status project(ps_lockstep *solver, const places *at, ps_panel v, ps_panel w,
                         double complex *column, int64_t ld)
{
    for (int turn = 0; turn < 2 && v.count > 0; ++turn) {
        PS_TRY(ps_lockstep_dots(solver, v, w, at->sums, at->scratch));
        for (int64_t i = 0; i < w.count; ++i)
            for (int64_t j = 0; j < v.count; ++j) {
                column[i * ld + j] += at->sums[i * v.count + j];
                at->sums[i * v.count + j] = -at->sums[i * v.count + j];
            }
        ps_panel_add(solver->system->shape, v, at->sums, w);
    }
    return PS_OK;
}

/* Vector `from`, made orthogonal to [first, basis), becomes vector `basis` unless it is no longer
 * than `least`: *kept. Its coefficients are added to column, counted from `first`. */
static ps_status append(ps_lockstep *solver, const places *at, int64_t first, int64_t from,
                        double least, double complex *column, bool *kept)
{
    int64_t basis = solver->progress->basis;
    ps_panel to = vectors_at(solver, basis, 1), w = vectors_at(solver, from, 1);
    double norm;
    if (from != basis) memcpy(to.data, w.data, (size_t)at->size * sizeof *to.data);
    PS_TRY(project(solver, at, vectors_at(solver, first, basis - first), to, column, at->most));
    PS_TRY(ps_lockstep_norm(solver, to.data, &norm, at->scratch));
    if (!isfinite(norm)) return ps_fail(PS_FAILED, "numbers of the space are not finite");
    *kept = norm > least;
    if (!*kept) return PS_OK;
    column[basis - first] += norm;
    ps_panel_scale(solver->system->shape, 1 / norm, to.data);
    ++solver->progress->basis;
    ++solver->progress->fresh;
    return PS_OK;
}

/* The residuals become the first vectors of the space. One that the others hold up to a tenth of
 * the tolerance is left out: what it lacks is in the residual of the next cycle. */
static ps_status restart(ps_lockstep *solver)
{
    places at = places_of(solver);
    int64_t count = ps_lockstep_active(solver, at.active);
    bool kept;
    memset(at.start, 0, (size_t)(at.sides * at.sides) * sizeof *at.start);
    solver->progress->step = solver->progress->basis = solver->progress->fresh = 0;
    for (int64_t a = 0; a < count; ++a) {
        const ps_lockstep_side *side = &solver->sides[at.active[a]];
        PS_TRY(append(solver, &at, 0, at.active[a], .1 * solver->options.tolerance * side->size,
                      at.start + at.active[a] * at.sides, &kept));
    }
    return PS_OK;
}

/* The newest vectors times A join the space: columns of h. */
static ps_status extend(ps_lockstep *solver, const places *at)
{
    const ps_lockstep_system *system = solver->system;
    ps_lockstep_progress *p = solver->progress;
    int64_t old = p->basis, count = p->fresh;
    double complex *columns = at->h + (old - count) * at->most;
    ps_panel next = vectors_at(solver, old, count);
    PS_TRY(
        system->apply(system->context, count, vectors_at(solver, old - count, 1).data, next.data));
    ++p->products;
    memset(columns, 0, (size_t)(count * at->most) * sizeof *columns);
    PS_TRY(project(solver, at, vectors_at(solver, 0, old), next, columns, at->most));
    p->fresh = 0;
    for (int64_t i = 0; i < count; ++i) {
        double complex *column = columns + i * at->most;
        double size = 0, norm;
        bool kept;
        PS_TRY(ps_lockstep_norm(solver, vectors_at(solver, old + i, 1).data, &norm, at->scratch));
        for (int64_t j = 0; j < old; ++j) size = hypot(size, cabs(column[j]));
        PS_TRY(append(solver, at, old, old + i, 1e-12 * hypot(size, norm), column + old, &kept));
    }
    return PS_OK;
}

/* Smallest residuals over the space, of `columns` vectors: right[a] holds the weights of active
 * side a and, behind them, its residual. */
static ps_status minimise(const ps_lockstep *solver, const places *at, int64_t count,
                          int64_t columns)
{
    int64_t rows = solver->progress->basis > columns ? solver->progress->basis : columns;
    for (int64_t j = 0; j < columns; ++j)
        memcpy(at->matrix + j * rows, at->h + j * at->most, (size_t)rows * sizeof *at->matrix);
    memset(at->right, 0, (size_t)(count * rows) * sizeof *at->right);
    for (int64_t a = 0; a < count; ++a)
        memcpy(at->right + a * rows, at->start + at->active[a] * at->sides,
               (size_t)(at->sides < rows ? at->sides : rows) * sizeof *at->right);
    int threads = ps_blas_threads_single(); /* the bits of all depend on them otherwise */
    lapack_int info =
        LAPACKE_zgels(LAPACK_COL_MAJOR, 'N', (lapack_int)rows, (lapack_int)columns,
                      (lapack_int)count, at->matrix, (lapack_int)rows, at->right, (lapack_int)rows);
    ps_blas_threads_restore(threads);
    return info == 0
               ? PS_OK
               : ps_fail(PS_FAILED, "block GMRES: its small system is singular after %lld vectors",
                         (long long)columns);
}

static ps_status note_all(ps_lockstep *solver, const places *at, int64_t count, int64_t columns,
                          int64_t *going)
{
    int64_t rows = solver->progress->basis > columns ? solver->progress->basis : columns;
    *going = 0;
    for (int64_t a = 0; a < count; ++a) {
        ps_lockstep_side *side = &solver->sides[at->active[a]];
        double size = 0;
        for (int64_t i = columns; i < rows; ++i) size = hypot(size, cabs(at->right[a * rows + i]));
        ++side->steps;
        PS_TRY(ps_lockstep_note(solver, at->active[a], size));
        *going += !side->resting;
        side->resting = 0; /* all sides go on as long as one does */
    }
    return PS_OK;
}

static ps_status advance(ps_lockstep *solver)
{
    places at = places_of(solver);
    ps_lockstep_progress *p = solver->progress;
    int64_t count = ps_lockstep_active(solver, at.active), columns = p->basis, going;
    PS_TRY(extend(solver, &at));
    PS_TRY(minimise(solver, &at, count, columns));
    PS_TRY(note_all(solver, &at, count, columns, &going));
    ++p->step;
    if (going && p->fresh > 0 && p->basis + p->fresh <= at.most) return PS_OK;
    int64_t rows = p->basis > columns ? p->basis : columns;
    for (int64_t a = 0; a < count; ++a)
        ps_panel_add(solver->system->shape, vectors_at(solver, 0, columns), at.right + a * rows,
                     (ps_panel){solver->x + at.active[a] * at.size, 1, 0});
    ps_lockstep_close(solver);
    return PS_OK;
}

const struct ps_lockstep_functions ps_lockstep_block = {numbers, vectors, work,
                                                        used,    restart, advance};
