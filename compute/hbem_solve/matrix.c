#include "compute/hbem_solve/matrix.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/comm.h"
#include "runtime/memory.h"

/* ---- whose leaves ---- */

/* The first leaf of a rank: values are shared evenly. */
static int64_t leaf_of_rank(const ps_hmatrix *shape, int rank, int ranks)
{
    int64_t total = 0, before = 0, leaf = 0;
    for (int64_t l = 0; l < shape->leaf_count; ++l)
        total += ps_hmatrix_numbers(shape, l, shape->blocks[l].rank);
    for (; leaf < shape->leaf_count && (double)before * ranks < (double)total * rank; ++leaf)
        before += ps_hmatrix_numbers(shape, leaf, shape->blocks[leaf].rank);
    return rank == ranks ? shape->leaf_count : leaf;
}

void matrix_shares(const matrix *m, int ranks, double *work)
{
    for (int r = 0; r < ranks; ++r) {
        int64_t chunks = m->core ? m->core->plan.chunks.count : 0;
        if (m->core) { /* equal numbers of chunks, of about equal sizes */
            work[r] += (double)(chunks * (r + 1) / ranks - chunks * r / ranks);
            continue;
        }
        int64_t end = leaf_of_rank(m->shape, r + 1, ranks);
        for (int64_t l = leaf_of_rank(m->shape, r, ranks); l < end; ++l)
            work[r] += (double)ps_hmatrix_numbers(m->shape, l, m->shape->blocks[l].rank);
    }
}

static void choose_leaves(matrix *m)
{
    const ps_hmatrix_chunks *c = m->cuts;
    int64_t end = 0, raw, unpacked;
    m->first_leaf = leaf_of_rank(m->shape, ps_comm_rank(), ps_comm_size());
    m->end_leaf = leaf_of_rank(m->shape, ps_comm_rank() + 1, ps_comm_size());
    while (m->first_chunk < c->count && c->first[m->first_chunk + 1] <= m->first_leaf)
        ++m->first_chunk;
    for (end = m->first_chunk; end < c->count && c->first[end] < m->end_leaf; ++end) {
        ps_hmatrix_chunk_bytes(m->file, end, &raw, &unpacked);
        m->bytes += unpacked;
    }
    m->chunks = end - m->first_chunk;
}

ps_status matrix_open(const char *path, matrix *out)
{
    *out = (matrix){0};
    PS_TRY(ps_hmatrix_open(path, &out->file));
    out->header = ps_hmatrix_file_header(out->file);
    out->shape = &ps_hmatrix_file_overview(out->file)->shape;
    out->cuts = ps_hmatrix_file_chunks(out->file);
    out->name = ps_store_path(ps_hmatrix_store(out->file));
    for (int side = 0; side < 2; ++side)
        out->tree[side] = ps_hmatrix_tree(out->file, (ps_cluster_side)side);
    choose_leaves(out);
    return PS_OK;
}

ps_status matrix_open_core(core_scene *clusters, const ps_hbem_operator_choice *choice,
                           const ps_hbem_matrix_options *options, matrix *out)
{
    core_matrix *core;
    PS_TRY(PS_ALLOC(&core, 1, "an H-matrix"));
    *out = (matrix){.core = core,
                    .name = core->name,
                    .header = &core->problem.tables.header,
                    .tree = {&clusters->scene.clusters.tree[0], &clusters->scene.clusters.tree[1]},
                    .shape = &core->shape,
                    .cuts = &core->plan.chunks};
    PS_TRY(core_matrix_open(core, clusters, choice, options));
    out->bytes = core->bytes;
    return PS_OK;
}

ps_status matrix_assemble(matrix *m, const core_means *means)
{
    PS_TRY(core_matrix_assemble(m->core, means));
    m->bytes = m->core->bytes;
    m->first_chunk = m->core->plan.first_chunk;
    m->chunks = m->core->plan.end_chunk - m->first_chunk;
    m->first_leaf = m->cuts->first[m->first_chunk];
    m->end_leaf = m->cuts->first[m->core->plan.end_chunk];
    return PS_OK;
}

