/* Sums on a CUDA device: what was sorted on the host goes there once, weights and results each
 * time. */
#include <stdlib.h>
#include <string.h>

#include "kernels/fmm/device_lists.h"
#include "kernels/fmm/device_ops.h"
#include "kernels/fmm/device_prism.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "stage/prism_sum/internal.h"

enum { FAR_LEVEL = 2, BLOCKS = 256, SAMPLES = 1024 /* stations of direct sums at a time */ };

struct prism_device {
    ps_device *device;
    ps_stream *stream;
    ps_device_prisms on; /* result: what kernels add to */
    double *near[PS_PRISM_NUMBERS], *room, *sums;
    int32_t *index;           /* [SAMPLES] */
    int64_t *pairs;           /* closed forms of the near field */
    ps_device_lists lists[2]; /* forward; backward, when it is first asked for */
    ps_device_prism_item *items[PS_OCTREE_LEVELS_MAX];
    int64_t item_count[PS_OCTREE_LEVELS_MAX];
    /* Operators: vectors of cells of sources and targets, coded ones of either. */
    ps_fmm_device_method method;
    ps_fmm_device_table table;
    double *vectors[2][PS_OCTREE_LEVELS_MAX], *coded[PS_OCTREE_LEVELS_MAX], *by_piece;
    /* All memory: first what stays, then that of operators. */
    void *blocks[BLOCKS];
    int count, kept;
};

/* ---- memory ---- */

static ps_status room_for(prism_device *d, int64_t bytes, void **out)
{
    if (d->count == BLOCKS)
        return ps_fail(PS_EXHAUSTED, "sums on a device take more than %d blocks", BLOCKS);
    PS_TRY(ps_device_alloc(d->device, bytes > 0 ? bytes : 16, out));
    d->blocks[d->count++] = *out;
    return PS_OK;
}

static void release_from(prism_device *d, int first)
{
    for (int i = first; i < d->count; ++i) ps_device_free(d->device, d->blocks[i]);
    d->count = first;
}

void prism_device_close(ps_prism_sum *s)
{
    prism_device *d = s->device;
    if (!d) return;
    release_from(d, 0);
    ps_stream_close(&d->stream);
    free(d);
    s->device = NULL;
}

static ps_status upload(prism_device *d, const void *from, int64_t bytes, void **out)
{
    PS_TRY(room_for(d, bytes, out));
    return ps_copy_to_device(d->stream, *out, from, bytes);
}

/* Numbers that are int64_t here and int32_t there. */
static ps_status upload_narrow(prism_device *d, const int64_t *from, int64_t count, void **out)
{
    int32_t *narrow;
    PS_TRY(ps_alloc_untouched((void **)&narrow, 4 * count, "indices for a device"));
#pragma omp parallel for
    for (int64_t i = 0; i < count; ++i) narrow[i] = (int32_t)from[i];
    ps_status status = upload(d, narrow, 4 * count, out);
    if (status == PS_OK) status = ps_stream_wait(d->stream);
    free(narrow);
    return status;
}

/* ---- prisms, stations, trees ---- */

static ps_status copy_bodies(const ps_prism_sum *s, prism_device *d)
{
    int64_t n = s->bodies.prisms, m = s->bodies.stations;
    for (int a = 0; a < 3; ++a) {
        PS_TRY(upload(d, s->low[a], 8 * n, (void **)&d->on.low[a]));
        PS_TRY(upload(d, s->high[a], 8 * n, (void **)&d->on.high[a]));
        PS_TRY(upload(d, s->place[a], 8 * m, (void **)&d->on.place[a]));
    }
    for (int w = 0; w < s->weights; ++w) PS_TRY(room_for(d, 8 * n, (void **)&d->on.weight[w]));
    for (int k = 0; k < s->numbers; ++k) {
        PS_TRY(room_for(d, 8 * m, (void **)&d->on.result[k]));
        PS_TRY(room_for(d, 8 * m, (void **)&d->near[k]));
    }
    int64_t parts = (n + PS_DEVICE_PRISM_PART - 1) / PS_DEVICE_PRISM_PART;
    PS_TRY(room_for(d, 8 * parts * s->numbers * SAMPLES, (void **)&d->room));
    PS_TRY(room_for(d, 8 * s->numbers * SAMPLES, (void **)&d->sums));
    PS_TRY(room_for(d, 8, (void **)&d->pairs));
    return room_for(d, 4 * SAMPLES, (void **)&d->index);
}

