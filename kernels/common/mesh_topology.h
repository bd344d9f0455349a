/*
 * mesh_topology: who is whose neighbour in meshes of triangles and tetrahedra.
 *
 * Facets are the edges or faces of cells, or the cells themselves; equal facets are found by
 * sorting facet ids (id = cell * facets + local number, 4 bytes each) by their vertices, so
 * that the workspace stays of the size of the connectivity. Vertex indices must be within
 * 0 .. vertex_count - 1 and cell_count * facets below 2^32 - 2.
 *
 * No function allocates; all are free of state.
 */
#ifndef PS_KERNELS_COMMON_MESH_TOPOLOGY_H
#define PS_KERNELS_COMMON_MESH_TOPOLOGY_H

#include <stdint.h>

typedef struct ps_facet_kind {
    int cell_size, facets, facet_size;
    int8_t local[6][4]; /* vertices of each facet; faces of a tetrahedron point outwards if
                           its volume det(b-a, c-a, d-a)/6 is positive                      */
} ps_facet_kind;

/* Edge k of a triangle runs from vertex k to vertex (k+1) mod 3: a half-edge. */
extern const ps_facet_kind ps_triangle_edges, ps_triangle_itself;
extern const ps_facet_kind ps_tetrahedron_edges, ps_tetrahedron_faces, ps_tetrahedron_itself;

/* Facet ids sorted by ascending vertices (of the facet, whatever their direction), then by id.
 * start[vertex_count + 1]: where the facets with each smallest vertex begin in
 * ids[cell_count * facets]. Threads: OpenMP inside; the result does not depend on them. */
void ps_facets_sort(const ps_facet_kind *kind, const int32_t *cells, int64_t cell_count,
                    int64_t vertex_count, uint32_t *start, uint32_t *ids);

/* The facet's vertices in its own direction, and ascending. out[4]. */
void ps_facet_vertices(const ps_facet_kind *kind, const int32_t *cells, uint32_t id, int32_t *out);
void ps_facet_key(const ps_facet_kind *kind, const int32_t *cells, uint32_t id, int32_t *out);

/* End of the run of equal facets that begins at `first` in ids[count]. */
int64_t ps_facets_run(const ps_facet_kind *kind, const int32_t *cells, const uint32_t *ids,
                      int64_t count, int64_t first);

/* +1 if two equal facets of 2 or 3 vertices have the same direction, -1 if opposite ones. */
int ps_facets_direction(const ps_facet_kind *kind, const int32_t *cells, uint32_t a, uint32_t b);

/* Values of mate[] where there is not exactly one other triangle at an edge. */
#define PS_MATE_NONE UINT32_MAX       /* an open edge                 */
#define PS_MATE_MANY (UINT32_MAX - 1) /* an edge of three or more     */

/* mate[3 * triangle_count] of sorted half-edges ids: the other half-edge at the same edge. */
void ps_edges_pair(const int32_t *triangles, int64_t triangle_count, const uint32_t *ids,
                   uint32_t *mate);

/* Parts of a surface that hang together across edges of two triangles, and which triangles to
 * turn so that neighbours agree: part[triangle_count] numbered from 0 in the order of their
 * first triangles, flip[triangle_count] 0 or 1, 0 for the first triangle of a part.
 * queue[triangle_count]: workspace. *twists: edges that cannot agree (Moebius bands); the first
 * one goes to *twist if there is one. Returns the number of parts. */
int64_t ps_surface_parts(const int32_t *triangles, int64_t triangle_count, const uint32_t *mate,
                         int32_t *part, uint8_t *flip, uint32_t *queue, int64_t *twists,
                         uint32_t *twist);

/* Parts of a surface that hang together by vertices, whatever its edges: part[triangle_count],
 * numbered from 0 in the order of their first triangles. root[triangle_count], first[vertex_count]:
 * workspace. Returns the number of parts. */
int64_t ps_touching_parts(const int32_t *triangles, int64_t triangle_count, int64_t vertex_count,
                          int32_t *part, uint32_t *root, uint32_t *first);

/* Number of fans (runs of triangles joined across edges) around each vertex: fans[vertex_count],
 * held at 255; 1 in a manifold, 0 where no triangle is. Vertices of edges of three or more
 * triangles are given 1: the edge is what is wrong there. root[3 * triangle_count]: workspace. */
void ps_vertex_fans(const int32_t *triangles, int64_t triangle_count, const uint32_t *mate,
                    int64_t vertex_count, uint8_t *fans, uint32_t *root);

/* Loops of open edges: number of connected runs of edges without a mate.
 * root[vertex_count]: workspace. */
int64_t ps_open_loops(const int32_t *triangles, int64_t triangle_count, const uint32_t *mate,
                      int64_t vertex_count, uint32_t *root);

/* Parts of a volume that hang together across shared faces: part[cell_count], from sorted face
 * ids. root[cell_count]: workspace. Returns their number. */
int64_t ps_volume_parts(const int32_t *tetrahedra, int64_t cell_count, const uint32_t *ids,
                        int32_t *part, uint32_t *root);

#endif
