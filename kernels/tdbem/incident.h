/*
 * incident: plane-wave pulses and point sources, and the loads that they put on a mesh.
 *
 * u_inc(x,t) = amplitude f(t - t0 - e.x/c)                      plane wave, direction e
 *            = amplitude f(t - t0 - r/c) / (4 pi r), r=|x-x_s|  point source at x_s
 * Several emitters add.
 */
#ifndef PS_KERNELS_TDBEM_INCIDENT_H
#define PS_KERNELS_TDBEM_INCIDENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/status.h"

typedef enum ps_pulse_shape {
    PS_PULSE_GAUSSIAN,   /* f(q) = exp(-(q/s)^2)                                             */
    PS_PULSE_DERIVATIVE, /* f(q) = -2 q/s exp(-(q/s)^2): no energy at frequency 0            */
    PS_PULSE_RICKER,     /* f(q) = (1 - 2 (q/s)^2) exp(-(q/s)^2)                             */
    PS_PULSE_MODULATED,  /* f(q) = cos(w0 q) exp(-(q/s)^2)                                   */
    PS_PULSE_STEP        /* f(q) = (1 + erf(q/s))/2: smooth step                             */
} ps_pulse_shape;

typedef struct ps_emitter {
    bool point;           /* point source, else plane wave                                   */
    double place[3];      /* direction e (unit) or position x_s (m)                          */
    ps_pulse_shape shape;
    double amplitude;     /* Pa (plane), Pa m (point)                                        */
    double width;         /* s, seconds                                                      */
    double frequency;     /* w0 / 2 pi, Hz (modulated)                                       */
    double delay;         /* t0, seconds                                                     */
} ps_emitter;

enum { PS_EMITTERS_MAX = 16 };

typedef struct ps_incident {
    int count;
    ps_emitter emitters[PS_EMITTERS_MAX];
    double speed; /* c, m/s */
} ps_incident;

/* One emitter from text: "plane:dir=0,0,1:shape=gaussian:width=0.5:delay=3:amplitude=1" or
 * "point:at=0,0,5:shape=ricker:width=1e-3". delay may be left out: ps_incident_settle finds
 * it. PS_USAGE with a message that names the part. */
ps_status ps_emitter_parse(const char *text, ps_emitter *out);
/* The text that parses back to the same emitter, all parts spelled out (%.17g). */
void ps_emitter_print(const ps_emitter *emitter, char *out, size_t size);
/* Sets the delays left out, so that |f| < 1e-6 of its peak everywhere on the points at t = 0. */
void ps_incident_settle(ps_incident *incident, int64_t count, const double *points);

/* f and f' at q. */
double ps_pulse_value(const ps_emitter *emitter, double q);
double ps_pulse_slope(const ps_emitter *emitter, double q);
/* F(w) = int f(t - t0) e^{+iwt} dt, closed form; *re, *im. (STEP: the principal part, w != 0.) */
void ps_pulse_spectrum(const ps_emitter *emitter, double w, double *re, double *im);

/* u_inc, and grad u_inc [3] (may be NULL), at x, t. */
double ps_incident_field(const ps_incident *incident, const double x[3], double t, double *gradient);

#endif