static ps_status copy_tree(prism_device *d, const ps_octree *from, ps_device_tree *tree)
{
    void *block;
    *tree = (ps_device_tree){.height = from->height,
                             .box = from->box,
                             .particles = from->particle_start[ps_octree_leaves(from)]};
    memcpy(tree->cells, from->cells, (size_t)from->height * sizeof *tree->cells);
    PS_TRY(room_for(d, ps_device_tree_bytes(tree), &block));
    ps_device_tree_attach(tree, block);
    return prism_device_tree(from, tree, d->stream);
}

static ps_status copy_pieces(const ps_prism_sum *s, prism_device *d)
{
    PS_TRY(upload(d, s->level, s->bodies.prisms, (void **)&d->on.level));
    PS_TRY(upload_narrow(d, s->piece, s->pieces, (void **)&d->on.piece));
    for (int l = 0; l < s->height; ++l)
        if (s->start[l])
            PS_TRY(
                upload_narrow(d, s->start[l], s->sources.cells[l] + 1, (void **)&d->on.start[l]));
    return PS_OK;
}

/* Work of the near field on a level: stations of its cells, a few at a time. */
static ps_status make_items(const ps_prism_sum *s, prism_device *d, int level)
{
    PS_SCOPED_MEMORY ps_device_prism_item *items = NULL;
    int64_t count = 0, first, end;
    for (int64_t c = 0; c < s->targets.cells[level]; ++c) {
        prism_stations_of(&s->targets, level, c, &first, &end);
        count += (end - first + PS_DEVICE_PRISM_STATIONS - 1) / PS_DEVICE_PRISM_STATIONS;
    }
    PS_TRY(PS_ALLOC(&items, count, "work for a device"));
    for (int64_t c = 0, used = 0; c < s->targets.cells[level]; ++c) {
        prism_stations_of(&s->targets, level, c, &first, &end);
        for (int64_t at = first; at < end; at += PS_DEVICE_PRISM_STATIONS) {
            int64_t last = at + PS_DEVICE_PRISM_STATIONS;
            items[used++] =
                (ps_device_prism_item){(int32_t)c, (int32_t)at, (int32_t)(last < end ? last : end)};
        }
    }
    d->item_count[level] = count;
    PS_TRY(upload(d, items, count * (int64_t)sizeof *items, (void **)&d->items[level]));
    return ps_stream_wait(d->stream);
}

static ps_status make_lists(prism_device *d, bool backward)
{
    const ps_device_tree *targets = backward ? &d->on.sources : &d->on.targets;
    const ps_device_tree *sources = backward ? &d->on.targets : &d->on.sources;
    ps_device_lists *lists = &d->lists[backward];
    int64_t bytes;
    void *block;
    if (lists->workspace) return PS_OK;
    PS_TRY(ps_device_lists_bytes(targets, lists, d->stream, &bytes));
    PS_TRY(room_for(d, bytes, &block));
    ps_device_lists_attach(targets, lists, block);
    return ps_device_lists_fill(targets, sources, lists, d->stream);
}

static ps_status copy_trees(const ps_prism_sum *s, prism_device *d)
{
    PS_TRY(copy_tree(d, &s->sources, &d->on.sources));
    PS_TRY(copy_tree(d, &s->targets, &d->on.targets));
    PS_TRY(copy_pieces(s, d));
    for (int l = 0; l < s->height; ++l)
        if (s->start[l]) PS_TRY(make_items(s, d, l));
    PS_TRY(make_lists(d, false));
    return make_lists(d, true);
}

