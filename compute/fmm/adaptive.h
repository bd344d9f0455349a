/*
 * adaptive: an adaptive tree of the octree's particles on the cores or a device of one process
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
void fmm_adaptive_report(const fmm_run *r, ps_report *report);
void fmm_adaptive_empty(fmm_run *r); /* what is of one attempt */
void fmm_adaptive_leave(fmm_run *r); /* that, and what only another attempt would need */
void fmm_adaptive_close(fmm_run *r);

#endif
