/*
 * potential: the field that transient densities make at points and in far-field directions
 * (tdbem guide 2.9), as short rows of weights over time lags:
 *
 *     u(x, t_n) = sum_j sum_q weight_j[q] a_j^{n - first_j - q}
 *
 *   sound-soft, point      u_sc = sum_j sum_l a_j^{n-l} int_Tj [shell l] 1/(4 pi r): exact shell
 *                          integrals (kernels/tdbem/shell_integral.h)
 *   sound-soft, direction  F(e,tau) = 1/(4 pi) int p(y, tau + e.y/c): 7 points a triangle, a^n at
 *                          t_n - dt/2, linear in time
 *   sound-hard, point      u_sc = 1/(4 pi) int ((x-y).n/r^2)[phi/r + phi_t/c](y, t - r/c), hats
 *                          in time: exact shell integrals of the flux of hats, as near as one
 *                          likes; on a triangle itself the limit of one of its sides
 *   sound-hard, direction  F(e,tau) = 1/(4 pi c) int e.n phi_t(y, tau + e.y/c): 7 points, phi_t
 *                          linear between its values at half steps
 *
 *   lining, point          what -S lambda is of lambda = (v/c), v = (a^n - a^{n-1})/dt over step n,
 *                          with the sign turned: exact shell integrals of the hats
 *   lining, direction      the same at 7 points, v at t_n - dt/2, linear in time; of a lining of
 *                          admittance beta, beta * (this) is to be taken from the field
 *                          (specs/tdbem_lining.md)
 *
 * F(e,tau) = lim r u_sc(r e, tau + r/c), m times the unit of u; t_n = n dt for points and
 * directions alike. First lags are negative where the far field needs later densities.
 * No allocation; thread-safe for distinct rows and workspaces. Sums have a fixed order.
 */
#ifndef PS_KERNELS_TDBEM_POTENTIAL_H
#define PS_KERNELS_TDBEM_POTENTIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/tdbem/geometry.h"
#include "kernels/tdbem/quadrature.h"

/* The surface, all borrowed from the caller. */
typedef struct ps_potential {
    bool hard;
    int64_t unknowns; /* triangles, or vertices (hard)                          */
    int64_t triangle_count;
    const ps_triangle *triangles; /* [triangle_count]                                       */
    const double *vertices;       /* [unknowns][3], hard                                    */
    const int32_t *corners;       /* [triangle_count][3], hard                              */
    const double *reach;          /* [unknowns] longest edge at each vertex, m; hard        */
    const uint8_t *lined;         /* [triangle_count] hard: the lining of these; NULL: none */
    double dt, speed;             /* s, m/s                                                 */
    int64_t lags;                 /* points: what arrives later than this is left out       */
} ps_potential;

/* A point (m), or the unit vector of a far-field direction. */
typedef struct ps_receiver {
    double place[3];
    bool far_field;
} ps_receiver;

/* The rows of one receiver: row j has its first lag in first[j] and its weights in
 * values[offset[j]] .. values[offset[j+1] - 1]. */
typedef struct ps_lag_rows {
    int32_t *first;  /* [unknowns]     */
    int64_t *offset; /* [unknowns + 1] */
    double *values;  /* [offset[unknowns]] */
} ps_lag_rows;

/* Longest edge at each vertex: reach[vertices], zeroed by the caller. */
void ps_potential_reach(int64_t triangle_count, const ps_triangle *triangles,
                        const int32_t *corners, double *reach);

/* Sets first and offset; *lowest and *highest are the extreme lags. The caller then
 * provides values. */
void ps_potential_extent(const ps_potential *potential, const ps_receiver *receiver,
                         ps_lag_rows *rows, int64_t *lowest, int64_t *highest);

/* Doubles of workspace that ps_potential_weights needs. */
int64_t ps_potential_workspace(const ps_potential *potential);

/* Fills values for rows prepared by ps_potential_extent. workspace: 64-byte aligned. */
void ps_potential_weights(const ps_potential *potential, const ps_receiver *receiver,
                          ps_lag_rows *rows, double *workspace);

#endif
