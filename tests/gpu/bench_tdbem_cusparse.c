/*
 * cuSPARSE beside the slice product: the sparse matrix/vector product of the same M^k in CSR, all
 * of them in one matrix [M^1 .. M^K] of N rows, whose columns are the entries of the past; what a
 * program without slices would call. JSON records on stdout.
 *
 * Structure: rows of tests/gpu/slice_bench.h's warps, 93 of 100 values kept, as the airplane has.
 * GFlop/s count 2 per stored value. The floor reads values, 32-bit column indices and nothing
 * else once. The library is opened at run time, so that nothing here depends on it; without it
 * the program says so and ends well. Argument: the path of libcusparse.so.12 where the loader does
 * not find it.
 */
#include <dlfcn.h>
#include <stdio.h>

#include "runtime/program.h"
#include "tests/gpu/slice_bench.h"

static const double read_rate = 4.58e12;

/* ---- the part of the library's interface that is used (cusparse.h, version 12) ---- */

typedef struct library {
    int (*create)(void **handle);
    int (*set_stream)(void *handle, void *stream);
    int (*create_csr)(void **matrix, int64_t rows, int64_t columns, int64_t nnz, void *row_start,
                      void *column, void *values, int row_type, int column_type, int base,
                      int type);
    int (*create_vector)(void **vector, int64_t size, void *values, int type);
    int (*buffer_size)(void *handle, int operation, const void *alpha, const void *matrix,
                       const void *x, const void *beta, void *y, int type, int algorithm,
                       size_t *bytes);
    int (*multiply)(void *handle, int operation, const void *alpha, const void *matrix,
                    const void *x, const void *beta, void *y, int type, int algorithm,
                    void *buffer);
} library;
enum { INDEX_32 = 2, REAL_32 = 0, REAL_64 = 1, CSR_ALGORITHM = 2 };

static bool load(const char *path, library *out)
{
    void *file = dlopen(path, RTLD_NOW);
    struct {
        const char *name;
        void **function;
    } all[] = {{"cusparseCreate", (void **)&out->create},
               {"cusparseSetStream", (void **)&out->set_stream},
               {"cusparseCreateCsr", (void **)&out->create_csr},
               {"cusparseCreateDnVec", (void **)&out->create_vector},
               {"cusparseSpMV_bufferSize", (void **)&out->buffer_size},
               {"cusparseSpMV", (void **)&out->multiply}};
    for (int i = 0; i < 6 && file; ++i)
        if (!(*all[i].function = dlsym(file, all[i].name))) return false;
    return file != NULL;
}

/* ---- the matrix ---- */

enum { ROWS = 24000, SLICES = 400, PAST = 384 /* values of the past a slice */ };

typedef struct csr {
    int64_t nnz;
    int32_t *row_start, *columns; /* the library wants both of one width */
} csr;

static ps_status make_csr(csr *out)
{
    uint64_t state = 3;
    uint16_t *starts;
    PS_TRY(PS_ALLOC(&starts, (int64_t)SLICES * ROWS, "starts"));
    PS_TRY(PS_ALLOC(&out->row_start, ROWS + 1, "rows"));
    PS_TRY(PS_ALLOC(&out->columns, (int64_t)SLICES * ROWS * BENCH_D_MAX, "columns"));
    for (int64_t v = 0; v < (int64_t)SLICES * ROWS; v += 32)
        bench_starts(&state, BENCH_D_MAX, starts + v, 32);
    out->nnz = 0;
    for (int64_t i = 0; i < ROWS; ++i) {
        for (int64_t j = 0; j < SLICES; ++j) {
            int64_t length = 8 + (int64_t)(bench_next(&state) & 3); /* mean 9.5 */
            for (int64_t q = 0; q < length; ++q)
                out->columns[out->nnz++] = (int32_t)((j + 1) * PAST - starts[j * ROWS + i] - q - 1);
        }
        out->row_start[i + 1] = (int32_t)out->nnz;
    }
    free(starts);
    return PS_OK;
}

/* ---- measuring ---- */

typedef struct run {
    ps_device *device;
    ps_stream *stream;
    void *row_start, *columns, *values, *x, *y, *buffer, *pool;
} run;

static ps_status upload(run *r, const csr *m, int64_t size)
{
    bench_batch fill = {.stream = r->stream};
    int64_t x_bytes = (int64_t)SLICES * PAST * size;
    PS_TRY(ps_device_alloc(r->device, (ROWS + 1) * 4, &r->row_start));
    PS_TRY(ps_device_alloc(r->device, m->nnz * 4, &r->columns));
    PS_TRY(ps_device_alloc(r->device, m->nnz * size, &r->values));
    PS_TRY(ps_device_alloc(r->device, x_bytes, &r->x));
    PS_TRY(ps_device_alloc(r->device, ROWS * size, &r->y));
    PS_TRY(ps_copy_to_device(r->stream, r->row_start, m->row_start, (ROWS + 1) * 4));
    PS_TRY(ps_copy_to_device(r->stream, r->columns, m->columns, m->nnz * 4));
    PS_TRY(bench_fill(&fill, r->pool, r->values, m->nnz * size));
    PS_TRY(bench_fill(&fill, r->pool, r->x, x_bytes));
    PS_TRY(ps_fill_zero(r->stream, r->y, ROWS * size));
    return ps_stream_wait(r->stream);
}

