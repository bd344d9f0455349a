/*
 * Pairs of triangles on a CUDA device: a thread a pair, its outer points one after the other. What
 * costs most, the parts of edges that spheres cut off, is gathered from a warp's threads and shared
 * out evenly: on their own they would wait for each other most of the time. The shell integrals are
 * those of shell_integral_body.h, with one lane, and all sums run as in interaction_pairs.c and
 * interaction_hard.c; the file is compiled without automatic contraction, as they are. So a pair
 * has the bits that a processor which fuses multiplications and additions gives it.
 */
#include <cuda_runtime.h>

#include <cmath>
#include <cstddef>
#include <cstring>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/tdbem/interaction_internal.h"
#include "kernels/tdbem/interaction_launch.h"
}
#include "kernels/tdbem/shell_integral_body.h"
#include "kernels/tdbem/shell_flux_body.h"

namespace
{

#include "kernels/tdbem/interaction_walk_body.h"

__device__ void report(const ps_device_tile &tile, unsigned fault)
{
    atomicOr(&tile.entries[0].result->faults, fault);
}

/* ---- sound-soft: an entry is a pair ---- */

/* M^k = S_k - S_{k-1}, k = base .. base + shells, in place. */
__device__ void difference(double *sums, int shells)
{
    for (int i = shells; i >= 0; --i)
        sums[i] = (i < shells ? sums[i] : 0) - (i > 0 ? sums[i - 1] : 0);
}

__global__ void __launch_bounds__(PS_PAIR_THREADS) soft_entries(const ps_device_tile tile)
{
    extern __shared__ double shared[];
    warp_space *space = reinterpret_cast<warp_space *>(shared);
    int64_t v = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, room;
    bool any = v < tile.rows * tile.slices;
    if (!any) v = 0;
    int64_t s = v / tile.rows, r = v % tile.rows;
    double *sums = tile.entries[0].bins + ps_device_bins(&tile, s, r, &room);
    triangle_view own = {tile.apart + r, tile.rows};
    pair_view pair = view_pair(tile, tile.first_slice + s, tile.first_row + r, own);
    point_walk points(tile, pair, any);
    int shells = 0, allowed = (int)room - 1;
    for (int64_t i = 0; any && i < room; ++i) sums[i] = 0;
    while (__any_sync(all_lanes, !points.done)) {
        ps_point point = points.point(tile.rule);
        double weight = points.factor * point.weight;
        walk<SOFT>(space, !points.done, point.x, points.inner(), tile.shell,
                   [&](int l, auto &values) {
                       int at = l - pair.base;
                       if (at >= 0 && at < allowed)
                           sums[at] += weight * values[0][0][0];
                       else
                           report(tile, PS_DEVICE_ROOM);
                       if (at >= shells && at < allowed) shells = at + 1;
                   });
        if (!points.done) points.next(tile);
    }
    if (!any) return;
    bool m_form = tile.formulation == PS_SOUND_SOFT_M;
    if (m_form) difference(sums, shells);
    tile.first[v] = pair.base;
    tile.count[v] = shells + m_form;
}

/* ---- sound-hard: the moments C and W of a pair, and its terms ---- */

/* The sums of a thread's pair, [shells][count]; those of all threads side by side. */
template <bool combined> struct pair_sums {
    static constexpr int count = combined ? PS_COMBINED_SUMS : PS_HARD_SUMS;
    double *base;
    int64_t stride;

    __device__ double &at(int shell, int sum) const { return base[(shell * count + sum) * stride]; }
    __device__ double get(int shell, int sum, int shells) const
    {
        return shell >= 0 && shell < shells ? at(shell, sum) : 0;
    }
};

/* Sums of a shell, `stride` apart, taken at once: one after the other they would wait for memory
 * each. fresh: none is there yet. */
template <int COUNT>
__device__ __forceinline__ void take_sums(const double *from, int64_t stride, bool fresh,
                                          double (&out)[COUNT])
{
#pragma unroll
    for (int q = 0; q < COUNT; ++q) out[q] = fresh ? 0 : from[q * stride];
}

template <int COUNT>
__device__ __forceinline__ void put_sums(const double (&sums)[COUNT], double *to, int64_t stride)
{
#pragma unroll
    for (int q = 0; q < COUNT; ++q) to[q * stride] = sums[q];
}

/* One shell of a point; to: sums[0], sums[stride] ... of the shell. */
template <typename Values>
__device__ __forceinline__ void add_shell(double *to, int64_t stride, bool fresh, double origin,
                                          const ps_point &point, double weight, bool swapped,
                                          const Values &v)
{
    double sums[PS_HARD_SUMS], inverse = v[0][0][0], one = v[1][0][0], distance = v[2][0][0];
    double first = one - origin * inverse;
    double second = distance - origin * one - origin * first;
    double left[3], right[3];
    take_sums(to, stride, fresh, sums);
    sums[0] += weight * inverse;
    sums[1] += weight * first;
    sums[2] += weight * second;
    for (int b = 0; b < 3; ++b) {
        double inner = weight * v[3 + b][0][0];
        left[b] = swapped ? inner : point.barycentric[b];
        right[b] = swapped ? point.barycentric[b] : inner;
    }
    for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) sums[3 + 3 * a + b] += left[a] * right[b];
    put_sums(sums, to, stride);
}

