/*
 * The kernels of slice_symmetric: parts, and the sums of their partial sums.
 *
 * A warp goes through a part slice by slice, in pieces of at most 16 columns. The values of a part
 * are one stream of columns of 32, which is copied to a ring in shared memory some units of 16
 * columns ahead by asynchronous copies. A value is used twice: with the past of the slice, which
 * threads read at starts that are near each other; and with the past of the thread's own row, of
 * which the warp keeps a window in shared memory, [time][thread], so that any times of the threads
 * lie in different banks. The window is filled anew when a row-vector leaves it: as the slices of a
 * part are near each other, so are their starts.
 */
#include <climits>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/tdbem/slice_batch_internal.h"
#include "kernels/tdbem/slice_symmetric_internal.h"
}
#include "kernels/tdbem/slice_batch_cuda_body.h"

namespace
{

enum { WARPS = 2, SPAN = 64, QUAD = 4, REDUCERS = 256 };
constexpr unsigned ALL = ~0u;

/* Units of 16 columns in the ring, all but one of them ahead of the one that is read. */
template <typename stored> struct ring_of {
    static constexpr int UNITS = sizeof(stored) == 2 ? 8 : 4;
    static constexpr int COLUMNS = UNITS * SEGMENT;
    static constexpr int UNIT_BYTES = SEGMENT * WARP * static_cast<int>(sizeof(stored));
};

template <typename real, typename stored> struct __align__(16) warp_memory
{
    stored ring[ring_of<stored>::COLUMNS * WARP];
    real past[SPAN * WARP]; /* [time][thread] */
};

/* Thread blocks that a multiprocessor shall hold, by shared memory and registers. */
template <typename real, int NG> struct tuning {
    static constexpr int BLOCKS = sizeof(real) == 8 ? 3 : NG <= 16 ? 6 : 4;
};

/* The stream of a part's values. */
template <typename stored> struct value_ring {
    using shape = ring_of<stored>;
    const char *from; /* of this thread's copies */
    unsigned ring;    /* likewise, address in shared memory */
    int64_t left;     /* bytes from this thread's first copy to the end of the part */

    __device__ __forceinline__ value_ring(const char *values, int columns, const stored *memory,
                                          int lane)
    {
        from = values + lane * 16;
        ring = shared_address(memory) + lane * 16;
        left = static_cast<int64_t>(columns) * WARP * static_cast<int>(sizeof(stored)) - lane * 16;
        for (int u = 0; u < shape::UNITS; ++u) issue(u);
    }

    /* Starts the copies of a unit, as far as the part has it, as one group. */
    __device__ __forceinline__ void issue(int unit)
    {
        const int64_t at = static_cast<int64_t>(unit) * shape::UNIT_BYTES;
        const unsigned to = ring + unit % shape::UNITS * shape::UNIT_BYTES;
#pragma unroll
        for (int i = 0; i < shape::UNIT_BYTES; i += WARP * 16)
            if (at + i < left) copy_async<16>(to + i, from + at + i);
        copies_commit();
    }

    /* Unit `unit` and the one behind it are there; the groups of all that follow may be under way.
     */
    __device__ __forceinline__ void wait() const
    {
        copies_wait<shape::UNITS - 2>();
        __syncwarp();
    }
};

__device__ __forceinline__ void copy_quad(float *to, const float *from)
{
    const float4 x = *reinterpret_cast<const float4 *>(from);
    to[0] = x.x, to[WARP] = x.y, to[2 * WARP] = x.z, to[3 * WARP] = x.w;
}
__device__ __forceinline__ void copy_quad(double *to, const double *from)
{
    const double2 low = reinterpret_cast<const double2 *>(from)[0];
    const double2 high = reinterpret_cast<const double2 *>(from)[1];
    to[0] = low.x, to[WARP] = low.y, to[2 * WARP] = high.x, to[3 * WARP] = high.y;
}

/* The window of the past of this thread's row: times base .. base + SPAN - 1 lie at own[] by
 * WARP. */
template <typename real> struct row_window {
    const real *past;   /* all of it */
    int64_t zero, last; /* item of the row's t = 0; last item that a quad may begin with */
    real *own;
    int base;

    __device__ __forceinline__ row_window(const ps_symmetric_launch &in, int row, real *memory,
                                          int lane)
    {
        row = min(row + lane, in.unknowns - 1);
        past = static_cast<const real *>(in.past);
        zero = row * in.past_stride + in.past_origin;
        last = (in.past_end - QUAD) / QUAD * QUAD;
        own = memory + lane;
        base = INT_MIN / 2;
    }

    /* Makes sure that times low .. low + count - 1, count <= SPAN - QUAD + 1, are in the window.
     * By all threads of a warp. What lies beyond the memory of the past is not asked for. */
    __device__ __forceinline__ void need(int low, int count)
    {
        const bool inside = low >= base && low + count <= base + SPAN;
        if (__all_sync(ALL, inside)) return;
        const int64_t before = zero + low - (SPAN - count) / 2;
        const int64_t first = before - (before & (QUAD - 1));
        base = static_cast<int>(first - zero);
#pragma unroll 4
        for (int i = 0; i < SPAN; i += QUAD)
            copy_quad(own + i * WARP, past + min(max(first + i, static_cast<int64_t>(0)), last));
    }
};

/* Four columns from FIRST on of a piece while there are some; those behind its `count` are zero.
 * v: the ring, at this thread's value; column: of the ring, of the piece. slice, row: the pasts at
 * t = 0 - k; those of the row lie WARP apart. The windows hold past[g - q] at (g - q) mod NG. */
template <int FIRST, int COLUMNS, typename real, typename stored, int NG>
__device__ __forceinline__ void
add_piece(real (&sum)[NG], real (&mirror)[NG], real (&of_slice)[NG], real (&of_row)[NG],
          const stored *v, int column, int count, const real *slice, const real *row, float scale)
{
    if constexpr (FIRST < SEGMENT) {
        if (count <= FIRST) return;
        constexpr int TURNS = 2 * SEGMENT * NG;
        real value[QUAD], p[QUAD], r[QUAD];
#pragma unroll
        for (int c = 0; c < QUAD; ++c) {
            const stored x = v[((column + FIRST + c) & (COLUMNS - 1)) * WARP];
            value[c] = FIRST + c < count ? number<real>(x, scale) : real(0);
            p[c] = __ldg(slice - (FIRST + c));
            r[c] = row[-(FIRST + c) * WARP];
        }
#pragma unroll
        for (int c = 0; c < QUAD; ++c) {
            of_slice[(TURNS - FIRST - c) % NG] = p[c];
            of_row[(TURNS - FIRST - c) % NG] = r[c];
#pragma unroll
            for (int g = 0; g < NG; ++g) {
                sum[g] += value[c] * of_slice[(g + TURNS - FIRST - c) % NG];
                mirror[g] += value[c] * of_row[(g + TURNS - FIRST - c) % NG];
            }
        }
        add_piece<FIRST + QUAD, COLUMNS>(sum, mirror, of_slice, of_row, v, column, count, slice,
                                         row, scale);
    }
}

/* Adds all threads' x[0 .. 2 WIDTH - 1]: each step leaves a thread half of the sums, those that it
 * has in common with half of the threads. In the end x[0] is sum lane / (32 / NG). */
template <int WIDTH, int STEP, typename real, int NG>
__device__ __forceinline__ void add_threads(real (&x)[NG], int lane)
{
    if constexpr (WIDTH > 0) {
        const bool upper = lane & STEP;
#pragma unroll
        for (int g = 0; g < WIDTH; ++g) {
            const real give = upper ? x[g] : x[g + WIDTH], keep = upper ? x[g + WIDTH] : x[g];
            x[g] = keep + __shfl_xor_sync(ALL, give, STEP);
        }
        add_threads<WIDTH / 2, STEP / 2>(x, lane);
    } else if constexpr (STEP > 0) {
        x[0] += __shfl_xor_sync(ALL, x[0], STEP);
        add_threads<0, STEP / 2>(x, lane);
    }
}

template <typename real, typename stored, int NG>
__device__ __forceinline__ void multiply_part(const ps_symmetric_launch &in,
                                              const ps_symmetric_part &part,
                                              warp_memory<real, stored> &memory, int lane)
{
    constexpr int COLUMNS = ring_of<stored>::COLUMNS;
    constexpr bool HALF = sizeof(stored) < sizeof(float);
    const uint16_t *starts = reinterpret_cast<const uint16_t *>(in.base + part.starts) + lane;
    const uint16_t *widths = reinterpret_cast<const uint16_t *>(in.base + part.widths);
    const uint8_t *scales = reinterpret_cast<const uint8_t *>(in.base + part.scales) + lane;
    value_ring<stored> ring(in.base + part.values, part.columns, memory.ring, lane);
    row_window<real> window(in, part.row, memory.past, lane);
    real *scratch = static_cast<real *>(in.scratch);
    real sum[NG];
#pragma unroll
    for (int g = 0; g < NG; ++g) sum[g] = 0;
    int column = 0, unit = 0;
    int start = starts[0], width = widths[0];
    unsigned exponent = HALF ? scales[0] : 127;
    const real *past =
        static_cast<const real *>(in.past) + part.slice * in.past_stride + in.past_origin;
    for (int s = 0; s < part.slices; ++s, past += in.past_stride) {
        const int now = min(s + 1, part.slices - 1);
        const int next_start = starts[now * WARP], next_width = widths[now];
        const unsigned next_exponent = HALF ? scales[now * WARP] : 127;
        const float scale = __uint_as_float(exponent << 23);
        real mirror[NG];
#pragma unroll
        for (int g = 0; g < NG; ++g) mirror[g] = 0;
        for (int q = 0; q < width; q += SEGMENT) {
            const int count = min(SEGMENT, width - q), k = start + q;
            const int read = (count + QUAD - 1) / QUAD * QUAD;
            window.need(1 - k - read, read + NG - 1);
            ring.wait();
            const real *slice = past - k, *row = window.own + (-k - window.base) * WARP;
            real of_slice[NG], of_row[NG];
#pragma unroll
            for (int g = 1; g < NG; ++g) of_slice[g] = __ldg(slice + g), of_row[g] = row[g * WARP];
            add_piece<0, COLUMNS>(sum, mirror, of_slice, of_row, memory.ring + lane, column, count,
                                  slice, row, scale);
            column += count;
            if (column / SEGMENT != unit) {
                ++unit;
                __syncwarp();
                ring.issue(unit + ring_of<stored>::UNITS - 1);
            }
        }
        if (part.transposed >= 0) {
            constexpr int SHARE = WARP / NG;
            add_threads<NG / 2, WARP / 2>(mirror, lane);
            const int g = lane / SHARE;
            if (lane % SHARE == 0 && g < in.group)
                scratch[static_cast<int64_t>(part.transposed + s) * in.group + g] = mirror[0];
        }
        start = next_start, width = next_width, exponent = next_exponent;
    }
    copies_wait<0>();
    real *out = scratch + static_cast<int64_t>(part.forward + lane) * in.group;
    if (lane >= part.rows) return;
#pragma unroll
    for (int g = 0; g < NG; ++g)
        if (g < in.group) out[g] = sum[g];
}

template <typename real, typename stored, int NG>
__global__ void __launch_bounds__(WARPS *WARP, tuning<real, NG>::BLOCKS)
    parts_kernel(const __grid_constant__ ps_symmetric_launch in)
{
    extern __shared__ __align__(16) unsigned char shared[];
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const int index = blockIdx.x * WARPS + warp;
    if (index >= in.part_count) return;
    const ps_symmetric_part part = in.parts[index];
    multiply_part<real, stored, NG>(
        in, part, reinterpret_cast<warp_memory<real, stored> *>(shared)[warp], lane);
}

/* sums of a unit += its partial sums, in the order of the parts. */
template <typename real>
__global__ void reduce_kernel(const __grid_constant__ ps_symmetric_launch in)
{
    const int unit = blockIdx.x, row = in.units[unit];
    const int items = (in.units[unit + 1] - row) * in.group;
    const int begin = in.begins[unit], end = in.begins[unit + 1];
    for (int e = threadIdx.x; e < items; e += REDUCERS) {
        const real *from = static_cast<const real *>(in.scratch) + e;
        real sum = 0;
#pragma unroll 4
        for (int b = begin; b < end; ++b)
            sum += from[static_cast<int64_t>(in.entries[b]) * in.group];
        static_cast<real *>(in.sums)[(row + e / in.group) * in.sums_stride + e % in.group] += sum;
    }
}

template <typename real, typename stored, int NG>
ps_status start(const ps_symmetric_launch *in, cudaStream_t stream)
{
    const size_t bytes = sizeof(warp_memory<real, stored>) * WARPS;
    const int blocks = (in->part_count + WARPS - 1) / WARPS;
    PS_CUDA(cudaFuncSetAttribute(parts_kernel<real, stored, NG>,
                                 cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(bytes)));
    parts_kernel<real, stored, NG><<<blocks, WARPS * WARP, bytes, stream>>>(*in);
    PS_CUDA(cudaGetLastError());
    reduce_kernel<real><<<in->unit_count, REDUCERS, 0, stream>>>(*in);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

using start_fn = ps_status (*)(const ps_symmetric_launch *, cudaStream_t);
template <typename real, typename stored> struct starts_of {
    static start_fn of(int64_t lanes)
    {
        return lanes == 1    ? start<real, stored, 1>
               : lanes == 8  ? start<real, stored, 8>
               : lanes == 16 ? start<real, stored, 16>
                             : start<real, stored, 32>;
    }
};

} // namespace

extern "C" ps_status ps_symmetric_cuda(const ps_symmetric_plan *plan,
                                       const ps_symmetric_launch *launch, void *stream)
{
    const bool single = plan->precision == PS_SINGLE;
    const start_fn run = plan->half ? single ? starts_of<float, __half>::of(plan->lanes)
                                             : starts_of<double, __half>::of(plan->lanes)
                         : single ? starts_of<float, float>::of(plan->lanes)
                                    : starts_of<double, double>::of(plan->lanes);
    return run(launch, static_cast<cudaStream_t>(stream));
}
