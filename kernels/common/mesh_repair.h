/*
 * mesh_repair: merging, dropping, turning and reordering parts of a mesh in place.
 *
 * Cells are cells[count][size] of vertex indices; `tags` and `source` go with them. Nothing
 * allocates; callers bring the workspace.
 */
#ifndef PS_KERNELS_COMMON_MESH_REPAIR_H
#define PS_KERNELS_COMMON_MESH_REPAIR_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of workspace that ps_vertices_weld needs. */
size_t ps_weld_workspace(int64_t count);

/* target[count]: for each vertex the first vertex, in the order of the array, that is within
 * `tolerance` (Euclidean) and is kept itself; its own index if it is kept. Returns how many
 * are not kept. Finds neighbours by sorting cells of a grid of max(2 tolerance, extent/2^20).
 * tolerance >= 0; with 0 only equal positions merge. Threads: sorts with OpenMP; the result
 * does not depend on them. */
int64_t ps_vertices_weld(const double *vertices, int64_t count, double tolerance, void *workspace,
                         int32_t *target);

/* index := target[index] for n indices. */
void ps_indices_replace(int32_t *indices, int64_t count, const int32_t *target);

/* Removes vertices that no index refers to: used[vertex_count] is set by ps_vertices_mark (which
 * does not clear it), place[vertex_count] receives the new index of those kept. Returns the new
 * number; apply `place` to the cells by ps_indices_replace. */
void ps_vertices_mark(const int32_t *indices, int64_t count, uint8_t *used);
int64_t ps_vertices_compact(double *vertices, int32_t *source, int64_t count, const uint8_t *used,
                            int32_t *place);

/* Removes cells with drop[cell] != 0; returns the new number. */
int64_t ps_cells_compact(int32_t *cells, int32_t *tags, int32_t *source, int64_t count, int size,
                         const uint8_t *drop);

/* Turns cells with turn[cell] != 0 by swapping their last two vertices. Returns how many. */
int64_t ps_cells_turn(int32_t *cells, int64_t count, int size, const uint8_t *turn);

/* centroids[count][3]. */
void ps_cells_centroids(const double *vertices, const int32_t *cells, int64_t count, int size,
                        double *centroids);

/* Moves items of `bytes` bytes: new item i is old item order[i]. scratch: as large as data. */
void ps_items_reorder(void *data, int64_t count, size_t bytes, const int32_t *order, void *scratch);

#endif
