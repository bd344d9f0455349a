/* store_codec: from values to stored bytes and back; runs in many threads at a time. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "formats/h5zstd.h"
#include "formats/store_memory.h"
#include "formats/store_private.h"
#include "runtime/memory.h"

/* ---- scratch ---- */

void ps_scratch_pool_init(ps_scratch_pool *pool)
{
    pthread_mutex_init(&pool->mutex, NULL);
    pool->idle = NULL;
}

static void scratch_free(ps_scratch *scratch)
{
    if (!scratch) return;
    free(scratch->a);
    free(scratch->b);
    ZSTD_freeCCtx(scratch->compressor);
    ZSTD_freeDCtx(scratch->decompressor);
    ps_deflate_close(scratch->deflater);
    free(scratch);
}

void ps_scratch_pool_release(ps_scratch_pool *pool)
{
    while (pool->idle) {
        ps_scratch *next = pool->idle->next;
        scratch_free(pool->idle);
        pool->idle = next;
    }
    pthread_mutex_destroy(&pool->mutex);
}

static ps_status scratch_new(ps_scratch **out)
{
    ps_scratch *scratch;
    PS_TRY(PS_ALLOC(&scratch, 1, "compression"));
    ZSTD_CCtx *context = scratch->compressor = ZSTD_createCCtx();
    scratch->decompressor = ZSTD_createDCtx();
    if (!context || !scratch->decompressor ||
        ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, PS_H5ZSTD_LEVEL)) ||
        ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1))) {
        scratch_free(scratch);
        return ps_fail(PS_EXHAUSTED, "no memory for compression");
    }
    *out = scratch;
    return PS_OK;
}

ps_status ps_scratch_take(ps_scratch_pool *pool, ps_scratch **out)
{
    pthread_mutex_lock(&pool->mutex);
    *out = pool->idle;
    if (*out) pool->idle = (*out)->next;
    pthread_mutex_unlock(&pool->mutex);
    return *out ? PS_OK : scratch_new(out);
}

void ps_scratch_give(ps_scratch_pool *pool, ps_scratch *scratch)
{
    if (!scratch) return;
    pthread_mutex_lock(&pool->mutex);
    scratch->next = pool->idle;
    pool->idle = scratch;
    pthread_mutex_unlock(&pool->mutex);
}

enum { READING_CONTEXT = 100 << 10, WRITING_CONTEXT = 600 << 10 };

/* Both buffers, as ps_codec_encode asks for them, and zstd's contexts at this level. */
int64_t ps_store_writer_bytes(int64_t chunk_bytes)
{
    return 2 * chunk_bytes + READING_CONTEXT +
           (chunk_bytes < WRITING_CONTEXT ? chunk_bytes : WRITING_CONTEXT);
}

/* A chunk as it is stored, and one that is not yet in order. */
int64_t ps_store_reader_bytes(const ps_store *store)
{
    int64_t raw = 0, stored = 0, part = 0;
    for (int d = 0; d < store->count; ++d) {
        const ps_store_dataset_state *dataset = &store->datasets[d];
        for (int64_t c = 0; dataset->chunks && c < dataset->info.chunk_count; ++c) {
            const ps_chunk_info *info = &dataset->chunks[c];
            if (info->raw_bytes > raw) raw = info->raw_bytes;
            if (info->stored_bytes > stored) stored = info->stored_bytes;
        }
    }
    for (int p = 0; p < store->parts; ++p) {
        int64_t own = ps_store_reader_bytes(store->part[p]);
        part = own > part ? own : part;
    }
    raw += stored + READING_CONTEXT;
    return raw > part ? raw : part;
}

ps_status ps_scratch_need(uint8_t **buffer, int64_t *size, int64_t needed)
{
    if (needed <= *size) return PS_OK;
    free(*buffer); /* no copy, and no more than needed */
    *buffer = NULL;
    *size = 0;
    return ps_grow((void **)buffer, size, needed, 1, "chunk buffers");
}

/* ---- rounding of mantissas ---- */

/* To nearest, ties to even, in the integer that holds the number; a carry runs on into the
 * exponent as it should. What would round to infinity is cut off instead; NaN and infinity
 * stay as they are. */
static uint64_t round_bits(uint64_t bits, int drop, uint64_t exponent_mask)
{
    if ((bits & exponent_mask) == exponent_mask) return bits;
    uint64_t keep = ~(((uint64_t)1 << drop) - 1);
    uint64_t rounded = (bits + ((uint64_t)1 << (drop - 1)) - 1 + (bits >> drop & 1)) & keep;
    return (rounded & exponent_mask) == exponent_mask ? bits & keep : rounded;
}

