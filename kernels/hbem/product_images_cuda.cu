#include <cuda_runtime.h>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/hbem/product_images.h"
}

namespace {

enum { THREADS = 256, LANES = 32 };

struct maps {
    const int32_t *of[2];
};

/* A block a move, a warp a vector: lanes read what lies side by side, and write nearly so. */
template <typename real>
__global__ void __launch_bounds__(THREADS)
    move(const ps_product_move *moves, maps map, const real *from, real *to)
{
    const ps_product_move m = moves[blockIdx.x];
    const int32_t *place = map.of[m.side] + m.function;
    const int32_t first = place[0];
    const int lane = threadIdx.x % LANES;
    for (int v = m.first + threadIdx.x / LANES; v < m.first + m.count; v += THREADS / LANES) {
        const int order = m.columns ? v % m.columns * m.parts + v / m.columns : v;
        const real *in = from + m.from + (int64_t)v * m.length;
        real *out = to + m.to + (int64_t)order * m.places;
        for (int e = lane; e < m.length; e += LANES) out[place[e] - first] = in[e];
    }
}

template <typename real> void launch(const ps_product_images *images, cudaStream_t queue)
{
    move<real><<<(unsigned)images->count, THREADS, 0, queue>>>(
        images->moves, {{images->map[0], images->map[1]}}, static_cast<const real *>(images->from),
        static_cast<real *>(images->to));
}

} // namespace

extern "C" ps_status ps_product_images_cuda(const ps_product_images *images, ps_stream *stream)
{
    cudaStream_t queue = static_cast<cudaStream_t>(ps_stream_handle(stream));
    PS_TRY(ps_stream_enter(stream));
    if (images->item_bytes == 4)
        launch<float>(images, queue);
    else
        launch<double>(images, queue);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}
