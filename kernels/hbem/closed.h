/*
 * closed: potentials of the hats of a flat triangle in closed form, for points as near to it as may
 * be, and on it.
 *
 *     int phi_l / r,   int phi_l r,   int phi_l d_ny (1/r),     r = |x - y|, n outward
 *
 * The edges' logarithms and arc lengths, and the solid angle (Wilton et al., IEEE Trans. Antennas
 * Propag. 32 (1984) 276; Graglia, ibid. 41 (1993) 1448; van Oosterom and Strackee, IEEE Trans.
 * Biomed. Eng. 30 (1983) 125). Rounding grows with the distance over the height of the triangle:
 * take them within a few diameters, and a rule beyond. About 300 operations.
 */
#ifndef PS_KERNELS_HBEM_CLOSED_H
#define PS_KERNELS_HBEM_CLOSED_H

#include <stdbool.h>

#include "kernels/hbem/surface.h"

typedef struct ps_hbem_closed {
    double height;     /* (x - y).n, m; 0 where x counts as in the plane                     */
    bool on;           /* x lies on the triangle, edges and corners included                 */
    double hat[3];     /* phi_l at the foot of x in the plane, where that is not too far     */
    double inverse[3]; /* int phi_l / r, m                                                   */
    double length[3];  /* int phi_l r, m^3                                                   */
    double slope[3];   /* int phi_l d_ny (1/r); in the plane 0: the principal value          */
} ps_hbem_closed;

/* A point nearer to the plane than 1e-10 of the diameter counts as in it. */
void ps_hbem_closed_at(const ps_hbem_triangle *triangle, const double x[3], ps_hbem_closed *out);

/* out[l]: the derivative of int phi_l / r along `normal` at x. */
void ps_hbem_closed_slopes(const ps_hbem_triangle *triangle, const double x[3],
                           const double normal[3], double out[3]);

/* Where a point is: 1 outside a closed surface, -1 inside, 0 on it. *inner: the share of all
 * directions that lead inside. */
int ps_hbem_where(const ps_hbem_surface *surface, const double x[3], double *inner);

#endif
