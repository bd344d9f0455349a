/*
 * probe: what the files of penstock-probe share: a run's history with its mesh, and the two
 * things that can be taken from it: fields at receivers, and densities on the surface.
 */
#ifndef PS_POSTPROCESS_PROBE_PROBE_H
#define PS_POSTPROCESS_PROBE_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/history.h"
#include "formats/receivers.h"
#include "formats/surface_mesh.h"
#include "formats/surface_velocity.h"
#include "kernels/tdbem/admittance.h"
#include "kernels/tdbem/geometry.h"
#include "kernels/tdbem/incident.h"
#include "kernels/tdbem/potential.h"

/* A part of the surface that gives way. */
typedef struct probe_lining {
    ps_admittance beta;
    uint8_t *lined; /* [triangle_count] 1: a triangle of it */
} probe_lining;

/* A history and the mesh that it belongs to. */
typedef struct probe_source {
    ps_history *history;
    ps_store *mesh_store;
    const ps_history_header *header; /* borrowed from history                     */
    ps_surface_mesh mesh;
    ps_triangle *triangles; /* [images][triangle_count]                  */
    double *vertices;       /* [images][vertex_count][3]                 */
    double *reach;          /* [vertex_count], sound-hard                */
    ps_incident incident;
    ps_surface_velocity velocity; /* modes 0: the surface rests */
    ps_surface_flow flow;         /* whose time the steps are in; vertices 0: fluid at rest */
    int lining_count;
    probe_lining linings[PS_HISTORY_LININGS];
    bool hard;
    int64_t unknowns, steps;
    double dt, speed;
} probe_source;

/* Opens both, checks that they belong together (content hash, number of unknowns). PS_INVALID. */
ps_status probe_source_open(probe_source *source, const char *history, const char *mesh);
void probe_source_close(probe_source *source);
/* Kind, speed, step, edge and emitters, for a trace. */
void probe_source_describe(const probe_source *source, ps_trace_basis basis,
                           ps_trace_origin *origin);

/* Steps n = first .. first + count - 1 of the output; t = n dt. */
typedef struct probe_range {
    int64_t first, count;
} probe_range;

/* The steps within [from, to] (s; -INFINITY and INFINITY: all that the history allows) for these
 * receivers: for points 1 .. steps, for directions all tau for which every density is known.
 * PS_USAGE if there are none or the history ends before `to`. */
ps_status probe_range_find(const probe_source *source, const ps_receivers *receivers, double from,
                           double to, probe_range *out);

/* Scattered or, `total`, total field at all receivers; trace: range.count samples, as many
 * channels as receivers; sets axis and values. Reads the history in blocks of steps so that
 * everything beside the trace stays within `memory` bytes. PS_EXHAUSTED if that is too little. */
ps_status probe_fields(const probe_source *source, const ps_receivers *receivers, bool total,
                       const probe_range *range, int64_t memory, ps_trace *trace);

/* Of a history in the time of a flow (specs/incident_file.md): the steps of `range` that can be
 * told at these points, and what is scattered there, p or, `rate`, -rho times the slope of the
 * velocity's potential. PS_USAGE for directions. */
ps_status probe_flow_range(const probe_source *source, const ps_receivers *receivers,
                           probe_range *range);
ps_status probe_flow_fields(const probe_source *source, const ps_receivers *receivers, bool rate,
                            const probe_range *range, int64_t memory, ps_trace *trace);

/* Densities at unknowns[count] and, `mean`, their area-weighted mean over the surface as the last
 * channel. The axis is t_n, or t_n - dt/2 for densities that are means over steps. */
ps_status probe_surface(const probe_source *source, const int64_t *unknowns, int64_t count,
                        bool mean, const probe_range *range, ps_trace *trace);

/* Every `every`-th sample of a plane's or the whole surface's trace as a ParaView snapshot
 * "<base>.000000.hdf", ..., and the list "<base>.hdf.series". PS_USAGE for other traces. */
ps_status probe_snapshots(const probe_source *source, const ps_trace *trace, const char *base,
                          int64_t every, const char *options);

/* Number of receivers beyond planes that mirror, or directions that point there; *first as below.
 */
int64_t probe_count_beyond(const probe_source *source, const ps_receivers *receivers,
                           int64_t *first);

/* Number of receivers inside the closed body, *first the first of them. */
int64_t probe_count_inside(const probe_source *source, const ps_receivers *receivers,
                           int64_t *first);
/* Those on the surface of a rigid body, where the field jumps. */
int64_t probe_count_on(const probe_source *source, const ps_receivers *receivers, int64_t *first);

#endif
