/*
 * Pairs of triangles on a CUDA device: a thread a pair. The shell integrals are those of
 * shell_integral_body.h, with one lane, and all sums run as in interaction_pairs.c and
 * interaction_hard.c; the file is compiled without automatic contraction, as they are. So a pair
 * has the bits that a processor which fuses multiplications and additions gives it.
 */
#include <cuda_runtime.h>

#include <cmath>
#include <cstring>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/tdbem/interaction_internal.h"
#include "kernels/tdbem/interaction_launch.h"
#include "kernels/tdbem/shell_integral.h"
}
#include "kernels/tdbem/shell_integral_body.h"

namespace {

constexpr double inverse_4pi = 0.079577471545947667884;

/* ---- outer points ---- */

/* ps_interaction_parts. */
__device__ int parts_of(const ps_triangle &triangle, double shell)
{
    double longest = fmax(triangle.length[0], fmax(triangle.length[1], triangle.length[2]));
    int cut = (int)triangle.cut;
    if (longest <= 10 * shell) return cut;
    return cut * (int)fmin(ceil(longest / (8 * shell)), 1024.0);
}

/* The sub-triangles of a triangle, in the order of ps_triangle_points. */
struct sub_triangle {
    int parts, row, column, down;

    __device__ bool is_one() const { return row < parts; }
    __device__ void next()
    {
        if (!down && column + row + 1 < parts) {
            down = 1;
            return;
        }
        down = 0;
        if (++column < parts - row) return;
        column = 0;
        ++row;
    }
};

__device__ ps_point outer_point(const ps_triangle &triangle, const ps_triangle_rule &rule, int q,
                                const sub_triangle &sub)
{
    const double *p = rule.barycentric[q];
    double u = (sub.column + (sub.down ? 1 - p[1] : p[1])) / sub.parts;
    double v = (sub.row + (sub.down ? 1 - p[2] : p[2])) / sub.parts;
    ps_point out;
    out.barycentric[0] = 1 - u - v;
    out.barycentric[1] = u;
    out.barycentric[2] = v;
    for (int c = 0; c < 3; ++c)
        out.x[c] = (1 - u - v) * triangle.vertex[0][c] + u * triangle.vertex[1][c] +
                   v * triangle.vertex[2][c];
    out.weight = rule.weight[q] * triangle.area / ((double)sub.parts * sub.parts);
    return out;
}

/* ---- shells ---- */

/* Shell by shell of one (point, triangle): add(number, values); returns the last number + 1. */
template <bool hats, typename Add>
__device__ __forceinline__ int64_t walk(const double point[3], const ps_triangle &triangle,
                                        double shell, const Add &add)
{
    ps_shell_lanes lanes;
    lane_state state;
    inside before, now;
    sphere_lanes sphere;
    double values[6][1][PS_LANES];
    ps_shell_values out;
    out.capacity = 1;
    out.inverse = values[0];
    out.one = values[1];
    out.distance = values[2];
    for (int a = 0; a < 3; ++a) out.hat[a] = values[3 + a];
    ps_shell_lanes_set(&lanes, 0, point, &triangle);
    int64_t count = see_triangle(&lanes, shell, &state, &out), first = out.first[0];
    for (int e = 0; e < 3; ++e) measure_edge(&lanes, e, &state, hats);
    memset(&before, 0, sizeof before);
    for (int64_t row = 0; row < count; ++row) {
        set_sphere(&state, (double)(row + 1), shell, hats, &sphere);
        integrate(&state, &sphere, hats, &now);
        store_shell(&lanes, &state, &before, &now, 0, hats, &out);
        add(first + row, values);
        before = now;
    }
    return first + count;
}

struct pair_view {
    const ps_triangle *low, *high;
    bool same;
    int64_t base; /* the first shell it can touch */
};

__device__ pair_view view_pair(const ps_device_tile &tile, int64_t a, int64_t b)
{
    const ps_triangle *s = tile.triangles + (a < b ? a : b), *t = tile.triangles + (a < b ? b : a);
    double x = s->centroid[0] - t->centroid[0], y = s->centroid[1] - t->centroid[1];
    double z = s->centroid[2] - t->centroid[2];
    double nearest = sqrt(x * x + y * y + z * z) - (s->radius + t->radius);
    int64_t base = (int64_t)(nearest * (1 - 1e-12) / tile.shell);
    return {s, t, a == b, base > 0 ? base : 0};
}

/* All outer points of both orders: visit(point, weight, inner triangle, swapped). */
template <typename Visit>
__device__ __forceinline__ void each_point(const ps_device_tile &tile, const pair_view &pair,
                                           const Visit &visit)
{
    double factor = pair.same ? inverse_4pi : inverse_4pi / 2;
    for (int swapped = 0; swapped < (pair.same ? 1 : 2); ++swapped) {
        const ps_triangle *outer = swapped ? pair.high : pair.low;
        const ps_triangle *inner = swapped ? pair.low : pair.high;
        sub_triangle sub = {parts_of(*outer, tile.shell), 0, 0, 0};
        for (; sub.is_one(); sub.next())
            for (int q = 0; q < tile.rule.count; ++q) {
                ps_point point = outer_point(*outer, tile.rule, q, sub);
                visit(point, factor * point.weight, *inner, swapped != 0);
            }
    }
}

__device__ void report(const ps_device_tile &tile, unsigned fault)
{
    atomicOr(&tile.result->faults, fault);
}

/* ---- sound-soft: an entry is a pair ---- */

/* M^k = S_k - S_{k-1}, k = base .. base + shells, in place. */
__device__ void difference(double *sums, int64_t shells)
{
    for (int64_t i = shells; i >= 0; --i)
        sums[i] = (i < shells ? sums[i] : 0) - (i > 0 ? sums[i - 1] : 0);
}

__global__ void __launch_bounds__(PS_PAIR_THREADS, 2) soft_entries(const ps_device_tile tile)
{
    int64_t v = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, room;
    if (v >= tile.rows * tile.slices) return;
    int64_t s = v / tile.rows, r = v % tile.rows;
    double *sums = tile.bins + ps_device_bins(&tile, s, r, &room);
    pair_view pair = view_pair(tile, tile.first_row + r, tile.first_slice + s);
    int64_t shells = 0, allowed = room - 1;
    for (int64_t i = 0; i < room; ++i) sums[i] = 0;
    each_point(tile, pair, [&](const ps_point &point, double weight, const ps_triangle &inner, bool) {
        int64_t end = walk<false>(point.x, inner, tile.shell, [&](int64_t l, auto &values) {
            int64_t at = l - pair.base;
            if (at >= 0 && at < allowed) sums[at] += weight * values[0][0][0];
            else report(tile, PS_DEVICE_ROOM);
        });
        if (end - pair.base > shells) shells = end - pair.base;
    });
    if (shells > allowed) shells = allowed;
    bool m_form = tile.formulation == PS_SOUND_SOFT_M;
    if (m_form) difference(sums, shells);
    tile.first[v] = (int32_t)pair.base;
    tile.count[v] = (int32_t)(shells + m_form);
}

/* ---- sound-hard: the moments C and W of a pair, and its terms ---- */

/* The sums of a thread's pair: the first shells in shared memory, others in global memory. */
struct pair_sums {
    double *near, *far;
    int64_t far_stride;

