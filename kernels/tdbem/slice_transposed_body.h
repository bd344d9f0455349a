/*
 * Body of the transposed product (slice_transposed_cpu.c), included once per type: `real` and
 * SUFFIX. Vectors run over the steps of the group: a value is broadcast and multiplied with the
 * window of its row's past.
 */
#define NAME(name) PS_ISA_PASTE(name, SUFFIX)
#define vec NAME(vec)
#define vec_u NAME(vec_u)
#define LANES ((int)(WIDEST / sizeof(real)))
#define INLINE static inline __attribute__((always_inline))
typedef real vec __attribute__((vector_size(WIDEST)));
typedef real vec_u __attribute__((vector_size(WIDEST), aligned(sizeof(real)), may_alias));

/* Slices of one warp of rows that are taken together, so that their chains of additions hide each
 * other's latency. */
typedef struct NAME(run) {
    int count, width[TOGETHER];
    const char *values[TOGETHER]; /* of the first row */
    const uint16_t *starts[TOGETHER];
    const uint8_t *scales[TOGETHER]; /* of halves */
    real *sums[TOGETHER];            /* of the first step */
} NAME(run);

INLINE real NAME(value)(const char *values, int64_t at, const bool half, float scale)
{
    return half ? (real)(ps_half_decode(((const uint16_t *)values)[at]) * scale)
                : ((const real *)values)[at];
}

/* `steps` sums of a slice to vectors, and back. */
INLINE void NAME(take)(const real *sums, int64_t steps, vec *out, const int vectors)
{
    _Alignas(64) real all[2 * LANES] = {0};
    memcpy(all, sums, (size_t)steps * sizeof(real));
    for (int v = 0; v < vectors; ++v) out[v] = *(const vec *)(all + v * LANES);
}

INLINE void NAME(give)(const vec *from, int64_t steps, real *sums, const int vectors)
{
    _Alignas(64) real all[2 * LANES];
    for (int v = 0; v < vectors; ++v) *(vec *)(all + v * LANES) = from[v];
    memcpy(sums, all, (size_t)steps * sizeof(real));
}

/* Rows 0 .. rows - 1 of a warp, whose past begins at `past` (t = 0 of the first step), `steps`
 * steps. half and vectors are constants. */
INLINE void NAME(add_rows)(const NAME(run) * run, const real *past, int64_t past_stride, int rows,
                           int64_t steps, const bool half, const int vectors)
{
    vec sum[TOGETHER][2];
    for (int s = 0; s < TOGETHER; ++s) NAME(take)(run->sums[s], steps, sum[s], vectors);
    for (int r = 0; r < rows; ++r, past += past_stride)
        for (int s = 0; s < TOGETHER; ++s) {
            const real *window = past - run->starts[s][r];
            float scale = half ? ps_half_scale(run->scales[s][r]) : 1;
            for (int q = 0; q < run->width[s]; ++q) {
                vec value = (vec){0} +
                            NAME(value)(run->values[s], (int64_t)q * PS_WARP_ROWS + r, half, scale);
                for (int v = 0; v < vectors; ++v)
                    sum[s][v] += value * (vec) * (const vec_u *)(window - q + v * LANES);
            }
        }
    for (int s = 0; s < TOGETHER; ++s) NAME(give)(sum[s], steps, run->sums[s], vectors);
}

/* The kinds of run as functions of their own. */
#define KIND(name, half, vectors)                                                                  \
    __attribute__((noinline)) static void NAME(name)(const NAME(run) * run, const real *past,      \
                                                     int64_t past_stride, int rows, int64_t steps) \
    {                                                                                              \
        NAME(add_rows)(run, past, past_stride, rows, steps, half, vectors);                        \
    }
KIND(narrow, false, 1)
KIND(wide, false, 2)
KIND(narrow_half, true, 1)
KIND(wide_half, true, 2)
#undef KIND

/* All steps of the group; what is missing in the run is made up by slices without values. */
static void NAME(add_run)(NAME(run) * run, const ps_slice_product *p, int64_t row, int rows)
{
    static void (*const kinds[2][2])(const NAME(run) *, const real *, int64_t, int, int64_t) = {
        {NAME(narrow), NAME(wide)}, {NAME(narrow_half), NAME(wide_half)}};
    const real *past = (const real *)p->past + row * p->past_stride + p->past_origin;
    real none[TOGETHER][PS_GROUP_MAX] = {{0}};
    for (int n = run->count; n < TOGETHER; ++n) {
        run->width[n] = 0;
        run->starts[n] = run->starts[0], run->scales[n] = run->scales[0];
        run->sums[n] = none[n];
    }
    for (int64_t g = 0, steps; g < p->group; g += steps) {
        bool wide = p->group - g > LANES;
        steps = wide ? 2 * LANES : LANES;
        if (steps > p->group - g) steps = p->group - g;
        kinds[p->blocks->scales != NULL][wide](run, past + g, p->past_stride, rows, steps);
        for (int s = 0; s < TOGETHER; ++s) run->sums[s] += steps;
    }
    run->count = 0;
}

/* Slices [begin, end) of a tile of warps. */
static void NAME(add)(const ps_slice_product *p, int64_t begin, int64_t end)
{
    const ps_block_tile *t = p->blocks;
    const int64_t size = t->scales ? 2 : (int64_t)sizeof(real);
    const char *values = t->values;
    for (int64_t w = 0; w < ps_block_tile_warps(t); ++w) {
        NAME(run) run = {.count = 0};
        int64_t row = w * PS_WARP_ROWS;
        int rows = (int)(t->rows - row < PS_WARP_ROWS ? t->rows - row : PS_WARP_ROWS);
        for (int64_t s = 0; s < t->slices; ++s) {
            int64_t at = w * t->slices + s;
            if (s >= begin && s < end) {
                int n = run.count++;
                run.width[n] = t->widths[at];
                run.values[n] = values;
                run.starts[n] = t->starts + at * PS_WARP_ROWS;
                run.scales[n] = t->scales ? t->scales + at * PS_WARP_ROWS : NULL;
                run.sums[n] = (real *)p->sums + (t->first_slice + s) * p->sums_stride;
            }
            if (run.count == TOGETHER || (s + 1 == end && run.count > 0))
                NAME(add_run)(&run, p, t->first_row + row, rows);
            values += t->widths[at] * PS_WARP_ROWS * size;
        }
    }
}

#undef NAME
#undef vec
#undef vec_u
#undef LANES
#undef INLINE
#undef SUFFIX
