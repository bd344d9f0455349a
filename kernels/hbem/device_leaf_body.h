/*
 * Part of the far_*_cuda.cu files: shared memory of a block of threads,
 * and the beginning and end of a far leaf.
 */
#ifndef PS_KERNELS_HBEM_DEVICE_LEAF_BODY_H
#define PS_KERNELS_HBEM_DEVICE_LEAF_BODY_H

#include "kernels/hbem/device_cross_body.h"
#include "kernels/hbem/device_memory_body.h"
#include "kernels/hbem/device_small_body.h"
#include "kernels/hbem/device_source_body.h"

enum { CHECK_COLUMNS = 32, CHECK_ROWS = 8 };

template <typename real, int parts> struct far_shared {
    cross_shared<real, parts> cross;
    source_shared<real> source;
    real pivot[RANK_MAX][6];
    int many[8]; /* points of pivots, where some are creased */
    double sigma[RANK_MAX];
    int order[RANK_MAX];
    int sample[2][CHECK_COLUMNS], sample_first[CHECK_ROWS + 1];
    number<real, parts> sampled[CHECK_ROWS][CHECK_COLUMNS];
    int leaf;
    long long offset;
};

/* ---- beginning and end of a leaf ---- */

template <typename real, int parts>
__device__ bool take_leaf(const ps_hbem_far_launch &in, far_shared<real, parts> &shared)
{
    __syncthreads();
    if (team_thread() == 0) {
        unsigned n = atomicAdd(in.next, 1u);
        shared.leaf = n < (unsigned)in.count ? in.list[n] : -1;
    }
    take_from_first(&shared.leaf);
    return shared.leaf >= 0;
}

template <typename real, int parts>
__device__ void open_far(const ps_hbem_far_launch &in, far_shared<real, parts> &shared, int kernel,
                         far_leaf<real> &leaf)
{
    const ps_hbem_device_leaf at = in.leaves[shared.leaf];
    leaf.side[0] = &in.op.test;
    leaf.side[1] = &in.op.trial;
    leaf.triangles = in.op.triangles;
    leaf.begin[0] = at.row_begin;
    leaf.begin[1] = at.column_begin;
    leaf.length[0] = at.row_end - at.row_begin;
    leaf.length[1] = at.column_end - at.column_begin;
    leaf.shared = &shared.source;
    leaf.k = {(real)in.op.wavenumber, (real)in.op.absorption};
    open_leaf(leaf, in.op.rules, kernel);
}

/* The strata by which the rows of a leaf are checked; all threads find the same node. */
template <typename real, int parts>
PS_INLINE void find_strata(const far_leaf<real> &leaf, cross_shared<real, parts> &shared)
{
    const ps_hbem_device_side *side = leaf.side[0];
    const int begin = leaf.begin[0], end = begin + leaf.length[0];
    const int32_t *node = side->node;
    if (threadIdx.x == 0) shared.strata = 0;
    if (side->nodes == 0) return;
    while ((node[0] != begin || node[1] != end) && node[2] >= 0)
        node = side->node + 6 * (begin < side->node[6 * node[3]] ? node[2] : node[3]);
    if (threadIdx.x > 0 || node[0] != begin || node[1] != end) return;
    shared.stratum = side->stratum + begin;
    shared.listed = side->listed + node[4];
    shared.strata = node[5];
}

