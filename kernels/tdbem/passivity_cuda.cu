/*
 * passivity_device: a block for the squares of one tile of x and one tile of y, whose parts of y
 * are then added in the order of the tiles.
 */
#include <cuda_runtime.h>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/tdbem/passivity_device.h"
}

namespace
{

enum { WARP = 32, THREADS = 256, WARPS = THREADS / WARP };

__device__ __forceinline__ int64_t tile_size(const ps_passivity_squares &s, int64_t tile)
{
    int64_t left = s.unknowns - tile * s.side;
    return left < s.side ? left : s.side;
}

/* sum += (real, imaginary) of a x, or (adjoint) of conj(a) x; of H the real part alone. */
template <int PARTS, bool adjoint>
__device__ __forceinline__ void add(const float *square, int64_t entries, int64_t at,
                                    const double *x, int64_t unknowns, double (&sum)[PARTS])
{
    double real = (double)square[at];
    sum[0] += real * x[0];
    if constexpr (PARTS == 2) {
        double imaginary = (double)square[entries + at], other = x[unknowns];
        if (adjoint) imaginary = -imaginary;
        sum[0] -= imaginary * other;
        sum[1] += real * other + imaginary * x[0];
    }
}

/* Of the square of rows x and slices y: a warp a slice. */
template <int PARTS>
__device__ void multiply_adjoint(const ps_passivity_squares &s, const float *square, int64_t rows,
                                 int64_t slices, const double *x, double factor, double *out)
{
    int lane = threadIdx.x % WARP;
    for (int64_t slice = threadIdx.x / WARP; slice < slices; slice += WARPS) {
        double sum[PARTS] = {0};
#pragma unroll 4
        for (int64_t r = lane; r < rows; r += WARP)
            add<PARTS, true>(square, rows * slices, slice * rows + r, x + r, s.unknowns, sum);
#pragma unroll
        for (int p = 0; p < PARTS; ++p) {
            for (int step = WARP / 2; step > 0; step /= 2)
                sum[p] += __shfl_xor_sync(0xffffffffu, sum[p], step);
            if (lane == 0) out[p * s.unknowns + slice] += factor * sum[p];
        }
    }
}

/* Of the square of rows y and slices x: a thread a row. */
template <int PARTS>
__device__ void multiply_forward(const ps_passivity_squares &s, const float *square, int64_t rows,
                                 int64_t slices, const double *x, double factor, double *out)
{
    for (int64_t r = threadIdx.x; r < rows; r += THREADS) {
        double sum[PARTS] = {0};
#pragma unroll 8
        for (int64_t slice = 0; slice < slices; ++slice)
            add<PARTS, false>(square, rows * slices, slice * rows + r, x + slice, s.unknowns, sum);
#pragma unroll
        for (int p = 0; p < PARTS; ++p) out[p * s.unknowns + r] += factor * sum[p];
    }
}

/* blockIdx.x: the tile of y; blockIdx.y: that of x. */
template <int PARTS>
__global__ void __launch_bounds__(THREADS) multiply_squares(const ps_passivity_squares s)
{
    int64_t to = blockIdx.x, from = blockIdx.y;
    int64_t own = tile_size(s, to), other = tile_size(s, from);
    int64_t adjoint = s.offset[to * s.tiles + from], forward = s.offset[from * s.tiles + to];
    const double *x = s.x + from * s.side, factor = PARTS == 2 ? .5 : 1;
    double *out = s.partial + from * PARTS * s.unknowns + to * s.side;
    for (int64_t o = threadIdx.x; o < own; o += THREADS)
        for (int p = 0; p < PARTS; ++p) out[p * s.unknowns + o] = 0;
    __syncthreads();
    if (adjoint >= 0) multiply_adjoint<PARTS>(s, s.values + adjoint, other, own, x, factor, out);
    __syncthreads();
    if (forward >= 0 && (PARTS == 2 || adjoint < 0))
        multiply_forward<PARTS>(s, s.values + forward, own, other, x, factor, out);
}

__global__ void add_partial(const ps_passivity_squares s)
{
    int64_t o = (int64_t)blockIdx.x * THREADS + threadIdx.x, count = s.parts * s.unknowns;
    double sum = 0;
    if (o >= count) return;
    for (int64_t from = 0; from < s.tiles; ++from) sum += s.partial[from * count + o];
    s.y[o] = sum;
}

} // namespace

extern "C" ps_status ps_passivity_product_cuda(const ps_passivity_squares *squares,
                                               ps_stream *stream)
{
    dim3 grid((unsigned)squares->tiles, (unsigned)squares->tiles);
    unsigned blocks = (unsigned)((squares->parts * squares->unknowns + THREADS - 1) / THREADS);
    cudaStream_t on = (cudaStream_t)ps_stream_handle(stream);
    PS_TRY(ps_stream_enter(stream));
    if (squares->parts == 1)
        multiply_squares<1><<<grid, THREADS, 0, on>>>(*squares);
    else
        multiply_squares<2><<<grid, THREADS, 0, on>>>(*squares);
    PS_CUDA(cudaGetLastError());
    add_partial<<<blocks, THREADS, 0, on>>>(*squares);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}