    __device__ double &at(int64_t shell, int sum) const
    {
        return shell < PS_NEAR_SHELLS
                   ? near[(shell * PS_HARD_SUMS + sum) * PS_PAIR_THREADS]
                   : far[((shell - PS_NEAR_SHELLS) * PS_HARD_SUMS + sum) * far_stride];
    }
    __device__ double get(int64_t shell, int sum, int64_t shells) const
    {
        return shell >= 0 && shell < shells ? at(shell, sum) : 0;
    }
};

template <typename Values>
__device__ __forceinline__ void add_shell(const pair_sums &sums, int64_t at, double origin,
                                          const ps_point &point, double weight, bool swapped,
                                          const Values &v)
{
    double inverse = v[0][0][0], one = v[1][0][0], distance = v[2][0][0];
    double first = one - origin * inverse;
    double second = distance - origin * one - origin * first;
    sums.at(at, 0) += weight * inverse;
    sums.at(at, 1) += weight * first;
    sums.at(at, 2) += weight * second;
    double inner[3];
    for (int b = 0; b < 3; ++b) inner[b] = weight * v[3 + b][0][0];
    for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b)
            sums.at(at, 3 + 3 * a + b) += swapped ? inner[a] * point.barycentric[b]
                                                  : point.barycentric[a] * inner[b];
}

/* Shells touched, and the first of them. */
struct extent {
    int64_t low, end;
};

__device__ extent sum_shells(const ps_device_tile &tile, const pair_view &pair,
                             const pair_sums &sums)
{
    extent touched = {INT32_MAX, 0};
    int64_t cleared = 0, capacity = PS_NEAR_SHELLS + tile.far_rows;
    double origin = (double)pair.base * tile.shell;
    each_point(tile, pair, [&](const ps_point &point, double weight, const ps_triangle &inner,
                               bool swapped) {
        walk<true>(point.x, inner, tile.shell, [&](int64_t l, auto &values) {
            int64_t at = l - pair.base;
            if (at < 0 || at >= capacity) {
                report(tile, PS_DEVICE_ROOM);
                return;
            }
            for (; cleared <= at; ++cleared)
                for (int q = 0; q < PS_HARD_SUMS; ++q) sums.at(cleared, q) = 0;
            add_shell(sums, at, origin, point, weight, swapped, values);
            if (at < touched.low) touched.low = at;
            if (at >= touched.end) touched.end = at + 1;
        });
    });
    return touched;
}

