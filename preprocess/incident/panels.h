/* panels: surface data of a flow code, heard on the mesh by Ffowcs Williams' and Hawkings' equation
 * (specs/incident_file.md). */
#ifndef PS_PREPROCESS_INCIDENT_PANELS_H
#define PS_PREPROCESS_INCIDENT_PANELS_H

#include "preprocess/incident/sampled.h"

/* What hears them. */
typedef struct panels_of {
    const ps_run *run;
    const ps_incident_header *header;
    const ps_surface_mesh *mesh;
    const ps_triangle *triangles;
    double top, density; /* rad/s up to which mesh and step are accurate; kg/m^3 */
} panels_of;

/* Bytes that takes, at most, by the sizes of the files. */
int64_t panels_bytes(const panels_of *of, const source_text *text);
/* Reads the files of a text of panels_parse and makes samples at the mesh's vertices of what its
 * panels send: gradients or pressures, by the equation. Threaded. */
ps_status panels_sample(const panels_of *of, const source_text *text, sampled *out);

#endif
