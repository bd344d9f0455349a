/*
 * lockstep_internal: what the methods of lockstep share.
 */
#ifndef PS_KERNELS_LINEAR_LOCKSTEP_INTERNAL_H
#define PS_KERNELS_LINEAR_LOCKSTEP_INTERNAL_H

#include "kernels/linear/lockstep.h"

/* One method; `restart` is called after residuals are known (in `kept`, of the sides that are not
 * done) to begin a cycle, `advance` makes a step and ends the cycle with ps_lockstep_close. */
struct ps_lockstep_functions {
    int64_t (*numbers)(const ps_lockstep_system *system, const ps_lockstep_options *options);
    int64_t (*vectors)(const ps_lockstep_system *system, const ps_lockstep_options *options);
    int64_t (*work)(const ps_lockstep_system *system, const ps_lockstep_options *options);
    int64_t (*used)(const ps_lockstep *solver); /* doubles after x, within a cycle */
    ps_status (*restart)(ps_lockstep *solver);
    ps_status (*advance)(ps_lockstep *solver);
};
extern const struct ps_lockstep_functions ps_lockstep_gmres, ps_lockstep_block, ps_lockstep_cg;

/* Numbers of a vector. */
static inline int64_t ps_lockstep_size(const ps_lockstep_system *system)
{
    return system->shape.parts * system->shape.length;
}

/* Sides that go on in this cycle, ascending; their number. */
int64_t ps_lockstep_active(const ps_lockstep *solver, int64_t *active);

/* to[side] = A from[side] for the active sides of two arrays [sides][parts][length]; packed[sides]
 * vectors of scratch. */
ps_status ps_lockstep_product(ps_lockstep *solver, const int64_t *active, int64_t count,
                              const double *from, double *to, double *packed);

/* Sums added up (made equal) over ranks. */
ps_status ps_lockstep_reduce(const ps_lockstep *solver, double *sums, int64_t count);
ps_status ps_lockstep_dots(const ps_lockstep *solver, ps_panel v, ps_panel w, double complex *out,
                           double *scratch);
ps_status ps_lockstep_norm(const ps_lockstep *solver, const double *v, double *out,
                           double *scratch);

/* Takes the estimated |r| of a side after a step; PS_FAILED where it is not finite. */
ps_status ps_lockstep_note(ps_lockstep *solver, int64_t side, double size);

/* Ends the cycle: x is up to date, the next step computes residuals. */
static inline void ps_lockstep_close(ps_lockstep *solver) { solver->progress->closing = 1; }

#endif
