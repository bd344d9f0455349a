#include "compute/dgtd_march/exchange.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

static int64_t faces_of(const ps_dgtd_domain *domain)
{
    int64_t faces = 0;
    for (int k = 0; k < domain->neighbour_count; ++k) faces += domain->neighbours[k].count;
    return faces;
}

int64_t exchange_bytes(const ps_dgtd_domain *domain, const ps_dgtd_system *system)
{
    return faces_of(domain) * 2 * (ps_dgtd_face_bytes(system) + (int64_t)sizeof(int32_t));
}

ps_status exchange_open(const ps_dgtd_domain *domain, const ps_dgtd_system *system, exchange *x)
{
    memset(x, 0, sizeof *x);
    x->faces = faces_of(domain);
    x->face_bytes = ps_dgtd_face_bytes(system);
    x->count = domain->neighbour_count;
    PS_TRY(PS_ALLOC(&x->send, x->faces, "the halo"));
    PS_TRY(PS_ALLOC(&x->receive, x->faces, "the halo"));
    PS_TRY(PS_ALLOC(&x->neighbours, x->count, "the halo"));
    int64_t at = 0;
    for (int k = 0; k < x->count; ++k) {
        const ps_dgtd_neighbour *n = domain->neighbours + k;
        int64_t bytes = n->count * x->face_bytes;
        x->neighbours[k] = (ps_comm_exchange){n->rank, NULL, NULL, bytes, bytes};
        memcpy(x->send + at, n->send, (size_t)n->count * sizeof *n->send);
        memcpy(x->receive + at, n->receive, (size_t)n->count * sizeof *n->receive);
        at += n->count;
    }
    return PS_OK;
}

void exchange_close(exchange *x)
{
    ps_comm_exchange_wait(&x->pending);
    PS_FREE(x->send, x->receive, x->neighbours);
    memset(x, 0, sizeof *x);
}

static void connect_host(exchange *x)
{
    const char *out = x->backend->halo(x->state, true);
    char *in = x->backend->halo(x->state, false);
    for (int k = 0; k < x->count; ++k) {
        ps_comm_exchange *n = x->neighbours + k;
        n->send = out;
        n->receive = in;
        out += n->send_bytes;
        in += n->receive_bytes;
    }
}

/* Arrays of the host with `bytes` a face, in the order of the lists. */
static ps_status trade(const exchange *x, const void *out, void *in, int64_t bytes)
{
    PS_SCOPED_MEMORY ps_comm_exchange *list = NULL;
    ps_comm_pending *pending = NULL;
    int64_t at = 0;
    PS_TRY(ps_comm_agree(PS_ALLOC(&list, x->count, "the halo")));
    for (int k = 0; k < x->count; ++k) {
        int64_t size = x->neighbours[k].send_bytes / x->face_bytes * bytes;
        list[k] = (ps_comm_exchange){x->neighbours[k].neighbour, (const char *)out + at,
                                     (char *)in + at, size, size};
        at += size;
    }
    PS_TRY(ps_comm_exchange_start(list, x->count, &pending));
    return ps_comm_exchange_wait(&pending);
}

ps_status exchange_numbers(exchange *x, const double *out, double *in)
{
    return trade(x, out, in, (int64_t)sizeof *out);
}

ps_status exchange_array(exchange *x, void *array)
{
    PS_TRY(x->backend->pack_array(x->state, array));
    PS_TRY(exchange_send(x));
    PS_TRY(ps_comm_exchange_wait(&x->pending));
    return x->backend->unpack_array(x->state, array);
}

/* ---- directly ---- */

/* The shares of all ranks, in shares[ranks]; PS_FAILED if one has none, or two have one device. */
static ps_status gather_shares(const exchange *x, exchange_way way, backend_share *shares)
{
    int ranks = ps_comm_size();
    backend_share own = {0};
    ps_status status = x->backend->share
                           ? x->backend->share(x->state, &own)
                           : ps_fail(PS_FAILED, "halos go from device to device on CUDA alone");
    if (status == PS_OK && ps_comm_local_size() < ranks)
        status = ps_fail(PS_FAILED, "the ranks are on several machines");
    PS_TRY(ps_comm_agree(status));
    PS_TRY(ps_comm_gather(&own, sizeof own, shares));
    for (int a = 0; a < ranks && way == EXCHANGE_AUTO; ++a)
        for (int b = 0; b < a; ++b)
            if (!memcmp(shares[a].ticket.device, shares[b].ticket.device, sizeof own.ticket.device))
                return ps_fail(PS_FAILED, "ranks %d and %d have one device", b, a);
    return PS_OK;
}

static ps_status reach(exchange *x, const backend_share *shares, const int32_t *places)
{
    PS_SCOPED_MEMORY backend_peer *peers = NULL;
    int64_t at = 0;
    PS_TRY(PS_ALLOC(&peers, x->count, "the halo"));
    for (int k = 0; k < x->count; ++k) {
        const ps_comm_exchange *n = x->neighbours + k;
        int64_t faces = n->send_bytes / x->face_bytes;
        peers[k] = (backend_peer){shares[n->neighbour], n->neighbour, places + at, faces};
        at += faces;
    }
    return x->backend->reach(x->state, peers, x->count);
}

static ps_status connect_direct(exchange *x, exchange_way way)
{
    PS_SCOPED_MEMORY backend_share *shares = NULL;
    PS_SCOPED_MEMORY int32_t *places = NULL;
    ps_status status = PS_ALLOC(&shares, ps_comm_size(), "the halo");
    if (status == PS_OK) status = PS_ALLOC(&places, x->faces, "the halo");
    PS_TRY(ps_comm_agree(status));
    PS_TRY(gather_shares(x, way, shares));
    PS_TRY(trade(x, x->receive, places, (int64_t)sizeof *places));
    PS_TRY(ps_comm_agree(reach(x, shares, places)));
    x->direct = true;
    return PS_OK;
}

ps_status exchange_connect(exchange *x, const backend *of, void *state, exchange_way way)
{
    x->backend = of;
    x->state = state;
    connect_host(x);
    if (way == EXCHANGE_HOST) return PS_OK;
    ps_status status = connect_direct(x, way);
    if (status != PS_OK && of->leave) of->leave(state);
    if (way == EXCHANGE_DIRECT) return status;
    if (!x->direct && of->share) ps_info("halos go through the host: %s", ps_message());
    return PS_OK;
}

ps_status exchange_gather(exchange *x, ps_dgtd_field field)
{
    return x->backend->pack(x->state, field);
}

ps_status exchange_send(exchange *x)
{
    PS_TRY(x->backend->packed(x->state));
    return ps_comm_exchange_start(x->neighbours, x->count, &x->pending);
}

ps_status exchange_finish(exchange *x, ps_dgtd_field field)
{
    PS_TRY(ps_comm_exchange_wait(&x->pending));
    return x->backend->unpack(x->state, field);
}

ps_status exchange_all(exchange *x, ps_dgtd_field field)
{
    if (x->direct) {
        PS_TRY(x->backend->edge(x->state, field));
        return x->backend->push(x->state, field);
    }
    PS_TRY(exchange_gather(x, field));
    PS_TRY(exchange_send(x));
    return exchange_finish(x, field);
}
