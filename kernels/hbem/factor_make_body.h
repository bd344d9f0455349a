/*
 * factor_make_body: the kernels of factor_cuda.cu that make factors. Blocks: x a node of a depth
 * and a tile of it, y a shift.
 */
#ifndef PS_KERNELS_HBEM_FACTOR_MAKE_BODY_H
#define PS_KERNELS_HBEM_FACTOR_MAKE_BODY_H

#include "kernels/hbem/factor_front_body.h"

/* ---- assembly ---- */

enum { COLUMNS = 16 };

/* What the children of a node left at (q, k) of its front. */
__device__ __forceinline__ complex gathered(const view &v, const front &n, const complex *below,
                                            int64_t q, int64_t k)
{
    complex sum = {0, 0};
    if (n.child[0] < 0) return sum;
    for (int side = 0; side < 2; ++side) {
        const int32_t row = n.gather[2 * q + side], column = n.gather[2 * k + side];
        if (row < 0 || column < 0) continue;
        const int64_t rows = v.row_first[n.child[side] + 1] - v.row_first[n.child[side]];
        sum = sum + below[v.square_first[n.child[side]] + column * rows + row];
    }
    return sum;
}

/* The front of a node: pivots' columns as A (for A^-1) and B (in scratch), the rest as a square. */
__global__ void __launch_bounds__(THREADS)
    assemble(const __grid_constant__ view v, const __grid_constant__ level at)
{
    const front n = front_of(v, at, blockIdx.x / at.tiles);
    const int64_t size = n.pivots + n.rows, first = (int64_t)(blockIdx.x % at.tiles) * COLUMNS;
    const int64_t end = first + COLUMNS < size ? first + COLUMNS : size;
    const complex *below = at.below + blockIdx.y * v.square;
    complex *a = n.numbers, *b = n.scratch, *c = n.square;
    for (int64_t i = threadIdx.x; i < (end - first) * size; i += THREADS) {
        const int64_t k = first + i / size, q = i % size;
        if (k >= n.pivots && q < n.pivots) continue;
        const complex value = gathered(v, n, below, q, k);
        if (k >= n.pivots)
            c[(k - n.pivots) * n.rows + q - n.pivots] = value;
        else if (q >= n.pivots)
            b[k * n.rows + q - n.pivots] = value;
        else
            a[k * n.pivots + q] = value;
    }
    __syncthreads();
    for (int64_t k = first + threadIdx.x / 32; k < end && k < n.pivots; k += WARPS) {
        const int64_t row = v.dof[n.first + k];
        for (int64_t e = v.start[row] + threadIdx.x % 32; e < v.start[row + 1]; e += 32) {
            const int64_t q = v.entry[e];
            if (q < 0) continue;
            complex *to = q < n.pivots ? a + k * n.pivots + q : b + k * n.rows + q - n.pivots;
            to->re += v.mass[e] - v.shift[blockIdx.y].re * v.stiffness[e];
            to->im -= v.shift[blockIdx.y].im * v.stiffness[e];
        }
    }
}

/* ---- inverses: the sweep operator, which keeps matrices symmetric; all pivots swept, A is
 * -A^-1 ---- */

/* Sweeps all of a block of at most BAND x BAND. False: a pivot is no number. */
__device__ bool sweep_small(complex (*d)[BAND + 1], int size)
{
    const int i = threadIdx.x % BAND, j = threadIdx.x / BAND;
    bool good = true;
    for (int s = 0; s < size; ++s) {
        const complex one = {1, 0}, inverse = divide(one, d[s][s]);
        complex value = {0, 0};
        good = good && (inverse.re != 0 || inverse.im != 0) && isfinite(inverse.re) &&
               isfinite(inverse.im);
        if (j < size) {
            value = d[j][i];
            if (i == s && j == s)
                value = {-inverse.re, -inverse.im};
            else if (i == s || j == s)
                value = value * inverse;
            else
                value = value - d[j][s] * (d[s][i] * inverse);
        }
        __syncthreads();
        if (j < size && i < size) d[j][i] = value;
        __syncthreads();
    }
    return good;
}

/* a -= t p^T outside the band; inside, t, its transpose and the swept block. */
__device__ void update(complex *a, int64_t n, const complex *p, const complex *t,
                       const complex (*d)[BAND + 1], int64_t first, int size)
{
    enum { EACH = 4 };
    const int lane = threadIdx.x % 32;
    for (int64_t j = (threadIdx.x / 32) * EACH; j < n; j += WARPS * EACH)
        for (int64_t i = lane; i < n; i += 32) {
            complex sum[EACH] = {};
            for (int c = 0; c < size; ++c) {
                const complex own = t[c * n + i];
                for (int e = 0; e < EACH; ++e)
                    add_product(sum[e], own, p[c * n + (j + e < n ? j + e : j)]);
            }
            for (int e = 0; e < EACH && j + e < n; ++e) {
                const int64_t column = j + e - first, row = i - first;
                const bool in = column >= 0 && column < size, across = row >= 0 && row < size;
                complex *to = a + (j + e) * n + i;
                *to = in && across ? d[column][row]
                      : in         ? t[column * n + i]
                      : across     ? t[row * n + j + e]
                                   : *to - sum[e];
            }
        }
}

