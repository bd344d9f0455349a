#include "kernels/dgtd/device_local.h"

#include <string.h>

#include "kernels/common/reals.h"
#include "kernels/dgtd/device_kernels.h"
#include "runtime/search.h"
#include "runtime/sizes.h"

enum { OF_E, OF_H, OF_SUM, CONCERNED = PS_DGTD_LISTS * PS_DGTD_LOCAL_LEVELS, REST };
enum { PIECE_GROUPS = 4 }; /* that a block of threads copies */

/* ---- lists ---- */

/* Whether an element is in a list of a level: 1, and 3 where its result is an increment. */
static uint32_t part_of(const ps_dgtd_local *x, uint8_t reach, int level, int list)
{
    int p = ps_dgtd_reach_p(reach), q = ps_dgtd_reach_q(reach);
    bool next = level + 1 < x->levels && q > level + 1;
    if (list == OF_E) return p > level ? 3 : 0;
    if (list == OF_SUM) return next ? 3 : 0;
    return q <= level ? 0 : next ? 3 : 1;
}

/* Which slots of a unit are in a list. */
static uint32_t lanes_of(const ps_dgtd_device_local *x, const uint8_t *reach, int list,
                         int64_t unit)
{
    uint32_t lanes = 0;
    for (int i = 0; i < PS_DGTD_UNIT; ++i) {
        int64_t slot = unit * PS_DGTD_UNIT + i;
        if (slot >= x->system.elements) break;
        uint32_t part = list >= CONCERNED ? (ps_dgtd_reach_q(reach[slot]) > 0 ? 3 : 1)
                                          : part_of(x->host, reach[slot], list / PS_DGTD_LISTS,
                                                    list % PS_DGTD_LISTS);
        lanes |= (part & 1) << i | (part >> 1) << (PS_DGTD_UNIT + i);
    }
    return lanes;
}

/* The units of a list, to units[] unless NULL; how many. */
static int64_t list_units(const ps_dgtd_device_local *x, const ps_dgtd_system *system,
                          const uint8_t *reach, int list, ps_dgtd_device_unit *units)
{
    int64_t in_group = ps_dgtd_lanes(x->system.precision) / PS_DGTD_UNIT, count = 0;
    if (list < CONCERNED && list / PS_DGTD_LISTS >= x->host->levels) return 0;
    for (int64_t g = 0; g < x->system.groups; ++g) {
        if (list >= CONCERNED && (ps_dgtd_local_inner(system, reach, g) ||
                                  ps_dgtd_local_near(system, reach, g)) != (list == CONCERNED))
            continue;
        for (int64_t unit = g * in_group; unit < (g + 1) * in_group; ++unit) {
            uint32_t lanes = lanes_of(x, reach, list, unit);
            if (lanes && units) units[count] = (ps_dgtd_device_unit){(uint32_t)unit, lanes};
            count += lanes != 0;
        }
    }
    return count;
}

int64_t ps_dgtd_device_local_shape(ps_dgtd_device_local *x, const ps_dgtd_local *host,
                                   const ps_dgtd_device *device, const ps_dgtd_system *system,
                                   const uint8_t *reach)
{
    *x = (ps_dgtd_device_local){.host = host, .system = *device};
    x->system.media = NULL; /* poles and ports see the whole step alone */
    x->system.ports = NULL;
    for (int i = 0; i < PS_DGTD_LOCAL_LISTS; ++i)
        x->start[i + 1] = x->start[i] + list_units(x, system, reach, i, NULL);
    return x->start[PS_DGTD_LOCAL_LISTS];
}

static ps_dgtd_device_units units_of(const ps_dgtd_device_local *x, int list)
{
    return (ps_dgtd_device_units){x->units + x->start[list], x->start[list + 1] - x->start[list]};
}

ps_dgtd_device_units ps_dgtd_device_local_part(const ps_dgtd_device_local *x, bool concerned)
{
    return units_of(x, concerned ? CONCERNED : REST);
}

/* ---- memory ---- */

