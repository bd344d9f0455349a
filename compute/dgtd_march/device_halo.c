/* Traces of a rank on a GPU: through the host, or written into other devices' memory. */
#include "compute/dgtd_march/device_state.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/comm.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

/* ---- through the host, on a stream of its own ---- */

void *device_halo(void *opened, bool out) { return ((device_state *)opened)->host_faces[out]; }

ps_status device_pack_array(void *opened, const void *array)
{
    device_state *x = opened;
    int64_t faces = x->setup.faces;
    PS_TRY(ps_event_record(x->swept, x->stream));
    PS_TRY(ps_event_wait(x->swept, x->beside));
    PS_TRY(ps_dgtd_device_halo_pack(&x->system, array, x->send, faces, x->faces[1], x->beside));
    return ps_copy_to_host(x->beside, x->host_faces[1], x->faces[1], faces * x->face_bytes);
}

ps_status device_pack(void *opened, ps_dgtd_field field)
{
    return device_pack_array(opened, field_of(opened, field));
}

ps_status device_packed(void *opened) { return ps_stream_wait(((device_state *)opened)->beside); }

ps_status device_unpack_array(void *opened, void *array)
{
    device_state *x = opened;
    int64_t faces = x->setup.faces;
    PS_TRY(ps_copy_to_device(x->beside, x->faces[0], x->host_faces[0], faces * x->face_bytes));
    PS_TRY(
        ps_dgtd_device_halo_unpack(&x->system, array, x->receive, faces, x->faces[0], x->beside));
    PS_TRY(ps_event_record(x->come, x->beside));
    return ps_event_wait(x->come, x->stream);
}

ps_status device_unpack(void *opened, ps_dgtd_field field)
{
    return device_unpack_array(opened, field_of(opened, field));
}

/* ---- the halo, device to device: see device_halo.h for what may run beside what ---- */

ps_status device_share(void *opened, backend_share *out)
{
    const device_state *x = opened;
    if (!x->shared) return ps_fail(PS_FAILED, "processes share no memory of their devices here");
    *out = x->share;
    return PS_OK;
}

/* The other elements' half steps of before, and the halo of the other field, come first; and the
 * other elements' next half step waits for those of before that touch others. */
ps_status device_edge(void *opened, ps_dgtd_field field)
{
    device_state *x = opened;
    PS_TRY(ps_event_record(x->swept, x->stream));
    PS_TRY(ps_event_wait(x->swept, x->beside));
    PS_TRY(ps_event_wait(x->come, x->stream));
    x->now = x->beside;
    if (!x->march.upwind) return PS_OK;
    return ps_dgtd_device_upwind_halo(&x->upwind, &x->system, field,
                                      field_of(x, (ps_dgtd_field)!field), x->beside);
}

ps_status device_push(void *opened, ps_dgtd_field field)
{
    device_state *x = opened;
    PS_TRY(ps_event_record(x->come, x->beside));
    PS_TRY(ps_dgtd_device_push(&x->system, &x->peers, &x->all_faces, field, field_of(x, field),
                               x->beside));
    x->now = x->stream;
    return PS_OK;
}

/* ---- other devices ---- */

/* Where traces of a peer's faces go, one list after the other; place[faces] of the host. */
static ps_status list_places(device_state *x, const backend_peer *peers, int count, int32_t *place)
{
    ps_dgtd_device_faces *faces = &x->all_faces;
    int64_t at = 0, bytes = x->setup.faces * (int64_t)sizeof *place;
    void *copied = NULL;
    *faces = (ps_dgtd_device_faces){.send = x->send, .with = (1u << count) - 1};
    for (int k = 0; k < count; ++k) {
        memcpy(place + at, peers[k].place, (size_t)peers[k].faces * sizeof *place);
        faces->end[k] = at += peers[k].faces;
    }
    PS_TRY(device_state_copy(x, place, bytes, &copied));
    faces->place = copied;
    return PS_OK;
}

static ps_status reach_peer(device_state *x, const backend_peer *peer, int k)
{
    void *memory = NULL;
    ps_dgtd_device_peer *out = x->peers.peer + k;
    PS_TRY(ps_share_reach(x->device, &peer->share.ticket, &memory));
    x->reached[k] = memory;
    *out = (ps_dgtd_device_peer){
        .mine = (unsigned long long *)((char *)memory + peer->share.counts) + ps_comm_rank(),
        .waits = peer->rank};
    for (int a = 0; a < PS_DGTD_PEER_ARRAYS && a * peer->share.field_bytes < peer->share.counts;
         ++a)
        out->arrays[a] = (char *)memory + a * peer->share.field_bytes;
    return PS_OK;
}

ps_status device_state_reach(void *opened, const backend_peer *peers, int count)
{
    device_state *x = opened;
    ps_dgtd_device_halo *halo = &x->peers;
    PS_SCOPED_MEMORY int32_t *place = NULL;
    void *words = NULL;
    if (count > PS_DGTD_PEERS)
        return ps_fail(PS_FAILED, "%d ranks are beside; a device writes to %d", count,
                       PS_DGTD_PEERS);
    PS_TRY(PS_ALLOC(&place, x->setup.faces, "the halo"));
    PS_TRY(list_places(x, peers, count, place));
    PS_TRY(device_state_memory(x, 2 * (int64_t)sizeof(unsigned), &words));
    PS_TRY(ps_fill_zero(x->stream, words, 2 * (int64_t)sizeof(unsigned)));
    PS_TRY(ps_stream_wait(x->stream));
    halo->done = words;
    halo->late = halo->done + 1;
    for (int k = 0; k < count; ++k) PS_TRY(reach_peer(x, peers + k, k));
    halo->peers = count;
    PS_TRY(device_state_reach_local(x, place));
    x->direct = true;
    return PS_OK;
}

void device_state_leave(void *opened)
{
    device_state *x = opened;
    x->direct = false;
    x->peers.peers = 0;
    for (int k = 0; k < PS_DGTD_PEERS; ++k) {
        ps_share_leave(x->device, x->reached[k]);
        x->reached[k] = NULL;
    }
}
