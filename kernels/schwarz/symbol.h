/*
 * symbol: convergence factors of Schwarz methods without (or with little) overlap, and the
 * transmission conditions that minimise them.
 *
 * F. Magoules, A.-K. Cheik Ahamed, R. Putanowicz (2015), eqs (4) and (5), per double step:
 *
 *     rho = max |(l - p1 - q1 m) (l - p2 - q2 m) / ((l + p1 + q1 m) (l + p2 + q2 m))| e^(-2 k L),
 *
 * over the face eigenvalues m = k^2; one step of the parallel method has sqrt(rho). The continuous
 * symbol has l = k; trilinear elements of length hx across the face see
 * l = sqrt(m (1 + m hx^2 / 12)) instead. Zeroth order: q = 0; one-sided: p1 = p2, q1 = q2. All in
 * one length unit.
 */
#ifndef PS_KERNELS_SCHWARZ_SYMBOL_H
#define PS_KERNELS_SCHWARZ_SYMBOL_H

#include <stdint.h>

#include "kernels/common/cmaes.h"
#include "kernels/schwarz/grid.h"

typedef enum ps_transmission_kind {
    PS_OO0_SYMMETRIC, /* zeroth order, one-sided  */
    PS_OO0_UNSYMMETRIC,
    PS_OO2_SYMMETRIC, /* second order, one-sided  */
    PS_OO2_UNSYMMETRIC,
    PS_TRANSMISSION_KINDS
} ps_transmission_kind;

/* "oo0", "oo0-two-sided", "oo2", "oo2-two-sided", as files and options say. */
const char *ps_transmission_name(ps_transmission_kind kind);

typedef struct ps_transmission {
    double p[2]; /* 1 / length; [0] on right faces of slabs, [1] on left ones: searches put the
                    larger p first, for the sake of double sweeps */
    double q[2]; /* length */
} ps_transmission;

/* Where the factor is sampled: all arrays [count]. */
typedef struct ps_symbol {
    int64_t count;
    double *lambda; /* l            */
    double *mu;     /* m            */
    double *decay;  /* e^(-2 k L)   */
} ps_symbol;

/* Fills `count` >= 2 samples, log-spaced in k over [kmin, kmax]. hx = 0: the continuous symbol. */
typedef struct ps_symbol_range {
    double kmin, kmax; /* > 0 */
    double overlap;    /* L   */
    double hx;
} ps_symbol_range;
void ps_symbol_fill(const ps_symbol_range *range, ps_symbol *symbol);
/* The hx of a grid's symbol: its spacing along x, times sqrt(1 + 2 s) where a share s of the masses
 * is lumped. */
double ps_symbol_length(const ps_q1_grid *grid);

/* Least and largest eigenvalue m of a face of the grid: of (ny - 2) (nz - 2), sums of
 * [(2 - 2 cos t) / h] / [M(0) + 2 cos t M(1)], t = pi j / (n - 1), along y and z. */
void ps_face_range(const ps_q1_grid *grid, double *least, double *largest);

/* rho at a point and its largest value over the samples. */
double ps_symbol_rate(const ps_transmission *t, double lambda, double mu);
double ps_symbol_largest(const ps_symbol *symbol, const ps_transmission *t);

/* The optimum for L = 0 on [kmin, kmax] of the continuous symbol in closed form, and its rho
 * (specs/schwarz.md: arithmetic-geometric means). */
ps_transmission ps_transmission_closed(ps_transmission_kind kind, double kmin, double kmax,
                                       double *rho);

/* Minimises rho over the samples by CMA-ES in the logarithms of p and q: population 25,
 * threshold 5e-11, at most 1000 (n + 5)^2 / sqrt(25) generations, from (p, q) = e^start[2], sigma
 * 2. PS_FAILED if that is not enough; *out is then the best met. */
typedef struct ps_transmission_search {
    ps_transmission_kind kind;
    const ps_symbol *symbol;
    double start[2]; /* logarithms of p and q; -1 and -1 are the paper's range */
    uint64_t seed;
} ps_transmission_search;
ps_status ps_transmission_optimise(const ps_transmission_search *search, ps_transmission *out,
                                   double *rho, ps_cmaes_result *result);

/* Private to symbol*.c: the largest rho over samples, for this machine's instruction set. */
struct ps_symbol_functions {
    double (*largest)(const ps_symbol *symbol, const ps_transmission *t);
};

#endif
