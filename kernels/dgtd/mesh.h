/*
 * mesh: tetrahedra as the solver wants them: vertices ascending within each element, elements
 * along a space curve, each face linked to the other element at it.
 *
 * With ascending vertices (by global numbers) the face nodes of both sides of a face meet in the
 * same order (reference.h): a link is the other element and its face, with no rotation. Elements
 * may then have negative Jacobians; the equations are written so that the sign does not matter.
 *
 * No function allocates.
 */
#ifndef PS_KERNELS_DGTD_MESH_H
#define PS_KERNELS_DGTD_MESH_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/status.h"

/* Sorts the vertices of each of elements[count][4]. */
void ps_dgtd_sort_vertices(int32_t *elements, int64_t count);

/* order[count]: the element for each new place along the Hilbert curve through the centroids.
 * centroids[count][3] and workspace (ps_space_curve_workspace bytes) are scratch. */
void ps_dgtd_order_elements(const double *vertices, const int32_t *elements, int64_t count,
                            double *centroids, void *workspace, int32_t *order);

/* Reorders each run of `tile` (<= PS_DGTD_MAX_TILE) entries of order[count], as it comes from
 * ps_dgtd_order_elements, so that translates of one shape lie side by side, in the order of their
 * first ones and otherwise as they were: neighbours of consecutive elements of meshes with
 * repeating patterns are then consecutive too, and their traces come together. Elsewhere nothing
 * changes. */
enum { PS_DGTD_MAX_TILE = 1024 };
void ps_dgtd_group_shapes(const double *vertices, const int32_t *elements, int64_t count,
                          int64_t tile, int32_t *order);

/* links[count][4]: 4 * element + face of the other side, or -1 where there is none. start[vertex
 * count + 1] and ids[4 * count] are scratch. Fails with PS_INVALID if three or more elements
 * share a face. count < 2^29. */
ps_status ps_dgtd_link_faces(const int32_t *elements, int64_t count, int64_t vertex_count,
                             uint32_t *start, uint32_t *ids, int32_t *links);

/* 4 * element + face of a facet id of kernels/common/mesh_topology.h. */
int32_t ps_dgtd_facet_face(uint32_t id);

/* Tangents t_a = dx/dr_a of an element, half its edges from vertex 1; tangents[a][component]. */
void ps_dgtd_tangents(const double *vertices, const int32_t element[4], double tangents[3][3]);

/* t_0 . (t_1 x t_2): 3/4 of the signed volume. */
double ps_dgtd_determinant(const double tangents[3][3]);

/* Areas of the four faces and their outward unit normals. */
void ps_dgtd_faces(const double tangents[3][3], double areas[4], double normals[4][3]);

/* V / P of an element: volume by the sum of its faces' areas, the length the time step follows. */
double ps_dgtd_size(const double tangents[3][3]);

/* Fails with PS_INVALID at the first element whose volume is not above `least` (>= 0) times the
 * cube of its longest edge, or not finite. */
ps_status ps_dgtd_check_volumes(const double *vertices, const int32_t *elements, int64_t count,
                                double least);

#endif
