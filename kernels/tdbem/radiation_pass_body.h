/*
 * Passes of radiation over a warp, included once per type (radiation_pass_cpu.c):
 *   real, SUFFIX   the type and the ending of the names
 *   LANE_*         its intrinsics, where vectors run over rows; else they run over steps
 *
 * Steps are taken in blocks of `steps`, a constant. A row-vector that starts with lag `start` adds
 * value[q] past(b - q - start) to step b; to a block that begins with b0 lags below
 * reach = length + b0 + steps matter, so later starts count as `reach`, where all is zero.
 * With index = reach - start >= 0, entry t = b - b0 - q + (width - 1) of what a row sees is
 * from[t + index], from = the past of the column - steps - (width - 1). Sums over q are one
 * chain for every row and step, in both forms.
 */
#define INLINE static inline __attribute__((always_inline))

/* A row-vector as one block of steps sees it. */
typedef struct NAME(task) {
    const real *values, *from;
    const uint8_t *starts;
    int width, reach;
} NAME(task);

INLINE NAME(task) NAME(task_of)(const ps_radiation_pass *p, int64_t v, int reach, const int steps)
{
    const ps_near_vector *vector = &p->near->vectors[v];
    int width = vector->width < reach - vector->first ? vector->width : reach - vector->first;
    return (NAME(task)){.values = (const real *)p->near->values + (int64_t)vector->offset * ROWS,
                        .from = (const real *)p->past + p->origin + vector->column * p->pitch -
                                steps - (width - 1),
                        .starts = p->near->starts + v * ROWS,
                        .width = width,
                        .reach = reach};
}

/* Asks for what row-vector v will need of values and past. */
INLINE void NAME(fetch)(const ps_radiation_pass *p, int64_t v)
{
    const ps_near_vector *vector = &p->near->vectors[v];
    int reach = 2 * (int)p->length - vector->first;
    int width = vector->width < reach ? vector->width : reach;
    const char *values =
        (const char *)((const real *)p->near->values + (int64_t)vector->offset * ROWS);
    for (int line = 0; line < width * (int)(ROWS * sizeof(real) / LINE); ++line)
        __builtin_prefetch(values + line * LINE);
    __builtin_prefetch((const real *)p->past + p->origin + vector->column * p->pitch);
}

#ifdef LANE_VECTOR
#define LANES ((int)(64 / sizeof(real)))
#define SETS (ROWS / LANES)
#define COLUMNS 8 /* of a row-vector at a time */

/* Columns [first, first + columns) of the row-vector; sum[h][b]: set h of LANES rows. */
INLINE void NAME(add_columns)(const NAME(task) * t, int first, int columns, bool wide,
                              LANE_VECTOR (*sum)[STEPS_MAX], const int steps)
{
    LANE_VECTOR seen[COLUMNS + STEPS_MAX];
    const real *from = t->from + (t->width - first - columns);
    for (int h = 0; h < SETS; ++h) {
        __m512i index = LANE_INDEX(LANE_STARTS(t->starts + h * LANES), t->reach);
        const real *values = t->values + first * ROWS + h * LANES;
        for (int i = 0; i < columns + steps - 1; ++i)
            seen[i] = wide ? LANE_PERMUTE2(LANE_LOAD(from + i), index, LANE_LOAD(from + i + LANES))
                           : LANE_PERMUTE(index, LANE_LOAD(from + i));
        for (int q = 0; q < columns; ++q) {
            LANE_VECTOR value = LANE_LOAD(values + q * ROWS);
            for (int b = 0; b < steps; ++b) sum[h][b] += value * seen[columns - 1 - q + b];
        }
    }
}

