/*
 * path: names of files and folders: their parts, whether an output can be there, room on the disk.
 */
#ifndef PS_RUNTIME_PATH_H
#define PS_RUNTIME_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "runtime/status.h"

/* The last part of a path, inside it: "b.h5" of "a/b.h5". */
const char *ps_path_last(const char *path);
/* How long the path is without the suffix of its last part: 3 for "a/b.h5" and for "a/b". A last
 * part that only starts with a dot has none. */
size_t ps_path_stem(const char *path);
/* The folder a path is in, "." and "/" among them, cut to `size` bytes. */
void ps_path_folder(const char *path, char *out, size_t size);

/* What errno says of a path that was to be read: PS_INVALID, but PS_EXHAUSTED where the process has
 * no memory or no descriptor left, which is no fault of the file. */
ps_status ps_path_unreadable(const char *path);
/* PS_INVALID, naming the path, unless it is a regular file, or a link to one, that is not empty: a
 * pipe would be waited for, a device read without end. `what` is expected, for the message. */
ps_status ps_path_check_input(const char *path, const char *what);
/* The same, and opens it to be read; close it with fclose. */
ps_status ps_path_open_input(const char *path, const char *what, FILE **out);
/* All bytes of a file or a pipe, with a 0 behind them; the caller's to free(). Failures call it
 * `name`. */
ps_status ps_path_read(const char *path, const char *name, char **text, int64_t *bytes);

/* Whether both name one file: one that exists, or the same name in the same folder. */
bool ps_path_same(const char *a, const char *b);
/* The file that `path` names, or that a descriptor has open, is read or takes what the program
 * says: it is neither replaced nor emptied by this process. Nothing there is nothing to spare. Not
 * thread-safe. */
void ps_path_spare(const char *path);
void ps_path_spare_stream(int descriptor);
/* PS_USAGE, naming the path, if it names a file that is to be spared. */
ps_status ps_path_check_spared(const char *path);
/* From here to ps_path_end_watch the file at `path`, which is hashed and then read by its name,
 * must stay what it is; it is spared. */
ps_status ps_path_watch(const char *path);
/* Where reading ends: PS_INVALID, naming it, if a watched file is another one, has another size or
 * was written or renamed since (ctime, which nobody can set back). Ends all watches. A file of the
 * store asks for it before it is committed. Not thread-safe. */
ps_status ps_path_end_watch(void);
/* Bytes that may still be written where the path is; INT64_MAX where that cannot be told. */
int64_t ps_path_room(const char *path);
/* Bytes on the disk of the files beside the path whose names are its own without suffix, with
 * something else behind it: logs, checkpoints and what else a run keeps there. 0 without any. */
int64_t ps_path_beside(const char *path);
/* PS_USAGE, naming the path, if no file can be written there: its name is empty or too long for
 * what a run puts behind it, it is a folder, a device, a pipe or a
 * socket, or a link to one, or it is to be spared, or its folder is not there or lets nobody write.
 * Makes nothing. */
ps_status ps_path_check_output(const char *path);
/* Makes names in the path's folder durable. 0, or the errno of what failed. */
int ps_path_sync_folder(const char *path);

#endif
