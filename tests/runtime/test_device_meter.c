#include <unistd.h>

#include "runtime/device_meter.h"
#include "runtime/scope.h"
#include "tests/check.h"
#include "tests/support/cpu_device.h"

static void probes_time_work(void **state)
{
    PS_SCOPED(ps_device_close) ps_device *device = cpu_device();
    PS_SCOPED(ps_stream_close) ps_stream *stream = stream_on(device);
    PS_SCOPED(ps_probe_close) ps_probe probe = {0};
    ps_meter meter = {0};
    bool timed;
    check_ok(ps_probe_open(device, &probe));
    check_ok(ps_probe_collect(&probe, true)); /* nothing yet */
    for (int i = 0; i < 3; ++i) {
        check_ok(ps_probe_begin(&probe, stream, &timed));
        assert_true(timed);
        usleep(2000);
        check_ok(ps_probe_end(&probe, stream, timed, &meter, 5));
    }
    check_near(meter.weight, 15, 0, 0);
    check_near(meter.timed, 10, 0, 0); /* the last one is not collected yet */
    check_ok(ps_probe_collect(&probe, false));
    check_ok(ps_probe_collect(&probe, true));
    check_near(meter.timed, 15, 0, 0);
    assert_true(meter.seconds >= 6e-3);
    check_near(ps_meter_seconds(&meter), meter.seconds, 0, 1e-15);
}

/* What was not timed is taken to have been as fast as what was. */
static void weights_stand_in(void **state)
{
    PS_SCOPED(ps_device_close) ps_device *device = cpu_device();
    PS_SCOPED(ps_stream_close) ps_stream *stream = stream_on(device);
    PS_SCOPED(ps_probe_close) ps_probe probe = {0};
    ps_meter meter = {.seconds = 2, .timed = 10, .weight = 10};
    check_ok(ps_probe_open(device, &probe));
    check_ok(ps_probe_end(&probe, stream, false, &meter, 30));
    check_near(ps_meter_seconds(&meter), 8, 0, 1e-15);
    meter = (ps_meter){0};
    check_near(ps_meter_seconds(&meter), 0, 0, 0);
}
