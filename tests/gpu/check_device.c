/*
 * check_device: tests/device_checks.h on every CUDA device, and the bandwidth of copies. Ends
 * with "N passed, N failed, N skipped"; without a device everything is skipped.
 */
#include <stdio.h>

#include "tests/device_checks.h"
#include "tests/window_checks.h"
#include "tests/gpu/device_rates.h"
#include "tests/support/verdict.h"

static ps_status check_one(int ordinal)
{
    ps_device *device = verdict.device;
    ps_device_info info = ps_device_describe(device);
    printf("cuda:%d: %s, %d multiprocessors, %.1f of %.1f GB free\n", ordinal, info.name,
           info.multiprocessors, (double)info.memory_free / 1e9, (double)info.memory_total / 1e9);
    ps_status status = device_check_all(device);
    double rate[4];
    if (status == PS_OK) status = window_check_all(device);
    if (status == PS_OK) status = device_rates(device, rate);
    if (status == PS_OK)
        printf("pinned: to device %.1f, to host %.1f GB/s; pageable: %.1f, %.1f GB/s\n", rate[0],
               rate[1], rate[2], rate[3]);
    return status;
}

/* Device 0 and each other one exchange bytes both ways. */
static ps_status check_pair(void)
{
    ps_device *first;
    PS_TRY(ps_device_open("cuda:0", 0, &first));
    ps_status status = device_check_peer(first, verdict.device, 20000001);
    if (status == PS_OK) status = device_check_peer(verdict.device, first, 20000001);
    ps_device_close(&first);
    return status;
}

int main(void)
{
    for (int d = 0; verdict_open(d); ++d) {
        ps_status status = check_one(d);
        if (status == PS_OK && d > 0) status = check_pair();
        verdict_of(status, "cuda:%d", d);
    }
    return verdict_end();
}
