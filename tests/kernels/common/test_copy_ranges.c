#include "runtime/scope.h"
#include "tests/check.h"
#include "tests/support/cpu_device.h"
#include "tests/support/ranges_case.h"

static void cpu_copies(void **state)
{
    PS_SCOPED(ps_device_close) ps_device *device = cpu_device();
    check_ok(ranges_case_all(device));
}

static void refuses(void **state)
{
    PS_SCOPED(ps_device_close) ps_device *device = cpu_device();
    PS_SCOPED(ps_stream_close) ps_stream *stream = stream_on(device);
    ps_copy_ranges copy = {.item_bytes = 2, .count = 1};
    check_fails(ps_copy_ranges_run(&copy, stream), PS_USAGE, "2 bytes");
    copy = (ps_copy_ranges){.item_bytes = 8};
    check_ok(ps_copy_ranges_run(&copy, stream));
}
