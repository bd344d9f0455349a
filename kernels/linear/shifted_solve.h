/*
 * shifted_solve: (M - c L) x = b for many complex shifts c and right-hand sides at once, by
 * conjugate orthogonal conjugate gradients (H. van der Vorst, J. Melissen, IEEE Trans. Magn. 26
 * (1990) 706), scaled by the diagonal: M - c L is complex symmetric. c = 0: the mass matrix, by
 * what is then the method of conjugate gradients.
 *
 * Systems go in groups of PS_SHIFTED_LANES, a number of each side by side in vectors. A system's
 * bits depend neither on the others nor on the number of threads.
 */
#ifndef PS_KERNELS_LINEAR_SHIFTED_SOLVE_H
#define PS_KERNELS_LINEAR_SHIFTED_SOLVE_H

#include "kernels/linear/pencil.h"
#include "runtime/status.h"

enum { PS_SHIFTED_LANES = 8, PS_SHIFTED_BLOCK = 256 };

typedef struct ps_shifted_system {
    double shift[2]; /* c, m^2                                                            */
    const double *b; /* [parts][dofs]                                                     */
    double *x;       /* [parts][dofs], overwritten; may be b                              */
} ps_shifted_system;

typedef struct ps_shifted_options {
    int parts; /* 1: real numbers, shifts real; 2 */
    double tolerance;
    int64_t limit;
} ps_shifted_options;

/* Doubles of workspace. */
int64_t ps_shifted_workspace(int64_t dofs);

/* Solves to |r| <= tolerance |b| (r by its recurrence); iterations of all groups are added to
 * *iterations (NULL: not wanted). PS_FAILED where `limit` iterations are not enough, the method
 * breaks down or numbers are not finite. */
ps_status ps_shifted_solve(const ps_pencil *matrix, const ps_shifted_options *options,
                           int64_t count, const ps_shifted_system *systems, double *workspace,
                           int64_t *iterations);

/* What solves shifted systems: this method, or another that its user brings. combine (optional):
 * y = sum_j weight_j (M - c_j L)^-1 b of vectors [sides][2][dofs], for the shifts that the solver
 * was made for, in their order. */
typedef struct ps_shifted_solver {
    void *context;
    ps_status (*solve)(void *context, int64_t count, const ps_shifted_system *systems);
    ps_status (*combine)(void *context, int64_t sides, const double (*weight)[2], const double *b,
                         double *y);
} ps_shifted_solver;

/* This method as a solver: context of ps_shifted_iterate. */
typedef struct ps_shifted_iterative {
    const ps_pencil *matrix;
    ps_shifted_options options;
    double *workspace;  /* ps_shifted_workspace */
    int64_t iterations; /* so far               */
} ps_shifted_iterative;
ps_status ps_shifted_iterate(void *context, int64_t count, const ps_shifted_system *systems);

/* diagonal[dofs][2] of M and L. */
void ps_shifted_diagonal(const ps_pencil *matrix, double *diagonal);
/* What a residual means; not finite: numbers were not. */
ps_status ps_shifted_judge(double residual, double tolerance, int64_t iterations);

/* ---- of the instruction sets: rows [begin, end) of a group; vectors are [dofs][2][lanes] ---- */

typedef struct ps_shifted_group {
    const ps_pencil *matrix;
    const double *diagonal; /* [dofs][2] of M and L */
    double shift[2][PS_SHIFTED_LANES];
    double *x, *r, *p, *q;
} ps_shifted_group;

/* Sums [5][lanes] over the rows: products without conjugate (2) for each, |r|^2 last. */
struct ps_shifted_functions {
    /* p = D^-1 r, x = 0                   | r.p, |r|^2 */
    void (*start)(const ps_shifted_group *g, int64_t begin, int64_t end, double *sums);
    /* q = (M - c L) p                     | p.q        */
    void (*multiply)(const ps_shifted_group *g, int64_t begin, int64_t end, double *sums);
    /* x += alpha p, r -= alpha q          | r.D^-1 r, |r|^2 */
    void (*advance)(const ps_shifted_group *g, const double alpha[2][PS_SHIFTED_LANES],
                    int64_t begin, int64_t end, double *sums);
    /* p = D^-1 r + beta p */
    void (*turn)(const ps_shifted_group *g, const double beta[2][PS_SHIFTED_LANES], int64_t begin,
                 int64_t end);
};

#endif