void matrix_close_products(matrix *m)
{
    device_matrix_close(&m->device);
    ps_chunk_stream_close(&m->stream);
    PS_FREE(m->plans, m->indices, m->blocks, m->scratch);
    m->plans = NULL;
    m->indices = NULL;
    m->blocks = NULL;
    m->scratch = NULL;
    m->scratch_size = 0;
    if (m->core) core_matrix_drop(m->core);
}

void matrix_close(matrix *m)
{
    matrix_close_products(m);
    ps_hmatrix_close(&m->file);
    if (m->core) core_matrix_close(m->core);
    free(m->core);
    *m = (matrix){0};
}

/* ---- plans ---- */

/* The leaves of this rank in a chunk, as a matrix. */
static void view_chunk(const matrix *m, int64_t chunk, const void *unpacked, ps_hmatrix *out)
{
    int64_t first = m->cuts->first[m->first_chunk + chunk];
    if (m->core) {
        *out = *m->shape;
        out->leaves += first;
        out->blocks += first;
        out->leaf_count = m->cuts->first[m->first_chunk + chunk + 1] - first;
        return;
    }
    ps_hmatrix_view(m->file, m->first_chunk + chunk, unpacked, m->blocks, out);
    int64_t skip = m->first_leaf > first ? m->first_leaf - first : 0;
    int64_t end = m->end_leaf - first < out->leaf_count ? m->end_leaf - first : out->leaf_count;
    out->leaves += skip;
    out->blocks += skip;
    out->leaf_count = end - skip;
}

/* Numbers that a plan's arrays take; with `to`, the plan is made there and *scratch raised to what
 * it needs a side. The plan's matrix is set in every product. */
static int64_t make_plan(const matrix *m, int64_t chunk, int64_t *to, int64_t *scratch)
{
    ps_hmatrix view;
    view_chunk(m, chunk, m->blocks, &view); /* values are not looked at */
    int64_t first = ps_product_segments(&view) + 1, visits = ps_product_visits(&view);
    if (to) {
        ps_product_plan_init(&m->plans[chunk], &view, to, to + first, to + first + visits);
        int64_t own = ps_product_scratch(&m->plans[chunk], 1);
        *scratch = own > *scratch ? own : *scratch;
    }
    return first + visits + 2 * view.leaf_count + 1;
}

static ps_status make_plans(matrix *m)
{
    int64_t size = 0, at = 0;
    if (m->file) PS_TRY(PS_ALLOC(&m->blocks, ps_hmatrix_most_leaves(m->file), "leaves of a chunk"));
    PS_TRY(PS_ALLOC(&m->plans, m->chunks, "plans of products"));
    for (int64_t c = 0; c < m->chunks; ++c) size += make_plan(m, c, NULL, NULL);
    PS_TRY(PS_ALLOC(&m->indices, size, "plans of products"));
    for (int64_t c = 0; c < m->chunks; ++c)
        at += make_plan(m, c, m->indices + at, &m->scratch_size);
    return PS_OK;
}

int64_t matrix_fixed_bytes(const matrix *m, int64_t sides)
{
    if (m->device) return device_matrix_host_fixed(m->device);
    /* Before the plans are made: about 4 visits a leaf, and both halves of a leaf's rank. */
    int64_t leaves = m->end_leaf - m->first_leaf, ranks = 0;
    for (int64_t l = m->first_leaf; l < m->end_leaf; ++l)
        if (m->shape->blocks[l].rank > 0) ranks += m->shape->blocks[l].rank;
    return 8 * (8 * leaves + m->chunks * ps_product_segments(m->shape) +
                2 * m->shape->parts * sides * ranks / (m->chunks > 0 ? m->chunks : 1));
}

/* ---- the stream ---- */

