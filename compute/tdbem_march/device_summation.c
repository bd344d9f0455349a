#include "compute/tdbem_march/device_symmetric.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/common/reals.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

/* Batches of one size wherever there is room for some, so that bits depend on the budget only where
 * it is small: the order of additions is that of the batches. 2 GB take 0.5 ms to sweep, in which
 * the starts and ends of a batch, where the device is not full, no longer count: batches of 512 MB
 * took a quarter longer. */
static const int64_t whole_batch = (int64_t)2 << 30;
enum { WHOLE_BATCHES_LEAST = 8 };

int64_t device_summation_fixed(const ps_slice_header *header, int64_t group)
{
    int64_t pass = group < PS_GROUP_MAX ? group : PS_GROUP_MAX;
    int64_t item = ps_real_bytes(header->precision);
    return header->unknowns * item * (group + DEVICE_PARTIAL_SUMS * pass);
}

/* ---- batches: their tables ---- */

typedef struct batch {
    ps_slice_batch_plan plan;
    void *table;                /* on the device */
    symmetric_batch *symmetric; /* instead, where tiles stand for their mirror images */
} batch;

ps_status device_summation_scratch(device_summation *s, int64_t bytes)
{
    if (bytes <= s->scratch_bytes) return PS_OK;
    PS_TRY(ps_stream_wait(s->config.stream));
    ps_device_free(s->config.device, s->scratch);
    s->scratch = NULL;
    s->scratch_bytes = 0;
    PS_TRY(ps_device_alloc(s->config.device, bytes, &s->scratch));
    s->scratch_bytes = bytes;
    return PS_OK;
}

static ps_status upload_table(device_summation *s, const ps_slice_batch_tiles *of, batch *out)
{
    PS_SCOPED_MEMORY void *table = NULL;
    int64_t bytes = out->plan.table_bytes;
    PS_TRY(ps_alloc(&table, bytes, 1, "a table of tiles"));
    s->table_bytes += bytes;
    PS_TRY(ps_slice_batch_table(&out->plan, of, table));
    return ps_copy_to_new(s->config.stream, table, bytes, &out->table);
}

static ps_status view_tiles(const device_summation *s, const ps_batch_images *images,
                            ps_block_tile *out)
{
    for (int64_t c = 0; c < images->count; ++c) {
        tile_view view;
        ps_slice_product product = {0};
        PS_TRY(tiles_view(&s->list, images->first + c, images->images[c], &view, &product));
        out[c] = view.blocks;
    }
    return PS_OK;
}

static void forget(void *context, void *own)
{
    device_summation *s = context;
    batch *b = own;
    if (!b) return;
    symmetric_batch_close(s, &b->symmetric);
    s->table_bytes -= b->table ? b->plan.table_bytes : 0;
    ps_device_free(s->config.device, b->table);
    free(b);
}

static ps_status prepare_symmetric(void *context, const ps_batch_images *images, void **own)
{
    device_summation *s = context;
    batch *b;
    PS_TRY(PS_ALLOC(&b, 1, "a batch of tiles"));
    ps_status status = symmetric_batch_open(s, images, &b->symmetric);
    if (status != PS_OK) forget(s, b);
    *own = status == PS_OK ? b : NULL;
    return status;
}

static ps_status prepare(void *context, const ps_batch_images *images, void **own)
{
    device_summation *s = context;
    const ps_block_header *header = ps_block_matrix_header(s->config.share->blocks);
    ps_block_tile *views;
    batch *b = NULL;
    ps_status status;
    PS_TRY(PS_ALLOC(&views, images->count, "the tiles of a batch"));
    PS_GUARD(status, done, PS_ALLOC(&b, 1, "a batch of tiles"));
    PS_GUARD(status, done, view_tiles(s, images, views));
    ps_slice_batch_tiles of = {.count = images->count,
                               .tiles = views,
                               .images = images->images,
                               .offsets = images->offsets};
    PS_GUARD(status, done,
             ps_slice_batch_plan_make(header, s->pass, s->multiprocessors, &of, &b->plan));
    PS_GUARD(status, done, device_summation_scratch(s, SUMMATION_LANES * b->plan.scratch_bytes));
    status = upload_table(s, &of, b);
done:
    free(views);
    if (status != PS_OK) forget(s, b);
    *own = status == PS_OK ? b : NULL;
    return status;
}

