/* (M - c L) x = b on CUDA (kernels/linear/shifted_device.h): conjugate orthogonal conjugate
 * gradients, scaled by the diagonal. Every block adds up the sums of all blocks in the same order,
 * so all have the same scalars and go the same way. */
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/linear/shifted_device.h"
}

namespace
{

enum { THREADS = 512, WARPS = THREADS / 32, SYSTEMS = PS_SHIFTED_DEVICE_SYSTEMS, SUMS = 3 };

#include "kernels/linear/complex_body.h"

struct view {
    int64_t n, limit;
    const int64_t *start;
    const int32_t *column;
    const double *mass, *stiffness, *diagonal;
    double tolerance;
    int systems;
    int from[SYSTEMS];
    complex shift[SYSTEMS];
    const double *b;
    double *out;
    complex *x, *r, *z, *q, *p[2]; /* [systems][n]                                         */
    double *sums;                  /* [2][blocks][systems][3]                              */
    ps_shifted_outcome *outcomes;
};

/* What a block knows of the systems: equal in all blocks. */
struct state {
    complex rz[SYSTEMS], factor[SYSTEMS]; /* alpha, beta                                   */
    double bb[SYSTEMS];
    bool active[SYSTEMS];
    int going;
};

/* Adds up over the block, and leaves it for all blocks. */
__device__ void leave_sums(double (*own)[WARPS], double *to, const double sum[SUMS], int count)
{

    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int e = 0; e < count; ++e) {
        double value = sum[e];
        for (int half = 16; half > 0; half /= 2) value += __shfl_down_sync(~0u, value, half);
        if (lane == 0) own[e][warp] = value;
    }
    __syncthreads();
    if ((int)threadIdx.x < count) {
        double value = 0;
        for (int w = 0; w < WARPS; ++w) value += own[threadIdx.x][w];
        to[threadIdx.x] = value;
    }
    __syncthreads();
}

/* Of all blocks, by one warp: in all its lanes. */
__device__ void add_blocks(const double *sums, int blocks, int system, double out[SUMS])
{
    const int lane = threadIdx.x % 32;
    for (int e = 0; e < SUMS; ++e) out[e] = 0;
    for (int b = lane; b < blocks; b += 32)
        for (int e = 0; e < SUMS; ++e)
            out[e] += __ldcg(sums + ((int64_t)b * SYSTEMS + system) * SUMS + e);
    for (int e = 0; e < SUMS; ++e)
        for (int half = 16; half > 0; half /= 2) out[e] += __shfl_xor_sync(~0u, out[e], half);
}

__device__ __forceinline__ complex scaled(const view &v, int system, int64_t row, complex r)
{
    const double m = v.diagonal[2 * row], l = v.diagonal[2 * row + 1];
    const double re = m - v.shift[system].re * l, im = -v.shift[system].im * l;
    const double inverse = 1 / (re * re + im * im);
    return {(r.re * re + r.im * im) * inverse, (r.im * re - r.re * im) * inverse};
}

/* After a pass over the rows of every active system: sums [systems][3] of this block. */
#define ROWS(row)                                                                                  \
    for (int64_t row = (int64_t)blockIdx.x * THREADS + threadIdx.x; row < v.n;                     \
         row += (int64_t)gridDim.x * THREADS)

__device__ void start(const view &v, int system, double sum[SUMS])
{
    const int64_t at = system * v.n;
    const double *b = v.b + v.from[system] * 2 * v.n;
    ROWS(row)
    {
        const complex r = {b[row], b[v.n + row]}, z = scaled(v, system, row, r), product = r * z;
        v.x[at + row] = {0, 0};
        v.r[at + row] = r;
        v.z[at + row] = z;
        v.p[1][at + row] = {0, 0};
        sum[0] += product.re;
        sum[1] += product.im;
        sum[2] += r.re * r.re + r.im * r.im;
    }
}

/* p = z + beta p of before, in each entry anew; q = (M - c L) p. */
__device__ void multiply(const view &v, int system, complex beta, int turn, double sum[SUMS])
{
    const complex *z = v.z + system * v.n, *before = v.p[1 - turn] + system * v.n;
    complex *p = v.p[turn] + system * v.n, *q = v.q + system * v.n;
    ROWS(row)
    {
        complex m = {0, 0}, l = {0, 0}, own = {0, 0};
        for (int64_t e = v.start[row]; e < v.start[row + 1]; ++e) {
            const int64_t column = v.column[e];
            const complex there = z[column] + beta * before[column];
            m.re += v.mass[e] * there.re;
            m.im += v.mass[e] * there.im;
            l.re += v.stiffness[e] * there.re;
            l.im += v.stiffness[e] * there.im;
            if (column == row) own = there;
        }
        const complex result = m - v.shift[system] * l, product = own * result;
        p[row] = own;
        q[row] = result;
        sum[0] += product.re;
        sum[1] += product.im;
    }
}

/* x += alpha p, r -= alpha q, z = D^-1 r. */
__device__ void advance(const view &v, int system, complex alpha, int turn, double sum[SUMS])
{
    const int64_t at = system * v.n;
    ROWS(row)
    {
        const complex r = v.r[at + row] - alpha * v.q[at + row];
        const complex z = scaled(v, system, row, r), product = r * z;
        v.x[at + row] = v.x[at + row] + alpha * v.p[turn][at + row];
        v.r[at + row] = r;
        v.z[at + row] = z;
        sum[0] += product.re;
        sum[1] += product.im;
        sum[2] += r.re * r.re + r.im * r.im;
    }
}