static ps_status fill(ps_prism_sum *s, prism_device *d)
{
    d->on = (ps_device_prisms){.kind = s->bodies.kind,
                               .prisms = (int32_t)s->bodies.prisms,
                               .stations = (int32_t)s->bodies.stations,
                               .height = s->height,
                               .box = s->box};
    PS_TRY(ps_stream_open(d->device, &d->stream));
    PS_TRY(copy_bodies(s, d));
    if (s->height > FAR_LEVEL) PS_TRY(copy_trees(s, d));
    d->kept = d->count;
    return ps_stream_wait(d->stream);
}

ps_status prism_device_open(ps_prism_sum *s, ps_device *device)
{
    int64_t most = s->bodies.prisms > s->bodies.stations ? s->bodies.prisms : s->bodies.stations;
    if (most > INT32_MAX || s->pieces > INT32_MAX)
        return ps_fail(PS_USAGE,
                       "%lld prisms, %lld pieces and %lld stations on a device; there may be up "
                       "to 2^31 - 1 of each",
                       (long long)s->bodies.prisms, (long long)s->pieces,
                       (long long)s->bodies.stations);
    PS_TRY(PS_ALLOC(&s->device, 1, "sums on a device"));
    s->device->device = device;
    return fill(s, s->device);
}

/* ---- operators ---- */

static ps_status copy_table(prism_device *d, const ps_fmm_m2l_table *table)
{
    int64_t bytes = ps_fmm_device_table_bytes(table);
    void *block;
    PS_SCOPED_MEMORY void *host = NULL;
    PS_TRY(ps_alloc_untouched(&host, bytes, "operators for a device"));
    PS_TRY(ps_fmm_device_table_pack(table, host, &d->table));
    PS_TRY(upload(d, host, bytes, &block));
    PS_TRY(ps_stream_wait(d->stream));
    d->table.block = block;
    return PS_OK;
}

ps_status prism_device_operators(ps_prism_sum *s)
{
    prism_device *d = s->device;
    const int64_t points = s->forward.interpolation.points;
    release_from(d, d->kept);
    d->method = (ps_fmm_device_method){.sides = 1,
                                       .far = PS_DOUBLE,
                                       .near = PS_DOUBLE,
                                       .function = s->forward.function,
                                       .interpolation = s->forward.interpolation};
    PS_TRY(copy_table(d, &s->table));
    for (int l = FAR_LEVEL; l < s->height; ++l) {
        int64_t sources = s->sources.cells[l], targets = s->targets.cells[l];
        int64_t more = sources > targets ? sources : targets;
        PS_TRY(room_for(d, 8 * points * sources, (void **)&d->vectors[0][l]));
        PS_TRY(room_for(d, 8 * points * targets, (void **)&d->vectors[1][l]));
        PS_TRY(room_for(d, 8 * s->table.length * more, (void **)&d->coded[l]));
    }
    return room_for(d, 8 * s->weights * s->pieces, (void **)&d->by_piece);
}

/* ---- far ---- */

