/*
 * output_file: a file that is written under a temporary name and gets its own once it is complete.
 *
 * The temporary is <path>.<pid>.<16 hex digits>.tmp: made by O_EXCL under a name that nobody can
 * foresee, so that no link that lies there is followed, and locked as long as it is written. A
 * second writer of the same path is refused with the pid of the first; temporaries whose writer is
 * dead are removed by the next writer. Targets that are no regular files, and links to such, are
 * refused. Up to the commit an older file under the path is untouched.
 */
#ifndef PS_RUNTIME_OUTPUT_FILE_H
#define PS_RUNTIME_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "runtime/status.h"

typedef struct ps_output ps_output;

/* PS_USAGE where no file can be there, PS_FAILED while another writes it. Thread-safe. */
ps_status ps_output_begin(const char *path, ps_output **out);
/* The temporary's name; the output owns it. */
const char *ps_output_temporary(const ps_output *output);
/* A stream that writes the temporary; the caller closes it, and checks that, before the commit. */
ps_status ps_output_stream(const ps_output *output, FILE **stream);

/* Syncs, renames, syncs the folder. PS_FAILED, leaving the older file, if the temporary is no
 * longer the one that was made. Frees on success and on failure. */
ps_status ps_output_commit(ps_output **output);
/* Removes the temporary. NULL is fine. */
void ps_output_discard(ps_output **output);

/* Removes temporaries of `path` whose writers are dead, unless somebody begins to write there. */
void ps_output_tidy(const char *path);

/* Whether a name in the folder of `path` is a temporary of it, by its form; *pid: its writer's. */
bool ps_output_is_temporary(const char *path, const char *name, int64_t *pid);

/* A whole text file: begun, printed by print(file, context), committed. PS_EXHAUSTED where the disk
 * is full, PS_FAILED where a write fails otherwise; the older file then stays. */
typedef void ps_text_printer(FILE *file, const void *context);
ps_status ps_output_print(const char *path, ps_text_printer *print, const void *context);

#endif
