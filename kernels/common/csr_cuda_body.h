/*
 * csr_cuda_body: rows of a sparse product on CUDA (csr_device.h), for kernels that do something
 * with each row's sum: out(row, sum), called by one thread a row. The including file includes
 * cuda_pipeline.h.
 */

template <typename real> struct csr_view {
    int64_t rows;
    const int64_t *row_start;
    const int32_t *columns;
    const real *values;
    const real *x;
};

enum { CSR_THREADS = 256 };

/* Sum over `width` neighbouring lanes, in lane 0 of them. */
template <int width, typename real> __device__ real add_lanes(real sum)
{
#pragma unroll
    for (int half = width / 2; half > 0; half /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, half, width);
    return sum;
}

/* `width` threads a row; `block` has CSR_THREADS / width rows. */
template <int width, typename real, typename Out>
__device__ void csr_by_rows(const csr_view<real> &a, int64_t block, Out &out)
{
    enum { AHEAD = width < 16 ? 4 : 2 }; /* entries that a thread asks for at once */
    const int lane = threadIdx.x % width;
    const int64_t row = block * (CSR_THREADS / width) + threadIdx.x / width;
    real sum = 0;
    if (row < a.rows) {
        const int64_t end = a.row_start[row + 1];
        for (int64_t e = a.row_start[row] + lane; e < end; e += AHEAD * width) {
            real value[AHEAD];
            int32_t column[AHEAD];
#pragma unroll
            for (int i = 0; i < AHEAD; ++i) {
                const bool there = e + i * width < end;
                value[i] = there ? __ldcs(a.values + e + i * width) : real(0);
                column[i] = there ? __ldcs(a.columns + e + i * width) : 0;
            }
#pragma unroll
            for (int i = 0; i < AHEAD; ++i) sum += value[i] * __ldg(a.x + column[i]);
        }
    }
    sum = add_lanes<width>(sum);
    if (lane == 0 && row < a.rows) out(row, sum);
}

/* Entries that lie in shared memory at once: of rows of 27 entries, all of a block's. */
template <int width> struct csr_piece {
    enum { SIZE = 28 * CSR_THREADS / width };
};

/* Copies entries first .. first + count - 1 of an array there, 16 bytes at a time, past the caches of
 * the multiprocessor, which are left to x. first: a multiple of 4; up to 3 more are copied. */
template <typename item> __device__ void csr_stage(item *to, const item *from, int count)
{
    enum { EACH = 16 / sizeof(item) };
    for (int i = threadIdx.x * EACH; i < count; i += CSR_THREADS * EACH)
        __pipeline_memcpy_async(to + i, from + i, 16);
}

/* As many rows a block, their entries through shared memory: read in the order of memory, then
 * multiplied row by row, so that neighbouring threads ask for neighbouring values of x. */
template <int width, typename real, typename Out>
__device__ void csr_by_stream(const csr_view<real> &a, void *shared, int64_t block, Out &out)
{
    enum { ROWS = CSR_THREADS / width, PIECE = csr_piece<width>::SIZE };
    real *values = static_cast<real *>(shared);
    int32_t *columns = reinterpret_cast<int32_t *>(values + PIECE);
    const int64_t first = block * ROWS, row = first + threadIdx.x / width;
    const int64_t last = first + ROWS < a.rows ? first + ROWS : a.rows;
    const int64_t begin = a.row_start[first] & ~(int64_t)3, end = a.row_start[last];
    int64_t mine = row < a.rows ? a.row_start[row] : end;
    const int64_t mine_end = row < a.rows ? a.row_start[row + 1] : end;
    mine += threadIdx.x % width;
    real sum = 0;
    for (int64_t piece = begin; piece < end; piece += PIECE) {
        const int64_t piece_end = piece + PIECE < end ? piece + PIECE : end;
        csr_stage(values, a.values + piece, (int)(piece_end - piece));
        csr_stage(columns, a.columns + piece, (int)(piece_end - piece));
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        const int stop = (int)((mine_end < piece_end ? mine_end : piece_end) - piece);
        int at = (int)(mine - piece);
#pragma unroll 4
        for (; at < stop; at += width) sum += values[at] * __ldg(a.x + columns[at]);
        mine = piece + at;
        __syncthreads();
    }
    sum = add_lanes<width>(sum);
    if (threadIdx.x % width == 0 && row < a.rows) out(row, sum);
}

template <bool stream, int width, typename real, typename Out>
__device__ void csr_all(const csr_view<real> &a, void *shared, Out &out)
{
    if (stream)
        csr_by_stream<width>(a, shared, blockIdx.x, out);
    else
        csr_by_rows<width>(a, blockIdx.x, out);
}

/* Blocks of a launch for all rows. */
inline unsigned csr_blocks(int64_t rows, int width)
{
    const int64_t each = CSR_THREADS / width;
    return (unsigned)((rows + each - 1) / each);
}

/* Shared memory of a block. */
template <bool stream, int width, typename real> int csr_shared()
{
    return stream ? csr_piece<width>::SIZE * (int)(sizeof(real) + 4) : 0;
}
