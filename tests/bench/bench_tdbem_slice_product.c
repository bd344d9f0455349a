/*
 * The slice product against the machine: read bandwidth and FMA peak are measured first, with
 * all cores; then every layout, precision and group. The floor of a case is the time of reading
 * its stored values once, or of its flops (padding not counted) at the FMA peak, whichever is
 * longer; fraction = floor / time. GFlop/s count 2 n_g per row-vector value.
 *
 * At the end, on stderr: the blocks of Tables 2 and 3 of Bramas, Coulaud, Sylvand 2014 (256 slices
 * of 6400 rows, dense blocks of b_r x b_c; GFlop/s per core count padding as work, as they do).
 *
 * Times are those of the busiest thread's processor clock, best of several, so that a machine
 * shared with others gives the numbers of one that is not, as far as that goes. BENCH_MB: size of
 * the matrices, default 192. --ceilings: these alone.
 */
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/program.h"
#include "runtime/scope.h"
#include "tests/support/record.h"
#include "tests/support/synthetic_blocks.h"
#include "tests/support/thread_clock.h"

typedef float vec_f __attribute__((vector_size(64)));
typedef double vec_d __attribute__((vector_size(64)));
#define WIDE __attribute__((target("avx512f,prefer-vector-width=512")))
#define HALF __attribute__((target("avx2,fma")))

/* ---- ceilings ---- */

enum { CHAINS = 12 };
typedef float half_f __attribute__((vector_size(32)));
typedef double half_d __attribute__((vector_size(32)));
typedef float base_f __attribute__((vector_size(16)));
typedef double base_d __attribute__((vector_size(16)));

/* 2^20 rounds of independent fused multiply-adds of vectors, whose elements are `real`. */
#define PEAK(name, target, vec, real)                                                              \
    target static double name(double seed)                                                         \
    {                                                                                              \
        vec x[CHAINS], a = (vec){0} + (real)seed, b = (vec){0} + 1;                                \
        for (int c = 0; c < CHAINS; ++c) x[c] = b * (real)seed;                                    \
        for (int i = 0; i < 1 << 20; ++i)                                                          \
            for (int c = 0; c < CHAINS; ++c) {                                                     \
                x[c] = x[c] * a + b;                                                               \
                __asm__("" : "+x"(x[c]));                                                          \
            }                                                                                      \
        for (int c = 1; c < CHAINS; ++c) x[0] += x[c];                                             \
        return (double)x[0][0];                                                                    \
    }
PEAK(peak_base_f, , base_f, float)
PEAK(peak_base_d, , base_d, double)
PEAK(peak_half_f, HALF, half_f, float)
PEAK(peak_half_d, HALF, half_d, double)
PEAK(peak_wide_f, WIDE, vec_f, float)
PEAK(peak_wide_d, WIDE, vec_d, double)

/* By instruction set and precision. */
static double (*const peaks[3][2])(double seed) = {
    {peak_base_f, peak_base_d}, {peak_half_f, peak_half_d}, {peak_wide_f, peak_wide_d}};
static volatile double sink;

/* Flop per second of all threads. */
static double measure_peak(ps_precision precision)
{
    double best = 0;
    int bytes = 16 << ps_isa_here(), lanes = bytes / (precision == PS_SINGLE ? 4 : 8);
    for (int repeat = 0; repeat < 7; ++repeat) {
        double start[THREADS_MAX];
        read_clocks(start);
#pragma omp parallel
        sink = peaks[ps_isa_here()][precision](1e-3);
        double rate =
            2.0 * lanes * CHAINS * (1 << 20) * omp_get_max_threads() / busiest_since(start);
        best = fmax(best, rate);
    }
    return best;
}

HALF static double read_all(const half_d *data, int64_t count)
{
    half_d s[8] = {{0}};
    for (int64_t i = 0; i + 8 <= count; i += 8)
        for (int k = 0; k < 8; ++k) s[k] += data[i + k];
    for (int k = 1; k < 8; ++k) s[0] += s[k];
    return s[0][0];
}

