/*
 * balance: contiguous intervals of equal data, for ranks that own slice intervals and for
 * threads that own rows.
 */
#ifndef PS_RUNTIME_BALANCE_H
#define PS_RUNTIME_BALANCE_H

#include <stdint.h>

/* Cuts items 0 .. count-1 into `parts` contiguous intervals so that the largest sum of
 * weights is as small as possible (exactly: bisection on that largest sum), and evens out the
 * others as far as that allows: part p owns [first[p], first[p + 1]); first[parts + 1],
 * first[0] = 0, first[parts] = count. Parts may be empty. weights[count] are not negative and
 * sum up to less than 2^63; parts >= 1. Equal arguments give equal intervals. Local,
 * thread-safe, O((count + parts) log sum). */
void ps_split_equal(const int64_t *weights, int64_t count, int parts, int64_t *first);

#endif
