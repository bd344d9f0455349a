/* sampled: a user's pressures, gradients or normal velocities at points of the mesh and times. */
#ifndef PS_PREPROCESS_INCIDENT_SAMPLED_H
#define PS_PREPROCESS_INCIDENT_SAMPLED_H

#include "formats/incident_file.h"
#include "formats/surface_velocity.h"
#include "kernels/tdbem/geometry.h"
#include "preprocess/incident/tables.h"
#include "runtime/program.h"

typedef enum sampled_quantity {
    SAMPLED_PRESSURE, /* Pa */
    SAMPLED_SLOPE,    /* d_n p, Pa/m */
    SAMPLED_GRADIENT, /* Pa/m, three a point */
    SAMPLED_VELOCITY  /* v_n of the surface, m/s */
} sampled_quantity;

enum { SAMPLED_AROUND = 3 }; /* steps before 0 and after the last that are held, too */

typedef struct sampled {
    char file[512], points[512];
    sampled_quantity quantity;
    bool resample;
    const ps_surface_mesh *mesh; /* borrowed, as the triangles */
    const ps_triangle *triangles;
    ps_incident_header header;
    bool at_vertices;
    int64_t count;  /* triangles or vertices */
    double *values; /* [steps + 1 + 2 SAMPLED_AROUND][count], of t = -3 dt on: p, d_n p, or v_n, or,
                       of gradients at vertices, three a vertex */
    int64_t width;  /* of a row */
    double cut;     /* share of the energy above what mesh and step take */
} sampled;

/* "FILE:quantity=pressure|slope|gradient|velocity", and ":points=FILE" where FILE is text, and
 * ":resample". PS_USAGE. */
ps_status sampled_parse(const char *text, sampled *out);
void sampled_release(sampled *sampled);
/* Reads the files and takes them to the steps of the header, `top` (rad/s) up to which mesh and
 * step are accurate. Refuses gaps, other places, other rates without :resample, what is not quiet
 * at 0. */
ps_status sampled_read(const ps_run *run, const ps_incident_header *header,
                       const ps_surface_mesh *mesh, const ps_triangle *triangles, double top,
                       sampled *out);
/* Adds the load of step n; nothing of velocities. */
void sampled_add_load(const sampled *sampled, int64_t n, double *row);
/* v_n as a sum of patterns times signals, to 1e-6 of its largest. out is the caller's to release.
 */
ps_status sampled_velocity(const sampled *sampled, double density, ps_surface_velocity *out);

#endif
