/* moving: a surface that moves by itself: patterns and signals of --velocity, and its loads. */
#ifndef PS_PREPROCESS_INCIDENT_MOVING_H
#define PS_PREPROCESS_INCIDENT_MOVING_H

#include "formats/incident_file.h"
#include "kernels/tdbem/radiated.h"
#include "preprocess/incident/incident.h"

typedef struct moving {
    ps_surface_velocity velocity; /* modes 0: it rests */
    const ps_surface_mesh *mesh;  /* borrowed */
    const ps_triangle *triangles;
    ps_radiated radiated;
    int64_t lags;
    double *weights; /* [vertices][modes][2][lags] */
} moving;

/* What moves: a mode of each text, and those of `more`. Mesh and triangles must stay. */
typedef struct moving_parts {
    const ps_surface_mesh *mesh;
    const ps_triangle *triangles;
    const source_text *texts;
    int count;
    const ps_surface_velocity *more;
    double density;
} moving_parts;

/* PS_USAGE, with the tags there are, for a tag of no triangles. */
ps_status moving_init(const moving_parts *parts, const ps_incident_header *header, moving *out);
void moving_release(moving *moving);

/* What the weights will take: bytes, and pairs of points. */
int64_t moving_bytes(const moving *moving);
double moving_work(const moving *moving);
ps_status moving_make_weights(moving *moving);
/* Adds the load of step n to row[vertices]; nothing without modes. Threaded. */
void moving_add_load(const moving *moving, int64_t n, double *row);

#endif
