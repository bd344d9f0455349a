#include "kernels/dgtd/device_local.h"

#include <string.h>

#include "kernels/dgtd/device_kernels.h"
#include "runtime/sizes.h"

#ifndef PS_WITH_CUDA
ps_status ps_dgtd_local_step_cuda(const ps_dgtd_local_sweep *sweep, ps_stream *stream)
{
    return ps_fail(PS_FAILED, "this build has no CUDA");
}
ps_status ps_dgtd_local_add_cuda(const ps_dgtd_local_sweep *sweep, ps_stream *stream)
{
    return ps_fail(PS_FAILED, "this build has no CUDA");
}
#endif

enum { OF_E, OF_INCREMENTS, AT_ONCE, FIRST_KEPT = PS_DGTD_LISTS * PS_DGTD_LOCAL_LEVELS };
enum { PIECE_GROUPS = 4 }; /* that a block of threads copies */

/* ---- lists ---- */

/* Is an element in a list of a level? */
static bool is_in(const ps_dgtd_local *x, uint8_t reach, int level, int list)
{
    int p = ps_dgtd_reach_p(reach), q = ps_dgtd_reach_q(reach);
    bool next = level + 1 < x->levels && q > level + 1;
    if (list == OF_E) return p > level;
    return q > level && next == (list == OF_INCREMENTS);
}

/* Whether a group is in a list of those that are kept. */
static bool is_kept(const ps_dgtd_local *x, const uint8_t *reach, int64_t group, int list)
{
    bool inner = ps_dgtd_local_inner(&x->level[0].system, reach, group);
    return x->inside[group] && inner == (list == PS_DGTD_KEPT_INNER);
}

/* Ranges behind the `count`-th of what is_in() is told of, or of groups that are kept (level -1).
 */
static int64_t add_ranges(const ps_dgtd_device_local *x, const uint8_t *reach, int level, int list,
                          int64_t count)
{
    int64_t items = level < 0 ? x->system.groups : x->system.elements;
    bool before = false;
    for (int64_t i = 0; i < items; ++i) {
        bool now =
            level < 0 ? is_kept(x->host, reach, i, list) : is_in(x->host, reach[i], level, list);
        if (x->ranges && now && !before) x->ranges[count].begin = (uint32_t)i;
        count += now && !before;
        if (x->ranges && now) x->ranges[count - 1].end = (uint32_t)i + 1;
        before = now;
    }
    return count;
}

void ps_dgtd_device_local_list(ps_dgtd_device_local *x, const ps_dgtd_local *host,
                               const ps_dgtd_device *device, const uint8_t *reach,
                               ps_dgtd_slot_range *ranges)
{
    *x = (ps_dgtd_device_local){.host = host, .system = *device, .ranges = ranges};
    x->system.media = NULL; /* poles and ports see the whole step alone */
    x->system.ports = NULL;
    for (int i = 0; i < PS_DGTD_LOCAL_LISTS; ++i) {
        int level = i / PS_DGTD_LISTS;
        bool kept = i >= FIRST_KEPT;
        int list = kept ? i - FIRST_KEPT : i % PS_DGTD_LISTS;
        x->start[i + 1] = x->start[i];
        if (kept || level < host->levels)
            x->start[i + 1] = add_ranges(x, reach, kept ? -1 : level, list, x->start[i]);
    }
}

int64_t ps_dgtd_device_local_ranges(const ps_dgtd_device_local *x)
{
    return x->start[PS_DGTD_LOCAL_LISTS];
}

/* ---- memory ---- */

static int64_t real_bytes(const ps_dgtd_device *d) { return d->precision == PS_SINGLE ? 4 : 8; }

static int64_t place(ps_dgtd_device_local *x, int levels, char *memory)
{
    ps_dgtd_device *d = &x->system;
    int64_t used = 0, slots = d->groups * ps_dgtd_lanes(d->precision);
    for (int l = 0; l < levels; ++l) {
        x->electric[l] = ps_device_part(memory, &used, x->field_bytes);
        if (l + 1 < levels) x->magnetic[l] = ps_device_part(memory, &used, x->field_bytes);
        x->steps[l] = ps_device_part(memory, &used, 4 * d->materials * real_bytes(d));
    }
    x->kept = ps_device_part(memory, &used, x->field_bytes);
    x->pieces = ps_device_part(memory, &used, d->groups * (int64_t)sizeof *x->pieces);
    d->links = ps_device_part(memory, &used, 4 * slots * (int64_t)sizeof *d->links);
    d->kinds = ps_device_part(memory, &used, 4 * slots);
    d->bordered = ps_device_part(memory, &used, d->groups);
    return used;
}

static int64_t field_bytes_of(const ps_dgtd_device *device, int64_t halo_slots)
{
    return halo_slots == PS_DGTD_WINDOWED ? 0 : ps_dgtd_device_field_bytes(device, halo_slots);
}