template <typename real, int parts>
__device__ void start_crosses(const ps_hbem_far_launch &in, const far_leaf<real> &leaf,
                              const far_memory<real> &memory, far_shared<real, parts> &shared,
                              double scale, crosses<real, parts> &s)
{
    const int m = leaf.length[0], n = leaf.length[1];
    const int64_t dense = (int64_t)m * n / (m + n) + 1;
    s.limit = (int)(dense < in.limit ? dense : in.limit);
    for (int side = 0; side < 2; ++side) s.length[side] = leaf.length[side];
    s.vector[0] = memory.crosses;
    s.vector[1] = memory.crosses + (size_t)(s.limit + 1) * parts * m;
    for (int side = 0; side < 2; ++side) {
        s.triangle[side] = memory.triangles + (size_t)side * (s.limit + 1) * s.limit * parts;
        s.pivot[side] = memory.pivots + side * s.limit;
    }
    s.used = memory.used;
    s.group = leaf.side[0]->group + leaf.begin[0];
    s.shared = &shared.cross;
    s.rank = s.used_count = 0;
    s.next = m / 2;
    s.check_rows = in.options.check_rows;
    s.norm2 = s.error = 0;
    s.zero = sizeof(real) == 4 ? 4e-7 : 1e-13;
    s.scale = scale;
    s.largest = 0;
    s.random = 20261120;
    s.rows_done[0] = s.rows_done[1] = 0;
    find_strata(leaf, shared.cross);
    unsigned own = 0;
    for (int i = threadIdx.x; i < m; i += blockDim.x) {
        if (team_block() == 0) s.used[i] = 0;
        own |= 1u << s.group[i] % PS_HBEM_CREASED;
        if (s.group[i] >= PS_HBEM_CREASED) own |= 1u << GROUPS;
    }
    own = __reduce_or_sync(ALL, own);
    if (threadIdx.x % WARP == 0) shared.cross.ints[threadIdx.x / WARP] = (int)own;
    __syncthreads();
    s.groups = 0;
    for (int w = 0; w < (int)blockDim.x / WARP; ++w) s.groups |= (unsigned)shared.cross.ints[w];
    team_sync();
}

/* Room for `numbers`, -1: none left. */
template <typename real, int parts>
__device__ long long take_room(const ps_hbem_far_launch &in, far_shared<real, parts> &shared,
                               long long numbers)
{
    __syncthreads();
    if (team_thread() == 0) {
        long long padded_numbers = (numbers + 3) / 4 * 4;
        long long at = (long long)atomicAdd(&in.report->cursor, (unsigned long long)padded_numbers);
        shared.offset = at + padded_numbers <= in.arena.capacity ? at : -1;
        if (shared.offset < 0) atomicAdd(&in.report->over_arena, 1u);
    }
    take_from_first(&shared.offset);
    return shared.offset;
}

template <typename real, int parts>
__device__ void set_block(const ps_hbem_far_launch &in, const far_shared<real, parts> &shared,
                          int rank, double error)
{
    if (team_thread() == 0)
        in.blocks[shared.leaf] = {shared.offset < 0 ? 0 : shared.offset, rank, (float)error};
}

template <typename real, int parts>
PS_INLINE small_matrices<parts> small_of(const far_memory<real> &memory,
                                         far_shared<real, parts> &shared, int rank)
{
    const int64_t one = (int64_t)rank * rank;
    const int64_t room = sizeof shared.source.point + sizeof shared.source.normal;
    bool fits = 4 * one * (int64_t)sizeof(small<parts>) <= room && team_blocks() == 1;
    small<parts> *base = fits ? (small<parts> *)shared.source.point : (small<parts> *)memory.small;
    double *sigma = fits ? shared.sigma : (double *)(base + 4 * one);
    int *order = fits ? shared.order : (int *)(sigma + rank);
    return {{base, base + one}, base + 2 * one, base + 3 * one, sigma, order};
}

/* Fills turns for the factors from their Gram matrices; returns how many singular values stay, -1
 * where vectors depend on each other so closely that Gram matrices do not tell: sums round to
 * 1e-15, so the root of a pivot p is known to 1e-15/sqrt(p); a tenth of the tolerance is wanted. */
template <int parts>
__device__ __noinline__ int cut_rank(const small_matrices<parts> s, int rank, double tolerance)
{
    const double rounding = 1e-14, share = rounding / tolerance;
    const int warp = threadIdx.x / WARP;
    if (team_block() == 0 && warp < 2) {
        const bool lost = cholesky(s.gram[warp], rank, fmax(rounding, share * share));
        if (threadIdx.x % WARP == 0) s.order[warp] = lost;
    }
    team_sync();
    const bool lost = s.order[0] || s.order[1];
    team_sync();
    if (lost) return -1;
    fill_core(s, rank);
    team_sync();
    if (team_block() == 0) jacobi(s, rank);
    team_sync();
    const int kept = kept_rank(s, rank, tolerance);
    fill_turns(s, rank, kept);
    return kept;
}

