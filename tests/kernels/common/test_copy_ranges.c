#include "tests/check.h"
#include "tests/support/ranges_case.h"

static void cpu_copies(void **state)
{
    ps_device *device;
    check_ok(ps_device_open("cpu", 0, &device));
    check_ok(ranges_case_all(device));
    ps_device_close(&device);
}

static void refuses(void **state)
{
    ps_device *device;
    ps_stream *stream;
    ps_copy_ranges copy = {.item_bytes = 2, .count = 1};
    check_ok(ps_device_open("cpu", 0, &device));
    check_ok(ps_stream_open(device, &stream));
    check_fails(ps_copy_ranges_run(&copy, stream), PS_USAGE, "2 bytes");
    copy = (ps_copy_ranges){.item_bytes = 8};
    check_ok(ps_copy_ranges_run(&copy, stream));
    ps_stream_close(&stream);
    ps_device_close(&device);
}
