/* A CUDA device beside the cores: the same operations and methods, and those of cuBLAS and
 * cuSPARSE. */
#include <stdio.h>
#include <stdlib.h>

#include "compute/spmv_bench/bench.h"
#include "kernels/common/reals.h"
#include "kernels/linear/krylov_device.h"
#include "kernels/linear/vectors_device.h"
#include "runtime/memory.h"

enum { MEMORIES = 8 };
/* Launches between two events: so many that their time is far above the clock's accuracy. */
static const double batch_seconds = 2e-4;
enum { BATCH_MOST = 256 };

typedef struct device_bench {
    bench *s;
    ps_device *device;
    ps_stream *stream;
    ps_event *event[2];
    int size;       /* bytes of a real */
    int64_t planes; /* that a warp marches in the stencil product */
    ps_csr_device matrix;
    void *x, *y, *b, *scale, *sum;
    void *memory[MEMORIES];
    int memories;
    bench_vendor *vendor; /* NULL: none */
} device_bench;

/* ---- memory ---- */

static ps_status alloc(device_bench *d, int64_t bytes, void **out)
{
    PS_TRY(ps_device_alloc(d->device, bytes, out));
    d->memory[d->memories++] = *out;
    return PS_OK;
}

/* n doubles in the device's precision, to be freed unless they are `from` itself. */
static ps_status narrowed(const device_bench *d, int64_t n, const double *from, void **out)
{
    float *narrow;
    *out = (void *)from;
    if (d->s->precision == PS_DOUBLE) return PS_OK;
    PS_TRY(PS_ALLOC(&narrow, n, "numbers in fp32"));
    for (int64_t i = 0; i < n; ++i) narrow[i] = (float)from[i];
    *out = narrow;
    return PS_OK;
}

static ps_status upload(device_bench *d, int64_t n, const double *from, void *to)
{
    void *numbers;
    PS_TRY(narrowed(d, n, from, &numbers));
    ps_status status = ps_copy_to_device(d->stream, to, numbers, d->size * n);
    if (status == PS_OK) status = ps_stream_wait(d->stream);
    if (numbers != from) free(numbers);
    return status;
}

static ps_status upload_matrix(device_bench *d)
{
    const ps_csr *m = &d->s->matrix;
    void *memory, *values;
    PS_TRY(alloc(d, ps_csr_device_bytes(d->s->precision, m->rows, m->nnz), &memory));
    ps_csr_device_attach(d->s->precision, m->rows, m->nnz, memory, &d->matrix);
    PS_TRY(narrowed(d, m->nnz, m->values, &values));
    ps_status status =
        ps_csr_device_upload(&d->matrix, m->row_start, m->columns, values, d->stream);
    if (values != m->values) free(values);
    return status;
}

static ps_status set_up(device_bench *d)
{
    int64_t n = d->s->matrix.rows;
    void **const vectors[] = {&d->x, &d->y, &d->b, &d->scale};
    PS_TRY(ps_stream_open(d->device, &d->stream));
    for (int i = 0; i < 2; ++i) PS_TRY(ps_event_open(d->device, &d->event[i]));
    for (int i = 0; i < 4; ++i) PS_TRY(alloc(d, d->size * n, vectors[i]));
    PS_TRY(alloc(d, PS_DOT_BYTES, &d->sum));
    PS_TRY(ps_fill_zero(d->stream, d->sum, PS_DOT_BYTES));
    PS_TRY(upload(d, n, d->s->b, d->b));
    PS_TRY(upload(d, n, d->s->inverse, d->scale));
    PS_TRY(upload_matrix(d));
    return ps_csr_device_tune(&d->matrix, d->b, d->y, d->stream, NULL);
}

static void tear_down(device_bench *d)
{
    if (d->stream) (void)ps_stream_wait(d->stream);
    bench_vendor_close(&d->vendor);
    while (d->memories > 0) ps_device_free(d->device, d->memory[--d->memories]);
    for (int i = 0; i < 2; ++i) ps_event_close(&d->event[i]);
    ps_stream_close(&d->stream);
}

/* ---- operations ---- */

static ps_status own(device_bench *d, bench_operation which)
{
    const bench *s = d->s;
    int64_t n = s->matrix.rows;
    switch (which) {
    case BENCH_SCALE:
        return ps_vector_device_scale(s->precision, n, 1.0000001, d->x, d->stream);
    case BENCH_AXPY:
        return ps_vector_device_axpy(s->precision, n, 1e-7, d->x, d->y, d->stream);
    case BENCH_ELEMENTS:
        return ps_vector_device_multiply(s->precision, n, d->scale, d->y, d->stream);
    case BENCH_DOT:
        return ps_vector_device_dot(s->precision, n, d->x, d->y, d->sum, d->stream);
    case BENCH_SPARSE:
        return ps_csr_device_multiply(&d->matrix, d->x, d->y, d->stream);
    default:
        return ps_stencil_device_multiply(s->precision, &s->stencil, d->x, d->y, d->planes,
                                          d->stream);
    }
}

static ps_status vendors(device_bench *d, bench_operation which)
{
    return bench_vendor_run(d->vendor, which);
}

static ps_status time_batch(device_bench *d, ps_status (*run)(device_bench *, bench_operation),
                            bench_operation which, int count, double *seconds)
{
    PS_TRY(ps_event_record(d->event[0], d->stream));
    for (int i = 0; i < count; ++i) PS_TRY(run(d, which));
    PS_TRY(ps_event_record(d->event[1], d->stream));
    PS_TRY(ps_event_seconds(d->event[0], d->event[1], seconds));
    *seconds /= count;
    return PS_OK;
}