/* ---- what the stream asks for: it hands out the whole of its context ---- */

static ps_status read_tile(void *context, int64_t chunk, void *raw)
{
    return tiles_read(&((device_summation *)context)->list, chunk, raw);
}

static ps_status unpack_tile(void *context, int64_t chunk, const void *raw, void *unpacked)
{
    return tiles_unpack(&((device_summation *)context)->list, chunk, raw, unpacked);
}

static const void *placed_tile(void *context, int64_t chunk, const void **host)
{
    return tiles_placed(&((device_summation *)context)->list, chunk, host);
}

/* ---- sweeps ---- */

/* A pass of a batch: multiplied by the lane whose turn it is, added on `stream`; by the CPU device
 * at once. */
static ps_status compute_pass(device_summation *s, const ps_slice_batch_plan *plan,
                              ps_slice_batch_memory *memory, ps_event *copied, ps_stream *stream)
{
    int64_t number = s->turn++ % SUMMATION_LANES;
    if (!ps_stream_handle(stream)) return ps_slice_batch_run(plan, memory, stream);
    const summation_lane *lane = &s->lanes[number];
    memory->scratch = (char *)s->scratch + number * (s->scratch_bytes / SUMMATION_LANES);
    PS_TRY(ps_event_wait(s->start[s->sweeps % 2], lane->stream)); /* the past is there */
    PS_TRY(ps_event_wait(copied, lane->stream));
    PS_TRY(ps_event_wait(lane->added, lane->stream));
    PS_TRY(ps_slice_batch_multiply(plan, memory, lane->stream));
    PS_TRY(ps_event_record(lane->multiplied, lane->stream));
    PS_TRY(ps_event_wait(lane->multiplied, stream));
    PS_TRY(ps_slice_batch_add(plan, memory, stream));
    return ps_event_record(lane->added, stream);
}

static ps_status compute(void *context, const ps_batch_work *work, ps_stream *stream)
{
    device_summation *s = context;
    const batch *b = work->own;
    if (b->symmetric) return symmetric_batch_compute(s, b->symmetric, work->base, stream);
    const ps_past_window *w = s->config.window;
    for (int64_t pass = 0; pass < s->config.group; pass += s->pass) {
        ps_slice_batch_memory memory = {
            .table = b->table,
            .base = work->base,
            .past = w->data,
            .past_stride = w->stride,
            .past_origin = w->origin + pass,
            .sums = (char *)s->sums + pass * ps_real_bytes(w->precision),
            .sums_stride = s->config.group,
        };
        PS_TRY(compute_pass(s, &b->plan, &memory, work->copied, stream));
    }
    return PS_OK;
}

ps_status device_summation_sweep(device_summation *s)
{
    const ps_past_window *w = s->config.window;
    ps_stream *stream = s->config.stream;
    int pair = (int)(s->sweeps % 2);
    PS_TRY(ps_event_record(s->start[pair], stream));
    PS_TRY(
        ps_fill_zero(stream, s->sums, w->unknowns * s->config.group * ps_real_bytes(w->precision)));
    if (s->held) PS_TRY(symmetric_batch_compute(s, s->held, NULL, stream));
    if (s->tiles) PS_TRY(ps_device_stream_sweep(s->tiles, compute, s, stream));
    PS_TRY(ps_event_record(s->end[pair], stream));
    s->loads[pair] = s->reset;
    s->reset = false;
    ++s->sweeps;
    return PS_OK;
}

ps_status device_summation_move(device_summation *s, int64_t first, int64_t count)
{
    if (first == s->config.first && count == s->config.count) return PS_OK;
    if (s->held) return ps_fail(PS_FAILED, "a device keeps the tiles that it holds");
    s->config.first = first;
    s->config.count = count;
    s->reset = true;
    return ps_device_stream_reset(s->tiles, first, count);
}

