/*
 * potentials: fields of densities on a surface, summed directly over quadrature points, for many
 * points and many densities at once. g = e^{ikr}/(4 pi r), r = |x - y|, n = n_y, x^ a unit vector:
 *
 *   SINGLE      int g phi                   FAR_SINGLE  (1/4 pi) int e^{-ik x^.y} phi
 *   DOUBLE      int d_ny g phi              FAR_DOUBLE  -(ik/4 pi) int (x^.n) e^{-ik x^.y} phi
 *
 * Far fields are lim r e^{-ikr} u (Vater, Betcke, Dilba, eq. 12 with x = r x^). Laplace: k = 0, and
 * numbers have one part; waves and all far fields have two.
 *
 * Relative accuracy is that of the quadrature: with 6 points 1e-4 one edge away from the surface,
 * 1e-6 three edges away; nearer points need ps_hbem_potentials_near. Phases are those of fp64:
 * reduced to full accuracy up to k r = 1e6.
 */
#ifndef PS_KERNELS_HBEM_POTENTIALS_H
#define PS_KERNELS_HBEM_POTENTIALS_H

#include "kernels/hbem/rules.h"
#include "kernels/hbem/surface.h"
#include "runtime/isa.h"

typedef enum ps_hbem_potential {
    PS_POTENTIAL_SINGLE,
    PS_POTENTIAL_DOUBLE,
    PS_POTENTIAL_FAR_SINGLE,
    PS_POTENTIAL_FAR_DOUBLE,
    PS_HBEM_POTENTIALS
} ps_hbem_potential;

enum { PS_POTENTIAL_LANES = 8, PS_POTENTIAL_COLUMNS_MAX = 16 };

typedef struct ps_hbem_potential_task {
    ps_hbem_potential kind;
    double wavenumber;          /* k >= 0, rad/m                                           */
    double absorption;          /* its imaginary part, Np/m; of fields at points           */
    double factor;              /* of the potential                                        */
    const ps_hbem_space *space; /* of the densities                                        */
    const ps_hbem_rule *rule;   /* on every triangle                                       */
    int columns;                /* densities, 1 .. PS_POTENTIAL_COLUMNS_MAX                 */
    const double *densities;    /* [columns][parts][dofs]                                  */
    int64_t target_count;
    const double *targets; /* [target_count][3]: points, m, or unit vectors           */
    double *values;        /* [target_count][columns][parts]; factor x potential is added */
} ps_hbem_potential_task;

/* 1 or 2. */
int ps_hbem_potential_parts(ps_hbem_potential kind, double wavenumber);

/* Bytes of workspace (64-byte aligned) for either function with this many threads. */
int64_t ps_hbem_potentials_bytes(const ps_hbem_potential_task *task, int threads);

/* The sums on CPU cores. Threads own targets and go through triangles in order: bits do not
 * depend on their number, nor on the other targets. */
void ps_hbem_potentials(const ps_hbem_potential_task *task, int threads, void *workspace);

/* SINGLE and DOUBLE only, after ps_hbem_potentials or a device: where a target is nearer to the
 * centroid of a triangle than `reach` of its diameters, the rule's sum over it is replaced by the
 * closed potential (closed.h), for waves with the rule's sum of the smooth remainder. Any distance
 * will do, 0 too: on the surface the double layer takes its limit from `side`. The values must be
 * sums of this task alone: where a point of the rule is nearer than `noise` diameters, so that a
 * difference would lose digits, all of them are summed anew. With reach 3 and 6 points accurate to
 * 1e-6. Workspace and bits as above. */
typedef struct ps_hbem_nearness {
    double reach, noise; /* 3; 1e-3, of sums in fp32 .2                                      */
    int side;            /* 1: from outside, -1: from inside, 0: their mean                  */
} ps_hbem_nearness;
void ps_hbem_potentials_near(const ps_hbem_potential_task *task, const ps_hbem_nearness *how,
                             int threads, void *workspace);

/* Adds factor x (1/4 pi or -ik/4 pi) x sums to the values of a target: number e (column, part) is
 * sums[stride * e]. */
void ps_hbem_potential_scale(const ps_hbem_potential_task *task, int64_t target, const double *sums,
                             int stride);

/* ---- the vector function ---- */

/* Eight targets in lanes against points of the surface. */
typedef struct ps_hbem_potential_job {
    int64_t count;           /* sources                                             */
    const double *sources;   /* [count][6]: position, normal                        */
    const double *strengths; /* [count][columns][parts]: weight x J x density       */
    int columns;
    double wavenumber, absorption;
    const double *targets; /* [3][8], 64-byte aligned                             */
    double *sums;          /* [columns][parts][8], aligned: added to; without the
                              factors 1/4 pi, -ik/4 pi                            */
} ps_hbem_potential_job;

typedef void (*ps_hbem_potential_function)(const ps_hbem_potential_job *job);

/* [kind][0 Laplace, 1 waves, 2 waves that are absorbed]; far fields are waves, also at k = 0. */
struct ps_hbem_potential_functions {
    ps_hbem_potential_function add[PS_HBEM_POTENTIALS][3];
};

#endif
