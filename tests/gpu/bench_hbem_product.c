/*
 * bench_hbem_product: products with H-matrices that lie on a CUDA device: trees and leaves of a
 * hull of 115,000 unknowns (waves, k = 4.19) and of a sphere of 1.5 million (Laplace), ranks about
 * those of an eps of 1e-4, random numbers. All chunks at once, and in runs of chunks as when they
 * are streamed. JSON records; talk on stderr. Arguments: the names of cases; all if there are none.
 *
 * Floor: bytes of all values as stored, read once at 4.58 TB/s.
 */
#include <stdio.h>

#include "runtime/compare.h"
#include "tests/support/device_clock.h"
#include "tests/support/hbem_bodies.h"
#include "tests/support/hbem_product_device.h"
#include "tests/support/record.h"

enum { ROUNDS = 7, CHUNKS = 64 };

typedef struct bench_case {
    const char *name;
    int n;
    double half, k;
    bool symmetric;
    ps_precision precision;
    int leaf;
} bench_case;

static const bench_case cases[] = {
    {"hbem-product/hull-dlp-fp32", 28, 31, 4.18879, false, PS_SINGLE, 32},
    {"hbem-product/hull-hyps-fp32", 28, 31, 4.18879, true, PS_SINGLE, 32},
    {"hbem-product/hull-dlp-fp64", 28, 31, 4.18879, false, PS_DOUBLE, 32},
    {"hbem-product/sphere-1m5-slp-fp32", 612, 0, 0, true, PS_SINGLE, 48},
    {"hbem-product/sphere-1m5-dlp-fp32", 612, 0, 0, false, PS_SINGLE, 48},
};

/* Leaves with ranks: more where clusters are wider. */
static void make_leaves(random_hmatrix *h, const bench_case *of)
{
    PS_SCOPED(hbem_case_release) hbem_case body = {0};
    PS_SCOPED(hbem_tree_free) ps_cluster_tree tree = {0};
    if (of->half > 0)
        hbem_hull_make(&body, of->n, of->half);
    else
        hbem_case_sphere(&body, of->n);
    hbem_case_finish(&body, PS_SPACE_P1, 1e-4);
    hbem_tree_make(&tree, &body.space, of->leaf);
    ps_block_tree blocks = {&tree, &tree, 2, of->symmetric};
    int64_t count;
    h->leaves = hbem_leaves(&blocks, &count);
    h->matrix = (ps_hmatrix){.rows = body.space.dofs,
                             .columns = body.space.dofs,
                             .leaf_count = count,
                             .parts = of->k > 0 ? 2 : 1,
                             .symmetric = of->symmetric,
                             .precision = of->precision,
                             .leaves = h->leaves};
    must(ps_hmatrix_init(&h->matrix));
    double density = (double)body.space.dofs / (of->half > 0 ? 1400 : 4 * M_PI);
    for (int64_t l = 0; l < count; ++l) {
        const ps_hmatrix_leaf *at = &h->leaves[l];
        int64_t m = at->row_end - at->row_begin, n = at->column_end - at->column_begin;
        int64_t least = m < n ? m : n,
                rank = (int64_t)(8 + of->k * sqrt((double)least / density) / 2);
        h->matrix.blocks[l].rank = at->far && rank * (m + n) < m * n ? rank : PS_RANK_DENSE;
    }
}

/* Random numbers everywhere on the device. */
static void fill_images(product_place *p, int64_t bytes)
{
    enum { PIECE = 64 << 20 };
    uint64_t seed = 9;
    PS_SCOPED_MEMORY double *numbers = malloc(PIECE);
    float *halves = (float *)numbers;
    bool single = p->d.tables.matrix->precision == PS_SINGLE;
    for (int64_t i = 0; i < PIECE / (single ? 4 : 8); ++i) {
        double number = 2 * check_random(&seed) - 1;
        single ? (halves[i] = (float)number) : (numbers[i] = number);
    }
    for (int64_t at = 0; at < bytes; at += PIECE)
        must(ps_copy_to_device(p->stream, (char *)p->images + at, numbers,
                               bytes - at < PIECE ? bytes - at : PIECE));
    must(ps_stream_wait(p->stream));
}

