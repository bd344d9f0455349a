/*
 * adaptive: an adaptive tree of the octree's particles on the cores or a device of each rank
 * (specs/fmm_adaptive.md).
 */
#ifndef PS_COMPUTE_FMM_ADAPTIVE_H
#define PS_COMPUTE_FMM_ADAPTIVE_H

#include "compute/fmm/run.h"

/* Once: r->adaptive, if --tree asks for it, or if it is allowed, can be had and is clearly less
 * work. PS_USAGE if it is asked for where it cannot be had. OpenMP inside. */
ps_status fmm_adaptive_choose(fmm_run *r);
ps_status fmm_adaptive_operators(fmm_run *r);
/* As fmm_run_prepare. Where memory is too small for what is not asked for, r->adaptive is gone. */
ps_status fmm_adaptive_prepare(fmm_run *r);
ps_status fmm_adaptive_run(fmm_run *r);
/* Whether results come in the order of the output, chunk by chunk: those of particles in the order
 * of their file. */
bool fmm_adaptive_is_straight(const fmm_run *r);
/* A record of the journal: results of a portion of targets after a pass; how many portions there
 * are. */
ps_status fmm_adaptive_restore(void *run, int64_t item, const fmm_sums *sums, const double *values,
                               int64_t count);
int64_t fmm_adaptive_items(const fmm_run *r);
int64_t fmm_adaptive_record_bytes(const fmm_run *r); /* with a copy of its results */
ps_status fmm_adaptive_restored(fmm_run *r); /* after that, when r->done is known; collective */
/* What so many ranks would send each other, and the work of each. */
ps_status fmm_adaptive_traffic(const fmm_run *r, int ranks, ps_rank_traffic *out);
/* Threads that take results of a tree that memory does not hold; 0: it does. */
int fmm_adaptive_takers(const fmm_run *r);
/* Bytes of one of them that writes what it takes as it comes; 0: there is none. */
int64_t fmm_adaptive_taker_bytes(const fmm_run *r);
/* Bytes beside what is there since the tree was built, while results leave. */
int64_t fmm_adaptive_leaving_bytes(const fmm_run *r);
void fmm_adaptive_report(const fmm_run *r, ps_report *report);
void fmm_adaptive_empty(fmm_run *r); /* what is of one attempt */
void fmm_adaptive_leave(fmm_run *r); /* that, and what only another attempt would need */
void fmm_adaptive_close(fmm_run *r);

#endif
