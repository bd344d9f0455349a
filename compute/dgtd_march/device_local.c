/* Local steps of the state on a GPU. */
#include "compute/dgtd_march/device_state.h"

#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

/* ---- opening ---- */

/* Whether the trace of a face is sent: list 2 l is what E of level l + 1 reads, of elements beside
 * one of its P; the next is what H reads, of elements in P; the last is R_1 H, of elements in Q_1.
 */
static bool is_sent(const device_state *x, int list, uint8_t own, uint8_t other)
{
    if (list == x->faces_lists - 1) return ps_dgtd_reach_q(own) > 0;
    if (own == PS_DGTD_REACH_CLOSED || other == PS_DGTD_REACH_CLOSED) return false;
    return ps_dgtd_reach_p(list % 2 ? own : other) > list / 2;
}

/* The reach of the element beyond a face of an own one. */
static uint8_t beyond(const device_state *x, int32_t face)
{
    const ps_dgtd_system *system = x->setup.march->system;
    int64_t lanes = ps_dgtd_lanes(system->precision), slot = face / 4;
    int64_t at = slot / lanes * 4 * lanes + face % 4 * lanes + slot % lanes;
    return x->setup.reach[system->links[at] / 4];
}

/* Those of all faces that are sent in a list, in their order; which peers have some, or send some.
 */
static ps_status list_faces(device_state *x, int list, const int32_t *place, int32_t *kept)
{
    const uint8_t *reach = x->setup.reach;
    ps_dgtd_device_faces *out = x->local_faces + list;
    int64_t count = 0, all = x->setup.faces;
    int k = 0;
    *out = (ps_dgtd_device_faces){.with = 0};
    for (int64_t i = 0; i < all; ++i) {
        uint8_t own = reach[x->setup.send[i] / 4], other = beyond(x, x->setup.send[i]);
        while (i >= x->all_faces.end[k]) out->end[k++] = count;
        if (is_sent(x, list, own, other) || is_sent(x, list, other, own)) out->with |= 1u << k;
        if (!is_sent(x, list, own, other)) continue;
        kept[count] = x->setup.send[i];
        kept[all + count++] = place[i];
    }
    while (k < x->peers.peers) out->end[k++] = count;
    int64_t bytes = count * (int64_t)sizeof *kept;
    void *send = NULL, *places = NULL;
    PS_TRY(device_state_copy(x, kept, bytes, &send));
    PS_TRY(device_state_copy(x, kept + all, bytes, &places));
    out->send = send;
    out->place = places;
    return PS_OK;
}

/* What a step sends beside E and H. */
static void tell_sent(const device_state *x)
{
    const ps_dgtd_local *host = x->local.host;
    double bytes = 0;
    int pushes = 0;
    for (int i = 1; i <= host->op_count; ++i) {
        int list = i < host->op_count ? device_local_list(x, i) : x->faces_lists - 1;
        if (list < 0 || !x->local_faces[list].with) continue;
        bytes += (double)(x->local_faces[list].end[x->peers.peers - 1] * x->face_bytes);
        ++pushes;
    }
    ps_info("local steps: %d pushes a step, of %.4g MB in all, beside those of E and H, of %.4g MB "
            "each",
            pushes, bytes / 1e6, (double)(x->setup.faces * x->face_bytes) / 1e6);
}

ps_status device_state_reach_local(device_state *x, const int32_t *place)
{
    PS_SCOPED_MEMORY int32_t *kept = NULL;
    if (!x->local.host) return PS_OK;
    x->faces_lists = 2 * x->local.host->levels + 1;
    PS_TRY(PS_ALLOC(&kept, 2 * x->setup.faces, "the halo"));
    for (int i = 0; i < x->faces_lists; ++i) PS_TRY(list_faces(x, i, place, kept));
    tell_sent(x);
    return PS_OK;
}

static ps_status upload(device_state *x, int64_t units)
{
    const backend_setup *s = &x->setup;
    PS_SCOPED_MEMORY double *factors = NULL;
    PS_TRY(PS_ALLOC(&x->host_units, units, "the local steps"));
    PS_TRY(PS_ALLOC(&x->host_pieces, x->system.groups, "the local steps"));
    PS_TRY(PS_ALLOC(&factors, 4 * x->system.materials, "the local steps"));
    const ps_dgtd_device_local_work work = {x->host_units, x->host_pieces, factors};
    return ps_dgtd_device_local_upload(&x->local, s->march->system, s->reach, s->materials,
                                       s->march->dt, &work, x->stream);
}

/* Increments, and H that is kept, lie in the window. */
static void attach_windowed(device_state *x)
{
    int levels = x->local.host->levels;
    for (int l = 0; l < levels; ++l) {
        x->local.electric[l] = ps_window_array_at(x->window, x->window_local + l);
        if (l + 1 < levels)
            x->local.magnetic[l] = ps_window_array_at(x->window, x->window_local + levels + l);
    }
    x->local.kept = ps_window_array_at(x->window, x->window_local + 2 * levels - 1);
}

