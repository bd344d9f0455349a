#include "compute/tdbem_march/placed.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/memory.h"
#include "runtime/scope.h"
#include "runtime/sizes.h"

enum { ALIGN = 256, BUFFERS_A_THREAD = 2, PIECES = 256 };
/* What tiles beyond the expected bytes are given at a time, at most. */
static const int64_t piece_bytes = (int64_t)1 << 30;

/* Pinned memory in which a tile is made, and the copy from it. */
typedef struct buffer {
    char *image;
    ps_event *copied;
} buffer;

/* Values of lags below the group: widths [warps * slices], then the values, in one piece. */
typedef struct near_part {
    uint16_t *widths;
    void *values;
    int64_t value_count, bytes;
} near_part;

struct placed {
    placed_config config;
    const ps_block_header *header;
    ps_device *device;
    ps_stream *stream;
    pthread_mutex_t
        lock; /* guards pieces, the ring of buffers, and the stream where tiles are fetched */
    pthread_cond_t given_back;
    char *pieces[PIECES];
    int piece_count;
    int64_t used, room;               /* of the last piece */
    int64_t device_bytes, host_bytes; /* of all pieces; of what stays on the host */
    char *arena;                      /* of the buffers */
    buffer *buffers;
    int buffer_count, *ring, ring_first, ring_count; /* buffers that are free, once copied */
    char **images;                                   /* [tiles] on the device */
    near_part *near;                                 /* [tiles] */
};

/* ---- device memory ---- */

static ps_status add_piece(placed *p, int64_t bytes)
{
    void *memory;
    if (p->piece_count == PIECES)
        return ps_fail(PS_EXHAUSTED, "the blocks take far more device memory than expected");
    PS_TRY(ps_device_alloc(p->device, bytes, &memory));
    p->pieces[p->piece_count++] = memory;
    p->device_bytes += bytes;
    p->used = 0;
    p->room = bytes;
    return PS_OK;
}

/* Lock held. */
static ps_status take_place(placed *p, int64_t bytes, char **out)
{
    int64_t padded = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    if (p->used + padded > p->room) PS_TRY(add_piece(p, ps_larger(padded, piece_bytes)));
    *out = p->pieces[p->piece_count - 1] + p->used;
    p->used += padded;
    return PS_OK;
}

/* ---- buffers: the one whose copy began first comes first ---- */

static int take_buffer(placed *p)
{
    pthread_mutex_lock(&p->lock);
    while (p->ring_count == 0) pthread_cond_wait(&p->given_back, &p->lock);
    int b = p->ring[p->ring_first];
    p->ring_first = (p->ring_first + 1) % p->buffer_count;
    --p->ring_count;
    pthread_mutex_unlock(&p->lock);
    return b;
}

/* Lock held. */
static void give_back(placed *p, int b)
{
    p->ring[(p->ring_first + p->ring_count++) % p->buffer_count] = b;
    pthread_cond_signal(&p->given_back);
}

static ps_status open_buffers(placed *p)
{
    int64_t each = (p->config.image_bytes + ALIGN - 1) / ALIGN * ALIGN;
    p->buffer_count = BUFFERS_A_THREAD * p->config.threads;
    PS_TRY(PS_ALLOC(&p->buffers, p->buffer_count, "placing blocks"));
    PS_TRY(PS_ALLOC(&p->ring, p->buffer_count, "placing blocks"));
    PS_TRY(ps_device_alloc_pinned(p->device, p->buffer_count * each, (void **)&p->arena));
    for (int b = 0; b < p->buffer_count; ++b) {
        p->buffers[b].image = p->arena + b * each;
        PS_TRY(ps_event_open(p->device, &p->buffers[b].copied));
        PS_TRY(ps_event_record(p->buffers[b].copied, p->stream));
        give_back(p, b);
    }
    return PS_OK;
}

static void close_buffers(placed *p)
{
    for (int b = 0; p->buffers && b < p->buffer_count; ++b) ps_event_close(&p->buffers[b].copied);
    if (p->arena) ps_device_free_pinned(p->device, p->arena);
    PS_FREE(p->buffers, p->ring);
    p->arena = NULL;
    p->buffers = NULL;
    p->ring = NULL;
    p->buffer_count = 0;
}

/* ---- what stays on the host ---- */

/* Columns of a vector that reach lags below the group: those of its earliest row. */
static int64_t near_width(const placed *p, const ps_block_tile *tile, int64_t vector)
{
    const uint16_t *starts = tile->starts + vector * PS_WARP_ROWS;
    int64_t earliest = starts[0], width = tile->widths[vector];
    for (int64_t lane = 1; lane < PS_WARP_ROWS; ++lane)
        earliest = ps_smaller(earliest, starts[lane]);
    return ps_larger(0, ps_smaller(width, p->config.group - earliest));
}

/* Values lie column by column: a vector's first columns are its beginning. */
static ps_status keep_near(const placed *p, const ps_block_tile *tile, near_part *out)
{
    int64_t vectors = ps_block_tile_warps(tile) * tile->slices, count = 0, at = 0, from = 0;
    int64_t item = ps_block_tile_value_bytes(p->header) * PS_WARP_ROWS;
    if (tile->value_count == 0 || tile->k_min >= (double)p->config.group) return PS_OK;
    for (int64_t v = 0; v < vectors; ++v) count += near_width(p, tile, v);
    int64_t head = (2 * vectors + ALIGN - 1) / ALIGN * ALIGN;
    PS_TRY(ps_alloc_untouched((void **)&out->widths, head + count * item, "the near blocks"));
    out->values = (char *)out->widths + head;
    out->value_count = count * PS_WARP_ROWS;
    out->bytes = ps_padded(head + count * item);
    for (int64_t v = 0; v < vectors; ++v) {
        int64_t width = near_width(p, tile, v);
        out->widths[v] = (uint16_t)width;
        memcpy((char *)out->values + at * item, (const char *)tile->values + from * item,
               (size_t)(width * item));
        at += width;
        from += tile->widths[v];
    }
    return PS_OK;
}

