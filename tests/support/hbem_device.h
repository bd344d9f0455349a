/*
 * hbem_device: an H-matrix of an operator on one space, assembled on a device into one arena:
 * memory, uploads, near leaves in batches, far leaves; for checks and benchmarks.
 */
#ifndef PS_TESTS_SUPPORT_HBEM_DEVICE_H
#define PS_TESTS_SUPPORT_HBEM_DEVICE_H

#include <time.h>

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
    int64_t leaf_count, near_count, far_count, close_most, memory;
    int32_t *near_leaf, *far_leaf; /* numbers of the leaves, in the device's order  */
    ps_hbem_device_leaf *near_at, *far_at;
    ps_hbem_device_block *near_blocks, *far_blocks; /* on the host                     */
    ps_hbem_device_near near;
    ps_hbem_device_far far;
    ps_hbem_device_far_report report;
    int64_t *close_first; /* [near_count + 1] on the host                              */
    double seconds[4];    /* upload; near regular; near close; far                     */
} hbem_device;

static inline double hbem_device_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline void *hbem_device_take(hbem_device *d, int64_t bytes)
{
    void *piece;
    hbem_case_ok(ps_device_alloc(d->device, bytes > 0 ? bytes : 256, &piece));
    if (d->piece_count == HBEM_DEVICE_PIECES) abort();
    d->pieces[d->piece_count++] = piece;
    d->memory += bytes;
    return piece;
}

static inline void *hbem_device_put(hbem_device *d, const void *from, int64_t bytes)
{
    void *to = hbem_device_take(d, bytes);
    hbem_case_ok(ps_copy_to_device(d->stream, to, from, bytes));
    return to;
}

static inline void hbem_device_side(hbem_device *d, const ps_hbem_space *space,
                                    const ps_cluster_tree *tree, ps_hbem_device_side *side)
{
    hbem_case_ok(ps_hbem_device_side_count(space, tree, side));
    int64_t bytes = ps_hbem_device_side_bytes(side);
    void *host = malloc((size_t)bytes);
    ps_hbem_device_side_place(side, host);
    ps_hbem_device_side_fill(space, tree, side);
    void *there = hbem_device_put(d, host, bytes);
    hbem_case_ok(ps_stream_wait(d->stream));
    ps_hbem_device_side_place(side, there);
    free(host);
}

/* Uploads what the operator needs. */
static inline void hbem_device_open(hbem_device *d, ps_device *device, const ps_hbem_operator *op,
                                    const ps_cluster_tree *tree)
{
    double start = hbem_device_now();
    memset(d, 0, sizeof *d);
    d->device = device;
    hbem_case_ok(ps_stream_open(device, &d->stream));
    d->op = (ps_hbem_device_operator){.kernel = op->kernel, .wavenumber = op->wavenumber,
                                      .precision = op->far_precision};
    hbem_device_side(d, op->test, tree, &d->op.test);
    d->op.trial = d->op.test;
    const ps_hbem_surface *surface = op->test->surface;
    d->op.triangles = hbem_device_put(
        d, surface->triangles, surface->triangle_count * (int64_t)sizeof *surface->triangles);
    int64_t bytes = ps_hbem_device_rules_bytes(op->quadrature);
    void *host = malloc((size_t)bytes);
    ps_hbem_device_rules_place(&d->op.rules, op->quadrature, host);
    ps_hbem_device_rules_fill(&d->op.rules, op->quadrature);
    ps_hbem_device_rules_place(&d->op.rules, op->quadrature, hbem_device_put(d, host, bytes));
    hbem_case_ok(ps_stream_wait(d->stream));
    free(host);
    d->seconds[0] = hbem_device_now() - start;
}

static inline void hbem_device_close(hbem_device *d)
{
    for (int i = 0; i < d->piece_count; ++i) ps_device_free(d->device, d->pieces[i]);
    ps_stream_close(&d->stream);
    free(d->near_leaf);
    free(d->far_leaf);
    free(d->near_at);
    free(d->far_at);
    free(d->near_blocks);
    free(d->far_blocks);
    free(d->close_first);
}

static inline int64_t hbem_device_larger(const ps_hmatrix_leaf *leaf)
{
    int64_t m = leaf->row_end - leaf->row_begin, n = leaf->column_end - leaf->column_begin;
    return m > n ? m : n;
}