/* From multipoles of one tree to locals of the other, as ps_fmm_transfer does it. */
static ps_status transfer(ps_prism_sum *s, bool backward)
{
    prism_device *d = s->device;
    const ps_device_tree *from = backward ? &d->on.targets : &d->on.sources;
    const ps_device_tree *to = backward ? &d->on.sources : &d->on.targets;
    const ps_device_lists *lists = &d->lists[backward];
    double *const *multipoles = d->vectors[backward], *const *locals = d->vectors[!backward];
    const int64_t points = d->method.interpolation.points, length = s->table.length;
    for (int l = s->height - 2; l >= FAR_LEVEL; --l) {
        ps_fmm_device_family family = {
            .parents = from->cells[l],
            .children = from->children[l],
            .parent = {multipoles[l], from->cells[l] * points},
            .child = {.one = {multipoles[l + 1], from->cells[l + 1] * points}}};
        PS_TRY(ps_fmm_device_m2m(&d->method, &family, true, d->stream));
    }
    for (int l = FAR_LEVEL; l < s->height; ++l) {
        ps_fmm_device_vectors plain = {multipoles[l], from->cells[l] * points},
                              coded = {d->coded[l], from->cells[l] * length};
        ps_fmm_device_m2l m2l = {.far = {.cells = to->cells[l],
                                         .blocks = to->cells[l - 1],
                                         .order = lists->by_octant[l],
                                         .octant_start = lists->octant_start[l],
                                         .block = to->parent[l],
                                         .sources = lists->far[l]},
                                 .sources = {.one = coded},
                                 .locals = {locals[l], to->cells[l] * points},
                                 .factor = s->forward.factors[l]};
        PS_TRY(
            ps_fmm_device_encode(&d->method, &d->table, from->cells[l], &plain, &coded, d->stream));
        PS_TRY(ps_fmm_device_m2l_run(&d->method, &d->table, &m2l, d->stream));
    }
    for (int l = FAR_LEVEL; l < s->height - 1; ++l) {
        ps_fmm_device_family family = {
            .parents = to->cells[l],
            .children = to->children[l],
            .parent = {locals[l], to->cells[l] * points},
            .child = {.one = {locals[l + 1], to->cells[l + 1] * points}}};
        PS_TRY(ps_fmm_device_l2l(&d->method, &family, d->stream));
    }
    return PS_OK;
}

static ps_status clear_multipoles(const ps_prism_sum *s, bool backward)
{
    prism_device *d = s->device;
    const int64_t *cells = backward ? s->targets.cells : s->sources.cells;
    for (int l = FAR_LEVEL; l < s->height; ++l)
        PS_TRY(ps_fill_zero(d->stream, d->vectors[backward][l],
                            8 * d->method.interpolation.points * cells[l]));
    return PS_OK;
}

static ps_status far_forward(ps_prism_sum *s)
{
    prism_device *d = s->device;
    const ps_fmm_interpolation *n = &d->method.interpolation;
    double start = ps_clock();
    PS_TRY(clear_multipoles(s, false));
    for (int l = FAR_LEVEL; l < s->height; ++l)
        if (d->on.start[l]) PS_TRY(ps_device_prism_p2m(&d->on, n, l, d->vectors[0][l], d->stream));
    PS_TRY(ps_stream_wait(d->stream));
    s->figures.moments = ps_clock() - start;
    PS_TRY(transfer(s, false));
    PS_TRY(ps_device_prism_l2p(&d->on, n, d->vectors[1][s->height - 1], d->stream));
    PS_TRY(ps_stream_wait(d->stream));
    s->figures.transfer = ps_clock() - start - s->figures.moments;
    return PS_OK;
}

static ps_status far_backward(ps_prism_sum *s)
{
    prism_device *d = s->device;
    const ps_fmm_interpolation *n = &d->method.interpolation;
    double start = ps_clock();
    PS_TRY(clear_multipoles(s, true));
    PS_TRY(ps_device_prism_l2p_transposed(&d->on, n, d->vectors[1][s->height - 1], d->stream));
    PS_TRY(transfer(s, true));
    PS_TRY(ps_stream_wait(d->stream));
    s->figures.transfer = ps_clock() - start;
    for (int l = FAR_LEVEL; l < s->height; ++l)
        if (d->on.start[l])
            PS_TRY(ps_device_prism_p2m_transposed(&d->on, n, l, d->vectors[0][l], s->pieces,
                                                  d->by_piece, d->stream));
    PS_TRY(ps_device_prism_gather_pieces(&d->on, s->pieces, d->by_piece, d->stream));
    PS_TRY(ps_stream_wait(d->stream));
    s->figures.moments = ps_clock() - start - s->figures.transfer;
    return PS_OK;
}

/* ---- sums ---- */

