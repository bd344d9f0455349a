/*
 * ranges: consecutive ranges of groups whose elements are linked only within their range and the
 * two beside it: the layers that time-skewed tiles are made of (numerics guide 4, "Out of core").
 * Elements in breadth-first order give many thin ranges, other orders few thick ones.
 */
#ifndef PS_KERNELS_DGTD_RANGES_H
#define PS_KERNELS_DGTD_RANGES_H

#include "kernels/dgtd/system.h"

/* Breadth-first layers over faces, links[elements][4] (4 * element + face, -1: none), in which the
 * elements with joint[e] != 0 count as one: an element has neighbours in its own layer and the two
 * beside it only, and all joint ones are in one. They begin at the joint elements or at what is
 * farthest from them, whichever makes the largest five layers in a row smaller. layer[elements];
 * work[2 * elements] is scratch. Returns their number. */
int64_t ps_dgtd_joint_layers(const int32_t *links, int64_t elements, const uint8_t *joint,
                             int32_t *layer, int32_t *work);

/* bounds[count + 1] of the ranges from 0 to system->groups, the first one of `first` groups, others
 * of at least `least`; returns count. bounds needs system->groups + 1 items. The first range
 * decides how the others fall: the thinnest follow if it is a layer itself. */
int64_t ps_dgtd_ranges(const ps_dgtd_system *system, int64_t first, int64_t least, int64_t *bounds);

/* The ranges that hold groups [first, last] become one, which touches no more than its neighbours,
 * too. Returns how many are left. */
int64_t ps_dgtd_ranges_join(int64_t first, int64_t last, int64_t *bounds, int64_t ranges);
/* The range that holds a group. */
int64_t ps_dgtd_range_of(const int64_t *bounds, int64_t ranges, int64_t group);

#endif
