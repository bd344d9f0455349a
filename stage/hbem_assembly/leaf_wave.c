/* Leaves of a wave on the device, from their places to their values. */
#include <stdlib.h>
#include <string.h>

#include "stage/hbem_assembly/leaf_waves.h"
#include "runtime/first_failure.h"
#include "runtime/log.h"
#include "runtime/memory.h"

/* Close pairs at once at most. */
enum { CLOSE_PAIRS = 64000000 };

static ps_status upload_by(cuda_backend *b, ps_stream *stream, int place, const void *from,
                           int64_t bytes)
{
    PS_TRY(ps_leaf_waves_grow(b, &b->there[place], bytes));
    return ps_copy_to_device(stream, b->there[place].base, from, bytes);
}

static ps_status upload(cuda_backend *b, int place, const void *from, int64_t bytes)
{
    return upload_by(b, b->stream, place, from, bytes);
}

/* `stream` waits for what `other` has been given so far. */
static ps_status wait_for(cuda_backend *b, ps_stream *stream, ps_stream *other)
{
    PS_TRY(ps_event_record(b->turn, other));
    return ps_event_wait(b->turn, stream);
}

static void release_arrays(wave *w)
{
    free(w->batch.leaf);
    free(w->batch.list);
    free(w->batch.at);
    free(w->batch.blocks);
    free(w->element);
    free(w->ranges);
    memset(&w->batch, 0, sizeof w->batch);
    w->element = NULL;
    w->ranges = NULL;
    w->capacity = 0;
}

void ps_leaf_wave_release(cuda_backend *b, wave *w)
{
    if (b->device) ps_device_free(b->device, w->packed.base);
    w->packed = (room){0};
    release_arrays(w);
}

static ps_status grow_arrays(wave *w, int64_t count)
{
    if (count > w->capacity) {
        release_arrays(w);
        PS_TRY(PS_ALLOC(&w->batch.leaf, count, "leaves of a wave"));
        PS_TRY(PS_ALLOC(&w->batch.list, count, "leaves of a wave"));
        PS_TRY(PS_ALLOC(&w->batch.at, count, "leaves of a wave"));
        PS_TRY(PS_ALLOC(&w->batch.blocks, count, "leaves of a wave"));
        PS_TRY(PS_ALLOC(&w->element, count, "leaves of a wave"));
        PS_TRY(PS_ALLOC(&w->ranges, count, "leaves of a wave"));
        w->capacity = count;
    }
    w->batch.count = count;
    return PS_OK;
}

/* ---- near leaves ---- */

static ps_status grow_counts(cuda_backend *b, int64_t count)
{
    if (count <= b->counted) return PS_OK;
    free(b->counts);
    free(b->close_first);
    b->counts = NULL;
    b->close_first = NULL;
    b->counted = 0;
    PS_TRY(PS_ALLOC(&b->counts, count, "leaves of a wave"));
    PS_TRY(PS_ALLOC(&b->close_first, count + 1, "leaves of a wave"));
    b->counted = count;
    return PS_OK;
}

/* Close pairs at once: what a sixteenth of the memory holds, no less than one leaf's. */
static int64_t pairs_at_once(const cuda_backend *b, int64_t near_count)
{
    int64_t most = CLOSE_PAIRS, least = 1;
    while (most > 1000 && ps_hbem_device_close_bytes(&b->op, most) > b->memory / 16) most /= 2;
    for (int64_t l = 0; l < near_count; ++l) least = b->counts[l] > least ? b->counts[l] : least;
    most = most < b->close_first[near_count] ? most : b->close_first[near_count];
    return most > least ? most : least;
}

static ps_status close_pairs(cuda_backend *b, const ps_hbem_device_near *near)
{
    int64_t count = near->count, *first = b->close_first;
    for (int64_t l = 0; l < count; ++l) first[l + 1] = first[l] + b->counts[l];
    int64_t most = pairs_at_once(b, count);
    PS_TRY(ps_leaf_waves_grow(b, &b->there[PLACE_CLOSE], ps_hbem_device_close_bytes(&b->op, most)));
    PS_TRY(upload_by(b, b->near, PLACE_FIRST, first, 8 * (count + 1)));
    for (int64_t begin = 0, end; begin < count; begin = end) {
        for (end = begin; end < count && first[end + 1] - first[begin] <= most;) ++end;
        ps_hbem_device_near part = *near;
        part.leaves += begin;
        part.blocks += begin;
        part.count = end - begin;
        ps_hbem_device_close close = {(const int64_t *)b->there[PLACE_FIRST].base + begin,
                                      first[end] - first[begin], b->there[PLACE_CLOSE].base,
                                      begin == 0 ? b->turn : NULL};
        PS_TRY(ps_hbem_device_near_close(&b->op, &part, &close, b->near));
    }
    return ps_event_wait(b->turn, b->stream);
}

