#include "formats/h5zstd.h"

#include <hdf5.h>
#include <stdlib.h>
#include <zstd.h>

static _Thread_local size_t expected;

void ps_h5zstd_expect(size_t bytes) { expected = bytes; }

bool ps_h5zstd_plausible(uint64_t stored, uint64_t expanded)
{
    return expanded <= UINT64_C(256) << 20 || expanded / 1000 <= stored;
}

/* Frames that the store writes tell their content's size; others are refused. */
static size_t expand(const void *in, size_t bytes, void **out, size_t *capacity)
{
    unsigned long long content = ZSTD_getFrameContentSize(in, bytes);
    if (content == ZSTD_CONTENTSIZE_UNKNOWN || content == ZSTD_CONTENTSIZE_ERROR ||
        content > UINT32_MAX || /* HDF5 has no larger chunks */
        !ps_h5zstd_plausible(bytes, content))
        return 0;
    *capacity = content ? (size_t)content : 1;
    *out = malloc(*capacity);
    if (!*out) return 0;
    return ZSTD_decompress(*out, *capacity, in, bytes);
}

static size_t compress(const void *in, size_t bytes, int level, void **out, size_t *capacity)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    *capacity = ZSTD_compressBound(bytes);
    *out = malloc(*capacity);
    size_t produced = 0;
    if (context && *out &&
        !ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level)) &&
        !ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)))
        produced = ZSTD_compress2(context, *out, *capacity, in, bytes);
    ZSTD_freeCCtx(context);
    return produced;
}

size_t ps_h5zstd_filter(unsigned flags, size_t value_count, const unsigned values[], size_t bytes,
                        size_t *size, void **buffer)
{
    void *out = NULL;
    size_t capacity = 0, produced;
    if (flags & H5Z_FLAG_REVERSE) produced = expand(*buffer, bytes, &out, &capacity);
    if ((flags & H5Z_FLAG_REVERSE) &&
        ((value_count > 1 && produced != values[1]) || (expected > 0 && produced != expected)))
        produced = 0; /* a chunk that comes out short */
    if (!(flags & H5Z_FLAG_REVERSE))
        produced = compress(*buffer, bytes, value_count ? (int)values[0] : PS_H5ZSTD_LEVEL, &out,
                            &capacity);
    if (!out || produced == 0 || ZSTD_isError(produced)) {
        free(out);
        return 0;
    }
    free(*buffer);
    *buffer = out;
    *size = capacity;
    return produced;
}
