#include "compute/dgtd_march/exchange.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/memory.h"

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
    free(x->send);
    free(x->receive);
    free(x->neighbours);
    memset(x, 0, sizeof *x);
}

void exchange_connect(exchange *x, const backend *of, void *state)
{
    const char *out = of->halo(state, true);
    char *in = of->halo(state, false);
    x->backend = of;
    x->state = state;
    for (int k = 0; k < x->count; ++k) {
        ps_comm_exchange *n = x->neighbours + k;
        n->send = out;
        n->receive = in;
        out += n->send_bytes;
        in += n->receive_bytes;
    }
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
    PS_TRY(exchange_gather(x, field));
    PS_TRY(exchange_send(x));
    return exchange_finish(x, field);
}
