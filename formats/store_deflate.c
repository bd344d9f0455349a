/* store_deflate: chunks as zlib streams, which every HDF5 reads (specs/store.md). */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "formats/store_private.h"
#include "runtime/memory.h"

/* How a plane of bytes is deflated. */
typedef enum plane_way { STORED, RUNS, LIGHT, HARD } plane_way;

static const struct {
    int level, strategy;
} ways[] = {[STORED] = {0, Z_DEFAULT_STRATEGY},
            [RUNS] = {1, Z_RLE},
            [LIGHT] = {1, Z_DEFAULT_STRATEGY},
            [HARD] = {6, Z_DEFAULT_STRATEGY}};

enum { SAMPLE = 1 << 13, SPOTS = 4, MEMORY = 8, WINDOW = 15 };

ps_status ps_deflate_open(void **out)
{
    z_stream *stream;
    PS_TRY(PS_ALLOC(&stream, 1, "compression"));
    if (deflateInit2(stream, ways[LIGHT].level, Z_DEFLATED, WINDOW, MEMORY, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
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

/* The size of a sample, some bytes from SPOTS places of a plane, deflated in a way: `some` where it
 * would not be 3 % shorter. */
static int64_t try_way(z_stream *z, plane_way way, const uint8_t *plane, int64_t bytes,
                       int64_t some, uint8_t *room)
{
    const int64_t spot = some / SPOTS;
    int done = Z_OK;
    if (deflateReset(z) != Z_OK || deflateParams(z, ways[way].level, ways[way].strategy) != Z_OK)
        return some;
    z->next_out = room;
    z->avail_out = (uInt)(some * 97 / 100);
    for (int s = 0; s < SPOTS && done == Z_OK; ++s) {
        const int last = s == SPOTS - 1;
        z->next_in = (uint8_t *)plane + (bytes - spot) * s / (SPOTS - 1);
        z->avail_in = (uInt)spot;
        done = deflate(z, last ? Z_FINISH : Z_NO_FLUSH);
    }
    return done == Z_STREAM_END ? (int64_t)z->total_out : some;
}

/* Whether a plane repeats itself within deflate's window at distances that no sample spans, as rows
 * of a field do that is its own mirror image, or periodic: by a window from its middle. Of all
 * places one in ANCHORS is looked at, chosen by the bytes there, so that what is repeated has the
 * same ones; runs are no repetition. */
static bool is_repetitive(const uint8_t *plane, int64_t bytes)
{
    enum { REACH = 1 << WINDOW, ANCHORS = 32, BUCKETS = 1 << 12, LENGTH = 16 };
    uint16_t last[BUCKETS] = {0}; /* 1 + the place */
    int anchors = 0, repeated = 0;
    if (bytes > REACH) plane += (bytes - REACH) / 2;
    for (int i = 0; i + LENGTH <= (bytes < REACH ? bytes : REACH); ++i) {
        uint64_t here;
        memcpy(&here, plane + i, sizeof here);
        uint64_t hash = here * UINT64_C(0x9e3779b97f4a7c15);
        if (hash >> 32 & (ANCHORS - 1) || here == (here << 8 | here >> 56)) continue;
        uint16_t *place = &last[hash >> 37 & (BUCKETS - 1)];
        repeated += *place && memcmp(plane + i, plane + *place - 1, LENGTH) == 0;
        ++anchors;
        *place = (uint16_t)(i + 1);
    }
    return anchors >= REACH / ANCHORS / 16 && repeated > anchors / 4;
}

/* What a plane is worth. The low bytes of most numbers do not get shorter, and trying costs ten
 * times what storing them does. Of the high bytes of irregular numbers few are frequent, but hardly
 * any three follow each other again: looking for such matches takes two to ten times as long as
 * Huffman's code alone, which RUNS adds nothing but runs to, and gains less than a fiftieth. */
static plane_way way_of(z_stream *z, const uint8_t *plane, int64_t bytes, uint8_t *room)
{
    int64_t some = bytes / 64 > SAMPLE ? bytes / 64 : bytes < SAMPLE ? bytes : SAMPLE;
    some -= some % SPOTS;
    if (some == 0) return LIGHT;
    if (bytes > some && is_repetitive(plane, bytes)) return HARD;
    int64_t runs = try_way(z, RUNS, plane, bytes, some, room),
            matches = try_way(z, LIGHT, plane, bytes, some, room);
    if (runs >= some && matches >= some) return STORED;
    if (runs <= matches + some / 50) return RUNS;
    return matches < some / 4 ? HARD : LIGHT;
}

int64_t ps_deflate(void *stream, const uint8_t *planes, int64_t bytes, int count, uint8_t *out,
                   int64_t capacity)
{
    z_stream *z = stream;
    const int64_t plane = bytes / count;
    plane_way way[8];
    bool any = false;
    for (int b = 0; b < count; ++b) {
        way[b] = way_of(z, planes + b * plane, plane, out);
        any = any || way[b] != STORED;
    }
    if (!any || deflateReset(z) != Z_OK) return 0;
    z->next_out = out;
    z->avail_out = (uInt)capacity;
    z->avail_in = 0;
    for (int b = 0; b < count; ++b) {
        if (deflateParams(z, ways[way[b]].level, ways[way[b]].strategy) != Z_OK) return 0;
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
