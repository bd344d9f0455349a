/*
 * interface: iterations on the traces g of a Schwarz method without overlap: control alone.
 *
 * One exchange solves all slabs and passes g_ij <- -g_ji + (S1 + S2) u_j; it is affine,
 * g -> T g + b. Wanted is g = T g + b: by fixed point g <- T g + b or by GMRES on (I - T) g = b (Y.
 * Saad, M. Schultz, SIAM J. Sci. Stat. Comput. 7 (1986) 856-869). A coarse correction P, exact for
 * some modes and 1 for the others, changes residuals: g <- g + P (T g + b - g), P (I - T) g = P b.
 *
 * Vectors may be spread over ranks: `size` values here, sums added by `reduce`.
 */
#ifndef PS_KERNELS_SCHWARZ_INTERFACE_H
#define PS_KERNELS_SCHWARZ_INTERFACE_H

#include "kernels/schwarz/krylov.h"

typedef struct ps_interface {
    void *context;
    int64_t size;
    /* out = T g, + b with the source. */
    ps_status (*exchange)(void *context, bool source, const double *g, double *out);
    ps_status (*correct)(void *context, double *r);                  /* r <- P r; NULL: none */
    ps_status (*reduce)(void *context, double *sums, int64_t count); /* NULL: one rank       */
    ps_status (*watch)(void *context, int64_t iteration, double residual); /* may be NULL    */
    bool source; /* false: the homogeneous problem, whose answer is 0 */
} ps_interface;

/* g[size]: first guess, then the answer. An iteration is an exchange; the residual is the change
 * P (T g + b - g) relative to the first one. PS_FAILED, g being the last iterate, if `limit`
 * iterations are not enough or numbers stop being finite. workspace: size. */
ps_status ps_interface_fixed_point(const ps_interface *problem, double tolerance, int64_t limit,
                                   double *g, double *workspace, ps_krylov_result *result);

/* One iteration of it: g <- g + P (T g + b - g); *change: the norm of what was added. workspace:
 * size. */
ps_status ps_interface_step(const ps_interface *problem, double *g, double *workspace,
                            double *change);

/* The same by GMRES, restarted after `restart` steps, 1 .. PS_GMRES_RESTART; a step is an
 * iteration. workspace: ps_interface_gmres_workspace. */
enum { PS_GMRES_RESTART = 100 };
int64_t ps_interface_gmres_workspace(int64_t size, int64_t restart);
typedef struct ps_gmres {
    double tolerance;
    int64_t limit, restart;
} ps_gmres;
ps_status ps_interface_gmres(const ps_interface *problem, const ps_gmres *options, double *g,
                             double *workspace, ps_krylov_result *result);

#endif
