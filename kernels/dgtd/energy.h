/*
 * energy: half steps of the march that also tell the energy, group by group.
 *
 * W^n = 1/2 (E^n' M_eps E^n + H^{n-1/2}' M_mu H^{n+1/2}) needs two H of consecutive times; so the
 * half step keeps the old values of a few groups at a time and no second field is needed. Terms
 * lie by group and are to be added in the order of groups: sums then do not depend on the ranges.
 */
#ifndef PS_KERNELS_DGTD_ENERGY_H
#define PS_KERNELS_DGTD_ENERGY_H

#include "kernels/dgtd/march.h"

enum { PS_DGTD_ENERGY_GROUPS = 256 }; /* kept at a time */

/* Terms of a half step, each by group. With Eb = (E^n + E^{n+1})/2, and A, B the H before and after
 * it: first the field's part of the energy, 1/2 E^{n+1}' M_eps E^{n+1} or 1/2 A' M_mu B; then, for
 * the balance alone, what left the field by conduction and through absorbing faces, and what
 * currents and incident fields supplied. With H a half step has a part in the balances of two
 * steps: x in that of the step it belongs to, y in that of the next one:
 *
 *   W^{n+1} - W^n = - CONDUCTED - LOST + SUPPLIED
 *                   of E of this step, _X of H of this step, _Y of H of the step before,
 *
 * exactly, for the centred flux (numerics guide 2). What a layer (pml.h) takes is lost, too. */
enum {
    PS_DGTD_ELECTRIC,
    PS_DGTD_CONDUCTED,
    PS_DGTD_LOST,
    PS_DGTD_SUPPLIED,
    PS_DGTD_MAGNETIC = 0,
    PS_DGTD_LOST_X,
    PS_DGTD_LOST_Y,
    PS_DGTD_SUPPLIED_X,
    PS_DGTD_SUPPLIED_Y,
    PS_DGTD_TERMS
};

typedef struct ps_dgtd_energy {
    const double *eps, *mu, *sigma; /* [materials], relative; 1/m                             */
    const double *ones;             /* [materials] 1, where there is a layer (pml.h)          */
    int balance;                    /* all terms, or the energies alone                       */
    const ps_dgtd_local *local;     /* of the march, or NULL                                  */
    void *former; /* scratch: ps_dgtd_energy_bytes, 64-byte aligned                           */
} ps_dgtd_energy;

/* Bytes of `former`: 3 PS_DGTD_ENERGY_GROUPS groups of a field. */
size_t ps_dgtd_energy_bytes(const ps_dgtd_system *system);

/* As ps_dgtd_march_half, to the same bits, and terms[k * groups + g] of groups begin <= g < end. */
void ps_dgtd_energy_half(const ps_dgtd_energy *energy, const ps_dgtd_march *march,
                         ps_dgtd_field field, int64_t begin, int64_t end, double *terms);

#endif
