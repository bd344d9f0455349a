/*
 * prism: exact potential and vertical attraction of homogeneous bodies.
 *
 * Rectangular prisms by the closed forms of kernels/common/prism_field.h, up to and on their
 * surface: V = G rho int 1/r and g_z = dV/dz, z down, so that g_z is positive above excess mass. SI
 * units: m, kg/m3, m2/s2, m/s2.
 *
 * From PS_PRISM_FAR longest sides on, g_z is Gauss's rule with three points along each axis
 * instead, which costs a fourth and whose error there is below 2e-9 of the value and falls with the
 * sixth power of the distance.
 */
#ifndef PS_KERNELS_SCHWARZ_PRISM_H
#define PS_KERNELS_SCHWARZ_PRISM_H

#include <stdint.h>

#define PS_NEWTON 6.67430e-11 /* m3 kg-1 s-2, CODATA 2018 */
#define PS_MILLIGAL 1e-5      /* m s-2                    */
enum { PS_PRISM_FAR = 12 };   /* longest sides            */

typedef struct ps_prism {
    double low[3], high[3]; /* m, low < high */
    double density;         /* kg/m3; a contrast may be negative */
} ps_prism;

/* V in m2/s2, or g_z in m/s2, at a point; gravity: the constant G. */
double ps_prism_potential(const ps_prism *prism, const double point[3], double gravity);
double ps_prism_vertical(const ps_prism *prism, const double point[3], double gravity);

/* Sphere of mass M about a centre, outside of it: V = G M / R at a distance R. */
double ps_sphere_potential(double mass, const double centre[3], const double point[3],
                           double gravity);

#endif
