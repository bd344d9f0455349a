/*
 * bounded: the least value of f(x) = 1/2 x'Ax - b'x where low <= x <= high, A symmetric, positive
 * definite, known by its products.
 *
 * Rounds of three parts (D. Bertsekas, SIAM J. Control Optim. 20 (1982) 221-246; J. More, G.
 * Toraldo, SIAM J. Optim. 1 (1991) 93-113): variables at a bound that the gradient pushes outwards
 * are held; conjugate gradients (lockstep.h) on the others, to a tenth; a search along the
 * direction, bent at the bounds, that lowers f. Where the direction does not, the gradient is taken
 * in its place, which does. Without bounds one round is conjugate gradients to the tolerance.
 *
 * Begin, then steps with one product each; the whole state is in `small` and `vectors`: written
 * down there and put back (ps_bounded_resume), the next step gives the same bits.
 */
#ifndef PS_KERNELS_LINEAR_BOUNDED_H
#define PS_KERNELS_LINEAR_BOUNDED_H

#include "kernels/linear/lockstep.h"

typedef struct ps_bounded_system {
    void *context;
    int64_t length;
    const double *low, *high; /* [length]; both NULL: no bounds */
    ps_status (*apply)(void *context, const double *x, double *y); /* y = A x */
} ps_bounded_system;

/* In `small`; all 8 bytes wide. */
typedef struct ps_bounded_progress {
    int64_t products, rounds, searching, plain; /* plain: along the gradient       */
    int64_t finished, converged, limit;         /* limit: products                 */
    double tolerance, reference;                /* done at |free gradient| <= tolerance reference */
    double gradient;                            /* |free gradient| / reference, of the round      */
    double step, inner;
} ps_bounded_progress;

typedef struct ps_bounded {
    const ps_bounded_system *system;
    ps_bounded_progress *progress;
    double *x, *gradient; /* [length], A x - b */
    /* its own: */
    ps_lockstep_system free_system;
    ps_lockstep inner;
    double *side, *trial, *product, *scratch;
} ps_bounded;

enum { PS_BOUNDED_SMALL, PS_BOUNDED_VECTORS, PS_BOUNDED_WORK, PS_BOUNDED_PIECES };

/* Doubles of each piece of memory. */
void ps_bounded_memory(int64_t length, int64_t doubles[PS_BOUNDED_PIECES]);
/* Takes the pieces, and nothing else; the solver stays where it is. */
ps_status ps_bounded_attach(ps_bounded *solver, const ps_bounded_system *system,
                            double *const memory[PS_BOUNDED_PIECES]);

/* From solver->x, within the bounds, and solver->gradient, which the caller has set. */
ps_status ps_bounded_begin(ps_bounded *solver, double tolerance, double reference, int64_t limit);
/* After the state was put back, whose run may have had another limit; false if it is none between
 * two steps of a run to this tolerance: files are not believed. Whether x and the gradient belong
 * together is the caller's to see. */
bool ps_bounded_resume(ps_bounded *solver, double tolerance, int64_t limit);
static inline bool ps_bounded_finished(const ps_bounded *solver)
{
    return solver->progress->finished != 0;
}
/* One product. PS_FAILED where numbers are not finite or A is not positive definite; the limit is
 * no failure: finished and not converged. */
ps_status ps_bounded_step(ps_bounded *solver);

#endif