int64_t ps_dgtd_device_local_bytes(const ps_dgtd_device *device, int levels, int64_t halo_slots)
{
    ps_dgtd_device_local x = {.system = *device};
    x.field_bytes = field_bytes_of(device, halo_slots);
    return place(&x, levels, NULL);
}

void ps_dgtd_device_local_attach(ps_dgtd_device_local *x, int64_t halo_slots, void *memory)
{
    x->field_bytes = field_bytes_of(&x->system, halo_slots);
    place(x, x->host->levels, memory);
}

static ps_status copy_faces(const ps_dgtd_device_local *x, ps_stream *stream)
{
    const ps_dgtd_device *d = &x->system;
    int64_t faces = 4 * d->groups * ps_dgtd_lanes(d->precision);
    PS_TRY(ps_copy_to_device(stream, d->links, x->host->links, faces * (int64_t)sizeof *d->links));
    PS_TRY(ps_copy_to_device(stream, d->kinds, x->host->kinds, faces));
    return ps_copy_to_device(stream, d->bordered, x->host->bordered, d->groups);
}

static int64_t group_bytes(const ps_dgtd_device_local *x)
{
    int64_t groups = x->system.groups;
    return groups > 0 ? ps_dgtd_device_field_bytes(&x->system, 0) / groups : 0;
}

/* What is kept, in pieces. */
static ps_status copy_pieces(ps_dgtd_device_local *x, ps_range *pieces, ps_stream *stream)
{
    int64_t count = 0, words = group_bytes(x) / 8;
    for (int which = 0; which < 2; x->piece_start[++which] = count)
        for (int64_t k = x->start[FIRST_KEPT + which]; k < x->start[FIRST_KEPT + which + 1]; ++k)
            for (int64_t g = x->ranges[k].begin; g < x->ranges[k].end; g += PIECE_GROUPS) {
                int64_t left = x->ranges[k].end - g,
                        some = left < PIECE_GROUPS ? left : PIECE_GROUPS;
                pieces[count++] = (ps_range){g * words, g * words, some * words};
            }
    PS_TRY(ps_copy_to_device(stream, x->pieces, pieces, count * (int64_t)sizeof *pieces));
    return ps_stream_wait(stream);
}

ps_status ps_dgtd_device_local_upload(ps_dgtd_device_local *x, const ps_dgtd_system *system,
                                      const ps_dgtd_material *materials, double dt, double *work,
                                      ps_range *pieces, ps_stream *stream)
{
    ps_dgtd_system told = *system;
    told.steps = work;
    PS_TRY(copy_faces(x, stream));
    PS_TRY(copy_pieces(x, pieces, stream));
    for (int l = 0; l < x->host->levels; ++l) {
        double gain = ps_dgtd_local_gain(l, dt);
        for (int64_t m = 0; m < system->materials; ++m) {
            ps_dgtd_set_factors(&told, PS_DGTD_E, m, 0, 1 / materials[m].eps);
            ps_dgtd_set_factors(&told, PS_DGTD_H, m, 1, -gain / materials[m].mu);
        }
        PS_TRY(ps_copy_to_device(stream, x->steps[l], work,
                                 4 * system->materials * real_bytes(&x->system)));
        PS_TRY(ps_stream_wait(stream)); /* `work` is used again */
        if (x->field_bytes == 0) continue;
        PS_TRY(ps_fill_zero(stream, x->electric[l], x->field_bytes));
        if (x->magnetic[l]) PS_TRY(ps_fill_zero(stream, x->magnetic[l], x->field_bytes));
    }
    return ps_stream_wait(stream);
}

/* ---- steps ---- */

/* Pieces of lists [first, last]. */
static ps_status copy_kept(const ps_dgtd_device_local *x, int first, int last, void *to,
                           const void *from, ps_stream *stream)
{
    int64_t begin = x->piece_start[first], count = x->piece_start[last + 1] - begin;
    const ps_copy_ranges copy = {8, count, x->pieces + begin, from, to};
    return count > 0 ? ps_copy_ranges_run(&copy, stream) : PS_OK;
}

ps_status ps_dgtd_device_local_keep(const ps_dgtd_device_local *x, ps_dgtd_kept which,
                                    const void *magnetic, ps_stream *stream)
{
    return copy_kept(x, which, which, x->kept, magnetic, stream);
}

ps_status ps_dgtd_device_local_restore(const ps_dgtd_device_local *x, void *magnetic,
                                       ps_stream *stream)
{
    return copy_kept(x, PS_DGTD_KEPT_INNER, PS_DGTD_KEPT_OUTER, magnetic, x->kept, stream);
}

static void *array_of(const ps_dgtd_device_local *x, int y, void *magnetic)
{
    return y < 0 ? magnetic : x->magnetic[y];
}

void *ps_dgtd_device_local_source(const ps_dgtd_device_local *x, const ps_dgtd_local_op *op,
                                  void *magnetic)
{
    if (op->kind == PS_DGTD_LOCAL_E) return array_of(x, op->y, magnetic);
    return op->kind == PS_DGTD_LOCAL_H ? x->electric[op->level] : NULL;
}

