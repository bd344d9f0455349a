/*
 * The rows kernel of full blocks: a warp owns 32 rows and goes through the slices of its part.
 *
 * A panel says where the values of two blocks are to which rows of the warp belong. Each thread
 * reads its row of values from device memory, 16 columns (a segment) ahead: a register is
 * loaded again as soon as its value is multiplied. The past that the corner of a block asks for is
 * copied once to a window in shared memory, which all its rows read, four values at once; so a
 * column costs a thread one value, a quarter of a read and n_g multiply-adds. Threads whose row is
 * in neither block multiply with zeros. Panels come through shared memory too, some ahead.
 */
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/tdbem/slice_batch_internal.h"
}
#include "kernels/tdbem/slice_batch_cuda_body.h"

namespace {

enum { WARPS = PS_ROWS_WARPS };
/* Panels are copied PAGE at a time, 4 bytes a thread. */
enum { PAGE = WARP * 4 / sizeof(ps_slice_panel), RING = 2 * PAGE };

/* A window holds past[t] at index t + k + padded - 1, k the first column of its block: columns 0 ..
 * padded - 1 and g < n_g; zero where only columns behind the block's ask for it. So past[1 - k] and
 * every fourth value before and behind lie at multiples of 16 bytes. A warp has two sets of two
 * windows, `stride` values apart; two windows lie in different banks. In front of all warps'
 * memory are `stride` zeros. */
struct window_shape {
    int padded; /* block_columns, rounded up to whole segments */
    int span;   /* values that are used                        */
    int stride;
};

/* Shared memory of a warp. */
template <typename real> struct warp_places {
    ps_slice_panel *ring; /* [RING] */
    real *set;            /* [2][2][stride] */
};

template <int BYTES>
__device__ __forceinline__ void copy_or_clear(unsigned to, const void *from, bool copy)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(BYTES),
                 "r"(copy ? BYTES : 0)
                 : "memory");
}

template <typename real> struct panel_walk {
    const ps_slice_launch &in;
    const window_shape &shape;
    const ps_slice_panel *page; /* the next page, at this thread's word */
    ps_slice_panel *ring;
    real *zeros, *set;                 /* set: of windows, to fill next */
    int lane, at, count, to_other_set; /* at: next panel of the part's */
    /* Of the panel entered last: this thread's values (or those of one that has some), its window
     * at past[-k]. */
    const real *values, *window;

    __device__ __forceinline__ panel_walk(const ps_slice_launch &launch, const window_shape &s,
                                          real *none, const warp_places<real> &own, int thread,
                                          int begin, int end)
        : in(launch), shape(s), ring(own.ring), zeros(none), set(own.set), lane(thread), at(0),
          count(end - begin), to_other_set(2 * s.stride)
    {
        page = launch.panels + begin + lane / (WARP / PAGE);
        load_page(0);
        copies_commit();
        copies_wait<0>();
        __syncwarp();
    }

    /* Starts the copy of the page that begins at panel `first`. */
    __device__ __forceinline__ void load_page(int first)
    {
        const int words = WARP / PAGE;
        if (first + lane / words < count)
            copy_async<4>(shared_address(reinterpret_cast<unsigned *>(ring + first % RING) + lane),
                          reinterpret_cast<const unsigned *>(page) + lane % words);
        page += PAGE;
    }

    /* Starts the copy of a window of slice `past` (t = 0), whose block begins at k. */
    __device__ __forceinline__ void fill(real *window, const real *past, int k) const
    {
        unsigned to = shared_address(window + lane);
        const real *from = past + lane - (k + shape.padded - 1);
        int skip = shape.padded - in.block_columns;
        for (int i = lane; i < shape.span; i += WARP) {
            copy_or_clear<sizeof(real)>(to, from, i >= skip);
            to += WARP * static_cast<unsigned>(sizeof(real));
            from += WARP;
        }
    }

    /* To the next panel, whose windows are on their way then; false at the end of the part. */
    __device__ __forceinline__ bool next()
    {
        if (at >= count) return false;
        const int4 *words = reinterpret_cast<const int4 *>(ring + at % RING);
        const int4 head = words[0];                                   /* values, other, slice */
        const int2 tail = *reinterpret_cast<const int2 *>(words + 1); /* columns, begins and ends */
        if (at % PAGE == 0) load_page(at + PAGE);
        ++at;
        unsigned columns = tail.x, rows = tail.y;
        int begin_second = rows >> 8 & 0xff, end_second = rows >> 24;
        const real *past = past_of<real>(in, head.w);
        fill(set, past, columns & 0xffff);
        if (begin_second < end_second) fill(set + shape.stride, past, columns >> 16);
        bool second = lane >= begin_second;
        int begin = second ? begin_second : rows & 0xff;
        int end = second ? end_second : rows >> 16 & 0xff;
        int row = min(max(lane, begin), end - 1);
        int64_t first =
            static_cast<int64_t>(static_cast<uint64_t>(static_cast<unsigned>(head.y)) << 32 |
                                 static_cast<unsigned>(head.x));
        values = reinterpret_cast<const real *>(in.base + first) + (second ? row + head.z : row);
        window = (row == lane ? second ? set + shape.stride : set : zeros) + shape.padded;
        set += to_other_set;
        to_other_set = -to_other_set;
        return true;
    }
};