static ps_status read_chunk(void *context, int64_t chunk, void *raw)
{
    const matrix *m = context;
    return ps_hmatrix_read_raw(m->file, m->first_chunk + chunk, raw);
}

static ps_status unpack_chunk(void *context, int64_t chunk, const void *raw, void *unpacked)
{
    const matrix *m = context;
    return ps_hmatrix_unpack(m->file, m->first_chunk + chunk, raw, unpacked);
}

static void stream_config(const matrix *m, int64_t host_memory, ps_chunk_stream_config *config)
{
    ps_hmatrix_stream_config(m->file, host_memory, config);
    config->chunk_count = m->chunks;
    config->raw_bytes += m->first_chunk;
    config->unpacked_bytes += m->first_chunk;
    config->read = read_chunk;
    config->unpack = unpack_chunk;
}

ps_status matrix_stream_bytes(const matrix *m, int64_t host_memory, int64_t *bytes)
{
    ps_chunk_stream_config config;
    stream_config(m, host_memory, &config);
    return ps_chunk_stream_memory(&config, bytes);
}

int64_t matrix_least_bytes(const matrix *m)
{
    int64_t raw, unpacked, most = 0;
    for (int64_t c = 0; c < m->chunks; ++c) {
        ps_hmatrix_chunk_bytes(m->file, m->first_chunk + c, &raw, &unpacked);
        most = raw + unpacked > most ? raw + unpacked : most;
    }
    return most;
}

static ps_status open_stream(matrix *m, int64_t host_memory)
{
    ps_chunk_stream_config config;
    if (m->chunks == 0 || m->core) return PS_OK; /* more ranks than leaves */
    stream_config(m, host_memory, &config);
    config.context = m;
    ps_status status = ps_chunk_stream_open(&config, &m->stream);
    return status == PS_OK ? PS_OK : ps_context(status, "%s", m->name);
}

ps_status matrix_use_device(matrix *m, ps_device *device, int64_t sides)
{
    device_matrix_config config = {.device = device,
                                   .file = m->file,
                                   .images = m->core ? m->core->images : NULL,
                                   .name = m->name,
                                   .shape = m->shape,
                                   .cuts = m->cuts,
                                   .first_leaf = m->first_leaf,
                                   .end_leaf = m->end_leaf,
                                   .first_chunk = m->first_chunk,
                                   .chunks = m->chunks,
                                   .sides = sides};
    return m->chunks > 0 ? device_matrix_open(&config, &m->device) : PS_OK;
}

ps_status matrix_prepare(matrix *m, int64_t sides, int64_t host_memory, int64_t device_memory)
{
    if (m->device) return device_matrix_start(m->device, host_memory, device_memory);
    PS_TRY(make_plans(m));
    PS_TRY(PS_ALLOC(&m->scratch, m->scratch_size * sides, "products of leaves"));
    return open_stream(m, host_memory);
}

static ps_status multiply_chunk(void *context, int64_t chunk, const void *unpacked)
{
    matrix *m = context;
    ps_hmatrix view;
    view_chunk(m, chunk, unpacked, &view);
    m->plans[chunk].matrix = &view;
    ps_hmatrix_product(&m->plans[chunk], m->sides, m->x, m->y, m->scratch);
    return PS_OK;
}

ps_status matrix_start_product(matrix *m, int64_t sides, const double *x)
{
    m->sides = sides;
    m->x = x;
    return m->device ? device_matrix_multiply(m->device, sides, x) : PS_OK;
}

ps_status matrix_finish_product(matrix *m, double *y)
{
    if (m->device) return device_matrix_fetch(m->device, y);
    m->y = y;
    memset(y, 0, (size_t)(m->shape->parts * m->shape->rows * m->sides) * sizeof *y);
    if (m->stream) return ps_chunk_stream_sweep(m->stream, multiply_chunk, m);
    for (int64_t c = 0; c < m->chunks; ++c) PS_TRY(multiply_chunk(m, c, NULL));
    return PS_OK;
}
