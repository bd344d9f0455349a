#include "compute/hbem_solve/device_matrix.h"

#include <pthread.h>
#include <stdlib.h>

#include "kernels/hbem/product_device.h"
#include "runtime/log.h"
#include "runtime/memory.h"

/* Unpacking takes a core each, and a chunk's memory twice. */
enum { UNPACKERS_MAX = 12, SPARE_CORES = 2, READERS = 3 };

/* Two of them in pinned host memory, on their way to the device, hold the chunks being unpacked. */
static const int64_t batch_bytes = (int64_t)256 << 20;

struct device_matrix {
    device_matrix_config config;
    ps_hmatrix shape; /* of the rank's leaves; borrows                      */
    ps_product_tables tables;
    ps_product_device work;
    int64_t *chunk_first, *raw_bytes; /* [chunks + 1], [chunks]             */
    int32_t *marks;
    void *tables_memory, *device_tables, *vectors;
    ps_stream *stream;
    ps_device_stream *chunks;
    bool resident; /* all chunks stay on the device and are there           */
    pthread_mutex_t lock;
    void *scratch[UNPACKERS_MAX]; /* locked: chunks as in their files       */
    int scratch_count;
    int64_t scratch_bytes, unpacked_most;
};

/* ---- tables ---- */

/* Sizes of the chunks in the file. */
static ps_status measure_file(device_matrix *m)
{
    const device_matrix_config *c = &m->config;
    PS_TRY(PS_ALLOC(&m->raw_bytes, c->chunks, "chunks of an H-matrix"));
    for (int64_t i = 0; i < c->chunks; ++i) {
        int64_t unpacked;
        ps_hmatrix_chunk_bytes(c->file, c->first_chunk + i, &m->raw_bytes[i], &unpacked);
        m->unpacked_most = unpacked > m->unpacked_most ? unpacked : m->unpacked_most;
    }
    m->scratch_bytes = (m->unpacked_most + 63) / 64 * 64 +
                       ps_hmatrix_most_leaves(c->file) * (int64_t)sizeof(ps_hmatrix_block);
    return PS_OK;
}

static ps_status measure(device_matrix *m)
{
    const device_matrix_config *c = &m->config;
    m->shape = *c->shape;
    m->shape.leaves += c->first_leaf;
    m->shape.blocks += c->first_leaf;
    m->shape.leaf_count = c->end_leaf - c->first_leaf;
    PS_TRY(PS_ALLOC(&m->chunk_first, c->chunks + 1, "chunks of an H-matrix"));
    for (int64_t i = 0; i <= c->chunks; ++i) {
        int64_t leaf = c->cuts->first[c->first_chunk + i] - c->first_leaf;
        m->chunk_first[i] = leaf < 0 ? 0 : leaf > m->shape.leaf_count ? m->shape.leaf_count : leaf;
    }
    if (c->file) PS_TRY(measure_file(m));
    PS_TRY(PS_ALLOC(&m->marks, ps_product_marks(&m->shape), "tiles of an H-matrix"));
    return ps_product_tables_measure(&m->tables, &m->shape, c->chunks, m->chunk_first, m->marks);
}

static ps_status make_tables(device_matrix *m)
{
    PS_TRY(measure(m));
    PS_TRY(ps_alloc_untouched(&m->tables_memory, ps_product_tables_bytes(&m->tables),
                              "tables of products"));
    ps_product_tables_attach(&m->tables, m->tables_memory);
    ps_product_tables_fill(&m->tables);
    m->work.tables = m->tables;
    return PS_OK;
}

ps_status device_matrix_open(const device_matrix_config *config, device_matrix **out)
{
    device_matrix *m;
    *out = NULL;
    PS_TRY(PS_ALLOC(&m, 1, "an H-matrix on a device"));
    m->config = *config;
    pthread_mutex_init(&m->lock, NULL);
    ps_status status = make_tables(m);
    if (status != PS_OK) device_matrix_close(&m);
    *out = m;
    return status;
}

