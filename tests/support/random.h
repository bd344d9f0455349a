/* Reproducible random numbers. */
#ifndef PS_TESTS_SUPPORT_RANDOM_H
#define PS_TESTS_SUPPORT_RANDOM_H

#include <stdint.h>

/* In [0, 1): splitmix64. */
static inline double check_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static inline void check_shuffle(uint64_t *state, int64_t count, int32_t *items)
{
    for (int64_t i = count - 1; i > 0; --i) {
        int64_t j = (int64_t)(check_random(state) * (double)(i + 1));
        int32_t keep = items[i];
        items[i] = items[j];
        items[j] = keep;
    }
}

/* The next of Knuth's linear congruence (MMIX), whose upper bits are the better ones. */
static inline uint64_t congruence_next(uint64_t *state)
{
    return *state = *state * 6364136223846793005u + 1442695040888963407u;
}

/* In [0, 1), by its upper bits. */
static inline double congruence_uniform(uint64_t *state)
{
    return (double)(congruence_next(state) >> 11) * 0x1p-53;
}

#endif
