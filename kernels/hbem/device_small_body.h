/*
 * Part of the *_cuda.cu files of hbem: recompression of U V^T by Gram
 * matrices in fp64 (numbers[rank][rank], row by row), by a team of blocks of two warps or more.
 *
 *     U^H U = Ru^H Ru,  V^H V = Rv^H Rv,  Ru Rv^T Q = P Sigma
 *     U' = U Rv^T Q,  V' = V Rv^-1 conj(Q)
 *
 * The product U' V'^T is U V^T whatever R is, but for rounding; what R decides is how well the
 * singular values are known: to the root of what Gram matrices round to, 1e-7 of the largest.
 */
#ifndef PS_KERNELS_HBEM_DEVICE_SMALL_BODY_H
#define PS_KERNELS_HBEM_DEVICE_SMALL_BODY_H

#include "kernels/hbem/device_team_body.h"

template <int parts> using small = number<double, parts>;

template <int parts> struct small_matrices {
    small<parts> *gram[2], *core, *turn; /* [rank][rank]; core and turn column by column */
    double *sigma;                       /* [rank] squares                               */
    int *order;                          /* [rank]                                       */
};

/* gram[a][b] = a^H b, b >= a: by a thread each, or by a warp each where vectors are long. */
template <int parts, typename real>
__device__ __noinline__ void fill_gram(const real *vectors, int n, int rank, small<parts> *gram)
{
    const int group = n > 128 ? WARP : 1, lane = threadIdx.x % group;
    for (int e = team_thread() / group; e < rank * rank; e += team_threads() / group) {
        const int a = e / rank, b = e % rank;
        if (b < a) continue;
        const real *x = vectors + (size_t)a * parts * n, *y = vectors + (size_t)b * parts * n;
        small<parts> sum = zero_number<double, parts>();
        for (int c = lane; c < n; c += group)
            add_product(sum, conjugate(widen(load<parts>(x, n, c))), widen(load<parts>(y, n, c)));
        if (group == WARP)
            for (int p = 0; p < parts; ++p) sum.part[p] = warp_sum(sum.part[p]);
        if (lane == 0) gram[e] = sum;
    }
}

/* |U V^T|^2 = Re sum_ab gu[a][b] gv[a][b]. */
template <int parts>
__device__ double norm_of(const small_matrices<parts> &s, int rank, double *scratch)
{
    double sum = 0;
    for (int e = threadIdx.x; e < rank * rank; e += blockDim.x) {
        const int a = e / rank, b = e % rank;
        if (b >= a) sum += (b > a ? 2 : 1) * product(s.gram[0][e], s.gram[1][e]).part[0];
    }
    return sqrt(fmax(block_sum(sum, scratch), 0.));
}

/* In place, upper triangle: G = R^H R; by one warp. Returns true at a pivot of less than `least` of
 * its column: what is left of it is rounding, by which the rest of its row must not be divided. */
template <int parts> __device__ bool cholesky(small<parts> *g, int rank, double least)
{
    const int lane = threadIdx.x % WARP;
    for (int j = 0; j < rank; ++j) {
        const double column = g[j * rank + j].part[0];
        __syncwarp();
        for (int b = j + lane; b < rank; b += WARP) {
            small<parts> sum = g[j * rank + b];
            for (int p = 0; p < j; ++p)
                subtract_product(sum, conjugate(g[p * rank + j]), g[p * rank + b]);
            g[j * rank + b] = sum;
        }
        __syncwarp();
        const double left = g[j * rank + j].part[0], pivot = sqrt(left);
        if (!(left > least * column)) return true;
        __syncwarp();
        for (int b = j + lane; b < rank; b += WARP)
            for (int p = 0; p < parts; ++p)
                g[j * rank + b].part[p] =
                    b > j ? g[j * rank + b].part[p] / pivot : (p == 0 ? pivot : 0);
        __syncwarp();
    }
    return false;
}

