/* hbem_pair_device: ps_hbem_pair_rows for threads of a test, as a source of rows of an assembly. */
#ifndef PS_TESTS_SUPPORT_HBEM_PAIR_DEVICE_H
#define PS_TESTS_SUPPORT_HBEM_PAIR_DEVICE_H

#include <omp.h>

#include "kernels/hbem/pair_rows.h"
#include "tests/support/hbem_case.h"

enum { HBEM_PAIR_THREADS = 64 };

typedef struct hbem_pair_device {
    ps_device *device;
    void *triangles, *rules;
    int threads;
    ps_hbem_pair_rows rows[HBEM_PAIR_THREADS];
    ps_hbem_row_source source;
} hbem_pair_device;

static inline ps_status hbem_pair_get(void *context, const ps_hbem_far *far, bool column,
                                      int64_t index, double *values)
{
    hbem_pair_device *p = context;
    return ps_hbem_pair_rows_get(&p->rows[omp_get_thread_num()], far, column, index, values);
}

static inline void hbem_pair_open_thread(hbem_pair_device *p, const ps_hbem_operator *op, int t)
{
    ps_hbem_pair_rows *r = &p->rows[t];
    must(ps_stream_open(p->device, &r->stream));
    for (int s = 0; s < 2; ++s) {
        must(ps_event_open(p->device, &r->done[s]));
        must(ps_device_alloc_pinned(p->device, ps_hbem_pair_rows_bytes(op, r->chunk),
                                    &r->moments[s]));
    }
    r->triangles = p->triangles;
    r->list_room = op->test->surface->triangle_count;
    must(ps_device_alloc(p->device, 4 * r->list_room, (void **)&r->list));
}

/* least, chunk: as in ps_hbem_pair_rows. */
static inline void hbem_pair_open(hbem_pair_device *p, ps_device *device,
                                  const ps_hbem_operator *op, int64_t least, int64_t chunk)
{
    const ps_hbem_surface *surface = op->test->surface;
    int64_t size = surface->triangle_count * (int64_t)sizeof *surface->triangles;
    int64_t bytes = ps_hbem_device_rules_bytes(op->quadrature);
    PS_SCOPED_MEMORY void *host = malloc((size_t)bytes);
    p->device = device;
    p->source = (ps_hbem_row_source){hbem_pair_get, p};
    for (int t = 0; t < p->threads; ++t) {
        p->rows[t] = (ps_hbem_pair_rows){.least = least, .chunk = chunk};
        if (t == 0) must(ps_device_alloc(device, size, &p->triangles));
        hbem_pair_open_thread(p, op, t);
    }
    ps_stream *stream = p->rows[0].stream;
    must(ps_copy_to_device(stream, p->triangles, surface->triangles, size));
    must(ps_device_alloc(device, bytes, &p->rules));
    ps_hbem_device_rules_place(&p->rows[0].rules, op->quadrature, host);
    ps_hbem_device_rules_fill(&p->rows[0].rules, op->quadrature);
    must(ps_copy_to_device(stream, p->rules, host, bytes));
    must(ps_stream_wait(stream));
    for (int t = 0; t < p->threads; ++t)
        ps_hbem_device_rules_place(&p->rows[t].rules, op->quadrature, p->rules);
}

/* Pairs that were integrated on the device. */
static inline int64_t hbem_pair_close(hbem_pair_device *p)
{
    int64_t there = 0;
    for (int t = 0; t < p->threads; ++t) {
        ps_hbem_pair_rows *r = &p->rows[t];
        there += r->there;
        for (int s = 0; s < 2; ++s) {
            ps_event_close(&r->done[s]);
            ps_device_free_pinned(p->device, r->moments[s]);
        }
        ps_device_free(p->device, r->list);
        ps_stream_close(&r->stream);
    }
    ps_device_free(p->device, p->triangles);
    ps_device_free(p->device, p->rules);
    return there;
}

#endif
