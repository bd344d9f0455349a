/*
 * Copies between host and device through runtime/device.h, against the card's measured link of
 * 55 GB/s. Prints JSON records.
 */
#include <stdio.h>

#include "tests/gpu/device_rates.h"
#include "tests/support/record.h"

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
        bench_record(bench_device(device), cases[i], "bandwidth", rate[i], "GB/s", link_rate,
                     text("%lld bytes", (long long)rate_bytes));
    ps_device_close(&device);
    return 0;
}
