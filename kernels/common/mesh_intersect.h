/*
 * mesh_intersect: triangles of a surface that cut through one another or overlap.
 *
 * Candidates come from a tree of bounding boxes over triangles that were ordered along a
 * space-filling curve: a complete binary tree whose leaves hold PS_BOX_LEAF triangles each.
 */
#ifndef PS_KERNELS_COMMON_MESH_INTERSECT_H
#define PS_KERNELS_COMMON_MESH_INTERSECT_H

#include <stdint.h>

enum { PS_BOX_LEAF = 8 };

/* Boxes of the tree over `count` triangles: node 1 is the root, the children of node i are 2i
 * and 2i + 1. */
int64_t ps_box_tree_size(int64_t count);

/* boxes[ps_box_tree_size(count)][6]: lower and upper corners, rounded outwards. order[count]:
 * triangle at each place along the curve; any order is right, a curve makes it fast. */
void ps_box_tree_build(const double *vertices, const int32_t *triangles, int64_t count,
                       const int32_t *order, float *boxes);

/* 1 if segment p-q passes through the inside of triangle a, b, c, as the signs of five volumes
 * tell; 0 also where rounding leaves one of them in doubt, so that touching is not cutting. */
int ps_segment_pierces(const double *p, const double *q, const double *a, const double *b,
                       const double *c);

/* 1 if triangles a and b lie in one plane and overlap there: no vertex of the smaller is further
 * than 1e-6 of its longest edge from the plane of the larger, and no edge of either separates them
 * but for as much. So touching, along edges too, is not overlapping. 0 if one has no area. */
int ps_triangles_overlap(const double *const a[3], const double *const b[3]);

/* Pairs of triangles of which an edge of one, that has no vertex in common with the other,
 * pierces the other, or which overlap within one plane and have no edge in common. hit[count]: for
 * each triangle of such a pair that comes first along `order` the least partner behind it, else -1.
 * Returns the number of pairs. Not found: folds along a common edge, and cuts through vertices and
 * edges alone. Threads: OpenMP inside; the result does not depend on them. */
int64_t ps_surface_intersections(const double *vertices, const int32_t *triangles, int64_t count,
                                 const int32_t *order, const float *boxes, int32_t *hit);

#endif
