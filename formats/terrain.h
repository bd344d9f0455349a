/*
 * terrain: prisms of an elevation model and stations above its ground, "penstock-terrain"
 * (specs/terrain.md).
 */
#ifndef PS_FORMATS_TERRAIN_H
#define PS_FORMATS_TERRAIN_H

#include <stdbool.h>

#include "formats/store.h"

#define PS_TERRAIN_FORMAT "penstock-terrain"
enum { PS_TERRAIN_VERSION = 1 };

/* Borrowed. */
typedef struct ps_terrain {
    int64_t prisms, stations, columns, rows;
    const double *prism;        /* [prisms][7], x0 x1 y0 y1 z0 z1 density */
    const double *station;      /* [stations][3]; none: NULL              */
    double origin[2], width[2]; /* of the cells, m                        */
    const char *reference;      /* system, as the model names it          */
    bool geographic;
    double place[2];    /* longitude and latitude of the frame's origin, degrees */
    double frame_error; /* mGal                                                  */
} ps_terrain;

/* Writes everything into a store that was created for it. */
ps_status ps_terrain_put(ps_store *store, const ps_terrain *terrain);

/* Whether the file `path`, of any kind, is a terrain in degrees, and where its frame's origin is.
 */
bool ps_terrain_is_geographic(const char *path, double place[2]);

#endif
