/*
 * The rows kernel of full blocks: a warp owns 32 rows and goes through the slices of its part, a
 * panel each, whatever blocks these rows belong to there.
 *
 * Each thread finds the block of its row from the corners of the panel's blocks, and reads its
 * row of values from device memory, 16 columns (a segment) ahead: a register is loaded again as soon
 * as its value is multiplied. The past that a block's corner asks for is copied once a panel to a
 * window in shared memory, which all rows of the block read; so a column costs one value, one past
 * value and n_g multiply-adds. A round takes as many blocks as there are windows; threads whose row
 * is in none of them multiply with zeros.
 *
 * Headers are loaded two panels, corners one panel ahead.
 */
#include <cuda_runtime.h>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/tdbem/slice_batch_internal.h"
}
#include "kernels/tdbem/slice_batch_cuda_body.h"

namespace {

enum { WARPS = PS_ROWS_WARPS, HEAD_WORDS = sizeof(ps_slice_panel) / 4 };
enum { WINDOWS_MOST = 4, WINDOW_BYTES = 100 << 10 /* of a multiprocessor, for its windows */ };

/* Shared memory: `span` zeros, then two sets of windows for every warp. A window holds past[t] at
 * index t + k + padded - 1, k the corner's column: columns 0 .. padded - 1 and g < n_g; zero where
 * only columns behind the block's ask for it. */
struct window_shape {
    int padded;  /* block_columns, rounded up to whole segments */
    int span;    /* values of a window                         */
    int stride;  /* from window to window, so that two of them lie in different banks */
    int windows; /* of a set                                   */
};

template <int BYTES>
__device__ __forceinline__ void copy_or_clear(unsigned to, const void *from, bool copy)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(BYTES),
                 "r"(copy ? BYTES : 0)
                 : "memory");
}

