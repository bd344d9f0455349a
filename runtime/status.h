/*
 * status: how functions of the library report failure.
 *
 * A function that can fail returns a ps_status and never prints or exits. The
 * codes are the exit codes of the programs, and are pinned: they never change.
 * The text that goes with a failure is kept per thread (ps_message); it says what
 * was wrong, in which file or option, what was expected, and what to do.
 */
#ifndef PS_RUNTIME_STATUS_H
#define PS_RUNTIME_STATUS_H

typedef enum ps_status {
    PS_OK = 0,
    PS_FAILED = 1,     /* the computation failed (no convergence, a check not passed)     */
    PS_USAGE = 2,      /* a wrong option or argument                                      */
    PS_INVALID = 3,    /* invalid input: a file that is broken, foreign, from the future  */
    PS_EXHAUSTED = 4,  /* a resource ran out: disk, memory, or a budget that cannot do    */
    PS_INACCURATE = 5, /* a result does not meet the accuracy asked; nothing was written  */
    PS_STOPPED = 75    /* stopped before the end (EX_TEMPFAIL); --restart continues       */
} ps_status;

/* Records a message for this thread (printf-style, replaces the former one) and
 * returns `code`. */
ps_status ps_fail(ps_status code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Puts "context: " before this thread's message and returns `code`; use it where a
 * caller knows the file or option that the callee did not. */
ps_status ps_context(ps_status code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* This thread's last message; "" if none. Borrowed, valid until the next ps_fail here. */
const char *ps_message(void);

/* Returns from the calling function if `expression` fails. */
#define PS_TRY(expression)                                                                         \
    do {                                                                                           \
        ps_status ps_status_ = (expression);                                                       \
        if (ps_status_ != PS_OK) return ps_status_;                                                \
    } while (0)

/* Stores the status in `variable` and jumps to `label` (the clean-up) if it fails. */
#define PS_GUARD(variable, label, expression)                                                      \
    do {                                                                                           \
        (variable) = (expression);                                                                 \
        if ((variable) != PS_OK) goto label;                                                       \
    } while (0)

/* As PS_TRY, with a context (printf-style) before the message, as ps_context puts it there. */
#define PS_TRY_IN(expression, ...)                                                                 \
    do {                                                                                           \
        ps_status ps_status_ = (expression);                                                       \
        if (ps_status_ != PS_OK) return ps_context(ps_status_, __VA_ARGS__);                       \
    } while (0)

#endif
