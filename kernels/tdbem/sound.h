/*
 * sound: sources that move and signals that were recorded, and the loads they make
 * (specs/incident_file.md).
 *
 *   monopole, q(tau)   u = q/(4 pi r w)
 *   dipole, F(tau)     u = -div[F delta] * G, the field of a point force
 *   plane wave         u = q(t - e.x/c)
 *   panel, Q and F     u = d/dt[Q/(4 pi r w)] + that of the dipole F: formula 1A (Farassat, there)
 *
 * at the retarded time tau + |x - x_s(tau)|/c = t, with R = x - x_s(tau), r = |R|, w = 1 - v.R/(r
 * c) (J. E. Ffowcs Williams, D. L. Hawkings, Phil. Trans. R. Soc. A 264, 1969; F. Farassat, NASA
 * TM-2007-214853). All functions are thread-safe; none allocates.
 */
#ifndef PS_KERNELS_TDBEM_SOUND_H
#define PS_KERNELS_TDBEM_SOUND_H

#include "kernels/tdbem/load.h"

typedef enum ps_signal_kind {
    PS_SIGNAL_PULSE,   /* a pulse of kernels/tdbem/incident.h, its delay settled              */
    PS_SIGNAL_TONE,    /* amplitude cos(2 pi frequency tau), or constant, from 0 on by a ramp  */
    PS_SIGNAL_RECORDED /* value and slope at start + k step; cubic between, 0 beyond          */
} ps_signal_kind;

typedef struct ps_signal {
    ps_signal_kind kind;
    double amplitude;
    ps_emitter pulse;       /* its shape, width, frequency and delay */
    double frequency, ramp; /* Hz, s                                 */
    const double *samples;  /* [count][2] value and slope            */
    int64_t count;
    double start, step; /* s */
} ps_signal;

/* out = q, dq/dtau. 0 for tau <= 0 of tones. */
void ps_signal_at(const ps_signal *signal, double tau, double out[2]);

typedef enum ps_sound_kind {
    PS_SOUND_PLANE,
    PS_SOUND_MONOPOLE,
    PS_SOUND_DIPOLE,
    PS_SOUND_PANEL
} ps_sound_kind;

typedef struct ps_sound {
    ps_sound_kind kind;
    double place[3];    /* at tau = 0, m; of a plane wave: its direction, of length 1           */
    double velocity[3]; /* m/s                                                                */
    double centre[3], axis[3]; /* of plane waves: where their time is that of the signal     */
    double turning;  /* rad/s about the axis (of length 1) through the centre, which moves along */
    double force[3]; /* direction of a dipole at tau = 0; it turns with the source              */
    ps_signal signal;
    const ps_signal
        *panel; /* [4] of a panel: rho0 Un dS (kg/s), and the force L dS (N) in fixed axes */
} ps_sound;

/* Where a source is, its velocity and its acceleration: each [3]. */
void ps_sound_motion(const ps_sound *sound, double tau, double place[3], double velocity[3],
                     double acceleration[3]);
/* The largest speed, m/s. */
double ps_sound_speed(const ps_sound *sound);

/* The same source, seen from fluid that flows uniformly: at rest with the fluid, source and
 * receivers are carried the other way. Fields in the flow are those of the new source at x - flow
 * t. Exact for the convected wave equation (1/c^2)(d_t + flow.grad)^2 u - Laplace u = source
 * (Galilei). */
ps_sound ps_sound_in_flow(const ps_sound *sound, const double flow[3]);

/* u (Pa) at x and t. */
double ps_sound_field(const ps_sound *sound, double c, const double x[3], double t);
/* grad u . v (Pa/m, |v| = 1). Of dipoles by differences of the fourth order over `reach` (m). */
double ps_sound_slope(const ps_sound *sound, double c, const double x[3], const double v[3],
                      double t, double reach);

typedef struct ps_sounds {
    int count;
    const ps_sound *sounds;
    ps_reflectors mirrors;
    double flow[3];     /* m/s, uniform; velocities of the sounds are those in the fluid
                           (ps_sound_in_flow) */
    double speed, edge; /* c, m/s; mean edge, m */
} ps_sounds;

/* out[unknowns] = l^n of all sounds as kernels/tdbem/load.h defines it, its incident aside, with
 * the same rules. workspace: ps_load_workspace. Threaded; the bits do not depend on threads. */
void ps_sounds_load(const ps_sounds *sounds, const ps_load *load, int64_t n, double *out,
                    double *workspace);

#endif
