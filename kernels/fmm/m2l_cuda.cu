/*
 * M2L on the device, with tensor cores: F[target] = sum_t A_t^T sign_t (A_t m[source]), and L +=
 * factor W^-1 B F at once (kernels/fmm/m2l.h, kernels/fmm/device_table.h).
 *
 * A block takes targets of one octant, whose interaction lists have the same 189 offsets, and goes
 * through those that any of them needs, side by side: the operator of an offset comes to shared
 * memory while that of the offset before is at work. A warp has 16 targets. Their sources are
 * left operands straight from memory, read some octets ahead of their use, the ranks in between
 * never leave the registers, nor do the sums F until they are decoded. A target without a source
 * there reads 0, which changes no bit; so its sums depend on no other target.
 */
#include <cuda_runtime.h>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/fmm/device_table.h"
}

namespace
{

#include "kernels/fmm/device_body.h"
#include "kernels/fmm/tensor_body.h"

enum { WARP = 32, ROWS = 16 /* targets of a product */, STAGES = 2 };
constexpr unsigned ALL = 0xffffffffu;

struct launch {
    ps_fmm_device_far far;
    ps_fmm_device_vectors_table sources;
    ps_fmm_device_vectors locals;
    ps_fmm_device_shape shape;
    int32_t rank[PS_FMM_OFFSETS];
    const double *block;
    double factor;
    int length, points, size, real_octets, chunk, stage_numbers;
    bool add;
};

/* A unit of an offset on a block's list. */
struct entry {
    uint16_t slot, ranks;
    int32_t at; /* in the operators, in pieces of 32 numbers */
};

__host__ __device__ inline int units_of(const launch &in, int offset)
{
    return (in.rank[offset] + in.shape.unit_ranks - 1) / in.shape.unit_ranks;
}

/* ---- the list of a block ---- */

/* Number of the offset of slot 8 n + o from a target in an octant; -1: they touch. */
KERNEL_INLINE int offset_of(int slot, int octant)
{
    int n = slot / 8, number = 0;
    bool far = false;
#pragma unroll
    for (int d = 0; d < 3; ++d) {
        int place = n / (d == 0 ? 9 : d == 1 ? 3 : 1) % 3 - 1;
        int t = 2 * place + (slot >> (2 - d) & 1) - (octant >> (2 - d) & 1);
        far |= t < -1 || t > 1;
        number = number * 7 + t + 3;
    }
    return far ? number : -1;
}

/* Marks slots that any of the rows needs. */
__device__ void mark_slots(const launch &in, const int *rows, int count, uint8_t *marks)
{
    constexpr int each = (PS_FMM_DEVICE_FAR + WARP - 1) / WARP;
    int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, warps = blockDim.x / WARP;
    unsigned found = 0;
    for (int r = warp; r < count; r += warps) {
        const int32_t *list = in.far.sources + (int64_t)rows[r] * PS_FMM_DEVICE_FAR;
#pragma unroll
        for (int i = 0; i < each; ++i)
            if (i * WARP + lane < PS_FMM_DEVICE_FAR && list[i * WARP + lane] >= 0) found |= 1u << i;
    }
    for (int i = 0; i < each; ++i)
        if (found >> i & 1) marks[i * WARP + lane] = 1;
}

/* By one warp: the marked slots that are far from the octant, octants of sources outermost; returns
 * how many units. */
__device__ int list_units(const launch &in, const uint8_t *marks, int octant, entry *list)
{
    int lane = threadIdx.x % WARP, total = 0;
    for (int i = lane; i < (PS_FMM_DEVICE_FAR + WARP - 1) / WARP * WARP; i += WARP) {
        int slot = i % 27 * 8 + i / 27, t = -1, units = 0;
        if (i < PS_FMM_DEVICE_FAR && marks[slot]) t = offset_of(slot, octant);
        if (t >= 0) units = units_of(in, t);
        int sum = units;
        for (int step = 1; step < WARP; step *= 2) {
            int before = __shfl_up_sync(ALL, sum, step);
            if (lane >= step) sum += before;
        }
        int32_t at = t >= 0 ? in.shape.unit[t] : 0;
        for (int u = 0; u < units; ++u) {
            int ranks = min(in.shape.unit_ranks, in.rank[t] - u * in.shape.unit_ranks);
            list[total + sum - units + u] = {(uint16_t)slot, (uint16_t)ranks, at};
            at += (ps_fmm_unit_first(&in.shape, ranks) +
                   in.shape.chunks * ps_fmm_unit_second(&in.shape, ranks)) /
                  32;
        }
        total += __shfl_sync(ALL, sum, WARP - 1);
    }
    return total;
}

/* ---- operators ---- */

KERNEL_INLINE void copy_16(double *to, const double *from)
{
    unsigned at = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
}

__device__ void copy_numbers(double *to, const double *from, int count)
{
    for (int i = 2 * threadIdx.x; i < count; i += 2 * blockDim.x) copy_16(to + i, from + i);
}

/* Starts the copy of a unit: its first part, and one chunk of its second. */
__device__ void fetch_unit(const launch &in, entry e, double *stage)
{
    const double *from = in.block + (int64_t)e.at * 32;
    int first = ps_fmm_unit_first(&in.shape, e.ranks);
    int second = ps_fmm_unit_second(&in.shape, e.ranks);
    copy_numbers(stage, from, first);
    copy_numbers(stage + first, from + first + (int64_t)in.chunk * second, second);
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/* ---- products ---- */

/* What a lane reads of one octet of its two sources, that of row lane/4 and that of row lane/4 + 8.
 */
template <typename real> struct octet {
    decltype(pair_at(static_cast<const real *>(nullptr))) low, high;
};

template <typename real> KERNEL_INLINE fragment fragment_of(const octet<real> &o)
{
    return {{(double)o.low.x, (double)o.low.y, (double)o.high.x, (double)o.high.y}};
}

/* The sources of a lane's targets, and what is on its way of them: `window` octets. */
template <typename real, int window> struct sources {
    const real *at[2];
    bool any; /* of the warp's targets has one */
    octet<real> ahead[window];
};

template <typename real, int window>
KERNEL_INLINE octet<real> octet_at(const launch &in, const sources<real, window> &s, int j)
{
    int from = j < in.real_octets ? j : 0; /* beyond: times 0 */
    return {pair_at(s.at[0] + 8 * from), pair_at(s.at[1] + 8 * from)};
}

/* Starts the reading. */
template <typename real, int window>
KERNEL_INLINE void look_ahead(const launch &in, sources<real, window> &s)
{
#pragma unroll
    for (int j = 0; j < window; ++j) s.ahead[j] = octet_at(in, s, j);
}

/* g = A m. */
template <int tiles, int width, bool whole, typename real, int window>
KERNEL_INLINE void to_ranks(const launch &in, sources<real, window> &s, const double *stage,
                            fragment (&g)[2])
{
    const int octets = whole ? width : in.shape.octets;
    const double *b = stage + 2 * (threadIdx.x % WARP);
    g[0] = g[1] = {};
    for (int begin = 0; begin < octets; begin += whole ? width : window)
#pragma unroll
        for (int i = 0; i < (whole ? width : window); ++i) {
            const int j = begin + i;
            if (!whole && j >= octets) break;
            fragment a = fragment_of<real>(s.ahead[i % window]);
            if (j + window < octets) s.ahead[i % window] = octet_at(in, s, j + window);
            product(g[0], a, pair_at(b + j * PS_FMM_PIECE));
            if (tiles == 2) product(g[1], a, pair_at(b + (octets + j) * PS_FMM_PIECE));
        }
}

/* f += A^T g of one tile. */
template <int width>
KERNEL_INLINE void from_ranks(const fragment &g, bool half, const double *second,
                              fragment (&f)[width])
{
    const int lane = threadIdx.x % WARP;
    if (half) {
#pragma unroll
        for (int j = 0; j < width; ++j) product_even(f[j], g, second[j * 32 + lane]);
    } else {
#pragma unroll
        for (int j = 0; j < width; ++j)
            product(f[j], g, pair_at(second + j * PS_FMM_PIECE + 2 * lane));
    }
}

/* ---- results ---- */

template <typename real>
KERNEL_INLINE void put(const launch &in, real *to, int column, double value)
{
    if (column >= in.points) return;
    value *= in.factor;
    to[column] = (real)(in.add ? (double)to[column] + value : value);
}

template <typename real>
KERNEL_INLINE void put_columns(const launch &in, const fragment &value, int octet,
                               real *const (&to)[2])
{
    const int column = 8 * octet + 2 * (int)(threadIdx.x % 4);
#pragma unroll
    for (int i = 0; i < 4; ++i)
        if (to[i / 2]) put(in, to[i / 2], column + i % 2, value.v[i]);
}

/* Decodes the sums if there is a basis, and puts them. */
template <typename real, int width>
__device__ void put_locals(const launch &in, const fragment (&f)[width], real *const (&to)[2])
{
    const int lane = threadIdx.x % WARP, all = in.shape.width * in.shape.chunks;
    if (!in.size) {
#pragma unroll
        for (int j = 0; j < width; ++j) put_columns(in, f[j], in.chunk * width + j, to);
        return;
    }
#pragma unroll 1
    for (int n = 0; n < in.shape.point_octets; ++n) {
        fragment value = {};
        const double *decoder = in.block + in.shape.decoder + 2 * lane +
                                ((int64_t)n * all + in.chunk * width) * PS_FMM_PIECE;
#pragma unroll
        for (int j = 0; j < width; ++j) product(value, f[j], pair_at(decoder + j * PS_FMM_PIECE));
        put_columns(in, value, n, to);
    }
}

/* ---- the kernel ---- */

/* Which targets a block has: [first, end) of far.order, of one octant; false: none. */
__device__ bool find_targets(const launch &in, int rows, int *octant, int *first, int *end)
{
    int block = blockIdx.x;
    for (int o = 0; o < 8; ++o) {
        int begin = in.far.octant_start[o], stop = in.far.octant_start[o + 1];
        int blocks = (stop - begin + rows - 1) / rows;
        if (block < blocks) {
            *octant = o;
            *first = begin + block * rows;
            *end = min(stop, *first + rows);
            return true;
        }
        block -= blocks;
    }
    return false;
}

/* Blocks a multiprocessor at least, and octets read ahead: measured on an H200 for widths 3, 9, 19.
 */
__host__ __device__ constexpr int blocks_of(int width)
{
    return width <= 6 ? 3 : width <= 9 ? 2 : 1;
}
__host__ __device__ constexpr int window_of(int width)
{
    return width <= 6 ? width : width <= 9 ? 6 : width <= 12 ? 8 : 3;
}

/* Where the sources of a lane's targets are, by codes. */
template <typename real, int window>
KERNEL_INLINE void find_sources(const launch &in, const int32_t (&code)[2], int side,
                                sources<real, window> &s)
{
    const real *zeros = reinterpret_cast<const real *>(in.block + in.shape.zeros);
#pragma unroll
    for (int h = 0; h < 2; ++h)
        s.at[h] = (code[h] >= 0 ? vector_at<real>(in.sources, code[h], side, in.length) : zeros) +
                  2 * (threadIdx.x % 4);
    s.any = __any_sync(ALL, code[0] >= 0 || code[1] >= 0);
}

template <typename real, int width, int warps, bool whole>
__global__ __launch_bounds__(warps *WARP,
                             blocks_of(width)) void m2l_targets(const __grid_constant__ launch in)
{
    extern __shared__ double stages[];
    constexpr int rows = warps * ROWS;
    __shared__ int blocks[rows], units;
    __shared__ uint8_t marks[PS_FMM_DEVICE_FAR];
    entry *list = reinterpret_cast<entry *>(stages + STAGES * in.stage_numbers);
    const int lane = threadIdx.x % WARP, side = blockIdx.y;
    int octant, first, end;
    if (!find_targets(in, rows, &octant, &first, &end)) return;

    for (int i = threadIdx.x; i < end - first; i += warps * WARP)
        blocks[i] = in.far.block[in.far.order[first + i]];
    for (int i = threadIdx.x; i < PS_FMM_DEVICE_FAR; i += warps * WARP) marks[i] = 0;
    __syncthreads();
    mark_slots(in, blocks, end - first, marks);
    __syncthreads();
    if (threadIdx.x < WARP) {
        int count = list_units(in, marks, octant, list);
        if (lane == 0) units = count;
    }
    __syncthreads();

    const int32_t *row_list[2];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        int row = threadIdx.x / WARP * ROWS + 8 * h + lane / 4;
        row_list[h] =
            first + row < end ? in.far.sources + (int64_t)blocks[row] * PS_FMM_DEVICE_FAR : nullptr;
    }
    fragment f[width] = {};
    sources<real, window_of(width)> s;
    s.any = false;
    if (units > 0) {
        int32_t code[2];
        fetch_unit(in, list[0], stages);
        for (int h = 0; h < 2; ++h) code[h] = row_list[h] ? row_list[h][list[0].slot] : -1;
        find_sources(in, code, side, s);
        if (s.any) look_ahead(in, s);
    }
#pragma unroll 1
    for (int u = 0; u < units; ++u) {
        asm volatile("cp.async.wait_all;" ::: "memory");
        __syncthreads();
        const bool more = u + 1 < units, now = s.any;
        const entry e = list[u];
        const double *stage = stages + u % STAGES * in.stage_numbers;
        int32_t code[2] = {-1, -1};
        if (more) {
            fetch_unit(in, list[u + 1], stages + (u + 1) % STAGES * in.stage_numbers);
            for (int h = 0; h < 2; ++h)
                if (row_list[h]) code[h] = row_list[h][list[u + 1].slot];
        }
        fragment g[2];
        if (now) {
            if (e.ranks > 8)
                to_ranks<2, width, whole>(in, s, stage, g);
            else
                to_ranks<1, width, whole>(in, s, stage, g);
        }
        find_sources(in, code, side, s);
        if (s.any) look_ahead(in, s);
        if (!now) continue;
        const double *second = stage + ps_fmm_unit_first(&in.shape, e.ranks);
        from_ranks(g[0], e.ranks <= 4, second, f);
        if (e.ranks > 8) from_ranks(g[1], e.ranks <= 12, second + width * PS_FMM_PIECE, f);
    }

    real *to[2];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        int row = threadIdx.x / WARP * ROWS + 8 * h + lane / 4;
        to[h] = first + row < end
                    ? static_cast<real *>(in.locals.values) + side * in.locals.stride +
                          (int64_t)in.far.order[first + row] * in.points
                    : nullptr;
    }
    put_locals(in, f, to);
}

