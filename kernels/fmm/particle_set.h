/*
 * particle_set: how the operators see particles: arrays side by side, in tree order.
 */
#ifndef PS_KERNELS_FMM_PARTICLE_SET_H
#define PS_KERNELS_FMM_PARTICLE_SET_H

#include <stdint.h>

enum { PS_FMM_SIDES_MAX = 8 }; /* right-hand sides */

/* All arrays are borrowed. charges may be NULL for targets that are not sources, potential and
 * gradient for sources that are not targets. Right-hand side s of particle i is at
 * [s stride + i]; component d of its gradient at [(3 s + d) stride + i]. Dipoles, and second
 * derivatives in the order xx, xy, xz, yy, yz, zz, are there where a sum has them (specs/fmm.md). */
typedef struct ps_fmm_particles {
    const double *position[3];
    const double *charges; /* [sides][stride]             */
    double *potential;     /* [sides][stride], added to   */
    double *gradient;      /* [sides][3][stride], added to */
    const double *dipoles; /* [sides][3][stride], or NULL  */
    double *hessian;       /* [sides][6][stride], added to; or NULL */
    int64_t stride;
} ps_fmm_particles;

typedef struct ps_fmm_range {
    int64_t begin, end;
} ps_fmm_range;

#endif
