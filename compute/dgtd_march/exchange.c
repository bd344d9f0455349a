#include "compute/dgtd_march/exchange.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/memory.h"

static int64_t bytes_of_face(const ps_dgtd_system *system)
{
    return 3 * (int64_t)system->reference->face_nodes * (system->precision == PS_SINGLE ? 4 : 8);
}

static int64_t faces_of(const ps_dgtd_domain *domain)
{
    int64_t faces = 0;
    for (int k = 0; k < domain->neighbour_count; ++k) faces += domain->neighbours[k].count;
    return faces;
}

int64_t exchange_bytes(const ps_dgtd_domain *domain, const ps_dgtd_system *system)
{
    return faces_of(domain) * 2 * (bytes_of_face(system) + (int64_t)sizeof(int32_t));
}

ps_status exchange_open(const ps_dgtd_domain *domain, const ps_dgtd_system *system, exchange *x)
{
    memset(x, 0, sizeof *x);
    x->faces = faces_of(domain);
    x->face_bytes = bytes_of_face(system);
    x->count = domain->neighbour_count;
    PS_TRY(PS_ALLOC(&x->send, x->faces, "the halo"));
    PS_TRY(PS_ALLOC(&x->receive, x->faces, "the halo"));
    PS_TRY(ps_alloc(&x->out, x->faces, (size_t)x->face_bytes, "the halo"));
    PS_TRY(ps_alloc(&x->in, x->faces, (size_t)x->face_bytes, "the halo"));
    PS_TRY(PS_ALLOC(&x->neighbours, x->count, "the halo"));
    int64_t at = 0;
    for (int k = 0; k < x->count; ++k) {
        const ps_dgtd_neighbour *n = domain->neighbours + k;
        int64_t bytes = n->count * x->face_bytes;
        memcpy(x->send + at, n->send, (size_t)n->count * sizeof *n->send);
        memcpy(x->receive + at, n->receive, (size_t)n->count * sizeof *n->receive);
        x->neighbours[k] = (ps_comm_exchange){n->rank, (const char *)x->out + at * x->face_bytes,
                                              (char *)x->in + at * x->face_bytes, bytes, bytes};
        at += n->count;
    }
    return PS_OK;
}

void exchange_close(exchange *x)
{
    ps_comm_exchange_wait(&x->pending);
    free(x->send);
    free(x->receive);
    free(x->out);
    free(x->in);
    free(x->neighbours);
    memset(x, 0, sizeof *x);
}

ps_status exchange_start(exchange *x, ps_dgtd_field field)
{
    PS_TRY(x->backend->pack(x->state, field, 0, x->faces, x->out));
    return ps_comm_exchange_start(x->neighbours, x->count, &x->pending);
}

ps_status exchange_finish(exchange *x, ps_dgtd_field field)
{
    PS_TRY(ps_comm_exchange_wait(&x->pending));
    return x->backend->unpack(x->state, field, 0, x->faces, x->in);
}
