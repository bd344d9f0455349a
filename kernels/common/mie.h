/*
 * mie: exact scattering of a plane wave by a sound-soft or sound-hard sphere.
 *
 * Sphere of radius R about the origin, convention e^{-i w t}, u_inc = e^{ikz}, cosines are
 * those of the angle to +z (the direction in which the wave travels), h_n = j_n + i y_n:
 *
 *   u_inc = sum (2n+1) i^n j_n(kr) P_n        u_sc = -sum (2n+1) i^n c_n h_n(kr) P_n
 *   c_n = j_n(kR)/h_n(kR)  (soft)             c_n = j_n'(kR)/h_n'(kR)  (hard)
 *
 * (Morse and Ingard, Theoretical Acoustics, 8.2; the surface values below follow by the
 * Wronskian j_n y_n' - j_n' y_n = 1/x^2.) Terms: kR + 12 + 4 (kR)^{1/3}; relative accuracy
 * about 1e-12 up to kR of some hundred. Complex values are pairs (real, imaginary).
 * No allocation; thread-safe.
 */
#ifndef PS_KERNELS_COMMON_MIE_H
#define PS_KERNELS_COMMON_MIE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/status.h"

enum { PS_MIE_TERMS_MAX = 2048 };

/* Spherical Bessel functions j_n(x), y_n(x), n = 0..count-1, x > 0, count <=
 * PS_MIE_TERMS_MAX: y by upward, j by downward recurrence (each the stable direction). y_n
 * grows beyond any bound: from the first |y_n| > 1e140 on both arrays hold zeros; returns the
 * number of orders before that. */
int ps_spherical_bessel(double x, int count, double *j, double *y);

typedef enum ps_mie_quantity {
    PS_MIE_SOFT_DENSITY, /* p = -d_n u_tot on r = R, per m:
                            i/(k R^2) sum (2n+1) i^n P_n/h_n(kR); -1/R (-u_inc/R) at k = 0    */
    PS_MIE_SOFT_FAR,     /* f = lim r e^{-ikr} u_sc, m: (i/k) sum (2n+1) c_n P_n; -R at k = 0 */
    PS_MIE_HARD_SURFACE, /* u_tot on r = R: i/(kR)^2 sum (2n+1) i^n P_n/h_n'(kR); 1 at k = 0  */
    PS_MIE_HARD_FAR      /* f, m, with the hard c_n; 0 at k = 0                               */
} ps_mie_quantity;

/* The quantity at `count` cosines: out[count][2]. k >= 0 in 1/m, radius > 0 in m. beta: the complex
 * admittance of a sphere that gives way, d_n u = -i k beta u: c_n = (j_n' + i beta j_n)/(h_n' + i
 * beta h_n), and h_n' + i beta h_n in the place of h_n', of hard quantities; NULL: it does not.
 * PS_INVALID if kR needs more than PS_MIE_TERMS_MAX terms, or for a soft sphere with beta. */
ps_status ps_mie(ps_mie_quantity quantity, const double beta[2], double k, double radius,
                 int64_t count, const double *cosines, double (*out)[2]);

/* u_sc at points (cosines[i], distances[i] >= radius from the centre): out[count][2]. */
ps_status ps_mie_scattered(bool hard, const double beta[2], double k, double radius, int64_t count,
                           const double *cosines, const double *distances, double (*out)[2]);

/* Total scattering cross-section, m^2: (4 pi/k^2) sum (2n+1) |c_n|^2, k > 0. By the optical
 * theorem it equals (4 pi/k) Im f(theta = 0). */
ps_status ps_mie_cross_section(int hard, double k, double radius, double *out);

#endif
