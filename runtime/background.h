/*
 * background: one call at a time in a thread of its own, with its status and message handed back to
 * whoever waits for it. Zero-initialise; wait before the struct goes.
 */
#ifndef PS_RUNTIME_BACKGROUND_H
#define PS_RUNTIME_BACKGROUND_H

#include <pthread.h>
#include <stdbool.h>

#include "runtime/status.h"

typedef struct ps_background {
    pthread_t thread;
    bool busy;
    double seconds; /* that the last call took, once waited for */
    ps_status (*call)(void *argument);
    void *argument;
    ps_status status;
    char message[1024];
} ps_background;

/* Starts call(argument), signals blocked; `what` names the thread in the message. Nothing may be
 * busy. PS_EXHAUSTED where no thread is to be had: then nothing is called. */
ps_status ps_background_start(ps_background *background, ps_status (*call)(void *argument),
                              void *argument, const char *what);

/* Waits; the call's status, its message this thread's. PS_OK at once where nothing is busy. */
ps_status ps_background_wait(ps_background *background);

#endif
