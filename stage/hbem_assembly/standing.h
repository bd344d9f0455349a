/*
 * standing: bodies beside mirror planes. A closed one lies off all planes; an open one stands on
 * them: its rim is in the planes, and with its images it is closed.
 */
#ifndef PS_HBEM_ASSEMBLY_STANDING_H
#define PS_HBEM_ASSEMBLY_STANDING_H

#include "formats/reflectors.h"
#include "kernels/hbem/surface.h"

/* Which planes a place lies on, nearer than `touch` (ps_reflectors_touch, m): a bit each. */
int ps_hbem_planes_at(const ps_reflectors *mirrors, double touch, const double x[3]);

/* Turns the planes' normals to the body; whether it stands on one. corners[triangles][3].
 * PS_INVALID where it crosses a plane, touches one with anything but a rim, or is not closed with
 * its images. */
ps_status ps_hbem_standing_check(const ps_hbem_surface *surface, const int32_t *corners,
                                 ps_reflectors *mirrors, bool *touches);

#endif
