/*
 * cuBLAS and cuSPARSE, opened at run time, so that nothing here depends on them: libcublas.so.13 or
 * .12 and libcusparse.so.12, where the loader finds them.
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "compute/spmv_bench/bench.h"
#include "runtime/memory.h"

/* The part of the libraries' interface that is used (cublas_v2.h, cusparse.h). */
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
    int (*sparse_create)(void **handle);
    int (*sparse_destroy)(void *handle);
    int (*sparse_set_stream)(void *handle, void *stream);
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
} functions;
enum { HOST_POINTERS, DEVICE_POINTERS, LEFT = 0, INDEX_32 = 2, REAL_32 = 0, REAL_64 = 1 };

struct bench_vendor {
    functions f;
    ps_device *device;
    bench_vectors v;
    void *libraries[2], *blas, *sparse, *matrix, *x, *y, *buffer, *row_start;
    double constants[3][1]; /* alpha of scale and axpy; zero, as reals of the precision */
    double one[1];
};

static ps_status called(int code, const char *what)
{
    return code ? ps_fail(PS_FAILED, "%s: error %d of the library", what, code) : PS_OK;
}

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
    s->libraries[0] = dlopen("libcublas.so.13", RTLD_NOW);
    if (!s->libraries[0]) s->libraries[0] = dlopen("libcublas.so.12", RTLD_NOW);
    s->libraries[1] = dlopen("libcusparse.so.12", RTLD_NOW);
    void *blas = s->libraries[0], *sparse = s->libraries[1];
    return find(blas, "cublasCreate_v2", &f->blas_create) &&
           find(blas, "cublasDestroy_v2", &f->blas_destroy) &&
           find(blas, "cublasSetStream_v2", &f->blas_set_stream) &&
           find(blas, "cublasSetPointerMode_v2", &f->blas_set_pointer_mode) &&
           find(blas, fp32 ? "cublasSscal_v2" : "cublasDscal_v2", &f->scale) &&
           find(blas, fp32 ? "cublasSaxpy_v2" : "cublasDaxpy_v2", &f->axpy) &&
           find(blas, fp32 ? "cublasSdot_v2" : "cublasDdot_v2", &f->dot) &&
           find(blas, fp32 ? "cublasSdgmm" : "cublasDdgmm", &f->diagonal) &&
           find(sparse, "cusparseCreate", &f->sparse_create) &&
           find(sparse, "cusparseDestroy", &f->sparse_destroy) &&
           find(sparse, "cusparseSetStream", &f->sparse_set_stream) &&
           find(sparse, "cusparseCreateCsr", &f->create_csr) &&
           find(sparse, "cusparseCreateDnVec", &f->create_vector) &&
           find(sparse, "cusparseSpMV_bufferSize", &f->buffer_size) &&
           find(sparse, "cusparseSpMV", &f->multiply);
}

static void set_real(const bench_vendor *s, double value, void *out)
{
    if (s->v.precision == PS_SINGLE)
        *(float *)out = (float)value;
    else
        *(double *)out = value;
}

/* The library wants offsets and columns of one width. */
static ps_status put_offsets(bench_vendor *s, const int64_t *row_start, ps_stream *stream)
{
    int32_t *narrow;
    int64_t count = s->v.rows + 1;
    if (s->v.nnz > INT32_MAX)
        return ps_fail(PS_EXHAUSTED, "cuSPARSE with 32-bit indices ends at 2^31 entries");
    PS_TRY(PS_ALLOC(&narrow, count, "offsets"));
    for (int64_t i = 0; i < count; ++i) narrow[i] = (int32_t)row_start[i];
    ps_status status = ps_device_alloc(s->device, 4 * count, &s->row_start);
    if (status == PS_OK) status = ps_copy_to_device(stream, s->row_start, narrow, 4 * count);
    if (status == PS_OK) status = ps_stream_wait(stream);
    free(narrow);
    return status;
}