ps_status prism_device_direct(ps_prism_sum *s, const int64_t *places, int64_t count,
                              double *const *out)
{
    prism_device *d = s->device;
    int32_t index[SAMPLES];
    for (int64_t at = 0; at < count; at += SAMPLES) {
        int64_t some = count - at < SAMPLES ? count - at : SAMPLES;
        for (int64_t i = 0; i < some; ++i) index[i] = (int32_t)(places ? places[at + i] : at + i);
        PS_TRY(ps_copy_to_device(d->stream, d->index, index, 4 * some));
        PS_TRY(ps_device_prism_direct(&d->on, d->index, some, d->room, d->sums, d->stream));
        for (int k = 0; k < s->numbers; ++k)
            PS_TRY(ps_copy_to_host(d->stream, out[k] + at, d->sums + k * some, 8 * some));
        PS_TRY(ps_stream_wait(d->stream));
    }
    return PS_OK;
}

/* The closed forms of all levels to `near`. */
static ps_status near_forward(ps_prism_sum *s)
{
    prism_device *d = s->device;
    ps_device_prisms on = d->on;
    double start = ps_clock();
    PS_TRY(ps_fill_zero(d->stream, d->pairs, 8));
    for (int k = 0; k < s->numbers; ++k) {
        on.result[k] = d->near[k];
        PS_TRY(ps_fill_zero(d->stream, d->near[k], 8 * s->bodies.stations));
    }
    for (int l = 0; l < s->height; ++l)
        if (on.start[l])
            PS_TRY(ps_device_prism_near(&on, l, d->lists[0].around[l], d->items[l],
                                        d->item_count[l], d->pairs, d->stream));
    PS_TRY(ps_copy_to_host(d->stream, &s->figures.near_pairs, d->pairs, 8));
    PS_TRY(ps_stream_wait(d->stream));
    s->figures.near = ps_clock() - start;
    return PS_OK;
}

ps_status prism_device_apply(ps_prism_sum *s, bool again)
{
    prism_device *d = s->device;
    const int64_t bytes = 8 * s->bodies.stations;
    for (int w = 0; w < s->weights && !again; ++w)
        PS_TRY(ps_copy_to_device(d->stream, d->on.weight[w], s->weight[w], 8 * s->bodies.prisms));
    s->figures.near_pairs = s->bodies.prisms * s->bodies.stations;
    if (s->height <= FAR_LEVEL) return prism_device_direct(s, NULL, s->bodies.stations, s->result);
    if (!again) PS_TRY(near_forward(s));
    for (int k = 0; k < s->numbers; ++k)
        PS_TRY(ps_copy_on_device(d->stream, d->on.result[k], d->near[k], bytes));
    PS_TRY(far_forward(s));
    for (int k = 0; k < s->numbers; ++k)
        PS_TRY(ps_copy_to_host(d->stream, s->result[k], d->on.result[k], bytes));
    return ps_stream_wait(d->stream);
}

ps_status prism_device_transposed(ps_prism_sum *s)
{
    prism_device *d = s->device;
    for (int k = 0; k < s->numbers; ++k)
        PS_TRY(ps_copy_to_device(d->stream, d->on.result[k], s->result[k], 8 * s->bodies.stations));
    for (int w = 0; w < s->weights; ++w)
        PS_TRY(ps_fill_zero(d->stream, d->on.weight[w], 8 * s->bodies.prisms));
    if (s->height > FAR_LEVEL) PS_TRY(far_backward(s));
    double start = ps_clock();
    PS_TRY(ps_device_prism_near_transposed(&d->on, d->stream));
    PS_TRY(ps_stream_wait(d->stream));
    s->figures.near = ps_clock() - start;
    for (int w = 0; w < s->weights; ++w)
        PS_TRY(ps_copy_to_host(d->stream, s->weight[w], d->on.weight[w], 8 * s->bodies.prisms));
    return ps_stream_wait(d->stream);
}
