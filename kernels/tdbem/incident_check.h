/*
 * incident_check: whether a mesh, a step and a start at t = 0 can do an incident pulse justice.
 *
 * A march solves each frequency on its own. What lies above half the sampling rate is folded down
 * and falsifies the others; what has less than about one and a half edges a wavelength is no wave
 * on the mesh.
 */
#ifndef PS_KERNELS_TDBEM_INCIDENT_CHECK_H
#define PS_KERNELS_TDBEM_INCIDENT_CHECK_H

#include "formats/surface_mesh.h"
#include "kernels/tdbem/incident.h"

/* Angular frequencies (rad/s) up to which values are accurate (w h/c and w dt < .6, guide 2.9), and
 * up to which there are waves at all (w h/c < 4, w dt < pi). */
typedef struct ps_band {
    double usable, resolved;
} ps_band;
ps_band ps_band_of(double edge, double dt, double speed);

/* Share of the pulse's energy int |F|^2 dw above w; of a step, which has an infinite one at 0, that
 * of its slope. */
double ps_pulse_energy_above(const ps_emitter *emitter, double w);

/* Whether x is inside a closed body, or one that planes close with its images; open surfaces have
 * no inside. */
bool ps_is_inside(const ps_surface_mesh *mesh, const ps_reflectors *mirrors, const double x[3]);

/* When the middle of an emitter's signal comes to the first of these points, s. */
double ps_emitter_peak(const ps_emitter *emitter, double speed, int64_t count,
                       const double *points);

/* Largest |f| that there is on points[count][3] for t <= 0, over its peak: a bound. 0: quiet. 1:
 * the pulse has begun there, or is over. The delay must be settled. */
double ps_emitter_start(const ps_emitter *emitter, double speed, int64_t count,
                        const double *points);

#endif
