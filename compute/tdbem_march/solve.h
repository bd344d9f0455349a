/*
 * solve: M^0 a^n = l^n - s^n, by conjugate gradients (of the combined field equation and of
 * linings, whose M^0 is not symmetric, by BiCGStab: van der Vorst 1992) or Cholesky, and the watch
 * over the answer.
 */
#ifndef PS_TDBEM_MARCH_SOLVE_H
#define PS_TDBEM_MARCH_SOLVE_H

#include "formats/slice_matrix.h"
#include "kernels/common/growth_watch.h"
#include "runtime/cholesky.h"
#include "runtime/ledger.h"

typedef enum solver_kind { SOLVER_CG, SOLVER_CHOLESKY, SOLVER_BICGSTAB } solver_kind;
/* SOLVER_BICGSTAB in the place of conjugate gradients where M^0 is not symmetric. PS_USAGE:
 * Cholesky of such a matrix. */
ps_status solver_choose(int wanted, bool unsymmetric, solver_kind *out);
/* "conjugate gradients", ... */
const char *solver_name(solver_kind kind);

/* Running figures of a run; they are part of its state. */
typedef struct figures {
    double largest;   /* |a| so far                                                         */
    double latest;    /* |a| of the last step                                               */
    double response;  /* |D^{-1} l| so far, D the diagonal of M^0: what the loads alone make */
    double load;      /* |l| so far                                                         */
    double last_load; /* last step with a load above 1e-12 of the largest                   */
    double iterations, iterations_max, solves; /* of the iteration                            */
    double mean, mean_largest; /* of a over the surface: at the last step, largest so far     */
    double projected; /* means taken out (--project-mean), summed magnitudes                */
    ps_growth_watch growth;
    double alternating;         /* largest |a^n - 2 a^{n-1} + a^{n-2}| / 4 of one unknown: what
                                   changes sign from step to step, however small beside the rest */
    double alternating_largest; /* so far                                                   */
    ps_growth_watch alternation;
} figures;
enum { FIGURES = sizeof(figures) / sizeof(double) };

typedef struct solver {
    solver_kind kind;
    ps_csr m0; /* owned */
    int64_t rows;
    ps_precision precision; /* of the run: answers are rounded to it                          */
    double tolerance;
    double *scale, *work; /* conjugate gradients                                            */
    ps_cholesky *factor;
    double *x, *last[2]; /* [rows]; last: answers of the two steps before, newest first    */
} solver;

/* scale[rows] = 1 / diagonal of M^0. PS_INVALID, naming the row, unless all of it is positive. */
ps_status solver_diagonal(const ps_csr *m0, double *scale);
/* What solver_open allocates, of a kind and rows; a ledger counts it (Cholesky: without the
 * factor). */
ps_status solver_take(solver *solver, ps_ledger *ledger);
/* Takes over m0. tolerance: relative residual of conjugate gradients. */
ps_status solver_open(solver_kind kind, ps_csr *m0, ps_precision precision, double tolerance,
                      solver *out);
void solver_close(solver *solver);

/* Whether loads and answers are sizes of which squares, or single values, keep their digits.
 * PS_FAILED. */
ps_status solver_check_sizes(ps_precision precision, const figures *f);

/* Solves step n, starting from the straight line through the last two answers, and writes a^n,
 * rounded, to out[rows] in the run's precision. PS_FAILED, with advice, if the iteration does not
 * converge, or if a is not finite or beyond 1e6 times what the loads so far explain. */
ps_status solver_step(solver *solver, int64_t n, const double *load, const double *right, void *out,
                      figures *figures);

/* The parts of solver_step that look at a step, for steps that are made elsewhere: its load, the
 * largest |l|, |D^{-1} l| and |right side|; its answer, the largest |a|. PS_FAILED as there. */
ps_status solver_note_load(int64_t n, double load, double response, double right, figures *figures);
ps_status solver_note_answer(int64_t n, double answer, figures *figures);
/* The answer of a step, solver->x, becomes last[0]; its alternation goes to the figures. */
void solver_push(solver *solver, figures *figures);
/* PS_FAILED, with advice. */
ps_status solver_not_converged(int64_t n, double residual, int64_t iterations, double tolerance);

#endif
