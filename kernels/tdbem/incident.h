/*
 * incident: plane-wave pulses and point sources (kernels/tdbem/load.h: the loads they make).
 *
 * u_inc(x,t) = amplitude f(t - t0 - e.x/c)                      plane wave, direction e
 *            = amplitude f(t - t0 - r/c) / (4 pi r), r=|x-x_s|  point source at x_s
 *            = -amplitude f(t - t0)                             uniform: no wave, but the
 *              simplest check of the sound-soft system: V p = +amplitude f
 * Several emitters add. All functions are thread-safe; none allocates.
 */
#ifndef PS_KERNELS_TDBEM_INCIDENT_H
#define PS_KERNELS_TDBEM_INCIDENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/reflectors.h"
#include "runtime/status.h"

typedef enum ps_pulse_shape {
    PS_PULSE_GAUSSIAN,   /* f(q) = exp(-(q/s)^2)                                             */
    PS_PULSE_DERIVATIVE, /* f(q) = -2 q/s exp(-(q/s)^2): no energy at frequency 0            */
    PS_PULSE_RICKER,     /* f(q) = (1 - 2 (q/s)^2) exp(-(q/s)^2)                             */
    PS_PULSE_MODULATED,  /* f(q) = cos(w0 q) exp(-(q/s)^2)                                   */
    PS_PULSE_STEP        /* f(q) = (1 + erf(q/s))/2: smooth step                             */
} ps_pulse_shape;

typedef enum ps_emitter_kind {
    PS_EMITTER_PLANE,
    PS_EMITTER_POINT,
    PS_EMITTER_UNIFORM
} ps_emitter_kind;

typedef struct ps_emitter {
    ps_emitter_kind kind;
    double place[3]; /* plane: direction e (unit); point: position x_s (m); uniform: 0  */
    ps_pulse_shape shape;
    double amplitude; /* Pa (plane, uniform), Pa m (point)                               */
    double width;     /* s, seconds                                                      */
    double frequency; /* w0 / 2 pi, Hz (modulated; else 0)                               */
    double delay;     /* t0, seconds; NaN: not said yet, see ps_incident_settle          */
} ps_emitter;

enum { PS_EMITTERS_MAX = 16, PS_EMITTER_TEXT_MAX = 256 };

typedef struct ps_incident {
    int count;
    ps_emitter emitters[PS_EMITTERS_MAX];
    double speed; /* c, m/s */
} ps_incident;

/* One emitter from text: "plane:dir=0,0,1:shape=gaussian:width=0.5:delay=3:amplitude=1",
 * "point:at=0,0,5:shape=ricker:width=1e-3" or "uniform:width=0.5". Left out: shape is gaussian,
 * amplitude 1, delay NaN (ps_incident_settle finds it). A direction is made a unit vector.
 * PS_USAGE with a message that names the emitter and the part; *out is then unchanged. */
ps_status ps_emitter_parse(const char *text, ps_emitter *out);
/* The text that parses back to the same emitter, bit for bit, all parts spelled out (%.17g);
 * at most PS_EMITTER_TEXT_MAX with its end. An unsettled delay is left out. */
void ps_emitter_print(const ps_emitter *emitter, char *out, size_t size);
/* A bound of |f(q)| over its peak for q <= -x width, decreasing in x; 1 where x < 1. */
double ps_pulse_tail(ps_pulse_shape shape, double x);
/* Sets the delays that are NaN to the least value with which |f| stays below 1e-6 of its peak
 * on all points[count][3] (m) for all t <= 0. */
void ps_incident_settle(ps_incident *incident, int64_t count, const double *points);

/* Puts the images of the emitters in the planes behind them; all delays are settled, and the
 * planes' normals point to where the fluid is. PS_USAGE for a uniform field, emitters beyond a
 * plane or waves from there, and for more than PS_EMITTERS_MAX with the images. */
ps_status ps_incident_add_images(ps_incident *incident, const ps_reflectors *mirrors);

/* f and f' = df/dq at q (seconds): of the pulse alone, without amplitude and delay. Tails below
 * 1e-130 of the peak are 0, so that no denormal numbers enter the loads. */
double ps_pulse_value(const ps_emitter *emitter, double q);
double ps_pulse_slope(const ps_emitter *emitter, double q);
/* F(w) = int f(t - t0) e^{+iwt} dt (s), w in rad/s, closed form, without the amplitude.
 * STEP: the principal part i exp(-(ws/2)^2)/w, w != 0. */
void ps_pulse_spectrum(const ps_emitter *emitter, double w, double *re, double *im);

/* How an emitter reaches point x: u_inc(x,t) = value f(t - retardation), and
 * d u_inc/d v (x,t) = along[0] f(t - retardation) + along[1] f'(t - retardation)
 * for the direction v (NULL: not asked; along may be NULL then). */
typedef struct ps_arrival {
    double retardation; /* s */
    double value;
    double along[2];
} ps_arrival;
ps_arrival ps_emitter_arrival(const ps_emitter *emitter, double speed, const double x[3],
                              const double v[3]);

/* u_inc (Pa), and grad u_inc [3] (Pa/m; may be NULL), at x (m), t (s). */
double ps_incident_field(const ps_incident *incident, const double x[3], double t,
                         double *gradient);

#endif
