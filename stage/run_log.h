/*
 * run_log: the append log of an unfinished run, which states and journals go on from
 * (specs/stage.md).
 */
#ifndef PS_STAGE_RUN_LOG_H
#define PS_STAGE_RUN_LOG_H

#include "formats/append_log.h"
#include "runtime/program.h"

/* Opens the log at `path` of the run `name`. *out is NULL if there is none to go on from: no file,
 * one without its head (which is told), or --fresh. PS_USAGE, naming what differs, if it is of
 * another identity; PS_FAILED, with --fresh, too, if another process has it open. */
ps_status ps_run_log_open(const ps_run *run, const char *path, const char *name,
                          const char *identity, ps_append_log **out);

#endif
