/*
 * distances: of pairs of triangles in the lanes of vector registers, as narrow_distance of narrow.h
 * has them one by one: what near blocks ask before they know which rule a pair takes.
 */
#ifndef PS_KERNELS_HBEM_DISTANCES_H
#define PS_KERNELS_HBEM_DISTANCES_H

#include "kernels/hbem/pair_integrals.h"

struct ps_hbem_distance_functions {
    void (*distances)(const double *x, const double *y, double *out);
};

/* x, y [12][8] as of a ps_hbem_pair_job: corners and normals; out[8], m; all 64-byte aligned.
 * Triangles do not cross each other. */
void ps_hbem_distances(const double *x, const double *y, double *out);

#endif
