#include "runtime/vendor_sparse.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "runtime/memory.h"

/* The part of the library's interface that is used (of its header, version 12). */
typedef struct functions {
    int (*create)(void **handle);
    int (*destroy)(void *handle);
    int (*set_stream)(void *handle, void *stream);
    int (*create_csr)(void **matrix, int64_t rows, int64_t columns, int64_t nnz, void *row_start,
                      void *column, void *values, int row_type, int column_type, int base,
                      int type);
    int (*create_vector)(void **vector, int64_t size, void *values, int type);
    int (*destroy_csr)(void *matrix);
    int (*destroy_vector)(void *vector);
    int (*buffer_size)(void *handle, int operation, const void *alpha, const void *matrix,
                       const void *x, const void *beta, void *y, int type, int algorithm,
                       size_t *bytes);
    int (*multiply)(void *handle, int operation, const void *alpha, const void *matrix,
                    const void *x, const void *beta, void *y, int type, int algorithm,
                    void *buffer);
} functions;
enum { INDEX_32 = 2, REAL_32 = 0, REAL_64 = 1, DEFAULT_ALGORITHM = 0, CSR_ALGORITHM = 2 };

struct ps_vendor_sparse {
    functions f;
    ps_device *device;
    bool add;
    int type, algorithm;
    void *library, *handle, *matrix, *x, *y, *buffer;
    union {
        float fp32[2];
        double fp64[2];
    } constants; /* 0 and 1 */
};

static void *open_library(const char *path, functions *f)
{
    void *library = dlopen(path ? path : "libcusparse.so.12", RTLD_NOW);
    const struct {
        const char *name;
        void *to;
    } all[] = {{"cusparseCreate", &f->create},
               {"cusparseDestroy", &f->destroy},
               {"cusparseSetStream", &f->set_stream},
               {"cusparseCreateCsr", &f->create_csr},
               {"cusparseCreateDnVec", &f->create_vector},
               {"cusparseDestroySpMat", &f->destroy_csr},
               {"cusparseDestroyDnVec", &f->destroy_vector},
               {"cusparseSpMV_bufferSize", &f->buffer_size},
               {"cusparseSpMV", &f->multiply}};
    for (size_t i = 0; library && i < sizeof all / sizeof *all; ++i) {
        void *found = dlsym(library, all[i].name);
        *(void **)all[i].to = found;
        if (found) continue;
        dlclose(library);
        library = NULL;
    }
    return library;
}

bool ps_vendor_sparse_found(const char *path)
{
    functions f;
    void *library = open_library(path, &f);
    if (library) dlclose(library);
    return library != NULL;
}

ps_status ps_vendor_called(int code, const char *what)
{
    return code ? ps_fail(PS_FAILED, "%s: error %d of the library", what, code) : PS_OK;
}

static const void *constant(const ps_vendor_sparse *s, int which)
{
    return s->type == REAL_32 ? (const void *)(s->constants.fp32 + which)
                              : (const void *)(s->constants.fp64 + which);
}

static ps_status prepare(ps_vendor_sparse *s, const ps_vendor_sparse_matrix *m, ps_stream *stream)
{
    const functions *f = &s->f;
    size_t bytes = 0;
    PS_TRY(ps_vendor_called(f->create(&s->handle), "cusparseCreate"));
    PS_TRY(
        ps_vendor_called(f->set_stream(s->handle, ps_stream_handle(stream)), "cusparseSetStream"));
    PS_TRY(ps_vendor_called(f->create_csr(&s->matrix, m->rows, m->columns, m->nnz,
                                          (void *)m->row_start, (void *)m->column,
                                          (void *)m->values, INDEX_32, INDEX_32, 0, s->type),
                            "cusparseCreateCsr"));
    PS_TRY(ps_vendor_called(f->create_vector(&s->x, m->columns, m->x, s->type),
                            "cusparseCreateDnVec"));
    PS_TRY(
        ps_vendor_called(f->create_vector(&s->y, m->rows, m->y, s->type), "cusparseCreateDnVec"));
    PS_TRY(
        ps_vendor_called(f->buffer_size(s->handle, 0, constant(s, 1), s->matrix, s->x,
                                        constant(s, s->add), s->y, s->type, s->algorithm, &bytes),
                         "cusparseSpMV_bufferSize"));
    return ps_device_alloc(s->device, (int64_t)bytes + 16, &s->buffer);
}

ps_status ps_vendor_sparse_open(const char *path, ps_stream *stream,
                                const ps_vendor_sparse_matrix *m, ps_vendor_sparse **out)
{
    ps_vendor_sparse *s;
    *out = NULL;
    PS_TRY(PS_ALLOC(&s, 1, "cuSPARSE"));
    s->library = open_library(path, &s->f);
    if (!s->library) {
        free(s);
        return PS_OK;
    }
    s->device = ps_stream_device(stream);
    s->add = m->add;
    s->type = m->precision == PS_SINGLE ? REAL_32 : REAL_64;
    s->algorithm = m->csr_algorithm ? CSR_ALGORITHM : DEFAULT_ALGORITHM;
    if (s->type == REAL_32)
        s->constants.fp32[1] = 1;
    else
        s->constants.fp64[1] = 1;
    ps_status status = ps_stream_enter(stream);
    if (status == PS_OK) status = prepare(s, m, stream);
    *out = s;
    if (status != PS_OK) ps_vendor_sparse_close(out);
    return status;
}

ps_status ps_vendor_sparse_multiply(ps_vendor_sparse *s)
{
    return ps_vendor_called(s->f.multiply(s->handle, 0, constant(s, 1), s->matrix, s->x,
                                          constant(s, s->add), s->y, s->type, s->algorithm,
                                          s->buffer),
                            "cusparseSpMV");
}

void ps_vendor_sparse_close(ps_vendor_sparse **handle)
{
    ps_vendor_sparse *s = *handle;
    if (!s) return;
    if (s->matrix) s->f.destroy_csr(s->matrix);
    if (s->x) s->f.destroy_vector(s->x);
    if (s->y) s->f.destroy_vector(s->y);
    if (s->handle) s->f.destroy(s->handle);
    ps_device_free(s->device, s->buffer);
    dlclose(s->library);
    free(s);
    *handle = NULL;
}