template <int parts, typename real>
__device__ __noinline__ void copy_vectors(const real *vectors, int n, int rank, int kept,
                                          const small<parts> *turns, real *out)
{
    if (turns)
        turn_vectors<parts>(vectors, n, rank, kept, turns, out);
    else
        for (int64_t e = team_thread(); e < (int64_t)kept * parts * n; e += team_threads())
            out[e] = vectors[e];
}

/* The factors, recompressed if wanted (the Gram matrices are filled), to the arena, with the
 * caller's estimate of the relative error; false: the block is smaller dense. */
template <typename real, int parts>
__device__ bool put_factors(const ps_hbem_far_launch &in, const far_memory<real> &memory,
                            far_shared<real, parts> &shared, const int length[2],
                            real *const vectors[2], int rank, double error)
{
    const int64_t m = length[0], n = length[1];
    small_matrices<parts> s = small_of(memory, shared, rank);
    const int cut = in.options.recompress && rank > 0
                        ? cut_rank<parts>(s, rank, in.options.tolerance)
                        : -1;
    const bool recompress = cut >= 0;
    const int kept = recompress ? cut : rank;
    if (kept * (m + n) >= m * n) return false;
    if (take_room(in, shared, kept * parts * (m + n)) >= 0) {
        real *out = (real *)in.arena.values + shared.offset;
        copy_vectors<parts>(vectors[0], m, rank, kept, recompress ? s.core : NULL, out);
        copy_vectors<parts>(vectors[1], n, rank, kept, recompress ? s.gram[0] : NULL,
                            out + kept * parts * m);
    }
    set_block(in, shared, kept, error);
    return true;
}

/* The block itself, by columns. */
template <class matrix, typename real, int parts>
__device__ void put_dense(const ps_hbem_far_launch &in, matrix &a, const int length[2],
                          far_shared<real, parts> &shared)
{
    const int64_t m = length[0], n = length[1];
    if (take_room(in, shared, parts * m * n) >= 0) {
        real *out = (real *)in.arena.values + shared.offset;
        for (int j = 0; j < n; ++j) {
            a.template begin<1>(j);
            for (int i = team_thread(); i < m; i += team_threads())
                store(out + j * m, m * n, i, a.template value<1>(i));
            team_sync();
        }
    }
    set_block(in, shared, PS_RANK_DENSE, 0);
    if (team_thread() == 0) atomicAdd(&in.report->dense, 1u);
}

/* A leaf by crosses of a matrix; false: it needs a higher rank. */
template <class matrix, typename real, int parts>
__device__ bool cross_matrix(const ps_hbem_far_launch &in, matrix &a, const far_leaf<real> &leaf,
                             const far_memory<real> &memory, far_shared<real, parts> &shared)
{
    crosses<real, parts> s;
    start_crosses(in, leaf, memory, shared, shared.source.scale, s);
    const int64_t m = s.length[0], n = s.length[1], dense = m * n / (m + n) + 1;
    bool good = iterate(a, s, in.options.crosses) && s.rank < dense;
    team_sync();
    if (good && in.options.recompress) {
        small_matrices<parts> small_ones = small_of(memory, shared, s.rank);
#pragma unroll 1
        for (int side = 0; side < 2; ++side)
            fill_gram<parts>(s.vector[side], s.length[side], s.rank, small_ones.gram[side]);
        team_sync();
    }
    if (good && put_factors(in, memory, shared, s.length, s.vector, s.rank, s.error)) return true;
    if (!good && s.limit < dense) return false;
    put_dense(in, a, s.length, shared);
    return true;
}

#endif