template <typename real, int NG> struct panel_walk {
    const ps_slice_launch &in;
    const window_shape &shape;
    int lane, rows;   /* of the strand */
    int at, end;      /* next panel to enter */
    unsigned head_next, head_after; /* this thread's word of panels at, at + 1 */
    int row_next, column_next;      /* this thread's corner of panel at        */
    int row, blocks, first;         /* of the panel; first block of the round  */
    int block, offset;              /* this thread's: block, or -1; place of its row's values */
    int corner;                     /* k of the panel's block `lane`           */
    const real *panel_values, *past; /* of the panel's first block; t = 0 of its slice */
    real *zeros, *set;               /* the set of windows to fill next        */
    int to_other_set;
    /* of a round: this thread's values (or those of a thread that has some), and past[0] - in terms
     * of the definition past[g - q] at q = 0 - in its window */
    const real *values, *window;

    __device__ __forceinline__ panel_walk(const ps_slice_launch &launch, const window_shape &s,
                                          real *shared, int thread, int strand_rows, int begin,
                                          int stop)
        : in(launch), shape(s), lane(thread % WARP), rows(strand_rows), at(begin), end(stop),
          blocks(0), first(0), zeros(shared)
    {
        to_other_set = shape.windows * shape.stride;
        set = zeros + shape.span + thread / WARP * 2 * to_other_set;
        if (at >= end) return;
        head_next = load_head(at);
        load_corners();
        if (at + 1 < end) head_after = load_head(at + 1);
    }

    __device__ __forceinline__ unsigned load_head(int panel) const
    {
        return __ldg(reinterpret_cast<const unsigned *>(in.panels + panel) + lane % HEAD_WORDS);
    }
    static __device__ __forceinline__ int word(unsigned head, int n)
    {
        return static_cast<int>(__shfl_sync(~0u, head, n));
    }
    static __device__ __forceinline__ int64_t long_word(unsigned head, int n)
    {
        unsigned low = __shfl_sync(~0u, head, n), high = __shfl_sync(~0u, head, n + 1);
        return static_cast<int64_t>(static_cast<uint64_t>(high) << 32 | low);
    }

    __device__ __forceinline__ void load_corners()
    {
        const char *corner_rows = in.base + long_word(head_next, 2);
        const char *corner_columns = in.base + long_word(head_next, 4);
        if (lane >= (word(head_next, 7) & ((1 << PS_PANEL_ROW) - 1))) return;
        row_next = __ldg(reinterpret_cast<const int *>(corner_rows) + lane);
        column_next = __ldg(reinterpret_cast<const unsigned short *>(corner_columns) + lane);
    }

    /* The block that this thread's row belongs to, from the first row of block `lane`. */
    __device__ __forceinline__ void find_block(int corner_row)
    {
        int begin = corner_row - row; /* within the strand */
        bool is = lane < blocks;
        int before = __popc(__ballot_sync(~0u, is && begin <= 0));
        unsigned begins = __reduce_or_sync(~0u, is && begin > 0 ? 1u << begin : 0u);
        block = before + __popc(begins & ~0u >> (WARP - 1 - lane)) - 1;
        int inside = lane - __shfl_sync(~0u, begin, max(block, 0));
        offset = block * in.block_rows * in.block_columns + inside;
        if (inside >= in.block_rows || lane >= rows) block = -1;
    }

    __device__ __forceinline__ void enter_panel()
    {
        int row_blocks = word(head_next, 7), corner_row = row_next;
        row = row_blocks >> PS_PANEL_ROW;
        blocks = row_blocks & ((1 << PS_PANEL_ROW) - 1);
        corner = column_next;
        panel_values = reinterpret_cast<const real *>(in.base + long_word(head_next, 0));
        past = past_of<real>(in, word(head_next, 6));
        head_next = head_after;
        if (++at < end) load_corners();
        if (at + 1 < end) head_after = load_head(at + 1);
        find_block(corner_row);
        first = 0;
    }

    /* Starts the copies of the windows of a round. */
    __device__ __forceinline__ void fill_windows()
    {
        int count = min(shape.windows, blocks - first), skip = shape.padded - in.block_columns;
        unsigned to = shared_address(set + lane);
        for (int w = 0; w < count; ++w) {
            const real *from =
                past + lane - (__shfl_sync(~0u, corner, first + w) + shape.padded - 1);
            for (int i = lane; i < shape.span; i += WARP)
                copy_or_clear<sizeof(real)>(to + (i - lane) * static_cast<int>(sizeof(real)),
                                            from + (i - lane), i >= skip);
            to += shape.stride * static_cast<int>(sizeof(real));
        }
    }

    /* To the next round; false at the end of the part. */
    __device__ __forceinline__ bool next()
    {
        unsigned some = 0;
        bool own = false;
        while (!some) {
            first += shape.windows;
            if (first >= blocks) {
                if (at >= end) return false;
                enter_panel();
            }
            own = block >= first && block < first + shape.windows;
            some = __ballot_sync(~0u, own);
        }
        fill_windows();
        int from = __shfl_sync(~0u, offset, own ? lane : __ffs(some) - 1);
        values = panel_values + from;
        window = (own ? set + (block - first) * shape.stride : zeros) + shape.padded - 1;
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

/* Multiplies the segment in v and loads the next one in its place, `columns` columns at `from`. */
template <int FIRST, typename real, int NG>
__device__ __forceinline__ void multiply_quads(real (&sum)[NG], real (&window)[NG],
                                               real (&v)[SEGMENT], const real *past,
                                               const real *&from, int step, int columns)
{
    if constexpr (FIRST < SEGMENT) {
        add_columns<FIRST, 4>(sum, window, v, 1, past, 1.0f);
        load_quad<FIRST>(v, from, step, columns);
        multiply_quads<FIRST + 4>(sum, window, v, past, from, step, columns);
    }
}

template <typename real, int NG>
__device__ __forceinline__ void multiply(real (&sum)[NG], real (&v)[SEGMENT], const real *past,
                                         const real *from, int step, int columns)
{
    real window[NG];
#pragma unroll
    for (int g = 1; g < NG; ++g) window[g] = past[g];
    multiply_quads<0>(sum, window, v, past, from, step, columns);
}

/* Goes through the rounds of a part, one segment after another. */
template <typename real, int NG>
__device__ __forceinline__ void add_panels(real (&sum)[NG], panel_walk<real, NG> &walk)
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
    real *shared = reinterpret_cast<real *>(memory), sum[NG];
    int lane = threadIdx.x % WARP, part = blockIdx.x * WARPS + threadIdx.x / WARP;
    for (int i = threadIdx.x; i < shape.span; i += WARPS * WARP) shared[i] = 0;
    __syncthreads();
    if (part >= in.strand_count * in.splits) return;
    int split = part / in.strand_count;
    const ps_slice_strand strand = in.strands[part % in.strand_count];
    panel_walk<real, NG> walk(in, shape, shared, threadIdx.x, strand.rows,
                              part_begin(strand, split, in.splits),
                              part_begin(strand, split + 1, in.splits));
#pragma unroll
    for (int g = 0; g < NG; ++g) sum[g] = 0;
    add_panels(sum, walk);
    real *out =
        static_cast<real *>(in.scratch) + static_cast<int64_t>(part) * in.group * WARP + lane;
    if (lane < strand.rows) write_sums(sum, in.group, WARP, out);
}

/* Windows lie half of the banks apart. Returns the bytes of a thread block's shared memory. */
template <typename real, int NG> size_t make_shape(int block_columns, window_shape *out)
{
    const int banks = 128 / static_cast<int>(sizeof(real));
    out->padded = (block_columns + SEGMENT - 1) / SEGMENT * SEGMENT;
    out->span = out->padded + NG - 1;
    out->stride = (out->span + banks / 2 - 1) / banks * banks + banks / 2;
    for (out->windows = WINDOWS_MOST;; out->windows /= 2) {
        size_t reals = out->span + static_cast<size_t>(WARPS) * 2 * out->windows * out->stride;
        size_t bytes = reals * sizeof(real);
        if (out->windows == 1 || bytes * PS_FULL_BLOCKS(sizeof(real), NG) <= WINDOW_BYTES)
            return bytes;
    }
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