/* Bytes per second at which all threads read `bytes`. */
static double measure_bandwidth(int64_t bytes)
{
    PS_SCOPED_MEMORY char *data = NULL;
    double best = 0;
    if (ps_isa_here() == PS_ISA_BASE || ps_alloc((void **)&data, bytes, 1, "bandwidth")) return 0;
    memset(data, 1, (size_t)bytes);
    for (int repeat = 0; repeat < 7; ++repeat) {
        double start[THREADS_MAX];
        read_clocks(start);
#pragma omp parallel
        {
            int64_t share = bytes / omp_get_num_threads() / 256 * 256;
            sink = read_all((const half_d *)(data + share * omp_get_thread_num()), share / 32);
        }
        best = fmax(best, (double)bytes / busiest_since(start));
    }
    return best;
}

/* ---- records ---- */

typedef struct ceilings {
    double bandwidth, peak[PS_PRECISION_COUNT];
} ceilings;

/* ---- products ---- */

/* Copies of one tile in all layouts, so that a sweep streams `count` tiles from memory. */
typedef struct set {
    const char *name; /* of the layout */
    ps_precision precision;
    int64_t count, value_bytes; /* of a tile */
    double flop_per_group;      /* of a sweep, 2 nnz */
    ps_slice_product product;
    ps_slice_tile *slices;
    ps_block_tile *blocks;
} set;

static void *copy_of(const void *from, size_t bytes)
{
    if (!from) return NULL;
    void *out = synthetic_array((int64_t)bytes, 1);
    return memcpy(out, from, bytes);
}

static double sweep(const set *s)
{
    ps_slice_product p = s->product;
    double best = 1e30;
    for (int repeat = 0; repeat < 5; ++repeat) {
        double start[THREADS_MAX];
        read_clocks(start);
        for (int64_t t = 0; t < s->count; ++t) {
            if (p.layout == PS_TILE_SLICES)
                p.slices = &s->slices[t];
            else
                p.blocks = &s->blocks[t];
            if (ps_slice_product_tile(&p, s->precision, 0) != PS_OK) abort();
        }
        best = fmin(best, busiest_since(start));
    }
    return best;
}

/* Attaches past and sums for a group. */
static void attach(set *s, int64_t group, int64_t k_max, int64_t columns, int64_t rows,
                   int64_t slices)
{
    size_t size = s->precision == PS_SINGLE ? 4 : 8;
    int64_t before = ps_product_past_before(k_max, columns);
    s->product.group = s->product.sums_stride = group;
    s->product.past_origin = before;
    s->product.past_stride = (before + ps_product_past_after(group) + 15) / 16 * 16;
    s->product.past = synthetic_array(slices * s->product.past_stride, size);
    s->product.sums = synthetic_array(rows * group, size);
}

static void detach(set *s) { PS_FREE((void *)s->product.past, s->product.sums); }

enum { HALVES = 4, LAYOUTS }; /* warps of halves, behind the layouts of tiles */
static const char *const layout_names[LAYOUTS] = {"slices", "full", "contiguous", "warp",
                                                  "warp-f16"};
static const char *const precision_names[] = {"f32", "f64"};
static const int64_t groups[] = {1, 4, 8, 16, 32};

static void measure_groups(set *s, const ceilings *top, int64_t k_max, int64_t columns,
                           int64_t rows, int64_t slices)
{
    for (int g = 0; g < 5; ++g) {
        char name[64];
        attach(s, groups[g], k_max, columns, rows, slices);
        double bytes = (double)(s->count * s->value_bytes);
        double flop = s->flop_per_group * (double)groups[g], time = sweep(s);
        double floor = fmax(bytes / top->bandwidth, flop / top->peak[s->precision]);
        snprintf(name, sizeof name, "%s-%s-ng%lld", s->name, precision_names[s->precision],
                 (long long)groups[g]);
        bench_record_cores(name, "slice_product_read", bytes / time / 1e9, "GB/s",
                           bytes / floor / 1e9, floor / time, bytes);
        bench_record_cores(name, "slice_product", flop / time / 1e9, "GFlop/s", flop / floor / 1e9,
                           floor / time, bytes);
        fprintf(stderr, "%-22s %7.2f GB/s %8.2f GFlop/s  %5.1f %% of the %s floor\n", name,
                bytes / time / 1e9, flop / time / 1e9, 100 * floor / time,
                bytes / top->bandwidth > flop / top->peak[s->precision] ? "bandwidth" : "FMA");
        detach(s);
    }
}