__global__ void __launch_bounds__(THREADS)
    invert(const __grid_constant__ view v, const __grid_constant__ level at)
{
    __shared__ complex d[BAND][BAND + 1];
    const front n = front_of(v, at, blockIdx.x);
    complex *a = n.numbers, *p = n.scratch + n.pivots * n.rows, *t = p + BAND * n.pivots;
    bool good = true;
    for (int64_t first = 0; first < n.pivots; first += BAND) {
        const int size = n.pivots - first < BAND ? (int)(n.pivots - first) : BAND;
        const int i = threadIdx.x % BAND, j = threadIdx.x / BAND;
        if (i < size && j < size) d[j][i] = a[(first + j) * n.pivots + first + i];
        for (int64_t k = threadIdx.x; k < size * n.pivots; k += THREADS)
            p[k] = a[first * n.pivots + k];
        __syncthreads();
        good = sweep_small(d, size) && good;
        for (int64_t k = threadIdx.x; k < size * n.pivots; k += THREADS) {
            complex sum = {0, 0};
            for (int c = 0; c < size; ++c)
                add_product(sum, p[c * n.pivots + k % n.pivots], d[k / n.pivots][c]);
            t[k] = {-sum.re, -sum.im};
        }
        __syncthreads();
        update(a, n.pivots, p, t, d, first, size);
        __syncthreads();
    }
    for (int64_t k = threadIdx.x; k < n.pivots * n.pivots; k += THREADS)
        a[k] = {-a[k].re, -a[k].im};
    if (!good && threadIdx.x == 0) atomicAdd(v.bad, 1);
}

/* ---- products ---- */

enum { TILE = 32, TERMS = 8 };

struct operands {
    const complex *a, *b;
    int64_t stride_a, stride_b, rows, columns, terms; /* b[column][term], or turned */
};

/* sum[i][j] of a tile of A B: rows threadIdx % 16 + 16 i, columns threadIdx / 16 + 16 j. */
template <bool turned>
__device__ void tile_product(const operands &o, int64_t row, int64_t column, complex (*sum)[2])
{
    __shared__ complex left[TERMS][TILE], right[TERMS][TILE + 1];
    const int i = threadIdx.x % 16, j = threadIdx.x / 16;
    for (int64_t first = 0; first < o.terms; first += TERMS) {
        const int64_t k = threadIdx.x / TILE, place = threadIdx.x % TILE, term = first + k;
        const complex none = {0, 0};
        left[k][place] = term < o.terms && row + place < o.rows
                             ? o.a[term * o.stride_a + row + place]
                             : none;
        const int64_t across = turned ? place : threadIdx.x / TERMS;
        const int64_t along = turned ? k : threadIdx.x % TERMS;
        right[along][across] =
            first + along < o.terms && column + across < o.columns
                ? o.b[turned ? (first + along) * o.stride_b + column + across
                             : (column + across) * o.stride_b + first + along]
                : none;
        __syncthreads();
#pragma unroll
        for (int c = 0; c < TERMS; ++c)
#pragma unroll
            for (int e = 0; e < 4; ++e)
                add_product(sum[e % 2][e / 2], left[c][i + 16 * (e % 2)],
                            right[c][j + 16 * (e / 2)]);
        __syncthreads();
    }
}

/* W = B A^-1 (square = false), or what is left, C - W B^T. */
template <bool square>
__global__ void __launch_bounds__(THREADS)
    multiply(const __grid_constant__ view v, const __grid_constant__ level at)
{
    const front n = front_of(v, at, blockIdx.x / at.tiles);
    const int64_t across = (n.rows + TILE - 1) / TILE, tile = blockIdx.x % at.tiles;
    if (across == 0) return;
    const int64_t row = tile % across * TILE, column = tile / across * TILE;
    complex *w = n.numbers + n.pivots * n.pivots, sum[2][2] = {};
    const operands o = square ? operands{w, n.scratch, n.rows, n.rows, n.rows, n.rows, n.pivots}
                              : operands{n.scratch, n.numbers, n.rows, n.pivots, n.rows, n.pivots,
                                         n.pivots};
    if (column >= o.columns) return;
    tile_product<square>(o, row, column, sum);
    complex *to = square ? n.square : w;
#pragma unroll
    for (int e = 0; e < 4; ++e) {
        const int64_t i = row + threadIdx.x % 16 + 16 * (e % 2);
        const int64_t j = column + threadIdx.x / 16 + 16 * (e / 2);
        if (i >= o.rows || j >= o.columns) continue;
        complex *at_one = to + j * n.rows + i;
        *at_one = square ? *at_one - sum[e % 2][e / 2] : sum[e % 2][e / 2];
    }
}

#endif
