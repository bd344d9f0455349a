#include <stdlib.h>

#include "stage/hbem_assembly/leaf_backend.h"
#include "runtime/memory.h"
#include "runtime/program.h"

typedef struct cpu_backend {
    ps_leaf_backend base;
    int threads;
    ps_hbem_workspace *workspaces; /* [threads] */
    ps_hbem_pair_table pairs;
} cpu_backend;

ps_status ps_leaf_chunk_init(const ps_leaf_backend *backend, const ps_hmatrix_chunks *chunks,
                             int64_t chunk, ps_leaf_chunk *out)
{
    int64_t first = chunks->first[chunk];
    *out = (ps_leaf_chunk){.chunk = chunk, .run = *backend->shape};
    out->run.leaves += first;
    out->run.leaf_count = chunks->first[chunk + 1] - first;
    return ps_hmatrix_init(&out->run);
}

static ps_status collect(void *context, int64_t leaf, const ps_hmatrix_block *block)
{
    return ps_hmatrix_put(context, leaf, block);
}

static ps_status do_chunk(cpu_backend *own, const ps_hmatrix_chunks *chunks, int64_t chunk,
                          const ps_leaf_taker *taker)
{
    ps_leaf_chunk done;
    ps_hbem_assembly part = *own->base.assembly;
    double start = ps_clock();
    PS_TRY(ps_leaf_chunk_init(&own->base, chunks, chunk, &done));
    part.leaves = done.run.leaves;
    part.leaf_count = done.run.leaf_count;
    ps_status status = ps_hbem_assemble(&part, own->threads, own->workspaces, collect, &done.run);
    own->base.computing += ps_clock() - start;
    if (status == PS_OK) return taker->take(taker->context, &done);
    own->base.release(&done);
    return status;
}

static ps_status assemble(ps_leaf_backend *backend, const ps_hmatrix_chunks *chunks, int64_t first,
                          int64_t end, const ps_leaf_taker *taker)
{
    for (int64_t chunk = first; chunk < end; ++chunk)
        PS_TRY(do_chunk((cpu_backend *)backend, chunks, chunk, taker));
    return PS_OK;
}

static void release(ps_leaf_chunk *chunk) { ps_hmatrix_release(&chunk->run); }

static void close_cpu(ps_leaf_backend *backend)
{
    cpu_backend *own = (cpu_backend *)backend;
    for (int t = 0; own->workspaces && t < own->threads; ++t) free(own->workspaces[t].base);
    free(own->workspaces);
    free(own->pairs.memory);
    free(own);
}

static ps_status take_workspaces(cpu_backend *own)
{
    const ps_hbem_assembly *assembly = own->base.assembly;
    int64_t bytes = ps_hbem_assembly_bytes(assembly), pairs = ps_hbem_pairs_bytes(assembly);
    PS_TRY(PS_ALLOC(&own->workspaces, own->threads, "threads"));
    if (pairs > 0) {
        void *memory;
        PS_TRY(ps_alloc_untouched(&memory, pairs, "close pairs"));
        ps_hbem_pairs_init(assembly, memory, &own->pairs);
    }
    for (int t = 0; t < own->threads; ++t) {
        PS_TRY(ps_alloc_untouched((void **)&own->workspaces[t].base, bytes, "a thread's blocks"));
        own->workspaces[t].bytes = bytes;
        own->workspaces[t].pairs = pairs > 0 ? &own->pairs : NULL;
    }
    return PS_OK;
}

ps_status ps_leaf_backend_open_cpu(const ps_hbem_assembly *assembly, const ps_hmatrix *shape,
                                   int threads, ps_leaf_backend **out)
{
    cpu_backend *own;
    *out = NULL;
    PS_TRY(PS_ALLOC(&own, 1, "the cores"));
    own->base = (ps_leaf_backend){.name = "cpu",
                                  .kept = 1,
                                  .assemble = assemble,
                                  .release = release,
                                  .close = close_cpu,
                                  .assembly = assembly,
                                  .shape = shape};
    own->threads = threads;
    ps_status status = take_workspaces(own);
    if (status == PS_OK)
        *out = &own->base;
    else
        close_cpu(&own->base);
    return status;
}
