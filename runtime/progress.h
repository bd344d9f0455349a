/*
 * progress: a line with rate and time left on a terminal, sparse log lines elsewhere.
 */
#ifndef PS_RUNTIME_PROGRESS_H
#define PS_RUNTIME_PROGRESS_H

#include <stdint.h>

typedef struct ps_progress {
    const char *what; /* "assembling", borrowed                       */
    const char *unit; /* "slices", borrowed                           */
    int64_t total;
    double start, shown;
} ps_progress;

void ps_progress_start(ps_progress *progress, const char *what, const char *unit, int64_t total);

/* Tells that `done` of the total are done. Cheap: prints at most 5 times a second on a
 * terminal, every 20 seconds elsewhere. Call it from one thread. */
void ps_progress_update(ps_progress *progress, int64_t done);

void ps_progress_end(ps_progress *progress);

#endif
