/*
 * check_device: tests/device_checks.h on every CUDA device, and the bandwidth of copies. Ends
 * with "N passed, N failed, N skipped"; without a device everything is skipped.
 */
#include <stdio.h>

#include "tests/device_checks.h"
#include "tests/window_checks.h"
#include "tests/gpu/device_rates.h"

static ps_status check_one(int ordinal)
{
    char name[32];
    ps_device *device;
    snprintf(name, sizeof name, "cuda:%d", ordinal);
    PS_TRY(ps_device_open(name, 0, &device));
    ps_device_info info = ps_device_describe(device);
    printf("%s: %s, %d multiprocessors, %.1f of %.1f GB free\n", name, info.name,
           info.multiprocessors, (double)info.memory_free / 1e9, (double)info.memory_total / 1e9);
    ps_status status = device_check_all(device);
    double rate[4];
    if (status == PS_OK) status = window_check_all(device);
    if (status == PS_OK) status = device_rates(device, rate);
    if (status == PS_OK)
        printf("pinned: to device %.1f, to host %.1f GB/s; pageable: %.1f, %.1f GB/s\n", rate[0],
               rate[1], rate[2], rate[3]);
    ps_device_close(&device);
    return status;
}

/* Device 0 and each other one exchange bytes both ways. */
static ps_status check_pair(int other)
{
    char name[32];
    ps_device *first = NULL, *second = NULL;
    ps_status status;
    snprintf(name, sizeof name, "cuda:%d", other);
    PS_GUARD(status, done, ps_device_open("cuda:0", 0, &first));
    PS_GUARD(status, done, ps_device_open(name, 0, &second));
    PS_GUARD(status, done, device_check_peer(first, second, 20000001));
    PS_GUARD(status, done, device_check_peer(second, first, 20000001));
done:
    ps_device_close(&first);
    ps_device_close(&second);
    return status;
}

int main(void)
{
    int count = ps_device_count(), failed = 0;
    for (int d = 0; d < count; ++d) {
        if (check_one(d) == PS_OK && (d == 0 || check_pair(d) == PS_OK)) continue;
        printf("cuda:%d: FAILED: %s\n", d, ps_message());
        failed += 1;
    }
    printf("%d passed, %d failed, %d skipped\n", count - failed, failed, count == 0);
    return failed > 0;
}