/* On a stream of their own, after what the other one has been given. That goes on when close pairs
 * are listed: teams of far leaves stay on the device until all leaves are done, and the lists,
 * which integration waits for, would begin that much later. */
static ps_status near_leaves(cuda_backend *b, const ps_hbem_device_near *near)
{
    int64_t count = near->count;
    if (count == 0) return PS_OK;
    PS_TRY(grow_counts(b, count));
    PS_TRY(ps_leaf_waves_grow(b, &b->there[PLACE_COUNTS], 4 * count));
    int32_t *counts = b->there[PLACE_COUNTS].base;
    PS_TRY(wait_for(b, b->near, b->stream));
    PS_TRY(ps_hbem_device_near_count(&b->op, near, counts, b->near));
    PS_TRY(ps_copy_to_host(b->near, b->counts, counts, 4 * count));
    PS_TRY(ps_event_record(b->turn, b->near));
    PS_TRY(ps_hbem_device_near_regular(&b->op, near, b->near));
    PS_TRY(ps_event_sync(b->turn));
    return close_pairs(b, near);
}

/* ---- far leaves ---- */

/* As much as the device makes use of, within half of what is left. */
static ps_status far_workspace(cuda_backend *b, ps_hbem_device_far *far)
{
    int64_t least = 0, held = b->there[PLACE_WORK].bytes;
    ps_device_info device = ps_device_describe(b->device);
    int64_t wanted = ps_hbem_device_far_useful(&b->op, far, device.multiprocessors);
    for (int size = 0; size < PS_HBEM_FAR_SIZES; ++size) {
        if (far->list_count[size] == 0) continue;
        int64_t one = ps_hbem_device_far_bytes(&b->op, far, size);
        least = one > least ? one : least;
    }
    int64_t half = (device.memory_free + held) / 2;
    if (half > b->memory / 4) half = b->memory / 4;
    if (wanted > half) wanted = half > least ? half : least;
    PS_TRY(ps_leaf_waves_grow(b, &b->there[PLACE_WORK], wanted));
    far->workspace = b->there[PLACE_WORK].base;
    far->workspace_bytes = b->there[PLACE_WORK].bytes;
    return PS_OK;
}

static ps_status far_leaves(cuda_backend *b, const ps_hbem_device_batch *batch,
                            const ps_hbem_device_near *near)
{
    const ps_hbem_assembly *a = b->base.assembly;
    int64_t count = batch->count - batch->near_count;
    ps_hbem_device_far_report report = {.cursor = (unsigned long long)batch->near_numbers};
    PS_TRY(upload(b, PLACE_REPORT, &report, sizeof report));
    if (count == 0) return PS_OK;
    PS_TRY(upload(b, PLACE_LIST, batch->list, 4 * count));
    ps_hbem_device_far far = {.options = {a->tolerance, a->check_rows, ps_leaf_waves_rank_limit(b),
                                          a->recompress, a->skeleton, a->crosses},
                              .leaves = near->leaves + batch->near_count,
                              .blocks = (ps_hbem_device_block *)b->there[PLACE_BLOCKS].base +
                                        batch->near_count,
                              .list = b->there[PLACE_LIST].base,
                              .arena = near->arena,
                              .report = b->there[PLACE_REPORT].base};
    memcpy(far.list_count, batch->list_count, sizeof far.list_count);
    memcpy(far.most, batch->most, sizeof far.most);
    memcpy(far.most_slots, batch->most_slots, sizeof far.most_slots);
    PS_TRY(far_workspace(b, &far));
    return ps_hbem_device_far_run(&b->op, &far, b->stream);
}

/* ---- in the order of the file ---- */

/* Ranges of a chunk, from `at` on in the packed memory where `place`; returns the numbers. */
static int64_t lay_out(const cuda_backend *b, wave *w, int64_t chunk, int64_t at, bool place)
{
    const int64_t *first = b->chunks->first;
    ps_hmatrix run = *b->base.shape;
    run.leaves += w->first;
    int64_t begin = at;
    for (int64_t leaf = first[chunk] - w->first; leaf < first[chunk + 1] - w->first; ++leaf) {
        const ps_hbem_device_block *from = &w->batch.blocks[w->element[leaf]];
        bool left = from->rank == PS_HBEM_UNSET;
        if (place)
            w->ranges[leaf] =
                (ps_range){from->offset, at, left ? 0 : ps_hmatrix_numbers(&run, leaf, from->rank)};
        at += left ? 0 : ps_hmatrix_padded(&run, leaf, from->rank);
    }
    return at - begin;
}

