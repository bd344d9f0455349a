/* The steps of adaptive_growth.h on the device: a thread an index. */
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cuda_runtime.h>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/fmm/device_growth_cuda.h"
}

namespace
{

#define KERNEL_INLINE __device__ __forceinline__
#define GROWTH_ADD(to, value)                                                                      \
    atomicAdd(reinterpret_cast<unsigned long long *>(to), static_cast<unsigned long long>(value))
#include "kernels/fmm/adaptive_growth_body.h"

enum { THREADS = 128 };

template <int step>
__global__ __launch_bounds__(THREADS) void growth_each(const __grid_constant__ ps_growth_arrays in,
                                                       int64_t count)
{
    int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) growth_step(static_cast<ps_growth_step>(step), &in, i);
}

template <int step> void start(const ps_growth_arrays &in, int64_t count, cudaStream_t on)
{
    growth_each<step><<<(unsigned)((count + THREADS - 1) / THREADS), THREADS, 0, on>>>(in, count);
}

template <int step>
void start_step(int wanted, const ps_growth_arrays &in, int64_t count, cudaStream_t on)
{
    if constexpr (step < PS_GROWTH_STEPS) {
        if (wanted == step)
            start<step>(in, count, on);
        else
            start_step<step + 1>(wanted, in, count, on);
    }
}

} // namespace

extern "C" ps_status ps_device_growth_each(ps_stream *stream, ps_growth_step step,
                                           const ps_growth_arrays *arrays, int64_t count)
{
    PS_TRY(ps_stream_enter(stream));
    start_step<0>(step, *arrays, count, static_cast<cudaStream_t>(ps_stream_handle(stream)));
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

extern "C" ps_status ps_device_growth_scan(ps_stream *stream, const int32_t *from, int32_t *to,
                                           int64_t count, void *workspace, int64_t *bytes)
{
    size_t needed = (size_t)*bytes;
    PS_TRY(ps_stream_enter(stream));
    PS_CUDA(cub::DeviceScan::ExclusiveSum(workspace, needed, from, to, (int)count,
                                          static_cast<cudaStream_t>(ps_stream_handle(stream))));
    *bytes = (int64_t)needed;
    return PS_OK;
}

extern "C" ps_status ps_device_growth_sort(ps_stream *stream, uint64_t *labels[2],
                                           int32_t *numbers[2], int64_t count, int bits,
                                           void *workspace, int64_t *bytes, int *current)
{
    size_t needed = (size_t)*bytes;
    cub::DoubleBuffer<uint64_t> keys(labels[0], labels[1]);
    cub::DoubleBuffer<int32_t> values(numbers[0], numbers[1]);
    PS_TRY(ps_stream_enter(stream));
    PS_CUDA(cub::DeviceRadixSort::SortPairs(workspace, needed, keys, values, (int)count, 0, bits,
                                            static_cast<cudaStream_t>(ps_stream_handle(stream))));
    *bytes = (int64_t)needed;
    if (keys.selector != values.selector)
        return ps_fail(PS_FAILED, "a sort of pairs has put its halves apart");
    *current = keys.selector;
    return PS_OK;
}
