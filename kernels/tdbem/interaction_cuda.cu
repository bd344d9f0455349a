/*
 * Entries of a tile on a CUDA device: sound-hard entries from the terms of their pairs of
 * triangles, trimming, and row-vectors put close together in the file's precision.
 */
#include <cuda_runtime.h>

#include <climits>
#include <cmath>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/tdbem/interaction_launch.h"
}

namespace
{

enum { THREADS = 256, WARP = 32, NEAR_BINS = 24 };
constexpr double trim_level = 1e-12; /* as in interaction.c */

/* ---- sound-hard entries ---- */

/* The triangles at an unknown. */
struct around {
    const int32_t *slot;
    int count;

    __device__ around(const ps_device_side &side, int64_t unknown)
        : slot(side.slot + 2 * side.start[unknown]),
          count(side.start[unknown + 1] - side.start[unknown])
    {
    }
    __device__ int triangle(int n) const { return n < count ? slot[2 * n] : INT_MAX; }
    __device__ int place(int n) const { return slot[2 * n + 1] / 4; }
    __device__ int corner(int n) const { return slot[2 * n + 1] % 4; }
};

/* Corner of the lower triangle x 3 + corner of the higher. */
__device__ int corners(const around &i, int a, const around &j, int b)
{
    return i.triangle(a) <= j.triangle(b) ? 3 * i.corner(a) + j.corner(b)
                                          : 3 * j.corner(b) + i.corner(a);
}

/* Triangle number `a` of i, or `b` of j, is the lower of all that follow: visits its pairs with
 * those that are higher, ascending. A pair that i and j both have both of comes twice, in
 * the order of its corners. */
template <typename Visit>
__device__ void visit_higher(const around &i, const around &j, int a, int b, const Visit &visit)
{
    bool in_i = i.triangle(a) <= j.triangle(b), in_j = j.triangle(b) <= i.triangle(a);
    int p = in_j ? a + in_i : i.count, q = in_i ? b + in_j : j.count;
    while (p < i.count || q < j.count) {
        bool take_p = i.triangle(p) <= j.triangle(q), take_q = j.triangle(q) <= i.triangle(p);
        bool turned = take_p && take_q && corners(i, p, j, b) < corners(i, a, j, q);
        if (turned) visit(p, b);
        if (take_q) visit(a, q);
        if (take_p && !turned) visit(p, b);
        p += take_p;
        q += take_q;
    }
}

/* All pairs (triangle at i, triangle at j) by their lower number, then the higher: the order in
 * which interaction_hard.c adds them, whatever the tile. */
template <typename Visit>
__device__ void visit_pairs(const around &i, const around &j, const Visit &visit)
{
    for (int a = 0, b = 0; a < i.count || b < j.count;) {
        bool in_i = i.triangle(a) <= j.triangle(b), in_j = j.triangle(b) <= i.triangle(a);
        if (in_i && in_j) visit(a, b);
        visit_higher(i, j, a, b, visit);
        a += in_i;
        b += in_j;
    }
}

__device__ ps_device_pair pair_of(const ps_device_tile &tile, int64_t a, int64_t b)
{
    return tile.pairs[a * tile.band_side.count + b];
}

/* The k of an entry: those of all its pairs together. */
__device__ ps_device_pair extent_of(const ps_device_tile &tile, const around &i, const around &j)
{
    int first = INT_MAX, end = 0;
    for (int a = 0; a < i.count; ++a)
        for (int b = 0; b < j.count; ++b) {
            ps_device_pair pair = pair_of(tile, i.place(a), j.place(b));
            first = min(first, pair.base);
            end = max(end, pair.base + pair.count);
        }
    return {end ? first : 0, end ? end - first : 0};
}

/* both: the mirror's entries, too, of the terms with x and y exchanged. */
template <bool both> __global__ void hard_entries(const ps_device_tile tile)
{
    constexpr int kinds = both ? 2 : 1;
    int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, room;
    if (e >= tile.rows * tile.band_slices) return;
    int64_t s = tile.band_first + e / tile.rows, r = e % tile.rows, v = s * tile.rows + r;
    around i(tile.row_side, r), j(tile.band_side, s - tile.band_first);
    int64_t offset = ps_device_bins(&tile, s, r, &room);
    ps_device_pair whole = extent_of(tile, i, j);
    if (whole.count > room) {
        atomicOr(&tile.entries[0].result->faults, PS_DEVICE_ROOM);
        whole.count = 0;
    }
    tile.first[v] = whole.base;
    tile.count[v] = whole.count;
    /* Sums that are added to so often stay near by; those of long row-vectors in their bins. */
    double near[kinds][NEAR_BINS], *sums[kinds];
    bool is_short = whole.count <= NEAR_BINS;
    for (int q = 0; q < kinds; ++q) {
        sums[q] = is_short ? near[q] : tile.entries[q].bins + offset;
        for (int n = 0; n < whole.count; ++n) sums[q][n] = 0;
    }
    int other = (int)tile.term_rows - 9; /* rows from one order's terms to the other's, if any */
    visit_pairs(i, j, [&](int a, int b) {
        int64_t x = i.place(a), y = j.place(b), most;
        ps_device_pair pair = pair_of(tile, x, y);
        const double *terms = tile.terms + ps_device_terms(&tile, x, y, &most);
        int at = corners(i, a, j, b), own = i.triangle(a) <= j.triangle(b) ? 0 : other;
        for (int q = 0; q < kinds; ++q) {
            const double *term = terms + (at + (q == 0 ? own : other - own)) * pair.count;
            for (int n = 0; n < pair.count; ++n) sums[q][pair.base - whole.base + n] += term[n];
        }
    });
    for (int q = 0; is_short && q < kinds; ++q)
        for (int n = 0; n < whole.count; ++n) tile.entries[q].bins[offset + n] = near[q][n];
}

/* ---- trimming ---- */

__device__ void keep_near(const ps_device_entries &entries, int64_t row, int64_t slice,
                          double value)
{
    unsigned at = atomicAdd(&entries.result->near_count, 1u);
    entries.near_rows[at] = (int32_t)row;
    entries.near_columns[at] = (int32_t)slice;
    entries.near_values[at] = value;
}

/* As ps_tile_append. */
__global__ void trim(const ps_device_tile tile, int order)
{
    const ps_device_entries &entries = tile.entries[order];
    int64_t v = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, room;
    if (v >= tile.rows * tile.slices) return;
    int64_t s = v / tile.rows, r = v % tile.rows;
    const double *m = entries.bins + ps_device_bins(&tile, s, r, &room);
    int first = tile.first[v], count = tile.count[v], low = first == 0 ? 1 : 0, high = count;
    double largest = 0;
    for (int n = 0; n < count; ++n) largest = fmax(largest, fabs(m[n]));
    double level = trim_level * largest;
    if (first == 0 && count > 0 && largest > 0 && fabs(m[0]) >= level)
        keep_near(entries, order ? tile.first_slice + s : tile.first_row + r,
                  order ? tile.first_row + r : tile.first_slice + s, m[0]);
    while (low < high && !(fabs(m[low]) >= level && largest > 0)) ++low;
    while (high > low && !(fabs(m[high - 1]) >= level)) --high;
    int length = high > low ? high - low : 0;
    if (length > USHRT_MAX || first + high > USHRT_MAX + 1) {
        atomicOr(&entries.result->faults, PS_DEVICE_K);
        length = 0;
    }
    entries.starts[v] = (uint16_t)(length ? first + low : 0);
    entries.lengths[v] = (uint16_t)length;
    unsigned last = length ? (unsigned)(first + high - 1) : 0;
    if (last > entries.result->k_max) atomicMax(&entries.result->k_max, last);
}

/* ---- closing up ---- */

/* One order of a tile's entries: `outer` runs of `inner` entries. */
struct order_view {
    int64_t outer, inner, outer_stride, inner_stride;
};

order_view order_of(const ps_device_tile &tile, int order)
{
    if (order == 0) return {tile.slices, tile.rows, tile.rows, 1};
    return {tile.rows, tile.slices, 1, tile.rows};
}

/* Sum of `value` over the threads before this one; *total: over all of the block. */
__device__ int64_t scan_block(int64_t value, int64_t *total)
{
    __shared__ int64_t warps[THREADS / WARP];
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    int64_t sum = value;
    for (int step = 1; step < WARP; step *= 2) {
        int64_t other = __shfl_up_sync(0xffffffffu, sum, step);
        if (lane >= step) sum += other;
    }
    if (lane == WARP - 1) warps[warp] = sum;
    __syncthreads();
    int64_t before = 0, all = 0;
    for (int w = 0; w < THREADS / WARP; ++w) {
        if (w < warp) before += warps[w];
        all += warps[w];
    }
    __syncthreads();
    *total = all;
    return before + sum - value;
}

__global__ void total_lengths(const uint16_t *lengths, order_view view, int64_t *totals)
{
    int64_t o = blockIdx.x, sum = 0, total;
    for (int64_t n = threadIdx.x; n < view.inner; n += THREADS)
        sum += lengths[o * view.outer_stride + n * view.inner_stride];
    scan_block(sum, &total);
    if (threadIdx.x == 0) totals[o] = total;
}

/* totals[count + 1]: to running sums. One block. */
__global__ void accumulate(int64_t *totals, int64_t count, int64_t *all)
{
    int64_t before = 0, total;
    for (int64_t first = 0; first <= count; first += THREADS) {
        int64_t n = first + threadIdx.x;
        int64_t own = n < count ? totals[n] : 0, here = scan_block(own, &total);
        if (n <= count) totals[n] = before + here;
        before += total;
    }
    if (threadIdx.x == 0) *all = before;
}

template <typename real>
__global__ void compact(const ps_device_tile tile, order_view view, int order)
{
    real *values = static_cast<real *>(tile.out_values[order]);
    const ps_device_entries &entries = tile.entries[order];
    int64_t o = blockIdx.x, before = tile.totals[order][o], total, room;
    for (int64_t first = 0; first < view.inner; first += THREADS) {
        int64_t n = first + threadIdx.x, v = o * view.outer_stride + n * view.inner_stride;
        int length = n < view.inner ? entries.lengths[v] : 0;
        int64_t to = before + scan_block(length, &total);
        before += total;
        if (n >= view.inner) continue;
        tile.out_starts[order][o * view.inner + n] = entries.starts[v];
        tile.out_lengths[order][o * view.inner + n] = (uint16_t)length;
        if (length == 0) continue;
        const double *m = entries.bins +
                          ps_device_bins(&tile, v / tile.rows, v % tile.rows, &room) +
                          (entries.starts[v] - tile.first[v]);
        for (int q = 0; q < length; ++q) values[to + q] = (real)m[q];
    }
}

unsigned blocks_of(int64_t items) { return (unsigned)((items + THREADS - 1) / THREADS); }

} // namespace

