/*
 * The rows kernel of slice_batch: a warp owns 32 rows and goes through the slices of its part.
 *
 * The work is a sequence of segments: at most 16 columns of one slice. A segment's values (32
 * rows) and the window of the past that its rows read go to a stage in shared memory by
 * asynchronous copies, some segments ahead of the one that is multiplied, so that enough bytes are
 * in flight whatever the registers leave of warps. A thread reads its values there (columns are 32
 * values, so without bank conflicts) and the past from its own start in the window; starts of
 * neighbouring rows differ little, so a window is hardly longer than a row-vector plus n_g.
 *
 * A segment whose starts are too far apart for the window reads the past from device memory.
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

/* Warp-packed; contiguous blocks; those of 16 rows in fp32, two to a warp: as a column of a block
 * is 64 bytes only, threads copy block by block, and values lie so in shared memory, 16 apart. */
enum form { PACKED, BLOCKS, LOW_BLOCKS };
template <int FORM> struct placing {
    static constexpr int HEIGHT = FORM == LOW_BLOCKS ? 16 : WARP; /* rows of a column         */
    static constexpr int APART = SEGMENT * HEIGHT + HEIGHT;       /* from a block to the next */
    static constexpr int VALUES = SEGMENT * WARP + (FORM == LOW_BLOCKS ? WARP : 0);
    static __device__ __forceinline__ int of_row(int row)
    {
        return row / HEIGHT * APART + row % HEIGHT;
    }
};

/* Past values in a stage: room for starts of a warp that are 50 apart. */
__host__ __device__ constexpr int window_of(int group) { return group <= 8 ? 2 * WARP : 3 * WARP; }

template <typename real, typename stored, int NG, int FORM> struct stage {
    static constexpr int WINDOW = window_of(NG);
    stored values[placing<FORM>::VALUES];
    real past[WINDOW];
};
/* What a thread knows of a segment in a stage: WIDE, columns, the scale of halves, and the index in
 * the window at which past[0] of its row lies. */
enum : unsigned { WIDE = 1u << 31, COLUMNS_AT = 26, SCALE_AT = 18, PLACE = (1u << SCALE_AT) - 1 };

/* 2^(s - 127) of the s in a note, 0 for s = 0 (kernels/tdbem/half_values.h). */
__device__ __forceinline__ float scale_of(unsigned note)
{
    return __uint_as_float((note >> SCALE_AT & 0xff) << 23);
}

/* Where the things of a segment are, worked out for all segments of a piece at once:
 *   shape: columns, values of the window (at most SPAN_MAX), largest start
 *   value: where its values begin, in 16 bytes from those of the piece
 *   past:  first value of the window, from t = 0 of the piece's first slice
 *   start: its starts, and scales, from those of the piece */
struct __align__(16) segment_place
{
    unsigned shape, value;
    int past;
    unsigned start;
};
enum { SPAN_AT = 5, HIGH_AT = 16, SPAN_MAX = (1 << (HIGH_AT - SPAN_AT)) - 1 };

/* Copies BYTES at `from` + AT to shared memory `to` + AT if left > NUMBER. */
template <int BYTES, int AT, int NUMBER>
__device__ __forceinline__ void copy_above(unsigned to, const void *from, int left)
{
    if constexpr (BYTES == 16)
        asm volatile("{.reg .pred p; setp.gt.s32 p, %2, %3;\n"
                     "@p cp.async.cg.shared.global [%0 + %4], [%1 + %4], 16;}" ::"r"(to),
                     "l"(from), "r"(left), "n"(NUMBER), "n"(AT)
                     : "memory");
    else
        asm volatile("{.reg .pred p; setp.gt.s32 p, %2, %3;\n"
                     "@p cp.async.ca.shared.global [%0 + %4], [%1 + %4], %5;}" ::"r"(to),
                     "l"(from), "r"(left), "n"(NUMBER), "n"(AT), "n"(BYTES)
                     : "memory");
}

/* Words of the head of a piece, of which each thread holds one. */
__device__ __forceinline__ int head_word(unsigned head, int at)
{
    return static_cast<int>(__shfl_sync(~0u, head, at));
}
__device__ __forceinline__ int64_t head_long(unsigned head, int at)
{
    unsigned low = __shfl_sync(~0u, head, at), high = __shfl_sync(~0u, head, at + 1);
    return static_cast<int64_t>(static_cast<uint64_t>(high) << 32 | low);
}

/* Columns of the segments before this thread's. */
__device__ __forceinline__ unsigned columns_before(unsigned columns, int lane)
{
    unsigned sum = columns;
#pragma unroll
    for (int step = 1; step < WARP; step *= 2) {
        unsigned other = __shfl_up_sync(~0u, sum, step);
        if (lane >= step) sum += other;
    }
    return sum - columns;
}

