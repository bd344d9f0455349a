/*
 * progress: how far a program is, and how long it will take, told by one service for all.
 *
 * At a terminal a thread renews a line as long as the program runs, whether the program has
 * anything to tell or not, so that it is never silent; elsewhere a line comes every 20 seconds, of
 * stages that tell how far they are.
 */
#ifndef PS_RUNTIME_PROGRESS_H
#define PS_RUNTIME_PROGRESS_H

#include <stdint.h>

/* A stage under way; inner ones may begin and end within it, and are told then. */
typedef struct ps_progress {
    int level;
} ps_progress;

/* Begins to tell, at a terminal; for ps_main. `program` is borrowed. */
void ps_progress_open(const char *program);
void ps_progress_close(void);
/* Takes the line away, before something is printed to stdout. */
void ps_progress_clear(void);

/* A stage of `total` units, "assembling", "slices" (borrowed), of which an earlier run has done
 * `done` already. A stage that began and was not ended ends with the one around it. */
void ps_progress_start(ps_progress *progress, const char *what, const char *unit, int64_t done,
                       int64_t total);
/* Tells that `done` of the total are done. Cheap and thread-safe. */
void ps_progress_update(ps_progress *progress, int64_t done);
/* Tells that a part of a stage, 0 to 1, is done, for those that have no units to count: an
 * iteration whose residual falls. `format` is what to say of it: "residual 1.3e-4". */
void ps_progress_part(ps_progress *progress, double part, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* How far an iteration is whose relative residual has come from 1 to `residual` and is to reach
 * `tolerance`, 0 to 1, by logarithms. */
double ps_progress_of_residual(double residual, double tolerance);
void ps_progress_end(ps_progress *progress);

#endif
