/* store_deflate: chunks as zlib streams, which every HDF5 reads (specs/store.md). */
#include <stdlib.h>
#include <zlib.h>

#include "formats/store_private.h"
#include "runtime/memory.h"

/* Of planes that hardly get shorter, and of those that get much shorter, which is fast anyway. */
enum { LIGHT = 1, HARD = 6, SAMPLE = 1 << 14, MEMORY = 8, WINDOW = 15 };

ps_status ps_deflate_open(void **out)
{
    z_stream *stream;
    PS_TRY(PS_ALLOC(&stream, 1, "compression"));
    if (deflateInit2(stream, LIGHT, Z_DEFLATED, WINDOW, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK) {
        free(stream);
        return ps_fail(PS_EXHAUSTED, "no memory for compression");
    }
    *out = stream;
    return PS_OK;
}

void ps_deflate_close(void *stream)
{
    if (stream) deflateEnd(stream);
    free(stream);
}

/* The level that a plane of bytes is worth, by its beginning; 0: it is stored. The low bytes of
 * most numbers do not get shorter, and trying costs ten times what storing them does. */
static int level_of(z_stream *z, const uint8_t *plane, int64_t bytes, uint8_t *room)
{
    int64_t some = bytes / 8 > SAMPLE ? bytes / 8 : bytes < SAMPLE ? bytes : SAMPLE;
    if (deflateReset(z) != Z_OK || deflateParams(z, LIGHT, Z_DEFAULT_STRATEGY) != Z_OK)
        return LIGHT;
    z->next_in = (uint8_t *)plane;
    z->avail_in = (uInt)some;
    z->next_out = room;
    z->avail_out = (uInt)(some * 97 / 100);
    if (deflate(z, Z_FINISH) != Z_STREAM_END) return 0;
    return (int64_t)z->total_out < some / 4 ? HARD : LIGHT;
}

int64_t ps_deflate(void *stream, const uint8_t *planes, int64_t bytes, int count, uint8_t *out,
                   int64_t capacity)
{
    z_stream *z = stream;
    const int64_t plane = bytes / count;
    int level[8], any = 0;
    for (int b = 0; b < count; ++b) any |= level[b] = level_of(z, planes + b * plane, plane, out);
    if (!any || deflateReset(z) != Z_OK) return 0;
    z->next_out = out;
    z->avail_out = (uInt)capacity;
    z->avail_in = 0;
    for (int b = 0; b < count; ++b) {
        if (deflateParams(z, level[b], Z_DEFAULT_STRATEGY) != Z_OK) return 0;
        z->next_in = (uint8_t *)planes + b * plane;
        z->avail_in = (uInt)plane;
        int done = deflate(z, b + 1 < count ? Z_NO_FLUSH : Z_FINISH);
        if (done != (b + 1 < count ? Z_OK : Z_STREAM_END) || z->avail_in > 0) return 0;
    }
    return (int64_t)z->total_out;
}

ps_status ps_inflate(const void *stored, int64_t stored_bytes, uint8_t *out, int64_t bytes)
{
    uLongf size = (uLongf)bytes;
    uLong used = (uLong)stored_bytes;
    int done = uncompress2(out, &size, stored, &used);
    if (done == Z_MEM_ERROR) return ps_fail(PS_EXHAUSTED, "no memory for decompression");
    if (done != Z_OK) return ps_fail(PS_INVALID, "it does not decompress: %s", zError(done));
    if (size != (uLongf)bytes || used != (uLong)stored_bytes)
        return ps_fail(PS_INVALID, "it holds %lld bytes, expected %lld", (long long)size,
                       (long long)bytes);
    return PS_OK;
}