static void round_values(const ps_codec *codec, const void *data, int64_t count, uint8_t *out)
{
    const uint8_t *in = data;
    if (codec->type == PS_F32) {
        for (int64_t i = 0; i < count; ++i) {
            uint32_t bits;
            memcpy(&bits, in + 4 * i, 4);
            bits = (uint32_t)round_bits(bits, 23 - codec->keep_bits, 0x7f800000u);
            memcpy(out + 4 * i, &bits, 4);
        }
    } else {
        for (int64_t i = 0; i < count; ++i) {
            uint64_t bits;
            memcpy(&bits, in + 8 * i, 8);
            bits = round_bits(bits, 52 - codec->keep_bits, 0x7ff0000000000000u);
            memcpy(out + 8 * i, &bits, 8);
        }
    }
}

/* ---- shuffling: byte b of value i goes to plane b, place i ---- */

typedef uint16_t __attribute__((aligned(1), may_alias)) u16_any;
typedef uint32_t __attribute__((aligned(1), may_alias)) u32_any;
typedef uint64_t __attribute__((aligned(1), may_alias)) u64_any;

enum { HALVES = 512 };

static void shuffle2(const u16_any *restrict in, int64_t count, int64_t plane,
                     uint8_t *restrict out)
{
    for (int64_t i = 0; i < count; ++i) {
        out[i] = (uint8_t)in[i];
        out[plane + i] = (uint8_t)(in[i] >> 8);
    }
}

static void shuffle4(const u32_any *restrict in, int64_t count, int64_t plane,
                     uint8_t *restrict out)
{
    for (int64_t i = 0; i < count; ++i) {
        out[i] = (uint8_t)in[i];
        out[plane + i] = (uint8_t)(in[i] >> 8);
        out[2 * plane + i] = (uint8_t)(in[i] >> 16);
        out[3 * plane + i] = (uint8_t)(in[i] >> 24);
    }
}

/* In blocks, as low and high halves: narrowing 64 bits to 8 at once is slow. */
static void shuffle8(const u64_any *restrict in, int64_t count, int64_t plane,
                     uint8_t *restrict out)
{
    uint32_t low[HALVES], high[HALVES];
    for (int64_t first = 0; first < count; first += HALVES) {
        int64_t n = count - first < HALVES ? count - first : HALVES;
        for (int64_t i = 0; i < n; ++i) {
            low[i] = (uint32_t)in[first + i];
            high[i] = (uint32_t)(in[first + i] >> 32);
        }
        shuffle4(low, n, plane, out + first);
        shuffle4(high, n, plane, out + 4 * plane + first);
    }
}

static void unshuffle2(const uint8_t *restrict in, int64_t count, int64_t plane,
                       u16_any *restrict out)
{
    for (int64_t i = 0; i < count; ++i) out[i] = (uint16_t)(in[i] | in[plane + i] << 8);
}

static void unshuffle4(const uint8_t *restrict in, int64_t count, int64_t plane,
                       u32_any *restrict out)
{
    const uint8_t *p1 = in + plane, *p2 = p1 + plane, *p3 = p2 + plane;
    for (int64_t i = 0; i < count; ++i)
        out[i] =
            (uint32_t)in[i] | (uint32_t)p1[i] << 8 | (uint32_t)p2[i] << 16 | (uint32_t)p3[i] << 24;
}

static void unshuffle8(const uint8_t *restrict in, int64_t count, int64_t plane,
                       u64_any *restrict out)
{
    uint32_t low[HALVES], high[HALVES];
    for (int64_t first = 0; first < count; first += HALVES) {
        int64_t n = count - first < HALVES ? count - first : HALVES;
        unshuffle4(in + first, n, plane, low);
        unshuffle4(in + 4 * plane + first, n, plane, high);
        for (int64_t i = 0; i < n; ++i) out[first + i] = (uint64_t)low[i] | (uint64_t)high[i] << 32;
    }
}

/* `count` of codec->elements values; the rest of each plane is zero. */
static void shuffle(const ps_codec *codec, const void *data, int64_t count, uint8_t *out)
{
    int64_t plane = codec->elements, size = (int64_t)ps_type_size(codec->type);
    switch (size) {
    case 1:
        memcpy(out, data, (size_t)count);
        break;
    case 2:
        shuffle2(data, count, plane, out);
        break;
    case 4:
        shuffle4(data, count, plane, out);
        break;
    default:
        shuffle8(data, count, plane, out);
        break;
    }
    for (int64_t b = 0; b < size; ++b) memset(out + b * plane + count, 0, (size_t)(plane - count));
}

