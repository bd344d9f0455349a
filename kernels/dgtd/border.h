/*
 * border: what the half steps owe elements with absorbing faces (Silver-Mueller) or at the surface
 * between total and scattered field.
 *
 * Absorbing (Cabel, Charles, Lanteri 2011, eq. 1), with Y = 1/Z = sqrt(eps/mu) of the element and
 * u_t = n x (u x n):
 *   E row: - Y/2 LIFT F E_t + LIFT(F/2 g_H),  g_H = n x H_inc + Y E_inc,t  at t_{n+1/2}
 *   H row: - Z/2 LIFT F H_t - LIFT(F/2 g_E),  g_E = n x E_inc - Z H_inc,t  at t_{n+1}
 * "paper": E_t, H_t of the old field; needs dt <= 0.8 of the limit. "averaged": of the mean of old
 * and new, exact per element: with s = old + new, s* = old + (what the half step without the term
 * gives), b_f = dt Y F_f/(4 eps (1+a)),
 *   (I + sum_f b_f T_f LIFT_f R_f) s = s*:  new = new* - sum_f LIFT_f Z (T R s*),
 * where Z = b (1 + T R LIFT b)^-1 acts on the traces of all absorbing faces of the element; with
 * one face the two tangential components share a matrix of Nf x Nf. No limit on dt of its own.
 *
 * Total/scattered: at a face between elements of which one is `total`, that one adds the incident
 * field to its neighbour's trace, the other subtracts it. The field is then the scattered one in
 * elements that are not `total`, and no incident field enters at their absorbing faces.
 *
 * This is arithmetic on faces, in double, away from the sweep. Arrays are the caller's.
 */
#ifndef PS_KERNELS_DGTD_BORDER_H
#define PS_KERNELS_DGTD_BORDER_H

#include "kernels/dgtd/source.h"

typedef struct ps_dgtd_border_face {
    int face;
    double tangent[2][3], normal[3]; /* orthonormal, normal outwards                          */
    double corner[3][3];             /* vertices, ascending                                   */
    /* The incident field enters row u (E, H) as LIFT(own[u] u_inc + turned[u] n x other_inc) */
    double own[2], turned[2];
    double lag; /* so much earlier is u_inc; other_inc is of the time of the half step         */
    double decay[2]; /* b_f of the rows; 0 if not absorbing                                   */
    double area, weight[2]; /* A_f; Y and Z of the element                                  */
} ps_dgtd_border_face;

typedef struct ps_dgtd_border_element {
    int64_t slot;
    int faces, absorbing; /* absorbing ones first         */
    int64_t matrix;       /* of E, then H, in matrices[]  */
    ps_dgtd_border_face face[4];
} ps_dgtd_border_element;

typedef struct ps_dgtd_border {
    int averaged;                     /* or "paper"                                          */
    int upwind;                       /* the flux at the surface of the total field          */
    const ps_dgtd_incident *incident; /* NULL: none                                          */
    int64_t count, matrix_count;      /* by ps_dgtd_border_count                             */
    ps_dgtd_border_element *elements; /* [count], ascending slots                            */
    double *matrices;                 /* [matrix_count]                                      */
    double *former;                   /* [count][4][2][face nodes]: workspace of a half step */
} ps_dgtd_border;

/* Sets count and matrix_count. total[slots, halo included]: 1 in the total-field region; NULL:
 * none. */
void ps_dgtd_border_count(ps_dgtd_border *border, const ps_dgtd_system *system,
                          const ps_dgtd_body *body, const uint8_t *total);

/* Fills elements and matrices for time step dt. */
void ps_dgtd_border_fill(ps_dgtd_border *border, const ps_dgtd_system *system,
                         const ps_dgtd_body *body, const uint8_t *total, double dt);

/* Before the half step of `field`: keeps its traces at absorbing faces of groups [begin, end). */
void ps_dgtd_border_keep(const ps_dgtd_border *border, const ps_dgtd_system *system,
                         const void *field, int64_t begin, int64_t end);

/* After it: incident field at time t, then the absorbing term. */
void ps_dgtd_border_apply(const ps_dgtd_border *border, const ps_dgtd_system *system,
                          ps_dgtd_field which, void *field, double t, int64_t begin, int64_t end);

/* x' Q x of the energy balance: sum over absorbing faces of weight/2 int |u_t|^2 dA, weight Y for
 * u = E and Z for u = H, of u = sum_k factors[k] fields[k] (k < 3). */
double ps_dgtd_border_power(const ps_dgtd_border *border, const ps_dgtd_system *system,
                            ps_dgtd_field which, const void *const fields[3],
                            const double factors[3]);

/* What the border does to x' M x of field `which`, by group: adds u' Q v (as above, bilinear) to
 * lost[g], and to work[g] the integral over faces of u . G / 2 with G the incident term of the row
 * at time t: g_H for E, -g_E for H. Groups begin <= g < end. */
void ps_dgtd_border_terms(const ps_dgtd_border *border, const ps_dgtd_system *system,
                          ps_dgtd_field which, const void *u, const void *v, double t,
                          int64_t begin, int64_t end, double *lost, double *work);

#endif
