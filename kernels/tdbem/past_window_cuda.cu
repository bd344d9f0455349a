/* The window of the past on CUDA (kernels/tdbem/past_window.h). */
#include <cuda_runtime.h>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/tdbem/past_window.h"
}

namespace {

enum { TILE = 32, LINES = 8, AHEAD = 8 };

/* A tile of 32 unknowns and 32 steps a block, turned in shared memory. */
template <typename real>
__global__ void put(real *data, const real *recent, int64_t unknowns, int64_t stride, int count)
{
    __shared__ real tile[TILE][TILE + 1];
    const int64_t first = (int64_t)blockIdx.x * TILE;
    const int step = blockIdx.y * TILE;
    for (int line = threadIdx.y; line < TILE; line += LINES)
        if (step + line < count && first + threadIdx.x < unknowns)
            tile[line][threadIdx.x] = recent[(step + line) * unknowns + first + threadIdx.x];
    __syncthreads();
    for (int line = threadIdx.y; line < TILE; line += LINES)
        if (step + threadIdx.x < count && first + line < unknowns)
            data[(first + line) * stride + step + threadIdx.x] = tile[threadIdx.x][line];
}

/*
 * A warp a row: the `kept` items from `from` on move to its front, zeros come behind. In pieces,
 * ascending: a piece is read whole before it is written, and what it overwrites has been read.
 */
template <typename real>
__global__ void slide(real *data, int64_t unknowns, int64_t stride, int64_t from, int64_t kept)
{
    const int64_t j = (int64_t)blockIdx.x * LINES + threadIdx.y;
    if (j >= unknowns) return;
    real *row = data + j * stride;
    for (int64_t begin = 0; begin < stride; begin += TILE * AHEAD) {
        real piece[AHEAD];
#pragma unroll
        for (int i = 0; i < AHEAD; ++i) {
            const int64_t at = begin + i * TILE + threadIdx.x;
            piece[i] = at < kept ? row[from + at] : 0;
        }
        __syncwarp();
#pragma unroll
        for (int i = 0; i < AHEAD; ++i) {
            const int64_t at = begin + i * TILE + threadIdx.x;
            if (at < stride) row[at] = piece[i];
        }
        __syncwarp();
    }
}

template <typename real>
void launch_put(const ps_past_window *w, const void *recent, int64_t count, cudaStream_t queue)
{
    const dim3 grid((unsigned)((w->unknowns + TILE - 1) / TILE),
                    (unsigned)((count + TILE - 1) / TILE));
    put<<<grid, dim3(TILE, LINES), 0, queue>>>(static_cast<real *>(w->data) + w->origin,
                                               static_cast<const real *>(recent), w->unknowns,
                                               w->stride, (int)count);
}

template <typename real> void launch_slide(const ps_past_window *w, cudaStream_t queue)
{
    const unsigned blocks = (unsigned)((w->unknowns + LINES - 1) / LINES);
    slide<<<blocks, dim3(TILE, LINES), 0, queue>>>(static_cast<real *>(w->data), w->unknowns,
                                                   w->stride, w->origin - w->before, w->before);
}

} // namespace

extern "C" ps_status ps_past_window_scatter_cuda(const ps_past_window *w, const void *recent,
                                             int64_t count, ps_stream *stream)
{
    static const decltype(&launch_put<float>) launch[PS_PRECISION_COUNT] = {launch_put<float>,
                                                                            launch_put<double>};
    if (w->unknowns == 0 || count == 0) return PS_OK;
    PS_TRY(ps_stream_enter(stream));
    launch[w->precision](w, recent, count, static_cast<cudaStream_t>(ps_stream_handle(stream)));
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

extern "C" ps_status ps_past_window_slide_cuda(const ps_past_window *w, ps_stream *stream)
{
    static const decltype(&launch_slide<float>) launch[PS_PRECISION_COUNT] = {
        launch_slide<float>, launch_slide<double>};
    if (w->unknowns == 0) return PS_OK;
    PS_TRY(ps_stream_enter(stream));
    launch[w->precision](w, static_cast<cudaStream_t>(ps_stream_handle(stream)));
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}
