/*
 * first_failure: the first failure of several OpenMP threads, with its message, which ps_fail
 * keeps per thread. Zero-initialise; note in the loop, return ps_first_failure after it.
 */
#ifndef PS_RUNTIME_FIRST_FAILURE_H
#define PS_RUNTIME_FIRST_FAILURE_H

#include <stdbool.h>
#include <stdio.h>

#include "runtime/status.h"

typedef struct ps_failure {
    ps_status status;
    char message[1024];
} ps_failure;

static inline void ps_note_failure(ps_failure *failure, ps_status status)
{
    if (status == PS_OK) return;
#pragma omp critical(ps_first_failure)
    if (failure->status == PS_OK) {
        snprintf(failure->message, sizeof failure->message, "%s", ps_message());
#pragma omp atomic write
        failure->status = status;
    }
}

/* Whether any thread has failed so far: the others may stop. */
static inline bool ps_has_failed(const ps_failure *failure)
{
    ps_status status;
#pragma omp atomic read
    status = failure->status;
    return status != PS_OK;
}

static inline ps_status ps_first_failure(const ps_failure *failure)
{
    return failure->status == PS_OK ? PS_OK : ps_fail(failure->status, "%s", failure->message);
}

#endif
