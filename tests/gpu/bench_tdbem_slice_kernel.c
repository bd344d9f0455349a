/*
 * The slice product on a GPU against the card's ceilings, JSON records on stdout, a table on
 * stderr: slice-kernel/warp-...: warp-packed blocks with the structure of an airplane, 24,000 rows;
 *   warp-half-...: their values as halves;
 *   slice-kernel/full-..., contiguous-...: the blocks of Tables 2 and 3 of Bramas, Coulaud, Sylvand
 *   2014, 256 slices of 6400 rows (copies of them, to exceed the cache), by the paper's kernels
 *   (teams) and by ours (rows).
 * The floor of a case is the time of reading its stored bytes (values and indices) once or of its
 * flops (2 n_g per stored value: padding is work, as in the paper) at the measured ceilings of an
 * H200, whichever is longer; fraction = floor / time. Arguments: the names of parts: warp, grid
 * (default both), rows (the grid by our kernels alone), full (of these, full blocks and contiguous
 * ones of 16 rows), half (warps of halves), sample (rows on a few blocks).
 */
#include <stdio.h>

#include "runtime/program.h"
#include "tests/gpu/slice_bench.h"

static const double read_rate = 4.58e12, peak[] = {55.9e12, 32.3e12};
static const int64_t groups[] = {1, 4, 8, 16, 32};
enum { GROUPS = 5 };
static const char *const precisions[] = {"f32", "f64"};
static ps_device *device;
/* Pinned; device memory is filled from them: values of 4, 8 and 2 bytes. */
static void *pools[3];

static void record(const char *name, const bench_batch *b, double seconds)
{
    ps_precision precision = b->plan.precision;
    double size = b->plan.half ? 2 : precision == PS_SINGLE ? 4 : 8;
    double bytes = (double)b->stored_bytes;
    double flop = 2.0 * (double)b->plan.group * (double)b->value_bytes / size;
    double floor = fmax(bytes / read_rate, flop / peak[precision]);
    const char *format = "{\"case\": \"slice-kernel/%s\", \"quantity\": \"%s\", \"value\": %.6g, "
                         "\"unit\": \"%s\", \"floor\": %.6g, \"fraction\": %.4g, \"size\": %.6g, "
                         "\"device\": \"%s\", \"revision\": \"%s\"}\n";
    ps_device_info info = ps_device_describe(device);
    printf(format, name, "read", bytes / seconds / 1e12, "TB/s", bytes / floor / 1e12,
           floor / seconds, bytes, info.name, ps_revision());
    printf(format, name, "flops", flop / seconds / 1e12, "TFlop/s", flop / floor / 1e12,
           floor / seconds, bytes, info.name, ps_revision());
    fprintf(stderr, "%-40s %8.3f ms %7.2f TB/s (%3.0f %%) %7.2f TFlop/s (%3.0f %%)\n", name,
            1e3 * seconds, bytes / seconds / 1e12, 100 * bytes / seconds / read_rate,
            flop / seconds / 1e12, 100 * flop / seconds / peak[precision]);
}

/* All groups of a case; `what` names it. */
static ps_status measure(slice_bench *s, bench_batch *b, const char *what)
{
    for (int g = 0; g < GROUPS; ++g) {
        char name[80];
        double seconds;
        s->group = groups[g];
        bench_unplan(b);
        PS_TRY(bench_plan(s, b));
        PS_TRY(bench_time(b, 3, &seconds));
        snprintf(name, sizeof name, "%s-%s-ng%lld", what, precisions[s->header.slices.precision],
                 (long long)s->group);
        record(name, b, seconds);
    }
    return PS_OK;
}

static ps_status bench_warp(ps_precision precision, bool half)
{
    slice_bench s = {.rows = 24000, .slices = 18, .copies = precision == PS_SINGLE ? 480 : 240};
    s.header =
        (ps_block_header){.layout = PS_BLOCK_WARP, .block_rows = 32, .block_columns = BENCH_D_MAX};
    s.header.half = half;
    s.header.slices.precision = precision;
    s.header.slices.k_max = BENCH_K;
    bench_batch b = {
        .device = device, .pool = pools[half ? 2 : precision], .past_pool = pools[precision]};
    ps_status status = bench_init(&s, &b);
    if (status == PS_OK) status = measure(&s, &b, half ? "warp-half" : "warp");
    bench_release(&b);
    return status;
}

