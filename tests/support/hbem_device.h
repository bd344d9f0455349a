/*
 * hbem_device: an H-matrix of an operator on one space, assembled on a device into one arena:
 * memory, uploads, near leaves in batches, far leaves; for checks and benchmarks.
 */
#ifndef PS_TESTS_SUPPORT_HBEM_DEVICE_H
#define PS_TESTS_SUPPORT_HBEM_DEVICE_H

#include "kernels/hbem/assembly.h"
#include "kernels/hbem/device_assembly.h"
#include "tests/support/hbem_case.h"

enum { HBEM_DEVICE_PIECES = 32 };

typedef struct hbem_device {
    ps_device *device;
    ps_stream *stream;
    ps_hbem_device_operator op;
    void *pieces[HBEM_DEVICE_PIECES];
    int piece_count;
    int64_t leaf_count, near_count, far_count, memory;
    ps_hbem_device_batch batch; /* on the host                                          */
    ps_hbem_device_near near;
    ps_hbem_device_far far;
    ps_hbem_device_far_report report;
    int64_t *close_first; /* [near_count + 1] on the host                              */
    bool one_size;        /* all far leaves as large ones: by clusters of blocks                 */
    double seconds[4];    /* upload; near regular; near close; far                     */
    double of_size[PS_HBEM_FAR_SIZES]; /* far leaves one size after the other, where asked for */
} hbem_device;

static inline void *hbem_device_take(hbem_device *d, int64_t bytes)
{
    void *piece;
    must(ps_device_alloc(d->device, bytes > 0 ? bytes : 256, &piece));
    if (d->piece_count == HBEM_DEVICE_PIECES) abort();
    d->pieces[d->piece_count++] = piece;
    d->memory += bytes;
    return piece;
}

static inline void *hbem_device_put(hbem_device *d, const void *from, int64_t bytes)
{
    void *to = hbem_device_take(d, bytes);
    must(ps_copy_to_device(d->stream, to, from, bytes));
    return to;
}

static inline void hbem_device_side(hbem_device *d, const ps_hbem_space *space,
                                    const ps_cluster_tree *tree, const int32_t *stratum,
                                    ps_hbem_device_side *side)
{
    must(ps_hbem_device_side_count(space, tree, stratum, side));
    int64_t bytes = ps_hbem_device_side_bytes(side);
    PS_SCOPED_MEMORY void *host = malloc((size_t)bytes);
    ps_hbem_device_side_place(side, host);
    ps_hbem_device_side_fill(space, tree, stratum, side);
    void *there = hbem_device_put(d, host, bytes);
    must(ps_stream_wait(d->stream));
    ps_hbem_device_side_place(side, there);
}

/* Uploads what the operator needs, with the strata of its functions (kernels/hbem/strata.h), or
 * NULL. trial: the tree of its trial functions, read where they are others. */
static inline void hbem_device_open_sides(hbem_device *d, ps_device *device,
                                          const ps_hbem_operator *op, const ps_cluster_tree *tree,
                                          const ps_cluster_tree *trial, const int32_t *stratum)
{
    double start = ps_clock();
    memset(d, 0, sizeof *d);
    d->device = device;
    must(ps_stream_open(device, &d->stream));
    d->op = (ps_hbem_device_operator){.kernel = op->kernel,
                                      .wavenumber = op->wavenumber,
                                      .absorption = op->absorption,
                                      .precision = op->far_precision};
    hbem_device_side(d, op->test, tree, stratum, &d->op.test);
    d->op.trial = d->op.test;
    if (op->trial != op->test) hbem_device_side(d, op->trial, trial, NULL, &d->op.trial);
    const ps_hbem_surface *surface = op->test->surface;
    d->op.triangles = hbem_device_put(
        d, surface->triangles, surface->triangle_count * (int64_t)sizeof *surface->triangles);
    int64_t bytes = ps_hbem_device_rules_bytes(op->quadrature);
    PS_SCOPED_MEMORY void *host = malloc((size_t)bytes);
    ps_hbem_device_rules_place(&d->op.rules, op->quadrature, host);
    ps_hbem_device_rules_fill(&d->op.rules, op->quadrature);
    ps_hbem_device_rules_place(&d->op.rules, op->quadrature, hbem_device_put(d, host, bytes));
    must(ps_stream_wait(d->stream));
    d->seconds[0] = ps_clock() - start;
}

