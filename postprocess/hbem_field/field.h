/*
 * field: what the files of penstock-hbem-field share: solutions with their surface, and the fields
 * of chosen ones at receivers.
 */
#ifndef PS_POSTPROCESS_HBEM_FIELD_FIELD_H
#define PS_POSTPROCESS_HBEM_FIELD_FIELD_H

#include "formats/hbem_solution.h"
#include "formats/receivers.h"
#include "kernels/hbem/surface.h"
#include "runtime/device.h"
#include "runtime/isa.h"

/* A solution: where it lies, and its place in the table of incidences and wavenumbers. */
typedef struct field_entry {
    int file;
    int64_t index;
    double wavenumber, direction[3];
    double residual;
    ps_hbem_incident incident;
    double source[6], absorption;
} field_entry;

/* Solutions of one problem on one surface. */
typedef struct field_source {
    int file_count;
    ps_hbem_solution *files;
    const ps_hbem_solution_header *header; /* of the first file                               */
    double medium[PS_HBEM_MEDIUM];         /* what files tell of it; 0: none does             */
    ps_surface_mesh mesh;
    ps_hbem_triangle *triangles;
    ps_hbem_surface surface;
    ps_hbem_space spaces[PS_LAYERS]; /* of the layers that are there                    */
    int64_t incidences, frequencies;
    double (*directions)[3]; /* [incidences] of travel; 0: no plane waves        */
    field_entry **incident;  /* [incidences] the first solution of each          */
    double *wavenumbers;     /* [frequencies], ascending                         */
    field_entry **table;     /* [frequencies][incidences], none missing          */
    field_entry *entries;
    ps_reflectors mirrors; /* with sides */
    double *absorption; /* [frequencies], Np/m */
} field_source;

/* Opens files that belong together. PS_INVALID: another surface, problem or space, a pair of
 * incidence and wavenumber that is missing or there twice. Close it also on failure. */
ps_status field_source_open(field_source *source, int count, const char *const *paths);
void field_source_close(field_source *source);
bool field_is_wave(const field_source *source);      /* numbers have two parts                  */
bool field_is_scattered(const field_source *source); /* there is an incident wave               */
bool field_absorbs(const field_source *source); /* the medium, at any wavenumber             */
/* Receivers behind a mirror plane, where there is nothing: what is summed there is an image. */
int64_t field_behind(const field_source *source, const ps_receivers *receivers);
/* PS_USAGE for points so many wavelengths away that rounding costs more than 1e-6 rad of phase. */
ps_status field_check_distances(const field_source *source, const ps_receivers *receivers);
/* Where a place is (ps_hbem_where), of a body with its images. */
int field_where(const field_source *source, const double x[3]);
/* Where the field is: 1 outside the surface, -1 inside, 0 on both sides (a single layer alone). */
int field_side(const field_source *source);

typedef struct field_task {
    field_source *source;
    const ps_receivers *receivers;
    bool total;             /* with the incident wave                          */
    int64_t first, count;   /* incidences                                      */
    bool backscatter;       /* incidence i at receiver i alone                 */
    int quadrature;         /* 0: 6 points a triangle; n: n x n                */
    ps_stream *stream;      /* of a CUDA device, or NULL                       */
    ps_precision precision; /* of sums on a device                            */
    int threads;
} field_task;

/* Channels: count x receivers, incidences slowest; with `backscatter`, count. */
int64_t field_channels(const field_task *task);
/* Bytes beside the trace. */
int64_t field_memory(const field_task *task);
/* Fields at one wavenumber: real[channels] and, of waves, imaginary[channels], overwritten.
 * Collective: ranks share the receivers (backscatter: the incidences), all get all values. */
ps_status field_evaluate(const field_task *task, int64_t frequency, double *real,
                         double *imaginary);

/* The values of a trace on one plane, or the unknown of the solutions on their surface, as
 * ParaView files BASE.000000.hdf, ..., listed in BASE.hdf.series by frequency, Hz. */
ps_status field_plane_pictures(const field_source *source, const ps_trace *trace, const char *base,
                               const char *options);
ps_status field_surface_pictures(field_source *source, int64_t incidence, double speed,
                                 const char *base, const char *options);

#endif
