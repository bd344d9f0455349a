/*
 * plane_sum: sums over planes of equal cells at the nodes of a plane parallel to them, by FFT.
 *
 * What a cell of density 1 does at a node depends on the distance alone and is even along both
 * directions of the plane, so that the sum over a plane of cells is a discrete convolution,
 *
 *     S[n] = sum_c density[c] T[n - c],
 *
 * exact but for rounding with zero padding to twice the cells. Planes add up in the transforms: a
 * plane costs two FFTs (FFTW), all of them together one more for each plane of nodes.
 * Internal to boundary.c and vertical.c; FFTW is optional, and without it opening fails.
 */
#ifndef PS_KERNELS_SCHWARZ_PLANE_SUM_H
#define PS_KERNELS_SCHWARZ_PLANE_SUM_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/status.h"

enum {
    PS_PLANE_SLOTS = 4
}; /* planes (boundary.c: pairs of them) at a time, whatever the threads */

typedef struct ps_plane_sum ps_plane_sum;

/* What a cell with sides h, whose lowest corner is at d from the node, does there. */
typedef double ps_cell_function(const double d[3], const double h[3]);

/* Where the cells of a layer are: axis across it, the other two (c the faster one), sides. */
typedef struct ps_plane_axes {
    int axis, b, c;
    const double *spacing; /* [3] */
} ps_plane_axes;

/* Bytes that opening takes. */
int64_t ps_plane_sum_bytes(const int64_t cells[2]);
/* For planes of cells[0] x cells[1]. PS_FAILED without FFTW, PS_EXHAUSTED without memory. */
ps_status ps_plane_sum_open(const int64_t cells[2], ps_plane_sum **out);
void ps_plane_sum_close(ps_plane_sum **sum); /* NULL is fine */

/* Transforms of a plane of densities, from[j stride[0] + k stride[1]], into place 0 or 1 of a slot;
 * whether there is anything. Slots may be filled by several threads. */
bool ps_plane_sum_density(ps_plane_sum *sum, int slot, int place, const double *from,
                          const int64_t stride[2]);
/* The table of cells `layer` layers away. Slots that are not given one are passed over. */
void ps_plane_sum_table(ps_plane_sum *sum, int slot, const ps_plane_axes *axes, int64_t layer,
                        ps_cell_function *value);
/* Adds the products of the slots' tables with `places` densities each; empties the slots. */
void ps_plane_sum_add(ps_plane_sum *sum, int slots, int places);
/* *size times the sums of a place, [cells[0] + 1] rows of cells[1] + 1 nodes, *row apart. To be
 * asked for once a place; gone with the next call. */
const double *ps_plane_sum_values(ps_plane_sum *sum, int place, int64_t *row, int64_t *size);

#endif
