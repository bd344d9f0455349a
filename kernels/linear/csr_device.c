#include "kernels/linear/csr_device.h"

#include <stddef.h>

#include "kernels/common/reals.h"
#include "runtime/scope.h"
#include "runtime/sizes.h"

enum { ROUNDS = 5, PRODUCTS = 4 };

const ps_csr_shape ps_csr_shapes[PS_CSR_SHAPES] = {
    {false, 2, 256},  {false, 4, 256},  {false, 8, 256}, {false, 8, 512}, {false, 8, 1024},
    {false, 16, 256}, {false, 32, 256}, {true, 2, 256},  {true, 4, 256},  {true, 8, 256}};

int64_t ps_csr_device_bytes(ps_precision precision, int64_t rows, int64_t nnz)
{
    return ps_device_padded(8 * (rows + 1)) + ps_device_padded(4 * nnz) +
           ps_device_padded(ps_real_bytes(precision) * nnz);
}

void ps_csr_device_attach(ps_precision precision, int64_t rows, int64_t nnz, void *memory,
                          ps_csr_device *out)
{
    char *at = memory;
    int64_t mean = rows > 0 ? nnz / rows : 0;
    *out = (ps_csr_device){.precision = precision, .rows = rows, .nnz = nnz};
    out->shape = (ps_csr_shape){mean < 64, mean < 64 ? 4 : 32, 256};
    out->row_start = (int64_t *)at;
    at += ps_device_padded(8 * (rows + 1));
    out->columns = (int32_t *)at;
    out->values = at + ps_device_padded(4 * nnz);
}

ps_status ps_csr_device_upload(const ps_csr_device *m, const int64_t *row_start,
                               const int32_t *columns, const void *values, ps_stream *stream)
{
    PS_TRY(ps_copy_to_device(stream, m->row_start, row_start, 8 * (m->rows + 1)));
    PS_TRY(ps_copy_to_device(stream, m->columns, columns, 4 * m->nnz));
    PS_TRY(ps_copy_to_device(stream, m->values, values, ps_real_bytes(m->precision) * m->nnz));
    return ps_stream_wait(stream);
}

ps_status ps_csr_device_multiply(const ps_csr_device *matrix, const void *x, void *y,
                                 ps_stream *stream)
{
    if (!ps_stream_handle(stream))
        return ps_fail(PS_FAILED, "sparse products on a device need a CUDA device");
    if (matrix->rows == 0) return PS_OK;
    return ps_csr_multiply_cuda(matrix, x, y, stream);
}

/* The least of ROUNDS times of PRODUCTS products, after a product that is not counted. */
static ps_status time_shape(const ps_csr_device *matrix, const void *x, void *y, ps_stream *stream,
                            ps_event *const events[2], double *best)
{
    double seconds;
    *best = 1e300;
    PS_TRY(ps_csr_device_multiply(matrix, x, y, stream));
    for (int round = 0; round < ROUNDS; ++round) {
        PS_TRY(ps_event_record(events[0], stream));
        for (int i = 0; i < PRODUCTS; ++i) PS_TRY(ps_csr_device_multiply(matrix, x, y, stream));
        PS_TRY(ps_event_record(events[1], stream));
        PS_TRY(ps_event_seconds(events[0], events[1], &seconds));
        if (seconds / PRODUCTS < *best) *best = seconds / PRODUCTS;
    }
    return PS_OK;
}

static ps_status time_shapes(ps_csr_device *matrix, const void *x, void *y, ps_stream *stream,
                             ps_event *const events[2], double *least)
{
    ps_csr_shape best = matrix->shape;
    double seconds;
    *least = 1e300;
    for (int i = 0; i < PS_CSR_SHAPES; ++i) {
        matrix->shape = ps_csr_shapes[i];
        PS_TRY(time_shape(matrix, x, y, stream, events, &seconds));
        if (seconds < *least) *least = seconds, best = ps_csr_shapes[i];
    }
    matrix->shape = best;
    return PS_OK;
}

ps_status ps_csr_device_tune(ps_csr_device *matrix, const void *x, void *y, ps_stream *stream,
                             double *seconds)
{
    PS_SCOPED(ps_event_close) ps_event *begin = NULL, *end = NULL;
    ps_csr_shape before = matrix->shape;
    double least = 0;
    PS_TRY(ps_event_open(ps_stream_device(stream), &begin));
    PS_TRY(ps_event_open(ps_stream_device(stream), &end));
    ps_status status = time_shapes(matrix, x, y, stream, (ps_event *[2]){begin, end}, &least);
    if (status != PS_OK) matrix->shape = before;
    if (status == PS_OK && seconds) *seconds = least;
    return status;
}
