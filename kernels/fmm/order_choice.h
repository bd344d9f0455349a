/*
 * order_choice: points an axis and truncation for an accuracy. What penstock-fmm begins with: it
 * measures what errors come out, and goes on to higher orders where that is not enough.
 */
#ifndef PS_KERNELS_FMM_ORDER_CHOICE_H
#define PS_KERNELS_FMM_ORDER_CHOICE_H

#include <stdbool.h>

#include "kernels/fmm/kernel_function.h"

/* The relative error that an accuracy means: a number of digits, or, below 1, the error itself. */
double ps_fmm_tolerance(double accuracy);

/* The least order whose errors were within the tolerance for particles in a cube and in clusters
 * (specs/fmm.md, "The bound"), of gradients too if they are wanted; at most PS_FMM_ORDER_MAX. */
void ps_fmm_order_for(ps_fmm_kernel kernel, double tolerance, bool gradient, int *order,
                      double *epsilon);

#endif
