/*
 * step_names: names of faces in STEP files. Gmsh's library does not give them. It gives the colour
 * of a solid, wherever its part is placed, so it is given a copy of the file in which the colour
 * says which solid of the file it is; and it lists the faces of a solid in the order of the file.
 */
#ifndef PS_PREPROCESS_MESH_IMPORT_STEP_NAMES_H
#define PS_PREPROCESS_MESH_IMPORT_STEP_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/status.h"

typedef struct step_face {
    char name[64];       /* "": none */
    const char *surface; /* as Gmsh calls its kind: "Plane"; NULL: of no kind that is known here */
} step_face;

typedef struct step_solid {
    int64_t entity;            /* its number in the file */
    int64_t first_face, faces; /* of step_names.face, in the order of its shells */
} step_solid;

typedef struct step_names {
    step_solid *solid;
    int64_t solids, solid_room;
    step_face *face;
    int64_t faces, face_room;
} step_names;

/* Lists the solids of the STEP file `path` and their faces; if any face has a name, writes a copy
 * of the file to `copy`, in which solid i has the colour of number i and nothing else has one, and
 * sets *marked. `name` is what messages call the file. PS_INVALID where it cannot be read,
 * PS_EXHAUSTED where the copy cannot be written. To be released on success and on failure. */
ps_status step_names_mark(const char *path, const char *name, const char *copy, step_names *out,
                          bool *marked);
void step_names_release(step_names *names);

/* The solid whose colour, 0..255 each, this is; -1: none. `encoded`: Gmsh gives values of sRGB; 4.8
 * gives linear ones. */
int64_t step_names_of_colour(const step_names *names, const int colour[3], bool encoded);

#endif
