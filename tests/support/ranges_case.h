/*
 * ranges_case: random ranges copied on a device, bit for bit, and what lies between them untouched;
 * for tests on the CPU device and checks on CUDA devices.
 */
#ifndef PS_TESTS_SUPPORT_RANGES_CASE_H
#define PS_TESTS_SUPPORT_RANGES_CASE_H

#include <stdlib.h>
#include <string.h>

#include "kernels/common/copy_ranges.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "tests/support/random.h"

typedef struct ranges_case {
    ps_copy_ranges copy; /* memory of the device  */
    ps_range *ranges;
    char *from, *to, *expected; /* of the host */
    int64_t bytes;              /* of each array */
} ranges_case;

/* Ranges of 0 to 3000 items at multiples of `step` items, in another order in `from`. */
static inline void ranges_case_fill(ranges_case *c, int64_t count, int item_bytes, int64_t step)
{
    int64_t room = 3000 / step * step + step;
    uint64_t random = 20261122;
    c->bytes = count * room * item_bytes;
    c->ranges = calloc((size_t)count, sizeof *c->ranges);
    c->from = malloc((size_t)c->bytes);
    c->to = malloc((size_t)c->bytes);
    c->expected = malloc((size_t)c->bytes);
    for (int64_t i = 0; i < c->bytes; ++i) {
        c->from[i] = (char)(congruence_next(&random) >> 56);
        c->to[i] = c->expected[i] = (char)(i % 127);
    }
    for (int64_t r = 0; r < count; ++r) {
        congruence_next(&random);
        ps_range *range = &c->ranges[r];
        range->count = (int64_t)(random >> 33) % (room - step + 1);
        range->from = (count - 1 - r) * room;
        range->to = r * room + step * ((int64_t)(random >> 20) % 2) * (range->count < room - step);
        memcpy(c->expected + range->to * item_bytes, c->from + range->from * item_bytes,
               (size_t)(range->count * item_bytes));
    }
    c->copy.item_bytes = item_bytes;
    c->copy.count = count;
}

static inline ps_status ranges_case_send(ps_device *device, ps_stream *stream, const void *data,
                                         int64_t bytes, void **out)
{
    PS_TRY(ps_device_alloc(device, bytes, out));
    return ps_copy_to_device(stream, *out, data, bytes);
}

static inline ps_status ranges_case_copy(ranges_case *c, ps_device *device, ps_stream *stream)
{
    void *ranges, *from;
    PS_TRY(ranges_case_send(device, stream, c->ranges, c->copy.count * (int64_t)sizeof *c->ranges,
                            &ranges));
    PS_TRY(ranges_case_send(device, stream, c->from, c->bytes, &from));
    PS_TRY(ranges_case_send(device, stream, c->to, c->bytes, &c->copy.to));
    c->copy.ranges = ranges;
    c->copy.from = from;
    PS_TRY(ps_copy_ranges_run(&c->copy, stream));
    PS_TRY(ps_copy_to_host(stream, c->to, c->copy.to, c->bytes));
    PS_TRY(ps_stream_wait(stream));
    ps_device_free(device, ranges);
    ps_device_free(device, from);
    ps_device_free(device, c->copy.to);
    return memcmp(c->to, c->expected, (size_t)c->bytes) == 0
               ? PS_OK
               : ps_fail(PS_FAILED, "%lld ranges of items of %d bytes are not copied right",
                         (long long)c->copy.count, c->copy.item_bytes);
}

static inline void ranges_case_release(ranges_case *c)
{
    PS_FREE(c->ranges, c->from, c->to, c->expected);
}

/* Both sizes of items, ranges that begin at 16 bytes and those that do not. */
static inline ps_status ranges_case_all(ps_device *device)
{
    static const int64_t counts[] = {1, 37, 999}, steps[] = {1, 4};
    PS_SCOPED(ps_stream_close) ps_stream *stream = NULL;
    PS_TRY(ps_stream_open(device, &stream));
    for (int e = 0; e < 12; ++e) {
        PS_SCOPED(ranges_case_release) ranges_case c = {0};
        ranges_case_fill(&c, counts[e % 3], e / 3 % 2 ? 8 : 4, steps[e / 6]);
        PS_TRY(ranges_case_copy(&c, device, stream));
    }
    return PS_OK;
}

#endif
