#include "compute/tdbem_march/held.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/memory.h"

enum { HELD_ALIGN = 256 };

struct held_tiles {
    ps_device *device;
    ps_stream *stream; /* of the copies */
    char *base;
    int64_t capacity, used, count;
    ps_symmetric_tile *tiles; /* [count] */
    uint16_t **widths;        /* [count] */
    pthread_mutex_t lock;     /* guards used and the stream */
};

ps_status held_open(int ordinal, int64_t bytes, int64_t count, held_tiles **out)
{
    held_tiles *h;
    *out = NULL;
    PS_TRY(PS_ALLOC(&h, 1, "the tiles of a device"));
    pthread_mutex_init(&h->lock, NULL);
    h->capacity = bytes;
    h->count = count;
    ps_status status = PS_ALLOC(&h->tiles, count, "the tiles of a device");
    if (status == PS_OK) status = PS_ALLOC(&h->widths, count, "the tiles of a device");
    if (status == PS_OK) status = ps_device_open_ordinal(ordinal, &h->device);
    if (status == PS_OK) status = ps_stream_open(h->device, &h->stream);
    if (status == PS_OK) status = ps_device_alloc(h->device, bytes, (void **)&h->base);
    if (status != PS_OK) held_close(&h);
    *out = h;
    return status;
}

void held_close(held_tiles **out)
{
    held_tiles *h = *out;
    *out = NULL;
    if (!h) return;
    for (int64_t t = 0; h->widths && t < h->count; ++t) free(h->widths[t]);
    PS_FREE(h->widths, h->tiles);
    if (h->device) ps_device_free(h->device, h->base);
    ps_stream_close(&h->stream);
    ps_device_close(&h->device);
    pthread_mutex_destroy(&h->lock);
    free(h);
}

int64_t held_capacity(const held_tiles *h) { return h ? h->capacity : 0; }
int64_t held_bytes(const held_tiles *h) { return h->used; }
const void *held_base(const held_tiles *h) { return h->base; }

static ps_status copy(held_tiles *h, const void *image, int64_t bytes, int64_t *at)
{
    if (h->used + bytes > h->capacity)
        return ps_fail(PS_EXHAUSTED,
                       "the device's %.1f MB for tiles are full: they are larger than planned; "
                       "give --values f16, or a file of the matrix, which is streamed",
                       (double)h->capacity / 1e6);
    *at = h->used;
    h->used += (bytes + HELD_ALIGN - 1) / HELD_ALIGN * HELD_ALIGN;
    PS_TRY(ps_copy_to_device(h->stream, h->base + *at, image, bytes));
    return ps_stream_wait(h->stream);
}

ps_status held_take(held_tiles *h, int64_t index, const ps_block_header *header,
                    const ps_block_tile *tile, const void *image)
{
    ps_block_tile view = *tile;
    int64_t bytes = ps_block_tile_place(header, &view, (void *)image), at = 0;
    int64_t warps = ps_block_tile_warps(tile) * tile->slices;
    PS_TRY(PS_ALLOC(&h->widths[index], warps, "the widths of a tile"));
    memcpy(h->widths[index], view.widths, (size_t)warps * sizeof *view.widths);
    pthread_mutex_lock(&h->lock);
    ps_status status = copy(h, image, bytes, &at);
    pthread_mutex_unlock(&h->lock);
    h->tiles[index] = ps_symmetric_tile_at(&view, image, at, false);
    h->tiles[index].host_widths = h->widths[index];
    return status;
}

ps_symmetric_tile held_tile(const held_tiles *h, int64_t index, bool both)
{
    ps_symmetric_tile tile = h->tiles[index];
    tile.both = both;
    return tile;
}
