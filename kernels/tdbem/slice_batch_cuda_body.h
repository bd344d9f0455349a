/*
 * What the device kernels of slice_batch share: multiplying a segment of columns with the window
 * of the past, and asynchronous copies to shared memory. Included by the .cu files.
 */
namespace
{

enum { WARP = 32, SEGMENT = PS_SEGMENT_COLUMNS };

/* fn[group rounded up: 1, 2, 4, 8, 16, 32]. */
enum { GROUPS = 6 };
inline int group_index(int64_t lanes)
{
    int index = 0;
    while (1 << index < lanes) ++index;
    return index;
}

/* The number that a stored value stands for: itself, or a half times its row-vector's scale. */
template <typename real> __device__ __forceinline__ real number(real value, float) { return value; }
template <typename real> __device__ __forceinline__ real number(__half value, float scale)
{
    return __half2float(value) * scale;
}

/* sum[g] += v[q] past[g - q] for COUNT columns q = FIRST .. of a segment, g < NG. `window` holds
 * past[g - q] at index (g - q) mod NG, and needs one new value a column: no value moves, as all
 * indices are known at compile time. values: this thread's row, columns `stride` apart; scale: of
 * halves. */
template <int FIRST, int COUNT, typename real, typename stored, int NG>
__device__ __forceinline__ void add_columns(real (&sum)[NG], real (&window)[NG],
                                            const stored *values, int stride, const real *past,
                                            float scale)
{
    real v[COUNT], p[COUNT];
#pragma unroll
    for (int c = 0; c < COUNT; ++c) {
        v[c] = number<real>(values[(FIRST + c) * stride], scale);
        p[c] = past[-(FIRST + c)];
    }
#pragma unroll
    for (int c = 0; c < COUNT; ++c) {
        window[(2 * SEGMENT * NG - FIRST - c) % NG] = p[c];
#pragma unroll
        for (int g = 0; g < NG; ++g)
            sum[g] += v[c] * window[(g + 2 * SEGMENT * NG - FIRST - c) % NG];
    }
}

/* Four columns from FIRST on while there are so many, then those left, exactly. */
template <int FIRST, typename real, typename stored, int NG>
__device__ __forceinline__ void add_quads(real (&sum)[NG], real (&window)[NG], const stored *values,
                                          int stride, const real *past, int columns, float scale)
{
    if constexpr (FIRST < SEGMENT) {
        if (columns >= FIRST + 4) {
            add_columns<FIRST, 4>(sum, window, values, stride, past, scale);
            add_quads<FIRST + 4>(sum, window, values, stride, past, columns, scale);
        } else if (columns == FIRST + 3) {
            add_columns<FIRST, 3>(sum, window, values, stride, past, scale);
        } else if (columns == FIRST + 2) {
            add_columns<FIRST, 2>(sum, window, values, stride, past, scale);
        } else if (columns == FIRST + 1) {
            add_columns<FIRST, 1>(sum, window, values, stride, past, scale);
        }
    }
}

/* sum[g] += sum_q v[q] past[g - q] for q < columns <= SEGMENT. */
template <typename real, typename stored, int NG>
__device__ __forceinline__ void add_segment(real (&sum)[NG], const stored *values, int stride,
                                            const real *past, int columns, float scale = 1)
{
    real window[NG];
#pragma unroll
    for (int g = 1; g < NG; ++g) window[g] = past[g];
    add_quads<0>(sum, window, values, stride, past, columns, scale);
}

/* ---- copies from device memory to shared memory that the thread does not wait for ---- */

__device__ __forceinline__ unsigned shared_address(const void *shared)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}

template <int BYTES> __device__ __forceinline__ void copy_async(unsigned to, const void *from)
{
    if constexpr (BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(BYTES)
                     : "memory");
}

__device__ __forceinline__ void copies_commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/* Waits until at most PENDING groups of this thread's copies are under way. */
template <int PENDING> __device__ __forceinline__ void copies_wait()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}

/* The part of a strand's pieces that belongs to split `split`. */
__device__ __forceinline__ int part_begin(const ps_slice_strand &strand, int split, int splits)
{
    return strand.first_piece +
           static_cast<int>(static_cast<int64_t>(strand.pieces) * split / splits);
}

/* The past of a slice at t = 0. */
template <typename real>
__device__ __forceinline__ const real *past_of(const ps_slice_launch &in, int slice)
{
    return static_cast<const real *>(in.past) + slice * in.past_stride + in.past_origin;
}

/* Writes the sums of one row, out[g][height], those of the group. */
template <typename real, int NG>
__device__ __forceinline__ void write_sums(const real (&sum)[NG], int group, int height, real *out)
{
#pragma unroll
    for (int g = 0; g < NG; ++g)
        if (g < group) out[static_cast<int64_t>(g) * height] = sum[g];
}

} // namespace
