/*
 * The teams kernels of slice_batch (Bramas, Coulaud, Sylvand 2014, 4.1 and 4.2), a thread block for
 * one part of a strand. Values are read from device memory column by column, one thread a row; the
 * past is in shared memory; n_g sums in registers.
 *
 * Full: teams of block_rows threads (at most 256: taller blocks are cut) take the blocks of a slice
 * that touch the strand. A thread keeps the sums of a row as long as its blocks begin at the same
 * row; the sums of rows that change hands go through shared memory. A block's rows end where the
 * next block begins.
 * Contiguous: thread r owns row r of the strand; the past of a slice is copied whole while the
 * slice before is multiplied.
 */
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/tdbem/slice_batch_internal.h"
}
#include "kernels/tdbem/slice_batch_cuda_body.h"

namespace {

/* Thread blocks that a multiprocessor has registers for. */
template <typename real, int NG> constexpr int BLOCKS = sizeof(real) * NG > 128 ? 1 : 2;

enum { TEAM_ROWS = 256, SHARED_MAX = 200 << 10 /* bytes of a thread block's shared memory */ };

/* All values of a segment are under way before the first is used. */
template <typename real, int NG>
__device__ __forceinline__ void add_block(real (&sum)[NG], const real *values, int stride,
                                          const real *past, int columns)
{
    for (int q = 0; q < columns; q += SEGMENT) {
        real v[SEGMENT];
#pragma unroll
        for (int c = 0; c < SEGMENT; ++c)
            v[c] = q + c < columns ? values[static_cast<int64_t>(q + c) * stride] : real(0);
        add_segment(sum, v, 1, past - q, min(SEGMENT, columns - q));
    }
}

template <typename real, int NG> __device__ __forceinline__ void clear(real (&sum)[NG])
{
#pragma unroll
    for (int g = 0; g < NG; ++g) sum[g] = 0;
}

/* The part of the strand that the thread block owns. */
struct part_of {
    ps_slice_strand strand;
    const ps_slice_piece *begin, *end;
    __device__ __forceinline__ explicit part_of(const ps_slice_launch &in)
    {
        int split = blockIdx.x / in.strand_count;
        strand = in.strands[blockIdx.x % in.strand_count];
        begin = in.pieces + part_begin(strand, split, in.splits);
        end = in.pieces + part_begin(strand, split + 1, in.splits);
    }
};

template <typename real> __device__ __forceinline__ real *scratch_of(const ps_slice_launch &in)
{
    return static_cast<real *>(in.scratch) +
           static_cast<int64_t>(blockIdx.x) * in.group * in.strand_rows;
}

/* ---- full blocks ---- */

/* A round of a slice: each team has one block, or a part of 256 rows of it, or none. */
struct round_of {
    int block, row,
        column;    /* row: of this thread within the strand, -1: none; column: corner's k */
    int64_t value; /* of this thread's row, from the piece's first block                  */
};

__device__ __forceinline__ round_of take(const ps_slice_launch &in, const ps_slice_piece &piece,
                                         int first, int team, int height)
{
    int parts = (in.block_rows + height - 1) / height, v = first + team;
    round_of out = {v / parts, -1, 1, 0};
    if (v >= piece.limit * parts) return out;
    const unsigned *rows = reinterpret_cast<const unsigned *>(in.base + piece.starts) + out.block;
    int inside = v % parts * height + threadIdx.x % height;
    int row = static_cast<int>(rows[0]) - piece.row + inside;
    int end = out.block + 1 < piece.limit ? static_cast<int>(rows[1]) - piece.row : piece.rows;
    if (inside < in.block_rows && row >= 0 && row < min(end, piece.rows)) out.row = row;
    out.column = reinterpret_cast<const uint16_t *>(in.base + piece.step)[out.block];
    out.value = static_cast<int64_t>(out.block) * in.block_rows * in.block_columns + inside;
    return out;
}

/* Shared memory: sums[NG][strand_rows], then a window of the past for every team. */
template <typename real, int NG>
__device__ __forceinline__ void hand_over(real (&sum)[NG], real *sums, int height, int *mine,
                                          int row)
{
    if (*mine >= 0) write_sums(sum, NG, height, sums + *mine);
    __syncthreads();
    *mine = row;
    if (row < 0) return;
#pragma unroll
    for (int g = 0; g < NG; ++g) sum[g] = sums[g * height + row];
}

template <typename real, int NG>
__global__ void __launch_bounds__(TEAM_ROWS, (BLOCKS<real, NG>))
    full_kernel(const __grid_constant__ ps_slice_launch in, int height, int teams)
{
    extern __shared__ __align__(16) unsigned char memory[];
    real *sums = reinterpret_cast<real *>(memory), sum[NG];
    int span = in.block_columns + NG - 1, team = threadIdx.x / height, mine = -1;
    real *window = sums + NG * in.strand_rows + team * span;
    const part_of part(in);
    for (int i = threadIdx.x; i < NG * in.strand_rows; i += blockDim.x) sums[i] = 0;
    clear(sum);
    for (const ps_slice_piece *p = part.begin; p < part.end; ++p) {
        const ps_slice_piece &piece = *p;
        const real *past = past_of<real>(in, piece.slice);
        int rounds = piece.limit * ((in.block_rows + height - 1) / height);
        for (int first = 0; first < rounds; first += teams) {
            round_of now =
                team < teams ? take(in, piece, first, team, height) : round_of{0, -1, 1, 0};
            if (__syncthreads_or(now.row >= 0 && now.row != mine))
                hand_over(sum, sums, in.strand_rows, &mine, now.row);
            if (team < teams)
                for (int i = threadIdx.x % height; i < span; i += height)
                    window[i] = past[i - (now.column + in.block_columns - 1)];
            __syncthreads();
            const real *values = reinterpret_cast<const real *>(in.base + piece.values) + now.value;
            if (now.row >= 0)
                add_block(sum, values, in.block_rows, window + in.block_columns - 1,
                          in.block_columns);
        }
    }
    hand_over(sum, sums, in.strand_rows, &mine, -1);
    real *out = scratch_of<real>(in);
    for (int i = threadIdx.x; i < in.group * in.strand_rows; i += blockDim.x) out[i] = sums[i];
}

template <typename real, int NG>
ps_status start_full(const ps_slice_launch *in, cudaStream_t stream)
{
    int height = in->block_rows < TEAM_ROWS ? in->block_rows : TEAM_ROWS;
    int teams = in->strand_rows / height, threads = (teams * height + WARP - 1) / WARP * WARP;
    size_t reals = static_cast<size_t>(NG) * in->strand_rows +
                   static_cast<size_t>(teams) * (in->block_columns + NG - 1);
    if (reals * sizeof(real) > SHARED_MAX)
        return ps_fail(PS_EXHAUSTED,
                       "full blocks of %d columns need %zu bytes of shared memory; at "
                       "most %d are available",
                       in->block_columns, reals * sizeof(real), SHARED_MAX);
    PS_CUDA(cudaFuncSetAttribute(full_kernel<real, NG>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 SHARED_MAX));
    full_kernel<real, NG><<<in->strand_count * in->splits, threads, reals * sizeof(real), stream>>>(
        *in, height, teams);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

/* ---- contiguous blocks ---- */

/* Goes through the slices of a part. */
struct slice_walk {
    const ps_slice_piece *piece, *end;
    int inside; /* slice within the piece */
    __device__ __forceinline__ bool done() const { return piece == end; }
    __device__ __forceinline__ void next()
    {
        if (++inside < piece->count) return;
        inside = 0;
        ++piece;
    }
};

/* Starts the copy of the past of the walk's slice: `span` values up to t = NG - 1. */
template <typename real, int NG>
__device__ __forceinline__ void copy_slice_past(const ps_slice_launch &in, const slice_walk &walk,
                                                real *to, int span)
{
    const real *past = past_of<real>(in, walk.piece->slice + walk.inside) - (span - NG);
    for (int i = threadIdx.x; i < span; i += blockDim.x)
        copy_async<sizeof(real)>(shared_address(to + i), past + i);
}

/* Multiplies this thread's row of the walk's slice. past: of t = 0 in shared memory. */
template <typename real, int NG>
__device__ __forceinline__ void add_row(const ps_slice_launch &in, const slice_walk &walk,
                                        real (&sum)[NG], const real *past)
{
    const ps_slice_piece &piece = *walk.piece;
    if (static_cast<int>(threadIdx.x) >= piece.rows) return;
    int row = piece.row + static_cast<int>(threadIdx.x), inside = row % in.block_rows;
    int k = reinterpret_cast<const uint16_t *>(
        in.base + piece.starts)[static_cast<int64_t>(walk.inside) * piece.starts_step + row];
    const real *values = reinterpret_cast<const real *>(in.base + piece.values) +
                         walk.inside * piece.step +
                         static_cast<int64_t>(row - inside) * in.block_columns + inside;
    add_block(sum, values, in.block_rows, past - k, in.block_columns);
}

template <typename real, int NG>
__global__ void __launch_bounds__(TEAM_ROWS, (BLOCKS<real, NG>))
    contiguous_kernel(const __grid_constant__ ps_slice_launch in, int span)
{
    extern __shared__ __align__(16) unsigned char memory[];
    real *window = reinterpret_cast<real *>(memory), *other = window + span, sum[NG];
    const part_of part(in);
    slice_walk walk = {part.begin, part.end, 0}, ahead = walk;
    clear(sum);
    if (!ahead.done()) copy_slice_past<real, NG>(in, ahead, window, span), ahead.next();
    copies_commit();
    while (!walk.done()) {
        if (!ahead.done()) copy_slice_past<real, NG>(in, ahead, other, span), ahead.next();
        copies_commit();
        copies_wait<1>();
        __syncthreads();
        add_row(in, walk, sum, window + span - NG);
        walk.next();
        __syncthreads();
        real *former = window;
        window = other;
        other = former;
    }
    if (static_cast<int>(threadIdx.x) < part.strand.rows)
        write_sums(sum, in.group, in.strand_rows, scratch_of<real>(in) + threadIdx.x);
}

template <typename real, int NG>
ps_status start_contiguous(const ps_slice_launch *in, cudaStream_t stream)
{
    int span = in->k_max + in->block_columns - 1 + NG;
    size_t bytes = 2 * sizeof(real) * span;
    if (bytes > SHARED_MAX)
        return ps_fail(PS_EXHAUSTED,
                       "the past of a slice with K = %d does not fit the %d bytes of "
                       "shared memory: use the rows kernel",
                       in->k_max, SHARED_MAX);
    PS_CUDA(cudaFuncSetAttribute(contiguous_kernel<real, NG>,
                                 cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_MAX));
    contiguous_kernel<real, NG>
        <<<in->strand_count * in->splits, TEAM_ROWS, bytes, stream>>>(*in, span);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

using start_fn = ps_status (*)(const ps_slice_launch *, cudaStream_t);
template <typename real> struct starts {
    static constexpr start_fn full[GROUPS] = {start_full<real, 1>,  start_full<real, 2>,
                                              start_full<real, 4>,  start_full<real, 8>,
                                              start_full<real, 16>, start_full<real, 32>};
    static constexpr start_fn contiguous[GROUPS] = {
        start_contiguous<real, 1>, start_contiguous<real, 2>,  start_contiguous<real, 4>,
        start_contiguous<real, 8>, start_contiguous<real, 16>, start_contiguous<real, 32>};
};

} // namespace

extern "C" ps_status ps_slice_teams_cuda(const ps_slice_batch_plan *plan,
                                         const ps_slice_launch *launch, void *stream)
{
    const start_fn *table[2][2] = {{starts<float>::full, starts<float>::contiguous},
                                   {starts<double>::full, starts<double>::contiguous}};
    return table[plan->precision][plan->layout == PS_BLOCK_CONTIGUOUS][group_index(plan->lanes)](
        launch, static_cast<cudaStream_t>(stream));
}
