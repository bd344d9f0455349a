/*
 * counter_random: random numbers as a function of (seed, item, draw), so that item i is the same
 * whoever makes it and in whatever order.
 *
 * The finaliser of splitmix64 (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number
 * generators") over the three counters, each multiplied by an odd constant of its own.
 */
#ifndef PS_KERNELS_COMMON_COUNTER_RANDOM_H
#define PS_KERNELS_COMMON_COUNTER_RANDOM_H

#include <stdint.h>
#include <string.h>

static inline uint64_t ps_counter_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* 64 bits. */
static inline uint64_t ps_counter_bits(uint64_t seed, uint64_t item, uint64_t draw)
{
    uint64_t stream = ps_counter_mix(seed * 0xd1342543de82ef95u + 0x9e3779b97f4a7c15u);
    return ps_counter_mix(ps_counter_mix(stream + item * 0x9e3779b97f4a7c15u) +
                          draw * 0xda942042e4dd58b5u);
}

/* The middle of one of the 2^53 parts of (0, 1), by counter. */
static inline double ps_counter_inside(uint64_t counter)
{
    return ((double)(ps_counter_mix(counter) >> 11) + 0.5) * 0x1p-53;
}

/* A multiple of 2^-53 in [0, 1). */
static inline double ps_counter_uniform(uint64_t seed, uint64_t item, uint64_t draw)
{
    return (double)(ps_counter_bits(seed, item, draw) >> 11) * 0x1p-53;
}

static inline uint64_t ps_real_bits(double x)
{
    uint64_t bits;
    x += 0.0; /* -0 and 0 are one */
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* A hash of a place: equal places, equal hashes; others with probability 2^-64. */
static inline uint64_t ps_point_hash(double x, double y, double z)
{
    uint64_t h = ps_counter_mix(ps_real_bits(x) + 0x9e3779b97f4a7c15u);
    h = ps_counter_mix(h + ps_real_bits(y) * 0xda942042e4dd58b5u);
    return ps_counter_mix(h + ps_real_bits(z) * 0xd1342543de82ef95u);
}

#endif