static const synthetic_slices real = {.unknowns = 24000, .shells = 340, .spread = 8.5, .seed = 1};

static void measure_layout(const ps_slice_tile *tile, ps_precision precision, int layout,
                           const ceilings *top, double megabytes)
{
    bool half = layout == HALVES;
    size_t size = half ? 2 : precision == PS_SINGLE ? 4 : 8;
    ps_block_header h = {.layout = half ? PS_BLOCK_WARP : (ps_block_layout)(layout - 1),
                         .block_rows = 64,
                         .block_columns = 32,
                         .half = half,
                         .slices = {.precision = precision, .d_max = (int64_t)tile->d_max}};
    if (layout == PS_TILE_CONTIGUOUS) h.block_columns = (int64_t)tile->d_max;
    ps_block_tile cut = {0};
    if (layout != PS_TILE_SLICES && ps_blocking_check(&h) != PS_OK) abort();
    if (layout != PS_TILE_SLICES) synthetic_cut(&h, tile, &cut);
    int64_t values = layout == PS_TILE_SLICES ? tile->value_count : cut.value_count;
    set s = {.name = layout_names[layout],
             .precision = precision,
             .value_bytes = values * (int64_t)size};
    s.count = (int64_t)(megabytes * 1e6 / (double)s.value_bytes) + 1;
    s.flop_per_group = 2.0 * (double)tile->value_count * (double)s.count;
    s.slices = calloc((size_t)s.count, sizeof *s.slices);
    s.blocks = calloc((size_t)s.count, sizeof *s.blocks);
    for (int64_t t = 0; t < s.count; ++t) {
        s.slices[t] = *tile;
        s.blocks[t] = cut;
        if (layout == PS_TILE_SLICES)
            s.slices[t].values = copy_of(tile->values, (size_t)s.value_bytes);
        else
            s.blocks[t].values = copy_of(cut.values, (size_t)s.value_bytes);
    }
    if (layout == PS_TILE_SLICES)
        ps_slice_product_set_slices(&s.product, s.slices);
    else
        ps_slice_product_set_blocks(&s.product, &h, s.blocks);
    measure_groups(&s, top, synthetic_k_bound(&real), 64, tile->first_row + tile->rows,
                   tile->first_slice + tile->slices);
    for (int64_t t = 0; t < s.count; ++t)
        free(layout == PS_TILE_SLICES ? s.slices[t].values : s.blocks[t].values);
    PS_FREE(s.slices, s.blocks);
    if (layout != PS_TILE_SLICES) synthetic_cut_free(&cut);
}

static void measure_layouts(const ceilings *top, double megabytes)
{
    for (int precision = 0; precision < 2; ++precision) {
        PS_SCOPED(synthetic_tile_free)
        ps_slice_tile tile = {.first_row = 4096, .rows = 512, .first_slice = 5000, .slices = 128};
        synthetic_tile(&real, (ps_precision)precision, true, &tile);
        synthetic_measure(&real, &tile);
        for (int layout = 0; layout < LAYOUTS; ++layout)
            measure_layout(&tile, (ps_precision)precision, layout, top, megabytes);
    }
}

/* ---- the paper's Tables 2 and 3 ---- */

enum { TABLE_ROWS = 6400, TABLE_SLICES = 16, TABLE_GROUP = 8 };

