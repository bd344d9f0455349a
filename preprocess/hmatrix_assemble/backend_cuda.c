/* Leaves by a CUDA device: a run at a time, its values back through pinned memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "kernels/hbem/device_assembly.h"
#include "runtime/first_failure.h"
#include "runtime/log.h"
#include "runtime/memory.h"

/* Ranks of far leaves have room for these: more is done by the cores. Laplace needs 20 at 1e-6. */
enum {
    PLACES = 9,
    CLOSE_PAIRS = 40000000,
    RANK_LAPLACE = 64,
    RANK_WAVES = PS_HBEM_DEVICE_RANK_MAX
};

/* Memory that grows as runs need it. */
typedef struct room {
    void *base;
    int64_t bytes;
} room;

enum { AT, BLOCKS, LIST, FALLBACK, COUNTS, FIRST, REPORT, CLOSE, WORK };

typedef struct cuda_backend {
    leaf_backend base;
    char label[32];
    ps_device *device;
    ps_stream *stream;
    ps_hbem_device_operator op;
    void *sides[2], *triangles, *rules; /* on the device     */
    room there[PLACES], arena, pinned;
    ps_hbem_device_batch batch; /* of a run, on the host */
    int64_t capacity;           /* leaves                */
    int32_t *counts;
    int64_t *first;
    double computing, copying, handing; /* seconds of all runs */
    int64_t left;                       /* leaves that the cores did */
} cuda_backend;

/* ---- memory ---- */

static ps_status grow(cuda_backend *b, room *r, int64_t bytes, bool pinned)
{
    if (bytes <= r->bytes) return PS_OK;
    if (pinned)
        ps_device_free_pinned(b->device, r->base);
    else
        ps_device_free(b->device, r->base);
    *r = (room){0};
    PS_TRY(pinned ? ps_device_alloc_pinned(b->device, bytes, &r->base)
                  : ps_device_alloc(b->device, bytes, &r->base));
    r->bytes = bytes;
    return PS_OK;
}

static void release_batch(cuda_backend *b)
{
    free(b->batch.leaf);
    free(b->batch.list);
    free(b->batch.at);
    free(b->batch.blocks);
    free(b->counts);
    free(b->first);
    memset(&b->batch, 0, sizeof b->batch);
    b->counts = NULL;
    b->first = NULL;
    b->capacity = 0;
}

static ps_status grow_batch(cuda_backend *b, int64_t count)
{
    b->batch.count = count;
    if (count <= b->capacity) return PS_OK;
    release_batch(b);
    b->batch.count = count;
    PS_TRY(PS_ALLOC(&b->batch.leaf, count, "leaves of a run"));
    PS_TRY(PS_ALLOC(&b->batch.list, count, "leaves of a run"));
    PS_TRY(PS_ALLOC(&b->batch.at, count, "leaves of a run"));
    PS_TRY(PS_ALLOC(&b->batch.blocks, count, "leaves of a run"));
    PS_TRY(PS_ALLOC(&b->counts, count, "leaves of a run"));
    PS_TRY(PS_ALLOC(&b->first, count + 1, "leaves of a run"));
    b->capacity = count;
    return PS_OK;
}

/* ---- what all runs share ---- */

static ps_status send(cuda_backend *b, const void *from, int64_t bytes, void **to)
{
    PS_TRY(ps_device_alloc(b->device, bytes, to));
    PS_TRY(ps_copy_to_device(b->stream, *to, from, bytes));
    return ps_stream_wait(b->stream);
}

static ps_status send_side(cuda_backend *b, const ps_hbem_space *space, const ps_cluster_tree *tree,
                           ps_hbem_device_side *side, void **to)
{
    void *host;
    PS_TRY(ps_hbem_device_side_count(space, tree, side));
    int64_t bytes = ps_hbem_device_side_bytes(side);
    PS_TRY(ps_alloc_untouched(&host, bytes, "tables of clusters"));
    ps_hbem_device_side_place(side, host);
    ps_hbem_device_side_fill(space, tree, side);
    ps_status status = send(b, host, bytes, to);
    free(host);
    ps_hbem_device_side_place(side, *to);
    return status;
}

