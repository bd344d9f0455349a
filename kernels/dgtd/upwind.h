/*
 * upwind: what the upwind flux adds to a half step with centred flux (Hesthaven, Warburton 2002):
 *
 *   E row: LIFT F (Z_k n x [H] - n x (n x [E]))/(Z_i + Z_k)
 *   H row: - LIFT F (Y_k n x [E] + n x (n x [H]))/(Y_i + Y_k)
 *
 * less the centred LIFT F/2 n x [.], that is, with -n x (n x [u]) = [u]_t the tangential jump,
 *
 *   E' += gain  LIFT F (d n x [H] + p [E]_t),   d = Z_k/(Z_i + Z_k) - 1/2,  p = 1/(Z_i + Z_k)
 *   H' += gain LIFT F (-d n x [E] - p [H]_t),   p = Z_i Z_k/(Z_i + Z_k),  gain < 0
 *
 * [E] of the E row is that of E^n, before the half step, on both sides: the dissipation is explicit
 * and lags. Both fields therefore have a copy, `former`. A half step of one field copies the other
 * one, of its range, which is whole there by then, so that ranges, tiles and ranks may go in any
 * order in which the half steps themselves may. Before the first step E^n has to be copied
 * (ps_dgtd_upwind_start), after a restart too.
 *
 * Boundary: ghosts as in half_step.h, Z_k = Z_i. Absorbing faces are upwind already and get
 * nothing. At total/scattered surfaces [E] misses the incident field, which border.h adds: Z_k =
 * Z_i there.
 *
 * Time step: at most PS_DGTD_UPWIND_LIMIT of the limit of the centred flux (measured: .438 to .453
 * for P1..P4, with and without absorbing faces, mixed materials, shaken meshes).
 */
#ifndef PS_KERNELS_DGTD_UPWIND_H
#define PS_KERNELS_DGTD_UPWIND_H

#include "kernels/dgtd/system.h"

#define PS_DGTD_UPWIND_LIMIT 0.43

typedef struct ps_dgtd_upwind {
    void *former[2]; /* E, H: fields with their halo slots                                    */
    int64_t slots;   /* of these, those of resting elements and the halo included             */
    void *own;       /* real [materials]: Z_i                                                  */
    void *other;     /* real [groups][4][lanes]: Z_k; 0 where nothing is added                */
} ps_dgtd_upwind;

/* Bytes of own and other. */
size_t ps_dgtd_upwind_own_bytes(const ps_dgtd_system *system);
size_t ps_dgtd_upwind_other_bytes(const ps_dgtd_system *system);

/* sqrt(mu/eps) */
double ps_dgtd_impedance(const ps_dgtd_material *material);
/* Fills own and other; impedances of the elements in the halo slots, which begin with the slot
 * behind the last group; NULL: there are none. */
void ps_dgtd_upwind_fill(ps_dgtd_upwind *upwind, const ps_dgtd_system *system,
                         const ps_dgtd_material *materials, const double *impedances);

/* After filling: only between elements with layer[element] = 1; of the halo, those with impedance 0
 * are in none. */
void ps_dgtd_upwind_restrict(ps_dgtd_upwind *upwind, const ps_dgtd_system *system,
                             const uint8_t *layer);

/* former[E] = E, before the first step. */
void ps_dgtd_upwind_start(const ps_dgtd_upwind *upwind, const ps_dgtd_system *system,
                          const void *electric);

/* Part of the half step of `field` on groups [begin, end), after ps_dgtd_half_step: keeps the
 * source and adds the above to the target. */
void ps_dgtd_upwind_apply(const ps_dgtd_upwind *upwind, const ps_dgtd_system *system,
                          ps_dgtd_field field, void *target, const void *source, int64_t begin,
                          int64_t end);

/* Of the orders and precisions; used by the above. */
typedef struct ps_dgtd_upwind_arguments {
    const ps_dgtd_system *system;
    const ps_dgtd_upwind *upwind;
    ps_dgtd_field field;
    void *target;
    const void *source;
} ps_dgtd_upwind_arguments;

struct ps_dgtd_upwind_functions {
    void (*apply[PS_PRECISION_COUNT][PS_DGTD_MAX_ORDER])(const ps_dgtd_upwind_arguments *, int64_t,
                                                         int64_t);
};

#endif
