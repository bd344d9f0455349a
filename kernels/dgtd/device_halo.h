/*
 * device_halo: traces written by one device into the halo slots of others, whose memory it reaches
 * (runtime/device_share.h), without the host.
 *
 * Devices make half steps in step. Each counts its pushes: a push writes the traces of a field
 * where the others keep them, then its count into their `arrived`, and ends when theirs are as
 * high: what follows on the stream finds the halo. What is written over was read before: a device
 * pushes E only after the others' last H has come, and they push H after they read the E before.
 * That holds if only half steps on the stream of the pushes read the halo.
 *
 * A wait ends after PS_DGTD_AWAIT_SECONDS, and with it all later ones; `late` tells.
 */
#ifndef PS_KERNELS_DGTD_DEVICE_HALO_H
#define PS_KERNELS_DGTD_DEVICE_HALO_H

#include "kernels/dgtd/device_state.h"

enum { PS_DGTD_PEERS = 16, PS_DGTD_AWAIT_SECONDS = 60 };

typedef struct ps_dgtd_device_peer {
    void *fields[2];          /* E and H of the peer                                */
    unsigned long long *mine; /* where the peer looks for this device's count       */
    int64_t end;              /* its faces end there in the lists                   */
} ps_dgtd_device_peer;

typedef struct ps_dgtd_device_halo {
    int peers;
    ps_dgtd_device_peer peer[PS_DGTD_PEERS];
    int waits[PS_DGTD_PEERS];    /* whose entries of `arrived` they write        */
    const int32_t *send, *place; /* [faces] own face; the peer's face, in its halo */
    int64_t faces;
    unsigned long long *arrived; /* of this device, written by peers             */
    unsigned *done;              /* blocks of a push that are done; zero at first */
    unsigned *late;              /* peers that did not come in time              */
    unsigned long long pushed;   /* so far                                       */
} ps_dgtd_device_halo;

/* The traces of a field to all peers, and theirs. */
ps_status ps_dgtd_device_push(const ps_dgtd_device *device, ps_dgtd_device_halo *halo,
                              ps_dgtd_field field, const void *values, ps_stream *stream);

#endif
