/*
 * sizes: counts, sizes and pieces of memory. A line is what a cache fetches and the widest vector
 * takes, PS_LINE bytes; memory of devices is laid out in PS_DEVICE_LINE, at which their loads
 * coalesce.
 */
#ifndef PS_RUNTIME_SIZES_H
#define PS_RUNTIME_SIZES_H

#include <stddef.h>
#include <stdint.h>

enum { PS_LINE = 64, PS_DEVICE_LINE = 256 };

static inline int64_t ps_smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t ps_larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* The least multiple of `unit` that is not below a value that is not negative. */
static inline int64_t ps_round_up(int64_t value, int64_t unit)
{
    return (value + unit - 1) / unit * unit;
}
static inline int64_t ps_padded(int64_t bytes) { return ps_round_up(bytes, PS_LINE); }
static inline int64_t ps_device_padded(int64_t bytes) { return ps_round_up(bytes, PS_DEVICE_LINE); }

/* The range of start[ranges + 1], ascending, that holds an item: the last that does not begin after
 * it; 0 if all do. */
static inline int64_t ps_range_of(const int64_t *start, int64_t ranges, int64_t item)
{
    int64_t low = 0, high = ranges;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (start[middle] <= item)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The next `bytes` of a block of memory, of which *used are taken, padded to lines. NULL for a
 * block of NULL: so the lines that lay a block out also count its bytes. */
static inline void *ps_host_part(void *block, int64_t *used, int64_t bytes)
{
    void *at = block ? (char *)block + *used : NULL;
    *used += ps_padded(bytes);
    return at;
}
static inline void *ps_device_part(void *block, int64_t *used, int64_t bytes)
{
    void *at = block ? (char *)block + *used : NULL;
    *used += ps_device_padded(bytes);
    return at;
}

#endif