/* The median of repeated batches. */
static ps_status median_time(device_bench *d, ps_status (*run)(device_bench *, bench_operation),
                             bench_operation which, double *out)
{
    double samples[BENCH_SAMPLES], once, begin = ps_clock();
    int count = 0;
    PS_TRY(time_batch(d, run, which, 1, &once));
    PS_TRY(time_batch(d, run, which, 4, &once));
    int batch = once * BATCH_MOST < batch_seconds ? BATCH_MOST : 1 + (int)(batch_seconds / once);
    while (count < BENCH_REPEATS ||
           (ps_clock() - begin < d->s->least_time && count < BENCH_SAMPLES))
        PS_TRY(time_batch(d, run, which, batch, &samples[count++]));
    *out = bench_median(samples, count);
    return PS_OK;
}

static ps_status time_operation(device_bench *d, bench_operation which)
{
    bench *s = d->s;
    char name[64];
    double seconds, theirs;
    for (int64_t k = 0; k < s->matrix.rows; ++k) s->x[k] = 1;
    PS_TRY(upload(d, s->matrix.rows, s->x, d->x));
    PS_TRY(upload(d, s->matrix.rows, s->x, d->y));
    PS_TRY(median_time(d, own, which, &seconds));
    snprintf(name, sizeof name, "cuda_%s", bench_names[which]);
    ps_report_section(s->report, name);
    bench_report_operation(s, which, seconds, d->size);
    if (s->host[which] > 0) ps_report_real(s->report, "ratio", s->host[which] / seconds);
    if (which == BENCH_SPARSE)
        ps_report_text(s->report, "kernel", d->matrix.shape.stream ? "stream" : "rows");
    if (which == BENCH_SPARSE) ps_report_int(s->report, "threads_a_row", d->matrix.shape.width);
    if (which == BENCH_SPARSE) ps_report_int(s->report, "threads_a_block", d->matrix.shape.threads);
    if (!d->vendor || which > BENCH_SPARSE) return PS_OK;
    PS_TRY(median_time(d, vendors, which, &theirs));
    ps_report_real(s->report, which == BENCH_SPARSE ? "cusparse_time" : "cublas_time", theirs);
    return PS_OK;
}

/* ---- methods ---- */

/* The second of two solves: the first one loads the kernels. */
static ps_status solve(device_bench *d, ps_krylov_method method, bool stencil,
                       ps_krylov_result *result, double *seconds)
{
    const bench *s = d->s;
    ps_krylov_device_system system = {.precision = s->precision, .b = d->b, .x = d->x};
    ps_krylov_device_control control = {.tolerance = s->tolerance, .limit = s->limit};
    ps_status status = PS_OK;
    void *workspace;
    if (stencil)
        system.stencil = &s->stencil;
    else
        system.matrix = &d->matrix, system.inverse_diagonal = d->scale;
    PS_TRY(ps_device_alloc(d->device, ps_krylov_device_workspace(method, &system), &workspace));
    for (int i = 0; i < 2 && status == PS_OK; ++i) {
        status = ps_fill_zero(d->stream, d->x, d->size * s->matrix.rows);
        if (status == PS_OK) status = ps_stream_wait(d->stream);
        double start = ps_clock();
        if (status == PS_OK)
            status =
                ps_krylov_device_solve(method, &system, &control, workspace, d->stream, result);
        *seconds = ps_clock() - start;
    }
    ps_device_free(d->device, workspace);
    return status;
}

static void time_method(device_bench *d, ps_krylov_method method, bool stencil)
{
    const bench *s = d->s;
    char name[64];
    ps_krylov_result result;
    double seconds = 0;
    ps_status status = solve(d, method, stencil, &result, &seconds);
    snprintf(name, sizeof name, "cuda_%s", bench_methods[stencil][method]);
    ps_report_section(s->report, name);
    bench_report_method(s, status, &result, seconds);
    if (status == PS_OK && s->host_methods[stencil][method] > 0)
        ps_report_real(s->report, "ratio", s->host_methods[stencil][method] / seconds);
}

static ps_status time_all(device_bench *d)
{
    bench *s = d->s;
    PS_TRY(set_up(d));
    bench_vectors v = {.precision = s->precision,
                       .rows = s->matrix.rows,
                       .nnz = s->matrix.nnz,
                       .x = d->x,
                       .y = d->y,
                       .scale = d->scale,
                       .sum = d->sum,
                       .columns = d->matrix.columns,
                       .values = d->matrix.values};
    PS_TRY(bench_vendor_open(d->stream, &v, s->matrix.row_start, &d->vendor));
    for (int i = 0; i < bench_operations(s); ++i) PS_TRY(time_operation(d, (bench_operation)i));
    for (int stencil = 0; stencil <= s->box && s->krylov; ++stencil)
        for (int m = 0; m < PS_KRYLOV_METHODS; ++m) time_method(d, (ps_krylov_method)m, stencil);
    return PS_OK;
}

ps_status bench_device(bench *s, ps_device *device)
{
    device_bench d = {.s = s, .device = device, .size = ps_real_bytes(s->precision)};
    ps_device_info info = ps_device_describe(device);
    ps_report_section(s->report, "device");
    if (s->box) d.planes = ps_stencil_device_planes(&s->stencil, info.multiprocessors);
    ps_report_text(s->report, "name", info.name);
    ps_report_text(s->report, "precision", s->precision == PS_SINGLE ? "fp32" : "fp64");
    ps_status status = time_all(&d);
    tear_down(&d);
    return status;
}