/* The double layer at one shell, of which each order is a sum of its own. */
template <typename Values>
__device__ __forceinline__ void add_flux_shell(double *to, int64_t stride, const ps_point &point,
                                               double weight, bool swapped, const Values &v)
{
    double sums[9];
    to += (PS_HARD_SUMS + (swapped ? 9 : 0)) * stride;
    take_sums(to, stride, false, sums);
    for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) {
            double inner = 2 * weight * (swapped ? v[6 + a][0][0] : v[6 + b][0][0]);
            double outer = swapped ? point.barycentric[b] : point.barycentric[a];
            sums[3 * a + b] += inner * outer;
        }
    put_sums(sums, to, stride);
}

/* Shells touched, and the first of them. */
struct extent {
    int low, end;
};

/* Shells first .. end - 1. */
template <bool combined>
__device__ void clear_sums(const pair_sums<combined> &sums, int first, int end)
{
    for (int shell = first; shell < end; ++shell)
        for (int q = 0; q < sums.count; ++q) sums.at(shell, q) = 0;
}

template <bool combined>
__device__ extent sum_shells(const ps_device_tile &tile, warp_space *space, const pair_view &pair,
                             bool any, const pair_sums<combined> &sums)
{
    constexpr walk_kind kind = combined ? FLUX : HATS;
    extent touched = {INT32_MAX, 0};
    int cleared = 0, capacity = (int)tile.sum_shells;
    double origin = (double)pair.base * tile.shell;
    point_walk points(tile, pair, any);
    while (__any_sync(all_lanes, !points.done)) {
        ps_point point = points.point(tile.rule);
        double weight = points.factor * point.weight;
        walk<kind>(
            space, !points.done, point.x, points.inner(), tile.shell, [&](int l, auto &values) {
                int at = l - pair.base;
                if (at < 0 || at >= capacity) {
                    report(tile, PS_DEVICE_ROOM);
                    return;
                }
                bool fresh = at >= cleared;
                clear_sums(sums, cleared, combined ? at + 1 : at);
                if (fresh) cleared = at + 1;
                double *to = &sums.at(at, 0);
                add_shell(to, sums.stride, fresh, origin, point, weight, points.swapped, values);
                if constexpr (combined) /* a triangle sends nothing through itself */
                    if (!pair.same)
                        add_flux_shell(to, sums.stride, point, weight, points.swapped, values);
                if (at < touched.low) touched.low = at;
                if (at >= touched.end) touched.end = at + 1;
            });
        if (!points.done) points.next(tile);
    }
    return touched;
}

__device__ double dot(const triangle_view &s, const triangle_view &t, int a, int b)
{
    return s[a] * t[b] + s[a + 1] * t[b + 1] + s[a + 2] * t[b + 2];
}

/* Of the shells n, n - 1 and n - 2 of a pair, the sums that the plain equation needs. */
struct recent_shells {
    double now[PS_HARD_SUMS], last[PS_HARD_SUMS], before[PS_HARD_SUMS];
};

/* int int B(r/D - (k-2)) / (4 pi r) for k = base + n. */
__device__ __forceinline__ double spline(const recent_shells &of, int n, double per)
{
    const double part[3][3] = {{.5, 0, 0}, {-1, 3, -1.5}, {.5, -3, 4.5}};
    const double *shell[3] = {of.before, of.last, of.now};
    double o = (double)(n - 2), sum = 0;
#pragma unroll
    for (int l = 0; l < 3; ++l) {
        const double *a = part[l], *c = shell[l];
        sum += a[0] * per * per * c[2] + (a[1] - 2 * a[0] * o) * per * c[1] +
               (a[2] - a[1] * o + a[0] * o * o) * c[0];
    }
    return sum;
}

