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

static int64_t group_bytes(const ps_dgtd_device_local *x)
{
    int64_t groups = x->system.groups;
    return groups > 0 ? ps_dgtd_device_field_bytes(&x->system, 0) / groups : 0;
}

int64_t ps_dgtd_device_span_bytes(const ps_dgtd_device_local *x, const ps_dgtd_group_span *span)
{
    return (span->end - span->begin) * group_bytes(x);
}

static void stretch(ps_dgtd_group_span *span, int64_t group)
{
    if (span->begin == span->end) *span = (ps_dgtd_group_span){group, group + 1};
    if (group < span->begin) span->begin = group;
    if (group >= span->end) span->end = group + 1;
}

/* A half step of H reads increments of E of its elements and of those beside them. */
static void stretch_for(ps_dgtd_device_local *x, const int32_t *links, const uint8_t *reach,
                        int levels, int64_t e)
{
    int lanes = ps_dgtd_lanes(x->system.precision), q = ps_dgtd_reach_q(reach[e]);
    for (int l = 0; l < levels && l < q; ++l) {
        stretch(&x->electric_span[l], e / lanes);
        for (int f = 0; f < 4; ++f)
            if (links[4 * e + f] >= 0) stretch(&x->electric_span[l], links[4 * e + f] / 4 / lanes);
        if (l + 1 < levels && l + 1 < q) stretch(&x->magnetic_span[l], e / lanes);
    }
    if (q > 0) stretch(&x->kept_span, e / lanes);
    if (q > 0) stretch(&x->face_span, e / lanes);
}

void ps_dgtd_device_local_spans(ps_dgtd_device_local *x, const int32_t *links, const uint8_t *reach,
                                int levels, int64_t halo_slots)
{
    const ps_dgtd_device *d = &x->system;
    int lanes = ps_dgtd_lanes(d->precision);
    const ps_dgtd_group_span none = {0, 0},
                             all = {0, d->groups + (halo_slots + lanes - 1) / lanes};
    x->kept_span = x->face_span = none;
    for (int l = 0; l < levels; ++l)
        x->electric_span[l] = x->magnetic_span[l] = halo_slots > 0 ? all : none;
    for (int64_t e = 0; e < d->elements; ++e)
        stretch_for(x, links, reach, halo_slots > 0 ? 0 : levels, e);
}

/* Memory of a span of items of so many bytes a group, as an array that begins at group 0. */
static void *place_span(char *memory, int64_t *used, const ps_dgtd_group_span *span, int64_t bytes)
{
    char *part = ps_device_part(memory, used, (span->end - span->begin) * bytes);
    return part ? (void *)((uintptr_t)part - (uintptr_t)(span->begin * bytes)) : NULL;
}

static int64_t place(ps_dgtd_device_local *x, int levels, char *memory)
{
    ps_dgtd_device *d = &x->system;
    int64_t used = 0, lanes = ps_dgtd_lanes(d->precision), bytes = group_bytes(x);
    for (int l = 0; l < levels; ++l) {
        x->electric[l] = place_span(memory, &used, &x->electric_span[l], bytes);
        if (l + 1 < levels) x->magnetic[l] = place_span(memory, &used, &x->magnetic_span[l], bytes);
        x->steps[l] = ps_device_part(memory, &used, 4 * d->materials * real_bytes(d));
    }
    x->kept = place_span(memory, &used, &x->kept_span, bytes);
    x->pieces = ps_device_part(memory, &used, d->groups * (int64_t)sizeof *x->pieces);
    d->links = place_span(memory, &used, &x->face_span, 4 * lanes * (int64_t)sizeof *d->links);
    d->kinds = place_span(memory, &used, &x->face_span, 4 * lanes);
    d->bordered = place_span(memory, &used, &x->face_span, 1);
    return used;
}

int64_t ps_dgtd_device_local_bytes(const ps_dgtd_device_local *local, int levels)
{
    ps_dgtd_device_local x = *local;
    return place(&x, levels, NULL);
}

void ps_dgtd_device_local_attach(ps_dgtd_device_local *x, void *memory)
{
    place(x, x->host->levels, memory);
}

static ps_status copy_faces(const ps_dgtd_device_local *x, ps_stream *stream)
{
    const ps_dgtd_device *d = &x->system;
    int64_t lanes = ps_dgtd_lanes(d->precision), first = x->face_span.begin;
    int64_t faces = 4 * (x->face_span.end - first) * lanes, at = 4 * first * lanes;
    PS_TRY(ps_copy_to_device(stream, d->links + at, x->host->links + at,
                             faces * (int64_t)sizeof *d->links));
    PS_TRY(ps_copy_to_device(stream, d->kinds + at, x->host->kinds + at, faces));
    return ps_copy_to_device(stream, d->bordered + first, x->host->bordered + first,
                             x->face_span.end - first);
}

/* Zeros to all of an array. */
static ps_status clear(const ps_dgtd_device_local *x, void *array, const ps_dgtd_group_span *span,
                       ps_stream *stream)
{
    int64_t bytes = ps_dgtd_device_span_bytes(x, span);
    if (!array || bytes == 0) return PS_OK;
    return ps_fill_zero(stream, (char *)array + span->begin * group_bytes(x), bytes);
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
        PS_TRY(clear(x, x->electric[l], &x->electric_span[l], stream));
        PS_TRY(clear(x, x->magnetic[l], &x->magnetic_span[l], stream));
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

ps_status ps_dgtd_device_local_tell(const ps_dgtd_device_local *x, const void *magnetic,
                                    ps_stream *stream)
{
    return copy_kept(x, PS_DGTD_KEPT_INNER, PS_DGTD_KEPT_OUTER, x->told, magnetic, stream);
}

ps_status ps_dgtd_device_local_told(const ps_dgtd_device_local *x, void *former, ps_stream *stream)
{
    return copy_kept(x, PS_DGTD_KEPT_INNER, PS_DGTD_KEPT_OUTER, former, x->told, stream);
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

static ps_status run_list(const ps_dgtd_device_local *x, ps_dgtd_local_sweep *s, int level,
                          int list, bool add, ps_stream *stream)
{
    int at = PS_DGTD_LISTS * level + list;
    for (int64_t k = x->start[at]; k < x->start[at + 1]; ++k) {
        s->begin[s->count] = x->ranges[k].begin;
        s->end[s->count] = x->ranges[k].end;
        if (list != AT_ONCE) s->fresh |= 1u << s->count;
        if (++s->count == PS_DGTD_DEVICE_PARTS) PS_TRY(flush(s, add, stream));
    }
    return PS_OK;
}

ps_status ps_dgtd_device_local_op(const ps_dgtd_device_local *x, const ps_dgtd_local_op *op,
                                  void *magnetic, ps_stream *stream)
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
        PS_TRY(run_list(x, &s, op->level, OF_E, add, stream));
    } else {
        PS_TRY(run_list(x, &s, op->level, OF_INCREMENTS, add, stream));
    }
    if (op->kind == PS_DGTD_LOCAL_H) PS_TRY(run_list(x, &s, op->level, AT_ONCE, add, stream));
    return flush(&s, add, stream);
}
