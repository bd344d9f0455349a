/*
 * surface_field: fields that are given on a surface mesh, as a ParaView file that is a store
 * ("penstock-field", specs/field.md, and any other one with fields), read by name.
 */
#ifndef PS_FORMATS_SURFACE_FIELD_H
#define PS_FORMATS_SURFACE_FIELD_H

#include "formats/surface_mesh.h"

typedef struct ps_surface_field {
    double *values; /* [vertices or triangles][components], owned */
    int components;
    bool on_points; /* of vertices; otherwise of triangles        */
} ps_surface_field;

/* Reads "PATH:NAME[:NAME..]", `count` fields of one file. PS_USAGE for another number of names;
 * PS_INVALID, with `what` in front, where the file is of another mesh (its mesh_hash or, where it
 * has none, its vertices and triangles), a name is of no field, or a number is not finite. Release
 * out[count] in any case. */
ps_status ps_surface_fields_read(const char *what, const char *text, const ps_surface_mesh *mesh,
                                 int count, ps_surface_field *out);
void ps_surface_field_release(ps_surface_field *field);

/* PS_INVALID unless there are so many components, or twice as many: real parts, then imaginary. */
ps_status ps_surface_field_expect(const char *what, const ps_surface_field *field, int components);

#endif
