/*
 * strata: which functions of a space may decouple from others: those of different flat parts.
 *
 * A double layer between two triangles of one plane is 0, so whether an entry is 0 for the sake of
 * the geometry depends on the planes of the two supports alone. Functions whose triangles are of
 * the same set of planes are a stratum; what is hidden from the crosses of a block (numerics guide
 * hbem, pitfalls) is made up of whole strata, so a row of each shows it.
 *
 * Planes are told apart by normals to 2e-4 and offsets to 2e-5 of the surface's size. Numbers that
 * fall on either side of a boundary make two strata of one, which costs a row and loses nothing.
 */
#ifndef PS_KERNELS_HBEM_STRATA_H
#define PS_KERNELS_HBEM_STRATA_H

#include "kernels/hbem/surface.h"

/* Planes of fewer triangles are none: the two of a quadrangle of a curved surface are no flat part.
 */
enum { PS_HBEM_PLANE_LEAST = 3, PS_HBEM_NO_STRATUM = -1 };

/* Bytes of scratch for either function, 64-byte aligned. */
int64_t ps_hbem_strata_bytes(int64_t triangle_count, int64_t dofs, int64_t other_dofs);

/* plane[triangle_count]: a number from 0 on, or PS_HBEM_NO_STRATUM. */
void ps_hbem_planes(const ps_hbem_surface *surface, int32_t *plane, void *scratch);

/* stratum[dofs] of a space in its order: likewise. Functions with a triangle of no plane, or of
 * more than three planes, have none. */
void ps_hbem_strata(const ps_hbem_space *space, const int32_t *plane, int32_t *stratum,
                    void *scratch);

/* A stratum among rows: its number, its first row, how many there are. */
typedef struct ps_hbem_stratum {
    int32_t number;
    int64_t first, rows;
} ps_hbem_stratum;

/* Strata with a 64th of the rows or more are checked. */
enum { PS_HBEM_STRATA_SHARE = 64 };

/* Those strata of stratum[rows], by their first rows; their number. */
int ps_hbem_strata_of(const int32_t *stratum, int64_t rows,
                      ps_hbem_stratum out[PS_HBEM_STRATA_SHARE]);

#endif
