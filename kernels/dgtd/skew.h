/*
 * skew: the order of half steps that makes several time steps while ranges of the mesh pass once
 * (numerics guide 4, "Out of core": time-skewed tiles).
 *
 * Ranges touch only their neighbours (ranges.h) and stand at places 0, 1, ... in the direction of
 * the visit. In tick c half step s = 1 .. halves (odd E, even H) works on `width` places from
 *
 *     c width - delay(s),    delay(s) = (s - 1) + floor((s - 1)/phases) width
 *
 * on, and finds all it reads as it should be. Phase f of a tick are its half steps s = f + 1,
 * f + 1 + phases, ...: these have nothing to do with one another and may be done at once. With
 * phases = halves the places of all half steps are closest together; fewer phases need a larger
 * window, halves (1 + width/phases) places, and have more to do at once. No half step is done
 * twice, all is done in place, and the bits are those of a march without tiles.
 */
#ifndef PS_KERNELS_DGTD_SKEW_H
#define PS_KERNELS_DGTD_SKEW_H

#include <stdint.h>

typedef struct ps_dgtd_skew {
    int64_t ranges, width, halves;
    int64_t phases; /* at most halves; even or `halves`, so that a phase is of one field */
} ps_dgtd_skew;

int64_t ps_dgtd_skew_delay(const ps_dgtd_skew *skew, int64_t half);
/* Places that a tick reads or changes, from the first to the last. */
int64_t ps_dgtd_skew_window(const ps_dgtd_skew *skew);
int64_t ps_dgtd_skew_ticks(const ps_dgtd_skew *skew);

/* Places [first, end) of a half step in a tick, within the mesh; returns end > first. */
int ps_dgtd_skew_part(const ps_dgtd_skew *skew, int64_t tick, int64_t half, int64_t *first,
                      int64_t *end);
/* Before a tick places below this have to be there; after it those below `done` are not needed any
 * more. */
int64_t ps_dgtd_skew_needed(const ps_dgtd_skew *skew, int64_t tick);
int64_t ps_dgtd_skew_done(const ps_dgtd_skew *skew, int64_t tick);

#endif
