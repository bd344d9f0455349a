/* verdict: how a check on devices ends: "N passed, N failed, N skipped". */
#ifndef PS_TESTS_SUPPORT_VERDICT_H
#define PS_TESTS_SUPPORT_VERDICT_H

#include <stdbool.h>
#include <stdio.h>

#include "runtime/device.h"

/* Whether there is nothing to check on; says so. */
static inline bool verdict_no_device(void)
{
    if (ps_device_count() > 0) return false;
    printf("0 passed, 0 failed, 1 skipped\n");
    return true;
}

/* The exit code. */
static inline int verdict(int passed, int failed)
{
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed > 0;
}

#endif