static inline void hbem_device_open(hbem_device *d, ps_device *device, const ps_hbem_operator *op,
                                    const ps_cluster_tree *tree)
{
    hbem_device_open_sides(d, device, op, tree, tree, NULL);
}

static inline void hbem_device_close(hbem_device *d)
{
    for (int i = 0; i < d->piece_count; ++i) ps_device_free(d->device, d->pieces[i]);
    ps_stream_close(&d->stream);
    PS_FREE(d->batch.leaf, d->batch.list, d->batch.at, d->batch.blocks, d->close_first);
}

/* All far leaves as those of size 0. */
static inline void hbem_device_one_size(ps_hbem_device_far *far)
{
    for (int size = 1; size < PS_HBEM_FAR_SIZES; ++size) {
        far->list_count[0] += far->list_count[size];
        far->list_count[size] = 0;
        if (far->most[size] > far->most[0]) far->most[0] = far->most[size];
        if (far->most_slots[size] > far->most_slots[0]) far->most_slots[0] = far->most_slots[size];
    }
}

/* Splits the leaves and sends them; arena_numbers 0: as many as may be needed. */
static inline void hbem_device_leaves(hbem_device *d, const ps_hmatrix_leaf *leaves, int64_t count,
                                      int max_rank, int64_t arena_numbers)
{
    size_t n = (size_t)count + 1;
    ps_hbem_device_batch *b = &d->batch;
    *b = (ps_hbem_device_batch){.count = count,
                                .leaf = calloc(n, sizeof *b->leaf),
                                .list = calloc(n, sizeof *b->list),
                                .at = calloc(n, sizeof *b->at),
                                .blocks = calloc(n, sizeof *b->blocks)};
    ps_hbem_device_batch_fill(b, leaves, &d->op, max_rank);
    d->leaf_count = count;
    d->near_count = b->near_count;
    d->far_count = count - b->near_count;
    d->close_first = calloc((size_t)d->near_count + 1, sizeof *d->close_first);
    int64_t size = d->op.precision == PS_SINGLE ? 4 : 8;
    if (arena_numbers == 0) arena_numbers = b->most_numbers;
    ps_hbem_device_arena arena = {hbem_device_take(d, arena_numbers * size), arena_numbers};
    d->report.cursor = (unsigned long long)b->near_numbers;
    ps_hbem_device_leaf *at = hbem_device_put(d, b->at, count * (int64_t)sizeof *at);
    ps_hbem_device_block *blocks = hbem_device_put(d, b->blocks, count * (int64_t)sizeof *blocks);
    d->near = (ps_hbem_device_near){at, blocks, d->near_count, arena};
    d->far = (ps_hbem_device_far){.leaves = at + d->near_count,
                                  .blocks = blocks + d->near_count,
                                  .list = hbem_device_put(d, b->list, 4 * d->far_count),
                                  .report = hbem_device_put(d, &d->report, sizeof d->report),
                                  .arena = arena};
    memcpy(d->far.list_count, b->list_count, sizeof b->list_count);
    memcpy(d->far.most, b->most, sizeof b->most);
    memcpy(d->far.most_slots, b->most_slots, sizeof b->most_slots);
    if (d->one_size) hbem_device_one_size(&d->far);
    must(ps_stream_wait(d->stream));
}

