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
    void *out, *in;          /* [faces][3][face nodes] */
    int count;
    ps_comm_exchange *neighbours;
    ps_comm_pending *pending;
} exchange;

/* The lists and buffers of a domain; the state comes later. */
ps_status exchange_open(const ps_dgtd_domain *domain, const ps_dgtd_system *system, exchange *out);
int64_t exchange_bytes(const ps_dgtd_domain *domain, const ps_dgtd_system *system);
void exchange_close(exchange *exchange);

/* Sends the traces of a field of own elements; takes those of the others into the halo. */
ps_status exchange_start(exchange *exchange, ps_dgtd_field field);
ps_status exchange_finish(exchange *exchange, ps_dgtd_field field);

#endif
