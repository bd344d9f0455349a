/*
 * surface_flow: the flow about a body, in an incident file and in the history of its march
 * (specs/incident_file.md): the velocity far away and, at every vertex of the mesh, the potential
 * of the incompressible flow that the body turns.
 */
#ifndef PS_FORMATS_SURFACE_FLOW_H
#define PS_FORMATS_SURFACE_FLOW_H

#include "formats/store.h"

/* vertices 0: the fluid rests. */
typedef struct ps_surface_flow {
    double velocity[3]; /* m/s */
    int64_t vertices;
    double *potential; /* [vertices] m^2/s, the owner's */
} ps_surface_flow;

ps_status ps_surface_flow_init(ps_surface_flow *flow, const double velocity[3], int64_t vertices);
void ps_surface_flow_release(ps_surface_flow *flow);
/* Writes it into a file that is being made; nothing if the fluid rests. */
ps_status ps_surface_flow_put(const ps_surface_flow *flow, ps_store *store);
/* Reads what is there, for a mesh of so many vertices. PS_INVALID. */
ps_status ps_surface_flow_get(ps_store *store, int64_t vertices, ps_surface_flow *out);

#endif
