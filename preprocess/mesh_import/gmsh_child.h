/*
 * gmsh_child: what the files that call Gmsh's library share. They run in the child process
 * (read_gmsh.c) and send through its pipe; a function that fails ends the child after it has said
 * why.
 */
#ifndef PS_PREPROCESS_MESH_IMPORT_GMSH_CHILD_H
#define PS_PREPROCESS_MESH_IMPORT_GMSH_CHILD_H

#include "preprocess/mesh_import/gmsh_pipe.h"

/* A solid of the geometry that an entity of dimension 3 is or is a part of; from 1. */
typedef struct gmsh_part {
    int entity, solid;
} gmsh_part;

typedef struct gmsh_child {
    int pipe;
    const import_options *options;
    const char *suffix;
    bool geometry, confined;
    import_kind kind;
    bool by_entity; /* there are no physical groups: entities say regions */
    gmsh_part *parts;
    size_t part_count;
    int solids, *faces; /* of the geometry: entities of its faces after it was cut, ascending */
    size_t face_count;
} gmsh_child;

void gmsh_child_text(const gmsh_child *c, frame_kind kind, int tag, const char *text);
__attribute__((format(printf, 2, 3))) void gmsh_child_give_up(const gmsh_child *c,
                                                              const char *format, ...);
/* Gives up with what Gmsh said, or that it could not do `what`. */
void gmsh_child_must(const gmsh_child *c, int ierr, const char *what);

/* A STEP, IGES or BREP file that was opened: cuts solids along one another, so that they share
 * faces, notes which solid each part belongs to, sends the names of solids and how many elements
 * there will be about. */
void gmsh_geometry_prepare(gmsh_child *c);
/* The tag of an entity then: solids from 1 on, then the faces. */
int gmsh_geometry_tag(const gmsh_child *c, int dim, int entity);

#endif
