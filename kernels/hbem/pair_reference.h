/*
 * pair_reference: Galerkin integrals of two triangles to a given error, however they are shaped and
 * lie to each other: closed inner integrals, under an outer rule on pieces that are halved until
 * halving changes nothing. Independent of the rules of matrix entries, and much dearer.
 */
#ifndef PS_KERNELS_HBEM_PAIR_REFERENCE_H
#define PS_KERNELS_HBEM_PAIR_REFERENCE_H

#include <stdbool.h>

#include "kernels/hbem/surface.h"

/* out[3 l + m] = int_x int_y phi_l phi_m g, or with `layer` d_ny g instead of g = 1/(4 pi r);
 * `error`: of a piece, absolute. x and y may touch or be one. */
void ps_hbem_pair_reference(const ps_hbem_triangle *x, const ps_hbem_triangle *y, bool layer,
                            double error, double out[9]);

/* int_x int_x g in closed form (Eibert and Hansen, IEEE Trans. Antennas Propag. 43 (1995) 1499). */
double ps_hbem_self_entry(const ps_hbem_triangle *x);

#endif