/* Far leaves by falling size: a counting sort by the larger side's binary logarithm in eighths. */
static inline void hbem_device_sort(hbem_device *d, const ps_hmatrix_leaf *leaves)
{
    enum { BINS = 512 };
    int64_t start[BINS + 1] = {0};
    for (int fill = 0; fill < 2; ++fill) {
        for (int64_t l = 0; l < d->leaf_count; ++l) {
            if (!leaves[l].far) continue;
            int bin = BINS - 1 - (int)(8 * log2((double)hbem_device_larger(&leaves[l])));
            if (fill)
                d->far_leaf[start[bin]++] = (int32_t)l;
            else
                ++start[bin + 1];
        }
        for (int b = 0; !fill && b < BINS; ++b) start[b + 1] += start[b];
    }
}

/* Splits the leaves; arena numbers for the near ones are taken first. */
static inline void hbem_device_leaves(hbem_device *d, const ps_hmatrix_leaf *leaves, int64_t count,
                                      int64_t arena_numbers)
{
    int64_t offset = 0, parts = d->op.wavenumber != 0 ? 2 : 1;
    d->leaf_count = count;
    for (int64_t l = 0; l < count; ++l) d->far_count += leaves[l].far;
    d->near_count = count - d->far_count;
    d->near_leaf = calloc((size_t)d->near_count + 1, 4);
    d->far_leaf = calloc((size_t)d->far_count + 1, 4);
    d->near_at = calloc((size_t)d->near_count + 1, sizeof *d->near_at);
    d->far_at = calloc((size_t)d->far_count + 1, sizeof *d->far_at);
    d->near_blocks = calloc((size_t)d->near_count + 1, sizeof *d->near_blocks);
    d->far_blocks = calloc((size_t)d->far_count + 1, sizeof *d->far_blocks);
    d->close_first = calloc((size_t)d->near_count + 1, sizeof *d->close_first);
    hbem_device_sort(d, leaves);
    for (int64_t l = 0, n = 0; l < count; ++l)
        if (!leaves[l].far) d->near_leaf[n++] = (int32_t)l;
    int32_t *list = calloc((size_t)d->far_count + 1, 4);
    for (int64_t n = 0; n < d->near_count + d->far_count; ++n) {
        bool is_near = n < d->near_count;
        const ps_hmatrix_leaf *at =
            &leaves[is_near ? d->near_leaf[n] : d->far_leaf[n - d->near_count]];
        ps_hbem_device_leaf leaf = {(int32_t)at->row_begin, (int32_t)at->row_end,
                                    (int32_t)at->column_begin, (int32_t)at->column_end};
        int64_t m = at->row_end - at->row_begin, k = at->column_end - at->column_begin;
        if (is_near) {
            d->near_at[n] = leaf;
            d->near_blocks[n] = (ps_hbem_device_block){offset, PS_RANK_DENSE, 0};
            offset += (m * k * parts + 3) / 4 * 4;
            continue;
        }
        int size = ps_hbem_device_far_size(m, k);
        int64_t larger = hbem_device_larger(at);
        int32_t slots = (int32_t)(larger / 8 + 1) * d->op.test.most_slots; /* at least 8 a leaf */
        if (slots > d->op.test.slots) slots = (int32_t)d->op.test.slots;
        d->far_at[n - d->near_count] = leaf;
        list[n - d->near_count] = (int32_t)(n - d->near_count);
        ++d->far.list_count[size];
        if (m + k > d->far.most[size]) d->far.most[size] = (int32_t)(m + k);
        if (slots > d->far.most_slots[size]) d->far.most_slots[size] = slots;
    }
    int64_t size = d->op.precision == PS_SINGLE ? 4 : 8;
    ps_hbem_device_arena arena = {hbem_device_take(d, arena_numbers * size), arena_numbers};
    d->report.cursor = (unsigned long long)offset;
    d->near = (ps_hbem_device_near){
        hbem_device_put(d, d->near_at, d->near_count * (int64_t)sizeof *d->near_at),
        hbem_device_put(d, d->near_blocks, d->near_count * (int64_t)sizeof *d->near_blocks),
        d->near_count, arena};
    d->far.leaves = hbem_device_put(d, d->far_at, d->far_count * (int64_t)sizeof *d->far_at);
    d->far.blocks = hbem_device_take(d, d->far_count * (int64_t)sizeof *d->far_blocks);
    d->far.list = hbem_device_put(d, list, 4 * d->far_count);
    d->far.fallback = hbem_device_take(d, 4 * d->far_count);
    d->far.report = hbem_device_put(d, &d->report, sizeof d->report);
    d->far.arena = arena;
    hbem_case_ok(ps_stream_wait(d->stream));
    free(list);
}

