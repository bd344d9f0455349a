/*
 * element: the matrices of one brick of trilinear (Q1) shape functions, and the pieces that a
 * grid falls into when its elements are dealt out to subdomains.
 *
 * Corners and edges' ends are numbered with z fastest: corner 4 a + 2 b + c lies at (i + a, j + b,
 * k + c) of element (i, j, k); on a face, 2 b + c along its two axes in order.
 */
#ifndef PS_KERNELS_SCHWARZ_ELEMENT_H
#define PS_KERNELS_SCHWARZ_ELEMENT_H

#include "kernels/schwarz/grid.h"

/* stiffness = kx.my.mz + mx.ky.mz + mx.my.kz, k = [1 -1; -1 1] / h, m = (h / 6) [2 + s, 1 - s; 1 -
 * s, 2 + s], s being the grid's share of lumped masses. */
void ps_element_stiffness(const ps_q1_grid *grid, double stiffness[8][8]);

/* Mass and tangential stiffness of a face across an axis: m.m and k.m + m.k along the others. */
void ps_face_element(const ps_q1_grid *grid, int axis, double mass[4][4], double stiffness[4][4]);

/* The elements of a grid and the subdomain of each. */
typedef struct ps_element_parts {
    ps_q1_grid grid;
    const int32_t *part; /* [(nx-1) (ny-1) (nz-1)], z fastest */
} ps_element_parts;

/* The row of a node in the matrix of a subdomain: over its elements around the node; natural
 * where other subdomains begin, nodes on the box's sides being fixed: their rows are those of the
 * identity, their columns left out. columns[27]: grid nodes, ascending; returns their number, 0 if
 * no element of the subdomain touches the node. */
int ps_part_row(const ps_element_parts *parts, int32_t subdomain, int64_t node, int64_t *columns,
                double *values);

/* Subdomains that have elements around a node, ascending; at most 8. */
int ps_parts_at(const ps_element_parts *parts, int64_t node, int32_t *out);

/* The faces between subdomains that lie at a node towards larger x, y and z are three: of element
 * (i, j, k) and the one before it across `axis`. True if both are there and differ in subdomain;
 * nodes[4] then are the corners, sides[2] the subdomains (before, behind). */
bool ps_part_face(const ps_element_parts *parts, int64_t element, int axis, int64_t nodes[4],
                  int32_t sides[2]);

#endif