/* A triangle with itself: both orders of W alike. */
template <bool combined>
__device__ void average_orders(const pair_sums<combined> &sums, const extent &touched)
{
    for (int i = touched.low; i < touched.end; ++i)
        for (int a = 0; a < 3; ++a)
            for (int b = 0; b < a; ++b) {
                double mean = (sums.at(i, 3 + 3 * a + b) + sums.at(i, 3 + 3 * b + a)) / 2;
                sums.at(i, 3 + 3 * a + b) = sums.at(i, 3 + 3 * b + a) = mean;
            }
}

/* Which triangles of a pair are lined; of a matrix without a lining both are taken. */
struct pair_walls {
    bool low, high;

    __device__ pair_walls(const ps_device_tile &tile, int64_t a, int64_t b)
        : low(!tile.lined || tile.lined[a < b ? a : b]),
          high(!tile.lined || tile.lined[a < b ? b : a])
    {
    }
};

/* What the double layer and the mass matrix add to the terms at base + n of both orders: as
 * add_double_layer() of interaction_hard.c, for the combined field equation or a lining, of which
 * the outer points are on the triangle of the column. */
__device__ void store_double_layer(const ps_device_tile &tile, const pair_view &pair,
                                   const pair_walls &walls, const pair_sums<true> &sums, int n,
                                   int shells, double *terms, int count)
{
    double factor = quotient(tile.lined ? 1 : tile.combined, tile.speed),
           k = (double)(pair.base + n);
    double each = tile.lined ? -factor : factor;
    double f = each * (k + 1), f1 = each * (2 * k - 1), f2 = each * (k - 2);
    for (int ab = 0; ab < 9; ++ab) {
        const double plain = terms[ab * count];
        double half = factor * pair.low[AREA] / (ab % 4 == 0 ? 12 : 24); /* ab % 4 == 0: a == b */
        for (int order = 0; order < 2; ++order) {
            int q = PS_HARD_SUMS + 9 * (tile.lined ? 1 - order : order) + ab;
            double term = plain - (f * sums.get(n, q, shells) - f1 * sums.get(n - 1, q, shells) +
                                   f2 * sums.get(n - 2, q, shells));
            if (pair.same && n < 2) term += n == 0 ? half : -half;
            if (!(order == 0 ? walls.high : walls.low)) term = 0;
            terms[(9 * order + ab) * count] = term;
        }
    }
}

template <bool combined>
__device__ void store_terms(const ps_device_tile &tile, const pair_view &pair,
                            const pair_walls &walls, const pair_sums<combined> &sums,
                            const extent &touched, double *terms)
{
    const triangle_view &s = pair.low, &t = pair.high;
    double curls[9], per = quotient(1, 4 * s[AREA] * t[AREA]);
    for (int ab = 0; ab < 9; ++ab) {
        int e = (ab / 3 + 1) % 3, f = (ab % 3 + 1) % 3;
        curls[ab] =
            dot(s, t, TANGENT + 3 * e, TANGENT + 3 * f) * (s[LENGTH + e] * t[LENGTH + f]) * per;
    }
    double scale = tile.speed * tile.shell;
    double wave = quotient(dot(s, t, NORMAL, NORMAL), scale);
    if (combined && tile.lined) { /* the single layer of the combined field equation alone */
        wave = quotient(tile.combined, scale);
        for (int ab = 0; ab < 9; ++ab) curls[ab] = 0;
    }
    double dt = quotient(tile.shell, tile.speed), per_shell = quotient(1, tile.shell);
    int count = touched.end + 2 - touched.low;
    recent_shells of;
#pragma unroll
    for (int q = 0; q < PS_HARD_SUMS; ++q) of.last[q] = of.before[q] = 0;
    for (int n = touched.low; n < touched.end + 2; ++n) {
#pragma unroll
        for (int q = 0; q < PS_HARD_SUMS; ++q) of.now[q] = sums.get(n, q, touched.end);
        double smooth = dt * spline(of, n, per_shell);
#pragma unroll
        for (int ab = 0; ab < 9; ++ab)
            terms[ab * count + n - touched.low] =
                wave * (of.now[3 + ab] - 2 * of.last[3 + ab] + of.before[3 + ab]) +
                curls[ab] * smooth;
        if constexpr (combined)
            store_double_layer(tile, pair, walls, sums, n, touched.end, terms + n - touched.low,
                               count);
#pragma unroll
        for (int q = 0; q < PS_HARD_SUMS; ++q) {
            of.before[q] = of.last[q];
            of.last[q] = of.now[q];
        }
    }
}

