/*
 * radix_sort: stable parallel sort of items by 64-bit keys.
 */
#ifndef PS_KERNELS_COMMON_RADIX_SORT_H
#define PS_KERNELS_COMMON_RADIX_SORT_H

#include <stdint.h>

/* Sorts keys[count] ascending and moves items[count] along; equal keys keep their order. Only
 * the `bits` lowest bits of the keys are looked at (1..64; the others must be 0). Least
 * significant digit first, 8 bits a pass; a pass whose digit is the same in all keys costs one
 * reading. The scratch arrays have the same sizes and are overwritten. The result does not
 * depend on the number of threads. Threads: OpenMP inside; no state. */
void ps_radix_sort(uint64_t *keys, int32_t *items, int64_t count, int bits, uint64_t *keys_scratch,
                   int32_t *items_scratch);

#endif
