#include "kernels/common/reals.h"
#include "runtime/scope.h"
#include "tests/check.h"
#include "tests/support/synthetic_blocks.h"

static const synthetic_slices odd = {
    .unknowns = 149, .shells = 23, .spread = 6.3, .empty = 0.07, .seed = 3};
/* Row-vectors longer than a copy of them: fp32 32, fp64 16 columns at a time. */
static const synthetic_slices wide = {
    .unknowns = 37, .shells = 90, .spread = 40, .empty = 0.2, .seed = 5};

enum { COLUMNS_MAX = 80 }; /* of any block below */

/* Everything of one product: pasts and sums in both precisions. */
typedef struct bench {
    const synthetic_slices *m;
    ps_precision precision;
    int64_t group, stride, origin;
    double *past;
    void *past_own, *sums;
    size_t size;
} bench;

static void bench_init(bench *b, const synthetic_slices *m, ps_precision precision, int64_t group)
{
    int64_t before = ps_product_past_before(synthetic_k_bound(m), COLUMNS_MAX);
    *b = (bench){.m = m,
                 .precision = precision,
                 .group = group,
                 .origin = before,
                 .stride = before + ps_product_past_after(group),
                 .size = (size_t)ps_real_bytes(precision)};
    check_ok(PS_ALLOC(&b->past, m->unknowns * b->stride, "past"));
    check_ok(ps_alloc(&b->past_own, m->unknowns * b->stride, b->size, "past"));
    check_ok(ps_alloc(&b->sums, m->unknowns * (group + 1), b->size, "sums"));
    for (int64_t i = 0; i < m->unknowns * b->stride; ++i) {
        uint64_t hash = synthetic_hash(11, (uint64_t)(i / b->stride), (uint64_t)(i % b->stride), 1);
        double x = i % b->stride < before ? (float)(2 * synthetic_unit(hash) - 1) : 0;
        b->past[i] = x;
        ps_real_put(precision, b->past_own, i, x);
    }
}

static void bench_release(bench *b) { PS_FREE(b->past, b->past_own, b->sums); }

static ps_slice_product bench_product(const bench *b)
{
    return (ps_slice_product){.past = b->past_own,
                              .past_stride = b->stride,
                              .past_origin = b->origin,
                              .group = b->group,
                              .sums = b->sums,
                              .sums_stride = b->group + 1};
}

static double bench_sum(const bench *b, int64_t i, int64_t g)
{
    return ps_real_at(b->precision, b->sums, i * (b->group + 1) + g);
}

/* exact[N][PS_GROUP_MAX]: sums do not depend on the group, as past(t) = 0 for t >= 0. */
static void bench_check(const bench *b, const double *exact)
{
    int64_t n = b->m->unknowns;
    double difference = 0, norm = 0;
    for (int64_t i = 0; i < n; ++i)
        for (int64_t g = 0; g < b->group; ++g) {
            double due = exact[i * PS_GROUP_MAX + g], error = bench_sum(b, i, g) - due;
            difference += error * error;
            norm += due * due;
        }
    for (int64_t i = 0; i < n; ++i) assert_true(bench_sum(b, i, b->group) == 0); /* untouched */
    check_at_most(sqrt(difference / norm), b->precision == PS_SINGLE ? 1e-6 : 1e-13);
}

/* How to run: which layout (PS_TILE_SLICES: as it is), cut how, by how many threads. */
typedef struct way {
    ps_tile_layout layout;
    int64_t block_rows, block_columns; /* columns 0: d_max of the matrix */
    int threads;                       /* 0: rows in pieces of `piece`, last piece first */
    int64_t piece;
    bool half; /* warps of halves */
} way;

static void add(const ps_slice_product *product, ps_precision precision, const way *how)
{
    if (how->threads) {
        check_ok(ps_slice_product_tile(product, precision, how->threads));
        return;
    }
    ps_slice_product_fn rows = ps_slice_product_function(PS_BACKEND_CPU, precision);
    int64_t end = ps_slice_product_rows(product);
    for (; end > how->piece; end -= how->piece) rows(product, end - how->piece, end);
    rows(product, 0, end);
}

/* The tiles of a matrix, cut in a way. */
typedef struct tiles {
    int64_t count;
    ps_slice_tile *slices;
    ps_block_tile *blocks;
    ps_block_header header;
} tiles;

static void tiles_init(tiles *t, const synthetic_slices *m, ps_precision precision,
                       const ps_slice_tiling *tiling, const way *how)
{
    static const ps_block_layout layouts[] = {0, PS_BLOCK_FULL, PS_BLOCK_CONTIGUOUS, PS_BLOCK_WARP};
    int64_t columns = how->block_columns ? how->block_columns : synthetic_d_bound(m);
    *t = (tiles){.count = ps_slice_tiling_count(tiling),
                 .header = {.layout = layouts[how->layout],
                            .block_rows = how->block_rows,
                            .block_columns = columns,
                            .half = how->half}};
    t->header.slices.precision = precision;
    t->header.slices.d_max = synthetic_d_bound(m);
    if (how->layout != PS_TILE_SLICES) check_ok(ps_blocking_check(&t->header));
    check_ok(PS_ALLOC(&t->slices, t->count, "tiles"));
    check_ok(PS_ALLOC(&t->blocks, t->count, "tiles"));
    for (int64_t i = 0; i < t->count; ++i) {
        ps_slice_tiling_range(tiling, i, &t->slices[i]);
        synthetic_tile(m, precision, true, &t->slices[i]);
        synthetic_measure(m, &t->slices[i]);
        if (how->layout != PS_TILE_SLICES) synthetic_cut(&t->header, &t->slices[i], &t->blocks[i]);
    }
}

