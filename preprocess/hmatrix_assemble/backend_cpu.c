#include <stdlib.h>

#include "backend.h"
#include "runtime/memory.h"

typedef struct cpu_backend {
    leaf_backend base;
    int threads;
    ps_hbem_workspace *workspaces; /* [threads] */
} cpu_backend;

/* Leaves of a run as an assembly of their own, numbered from 0. */
typedef struct shifted {
    ps_hbem_store store;
    void *context;
    int64_t first;
} shifted;

static ps_status store_shifted(void *context, int64_t leaf, const ps_hmatrix_block *block)
{
    shifted *s = context;
    return s->store(s->context, s->first + leaf, block);
}

static ps_status assemble(leaf_backend *backend, int64_t first, int64_t end, ps_hbem_store store,
                          void *context)
{
    cpu_backend *own = (cpu_backend *)backend;
    ps_hbem_assembly run = *backend->assembly;
    shifted s = {store, context, first};
    run.leaves += first;
    run.leaf_count = end - first;
    return ps_hbem_assemble(&run, own->threads, own->workspaces, store_shifted, &s);
}

static void close_cpu(leaf_backend *backend)
{
    cpu_backend *own = (cpu_backend *)backend;
    for (int t = 0; own->workspaces && t < own->threads; ++t) free(own->workspaces[t].base);
    free(own->workspaces);
    free(own);
}

int64_t leaf_backend_bytes_cpu(const ps_hbem_assembly *assembly, int threads)
{
    return threads * ps_hbem_assembly_bytes(assembly);
}

static ps_status take_workspaces(cpu_backend *own)
{
    int64_t bytes = ps_hbem_assembly_bytes(own->base.assembly);
    PS_TRY(PS_ALLOC(&own->workspaces, own->threads, "threads"));
    for (int t = 0; t < own->threads; ++t) {
        PS_TRY(ps_alloc_untouched((void **)&own->workspaces[t].base, bytes, "a thread's blocks"));
        own->workspaces[t].bytes = bytes;
    }
    return PS_OK;
}

ps_status leaf_backend_open_cpu(const ps_hbem_assembly *assembly, int threads, leaf_backend **out)
{
    cpu_backend *own;
    *out = NULL;
    PS_TRY(PS_ALLOC(&own, 1, "the cores"));
    own->base = (leaf_backend){
        .name = "cpu", .assemble = assemble, .close = close_cpu, .assembly = assembly};
    own->threads = threads;
    ps_status status = take_workspaces(own);
    if (status == PS_OK)
        *out = &own->base;
    else
        close_cpu(&own->base);
    return status;
}
