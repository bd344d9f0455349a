/*
 * check_device_stream: tests/device_stream_checks.h on every CUDA device, with batches of a few
 * megabytes. Ends with "N passed, N failed, N skipped"; without a device everything is skipped.
 */
#include <stdio.h>

#include "tests/device_stream_checks.h"
#include "tests/support/verdict.h"

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

int main(void)
{
    for (int d = 0; verdict_open(d); ++d) {
        ps_status status = check_source(verdict.device, 60, 2000, 4000);
        if (status == PS_OK) status = check_source(verdict.device, 43, 100000, 500000);
        verdict_of(status, "cuda:%d", d);
    }
    return verdict_end();
}
