/*
 * first_failure: the first failure of several OpenMP threads, with its message, which ps_fail
 * keeps per thread. Zero-initialise; note in the loop, return ps_first_failure after it.
 */
#ifndef PS_RUNTIME_FIRST_FAILURE_H
#define PS_RUNTIME_FIRST_FAILURE_H

#include <stdbool.h>

#include "runtime/status.h"

typedef struct ps_failure {
    ps_status status;
    char message[1024];
} ps_failure;

/* Keeps `status` and this thread's message if it is a failure and the first one. Thread-safe. */
void ps_note_failure(ps_failure *failure, ps_status status);

/* Whether any thread has failed so far: the others may stop. Thread-safe. */
bool ps_has_failed(const ps_failure *failure);

/* The first failure, with its message as this thread's own; PS_OK if there was none. */
ps_status ps_first_failure(const ps_failure *failure);

#endif
