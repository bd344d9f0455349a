/* Pieces between ranks, and results to rank 0. */
#include <stdlib.h>

#include "compute/fmm/run.h"
#include "runtime/comm.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

typedef struct parcel {
    int64_t count;
    int64_t *pieces;
    ps_access_mode *modes;
    ps_task_access *accesses;
    ps_comm_exchange *exchanges;
} parcel;

static ps_status parcel_init(parcel *p, int64_t count)
{
    *p = (parcel){.count = count};
    PS_TRY(PS_ALLOC(&p->pieces, count, "transfers"));
    PS_TRY(PS_ALLOC(&p->modes, count, "transfers"));
    PS_TRY(PS_ALLOC(&p->accesses, count, "transfers"));
    return PS_ALLOC(&p->exchanges, count, "transfers");
}

static void parcel_release(parcel *p) { PS_FREE(p->pieces, p->modes, p->accesses, p->exchanges); }

/* Everything into memory, what is sent finished. */
static ps_status gather(fmm_run *r, const fmm_transfer *list, parcel *p, int *exchanges)
{
    int rank = r->problem.rank;
    for (int64_t i = 0; i < p->count; ++i) {
        p->pieces[i] = list[i].piece;
        p->modes[i] = list[i].from == rank ? PS_READ : PS_WRITE;
    }
    PS_TRY(fmm_pool_acquire(r->pool, p->pieces, p->modes, (int)p->count, p->accesses));
    for (int64_t i = 0; i < p->count; ++i) {
        void *memory;
        int64_t bytes = fmm_pool_bytes(r->pool, list[i].piece);
        bool sends = list[i].from == rank;
        PS_TRY(fmm_pool_settle(r->pool, list[i].piece, &memory));
        if (list[i].from == list[i].to) continue;
        p->exchanges[(*exchanges)++] =
            (ps_comm_exchange){.neighbour = sends ? list[i].to : list[i].from,
                               .send = sends ? memory : NULL,
                               .receive = sends ? NULL : memory,
                               .send_bytes = sends ? bytes : 0,
                               .receive_bytes = sends ? 0 : bytes};
    }
    return PS_OK;
}

ps_status fmm_group_places(fmm_run *r, int64_t group, int64_t *begin, int64_t *count,
                           int64_t **places)
{
    const ps_octree *tree = r->problem.fmm.targets;
    ps_octree_side side = r->problem.same ? PS_OCTREE_SOURCES : PS_OCTREE_TARGETS;
    int64_t first, end;
    ps_octree_group(tree, r->problem.leaf, group, &first, &end);
    *begin = tree->particle_start[first];
    *count = tree->particle_start[end] - *begin;
    PS_TRY(PS_ALLOC(places, *count, "places of targets"));
    return fmm_source_read(&r->source, side, *begin, *count, NULL, 0, *places);
}

/* Rank 0: the results of a group. */
static ps_status take_group(fmm_run *r, int64_t group, const double *values)
{
    int64_t begin, count;
    PS_SCOPED_MEMORY int64_t *places = NULL;
    PS_TRY(fmm_group_places(r, group, &begin, &count, &places));
    fmm_values all = {values, count, count};
    return fmm_pass_results(&r->work, begin, places, &all);
}

static ps_status exchange(fmm_run *r, const fmm_transfer *list, parcel *p)
{
    ps_comm_pending *pending;
    int exchanges = 0;
    PS_TRY(gather(r, list, p, &exchanges));
    PS_TRY(ps_comm_exchange_start(p->exchanges, exchanges, &pending));
    PS_TRY(ps_comm_exchange_wait(&pending));
    for (int64_t i = 0; i < p->count; ++i) {
        void *memory;
        if (list[i].group < 0 || r->problem.rank != 0) continue;
        PS_TRY(fmm_pool_settle(r->pool, list[i].piece, &memory));
        PS_TRY(take_group(r, list[i].group, memory));
    }
    for (int64_t i = 0; i < p->count; ++i)
        (list[i].from == r->problem.rank ? &r->sent_bytes : &r->received_bytes)[0] +=
            list[i].from == list[i].to ? 0 : fmm_pool_bytes(r->pool, list[i].piece);
    return PS_OK;
}

ps_status fmm_exchange(fmm_run *r, const fmm_transfer *list, int64_t count)
{
    PS_SCOPED(parcel_release) parcel p = {0};
    PS_TRY(parcel_init(&p, count));
    return exchange(r, list, &p);
}
