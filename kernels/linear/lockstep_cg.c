#include <string.h>

#include "kernels/linear/lockstep_internal.h"

/* Kept: r, then p, [sides][length] each. A number a side: r.z. */
static int64_t numbers(const ps_lockstep_system *system, const ps_lockstep_options *options)
{
    return system->sides;
}

static int64_t vectors(const ps_lockstep_system *system, const ps_lockstep_options *options)
{
    return 2 * system->sides * ps_lockstep_size(system);
}

/* Behind the packed vectors: q (z later) [sides][length], scratch of sums. */
static int64_t work(const ps_lockstep_system *system, const ps_lockstep_options *options)
{
    return system->sides * ps_lockstep_size(system) + ps_panel_scratch(1, 1);
}

static int64_t used(const ps_lockstep *solver) { return vectors(solver->system, NULL); }

/* Where things are. */
typedef struct places {
    int64_t *active;
    double *packed, *q, *scratch, *r, *p;
    int64_t size;
} places;

static places places_of(const ps_lockstep *solver)
{
    int64_t sides = solver->system->sides, size = ps_lockstep_size(solver->system);
    double *work = solver->memory[PS_LOCKSTEP_WORK];
    return (places){(int64_t *)work,
                    work + sides,
                    work + sides + sides * size,
                    work + sides + 2 * sides * size,
                    solver->kept,
                    solver->kept + sides * size,
                    size};
}

static ps_panel one(double *vector) { return (ps_panel){vector, 1, 0}; }

static ps_status dot(const ps_lockstep *solver, double *a, double *b, double *scratch, double *out)
{
    double complex sum;
    PS_TRY(ps_lockstep_dots(solver, one(a), one(b), &sum, scratch));
    *out = creal(sum);
    return PS_OK;
}

/* y += factor x */
static void add(const ps_lockstep *solver, double factor, double *x, double *y)
{
    double complex number = factor;
    ps_panel_add(solver->system->shape, one(x), &number, one(y));
}

/* q = P r, packed by the active sides. */
static ps_status precondition(ps_lockstep *solver, const places *at, int64_t count)
{
    const ps_lockstep_system *system = solver->system;
    size_t bytes = (size_t)at->size * sizeof *at->q;
    double *from = system->precondition ? at->packed : at->q;
    for (int64_t a = 0; a < count; ++a)
        memcpy(from + a * at->size, at->r + at->active[a] * at->size, bytes);
    return system->precondition ? system->precondition(system->context, count, at->packed, at->q)
                                : PS_OK;
}

/* p = z + beta p of the active sides; z = P r; beta = r.z over the former one, or 0. */
static ps_status new_directions(ps_lockstep *solver, const places *at, int64_t count, bool first)
{
    PS_TRY(precondition(solver, at, count));
    for (int64_t a = 0; a < count; ++a) {
        int64_t s = at->active[a];
        double rz, *p = at->p + s * at->size, *z = at->q + a * at->size;
        PS_TRY(dot(solver, at->r + s * at->size, z, at->scratch, &rz));
        double beta = first ? 0 : rz / solver->numbers[s];
        solver->numbers[s] = rz;
#pragma omp parallel for simd schedule(static)
        for (int64_t i = 0; i < at->size; ++i) p[i] = z[i] + (first ? 0 : beta * p[i]);
    }
    return PS_OK;
}

static ps_status restart(ps_lockstep *solver)
{
    places at = places_of(solver);
    solver->progress->step = 0;
    return new_directions(solver, &at, ps_lockstep_active(solver, at.active), true);
}

static ps_status advance_side(ps_lockstep *solver, const places *at, int64_t s)
{
    ps_lockstep_side *side = &solver->sides[s];
    double *p = at->p + s * at->size, *q = at->q + s * at->size, *r = at->r + s * at->size;
    double pq, size;
    PS_TRY(dot(solver, p, q, at->scratch, &pq));
    if (!(pq > 0))
        return ps_fail(PS_FAILED,
                       "step %lld: p.Ap is %g: the matrix is not positive definite; GMRES needs "
                       "no such thing",
                       (long long)side->steps + 1, pq);
    add(solver, solver->numbers[s] / pq, p, solver->x + s * at->size);
    add(solver, -solver->numbers[s] / pq, q, r);
    ++side->steps;
    PS_TRY(ps_lockstep_norm(solver, r, &size, at->scratch));
    return ps_lockstep_note(solver, s, size);
}

static ps_status advance(ps_lockstep *solver)
{
    places at = places_of(solver);
    int64_t count = ps_lockstep_active(solver, at.active);
    PS_TRY(ps_lockstep_product(solver, at.active, count, at.p, at.q, at.packed));
    for (int64_t a = 0; a < count; ++a) PS_TRY(advance_side(solver, &at, at.active[a]));
    ++solver->progress->step;
    count = ps_lockstep_active(solver, at.active);
    if (count > 0) return new_directions(solver, &at, count, false);
    ps_lockstep_close(solver);
    return PS_OK;
}

const struct ps_lockstep_functions ps_lockstep_cg = {numbers, vectors, work,
                                                     used,    restart, advance};