/* A warp copies UNIT columns of its rows at once, a thread 16 bytes of one column. */
template <typename stored, int FORM> struct warp_copy {
    static constexpr int UNIT = 16 / sizeof(stored); /* values, and columns */
    static constexpr int HEIGHT = placing<FORM>::HEIGHT;

    static __device__ __forceinline__ int row_of(int lane)
    {
        return lane / HEIGHT * HEIGHT + lane % (HEIGHT / UNIT) * UNIT;
    }
    static __device__ __forceinline__ int column_of(int lane)
    {
        return lane % HEIGHT / (HEIGHT / UNIT);
    }
    /* Where a thread copies to in the values of a stage, bytes. */
    static __device__ __forceinline__ int copy_to(int lane)
    {
        if (FORM != LOW_BLOCKS) return lane * 16;
        return (placing<FORM>::of_row(row_of(lane)) + column_of(lane) * HEIGHT) *
               static_cast<int>(sizeof(stored));
    }
};

/* Goes through the segments of a part. Pieces are taken by the warp: each thread works out one
 * segment, and has loaded its record of the piece that follows. */
template <typename real, typename stored, int NG, int FORM> struct cursor {
    static constexpr bool HALF = sizeof(stored) < sizeof(float);
    using copy = warp_copy<stored, FORM>;
    static constexpr int UNIT = copy::UNIT, HEIGHT = copy::HEIGHT;
    const ps_slice_launch &in;
    const ps_slice_piece *piece; /* the next one      */
    unsigned head_ahead;         /* of it, this thread's word and record */
    uint2 record_ahead;
    segment_place *places; /* [PS_PIECE_SEGMENTS] of the piece, shared memory */
    const char *values;    /* this thread's copies */
    const real *past; /* t = 0 of the piece's first slice, at this thread's value of the window */
    const uint16_t *starts;     /* this thread's        */
    const uint8_t *scales;      /* likewise, of halves  */
    segment_place own;          /* of this segment      */
    int inside, segments, left; /* segment of the piece, and those not copied yet of the part */
    unsigned copy_column;       /* of the values that this thread copies first */
    unsigned first;             /* start of this thread's row-vector */
    unsigned scale;             /* and its scale, s << SCALE_AT      */

    __device__ __forceinline__ cursor(const ps_slice_launch &launch, int begin, int end, int lane,
                                      segment_place *shared)
        : in(launch), piece(launch.pieces + begin), places(shared), inside(0), segments(0), left(0)
    {
        scale = 0;
        if (begin >= end) return;
        const ps_slice_piece *last = launch.pieces + end - 1;
        left = last->first_segment + last->segments - piece->first_segment;
        if (!left) return;
        load_ahead(lane);
        inside = -1;
        next(lane);
    }

    __device__ __forceinline__ void load_ahead(int lane)
    {
        head_ahead = reinterpret_cast<const unsigned *>(piece)[lane % 16];
        record_ahead = reinterpret_cast<const uint2 *>(piece->records)[lane];
    }

    __device__ __forceinline__ int column_units() const
    {
        return (FORM == PACKED ? WARP : FORM == LOW_BLOCKS ? HEIGHT : in.block_rows) / UNIT;
    }

    /* Contiguous blocks: this thread copies 16 bytes of one block, if any block holds the rows. */
    __device__ __forceinline__ int64_t place_in_blocks(unsigned head, int lane)
    {
        int row = head_word(head, 6) + copy::row_of(lane), block_row = row % in.block_rows;
        if (row >= head_word(head, 11)) copy_column = SEGMENT;
        return (static_cast<int64_t>(row - block_row) * in.block_columns + block_row) *
               static_cast<int>(sizeof(stored));
    }

    __device__ __forceinline__ void enter_piece(int lane)
    {
        unsigned head = head_ahead;
        uint2 record = record_ahead;
        segments = head_word(head, 12);
        values = in.base + head_long(head, 0);
        starts = reinterpret_cast<const uint16_t *>(in.base + head_long(head, 2));
        past = past_of<real>(in, head_word(head, 4)) + lane;
        copy_column = copy::column_of(lane);
        unsigned columns = lane < segments ? record.x & 0xff : 0, slice = record.x >> 8 & 0xff;
        unsigned column = record.x >> 16, low = record.y & 0xffff, high = record.y >> 16;
        if (FORM == PACKED) {
            values += lane * 16;
            starts += lane;
            if (HALF)
                scales = reinterpret_cast<const uint8_t *>(in.base + head_long(head, 14)) + lane;
            own.value = columns_before(columns, lane) * column_units();
        } else {
            int64_t rows = place_in_blocks(head, lane), step = head_long(head, 8) / UNIT;
            values += rows + copy_column % SEGMENT * column_units() * 16;
            starts += head_word(head, 6) + min(lane, head_word(head, 7) - 1);
            own.value = static_cast<unsigned>(slice * step) + column * column_units();
        }
        own.start = slice * head_word(head, 10);
        own.past = static_cast<int>(slice * in.past_stride - (high + column + columns - 1));
        own.shape =
            columns | min(high - low + columns + NG - 1, SPAN_MAX) << SPAN_AT | high << HIGH_AT;
        __syncwarp();
        places[lane] = own;
        __syncwarp();
        inside = 0;
        ++piece;
        if (left > segments) load_ahead(lane);
    }

    /* To the next segment of the part; loads this thread's start in it. */
    __device__ __forceinline__ void next(int lane)
    {
        if (++inside >= segments) {
            do enter_piece(lane);
            while (segments == 0);
        }
        own = places[inside];
        first = starts[own.start];
        if (HALF) scale = static_cast<unsigned>(scales[own.start]) << SCALE_AT;
    }
};

