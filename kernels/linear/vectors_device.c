#include "kernels/linear/vectors_device.h"

#include "kernels/linear/device_kernels.h"

static ps_status on_cuda(ps_stream *stream)
{
    if (ps_stream_handle(stream)) return PS_OK;
    return ps_fail(PS_FAILED, "vector operations on a device need a CUDA device");
}

ps_status ps_vector_device_scale(ps_precision precision, int64_t n, double alpha, void *x,
                                 ps_stream *stream)
{
    PS_TRY(on_cuda(stream));
    return n > 0 ? ps_vector_scale_cuda(precision, n, alpha, x, stream) : PS_OK;
}

ps_status ps_vector_device_axpy(ps_precision precision, int64_t n, double alpha, const void *x,
                                void *y, ps_stream *stream)
{
    PS_TRY(on_cuda(stream));
    return n > 0 ? ps_vector_axpy_cuda(precision, n, alpha, x, y, stream) : PS_OK;
}

ps_status ps_vector_device_multiply(ps_precision precision, int64_t n, const void *x, void *y,
                                    ps_stream *stream)
{
    PS_TRY(on_cuda(stream));
    return n > 0 ? ps_vector_multiply_cuda(precision, n, x, y, stream) : PS_OK;
}

static ps_status add_up(const ps_device_sum *sum, ps_stream *stream)
{
    PS_TRY(on_cuda(stream));
    if (sum->n == 0) return ps_fill_zero(stream, sum->workspace, sizeof(double));
    return ps_vector_sum_cuda(sum, stream);
}

ps_status ps_vector_device_dot(ps_precision precision, int64_t n, const void *x, const void *y,
                               void *workspace, ps_stream *stream)
{
    return add_up(&(ps_device_sum){precision, false, n, x, y, workspace}, stream);
}

ps_status ps_vector_device_difference(ps_precision precision, int64_t n, const void *x,
                                      const void *y, void *workspace, ps_stream *stream)
{
    return add_up(&(ps_device_sum){precision, true, n, x, y, workspace}, stream);
}

/* Measured best: some 12 warps a multiprocessor, but no more than 32 planes a warp. */
enum { WARPS = 12, LINES = 4, WIDTH = 30, LEAST = 2, MOST = 32 };

int64_t ps_stencil_device_planes(const ps_slab_stencil *stencil, int multiprocessors)
{
    const int64_t *n = stencil->nodes;
    int64_t columns = ((n[2] + WIDTH - 1) / WIDTH) * ((n[1] + LINES - 1) / LINES);
    int64_t planes = n[0] * columns / ((int64_t)WARPS * multiprocessors);
    return planes < LEAST ? LEAST : planes > MOST ? MOST : planes;
}

ps_status ps_stencil_device_multiply(ps_precision precision, const ps_slab_stencil *stencil,
                                     const void *x, void *y, int64_t planes, ps_stream *stream)
{
    PS_TRY(on_cuda(stream));
    if (planes < 1)
        return ps_fail(PS_USAGE, "a warp marches one plane or more, not %lld", (long long)planes);
    return ps_stencil_multiply_cuda(precision, stencil, x, y, planes, stream);
}
