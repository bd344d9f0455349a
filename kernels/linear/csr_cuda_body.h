/*
 * csr_cuda_body: rows of a sparse product on CUDA (csr_device.h), for kernels that do something
 * with each row's sum: out(row, sum), called by one thread a row. The including file has included
 * csr_device.h.
 */

template <typename real> struct csr_view {
    int64_t rows;
    const int64_t *row_start;
    const int32_t *columns;
    const real *values;
    const real *x;
};

enum { CSR_THREADS = 256, CSR_PIECE = 2048 };

/* Sum over `width` neighbouring lanes, in lane 0 of them. */
template <int width, typename real> __device__ real add_lanes(real sum)
{
#pragma unroll
    for (int half = width / 2; half > 0; half /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, half, width);
    return sum;
}

/* `width` threads a row; `block` has `threads` / width rows. */
template <int width, int threads, typename real, typename Out>
__device__ void csr_by_rows(const csr_view<real> &a, int64_t block, Out &out)
{
    enum { AHEAD = width < 16 ? 4 : 2 }; /* entries that a thread asks for at once */
    const int lane = threadIdx.x % width;
    const int64_t row = block * (threads / width) + threadIdx.x / width;
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

/* As many rows a block, their products through shared memory, CSR_PIECE entries at a time. */
template <int width, typename real, typename Out>
__device__ void csr_by_stream(const csr_view<real> &a, real *products, int64_t block, Out &out)
{
    enum { ROWS = CSR_THREADS / width, EACH = CSR_PIECE / CSR_THREADS };
    const int64_t first = block * ROWS, row = first + threadIdx.x / width;
    const int64_t last = first + ROWS < a.rows ? first + ROWS : a.rows;
    const int64_t begin = a.row_start[first], end = a.row_start[last];
    int64_t mine = row < a.rows ? a.row_start[row] : end;
    const int64_t mine_end = row < a.rows ? a.row_start[row + 1] : end;
    mine += threadIdx.x % width;
    real sum = 0;
    for (int64_t piece = begin; piece < end; piece += CSR_PIECE) {
        const int64_t piece_end = piece + CSR_PIECE < end ? piece + CSR_PIECE : end;
        real value[EACH];
        int32_t column[EACH];
#pragma unroll
        for (int i = 0; i < EACH; ++i) {
            const int64_t e = piece + i * CSR_THREADS + threadIdx.x;
            value[i] = e < piece_end ? __ldcs(a.values + e) : real(0);
            column[i] = e < piece_end ? __ldcs(a.columns + e) : 0;
        }
#pragma unroll
        for (int i = 0; i < EACH; ++i)
            products[i * CSR_THREADS + threadIdx.x] = value[i] * __ldg(a.x + column[i]);
        __syncthreads();
        for (; mine < mine_end && mine < piece_end; mine += width) sum += products[mine - piece];
        __syncthreads();
    }
    sum = add_lanes<width>(sum);
    if (threadIdx.x % width == 0 && row < a.rows) out(row, sum);
}

/* A shape (csr_device.h) at compile time. */
template <bool STREAM, int WIDTH, int THREADS> struct csr_form {
    static constexpr bool stream = STREAM;
    static constexpr int width = WIDTH, threads = THREADS;
};

template <typename form, typename real, typename Out>
__device__ void csr_all(const csr_view<real> &a, real *products, Out &out)
{
    if (form::stream)
        csr_by_stream<form::width>(a, products, blockIdx.x, out);
    else
        csr_by_rows<form::width, form::threads>(a, blockIdx.x, out);
}

/* Calls launch(form) with the form of a shape. */
template <typename Launch> void csr_choose(const ps_csr_shape &s, const Launch &launch)
{
    if (s.stream) {
        switch (s.width) {
        case 2:
            launch(csr_form<true, 2, CSR_THREADS>());
            break;
        case 4:
            launch(csr_form<true, 4, CSR_THREADS>());
            break;
        default:
            launch(csr_form<true, 8, CSR_THREADS>());
        }
        return;
    }
    switch (s.width) {
    case 2:
        launch(csr_form<false, 2, CSR_THREADS>());
        break;
    case 4:
        launch(csr_form<false, 4, CSR_THREADS>());
        break;
    case 16:
        launch(csr_form<false, 16, CSR_THREADS>());
        break;
    case 32:
        launch(csr_form<false, 32, CSR_THREADS>());
        break;
    default:
        if (s.threads == 1024)
            launch(csr_form<false, 8, 1024>());
        else if (s.threads == 512)
            launch(csr_form<false, 8, 512>());
        else
            launch(csr_form<false, 8, CSR_THREADS>());
    }
}

/* Blocks of a launch for all rows. */
template <typename form> unsigned csr_blocks(int64_t rows)
{
    const int64_t each = form::threads / form::width;
    return (unsigned)((rows + each - 1) / each);
}

/* Shared memory of a block. */
template <typename form, typename real> int csr_shared()
{
    return form::stream ? CSR_PIECE * (int)sizeof(real) : 0;
}
