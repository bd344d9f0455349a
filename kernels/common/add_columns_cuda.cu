#include <cuda_runtime.h>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/common/add_columns_device.h"
}

namespace {

enum { THREADS = 256, BLOCKS_MAX = 4096 };

template <typename real>
__global__ void add_all(int64_t rows, int64_t columns, real *to, int64_t to_stride,
                        const real *from, int64_t from_stride)
{
    int64_t step = (int64_t)gridDim.x * THREADS;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < rows * columns; i += step)
        to[i / columns * to_stride + i % columns] += from[i / columns * from_stride + i % columns];
}

template <typename real> void launch(const ps_add_columns *add, cudaStream_t stream)
{
    int64_t blocks = (add->rows * add->columns + THREADS - 1) / THREADS;
    add_all<real><<<(unsigned)(blocks < BLOCKS_MAX ? blocks : BLOCKS_MAX), THREADS, 0, stream>>>(
        add->rows, add->columns, static_cast<real *>(add->to), add->to_stride,
        static_cast<const real *>(add->from), add->from_stride);
}

} // namespace

extern "C" ps_status ps_add_columns_cuda(const ps_add_columns *add, ps_stream *stream)
{
    PS_TRY(ps_stream_enter(stream));
    cudaStream_t on = static_cast<cudaStream_t>(ps_stream_handle(stream));
    if (add->precision == PS_SINGLE)
        launch<float>(add, on);
    else
        launch<double>(add, on);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}
