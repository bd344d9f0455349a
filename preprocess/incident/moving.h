/* moving: a surface that moves by itself: patterns and signals of --velocity, and its loads. */
#ifndef PS_PREPROCESS_INCIDENT_MOVING_H
#define PS_PREPROCESS_INCIDENT_MOVING_H

#include "formats/incident_file.h"
#include "kernels/tdbem/radiated.h"
#include "preprocess/incident/incident.h"

typedef struct moving {
    ps_surface_velocity velocity; /* modes 0: it rests */
    const ps_surface_mesh *mesh;  /* borrowed */
    ps_triangle *triangles;
    ps_radiated radiated;
    int64_t lags;
    double *weights; /* [vertices][modes][2][lags] */
} moving;

/* A mode of each text. The mesh must stay. PS_USAGE, with the tags there are, for a tag of no
 * triangles. */
ps_status moving_init(const ps_surface_mesh *mesh, const ps_incident_header *header,
                      const source_text *texts, int count, double density, moving *out);
void moving_release(moving *moving);

/* What the weights will take: bytes, and pairs of points. */
int64_t moving_bytes(const moving *moving);
double moving_work(const moving *moving);
ps_status moving_make_weights(moving *moving);
/* Adds the load of step n to row[vertices]; nothing without modes. Threaded. */
void moving_add_load(const moving *moving, int64_t n, double *row);

#endif
