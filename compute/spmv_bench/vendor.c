/*
 * cuBLAS, opened at run time, so that nothing here depends on it (libcublas.so.13 or .12, where the
 * loader finds one), and cuSPARSE likewise (runtime/vendor_sparse.h).
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "compute/spmv_bench/bench.h"
#include "kernels/common/reals.h"
#include "runtime/scope.h"
#include "runtime/vendor_sparse.h"
#include "runtime/memory.h"

/* The part of the library's interface that is used (cublas_v2.h). */
typedef int scale_function(void *handle, int n, const void *alpha, void *x, int step);
typedef int axpy_function(void *handle, int n, const void *alpha, const void *x, int x_step,
                          void *y, int y_step);
typedef int dot_function(void *handle, int n, const void *x, int x_step, const void *y, int y_step,
                         void *out);
typedef int diagonal_function(void *handle, int side, int m, int n, const void *a, int lda,
                              const void *x, int x_step, void *c, int ldc);
typedef struct functions {
    int (*blas_create)(void **handle);
    int (*blas_destroy)(void *handle);
    int (*blas_set_stream)(void *handle, void *stream);
    int (*blas_set_pointer_mode)(void *handle, int mode);
    scale_function *scale;
    axpy_function *axpy;
    dot_function *dot;
    diagonal_function *diagonal;
} functions;
enum { HOST_POINTERS, DEVICE_POINTERS, LEFT = 0 };

struct bench_vendor {
    functions f;
    ps_device *device;
    bench_vectors v;
    void *library, *blas, *row_start;
    ps_vendor_sparse *sparse;
    double constants[2][1]; /* alpha of scale and axpy, as reals of the precision */
};

/* ---- opening ---- */

static bool find(void *library, const char *name, void *function)
{
    void *found = library ? dlsym(library, name) : NULL;
    *(void **)function = found;
    return found != NULL;
}

static bool load(bench_vendor *s)
{
    bool fp32 = s->v.precision == PS_SINGLE;
    functions *f = &s->f;
    void *blas = dlopen("libcublas.so.13", RTLD_NOW);
    if (!blas) blas = dlopen("libcublas.so.12", RTLD_NOW);
    s->library = blas;
    return find(blas, "cublasCreate_v2", &f->blas_create) &&
           find(blas, "cublasDestroy_v2", &f->blas_destroy) &&
           find(blas, "cublasSetStream_v2", &f->blas_set_stream) &&
           find(blas, "cublasSetPointerMode_v2", &f->blas_set_pointer_mode) &&
           find(blas, fp32 ? "cublasSscal_v2" : "cublasDscal_v2", &f->scale) &&
           find(blas, fp32 ? "cublasSaxpy_v2" : "cublasDaxpy_v2", &f->axpy) &&
           find(blas, fp32 ? "cublasSdot_v2" : "cublasDdot_v2", &f->dot) &&
           find(blas, fp32 ? "cublasSdgmm" : "cublasDdgmm", &f->diagonal);
}

/* The library wants offsets and columns of one width. */
static ps_status put_offsets(bench_vendor *s, const int64_t *row_start, ps_stream *stream)
{
    PS_SCOPED_MEMORY int32_t *narrow = NULL;
    int64_t count = s->v.rows + 1;
    if (s->v.nnz > INT32_MAX)
        return ps_fail(PS_EXHAUSTED, "cuSPARSE with 32-bit indices ends at 2^31 entries");
    PS_TRY(PS_ALLOC(&narrow, count, "offsets"));
    for (int64_t i = 0; i < count; ++i) narrow[i] = (int32_t)row_start[i];
    return ps_copy_to_new(stream, narrow, 4 * count, &s->row_start);
}

static ps_status prepare(bench_vendor *s, const int64_t *row_start, ps_stream *stream)
{
    const functions *f = &s->f;
    const bench_vectors *v = &s->v;
    PS_TRY(put_offsets(s, row_start, stream));
    PS_TRY(ps_vendor_called(f->blas_create(&s->blas), "cublasCreate"));
    PS_TRY(
        ps_vendor_called(f->blas_set_stream(s->blas, ps_stream_handle(stream)), "cublasSetStream"));
    ps_vendor_sparse_matrix matrix = {.precision = v->precision,
                                      .rows = v->rows,
                                      .columns = v->rows,
                                      .nnz = v->nnz,
                                      .row_start = s->row_start,
                                      .column = v->columns,
                                      .values = v->values,
                                      .x = v->x,
                                      .y = v->y};
    return ps_vendor_sparse_open(NULL, stream, &matrix, &s->sparse);
}

ps_status bench_vendor_open(ps_stream *stream, const bench_vectors *vectors,
                            const int64_t *row_start, bench_vendor **out)
{
    bench_vendor *s;
    PS_TRY(PS_ALLOC(&s, 1, "libraries"));
    s->device = ps_stream_device(stream);
    s->v = *vectors;
    ps_real_put(vectors->precision, s->constants, 0, 1.0000001);
    ps_real_put(vectors->precision, s->constants[1], 0, 1e-7);
    *out = s;
    if (!load(s) || !ps_vendor_sparse_found(NULL)) {
        bench_vendor_close(out);
        return PS_OK;
    }
    PS_TRY(ps_stream_enter(stream));
    ps_status status = prepare(s, row_start, stream);
    if (status != PS_OK) bench_vendor_close(out);
    return status;
}

void bench_vendor_close(bench_vendor **vendor)
{
    bench_vendor *s = *vendor;
    if (!s) return;
    if (s->blas) s->f.blas_destroy(s->blas);
    ps_vendor_sparse_close(&s->sparse);
    ps_device_free(s->device, s->row_start);
    if (s->library) dlclose(s->library);
    free(s);
    *vendor = NULL;
}

/* ---- running ---- */

ps_status bench_vendor_run(bench_vendor *s, bench_operation which)
{
    const functions *f = &s->f;
    const bench_vectors *v = &s->v;
    int n = (int)v->rows;
    PS_TRY(ps_vendor_called(
        f->blas_set_pointer_mode(s->blas, which == BENCH_DOT ? DEVICE_POINTERS : HOST_POINTERS),
        "cublasSetPointerMode"));
    switch (which) {
    case BENCH_SCALE:
        return ps_vendor_called(f->scale(s->blas, n, s->constants[0], v->x, 1), "cublas scal");
    case BENCH_AXPY:
        return ps_vendor_called(f->axpy(s->blas, n, s->constants[1], v->x, 1, v->y, 1),
                                "cublas axpy");
    case BENCH_ELEMENTS: /* a diagonal matrix times a column */
        return ps_vendor_called(f->diagonal(s->blas, LEFT, n, 1, v->y, n, v->scale, 1, v->y, n),
                                "cublas dgmm");
    case BENCH_DOT:
        return ps_vendor_called(f->dot(s->blas, n, v->x, 1, v->y, 1, v->sum), "cublas dot");
    default:
        return ps_vendor_sparse_multiply(s->sparse);
    }
}
