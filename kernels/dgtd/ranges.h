/*
 * ranges: consecutive ranges of groups whose elements are linked only within their range and the
 * two beside it: the layers that time-skewed tiles are made of (numerics guide 4, "Out of core").
 * Elements in breadth-first order give many thin ranges, other orders few thick ones.
 */
#ifndef PS_KERNELS_DGTD_RANGES_H
#define PS_KERNELS_DGTD_RANGES_H

#include "kernels/dgtd/system.h"

/* bounds[count + 1] of the ranges from 0 to system->groups, the first one of `first` groups, others
 * of at least `least`; returns count. bounds needs system->groups + 1 items. The first range
 * decides how the others fall: the thinnest follow if it is a layer itself. */
int64_t ps_dgtd_ranges(const ps_dgtd_system *system, int64_t first, int64_t least, int64_t *bounds);

#endif
