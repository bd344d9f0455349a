/*
 * periodic: sums of 1/r over the lattice of a unit box that repeats along one, two or three axes.
 *
 *     K_per(d) = sum_{|n|_inf <= 1} 1/|d + n| + P(d)
 *
 * n: the lattice's vectors; the box itself and its neighbours are what a tree does, P is smooth in
 * [-1, 1]^3 and stands for all others (Ewald 1921; de Leeuw, Perram and Smith 1980; two axes: Parry
 * 1975; one axis: by multipoles of the far images). Conventions:
 *
 *   three axes  conducting surroundings ("tin foil"): no surface term; a uniform background
 *               neutralises what charge there is, and the mean of the potential is 0
 *   two axes    -> -2 pi |z| / A for large |z|: no background
 *   one axis    -> -2 (ln(rho / 2) + gamma) for large rho: no background
 *
 * P is kept as an even Chebyshev series (error 1e-14), and acts between expansions of the whole box
 * on PS_PERIODIC_POINTS^3 Chebyshev points (error 1e-12, as 4.2^-20).
 */
#ifndef PS_KERNELS_FMM_PERIODIC_H
#define PS_KERNELS_FMM_PERIODIC_H

#include <stdbool.h>

#include "kernels/fmm/chebyshev.h"

enum {
    PS_PERIODIC_POINTS = 20,
    PS_PERIODIC_GRID = PS_PERIODIC_POINTS * PS_PERIODIC_POINTS * PS_PERIODIC_POINTS
};

typedef struct ps_periodic {
    bool along[3];
    double node[PS_PERIODIC_POINTS]; /* of [-1, 1]                                       */
    double even[PS_PERIODIC_POINTS][PS_PERIODIC_POINTS][PS_PERIODIC_POINTS]; /* [a][i][j]:
                                               T_2a of the difference of points i and j         */
    double pair[PS_PERIODIC_POINTS][PS_PERIODIC_POINTS][PS_PERIODIC_POINTS]
               [PS_PERIODIC_POINTS]; /* [a][b][i][j]: sum_c C_abc T_2c of that */
} ps_periodic;

/* P at d, |d_i| <= 1: exact to rounding. */
double ps_periodic_smooth(const bool along[3], const double d[3]);

/* The same of r, along three axes: sum |d + n| less those of |n|_inf <= 1, where the sum over the
 * lattice is the periodic solution of Lap R = 2 K_per of mean 0. It has no net charge of its own: for
 * dipoles (Stokeslets, Hasimoto 1959). */
double ps_periodic_smooth_distance(const double d[3]);

/* At least one axis. OpenMP inside. */
void ps_periodic_init(const bool along[3], ps_periodic *periodic);
void ps_periodic_init_distance(ps_periodic *periodic);

/* Adds the multipole [l^3] of a cell of the unit box to moments[PS_PERIODIC_GRID]. */
void ps_periodic_gather(const ps_periodic *periodic, const ps_fmm_interpolation *interpolation,
                        const double centre[3], double width, const double *multipole,
                        double *moments);
/* The same of a charge at a place of the unit box. */
void ps_periodic_add(const ps_periodic *periodic, const double at[3], double charge,
                     double *moments);
/* field[PS_PERIODIC_GRID] = what P does: overwritten. OpenMP inside. */
void ps_periodic_act(const ps_periodic *periodic, const double *moments, double *field);
/* Adds the field to the local [l^3] of a cell. */
void ps_periodic_spread(const ps_periodic *periodic, const ps_fmm_interpolation *interpolation,
                        const double centre[3], double width, const double *field, double *local);
/* Potential and gradient of the field at a place of the unit box. */
void ps_periodic_at(const ps_periodic *periodic, const double *field, const double at[3],
                    double values[4]);

#endif
