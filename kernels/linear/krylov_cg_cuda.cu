/*
 * P-CG without a matrix on CUDA (krylov_device.h): an iteration in two launches. PS_CG_DIRECTION
 * makes p = D^-1 r + beta p on nodes and their neighbours alike while it multiplies, PS_CG_ADVANCE
 * multiplies p once more rather than to store A p.
 */
#include <cuda_runtime.h>

#include <cmath>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/linear/device_kernels.h"
}

namespace {

#include "kernels/linear/stencil_cuda_body.h"
#include "kernels/linear/sums_cuda_body.h"

#define LEAF __device__ inline
#include "kernels/linear/krylov_step_body.h"
#undef LEAF

enum { LINES = 4 };

template <typename real> struct direction {
    struct raw {
        real r, p;
    };
    struct operands {};
    const stencil_view<real> &s;
    const real *__restrict__ r, *__restrict__ before;
    real *__restrict__ p;
    real beta;
    double sum;
    __device__ raw fetch(int64_t plane, unsigned at) const
    {
        return {*stencil_at(r, plane, at), *stencil_at(before, plane, at)};
    }
    __device__ real value(const raw &a, int kind) const
    {
        return s.inverse[kind] * a.r + beta * a.p;
    }
    __device__ operands ahead(int64_t, unsigned) const { return operands(); }
    __device__ void emit(operands, const stencil_node &node, real u, real product)
    {
        real *to = stencil_at(p, node.plane, node.at);
        if (node.seen) *to = u;
        sum += node.seen ? (double)u * product : 0;
    }
};

template <typename real> struct advance {
    typedef real raw;
    struct operands {
        real x, r;
    };
    const stencil_view<real> &s;
    const real *__restrict__ p;
    real *__restrict__ x, *__restrict__ r;
    real alpha;
    double rr, rz;
    __device__ raw fetch(int64_t plane, unsigned at) const { return *stencil_at(p, plane, at); }
    __device__ real value(real u, int) const { return u; }
    __device__ operands ahead(int64_t plane, unsigned at) const
    {
        return {*stencil_at(x, plane, at), *stencil_at(r, plane, at)};
    }
    __device__ void emit(const operands &o, const stencil_node &node, real u, real product)
    {
        const real rest = o.r - alpha * product, more = o.x + alpha * u;
        const double square = node.seen ? (double)rest * rest : 0;
        if (node.seen) *stencil_at(x, node.plane, node.at) = more;
        if (node.seen) *stencil_at(r, node.plane, node.at) = rest;
        rr += square;
        rz += square * s.inverse[node.kind];
    }
};

__device__ void step(ps_krylov_state *state, const block_sums &blocks, double sums[SUMS])
{
    if (!add_launch(blocks, sums)) return;
    for (int k = 0; k < SUMS; ++k) state->sums[k] += sums[k];
    krylov_step(state);
}

template <typename real>
__global__ void __launch_bounds__(STENCIL_THREADS, 4)
    make_direction(const __grid_constant__ stencil_view<real> s, const real *r, const real *before,
                   real *p, ps_krylov_state *state, block_sums blocks)
{
    if (state->pass != PS_CG_DIRECTION) return;
    direction<real> work = {s, r, before, p, (real)state->scalars[0], 0};
    stencil_march<LINES, false>(s, work);
    double sums[SUMS] = {work.sum, 0, 0};
    step(state, blocks, sums);
}

template <typename real>
__global__ void __launch_bounds__(STENCIL_THREADS, 4)
    make_advance(const __grid_constant__ stencil_view<real> s, const real *p, real *x, real *r,
                 ps_krylov_state *state, block_sums blocks)
{
    if (state->pass != PS_CG_ADVANCE) return;
    advance<real> work = {s, p, x, r, (real)state->scalars[0], 0, 0};
    stencil_march<LINES, false>(s, work);
    double sums[SUMS] = {work.rr, work.rz, 0};
    step(state, blocks, sums);
}

template <typename real> void launch(const ps_krylov_device_pass *p, cudaStream_t on)
{
    const stencil_view<real> s =
        stencil_view_of<real>(p->system->stencil, LINES, false, p->planes);
    const block_sums sums = {p->partial, p->ticket};
    real *x = static_cast<real *>(p->vectors.x), *r = static_cast<real *>(p->vectors.r);
    real *direction_now = static_cast<real *>(p->vectors.p);
    const unsigned blocks = stencil_blocks(s);
    if (p->pass == PS_CG_DIRECTION)
        make_direction<real><<<blocks, STENCIL_THREADS, 0, on>>>(
            s, r, static_cast<const real *>(p->in), direction_now, p->state, sums);
    else
        make_advance<real>
            <<<blocks, STENCIL_THREADS, 0, on>>>(s, direction_now, x, r, p->state, sums);
}

} // namespace

extern "C" ps_status ps_krylov_cg_cuda(const ps_krylov_device_pass *pass, ps_stream *stream)
{
    PS_TRY(ps_stream_enter(stream));
    cudaStream_t on = static_cast<cudaStream_t>(ps_stream_handle(stream));
    if (pass->system->precision == PS_SINGLE)
        launch<float>(pass, on);
    else
        launch<double>(pass, on);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}
