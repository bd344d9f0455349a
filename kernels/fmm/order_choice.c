#include "kernels/fmm/order_choice.h"

#include <math.h>

#include "kernels/fmm/chebyshev.h"

double ps_fmm_tolerance(double accuracy) { return accuracy < 1 ? accuracy : pow(10, -accuracy); }

/* Errors are about 10^(first - slope l). */
typedef struct error_law {
    double first, slope;
} error_law;

/* Fitted to the worse of a cube and a Plummer sphere, 20,000 positive charges, 1/r, l = 3 .. 8;
 * kernels that have a length of their own fall steeply within cells of that size. */
static error_law law_of(ps_fmm_kernel kernel, bool gradient)
{
    error_law law = gradient ? (error_law){0.6, 0.87} : (error_law){-0.5, 0.95};
    if (kernel == PS_FMM_GAUSSIAN) law.first += 0.9;
    if (kernel == PS_FMM_EXPONENTIAL || kernel == PS_FMM_YUKAWA) law.first += 0.5;
    return law;
}

void ps_fmm_order_for(ps_fmm_kernel kernel, double tolerance, bool gradient, int *order,
                      double *epsilon)
{
    error_law law = law_of(kernel, gradient);
    double least = (law.first - log10(tolerance)) / law.slope;
    *order = least < 2 ? 2 : least > PS_FMM_ORDER_MAX ? PS_FMM_ORDER_MAX : (int)ceil(least);
    /* A gradient errs by about three times the truncation, a potential by much less. */
    *epsilon = tolerance / (gradient ? 10 : 2);
}