/* After `start` and every `advance`: who goes on, and beta. */
__device__ void judge(const view &v, state &s, const double *sums, int64_t iteration)
{
    const int warp = threadIdx.x / 32;
    double sum[SUMS];
    if (warp < v.systems && s.active[warp]) {
        add_blocks(sums, gridDim.x, warp, sum);
        __syncwarp(); /* all lanes have read what the first one writes */
        if (threadIdx.x % 32 == 0) {
            const complex next = {sum[0], sum[1]};
            if (iteration == 0) s.bb[warp] = sum[2];
            s.factor[warp] = iteration == 0 ? complex{0, 0} : divide(next, s.rz[warp]);
            s.rz[warp] = next;
            const double residual = s.bb[warp] == 0 ? 0 : sqrt(sum[2] / s.bb[warp]);
            s.active[warp] = residual > v.tolerance && iteration < v.limit && isfinite(residual);
            if (blockIdx.x == 0 && !s.active[warp]) v.outcomes[warp] = {iteration, residual};
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        s.going = 0;
        for (int i = 0; i < v.systems; ++i) s.going += s.active[i];
    }
    __syncthreads();
}

/* After `multiply`: alpha. */
__device__ void find_alpha(const view &v, state &s, const double *sums)
{
    const int warp = threadIdx.x / 32;
    double sum[SUMS];
    if (warp < v.systems && s.active[warp]) {
        add_blocks(sums, gridDim.x, warp, sum);
        if (threadIdx.x % 32 == 0) s.factor[warp] = divide(s.rz[warp], {sum[0], sum[1]});
    }
    __syncthreads();
}

__global__ void __launch_bounds__(THREADS, 2) solve(const __grid_constant__ view v)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    __shared__ state s;
    __shared__ double own[SUMS][WARPS];
    static_assert(SYSTEMS <= WARPS, "a warp a system");
    const int64_t set = (int64_t)gridDim.x * SYSTEMS * SUMS;
    double *mine = v.sums + (int64_t)blockIdx.x * SYSTEMS * SUMS;
    if (threadIdx.x < SYSTEMS) s.active[threadIdx.x] = (int)threadIdx.x < v.systems;
    __syncthreads();
    for (int64_t iteration = -1;; ++iteration) {
        const int turn = (int)(iteration & 1);
        for (int i = 0; i < v.systems; ++i) {
            if (!s.active[i]) continue;
            double sum[SUMS] = {0, 0, 0};
            if (iteration < 0)
                start(v, i, sum);
            else
                advance(v, i, s.factor[i], turn, sum);
            leave_sums(own, mine + i * SUMS, sum, SUMS);
        }
        grid.sync();
        judge(v, s, v.sums, iteration + 1);
        if (s.going == 0) break;
        for (int i = 0; i < v.systems; ++i) {
            if (!s.active[i]) continue;
            double sum[SUMS] = {0, 0, 0};
            multiply(v, i, s.factor[i], 1 - turn, sum);
            leave_sums(own, mine + set + i * SUMS, sum, 2);
        }
        grid.sync();
        find_alpha(v, s, v.sums + set);
    }
    for (int i = 0; i < v.systems; ++i) ROWS(row)
        {
            v.out[i * 2 * v.n + row] = v.x[i * v.n + row].re;
            v.out[(i * 2 + 1) * v.n + row] = v.x[i * v.n + row].im;
        }
}

} // namespace

extern "C" ps_status ps_shifted_device_run(const ps_shifted_device *d, int count, const int *from,
                                           const double (*shift)[2])
{
    const cudaStream_t queue = static_cast<cudaStream_t>(ps_stream_handle(d->stream));
    const int64_t n = d->matrix.dofs, all = n * SYSTEMS;
    complex *vectors = reinterpret_cast<complex *>(d->vectors);
    view v = {n,
              d->limit,
              d->matrix.start,
              d->matrix.column,
              d->matrix.mass,
              d->matrix.stiffness,
              d->diagonal,
              d->tolerance,
              count,
              {},
              {},
              d->b,
              d->x,
              vectors,
              vectors + all,
              vectors + 2 * all,
              vectors + 3 * all,
              {vectors + 4 * all, vectors + 5 * all},
              d->sums,
              d->outcomes};
    int each = 0;
    if (!queue) return ps_fail(PS_FAILED, "sparse systems on a device need a stream of CUDA");
    for (int s = 0; s < count; ++s) {
        v.from[s] = from[s];
        v.shift[s] = {shift[s][0], shift[s][1]};
    }
    PS_TRY(ps_stream_enter(d->stream));
    PS_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, solve, THREADS, 0));
    int64_t blocks =
        (int64_t)each * ps_device_describe(ps_stream_device(d->stream)).multiprocessors;
    if (blocks > PS_SHIFTED_DEVICE_BLOCKS) blocks = PS_SHIFTED_DEVICE_BLOCKS;
    if (blocks > (n + THREADS - 1) / THREADS) blocks = (n + THREADS - 1) / THREADS;
    void *arguments[] = {&v};
    PS_CUDA(cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(solve),
                                        dim3((unsigned)blocks), dim3(THREADS), arguments, 0,
                                        queue));
    return PS_OK;
}
