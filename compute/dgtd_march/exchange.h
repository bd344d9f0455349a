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
    bool direct; /* devices write into each other's halo */
} exchange;

/* How traces travel: auto: directly where all ranks can, on devices of their own; direct: an error
 * where they cannot. */
typedef enum exchange_way { EXCHANGE_AUTO, EXCHANGE_HOST, EXCHANGE_DIRECT } exchange_way;

/* The lists of a domain; the state, whose buffers are used, comes later. */
ps_status exchange_open(const ps_dgtd_domain *domain, const ps_dgtd_system *system, exchange *out);
/* Collective, as is the first exchange of anything. */
ps_status exchange_connect(exchange *exchange, const backend *of, void *state, exchange_way way);
int64_t exchange_bytes(const ps_dgtd_domain *domain, const ps_dgtd_system *system);
void exchange_close(exchange *exchange);

/* The traces of a field of own elements are gathered, sent, and those of the others taken into the
 * halo. Between gathering and sending half steps may be enqueued. */
ps_status exchange_gather(exchange *exchange, ps_dgtd_field field);
ps_status exchange_send(exchange *exchange);
ps_status exchange_finish(exchange *exchange, ps_dgtd_field field);
/* The traces of a field, as a whole: at the start. */
ps_status exchange_all(exchange *exchange, ps_dgtd_field field);
/* The traces of an array of the state, of as many slots as a field. */
ps_status exchange_array(exchange *exchange, void *array);
/* A number of each face of `send` for one of each face of `receive`; both [faces], of the host. */
ps_status exchange_numbers(exchange *exchange, const double *out, double *in);

#endif