static void tiles_release(tiles *t)
{
    for (int64_t i = 0; i < t->count; ++i) {
        synthetic_tile_free(&t->slices[i]);
        synthetic_cut_free(&t->blocks[i]);
    }
    PS_FREE(t->slices, t->blocks);
}

/* sums = the whole matrix applied, tile by tile. */
static void run(const bench *b, const tiles *t, const way *how)
{
    ps_slice_product product = bench_product(b);
    memset(b->sums, 0, (size_t)(b->m->unknowns * (b->group + 1)) * b->size);
    for (int64_t i = 0; i < t->count; ++i) {
        if (how->layout == PS_TILE_SLICES)
            ps_slice_product_set_slices(&product, &t->slices[i]);
        else
            ps_slice_product_set_blocks(&product, &t->header, &t->blocks[i]);
        add(&product, b->precision, how);
    }
}

static ps_slice_tiling whole(const synthetic_slices *m)
{
    return (ps_slice_tiling){.unknowns = m->unknowns,
                             .tile_rows = m->unknowns,
                             .tile_slices = 13,
                             .end_slice = m->unknowns};
}

static const way ways[] = {
    {.layout = PS_TILE_SLICES, .threads = 2},
    {.layout = PS_TILE_FULL, .block_rows = 16, .block_columns = 60, .threads = 2},
    {.layout = PS_TILE_FULL, .block_rows = 37, .threads = 1},
    {.layout = PS_TILE_CONTIGUOUS, .block_rows = 32, .threads = 2},
    {.layout = PS_TILE_CONTIGUOUS, .block_rows = 51, .block_columns = 60, .threads = 1},
    {.layout = PS_TILE_WARP, .threads = 2},
};
enum { WAYS = sizeof ways / sizeof *ways };

static void check_way(const synthetic_slices *m, ps_precision precision, const way *how,
                      const double *exact)
{
    PS_SCOPED(tiles_release) tiles t = {0};
    ps_slice_tiling tiling = whole(m);
    tiles_init(&t, m, precision, &tiling, how);
    for (int64_t group = 1; group <= PS_GROUP_MAX; ++group) {
        PS_SCOPED(bench_release) bench b = {0};
        bench_init(&b, m, precision, group);
        run(&b, &t, how);
        bench_check(&b, exact);
    }
}

static void every_group_and_layout_agrees_with_the_front_oracle(void **state)
{
    const synthetic_slices *cases[] = {&odd, &wide};
    for (int c = 0; c < 2; ++c) {
        PS_SCOPED(bench_release) bench b = {0};
        PS_SCOPED_MEMORY double *exact = NULL;
        bench_init(&b, cases[c], PS_DOUBLE, PS_GROUP_MAX);
        check_ok(PS_ALLOC(&exact, b.m->unknowns * PS_GROUP_MAX, "oracle"));
        synthetic_front(b.m, b.past, b.stride, b.origin, PS_GROUP_MAX, exact);
        for (int precision = 0; precision < 2; ++precision)
            for (int w = 0; w < WAYS; ++w)
                check_way(cases[c], (ps_precision)precision, &ways[w], exact);
    }
}

static const int64_t groups[] = {1, 5, 8, 24, 31};
enum { GROUPS = sizeof groups / sizeof *groups };

/* Sums of one way against first[g]; taken over where there are none yet. */
static void compare_bits(ps_precision precision, const ps_slice_tiling *tiling, const way *how,
                         void **first)
{
    PS_SCOPED(tiles_release) tiles t = {0};
    tiles_init(&t, &odd, precision, tiling, how);
    for (int g = 0; g < GROUPS; ++g) {
        PS_SCOPED(bench_release) bench b = {0};
        bench_init(&b, &odd, precision, groups[g]);
        size_t bytes = (size_t)(odd.unknowns * (groups[g] + 1)) * b.size;
        run(&b, &t, how);
        if (first[g])
            assert_memory_equal(b.sums, first[g], bytes);
        else
            first[g] = memcpy(malloc(bytes), b.sums, bytes);
    }
}

