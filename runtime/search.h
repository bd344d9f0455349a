/* search: places in sorted lists. */
#ifndef PS_RUNTIME_SEARCH_H
#define PS_RUNTIME_SEARCH_H

#include <stdint.h>

/* low = the first of begin .. end - 1 for which `before`, an expression of the index `at`, does not
 * hold, or end; it must hold for none after that. A statement:
 *     PS_LOWER_BOUND(low, 0, count, at, keys[at] < key); */
#define PS_LOWER_BOUND(low, begin, end, at, before)                                                \
    do {                                                                                           \
        int64_t high_ = (end), at;                                                                 \
        for ((low) = (begin); (low) < high_;) {                                                    \
            at = (low) + (high_ - (low)) / 2;                                                      \
            if (before)                                                                            \
                (low) = at + 1;                                                                    \
            else                                                                                   \
                high_ = at;                                                                        \
        }                                                                                          \
    } while (0)

#endif