void device_matrix_close(device_matrix **handle)
{
    device_matrix *m = *handle;
    if (!m) return;
    *handle = NULL;
    ps_device_stream_close(&m->chunks);
    ps_stream_close(&m->stream);
    ps_device_free(m->config.device, m->device_tables);
    ps_device_free(m->config.device, m->vectors);
    for (int i = 0; i < m->scratch_count; ++i) free(m->scratch[i]);
    pthread_mutex_destroy(&m->lock);
    PS_FREE(m->tables_memory, m->marks, m->chunk_first, m->raw_bytes, m);
}

int64_t device_matrix_fixed(const device_matrix *m)
{
    ps_product_device work = m->work;
    return m->tables.device_bytes + ps_product_device_attach(&work, m->config.sides, NULL);
}

int64_t device_matrix_host_fixed(const device_matrix *m)
{
    ps_product_tables tables = m->tables;
    return ps_product_tables_bytes(&tables) + 4 * ps_product_marks(&m->shape);
}

/* ---- chunks ---- */

/* A buffer that no other thread unpacks into; there are as many as there are unpackers. */
static ps_status take_scratch(device_matrix *m, void **out)
{
    pthread_mutex_lock(&m->lock);
    *out = m->scratch_count > 0 ? m->scratch[--m->scratch_count] : NULL;
    pthread_mutex_unlock(&m->lock);
    return *out ? PS_OK : ps_alloc_buffer(out, m->scratch_bytes, "a chunk of an H-matrix");
}

static void leave_scratch(device_matrix *m, void *scratch)
{
    pthread_mutex_lock(&m->lock);
    m->scratch[m->scratch_count++] = scratch;
    pthread_mutex_unlock(&m->lock);
}

static ps_status read_chunk(void *context, int64_t chunk, void *raw)
{
    const device_matrix *m = context;
    return ps_hmatrix_read_raw(m->config.file, m->config.first_chunk + chunk, raw);
}

/* From the file's form into the device's. */
static ps_status unpack_chunk(void *context, int64_t chunk, const void *raw, void *unpacked)
{
    device_matrix *m = context;
    const device_matrix_config *c = &m->config;
    int64_t number = c->first_chunk + chunk;
    int64_t before = c->first_leaf - c->cuts->first[number];
    ps_hmatrix view;
    void *scratch;
    PS_TRY(take_scratch(m, &scratch));
    ps_status status = ps_hmatrix_unpack(c->file, number, raw, scratch);
    if (status == PS_OK) {
        void *blocks = (char *)scratch + (m->unpacked_most + 63) / 64 * 64;
        ps_hmatrix_view(c->file, number, scratch, blocks, &view);
        view.leaves += before > 0 ? before : 0;
        view.blocks += before > 0 ? before : 0;
        ps_product_pack(&m->tables, chunk, &view, unpacked);
    }
    leave_scratch(m, scratch);
    return status;
}

static int choose_unpackers(const device_matrix *m, int64_t host_memory)
{
    int64_t count = ps_processor_count() - SPARE_CORES, room = host_memory / 6 / m->scratch_bytes;
    if (count > UNPACKERS_MAX) count = UNPACKERS_MAX;
    if (count > m->config.chunks) count = m->config.chunks;
    if (count > room) count = room;
    return count > 1 ? (int)count : 1;
}

static ps_status open_stream(device_matrix *m, int64_t host_memory, int64_t device_memory)
{
    int unpackers = choose_unpackers(m, host_memory);
    ps_device_stream_config config = {
        .device = m->config.device,
        .chunk_count = m->config.chunks,
        .raw_bytes = m->raw_bytes,
        .unpacked_bytes = m->tables.chunk_bytes,
        .count = -1,
        .host_memory = host_memory - unpackers * m->scratch_bytes,
        .device_memory = device_memory,
        .batch_bytes =
            device_memory / 4 < batch_bytes || host_memory / 8 < batch_bytes ? 0 : batch_bytes,
        .unpackers = unpackers,
        .readers = READERS,
        .context = m,
        .read = read_chunk,
        .unpack = unpack_chunk,
    };
    return ps_device_stream_open(&config, &m->chunks);
}

