/* Windows on the CPU's device; those of CUDA devices are checked by tests/gpu/check_device.c. */
#include "tests/support/cpu_device.h"
#include "tests/window_checks.h"

#include "runtime/scope.h"
#include "tests/check.h"

/* Rows that lie a ring apart are the same memory. */
static void rings_repeat(void **state)
{
    PS_SCOPED(ps_device_close) ps_device *device = cpu_device();
    int64_t ring = 5000;
    void *memory;
    check_ok(ps_device_alloc_ring(device, 100000, &ring, &memory));
    assert_true(ring >= 5000 && ring < 100000);
    char *bytes = memory;
    for (int64_t i = 0; i < ring; ++i) bytes[i] = (char)(i * 13);
    for (int64_t i = 0; i < 100000; ++i) assert_int_equal(bytes[i], (char)(i % ring * 13));
    ps_device_free_ring(device, memory, 100000, ring);
    ps_device_free_ring(device, NULL, 1, 1);
}

static void passes_to_and_fro(void **state)
{
    PS_SCOPED(ps_device_close) ps_device *device = cpu_device();
    check_ok(window_check_all(device));
}

static void too_small_a_window_is_refused(void **state)
{
    PS_SCOPED(ps_device_close) ps_device *device = cpu_device();
    PS_SCOPED(window_check_close) window_check x = {0};
    check_ok(window_check_open(&x, device, 60));
    check_fails(window_check_pass(&x, true), PS_EXHAUSTED, "--device-memory");
}