/* core[b][a] = sum_c Ru[a][c] Rv[b][c]; turn = 1. */
template <int parts> __device__ void fill_core(const small_matrices<parts> &s, int rank)
{
    for (int e = team_thread(); e < rank * rank; e += team_threads()) {
        const int b = e / rank, a = e % rank;
        small<parts> sum = zero_number<double, parts>(), one = sum;
        for (int c = max(a, b); c < rank; ++c)
            add_product(sum, s.gram[0][a * rank + c], s.gram[1][b * rank + c]);
        if (a == b) one.part[0] = 1;
        s.core[e] = sum;
        s.turn[e] = one;
    }
}

/* Threads that have a pair of columns together: `group` of a warp, neighbours, a power of 2. */
struct pair_group {
    int group, lane;
    unsigned mask;
};

PS_INLINE double group_sum(double a, const pair_group &g)
{
    for (int o = g.group / 2; o > 0; o /= 2) a += __shfl_xor_sync(g.mask, a, o);
    return a;
}

/* x = c x - s y~, y = s x + c y~ with y~ = conj(phase) y; columns of n numbers. */
template <int parts>
PS_INLINE void rotate(small<parts> *x, small<parts> *y, int n, double c, double s,
                      const small<parts> &phase, const pair_group &g)
{
    for (int i = g.lane; i < n; i += g.group) {
        small<parts> a = x[i], b = product(conjugate(phase), y[i]);
        for (int p = 0; p < parts; ++p) {
            x[i].part[p] = c * a.part[p] - s * b.part[p];
            y[i].part[p] = s * a.part[p] + c * b.part[p];
        }
    }
}

/* Makes columns x and y of core orthogonal; false where they are. */
template <int parts>
__device__ bool make_orthogonal(const small_matrices<parts> &s, int rank, int x, int y,
                                const pair_group &g)
{
    small<parts> *a = s.core + x * rank, *b = s.core + y * rank;
    small<parts> mixed = zero_number<double, parts>();
    double aa = 0, bb = 0;
    for (int i = g.lane; i < rank; i += g.group) {
        aa += square(a[i]);
        bb += square(b[i]);
        add_product(mixed, conjugate(a[i]), b[i]);
    }
    aa = group_sum(aa, g);
    bb = group_sum(bb, g);
    for (int p = 0; p < parts; ++p) mixed.part[p] = group_sum(mixed.part[p], g);
    double size = sqrt(square(mixed));
    if (!(size > 1e-8 * sqrt(aa * bb)) || size < 1e-290) return false;
    double zeta = (bb - aa) / (2 * size);
    double t = (zeta < 0 ? -1 : 1) / (fabs(zeta) + sqrt(1 + zeta * zeta));
    double c = 1 / sqrt(1 + t * t);
    for (int p = 0; p < parts; ++p) mixed.part[p] /= size;
    rotate(a, b, rank, c, c * t, mixed, g);
    rotate(s.turn + x * rank, s.turn + y * rank, rank, c, c * t, mixed, g);
    return true;
}

/* As large as all pairs of a round at once allow, and no lane is without numbers. */
PS_INLINE pair_group group_for(int pairs, int rank)
{
    pair_group g = {WARP, 0, ALL};
    while (g.group > 1 && (g.group >= 2 * rank || pairs * g.group > (int)blockDim.x)) g.group /= 2;
    g.lane = threadIdx.x % g.group;
    if (g.group < WARP) g.mask = ((1u << g.group) - 1) << (threadIdx.x % WARP - g.lane);
    return g;
}

