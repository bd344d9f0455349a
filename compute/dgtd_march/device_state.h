/* The state of the backend on a GPU. Private to backend_device.c and device_*.c. */
#ifndef PS_DGTD_MARCH_DEVICE_STATE_H
#define PS_DGTD_MARCH_DEVICE_STATE_H

#include "compute/dgtd_march/backend.h"
#include "kernels/dgtd/device_halo.h"
#include "kernels/dgtd/device_local.h"
#include "kernels/dgtd/device_march.h"
#include "kernels/dgtd/device_media.h"
#include "kernels/dgtd/device_wire.h"
#include "runtime/device_graph.h"

enum { MEMORY_PIECES = 80, SCRATCH_BYTES = 64 << 20 };

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
    ps_dgtd_device_wires wires;    /* host NULL: none here */
    ps_dgtd_device_local local;    /* levels of its host 0: none */
    ps_graph *chains[2];           /* of its operations: R_2 of H, of the increments of level 1 */
    void *increments;              /* of all levels, behind E and H */
    ps_dgtd_device_units units[2]; /* that R_2 does not concern, that it does */
    ps_dgtd_device_split split;
    ps_dgtd_device_unit *host_units; /* of parts of a window */
    ps_range *host_pieces;
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
    ps_dgtd_device_faces all_faces, local_faces[2 * PS_DGTD_LOCAL_LEVELS + 1];
    int faces_lists;              /* of local_faces */
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
/* Memory of the device that lives as long as the state; with a copy of `bytes` of the host's. out:
 * where the pointer goes. */
ps_status device_state_memory(device_state *state, int64_t bytes, void *out);
ps_status device_state_copy(device_state *state, const void *host, int64_t bytes, void *out);

/* device_halo.c: as the backend's functions of these names. */
void *device_halo(void *state, bool out);
ps_status device_pack_array(void *state, const void *array);
ps_status device_pack(void *state, ps_dgtd_field field);
ps_status device_packed(void *state);
ps_status device_unpack_array(void *state, void *array);
ps_status device_unpack(void *state, ps_dgtd_field field);
ps_status device_share(void *state, backend_share *out);
ps_status device_state_reach(void *state, const backend_peer *peers, int count);
void device_state_leave(void *state);
ps_status device_edge(void *state, ps_dgtd_field field);
ps_status device_push(void *state, ps_dgtd_field field);

/* device_local.c: opening, and what peers are sent, once they are reached and place[faces] is
 * known; the others as the backend's functions. */
ps_status device_state_open_local(device_state *state);
ps_status device_state_reach_local(device_state *state, const int32_t *place);
void device_local_order(void *state, backend_order order);
int device_local_list(const device_state *state, int op);
ps_status device_local_keep(void *state, bool inner);
ps_status device_local_op(void *state, int op);
ps_status device_local_part(void *state, int from, int to, int64_t begin, int64_t end);
ps_status device_local_restore(void *state);
void *device_local_source(void *state, int op);
ps_status device_mark(void *state);
ps_status device_local_aside(void *state, int from, int to, bool keep);
ps_status device_together(void *state);
ps_status device_local_enter(void *state);
ps_status device_local_push(void *state, int op);

/* As backend.upwind. */
ps_status device_state_add_upwind(void *state, const ps_dgtd_upwind *upwind);

#endif
