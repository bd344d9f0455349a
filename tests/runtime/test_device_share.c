/* device_share: what is not there is told. Sharing itself needs processes on CUDA devices
 * (tests/gpu/check_dgtd_march.sh, ranks). */
#include "runtime/device_share.h"

#include "runtime/scope.h"
#include "tests/check.h"
#include "tests/support/cpu_device.h"

static void the_cpu_shares_nothing(void **state)
{
    PS_SCOPED(ps_device_close) ps_device *device = cpu_device();
    ps_share_ticket ticket = {{0}, {0}};
    void *memory = NULL;
    check_fails(ps_share_alloc(device, 100, &memory, &ticket), PS_FAILED, "CUDA");
    check_fails(ps_share_reach(device, &ticket, &memory), PS_FAILED, "CUDA");
    assert_null(memory);
    ps_share_leave(device, NULL);
}
