/* Leaves by the cores, large rows and columns of far blocks through pairs on devices. */
#include <omp.h>
#include <stdlib.h>

#include "stage/hbem_assembly/leaf_backend.h"
#include "kernels/hbem/pair_rows.h"
#include "runtime/log.h"
#include "runtime/memory.h"

enum { CHUNK_PAIRS = 1 << 15 };

/* What the threads of a device share. */
typedef struct pairs_device {
    ps_device *device;
    ps_stream *stream;
    void *triangles, *rules_memory;
    ps_hbem_device_rules rules;
} pairs_device;

typedef struct pairs_backend {
    ps_leaf_backend base;
    ps_leaf_backend *cores;
    ps_hbem_assembly assembly; /* with rows from here */
    ps_hbem_row_source source;
    int device_count, threads;
    pairs_device *devices;   /* [device_count] */
    ps_hbem_pair_rows *rows; /* [threads], thread t on device t % device_count */
} pairs_backend;

static ps_status get(void *context, const ps_hbem_far *far, bool column, int64_t index,
                     double *values)
{
    pairs_backend *b = context;
    return ps_hbem_pair_rows_get(&b->rows[omp_get_thread_num()], far, column, index, values);
}

static ps_status assemble(ps_leaf_backend *backend, const ps_hmatrix_chunks *chunks, int64_t first,
                          int64_t end, const ps_leaf_taker *taker)
{
    ps_leaf_backend *cores = ((pairs_backend *)backend)->cores;
    ps_status status = cores->assemble(cores, chunks, first, end, taker);
    backend->computing = cores->computing;
    return status;
}

/* ---- opening and closing ---- */

static void close_rows(pairs_backend *b, int thread)
{
    ps_hbem_pair_rows *r = &b->rows[thread];
    ps_device *device = b->devices[thread % b->device_count].device;
    if (!device) return;
    for (int s = 0; s < 2; ++s) {
        ps_event_close(&r->done[s]);
        ps_device_free_pinned(device, r->moments[s]);
    }
    ps_device_free(device, r->list);
    ps_stream_close(&r->stream);
}

static void close_device(pairs_device *d)
{
    if (!d->device) return;
    ps_device_free(d->device, d->triangles);
    ps_device_free(d->device, d->rules_memory);
    ps_stream_close(&d->stream);
    ps_device_close(&d->device);
}

static void close_pairs(ps_leaf_backend *backend)
{
    pairs_backend *b = (pairs_backend *)backend;
    int64_t there = 0;
    for (int t = 0; b->rows && b->devices && t < b->threads; ++t) {
        there += b->rows[t].there;
        close_rows(b, t);
    }
    ps_debug("%lld pairs of triangles on %d devices", (long long)there, b->device_count);
    for (int d = 0; b->devices && d < b->device_count; ++d) close_device(&b->devices[d]);
    if (b->cores) b->cores->close(b->cores);
    free(b->devices);
    free(b->rows);
    free(b);
}

static ps_status open_device(const ps_hbem_operator *op, int ordinal, pairs_device *d)
{
    void *host;
    const ps_hbem_surface *surface = op->test->surface;
    int64_t bytes = ps_hbem_device_rules_bytes(op->quadrature);
    PS_TRY(ps_device_open_ordinal(ordinal, &d->device));
    PS_TRY(ps_stream_open(d->device, &d->stream));
    PS_TRY(ps_copy_to_new(d->stream, surface->triangles,
                          surface->triangle_count * (int64_t)sizeof *surface->triangles,
                          &d->triangles));
    PS_TRY(ps_alloc_untouched(&host, bytes, "rules"));
    ps_hbem_device_rules_place(&d->rules, op->quadrature, host);
    ps_hbem_device_rules_fill(&d->rules, op->quadrature);
    ps_status status = ps_copy_to_new(d->stream, host, bytes, &d->rules_memory);
    free(host);
    ps_hbem_device_rules_place(&d->rules, op->quadrature, d->rules_memory);
    return status;
}

static ps_status open_rows(pairs_backend *b, int thread, int64_t least)
{
    const pairs_device *d = &b->devices[thread % b->device_count];
    const ps_hbem_operator *op = b->assembly.op;
    ps_hbem_pair_rows *r = &b->rows[thread];
    *r = (ps_hbem_pair_rows){.triangles = d->triangles,
                             .rules = d->rules,
                             .list_room = op->test->surface->triangle_count,
                             .chunk = CHUNK_PAIRS,
                             .least = least};
    PS_TRY(ps_stream_open(d->device, &r->stream));
    for (int s = 0; s < 2; ++s) {
        PS_TRY(ps_event_open(d->device, &r->done[s]));
        PS_TRY(ps_device_alloc_pinned(d->device, ps_hbem_pair_rows_bytes(op, r->chunk),
                                      &r->moments[s]));
    }
    return ps_device_alloc(d->device, 4 * r->list_room, (void **)&r->list);
}

static ps_status open_all(pairs_backend *b, const ps_leaf_pairs *pairs)
{
    PS_TRY(PS_ALLOC(&b->devices, pairs->devices, "devices"));
    PS_TRY(PS_ALLOC(&b->rows, pairs->threads, "threads"));
    for (int d = 0; d < b->device_count; ++d)
        PS_TRY(open_device(b->assembly.op, pairs->ordinals[d], &b->devices[d]));
    for (int t = 0; t < b->threads; ++t) PS_TRY(open_rows(b, t, pairs->least));
    return ps_leaf_backend_open_cpu(&b->assembly, b->base.shape, b->threads, &b->cores);
}

ps_status ps_leaf_backend_open_pairs(const ps_hbem_assembly *assembly, const ps_hmatrix *shape,
                                     const ps_leaf_pairs *pairs, ps_leaf_backend **out)
{
    pairs_backend *b;
    *out = NULL;
    PS_TRY(PS_ALLOC(&b, 1, "devices"));
    b->base = (ps_leaf_backend){.name = "cores with pairs by devices",
                                .assemble = assemble,
                                .close = close_pairs,
                                .assembly = assembly,
                                .shape = shape};
    b->assembly = *assembly;
    b->source = (ps_hbem_row_source){get, b};
    b->assembly.rows = &b->source;
    b->assembly.skeleton = false;
    b->device_count = pairs->devices;
    b->threads = pairs->threads;
    ps_status status = open_all(b, pairs);
    if (status != PS_OK) {
        close_pairs(&b->base);
        return status;
    }
    b->base.kept = b->cores->kept;
    b->base.release = b->cores->release;
    *out = &b->base;
    return PS_OK;
}
