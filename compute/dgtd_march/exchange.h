/*
 * exchange: face traces between ranks while interior elements are computed.
 */
#ifndef PS_DGTD_MARCH_EXCHANGE_H
#define PS_DGTD_MARCH_EXCHANGE_H

#include "compute/dgtd_march/backend.h"
#include "formats/dgtd_model.h"
#include "runtime/comm.h"

typedef struct exchange {
    const backend *backend;
    void *state;
    int64_t faces, face_bytes;
    int32_t *send, *receive; /* [faces] of all neighbours, one after the other */
    int count;
    ps_comm_exchange *neighbours;
    ps_comm_pending *pending;
} exchange;

/* The lists of a domain; the state, whose buffers are used, comes later. */
ps_status exchange_open(const ps_dgtd_domain *domain, const ps_dgtd_system *system, exchange *out);
void exchange_connect(exchange *exchange, const backend *of, void *state);
int64_t exchange_bytes(const ps_dgtd_domain *domain, const ps_dgtd_system *system);
void exchange_close(exchange *exchange);

/* The traces of a field of own elements are gathered, sent, and those of the others taken into the
 * halo. Between gathering and sending half steps may be enqueued. */
ps_status exchange_gather(exchange *exchange, ps_dgtd_field field);
ps_status exchange_send(exchange *exchange);
ps_status exchange_finish(exchange *exchange, ps_dgtd_field field);
ps_status exchange_all(exchange *exchange, ps_dgtd_field field); /* all three */

#endif
