/*
 * ranges: consecutive ranges of groups whose elements are linked only within their range and the
 * two beside it: the layers that time-skewed tiles are made of (numerics guide 4, "Out of core").
 * Elements in breadth-first order give many thin ranges, other orders few thick ones.
 */
#ifndef PS_KERNELS_DGTD_RANGES_H
#define PS_KERNELS_DGTD_RANGES_H

#include "kernels/dgtd/system.h"

/* Pieces of marked elements that hang together by faces, links[elements][4] (4 * element + face, <
 * 0: none): pieces[elements], the first element of an element's piece, or -1. */
void ps_dgtd_pieces(const int32_t *links, int64_t elements, const uint8_t *marked, int32_t *pieces);

/* Breadth-first layers over faces in which a piece counts as one element: an element has neighbours
 * in its own layer and the two beside it only, and a piece lies in one. They begin at element
 * `seed`, and at the first element of what does not hang together with it. layer[elements];
 * work[2 * elements] is scratch. Returns their number. */
int64_t ps_dgtd_layers_of_pieces(const int32_t *links, int64_t elements, const int32_t *pieces,
                                 int64_t seed, int32_t *layer, int32_t *work);
/* Elements of the largest `row` layers beside one another; work[layers] is scratch. */
int64_t ps_dgtd_largest_row(const int32_t *layer, int64_t elements, int64_t layers, int64_t row,
                            int32_t *work);

/* bounds[count + 1] of the ranges from 0 to system->groups, the first one of `first` groups, others
 * of at least `least`; returns count. The range of group g has all groups up to whole[g] (NULL:
 * nothing is bound together). bounds needs system->groups + 1 items. The first range decides how
 * the others fall: the thinnest follow if it is a layer itself. */
int64_t ps_dgtd_ranges(const ps_dgtd_system *system, int64_t first, int64_t least,
                       const int64_t *whole, int64_t *bounds);
/* The range that holds a group. */
int64_t ps_dgtd_range_of(const int64_t *bounds, int64_t ranges, int64_t group);

#endif
