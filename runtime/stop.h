/*
 * stop: how a run ends before its end, with PS_STOPPED (specs/stage.md).
 *
 * SIGTERM, SIGINT, SIGHUP (not under nohup), SIGXCPU and the time of --stop-after ask a run to
 * stop. At once, by default: files are committed by rename and what is kept beside them survives an
 * end at any moment. A program that would rather save its state first defers that, and asks
 * ps_stop_requested between its steps.
 */
#ifndef PS_RUNTIME_STOP_H
#define PS_RUNTIME_STOP_H

#include <stdbool.h>

/* Catches the signals. `after` seconds from now a stop is requested; 0: never. `saves`: the time
 * is only told by ps_stop_requested, so that each run gets a step further. `name` begins the
 * message of an end at once, which rank 0 (`speaks`) tells; it is borrowed. */
void ps_stop_catch(const char *name, bool speaks, bool saves, double after);

/* Keeps the signals back, for the same process started once more, until ps_stop_catch. */
void ps_stop_hold(void);

/* In a child process: those signals end it again, without anything that this one does then. */
void ps_stop_release(void);

/* True once a signal came or --stop-after has passed. Local: under MPI reduce it before acting on
 * it. Thread-safe, costs no system call until then. */
bool ps_stop_requested(void);

/* From here on a stop waits until the program asks: two seconds, up to twenty where more than a
 * minute would be lost; then it ends at once. Call it when the state can be saved, and again
 * whenever it was saved. */
void ps_stop_defer(void);

/* What the same command will do after an end at once: "the same command continues with the groups
 * that are done". NULL: it begins again. Borrowed. */
void ps_stop_keeps(const char *what);

/* `path`, if it is there, is not of this command: with a stop it becomes <path>.previous, unless it is
 * another file by then, which another rank has committed. Copied; more than a few are passed over. */
void ps_stop_outdates(const char *path);
/* `path` has been made by this command: a later stop lets it be. */
void ps_stop_renews(const char *path);
/* Renames those; for ps_main. */
void ps_stop_set_aside(void);

/* A file that is in the way after an end at once: removed then. To be called before it is made;
 * forget it if it is not, and once it is renamed. */
void ps_stop_temporary(const char *path);
void ps_stop_forget(const char *path);
/* Removes those that are there. True if one was told of. */
bool ps_stop_remove_temporaries(void);

#endif
