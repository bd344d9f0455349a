/*
 * store_codec_body: statistics of an array of `VALUE`. Included once per type by
 * store_codec.c, which defines VALUE, NAME and IS_FLOAT.
 *
 * Sixteen running sums side by side, added up in a fixed order at the end, so that the loop
 * can be vectorised and the result is the same everywhere.
 */
#define LANES 16

#if IS_FLOAT
#define FINITE(x) ((x) - (x) == 0) /* infinities and NaN give NaN */
#else
#define FINITE(x) 1
#endif

static void NAME(const void *memory, int64_t count, ps_chunk_info *info)
{
    const unsigned char *data = memory;
    double sum[LANES] = {0}, squares[LANES] = {0}, low[LANES], high[LANES];
    int32_t zeros[LANES] = {0}, finite[LANES] = {0}; /* a chunk has fewer than 2^32 bytes */
    for (int l = 0; l < LANES; ++l) {
        low[l] = INFINITY;
        high[l] = -INFINITY;
    }
    for (int64_t first = 0; first < count; first += LANES) {
        VALUE x[LANES];
        int width = count - first < LANES ? (int)(count - first) : LANES;
        memcpy(x, data + (size_t)first * sizeof *x, (size_t)width * sizeof *x);
        for (int l = width; l < LANES; ++l) x[l] = x[0]; /* counted off again below */
        for (int l = 0; l < LANES; ++l) {
            int use = l < width && FINITE(x[l]);
            double v = use ? (double)x[l] : 0.0;
            sum[l] += v;
            squares[l] += v * v;
            low[l] = use && v < low[l] ? v : low[l];
            high[l] = use && v > high[l] ? v : high[l];
            zeros[l] += use && v == 0;
            finite[l] += use;
        }
    }
    gather(sum, squares, low, high, zeros, finite, count, info);
}

#undef FINITE
#undef LANES
#undef NAME
#undef VALUE
#undef IS_FLOAT
