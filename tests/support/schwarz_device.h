/*
 * schwarz_device: vectors, matrices and boxes on a CUDA device for the checks and benchmarks of
 * the schwarz family. Device memory is of `place` and freed with it.
 */
#ifndef PS_TESTS_SUPPORT_SCHWARZ_DEVICE_H
#define PS_TESTS_SUPPORT_SCHWARZ_DEVICE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/common/counter_random.h"
#include "kernels/linear/krylov_device.h"
#include "kernels/linear/krylov_team.h"
#include "kernels/schwarz/slab_device.h"
#include "kernels/schwarz/traces_device.h"
#include "kernels/linear/vectors_device.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "tests/support/distance.h"
#include "tests/support/verdict.h"

enum { PLACE_MEMORIES = 64 };

typedef struct place {
    ps_device *device;
    ps_stream *stream;
    void *memory[PLACE_MEMORIES];
    int count;
} place;

static inline ps_status place_open(place *p)
{
    *p = (place){0};
    PS_TRY(ps_device_open("cuda:0", 0, &p->device));
    return ps_stream_open(p->device, &p->stream);
}

static inline void place_clear(place *p)
{
    if (p->stream) (void)ps_stream_wait(p->stream);
    while (p->count > 0) ps_device_free(p->device, p->memory[--p->count]);
}

static inline void place_close(place *p)
{
    place_clear(p);
    ps_stream_close(&p->stream);
    ps_device_close(&p->device);
}

/* Counts a check whose error is `error`, and frees what it had on the device. */
static inline void check_count(place *here, ps_status status, double error, double bound,
                               const char *what, int precision, int64_t size)
{
    bool good = status == PS_OK && error <= bound;
    if (!good)
        printf("%s, %s, size %lld: FAILED: %s (error %.3g, allowed %.3g)\n", what,
               precision == PS_SINGLE ? "fp32" : "fp64", (long long)size,
               status == PS_OK ? "wrong" : ps_message(), error, bound);
    verdict_count(good);
    place_clear(here);
}

static inline ps_status place_alloc(place *p, int64_t bytes, void **out)
{
    if (p->count == PLACE_MEMORIES) return ps_fail(PS_FAILED, "too many arrays");
    PS_TRY(ps_device_alloc(p->device, bytes > 0 ? bytes : 8, out));
    p->memory[p->count++] = *out;
    return PS_OK;
}

static inline int64_t real_size(ps_precision precision) { return precision == PS_SINGLE ? 4 : 8; }

/* Copies n doubles of the host to `to` in the precision. */
static inline ps_status place_put(place *p, ps_precision precision, int64_t n, const double *from,
                                  void *to)
{
    if (precision == PS_DOUBLE) {
        PS_TRY(ps_copy_to_device(p->stream, to, from, 8 * n));
        return ps_stream_wait(p->stream);
    }
    PS_SCOPED_MEMORY float *narrow = NULL;
    PS_TRY(PS_ALLOC(&narrow, n, "a vector in fp32"));
    for (int64_t i = 0; i < n; ++i) narrow[i] = (float)from[i];
    ps_status status = ps_copy_to_device(p->stream, to, narrow, 4 * n);
    if (status == PS_OK) status = ps_stream_wait(p->stream);
    return status;
}

static inline ps_status place_get(place *p, ps_precision precision, int64_t n, const void *from,
                                  double *to)
{
    if (precision == PS_DOUBLE) {
        PS_TRY(ps_copy_to_host(p->stream, to, from, 8 * n));
        return ps_stream_wait(p->stream);
    }
    PS_SCOPED_MEMORY float *narrow = NULL;
    PS_TRY(PS_ALLOC(&narrow, n, "a vector in fp32"));
    ps_status status = ps_copy_to_host(p->stream, narrow, from, 4 * n);
    if (status == PS_OK) status = ps_stream_wait(p->stream);
    for (int64_t i = 0; i < n; ++i) to[i] = narrow[i];
    return status;
}

