/*
 * gravity_map: g_z on the top of a box and at stations, "penstock-gravity-map"
 * (specs/gravity_map.md).
 */
#ifndef PS_FORMATS_GRAVITY_MAP_H
#define PS_FORMATS_GRAVITY_MAP_H

#include <stdbool.h>

#include "formats/store.h"

#define PS_GRAVITY_MAP_FORMAT "penstock-gravity-map"
enum { PS_GRAVITY_MAP_VERSION = 2 }; /* 1: what is now elements was g_z */

typedef struct ps_gravity_map {
    int64_t nodes[2];             /* nx, ny                                                   */
    double origin[3], spacing[3]; /* m                                                        */
    double *map;                  /* [nx][ny], mGal: exact sums; NULL: the model was not given */
    double *map_elements;         /* [nx][ny], from the potential                              */
    int64_t stations;
    double *place;    /* [stations][3], m                                                     */
    double *exact;    /* [stations], mGal: exact sums; NULL                                   */
    double *elements; /* likewise, from the potential; NaN outside of its box                 */
    double *observed; /* likewise; NULL: not there                                            */
} ps_gravity_map;

/* Allocates the arrays, zeroed. exact: those of the sums, too. */
ps_status ps_gravity_map_init(ps_gravity_map *map, const int64_t nodes[2], int64_t stations,
                              bool exact, bool observed);
void ps_gravity_map_release(ps_gravity_map *map);

/* Writes everything into a store that was created for it (format and version of above). */
ps_status ps_gravity_map_put(ps_store *store, const ps_gravity_map *map);
/* PS_INVALID, naming file and reason; nothing to release then. */
ps_status ps_gravity_map_load(const char *path, ps_gravity_map *out);

#endif
