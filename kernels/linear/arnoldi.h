/*
 * arnoldi: the part of GMRES that all of its forms share: one side's basis, made orthogonal vector
 * by vector, and the small triangular system that the smallest residual comes from (Y. Saad,
 * M. Schultz, SIAM J. Sci. Stat. Comput. 7 (1986) 856-869). What vectors are, where they live and
 * over which ranks their products are added up, is a table's; who owns the cycle applies A.
 */
#ifndef PS_KERNELS_LINEAR_ARNOLDI_H
#define PS_KERNELS_LINEAR_ARNOLDI_H

#include "kernels/linear/panel.h"
#include "runtime/status.h"

typedef struct ps_vector_space {
    void *context;
    /* out[v] = a_v^H b, over all ranks, added in an order that is fixed. */
    ps_status (*dots)(void *context, ps_panel a, double *b, double complex *out);
    /* y += sum factors[v] a_v */
    ps_status (*add)(void *context, ps_panel a, const double complex *factors, double *y);
    ps_status (*divide)(void *context, double by, double *x); /* x /= by */
} ps_vector_space;

/* A cycle of one side; all of its state is in the basis and in `numbers`. */
typedef struct ps_arnoldi {
    const ps_vector_space *space;
    ps_panel basis;                  /* where vectors are; its count is of no meaning    */
    double complex *h, *sine, *rest; /* h: columns of `rows`, turned upper triangular    */
    double *cosine;
    double complex *scratch; /* [restart + 1] */
    int64_t rows;            /* restart + 1   */
} ps_arnoldi;

/* Doubles of the numbers of a cycle of so many steps. */
int64_t ps_arnoldi_numbers(int64_t restart);
void ps_arnoldi_attach(ps_arnoldi *arnoldi, int64_t restart, double *numbers);

/* A cycle begins with vector 0, a residual of this norm made of norm 1. */
void ps_arnoldi_begin(const ps_arnoldi *arnoldi, double norm);
/* Vector k + 1, which is A times vector k, is made orthogonal to the former ones (twice, as once is
 * not enough near convergence) and of norm 1, unless nothing is left. *residual: its norm now, not
 * finite where numbers are not. */
ps_status ps_arnoldi_extend(const ps_arnoldi *arnoldi, int64_t k, double *residual);
/* x += the first `count` vectors with the weights that make the residual smallest. */
ps_status ps_arnoldi_update(const ps_arnoldi *arnoldi, int64_t count, double *x);

#endif
