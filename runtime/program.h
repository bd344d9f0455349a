/*
 * program: what every stage program shares: the common options, the start and the end.
 *
 * A program is a table of options and a run function, which its ps_this_program names.
 */
#ifndef PS_RUNTIME_PROGRAM_H
#define PS_RUNTIME_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/options.h"
#include "runtime/report.h"
#include "runtime/status.h"

enum {
    PS_OPERANDS_MAX = 1024,
    PS_RECORD_MAX = 64000 /* HDF5 takes attributes up to 64 KiB; programs add a little */
};

/* The common options, and what is known of this invocation. */
typedef struct ps_run {
    const char *program; /* "slice-assemble" */
    const char *operands[PS_OPERANDS_MAX];
    int operand_count;
    const char *output; /* the last operand; NULL: the program has none, or it is left out */
    bool alone;         /* this rank asks the others nothing                              */
    bool json;                  /* --json: figures on stdout as one JSON object                   */
    bool plan;                  /* --plan: tell memory, disk, chunks and time; do nothing         */
    bool force;                 /* --force, --fresh: redo even if a matching output exists        */
    bool fresh;                 /* --fresh: throw away what an unfinished run left                */
    bool restart;               /* --restart: as without it, but says so if nothing is there      */
    bool trust;                 /* --trust: do not read what is up to date                        */
    int64_t host_memory;        /* --host-memory, bytes; default: 80 % of what is free            */
    int64_t device_memory;      /* --device-memory, bytes; 0: what the device has free            */
    int64_t threads;            /* --threads; default OMP_NUM_THREADS or the cores there are      */
    const char *device;         /* --device auto|cpu|cuda[:N]                                     */
    double stop_after;          /* --stop-after, seconds; 0: never                                */
    int64_t ranks;              /* --ranks: with --plan, of how many ranks; 0: not told           */
    int64_t keep;               /* --keep: checkpoints that stay, of programs that save           */
    ps_text_list allowed;       /* --allow NAME: what is only warned of (ps_refuse)               */
    const ps_figure *figures;   /* the program's table                                            */
    double started;             /* ps_clock, when the program began                               */
    int64_t libraries;          /* bytes that were resident then                                  */
    char record[PS_RECORD_MAX]; /* the identity options, as ps_options_record writes them    */
} ps_run;

/* What a program refuses unless --allow names it: doubtful, but a user may know better. */
typedef struct ps_allowance {
    const char *name; /* "mass-outside"; NULL ends the table */
    const char *help; /* "bodies that reach out of the box"  */
} ps_allowance;

typedef struct ps_program {
    const char *name;        /* without "penstock-"                                          */
    const char *synopsis;    /* operands: "INPUT... OUTPUT", "[INPUT] OUTPUT"; what stands there is
                                asked for; where as many are needed as may be, OUTPUT may be left out
                                with --plan */
    const char *description; /* a paragraph or two, a line each: what it does, what it writes */
    const char *examples;    /* a few command lines                                          */
    const ps_option *options;
    const ps_figure *figures; /* all that it may print through runtime/report.h              */
    int operands_least; /* of a program that asks for the others itself; 0: of the synopsis */
    ps_status (*run)(ps_run *run);
    const ps_allowance *allowances; /* what --allow takes; NULL: nothing                     */
    int results; /* raised with every change after which the same command gives other numbers; it
                    is recorded with the options. 0: as at first */
    bool saves;  /* asks ps_stop_requested (runtime/stop.h) between its steps and saves its state:
                    what ends early returns PS_STOPPED with a message that says how to go on */
    bool reads_only; /* the last operand is no output, which must not be one of the others */
    bool parallel;   /* ranks share the work. Otherwise one does it, and the others wait   */
    bool counts;     /* its plan tells what --ranks would send (ps_report_ranks)           */
    bool streams; /* reads and unpacks while it computes: threads of OpenMP that wait give way soon,
                     instead of spinning on a core that others need                            */
} ps_program;

/* What a program defines that has no main of its own: runtime/main.c runs it. */
extern const ps_program ps_this_program;

/* Starts MPI if launched under it, parses, handles --help, --figures and --version, sets the
 * threads, runs, prints "penstock-NAME: error: ..." for a failure, ends MPI. Returns the exit code.
 */
int ps_main(const ps_program *program, int argc, char **argv);

/* Refuses what is doubtful: PS_INVALID with the message and "(--allow NAME goes on all the same)",
 * or, if --allow names it, a warning of the message and PS_OK. `name` is one of the program's
 * allowances. The message says what was found, with figures, and what to do about it. */
ps_status ps_refuse(const ps_run *run, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "penstock VERSION (revision)" */
const char *ps_version(void);
const char *ps_revision(void); /* source revision, "-dirty" appended if modified */

#endif
