/*
 * exact: what a sphere does to plane pulses, exactly (tdbem guide 2.10).
 *
 * In time: x(t) = (1/T) sum_m F(w_m) Z(w_m) e^{-i w_m t} with w_m = 2 pi m/T, Z the Mie series
 * (kernels/common/mie.h, e^{-i w t}), F the closed spectrum of the pulse, T the window: the
 * periodic continuation, exact once x has decayed within T. The sum ends where the spectrum
 * is below 1e-17 of its peak.
 */
#ifndef PS_POSTPROCESS_SPHERE_EXACT_EXACT_H
#define PS_POSTPROCESS_SPHERE_EXACT_EXACT_H

#include <stdint.h>

#include "kernels/tdbem/admittance.h"
#include "kernels/tdbem/incident.h"
#include "runtime/status.h"

typedef enum exact_quantity {
    EXACT_SOFT_DENSITY, /* -d_n u_tot on the surface, Pa/m; places: any vectors            */
    EXACT_SOFT_FAR,     /* lim r u_sc, Pa m; places: directions                            */
    EXACT_HARD_SURFACE, /* u_tot on the surface, Pa                                        */
    EXACT_HARD_FAR,     /* as above                                                        */
    EXACT_SOFT_FIELD,   /* u_sc at points outside, Pa; places: points                      */
    EXACT_HARD_FIELD,
    EXACT_UNIFORM_DENSITY, /* V p = g = amplitude f: p(t) = (2/c) g'(t) + p(t - 2R/c)         */
    EXACT_QUANTITIES
} exact_quantity;

typedef struct exact_task {
    exact_quantity quantity;
    double radius, centre[3]; /* m                                                            */
    double window;            /* T in units of R/c                                            */
    ps_incident incident;     /* plane (or, uniform-density, uniform) emitters and the speed  */
    bool lined;               /* the hard sphere gives way: */
    ps_admittance beta;
    int64_t channels;
    const double *places; /* [channels][3]; surface quantities: direction from the centre */
} exact_task;

/* The task can be done: kinds and shapes of the emitters, points outside. PS_USAGE or
 * PS_INVALID with the reason. */
ps_status exact_check(const exact_task *task);

/* out[samples][channels] at times[samples] (s, any). Times before anything arrives give 0;
 * PS_USAGE for times beyond the window. */
ps_status exact_in_time(const exact_task *task, int64_t samples, const double *times, double *out);

/* The response to u_inc = e^{ik e.x} of unit amplitude (first emitter's direction, phase 0 at
 * the origin): real and imaginary [count][channels] at frequencies[count] (Hz). */
ps_status exact_in_frequency(const exact_task *task, int64_t count, const double *frequencies,
                             double *real, double *imaginary);

#endif
