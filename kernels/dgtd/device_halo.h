/*
 * device_halo: traces written by one device into the halo slots of others, whose memory it reaches
 * (runtime/device_share.h), without the host.
 *
 * Devices make half steps in step. Each counts its pushes to a peer: a push writes the traces of an
 * array where the others keep them, then its count into their `arrived`, and ends when theirs are
 * as high: what follows on the stream finds the halo. What is written over was read before: a
 * device pushes E only after the others' last H has come, and they push H after they read the E
 * before. That holds if only half steps on the stream of the pushes read the halo, and if between
 * two pushes of one array, of which the first is read, there is one of another, with the same peer.
 *
 * Both of two peers make the same pushes with one another, though one may have no faces in some; a
 * push in which neither has any is left out by both.
 *
 * A wait ends after PS_DGTD_AWAIT_SECONDS, and with it all later ones; `late` tells.
 */
#ifndef PS_KERNELS_DGTD_DEVICE_HALO_H
#define PS_KERNELS_DGTD_DEVICE_HALO_H

#include "kernels/dgtd/device_state.h"
#include "kernels/dgtd/local_steps.h"

/* Arrays: E, H, then increments of both of each level of local steps. */
enum {
    PS_DGTD_PEERS = 16,
    PS_DGTD_AWAIT_SECONDS = 60,
    PS_DGTD_PEER_ARRAYS = 2 + 2 * PS_DGTD_LOCAL_LEVELS
};

typedef struct ps_dgtd_device_peer {
    void *arrays[PS_DGTD_PEER_ARRAYS]; /* of the peer                                        */
    unsigned long long *mine;          /* where the peer looks for this device's count       */
    int waits;                         /* which entry of `arrived` it writes                 */
    unsigned long long pushed;         /* so far                                             */
} ps_dgtd_device_peer;

/* Faces whose traces a push sends, those of one peer after those of another. */
typedef struct ps_dgtd_device_faces {
    const int32_t *send, *place; /* on the device: own face; the peer's face, in its halo */
    int64_t end[PS_DGTD_PEERS];  /* of each peer's faces                                  */
    uint32_t with;               /* a bit a peer that takes part                          */
} ps_dgtd_device_faces;

typedef struct ps_dgtd_device_halo {
    int peers;
    ps_dgtd_device_peer peer[PS_DGTD_PEERS];
    unsigned long long *arrived; /* of this device, written by peers             */
    unsigned *done;              /* blocks of a push that are done; zero at first */
    unsigned *late;              /* peers that did not come in time              */
} ps_dgtd_device_halo;

/* The traces of array number `array`, which is at `values` here, to the peers of the list, and
 * theirs. */
ps_status ps_dgtd_device_push(const ps_dgtd_device *device, ps_dgtd_device_halo *halo,
                              const ps_dgtd_device_faces *faces, int array, const void *values,
                              ps_stream *stream);

#endif
