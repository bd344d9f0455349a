/*
 * word_sort: stable parallel radix sort of 64-bit words by some of their bits, or of pairs of a
 * key and a word that goes along.
 */
#ifndef PS_KERNELS_COMMON_WORD_SORT_H
#define PS_KERNELS_COMMON_WORD_SORT_H

#include <stdint.h>

/* Sorts items[count][width] (width 1 or 2) ascending by bits [shift, shift + bits) of their first
 * word; items whose bits are equal keep their order. Least significant digit first, at most 8 bits
 * a pass, passes of equal width; a pass whose digit is the same in all items costs one reading.
 * scratch has the size of items; the result is in the array that is returned, one of the two.
 * The result does not depend on the number of threads. Threads: OpenMP inside; no state. */
uint64_t *ps_word_sort(uint64_t *items, int64_t count, int width, int shift, int bits,
                       uint64_t *scratch);

#endif
