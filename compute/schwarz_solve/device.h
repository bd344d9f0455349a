/*
 * device: what the ways to solve on CUDA devices share.
 */
#ifndef PS_SCHWARZ_SOLVE_DEVICE_H
#define PS_SCHWARZ_SOLVE_DEVICE_H

#include "compute/schwarz_solve/solve.h"

static inline int64_t device_padded(int64_t bytes) { return (bytes + 255) / 256 * 256; }

/* Device memory out of what is allowed: PS_EXHAUSTED, saying what helps, beyond that. */
ps_status device_take(solve_problem *p, int64_t bytes, void **out);
int64_t device_allowed(const solve_problem *p);

#endif
