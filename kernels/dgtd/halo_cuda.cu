/* Traces from device to device (kernels/dgtd/device_halo.h). */
#include <cuda_runtime.h>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/dgtd/device_kernels.h"
}

namespace {

enum { THREADS = 256, VALUES = 10 }; /* of a face, by one thread */

template <typename real> constexpr int lanes = 64 / (int)sizeof(real);

/* A peer that takes part in a push. */
struct peer_view {
    void *to;
    int64_t end; /* of its faces */
    volatile unsigned long long *mine;
    const volatile unsigned long long *theirs;
    unsigned long long count; /* with this push */
};

/* What a push needs, by value. */
struct push_view {
    int peers, nodes, face_nodes;
    peer_view peer[PS_DGTD_PEERS];
    const int32_t *send, *place;
    unsigned *done, *late;
    ps_dgtd_face_nodes faces;
};

/* Where the element of a face begins in the memory of a field. */
template <typename real>
__device__ __forceinline__ int64_t begin_of(const push_view &v, int32_t face)
{
    const int64_t slot = face >> 2, L = lanes<real>;
    return slot / L * 3 * v.nodes * L + slot % L;
}

/* From there to value `which` of the face: component, then node. */
template <typename real>
__device__ __forceinline__ int value_of(const push_view &v, int32_t face, int which)
{
    const int c = which / v.face_nodes, m = which - c * v.face_nodes;
    return (c * v.nodes + v.faces.node[face & 3][m]) * lanes<real>;
}

__device__ unsigned long long now()
{
    unsigned long long ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

/* Waits for the count of a peer. */
__device__ void await(const push_view &v, const peer_view &peer)
{
    volatile unsigned *late = v.late;
    const unsigned long long start = now(), most = PS_DGTD_AWAIT_SECONDS * 1000000000ull;
    while (*peer.theirs < peer.count && !*late)
        if (now() - start > most) atomicAdd(v.late, 1u);
    __threadfence_system();
}

/* The counts, by the block that is the last to be done with its values: a thread a peer. One fence
 * a block: the barrier before it orders the writes of the other threads. */
__device__ void trade_counts(const push_view &v)
{
    __shared__ bool last;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence_system();
        last = atomicAdd(v.done, 1u) == gridDim.x * gridDim.y - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence_system();
    if (threadIdx.x == 0) *v.done = 0;
    if (threadIdx.x >= v.peers) return;
    const peer_view &peer = v.peer[threadIdx.x];
    *peer.mine = peer.count;
    await(v, peer);
}

/* A thread some values of a face, which are all fetched before the first is written; threads beside
 * one another have faces of neighbouring slots, which follow one another and are written together.
 * Few blocks: they take the place of those of the half step that runs beside, and each lives as
 * long as its writes take to arrive. */
template <typename real>
__global__ __launch_bounds__(THREADS) void push(const __grid_constant__ push_view v,
                                                const real *__restrict__ values)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    const int first = (int)blockIdx.y * VALUES, left = 3 * v.face_nodes - first;
    if (i < v.peer[v.peers - 1].end) {
        int k = 0;
        while (i >= v.peer[k].end) ++k;
        const int32_t here = v.send[i], there = v.place[i];
        const real *from = values + begin_of<real>(v, here);
        real *to = static_cast<real *>(v.peer[k].to) + begin_of<real>(v, there);
        real value[VALUES];
#pragma unroll
        for (int n = 0; n < VALUES; ++n)
            if (n < left) value[n] = from[value_of<real>(v, here, first + n)];
#pragma unroll
        for (int n = 0; n < VALUES; ++n)
            if (n < left) to[value_of<real>(v, there, first + n)] = value[n];
    }
    trade_counts(v);
}

/* The peers of a list; those that take no part have no faces in it. */
void set_peers(const ps_dgtd_device_halo *halo, const ps_dgtd_device_faces *faces, int array,
               push_view *v)
{
    for (int k = 0; k < halo->peers; ++k) {
        const ps_dgtd_device_peer *p = halo->peer + k;
        if (!(faces->with >> k & 1)) continue;
        v->peer[v->peers++] = {p->arrays[array], faces->end[k], p->mine, halo->arrived + p->waits,
                               p->pushed + 1};
    }
}

} // namespace

extern "C" ps_status ps_dgtd_push_cuda(const ps_dgtd_device *device,
                                       const ps_dgtd_device_halo *halo,
                                       const ps_dgtd_device_faces *faces, int array,
                                       const void *values, ps_stream *stream)
{
    const int p = device->order;
    push_view v = {0,           (p + 1) * (p + 2) * (p + 3) / 6,
                   (p + 1) * (p + 2) / 2, {},
                   faces->send, faces->place,
                   halo->done,  halo->late,
                   {}};
    PS_TRY(ps_stream_enter(stream));
    ps_dgtd_list_face_nodes(p, &v.faces);
    set_peers(halo, faces, array, &v);
    const int64_t count = v.peer[v.peers - 1].end, some = count > 0 ? count : 1;
    const cudaStream_t queue = static_cast<cudaStream_t>(ps_stream_handle(stream));
    const dim3 blocks((unsigned)((some + THREADS - 1) / THREADS),
                      (unsigned)((3 * v.face_nodes + VALUES - 1) / VALUES));
    if (device->precision == PS_SINGLE)
        push<<<blocks, THREADS, 0, queue>>>(v, static_cast<const float *>(values));
    else
        push<<<blocks, THREADS, 0, queue>>>(v, static_cast<const double *>(values));
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}
