/*
 * The perfectly matched layer on CUDA (kernels/dgtd/device_pml.h): what a half step adds in the
 * layer's elements passes their filters, some nodes of an element a thread. Elements without a
 * layer are in no launch.
 */
#include <cuda_runtime.h>

#include <cstdint>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/dgtd/device_kernels.h"
}

namespace
{

#define LEAF __device__ __forceinline__
#define NAME(x) x
#define real float
#include "kernels/dgtd/pml_node_body.h"
#undef real
#define real double
#include "kernels/dgtd/pml_node_body.h"
#undef real
#undef NAME
#undef LEAF

enum { THREADS = 128, NODES_EACH = 4, PIECE = 16 }; /* bytes that a thread copies */

template <typename real> constexpr int lanes = 64 / (int)sizeof(real);

struct view {
    int nodes;
    const int64_t *groups;
    const void *factors, *frames;
    void *state, *former, *field;
    ps_dgtd_pml_parts parts; /* of blockIdx.y */
};

/* Old values of the rows; pieces of a row follow one another, as those of its group do. */
__global__ __launch_bounds__(THREADS) void keep(const __grid_constant__ view x)
{
    const int64_t pieces = 3 * (int64_t)x.nodes * (PS_DGTD_ALIGN / PIECE);
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    const int64_t row = x.parts.begin[blockIdx.y] + i / pieces;
    if (row >= x.parts.end[blockIdx.y]) return;
    static_cast<uint4 *>(x.former)[row * pieces + i % pieces] =
        static_cast<const uint4 *>(x.field)[x.groups[row] * pieces + i % pieces];
}

/* TURNED: in the frames of a ball. blockIdx.z: which nodes. */
template <typename real, bool TURNED>
__global__ __launch_bounds__(THREADS) void apply(const __grid_constant__ view x)
{
    constexpr int L = lanes<real>;
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x, lane = i % L;
    const int64_t row = x.parts.begin[blockIdx.y] + i / L, stride = (int64_t)x.nodes * L;
    if (row >= x.parts.end[blockIdx.y]) return;
    const real *factors =
        static_cast<const real *>(x.factors) + row * PS_DGTD_PML_FACTORS * L + lane;
    real f[3][6], m[3][3];
    for (int k = 0; k < 18; ++k) f[k / 6][k % 6] = factors[k * L];
    if (f[0][0] == 0) return; /* not in the layer */
    for (int k = 0; k < 9 && TURNED; ++k)
        m[k / 3][k % 3] = static_cast<const real *>(x.frames)[(row * 9 + k) * L + lane];
    const int bits = stretched(f), last = min(((int)blockIdx.z + 1) * NODES_EACH, x.nodes);
    real *now = static_cast<real *>(x.field) + 3 * x.groups[row] * stride + lane;
    const real *former = static_cast<const real *>(x.former) + 3 * row * stride + lane;
    real *state = static_cast<real *>(x.state) + PS_DGTD_PML_STATES * row * stride + lane;
    for (int n = blockIdx.z * NODES_EACH; n < last; ++n) {
        real old[3], added[3], out[3];
        for (int c = 0; c < 3; ++c) {
            old[c] = former[c * stride + n * L];
            added[c] = now[c * stride + n * L] - old[c];
        }
        filter_node(f, TURNED ? m : nullptr, bits, stride, state + n * L, added, out);
        for (int c = 0; c < 3; ++c) now[c * stride + n * L] = old[c] + out[c];
    }
}

template <typename real> void launch(const view &x, dim3 blocks, cudaStream_t queue)
{
    if (x.frames)
        apply<real, true><<<blocks, THREADS, 0, queue>>>(x);
    else
        apply<real, false><<<blocks, THREADS, 0, queue>>>(x);
}

unsigned blocks_for(int64_t threads) { return (unsigned)((threads + THREADS - 1) / THREADS); }

} // namespace

extern "C" ps_status ps_dgtd_pml_cuda(const ps_dgtd_device_pml *pml, const ps_dgtd_device *device,
                                      const ps_dgtd_pml_parts *parts, int which, void *field,
                                      ps_stream *stream)
{
    PS_TRY(ps_stream_enter(stream));
    const cudaStream_t queue = static_cast<cudaStream_t>(ps_stream_handle(stream));
    const int p = device->order, nodes = (p + 1) * (p + 2) * (p + 3) / 6;
    const unsigned count = (unsigned)parts->count;
    const view x = {nodes,
                    pml->groups,
                    pml->factors,
                    pml->frames,
                    which < 0 ? nullptr : pml->state[which],
                    pml->former,
                    field,
                    *parts};
    int64_t most = 0;
    for (int k = 0; k < parts->count; ++k)
        if (parts->end[k] - parts->begin[k] > most) most = parts->end[k] - parts->begin[k];
    if (which < 0) {
        const int64_t pieces = 3 * (int64_t)nodes * (PS_DGTD_ALIGN / PIECE);
        keep<<<dim3(blocks_for(most * pieces), count), THREADS, 0, queue>>>(x);
    } else {
        const unsigned slices = (unsigned)((nodes + NODES_EACH - 1) / NODES_EACH);
        const dim3 blocks(blocks_for(most * ps_dgtd_lanes(device->precision)), count, slices);
        if (device->precision == PS_SINGLE)
            launch<float>(x, blocks, queue);
        else
            launch<double>(x, blocks, queue);
    }
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}
