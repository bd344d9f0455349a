/*
 * plan: what a program takes that holds its inputs and makes one thing of them (specs/stage.md).
 *
 * One call, once inputs are loaded and before anything is made, for --plan and for the run:
 *
 *     const ps_need need = {.arrays = 8 * count, .disk = 8 * count, .seconds = 1e-8 * count};
 *     PS_TRY(ps_plan_take(run, &need, report));
 *     if (run->plan) return PS_OK;
 *
 * So what --plan tells is what the run is checked against. Solvers, whose memory has phases, keep a
 * ledger of their own (runtime/ledger.h).
 */
#ifndef PS_STAGE_PLAN_H
#define PS_STAGE_PLAN_H

#include "runtime/program.h"

typedef struct ps_need {
    int64_t arrays;    /* bytes of memory, beside what is held already                        */
    int64_t more;      /* bytes that are taken beside where there is room for them             */
    int64_t writer;    /* bytes of the largest chunk that a thread writes; 0: nothing is written */
    int64_t writers;   /* threads that write, 0: one                                          */
    int64_t disk;      /* bytes at most                                                       */
    bool guessed;      /* the disk is a guess, which refuses nothing                          */
    double seconds;    /* a guess, to tell minutes from days                                  */
    const char *needs; /* what would have to be known to tell the time; NULL: it is told      */
} ps_need;

/* PS_EXHAUSTED, with the least that would do, where --host-memory or the disk cannot do. With --plan
 * the report gets what it takes. */
ps_status ps_plan_take(const ps_run *run, const ps_need *need, ps_report *report);
/* The same with a report of its own, printed with --plan. */
ps_status ps_plan_tell(const ps_run *run, const ps_need *need);
/* Of a program that reads files chunk by chunk and writes none, or a picture: two chunks of each.
 */
ps_status ps_plan_reading(const ps_run *run, const char *const *paths, int count);

#endif