/* Layouts, threads, pieces of rows and tilings: all have the bits of the first. */
static void every_way_has_the_same_bits(void **state)
{
    const way others[] = {
        {.layout = PS_TILE_SLICES, .threads = 1},
        {.layout = PS_TILE_SLICES, .threads = 3},
        {.layout = PS_TILE_SLICES, .threads = 5},
        {.layout = PS_TILE_SLICES, .piece = 1},
        {.layout = PS_TILE_SLICES, .piece = 29},
        {.layout = PS_TILE_FULL, .block_rows = 16, .threads = 4},
        {.layout = PS_TILE_FULL, .block_rows = 16, .piece = 7},
        {.layout = PS_TILE_FULL, .block_rows = 64, .block_columns = 80, .threads = 5},
        {.layout = PS_TILE_CONTIGUOUS, .block_rows = 16, .threads = 4},
        {.layout = PS_TILE_CONTIGUOUS, .block_rows = 100, .piece = 7},
        {.layout = PS_TILE_CONTIGUOUS, .block_rows = 32, .threads = 3},
        {.layout = PS_TILE_CONTIGUOUS, .block_rows = 64, .piece = 37},
        {.layout = PS_TILE_CONTIGUOUS, .block_rows = 128, .block_columns = 80, .threads = 2},
        {.layout = PS_TILE_WARP, .threads = 5},
        {.layout = PS_TILE_WARP, .piece = 11},
    };
    ps_slice_tiling tilings[] = {whole(&odd), whole(&odd)};
    tilings[1].tile_rows = 64, tilings[1].tile_slices = 5;
    for (int precision = 0; precision < 2; ++precision) {
        void *first[GROUPS] = {NULL};
        for (size_t w = 0; w < 2 * sizeof others / sizeof *others; ++w)
            compare_bits((ps_precision)precision, &tilings[w % 2], &others[w / 2], first);
        for (int g = 0; g < GROUPS; ++g) free(first[g]);
    }
}

/* Sums of warps of halves have the bits of warps of the numbers that the halves stand for. */
static void check_halves(const synthetic_slices *m, ps_precision precision, const way *how)
{
    tiles t[2];
    ps_slice_tiling tiling = whole(m);
    for (int i = 0; i < 2; ++i) tiles_init(&t[i], m, precision, &tiling, how);
    for (int64_t k = 0; k < t[1].count; ++k) synthetic_decode(precision, &t[1].blocks[k]);
    for (int64_t group = 1; group <= PS_GROUP_MAX; ++group) {
        bench b[2];
        for (int i = 0; i < 2; ++i) {
            bench_init(&b[i], m, precision, group);
            run(&b[i], &t[i], how);
        }
        assert_memory_equal(b[0].sums, b[1].sums, (size_t)(m->unknowns * (group + 1)) * b[0].size);
        assert_true(bench_sum(&b[0], m->unknowns / 2, 0) != 0);
        for (int i = 0; i < 2; ++i) bench_release(&b[i]);
    }
    for (int i = 0; i < 2; ++i) tiles_release(&t[i]);
}

static void halves_are_the_numbers_they_stand_for(void **state)
{
    const way hows[] = {{.layout = PS_TILE_WARP, .threads = 2, .half = true},
                        {.layout = PS_TILE_WARP, .piece = 11, .half = true}};
    for (int precision = 0; precision < 2; ++precision)
        for (int h = 0; h < 2; ++h) {
            check_halves(&odd, (ps_precision)precision, &hows[h]);
            check_halves(&wide, (ps_precision)precision, &hows[h]);
        }
}

static void wrong_calls_are_refused(void **state)
{
    PS_SCOPED(bench_release) bench b = {0};
    ps_slice_tile tile = {0};
    bench_init(&b, &wide, PS_SINGLE, 4);
    ps_slice_product product = bench_product(&b);
    ps_slice_product_set_slices(&product, &tile);
    check_fails(ps_slice_product_tile(&product, PS_SINGLE, 1), PS_USAGE, "offsets");
    product.group = 33;
    check_fails(ps_slice_product_tile(&product, PS_SINGLE, 1), PS_USAGE, "1 to 32");
    product.group = 4, product.sums_stride = 3;
    check_fails(ps_slice_product_tile(&product, PS_SINGLE, 1), PS_USAGE, "too narrow");
    assert_null(ps_slice_product_function(PS_BACKEND_CUDA, PS_SINGLE));
}

/* Threads' shares ascend, cover all rows, and hold about equal data. */
static void rows_are_split_by_equal_data(void **state)
{
    const synthetic_slices m = {.unknowns = 3000, .shells = 60, .spread = 6, .seed = 1};
    PS_SCOPED(synthetic_tile_free) ps_slice_tile tile = {.rows = 3000, .slices = 3};
    synthetic_tile(&m, PS_SINGLE, true, &tile);
    ps_slice_product product = {0};
    ps_slice_product_set_slices(&product, &tile);
    int64_t before = 0, most = 0;
    for (int part = 0; part < 5; ++part) {
        int64_t begin = ps_slice_product_split(&product, 5, part), data = 0;
        int64_t end = ps_slice_product_split(&product, 5, part + 1);
        assert_int_equal(begin, before);
        assert_true(end >= begin);
        for (int64_t v = 0; v < 9000; ++v)
            if (v % 3000 >= begin && v % 3000 < end) data += tile.lengths[v];
        most = data > most ? data : most;
        before = end;
    }
    assert_int_equal(before, 3000);
    check_at_most((double)most, 1.1 * (double)tile.value_count / 5);
}
