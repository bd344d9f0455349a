/*
 * around: sources in a flow that the body turns (specs/incident_file.md): loads are those of fluid
 * at rest, in the time of Taylor's transformation.
 */
#ifndef PS_PREPROCESS_INCIDENT_AROUND_H
#define PS_PREPROCESS_INCIDENT_AROUND_H

#include "formats/incident_file.h"
#include "formats/surface_flow.h"
#include "preprocess/incident/incident.h"

/* The header's flow from "X,Y,Z" (m/s). PS_USAGE if it is none, PS_INVALID if it is too fast or
 * goes through a plane. */
ps_status around_parse(const char *text, ps_incident_header *header);
/* The header's flow becomes the flow about the mesh, *out, which the caller releases; the header
 * says so. PS_USAGE for what does not go with it, PS_EXHAUSTED beyond the memory of the run. */
ps_status around_settle(const ps_run *run, const ps_surface_mesh *mesh, const source_text *sources,
                        int count, ps_incident_header *header, ps_surface_flow *out);
/* A source is heard in the time of the place where it is. Nothing without a flow. */
ps_status around_delay(const ps_surface_mesh *mesh, const ps_surface_flow *flow, double speed,
                       source_text *source);

#endif