/* v[FIRST ..] of four columns, zero from `columns` on; from: column FIRST, moved on. */
template <int FIRST, typename real>
__device__ __forceinline__ void load_quad(real (&v)[SEGMENT], const real *&from, int step,
                                          int columns)
{
    if (columns >= FIRST + 4) {
#pragma unroll
        for (int c = 0; c < 4; ++c, from += step) v[FIRST + c] = __ldg(from);
    } else {
#pragma unroll
        for (int c = 0; c < 4; ++c, from += step)
            v[FIRST + c] = FIRST + c < columns ? __ldg(from) : real(0);
    }
}

/* Four values that lie at a multiple of 16 bytes. */
__device__ __forceinline__ void read_quad(float (&out)[4], const float *from)
{
    float4 all = *reinterpret_cast<const float4 *>(from);
    out[0] = all.x, out[1] = all.y, out[2] = all.z, out[3] = all.w;
}
__device__ __forceinline__ void read_quad(double (&out)[4], const double *from)
{
    double2 low = reinterpret_cast<const double2 *>(from)[0];
    double2 high = reinterpret_cast<const double2 *>(from)[1];
    out[0] = low.x, out[1] = low.y, out[2] = high.x, out[3] = high.y;
}

/* Multiplies the segment in v and loads the next one in its place, `columns` columns at `from`.
 * past: of t = 1 - k - q, q the segment's first column; p: past[-4 - FIRST ..], read while the four
 * columns before are multiplied; window: as for add_columns. */
template <int FIRST, typename real, int NG>
__device__ __forceinline__ void
multiply_quads(real (&sum)[NG], real (&window)[NG], real (&v)[SEGMENT], const real (&p)[4],
               const real *past, const real *&from, int step, int columns)
{
    if constexpr (FIRST < SEGMENT) {
        real ahead[4];
        if (FIRST + 4 < SEGMENT) read_quad(ahead, past - FIRST - 8);
#pragma unroll
        for (int c = 0; c < 4; ++c) {
            window[(2 * SEGMENT * NG - FIRST - c) % NG] = p[3 - c];
#pragma unroll
            for (int g = 0; g < NG; ++g)
                sum[g] += v[FIRST + c] * window[(g + 2 * SEGMENT * NG - FIRST - c) % NG];
        }
        load_quad<FIRST>(v, from, step, columns);
        multiply_quads<FIRST + 4>(sum, window, v, ahead, past, from, step, columns);
    }
}

template <typename real, int NG>
__device__ __forceinline__ void multiply(real (&sum)[NG], real (&v)[SEGMENT], const real *past,
                                         const real *from, int step, int columns)
{
    real window[NG], p[4];
#pragma unroll
    for (int g = 0; g < NG - 1; g += 4) {
        read_quad(p, past + g);
#pragma unroll
        for (int i = 0; i < 4; ++i)
            if (g + i + 1 < NG) window[g + i + 1] = p[i];
    }
    read_quad(p, past - 4);
    multiply_quads<0>(sum, window, v, p, past, from, step, columns);
}

