/*
 * Part of the far_*_cuda.cu files: the team of threads that works on a
 * leaf together: a block, or a cluster of blocks (compute capability 9.0) for large leaves. All
 * blocks of a team take the same decisions, from the same numbers; sums go in the same order in
 * each. Shared memory is each block's own; what team_* exchange is read from the others'.
 */
#ifndef PS_KERNELS_HBEM_DEVICE_TEAM_BODY_H
#define PS_KERNELS_HBEM_DEVICE_TEAM_BODY_H

#include "kernels/hbem/device_number_body.h"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
PS_INLINE int team_blocks() { return (int)__clusterSizeInBlocks(); }
PS_INLINE int team_block() { return (int)__clusterRelativeBlockRank(); }
PS_INLINE void team_barrier()
{
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
}
template <typename type> PS_INLINE type of_block(type *shared, int block)
{
    return *(type *)__cluster_map_shared_rank(shared, (unsigned)block);
}
#else
PS_INLINE int team_blocks() { return 1; }
PS_INLINE int team_block() { return 0; }
PS_INLINE void team_barrier() {}
template <typename type> PS_INLINE type of_block(type *shared, int block) { return *shared; }
#endif

PS_INLINE int team_thread() { return team_block() * (int)blockDim.x + (int)threadIdx.x; }
PS_INLINE int team_threads() { return team_blocks() * (int)blockDim.x; }

/* All threads of the team have come here, and see what the others wrote to global memory. */
PS_INLINE void team_sync()
{
    if (team_blocks() > 1)
        team_barrier();
    else
        __syncthreads();
}

/* *shared of all blocks becomes that of the first. */
template <typename type> PS_INLINE void take_from_first(type *shared)
{
    team_sync();
    if (team_blocks() == 1) return;
    if (threadIdx.x == 0 && team_block() > 0) *shared = of_block(shared, 0);
    team_sync();
}

/* scratch[WARPS_MAX]; all threads of the team get the sum. */
template <typename type> __device__ type team_sum(type a, type *scratch)
{
    a = block_sum(a, scratch);
    if (team_blocks() == 1) return a;
    if (threadIdx.x == 0) scratch[0] = a;
    team_sync();
    type sum = 0;
    for (int b = 0; b < team_blocks(); ++b) sum += of_block(scratch, b);
    team_sync();
    return sum;
}

__device__ int team_least(int a, int *scratch)
{
    a = block_least(a, scratch);
    if (team_blocks() == 1) return a;
    if (threadIdx.x == 0) scratch[0] = a;
    team_sync();
    for (int b = 0; b < team_blocks(); ++b) a = min(a, of_block(scratch, b));
    team_sync();
    return a;
}

#endif
