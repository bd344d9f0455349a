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

typedef struct ps_dgtd_energy {
    const double *eps, *mu; /* [materials], relative                                          */
    void *former;           /* scratch: PS_DGTD_ENERGY_GROUPS groups of a field, 64-byte aligned */
} ps_dgtd_energy;

/* Bytes of `former`. */
size_t ps_dgtd_energy_bytes(const ps_dgtd_system *system);

/* As ps_dgtd_march_half, to the same bits, and terms[g] of groups begin <= g < end: for E
 * 1/2 E^{n+1}' M_eps E^{n+1}, for H 1/2 H^{n+1/2}' M_mu H^{n+3/2}. Together W^{n+1}. */
void ps_dgtd_energy_half(const ps_dgtd_energy *energy, const ps_dgtd_march *march,
                         ps_dgtd_field field, int64_t begin, int64_t end, double *terms);

#endif