/* Dense blocks: every row-vector has block_columns values from k = 1 + slice. */
static double dense_rate(ps_precision precision, ps_block_layout layout, int64_t rows,
                         int64_t columns)
{
    size_t size = precision == PS_SINGLE ? 4 : 8;
    int64_t vectors = TABLE_ROWS * TABLE_SLICES;
    PS_SCOPED(synthetic_tile_free)
    ps_slice_tile tile = {.rows = TABLE_ROWS,
                          .slices = TABLE_SLICES,
                          .value_count = vectors * columns,
                          .d_max = (double)columns};
    tile.starts = synthetic_array(vectors, 2);
    tile.lengths = synthetic_array(vectors, 2);
    tile.values = synthetic_array(vectors * columns, size);
    for (int64_t v = 0; v < vectors; ++v) tile.starts[v] = 1, tile.lengths[v] = (uint16_t)columns;
    ps_block_header h = {.layout = layout,
                         .block_rows = rows,
                         .block_columns = columns,
                         .slices = {.precision = precision, .d_max = columns}};
    PS_SCOPED(synthetic_cut_free) ps_block_tile cut = {0};
    synthetic_cut(&h, &tile, &cut);
    set s = {.precision = precision, .count = 1, .blocks = &cut};
    ps_slice_product_set_blocks(&s.product, &h, &cut);
    attach(&s, TABLE_GROUP, 1, columns, TABLE_ROWS, TABLE_SLICES);
    double rate = 2.0 * TABLE_GROUP * (double)cut.value_count / sweep(&s);
    detach(&s);
    return rate / omp_get_max_threads() / 1e9;
}

static void print_tables(void)
{
    static const char *const paper[2][2] = {
        {"full, single: 2.7-8.5 on a Xeon X5650 core", "full, double: 2.6-4.3"},
        {"contiguous, single: 1.2-4.8", "contiguous, double: 1.2-2.6"}};
    for (int layout = 0; layout < 2; ++layout)
        for (int precision = 0; precision < 2; ++precision) {
            fprintf(stderr,
                    "GFlop/s a core at n_g = %d (paper, %s)\n   b_r  b_c=16     32     64    128\n",
                    TABLE_GROUP, paper[layout][precision]);
            for (int64_t rows = 16; rows <= 128; rows *= 2) {
                fprintf(stderr, "%6lld", (long long)rows);
                for (int64_t columns = 16; columns <= 128; columns *= 2)
                    fprintf(stderr, " %6.1f",
                            dense_rate((ps_precision)precision, (ps_block_layout)layout, rows,
                                       columns));
                fprintf(stderr, "\n");
            }
        }
}

int main(int argc, char **argv)
{
    if (!getenv("OMP_WAIT_POLICY")) { /* waiting threads must not count as busy */
        setenv("OMP_WAIT_POLICY", "passive", 1);
        execv("/proc/self/exe", argv);
    }
    const char *wanted = getenv("BENCH_MB");
    double megabytes = wanted ? atof(wanted) : 192;
    ceilings top = {measure_bandwidth((int64_t)(megabytes * 1e6) / 4096 * 4096),
                    {measure_peak(PS_SINGLE), measure_peak(PS_DOUBLE)}};
    bench_record_cores("ceiling", "read_bandwidth", top.bandwidth / 1e9, "GB/s",
                       top.bandwidth / 1e9, 1, megabytes * 1e6);
    for (int p = 0; p < 2; ++p)
        bench_record_cores(precision_names[p], "fma_peak", top.peak[p] / 1e9, "GFlop/s",
                           top.peak[p] / 1e9, 1, 0);
    fprintf(stderr, "read %.1f GB/s, FMA %.0f and %.0f GFlop/s, %d threads, %s\n",
            top.bandwidth / 1e9, top.peak[0] / 1e9, top.peak[1] / 1e9, omp_get_max_threads(),
            ps_isa_name(ps_isa_here()));
    if (argc > 1 && strcmp(argv[1], "--ceilings") == 0) return 0;
    measure_layouts(&top, megabytes);
    print_tables();
    return 0;
}
