/*
 * mode_error: how far a field is from a mode of a box, in L2: the measure of the convergence tables
 * (numerics guide 6).
 */
#ifndef PS_KERNELS_DGTD_MODE_ERROR_H
#define PS_KERNELS_DGTD_MODE_ERROR_H

#include "kernels/dgtd/mode.h"

/* int |field - mode at t|^2 over the elements of the body, by p + 5 collapsed Gauss points an axis;
 * squares[elements] is scratch: they are added in order. OpenMP inside. */
double ps_dgtd_mode_error(const ps_dgtd_mode *mode, const ps_dgtd_system *system,
                          const ps_dgtd_body *body, ps_dgtd_field which, const void *field,
                          double t, double *squares);

#endif