static ps_status send_rules(cuda_backend *b, const ps_hbem_quadrature *quadrature)
{
    void *host;
    int64_t bytes = ps_hbem_device_rules_bytes(quadrature);
    PS_TRY(ps_alloc_untouched(&host, bytes, "rules"));
    ps_hbem_device_rules_place(&b->op.rules, quadrature, host);
    ps_hbem_device_rules_fill(&b->op.rules, quadrature);
    ps_status status = send(b, host, bytes, &b->rules);
    free(host);
    ps_hbem_device_rules_place(&b->op.rules, quadrature, b->rules);
    return status;
}

static ps_status send_all(cuda_backend *b, const ps_cluster_tree *test,
                          const ps_cluster_tree *trial)
{
    const ps_hbem_operator *op = b->base.assembly->op;
    const ps_hbem_surface *surface = op->test->surface;
    b->op.kernel = op->kernel;
    b->op.wavenumber = op->wavenumber;
    b->op.precision = op->far_precision;
    PS_TRY(send_side(b, op->test, test, &b->op.test, &b->sides[0]));
    b->op.trial = b->op.test;
    if (trial != test) PS_TRY(send_side(b, op->trial, trial, &b->op.trial, &b->sides[1]));
    PS_TRY(send_rules(b, op->quadrature));
    PS_TRY(send(b, surface->triangles,
                surface->triangle_count * (int64_t)sizeof *surface->triangles, &b->triangles));
    b->op.triangles = b->triangles;
    return PS_OK;
}

/* ---- a run ---- */

static ps_status put(cuda_backend *b, int place, const void *from, int64_t bytes)
{
    PS_TRY(grow(b, &b->there[place], bytes, false));
    return ps_copy_to_device(b->stream, b->there[place].base, from, bytes);
}

static int rank_of(const cuda_backend *b)
{
    int most = b->op.wavenumber != 0 ? RANK_WAVES : RANK_LAPLACE;
    return b->base.assembly->max_rank < most ? (int)b->base.assembly->max_rank : most;
}

static ps_status near_leaves(cuda_backend *b, const ps_hbem_device_near *near)
{
    int64_t most = CLOSE_PAIRS, count = near->count;
    if (count == 0) return PS_OK;
    PS_TRY(grow(b, &b->there[COUNTS], 4 * count, false));
    int32_t *counts = b->there[COUNTS].base;
    PS_TRY(ps_hbem_device_near_count(&b->op, near, counts, b->stream));
    PS_TRY(ps_copy_to_host(b->stream, b->counts, counts, 4 * count));
    PS_TRY(ps_hbem_device_near_regular(&b->op, near, b->stream));
    PS_TRY(ps_stream_wait(b->stream));
    b->first[0] = 0;
    for (int64_t l = 0; l < count; ++l) {
        b->first[l + 1] = b->first[l] + b->counts[l];
        most = b->counts[l] > most ? b->counts[l] : most;
    }
    most = most < b->first[count] ? most : b->first[count];
    PS_TRY(grow(b, &b->there[CLOSE], ps_hbem_device_close_bytes(&b->op, most), false));
    PS_TRY(put(b, FIRST, b->first, 8 * (count + 1)));
    for (int64_t begin = 0, end; begin < count; begin = end) {
        for (end = begin; end < count && b->first[end + 1] - b->first[begin] <= most;) ++end;
        ps_hbem_device_near part = *near;
        part.leaves += begin;
        part.blocks += begin;
        part.count = end - begin;
        ps_hbem_device_close close = {(const int64_t *)b->there[FIRST].base + begin,
                                      b->first[end] - b->first[begin], b->there[CLOSE].base};
        PS_TRY(ps_hbem_device_near_close(&b->op, &part, &close, b->stream));
    }
    return PS_OK;
}

/* Room for a few hundred leaves at work of each size, within half of what is free. */
static ps_status far_workspace(cuda_backend *b, ps_hbem_device_far *far)
{
    int64_t wanted = 0, least = 0;
    for (int size = 0; size < PS_HBEM_FAR_SIZES; ++size) {
        if (far->list_count[size] == 0) continue;
        static const int64_t at_work[PS_HBEM_FAR_SIZES] = {132, 264, 1056, 4224};
        int64_t one = ps_hbem_device_far_bytes(&b->op, far, size);
        int64_t leaves =
            far->list_count[size] < at_work[size] ? far->list_count[size] : at_work[size];
        least = one > least ? one : least;
        wanted = one * leaves > wanted ? one * leaves : wanted;
    }
    int64_t half = (ps_device_describe(b->device).memory_free + b->there[WORK].bytes) / 2;
    if (wanted > half) wanted = half > least ? half : least;
    PS_TRY(grow(b, &b->there[WORK], wanted, false));
    far->workspace = b->there[WORK].base;
    far->workspace_bytes = b->there[WORK].bytes;
    return PS_OK;
}

