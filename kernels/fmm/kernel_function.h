/*
 * kernel_function: the functions K(r) that particles act on each other by, and c(r) = K'(r)/r of
 * their gradients:
 *
 *     phi_i = sum_j q_j K(|x_i - x_j|),   grad phi_i = sum_j q_j c(|x_i - x_j|) (x_i - x_j).
 *
 * | name            | K            | c             | degree a, K(s r) = s^a K(r) |
 * | inverse         | 1/r          | -1/r^3        | -1   |
 * | inverse-square  | 1/r^2        | -2/r^4        | -2   |
 * | inverse-fourth  | 1/r^4        | -4/r^6        | -4   |
 * | distance        | r            | 1/r           | 1    |
 * | exponential     | exp(-b r)    | -b K/r        | none |
 * | yukawa          | exp(-b r)/r  | -(1 + b r) K/r^2 | none |
 * | gaussian        | exp(-b r^2)  | -2 b K        | none |
 * | square, fourth  | r^2, r^4     | 2, 4 r^2      | 2, 4 (the method is exact: for tests) |
 * | user            | kernels/fmm/user_kernel_body.h, to be edited               |
 * | cosine, sine    | cos(b r)/r, sin(b r)/r | K'/r | none: the two parts of exp(i b r)/r    |
 *
 * K and c are written once, in kernel_function_body.h, for CPU lanes and CUDA threads alike. All
 * depend on r alone, which the 16 symmetric operators and mutual interactions need.
 */
#ifndef PS_KERNELS_FMM_KERNEL_FUNCTION_H
#define PS_KERNELS_FMM_KERNEL_FUNCTION_H

#include <stdbool.h>

#include "runtime/status.h"

typedef enum ps_fmm_kernel {
    PS_FMM_INVERSE,
    PS_FMM_INVERSE_SQUARE,
    PS_FMM_INVERSE_FOURTH,
    PS_FMM_DISTANCE,
    PS_FMM_EXPONENTIAL,
    PS_FMM_YUKAWA,
    PS_FMM_GAUSSIAN,
    PS_FMM_SQUARE,
    PS_FMM_FOURTH,
    PS_FMM_USER,
    PS_FMM_KERNEL_COUNT, /* those that programs offer by name */
    PS_FMM_COSINE = PS_FMM_KERNEL_COUNT,
    PS_FMM_SINE,
    PS_FMM_FUNCTION_COUNT
} ps_fmm_kernel;

/* X(NAME, name) of each kernel that charges and dipoles act by: all but the user's, which has no
 * more than K and c, and cosine and sine, which have the rows of moment_function_body.h alone. */
#define PS_FMM_COMMON_KERNELS(X)                                                                   \
    X(INVERSE, inverse)                                                                            \
    X(INVERSE_SQUARE, inverse_square)                                                              \
    X(INVERSE_FOURTH, inverse_fourth)                                                              \
    X(DISTANCE, distance)                                                                          \
    X(EXPONENTIAL, exponential)                                                                    \
    X(YUKAWA, yukawa)                                                                              \
    X(GAUSSIAN, gaussian)                                                                          \
    X(SQUARE, square)                                                                              \
    X(FOURTH, fourth)

/* A kernel with its parameter b (1/length, gaussian 1/length^2; ignored by the others). */
typedef struct ps_fmm_function {
    ps_fmm_kernel kernel;
    double parameter;
} ps_fmm_function;

const char *ps_fmm_kernel_name(ps_fmm_kernel kernel);

/* PS_USAGE if no kernel has this name; the message lists them. */
ps_status ps_fmm_kernel_parse(const char *name, ps_fmm_kernel *kernel);

/* Whether K has a degree, and which. */
bool ps_fmm_kernel_degree(ps_fmm_kernel kernel, int *degree);

/* K(r) and c(r), r > 0, in double. */
void ps_fmm_function_at(const ps_fmm_function *function, double r, double *k, double *c);

#endif