/* One-sided Jacobi by a block of threads; pairs of a round are disjoint. sigma, order. */
template <int parts> __device__ void jacobi(const small_matrices<parts> &s, int rank)
{
    enum { SWEEPS = 24 };
    const int even = rank + rank % 2, last = even - 1;
    const pair_group g = group_for(even / 2, rank);
    for (int sweep = 0; sweep < SWEEPS; ++sweep) {
        bool turned = false;
        for (int round = 0; round < last; ++round) {
            for (int i = threadIdx.x / g.group; i < even / 2; i += blockDim.x / g.group) {
                int x = i ? (round + i) % last : last, y = i ? (round - i + last) % last : round;
                if (x < rank && y < rank)
                    turned |= make_orthogonal(s, rank, min(x, y), max(x, y), g);
            }
            __syncthreads();
        }
        if (!__syncthreads_or(turned)) break;
    }
    for (int b = threadIdx.x; b < rank; b += blockDim.x) {
        double sum = 0;
        for (int a = 0; a < rank; ++a) sum += square(s.core[b * rank + a]);
        s.sigma[b] = sum;
    }
    __syncthreads();
    for (int b = threadIdx.x; b < rank; b += blockDim.x) {
        int before = 0;
        for (int c = 0; c < rank; ++c)
            before += s.sigma[c] > s.sigma[b] || (s.sigma[c] == s.sigma[b] && c < b);
        s.order[before] = b;
    }
}

/* How many singular values to keep: the tail is at most tolerance times all. */
template <int parts>
__device__ int kept_rank(const small_matrices<parts> &s, int rank, double tolerance)
{
    double all = 0, tail = 0;
    for (int l = 0; l < rank; ++l) all += s.sigma[s.order[l]];
    while (rank > 0) {
        tail += s.sigma[s.order[rank - 1]];
        if (tail > tolerance * tolerance * all) break;
        --rank;
    }
    return rank;
}

/* Of the first `kept` columns k of Q: core[k] = Rv^T Q_k; turn := Rv^-1 conj(Q_k), into gram[0]. */
template <int parts> __device__ void fill_turns(const small_matrices<parts> &s, int rank, int kept)
{
    for (int e = team_thread(); e < kept * rank; e += team_threads()) {
        const int k = e / rank, p = e % rank;
        const small<parts> *q = s.turn + s.order[k] * rank;
        small<parts> sum = zero_number<double, parts>();
        for (int c = 0; c <= p; ++c) add_product(sum, s.gram[1][c * rank + p], q[c]);
        s.core[k * rank + p] = sum;
    }
    for (int k = team_thread(); k < kept; k += team_threads()) {
        const small<parts> *q = s.turn + s.order[k] * rank;
        small<parts> *to = s.gram[0] + k * rank;
        for (int p = rank - 1; p >= 0; --p) {
            small<parts> sum = conjugate(q[p]);
            for (int c = p + 1; c < rank; ++c)
                subtract_product(sum, s.gram[1][p * rank + c], to[c]);
            to[p] = product(sum, inverse(s.gram[1][p * rank + p]));
        }
    }
    team_sync();
}

/* out[k][part][n] = sum_p vectors[p] turns[k][p]. */
template <int parts, typename real>
__device__ void turn_vectors(const real *vectors, int n, int rank, int kept,
                             const small<parts> *turns, real *out)
{
    enum { AT_ONCE = 4 };
    for (int i = team_thread(); i < n; i += team_threads())
        for (int k = 0; k < kept; k += AT_ONCE) {
            small<parts> sum[AT_ONCE];
            for (int c = 0; c < AT_ONCE; ++c) sum[c] = zero_number<double, parts>();
            for (int p = 0; p < rank; ++p) {
                small<parts> x = widen(load<parts>(vectors + (size_t)p * parts * n, n, i));
#pragma unroll
                for (int c = 0; c < AT_ONCE; ++c)
                    if (k + c < kept) add_product(sum[c], x, turns[(k + c) * rank + p]);
            }
#pragma unroll
            for (int c = 0; c < AT_ONCE; ++c)
                for (int part = 0; part < parts; ++part)
                    if (k + c < kept)
                        out[((size_t)(k + c) * parts + part) * n + i] = (real)sum[c].part[part];
        }
}

#endif
