/*
 * gmsh_pipe: what the child that runs Gmsh's library sends to its parent.
 *
 * Frames, each followed by its payload:
 *   FRAME_VERTICES  count u64 node numbers, count x 3 f64 coordinates
 *   FRAME_CELLS     count u64 element numbers, count x |size| u64 node numbers; size 3: triangles,
 *                   4: tetrahedra, -4: quadrangles; tag: the physical group
 *   FRAME_NAME      count bytes: the name of physical group `tag`; below 0: of surfaces
 *   FRAME_NOTE, FRAME_WARNING, FRAME_ERROR   count bytes of text; an error is the last frame, its
 * tag a ps_status FRAME_GENERATED the mesh was made from geometry FRAME_END       all was sent
 */
#ifndef PS_PREPROCESS_MESH_IMPORT_GMSH_PIPE_H
#define PS_PREPROCESS_MESH_IMPORT_GMSH_PIPE_H

#include "preprocess/mesh_import/import.h"

typedef enum frame_kind {
    FRAME_VERTICES = 1,
    FRAME_CELLS,
    FRAME_NAME,
    FRAME_NOTE,
    FRAME_WARNING,
    FRAME_ERROR,
    FRAME_GENERATED,
    FRAME_END
} frame_kind;

typedef struct frame {
    int32_t kind, size, tag, unused;
    int64_t count;
} frame;

/* Reads frames until the end; then puts vertices and cells into the order of their numbers and
 * turns node numbers into indices. Errors that the child reports; PS_INVALID for a pipe that
 * ends early. */
ps_status gmsh_pipe_receive(int pipe, const char *name, import_mesh *mesh);

#endif
