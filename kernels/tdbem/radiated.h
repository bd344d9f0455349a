/*
 * radiated: what a surface sends that moves by itself: its normal velocity v_n (outward, into the
 * fluid) is prescribed as a sum of patterns in space times signals in time (guide 2),
 *
 *     v_n(x, t) = sum_r pattern_r(triangle of x) s_r(t),     lambda = d_n p = -density dv_n/dt.
 *
 * p = D p - S lambda outside, D the double and S the single layer with retarded time. Of the
 * hypersingular equation, which penstock-tdbem-march solves for p on the surface, lambda is the
 * load
 *
 *     l^n_i = -int_{t_{n-1}}^{t_n} int phi_i (lambda/2 + K' lambda),
 *     K' lambda = -int (x-y).n_x/(4 pi r^3) [lambda + (r/c) dlambda/dt](y, t - r/c) dy
 *
 * (of the combined field equation, kernels/tdbem/interaction.h, plus alpha/c int phi_i of what -S
 * lambda grows by in the step), and -S lambda is what fields at points have beside D p. Both are
 * sums of a signal's values and slopes at whole steps, by the cubic that has both, with weights
 * that are made once:
 *
 *     sum_q weights[0][q] s(t_{n - first - q}) + weights[1][q] dt s'(t_{n - first - q}).
 *
 * Outer rule: 7 points; inner: facets.h, 3 points where the triangle is eight edges away.
 * Thread-safe; no allocation.
 */
#ifndef PS_KERNELS_TDBEM_RADIATED_H
#define PS_KERNELS_TDBEM_RADIATED_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/surface_velocity.h"
#include "kernels/tdbem/geometry.h"

typedef struct ps_radiated {
    const ps_surface_velocity *velocity; /* borrowed, as the triangles */
    const ps_triangle *triangles;
    double dt, speed; /* s, m/s */
    double combined;  /* loads of the combined field equation: its alpha; 0: none */
} ps_radiated;

/* Lags that weights need for points up to `farthest` (m) from the surface, delays from 0 on. */
int64_t ps_radiated_lags(const ps_radiated *radiated, double farthest);

/* Doubles of weights: [modes][2][lags]. */
int64_t ps_radiated_weights(const ps_radiated *radiated, int64_t lags);

/* out[3][modes][2][lags] = the weights of triangle i's part in the loads of its corners; first = 0.
 * without the part of lambda/2. work: as many as one of the three. seen[triangle_count] = of every
 * triangle the integral of density (x-y).n_x/(4 pi r^3) over it and over this one. */
void ps_radiated_load(const ps_radiated *radiated, int64_t i, int64_t lags, double *out,
                      double *seen, double *work);
/* Adds the part of lambda/2 to the weights of a corner of triangle i. `seen` is the sum over all
 * triangles of what they see of it, which of a closed surface is half its area times the density;
 * taken as it was computed, the loads of a steady motion add up to nothing, as they must: else what
 * is missing would drive the constant in space, which nothing holds back (guide 2.3). */
void ps_radiated_own(const ps_radiated *radiated, int64_t i, int64_t lags, double seen,
                     double *out);

/* out[modes][2][lags] = the weights of -S lambda at a place, or, far_field, of lim r u(r e, t +
 * r/c) in the direction `place`; lags beyond [first, first + lags) are left out. */
void ps_radiated_field(const ps_radiated *radiated, const double place[3], bool far_field,
                       int64_t first, int64_t lags, double *out);

/* The sum above for step n; terms beyond the steps are 0. */
double ps_radiated_sum(const ps_surface_velocity *velocity, double dt, const double *weights,
                       int64_t first, int64_t lags, int64_t n);

#endif
