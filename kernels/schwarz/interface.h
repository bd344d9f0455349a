/*
 * interface: iterations on the traces g of a Schwarz method without overlap: control alone.
 *
 * One exchange solves all subdomains and passes g_ij <- -g_ji + (S1 + S2) u_j; it is affine,
 * g -> T g + b. Wanted is g = T g + b: by fixed point g <- T g + b or by GMRES on (I - T) g = b (Y.
 * Saad, M. Schultz, SIAM J. Sci. Stat. Comput. 7 (1986) 856-869). A coarse correction P, exact for
 * some modes and 1 for the others, changes residuals: g <- g + P (T g + b - g), P (I - T) g = P b.
 *
 * Vectors are cut into traces and may be spread over ranks, consecutive traces each. Scalar
 * products are taken trace by trace and added in the order of all traces, so that their bits
 * depend on neither ranks nor threads.
 */
#ifndef PS_KERNELS_SCHWARZ_INTERFACE_H
#define PS_KERNELS_SCHWARZ_INTERFACE_H

#include "kernels/linear/krylov.h"

/* Vectors that live elsewhere than with the cores, and what is done to them there; all pointers to
 * vectors of a problem that has this are of that place. */
typedef struct ps_interface_vectors {
    void *context;
    double *basis; /* the caller's: [restart + 1][size] for GMRES, [size] for the fixed point */
    /* parts[count][all], on the host: scalar products of the vectors a[count][size] with b, by
     * trace, 0 for traces of other ranks. */
    ps_status (*dots)(void *context, int64_t count, const double *a, const double *b,
                      double *parts);
    /* y += sum factors[v] a[v], count <= PS_GMRES_RESTART. */
    ps_status (*add)(void *context, int64_t count, const double *factors, const double *a,
                     double *y);
    ps_status (*subtract)(void *context, const double *x, double *y); /* y = x - y */
    ps_status (*divide)(void *context, double by, double *x);         /* x /= by   */
} ps_interface_vectors;

typedef struct ps_interface {
    void *context;
    int64_t size;         /* values here */
    int64_t traces;       /* here: trace t has the values start[t] .. start[t + 1], */
    const int64_t *start; /* or, start being NULL, size / traces each          */
    int64_t first, all;   /* number of the first trace here; traces of all ranks */
    /* out = T g, + b with the source. */
    ps_status (*exchange)(void *context, bool source, const double *g, double *out);
    ps_status (*correct)(void *context, double *r); /* r <- P r; NULL: none */
    /* squares[traces]: what the change r of the fixed point counts as; NULL: |r|^2 of the trace.
     * On the cores alone. */
    void (*measure)(void *context, const double *r, double *squares);
    ps_status (*reduce)(void *context, double *sums, int64_t count); /* NULL: one rank       */
    /* After each iteration; a failure ends it. May be NULL. */
    ps_status (*watch)(void *watcher, int64_t iteration, double residual);
    void *watcher;
    bool source;                         /* false: the homogeneous problem, whose answer is 0 */
    const ps_interface_vectors *vectors; /* NULL: on the cores. Borrowed */
} ps_interface;

/* Doubles of the host: all traces, and on the cores size. */
int64_t ps_interface_workspace(const ps_interface *problem);

/* An iteration of the fixed point, an exchange: g <- g + P (T g + b - g); *change: the norm of what
 * was added. */
ps_status ps_interface_step(const ps_interface *problem, double *g, double *workspace,
                            double *change);

/* Adds parts[all], each rank having put the squares of its traces in theirs and zeros elsewhere,
 * in their order; *out: the root. */
ps_status ps_interface_norm(const ps_interface *problem, double *parts, double *out);

/* The same by GMRES, restarted after `restart` steps, 1 .. PS_GMRES_RESTART; a step is an
 * iteration. workspace: ps_interface_gmres_workspace. */
enum { PS_GMRES_RESTART = 100 };

/* All of the state beside g and the basis, ps_gmres_state_doubles numbers: g, the state and the
 * first count + 1 vectors of the basis, saved in `watch` and put back, continue to the same bits.
 */
typedef struct ps_gmres_state {
    double iterations, count, first; /* steps in all and in this cycle; first: the measure */
    double numbers[];                /* of ps_arnoldi */
} ps_gmres_state;
int64_t ps_gmres_state_doubles(int64_t restart);

typedef struct ps_gmres {
    double tolerance;
    int64_t limit, restart;
    int64_t resume; /* state, basis and g are those of a run that stopped after so many steps */
} ps_gmres;
/* The workspace, of the host, begins with the basis, [restart + 1][size], unless that is
 * elsewhere. */
int64_t ps_interface_gmres_workspace(const ps_interface *problem, int64_t restart);
ps_gmres_state *ps_interface_gmres_state(const ps_interface *problem, int64_t restart,
                                         double *workspace);
ps_status ps_interface_gmres(const ps_interface *problem, const ps_gmres *options, double *g,
                             double *workspace, ps_krylov_result *result);

#endif