/* The first `count` values. */
static void unshuffle(const ps_codec *codec, const uint8_t *in, int64_t count, void *out)
{
    int64_t plane = codec->elements;
    switch (ps_type_size(codec->type)) {
    case 1:
        memcpy(out, in, (size_t)count);
        break;
    case 2:
        unshuffle2(in, count, plane, out);
        break;
    case 4:
        unshuffle4(in, count, plane, out);
        break;
    default:
        unshuffle8(in, count, plane, out);
        break;
    }
}

/* ---- chunks ---- */

/* The uncompressed chunk: data itself where it is whole and kept as it is. */
static const void *plain(const ps_codec *codec, const void *data, int64_t count, int64_t raw,
                         uint8_t *buffer)
{
    int64_t bytes = count * (int64_t)ps_type_size(codec->type);
    if (bytes == raw && !codec->keep_bits) return data;
    if (codec->keep_bits)
        round_values(codec, data, count, buffer);
    else
        memcpy(buffer, data, (size_t)bytes);
    memset(buffer + bytes, 0, (size_t)(raw - bytes));
    return buffer;
}

/* The frame's or the stream's size, in scratch->b; 0 where it would not be 3 % shorter. `values`
 * may be in scratch->b. The room given depends on the size alone, and so do the bytes. */
static int64_t compress(const ps_codec *codec, const void *values, int64_t count, int64_t raw,
                        ps_scratch *scratch)
{
    const int64_t room = raw * 97 / 100;
    shuffle(codec, values, count, scratch->a);
    if (codec->deflate)
        return ps_deflate(scratch->deflater, scratch->a, raw, (int)ps_type_size(codec->type),
                          scratch->b, room);
    size_t packed =
        ZSTD_compress2(scratch->compressor, scratch->b, (size_t)room, scratch->a, (size_t)raw);
    return ZSTD_isError(packed) ? 0 : (int64_t)packed;
}

ps_status ps_codec_encode(const ps_codec *codec, const void *data, int64_t count,
                          ps_scratch *scratch, ps_chunk_info *info, const void **stored)
{
    int64_t raw = codec->elements * (int64_t)ps_type_size(codec->type);
    PS_TRY(ps_scratch_need(&scratch->a, &scratch->a_size, raw));
    PS_TRY(ps_scratch_need(&scratch->b, &scratch->b_size, raw));
    if (codec->deflate && !scratch->deflater) PS_TRY(ps_deflate_open(&scratch->deflater));
    const void *values = data;
    if (codec->keep_bits) {
        round_values(codec, data, count, scratch->b);
        values = scratch->b;
    }
    ps_codec_statistics(codec->type, values, count, info);
    int64_t packed = codec->plain ? 0 : compress(codec, values, count, raw, scratch);
    *stored = packed > 0 ? scratch->b : plain(codec, data, count, raw, scratch->a);
    info->raw_bytes = raw;
    info->stored_bytes = packed > 0 ? packed : raw;
    info->count = count;
    info->xxh3 = XXH3_64bits(*stored, (size_t)info->stored_bytes);
    return PS_OK;
}

static ps_status expand(const ps_codec *codec, const ps_chunk_info *info, const void *stored,
                        ps_scratch *scratch)
{
    if (codec->deflate) return ps_inflate(stored, info->stored_bytes, scratch->a, info->raw_bytes);
    size_t size = ZSTD_decompressDCtx(scratch->decompressor, scratch->a, (size_t)info->raw_bytes,
                                      stored, (size_t)info->stored_bytes);
    if (ZSTD_isError(size))
        return ps_fail(PS_INVALID, "it does not decompress: %s", ZSTD_getErrorName(size));
    if (size != (size_t)info->raw_bytes)
        return ps_fail(PS_INVALID, "it holds %zu bytes, expected %lld", size,
                       (long long)info->raw_bytes);
    return PS_OK;
}

ps_status ps_codec_decode(const ps_codec *codec, const ps_chunk_info *info, const void *stored,
                          ps_scratch *scratch, int64_t count, void *data)
{
    if (XXH3_64bits(stored, (size_t)info->stored_bytes) != info->xxh3)
        return ps_fail(PS_INVALID, "its hash differs, the file is damaged");
    if (info->stored_bytes == info->raw_bytes) {
        memcpy(data, stored, (size_t)count * ps_type_size(codec->type));
        return PS_OK;
    }
    PS_TRY(ps_scratch_need(&scratch->a, &scratch->a_size, info->raw_bytes));
    PS_TRY(expand(codec, info, stored, scratch));
    unshuffle(codec, scratch->a, count, data);
    return PS_OK;
}
