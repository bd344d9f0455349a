/*
 * load: the right-hand sides l^n that an incident field puts on a mesh (tdbem guide 2.2, 2.3).
 *
 *   sound-soft, S-form   l^n_i = -int_Ti u_inc(t_n)                                  (Pa m^2)
 *   sound-soft, M-form   l^n_i = -int_Ti (u_inc(t_n) - u_inc(t_{n-1}))               (Pa m^2)
 *   sound-hard           l^n_i = int_{t_{n-1}}^{t_n} int phi_i d_n u_inc             (Pa m s)
 *   combined field       l^n_i += alpha/c int phi_i (u_inc(t_n) - u_inc(t_{n-1}))
 *
 * with t_n = n dt and all quiet for t <= 0, so that the M-form sums up to the S-form. The rule
 * in space has 7 points a triangle (degree 5), in time 3 Gauss points a step. phi_i are the
 * hats of the vertices, n the outward normals. Uniform incidence has no gradient: its
 * sound-hard load is 0.
 */
#ifndef PS_KERNELS_TDBEM_LOAD_H
#define PS_KERNELS_TDBEM_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/slice_matrix.h"
#include "formats/surface_mesh.h"
#include "kernels/tdbem/incident.h"

/* Points of the rules. */
enum { PS_LOAD_SPACE_POINTS = 7, PS_LOAD_TIME_POINTS = 3 };

typedef struct ps_load {
    ps_formulation formulation;
    const ps_surface_mesh *mesh; /* borrowed */
    const ps_incident *incident; /* borrowed; all delays settled */
    double dt;                   /* s */
    double combined;             /* alpha; 0: none */
} ps_load;

/* Unknowns: triangles (sound-soft) or vertices (sound-hard). */
int64_t ps_load_unknowns(const ps_load *load);

/* Doubles of workspace that ps_load_evaluate needs. */
int64_t ps_load_workspace(const ps_load *load);

/* out[unknowns] = l^n, n >= 1. Threaded; the bits do not depend on the number of threads. */
void ps_load_evaluate(const ps_load *load, int64_t n, double *out, double *workspace);

#endif