static ps_status prepare(bench_vendor *s, const int64_t *row_start, ps_stream *stream)
{
    const functions *f = &s->f;
    int type = s->v.precision == PS_SINGLE ? REAL_32 : REAL_64;
    void *queue = ps_stream_handle(stream);
    size_t bytes = 0;
    PS_TRY(put_offsets(s, row_start, stream));
    PS_TRY(called(f->blas_create(&s->blas), "cublasCreate"));
    PS_TRY(called(f->blas_set_stream(s->blas, queue), "cublasSetStream"));
    PS_TRY(called(f->sparse_create(&s->sparse), "cusparseCreate"));
    PS_TRY(called(f->sparse_set_stream(s->sparse, queue), "cusparseSetStream"));
    PS_TRY(called(f->create_csr(&s->matrix, s->v.rows, s->v.rows, s->v.nnz, s->row_start,
                                (void *)s->v.columns, (void *)s->v.values, INDEX_32, INDEX_32, 0,
                                type),
                  "cusparseCreateCsr"));
    PS_TRY(called(f->create_vector(&s->x, s->v.rows, s->v.x, type), "cusparseCreateDnVec"));
    PS_TRY(called(f->create_vector(&s->y, s->v.rows, s->v.y, type), "cusparseCreateDnVec"));
    PS_TRY(called(f->buffer_size(s->sparse, 0, s->one, s->matrix, s->x, s->constants[2], s->y, type,
                                 0, &bytes),
                  "cusparseSpMV_bufferSize"));
    return ps_device_alloc(s->device, (int64_t)bytes + 16, &s->buffer);
}

ps_status bench_vendor_open(ps_stream *stream, const bench_vectors *vectors,
                            const int64_t *row_start, bench_vendor **out)
{
    bench_vendor *s;
    PS_TRY(PS_ALLOC(&s, 1, "libraries"));
    s->device = ps_stream_device(stream);
    s->v = *vectors;
    set_real(s, 1.0000001, s->constants[0]);
    set_real(s, 1e-7, s->constants[1]);
    set_real(s, 0, s->constants[2]);
    set_real(s, 1, s->one);
    *out = s;
    if (!load(s)) {
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
    if (s->sparse) s->f.sparse_destroy(s->sparse);
    ps_device_free(s->device, s->buffer);
    ps_device_free(s->device, s->row_start);
    for (int i = 0; i < 2; ++i)
        if (s->libraries[i]) dlclose(s->libraries[i]);
    free(s);
    *vendor = NULL;
}

/* ---- running ---- */

ps_status bench_vendor_run(bench_vendor *s, bench_operation which)
{
    const functions *f = &s->f;
    const bench_vectors *v = &s->v;
    int n = (int)v->rows, type = v->precision == PS_SINGLE ? REAL_32 : REAL_64;
    PS_TRY(called(
        f->blas_set_pointer_mode(s->blas, which == BENCH_DOT ? DEVICE_POINTERS : HOST_POINTERS),
        "cublasSetPointerMode"));
    switch (which) {
    case BENCH_SCALE:
        return called(f->scale(s->blas, n, s->constants[0], v->x, 1), "cublas scal");
    case BENCH_AXPY:
        return called(f->axpy(s->blas, n, s->constants[1], v->x, 1, v->y, 1), "cublas axpy");
    case BENCH_ELEMENTS: /* a diagonal matrix times a column */
        return called(f->diagonal(s->blas, LEFT, n, 1, v->y, n, v->scale, 1, v->y, n),
                      "cublas dgmm");
    case BENCH_DOT:
        return called(f->dot(s->blas, n, v->x, 1, v->y, 1, v->sum), "cublas dot");
    default:
        return called(f->multiply(s->sparse, 0, s->one, s->matrix, s->x, s->constants[2], s->y,
                                  type, 0, s->buffer),
                      "cusparseSpMV");
    }
}
