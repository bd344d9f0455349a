/*
 * penstock: the solvers' files, H-matrices, particle sums and boundary integrals, by the calls that
 * the programs themselves use. The contract is specs/library.md.
 *
 * Every function that can fail returns a penstock_status and its results through pointers; what a
 * pointer holds after a failure is not defined, but handles are NULL. Functions never print, and
 * never exit. Different threads may use different handles; one handle belongs to one thread at a
 * time, but for what says otherwise. Work is shared among the threads of OpenMP (OMP_NUM_THREADS).
 *
 * Arrays are contiguous, shapes in brackets with the slowest index first, numbers little-endian,
 * units those of the SI unless a file says otherwise. Arrays that are passed in are borrowed for
 * the call alone. Complex numbers are pairs of doubles, as C and NumPy have them.
 */
#ifndef PENSTOCK_STATUS_H
#define PENSTOCK_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PENSTOCK_API __attribute__((visibility("default")))

/* The codes are the exit codes of the programs, and never change. */
typedef enum penstock_status {
    PENSTOCK_OK = 0,
    PENSTOCK_FAILED = 1,     /* the computation failed                            */
    PENSTOCK_USAGE = 2,      /* a wrong argument                                  */
    PENSTOCK_INVALID = 3,    /* a file or data that are broken, or foreign        */
    PENSTOCK_EXHAUSTED = 4,  /* memory or disk ran out                            */
    PENSTOCK_INACCURATE = 5, /* a result does not meet the accuracy that was asked */
    PENSTOCK_STOPPED = 75    /* of programs alone                                 */
} penstock_status;

/* What the last failure in this thread was: what was wrong, in which file or argument, what was
 * expected, what to do. "" if there was none. Valid until the next failure in this thread. */
PENSTOCK_API const char *penstock_message(void);

/* "1.0.0 (REVISION)" */
PENSTOCK_API const char *penstock_version(void);

#ifdef __cplusplus
}
#endif
#endif