ps_status device_state_open_local(device_state *x)
{
    const backend_setup *s = &x->setup;
    const ps_dgtd_local *host = s->march->local;
    const int64_t halo = x->window ? PS_DGTD_WINDOWED : s->halo_slots;
    void *memory = NULL;
    if (!host) return PS_OK;
    x->system.stepped = true;
    int64_t units =
        ps_dgtd_device_local_shape(&x->local, host, &x->system, s->march->system, s->reach);
    PS_TRY(device_state_memory(x, ps_dgtd_device_local_bytes(&x->system, host->levels, halo),
                               &memory));
    ps_dgtd_device_local_attach(&x->local, halo, memory, x->increments);
    if (x->window) attach_windowed(x);
    for (int k = 0; k < 2; ++k) x->units[k] = ps_dgtd_device_local_part(&x->local, k > 0);
    return upload(x, units);
}

/* ---- local steps ---- */

/* What halves at once are split by. */
void device_local_order(void *opened, backend_order order)
{
    device_state *x = opened;
    bool last = order == BACKEND_CONCERNED_LAST;
    x->march.split = order == BACKEND_AT_ONCE ? NULL : &x->split;
    x->split = (ps_dgtd_device_split){.units = {x->units + !last, x->units + last},
                                      .between = last ? x->come : x->swept,
                                      .waits = last,
                                      .kept = last ? NULL : x->local.kept};
}

ps_status device_local_keep(void *opened, bool inner)
{
    device_state *x = opened;
    ps_dgtd_kept which = inner ? PS_DGTD_KEPT_INNER : PS_DGTD_KEPT_OUTER;
    return ps_dgtd_device_local_keep(&x->local, which, x->march.magnetic, x->now);
}

ps_status device_local_op(void *opened, int op)
{
    device_state *x = opened;
    return ps_dgtd_device_local_op(&x->local, x->local.host->ops + op, x->march.magnetic, x->now);
}

/* Of a window, in which groups are new in each visit. */
ps_status device_local_part(void *opened, int from, int to, int64_t begin, int64_t end)
{
    device_state *x = opened;
    void *magnetic = x->march.magnetic;
    if (from == 0) PS_TRY(ps_dgtd_device_local_begin_part(&x->local, magnetic, begin, end, x->now));
    for (int i = from; i < to; ++i)
        PS_TRY(ps_dgtd_device_local_op_part(&x->local, x->local.host->ops + i, magnetic, begin, end,
                                            x->now));
    return PS_OK;
}

ps_status device_local_restore(void *opened)
{
    device_state *x = opened;
    if (x->direct) PS_TRY(ps_event_wait(x->come, x->stream)); /* E of elements that touch others */
    return ps_dgtd_device_local_restore(&x->local, x->march.magnetic, x->now);
}

/* What is enqueued now is waited for by what goes aside later. */
ps_status device_mark(void *opened)
{
    device_state *x = opened;
    return ps_event_record(x->swept, x->stream);
}

static ps_status run_chain(device_state *x, int from, int to)
{
    for (int i = from; i < to; ++i)
        PS_TRY(ps_dgtd_device_local_op(&x->local, x->local.host->ops + i, x->march.magnetic,
                                       x->beside));
    return PS_OK;
}

/* Dozens of small launches, recorded once. */
ps_status device_local_aside(void *opened, int from, int to, bool keep)
{
    device_state *x = opened;
    ps_graph **chain = x->chains + (from > 0);
    if (!*chain) {
        PS_TRY(ps_graph_begin(x->beside));
        ps_status status = run_chain(x, from, to), ended = ps_graph_end(x->beside, chain);
        PS_TRY(status);
        PS_TRY(ended);
    }
    PS_TRY(ps_event_wait(x->swept, x->beside));
    if (keep)
        PS_TRY(
            ps_dgtd_device_local_keep(&x->local, PS_DGTD_KEPT_INNER, x->march.magnetic, x->beside));
    PS_TRY(ps_graph_launch(*chain, x->beside));
    return ps_event_record(x->come, x->beside);
}

ps_status device_together(void *opened)
{
    device_state *x = opened;
    return ps_event_wait(x->come, x->stream);
}

void *device_local_source(void *opened, int op)
{
    device_state *x = opened;
    void *magnetic = x->march.magnetic;
    if (op < 0) return magnetic;
    return ps_dgtd_device_local_source(&x->local, x->local.host->ops + op, magnetic);
}

/* ---- from device to device ---- */

/* The list of what an operation reads of others, -1: nothing. */
int device_local_list(const device_state *x, int op)
{
    const ps_dgtd_local_op *o = x->local.host->ops + op;
    if (o->kind == PS_DGTD_LOCAL_ADD) return -1;
    return 2 * o->level + (o->kind == PS_DGTD_LOCAL_H);
}

/* The number of the array that an operation reads. */
static int array_of(const ps_dgtd_local_op *o)
{
    if (o->kind == PS_DGTD_LOCAL_H) return 2 + 2 * o->level;
    return o->y < 0 ? PS_DGTD_H : 3 + 2 * o->y;
}

ps_status device_local_enter(void *opened)
{
    device_state *x = opened;
    PS_TRY(ps_event_record(x->swept, x->stream));
    x->now = x->beside;
    return ps_event_wait(x->swept, x->beside);
}

ps_status device_local_push(void *opened, int op)
{
    device_state *x = opened;
    int list = op < 0 ? x->faces_lists - 1 : device_local_list(x, op);
    int array = op < 0 ? PS_DGTD_H : array_of(x->local.host->ops + op);
    if (op < 0) PS_TRY(ps_event_record(x->come, x->beside));
    if (list < 0) return PS_OK;
    return ps_dgtd_device_push(&x->system, &x->peers, x->local_faces + list, array,
                               device_local_source(x, op), x->beside);
}