ps_status device_matrix_start(device_matrix *m, int64_t host_memory, int64_t device_memory)
{
    ps_device *device = m->config.device;
    int64_t bytes = ps_product_device_attach(&m->work, m->config.sides, NULL);
    PS_TRY(ps_device_alloc(device, m->tables.device_bytes, &m->device_tables));
    PS_TRY(ps_device_alloc(device, bytes, &m->vectors));
    PS_TRY(ps_stream_open(device, &m->stream));
    ps_product_device_attach(&m->work, m->config.sides, m->vectors);
    ps_product_device_tables(&m->work, &m->tables, m->device_tables);
    PS_TRY(
        ps_copy_to_device(m->stream, m->device_tables, m->tables_memory, m->tables.device_bytes));
    if (m->config.images) {
        m->resident = true;
        PS_TRY(device_images_locate(m->config.images, &m->work, m->stream));
        return ps_stream_wait(m->stream);
    }
    ps_status status = open_stream(m, host_memory, device_memory);
    return status == PS_OK ? PS_OK : ps_context(status, "%s", m->config.name);
}

/* ---- products ---- */

static ps_status multiply_batch(void *context, const ps_batch_work *work, ps_stream *stream)
{
    const device_matrix *m = context;
    PS_TRY(ps_product_device_locate(&m->work, work->first, work->count, work->base, stream));
    return m->work.sides == 0 ? PS_OK
                              : ps_product_device_run(&m->work, work->first, work->count, stream);
}

static void tell(device_matrix *m)
{
    ps_device_stream_stats s;
    ps_device_stream_get_stats(m->chunks, &s);
    const ps_device_stream_times *t = &s.loading;
    ps_debug("%s: %.2f GB on the device, %.2f GB in pinned memory, %.2f GB streamed; read %.2f s, "
             "unpacked %.2f s, copied %.2f s, all in %.2f s",
             m->config.name, (double)s.bytes[PS_TIER_DEVICE] / 1e9,
             (double)s.bytes[PS_TIER_HOST] / 1e9, (double)s.bytes[PS_TIER_DISK] / 1e9,
             t->read_seconds, t->unpack_seconds, t->copy_seconds, t->elapsed_seconds);
}

ps_status device_matrix_load(device_matrix *m)
{
    ps_device_stream_stats stats;
    if (m->resident) return PS_OK;
    ps_device_stream_get_stats(m->chunks, &stats);
    if (stats.batches[PS_TIER_HOST] + stats.batches[PS_TIER_DISK] > 0) {
        tell(m);
        return PS_OK;
    }
    m->work.sides = 0;
    PS_TRY(ps_device_stream_sweep(m->chunks, multiply_batch, m, m->stream));
    m->resident = true;
    PS_TRY(ps_stream_wait(m->stream));
    tell(m);
    return PS_OK;
}

ps_status device_matrix_multiply(device_matrix *m, int64_t sides, const double *x)
{
    m->work.sides = sides;
    PS_TRY(
        ps_copy_to_device(m->stream, m->work.x, x, 8 * sides * m->shape.parts * m->shape.columns));
    PS_TRY(ps_product_device_begin(&m->work, m->stream));
    if (m->resident)
        PS_TRY(ps_product_device_run(&m->work, 0, m->config.chunks, m->stream));
    else
        PS_TRY(ps_device_stream_sweep(m->chunks, multiply_batch, m, m->stream));
    return ps_product_device_end(&m->work, m->stream);
}

ps_status device_matrix_fetch(device_matrix *m, double *y)
{
    PS_TRY(ps_copy_to_host(m->stream, y, m->work.y,
                           8 * m->work.sides * m->shape.parts * m->shape.rows));
    return ps_stream_wait(m->stream);
}

ps_status device_matrix_stats(device_matrix *m, ps_device_stream_stats *out)
{
    *out = (ps_device_stream_stats){0};
    if (!m->stream || (!m->config.images && !m->chunks)) return PS_OK; /* it failed to start */
    PS_TRY(ps_stream_wait(m->stream));
    if (m->config.images)
        out->bytes[PS_TIER_DEVICE] = device_images_bytes(m->config.images);
    else
        ps_device_stream_get_stats(m->chunks, out);
    return PS_OK;
}
