/*
 * H-matrices on the CUDA device: regular pairs a second, Laplace on the sphere, the operators of a
 * body as long as the paper's submarine. Prints JSON records; talk goes to stderr.
 *
 * Floors of pairs: hand-counted instructions at the ceilings of the numerics guide. Assemblies:
 * their bytes written once at 4.29 TB/s. Errors: sampled rows against graded entries on the CPU,
 * fp64. Arguments: the names of the cases to run; all if there are none.
 */
#include <stdio.h>

#include "runtime/program.h"
#include "tests/support/hbem_bodies.h"
#include "tests/support/hbem_device.h"
#include "tests/support/hbem_hmatrix.h"
#include "tests/support/record.h"

typedef struct bench_case {
    const char *name;
    int n;       /* sphere: 8 n^2 triangles; hull: n cells from its axis to its side      */
    double half; /* m, half the length of the hull; 0: the unit sphere                   */
    ps_hbem_kernel kernel;
    double k, tolerance;
    ps_precision precision;
    bool symmetric, skeleton;
    int leaf, samples;
    double arena_gb, workspace_gb, pairs_floor; /* floor: of regular pairs, 1/s          */
} bench_case;

#define BALL 0
#define HULL 31
static const bench_case cases[] = {
    {"hbem-pairs/laplace-slp-fp32", 150, BALL, PS_KERNEL_SLP, 0, 1e-4, PS_SINGLE, true, false, 48,
     8, 8, 8, 7.4e10},
    {"hbem-pairs/laplace-slp-fp64", 150, BALL, PS_KERNEL_SLP, 0, 1e-4, PS_DOUBLE, true, false, 48,
     8, 16, 8, 2.2e10},
    {"hbem-pairs/laplace-dlp-fp32", 150, BALL, PS_KERNEL_DLP, 0, 1e-4, PS_SINGLE, false, false, 48,
     0, 12, 8, 4.7e10},
    {"hbem-pairs/helmholtz-dlp-fp32", 150, BALL, PS_KERNEL_DLP, 20, 1e-4, PS_SINGLE, false, false,
     40, 8, 24, 8, 2.5e10},
    {"hbem-pairs/helmholtz-dlp-fp64", 100, BALL, PS_KERNEL_DLP, 20, 1e-4, PS_DOUBLE, false, false,
     40, 0, 24, 8, 5.5e9},
    {"hbem-sphere-90k", 150, BALL, PS_KERNEL_SLP, 0, 1e-4, PS_SINGLE, true, true, 48, 16, 8, 8, 0},
    {"submarine-setup-dlp", 28, HULL, PS_KERNEL_DLP, 4.18879, 1e-4, PS_SINGLE, false, true, 40, 16,
     24, 8, 0},
    {"submarine-setup-hyps", 28, HULL, PS_KERNEL_HYPS, 4.18879, 1e-4, PS_SINGLE, true, true, 40, 16,
     24, 8, 0},
    {"hbem-sphere-1m5", 612, BALL, PS_KERNEL_SLP, 0, 1e-4, PS_SINGLE, true, true, 48, 16, 30, 12,
     0},
    {"hbem-sphere-4m2", 1025, BALL, PS_KERNEL_SLP, 0, 1e-4, PS_SINGLE, true, true, 40, 16, 70, 16,
     0},
};
enum { CASES = sizeof cases / sizeof *cases };

/* ---- records ---- */

typedef struct bench {
    const bench_case *of;
    hbem_case body;
    ps_cluster_tree tree;
    ps_hbem_operator op;
    ps_hmatrix_leaf *leaves;
    hbem_device d;
    char size[160];
    ps_device *device;
} bench;

static void record(const bench *b, const char *quantity, double value, const char *unit,
                   double floor)
{
    bench_record(bench_device(b->device), b->of->name, quantity, value, unit, floor, b->size);
}

/* Regular pairs of near leaves, close ones included: they are walked, too. */
static double near_pairs(const bench *b)
{
    const ps_hbem_device_side *s = &b->d.op.test;
    PS_SCOPED_MEMORY int32_t *cluster = malloc((size_t)s->dofs * 4),
                             *slot = malloc((size_t)(s->clusters + 1) * 4);
    must(ps_copy_to_host(b->d.stream, cluster, s->cluster_of, 4 * s->dofs));
    must(ps_copy_to_host(b->d.stream, slot, s->slot_begin, 4 * (s->clusters + 1)));
    must(ps_stream_wait(b->d.stream));
    double sum = 0;
    for (int64_t l = 0; l < b->d.near_count; ++l) {
        int32_t r = cluster[b->d.batch.at[l].row_begin], c = cluster[b->d.batch.at[l].column_begin];
        sum += (double)(slot[r + 1] - slot[r]) * (slot[c + 1] - slot[c]);
    }
    return sum - (double)b->d.close_first[b->d.near_count];
}

