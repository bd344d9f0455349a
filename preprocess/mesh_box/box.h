/*
 * box: a brick of nx x ny x nz cells of six tetrahedra each (H. W. Kuhn, 1960): v, v+e_a,
 * v+e_a+e_b, v+(1,1,1) for the six orders of the axes. Everything is a function of the index, so
 * that a mesh is written chunk by chunk by all threads and never lies in memory.
 */
#ifndef PS_PREPROCESS_MESH_BOX_BOX_H
#define PS_PREPROCESS_MESH_BOX_BOX_H

#include "formats/volume_mesh.h"

enum { BOX_REGIONS_MAX = 64 };

typedef struct box_region {
    int32_t tag;
    bool ball;
    double lower[3], upper[3]; /* of a ball: centre, and upper[0] its radius */
} box_region;

typedef struct box {
    int64_t cells[3];
    double corner[3], size[3]; /* m */
    double shake;              /* of the cell size, at most BOX_SHAKE_MAX                    */
    int64_t seed;
    int32_t tag, sides; /* of elements in no region; of side x-: x+ has the next, ..  */
    int region_count;
    box_region regions[BOX_REGIONS_MAX]; /* the last one that has an element's centroid */
} box;

/* Moves below a third of the cells leave all volumes positive: with edges e_a (1 + d), |d| <= 0.3,
 * the matrix of the edges is dominated by its diagonal. */
#define BOX_SHAKE_MAX 0.3

int64_t box_vertices(const box *b);
int64_t box_tetrahedra(const box *b);
int64_t box_triangles(const box *b);

/* ps_row_maker of what their names say; context: the box. */
void box_make_vertices(const void *context, int64_t first, int64_t count, void *rows);
void box_make_connectivity(const void *context, int64_t first, int64_t count, void *rows);
void box_make_tags(const void *context, int64_t first, int64_t count, void *rows);
void box_make_triangles(const void *context, int64_t first, int64_t count, void *rows);
void box_make_triangle_tags(const void *context, int64_t first, int64_t count, void *rows);

#endif
