/*
 * far_time: the far field over time of what is inside a closed surface, from E and H on it as a
 * march goes on (Huygens with retarded times; Yee, Ingham, Shlager, IEEE Trans. AP 39 (1991) 410;
 * Luebbers et al., likewise 429). With J = n x H, M = -n x E, m = sqrt(eps mu) of the medium, times
 * c0 t in m and tau = t - m r:
 *
 *   lim r E(r e, tau + m r) = -(m/(4 pi)) d/dtau A(tau),
 *   A(tau) = int (Z (J - e (e.J)) - e x M) dA,  of x at tau + m e.x
 *
 * which is far_field.h at every frequency. Samples of E and of H, each at its own times, are spread
 * over bins of tau that are as far apart as samples are: each point by the four weights of cubic
 * interpolation at its delay, the derivative by differences of fourth order. Both lose (w
 * step)^4/30 and less of a wave.
 *
 * Sums run in the order of the points, by threads that own directions: the bits do not depend on
 * threads, nor on how a march is cut. In double; no allocation.
 */
#ifndef PS_KERNELS_DGTD_FAR_TIME_H
#define PS_KERNELS_DGTD_FAR_TIME_H

#include <stdint.h>

#include "kernels/dgtd/system.h"

typedef struct ps_dgtd_far_time {
    double step;      /* m, between bins and between samples of one field               */
    double index;     /* m = sqrt(eps mu) of the medium around, relative                 */
    double impedance; /* of it over Z0                                                  */
    int64_t points;
    const double (*point)[3];  /* [points] m                                            */
    const double (*normal)[3]; /* [points] outward, times the area a point stands for, m2 */
    int64_t directions;
    const double (*direction)[3]; /* [directions] unit vectors                          */
    int64_t first, bins;          /* bin b stands at tau = (first + b) step              */
    double (*sums)[3];            /* [directions][bins] A, V m/m: zeroed before          */
} ps_dgtd_far_time;

/* The largest |e.x|, m, of any direction and of these points: what delays are within. */
double ps_dgtd_far_time_reach(const ps_dgtd_far_time *far);

/* first and bins for fields at times 0 .. end (m) of points with e.x within reach (m); needs step
 * and index. */
void ps_dgtd_far_time_bins(ps_dgtd_far_time *far, double reach, double end);

/* Adds a sample of E, or of Z0 H, at time t (m): values[points]; work: [points][3]. OpenMP inside.
 */
void ps_dgtd_far_time_add(const ps_dgtd_far_time *far, ps_dgtd_field field, double t,
                          const double (*values)[3], double (*work)[3]);

/* lim r E at bin `bin` of a direction, V; two bins more on either side have to be there. */
void ps_dgtd_far_time_field(const ps_dgtd_far_time *far, int64_t direction, int64_t bin,
                            double out[3]);

#endif