/* The index arrays, where they lie in the image. */
static ps_status copy_index(const ps_block_tile *tile, const char *image, int64_t bytes, void **out)
{
    PS_TRY(ps_alloc_untouched(out, bytes, "the index of a tile"));
    memcpy(*out, image, (size_t)bytes);
    return PS_OK;
}

/* ---- the keeper ---- */

static ps_status provide(void *context, int64_t bytes, void **image)
{
    placed *p = context;
    if (bytes > p->config.image_bytes)
        return ps_fail(PS_FAILED, "internal error: a tile of %lld bytes, of %lld at most",
                       (long long)bytes, (long long)p->config.image_bytes);
    int b = take_buffer(p);
    *image = p->buffers[b].image;
    ps_status status = ps_event_sync(p->buffers[b].copied);
    if (status == PS_OK) return PS_OK;
    pthread_mutex_lock(&p->lock);
    give_back(p, b);
    pthread_mutex_unlock(&p->lock);
    return status;
}

static int buffer_of(const placed *p, const void *image)
{
    return (int)(((const char *)image - p->arena) / (p->buffers[1].image - p->buffers[0].image));
}

static ps_status send(placed *p, int64_t index, const void *image, int64_t bytes)
{
    const buffer *b = &p->buffers[buffer_of(p, image)];
    PS_TRY(take_place(p, bytes, &p->images[index]));
    PS_TRY(ps_copy_to_device(p->stream, p->images[index], image, bytes));
    return ps_event_record(b->copied, p->stream);
}

static ps_status keep(void *context, ps_block_matrix *matrix, int64_t index,
                      const ps_block_tile *tile, void *image, int64_t bytes)
{
    placed *p = context;
    void *own = NULL;
    int64_t index_bytes = (const char *)tile->values - (const char *)image;
    ps_status status = keep_near(p, tile, &p->near[index]);
    if (status == PS_OK) status = copy_index(tile, image, index_bytes, &own);
    pthread_mutex_lock(&p->lock);
    p->host_bytes += ps_padded(index_bytes) + p->near[index].bytes;
    if (status == PS_OK) status = send(p, index, image, bytes);
    give_back(p, buffer_of(p, image));
    pthread_mutex_unlock(&p->lock);
    if (status == PS_OK) return ps_block_matrix_keep_tile(matrix, index, tile, own);
    free(own);
    return status;
}

ps_block_keeper placed_keeper(placed *p)
{
    return (ps_block_keeper){.context = p, .provide = provide, .keep = keep};
}

/* ---- opening ---- */

static ps_status open_device(placed *p)
{
    PS_TRY(ps_device_open_ordinal(p->config.ordinal, &p->device));
    PS_TRY(ps_stream_open(p->device, &p->stream));
    PS_TRY(add_piece(p, p->config.bytes));
    PS_TRY(PS_ALLOC(&p->images, p->config.tiles, "placing blocks"));
    PS_TRY(PS_ALLOC(&p->near, p->config.tiles, "placing blocks"));
    return open_buffers(p);
}

ps_status placed_open(const placed_config *config, const ps_block_header *header, placed **out)
{
    PS_TRY(PS_ALLOC(out, 1, "placing blocks"));
    placed *p = *out;
    p->config = *config;
    p->header = header;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->given_back, NULL);
    ps_status status = open_device(p);
    if (status != PS_OK) placed_close(out);
    return status;
}

ps_status placed_settle(placed *p)
{
    ps_status status = ps_stream_wait(p->stream);
    close_buffers(p);
    return status;
}

void placed_close(placed **out)
{
    placed *p = *out;
    *out = NULL;
    if (!p) return;
    if (p->stream) ps_stream_wait(p->stream);
    close_buffers(p);
    for (int n = 0; n < p->piece_count; ++n) ps_device_free(p->device, p->pieces[n]);
    for (int64_t t = 0; p->near && t < p->config.tiles; ++t) free(p->near[t].widths);
    ps_stream_close(&p->stream);
    ps_device_close(&p->device);
    pthread_cond_destroy(&p->given_back);
    pthread_mutex_destroy(&p->lock);
    PS_FREE(p->images, p->near, p);
}

int64_t placed_device_bytes(const placed *p) { return p ? p->device_bytes : 0; }
int64_t placed_host_bytes(const placed *p) { return p->host_bytes; }

/* ---- reading ---- */

const void *placed_image(const placed *p, int64_t tile) { return p->images[tile]; }

ps_status placed_fetch(placed *p, int64_t tile, void *unpacked, int64_t bytes)
{
    pthread_mutex_lock(&p->lock);
    ps_status status = ps_copy_to_host(p->stream, unpacked, p->images[tile], bytes);
    if (status == PS_OK) status = ps_stream_wait(p->stream);
    pthread_mutex_unlock(&p->lock);
    return status;
}

void placed_near(const placed *p, int64_t tile, ps_block_tile *out)
{
    const near_part *near = &p->near[tile];
    out->widths = near->widths;
    out->values = near->values;
    out->value_count = near->value_count;
}
