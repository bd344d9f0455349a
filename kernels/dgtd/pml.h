/*
 * pml: a perfectly matched layer (complex frequency shifted) as what it does to half steps of the
 * elements in it (specs/dgtd_pml.md).
 *
 * Coordinates along an orthonormal frame are stretched by s_k = kappa + sigma/(alpha + i w)
 * (Kuzuoglu, Mittra 1996; in spherical coordinates Teixeira, Chew 1997), which is a medium (Gedney
 * 1996): component k of eps E and mu H is s_{k+1} s_{k+2}/s_k times that of vacuum. The curl and
 * its flux stay as they are. What a half step adds to a field, d, passes a filter in place:
 *
 *     field' = field + sum_k m_k s_k/(s_{k+1} s_{k+2}) (m_k . d)
 *
 * three stages of first order a component, s(i w) at i w = (2/dt)(1 - q)/(1 + q), q a delay by dt.
 * Both fields have the same filters. Frame and stretch are constant in an element: filters then
 * act on coefficients of any basis, and commute with the mass matrix. Elements side by side must
 * have the same: along a wave that grazes the layer the mean of s in one constant of the medium
 * meets one over the mean of 1/s in another, and where these differ it comes back. Therefore layers
 * are divided into rows, in each of which the stretch is its mean.
 *
 * box: the frame is x, y, z; ball: r^ of the element, s_0 = s_n, s_1 = s_2 = r~/r, r~ = int s dr.
 *
 * Stages that do nothing are left out: those of directions with s = 1, and of a ball those that
 * cancel. Per element in the layer and half step: at most 75 Np flops and 9 Np values of state read
 * and written; 3 Np at a side of a box, 5 Np about a ball.
 */
#ifndef PS_KERNELS_DGTD_PML_H
#define PS_KERNELS_DGTD_PML_H

#include "kernels/dgtd/system.h"

typedef enum ps_dgtd_pml_shape { PS_DGTD_PML_BOX, PS_DGTD_PML_BALL } ps_dgtd_pml_shape;

/* The stretch as a function of the place. u = depth/thickness, 0 inside, at most 1:
 * sigma = sigma_max u^grading, kappa = 1 + (kappa_max - 1) u^grading, or the means of these over
 * rows of equal thickness. */
typedef struct ps_dgtd_pml_profile {
    ps_dgtd_pml_shape shape;
    double inner[2][3];           /* m, box: lower and upper corner of what it is about       */
    double thickness[2][3];       /* m, box: by side, 0: no layer there; ball: [0][0]         */
    double centre[3], radius;     /* m, ball                                               */
    double sigma[2][3];           /* 1/m, sigma_max by side; ball: [0][0]                  */
    double grading, kappa, alpha; /* exponent >= 1; >= 1; 1/m, > 0                      */
    double rows[2][3];            /* by side, ball: [0][0]; 0: none                       */
} ps_dgtd_pml_profile;

/* sigma_max for which a wave of normal incidence in a medium of sqrt(eps mu) = `slowness` comes
 * back from metal behind the layer as `reflection` of itself. */
double ps_dgtd_pml_sigma(double reflection, double grading, double thickness, double slowness);

/* kappa and sigma along the frame of a tetrahedron, and the direction r^ of a ball, else 0: that of
 * the row of the middle of its extent; without rows, those of the centroid. The three tetrahedra of
 * a prism along r^ have the same. */
void ps_dgtd_pml_stretch(const ps_dgtd_pml_profile *profile, const double corners[4][3],
                         double kappa[3], double sigma[3], double radial[3]);

/* Groups that have elements in the layer lie in rows, ascending; other lanes of theirs rest. */
enum { PS_DGTD_PML_FACTORS = 18, PS_DGTD_PML_STATES = 9 };
typedef struct ps_dgtd_pml {
    int64_t rows;    /* by ps_dgtd_pml_count                                                */
    int turned;      /* there are frames                                                    */
    int64_t *groups; /* [rows] ascending                                                    */
    uint8_t *layer;  /* [rows][lanes] 1 in the layer                                        */
    double *factors; /* [rows][3][6][lanes]: y = f0 x + z, z' = f1 x - f2 y divides by s_k,
                        f3, f4, f5 multiplies likewise                                      */
    double *frames;  /* [rows][3][3][lanes]: m_k, or NULL                                   */
    void *state[2];  /* real [rows][9][nodes][lanes]: z of E and H, 0 at the start          */
    void *former;    /* real [rows][3][nodes][lanes]: workspace of a half step              */
    void *work;      /* what acts like a current on groups from work_group on, by node
                        (energy.h), or NULL                                                 */
    int64_t work_group;
} ps_dgtd_pml;

/* Counts rows; layer[elements]: 1 in it. */
void ps_dgtd_pml_count(ps_dgtd_pml *pml, const ps_dgtd_system *system, const uint8_t *layer);

typedef struct ps_dgtd_pml_bytes {
    size_t groups, layer, factors, frames, state, former; /* state: of one field */
} ps_dgtd_pml_bytes;
void ps_dgtd_pml_size(const ps_dgtd_pml *pml, const ps_dgtd_system *system, ps_dgtd_pml_shape shape,
                      ps_dgtd_pml_bytes *bytes);

/* Fills all but states and workspace. */
void ps_dgtd_pml_fill(ps_dgtd_pml *pml, const ps_dgtd_pml_profile *profile,
                      const ps_dgtd_system *system, const ps_dgtd_body *body, const uint8_t *layer,
                      double dt);

/* Before a half step of a field: keeps it in groups [begin, end); and after it. Ranges may go in
 * any order. */
void ps_dgtd_pml_keep(const ps_dgtd_pml *pml, const ps_dgtd_system *system, const void *field,
                      int64_t begin, int64_t end);
void ps_dgtd_pml_apply(const ps_dgtd_pml *pml, const ps_dgtd_system *system, ps_dgtd_field which,
                       void *field, int64_t begin, int64_t end);

/* The first row at or behind a group. */
int64_t ps_dgtd_pml_row(const ps_dgtd_pml *pml, int64_t group);

#endif
