/*
 * factor_solve_body: the kernels of factor_cuda.cu that solve with factors. Blocks: x a node of a
 * depth and 32 of its rows or pivots, y a shift.
 */
#ifndef PS_KERNELS_HBEM_FACTOR_SOLVE_BODY_H
#define PS_KERNELS_HBEM_FACTOR_SOLVE_BODY_H

#include "kernels/hbem/factor_front_body.h"

/* in[side][place] from b[side][part][dof]; a side by blockIdx.y. */
__global__ void __launch_bounds__(THREADS)
    arrange(const __grid_constant__ view v, const double *b)
{
    const int64_t place = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (place >= v.dofs) return;
    const double *own = b + blockIdx.y * 2 * v.dofs;
    const int64_t dof = v.dof[place];
    v.in[blockIdx.y * v.dofs + place] = {own[dof], own[v.dofs + dof]};
}

/* y[side][part][dof] = sum over shifts. */
__global__ void __launch_bounds__(THREADS)
    combine(const __grid_constant__ view v, const __grid_constant__ weights w, double *y)
{
    const int64_t place = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (place >= v.dofs) return;
    complex sum = {0, 0};
    for (int j = 0; j < v.count; ++j)
        add_product(sum, w.weight[j], v.x[(j * PS_FACTOR_SIDES + blockIdx.y) * v.dofs + place]);
    double *own = y + blockIdx.y * 2 * v.dofs;
    const int64_t dof = v.dof[place];
    own[dof] = sum.re;
    own[v.dofs + dof] = sum.im;
}

/* What the children of a node left at position q of its front, of one side and shift. */
__device__ __forceinline__ complex collected(const view &v, const front &n, const complex *left,
                                             int64_t q)
{
    complex sum = {0, 0};
    if (n.child[0] < 0) return sum;
    for (int side = 0; side < 2; ++side) {
        const int32_t row = n.gather[2 * q + side];
        if (row >= 0) sum = sum + left[v.row_first[n.child[side]] + row];
    }
    return sum;
}

/* left = what the children left - W b of the pivots: 32 rows, the pivots shared by the warps. */
template <int sides>
__global__ void __launch_bounds__(THREADS)
    down(const __grid_constant__ view v, const __grid_constant__ level at)
{
    enum { CHUNK = 64 };
    __shared__ complex own[sides][CHUNK];
    __shared__ complex sums[WARPS][sides][32];
    const front n = front_of(v, at, blockIdx.x / at.tiles);
    const int64_t tile = blockIdx.x % at.tiles, row = tile * 32 + threadIdx.x % 32;
    const int64_t vectors = (int64_t)blockIdx.y * PS_FACTOR_SIDES;
    const int warp = threadIdx.x / 32;
    const complex *w = n.numbers + n.pivots * n.pivots;
    if (tile > 0 && tile * 32 >= n.rows) return;
    complex sum[sides] = {};
    for (int64_t first = 0; first < n.pivots; first += CHUNK) {
        const int64_t count = n.pivots - first < CHUNK ? n.pivots - first : CHUNK;
        for (int i = threadIdx.x; i < sides * CHUNK; i += THREADS) {
            const int64_t k = i % CHUNK, s = i / CHUNK;
            if (k >= count) continue;
            const complex value =
                v.in[s * v.dofs + n.first + first + k] +
                collected(v, n, v.left + (vectors + s) * v.rows, first + k);
            own[s][k] = value;
            if (tile == 0) v.pivots[(vectors + s) * v.dofs + n.first + first + k] = value;
        }
        __syncthreads();
        if (row < n.rows)
#pragma unroll 4
            for (int64_t k = warp; k < count; k += WARPS) {
                const complex number = w[(first + k) * n.rows + row];
#pragma unroll
                for (int s = 0; s < sides; ++s) add_product(sum[s], number, own[s][k]);
            }
        __syncthreads();
    }
#pragma unroll
    for (int s = 0; s < sides; ++s) sums[warp][s][threadIdx.x % 32] = sum[s];
    __syncthreads();
    for (int s = warp; s < sides; s += WARPS) {
        if (row >= n.rows) continue;
        complex *left = v.left + (vectors + s) * v.rows;
        complex value = collected(v, n, left, n.pivots + row);
        for (int i = 0; i < WARPS; ++i) value = value - sums[i][s][threadIdx.x % 32];
        left[n.row_first + row] = value;
    }
}

/* Sum over the lanes, in all of them. */
__device__ __forceinline__ complex over_lanes(complex a)
{
#pragma unroll
    for (int half = 16; half > 0; half /= 2) {
        a.re += __shfl_xor_sync(~0u, a.re, half);
        a.im += __shfl_xor_sync(~0u, a.im, half);
    }
    return a;
}

/* x of 32 pivots = A^-1 b - W^T x of the rows: four pivots a warp, terms by lanes. */
template <int sides>
__global__ void __launch_bounds__(THREADS)
    up(const __grid_constant__ view v, const __grid_constant__ level at)
{
    enum { EACH = 32 / WARPS };
    const front n = front_of(v, at, blockIdx.x / at.tiles);
    const int lane = threadIdx.x % 32;
    const int64_t first = (int64_t)(blockIdx.x % at.tiles) * 32 + threadIdx.x / 32 * EACH;
    const complex *a = n.numbers, *w = a + n.pivots * n.pivots;
    const complex *b = v.pivots + (int64_t)blockIdx.y * PS_FACTOR_SIDES * v.dofs + n.first;
    complex *x = v.x + (int64_t)blockIdx.y * PS_FACTOR_SIDES * v.dofs;
    complex sum[EACH][sides] = {};
    if (first >= n.pivots) return;
    for (int64_t r = lane; r < n.rows; r += 32) {
        const int64_t place = v.row[n.row_first + r];
        complex there[sides];
#pragma unroll
        for (int s = 0; s < sides; ++s) {
            there[s] = x[s * v.dofs + place];
            there[s] = {-there[s].re, -there[s].im};
        }
#pragma unroll
        for (int e = 0; e < EACH; ++e) {
            if (first + e >= n.pivots) break;
            const complex number = w[(first + e) * n.rows + r];
#pragma unroll
            for (int s = 0; s < sides; ++s) add_product(sum[e][s], number, there[s]);
        }
    }
    for (int64_t q = lane; q < n.pivots; q += 32) {
        complex there[sides];
#pragma unroll
        for (int s = 0; s < sides; ++s) there[s] = b[s * v.dofs + q];
#pragma unroll
        for (int e = 0; e < EACH; ++e) {
            if (first + e >= n.pivots) break;
            const complex number = a[(first + e) * n.pivots + q];
#pragma unroll
            for (int s = 0; s < sides; ++s) add_product(sum[e][s], number, there[s]);
        }
    }
#pragma unroll
    for (int e = 0; e < EACH; ++e)
#pragma unroll
        for (int s = 0; s < sides; ++s) {
            const complex value = over_lanes(sum[e][s]);
            if (lane == 0 && first + e < n.pivots) x[s * v.dofs + n.first + first + e] = value;
        }
}

#endif
