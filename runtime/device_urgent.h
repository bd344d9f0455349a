/*
 * device_urgent: streams (runtime/device.h) for short kernels that others wait for.
 */
#ifndef PS_RUNTIME_DEVICE_URGENT_H
#define PS_RUNTIME_DEVICE_URGENT_H

#include "runtime/device.h"

/* As ps_stream_open; its kernels go before those of other streams as multiprocessors become free. */
ps_status ps_stream_open_urgent(ps_device *device, ps_stream **out);

#endif
