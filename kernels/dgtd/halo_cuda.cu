/* Traces from device to device (kernels/dgtd/device_halo.h). */
#include <cuda_runtime.h>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/dgtd/device_kernels.h"
}

namespace {

enum { THREADS = 256 };

template <typename real> constexpr int lanes = 64 / (int)sizeof(real);

/* What a push needs, by value. */
struct push_view {
    ps_dgtd_device_halo halo;
    ps_dgtd_face_nodes faces;
    int nodes, face_nodes, field;
};

/* The value of component c at node m of a face, in the memory of a field. */
template <typename real>
__device__ __forceinline__ int64_t place(const push_view &v, int32_t face, int c, int m)
{
    const int64_t slot = face >> 2, L = lanes<real>;
    return (slot / L * 3 * v.nodes + c * v.nodes + v.faces.node[face & 3][m]) * L + slot % L;
}

__device__ unsigned long long now()
{
    unsigned long long ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

/* Waits for the count of a peer. */
__device__ void await(const ps_dgtd_device_halo &halo, int peer)
{
    const volatile unsigned long long *count = halo.arrived + halo.waits[peer];
    volatile unsigned *late = halo.late;
    const unsigned long long start = now(), most = PS_DGTD_AWAIT_SECONDS * 1000000000ull;
    while (*count <= halo.pushed && !*late)
        if (now() - start > most) atomicAdd(halo.late, 1u);
    __threadfence_system();
}

/* The counts, by the block that is the last to be done with its values: a thread a peer. */
__device__ void trade_counts(const push_view &v)
{
    __shared__ bool last;
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(v.halo.done, 1u) == gridDim.x - 1;
    __syncthreads();
    if (!last) return;
    __threadfence_system();
    if (threadIdx.x == 0) *v.halo.done = 0;
    if (threadIdx.x >= v.halo.peers) return;
    volatile unsigned long long *mine = v.halo.peer[threadIdx.x].mine;
    *mine = v.halo.pushed + 1;
    await(v.halo, threadIdx.x);
}

/* A thread a value: node and component, then face, so that faces of neighbouring slots, which
 * follow one another, are written together. */
template <typename real>
__global__ void push(const __grid_constant__ push_view v, const real *__restrict__ values)
{
    const int64_t item = (int64_t)blockIdx.x * THREADS + threadIdx.x, faces = v.halo.faces;
    const int which = (int)(item / faces);
    if (which < 3 * v.face_nodes) {
        const int64_t i = item % faces;
        const int c = which / v.face_nodes, m = which % v.face_nodes;
        int k = 0;
        while (i >= v.halo.peer[k].end) ++k;
        real *to = static_cast<real *>(v.halo.peer[k].fields[v.field]);
        to[place<real>(v, v.halo.place[i], c, m)] = values[place<real>(v, v.halo.send[i], c, m)];
    }
    trade_counts(v);
}

} // namespace

extern "C" ps_status ps_dgtd_push_cuda(const ps_dgtd_device *device,
                                       const ps_dgtd_device_halo *halo, ps_dgtd_field field,
                                       const void *values, ps_stream *stream)
{
    const int p = device->order;
    push_view v = {*halo, {}, (p + 1) * (p + 2) * (p + 3) / 6, (p + 1) * (p + 2) / 2, (int)field};
    PS_TRY(ps_stream_enter(stream));
    ps_dgtd_list_face_nodes(p, &v.faces);
    const cudaStream_t queue = static_cast<cudaStream_t>(ps_stream_handle(stream));
    const int64_t items = halo->faces * 3 * v.face_nodes;
    const unsigned blocks = (unsigned)((items + THREADS - 1) / THREADS);
    if (device->precision == PS_SINGLE)
        push<<<blocks, THREADS, 0, queue>>>(v, static_cast<const float *>(values));
    else
        push<<<blocks, THREADS, 0, queue>>>(v, static_cast<const double *>(values));
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}
