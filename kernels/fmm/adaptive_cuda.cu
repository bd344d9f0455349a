/*
 * M2P and P2L on the device: a block a leaf or a cell, a thread a target or a Chebyshev point. Both
 * are rare (specs/fmm_adaptive.md), so they are written for clarity alone.
 */
#include <cuda_runtime.h>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/fmm/moment_device.h"
}

namespace
{

#define KERNEL_INLINE __device__ __forceinline__
typedef double vreal;
KERNEL_INLINE double v_rsqrt(double x) { return x > 0 ? rsqrt(x) : 0; }
KERNEL_INLINE double v_exp(double x) { return exp(x); }
KERNEL_INLINE double v_of(double x) { return x; }
KERNEL_INLINE double v_negated_product(double a, double b) { return -(a * b); }
#include "kernels/fmm/adaptive_pairs_body.h"

enum { THREADS = 128 };

struct nodes_of {
    int order;
    double at[PS_FMM_ORDER_MAX];
};

KERNEL_INLINE void act(const ps_fmm_function &f, const nodes_of &nodes,
                       const ps_fmm_device_cell &box, const double *m, const double x[3],
                       double sums[4])
{
    m2p_double(&f, nodes.order, nodes.at, &box, m, x, sums);
}

KERNEL_INLINE void act(const ps_fmm_function &f, const nodes_of &nodes,
                       const ps_fmm_device_cell &box, const float *m, const double x[3],
                       double sums[4])
{
    m2p_single(&f, nodes.order, nodes.at, &box, m, x, sums);
}

template <typename real>
__global__ __launch_bounds__(THREADS) void m2p_leaves(const __grid_constant__ ps_fmm_device_m2p in,
                                                      const __grid_constant__ nodes_of nodes,
                                                      const ps_fmm_function f)
{
    const int side = blockIdx.y;
    const int64_t i = blockIdx.x, points = nodes.order * nodes.order * nodes.order;
    const ps_fmm_device_leaf leaf = in.targets.each[in.leaf[i]];
    const ps_fmm_device_leaves &to = in.targets.leaves;
    const real *multipoles =
        static_cast<const real *>(in.multipoles.values) + side * in.multipoles.stride;
    for (int j = leaf.begin + (int)threadIdx.x; j < leaf.end; j += THREADS) {
        double sums[4] = {}, x[3];
        for (int d = 0; d < 3; ++d) x[d] = to.set.rows[d * to.set.stride + j];
        for (int c = in.start[i]; c < in.start[i + 1]; ++c)
            act(f, nodes, in.boxes[in.cells[c]], multipoles + in.cells[c] * points, x, sums);
        to.potential[side * to.set.stride + j] += sums[0];
        for (int d = 0; to.gradient && d < 3; ++d)
            to.gradient[(3 * side + d) * to.set.stride + j] += sums[1 + d];
    }
}

template <typename real>
__global__ __launch_bounds__(THREADS) void p2l_cells(const __grid_constant__ ps_fmm_device_p2l in,
                                                     const __grid_constant__ nodes_of nodes,
                                                     const ps_fmm_function f)
{
    const int side = blockIdx.y, l = nodes.order, points = l * l * l;
    const int64_t i = blockIdx.x, cell = in.cell[i];
    const ps_fmm_device_cell box = in.boxes[cell];
    real *local =
        static_cast<real *>(in.locals.values) + side * in.locals.stride + cell * (int64_t)points;
    for (int m = threadIdx.x; m < points; m += THREADS) {
        const int place[3] = {m / (l * l), m / l % l, m % l};
        double x[3];
        for (int d = 0; d < 3; ++d) x[d] = box.centre[d] + 0.5 * box.width * nodes.at[place[d]];
        double sum = p2l_point(&f, &in.sources, side, in.runs, in.start[i], in.start[i + 1], x);
        local[m] = (real)((double)local[m] + sum);
    }
}

nodes_of nodes_from(const ps_fmm_device_method *method)
{
    nodes_of nodes = {.order = method->interpolation.order};
    for (int a = 0; a < nodes.order; ++a) nodes.at[a] = method->interpolation.nodes[a];
    return nodes;
}

} // namespace

extern "C" ps_status ps_fmm_device_m2p_run(const ps_fmm_device_method *method,
                                           const ps_fmm_device_m2p *m2p, ps_stream *stream)
{
    if (m2p->count == 0) return PS_OK;
    if (m2p->targets.moments) return ps_fmm_device_moment_m2p(method, m2p, stream);
    PS_TRY(ps_stream_enter(stream));
    cudaStream_t on = static_cast<cudaStream_t>(ps_stream_handle(stream));
    dim3 grid((unsigned)m2p->count, (unsigned)method->sides);
    if (method->far == PS_SINGLE)
        m2p_leaves<float><<<grid, THREADS, 0, on>>>(*m2p, nodes_from(method), method->function);
    else
        m2p_leaves<double><<<grid, THREADS, 0, on>>>(*m2p, nodes_from(method), method->function);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

extern "C" ps_status ps_fmm_device_p2l_run(const ps_fmm_device_method *method,
                                           const ps_fmm_device_p2l *p2l, ps_stream *stream)
{
    if (p2l->count == 0) return PS_OK;
    if (p2l->moments) return ps_fmm_device_moment_p2l(method, p2l, stream);
    PS_TRY(ps_stream_enter(stream));
    cudaStream_t on = static_cast<cudaStream_t>(ps_stream_handle(stream));
    dim3 grid((unsigned)p2l->count, (unsigned)method->sides);
    if (method->far == PS_SINGLE)
        p2l_cells<float><<<grid, THREADS, 0, on>>>(*p2l, nodes_from(method), method->function);
    else
        p2l_cells<double><<<grid, THREADS, 0, on>>>(*p2l, nodes_from(method), method->function);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}
