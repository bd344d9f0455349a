/*
 * source: pulses, incident fields in vacuum, and the current dipole spread over a ball.
 */
#ifndef PS_KERNELS_DGTD_SOURCE_H
#define PS_KERNELS_DGTD_SOURCE_H

#include "kernels/dgtd/system.h"

typedef enum ps_dgtd_shape { PS_DGTD_GAUSSIAN, PS_DGTD_RAMP, PS_DGTD_SHAPES } ps_dgtd_shape;

/* f(t) = amplitude g((t - centre)/width) cos(omega (t - centre)); t in m (c0 t). Gaussian:
 * g(u) = exp(-u^2). Ramp: 0 below 0, 1 above 1, u^4 (35 - 84 u + 70 u^2 - 20 u^3) between, which
 * has three continuous derivatives. */
typedef struct ps_dgtd_pulse {
    double amplitude, centre, width, omega;
    ps_dgtd_shape shape;
} ps_dgtd_pulse;

/* f, f', f'' at t. */
void ps_dgtd_pulse_at(const ps_dgtd_pulse *pulse, double t, double out[3]);

typedef enum ps_dgtd_incident_kind { PS_DGTD_PLANE_WAVE, PS_DGTD_DIPOLE } ps_dgtd_incident_kind;

/* Plane wave: E = polarisation f(t - k.(x - origin)), H = k x E, with `axis` the unit vector k,
 * polarisation orthogonal to it. Dipole of moment p = f along the unit vector `axis` = z at
 * `origin`, with r^ = (x - origin)/r, everything at t - r:
 *   4 pi E = (3 (z.r^) r^ - z)(p/r^3 + p'/r^2) + ((z.r^) r^ - z) p''/r,
 *   4 pi H = (p'/r^2 + p''/r) z x r^. */
typedef struct ps_dgtd_incident {
    ps_dgtd_incident_kind kind;
    ps_dgtd_pulse pulse;
    double axis[3], polarisation[3], origin[3];
} ps_dgtd_incident;

/* E and H (times Z0) of the incident field at a point. */
void ps_dgtd_incident_at(const ps_dgtd_incident *incident, const double point[3], double t,
                         double e[3], double h[3]);

/* Current J = p'(t) w(r) z, w = 105/(32 pi R^3) (1 - r^2/R^2)^2 over the ball of radius R, its
 * discrete integral made 1: loads[k][nodes] = (M)^-1 int phi w of element slots[k], ascending. */
typedef struct ps_dgtd_current {
    ps_dgtd_pulse moment; /* p(t) */
    double axis[3], origin[3], radius;
    int64_t count;
    int64_t *slots;
    double *loads;
} ps_dgtd_current;

/* Elements that have part in the ball, by their circumscribed balls: the length of slots. */
int64_t ps_dgtd_current_count(const ps_dgtd_current *current, const ps_dgtd_body *body);

/* Fills slots and loads of count elements, by 6^3 collapsed Gauss points an element, not yet
 * scaled; adds the discrete integral of w over them to *integral. */
void ps_dgtd_current_load(ps_dgtd_current *current, const ps_dgtd_reference *reference,
                          const ps_dgtd_body *body, double *integral);

/* Divides the loads by the integral over all elements (of all ranks). PS_INVALID if it is 0: the
 * ball meets no element. */
ps_status ps_dgtd_current_scale(ps_dgtd_current *current, const ps_dgtd_reference *reference,
                                double integral);

/* Both, for a body that is whole. */
ps_status ps_dgtd_current_fill(ps_dgtd_current *current, const ps_dgtd_reference *reference,
                               const ps_dgtd_body *body);

/* E -= gain p'(t) load z of slots in groups [begin, end): part of the half step of E. */
void ps_dgtd_current_apply(const ps_dgtd_current *current, const ps_dgtd_system *system,
                           void *electric, double t, int64_t begin, int64_t end);

/* b[nodes] <- (M^ 3/4)^-1 b; M^ 3/4 is the mass matrix of a tetrahedron of volume 1. */
void ps_dgtd_divide_by_mass(const ps_dgtd_reference *reference, double *b);

/* Adds u' j to work[g] of groups begin <= g < end, j = - int phi J at t: what it does to x' M_eps
 * x. */
void ps_dgtd_current_work(const ps_dgtd_current *current, const ps_dgtd_system *system,
                          const void *u, double t, int64_t begin, int64_t end, double *work);

#endif
