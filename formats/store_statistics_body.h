/*
 * store_statistics_body: statistics of an array. Included once per type by store_statistics.c,
 * which defines VALUE, WIDE (an integer as wide as VALUE, at least 32 bits), NAME(x) and IS_FLOAT.
 *
 * Eight running sums side by side, added up in a fixed order at the end: the loop is vectorised
 * and the result is the same whatever the vectors. Value i goes to lane i mod 8.
 */

typedef struct NAME(lanes) {
    double sum[LANES], squares[LANES];
    VALUE low[LANES], high[LANES];
    WIDE zeros[LANES];
    int64_t non_finite;
} NAME(lanes);

#if IS_FLOAT
/* True if none of the values is infinite or NaN: each of those makes x - x NaN. */
static bool NAME(all_finite)(const VALUE *x, int64_t count)
{
    VALUE lanes[LANES] = {0};
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (int l = 0; l < LANES; ++l) lanes[l] += x[i + l] - x[i + l];
    for (; i < count; ++i) lanes[0] += x[i] - x[i];
    for (int l = 1; l < LANES; ++l) lanes[0] += lanes[l];
    return lanes[0] == 0;
}
#endif

/* One value in lane l. */
static void NAME(add_one)(NAME(lanes) * s, int l, VALUE x)
{
#if IS_FLOAT
    if (!(x - x == 0)) {
        ++s->non_finite;
        return;
    }
#endif
    double v = (double)x;
    s->sum[l] += v;
    s->squares[l] += v * v;
    s->low[l] = x < s->low[l] ? x : s->low[l];
    s->high[l] = x > s->high[l] ? x : s->high[l];
    s->zeros[l] += x == 0;
}

/* A multiple of LANES of finite values. The lanes live in registers. */
static void NAME(add_finite)(NAME(lanes) * s, const VALUE *x, int64_t count)
{
    NAME(lanes) t = *s;
    for (int64_t i = 0; i < count; i += LANES) {
        double v[LANES];
        for (int l = 0; l < LANES; ++l) v[l] = (double)x[i + l];
        for (int l = 0; l < LANES; ++l) t.sum[l] += v[l];
        for (int l = 0; l < LANES; ++l) t.squares[l] += v[l] * v[l];
        for (int l = 0; l < LANES; ++l) t.low[l] = x[i + l] < t.low[l] ? x[i + l] : t.low[l];
        for (int l = 0; l < LANES; ++l) t.high[l] = x[i + l] > t.high[l] ? x[i + l] : t.high[l];
        for (int l = 0; l < LANES; ++l) t.zeros[l] += x[i + l] == 0;
    }
    *s = t;
}

static void NAME(gather)(const NAME(lanes) * s, int64_t count, ps_chunk_info *info)
{
    VALUE low = s->low[0], high = s->high[0];
    info->sum = info->sum_squares = 0;
    info->zeros = 0;
    info->non_finite = s->non_finite;
    for (int l = 0; l < LANES; ++l) {
        info->sum += s->sum[l];
        info->sum_squares += s->squares[l];
        low = s->low[l] < low ? s->low[l] : low;
        high = s->high[l] > high ? s->high[l] : high;
        info->zeros += (int64_t)s->zeros[l];
    }
    bool any = s->non_finite < count;
    info->minimum = any ? (double)low : 0;
    info->maximum = any ? (double)high : 0;
}

static void NAME(statistics)(const void *memory, int64_t count, ps_chunk_info *info)
{
    const unsigned char *data = memory;
    VALUE block[BLOCK], first = 0;
    NAME(lanes) s = {.non_finite = 0};
    bool seen = false; /* low and high start from the first finite value */
    for (int64_t done = 0; done < count; done += BLOCK) {
        int64_t n = count - done < BLOCK ? count - done : BLOCK, whole = n / LANES * LANES;
        memcpy(block, data + (size_t)done * sizeof *block, (size_t)n * sizeof *block);
#if IS_FLOAT
        bool finite = NAME(all_finite)(block, n);
#else
        bool finite = true;
#endif
        for (int64_t i = 0; !seen && i < n; ++i) {
#if IS_FLOAT
            if (!(block[i] - block[i] == 0)) continue;
#endif
            first = block[i];
            seen = true;
            for (int l = 0; l < LANES; ++l) s.low[l] = s.high[l] = first;
        }
        if (finite) NAME(add_finite)(&s, block, whole);
        for (int64_t i = finite ? whole : 0; i < n; ++i)
            NAME(add_one)(&s, (int)(i % LANES), block[i]);
    }
    NAME(gather)(&s, count, info);
}

#undef NAME
#undef VALUE
#undef WIDE
#undef IS_FLOAT