static int64_t place(ps_dgtd_device_local *x, int levels, char *memory)
{
    ps_dgtd_device *d = &x->system;
    int64_t used = 0, slots = d->groups * ps_dgtd_lanes(d->precision);
    int64_t lists = PS_DGTD_LISTS * levels + 2, units = lists * slots / PS_DGTD_UNIT; /* at most */
    for (int l = 0; l < levels; ++l)
        x->steps[l] = ps_device_part(memory, &used, 4 * d->materials * ps_real_bytes(d->precision));
    x->kept = ps_device_part(memory, &used, x->field_bytes);
    x->units = ps_device_part(memory, &used, units * (int64_t)sizeof *x->units);
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

void ps_dgtd_device_local_attach(ps_dgtd_device_local *x, int64_t halo_slots, void *memory,
                                 void *increments)
{
    x->field_bytes = field_bytes_of(&x->system, halo_slots);
    place(x, x->host->levels, memory);
    for (int k = 0; increments && k < ps_dgtd_device_local_fields(x->host->levels); ++k)
        (k % 2 ? x->magnetic : x->electric)[k / 2] = (char *)increments + k * x->field_bytes;
}

static ps_status copy_faces(const ps_dgtd_device_local *x, ps_stream *stream)
{
    const ps_dgtd_device *d = &x->system;
    int64_t faces = 4 * d->groups * ps_dgtd_lanes(d->precision);
    PS_TRY(ps_copy_to_device(stream, d->links, x->host->links, faces * (int64_t)sizeof *d->links));
    PS_TRY(ps_copy_to_device(stream, d->kinds, x->host->kinds, faces));
    return ps_copy_to_device(stream, d->bordered, x->host->bordered, d->groups);
}

/* What is kept, in pieces: runs of groups of Q_1, those that hold elements of Q_2 first; of a
 * window, whose parts begin anywhere, groups. */
static ps_status copy_pieces(ps_dgtd_device_local *x, const ps_dgtd_system *system,
                             const uint8_t *reach, ps_range *pieces, ps_stream *stream)
{
    int64_t count = 0, words = ps_dgtd_group_bytes(x->system.order) / 8;
    int64_t most = (x->field_bytes == 0 ? 1 : PIECE_GROUPS) * words;
    for (int which = PS_DGTD_KEPT_INNER; which <= PS_DGTD_KEPT_OUTER;
         x->piece_start[++which] = count)
        for (int64_t g = 0, end = -1; g < x->system.groups; ++g) {
            bool inner = ps_dgtd_local_inner(system, reach, g);
            if (!x->host->inside[g] || inner != (which == PS_DGTD_KEPT_INNER)) continue;
            if (g != end || pieces[count - 1].count == most)
                pieces[count++] = (ps_range){g * words, g * words, 0};
            pieces[count - 1].count += words;
            end = g + 1;
        }
    PS_TRY(ps_copy_to_device(stream, x->pieces, pieces, count * (int64_t)sizeof *pieces));
    return ps_stream_wait(stream);
}

static ps_status copy_units(const ps_dgtd_device_local *x, const ps_dgtd_system *system,
                            const uint8_t *reach, ps_dgtd_device_unit *units, ps_stream *stream)
{
    for (int i = 0; i < PS_DGTD_LOCAL_LISTS; ++i)
        list_units(x, system, reach, i, units + x->start[i]);
    PS_TRY(ps_copy_to_device(stream, x->units, units,
                             x->start[PS_DGTD_LOCAL_LISTS] * (int64_t)sizeof *units));
    return ps_stream_wait(stream);
}

ps_status ps_dgtd_device_local_upload(ps_dgtd_device_local *x, const ps_dgtd_system *system,
                                      const uint8_t *reach, const ps_dgtd_material *materials,
                                      double dt, const ps_dgtd_device_local_work *work,
                                      ps_stream *stream)
{
    ps_dgtd_system told = *system;
    told.steps = work->factors;
    x->host_units = work->units;
    x->host_pieces = work->pieces;
    PS_TRY(copy_faces(x, stream));
    PS_TRY(copy_units(x, system, reach, work->units, stream));
    PS_TRY(copy_pieces(x, system, reach, work->pieces, stream));
    for (int l = 0; l < x->host->levels; ++l) {
        double gain = ps_dgtd_local_gain(l, dt);
        for (int64_t m = 0; m < system->materials; ++m) {
            ps_dgtd_set_factors(&told, PS_DGTD_E, m, 0, 1 / materials[m].eps);
            ps_dgtd_set_factors(&told, PS_DGTD_H, m, 1, -gain / materials[m].mu);
        }
        PS_TRY(ps_copy_to_device(stream, x->steps[l], work->factors,
                                 4 * system->materials * ps_real_bytes(x->system.precision)));
        PS_TRY(ps_stream_wait(stream)); /* the factors' memory is used again */
        if (x->field_bytes == 0) continue;
        PS_TRY(ps_fill_zero(stream, x->electric[l], x->field_bytes));
        if (x->magnetic[l]) PS_TRY(ps_fill_zero(stream, x->magnetic[l], x->field_bytes));
    }
    return ps_stream_wait(stream);
}

/* ---- steps ---- */

/* Pieces [begin, end). */
static ps_status copy_kept(const ps_dgtd_device_local *x, int64_t begin, int64_t end, void *to,
                           const void *from, ps_stream *stream)
{
    const ps_copy_ranges copy = {8, end - begin, x->pieces + begin, from, to};
    return end > begin ? ps_copy_ranges_run(&copy, stream) : PS_OK;
}

ps_status ps_dgtd_device_local_keep(const ps_dgtd_device_local *x, ps_dgtd_kept which,
                                    const void *magnetic, ps_stream *stream)
{
    return copy_kept(x, x->piece_start[which], x->piece_start[which + 1], x->kept, magnetic,
                     stream);
}

ps_status ps_dgtd_device_local_restore(const ps_dgtd_device_local *x, void *magnetic,
                                       ps_stream *stream)
{
    return copy_kept(x, 0, x->piece_start[2], magnetic, x->kept, stream);
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

/* An operation of some of the units of its list. Launches that begin early are recorded or few;
 * those of a window are enqueued one by one, and what is early costs the host more. */
static ps_status op_of(const ps_dgtd_device_local *x, const ps_dgtd_local_op *op,
                       ps_dgtd_device_units units, bool early, void *magnetic, ps_stream *stream)
{
    bool add = op->kind == PS_DGTD_LOCAL_ADD, electric = op->kind == PS_DGTD_LOCAL_E;
    void *own = x->magnetic[op->level];
    ps_dgtd_device device = x->system;
    ps_dgtd_device_sweep s = {.device = &device,
                              .field = electric ? PS_DGTD_E : PS_DGTD_H,
                              .target = array_of(x, op->y, magnetic),
                              .increments = electric ? x->electric[op->level] : own,
                              .source = add ? own : ps_dgtd_device_local_source(x, op, magnetic),
                              .units = &units,
                              .early = early};
    device.steps = x->steps[op->level];
    if (!ps_stream_handle(stream))
        return ps_fail(PS_FAILED, "local steps of a device need CUDA; the CPU has its own");
    if (units.count == 0) return PS_OK;
    return add ? ps_dgtd_local_add_cuda(&s, stream) : ps_dgtd_local_step_cuda(&s, stream);
}

static int list_of(const ps_dgtd_local_op *op)
{
    int list = op->kind == PS_DGTD_LOCAL_E ? OF_E : op->kind == PS_DGTD_LOCAL_H ? OF_H : OF_SUM;
    return PS_DGTD_LISTS * op->level + list;
}

ps_status ps_dgtd_device_local_op(const ps_dgtd_device_local *x, const ps_dgtd_local_op *op,
                                  void *magnetic, ps_stream *stream)
{
    return op_of(x, op, units_of(x, list_of(op)), true, magnetic, stream);
}

/* ---- parts of a window ---- */

/* Of a list the units of groups [begin, end), as they ascend. */
static ps_dgtd_device_units units_within(const ps_dgtd_device_local *x, int list, int64_t begin,
                                         int64_t end)
{
    const int64_t in_group = ps_dgtd_lanes(x->system.precision) / PS_DGTD_UNIT;
    const ps_dgtd_device_unit *units = x->host_units;
    int64_t first, last;
    PS_LOWER_BOUND(first, x->start[list], x->start[list + 1], at,
                   units[at].index < begin * in_group);
    PS_LOWER_BOUND(last, first, x->start[list + 1], at, units[at].index < end * in_group);
    return (ps_dgtd_device_units){x->units + first, last - first};
}

ps_status ps_dgtd_device_local_op_part(const ps_dgtd_device_local *x, const ps_dgtd_local_op *op,
                                       void *magnetic, int64_t begin, int64_t end,
                                       ps_stream *stream)
{
    return op_of(x, op, units_within(x, list_of(op), begin, end), false, magnetic, stream);
}

/* Groups that are kept, of [begin, end). */
static ps_status copy_part(const ps_dgtd_device_local *x, void *to, const void *from, int64_t begin,
                           int64_t end, ps_stream *stream)
{
    const ps_range *pieces = x->host_pieces;
    const int64_t words = ps_dgtd_group_bytes(x->system.order) / 8;
    for (int which = 0; which < 2; ++which) {
        int64_t first, last, past = x->piece_start[which + 1];
        PS_LOWER_BOUND(first, x->piece_start[which], past, at, pieces[at].to < begin * words);
        PS_LOWER_BOUND(last, first, past, at, pieces[at].to < end * words);
        PS_TRY(copy_kept(x, first, last, to, from, stream));
    }
    return PS_OK;
}

ps_status ps_dgtd_device_local_begin_part(const ps_dgtd_device_local *x, const void *magnetic,
                                          int64_t begin, int64_t end, ps_stream *stream)
{
    const int64_t bytes = ps_dgtd_group_bytes(x->system.order);
    for (int l = 0; l < x->host->levels; ++l)
        PS_TRY(ps_fill_zero(stream, (char *)x->electric[l] + begin * bytes, (end - begin) * bytes));
    return copy_part(x, x->kept, magnetic, begin, end, stream);
}

ps_status ps_dgtd_device_local_restore_part(const ps_dgtd_device_local *x, void *magnetic,
                                            int64_t begin, int64_t end, ps_stream *stream)
{
    return copy_part(x, magnetic, x->kept, begin, end, stream);
}
