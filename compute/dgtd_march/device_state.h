/* The state of the backend on a GPU. Private to backend_device.c, device_arrays.c and
 * device_state.c. */
#ifndef PS_DGTD_MARCH_DEVICE_STATE_H
#define PS_DGTD_MARCH_DEVICE_STATE_H

#include "compute/dgtd_march/backend.h"
#include "kernels/dgtd/device_halo.h"
#include "kernels/dgtd/device_local.h"
#include "kernels/dgtd/device_march.h"
#include "kernels/dgtd/device_media.h"
#include "kernels/dgtd/device_wire.h"
#include "runtime/device_graph.h"

enum { MEMORY_PIECES = 32, SCRATCH_BYTES = 64 << 20 };

typedef struct device_state {
    backend_setup setup;
    ps_device *device;
    ps_stream *stream, *now; /* all work is enqueued on `now`: `stream`, or `beside` it */
    ps_dgtd_device_tables *tables;
    ps_dgtd_device system;
    ps_dgtd_device_border border;
    ps_dgtd_device_current *currents;
    ps_dgtd_device_upwind upwind;
    ps_dgtd_device_pml pml;
    ps_dgtd_device_media media;
    ps_dgtd_device_ports ports;
    ps_dgtd_device_wires wires; /* host NULL: none here */
    ps_dgtd_device_local local; /* levels of its host 0: none */
    ps_graph *chains[2];        /* of its operations: R_2 of H, of the increments of level 1 */
    ps_dgtd_device_march march;
    void *pieces[MEMORY_PIECES]; /* memory of the device, to be freed */
    int piece_count;
    int64_t group_bytes, own_bytes, sums_bytes, face_bytes;
    void *former, *scratch, *sums[2];
    ps_stream *beside;      /* of the halo, or of half steps of elements that touch others  */
    ps_event *swept, *come; /* what it waits for; what is waited for of it                  */
    void *faces[2], *host_faces[2]; /* buffers of traces that come in, that go out   */
    int64_t former_groups;
    double *partial[2], *eps, *mu; /* partial: energies, as the host's terms lie */
    double *term_sums;             /* [term_rows] */
    bool shared;                   /* the fields can be reached by other processes */
    backend_share share;
    bool direct; /* halos come from peers, not by the host */
    ps_dgtd_device_halo peers;
    void *reached[PS_DGTD_PEERS]; /* memory of theirs             */
    ps_window *window;
    int window_local; /* the first of its arrays of local steps */
    void *pinned[2];  /* tangents and links of the host, for the window */
    int64_t *slots;
    double *weights, *samples; /* samples [rows][2][probes][3] */
    double *fetched;           /* the same on the host         */
    int32_t *send, *receive;
} device_state;

static inline void *field_of(const device_state *x, ps_dgtd_field field)
{
    return field == PS_DGTD_E ? x->march.electric : x->march.magnetic;
}

/* As backend.open and .close. */
ps_status device_state_open(const backend_setup *setup, int ordinal, void **out);
void device_state_close(void *state);
/* As backend.put, .load, .get and .save (device_arrays.c). */
ps_status device_state_put(void *state);
ps_status device_state_load(void *state);
ps_status device_state_get(void *state);
ps_status device_state_save(void *state);
/* As backend.reach and .leave. */
ps_status device_state_reach(void *state, const backend_peer *peers, int count);
void device_state_leave(void *state);
/* As backend.upwind. */
ps_status device_state_add_upwind(void *state, const ps_dgtd_upwind *upwind);

#endif