ps_status device_summation_seconds(const device_summation *s, int64_t sweep, double *out,
                                   bool *loads)
{
    *loads = s->loads[sweep % 2];
    return ps_event_seconds(s->start[sweep % 2], s->end[sweep % 2], out);
}

/* ---- opening ---- */

/* The largest number of steps for one kernel, so that whole passes make the group. */
static int64_t pass_of(int64_t group)
{
    int64_t pass = group < PS_GROUP_MAX ? group : PS_GROUP_MAX;
    while (group % pass != 0) --pass;
    return pass;
}

int64_t device_summation_batch(int64_t device_memory, int64_t host_memory)
{
    int64_t least = WHOLE_BATCHES_LEAST * whole_batch;
    return device_memory >= least && host_memory >= least ? whole_batch : 0;
}

static ps_status open_lanes(device_summation *s)
{
    for (int l = 0; l < SUMMATION_LANES; ++l) {
        summation_lane *lane = &s->lanes[l];
        PS_TRY(ps_stream_open(s->config.device, &lane->stream));
        PS_TRY(ps_event_open(s->config.device, &lane->multiplied));
        PS_TRY(ps_event_open(s->config.device, &lane->added));
        PS_TRY(ps_event_record(lane->added, s->config.stream));
    }
    return PS_OK;
}

static void close_lanes(device_summation *s)
{
    for (int l = 0; l < SUMMATION_LANES; ++l) {
        ps_event_close(&s->lanes[l].multiplied);
        ps_event_close(&s->lanes[l].added);
        ps_stream_close(&s->lanes[l].stream);
    }
}

static ps_status open_stream(device_summation *s)
{
    const device_summation_config *c = &s->config;
    PS_TRY(open_lanes(s));
    ps_device_stream_config config = {
        .device = c->device,
        .chunk_count = c->share->count,
        .raw_bytes = c->share->raw_bytes,
        .unpacked_bytes = c->share->unpacked_bytes,
        .first = c->first,
        .count = c->count,
        .host_memory = c->host_memory,
        .device_memory = c->device_memory,
        .batch_bytes = device_summation_batch(c->device_memory, c->host_memory),
        .context = s,
        .read = read_tile,
        .unpack = unpack_tile,
        .placed = c->share->placed ? placed_tile : NULL,
        .prepare = c->share->both ? prepare_symmetric : prepare,
        .forget = forget,
    };
    return ps_device_stream_open(&config, &s->tiles);
}

ps_status device_summation_open(const device_summation_config *config, device_summation *out)
{
    memset(out, 0, sizeof *out);
    const ps_slice_header *header = &config->share->header;
    if (!config->share->blocks)
        return ps_fail(PS_USAGE, "GPUs take blocks, and this is a slice matrix: make blocks with "
                                 "penstock-slice-block --layout warp, or give --device cpu");
    out->config = *config;
    out->list = (tile_list){config->share, NULL};
    out->pass = pass_of(config->group);
    out->multiprocessors = ps_device_describe(config->device).multiprocessors;
    out->reset = true;
    PS_TRY(ps_device_alloc(config->device,
                           header->unknowns * config->group * ps_real_bytes(header->precision),
                           &out->sums));
    for (int e = 0; e < 2; ++e) {
        PS_TRY(ps_event_open(config->device, &out->start[e]));
        PS_TRY(ps_event_open(config->device, &out->end[e]));
    }
    if (config->share->count == 0) return PS_OK;
    if (config->share->held)
        return symmetric_batch_held(out, config->first, config->count, &out->held);
    return open_stream(out);
}

void device_summation_close(device_summation *s)
{
    if (!s->config.device) return;
    ps_device_stream_close(&s->tiles);
    close_lanes(s);
    symmetric_batch_close(s, &s->held);
    ps_device_free(s->config.device, s->sums);
    ps_device_free(s->config.device, s->scratch);
    for (int e = 0; e < 2; ++e) {
        ps_event_close(&s->start[e]);
        ps_event_close(&s->end[e]);
    }
    memset(s, 0, sizeof *s);
}
