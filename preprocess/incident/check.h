/* check: what penstock-incident refuses of sources. */
#ifndef PS_PREPROCESS_INCIDENT_CHECK_H
#define PS_PREPROCESS_INCIDENT_CHECK_H

#include "preprocess/incident/incident.h"

/* What sources are held against. */
typedef struct check_of {
    const ps_surface_mesh *mesh;
    double edge, dt, speed, duration; /* mean edge m, s, m/s, s */
    const ps_reflectors *mirrors;     /* their normals point to the body */
    const double *flow;               /* [3] m/s                         */
} check_of;

/* PS_INVALID, or a warning where --allow names it. The signal is settled. */
ps_status check_source(const ps_run *run, const check_of *c, const source_text *source);
ps_status check_velocity(const ps_run *run, const check_of *c, const source_text *source);
/* The body is before the planes, and does not reach through them. */
ps_status check_mirrors(const check_of *c);

#endif
