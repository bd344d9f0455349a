/*
 * cgns_surface: pressures and velocities over time on a surface, from a CGNS file in HDF5 form
 * (CGNS SIDS 4, "HDF5 file mapping"; specs/incident_file.md says what of it is taken).
 */
#ifndef PS_FORMATS_CGNS_SURFACE_H
#define PS_FORMATS_CGNS_SURFACE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/status.h"

enum { PS_CGNS_PANEL = 7 }; /* x,y,z,nx,ny,nz,area */

typedef struct ps_cgns_surface {
    int64_t panels, times;
    double *places;   /* [panels][PS_CGNS_PANEL] middle (m), unit normal, area (m^2)             */
    double *time;     /* [times] s                                                             */
    double *pressure; /* [times][panels] Pa, as they are in the file                           */
    double *velocity; /* [times][panels][3] m/s; NULL: there are none                          */
    bool turned;      /* the surface closes, and its normals pointed inward                    */
} ps_cgns_surface;

/* An HDF5 file whose root has the label of CGNS. */
bool ps_is_cgns(const char *path);

/* One base of cells of dimension 2 with one unstructured zone; sections of triangles and
 * quadrilaterals, FlowSolution_t of all times of BaseIterativeData_t. Values at vertices become
 * means of the corners. PS_INVALID, naming file and node, for anything else. */
ps_status ps_cgns_surface_read(const char *path, ps_cgns_surface *out);
void ps_cgns_surface_release(ps_cgns_surface *surface);

#endif
