/*
 * far_field: the field far away of what is inside a closed surface, from E^ and H^ on it (Huygens;
 * Love's equivalent currents J = n x H^, M = -n x E^ radiating in a lossless medium). With
 * e^{+iwt}:
 *
 *   lim r e^{ikr} E^(r e) = -ik/(4 pi) [ Z (N - e (e.N)) - e x L ]
 *   N = int J e^{ik e.x} dA,  L = int M e^{ik e.x} dA
 *
 * (Balanis, Antenna Theory, 6.58-6.60 in vector form; x from the origin.) A total field may be used
 * for the scattered one: what has no source inside contributes nothing. RCS = 4 pi |.|^2 / |E0|^2.
 *
 * Integrals over a face by the (p+3)^2 collapsed Gauss points of both sides' mean trace, or of the
 * inner side's alone where there is no other. In double.
 */
#ifndef PS_KERNELS_DGTD_FAR_FIELD_H
#define PS_KERNELS_DGTD_FAR_FIELD_H

#include "kernels/dgtd/lattice.h"

/* Directions and what has been added up for each: sums[0] of N, [1] of L, real and imaginary. */
typedef struct ps_dgtd_far {
    double wavenumber; /* k in the medium, 1/m         */
    double impedance;  /* of the medium over Z0: 1 in vacuum */
    int64_t directions;
    const double (*direction)[3]; /* [directions] unit vectors    */
    double (*sums)[2][3][2];      /* [directions], zeroed before  */
} ps_dgtd_far;

/* Adds faces[count] = 4 * row + face of rows of a mesh with ascending vertices, with outward: +1 if
 * the surface's outside is the element's outside there, -1 if the element lies outside; weight: 1,
 * or 1/2 where both sides of the surface are added. electric, magnetic: values[rows][6][nodes]. */
void ps_dgtd_far_add(const ps_dgtd_far *far, const ps_dgtd_reference *reference,
                     const ps_dgtd_tets *mesh, const ps_dgtd_rows *electric, const float *magnetic,
                     int64_t count, const int64_t *faces, const int8_t *outward,
                     const double *weight);

/* lim r e^{ikr} E^ of each direction, V: out[directions][component][real, imaginary]. */
void ps_dgtd_far_field(const ps_dgtd_far *far, double (*out)[3][2]);

#endif
