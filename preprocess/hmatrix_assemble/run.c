/* Chunk after chunk: computed by the backend, saved by threads while the next ones are computed. */
#include <omp.h>
#include <stdlib.h>

#include "assemble.h"
#include "stage/hbem_assembly/row_sums.h"
#include "runtime/background.h"
#include "runtime/first_failure.h"
#include "runtime/memory.h"
#include "runtime/progress.h"

/* A chunk on its way to the disk. */
typedef struct saving {
    ps_background work;
    int threads;
    ps_leaf_backend *backend;
    ps_leaf_chunk done;
    ps_hmatrix_part part;
} saving;

typedef struct savers {
    const assemble_plan *plan;
    const ps_hmatrix_part *part; /* of any chunk */
    ps_leaf_backend *backend;
    saving slots[PS_LEAF_CHUNKS_KEPT];
    int threads; /* of one that saves */
    int64_t next;
    assemble_result *out;
    ps_progress progress;
} savers;

static ps_hmatrix_part part_of(const savers *s, int64_t chunk)
{
    ps_hmatrix_part own = *s->part;
    own.chunk = chunk;
    own.first_leaf = s->plan->cut.chunks.first[chunk];
    own.leaf_count = s->plan->cut.chunks.first[chunk + 1] - own.first_leaf;
    return own;
}

static ps_status save_chunk(void *argument)
{
    saving *s = argument;
    omp_set_num_threads(s->threads); /* of this thread's teams */
    ps_status status = ps_hmatrix_part_save(&s->part, &s->done.run);
    s->backend->release(&s->done);
    return status;
}

static ps_status wait_for(savers *s, saving *slot)
{
    double start = ps_clock();
    ps_status status = ps_background_wait(&slot->work);
    s->out->wait_seconds += ps_clock() - start;
    s->out->write_seconds += slot->work.seconds;
    slot->work.seconds = 0;
    return status;
}

/* Row sums of a chunk, where they are asked for. */
static void add_sums(const assemble_result *out, const ps_hmatrix *run)
{
    if (out->sums) ps_hbem_row_sums_add(run, out->columns, out->sums);
    if (out->diagonal) ps_hbem_row_sums_diagonal(run, out->diagonal);
}

/* Saves a chunk behind the backend's back: the first of `kept` that was begun has to be done. */
static ps_status take(void *context, ps_leaf_chunk *chunk)
{
    savers *s = context;
    saving *slot = &s->slots[s->next++ % s->backend->kept];
    ps_status status = wait_for(s, slot);
    slot->threads = s->threads;
    slot->backend = s->backend;
    slot->done = *chunk;
    slot->part = part_of(s, chunk->chunk);
    add_sums(s->out, &slot->done.run);
    if (status == PS_OK)
        status = ps_background_start(&slot->work, save_chunk, slot, "a thread that saves chunks");
    if (status != PS_OK)
        s->backend->release(&slot->done);
    else
        ++s->out->chunks;
    ps_progress_update(&s->progress, s->out->chunks + s->out->kept);
    return status;
}

/* Chunks [first, end), none of which is there. */
static ps_status compute(savers *s, int64_t first, int64_t end)
{
    ps_leaf_taker taker = {.take = take, .context = s};
    if (first == end) return PS_OK;
    return s->backend->assemble(s->backend, &s->plan->cut.chunks, first, end, &taker);
}

/* Row sums of a part that is there, so that they are whole before anything is committed. */
static ps_status add_kept(const savers *s, const ps_hmatrix_part *own)
{
    ps_hmatrix run = *s->backend->shape;
    void *values;
    if (!s->out->sums) return PS_OK;
    run.leaf_count = own->leaf_count;
    run.leaves += own->first_leaf;
    PS_TRY(PS_ALLOC(&run.blocks, own->leaf_count, "leaves of a chunk"));
    ps_status status = ps_hmatrix_part_load(own, &run, &values);
    if (status == PS_OK) add_sums(s->out, &run);
    if (status == PS_OK) free(values);
    free(run.blocks);
    return status;
}

static ps_status compute_all(savers *s)
{
    ps_status status = PS_OK;
    int64_t begin = s->plan->cut.first_chunk, end = s->plan->cut.end_chunk;
    for (int64_t chunk = begin; status == PS_OK && chunk <= end; ++chunk) {
        bool there = false;
        if (chunk < end && s->part->chunk >= 0) {
            ps_hmatrix_part own = part_of(s, chunk);
            there = ps_hmatrix_part_done(&own);
            if (there) PS_TRY(add_kept(s, &own));
        }
        if (chunk < end && !there) continue;
        status = compute(s, begin, chunk);
        s->out->kept += there;
        begin = chunk + 1;
    }
    return status;
}

ps_status assemble_chunks(const assemble_plan *plan, ps_leaf_backend *backend,
                          const ps_hmatrix_part *part, assemble_result *out)
{
    savers s = {.plan = plan, .part = part, .backend = backend, .out = out};
    s.threads = (omp_get_max_threads() + backend->kept - 1) / backend->kept;
    ps_progress_start(&s.progress, "assembling", "chunks", 0,
                      plan->cut.end_chunk - plan->cut.first_chunk);
    ps_failure failure = {0};
    ps_note_failure(&failure, compute_all(&s));
    for (int k = 0; k < backend->kept; ++k)
        ps_note_failure(&failure, wait_for(&s, &s.slots[(s.next + k) % backend->kept]));
    ps_progress_end(&s.progress);
    out->compute_seconds = backend->computing;
    return ps_first_failure(&failure);
}