/* Some row-vectors; sums[steps][32] becomes their sum. */
INLINE void NAME(add_block)(const ps_radiation_pass *p, const vectors_at_once *k, real *sums,
                            const int steps)
{
    LANE_VECTOR sum[SETS][STEPS_MAX];
    int reach = (int)(p->length + k->b0) + steps;
    memset(sum, 0, sizeof sum);
    for (int64_t v = k->begin; v < k->end && p->near->vectors[v].first < reach; ++v) {
        NAME(task) t = NAME(task_of)(p, v, reach, steps);
        if (k->b0 == 0 && v + AHEAD < k->last) NAME(fetch)(p, v + AHEAD);
        for (int first = 0; first < t.width; first += COLUMNS)
            NAME(add_columns)
            (&t, first, t.width - first < COLUMNS ? t.width - first : COLUMNS, reach > LANES, sum,
             steps);
    }
    for (int h = 0; h < SETS; ++h)
        for (int b = 0; b < steps; ++b) LANE_STORE(sums + b * ROWS + h * LANES, sum[h][b]);
}
#undef LANES
#undef SETS
#undef COLUMNS
#else
typedef real NAME(steps_vector)
    __attribute__((vector_size(STEPS_MAX * sizeof(real)), aligned(sizeof(real)), may_alias));

/* Some row-vectors; sums[steps][32] becomes their sum. Steps beyond `steps` are of no account. */
INLINE void NAME(add_block)(const ps_radiation_pass *p, const vectors_at_once *k, real *sums,
                            const int steps)
{
    NAME(steps_vector) sum[ROWS];
    int reach = (int)(p->length + k->b0) + steps;
    memset(sum, 0, sizeof sum);
    for (int64_t v = k->begin; v < k->end && p->near->vectors[v].first < reach; ++v) {
        NAME(task) t = NAME(task_of)(p, v, reach, steps);
        if (k->b0 == 0 && v + AHEAD < k->last) NAME(fetch)(p, v + AHEAD);
        for (int r = 0; r < ROWS; ++r) {
            if (t.starts[r] >= reach) continue;
            const real *from = t.from + (reach - t.starts[r]) + t.width - 1;
            NAME(steps_vector) own = sum[r];
            for (int q = 0; q < t.width; ++q)
                own += t.values[q * ROWS + r] * *(const NAME(steps_vector) *)(from - q);
            sum[r] = own;
        }
    }
    for (int b = 0; b < steps; ++b)
        for (int r = 0; r < ROWS; ++r) sums[b * ROWS + r] = sum[r][b];
}
#endif

/* All row-vectors of a warp that begin early enough, in blocks of `steps` steps. */
INLINE void NAME(add_warp)(const ps_radiation_pass *p, int64_t warp, const int steps)
{
    const ps_packed_near *near = p->near;
    int64_t ahead = near->group - p->g < p->length ? near->group - p->g : p->length;
    int64_t last = 2 * p->length < near->group ? 2 * p->length - 1 : near->group - 1;
    int64_t begin = near->vector_start[warp], end = begin + near->reach[warp * near->group + last];
    double total[LENGTH_MAX][ROWS] = {{0}};
    vectors_at_once k = {.begin = begin, .last = end};
    for (; k.begin < end; k.begin = k.end)
        for (k.end = k.begin + TOGETHER < end ? k.begin + TOGETHER : end, k.b0 = 0; k.b0 < ahead;
             k.b0 += steps) {
            real sums[STEPS_MAX * ROWS];
            NAME(add_block)(p, &k, sums, steps);
            for (int b = 0; b < steps; ++b)
                for (int r = 0; r < ROWS; ++r) total[k.b0 + b][r] += (double)sums[b * ROWS + r];
        }
    int64_t first = warp * ROWS, rows = near->unknowns - first;
    for (int64_t b = 0; b < ahead; ++b)
        for (int64_t r = 0; r < rows && r < ROWS; ++r)
            p->owed[(p->g + b) * near->unknowns + first + r] += total[b][r];
}

static void NAME(warp)(const ps_radiation_pass *p, int64_t warp)
{
    switch (p->length) {
    case 1:
        NAME(add_warp)(p, warp, 1);
        break;
    case 2:
        NAME(add_warp)(p, warp, 2);
        break;
    case 4:
        NAME(add_warp)(p, warp, 4);
        break;
    default:
        NAME(add_warp)(p, warp, 8);
    }
}
#undef INLINE
