/*
 * sums_cuda_body: sums over all threads of a launch whose bits depend on the launch alone: blocks
 * leave partial sums, the block that is done last adds them in their order.
 */

enum { SUMS = 3, SUM_WARPS_MAX = 32 };

typedef struct block_sums {
    double *partial;  /* [blocks][SUMS] */
    unsigned *ticket; /* 0 between launches */
} block_sums;

/* The sums over the block, in thread 0. All threads call it. */
__device__ inline void add_block(double sums[SUMS])
{
    __shared__ double of_warp[SUM_WARPS_MAX][SUMS];
    const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
#pragma unroll
    for (int k = 0; k < SUMS; ++k)
#pragma unroll
        for (int half = 16; half > 0; half /= 2)
            sums[k] += __shfl_down_sync(0xffffffffu, sums[k], half);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        for (int k = 0; k < SUMS; ++k) of_warp[warp][k] = sums[k];
    __syncthreads();
    if (threadIdx.x == 0)
        for (int k = 0; k < SUMS; ++k)
            for (int w = 1; w < warps; ++w) sums[k] += of_warp[w][k];
}

/* The sums over the launch; true in one thread alone, which has them. All threads call it. */
__device__ inline bool add_launch(const block_sums &s, double sums[SUMS])
{
    __shared__ bool last;
    add_block(sums);
    if (threadIdx.x == 0) {
        for (int k = 0; k < SUMS; ++k) s.partial[SUMS * (int64_t)blockIdx.x + k] = sums[k];
        __threadfence();
        last = atomicInc(s.ticket, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return false;
    __threadfence();
    for (int k = 0; k < SUMS; ++k) sums[k] = 0;
#pragma unroll 4
    for (int64_t b = threadIdx.x; b < gridDim.x; b += blockDim.x)
        for (int k = 0; k < SUMS; ++k) sums[k] += __ldcg(s.partial + SUMS * b + k);
    add_block(sums);
    return threadIdx.x == 0;
}