static ps_status called(int code)
{
    return code ? ps_fail(PS_FAILED, "cuSPARSE: error %d", code) : PS_OK;
}

/* Seconds of one product, the best of several. */
static ps_status measure(run *r, const library *lib, const csr *m, ps_precision precision,
                         double *best)
{
    void *handle, *matrix, *x, *y;
    float one_f = 1;
    double one_d = 1, seconds;
    const void *one = precision == PS_SINGLE ? (void *)&one_f : (void *)&one_d;
    int type = precision == PS_SINGLE ? REAL_32 : REAL_64;
    size_t bytes;
    ps_event *start, *end;
    PS_TRY(ps_event_open(r->device, &start));
    PS_TRY(ps_event_open(r->device, &end));
    PS_TRY(called(lib->create(&handle)));
    PS_TRY(called(lib->set_stream(handle, ps_stream_handle(r->stream))));
    PS_TRY(called(lib->create_csr(&matrix, ROWS, (int64_t)SLICES * PAST, m->nnz, r->row_start,
                                  r->columns, r->values, INDEX_32, INDEX_32, 0, type)));
    PS_TRY(called(lib->create_vector(&x, (int64_t)SLICES * PAST, r->x, type)));
    PS_TRY(called(lib->create_vector(&y, ROWS, r->y, type)));
    PS_TRY(
        called(lib->buffer_size(handle, 0, one, matrix, x, one, y, type, CSR_ALGORITHM, &bytes)));
    PS_TRY(ps_device_alloc(r->device, (int64_t)bytes + 16, &r->buffer));
    *best = 1e30;
    for (int i = 0; i < 8; ++i) {
        PS_TRY(ps_event_record(start, r->stream));
        PS_TRY(called(
            lib->multiply(handle, 0, one, matrix, x, one, y, type, CSR_ALGORITHM, r->buffer)));
        PS_TRY(ps_event_record(end, r->stream));
        PS_TRY(ps_event_seconds(start, end, &seconds));
        if (i > 1) *best = fmin(*best, seconds);
    }
    return PS_OK;
}

static ps_status bench(const library *lib, const csr *m, ps_precision precision)
{
    run r = {.pool = NULL};
    double seconds, size = precision == PS_SINGLE ? 4 : 8, bytes = (double)m->nnz * (size + 4);
    PS_TRY(ps_device_open("cuda:0", 0, &r.device));
    PS_TRY(ps_stream_open(r.device, &r.stream));
    PS_TRY(ps_device_alloc_pinned(r.device, POOL_BYTES, &r.pool));
    bench_pool((int64_t)size, r.pool);
    PS_TRY(upload(&r, m, (int64_t)size));
    PS_TRY(measure(&r, lib, m, precision, &seconds));
    double flop = 2 * (double)m->nnz, floor = bytes / read_rate;
    printf("{\"case\": \"slice-kernel/cusparse-csr-%s\", \"quantity\": \"useful-flops\", "
           "\"value\": %.6g, "
           "\"unit\": \"TFlop/s\", \"floor\": %.6g, \"fraction\": %.4g, \"size\": %.6g, "
           "\"device\": \"%s\", \"revision\": \"%s\"}\n",
           precision == PS_SINGLE ? "f32" : "f64", flop / seconds / 1e12, flop / floor / 1e12,
           floor / seconds, bytes, ps_device_describe(r.device).name, ps_revision());
    fprintf(stderr, "cusparse-csr-%s: %.3f ms, %.3f TFlop/s, %.2f TB/s of values and columns\n",
            precision == PS_SINGLE ? "f32" : "f64", 1e3 * seconds, flop / seconds / 1e12,
            bytes / seconds / 1e12);
    void *const all[] = {r.row_start, r.columns, r.values, r.x, r.y, r.buffer};
    for (int i = 0; i < 6; ++i) ps_device_free(r.device, all[i]);
    ps_device_free_pinned(r.device, r.pool);
    ps_stream_close(&r.stream);
    ps_device_close(&r.device);
    return PS_OK;
}

int main(int argc, char **argv)
{
    library lib;
    csr m = {0};
    if (!load(argc > 1 ? argv[1] : "libcusparse.so.12", &lib)) {
        fprintf(stderr, "bench_tdbem_cusparse: no libcusparse.so.12 here: skipped\n");
        return 0;
    }
    ps_status status = make_csr(&m);
    for (int p = 0; p < 2 && status == PS_OK; ++p) status = bench(&lib, &m, (ps_precision)p);
    if (status != PS_OK) fprintf(stderr, "bench_tdbem_cusparse: %s\n", ps_message());
    free(m.row_start);
    free(m.columns);
    return (int)status;
}
