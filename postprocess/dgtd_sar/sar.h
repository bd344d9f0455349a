/*
 * What the parts of penstock-dgtd-sar share: the fields of one frequency on their mesh, element by
 * element; voxels with averages; what comes out.
 */
#ifndef PS_POSTPROCESS_DGTD_SAR_SAR_H
#define PS_POSTPROCESS_DGTD_SAR_SAR_H

#include "formats/phasors.h"
#include "formats/trace.h"
#include "formats/volume_mesh.h"
#include "kernels/dgtd/lattice.h"
#include "kernels/dgtd/mass_average.h"
#include "runtime/program.h"
#include "stage/product.h"

enum { SAR_MASSES_MAX = 8 };

/* Voxels over the tissue, and what is at their centres. */
typedef struct sar_voxels {
    ps_dgtd_lattice centres;
    int64_t count;
    int32_t *owner;          /* [count]: tetrahedron, or INT32_MAX */
    float *squares;          /* [count]: |E^|^2 of unit source     */
    float *density;          /* [count] kg/m3                      */
    float *power;            /* [count] W/m3, scaled               */
    ps_mass_average average; /* of one mass at a time      */
} sar_voxels;

/* A plane and |E^|^2 at its points. */
typedef struct sar_cut {
    ps_dgtd_lattice points;
    int64_t count;
    int32_t *owner;
    float *squares;
    double *values; /* [count] what will be written */
} sar_cut;

enum { SAR_POINTS_MAX = 64 };

/* A point at which the field is told. */
typedef struct sar_point {
    ps_dgtd_lattice place; /* of this point alone                                       */
    int32_t owner;         /* tetrahedron, or INT32_MAX                                 */
    float field[6];        /* Re x, y, z, Im x, y, z of unit source; 0 where it is not known */
} sar_point;

typedef struct sar_job {
    const ps_run *run;
    ps_phasors *phasors;
    const ps_phasors_header *header;
    ps_store *mesh_store;
    ps_volume_mesh mesh;
    int32_t *sorted;   /* [tetrahedra][4]: vertices ascending        */
    ps_dgtd_tets tets; /* of these                                   */
    ps_dgtd_reference reference;
    int frequency;                            /* which of the file's     */
    double density[PS_PHASORS_MATERIALS_MAX]; /* kg/m3, with --density   */

    int32_t *number, *material; /* [rows]                            */
    int32_t *row_of;            /* [tetrahedra]: row, or -1          */
    double *mean, *most;        /* [rows]: |E^|^2 of unit source     */
    double *volumes;            /* [tetrahedra] m3                   */
    double outflow;             /* W of unit source; NaN: not known  */
    double scale;               /* of powers                         */

    double grid; /* m; 0: no voxels */
    int masses;
    double mass[SAR_MASSES_MAX]; /* kg */
    uint8_t *wanted;             /* [tetrahedra] tissue */
    sar_voxels voxels;
    float *element_average[SAR_MASSES_MAX]; /* [tetrahedra] */
    sar_cut cut;
    int points;
    sar_point point[SAR_POINTS_MAX];
} sar_job;

/* What the average over a mass came to. */
typedef struct sar_peak {
    double value, place[3], side; /* W/kg; m; side of the cube, m, 0 if it is not the voxel's own */
    int material, status;
    int64_t none; /* tissue voxels without a value */
} sar_peak;

/* ---- fields.c ---- */
ps_status sar_open(sar_job *job, const char *phasors, const char *mesh);
/* Reads all rows once: squares of elements, voxels and cut; outflow. */
ps_status sar_read_fields(sar_job *job);
int64_t sar_fields_bytes(const sar_job *job); /* what that holds for its time */
void sar_release(sar_job *job);
double sar_element_power(const sar_job *job, int64_t row); /* W, scaled */

/* ---- voxels.c ---- */
ps_status sar_voxels_place(sar_job *job);   /* how many there are, and where */
ps_status sar_voxels_make(sar_job *job);    /* before the fields are read */
ps_status sar_voxels_prepare(sar_job *job); /* after it: density, power, sums */
ps_status sar_voxels_average(sar_job *job, int which, sar_peak *peak);
int64_t sar_voxels_bytes(const sar_job *job);
void sar_voxels_totals(const sar_job *job, double *mass, double *power);
/* The average of the last mass at a point; NaN outside tissue. */
double sar_voxels_at(const sar_job *job, const double point[3]);

/* ---- output.c ---- */
typedef enum sar_cut_quantity { SAR_CUT_ELECTRIC, SAR_CUT_POINT, SAR_CUT_AVERAGE } sar_cut_quantity;
/* Finds the tetrahedron of a point "x,y,z"; before the fields are read. */
ps_status sar_point_add(sar_job *job, const char *text);
ps_status sar_cut_make(sar_job *job, const char *text);
ps_status sar_cut_write(sar_job *job, const char *text, const char *path, sar_cut_quantity what,
                        const ps_product *product);
ps_status sar_write_field(const sar_job *job, const char *path);
/* Warns where powers do not add up; refuses where more is absorbed or flows out than ports give
 * (--allow imbalance). */
ps_status sar_check_balance(const sar_job *job);
void sar_report(const sar_job *job, const sar_peak *peaks);

#endif