/* The copies of a segment's values, `left` columns from this thread's first one on. */
template <typename stored, int HEIGHT, int FIRST = 0>
__device__ __forceinline__ void copy_segment(unsigned to, const char *values, int column_bytes,
                                             int left)
{
    constexpr int UNIT = 16 / sizeof(stored), AT = FIRST * HEIGHT * static_cast<int>(sizeof(stored));
    if constexpr (FIRST < SEGMENT) {
        copy_above<16, 0, FIRST>(to + AT, values + FIRST * static_cast<int64_t>(column_bytes),
                                 left);
        copy_segment<stored, HEIGHT, FIRST + UNIT>(to, values, column_bytes, left);
    }
}

/* Those of the past, `left` values from this thread's first one on. */
template <int WINDOW, typename real>
__device__ __forceinline__ void copy_past(unsigned to, const real *past, int left)
{
    constexpr int BYTES = sizeof(real);
    copy_above<BYTES, 0, 0>(to, past, left);
    copy_above<BYTES, WARP * BYTES, WARP>(to, past, left);
    if constexpr (WINDOW > 2 * WARP)
        copy_above<BYTES, 2 * WARP * BYTES, 2 * WARP>(to, past, left);
}

__device__ __forceinline__ void put_address(unsigned to, const void *address)
{ /* to shared memory */
    asm volatile("st.shared.u64 [%0], %1;" ::"r"(to), "l"(address) : "memory");
}

/* Starts the copies of the cursor's segment to a stage, whose address in shared memory is `there`,
 * and moves the cursor on. Returns what this thread notes of it. */
template <typename real, typename stored, int NG, int FORM>
__device__ __forceinline__ unsigned fetch(cursor<real, stored, NG, FORM> &at, unsigned there,
                                          int lane)
{
    constexpr int WINDOW = stage<real, stored, NG, FORM>::WINDOW,
                  PAST_AT = placing<FORM>::VALUES * sizeof(stored);
    const segment_place own = at.own;
    unsigned shape = own.shape, columns = shape & 0x1f;
    const real *past = at.past + own.past;
    unsigned span = shape >> SPAN_AT & SPAN_MAX;
    copy_segment<stored, placing<FORM>::HEIGHT>(there + warp_copy<stored, FORM>::copy_to(lane),
                                                at.values + static_cast<uint64_t>(own.value) * 16,
                                                at.column_units() * 16,
                                                static_cast<int>(columns - at.copy_column));
    unsigned note = (shape >> HIGH_AT) - at.first + columns - 1;
    note |= columns << COLUMNS_AT | at.scale;
    bool wide = span > WINDOW;
    copy_past<WINDOW>(there + PAST_AT + lane * static_cast<int>(sizeof(real)), past,
                      wide ? 0 : static_cast<int>(span) - lane);
    if (wide) {
        if (lane == 0) put_address(there + PAST_AT, past);
        note |= WIDE;
    }
    --at.left;
    if (at.left) at.next(lane);
    return note;
}

/* Multiplies the segment of a stage; where it is wide, with the past from device memory. */
template <typename real, typename stored, int NG, int FORM>
__device__ __forceinline__ void multiply(real (&sum)[NG], const stage<real, stored, NG, FORM> &from,
                                         unsigned note, int lane)
{
    constexpr int HEIGHT = placing<FORM>::HEIGHT;
    unsigned columns = note >> COLUMNS_AT & 0x1f, place = note & PLACE;
    const stored *values = from.values + placing<FORM>::of_row(lane);
    float scale = scale_of(note);
    if (!(note & WIDE))
        add_segment(sum, values, HEIGHT, from.past + place, columns, scale);
    else
        add_segment(sum, values, HEIGHT, *reinterpret_cast<const real *const *>(from.past) + place,
                    columns, scale);
}

/* Stages a warp, and blocks that a multiprocessor shall hold: what fits its registers and its
 * shared memory. */