/* Near leaves: `pairs` close pairs at once. */
static inline void hbem_device_run_near(hbem_device *d, int64_t pairs)
{
    double start = hbem_device_now();
    hbem_case_ok(ps_hbem_device_near_regular(&d->op, &d->near, d->stream));
    hbem_case_ok(ps_stream_wait(d->stream));
    d->seconds[1] = hbem_device_now() - start;
    int32_t *counts = hbem_device_take(d, 4 * d->near_count);
    int32_t *host = calloc((size_t)d->near_count + 1, 4);
    start = hbem_device_now();
    hbem_case_ok(ps_hbem_device_near_count(&d->op, &d->near, counts, d->stream));
    hbem_case_ok(ps_copy_to_host(d->stream, host, counts, 4 * d->near_count));
    hbem_case_ok(ps_stream_wait(d->stream));
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
        for (end = begin; end < d->near_count &&
                          d->close_first[end + 1] - d->close_first[begin] <= most;)
            ++end;
        ps_hbem_device_near near = d->near;
        near.leaves += begin;
        near.blocks += begin;
        near.count = end - begin;
        ps_hbem_device_close close = {first + begin, d->close_first[end] - d->close_first[begin],
                                      workspace};
        hbem_case_ok(ps_hbem_device_near_close(&d->op, &near, &close, d->stream));
    }
    hbem_case_ok(ps_stream_wait(d->stream));
    d->seconds[2] = hbem_device_now() - start;
    free(host);
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
    hbem_case_ok(ps_copy_to_device(d->stream, d->far.report, &d->report, sizeof d->report));
    hbem_case_ok(ps_stream_wait(d->stream));
    double start = hbem_device_now();
    hbem_case_ok(ps_hbem_device_far_run(&d->op, &d->far, d->stream));
    hbem_case_ok(ps_stream_wait(d->stream));
    d->seconds[3] = hbem_device_now() - start;
    hbem_case_ok(ps_copy_to_host(d->stream, &d->report, d->far.report, sizeof d->report));
    hbem_case_ok(ps_copy_to_host(d->stream, d->far_blocks, d->far.blocks,
                                 d->far_count * (int64_t)sizeof *d->far_blocks));
    hbem_case_ok(ps_stream_wait(d->stream));
}

/* The result as an H-matrix in memory; matrix is initialised with the leaves. */
static inline void hbem_device_fetch(hbem_device *d, ps_hmatrix *matrix)
{
    int64_t used = (int64_t)d->report.cursor, size = d->op.precision == PS_SINGLE ? 4 : 8;
    char *host = malloc((size_t)(used * size) + 16);
    hbem_case_ok(ps_copy_to_host(d->stream, host, d->far.arena.values, used * size));
    hbem_case_ok(ps_stream_wait(d->stream));
    for (int64_t n = 0; n < d->near_count + d->far_count; ++n) {
        bool is_near = n < d->near_count;
        int64_t leaf = is_near ? d->near_leaf[n] : d->far_leaf[n - d->near_count];
        const ps_hbem_device_block *b =
            is_near ? &d->near_blocks[n] : &d->far_blocks[n - d->near_count];
        int64_t numbers = ps_hmatrix_numbers(matrix, leaf, b->rank);
        double *values = malloc((size_t)numbers * 8 + 8);
        for (int64_t e = 0; e < numbers; ++e)
            values[e] = size == 4 ? (double)((float *)host)[b->offset + e]
                                  : ((double *)host)[b->offset + e];
        ps_hmatrix_block block = {b->rank, b->error, values};
        hbem_case_ok(ps_hmatrix_put(matrix, leaf, &block));
        free(values);
    }
    free(host);
}

#endif
