/* distance: of places from a surface. */
#ifndef PS_KERNELS_HBEM_DISTANCE_H
#define PS_KERNELS_HBEM_DISTANCE_H

#include "kernels/hbem/surface.h"

/* Distance from x to the surface (m), and the longest edge of the triangle that is nearest. */
double ps_hbem_surface_distance(const ps_hbem_surface *surface, const double x[3], double *edge);

#endif
