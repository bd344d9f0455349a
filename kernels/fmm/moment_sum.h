/*
 * moment_sum: vector and tensor sums as passes of scalar ones, which the method knows (specs/fmm.md,
 * "Moments"). Columns of the sources and rows of the results lie side by side.
 *
 *   potential   sum_j q_j K + p_j . grad_y K                              one pass
 *   stokeslet   u_i = sum_j (delta_ik / r + r_i r_k / r^3) f_k
 *                   = 2 sum_j f_i / r + d_i sum_j f . grad_y r            charges f of 1/r; dipoles f of r
 *   helmholtz   sum_j exp(i k r)/r q_j, q complex                         cos(k r)/r; sin(k r)/r
 *
 * The second form of the Stokeslet is delta_ik Lap r - d_i d_k r (Hasimoto 1959). Unlike the four
 * harmonic sums with charges f and y . f (Tornberg and Greengard 2008) it does not depend on the
 * origin, where a distant cluster loses digits and a lattice has no sum.
 */
#ifndef PS_KERNELS_FMM_MOMENT_SUM_H
#define PS_KERNELS_FMM_MOMENT_SUM_H

#include "formats/particles.h"
#include "kernels/fmm/moment_p2p.h"

typedef enum ps_fmm_field {
    PS_FIELD_POTENTIAL,
    PS_FIELD_STOKESLET,
    PS_FIELD_HELMHOLTZ
} ps_fmm_field;

typedef struct ps_fmm_sum {
    ps_fmm_field field;
    ps_moments moments;       /* what the columns of the sources are                      */
    ps_fmm_function function; /* of potentials; parameter: k of Helmholtz                 */
    int sides;                /* sums side by side; columns are more                      */
    int derivatives;          /* of the results: 1, and 2 of potentials and Helmholtz; 0: of Stokeslets,
                                 whose gradient rows then are 0 */
} ps_fmm_sum;

enum { PS_FMM_PASSES_MAX = 2 };

/* One pass: scalar sums over these columns. */
typedef struct ps_fmm_pass {
    ps_fmm_function function;
    int sides, derivatives; /* 1 or 2               */
    int charges, dipoles;   /* the first column; -1: none */
    double truncation;      /* of operators, in parts of that of the sum: 1; of r, whose second derivatives
                               alone are wanted and which is mostly linear, .1 */
} ps_fmm_pass;

/* Whether it is what p2p.h and every tree, rank and device know: charges, to gradients. */
bool ps_fmm_sum_is_plain(const ps_fmm_sum *sum);
/* Numbers that belong together: 1, of velocities 3, of complex potentials 2. */
int ps_fmm_sum_components(const ps_fmm_sum *sum);
/* Rows of the results: values of all components, then gradients [component][3], then, with second
 * derivatives, [component][6]. */
int ps_fmm_sum_rows(const ps_fmm_sum *sum);

int ps_fmm_sum_passes(const ps_fmm_sum *sum);
ps_fmm_pass ps_fmm_sum_pass(const ps_fmm_sum *sum, int number);
int ps_fmm_pass_rows(const ps_fmm_pass *pass); /* of its results: as those of a sum */
/* Sources of a pass: columns[3 + ...][stride]; targets with room rows[ps_fmm_pass_rows][stride]. */
ps_fmm_particles ps_fmm_pass_sources(const ps_fmm_pass *pass, const double *columns,
                                     int64_t stride);
void ps_fmm_pass_targets(const ps_fmm_pass *pass, double *rows, int64_t stride,
                         ps_fmm_particles *targets);

/* Results of `count` targets, [rows][stride]. */
typedef struct ps_fmm_rows {
    double *at;
    int64_t stride, count;
} ps_fmm_rows;
/* Adds what pass `number` has found to the results of the sum. */
void ps_fmm_sum_add(const ps_fmm_sum *sum, int number, const ps_fmm_rows *pass,
                    const ps_fmm_rows *results);

/* Adds direct sums in fp64: sources columns[3 + ...][stride], targets at positions[d]; room: as many
 * numbers as ps_fmm_sum_room. Serial. */
int64_t ps_fmm_sum_room(const ps_fmm_sum *sum, int64_t targets);
void ps_fmm_sum_direct(const ps_fmm_sum *sum, const double *const positions[3],
                       const ps_fmm_rows *sources, double *room, const ps_fmm_rows *results);

#endif