template <typename real, typename stored, int NG> struct tuning {
    static constexpr int STAGES = PS_ROWS_STAGES(sizeof(real), NG) +
                                  (sizeof(stored) < sizeof(real) ? PS_ROWS_HALF_STAGES : 0);
    static constexpr int BLOCKS = PS_ROWS_BLOCKS(sizeof(real), NG);
};

template <typename real, typename stored, int NG, int FORM> struct warp_memory {
    stage<real, stored, NG, FORM> stages[tuning<real, stored, NG>::STAGES];
    segment_place places[PS_PIECE_SEGMENTS];
};

template <typename real, typename stored, int NG, int FORM>
__global__ void __launch_bounds__(WARPS *WARP, tuning<real, stored, NG>::BLOCKS)
    rows_kernel(const __grid_constant__ ps_slice_launch in)
{
    constexpr int STAGES = tuning<real, stored, NG>::STAGES,
                  SIZE = sizeof(stage<real, stored, NG, FORM>);
    extern __shared__ __align__(16) unsigned char memory[];
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    int part = blockIdx.x * WARPS + warp;
    if (part >= in.strand_count * in.splits) return;
    auto *own = reinterpret_cast<warp_memory<real, stored, NG, FORM> *>(memory) + warp;
    stage<real, stored, NG, FORM> *stages = own->stages;
    int split = part / in.strand_count;
    const ps_slice_strand strand = in.strands[part % in.strand_count];
    cursor<real, stored, NG, FORM> at(in, part_begin(strand, split, in.splits),
                                      part_begin(strand, split + 1, in.splits), lane, own->places);
    unsigned there = shared_address(stages);
    asm volatile("" : "+r"(there)); /* keep it: working it out takes long */
    real sum[NG];
#pragma unroll
    for (int g = 0; g < NG; ++g) sum[g] = 0;
    const int segments = at.left;
    unsigned notes[STAGES] = {}; /* of the segments in the stages, first to be multiplied first */
#pragma unroll
    for (int s = 0; s < STAGES - 1; ++s) {
        if (at.left) notes[s] = fetch(at, there + s * SIZE, lane);
        copies_commit();
    }
    int now = 0, free = STAGES - 1;
    for (int i = 0; i < segments; ++i) {
        copies_wait<STAGES - 2>();
        __syncwarp();
        if (at.left) notes[STAGES - 1] = fetch(at, there + free * SIZE, lane);
        copies_commit();
        multiply(sum, stages[now], notes[0], lane);
#pragma unroll
        for (int s = 0; s < STAGES - 1; ++s) notes[s] = notes[s + 1];
        free = now;
        now = now + 1 == STAGES ? 0 : now + 1;
    }
    real *out =
        static_cast<real *>(in.scratch) + static_cast<int64_t>(part) * in.group * WARP + lane;
    if (lane < strand.rows) write_sums(sum, in.group, WARP, out);
}

template <typename real, typename stored, int NG, int FORM>
ps_status start(const ps_slice_launch *in, cudaStream_t stream)
{
    size_t bytes = sizeof(warp_memory<real, stored, NG, FORM>) * WARPS;
    int blocks = (in->strand_count * in->splits + WARPS - 1) / WARPS;
    PS_CUDA(cudaFuncSetAttribute(rows_kernel<real, stored, NG, FORM>,
                                 cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(bytes)));
    rows_kernel<real, stored, NG, FORM><<<blocks, WARPS * WARP, bytes, stream>>>(*in);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

using start_fn = ps_status (*)(const ps_slice_launch *, cudaStream_t);
template <typename real, typename stored, int FORM> struct starts {
    static constexpr start_fn fn[GROUPS] = {
        start<real, stored, 1, FORM>, start<real, stored, 2, FORM>,  start<real, stored, 4, FORM>,
        start<real, stored, 8, FORM>, start<real, stored, 16, FORM>, start<real, stored, 32, FORM>};
};

const start_fn *starts_for(const ps_slice_batch_plan *plan)
{
    bool single = plan->precision == PS_SINGLE, low = plan->block_rows == 16;
    if (plan->half)
        return single ? starts<float, __half, PACKED>::fn : starts<double, __half, PACKED>::fn;
    if (plan->layout == PS_BLOCK_WARP)
        return single ? starts<float, float, PACKED>::fn : starts<double, double, PACKED>::fn;
    if (!single) return starts<double, double, BLOCKS>::fn;
    return low ? starts<float, float, LOW_BLOCKS>::fn : starts<float, float, BLOCKS>::fn;
}

} // namespace

extern "C" ps_status ps_slice_rows_cuda(const ps_slice_batch_plan *plan,
                                        const ps_slice_launch *launch, void *stream)
{
    return starts_for(plan)[group_index(plan->lanes)](launch, static_cast<cudaStream_t>(stream));
}
