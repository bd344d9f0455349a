/* Vector operations and the stencil product on CUDA (vectors_device.h). */
#include <cuda_runtime.h>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/linear/device_kernels.h"
}

namespace {

#include "kernels/linear/stencil_cuda_body.h"
#include "kernels/linear/sums_cuda_body.h"

enum { THREADS = 256, LINES = 4 };

template <typename real> struct scaled {
    real alpha;
    real *x;
    __device__ void operator()(int64_t i) const { x[i] *= alpha; }
};
template <typename real> struct added {
    real alpha;
    const real *x;
    real *y;
    __device__ void operator()(int64_t i) const { y[i] += alpha * x[i]; }
};
template <typename real> struct multiplied {
    const real *x;
    real *y;
    __device__ void operator()(int64_t i) const { y[i] *= x[i]; }
};

struct narrowed_difference {
    const double *b, *y;
    float *r;
    __device__ void operator()(int64_t i) const { r[i] = (float)(b[i] - y[i]); }
};
struct added_wide {
    float *d;
    double *x;
    __device__ void operator()(int64_t i) const
    {
        x[i] += (double)d[i];
        d[i] = 0;
    }
};

template <typename Change>
__global__ void __launch_bounds__(THREADS) each(int64_t n, const Change change)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n) change(i);
}

template <bool difference, typename real>
__global__ void __launch_bounds__(THREADS)
    add_up(int64_t n, const real *__restrict__ x, const real *__restrict__ y, double *out,
           block_sums sums)
{
    double sum[SUMS] = {0, 0, 0};
    const int64_t step = (int64_t)gridDim.x * THREADS;
#pragma unroll 4
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < n; i += step)
        sum[0] += difference ? ((double)x[i] - y[i]) * ((double)x[i] - y[i]) : (double)x[i] * y[i];
    if (add_launch(sums, sum)) *out = sum[0];
}

template <typename real> struct plain_product {
    typedef real raw;
    struct operands {};
    const real *__restrict__ x;
    real *__restrict__ y;
    __device__ real fetch(int64_t plane, unsigned at) const { return *stencil_at(x, plane, at); }
    __device__ real value(real u, int) const { return u; }
    __device__ operands ahead(int64_t, unsigned) const { return operands(); }
    __device__ void emit(operands, const stencil_node &node, real, real product) const
    {
        real *to = stencil_at(y, node.plane, node.at);
        if (node.seen) *to = product;
    }
};

template <typename real>
__global__ void __launch_bounds__(STENCIL_THREADS)
    stencil_product(const __grid_constant__ stencil_view<real> s, const real *x, real *y)
{
    plain_product<real> work = {x, y};
    stencil_march<LINES, true>(s, work);
}

template <typename Change>
ps_status launch_each(int64_t n, const Change &change, ps_stream *stream)
{
    PS_TRY(ps_stream_enter(stream));
    if (n > 0)
        each<<<(unsigned)((n + THREADS - 1) / THREADS), THREADS, 0,
               static_cast<cudaStream_t>(ps_stream_handle(stream))>>>(n, change);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

template <typename real> void launch_sum(const ps_device_sum *s, cudaStream_t on)
{
    double *out = static_cast<double *>(s->workspace);
    const real *x = static_cast<const real *>(s->x), *y = static_cast<const real *>(s->y);
    const block_sums sums = {out + 2, reinterpret_cast<unsigned *>(out + 1)};
    const int64_t all = (s->n + 4 * THREADS - 1) / (4 * THREADS);
    const unsigned blocks = (unsigned)(all < PS_DOT_BLOCKS ? all : PS_DOT_BLOCKS);
    if (s->difference)
        add_up<true><<<blocks, THREADS, 0, on>>>(s->n, x, y, out, sums);
    else
        add_up<false><<<blocks, THREADS, 0, on>>>(s->n, x, y, out, sums);
}

template <typename real>
void launch_stencil(const ps_slab_stencil *s, const void *x, void *y, int64_t planes,
                    cudaStream_t on)
{
    const stencil_view<real> v = stencil_view_of<real>(s, LINES, true, planes);
    stencil_product<real><<<stencil_blocks(v), STENCIL_THREADS, 0, on>>>(
        v, static_cast<const real *>(x), static_cast<real *>(y));
}

} // namespace

extern "C" ps_status ps_vector_scale_cuda(ps_precision precision, int64_t n, double alpha, void *x,
                                          ps_stream *stream)
{
    if (precision == PS_SINGLE)
        return launch_each(n, scaled<float>{(float)alpha, static_cast<float *>(x)}, stream);
    return launch_each(n, scaled<double>{alpha, static_cast<double *>(x)}, stream);
}

extern "C" ps_status ps_vector_axpy_cuda(ps_precision precision, int64_t n, double alpha,
                                         const void *x, void *y, ps_stream *stream)
{
    if (precision == PS_SINGLE)
        return launch_each(
            n,
            added<float>{(float)alpha, static_cast<const float *>(x), static_cast<float *>(y)},
            stream);
    return launch_each(
        n, added<double>{alpha, static_cast<const double *>(x), static_cast<double *>(y)}, stream);
}

extern "C" ps_status ps_vector_multiply_cuda(ps_precision precision, int64_t n, const void *x,
                                             void *y, ps_stream *stream)
{
    if (precision == PS_SINGLE)
        return launch_each(
            n, multiplied<float>{static_cast<const float *>(x), static_cast<float *>(y)}, stream);
    return launch_each(
        n, multiplied<double>{static_cast<const double *>(x), static_cast<double *>(y)}, stream);
}

extern "C" ps_status ps_vector_narrow_difference_cuda(int64_t n, const double *b, const double *y,
                                                      float *r, ps_stream *stream)
{
    return launch_each(n, narrowed_difference{b, y, r}, stream);
}

extern "C" ps_status ps_vector_add_wide_cuda(int64_t n, float *d, double *x, ps_stream *stream)
{
    return launch_each(n, added_wide{d, x}, stream);
}

extern "C" ps_status ps_vector_sum_cuda(const ps_device_sum *sum, ps_stream *stream)
{
    PS_TRY(ps_stream_enter(stream));
    cudaStream_t on = static_cast<cudaStream_t>(ps_stream_handle(stream));
    if (sum->precision == PS_SINGLE)
        launch_sum<float>(sum, on);
    else
        launch_sum<double>(sum, on);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

extern "C" ps_status ps_stencil_multiply_cuda(ps_precision precision,
                                              const ps_slab_stencil *stencil, const void *x,
                                              void *y, int64_t planes, ps_stream *stream)
{
    PS_TRY(ps_stream_enter(stream));
    cudaStream_t on = static_cast<cudaStream_t>(ps_stream_handle(stream));
    if (precision == PS_SINGLE)
        launch_stencil<float>(stencil, x, y, planes, on);
    else
        launch_stencil<double>(stencil, x, y, planes, on);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}