/* Ranges of all chunks, one after the other; returns the numbers. */
static int64_t lay_out_all(const cuda_backend *b, wave *w, int64_t *start)
{
    int64_t count = w->end - w->chunk;
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t c = 0; c < count; ++c) start[c + 1] = lay_out(b, w, w->chunk + c, 0, false);
    for (int64_t c = 0; c < count; ++c) start[c + 1] += start[c];
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t c = 0; c < count; ++c) lay_out(b, w, w->chunk + c, start[c], true);
    return start[count];
}

static ps_status pack(cuda_backend *b, wave *w)
{
    int64_t *start, count = w->batch.count;
    PS_TRY(PS_ALLOC(&start, w->end - w->chunk + 1, "chunks of a wave"));
    int64_t bytes = lay_out_all(b, w, start) * b->item_bytes;
    free(start);
    if (bytes == 0) return PS_OK;
    if (bytes > w->packed.bytes) PS_TRY(ps_leaf_waves_grow(b, &w->packed, bytes + bytes / 8));
    PS_TRY(upload(b, PLACE_RANGES, w->ranges, count * (int64_t)sizeof *w->ranges));
    PS_TRY(ps_fill_zero(b->stream, w->packed.base, bytes));
    ps_copy_ranges copy = {(int)b->item_bytes, count, b->there[PLACE_RANGES].base,
                           b->there[PLACE_ARENA].base, w->packed.base};
    PS_TRY(ps_copy_ranges_run(&copy, b->stream));
    return ps_stream_wait(b->stream);
}

/* ---- all ---- */

static ps_status fetch_blocks(cuda_backend *b, ps_hbem_device_batch *batch)
{
    ps_hbem_device_far_report report;
    PS_TRY(ps_copy_to_host(b->stream, &report, b->there[PLACE_REPORT].base, sizeof report));
    PS_TRY(ps_copy_to_host(b->stream, batch->blocks, b->there[PLACE_BLOCKS].base,
                           batch->count * (int64_t)sizeof *batch->blocks));
    PS_TRY(ps_stream_wait(b->stream));
    for (int64_t e = batch->near_count; e < batch->count; ++e)
        b->left += batch->blocks[e].rank == PS_HBEM_UNSET;
    if (report.over_arena == 0) return PS_OK;
    return ps_fail(PS_EXHAUSTED,
                   "%s: the memory for results is too small for a chunk of leaves: take a smaller "
                   "--chunk-size or a larger --device-memory",
                   b->label);
}

ps_status ps_leaf_wave_compute(cuda_backend *b, wave *w)
{
    ps_hbem_device_batch *batch = &w->batch;
    double start = ps_clock();
    w->first = b->chunks->first[w->chunk];
    PS_TRY(grow_arrays(w, b->chunks->first[w->end] - w->first));
    ps_hbem_device_batch_fill(batch, b->base.assembly->leaves + w->first, &b->op,
                              ps_leaf_waves_rank_limit(b));
    PS_TRY(upload(b, PLACE_AT, batch->at, batch->count * (int64_t)sizeof *batch->at));
    PS_TRY(upload(b, PLACE_BLOCKS, batch->blocks, batch->count * (int64_t)sizeof *batch->blocks));
    ps_hbem_device_near near = {
        b->there[PLACE_AT].base,
        b->there[PLACE_BLOCKS].base,
        batch->near_count,
        {b->there[PLACE_ARENA].base, b->there[PLACE_ARENA].bytes / b->item_bytes}};
    double listed = ps_clock();
    ps_failure failure = {0};
    ps_note_failure(&failure, near_leaves(b, &near));
    double counted = ps_clock();
    if (!ps_has_failed(&failure)) ps_note_failure(&failure, far_leaves(b, batch, &near));
    ps_note_failure(&failure, wait_for(b, b->stream, b->near));
    PS_TRY(ps_first_failure(&failure));
    double begun = ps_clock();
    PS_TRY(fetch_blocks(b, batch));
    ps_debug("%s: a wave of %lld leaves: listed in %.3f s, close pairs counted after %.3f s, far "
             "leaves begun after %.3f s, done after %.3f s",
             b->label, (long long)batch->count, listed - start, counted - start, begun - start,
             ps_clock() - start);
#pragma omp parallel for
    for (int64_t e = 0; e < batch->count; ++e) w->element[batch->leaf[e]] = (int32_t)e;
    return b->taker->take_wave ? PS_OK : pack(b, w);
}
