/*
 * Sine transforms on CUDA (fast_device.h): tables, and products of matrices that may lie in many
 * planes. A warp has 32 x 32 values of the result; fp64 goes by the tensor units (mma.m16n8k8).
 */
#include <cuda_runtime.h>
#include <cuda_pipeline.h>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/schwarz/device_kernels.h"
}

namespace {

enum { WARP_TILE = 32, DEPTH = 16, STAGES = 3, PAD = 4, THREADS = 256 };

/* ---- tables ---- */

template <typename real> __global__ void fill_sines(int64_t n, int64_t stride, real *sine)
{
    const int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    const int64_t j = at / stride, l = at % stride;
    if (j >= n) return;
    const int64_t turn = (j + 1) * (l + 1) % (2 * (n + 1)); /* exact reduction of the angle */
    const double value = sqrt(2. / (double)(n + 1)) * sinpi((double)turn / (double)(n + 1));
    sine[at] = l < n ? (real)value : real(0);
}

__device__ void line_eigenvalues(const ps_q1_grid &grid, int axis, int64_t j, double *stiffness,
                                 double *mass)
{
    const double c = cospi((double)j / (double)(grid.nodes[axis] - 1)), h = grid.spacing[axis];
    *stiffness = (2 - 2 * c) / h;
    *mass = h * (4 + 2 * grid.lumped + 2 * c * (1 - grid.lumped)) / 6;
}

__global__ void fill_modes(const ps_q1_grid grid, int64_t stride, double *mu, double *inverse)
{
    const int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    const int64_t j = at / stride, k = at % stride;
    double ky, my, kz, mz;
    if (j >= grid.nodes[1] - 2) return;
    const bool there = k < grid.nodes[2] - 2;
    line_eigenvalues(grid, 1, j + 1, &ky, &my);
    line_eigenvalues(grid, 2, there ? k + 1 : 1, &kz, &mz);
    mu[at] = ky / my + kz / mz;
    inverse[at] = there ? 1 / (my * mz) : 0;
}

/* ---- a warp's tile ---- */

/* Values of the lane, and where they belong: rows row(i), columns column(j). */
template <typename real> struct warp_tile;

template <> struct warp_tile<double> {
    double sum[2][4][4]; /* 2 x 4 tiles of 16 x 8 */
    static __device__ void multiply(double c[4], const double a[4], const double b[2])
    {
#if __CUDA_ARCH__ >= 900
        asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
            "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
            : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#else
        for (int half = 0; half < 2; ++half)
            for (int k = 0; k < 2; ++k)
                asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, "
                    "{%0, %1};"
                    : "+d"(c[2 * half]), "+d"(c[2 * half + 1])
                    : "d"(a[2 * k + half]), "d"(b[k]));
#endif
    }
    template <int a_stride, int b_stride>
    __device__ void add(const double *a, const double *b, int lane)
    {
        const int row = lane / 4, part = lane % 4;
#pragma unroll
        for (int k = 0; k < DEPTH; k += 8) {
            double left[2][4], right[4][2];
#pragma unroll
            for (int i = 0; i < 2; ++i)
#pragma unroll
                for (int q = 0; q < 4; ++q) /* rows +0, +8; then four columns on */
                    left[i][q] =
                        a[(16 * i + row + 8 * (q % 2)) * a_stride + k + part + 4 * (q / 2)];
#pragma unroll
            for (int j = 0; j < 4; ++j)
#pragma unroll
                for (int q = 0; q < 2; ++q)
                    right[j][q] = b[(k + part + 4 * q) * b_stride + 8 * j + row];
#pragma unroll
            for (int i = 0; i < 2; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j) multiply(sum[i][j], left[i], right[j]);
        }
    }
    template <typename Store> __device__ void store(int lane, const Store &out) const
    {
#pragma unroll
        for (int i = 0; i < 2; ++i)
#pragma unroll
            for (int j = 0; j < 4; ++j)
#pragma unroll
                for (int q = 0; q < 4; ++q)
                    out(16 * i + lane / 4 + 8 * (q / 2), 8 * j + 2 * (lane % 4) + q % 2,
                        sum[i][j][q]);
    }
};