static void product(product_place *p, int64_t run)
{
    const ps_product_tables *t = &p->d.tables;
    must(ps_product_device_begin(&p->d, p->stream));
    for (int64_t c = 0; c < t->chunks; c += run)
        must(ps_product_device_run(&p->d, c, c + run < t->chunks ? run : t->chunks - c, p->stream));
    must(ps_product_device_end(&p->d, p->stream));
}

/* Median seconds. */
static double time_products(product_place *p, int64_t run)
{
    PS_SCOPED(device_clock_close) device_clock clock = {0};
    double seconds[ROUNDS];
    must(device_clock_open(&clock, p->stream));
    for (int round = -1; round < ROUNDS; ++round) {
        must(device_clock_start(&clock));
        product(p, run);
        must(device_clock_stop(&clock, &seconds[round < 0 ? 0 : round])); /* 0 is taken anew */
    }
    qsort(seconds, ROUNDS, sizeof *seconds, ps_compare_reals);
    return seconds[ROUNDS / 2];
}

static void bench(const bench_case *of, ps_stream *stream)
{
    static const int64_t sides[] = {1, 2, 4, 8, 16};
    PS_SCOPED(random_hmatrix_free)
    random_hmatrix h = {.chunks = CHUNKS, .chunk_first = calloc(CHUNKS + 1, 8)};
    PS_SCOPED(random_tables_free) random_tables r = {0};
    PS_SCOPED(product_place_close) product_place p = {0};
    make_leaves(&h, of);
    for (int64_t c = 0; c <= CHUNKS; ++c) h.chunk_first[c] = h.matrix.leaf_count * c / CHUNKS;
    random_tables_fill(&r, &h);
    product_place_open(&p, &r.tables, r.memory, NULL, 16, stream);
    fill_images(&p, r.bytes);
    p.d.sides = 16;
    PS_SCOPED_MEMORY double *x = malloc((size_t)(16 * h.matrix.parts * h.matrix.columns) * 8);
    for (int64_t i = 0; i < 16 * h.matrix.parts * h.matrix.columns; ++i) x[i] = sin((double)i);
    must(ps_copy_to_device(stream, p.d.x, x, 16 * h.matrix.parts * h.matrix.columns * 8));
    must(ps_product_device_locate(&p.d, 0, CHUNKS, p.images, stream));
    double stored = 0, size = of->precision == PS_SINGLE ? 4 : 8;
    for (int64_t l = 0; l < h.matrix.leaf_count; ++l)
        stored += size * (double)ps_hmatrix_numbers(&h.matrix, l, h.matrix.blocks[l].rank);
    fprintf(stderr,
            "%s: N %lld, %lld leaves, %.2f GB stored, %.2f GB on the device, tables %.2f GB\n",
            of->name, (long long)h.matrix.rows, (long long)h.matrix.leaf_count, stored / 1e9,
            (double)r.bytes / 1e9, (double)r.tables.device_bytes / 1e9);
    for (int i = 0; i < 6; ++i) {
        int64_t run = i < 5 ? CHUNKS : 2;
        p.d.sides = i < 5 ? sides[i] : 1;
        double seconds = time_products(&p, run), floor = stored / 4.58e12;
        bench_record(bench_device(ps_stream_device(stream)), of->name,
                     text("product, %lld %s%s", (long long)p.d.sides,
                          p.d.sides == 1 ? "side" : "sides",
                          run < CHUNKS ? ", in 32 runs of chunks" : ""),
                     1e3 * seconds, "ms", 1e3 * floor,
                     text("N = %lld, %.3g GB, made-up ranks%s", (long long)h.matrix.rows,
                          stored / 1e9, of->symmetric ? ", upper half" : ""));
    }
}

int main(int argc, char **argv)
{
    ps_device *device = NULL;
    ps_stream *stream = NULL;
    must(ps_device_open("cuda:0", 0, &device));
    must(ps_stream_open(device, &stream));
    for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c) {
        bool wanted = argc < 2;
        for (int a = 1; a < argc; ++a) wanted |= strcmp(argv[a], cases[c].name) == 0;
        if (wanted) bench(&cases[c], stream);
    }
    ps_stream_close(&stream);
    ps_device_close(&device);
    return 0;
}