static ps_status far_leaves(cuda_backend *b, const ps_hbem_device_near *near)
{
    const ps_hbem_assembly *a = b->base.assembly;
    const ps_hbem_device_batch *batch = &b->batch;
    int64_t count = batch->count - batch->near_count;
    int max_rank = rank_of(b);
    if (count == 0) return PS_OK;
    ps_hbem_device_far_report report = {.cursor = (unsigned long long)batch->near_numbers};
    PS_TRY(put(b, LIST, batch->list, 4 * count));
    PS_TRY(put(b, REPORT, &report, sizeof report));
    PS_TRY(grow(b, &b->there[FALLBACK], 4 * count, false));
    ps_hbem_device_far far = {
        .options = {a->tolerance, a->check_rows, max_rank, a->recompress, a->skeleton},
        .leaves = near->leaves + batch->near_count,
        .blocks = (ps_hbem_device_block *)b->there[BLOCKS].base + batch->near_count,
        .list = b->there[LIST].base,
        .fallback = b->there[FALLBACK].base,
        .arena = near->arena,
        .report = b->there[REPORT].base};
    memcpy(far.list_count, batch->list_count, sizeof far.list_count);
    memcpy(far.most, batch->most, sizeof far.most);
    memcpy(far.most_slots, batch->most_slots, sizeof far.most_slots);
    PS_TRY(far_workspace(b, &far));
    return ps_hbem_device_far_run(&b->op, &far, b->stream);
}

/* Blocks and values back; *used numbers of the arena. */
static ps_status fetch(cuda_backend *b, int64_t size, int64_t *used)
{
    ps_hbem_device_batch *batch = &b->batch;
    ps_hbem_device_far_report report = {.cursor = (unsigned long long)batch->near_numbers};
    if (batch->count > batch->near_count)
        PS_TRY(ps_copy_to_host(b->stream, &report, b->there[REPORT].base, sizeof report));
    PS_TRY(ps_copy_to_host(b->stream, batch->blocks, b->there[BLOCKS].base,
                           batch->count * (int64_t)sizeof *batch->blocks));
    PS_TRY(ps_stream_wait(b->stream));
    *used = (int64_t)report.cursor;
    double start = ps_clock();
    PS_TRY(grow(b, &b->pinned, *used * size + 16, true));
    PS_TRY(ps_copy_to_host(b->stream, b->pinned.base, b->arena.base, *used * size));
    ps_status status = ps_stream_wait(b->stream);
    b->copying += ps_clock() - start;
    return status;
}

static int64_t numbers_of(const ps_hbem_device_leaf *at, int32_t rank, int parts)
{
    int64_t m = at->row_end - at->row_begin, n = at->column_end - at->column_begin;
    return parts * (rank == PS_RANK_DENSE ? m * n : rank * (m + n));
}

/* A leaf in fp64 to the store; what the device could not do is done here, on a core. */
static ps_status hand_over(const cuda_backend *b, int64_t e, int64_t first, ps_hbem_store store,
                           void *context)
{
    const ps_hbem_assembly *a = b->base.assembly;
    const ps_hbem_device_block *from = &b->batch.blocks[e];
    int64_t leaf = first + b->batch.leaf[e];
    ps_hmatrix_block block = {.rank = from->rank, .error = (double)from->error};
    void *memory;
    ps_status status;
    if (from->rank == PS_HBEM_UNSET) {
        ps_hbem_workspace workspace = {.bytes = ps_hbem_assembly_bytes(a)};
        PS_TRY(ps_alloc_untouched(&memory, workspace.bytes, "a leaf"));
        workspace.base = memory;
        status = ps_hbem_assemble_leaf(a, leaf, &workspace, &block);
    } else {
        int64_t numbers = numbers_of(&b->batch.at[e], from->rank, ps_hbem_parts(a->op));
        PS_TRY(ps_alloc_untouched(&memory, 8 * numbers + 8, "a leaf"));
        double *values = memory;
        for (int64_t i = 0; i < numbers; ++i)
            values[i] = b->op.precision == PS_SINGLE
                            ? (double)((const float *)b->pinned.base)[from->offset + i]
                            : ((const double *)b->pinned.base)[from->offset + i];
        block.values = values;
        status = PS_OK;
    }
    if (status == PS_OK) status = store(context, leaf, &block);
    free(memory);
    return status;
}