template <> struct warp_tile<float> {
    float sum[4][8][1]; /* rows lane / 4 + 8 i, columns lane % 4 + 4 j */
    template <int a_stride, int b_stride>
    __device__ void add(const float *a, const float *b, int lane)
    {
#pragma unroll 4
        for (int k = 0; k < DEPTH; ++k) {
            float left[4], right[8];
#pragma unroll
            for (int i = 0; i < 4; ++i) left[i] = a[(lane / 4 + 8 * i) * a_stride + k];
#pragma unroll
            for (int j = 0; j < 8; ++j) right[j] = b[k * b_stride + lane % 4 + 4 * j];
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 8; ++j) sum[i][j][0] += left[i] * right[j];
        }
    }
    template <typename Store> __device__ void store(int lane, const Store &out) const
    {
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
            for (int j = 0; j < 8; ++j)
                out(lane / 4 + 8 * i, lane % 4 + 4 * j, sum[i][j][0]);
    }
};

/* ---- products ---- */

__device__ int64_t place(const ps_product_places &p, int64_t i)
{
    return i / p.group * p.batch + i % p.group * p.step;
}

/* A block of DOWN x ACROSS warps. */
template <int DOWN, int ACROSS, typename real> struct block_tile {
    enum {
        ROWS = WARP_TILE * DOWN,
        COLUMNS = WARP_TILE * ACROSS,
        A_STRIDE = DEPTH + PAD,
        B_STRIDE = COLUMNS + PAD,
        A_SIZE = ROWS * A_STRIDE,
        SIZE = A_SIZE + DEPTH * B_STRIDE,
        A_EACH = ROWS * DEPTH / THREADS,
        B_EACH = COLUMNS * DEPTH / THREADS
    };
    const ps_device_product &p;
    int64_t row, column;  /* of the block's corner */
    const int64_t *a_at;  /* [ROWS], in shared memory: where rows of a begin; < 0: none */
    int64_t b_at;         /* where the thread's column of b begins */

    /* Blocks that share what is large come one after the other. All threads wait for `rows`. */
    __device__ block_tile(const ps_device_product &product, int64_t rows[ROWS])
        : p(product), a_at(rows)
    {
        const int64_t few = p.wide ? (p.m + ROWS - 1) / ROWS : (p.n + COLUMNS - 1) / COLUMNS;
        const int64_t one = blockIdx.x % few, other = blockIdx.x / few;
        row = (p.wide ? one : other) * ROWS;
        column = (p.wide ? other : one) * COLUMNS;
        for (int r = threadIdx.x; r < ROWS; r += THREADS)
            rows[r] = row + r < p.m ? place(p.a_rows, row + r) : -1;
        const int64_t c = column + threadIdx.x % COLUMNS;
        b_at = c < p.n ? place(p.b_columns, c) : -1;
        __syncthreads();
    }
    __device__ void fetch(int64_t depth, real *shared) const
    {
        const real *a = static_cast<const real *>(p.a), *b = static_cast<const real *>(p.b);
        const int64_t k = depth + threadIdx.x % DEPTH;
#pragma unroll
        for (int e = 0; e < A_EACH; ++e) {
            const int r = threadIdx.x / DEPTH + e * (THREADS / DEPTH);
            const bool there = k < p.k && a_at[r] >= 0;
            __pipeline_memcpy_async(shared + r * A_STRIDE + threadIdx.x % DEPTH,
                                    there ? a + a_at[r] + k : a, sizeof(real),
                                    there ? 0 : sizeof(real));
        }
        shared += A_SIZE;
#pragma unroll
        for (int e = 0; e < B_EACH; ++e) {
            const int r = threadIdx.x / COLUMNS + e * (THREADS / COLUMNS);
            const bool there = depth + r < p.k && b_at >= 0;
            __pipeline_memcpy_async(shared + r * B_STRIDE + threadIdx.x % COLUMNS,
                                    there ? b + b_at + (depth + r) * p.b_step : b, sizeof(real),
                                    there ? 0 : sizeof(real));
        }
    }
};

