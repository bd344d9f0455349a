#include <cuda_runtime.h>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/common/copy_ranges_device.h"
}

namespace {

enum { THREADS = 256, BLOCKS_MAX = 4096 };

/* A block of threads takes range after range: 16 bytes a thread where both begin at such a place,
 * words of 4 bytes for the rest. */
__global__ void __launch_bounds__(THREADS)
    copy_all(const ps_range *ranges, int64_t count, int words, const unsigned *from, unsigned *to)
{
    for (int64_t r = blockIdx.x; r < count; r += gridDim.x) {
        const ps_range range = ranges[r];
        const unsigned *in = from + range.from * words;
        unsigned *out = to + range.to * words;
        const int64_t all = range.count * words;
        const bool wide = ((range.from * words) | (range.to * words)) % 4 == 0;
        const int64_t fours = wide ? all / 4 : 0;
        for (int64_t i = threadIdx.x; i < fours; i += THREADS)
            ((uint4 *)out)[i] = ((const uint4 *)in)[i];
        for (int64_t i = 4 * fours + threadIdx.x; i < all; i += THREADS) out[i] = in[i];
    }
}

} // namespace

extern "C" ps_status ps_copy_ranges_cuda(const ps_copy_ranges *copy, ps_stream *stream)
{
    PS_TRY(ps_stream_enter(stream));
    const int64_t blocks = copy->count < BLOCKS_MAX ? copy->count : BLOCKS_MAX;
    copy_all<<<(unsigned)blocks, THREADS, 0, static_cast<cudaStream_t>(ps_stream_handle(stream))>>>(
        copy->ranges, copy->count, copy->item_bytes / 4, static_cast<const unsigned *>(copy->from),
        static_cast<unsigned *>(copy->to));
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}