static ps_status bench_blocks(ps_precision precision, ps_block_layout layout, int64_t rows,
                              int64_t columns, bool teams_too)
{
    slice_bench s = {.rows = 6400, .slices = 256};
    char name[64];
    s.copies =
        (int64_t)(2e9 / (256 * 6400.0 * (double)columns * (precision == PS_SINGLE ? 4 : 8))) + 1;
    s.header = (ps_block_header){.layout = layout, .block_rows = rows, .block_columns = columns};
    s.header.slices.precision = precision;
    s.header.slices.k_max = BENCH_K;
    bench_batch b = {.device = device, .pool = pools[precision], .past_pool = pools[precision]};
    ps_status status;
    PS_GUARD(status, done, bench_init(&s, &b));
    for (s.kernel = PS_SLICE_KERNEL_ROWS; s.kernel <= PS_SLICE_KERNEL_TEAMS; ++s.kernel) {
        bool teams = s.kernel == PS_SLICE_KERNEL_TEAMS;
        if (teams && !teams_too) continue;
        snprintf(name, sizeof name, "%s-%s-br%lld-bc%lld", ps_block_layout_name(layout),
                 teams ? "teams" : "rows", (long long)rows, (long long)columns);
        PS_GUARD(status, done, measure(&s, &b, name));
    }
done:
    bench_release(&b);
    return status;
}

static ps_status bench_grid(ps_precision precision, bool teams_too)
{
    for (int layout = PS_BLOCK_FULL; layout <= PS_BLOCK_CONTIGUOUS; ++layout)
        for (int64_t rows = 16; rows <= 256; rows *= 2)
            for (int64_t columns = 16; columns <= 128; columns *= 2)
                PS_TRY(bench_blocks(precision, (ps_block_layout)layout, rows, columns, teams_too));
    return PS_OK;
}

static ps_status bench_full(ps_precision precision)
{
    for (int64_t columns = 16; columns <= 128; columns *= 2) {
        for (int64_t rows = 16; rows <= 256; rows *= 2)
            PS_TRY(bench_blocks(precision, PS_BLOCK_FULL, rows, columns, false));
        PS_TRY(bench_blocks(precision, PS_BLOCK_CONTIGUOUS, 16, columns, false));
    }
    return PS_OK;
}

static ps_status bench_sample(ps_precision precision)
{
    for (int64_t rows = 16; rows <= 256; rows *= 4)
        for (int64_t columns = 16; columns <= 128; columns *= 8)
            PS_TRY(bench_blocks(precision, PS_BLOCK_FULL, rows, columns, false));
    return bench_blocks(precision, PS_BLOCK_CONTIGUOUS, 16, 16, false);
}

static bool named(int argc, char **argv, const char *part)
{
    for (int i = 1; i < argc; ++i)
        if (strcmp(argv[i], part) == 0) return true;
    return false;
}

static bool wanted(int argc, char **argv, const char *part)
{
    return argc == 1 || named(argc, argv, part);
}

static ps_status run_all(int argc, char **argv)
{
    PS_TRY(ps_device_open("cuda:0", 0, &device));
    static const int64_t sizes[] = {4, 8, 2};
    for (int p = 0; p < 3; ++p) {
        PS_TRY(ps_device_alloc_pinned(device, POOL_BYTES, &pools[p]));
        bench_pool(sizes[p], pools[p]);
    }
    for (int p = 0; p < 2; ++p) {
        if (wanted(argc, argv, "warp")) PS_TRY(bench_warp((ps_precision)p, false));
        if (wanted(argc, argv, "warp")) PS_TRY(bench_warp((ps_precision)p, true));
        if (named(argc, argv, "full")) PS_TRY(bench_full((ps_precision)p));
        if (named(argc, argv, "half")) PS_TRY(bench_warp((ps_precision)p, true));
        if (named(argc, argv, "sample")) PS_TRY(bench_sample((ps_precision)p));
        if (wanted(argc, argv, "grid")) PS_TRY(bench_grid((ps_precision)p, true));
        if (named(argc, argv, "rows")) PS_TRY(bench_grid((ps_precision)p, false));
    }
    return PS_OK;
}

int main(int argc, char **argv)
{
    ps_status status = run_all(argc, argv);
    if (status != PS_OK) fprintf(stderr, "bench_tdbem_slice_kernel: %s\n", ps_message());
    return (int)status;
}
