/* Vectors of traces on CUDA (traces_device.h). */
#include <cuda_runtime.h>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/schwarz/traces_device.h"
}

namespace {

#include "kernels/linear/sums_cuda_body.h"
#define LEAF __device__ inline
#include "kernels/schwarz/slab_low_body.h"

enum { THREADS = 256 };

/* Of vector blockIdx.z and trace blockIdx.y, piece blockIdx.x: partial[vector][trace][piece]. */
__global__ void __launch_bounds__(THREADS)
    multiply_pieces(int64_t face, int64_t size, const double *__restrict__ a,
                    const double *__restrict__ b, double *partial)
{
    const int64_t each = (face + PS_TRACES_PIECES - 1) / PS_TRACES_PIECES;
    const int64_t begin = blockIdx.x * each, end = min(begin + each, face);
    const double *x = a + blockIdx.z * size + blockIdx.y * face, *y = b + blockIdx.y * face;
    double sum[SUMS] = {0, 0, 0};
#pragma unroll 4
    for (int64_t i = begin + threadIdx.x; i < end; i += THREADS) sum[0] += x[i] * y[i];
    add_block(sum);
    if (threadIdx.x == 0)
        partial[((int64_t)blockIdx.z * gridDim.y + blockIdx.y) * PS_TRACES_PIECES + blockIdx.x] =
            sum[0];
}

__global__ void __launch_bounds__(THREADS)
    add_pieces(int64_t count, const double *partial, double *sums)
{
    const int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    double sum = 0;
    if (at >= count) return;
#pragma unroll
    for (int i = 0; i < PS_TRACES_PIECES; ++i) sum += partial[at * PS_TRACES_PIECES + i];
    sums[at] = sum;
}

struct weights {
    double of[PS_GMRES_RESTART];
};

__global__ void __launch_bounds__(THREADS)
    add_vectors(int64_t size, int count, const __grid_constant__ weights factors,
                const double *__restrict__ a, double *__restrict__ y)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= size) return;
    double value = y[i];
#pragma unroll 4
    for (int v = 0; v < count; ++v) value += factors.of[v] * a[v * size + i];
    y[i] = value;
}

__global__ void __launch_bounds__(THREADS)
    subtract_from(int64_t size, const double *__restrict__ x, double *__restrict__ y)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < size) y[i] = x[i] - y[i];
}

__global__ void __launch_bounds__(THREADS) divide_by(int64_t size, double by, double *x)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < size) x[i] /= by;
}

template <bool gather>
__global__ void __launch_bounds__(THREADS)
    move_modes(const __grid_constant__ ps_traces_modes m, double *r)
{
    const int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (at >= m.count * m.traces) return;
    double *value = r + at / m.count * m.face + m.modes[at % m.count];
    if (gather)
        m.low[at] = *value;
    else
        *value = m.low[at];
}

__global__ void __launch_bounds__(THREADS) solve_low(const __grid_constant__ ps_traces_low l)
{
    const int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (at >= l.count) return;
    solve_low_mode(&l.system, l.mu[l.modes[at]], l.low + at, l.space + at, l.count);
}

unsigned blocks_of(int64_t n) { return (unsigned)((n + THREADS - 1) / THREADS); }

/* The stream, entered. */
ps_status enter(ps_stream *stream, cudaStream_t *on)
{
    PS_TRY(ps_stream_enter(stream));
    *on = static_cast<cudaStream_t>(ps_stream_handle(stream));
    return PS_OK;
}

} // namespace

extern "C" ps_status ps_traces_dots_cuda(const ps_traces_device *d, int64_t count, const double *a,
                                         const double *b)
{
    cudaStream_t on;
    PS_TRY(enter(d->stream, &on));
    double *partial = static_cast<double *>(d->memory);
    const int64_t sums = count * d->traces;
    const dim3 blocks(PS_TRACES_PIECES, (unsigned)d->traces, (unsigned)count);
    multiply_pieces<<<blocks, THREADS, 0, on>>>(d->face, d->traces * d->face, a, b, partial);
    add_pieces<<<blocks_of(sums), THREADS, 0, on>>>(sums, partial,
                                                   partial + sums * PS_TRACES_PIECES);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

extern "C" ps_status ps_traces_add_cuda(const ps_traces_device *d, int64_t count,
                                        const double *factors, const double *a, double *y)
{
    cudaStream_t on;
    weights w = {};
    const int64_t size = d->traces * d->face;
    PS_TRY(enter(d->stream, &on));
    for (int64_t v = 0; v < count; ++v) w.of[v] = factors[v];
    add_vectors<<<blocks_of(size), THREADS, 0, on>>>(size, (int)count, w, a, y);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

extern "C" ps_status ps_traces_subtract_cuda(const ps_traces_device *d, const double *x, double *y)
{
    cudaStream_t on;
    const int64_t size = d->traces * d->face;
    PS_TRY(enter(d->stream, &on));
    subtract_from<<<blocks_of(size), THREADS, 0, on>>>(size, x, y);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

extern "C" ps_status ps_traces_divide_cuda(const ps_traces_device *d, double by, double *x)
{
    cudaStream_t on;
    const int64_t size = d->traces * d->face;
    PS_TRY(enter(d->stream, &on));
    divide_by<<<blocks_of(size), THREADS, 0, on>>>(size, by, x);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

extern "C" ps_status ps_traces_modes_cuda(const ps_traces_modes *modes, bool gather, double *r,
                                          ps_stream *stream)
{
    cudaStream_t on;
    PS_TRY(enter(stream, &on));
    const unsigned blocks = blocks_of(modes->count * modes->traces);
    if (gather)
        move_modes<true><<<blocks, THREADS, 0, on>>>(*modes, r);
    else
        move_modes<false><<<blocks, THREADS, 0, on>>>(*modes, r);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

extern "C" ps_status ps_traces_low_cuda(const ps_traces_low *low, ps_stream *stream)
{
    cudaStream_t on;
    PS_TRY(enter(stream, &on));
    solve_low<<<blocks_of(low->count), THREADS, 0, on>>>(*low);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}
