/*
 * cuSPARSE beside the slice product: the sparse matrix/vector product of the same M^k in CSR, all
 * of them in one matrix [M^1 .. M^K] of N rows, whose columns are the entries of the past; what a
 * program without slices would call. JSON records on stdout.
 *
 * cusparse-csr: rows of tests/gpu/slice_bench.h's warps, 93 of 100 values kept, as the airplane
 * has. cusparse-full-..., -contiguous-...: the matrices of the table of bench_tdbem_slice_kernel.
 * GFlop/s count 2 per stored value, one step; n_g steps take n_g products. The floor reads values,
 * 32-bit column indices and nothing else once. The library is opened at run time, so that nothing
 * here depends on it; without it the program says so and ends well. Argument: the path of
 * libcusparse.so.12 where the loader does not find it.
 */
#include <stdio.h>

#include "runtime/vendor_sparse.h"
#include "runtime/program.h"
#include "tests/gpu/slice_bench.h"

static const double read_rate = 4.58e12;
static ps_device *device;
static void *pools[2]; /* pinned: device memory is filled from them */

static const char *path; /* of the library; NULL: where the loader finds it */

/* ---- the matrix ---- */

enum { PAST = 512 /* values of the past a slice */ };

typedef struct csr {
    int64_t rows, slices, nnz;
    int32_t *row_start, *columns; /* the library wants both of one width */
} csr;

static ps_status csr_alloc(csr *m, int64_t rows, int64_t slices, int64_t longest)
{
    *m = (csr){.rows = rows, .slices = slices};
    PS_TRY(ps_alloc_untouched((void **)&m->columns, rows * slices * longest * 4, "columns"));
    return PS_ALLOC(&m->row_start, rows + 1, "rows");
}

static void csr_release(csr *m)
{
    free(m->row_start);
    free(m->columns);
}

/* Appends the row-vector of slice j, `length` values from k = start on. */
static int64_t add_vector(csr *m, int64_t at, int64_t j, int64_t start, int64_t length)
{
    int64_t first = (j + 1) * PAST - start - length;
    for (int64_t q = 0; q < length; ++q) m->columns[at++] = (int32_t)(first + q);
    return at;
}

/* The structure of an airplane, 93 of 100 values of warps kept. */
static ps_status make_airplane(csr *out)
{
    uint64_t state = 3;
    uint16_t *starts;
    PS_TRY(csr_alloc(out, 24000, 400, BENCH_D_MAX));
    PS_TRY(PS_ALLOC(&starts, out->slices * out->rows, "starts"));
    for (int64_t v = 0; v < out->slices * out->rows; v += 32)
        bench_starts(&state, BENCH_D_MAX, starts + v, 32);
    for (int64_t i = 0; i < out->rows; ++i) {
        for (int64_t j = 0; j < out->slices; ++j) /* mean length 9.5 */
            out->nnz = add_vector(out, out->nnz, j, starts[j * out->rows + i],
                                  8 + (int64_t)(bench_next(&state) & 3));
        out->row_start[i + 1] = (int32_t)out->nnz;
    }
    free(starts);
    return PS_OK;
}

/* The matrix that blocks of bench_tdbem_slice_kernel's table stand for, with fewer copies of its
 * tile: some 64 million values. */
static ps_status make_table(const slice_bench *s, csr *out)
{
    const ps_block_header *h = &s->header;
    int64_t columns = h->block_columns, bytes;
    ps_block_tile tile;
    void *image;
    PS_TRY(csr_alloc(out, s->rows, s->slices * s->copies, columns));
    PS_TRY(bench_image(s, &tile, &image, &bytes));
    int64_t a_slice = s->rows / h->block_rows;
#pragma omp parallel for
    for (int64_t i = 0; i < s->rows; ++i) {
        int64_t at = i * out->slices * columns;
        for (int64_t j = 0; j < out->slices; ++j) {
            int64_t slice = j % s->slices;
            at = add_vector(out, at, j,
                            h->layout == PS_BLOCK_FULL
                                ? tile.corner_columns[slice * a_slice + i / h->block_rows]
                                : tile.starts[slice * s->rows + i],
                            columns);
        }
        out->row_start[i + 1] = (int32_t)at;
    }
    out->nnz = out->rows * out->slices * columns;
    free(image);
    return PS_OK;
}

/* ---- measuring ---- */

typedef struct run {
    ps_device *device;
    ps_stream *stream;
    void *row_start, *columns, *values, *x, *y, *pool;
} run;

static ps_status upload(run *r, const csr *m, int64_t size)
{
    bench_batch fill = {.stream = r->stream};
    int64_t x_bytes = m->slices * PAST * size;
    PS_TRY(ps_device_alloc(r->device, (m->rows + 1) * 4, &r->row_start));
    PS_TRY(ps_device_alloc(r->device, m->nnz * 4, &r->columns));
    PS_TRY(ps_device_alloc(r->device, m->nnz * size, &r->values));
    PS_TRY(ps_device_alloc(r->device, x_bytes, &r->x));
    PS_TRY(ps_device_alloc(r->device, m->rows * size, &r->y));
    PS_TRY(ps_copy_to_device(r->stream, r->row_start, m->row_start, (m->rows + 1) * 4));
    PS_TRY(ps_copy_to_device(r->stream, r->columns, m->columns, m->nnz * 4));
    PS_TRY(bench_fill(&fill, r->pool, r->values, m->nnz * size));
    PS_TRY(bench_fill(&fill, r->pool, r->x, x_bytes));
    PS_TRY(ps_fill_zero(r->stream, r->y, m->rows * size));
    return ps_stream_wait(r->stream);
}

