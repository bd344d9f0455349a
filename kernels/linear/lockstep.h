/*
 * lockstep: A x = b for several right-hand sides that advance together, so that every step applies
 * A to a vector of each side at once: what a matrix costs to stream, it costs once for all.
 *
 * Three methods share one form: begin, then steps, each with one product, until there is none left
 * to do. Between steps the whole state is in `small` and the front of `vectors`; written down there
 * and put back, the next step gives the same bits.
 *
 *   PS_LOCKSTEP_GMRES  each side its own Krylov space (Y. Saad, M. Schultz, SIAM J. Sci. Stat.
 * Comput. 7 (1986) 856-869); a side's bits do not depend on the others PS_LOCKSTEP_BLOCK  one space
 * for all sides, dependent vectors left out PS_LOCKSTEP_CG     real, symmetric, positive definite
 * A; preconditioned (M. Hestenes, E. Stiefel 1952)
 *
 * Residuals are |b - A x| / |b|. GMRES: an estimate ends a cycle; x is then updated and the
 * residual computed from it; a side is done if that is at most 1.1 times the tolerance, and goes on
 * otherwise. CG: likewise, the recurrence being the estimate.
 */
#ifndef PS_KERNELS_LINEAR_LOCKSTEP_H
#define PS_KERNELS_LINEAR_LOCKSTEP_H

#include <stdbool.h>

#include "kernels/linear/panel.h"
#include "runtime/status.h"

typedef enum ps_lockstep_method {
    PS_LOCKSTEP_GMRES,
    PS_LOCKSTEP_BLOCK,
    PS_LOCKSTEP_CG,
    PS_LOCKSTEP_METHODS
} ps_lockstep_method;

typedef struct ps_lockstep_system {
    void *context;
    ps_panel_shape shape;
    int64_t sides;
    const double *b; /* [sides][parts][length], borrowed */
    /* y = A x for `count` vectors [parts][length], one after the other. */
    ps_status (*apply)(void *context, int64_t count, const double *x, double *y);
    /* z = P r, P ~ A^-1 symmetric, positive definite; for CG alone; NULL: z = r. */
    ps_status (*precondition)(void *context, int64_t count, const double *r, double *z);
    /* Adds up sums over ranks that hold pieces of the vectors, or makes them equal on ranks that
     * hold the same ones. NULL: nothing to do. */
    ps_status (*reduce)(void *context, double *sums, int64_t count);
} ps_lockstep_system;

typedef struct ps_lockstep_options {
    ps_lockstep_method method;
    double tolerance;
    int64_t limit;   /* steps of a side (products in CG) */
    int64_t restart; /* GMRES: steps of a cycle          */
} ps_lockstep_options;

/* One side. */
typedef struct ps_lockstep_side {
    double size;       /* |b|                                                   */
    double residual;   /* relative: estimated within a cycle, the true one after */
    int64_t steps;     /* so far                                                */
    int64_t converged; /* 0 or 1                                                */
    int64_t done;      /* converged, or stopped by the limit                    */
    int64_t resting;   /* has ended its cycle                                   */
    int64_t columns;   /* GMRES: steps in this cycle                            */
} ps_lockstep_side;

/* All sides together. */
typedef struct ps_lockstep_progress {
    int64_t products; /* calls of apply                                        */
    int64_t closing;  /* the next step computes residuals                      */
    int64_t step;     /* in this cycle                                         */
    int64_t basis;    /* BLOCK: vectors of the space, the newest `fresh` last  */
    int64_t fresh;
} ps_lockstep_progress;

typedef struct ps_lockstep {
    const ps_lockstep_system *system;
    ps_lockstep_options options;
    double *memory[3]; /* as ps_lockstep_memory says: small, vectors, work */
    /* in small: */
    ps_lockstep_progress *progress;
    ps_lockstep_side *sides; /* [sides] */
    double *numbers;
    /* in vectors, whose front they are: */
    double *x;    /* [sides][parts][length]                                          */
    double *kept; /* residuals [sides][parts][length], or what the method makes of them */
} ps_lockstep;

enum { PS_LOCKSTEP_SMALL, PS_LOCKSTEP_VECTORS, PS_LOCKSTEP_WORK, PS_LOCKSTEP_PIECES };

/* Doubles of each piece of memory. */
void ps_lockstep_memory(const ps_lockstep_system *system, const ps_lockstep_options *options,
                        int64_t doubles[PS_LOCKSTEP_PIECES]);

/* Takes the pieces of memory, of these sizes, and nothing else: the state is what is in them.
 * PS_USAGE for options that cannot be. */
ps_status ps_lockstep_attach(ps_lockstep *solver, const ps_lockstep_system *system,
                             const ps_lockstep_options *options,
                             double *const memory[PS_LOCKSTEP_PIECES]);

/* Starts from x = 0. PS_FAILED where b is not finite. */
ps_status ps_lockstep_begin(ps_lockstep *solver);

/* Whether the counters of a state that was put back are ones that a run can have: files are not
 * believed. Where they are not, ps_lockstep_used counts x alone. */
bool ps_lockstep_sound(const ps_lockstep *solver);

/* After the state was put back: sides that a smaller limit had stopped go on. */
void ps_lockstep_reopen(ps_lockstep *solver);

bool ps_lockstep_finished(const ps_lockstep *solver);

/* One product and what goes with it. PS_FAILED where numbers are not finite, or CG meets a matrix
 * that is not positive definite. A side that the limit stops is `done` and not `converged`: no
 * failure. */
ps_status ps_lockstep_step(ps_lockstep *solver);

/* Doubles at the front of the vectors that the next step needs. */
int64_t ps_lockstep_used(const ps_lockstep *solver);

#endif
