/*
 * outer: the iteration over the interfaces, whatever the subdomains are: fixed point, GMRES or
 * what the owner brings; stops, checkpoints and continues.
 */
#ifndef PS_SCHWARZ_SOLVE_OUTER_H
#define PS_SCHWARZ_SOLVE_OUTER_H

#include "compute/schwarz_solve/solve.h"

typedef struct outer {
    solve_problem *p;
    ps_interface problem;
    double *g, *space; /* traces; workspace of the host */
    double measure[2]; /* change of the first iteration; the last residual */
    run_state state;
    /* One iteration; *change: the norm of that of g. NULL: of the fixed point. */
    ps_status (*advance)(void *context, double *change);
    /* Where vectors live elsewhere (problem.vectors): g is there, the owner's, and this copies
     * `count` values between there and the host, for checkpoints. */
    ps_status (*copy)(void *context, bool to_host, int64_t count, double *there, double *here);
    double *kept; /* g and the basis as they are in checkpoints then */
    /* Lists what else is state, after at most 4 arrays; their number. May be NULL. */
    int (*further)(void *context, ps_checkpoint_array *arrays);
    void *context; /* the owner's */
} outer;

/* Doubles that outer_open allocates. */
int64_t outer_doubles(const solve_problem *p, const ps_interface *problem);
/* The room for its states, of traces of so many values over all ranks. */
void outer_plan_states(const solve_problem *p, int64_t size, ps_ledger *ledger);
/* g starts as 0; it is the owner's to set, as `copy` is, where vectors live elsewhere. */
ps_status outer_open(solve_problem *p, const ps_interface *problem, void *context, outer *out);
/* PS_FAILED at the limit of iterations, g being the last iterate, and where it is asked to stop. */
ps_status outer_solve(outer *o);
void outer_close(outer *o);

#endif