/* Goes through the panels of a part, one segment after another. */
template <typename real, int NG>
__device__ __forceinline__ void add_panels(real (&sum)[NG], panel_walk<real> &walk)
{
    const int all = walk.in.block_columns, step = walk.in.block_rows;
    real v[SEGMENT];
    bool more = walk.next();
    if (!more) return;
    copies_commit();
    const real *values = walk.values, *window = walk.window, *from = values;
    int columns = min(all, SEGMENT), q = 0;
#pragma unroll
    for (int c = 0; c < SEGMENT; ++c, from += step) v[c] = c < columns ? __ldg(from) : real(0);
    copies_wait<0>();
    __syncwarp();
    while (more) {
        bool last = q + SEGMENT >= all;
        if (last) {
            more = walk.next();
            copies_commit();
            values = walk.values;
            columns = more ? min(all, SEGMENT) : 0;
        } else {
            values += static_cast<int64_t>(step) * SEGMENT;
            columns = min(all - q - SEGMENT, SEGMENT);
        }
        multiply(sum, v, window - q, values, step, columns);
        q += SEGMENT;
        if (!last) continue;
        copies_wait<0>();
        __syncwarp();
        window = walk.window;
        q = 0;
    }
}

template <typename real, int NG>
__global__ void __launch_bounds__(WARPS *WARP, PS_FULL_BLOCKS(sizeof(real), NG))
    full_rows_kernel(const __grid_constant__ ps_slice_launch in,
                     const __grid_constant__ window_shape shape)
{
    extern __shared__ __align__(16) unsigned char memory[];
    real *zeros = reinterpret_cast<real *>(memory), sum[NG];
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, part = blockIdx.x * WARPS + warp;
    for (int i = threadIdx.x; i < shape.stride; i += WARPS * WARP) zeros[i] = 0;
    __syncthreads();
    if (part >= in.strand_count * in.splits) return;
    int split = part / in.strand_count;
    const ps_slice_strand strand = in.strands[part % in.strand_count];
    warp_places<real> own;
    own.set = zeros + (1 + 4 * warp) * shape.stride;
    own.ring =
        reinterpret_cast<ps_slice_panel *>(zeros + (1 + 4 * WARPS) * shape.stride) + warp * RING;
    panel_walk<real> walk(in, shape, zeros, own, lane, part_begin(strand, split, in.splits),
                          part_begin(strand, split + 1, in.splits));
#pragma unroll
    for (int g = 0; g < NG; ++g) sum[g] = 0;
    add_panels(sum, walk);
    real *out =
        static_cast<real *>(in.scratch) + static_cast<int64_t>(part) * in.group * WARP + lane;
    if (lane < strand.rows) write_sums(sum, in.group, WARP, out);
}

/* Returns the bytes of a thread block's shared memory. */
template <typename real, int NG> size_t make_shape(int block_columns, window_shape *out)
{
    const int banks = 128 / static_cast<int>(sizeof(real));
    out->padded = (block_columns + SEGMENT - 1) / SEGMENT * SEGMENT;
    out->span = out->padded + NG - 1;
    out->stride = (out->span + banks / 2 - 1) / banks * banks + banks / 2;
    return (1 + 4 * WARPS) * out->stride * sizeof(real) + WARPS * RING * sizeof(ps_slice_panel);
}

template <typename real, int NG> ps_status start(const ps_slice_launch *in, cudaStream_t stream)
{
    window_shape shape;
    size_t bytes = make_shape<real, NG>(in->block_columns, &shape);
    int blocks = (in->strand_count * in->splits + WARPS - 1) / WARPS;
    PS_CUDA(cudaFuncSetAttribute(full_rows_kernel<real, NG>,
                                 cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(bytes)));
    full_rows_kernel<real, NG><<<blocks, WARPS * WARP, bytes, stream>>>(*in, shape);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

using start_fn = ps_status (*)(const ps_slice_launch *, cudaStream_t);
template <typename real> struct starts {
    static constexpr start_fn fn[GROUPS] = {start<real, 1>, start<real, 2>,  start<real, 4>,
                                            start<real, 8>, start<real, 16>, start<real, 32>};
};

} // namespace

extern "C" ps_status ps_slice_full_cuda(const ps_slice_batch_plan *plan,
                                        const ps_slice_launch *launch, void *stream)
{
    const start_fn *table[2] = {starts<float>::fn, starts<double>::fn};
    return table[plan->precision][group_index(plan->lanes)](launch,
                                                            static_cast<cudaStream_t>(stream));
}