/* A vector on the device with these values. */
static inline ps_status place_vector(place *p, ps_precision precision, int64_t n,
                                     const double *from, void **out)
{
    PS_TRY(place_alloc(p, n * real_size(precision), out));
    return place_put(p, precision, n, from, *out);
}

static inline ps_status place_matrix(place *p, ps_precision precision, const ps_csr *m,
                                     ps_csr_device *out)
{
    void *memory;
    PS_TRY(place_alloc(p, ps_csr_device_bytes(precision, m->rows, m->nnz), &memory));
    ps_csr_device_attach(precision, m->rows, m->nnz, memory, out);
    if (precision == PS_DOUBLE)
        return ps_csr_device_upload(out, m->row_start, m->columns, m->values, p->stream);
    PS_SCOPED_MEMORY float *narrow = NULL;
    PS_TRY(PS_ALLOC(&narrow, m->nnz, "values in fp32"));
    for (int64_t e = 0; e < m->nnz; ++e) narrow[e] = (float)m->values[e];
    ps_status status = ps_csr_device_upload(out, m->row_start, m->columns, narrow, p->stream);
    return status;
}

/* The parallel method as a problem for interface.h, all slabs here, fp64. */
typedef struct device_link {
    const ps_slab_device *box;
    ps_stream *stream;
} device_link;

/* All traces of a box on the device: vectors of an iteration, g among them. */
typedef struct place_traces {
    ps_traces_device device;
    ps_interface_vectors vectors;
    device_link link;
    double *g, *space; /* device; the host's workspace of the iteration */
} place_traces;

static inline ps_status device_exchange(void *context, bool source, const double *g, double *out)
{
    const device_link *link = context;
    return ps_slab_device_exchange(link->box, source, g, out, link->stream);
}

/* Borrows the traces. */
static inline ps_interface device_interface(place_traces *traces)
{
    const ps_slab_device_plan *plan = &traces->link.box->plan;
    return (ps_interface){.context = &traces->link,
                          .size = ps_slab_device_traces(plan),
                          .traces = 2 * (plan->slabs - 1),
                          .all = 2 * (plan->slabs - 1),
                          .exchange = device_exchange,
                          .source = true,
                          .vectors = &traces->vectors};
}

/* restart 0: for the fixed point. g = 0. `out` stays where it is; its space is freed by the caller.
 */
static inline ps_status place_iteration(place *p, const ps_slab_device *box, int64_t restart,
                                        place_traces *out, ps_interface *problem)
{
    int64_t traces = 2 * (box->plan.slabs - 1), vectors = restart + 1;
    void *basis, *memory;
    *out = (place_traces){.link = {box, p->stream}};
    PS_TRY(place_alloc(p, 8 * traces * box->face * vectors, &basis));
    PS_TRY(place_alloc(p, 8 * traces * box->face, (void **)&out->g));
    PS_TRY(place_alloc(p, ps_traces_device_bytes(vectors, traces), &memory));
    PS_TRY(ps_fill_zero(p->stream, out->g, 8 * traces * box->face));
    out->device = (ps_traces_device){traces, box->face, 0, traces, p->stream, memory, out->space};
    out->vectors = ps_traces_device_vectors(&out->device, basis);
    *problem = device_interface(out);
    int64_t space = restart > 0 ? ps_interface_gmres_workspace(problem, restart)
                                : ps_interface_workspace(problem);
    PS_TRY(PS_ALLOC(&out->space, space + traces * vectors, "an iteration"));
    out->device.sums = out->space + space;
    return PS_OK;
}

/* -1 .. 1 */
static inline void fill_random(uint64_t seed, int64_t n, double *x)
{
    for (int64_t i = 0; i < n; ++i) x[i] = 2 * ps_counter_uniform(seed, (uint64_t)i, 0) - 1;
}

#endif
