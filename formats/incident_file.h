/*
 * incident_file: the loads that a sound puts on a mesh, step by step, "penstock-incident-file"
 * (specs/incident_file.md): what penstock-incident writes and penstock-tdbem-march streams.
 */
#ifndef PS_FORMATS_INCIDENT_FILE_H
#define PS_FORMATS_INCIDENT_FILE_H

#include "formats/slice_matrix.h"
#include "formats/store.h"

#define PS_INCIDENT_FILE_FORMAT "penstock-incident-file"
/* 3: in a flow that the body turns; 2: in a uniform flow; without, files say 1. */
enum { PS_INCIDENT_FILE_VERSION = 3 };

/* What the loads are of; a march takes them only if all of it is its own. */
typedef struct ps_incident_header {
    ps_formulation formulation;
    double combined; /* as in ps_slice_header */
    int64_t unknowns, steps;
    double dt, speed;                  /* s, m/s */
    int64_t space_points, time_points; /* of the rules that made them (kernels/tdbem/load.h) */
    char mesh_uuid[40], mesh_hash[17];
    double flow[3];        /* m/s, uniform: the sources are in it; 0: at rest                  */
    bool around;           /* in the time of a flow that the body turns (surface_flow.h)       */
    ps_reflectors mirrors; /* planes whose images of the sources are in the loads */
} ps_incident_header;

typedef struct ps_incident_file ps_incident_file;

/* Makes a file whose rows are appended in order, and committed; identity: format and version are
 * set here. The store is borrowed by who wants to add inputs and attributes. */
ps_status ps_incident_file_create(const char *path, const ps_store_identity *identity,
                                  const ps_incident_header *header, ps_incident_file **out);
ps_status ps_incident_file_append(ps_incident_file *field, const double *row);
/* PS_FAILED unless all steps were appended. Closes, on failure too. */
ps_status ps_incident_file_commit(ps_incident_file **field);

/* PS_INVALID, naming file and reason, for anything that is no such file. */
ps_status ps_incident_file_open(const char *path, ps_incident_file **out);
void ps_incident_file_close(ps_incident_file **field); /* before commit: discards */
const ps_incident_header *ps_incident_file_header(const ps_incident_file *field);
ps_store *ps_incident_file_store(ps_incident_file *field);
/* out[unknowns] = l^n, n in 1..steps. Holds a chunk, so steps in order cost one reading each. */
ps_status ps_incident_file_read(ps_incident_file *field, int64_t n, double *out);
/* Bytes that an open file of this shape holds. */
int64_t ps_incident_file_bytes(const ps_incident_file *field);

#endif