/* Seconds of one product, the best of several. */
static ps_status measure(run *r, const csr *m, ps_precision precision, double *best)
{
    ps_vendor_sparse_matrix matrix = {.precision = precision,
                                      .rows = m->rows,
                                      .columns = m->slices * PAST,
                                      .nnz = m->nnz,
                                      .row_start = r->row_start,
                                      .column = r->columns,
                                      .values = r->values,
                                      .x = r->x,
                                      .y = r->y,
                                      .add = true,
                                      .csr_algorithm = true};
    PS_SCOPED(ps_vendor_sparse_close) ps_vendor_sparse *library = NULL;
    PS_SCOPED(device_clock_close) device_clock clock = {0};
    double seconds;
    PS_TRY(device_clock_open(&clock, r->stream));
    PS_TRY(ps_vendor_sparse_open(path, r->stream, &matrix, &library));
    *best = 1e30;
    for (int i = 0; i < 8; ++i) {
        PS_TRY(device_clock_start(&clock));
        PS_TRY(ps_vendor_sparse_multiply(library));
        PS_TRY(device_clock_stop(&clock, &seconds));
        if (i > 1) *best = fmin(*best, seconds);
    }
    return PS_OK;
}

static ps_status bench(const csr *m, const char *name, ps_precision precision)
{
    run r = {.device = device, .pool = pools[precision]};
    double seconds, size = precision == PS_SINGLE ? 4 : 8, bytes = (double)m->nnz * (size + 4);
    PS_TRY(ps_stream_open(r.device, &r.stream));
    PS_TRY(upload(&r, m, (int64_t)size));
    PS_TRY(measure(&r, m, precision, &seconds));
    double flop = 2 * (double)m->nnz, floor = bytes / read_rate;
    printf("{\"case\": \"slice-kernel/cusparse-%s-%s\", \"quantity\": \"useful-flops\", "
           "\"value\": %.6g, "
           "\"unit\": \"TFlop/s\", \"floor\": %.6g, \"fraction\": %.4g, \"size\": %.6g, "
           "\"device\": \"%s\", \"revision\": \"%s\"}\n",
           name, precision == PS_SINGLE ? "f32" : "f64", flop / seconds / 1e12, flop / floor / 1e12,
           floor / seconds, bytes, ps_device_describe(r.device).name, ps_revision());
    fprintf(stderr, "cusparse-%s-%s: %.3f ms, %.3f TFlop/s, %.2f TB/s of values and columns\n",
            name, precision == PS_SINGLE ? "f32" : "f64", 1e3 * seconds, flop / seconds / 1e12,
            bytes / seconds / 1e12);
    void *const all[] = {r.row_start, r.columns, r.values, r.x, r.y};
    for (int i = 0; i < 5; ++i) ps_device_free(r.device, all[i]);
    ps_stream_close(&r.stream);
    return PS_OK;
}

static ps_status bench_both(csr *m, const char *name)
{
    PS_TRY(bench(m, name, PS_SINGLE));
    PS_TRY(bench(m, name, PS_DOUBLE));
    csr_release(m);
    return PS_OK;
}

/* The rows of contiguous blocks do not depend on their height. */
static ps_status bench_table(ps_block_layout layout, int64_t rows, int64_t columns)
{
    slice_bench s = {.rows = 6400, .slices = 256, .copies = 1 + 64000000 / (6400 * 256 * columns)};
    char name[64];
    csr m;
    s.header = (ps_block_header){.layout = layout, .block_rows = rows, .block_columns = columns};
    s.header.slices.k_max = BENCH_K;
    if (layout == PS_BLOCK_FULL)
        snprintf(name, sizeof name, "full-br%lld-bc%lld", (long long)rows, (long long)columns);
    else
        snprintf(name, sizeof name, "contiguous-bc%lld", (long long)columns);
    PS_TRY(make_table(&s, &m));
    return bench_both(&m, name);
}

static ps_status bench_all(void)
{
    csr airplane;
    PS_TRY(ps_device_open("cuda:0", 0, &device));
    for (int p = 0; p < 2; ++p) {
        PS_TRY(ps_device_alloc_pinned(device, POOL_BYTES, &pools[p]));
        bench_pool(p ? 8 : 4, pools[p]);
    }
    PS_TRY(make_airplane(&airplane));
    PS_TRY(bench_both(&airplane, "csr"));
    for (int64_t columns = 16; columns <= 128; columns *= 2) {
        for (int64_t rows = 16; rows <= 256; rows *= 2)
            PS_TRY(bench_table(PS_BLOCK_FULL, rows, columns));
        PS_TRY(bench_table(PS_BLOCK_CONTIGUOUS, 16, columns));
    }
    return PS_OK;
}

int main(int argc, char **argv)
{
    path = argc > 1 ? argv[1] : NULL;
    if (!ps_vendor_sparse_found(path)) {
        fprintf(stderr, "bench_tdbem_cusparse: no libcusparse.so.12 here: skipped\n");
        return 0;
    }
    ps_status status = bench_all();
    if (status != PS_OK) fprintf(stderr, "bench_tdbem_cusparse: %s\n", ps_message());
    return (int)status;
}
