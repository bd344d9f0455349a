/*
 * hbem_solution: densities that solve a boundary integral equation, one for every right-hand side,
 * "penstock-hbem-solution" (specs/hbem_solution.md):
 *
 *     u(x) = factor[single] int g sigma + factor[double] int d_ny g mu
 */
#ifndef PS_FORMATS_HBEM_SOLUTION_H
#define PS_FORMATS_HBEM_SOLUTION_H

#include <stdbool.h>

#include "formats/reflectors.h"
#include "formats/surface_mesh.h"

#define PS_HBEM_SOLUTION_FORMAT "penstock-hbem-solution"
/* 2 where there are mirror planes, absorption or incident data of files, without which a reader would
 * sum another field; else 1 is written. */
enum { PS_HBEM_SOLUTION_VERSION = 2 };

typedef enum ps_layer { PS_LAYER_SINGLE, PS_LAYER_DOUBLE, PS_LAYERS } ps_layer;

typedef struct ps_hbem_solution_layer {
    double factor;  /* 0: not there                  */
    char space[8];  /* "p0", "p1", "dp1"             */
    char units[16]; /* "Pa"                          */
    int64_t dofs;   /* of the space; set by create   */
} ps_hbem_solution_layer;

/* Speed of sound (m/s) and density (kg/m3) of the medium, and of a fluid body. */
enum { PS_HBEM_SPEED, PS_HBEM_DENSITY, PS_HBEM_FLUID_SPEED, PS_HBEM_FLUID_DENSITY, PS_HBEM_MEDIUM };
extern const char *const ps_hbem_medium_names[PS_HBEM_MEDIUM]; /* attributes */

typedef struct ps_hbem_solution_header {
    char problem[32];
    ps_layer unknown; /* which layer was solved for; the other one is data */
    int parts;        /* 1: real; 2: real and imaginary                    */
    int64_t count;    /* solutions                                         */
    ps_hbem_solution_layer layer[PS_LAYERS];
    bool converged;
    char mesh_hash[17];
    int64_t vertex_count, triangle_count; /* set by create */
    double medium[PS_HBEM_MEDIUM];        /* 0: not told                                  */
    ps_reflectors mirrors;                   /* normals may point either way                  */
    bool absorbs, of_files;               /* any of the solutions                         */
} ps_hbem_solution_header;

/* What comes in. */
typedef enum ps_hbem_incident {
    PS_INCIDENT_PLANE,  /* e^{ik d.x}                                                         */
    PS_INCIDENT_POINT,  /* g = e^{ikr}/(4 pi r) about place                                   */
    PS_INCIDENT_DIPOLE, /* axis . grad g, with respect to place                               */
    PS_INCIDENT_NONE,   /* the body vibrates                                                  */
    PS_INCIDENT_FILE,   /* known on the surface alone; the number of the data is source[0]    */
    PS_INCIDENT_KINDS
} ps_hbem_incident;

/* Of one solution. */
typedef struct ps_hbem_solution_entry {
    double wavenumber; /* rad/m; 0: Laplace                        */
    double direction[3];
    double residual; /* relative, of the preconditioned system   */
    int64_t iterations;
    ps_hbem_incident incident; /* kept for problem "helmholtz"; others: plane or none      */
    double source[6];          /* place, axis, m; 0 where there is none                    */
    double absorption;         /* the imaginary part of k, Np/m                            */
} ps_hbem_solution_entry;

typedef struct ps_hbem_solution {
    ps_hbem_solution_header header;
    ps_hbem_solution_entry *entries; /* [count] */
    ps_store *store;
    int dataset[PS_LAYERS];
} ps_hbem_solution;

/* The version that a file of this header has: the least that says all. */
int ps_hbem_solution_version(const ps_hbem_solution_header *header);

/* Writes the mesh and defines the layers. identity: options and disk estimate; format and version
 * are set here. Close it with commit or, on failure, close. */
ps_status ps_hbem_solution_create(const char *path, const ps_store_identity *identity,
                                  const ps_hbem_solution_header *header,
                                  const ps_surface_mesh *mesh, ps_hbem_solution *out);
/* values[parts][dofs] of a layer of solution `index`, in the order of the mesh; each once.
 * PS_FAILED for a value that is not finite. Set out->entries[index] before the commit. */
ps_status ps_hbem_solution_put(ps_hbem_solution *file, ps_layer layer, int64_t index,
                               const double *values);
/* Writes the entries and header.converged. */
ps_status ps_hbem_solution_commit(ps_hbem_solution *file);
/* Before commit: discards. */
void ps_hbem_solution_close(ps_hbem_solution *file);

/* PS_INVALID as the specification says. */
ps_status ps_hbem_solution_open(const char *path, ps_hbem_solution *out);
ps_status ps_hbem_solution_get(ps_hbem_solution *file, ps_layer layer, int64_t index,
                               double *values);
/* The surface: vertices and triangles, with no tags and sources; released by the caller. */
ps_status ps_hbem_solution_mesh(ps_hbem_solution *file, ps_surface_mesh *out);

#endif