template <bool combined>
__global__ void __launch_bounds__(PS_PAIR_THREADS, combined ? BLOCKS_COMBINED : BLOCKS_HERE)
    hard_pairs(const ps_device_tile tile)
{
    extern __shared__ double shared[];
    int64_t place = (int64_t)blockIdx.x * PS_PAIR_THREADS + threadIdx.x;
    int64_t n = tile.band_side.count, pairs = tile.row_side.count * n, room;
    warp_space *space = reinterpret_cast<warp_space *>(shared);
    pair_sums<combined> sums = {tile.sums + place, (int64_t)gridDim.x * PS_PAIR_THREADS};
    for (int64_t p = place; p - threadIdx.x < pairs; p += (int64_t)gridDim.x * PS_PAIR_THREADS) {
        bool any = p < pairs;
        int64_t a = any ? p / n : 0, b = any ? p % n : 0;
        int64_t own = tile.row_side.list[a], other = tile.band_side.list[b];
        pair_view pair = view_pair(tile, own, other, {tile.apart + b, n});
        pair_walls walls(tile, own, other);
        bool concerned = any && (walls.low || walls.high);
        extent touched = sum_shells(tile, space, pair, concerned, sums);
        if (!any) continue;
        if (!concerned) {
            tile.pairs[p] = {pair.base, 0};
            continue;
        }
        double *terms = tile.terms + ps_device_terms(&tile, a, b, &room);
        if (touched.end + 2 - touched.low > room) {
            report(tile, PS_DEVICE_ROOM);
            touched = {0, 0};
        }
        if (pair.same) average_orders(sums, touched);
        store_terms(tile, pair, walls, sums, touched, terms);
        tile.pairs[p] = {pair.base + touched.low, touched.end + 2 - touched.low};
    }
}

ps_status apart(const ps_device_tile *tile, const int32_t *list, int64_t first, int64_t count,
                cudaStream_t stream)
{
    take_apart<<<(unsigned)((count + 255) / 256), 256, 0, stream>>>(tile->triangles, list, first,
                                                                    count, tile->apart);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

} // namespace

extern "C" ps_status ps_device_soft_entries(const ps_device_tile *tile, void *stream)
{
    cudaStream_t on = (cudaStream_t)stream;
    int64_t blocks = (tile->rows * tile->slices + PS_PAIR_THREADS - 1) / PS_PAIR_THREADS;
    PS_TRY(apart(tile, NULL, tile->first_row, tile->rows, on));
    soft_entries<<<(unsigned)blocks, PS_PAIR_THREADS, space_of(SOFT), on>>>(*tile);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

extern "C" ps_status ps_device_hard_pairs(const ps_device_tile *tile, void *stream)
{
    cudaStream_t on = (cudaStream_t)stream;
    const ps_device_side *band = &tile->band_side;
    int64_t blocks = (tile->row_side.count * band->count + PS_PAIR_THREADS - 1) / PS_PAIR_THREADS;
    if (blocks == 0) return PS_OK; /* none but rims of screens */
    int device, here;
    PS_CUDA(cudaGetDevice(&device));
    PS_CUDA(cudaDeviceGetAttribute(&here, cudaDevAttrMultiProcessorCount, device));
    bool combined = tile->combined > 0 || tile->lined;
    here *= combined ? BLOCKS_COMBINED : BLOCKS_HERE;
    if (here > PS_PAIR_BLOCKS) here = PS_PAIR_BLOCKS;
    if (blocks > here) blocks = here;
    PS_TRY(apart(tile, band->list, 0, band->count, on));
    if (combined)
        hard_pairs<true><<<(unsigned)blocks, PS_PAIR_THREADS, space_of(FLUX), on>>>(*tile);
    else
        hard_pairs<false><<<(unsigned)blocks, PS_PAIR_THREADS, space_of(HATS), on>>>(*tile);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}
