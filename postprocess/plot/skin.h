/*
 * skin: the outer surface of the tetrahedra on which a cell field is above 0, with its values.
 */
#ifndef PS_PLOT_SKIN_H
#define PS_PLOT_SKIN_H

#include "formats/surface_mesh.h"

typedef struct skin {
    ps_surface_mesh mesh; /* closed, looking outwards                                         */
    double *corners; /* [triangles][3]: at a vertex the mean over the skin's tetrahedra there */
    char units[32];
} skin;

/* Reads the cell field `name` of a penstock-field file of tetrahedra. PS_INVALID with the names
 * there are, if it has none of this name; if no value is above 0. Released on failure. */
ps_status skin_load(const char *path, const char *name, skin *out);
void skin_release(skin *s);

#endif
