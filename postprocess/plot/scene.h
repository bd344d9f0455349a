/*
 * scene: a triangulated surface with a value at each corner, seen in perspective: small triangles
 * in the plane of the picture, far ones first, and dark lines along rims, sharp edges and the
 * border of what is seen. No light: a colour is the value's.
 */
#ifndef PS_PLOT_SCENE_H
#define PS_PLOT_SCENE_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/surface_mesh.h"
#include "runtime/status.h"

/* A piece in the picture's plane; right and up are positive, in metres at the body's middle. */
typedef struct scene_piece {
    float at[3][2], depth;
    float value;
    bool line; /* from at[0] to at[1]                                                        */
} scene_piece;

typedef struct scene {
    scene_piece *pieces; /* [count], far ones first                                          */
    int64_t count, capacity;
    double low[2], high[2]; /* the box around them                                           */
} scene;

typedef struct scene_view {
    double azimuth, elevation; /* degrees: the eye as seen from the body                     */
    double resolution;         /* m: pieces are about this small                             */
} scene_view;

/* Cuts, projects, culls and sorts. corners [triangle_count][3]: the value at each corner of each
 * triangle. Faces turned away are left out if the mesh is closed and oriented. Edges sharper
 * than 40 degrees have lines. */
ps_status scene_init(scene *s, const ps_surface_mesh *mesh, const double *corners,
                     const scene_view *view);
void scene_release(scene *s);

#endif
