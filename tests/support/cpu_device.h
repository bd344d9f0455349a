/* cpu_device: the cores as a device, and streams, for unit tests; PS_SCOPED closes them. */
#ifndef PS_TESTS_SUPPORT_CPU_DEVICE_H
#define PS_TESTS_SUPPORT_CPU_DEVICE_H

#include "runtime/device.h"
#include "tests/check.h"

static inline ps_device *cpu_device(void)
{
    ps_device *device;
    check_ok(ps_device_open("cpu", 0, &device));
    return device;
}

static inline ps_stream *stream_on(ps_device *device)
{
    ps_stream *stream;
    check_ok(ps_stream_open(device, &stream));
    return stream;
}

#endif
