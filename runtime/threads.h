/*
 * threads: whether this process can have as many threads as it is asked to use. OpenMP ends the
 * process without telling what to do where it cannot start one, or crashes.
 */
#ifndef PS_RUNTIME_THREADS_H
#define PS_RUNTIME_THREADS_H

#include <stdint.h>

#include "runtime/status.h"

enum { PS_THREADS_MOST = 4096 };

/* Starts threads - 1 threads beside this one, for a moment. PS_USAGE for more than PS_THREADS_MOST,
 * PS_EXHAUSTED, with how many there can be, if the machine has no room for them (`ulimit -u`, `-v`,
 * a limit of a container). */
ps_status ps_threads_check(int64_t threads);

/* The same for as many as OpenMP would use here, looked at once. From then on a child of fork has one
 * thread. */
ps_status ps_threads_check_default(void);

#endif
