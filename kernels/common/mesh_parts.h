/*
 * mesh_parts: cutting the elements of a mesh into parts of equal weight without a graph, and layers
 * over faces.
 *
 * weights[count] may be NULL: all 1. No function allocates; results depend on no number of threads.
 */
#ifndef PS_KERNELS_COMMON_MESH_PARTS_H
#define PS_KERNELS_COMMON_MESH_PARTS_H

#include <stddef.h>
#include <stdint.h>

/* part[count]: runs of consecutive elements; the part of an element is where the middle of its
 * weight lies. */
void ps_parts_of_runs(const int32_t *weights, int64_t count, int64_t parts, int32_t *part);

/* part[count]: recursive bisection across the longest axis of the centroids[count][3] into halves
 * (K even) or floor(K/2) : ceil(K/2) of the weight. Equal coordinates keep the order of the
 * elements. workspace: ps_parts_boxes_workspace bytes. */
size_t ps_parts_boxes_workspace(int64_t count);
void ps_parts_of_boxes(const double *centroids, const int32_t *weights, int64_t count,
                       int64_t parts, void *workspace, int32_t *part);

/* Breadth-first layers over faces of elements [first, end), whose links[..][4] (4 * element + face,
 * -1: none) out of the range are not followed: an element has neighbours in its own layer and the
 * two beside it only. Layer 0 holds the elements with a face, not followed, in the lowest plane of
 * the range along its longest axis (to 1e-9 of the extent), or, if there is none, the element with
 * the lowest centroid; what no layer reaches goes on from its own lowest centroid. layer[..] and
 * queue[..] are of the range, element `first` at 0. Returns the number of layers. */
int64_t ps_mesh_layers(const double *vertices, const int32_t *tetrahedra, const int32_t *links,
                       int64_t first, int64_t end, int32_t *layer, int32_t *queue);

/* Evens the layers out: an element without a neighbour in the layer behind (before) moves to the
 * one before (behind) where that is smaller, against the order of `queue`, until a thousandth of
 * them or less moves in a pass. layer and queue as ps_mesh_layers left them, which still holds:
 * neighbours are at most one layer apart. sizes[layers] are those of the layers then. */
void ps_mesh_even_layers(const int32_t *links, int64_t first, int64_t end, int64_t layers,
                         const int32_t *queue, int32_t *layer, int64_t *sizes);

/* order[count]: elements sorted by key[count] within 0 .. keys - 1, equal ones in their order.
 * start[keys + 1]: where each key begins. */
void ps_order_by_key(const int32_t *key, int64_t count, int64_t keys, int64_t *start,
                     int32_t *order);

#endif