__device__ double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* int int B(r/D - (k-2)) / (4 pi r) for k = base + n. */
__device__ double spline(const pair_sums &sums, int64_t n, int64_t shells, double per)
{
    const double part[3][3] = {{.5, 0, 0}, {-1, 3, -1.5}, {.5, -3, 4.5}};
    double o = (double)(n - 2), sum = 0;
    for (int l = 0; l < 3; ++l) {
        const double *a = part[l];
        double c0 = sums.get(n - 2 + l, 0, shells), c1 = sums.get(n - 2 + l, 1, shells);
        double c2 = sums.get(n - 2 + l, 2, shells);
        sum += a[0] * per * per * c2 + (a[1] - 2 * a[0] * o) * per * c1 +
               (a[2] - a[1] * o + a[0] * o * o) * c0;
    }
    return sum;
}

/* A triangle with itself: both orders of W alike. */
__device__ void average_orders(const pair_sums &sums, const extent &touched)
{
    for (int64_t i = touched.low; i < touched.end; ++i)
        for (int a = 0; a < 3; ++a)
            for (int b = 0; b < a; ++b) {
                double mean = (sums.at(i, 3 + 3 * a + b) + sums.at(i, 3 + 3 * b + a)) / 2;
                sums.at(i, 3 + 3 * a + b) = sums.at(i, 3 + 3 * b + a) = mean;
            }
}

__device__ void store_terms(const ps_device_tile &tile, const pair_view &pair,
                            const pair_sums &sums, const extent &touched, double *terms)
{
    const ps_triangle &s = *pair.low, &t = *pair.high;
    double curls[9], per = 1 / (4 * s.area * t.area);
    for (int ab = 0; ab < 9; ++ab) {
        int e = (ab / 3 + 1) % 3, f = (ab % 3 + 1) % 3;
        curls[ab] = dot(s.tangent[e], t.tangent[f]) * (s.length[e] * t.length[f]) * per;
    }
    double wave = dot(s.normal, t.normal) / (tile.speed * tile.shell);
    double dt = tile.shell / tile.speed;
    int64_t count = touched.end + 2 - touched.low;
    for (int64_t n = touched.low; n < touched.end + 2; ++n) {
        double smooth = dt * spline(sums, n, touched.end, 1 / tile.shell);
        for (int ab = 0; ab < 9; ++ab) {
            double w = sums.get(n, 3 + ab, touched.end), w1 = sums.get(n - 1, 3 + ab, touched.end);
            double w2 = sums.get(n - 2, 3 + ab, touched.end);
            terms[ab * count + n - touched.low] = wave * (w - 2 * w1 + w2) + curls[ab] * smooth;
        }
    }
}

__global__ void __launch_bounds__(PS_PAIR_THREADS, 2) hard_pairs(const ps_device_tile tile)
{
    extern __shared__ double shared[];
    int64_t place = (int64_t)blockIdx.x * PS_PAIR_THREADS + threadIdx.x;
    int64_t n = tile.band_side.count, pairs = tile.row_side.count * n;
    pair_sums sums = {shared + threadIdx.x, tile.far_sums + place, tile.far_threads};
    for (int64_t p = place; p < pairs; p += (int64_t)gridDim.x * PS_PAIR_THREADS) {
        int64_t a = p / n, b = p % n, room;
        double *terms = tile.terms + ps_device_terms(&tile, a, b, &room);
        pair_view pair = view_pair(tile, tile.row_side.list[a], tile.band_side.list[b]);
        extent touched = sum_shells(tile, pair, sums);
        if (touched.end + 2 - touched.low > room) {
            report(tile, PS_DEVICE_ROOM);
            touched = {0, 0};
        }
        if (pair.same) average_orders(sums, touched);
        store_terms(tile, pair, sums, touched, terms);
        tile.pairs[p] = {(int32_t)(pair.base + touched.low),
                         (int32_t)(touched.end + 2 - touched.low)};
    }
}

} // namespace

extern "C" ps_status ps_device_soft_entries(const ps_device_tile *tile, void *stream)
{
    int64_t entries = tile->rows * tile->slices;
    int64_t blocks = (entries + PS_PAIR_THREADS - 1) / PS_PAIR_THREADS;
    soft_entries<<<(unsigned)blocks, PS_PAIR_THREADS, 0, (cudaStream_t)stream>>>(*tile);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

extern "C" ps_status ps_device_hard_pairs(const ps_device_tile *tile, void *stream)
{
    int64_t pairs = tile->row_side.count * tile->band_side.count;
    int64_t blocks = (pairs + PS_PAIR_THREADS - 1) / PS_PAIR_THREADS;
    int shared = PS_NEAR_SHELLS * PS_HARD_SUMS * PS_PAIR_THREADS * (int)sizeof(double);
    if (pairs == 0) return PS_OK; /* none but rims of screens */
    PS_CUDA(cudaFuncSetAttribute(hard_pairs, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    if (blocks > PS_PAIR_BLOCKS) blocks = PS_PAIR_BLOCKS;
    hard_pairs<<<(unsigned)blocks, PS_PAIR_THREADS, shared, (cudaStream_t)stream>>>(*tile);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}
