/*
 * lattice: fields of tetrahedra at the points of a lattice: the centres of voxels, or a plane.
 *
 * Point (i, j, k) is origin + i step[0] + j step[1] + k step[2]; its number is i + size[0] (j +
 * size[1] k). A point belongs to the tetrahedron of the least number among those that contain it,
 * faces included, so that the answer does not depend on threads or on the order of visits.
 */
#ifndef PS_KERNELS_DGTD_LATTICE_H
#define PS_KERNELS_DGTD_LATTICE_H

#include <stdint.h>

#include "kernels/dgtd/reference.h"

typedef struct ps_dgtd_lattice {
    double origin[3], step[3][3]; /* m; steps linearly independent */
    int64_t size[3];              /* at least 1 each               */
} ps_dgtd_lattice;

int64_t ps_dgtd_lattice_points(const ps_dgtd_lattice *lattice);
void ps_dgtd_lattice_point(const ps_dgtd_lattice *lattice, int64_t number, double point[3]);

/* The mesh that points are sought in. */
typedef struct ps_dgtd_tets {
    const double *vertices;    /* [..][3], m                      */
    const int32_t *tetrahedra; /* [count][4], in any order each   */
    int64_t count;
} ps_dgtd_tets;

/* owner[points]: the tetrahedron that has the point, or INT32_MAX. wanted[count]: only these are
 * looked at; NULL: all. */
void ps_dgtd_lattice_owners(const ps_dgtd_lattice *lattice, const ps_dgtd_tets *mesh,
                            const uint8_t *wanted, int32_t *owner);

/* Phasors of some tetrahedra: values[rows][6][nodes] of tetrahedra number[rows]: Re x, y, z, Im x,
 * y, z at the nodes of the reference element with vertices ascending. */
typedef struct ps_dgtd_rows {
    int64_t rows;
    const int32_t *number;
    const float *values;
} ps_dgtd_rows;

/* Fields at the points that these tetrahedra own; others are left alone. fields[points][6], squares
 * [points] = |E^|^2; either may be NULL. */
void ps_dgtd_lattice_sample(const ps_dgtd_lattice *lattice, const int32_t *owner,
                            const ps_dgtd_reference *reference, const ps_dgtd_tets *mesh,
                            const ps_dgtd_rows *rows, float (*fields)[6], float *squares);

#endif
