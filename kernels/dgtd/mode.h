/*
 * mode: a standing wave in a box of metal filled with one medium, exact at all times (numerics
 * guide 6): with k_i = pi n_i / extent_i, A.k = 0 and cyclic i, j, l
 *
 *   E_i = e(t) A_i cos k_i x_i sin k_j x_j sin k_l x_l,
 *   H_i = h(t) (A_j k_l - A_l k_j) / (mu w) sin k_i x_i cos k_j x_j cos k_l x_l,
 *
 * where x is counted from the corner, w = |k|/sqrt(eps mu) and, with s = sigma/eps (1/m) and
 * w1 = sqrt(w^2 - s^2/4), e = exp(-s t/2) cos(w1 t), h = -(e' + s e)/w.
 */
#ifndef PS_KERNELS_DGTD_MODE_H
#define PS_KERNELS_DGTD_MODE_H

#include "kernels/dgtd/system.h"

typedef struct ps_dgtd_mode {
    double corner[3], extent[3]; /* m                                             */
    int number[3];               /* n: half waves an axis; at least two are not 0 */
    double amplitude[3];         /* A, V/m                                        */
    ps_dgtd_material medium;
} ps_dgtd_mode;

/* w and w1 of the mode in 1/m. PS_INVALID unless A.k = 0 to rounding, n >= 0, extent > 0, no
 * component of A, that n wants, vanishes altogether, and the medium lets it oscillate (sigma < 2
 * eps w). */
ps_status ps_dgtd_mode_check(const ps_dgtd_mode *mode, double *undamped, double *damped);

/* E and H (times Z0) at a point and time (m). */
void ps_dgtd_mode_at(const ps_dgtd_mode *mode, const double point[3], double t, double e[3],
                     double h[3]);

#endif
