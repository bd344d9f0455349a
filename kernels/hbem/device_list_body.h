/*
 * Part of near_cuda.cu, inside a namespace: which pairs of near leaves are close, and their lists,
 * by leaf and by class.
 */
#ifndef PS_KERNELS_HBEM_DEVICE_LIST_BODY_H
#define PS_KERNELS_HBEM_DEVICE_LIST_BODY_H

#include "kernels/hbem/device_near_body.h"

enum { LISTING = 128 };

/* ---- by leaf ---- */

/* The columns of a leaf that a block looks at together: their spheres in shared memory. */
struct column_spheres {
    double at[LISTING][5];
};

/* Column slots [first, first + LISTING) of a leaf, as far as there are; returns how many. */
__device__ int take_columns(const ps_hbem_near_launch &in, const leaf_slots &s, int first,
                            column_spheres &columns)
{
    const int count = min((int)LISTING, s.columns - first), c = threadIdx.x;
    __syncthreads();
    if (c < count)
        sphere_of(&in.op.triangles[in.op.trial.slot_triangle[s.column_begin + first + c]],
                  columns.at[c]);
    __syncthreads();
    return count;
}

/* The sphere of a row slot. */
__device__ void take_row(const ps_hbem_near_launch &in, const leaf_slots &s, int row, double x[5])
{
    sphere_of(&in.op.triangles[in.op.test.slot_triangle[s.row_begin + row]], x);
}

/* Close pairs of a row slot and columns, by one warp. */
__device__ int count_row(const ps_hbem_near_launch &in, const double x[5],
                         const column_spheres &columns, int count)
{
    int close = 0;
    for (int c = threadIdx.x % WARP; c < count; c += WARP)
        close += is_close(x, columns.at[c], in.op.rules.distance[0]);
    return warp_sum(close);
}

__global__ void __launch_bounds__(LISTING)
    count_pairs(const __grid_constant__ ps_hbem_near_launch in)
{
    __shared__ column_spheres columns;
    __shared__ int sums[WARPS_MAX];
    int close = 0;
    if (!all_apart(in, blockIdx.x)) {
        const leaf_slots s = slots_of(in, blockIdx.x);
        for (int first = 0; first < s.columns; first += LISTING) {
            const int count = take_columns(in, s, first, columns);
            for (int r = threadIdx.x / WARP; r < s.rows; r += LISTING / WARP) {
                double x[5];
                take_row(in, s, r, x);
                const int own = count_row(in, x, columns, count);
                close += threadIdx.x % WARP == 0 ? own : 0;
            }
        }
    }
    close = block_sum(close, sums);
    if (threadIdx.x == 0) in.counts[blockIdx.x] = close;
}

/* Close pairs of a row slot and columns from `first` on to `to`, by one warp; returns the next
 * place. */
__device__ int64_t list_row(const ps_hbem_near_launch &in, const leaf_slots &s, int row, int first,
                            const column_spheres &columns, int count, int64_t to)
{
    const int lane = threadIdx.x % WARP;
    double x[5];
    take_row(in, s, row, x);
    for (int base = 0; base < count; base += WARP) {
        const int c = base + lane;
        const bool close = c < count && is_close(x, columns.at[c], in.op.rules.distance[0]);
        const unsigned all = __ballot_sync(ALL, close);
        if (close)
            in.pairs[to + __popc(all & ((1u << lane) - 1))] = {s.row_begin + row,
                                                               s.column_begin + first + c, 0};
        to += __popc(all);
    }
    return to;
}