template <typename real> struct store_value {
    const ps_device_product &p;
    int64_t row, column;
    __device__ void operator()(int i, int j, real value) const
    {
        const int64_t r = row + i, c = column + j;
        if (r >= p.m || c >= p.n || c % p.c_columns.group >= p.used) return;
        static_cast<real *>(p.c)[place(p.c_rows, r) + place(p.c_columns, c)] = value;
    }
};

template <int DOWN, int ACROSS, typename real>
__global__ void __launch_bounds__(THREADS, 2)
    multiply(const __grid_constant__ ps_device_product p)
{
    typedef block_tile<DOWN, ACROSS, real> tile;
    extern __shared__ double memory[];
    real *shared = reinterpret_cast<real *>(memory);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int down = warp / ACROSS * WARP_TILE, across = warp % ACROSS * WARP_TILE;
    __shared__ int64_t rows[tile::ROWS];
    const tile block(p, rows);
    warp_tile<real> sums = {};
    const int steps = (int)((p.k + DEPTH - 1) / DEPTH);
    for (int s = 0; s < STAGES - 1; ++s) {
        if (s < steps) block.fetch((int64_t)s * DEPTH, shared + s * tile::SIZE);
        __pipeline_commit();
    }
    for (int s = 0; s < steps; ++s) {
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads();
        const int ahead = s + STAGES - 1;
        if (ahead < steps)
            block.fetch((int64_t)ahead * DEPTH, shared + ahead % STAGES * tile::SIZE);
        __pipeline_commit();
        const real *a = shared + s % STAGES * tile::SIZE;
        sums.template add<tile::A_STRIDE, tile::B_STRIDE>(a + down * tile::A_STRIDE,
                                                          a + tile::A_SIZE + across, lane);
    }
    sums.store(lane, store_value<real>{p, block.row + down, block.column + across});
}

template <int DOWN, int ACROSS, typename real>
ps_status launch(const ps_device_product *p, cudaStream_t on)
{
    typedef block_tile<DOWN, ACROSS, real> tile;
    const int bytes = STAGES * (int)tile::SIZE * (int)sizeof(real);
    const int64_t rows = (p->m + tile::ROWS - 1) / tile::ROWS;
    const unsigned blocks = (unsigned)(rows * ((p->n + tile::COLUMNS - 1) / tile::COLUMNS));
    PS_CUDA(cudaFuncSetAttribute(multiply<DOWN, ACROSS, real>,
                                 cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    multiply<DOWN, ACROSS, real><<<blocks, THREADS, bytes, on>>>(*p);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

unsigned blocks_of(int64_t n) { return (unsigned)((n + THREADS - 1) / THREADS); }

template <typename real> void launch_tables(const ps_fast_device *f, cudaStream_t on)
{
    fill_sines<<<blocks_of(f->my * f->my), THREADS, 0, on>>>(f->my, f->my,
                                                            static_cast<real *>(f->sine_y));
    fill_sines<<<blocks_of(f->mz * f->stride), THREADS, 0, on>>>(f->mz, f->stride,
                                                                static_cast<real *>(f->sine_z));
    fill_modes<<<blocks_of(f->my * f->stride), THREADS, 0, on>>>(f->slab.grid, f->stride, f->mu,
                                                                f->inverse);
}

} // namespace

extern "C" ps_status ps_fast_tables_cuda(const ps_fast_device *solver, ps_stream *stream)
{
    PS_TRY(ps_stream_enter(stream));
    cudaStream_t on = static_cast<cudaStream_t>(ps_stream_handle(stream));
    if (solver->precision == PS_SINGLE)
        launch_tables<float>(solver, on);
    else
        launch_tables<double>(solver, on);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

extern "C" ps_status ps_product_cuda(ps_precision precision, const ps_device_product *product,
                                     ps_stream *stream)
{
    PS_TRY(ps_stream_enter(stream));
    cudaStream_t on = static_cast<cudaStream_t>(ps_stream_handle(stream));
    if (precision == PS_SINGLE)
        return product->wide ? launch<2, 4, float>(product, on) : launch<4, 2, float>(product, on);
    return product->wide ? launch<2, 4, double>(product, on) : launch<4, 2, double>(product, on);
}
