/*
 * check_device_stream: tests/device_stream_checks.h on every CUDA device, with batches of a few
 * megabytes. Ends with "N passed, N failed, N skipped"; without a device everything is skipped.
 */
#include <stdio.h>

#include "tests/device_stream_checks.h"

/* A compute that fails in the second sweep: the message, and all is given back. */
static ps_status check_failure(streamed *s)
{
    ps_device_stream_stats stats;
    ps_device_stream_config config =
        streamed_config(s, 3 * s->least + s->total, s->least + s->total / 3);
    s->fail_compute = 20, s->fail_after = 1;
    ps_status status = streamed_run(s, &config, 4, &stats);
    s->fail_compute = -1;
    if (status != PS_FAILED || !strstr(ps_message(), "compute broke at 20"))
        return ps_fail(PS_FAILED, "a failing compute gave %d: %s", status, ps_message());
    return PS_OK;
}

static ps_status check_source(ps_device *device, int64_t chunks, int64_t raw, int64_t unpacked)
{
    streamed s;
    ps_status status;
    PS_GUARD(status, done, streamed_open(&s, device, chunks, raw, unpacked));
    PS_GUARD(status, done, streamed_check_budgets(&s, 5));
    s.rounds = 1;
    for (int step = 1; step <= 5; ++step)
        PS_GUARD(status, done,
                 streamed_check_resets(&s, 3 * s.least + s.total * (step % 3) / 2,
                                       s.least + s.total * step / 5));
    PS_GUARD(status, done, check_failure(&s));
done:
    streamed_close(&s);
    return status;
}

static ps_status check_one(int ordinal)
{
    char name[32];
    ps_device *device;
    snprintf(name, sizeof name, "cuda:%d", ordinal);
    PS_TRY(ps_device_open(name, 0, &device));
    ps_status status = check_source(device, 60, 2000, 4000);
    if (status == PS_OK) status = check_source(device, 43, 100000, 500000);
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
