/*
 * skin: a surface with values from a file for ParaView: its triangles, or the outer surface of its
 * tetrahedra on which a cell field is above 0.
 */
#ifndef PS_PLOT_SKIN_H
#define PS_PLOT_SKIN_H

#include "formats/surface_mesh.h"

typedef struct skin {
    ps_surface_mesh mesh; /* of tetrahedra: closed, looking outwards                          */
    double *corners; /* [triangles][3]: at a vertex the mean over the skin's tetrahedra there */
    char name[64], units[32]; /* of the field                                                 */
} skin;

/* Reads the field `name` of a penstock-field file: of the cells of tetrahedra, or of the vertices
 * or cells of triangles, then also of a penstock-hbem-solution. Without a name: "SAR", of triangles
 * "magnitude". PS_INVALID with the names there are, if it has none of this name; if no value of
 * tetrahedra is above 0. The name "": the surface of all, of any file with triangles or tetrahedra,
 * with its tags; corners of triangles are then NULL. Released on failure. */
ps_status skin_load(const char *path, const char *name, skin *out);
void skin_release(skin *s);

/* The tags of `count` cells, 0 where the file has none, and their names. */
ps_status skin_read_tags(ps_store *store, int64_t count, int32_t *tags, ps_surface_mesh *names);
/* Of a store with triangles: part of skin_load. */
ps_status skin_load_triangles(ps_store *store, const char *name, skin *out);
/* A whole array of f32 or f64 as double. */
ps_status skin_read_reals(ps_store *store, const char *name, int64_t rows, int64_t width,
                          double *out);
/* PS_USAGE: there is no field of this name, but these. */
ps_status skin_no_field(const ps_store *store, const char *name);

#endif
