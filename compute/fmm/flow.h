/*
 * flow: how tasks are listed (flow.c), and in which order: flow_order.c, on several ranks
 * flow_ranks.c.
 */
#ifndef PS_COMPUTE_FMM_FLOW_H
#define PS_COMPUTE_FMM_FLOW_H

#include "compute/fmm/fmm.h"

typedef struct flow {
    const fmm_problem *p;
    const fmm_pool *pool;
    const uint8_t *done;
    const fmm_visit *visit;
    void *context;
    fmm_task task;
} flow;

/* Each lists one task: of a group of leaves, or of a group of a level. */
ps_status flow_add_p2m(flow *f, int64_t group);
ps_status flow_add_m2m(flow *f, int level, int64_t group);
ps_status flow_add_encode(flow *f, int level, int64_t group);
ps_status flow_add_m2l(flow *f, int level, int64_t group);
ps_status flow_add_l2l(flow *f, int level, int64_t group);
ps_status flow_add_l2p(flow *f, int64_t group);
ps_status flow_add_p2p(flow *f, int64_t group);
ps_status flow_add_reduce(flow *f, int64_t group);

bool flow_is_done(const flow *f, int64_t group);
/* Does anybody want the P2P of this group? */
bool flow_wants_p2p(const flow *f, int64_t group);
/* What a group of leaves needs but P2P, unless it is done. */
ps_status flow_add_rest(flow *f, int64_t group);

/* The tasks of this rank, and what it sends and receives in between. */
ps_status flow_of_ranks(flow *f);

#endif
