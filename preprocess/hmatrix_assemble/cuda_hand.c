/* Chunks of a wave from the device to whoever takes them. */
#include <stdlib.h>
#include <string.h>

#include "waves.h"
#include "kernels/common/copy_ranges.h"
#include "runtime/first_failure.h"
#include "runtime/memory.h"
#include "runtime/program.h"

void cuda_release_chunk(leaf_chunk *chunk)
{
    const room *place = chunk->place;
    const char *begin = place->base, *end = begin + place->bytes;
    for (int64_t leaf = 0; chunk->run.blocks && leaf < chunk->run.leaf_count; ++leaf) {
        const char *values = chunk->run.blocks[leaf].values;
        if (values >= begin && values < end) chunk->run.blocks[leaf].values = NULL;
    }
    ps_hmatrix_release(&chunk->run);
}

/* ---- what the device left ---- */

static ps_status do_leaf(const cuda_backend *b, leaf_chunk *chunk, int64_t first, int64_t leaf)
{
    const ps_hbem_assembly *a = b->base.assembly;
    ps_hbem_workspace workspace = {.bytes = ps_hbem_assembly_bytes(a)};
    ps_hmatrix_block block;
    void *memory;
    PS_TRY(ps_alloc_untouched(&memory, workspace.bytes, "a leaf"));
    workspace.base = memory;
    ps_status status = ps_hbem_assemble_leaf(a, first + leaf, &workspace, &block);
    if (status == PS_OK) status = ps_hmatrix_put(&chunk->run, leaf, &block);
    free(memory);
    return status;
}

static ps_status do_left(const cuda_backend *b, leaf_chunk *chunk, const wave *w, int64_t before)
{
    ps_failure failure = {0};
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t leaf = 0; leaf < chunk->run.leaf_count; ++leaf) {
        int32_t rank = w->batch.blocks[w->element[before + leaf]].rank;
        if (rank == PS_HBEM_UNSET && !ps_has_failed(&failure))
            ps_note_failure(&failure, do_leaf(b, chunk, w->first + before, leaf));
    }
    return ps_first_failure(&failure);
}

/* ---- what it did ---- */

/* Ranges of the arena in the order of the file, and blocks with ranks; returns the numbers. */
static int64_t lay_out(leaf_chunk *chunk, const wave *w, int64_t before, ps_range *ranges)
{
    int64_t at = 0;
    for (int64_t leaf = 0; leaf < chunk->run.leaf_count; ++leaf) {
        const ps_hbem_device_block *from = &w->batch.blocks[w->element[before + leaf]];
        ranges[leaf] = (ps_range){from->offset, at, 0};
        if (from->rank == PS_HBEM_UNSET) continue;
        chunk->run.blocks[leaf].rank = from->rank;
        chunk->run.blocks[leaf].error = (double)from->error;
        ranges[leaf].count = ps_hmatrix_numbers(&chunk->run, leaf, from->rank);
        at += ps_hmatrix_padded(&chunk->run, leaf, from->rank);
    }
    return at;
}

/* Chunks are nearly equal: the first one's room suffices for most others. */
static int64_t ample(const room *r, int64_t bytes)
{
    return bytes > r->bytes ? bytes + bytes / 4 : bytes;
}

/* To the device's staging memory, and to `place`. */
static ps_status pack(cuda_backend *b, const wave *w, const ps_range *ranges, int64_t count,
                      int64_t bytes, room *place)
{
    room *packed = &b->there[PLACE_PACKED], *list = &b->there[PLACE_RANGES];
    PS_TRY(cuda_grow(b, packed, ample(packed, bytes)));
    PS_TRY(cuda_grow(b, list, ample(list, count * (int64_t)sizeof *ranges)));
    PS_TRY(cuda_grow_pinned(b, place, ample(place, bytes)));
    PS_TRY(ps_copy_to_device(b->copies, list->base, ranges, count * (int64_t)sizeof *ranges));
    PS_TRY(ps_fill_zero(b->copies, packed->base, bytes));
    ps_copy_ranges copy = {(int)b->item_bytes, count, list->base, w->arena.base, packed->base};
    PS_TRY(ps_copy_ranges_run(&copy, b->copies));
    PS_TRY(ps_copy_to_host(b->copies, place->base, packed->base, bytes));
    return ps_stream_wait(b->copies);
}

static ps_status fetch(cuda_backend *b, const wave *w, int64_t before, ps_range *ranges,
                       leaf_chunk *chunk)
{
    room *place = &b->pinned[b->handed++ % (LEAF_CHUNKS_KEPT + 1)];
    double start = ps_clock();
    chunk->place = place;
    int64_t count = chunk->run.leaf_count, numbers = lay_out(chunk, w, before, ranges);
    if (numbers > 0) PS_TRY(pack(b, w, ranges, count, numbers * b->item_bytes, place));
    for (int64_t leaf = 0; leaf < count; ++leaf)
        if (ranges[leaf].count > 0)
            chunk->run.blocks[leaf].values = (char *)place->base + ranges[leaf].to * b->item_bytes;
    b->copying += ps_clock() - start;
    return do_left(b, chunk, w, before);
}

static ps_status hand_chunk(cuda_backend *b, const wave *w, int64_t chunk, ps_range *ranges)
{
    leaf_chunk done;
    if (ps_stop_requested()) return ps_fail(PS_FAILED, "stopped on request");
    PS_TRY(leaf_chunk_init(&b->base, b->chunks, chunk, &done));
    ps_status status = fetch(b, w, b->chunks->first[chunk] - w->first, ranges, &done);
    if (status == PS_OK) return b->taker->take(b->taker->context, &done);
    cuda_release_chunk(&done);
    return status;
}

ps_status cuda_hand_over(void *backend)
{
    cuda_backend *b = backend;
    const wave *w = b->handing;
    ps_range *ranges;
    ps_status status = PS_OK;
    PS_TRY(PS_ALLOC(&ranges, w->batch.count, "leaves of a wave"));
#pragma omp parallel for
    for (int64_t e = 0; e < w->batch.count; ++e) w->element[w->batch.leaf[e]] = (int32_t)e;
    for (int64_t chunk = w->chunk; status == PS_OK && chunk < w->end; ++chunk)
        status = hand_chunk(b, w, chunk, ranges);
    free(ranges);
    return status;
}