/* ---- errors ---- */

/* Adds a block's part of row `row` (of column `row`, transposed) to out[part][dofs]. */
static void add_row(bench *b, const ps_hbem_device_leaf *at, const ps_hbem_device_block *block,
                    bool transposed, int64_t row, float *values, double *out)
{
    int64_t m = at->row_end - at->row_begin, n = at->column_end - at->column_begin;
    int64_t parts = b->d.op.wavenumber != 0 ? 2 : 1, dofs = b->op.trial->dofs;
    int64_t i = row - (transposed ? at->column_begin : at->row_begin);
    int64_t numbers = block->rank < 0 ? m * n * parts : block->rank * (m + n) * parts;
    int64_t size = b->d.op.precision == PS_SINGLE ? 4 : 8,
            to = transposed ? at->row_begin : at->column_begin;
    must(ps_copy_to_host(b->d.stream, values, (char *)b->d.far.arena.values + block->offset * size,
                         numbers * size));
    must(ps_stream_wait(b->d.stream));
    ps_hmatrix_leaf leaf = {0, m, 0, n, true};
    ps_hmatrix_block one = {block->rank, 0, values};
    ps_hmatrix matrix = {m, n, 1, (int)parts, false, b->d.op.precision, &leaf, &one};
    for (int64_t j = 0; j < (transposed ? m : n); ++j) {
        double own[2];
        hbem_leaf_entry(&matrix, 0, transposed ? j : i, transposed ? i : j, own);
        for (int64_t p = 0; p < parts; ++p) out[p * dofs + to + j] += own[p];
    }
}

static void device_row(bench *b, int64_t row, float *values, double *out)
{
    for (int64_t l = 0; l < b->d.leaf_count; ++l) {
        const ps_hbem_device_leaf *at = &b->d.batch.at[l];
        const ps_hbem_device_block *block = &b->d.batch.blocks[l];
        if (row >= at->row_begin && row < at->row_end)
            add_row(b, at, block, false, row, values, out);
        if (b->of->symmetric && at->row_begin != at->column_begin && row >= at->column_begin &&
            row < at->column_end)
            add_row(b, at, block, true, row, values, out);
    }
}

/* |rows of H - exact rows| / |exact rows|. */
static double sampled_error(bench *b)
{
    int64_t n = b->op.trial->dofs, parts = ps_hbem_parts(&b->op), most = 1;
    double error = 0, norm = 0;
    for (int64_t l = 0; l < b->d.leaf_count; ++l) {
        const ps_hbem_device_leaf *at = &b->d.batch.at[l];
        int64_t size = (int64_t)(at->row_end - at->row_begin) + (at->column_end - at->column_begin);
        most = size > most ? size : most;
    }
    PS_SCOPED_MEMORY float *values = malloc((size_t)most * PS_HBEM_DEVICE_RANK_MAX * 16);
    PS_SCOPED_MEMORY double *rows = calloc((size_t)(b->of->samples * parts * n), sizeof *rows);
    for (int s = 0; s < b->of->samples; ++s)
        device_row(b, (n - 1) * s / b->of->samples, values, rows + s * parts * n);
#pragma omp parallel for schedule(dynamic, 1) reduction(+ : error, norm)
    for (int s = 0; s < b->of->samples; ++s) {
        int64_t i = (n - 1) * s / b->of->samples;
        PS_SCOPED_MEMORY double *exact =
            hbem_block(&b->op, (ps_hbem_range){i, i + 1}, (ps_hbem_range){0, n});
        for (int64_t e = 0; e < parts * n; ++e) {
            double difference = rows[s * parts * n + e] - exact[e];
            error += difference * difference;
            norm += exact[e] * exact[e];
        }
    }
    return sqrt(error / norm);
}

/* ---- cases ---- */

static void prepare(bench *b)
{
    const bench_case *of = b->of;
    double start = ps_clock();
    if (of->half > 0)
        hbem_hull_make(&b->body, of->n, of->half);
    else
        hbem_case_sphere(&b->body, of->n);
    must(ps_hbem_surface_check_closed(&b->body.surface));
    hbem_case_finish(&b->body, PS_SPACE_P1, of->tolerance);
    double meshed = ps_clock();
    hbem_tree_make(&b->tree, &b->body.space, of->leaf);
    double built = ps_clock();
    b->op = hbem_case_operator(&b->body, of->kernel, of->k);
    b->op.far_precision = of->precision;
    ps_block_tree blocks = {&b->tree, &b->tree, 2, of->symmetric};
    int64_t count;
    b->leaves = hbem_leaves(&blocks, &count);
    b->d.leaf_count = count;
    fprintf(stderr, "%s: N %lld, %lld leaves; mesh %.2f s, tree %.2f s, leaves %.2f s\n", of->name,
            (long long)b->body.space.dofs, (long long)count, meshed - start, built - meshed,
            ps_clock() - built);
    snprintf(b->size, sizeof b->size, "N = %lld, k = %g, eps %g, eta 2, leaf %d%s%s",
             (long long)b->body.space.dofs, of->k, of->tolerance, of->leaf,
             of->symmetric ? ", upper half" : "", of->skeleton ? ", skeletons" : "");
}

