/*
 * scratch_file: temporary files without a name, which are gone when they are closed or the process
 * ends; and folders, for files that others open by name, which go the same way, also after a kill.
 */
#ifndef PS_RUNTIME_SCRATCH_FILE_H
#define PS_RUNTIME_SCRATCH_FILE_H

#include <stdint.h>

#include "runtime/status.h"

/* Opens one in the folder of `beside` (NULL: in TMPDIR or /tmp); *file is for close(). PS_EXHAUSTED
 * on a full disk, PS_USAGE where none can be made. */
ps_status ps_scratch_open(const char *beside, int *file);

/* All of `bytes` at offset `at`. Thread-safe for parts that do not overlap. PS_EXHAUSTED on a full
 * disk, PS_FAILED otherwise. */
ps_status ps_scratch_write(int file, const void *data, int64_t bytes, int64_t at);
ps_status ps_scratch_read(int file, void *data, int64_t bytes, int64_t at);

typedef struct ps_scratch_folder {
    char path[4096]; /* "": there is none */
    int alive;       /* the other end is with a process that removes the folder once this closes */
    int remover;
} ps_scratch_folder;

/* Makes one in TMPDIR or /tmp. PS_EXHAUSTED where that cannot be. */
ps_status ps_scratch_folder_make(ps_scratch_folder *folder);
/* Removes it with the files in it; what is zero, or was removed, is fine. */
void ps_scratch_folder_remove(ps_scratch_folder *folder);

#endif
