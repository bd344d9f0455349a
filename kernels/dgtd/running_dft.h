/*
 * running_dft: sums over the steps of field times e^{-i w t}, as the march goes on, at some
 * frequencies (numerics guide 2): U^(w) = scale sum_n U(t_n) e^{-i w t_n}.
 *
 * Sums lie group by group, real [groups][frequencies][2: real, imaginary][3][nodes][lanes] in the
 * precision of the field, so that they travel with the groups of an out-of-core pass.
 */
#ifndef PS_KERNELS_DGTD_RUNNING_DFT_H
#define PS_KERNELS_DGTD_RUNNING_DFT_H

#include "kernels/dgtd/system.h"

enum { PS_DGTD_DFT_FREQUENCIES = 64 }; /* at most */

/* Bytes of the sums of one field. */
size_t ps_dgtd_dft_bytes(const ps_dgtd_system *system, int frequencies);

/* factors[frequencies][2]: scale cos w t, - scale sin w t. */
void ps_dgtd_dft_factors(const double *omegas, int frequencies, double scale, double t,
                         double *factors);

/* sums += scale e^{-i w t} field for groups [begin, end); omegas[frequencies] and t in the same
 * units. OpenMP inside; bits depend neither on threads nor on ranges. */
void ps_dgtd_dft_add(const ps_dgtd_system *system, const void *field, const double *omegas,
                     int frequencies, double scale, double t, int64_t begin, int64_t end,
                     void *sums);

/* One value of the sums: part 0 real, 1 imaginary. */
double ps_dgtd_dft_get(const ps_dgtd_system *system, const void *sums, int frequencies,
                       int frequency, int part, int64_t slot, int component, int node);

#endif