static void tell(const bench *b, const double warm[4])
{
    const hbem_device *d = &b->d;
    int64_t size = d->op.precision == PS_SINGLE ? 4 : 8;
    double bytes = (double)d->report.cursor * (double)size, rank = 0;
    for (int64_t l = 0; l < d->far_count; ++l) rank += d->batch.blocks[d->near_count + l].rank;
    double all = d->seconds[1] + d->seconds[2] + d->seconds[3], pairs = near_pairs(b);
    fprintf(stderr,
            "%s: near %lld far %lld, close pairs %lld; upload %.3f near %.3f close %.3f far %.3f s "
            "(first %.3f %.3f %.3f); %.2f GB, mean rank %.2f; by entries %u dense %u over %u %u; "
            "near %.3g pairs/s, entries %.3g pairs\n",
            b->of->name, (long long)d->near_count, (long long)d->far_count,
            (long long)d->close_first[d->near_count], d->seconds[0], d->seconds[1], d->seconds[2],
            d->seconds[3], warm[1], warm[2], warm[3], bytes / 1e9,
            rank / (double)(d->far_count + 1), d->report.by_entries, d->report.dense,
            d->report.over_rank, d->report.over_arena, pairs / d->seconds[1],
            (double)d->report.pairs);
    for (int s = 0; getenv("HBEM_SIZES") && s < PS_HBEM_FAR_SIZES; ++s)
        fprintf(stderr, "%s: %lld far leaves of size %d: %.4f s\n", b->of->name,
                (long long)d->far.list_count[s], s, d->of_size[s]);
    if (b->of->pairs_floor > 0) {
        double near = pairs / d->seconds[1], far = (double)d->report.pairs / d->seconds[3];
        record(b, "regular pairs of near leaves", near, "1/s", b->of->pairs_floor);
        record(b, "regular pairs of rows and columns, with all of ACA", far, "1/s",
               b->of->pairs_floor);
        return;
    }
    record(b, "assembly", all, "s", bytes / 4.29e12);
    record(b, "near leaves", d->seconds[1] + d->seconds[2], "s", 0);
    record(b, "far leaves", d->seconds[3], "s", 0);
    record(b, "tables and triangles to the device", d->seconds[0], "s", 0);
    record(b, "memory per dof", bytes / (double)b->body.space.dofs, "B", 0);
}

static void run_case(const bench_case *of, ps_device *device)
{
    bench b = {.of = of, .device = device};
    double warm[4] = {0};
    ps_hbem_device_far_options options = {
        of->tolerance, 8, of->half > 0 ? PS_HBEM_DEVICE_RANK_MAX : 64, true, of->skeleton, 0};
    int64_t size = of->precision == PS_SINGLE ? 4 : 8;
    prepare(&b);
    int64_t count = b.d.leaf_count;
    for (int run = 0; run < 2; ++run) { /* the first one warms up */
        hbem_device_open(&b.d, device, &b.op, &b.tree);
        hbem_device_leaves(&b.d, b.leaves, count, options.max_rank,
                           (int64_t)(of->arena_gb * 1e9) / size);
        hbem_device_run_near(&b.d, 60000000);
        hbem_device_run_far(&b.d, &options, (int64_t)(of->workspace_gb * 1e9));
        if (run == 0 && of->n < 600) {
            memcpy(warm, b.d.seconds, sizeof warm);
            hbem_device_close(&b.d);
            continue;
        }
        break;
    }
    tell(&b, warm);
    if (of->samples > 0 && b.d.report.over_rank + b.d.report.over_arena == 0) {
        double start = ps_clock();
        record(&b, "relative error of sampled rows", sampled_error(&b), "", of->tolerance);
        fprintf(stderr, "%s: rows checked in %.1f s\n", of->name, ps_clock() - start);
    }
    hbem_device_close(&b.d);
    hbem_tree_free(&b.tree);
    free(b.leaves);
    hbem_case_release(&b.body);
}

int main(int argc, char **argv)
{
    ps_device *device;
    const char *name = getenv("CHECK_DEVICE") ? getenv("CHECK_DEVICE") : "cuda:0";
    must(ps_device_open(name, 0, &device));
    for (int c = 0; c < CASES; ++c) {
        bool wanted = argc < 2;
        for (int a = 1; a < argc; ++a) wanted |= strcmp(argv[a], cases[c].name) == 0;
        if (wanted) run_case(&cases[c], device);
    }
    ps_device_close(&device);
    return 0;
}