/* Near leaves: `pairs` close pairs at once. */
static inline void hbem_device_run_near(hbem_device *d, int64_t pairs)
{
    double start = ps_clock();
    must(ps_hbem_device_near_regular(&d->op, &d->near, d->stream));
    must(ps_stream_wait(d->stream));
    d->seconds[1] = ps_clock() - start;
    int32_t *counts = hbem_device_take(d, 4 * d->near_count);
    PS_SCOPED_MEMORY int32_t *host = calloc((size_t)d->near_count + 1, 4);
    start = ps_clock();
    must(ps_hbem_device_near_count(&d->op, &d->near, counts, d->stream));
    must(ps_copy_to_host(d->stream, host, counts, 4 * d->near_count));
    must(ps_stream_wait(d->stream));
    int64_t most = pairs;
    for (int64_t l = 0; l < d->near_count; ++l) {
        d->close_first[l + 1] = d->close_first[l] + host[l];
        most = host[l] > most ? host[l] : most;
    }
    int64_t all = d->close_first[d->near_count];
    most = most < all ? most : all;
    void *workspace = hbem_device_take(d, ps_hbem_device_close_bytes(&d->op, most));
    int64_t *first = hbem_device_put(d, d->close_first, 8 * (d->near_count + 1));
    for (int64_t begin = 0, end; begin < d->near_count; begin = end) {
        for (end = begin;
             end < d->near_count && d->close_first[end + 1] - d->close_first[begin] <= most;)
            ++end;
        ps_hbem_device_near near = d->near;
        near.leaves += begin;
        near.blocks += begin;
        near.count = end - begin;
        ps_hbem_device_close close = {first + begin, d->close_first[end] - d->close_first[begin],
                                      workspace, NULL};
        must(ps_hbem_device_near_close(&d->op, &near, &close, d->stream));
    }
    must(ps_stream_wait(d->stream));
    d->seconds[2] = ps_clock() - start;
}

/* The sizes one after the other, to time each. */
static inline void hbem_device_far_by_size(hbem_device *d)
{
    for (int size = 0; size < PS_HBEM_FAR_SIZES; ++size) {
        double start = ps_clock();
        ps_hbem_device_far own = d->far;
        for (int other = 0; other < PS_HBEM_FAR_SIZES; ++other) {
            if (other < size) own.list += d->far.list_count[other];
            if (other != size) own.list_count[other] = 0;
        }
        must(ps_hbem_device_far_run(&d->op, &own, d->stream));
        must(ps_stream_wait(d->stream));
        d->of_size[size] = ps_clock() - start;
    }
}

static inline void hbem_device_run_far(hbem_device *d, const ps_hbem_device_far_options *options,
                                       int64_t workspace)
{
    d->far.options = *options;
    int64_t least = 0;
    for (int size = 0; size < PS_HBEM_FAR_SIZES; ++size) {
        if (d->far.list_count[size] == 0) continue;
        int64_t bytes = ps_hbem_device_far_bytes(&d->op, &d->far, size);
        least = bytes > least ? bytes : least;
    }
    d->far.workspace_bytes = workspace > least ? workspace : least;
    d->far.workspace = hbem_device_take(d, d->far.workspace_bytes);
    must(ps_copy_to_device(d->stream, d->far.report, &d->report, sizeof d->report));
    must(ps_stream_wait(d->stream));
    double start = ps_clock();
    if (getenv("HBEM_SIZES"))
        hbem_device_far_by_size(d);
    else
        must(ps_hbem_device_far_run(&d->op, &d->far, d->stream));
    must(ps_stream_wait(d->stream));
    d->seconds[3] = ps_clock() - start;
    must(ps_copy_to_host(d->stream, &d->report, d->far.report, sizeof d->report));
    must(ps_copy_to_host(d->stream, d->batch.blocks + d->near_count, d->far.blocks,
                         d->far_count * (int64_t)sizeof *d->batch.blocks));
    must(ps_stream_wait(d->stream));
}

/* The result as an H-matrix in memory; matrix is initialised with the leaves. */
static inline void hbem_device_fetch(hbem_device *d, ps_hmatrix *matrix)
{
    int64_t used = (int64_t)d->report.cursor, size = d->op.precision == PS_SINGLE ? 4 : 8;
    PS_SCOPED_MEMORY char *host = malloc((size_t)(used * size) + 16);
    must(ps_copy_to_host(d->stream, host, d->far.arena.values, used * size));
    must(ps_stream_wait(d->stream));
    for (int64_t n = 0; n < d->leaf_count; ++n) {
        int64_t leaf = d->batch.leaf[n];
        const ps_hbem_device_block *b = &d->batch.blocks[n];
        int64_t numbers = ps_hmatrix_numbers(matrix, leaf, b->rank);
        PS_SCOPED_MEMORY double *values = malloc((size_t)numbers * 8 + 8);
        for (int64_t e = 0; e < numbers; ++e)
            values[e] = size == 4 ? (double)((float *)host)[b->offset + e]
                                  : ((double *)host)[b->offset + e];
        ps_hmatrix_block block = {b->rank, b->error, values};
        must(ps_hmatrix_put(matrix, leaf, &block));
    }
}

#endif
