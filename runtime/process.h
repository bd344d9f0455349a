/*
 * process: other programs, run and listened to.
 *
 * Used by programs of postprocess/ (help runs its siblings, plot runs gnuplot), never under
 * several ranks.
 */
#ifndef PS_RUNTIME_PROCESS_H
#define PS_RUNTIME_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/status.h"

/* True if an executable file `name` lies beside this process's own (after symbolic links) or,
 * failing that, in a folder of PATH; its path goes to out[size]. */
bool ps_process_find(const char *name, char *out, size_t size);

typedef struct ps_process_result {
    char *output; /* what it wrote, terminated; the caller frees it                          */
    size_t length;
    int code; /* exit code, or 128 + the number of the signal that ended it              */
} ps_process_result;

/* Runs argv[0] (a path) with argv (NULL-terminated) and waits for its end. Standard input comes
 * from the file descriptor `input` (-1: nothing); standard output is collected, standard error
 * too if `with_errors` (else it is passed on). A failing program is no failure here: look at
 * result->code. PS_FAILED: the program could not be started; PS_EXHAUSTED: no memory. */
ps_status ps_process_run(char *const *argv, int input, bool with_errors, ps_process_result *result);

#endif
