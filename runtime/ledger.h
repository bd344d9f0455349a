/*
 * ledger: what a run takes of host memory, device memory and disk, line by line.
 *
 * A program opens a ledger once its inputs are loaded; what the process holds by then is measured
 * and needs no formula. What it takes later stands in named lines. One function takes it,
 *
 *     PS_LEDGER_TAKE(ledger, &solver->residual, n, "solver");
 *
 * and is called twice: for the plan, when the ledger counts and every pointer stays NULL, and for
 * the run, when the same calls allocate. So the plan is what the run asks for. What libraries and
 * threads take by themselves is added (ps_ledger_add), and a phase that gives memory back says so
 * (ps_ledger_drop), so that the peak is that of the largest phase. Plain allocations that are small
 * or do not last are covered by the line "libraries".
 */
#ifndef PS_RUNTIME_LEDGER_H
#define PS_RUNTIME_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/report.h"
#include "runtime/status.h"

struct ps_run;

/* PS_ROOM_STATES: of the disk, too, for checkpoints that compression makes much smaller, at their
 * size before: how small shows only then. */
typedef enum ps_ledger_room {
    PS_ROOM_HOST,
    PS_ROOM_DEVICE,
    PS_ROOM_DISK,
    PS_ROOM_STATES,
    PS_ROOMS
} ps_ledger_room;

enum { PS_LEDGER_LINES = 24 };

typedef struct ps_ledger_line {
    const char *name;
    ps_ledger_room room;
    int64_t now, most; /* bytes */
} ps_ledger_line;

/* A copy continues on its own: plans of several phases or choices begin with the same lines. */
typedef struct ps_ledger {
    bool counts;                           /* ps_ledger_take allocates nothing           */
    int64_t now[PS_ROOMS], most[PS_ROOMS]; /* sums of the lines; most: the largest so far */
    int64_t least;                         /* host memory without which nothing goes; 0: most */
    const char *output; /* whose disk must have room, borrowed; NULL: none is asked for */
    int count;
    ps_ledger_line lines[PS_LEDGER_LINES];
} ps_ledger;

/* A ledger that counts, with two lines: "libraries", what the process held before it did anything
 * and what code, tables of files and stacks of threads will take later; "inputs", what it has taken
 * since and holds now, measured after freed memory went back to the system. */
void ps_ledger_open(ps_ledger *ledger, const struct ps_run *run);
/* The same without those lines: for parts of a plan. */
void ps_ledger_open_empty(ps_ledger *ledger);

/* Adds bytes >= 0 to a line; a new line if there is none of this name and room. */
void ps_ledger_add(ps_ledger *ledger, ps_ledger_room room, const char *line, int64_t bytes);
/* Everything of a line is given back. */
void ps_ledger_drop(ps_ledger *ledger, const char *line);
/* Bytes of a line; 0 if there is none. */
int64_t ps_ledger_now(const ps_ledger *ledger, const char *line);
int64_t ps_ledger_most(const ps_ledger *ledger, const char *line);

/* count x size bytes of host memory on a line; if the ledger counts, *out is NULL, otherwise (or
 * without a ledger) as ps_alloc. */
ps_status ps_ledger_take(ps_ledger *ledger, void **out, int64_t count, size_t size,
                         const char *line);
#define PS_LEDGER_TAKE(ledger, pointer, count, line)                                               \
    ps_ledger_take((ledger), (void **)(pointer), (int64_t)(count), sizeof **(pointer), (line))

/* What is left of a budget of host memory for what takes all that it can get: without what a process
 * takes more or less from one run to the next. May be negative. */
int64_t ps_ledger_left(const ps_ledger *ledger, int64_t host_memory);

/* Where little of the budget would be left, blocks go back to the system as soon as they are freed
 * from here on. PS_EXHAUSTED where the peak of host memory is above --host-memory: with the least
 * that would do, the largest lines, and `advice`: what needs less; and where the disk of the output
 * has less room than the lines of it say, with what an earlier start has left there of the run.
 * Where it is checkpoints alone that may not fit, this is warned of. */
ps_status ps_ledger_check(const ps_ledger *ledger, int64_t host_memory, const char *advice);

/* What --plan tells of every program, outside of sections: memory, least_memory, device_memory,
 * disk and, where there is an output, disk_free; and the section "ledger". */
void ps_ledger_report(const ps_ledger *ledger, const struct ps_run *run, ps_report *report);

#endif
