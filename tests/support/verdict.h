/*
 * verdict: the life of a check on devices: a device with a stream, what passed and failed, and
 * "N passed, N failed, N skipped" at the end. CHECK_DEVICE names another device, such as "cpu".
 */
#ifndef PS_TESTS_SUPPORT_VERDICT_H
#define PS_TESTS_SUPPORT_VERDICT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/device.h"

static struct {
    int passed, failed;
    ps_device *device;
    ps_stream *stream;
} verdict;

/* Counts a check. Whether it is to be told: it failed, or VERBOSE is set. */
static inline bool verdict_count(bool good)
{
    good ? ++verdict.passed : ++verdict.failed;
    return !good || getenv("VERBOSE");
}

/* Counts a check by how it ended, and tells of a failure, what and why. */
__attribute__((format(printf, 2, 3))) static inline void verdict_of(ps_status status,
                                                                    const char *what, ...)
{
    va_list arguments;
    va_start(arguments, what);
    verdict_count(status == PS_OK);
    if (status != PS_OK) {
        vprintf(what, arguments);
        printf(": FAILED: %s\n", ps_message());
    }
    va_end(arguments);
    fflush(stdout);
}

static inline void verdict_close(void)
{
    ps_stream_close(&verdict.stream);
    ps_device_close(&verdict.device);
}

/* Device number d in the place of the one before; false where there is none, or where it does not
 * open, which has failed then. */
static inline bool verdict_open(int d)
{
    const char *chosen = getenv("CHECK_DEVICE");
    char name[32];
    verdict_close();
    if (d >= (chosen ? 1 : ps_device_count())) return false;
    snprintf(name, sizeof name, "cuda:%d", d);
    ps_status status = ps_device_open(chosen ? chosen : name, 0, &verdict.device);
    if (status == PS_OK) status = ps_stream_open(verdict.device, &verdict.stream);
    if (status != PS_OK) verdict_of(status, "%s", chosen ? chosen : name);
    return status == PS_OK;
}

/* The exit code; without a device one check was skipped. */
static inline int verdict_end(void)
{
    verdict_close();
    printf("%d passed, %d failed, %d skipped\n", verdict.passed, verdict.failed,
           verdict.passed + verdict.failed == 0);
    return verdict.failed > 0;
}

#endif