/* ---- launches ---- */

template <typename real, int width, int warps, bool whole>
ps_status start(const launch &in, int sides, cudaStream_t stream)
{
    int units = 0;
    for (int t = 0; t < PS_FMM_OFFSETS; ++t)
        units += units_of(in, t);
    int rows = warps * ROWS;
    int bytes = STAGES * in.stage_numbers * (int)sizeof(double) + units * (int)sizeof(entry);
    dim3 grid((unsigned)(in.far.cells / rows + 8), (unsigned)sides);
    PS_CUDA(cudaFuncSetAttribute(m2l_targets<real, width, warps, whole>,
                                 cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    m2l_targets<real, width, warps, whole><<<grid, warps * WARP, bytes, stream>>>(in);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

template <typename real> ps_status start_width(const launch &in, int sides, cudaStream_t stream)
{
    if (in.shape.chunks > 1) return start<real, 16, 8, false>(in, sides, stream);
    switch (in.shape.width) {
    case 3:
        return start<real, 3, 4, true>(in, sides, stream);
    case 4:
        return start<real, 4, 4, true>(in, sides, stream);
    case 6:
        return start<real, 6, 4, true>(in, sides, stream);
    case 9:
        return start<real, 9, 4, true>(in, sides, stream);
    case 12:
        return start<real, 12, 8, true>(in, sides, stream);
    case 16:
        return start<real, 16, 8, true>(in, sides, stream);
    default:
        return start<real, 19, 8, true>(in, sides, stream);
    }
}

} // namespace

extern "C" ps_status ps_fmm_device_m2l_run(const ps_fmm_device_method *method,
                                           const ps_fmm_device_table *table,
                                           const ps_fmm_device_m2l *m2l, ps_stream *stream)
{
    if (m2l->far.cells == 0) return PS_OK;
    PS_TRY(ps_stream_enter(stream));
    cudaStream_t on = static_cast<cudaStream_t>(ps_stream_handle(stream));
    launch in = {.far = m2l->far,
                 .sources = m2l->sources,
                 .locals = m2l->locals,
                 .shape = ps_fmm_device_shape_of(table),
                 .block = static_cast<const double *>(table->block),
                 .factor = m2l->factor,
                 .length = table->length,
                 .points = table->order * table->order * table->order,
                 .size = table->size,
                 .add = m2l->add};
    for (int t = 0; t < PS_FMM_OFFSETS; ++t) in.rank[t] = table->rank[t];
    in.real_octets = ((table->size ? table->size : in.points) + 7) / 8;
    in.stage_numbers = ps_fmm_unit_first(&in.shape, in.shape.unit_ranks) +
                       ps_fmm_unit_second(&in.shape, in.shape.unit_ranks);
    for (; in.chunk < in.shape.chunks; ++in.chunk) {
        PS_TRY(method->far == PS_SINGLE ? start_width<float>(in, method->sides, on)
                                        : start_width<double>(in, method->sides, on));
        in.add |= in.size > 0; /* other columns of the basis add to the same points */
    }
    return PS_OK;
}
