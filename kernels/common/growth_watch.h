/*
 * growth_watch: tells an unstable march from a stable one, once its loads are over.
 *
 * A passive system that nothing drives any more can ring, echo and focus, but not grow without
 * end; rounding drifts by powers of time (a double root at z = 1: linearly, by random walk t^1.5).
 * Only an unstable root grows exponentially. So the time since the last load is cut into octaves,
 * windows 1 | 2 | 3, 4 | 5 .. 8 | ..., and the largest level in an octave compared with that of all
 * octaves before: drifts at most triple it from one octave to the next, an exponential squares its
 * factor each time. A window should be what a wave needs to cross the body, or longer.
 */
#ifndef PS_KERNELS_COMMON_GROWTH_WATCH_H
#define PS_KERNELS_COMMON_GROWTH_WATCH_H

#include <stdint.h>

/* Part of the state of a run; all zero at its start. Doubles alone, as checkpoints hold them. */
typedef struct ps_growth_watch {
    double before; /* largest level of the octaves since the last load that are over        */
    double now;    /* largest level of this octave                                          */
    double warned; /* 1: growth was suspected, and said so                                  */
} ps_growth_watch;

typedef enum ps_growth {
    PS_GROWTH_NONE,
    PS_GROWTH_SUSPECTED, /* 8 times what was before; told once                               */
    PS_GROWTH_CERTAIN    /* 64 times                                                         */
} ps_growth;

/* To be called after every step. quiet: steps since the last load, <= 0 while there is one (the
 * watch starts anew); window >= 1: steps; level: a magnitude of the answer, drifts that are known
 * (the mean, say) taken out; largest: of the answer in the whole run. Levels below 1e-3 of
 * `largest` are never growth. Equal calls, equal answers. */
ps_growth ps_growth_watch_step(ps_growth_watch *watch, int64_t quiet, int64_t window, double level,
                               double largest);

#endif
