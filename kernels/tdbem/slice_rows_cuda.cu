/*
 * The rows kernel of slice_batch: a warp owns 32 rows and goes through the slices of its part.
 *
 * The work is a sequence of segments: at most 16 columns of one slice. A segment's values (32
 * rows) and the window of the past that its rows read go to a stage in shared memory by asynchronous
 * copies, some segments ahead of the one that is multiplied, so that enough bytes are in
 * flight whatever the registers leave of warps. A thread reads its values there (columns are
 * 32 values, so without bank conflicts) and the past from its own start in the window; starts
 * of neighbouring rows differ little, so a window is hardly longer than a row-vector plus n_g.
 *
 * A segment whose starts are too far apart for the window is multiplied in several rounds, each for
 * those rows whose starts lie together.
 */
#include <cuda_runtime.h>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/tdbem/slice_batch_internal.h"
}
#include "kernels/tdbem/slice_batch_cuda_body.h"

namespace {

#ifndef TUNE_STAGES
#define TUNE_STAGES 0
#endif
enum { WARPS = PS_ROWS_WARPS, WINDOW = 96 /* past values in a stage */ };

template <typename real> struct stage {
    real values[SEGMENT * WARP];
    real past[WINDOW];
    unsigned note[WARP]; /* per thread: WIDE, number of columns, and where its past begins:
                            index in the window, or the row-vector's k where it is WIDE     */
};
enum : unsigned { WIDE = 1u << 31, COLUMNS_AT = 24, PLACE = (1u << COLUMNS_AT) - 1 };

/* Where the copies are: a segment of a slice of a piece. All but value, start and first are the
 * same in all threads of the warp. */
template <typename real, bool PACKED> struct cursor {
    const ps_slice_launch &in;
    const ps_slice_piece *piece, *end; /* the next one to enter, and behind the last            */
    unsigned word, ahead;              /* this thread's word of the current and the next piece  */
    const char *value;                 /* of this thread's copies: 16 bytes of column 0         */
    const uint16_t *start;
    int slice, inside, slices, width, column; /* inside: of `slices`, the piece's             */
    int copy_column;                  /* of this thread's copies; WARP_COLUMNS apart         */
    unsigned first;                   /* k of this thread's row-vector                       */

    static constexpr int UNIT = 16 / sizeof(real);            /* values a copy  */
    static constexpr int COLUMNS = UNIT;                      /* a warp's copy  */

    __device__ __forceinline__ cursor(const ps_slice_launch &launch, int begin, int last, int lane)
        : in(launch), piece(launch.pieces + begin), end(launch.pieces + last), ahead(0), inside(-1),
          slices(0)
    {
        load_ahead(lane);
        next_slice(lane);
    }

    __device__ __forceinline__ bool done() const { return inside == slices; }

    __device__ __forceinline__ void load_ahead(int lane)
    {
        if (piece < end) ahead = reinterpret_cast<const unsigned *>(piece)[lane];
    }

    __device__ __forceinline__ int head(int at) const
    {
        return static_cast<int>(__shfl_sync(~0u, word, at));
    }
    __device__ __forceinline__ int64_t head_long(int at) const
    {
        return static_cast<int64_t>(static_cast<uint64_t>(static_cast<unsigned>(head(at + 1))) << 32 |
                                    static_cast<unsigned>(head(at)));
    }

    __device__ __forceinline__ int64_t column_bytes() const
    {
        return static_cast<int64_t>(PACKED ? WARP : in.block_rows) * static_cast<int>(sizeof(real));
    }

    /* The offset of this thread's copies in a slice of contiguous blocks. A copy is 16 bytes of
     * one block; rows that no block holds get none. */
    __device__ __forceinline__ int64_t place_in_blocks(int lane)
    {
        int row = head(6) + lane % (WARP / UNIT) * UNIT, inside = row % in.block_rows;
        copy_column = row < head(11) ? lane / (WARP / UNIT) : SEGMENT;
        return (static_cast<int64_t>(row - inside) * in.block_columns + inside) *
                   static_cast<int>(sizeof(real)) + lane / (WARP / UNIT) * column_bytes();
    }

    __device__ __forceinline__ void enter_piece(int lane)
    {
        word = ahead;
        ++piece;
        load_ahead(lane);
        int64_t values = head_long(0), starts = head_long(2);
        slice = head(4) - 1;
        slices = head(5);
        inside = 0;
        if (PACKED) {
            copy_column = lane / (WARP / UNIT);
            value = in.base + values + lane * 16;
            start = reinterpret_cast<const uint16_t *>(in.base + starts) + lane - WARP;
        } else {
            value = in.base + values + place_in_blocks(lane);
            start = reinterpret_cast<const uint16_t *>(in.base + starts) + head(6) +
                    min(lane, head(7) - 1) - head(10);
        }
        width = column = 0;
    }

    __device__ __forceinline__ int width_inside() const
    {
        return static_cast<unsigned>(head(16 + inside / 2)) >> inside % 2 * 16 & 0xffff;
    }

    __device__ __forceinline__ int64_t slice_bytes() const
    {
        return head_long(8) * static_cast<int>(sizeof(real));
    }

    /* To the next slice that has columns; loads this thread's start in it. */
    __device__ __forceinline__ void next_slice(int lane)
    {
        do {
            if (++inside < slices) {
                value += PACKED ? (width - column) * column_bytes()
                                : slice_bytes() - column * column_bytes();
            } else if (piece < end) {
                enter_piece(lane);
            } else {
                inside = slices;
                return;
            }
            ++slice;
            start += PACKED ? WARP : head(10);
            width = PACKED ? width_inside() : in.block_columns;
            column = 0;
        } while (width == 0);
        first = *start;
    }

    __device__ __forceinline__ void next(int lane)
    {
        if (column + SEGMENT < width) {
            column += SEGMENT;
            value += SEGMENT * column_bytes();
        } else {
            next_slice(lane);
        }
    }
};

/* Copies `count` past values that begin at `from`. */
template <typename real>
__device__ __forceinline__ void copy_past(real *to, const real *from, unsigned count, int lane)
{
    unsigned there = shared_address(to + lane);
#pragma unroll
    for (int i = 0; i < WINDOW / WARP; ++i)
        if (lane + i * WARP < count)
            copy_async<sizeof(real)>(there + i * WARP * static_cast<int>(sizeof(real)),
                                     from + lane + i * WARP);
}

/* Starts the copies of the cursor's segment and moves the cursor on. */
template <int NG, typename real, bool PACKED>
__device__ __forceinline__ void fetch(cursor<real, PACKED> &at, stage<real> &to, int lane)
{
    using cursor_type = cursor<real, PACKED>;
    int columns = min(SEGMENT, at.width - at.column);
    unsigned there = shared_address(to.values) + lane * 16;
#pragma unroll
    for (int i = 0; i < SEGMENT / cursor_type::COLUMNS; ++i)
        if (at.copy_column + i * cursor_type::COLUMNS < columns)
            copy_async<16>(there + i * WARP * 16,
                           at.value + i * cursor_type::COLUMNS * at.column_bytes());
    unsigned k = at.first + at.column;
    unsigned low = __reduce_min_sync(~0u, k), high = __reduce_max_sync(~0u, k);
    unsigned count = high - low + columns + NG - 1;
    const real *past = static_cast<const real *>(at.in.past) + at.slice * at.in.past_stride;
    unsigned note = columns << COLUMNS_AT;
    if (count <= WINDOW) {
        copy_past(to.past, past - (high + columns - 1), count, lane);
        note |= high - k + columns - 1;
    } else {
        if (lane == 0) *reinterpret_cast<const real **>(to.past) = past;
        note |= WIDE | k;
    }
    to.note[lane] = note;
    at.next(lane);
}

/* One round of a wide segment: fills the window for the waiting rows whose k is within reach of the
 * lowest; `note` becomes that of a segment that is not wide, for the rows that return true. */
template <int NG, typename real>
__device__ __noinline__ bool fill_window(const real *past, real *window, bool waiting, unsigned k,
                                         unsigned columns, unsigned *place)
{
    int lane = threadIdx.x % WARP;
    unsigned low = __reduce_min_sync(~0u, waiting ? k : ~0u);
    bool here = waiting && k - low <= WINDOW - NG + 1 - columns;
    unsigned high = __reduce_max_sync(~0u, here ? k : 0u);
    unsigned count = high - low + columns + NG - 1;
    past -= high + columns - 1;
    __syncwarp();
    for (unsigned i = lane; i < count; i += WARP) window[i] = past[i];
    __syncwarp();
    *place = high - k + columns - 1;
    return here;
}

/* Multiplies the segment of a stage. */
template <int NG, typename real>
__device__ __forceinline__ void multiply(real (&sum)[NG], stage<real> &from, int lane)
{
    unsigned note = from.note[lane], columns = note >> COLUMNS_AT & 0x7f, place = note & PLACE;
    bool waiting = true, here = true;
    const real *past = nullptr;
    if (note & WIDE) past = *reinterpret_cast<const real *const *>(from.past);
    do {
        if (note & WIDE)
            here = fill_window<NG>(past, from.past, waiting, note & PLACE, columns, &place);
        if (here) add_segment(sum, from.values + lane, WARP, from.past + place, columns);
        waiting = waiting && !here;
    } while ((note & WIDE) && __any_sync(~0u, waiting));
}

/* Stages a warp, and blocks that a multiprocessor shall hold: what fits its registers and its shared
 * memory. */
template <typename real, int NG> struct tuning {
    static constexpr int STAGES = TUNE_STAGES ? TUNE_STAGES : sizeof(real) == 4 ? 4 : 3;
    static constexpr int BLOCKS = PS_ROWS_BLOCKS(sizeof(real), NG);
};

template <typename real, int NG, bool PACKED>
__global__ void __launch_bounds__(WARPS *WARP, tuning<real, NG>::BLOCKS)
    rows_kernel(const __grid_constant__ ps_slice_launch in)
{
    constexpr int STAGES = tuning<real, NG>::STAGES;
    extern __shared__ __align__(16) unsigned char memory[];
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    int part = blockIdx.x * WARPS + warp;
    if (part >= in.strand_count * in.splits) return;
    stage<real> *stages = reinterpret_cast<stage<real> *>(memory) + warp * STAGES;
    int split = part / in.strand_count;
    const ps_slice_strand strand = in.strands[part % in.strand_count];
    cursor<real, PACKED> at(in, part_begin(strand, split, in.splits),
                            part_begin(strand, split + 1, in.splits), lane);
    real sum[NG];
#pragma unroll
    for (int g = 0; g < NG; ++g) sum[g] = 0;
    int waiting = 0, now = 0, free = STAGES - 1;
    for (int s = 0; s < STAGES - 1; ++s) {
        if (!at.done()) fetch<NG>(at, stages[s], lane), ++waiting;
        copies_commit();
    }
    for (; waiting; --waiting) {
        copies_wait<STAGES - 2>();
        __syncwarp();
        if (!at.done()) fetch<NG>(at, stages[free], lane), ++waiting;
        copies_commit();
        multiply<NG>(sum, stages[now], lane);
        free = now;
        now = now + 1 == STAGES ? 0 : now + 1;
    }
    real *out = static_cast<real *>(in.scratch) + static_cast<int64_t>(part) * in.group * WARP + lane;
    if (lane < strand.rows) write_sums(sum, in.group, WARP, out);
}

template <typename real, int NG, bool PACKED>
ps_status start(const ps_slice_launch *in, cudaStream_t stream)
{
    size_t bytes = sizeof(stage<real>) * tuning<real, NG>::STAGES * WARPS;
    int blocks = (in->strand_count * in->splits + WARPS - 1) / WARPS;
    PS_CUDA(cudaFuncSetAttribute(rows_kernel<real, NG, PACKED>,
                                 cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(bytes)));
    rows_kernel<real, NG, PACKED><<<blocks, WARPS * WARP, bytes, stream>>>(*in);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

using start_fn = ps_status (*)(const ps_slice_launch *, cudaStream_t);
template <typename real, bool PACKED> struct starts {
    static constexpr start_fn fn[GROUPS] = {start<real, 1, PACKED>,  start<real, 2, PACKED>,
                                            start<real, 4, PACKED>,  start<real, 8, PACKED>,
                                            start<real, 16, PACKED>, start<real, 32, PACKED>};
};

} // namespace

extern "C" ps_status ps_slice_rows_cuda(const ps_slice_batch_plan *plan,
                                        const ps_slice_launch *launch, void *stream)
{
    const start_fn *table[2][2] = {{starts<float, false>::fn, starts<float, true>::fn},
                                   {starts<double, false>::fn, starts<double, true>::fn}};
    return table[plan->precision][plan->layout == PS_BLOCK_WARP][group_index(plan->lanes)](
        launch, static_cast<cudaStream_t>(stream));
}