extern "C" ps_status ps_device_hard_entries(const ps_device_tile *tile, bool both, void *stream)
{
    cudaStream_t on = (cudaStream_t)stream;
    unsigned blocks = blocks_of(tile->rows * tile->band_slices);
    if (both)
        hard_entries<true><<<blocks, THREADS, 0, on>>>(*tile);
    else
        hard_entries<false><<<blocks, THREADS, 0, on>>>(*tile);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

extern "C" ps_status ps_device_trim(const ps_device_tile *tile, int order, void *stream)
{
    trim<<<blocks_of(tile->rows * tile->slices), THREADS, 0, (cudaStream_t)stream>>>(*tile, order);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

extern "C" ps_status ps_device_compact(const ps_device_tile *tile, int order, void *stream)
{
    cudaStream_t on = (cudaStream_t)stream;
    order_view view = order_of(*tile, order);
    unsigned blocks = (unsigned)view.outer;
    int64_t *totals = tile->totals[order];
    const ps_device_entries *entries = &tile->entries[order];
    total_lengths<<<blocks, THREADS, 0, on>>>(entries->lengths, view, totals);
    PS_CUDA(cudaGetLastError());
    accumulate<<<1, THREADS, 0, on>>>(totals, view.outer, &entries->result->value_count);
    PS_CUDA(cudaGetLastError());
    if (tile->precision == PS_SINGLE)
        compact<float><<<blocks, THREADS, 0, on>>>(*tile, view, order);
    else
        compact<double><<<blocks, THREADS, 0, on>>>(*tile, view, order);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}
