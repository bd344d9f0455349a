/*
 * Shared by team_open.c and team.c.
 */
#ifndef PS_TDBEM_MARCH_TEAM_INTERNAL_H
#define PS_TDBEM_MARCH_TEAM_INTERNAL_H

#include "compute/tdbem_march/march.h"
#include "compute/tdbem_march/team.h"
#include "kernels/common/reals.h"

static inline int64_t team_item_size(const team *t)
{
    return ps_real_bytes(t->march->window.precision);
}

static inline int team_workers(const team *t) { return t->devices + t->with_cpu; }

/* The chunks of the rank's share that are worker w's now. */
static inline void team_interval(const team *t, int w, int64_t *first, int64_t *count)
{
    const tiles *share = problem_swept(t->march->problem);
    int64_t begin, end;
    ps_worker_balance_interval(t->balance, w, &begin, &end);
    *first = share->interval_first[begin];
    *count = share->interval_first[end] - *first;
}

#endif
