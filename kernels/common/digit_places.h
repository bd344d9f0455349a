/*
 * digit_places: the step that the passes of radix sorts share, from counts to places.
 */
#ifndef PS_KERNELS_COMMON_DIGIT_PLACES_H
#define PS_KERNELS_COMMON_DIGIT_PLACES_H

#include <stdbool.h>
#include <stdint.h>

enum { PS_DIGIT_BITS = 8, PS_DIGITS = 1 << PS_DIGIT_BITS, PS_DIGITS_SERIAL_BELOW = 1 << 14 };

/* place[threads][PS_DIGITS]: how many of a thread's items have a digit become the place of the
 * first of them, digit by digit and thread by thread, which keeps a sort stable. False, nothing
 * needs moving, if all `count` items share one of the `digits` digits. */
static inline bool ps_digit_places(int64_t (*place)[PS_DIGITS], int digits, int threads,
                                   int64_t count)
{
    int64_t at = 0;
    for (int d = 0; d < digits; ++d) {
        int64_t before = at;
        for (int t = 0; t < threads; ++t) {
            int64_t here = place[t][d];
            place[t][d] = at;
            at += here;
        }
        if (at - before == count) return false;
    }
    return true;
}

#endif
