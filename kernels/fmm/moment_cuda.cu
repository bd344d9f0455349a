/*
 * Dipoles, second derivatives and oscillating kernels over leaves of an adaptive tree
 * (moment_p2p.h, device_adaptive.h). A block a leaf; every sum has one order, so that the bits
 * repeat.
 */
#include <cuda_runtime.h>
#include <math.h>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/fmm/moment_device.h"
}

namespace
{

#define KERNEL_INLINE __device__ __forceinline__
typedef double real;
typedef double vreal;
KERNEL_INLINE double v_exp(double x) { return exp(x); }
KERNEL_INLINE void v_sine_cosine(double x, double *sine, double *cosine)
{
    sincos(x, sine, cosine);
}
#include "kernels/fmm/moment_device_body.h"

enum {
    THREADS = 128,
    ORDER_MAX = PS_FMM_ORDER_MAX,
    POINTS_MAX = ORDER_MAX * ORDER_MAX * ORDER_MAX
};

/* What all kernels take. */
struct launch {
    ps_fmm_device_any_leaves leaves;
    ps_fmm_device_moments moments;
    ps_fmm_device_vectors vectors;
    ps_fmm_device_sources sources;
    ps_fmm_function function;
    const int32_t *start, *item, *cells;
    const ps_fmm_device_run *runs;
    const ps_fmm_device_cell *boxes;
    int order;
    double nodes[ORDER_MAX], polynomials[ORDER_MAX][ORDER_MAX];
};

KERNEL_INLINE double *vector_of(const launch &in, int side, int64_t cell)
{
    return static_cast<double *>(in.vectors.values) + side * in.vectors.stride +
           cell * (in.order * in.order * in.order);
}

KERNEL_INLINE void target_at(const launch &in, int64_t i, double x[3])
{
    const ps_fmm_device_sources &set = in.leaves.leaves.set;
    for (int d = 0; d < 3; ++d) x[d] = set.rows[d * set.stride + i];
}

/* Row r of the results of a target. */
KERNEL_INLINE double *result_at(const launch &in, int side, int row, int64_t i)
{
    const ps_fmm_device_leaves &to = in.leaves.leaves;
    const int64_t stride = to.set.stride;
    if (row == 0) return to.potential + side * stride + i;
    if (row < 4) return to.gradient + (3 * side + row - 1) * stride + i;
    return in.moments.hessian + (6 * side + row - 4) * stride + i;
}

/* ---- P2P ---- */

/* Lanes that hold a target each, a power of 2; the others share the sources with them. */
KERNEL_INLINE int lanes_for(int targets)
{
    int lanes = 8;
    while (lanes < targets && lanes < THREADS) lanes *= 2;
    return lanes;
}

/* Sources of all runs of a leaf, by stages of a block; part `part` of `parts` of each. */
template <int kernel, bool twice>
KERNEL_INLINE void sum_runs(const launch &in, moment_source *stage, const double x[3], int part,
                            int parts, double sums[ROWS])
{
    const int side = blockIdx.y;
    const bool charges = in.moments.charges >= 0, dipoles = in.moments.dipoles >= 0;
    for (int r = in.start[blockIdx.x]; r < in.start[blockIdx.x + 1]; ++r) {
        const ps_fmm_device_run run = in.runs[r];
        for (int from = run.begin; from < run.end; from += THREADS) {
            const int count = min(run.end - from, (int)THREADS);
            __syncthreads();
            if ((int)threadIdx.x < count)
                stage[threadIdx.x] = source_at(&in.moments, in.sources.rows, in.sources.stride,
                                               side, from + (int)threadIdx.x);
            __syncthreads();
            for (int j = part; j < count; j += parts)
                act_on(kernel, &in.function, &stage[j], x, charges, dipoles, twice, sums);
        }
    }
}

template <int kernel, bool twice>
__global__ __launch_bounds__(THREADS) void moment_p2p(const __grid_constant__ launch in)
{
    __shared__ moment_source stage[THREADS];
    __shared__ double parts_of[THREADS];
    const ps_fmm_device_leaf leaf = in.leaves.each[blockIdx.x];
    for (int first = leaf.begin; first < leaf.end; first += THREADS) {
        const int some = min(leaf.end - first, (int)THREADS), lanes = lanes_for(some);
        const int lane = threadIdx.x % lanes, part = threadIdx.x / lanes, parts = THREADS / lanes;
        double x[3], sums[ROWS] = {};
        target_at(in, first + min(lane, some - 1), x);
        sum_runs<kernel, twice>(in, stage, x, part, parts, sums);
#pragma unroll
        for (int row = 0; row < (twice ? ROWS : 4); ++row) {
            __syncthreads();
            parts_of[threadIdx.x] = sums[row];
            __syncthreads();
            if (part > 0 || lane >= some) continue;
            double sum = 0;
            for (int p = 0; p < parts; ++p) sum += parts_of[p * lanes + lane];
            *result_at(in, blockIdx.y, row, first + lane) = sum;
        }
    }
}

/* ---- P2M ---- */

enum { CHUNK = 32 /* particles whose interpolation is in shared memory */ };

struct chunk_basis {
    double value[3][ORDER_MAX][CHUNK], slope[3][ORDER_MAX][CHUNK];
    moment_source of[CHUNK];
};

KERNEL_INLINE void fill_chunk(const launch &in, const ps_fmm_device_leaf &leaf, int first,
                              int count, chunk_basis *b)
{
    const ps_fmm_device_sources &set = in.leaves.leaves.set;
    const int axis = threadIdx.x / CHUNK, j = threadIdx.x % CHUNK;
    if (axis >= 3 || j >= count) return;
    double value[ORDER_MAX], slope[ORDER_MAX], curve[ORDER_MAX];
    double xi = (set.rows[axis * set.stride + first + j] - leaf.centre[axis]) * (2 / leaf.width);
    basis_of(in.order, in.polynomials, xi, value, slope, curve);
    for (int a = 0; a < in.order; ++a) {
        b->value[axis][a][j] = value[a];
        b->slope[axis][a][j] = slope[a];
    }
    if (axis == 0) b->of[j] = source_at(&in.moments, set.rows, set.stride, blockIdx.y, first + j);
}

__global__ __launch_bounds__(THREADS) void moment_p2m(const __grid_constant__ launch in)
{
    extern __shared__ __align__(16) char shared[];
    chunk_basis *b = reinterpret_cast<chunk_basis *>(shared);
    const ps_fmm_device_leaf leaf = in.leaves.each[blockIdx.x];
    const int l = in.order, points = l * l * l;
    double *to = vector_of(in, blockIdx.y, leaf.vector);
    for (int m = threadIdx.x; m < points; m += THREADS) to[m] = 0;
    for (int first = leaf.begin; first < leaf.end; first += CHUNK) {
        const int count = min(leaf.end - first, (int)CHUNK);
        __syncthreads();
        fill_chunk(in, leaf, first, count, b);
        __syncthreads();
        for (int m = threadIdx.x; m < points; m += THREADS) {
            const int at[3] = {m / (l * l), m / l % l, m % l};
            double sum = to[m];
            for (int j = 0; j < count; ++j) {
                double value[3], slope[3];
                for (int d = 0; d < 3; ++d) {
                    value[d] = b->value[d][at[d]][j];
                    slope[d] = b->slope[d][at[d]][j];
                }
                sum += moment_at(&b->of[j], 2 / leaf.width, value, slope);
            }
            to[m] = sum;
        }
    }
}

/* ---- L2P ---- */

__global__ __launch_bounds__(THREADS) void moment_l2p(const __grid_constant__ launch in)
{
    extern __shared__ double locals[];
    const ps_fmm_device_leaf leaf = in.leaves.each[blockIdx.x];
    const int points = in.order * in.order * in.order, side = blockIdx.y;
    const double *from = vector_of(in, side, leaf.vector), scale = 2 / leaf.width;
    for (int m = threadIdx.x; m < points; m += THREADS) locals[m] = from[m];
    __syncthreads();
    for (int i = leaf.begin + (int)threadIdx.x; i < leaf.end; i += THREADS) {
        double x[3], value[3][ORDER_MAX], slope[3][ORDER_MAX], curve[3][ORDER_MAX], out[ROWS];
        target_at(in, i, x);
        for (int d = 0; d < 3; ++d)
            basis_of(in.order, in.polynomials, (x[d] - leaf.centre[d]) * scale, value[d], slope[d],
                     curve[d]);
        expand_twice(in.order, locals, value, slope, curve, out);
        for (int row = 0; row < (in.moments.hessian ? ROWS : 4); ++row)
            *result_at(in, side, row, i) += out[row] * (row == 0  ? 1
                                                        : row < 4 ? scale
                                                                  : scale * scale);
    }
}

/* ---- M2P, P2L ---- */

/* The Chebyshev point m of a cell as a source. */
KERNEL_INLINE moment_source point_of(const launch &in, const ps_fmm_device_cell &box, int m)
{
    const int l = in.order, at[3] = {m / (l * l), m / l % l, m % l};
    moment_source s = {{0, 0, 0}, 0, {0, 0, 0}};
    for (int d = 0; d < 3; ++d) s.at[d] = box.centre[d] + 0.5 * box.width * in.nodes[at[d]];
    return s;
}

__global__ __launch_bounds__(THREADS) void moment_m2p(const __grid_constant__ launch in)
{
    const int points = in.order * in.order * in.order, side = blockIdx.y;
    const ps_fmm_device_leaf leaf = in.leaves.each[in.item[blockIdx.x]];
    const bool twice = in.moments.hessian != nullptr;
    for (int i = leaf.begin + (int)threadIdx.x; i < leaf.end; i += THREADS) {
        double x[3], sums[ROWS] = {};
        target_at(in, i, x);
        for (int c = in.start[blockIdx.x]; c < in.start[blockIdx.x + 1]; ++c) {
            const double *multipole = vector_of(in, side, in.cells[c]);
            for (int m = 0; m < points; ++m) {
                moment_source s = point_of(in, in.boxes[in.cells[c]], m);
                s.charge = multipole[m];
                act_on(-1, &in.function, &s, x, true, false, twice, sums);
            }
        }
        for (int row = 0; row < (twice ? ROWS : 4); ++row)
            *result_at(in, side, row, i) += sums[row];
    }
}

__global__ __launch_bounds__(THREADS) void moment_p2l(const __grid_constant__ launch in)
{
    const int points = in.order * in.order * in.order, side = blockIdx.y;
    const int64_t cell = in.item[blockIdx.x];
    const bool charges = in.moments.charges >= 0, dipoles = in.moments.dipoles >= 0;
    double *local = vector_of(in, side, cell);
    for (int m = threadIdx.x; m < points; m += THREADS) {
        const moment_source point = point_of(in, in.boxes[cell], m);
        double sums[ROWS] = {};
        for (int r = in.start[blockIdx.x]; r < in.start[blockIdx.x + 1]; ++r)
            for (int j = in.runs[r].begin; j < in.runs[r].end; ++j) {
                const moment_source s =
                    source_at(&in.moments, in.sources.rows, in.sources.stride, side, j);
                act_on(-1, &in.function, &s, point.at, charges, dipoles, false, sums);
            }
        local[m] += sums[0];
    }
}

/* ---- launches ---- */

launch launch_of(const ps_fmm_device_method *method, const ps_fmm_device_any_leaves *leaves,
                 const ps_fmm_device_moments *moments)
{
    const ps_fmm_interpolation *s = &method->interpolation;
    launch in = {};
    if (leaves) in.leaves = *leaves;
    in.moments = *moments;
    in.function = method->function;
    in.order = s->order;
    for (int n = 0; n < in.order; ++n) {
        in.nodes[n] = s->nodes[n];
        for (int a = 0; a < in.order; ++a) in.polynomials[n][a] = s->polynomials[n][a];
    }
    return in;
}

using kernel_of = void (*)(const launch);

ps_status start(kernel_of kernel, const launch &in, int64_t blocks, int sides, size_t bytes,
                ps_stream *stream)
{
    if (blocks == 0) return PS_OK;
    PS_TRY(ps_stream_enter(stream));
    cudaStream_t on = static_cast<cudaStream_t>(ps_stream_handle(stream));
    if (bytes > 0)
        PS_CUDA(
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
    kernel<<<dim3((unsigned)blocks, (unsigned)sides), THREADS, bytes, on>>>(in);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

template <bool twice> kernel_of p2p_of(ps_fmm_kernel kernel)
{
    switch (kernel) {
    case PS_FMM_INVERSE:
        return moment_p2p<PS_FMM_INVERSE, twice>;
    case PS_FMM_DISTANCE:
        return moment_p2p<PS_FMM_DISTANCE, twice>;
    default:
        return moment_p2p<-1, twice>;
    }
}

} // namespace

extern "C" ps_status ps_fmm_device_moment_p2m(const ps_fmm_device_method *method,
                                              const ps_fmm_device_any_leaves *leaves,
                                              const ps_fmm_device_vectors *multipoles,
                                              ps_stream *stream)
{
    launch in = launch_of(method, leaves, leaves->moments);
    in.vectors = *multipoles;
    return start(moment_p2m, in, leaves->leaves.cells, method->sides, sizeof(chunk_basis), stream);
}

extern "C" ps_status ps_fmm_device_moment_l2p(const ps_fmm_device_method *method,
                                              const ps_fmm_device_any_leaves *leaves,
                                              const ps_fmm_device_vectors *locals,
                                              ps_stream *stream)
{
    launch in = launch_of(method, leaves, leaves->moments);
    in.vectors = *locals;
    return start(moment_l2p, in, leaves->leaves.cells, method->sides,
                 sizeof(double) * (size_t)(in.order * in.order * in.order), stream);
}

extern "C" ps_status ps_fmm_device_moment_p2p(const ps_fmm_device_method *method,
                                              const ps_fmm_device_p2p_any *p2p, ps_stream *stream)
{
    const ps_fmm_device_moments *moments = p2p->targets.moments;
    launch in = launch_of(method, &p2p->targets, moments);
    ps_fmm_kernel kernel = method->function.kernel;
    in.start = p2p->run_start;
    in.runs = p2p->runs;
    in.sources = p2p->sources;
    return start(moments->hessian ? p2p_of<true>(kernel) : p2p_of<false>(kernel), in,
                 p2p->targets.leaves.cells, method->sides, 0, stream);
}

extern "C" ps_status ps_fmm_device_moment_m2p(const ps_fmm_device_method *method,
                                              const ps_fmm_device_m2p *m2p, ps_stream *stream)
{
    launch in = launch_of(method, &m2p->targets, m2p->targets.moments);
    in.vectors = m2p->multipoles;
    in.boxes = m2p->boxes;
    in.item = m2p->leaf;
    in.start = m2p->start;
    in.cells = m2p->cells;
    return start(moment_m2p, in, m2p->count, method->sides, 0, stream);
}

extern "C" ps_status ps_fmm_device_moment_p2l(const ps_fmm_device_method *method,
                                              const ps_fmm_device_p2l *p2l, ps_stream *stream)
{
    launch in = launch_of(method, nullptr, p2l->moments);
    in.vectors = p2l->locals;
    in.boxes = p2l->boxes;
    in.sources = p2l->sources;
    in.item = p2l->cell;
    in.start = p2l->start;
    in.runs = p2l->runs;
    return start(moment_p2l, in, p2l->count, method->sides, 0, stream);
}