/* Runs what is listed so far. */
static ps_status flush(ps_dgtd_local_sweep *s, bool add, ps_stream *stream)
{
    ps_status status = PS_OK;
    if (s->count > 0)
        status = add ? ps_dgtd_local_add_cuda(s, stream) : ps_dgtd_local_step_cuda(s, stream);
    s->count = 0;
    s->fresh = 0;
    return status;
}

/* Of slots [within->begin, within->end) alone. */
static ps_status run_list(const ps_dgtd_device_local *x, ps_dgtd_local_sweep *s, int level,
                          int list, bool add, const ps_dgtd_slot_range *within, ps_stream *stream)
{
    int at = PS_DGTD_LISTS * level + list;
    for (int64_t k = x->start[at]; k < x->start[at + 1]; ++k) {
        uint32_t begin = x->ranges[k].begin, end = x->ranges[k].end;
        if (begin >= within->end) break;
        if (begin < within->begin) begin = within->begin;
        if (end > within->end) end = within->end;
        if (begin >= end) continue;
        s->begin[s->count] = begin;
        s->end[s->count] = end;
        if (list != AT_ONCE) s->fresh |= 1u << s->count;
        if (++s->count == PS_DGTD_DEVICE_PARTS) PS_TRY(flush(s, add, stream));
    }
    return PS_OK;
}

static ps_status op_within(const ps_dgtd_device_local *x, const ps_dgtd_local_op *op,
                           void *magnetic, const ps_dgtd_slot_range *within, ps_stream *stream)
{
    bool add = op->kind == PS_DGTD_LOCAL_ADD;
    void *y = array_of(x, op->y, magnetic), *own = x->magnetic[op->level];
    ps_dgtd_device device = x->system;
    device.steps = x->steps[op->level];
    ps_dgtd_local_sweep s = {.device = &device, .field = PS_DGTD_H, .target = y, .increments = own};
    if (!ps_stream_handle(stream))
        return ps_fail(PS_FAILED, "local steps of a device need CUDA; the CPU has its own");
    s.source = add ? own : ps_dgtd_device_local_source(x, op, magnetic);
    if (op->kind == PS_DGTD_LOCAL_E) {
        s.field = PS_DGTD_E;
        s.increments = x->electric[op->level];
        PS_TRY(run_list(x, &s, op->level, OF_E, add, within, stream));
    } else {
        PS_TRY(run_list(x, &s, op->level, OF_INCREMENTS, add, within, stream));
    }
    if (op->kind == PS_DGTD_LOCAL_H)
        PS_TRY(run_list(x, &s, op->level, AT_ONCE, add, within, stream));
    return flush(&s, add, stream);
}

ps_status ps_dgtd_device_local_op(const ps_dgtd_device_local *x, const ps_dgtd_local_op *op,
                                  void *magnetic, ps_stream *stream)
{
    const ps_dgtd_slot_range all = {0, (uint32_t)x->system.elements};
    return op_within(x, op, magnetic, &all, stream);
}

/* ---- parts of a window ---- */

ps_status ps_dgtd_device_local_op_part(const ps_dgtd_device_local *x, const ps_dgtd_local_op *op,
                                       void *magnetic, int64_t begin, int64_t end,
                                       ps_stream *stream)
{
    const int64_t lanes = ps_dgtd_lanes(x->system.precision);
    const ps_dgtd_slot_range within = {(uint32_t)(begin * lanes), (uint32_t)(end * lanes)};
    return op_within(x, op, magnetic, &within, stream);
}

/* Groups that are kept, of [begin, end). */
static ps_status copy_part(const ps_dgtd_device_local *x, void *to, const void *from, int64_t begin,
                           int64_t end, ps_stream *stream)
{
    const int64_t bytes = group_bytes(x);
    for (int64_t k = x->start[FIRST_KEPT]; k < x->start[PS_DGTD_LOCAL_LISTS]; ++k) {
        int64_t first = x->ranges[k].begin, last = x->ranges[k].end;
        if (first < begin) first = begin;
        if (last > end) last = end;
        if (first >= last) continue;
        PS_TRY(ps_copy_on_device(stream, (char *)to + first * bytes,
                                 (const char *)from + first * bytes, (last - first) * bytes));
    }
    return PS_OK;
}

ps_status ps_dgtd_device_local_begin_part(const ps_dgtd_device_local *x, const void *magnetic,
                                          int64_t begin, int64_t end, ps_stream *stream)
{
    const int64_t bytes = group_bytes(x);
    for (int l = 0; l < x->host->levels; ++l)
        PS_TRY(ps_fill_zero(stream, (char *)x->electric[l] + begin * bytes, (end - begin) * bytes));
    return copy_part(x, x->kept, magnetic, begin, end, stream);
}

ps_status ps_dgtd_device_local_restore_part(const ps_dgtd_device_local *x, void *magnetic,
                                            int64_t begin, int64_t end, ps_stream *stream)
{
    return copy_part(x, magnetic, x->kept, begin, end, stream);
}
