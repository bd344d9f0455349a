/*
 * check_device: tests/device_checks.h on every CUDA device, and the bandwidth of copies. Ends
 * with "N passed, N failed, N skipped"; without a device everything is skipped.
 */
#include <stdio.h>

#include "tests/device_checks.h"

enum { ROUNDS = 8 };
static const int64_t bytes = (int64_t)256 << 20;

/* GB/s of ROUNDS copies, timed by events of the device. */
static ps_status measure(ps_device *device, void *there, void *host, bool to_host, double *rate)
{
    ps_stream *stream = NULL;
    ps_event *start = NULL, *end = NULL;
    double seconds;
    ps_status status;
    PS_GUARD(status, done, ps_stream_open(device, &stream));
    PS_GUARD(status, done, ps_event_open(device, &start));
    PS_GUARD(status, done, ps_event_open(device, &end));
    for (int round = -1; round < ROUNDS; ++round) { /* one to warm up */
        if (round == 0) PS_GUARD(status, done, ps_event_record(start, stream));
        PS_GUARD(status, done, to_host ? ps_copy_to_host(stream, host, there, bytes)
                                       : ps_copy_to_device(stream, there, host, bytes));
    }
    PS_GUARD(status, done, ps_event_record(end, stream));
    PS_GUARD(status, done, ps_event_seconds(start, end, &seconds));
    *rate = ROUNDS * (double)bytes / seconds / 1e9;
done:
    ps_event_close(&start);
    ps_event_close(&end);
    ps_stream_close(&stream);
    return status;
}

static ps_status measure_all(ps_device *device)
{
    void *there = NULL, *pinned = NULL, *pageable = NULL;
    double rate[4];
    ps_status status;
    PS_GUARD(status, done, ps_device_alloc(device, bytes, &there));
    PS_GUARD(status, done, ps_device_alloc_pinned(device, bytes, &pinned));
    PS_GUARD(status, done, ps_alloc(&pageable, bytes, 1, "pageable memory"));
    memset(pinned, 1, (size_t)bytes);
    for (int i = 0; i < 4; ++i)
        PS_GUARD(status, done, measure(device, there, i < 2 ? pinned : pageable, i % 2, &rate[i]));
    printf("pinned: to device %.1f, to host %.1f GB/s; pageable: %.1f, %.1f GB/s\n", rate[0],
           rate[1], rate[2], rate[3]);
done:
    ps_device_free(device, there);
    ps_device_free_pinned(device, pinned);
    free(pageable);
    return status;
}

static ps_status check_one(int ordinal)
{
    char name[32];
    ps_device *device;
    snprintf(name, sizeof name, "cuda:%d", ordinal);
    PS_TRY(ps_device_open(name, 0, &device));
    ps_device_info info = ps_device_describe(device);
    printf("%s: %s, %d multiprocessors, %.1f of %.1f GB free\n", name, info.name,
           info.multiprocessors, (double)info.memory_free / 1e9, (double)info.memory_total / 1e9);
    ps_status status = device_check_all(device);
    if (status == PS_OK) status = measure_all(device);
    ps_device_close(&device);
    return status;
}

int main(void)
{
    int count = ps_device_count(), failed = 0;
    for (int d = 0; d < count; ++d) {
        if (check_one(d) == PS_OK) continue;
        printf("cuda:%d: FAILED: %s\n", d, ps_message());
        failed += 1;
    }
    printf("%d passed, %d failed, %d skipped\n", count - failed, failed, count == 0);
    return failed > 0;
}
