/*
 * Copies between host and device through runtime/device.h, against the card's measured link of
 * 55 GB/s. Prints JSON records.
 */
#include <stdio.h>

#include "runtime/program.h"
#include "tests/gpu/device_rates.h"

static const double link_rate = 55;

int main(void)
{
    static const char *const cases[] = {"copy-pinned-to-device", "copy-pinned-to-host",
                                        "copy-pageable-to-device", "copy-pageable-to-host"};
    ps_device *device;
    double rate[4];
    ps_status status = ps_device_open("cuda:0", 0, &device);
    if (status == PS_OK) status = device_rates(device, rate);
    if (status != PS_OK) {
        fprintf(stderr, "bench_runtime_device: %s\n", ps_message());
        return (int)status;
    }
    for (int i = 0; i < 4; ++i)
        printf(
            "{\"case\": \"%s\", \"quantity\": \"bandwidth\", \"value\": %.4g, \"unit\": \"GB/s\", "
            "\"floor\": %g, \"fraction\": %.3f, \"size\": \"%lld bytes\", \"device\": \"%s\", "
            "\"revision\": \"%s\"}\n",
            cases[i], rate[i], link_rate, rate[i] / link_rate, (long long)rate_bytes,
            ps_device_describe(device).name, ps_revision());
    ps_device_close(&device);
    return 0;
}