static ps_status hand_over_all(const cuda_backend *b, int64_t first, ps_hbem_store store,
                               void *context)
{
    ps_failure failure = {0};
#pragma omp parallel for schedule(dynamic, 4)
    for (int64_t e = 0; e < b->batch.count; ++e)
        if (!ps_has_failed(&failure))
            ps_note_failure(&failure, hand_over(b, e, first, store, context));
    return ps_first_failure(&failure);
}

static ps_status assemble(leaf_backend *backend, int64_t first, int64_t end, ps_hbem_store store,
                          void *context)
{
    cuda_backend *b = (cuda_backend *)backend;
    const ps_hbem_assembly *a = backend->assembly;
    int64_t size = b->op.precision == PS_SINGLE ? 4 : 8, used;
    double start = ps_clock() - b->copying;
    PS_TRY(grow_batch(b, end - first));
    ps_hbem_device_batch_fill(&b->batch, a->leaves + first, &b->op, rank_of(b));
    PS_TRY(grow(b, &b->arena, b->batch.most_numbers * size, false));
    PS_TRY(put(b, AT, b->batch.at, b->batch.count * (int64_t)sizeof *b->batch.at));
    PS_TRY(put(b, BLOCKS, b->batch.blocks, b->batch.count * (int64_t)sizeof *b->batch.blocks));
    ps_hbem_device_near near = {b->there[AT].base,
                                b->there[BLOCKS].base,
                                b->batch.near_count,
                                {b->arena.base, b->arena.bytes / size}};
    PS_TRY(near_leaves(b, &near));
    PS_TRY(far_leaves(b, &near));
    PS_TRY(fetch(b, size, &used));
    b->computing += ps_clock() - b->copying - start;
    for (int64_t e = b->batch.near_count; e < b->batch.count; ++e)
        b->left += b->batch.blocks[e].rank == PS_HBEM_UNSET;
    start = ps_clock();
    ps_status status = hand_over_all(b, first, store, context);
    b->handing += ps_clock() - start;
    return status;
}

static void close_cuda(leaf_backend *backend)
{
    cuda_backend *b = (cuda_backend *)backend;
    ps_debug("%s: computing %.3f s, copying %.3f s, handing over %.3f s; %lld leaves by the cores",
             b->label, b->computing, b->copying, b->handing, (long long)b->left);
    void *const fixed[] = {b->sides[0], b->sides[1], b->triangles, b->rules, b->arena.base};
    for (size_t i = 0; b->device && i < sizeof fixed / sizeof *fixed; ++i)
        ps_device_free(b->device, fixed[i]);
    for (int i = 0; b->device && i < PLACES; ++i) ps_device_free(b->device, b->there[i].base);
    if (b->device) ps_device_free_pinned(b->device, b->pinned.base);
    ps_stream_close(&b->stream);
    ps_device_close(&b->device);
    release_batch(b);
    free(b);
}

ps_status leaf_backend_open_cuda(const ps_hbem_assembly *assembly, const ps_cluster_tree *test,
                                 const ps_cluster_tree *trial, int ordinal, leaf_backend **out)
{
    cuda_backend *b;
    *out = NULL;
    PS_TRY(PS_ALLOC(&b, 1, "a device"));
    snprintf(b->label, sizeof b->label, "cuda:%d", ordinal);
    b->base = (leaf_backend){
        .name = b->label, .assemble = assemble, .close = close_cuda, .assembly = assembly};
    ps_status status = ps_device_open(b->label, 0, &b->device);
    if (status == PS_OK) status = ps_stream_open(b->device, &b->stream);
    if (status == PS_OK) status = send_all(b, test, trial);
    if (status == PS_OK)
        *out = &b->base;
    else
        close_cuda(&b->base);
    return status;
}
