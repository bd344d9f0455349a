/* Chunk after chunk: computed by the backend, saved by a thread while the next one is computed. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "assemble.h"
#include "runtime/chunk_feed.h"
#include "runtime/memory.h"
#include "runtime/progress.h"

/* A chunk on its way to the disk. */
typedef struct saving {
    ps_hmatrix run;
    ps_hmatrix_part part;
    pthread_t thread;
    bool busy;
    double seconds;
    ps_status status;
    char message[1024];
} saving;

static void *save_chunk(void *argument)
{
    saving *s = argument;
    double start = ps_clock();
    s->status = ps_hmatrix_part_save(&s->part, &s->run);
    if (s->status != PS_OK) snprintf(s->message, sizeof s->message, "%s", ps_message());
    ps_hmatrix_release(&s->run);
    s->seconds = ps_clock() - start;
    return NULL;
}

static ps_status wait_for(saving *s, assemble_result *out)
{
    if (!s->busy) return PS_OK;
    double start = ps_clock();
    pthread_join(s->thread, NULL);
    s->busy = false;
    out->wait_seconds += ps_clock() - start;
    out->write_seconds += s->seconds;
    return s->status == PS_OK ? PS_OK : ps_fail(s->status, "%s", s->message);
}

/* Takes the run over. */
static ps_status save_behind(saving *s, const ps_hmatrix_part *part, ps_hmatrix *run,
                             assemble_result *out)
{
    ps_status status = wait_for(s, out);
    s->run = *run;
    s->part = *part;
    memset(run, 0, sizeof *run);
    if (status == PS_OK)
        status = ps_chunk_feed_thread(&s->thread, save_chunk, s, "a thread that saves chunks");
    s->busy = status == PS_OK;
    if (status != PS_OK) ps_hmatrix_release(&s->run);
    return status;
}

typedef struct collecting {
    ps_hmatrix run;
    int64_t first;
} collecting;

static ps_status collect(void *context, int64_t leaf, const ps_hmatrix_block *block)
{
    collecting *c = context;
    if (ps_stop_requested()) return ps_fail(PS_FAILED, "stopped on request");
    return ps_hmatrix_put(&c->run, leaf - c->first, block);
}

static ps_status compute_chunk(const assemble_problem *p, leaf_backend *backend, int64_t first,
                               int64_t end, collecting *c)
{
    c->first = first;
    c->run = (ps_hmatrix){.rows = p->op.test->dofs,
                          .columns = p->op.trial->dofs,
                          .leaf_count = end - first,
                          .parts = ps_hbem_parts(&p->op),
                          .symmetric = p->tables.header.symmetric,
                          .precision = p->tables.header.precision,
                          .leaves = p->leaves + first};
    PS_TRY(ps_hmatrix_init(&c->run));
    return backend->assemble(backend, first, end, collect, c);
}

static ps_hmatrix_part part_of(const assemble_plan *plan, const ps_hmatrix_part *part,
                               int64_t chunk)
{
    ps_hmatrix_part own = *part;
    own.chunk = chunk;
    own.first_leaf = plan->chunks.first[chunk];
    own.leaf_count = plan->chunks.first[chunk + 1] - own.first_leaf;
    return own;
}

static ps_status do_chunk(const assemble_problem *problem, const ps_hmatrix_part *part,
                          leaf_backend *backend, saving *saver, assemble_result *out)
{
    collecting c;
    double start = ps_clock();
    int64_t end = part->first_leaf + part->leaf_count;
    ps_status status = compute_chunk(problem, backend, part->first_leaf, end, &c);
    out->compute_seconds += ps_clock() - start;
    if (status == PS_OK) {
        ++out->chunks;
        status = save_behind(saver, part, &c.run, out);
    } else if (ps_stop_requested()) {
        out->stopped = true;
        status = PS_OK;
    }
    ps_hmatrix_release(&c.run);
    return status;
}

ps_status assemble_chunks(const assemble_problem *problem, const assemble_plan *plan,
                          leaf_backend *backend, const ps_hmatrix_part *part, assemble_result *out)
{
    saving saver = {.busy = false};
    ps_progress progress;
    ps_status status = PS_OK;
    memset(out, 0, sizeof *out);
    ps_progress_start(&progress, "assembling", "chunks", plan->end_chunk - plan->first_chunk);
    for (int64_t chunk = plan->first_chunk;
         status == PS_OK && !out->stopped && chunk < plan->end_chunk; ++chunk) {
        ps_hmatrix_part own = part_of(plan, part, chunk);
        if (part->chunk >= 0 && ps_hmatrix_part_done(&own))
            ++out->kept;
        else if (ps_stop_requested())
            out->stopped = true;
        else
            status = do_chunk(problem, &own, backend, &saver, out);
        ps_progress_update(&progress, chunk + 1 - plan->first_chunk);
    }
    ps_progress_end(&progress);
    ps_status last = wait_for(&saver, out);
    return status == PS_OK ? last : status;
}

bool assemble_unfinished(const assemble_plan *plan, const ps_hmatrix_part *part)
{
    for (int64_t chunk = plan->first_chunk; chunk < plan->end_chunk; ++chunk) {
        ps_hmatrix_part own = part_of(plan, part, chunk);
        if (ps_hmatrix_part_done(&own)) return true;
    }
    return false;
}
