/*
 * device_rates: the bandwidth of copies between host and device, for the check and the benchmark.
 */
#ifndef PS_TESTS_GPU_DEVICE_RATES_H
#define PS_TESTS_GPU_DEVICE_RATES_H

#include <stdlib.h>
#include <string.h>

#include "runtime/device.h"
#include "runtime/memory.h"
#include "tests/support/device_clock.h"

enum { RATE_ROUNDS = 8 };
static const int64_t rate_bytes = (int64_t)256 << 20;

/* GB/s of RATE_ROUNDS copies, timed by events of the device. */
static inline ps_status device_rate(ps_device *device, void *there, void *host, bool to_host,
                                    double *rate)
{
    PS_SCOPED(ps_stream_close) ps_stream *stream = NULL;
    PS_SCOPED(device_clock_close) device_clock clock = {0};
    double seconds;
    PS_TRY(ps_stream_open(device, &stream));
    PS_TRY(device_clock_open(&clock, stream));
    for (int round = -1; round < RATE_ROUNDS; ++round) { /* one to warm up */
        if (round == 0) PS_TRY(device_clock_start(&clock));
        PS_TRY(to_host ? ps_copy_to_host(stream, host, there, rate_bytes)
                       : ps_copy_to_device(stream, there, host, rate_bytes));
    }
    PS_TRY(device_clock_stop(&clock, &seconds));
    *rate = RATE_ROUNDS * (double)rate_bytes / seconds / 1e9;
    return PS_OK;
}

/* rate[4]: GB/s of pinned memory to the device and back, of pageable memory likewise. */
static inline ps_status device_rates(ps_device *device, double *rate)
{
    void *there = NULL, *pinned = NULL, *pageable = NULL;
    ps_status status;
    PS_GUARD(status, done, ps_device_alloc(device, rate_bytes, &there));
    PS_GUARD(status, done, ps_device_alloc_pinned(device, rate_bytes, &pinned));
    PS_GUARD(status, done, ps_alloc(&pageable, rate_bytes, 1, "pageable memory"));
    memset(pinned, 1, (size_t)rate_bytes);
    for (int i = 0; i < 4; ++i)
        PS_GUARD(status, done,
                 device_rate(device, there, i < 2 ? pinned : pageable, i % 2, &rate[i]));
done:
    ps_device_free(device, there);
    ps_device_free_pinned(device, pinned);
    free(pageable);
    return status;
}

#endif
