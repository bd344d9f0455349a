/*
 * check_copy_ranges: tests/support/ranges_case.h on the first CUDA device. Ends with "N passed, N
 * failed, N skipped".
 */
#include <stdio.h>

#include "tests/support/ranges_case.h"
#include "tests/support/verdict.h"

int main(void)
{
    ps_device *device;
    if (verdict_no_device()) return 0;
    ps_status status = ps_device_open("cuda:0", 0, &device);
    if (status == PS_OK) {
        status = ranges_case_all(device);
        ps_device_close(&device);
    }
    if (status != PS_OK) printf("FAILED: %s\n", ps_message());
    printf("%d passed, %d failed, 0 skipped\n", status == PS_OK, status != PS_OK);
    return status != PS_OK;
}
