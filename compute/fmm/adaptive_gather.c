/* Results of an adaptive tree from the devices of all ranks to that of the first one. */

#include "compute/fmm/adaptive_gpu.h"
#include "runtime/comm.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "runtime/sizes.h"

/* Sorted targets of a rank. */
static ps_fmm_range share_of(const fmm_adaptive_gpu *g, int rank)
{
    return (ps_fmm_range){g->share.first[rank], g->share.first[rank + 1]};
}

static int64_t stride_of(const fmm_run *r) { return r->problem.header->count[1]; }

/* ---- from device to device ---- */

/* Whether all ranks reach the results of the first one. */
static ps_status reach(fmm_adaptive_gpu *g, bool *reached)
{
    struct {
        ps_share_ticket ticket;
        int64_t shared;
    } offer = {g->ticket, g->shared};
    PS_TRY(ps_comm_broadcast(&offer, sizeof offer, 0));
    *reached = offer.shared != 0;
    if (*reached && g->share.rank)
        *reached = ps_share_reach(g->device, &offer.ticket, &g->reached) == PS_OK;
    *reached = !ps_comm_any(!*reached);
    return PS_OK;
}

static ps_status push(const fmm_run *r, fmm_adaptive_gpu *g)
{
    ps_fmm_range own = share_of(g, g->share.rank);
    int64_t bytes = 8 * ps_adaptive_size(own), stride = stride_of(r);
    for (int row = 0; row < g->result_rows && bytes > 0; ++row)
        PS_TRY(ps_copy_on_device(g->run.far, (double *)g->reached + row * stride + own.begin,
                                 (double *)g->results + row * stride + own.begin, bytes));
    return ps_stream_wait(g->run.far);
}

/* ---- through the hosts ---- */

/* One row after the other of a rank's, [rows][targets], to or from the device. */
static ps_status move_rows(const fmm_run *r, fmm_adaptive_gpu *g, int rank, double *host)
{
    ps_fmm_range own = share_of(g, rank);
    int64_t some = ps_adaptive_size(own);
    for (int row = 0; row < g->result_rows && some > 0; ++row) {
        double *at = (double *)g->results + row * stride_of(r) + own.begin;
        PS_TRY(g->share.rank ? ps_copy_to_host(g->run.far, host + row * some, at, 8 * some)
                             : ps_copy_to_device(g->run.far, at, host + row * some, 8 * some));
    }
    return ps_stream_wait(g->run.far);
}

/* From one rank to the first one. */
static ps_status send_rows(const fmm_run *r, fmm_adaptive_gpu *g, int from, double *host)
{
    bool first = g->share.rank == 0, takes_part = first || g->share.rank == from;
    int64_t bytes = 8 * g->result_rows * ps_adaptive_size(share_of(g, from));
    ps_comm_exchange one = {first ? from : 0, first ? NULL : host, first ? host : NULL,
                            first ? 0 : bytes, first ? bytes : 0};
    ps_comm_pending *pending = NULL;
    ps_status status = takes_part && !first ? move_rows(r, g, from, host) : PS_OK;
    PS_TRY(ps_comm_agree(status));
    PS_TRY(ps_comm_exchange_start(&one, takes_part && bytes > 0, &pending));
    PS_TRY(ps_comm_exchange_wait(&pending));
    return ps_comm_agree(first ? move_rows(r, g, from, host) : PS_OK);
}

static ps_status through_hosts(const fmm_run *r, fmm_adaptive_gpu *g)
{
    PS_SCOPED_MEMORY double *host = NULL;
    int64_t most = 0;
    for (int k = 1; k < g->share.ranks; ++k)
        if (g->share.rank == 0 || g->share.rank == k)
            most = ps_larger(most, ps_adaptive_size(share_of(g, k)));
    PS_TRY(ps_comm_agree(
        ps_alloc_untouched((void **)&host, 8 * g->result_rows * most + 8, "results of ranks")));
    for (int k = 1; k < g->share.ranks; ++k) PS_TRY(send_rows(r, g, k, host));
    return PS_OK;
}

ps_status fmm_adaptive_gpu_gather(fmm_run *r, fmm_adaptive_gpu *g)
{
    bool direct = false;
    ps_status status = PS_OK;
    double start = ps_clock();
    if (g->share.ranks == 1) return PS_OK;
    PS_TRY(reach(g, &direct));
    if (direct) {
        if (g->share.rank) status = push(r, g);
    } else {
        status = through_hosts(r, g);
    }
    ps_share_leave(g->device, g->reached);
    g->reached = NULL;
    status = ps_comm_agree(status);
    int64_t bytes = 8 * g->result_rows *
                    (g->share.rank ? ps_adaptive_size(share_of(g, g->share.rank))
                                   : stride_of(r) - ps_adaptive_size(share_of(g, 0)));
    *(g->share.rank ? &r->sent_bytes : &r->received_bytes) += bytes;
    g->gathering += ps_clock() - start;
    return status;
}
