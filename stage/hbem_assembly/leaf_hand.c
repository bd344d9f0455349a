/* Waves, or chunks of them from the device, to whoever takes them. */

#include "stage/hbem_assembly/leaf_waves.h"
#include "runtime/first_failure.h"
#include "runtime/memory.h"
#include "runtime/program.h"
#include "runtime/scope.h"

void ps_leaf_waves_release_chunk(ps_leaf_chunk *chunk)
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

static ps_status do_leaf(const cuda_backend *b, ps_hmatrix *run, int64_t first, int64_t leaf)
{
    const ps_hbem_assembly *a = b->base.assembly;
    ps_hbem_workspace workspace = {.bytes = ps_hbem_assembly_bytes(a)};
    ps_hmatrix_block block;
    PS_SCOPED_MEMORY void *memory = NULL;
    PS_TRY(ps_alloc_untouched(&memory, workspace.bytes, "a leaf"));
    workspace.base = memory;
    PS_TRY(ps_hbem_assemble_leaf(a, first + leaf, &workspace, &block));
    return ps_hmatrix_put(run, leaf, &block);
}

/* run: leaves of the wave from number `before` on. */
static ps_status do_left(const cuda_backend *b, ps_hmatrix *run, const wave *w, int64_t before)
{
    ps_failure failure = {0};
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t leaf = 0; leaf < run->leaf_count; ++leaf) {
        int32_t rank = w->batch.blocks[w->element[before + leaf]].rank;
        if (rank == PS_HBEM_UNSET && !ps_has_failed(&failure))
            ps_note_failure(&failure, do_leaf(b, run, w->first + before, leaf));
    }
    return ps_first_failure(&failure);
}

/* ---- what it did ---- */

/* Values of the chunk to `place`, and blocks that point there. */
static ps_status fetch(cuda_backend *b, const wave *w, int64_t before, ps_leaf_chunk *chunk)
{
    room *place = &b->pinned[b->handed++ % (PS_LEAF_CHUNKS_KEPT + 1)];
    const ps_range *ranges = w->ranges + before, *last = ranges + chunk->run.leaf_count - 1;
    int64_t begin = ranges->to, bytes = (last->to + last->count - begin) * b->item_bytes;
    double start = ps_clock();
    chunk->place = place;
    if (bytes > place->bytes) PS_TRY(ps_leaf_waves_grow_pinned(b, place, bytes + bytes / 4));
    if (bytes > 0)
        PS_TRY(ps_copy_to_host(b->copies, place->base,
                               (const char *)w->packed.base + begin * b->item_bytes, bytes));
    for (int64_t leaf = 0; leaf < chunk->run.leaf_count; ++leaf) {
        const ps_hbem_device_block *from = &w->batch.blocks[w->element[before + leaf]];
        if (from->rank == PS_HBEM_UNSET) continue;
        chunk->run.blocks[leaf] = (ps_hmatrix_block){from->rank, (double)from->error, NULL};
        if (ranges[leaf].count > 0)
            chunk->run.blocks[leaf].values =
                (char *)place->base + (ranges[leaf].to - begin) * b->item_bytes;
    }
    PS_TRY(ps_stream_wait(b->copies));
    b->copying += ps_clock() - start;
    return do_left(b, &chunk->run, w, before);
}

static ps_status hand_chunk(cuda_backend *b, const wave *w, int64_t chunk)
{
    ps_leaf_chunk done;
    PS_TRY(ps_leaf_chunk_init(&b->base, b->chunks, chunk, &done));
    ps_status status = fetch(b, w, b->chunks->first[chunk] - w->first, &done);
    if (status == PS_OK) return b->taker->take(b->taker->context, &done);
    ps_leaf_waves_release_chunk(&done);
    return status;
}

ps_status ps_leaf_waves_hand_over(void *backend)
{
    cuda_backend *b = backend;
    const wave *w = b->handing;
    for (int64_t chunk = w->chunk; chunk < w->end; ++chunk) PS_TRY(hand_chunk(b, w, chunk));
    return PS_OK;
}

/* ---- waves as they are ---- */

static ps_status take_wave(cuda_backend *b, wave *w, ps_hmatrix *run)
{
    for (int64_t leaf = 0; leaf < run->leaf_count; ++leaf) {
        const ps_hbem_device_block *from = &w->batch.blocks[w->element[leaf]];
        w->ranges[leaf] = (ps_range){.from = from->offset};
        if (from->rank == PS_HBEM_UNSET) continue;
        run->blocks[leaf] = (ps_hmatrix_block){from->rank, (double)from->error, NULL};
    }
    PS_TRY(do_left(b, run, w, 0));
    ps_leaf_wave done = {.chunk = w->chunk,
                         .end = w->end,
                         .first = w->first,
                         .run = run,
                         .places = w->ranges,
                         .arena = b->there[PLACE_ARENA].base,
                         .stream = b->stream};
    return b->taker->take_wave(b->taker->context, &done);
}

ps_status ps_leaf_waves_hand_on_device(cuda_backend *b, wave *w)
{
    PS_SCOPED(ps_hmatrix_release) ps_hmatrix run = *b->base.shape;
    run.leaves += w->first;
    run.leaf_count = w->batch.count;
    PS_TRY(ps_hmatrix_init(&run));
    return take_wave(b, w, &run);
}
