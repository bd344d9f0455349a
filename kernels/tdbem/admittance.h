/*
 * admittance: a wall that gives way, rho c v_in = beta p, with beta rational in frequency
 * (specs/tdbem_lining.md; numerics guide 2; Reymen, Baelmans, Desmet 2008),
 *
 *     beta(s) = b0 + sum_j A_j / (s + lambda_j),      s = -i w, complex poles in conjugate pairs,
 *
 * and beta in time by recursive convolution: with v constant over a step of length dt, w^n its
 * values, E = exp(-lambda dt), the exact mean of beta * v over step n is
 *
 *     b0 w^n + sum_j A_j { y_j^{n-1} (1-E)/(lambda dt) + w^n [1/lambda - (1-E)/(lambda^2 dt)] },
 *     y_j^n = E y_j^{n-1} + w^n (1-E)/lambda.
 *
 * Being exact, it absorbs what the wall absorbs of such v: sum_n w^n (beta * v)^n >= 0 for every
 * signal exactly when Re beta(-i w) >= 0 for all w, which ps_admittance_check proves or refutes.
 */
#ifndef PS_KERNELS_TDBEM_ADMITTANCE_H
#define PS_KERNELS_TDBEM_ADMITTANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/status.h"

enum { PS_POLES_MAX = 16, PS_WHERE_MAX = 64, PS_ADMITTANCE_TEXT = 2048 };

typedef struct ps_pole {
    double residue[2], lambda[2]; /* 1/s; real and imaginary parts                */
    bool pair;                    /* it and its conjugate; else both are real      */
} ps_pole;

typedef struct ps_admittance {
    double b0;
    int count;
    ps_pole poles[PS_POLES_MAX];
} ps_admittance;

/* Reads WHERE:b0=X:impedance=Z:pole=A,LAMBDA:pair=ReA,ImA,ReLAMBDA,ImLAMBDA, parts in any order,
 * poles and pairs up to 16 times; impedance=Z adds 1/Z to b0. PS_USAGE for what is not so, for
 * poles that do not decay, and for walls that are not passive (ps_admittance_check). */
ps_status ps_admittance_parse(const char *text, char where[PS_WHERE_MAX], ps_admittance *out);
/* Writes what is parsed to the same, to the bit. */
void ps_admittance_print(const char *where, const ps_admittance *beta, char *out, size_t size);

/* PS_USAGE unless Re beta(-i w) >= 0 for all w, infinity included: every term is a function of w^2
 * whose extremes on an interval are known, so intervals are bisected until the sum of the terms'
 * least values is not negative, to 1e-9 of the sum of their largest, or until a frequency is found
 * where Re beta is; that one is named. */
ps_status ps_admittance_check(const ps_admittance *beta);
/* beta(-i w): real and imaginary parts. */
void ps_admittance_at(const ps_admittance *beta, double w, double out[2]);

/* The recursion for one step length. */
typedef struct ps_pole_filter {
    double decay[2], gain[2], mean[2]; /* E; of w^n in y^n; of y^{n-1} in the mean */
    bool pair;
} ps_pole_filter;

typedef struct ps_admittance_filter {
    double direct; /* what w^n has in its own step */
    int count, states;
    ps_pole_filter poles[PS_POLES_MAX];
} ps_admittance_filter;
void ps_admittance_filter_init(const ps_admittance *beta, double dt, ps_admittance_filter *out);
/* out[count] += what the past leaves in the coming step. state[states][count], zero at first: y of
 * real poles, real and imaginary parts of y of pairs. */
void ps_admittance_past(const ps_admittance_filter *filter, int64_t count, const double *state,
                        double *out);
/* The state after the step in which w[count] was. */
void ps_admittance_advance(const ps_admittance_filter *filter, int64_t count, const double *w,
                           double *state);

#endif