/* The pairs of a leaf by row and column; their classes are yet to come. */
__global__ void __launch_bounds__(LISTING)
    list_pairs(const __grid_constant__ ps_hbem_near_launch in)
{
    extern __shared__ __align__(16) double dynamic_shared[];
    __shared__ column_spheres columns;
    int *starts = (int *)dynamic_shared;
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    const int64_t begin = in.first[blockIdx.x];
    if (in.first[blockIdx.x + 1] == begin) return;
    const leaf_slots s = slots_of(in, blockIdx.x);
    for (int first = 0; first < s.columns; first += LISTING) {
        const int count = take_columns(in, s, first, columns);
        for (int r = warp; r < s.rows; r += LISTING / WARP) {
            double x[5];
            take_row(in, s, r, x);
            const int own = count_row(in, x, columns, count);
            if (lane == 0) starts[r] = own + (first > 0 ? starts[r] : 0);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0)
        for (int r = 0, sum = 0; r < s.rows; ++r) {
            int own = starts[r];
            starts[r] = sum;
            sum += own;
        }
    for (int first = 0; first < s.columns; first += LISTING) {
        const int count = take_columns(in, s, first, columns);
        for (int r = warp; r < s.rows; r += LISTING / WARP) {
            const int64_t to = begin - in.first[0];
            const int64_t next = list_row(in, s, r, first, columns, count, to + starts[r]);
            __syncwarp();
            if (lane == 0) starts[r] = (int)(next - to);
        }
    }
}

/* ---- by class ---- */

/* The class of each pair, by a thread, and how many each class has. */
__global__ void __launch_bounds__(LISTING)
    class_pairs(const __grid_constant__ ps_hbem_near_launch in)
{
    __shared__ unsigned counts[PS_HBEM_CLOSE_KINDS];
    const int64_t step = (int64_t)gridDim.x * LISTING;
    if (threadIdx.x < PS_HBEM_CLOSE_KINDS) counts[threadIdx.x] = 0;
    __syncthreads();
    for (int64_t i = (int64_t)blockIdx.x * LISTING + threadIdx.x; i < in.pair_count; i += step) {
        const int row = in.op.test.slot_triangle[in.pairs[i].row];
        const int column = in.op.trial.slot_triangle[in.pairs[i].column];
        const int kind = class_of(in.op.rules, &in.op.triangles[min(row, column)],
                                  &in.op.triangles[max(row, column)]);
        in.pairs[i].kind = kind;
        atomicAdd(&counts[kind], 1u);
    }
    __syncthreads();
    if (threadIdx.x < PS_HBEM_CLOSE_KINDS && counts[threadIdx.x] > 0)
        atomicAdd(&in.class_count[threadIdx.x], counts[threadIdx.x]);
}

/* Lists the pairs class by class; the order within a class is no matter. A block has SORTED pairs a
 * thread at once, and takes room for all of them in each class: rooms taken one by one, or by
 * warps, would wait for each other at a dozen addresses. */
__global__ void __launch_bounds__(LISTING)
    sort_pairs(const __grid_constant__ ps_hbem_near_launch in)
{
    enum { SORTED = 16 };
    __shared__ unsigned counts[PS_HBEM_CLOSE_KINDS];
    const int64_t tile = SORTED * LISTING;
    for (int64_t first = blockIdx.x * tile; first < in.pair_count; first += gridDim.x * tile) {
        int kind[SORTED];
        unsigned place[SORTED];
        __syncthreads();
        if (threadIdx.x < PS_HBEM_CLOSE_KINDS) counts[threadIdx.x] = 0;
        __syncthreads();
#pragma unroll
        for (int e = 0; e < SORTED; ++e) {
            const int64_t i = first + e * LISTING + threadIdx.x;
            kind[e] = i < in.pair_count ? in.pairs[i].kind : -1;
            place[e] = kind[e] < 0 ? 0 : atomicAdd(&counts[kind[e]], 1u);
        }
        __syncthreads();
        if (threadIdx.x < PS_HBEM_CLOSE_KINDS)
            counts[threadIdx.x] = in.class_start[threadIdx.x] +
                                  atomicAdd(&in.class_cursor[threadIdx.x], counts[threadIdx.x]);
        __syncthreads();
#pragma unroll
        for (int e = 0; e < SORTED; ++e)
            if (kind[e] >= 0)
                in.list[counts[kind[e]] + place[e]] = (int32_t)(first + e * LISTING + threadIdx.x);
    }
}

__global__ void start_classes(const __grid_constant__ ps_hbem_near_launch in)
{
    unsigned sum = 0;
    for (int c = 0; c < PS_HBEM_CLOSE_KINDS; ++c) {
        in.class_start[c] = sum;
        sum += in.class_count[c];
        in.class_cursor[c] = 0;
    }
}

#endif
