/*
 * The passes of krylov.h on CUDA (krylov_device.h). Every launch first looks whether the state asks
 * for its pass; the last launch of a pass takes the step to the next.
 */
#include <cuda_runtime.h>

#include <cmath>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/linear/device_kernels.h"
}

namespace {

#include "kernels/linear/csr_cuda_body.h"
#include "kernels/linear/stencil_cuda_body.h"
#include "kernels/linear/sums_cuda_body.h"

#define LEAF __device__ inline
#include "kernels/linear/krylov_step_body.h"
#undef LEAF

enum { THREADS = 256, BLOCKS_MAX = 1056, LINES = 4 };

typedef double wide; /* of sums */
template <typename real> struct device_vectors {
    const real *b, *scale; /* scale: D^-1, or NULL: by planes */
    real *x, *r, *p, *q, *z, *w, *h, *u;
    real inverse[3];
    int64_t plane, rows;
};

#define IN(name) const real *name = v.name
#define IO(name) real *name = v.name
#define BEFORE(name, arrays, body)                                                             \
    struct name {                                                                              \
        template <typename real>                                                               \
        static __device__ void at(const device_vectors<real> &v, int64_t i, real d,            \
                                  real alpha, real omega, wide &s0, wide &s1, wide &s2)        \
        {                                                                                      \
            arrays;                                                                            \
            body                                                                               \
        }                                                                                      \
    };
#define AFTER(name, arrays, body)                                                              \
    struct name {                                                                              \
        template <typename real>                                                               \
        static __device__ void at(const device_vectors<real> &v, int64_t i, wide &s0,          \
                                  wide &s1, wide &s2)                                          \
        {                                                                                      \
            arrays;                                                                            \
            body                                                                               \
        }                                                                                      \
    };
#include "kernels/linear/krylov_passes_body.h"
#undef BEFORE
#undef AFTER
#undef IN
#undef IO

/* ---- the end of a launch ---- */

struct launch_end {
    ps_krylov_state *state;
    block_sums sums;
    bool adds, steps; /* whether there are sums; whether the pass ends here */
};

__device__ void end_launch(const launch_end &e, double sums[SUMS])
{
    if (!e.adds && !e.steps) return;
    if (!add_launch(e.sums, sums)) return;
    for (int k = 0; k < SUMS; ++k) e.state->sums[k] += sums[k];
    if (e.steps) krylov_step(e.state);
}

/* ---- changes of vectors ---- */

template <typename Pass, typename real>
__global__ void __launch_bounds__(THREADS)
    change(const __grid_constant__ device_vectors<real> v, int pass, launch_end e)
{
    if (e.state->pass != pass) return;
    const real alpha = (real)e.state->scalars[0], omega = (real)e.state->scalars[1];
    double sums[SUMS] = {0, 0, 0};
    const int64_t step = (int64_t)gridDim.x * THREADS;
#pragma unroll 2
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < v.rows; i += step) {
        const real d = v.scale ? v.scale[i]
                               : v.inverse[i < v.plane             ? 1
                                           : i >= v.rows - v.plane ? 2
                                                                   : 0];
        Pass::at(v, i, d, alpha, omega, sums[0], sums[1], sums[2]);
    }
    end_launch(e, sums);
}

/* ---- products ---- */

/* What follows a product at row i; `pass` is the same for all threads. */
template <typename real>
__device__ void follow(const device_vectors<real> &v, int pass, int64_t i, double *sums)
{
    switch (pass) {
    case PS_CG_DIRECTION: cg_curvature::at(v, i, sums[0], sums[1], sums[2]); break;
    case PS_STAB_DIRECTION: stab_shadow::at(v, i, sums[0], sums[1], sums[2]); break;
    case PS_STAB_TURN: stab_products::at(v, i, sums[0], sums[1], sums[2]); break;
    case PS_CR_START: cr_first_product::at(v, i, sums[0], sums[1], sums[2]); break;
    case PS_CR_ADVANCE: cr_product::at(v, i, sums[0], sums[1], sums[2]); break;
    default: break;
    }
}

/* The products of rows and what follows them are two launches: with sums on their way, the products
 * would wait for vectors that are read after them. */
template <typename real> struct row_product {
    real *out;
    __device__ void operator()(int64_t i, real sum) const { out[i] = sum; }
};

template <typename form, typename real>
__global__ void __launch_bounds__(form::threads)
    multiply_rows(csr_view<real> a, real *out, int pass, const ps_krylov_state *state)
{
    extern __shared__ double products[];
    if (state->pass != pass) return;
    row_product<real> rows = {out};
    csr_all<form>(a, reinterpret_cast<real *>(products), rows);
}

template <typename real>
__global__ void __launch_bounds__(THREADS)
    follow_rows(const __grid_constant__ device_vectors<real> v, int pass, launch_end e)
{
    if (e.state->pass != pass) return;
    double sums[SUMS] = {0, 0, 0};
    const int64_t step = (int64_t)gridDim.x * THREADS;
#pragma unroll 4
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < v.rows; i += step)
        follow(v, pass, i, sums);
    end_launch(e, sums);
}

template <typename real> struct node_product {
    typedef real raw;
    struct operands {};
    const device_vectors<real> &v;
    const real *in;
    real *out;
    int pass;
    double sums[SUMS];
    __device__ real fetch(int64_t plane, unsigned at) const { return *stencil_at(in, plane, at); }
    __device__ real value(real u, int) const { return u; }
    __device__ operands ahead(int64_t, unsigned) const { return operands(); }
    __device__ void emit(operands, const stencil_node &node, real, real product)
    {
        if (!node.seen) return;
        *stencil_at(out, node.plane, node.at) = product;
        follow(v, pass, node.plane + node.at / (int)sizeof(real), sums);
    }
};

template <bool FIXED, typename real>
__global__ void __launch_bounds__(STENCIL_THREADS)
    multiply_nodes(const __grid_constant__ device_vectors<real> v,
                   const __grid_constant__ stencil_view<real> s, const real *in, real *out,
                   int pass, launch_end e)
{
    if (e.state->pass != pass) return;
    node_product<real> work = {v, in, out, pass, {0, 0, 0}};
    stencil_march<LINES, FIXED>(s, work);
    end_launch(e, work.sums);
}

/* ---- launching ---- */

cudaStream_t queue_of(ps_stream *stream)
{
    return static_cast<cudaStream_t>(ps_stream_handle(stream));
}

int64_t change_blocks(int64_t rows)
{
    const int64_t blocks = (rows + THREADS - 1) / THREADS;
    return blocks < BLOCKS_MAX ? blocks : BLOCKS_MAX;
}

template <typename real>
device_vectors<real> vectors_of(const ps_krylov_device_pass *p)
{
    const ps_krylov_vectors *v = &p->vectors;
    device_vectors<real> out = {
        static_cast<const real *>(v->b), static_cast<const real *>(v->scale),
        static_cast<real *>(v->x),       static_cast<real *>(v->r),
        static_cast<real *>(v->p),       static_cast<real *>(v->q),
        static_cast<real *>(v->z),       static_cast<real *>(v->w),
        static_cast<real *>(v->h),       static_cast<real *>(v->u)};
    const ps_slab_stencil *s = p->system->stencil;
    out.rows = p->rows;
    for (int k = 0; k < 3 && s; ++k) out.inverse[k] = (real)(1 / s->plane[k][0][0]);
    if (s) out.plane = s->nodes[1] * s->nodes[2];
    return out;
}

template <typename real> void launch_change(const ps_krylov_device_pass *p, ps_stream *stream)
{
    const device_vectors<real> v = vectors_of<real>(p);
    launch_end e = {p->state, {p->partial, p->ticket}, true, !p->out};
    const unsigned blocks = (unsigned)change_blocks(p->rows);
    cudaStream_t on = queue_of(stream);
    switch (p->pass) {
#define CASE(PASS, name, sums)                                                                 \
    case PASS:                                                                                 \
        e.adds = sums;                                                                         \
        change<name, real><<<blocks, THREADS, 0, on>>>(v, PASS, e);                            \
        break
        CASE(PS_CG_START, cg_start, true);
        CASE(PS_CG_DIRECTION, cg_direction, false);
        CASE(PS_CG_ADVANCE, cg_advance, true);
        CASE(PS_STAB_START, stab_start, true);
        CASE(PS_STAB_DIRECTION, stab_direction, false);
        CASE(PS_STAB_HALF, stab_half, true);
        CASE(PS_STAB_TURN, stab_turn, false);
        CASE(PS_STAB_ADVANCE, stab_advance, true);
        CASE(PS_CR_START, cr_start, true);
        CASE(PS_CR_DIRECTION, cr_direction, true);
        CASE(PS_CR_ADVANCE, cr_advance, true);
#undef CASE
    default: break;
    }
}

template <typename real> struct launch_rows {
    const ps_krylov_device_pass *p;
    const csr_view<real> &a;
    ps_stream *stream;
    template <typename form> void operator()(form) const
    {
        multiply_rows<form, real><<<csr_blocks<form>(p->rows), form::threads,
                                    csr_shared<form, real>(), queue_of(stream)>>>(
            a, static_cast<real *>(p->out), p->pass, p->state);
    }
};

template <typename real>
void launch_matrix(const ps_krylov_device_pass *p, const launch_end &e, ps_stream *stream)
{
    const ps_csr_device *m = p->system->matrix;
    const csr_view<real> a = {m->rows, m->row_start, m->columns,
                              static_cast<const real *>(m->values),
                              static_cast<const real *>(p->in)};
    csr_choose(m->shape, launch_rows<real>{p, a, stream});
    if (e.steps)
        follow_rows<real><<<(unsigned)change_blocks(p->rows), THREADS, 0, queue_of(stream)>>>(
            vectors_of<real>(p), p->pass, e);
}

template <typename real>
void launch_stencil(const ps_krylov_device_pass *p, const launch_end &e, ps_stream *stream)
{
    const bool fixed = !e.steps; /* the product that a start begins with */
    const stencil_view<real> s =
        stencil_view_of<real>(p->system->stencil, LINES, fixed, p->planes);
    const unsigned blocks = stencil_blocks(s);
    const real *in = static_cast<const real *>(p->in);
    real *out = static_cast<real *>(p->out);
    if (fixed)
        multiply_nodes<true, real><<<blocks, STENCIL_THREADS, 0, queue_of(stream)>>>(
            vectors_of<real>(p), s, in, out, p->pass, e);
    else
        multiply_nodes<false, real><<<blocks, STENCIL_THREADS, 0, queue_of(stream)>>>(
            vectors_of<real>(p), s, in, out, p->pass, e);
}

/* The product of a pass, which ends it; or (first) q = A x, which starts begin with. */
template <typename real>
void launch_product(const ps_krylov_device_pass *p, bool first, ps_stream *stream)
{
    const launch_end e = {p->state, {p->partial, p->ticket}, !first, !first};
    if (p->system->matrix)
        launch_matrix<real>(p, e, stream);
    else
        launch_stencil<real>(p, e, stream);
}

template <typename real> void launch_pass(const ps_krylov_device_pass *pass, ps_stream *stream)
{
    ps_krylov_device_pass p = *pass;
    if (ps_krylov_starts(p.pass)) {
        p.in = p.vectors.x;
        p.out = p.vectors.q;
        launch_product<real>(&p, true, stream);
        p.in = pass->in;
        p.out = pass->out;
    }
    launch_change<real>(&p, stream);
    if (p.out) launch_product<real>(&p, false, stream);
}

template <typename real>
__global__ void set_fixed(const __grid_constant__ stencil_view<real> s, const real *b, real *x)
{
    const int64_t line = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    const int i = (int)(line / s.ny), j = (int)(line % s.ny);
    if (i >= s.nx) return;
    const bool all = plane_fixed(s, i) || j == 0 || j == s.ny - 1;
    for (int k = 0; k < s.nz; k += all ? 1 : s.nz - 1) x[line * s.nz + k] = b[line * s.nz + k];
}

template <typename real>
void launch_fixed(const ps_krylov_device_system *system, ps_stream *stream)
{
    const stencil_view<real> s = stencil_view_of<real>(system->stencil, LINES, true, 1);
    const int64_t lines = (int64_t)s.nx * s.ny;
    set_fixed<real><<<(unsigned)((lines + THREADS - 1) / THREADS), THREADS, 0, queue_of(stream)>>>(
        s, static_cast<const real *>(system->b), static_cast<real *>(system->x));
}

} // namespace

extern "C" int64_t ps_krylov_blocks_cuda(const ps_krylov_device_system *system, int64_t rows,
                                         int64_t planes)
{
    int64_t blocks = change_blocks(rows), more = 0;
    if (system->stencil)
        more = stencil_blocks(stencil_view_of<double>(system->stencil, LINES, true, planes));
    else
        more = BLOCKS_MAX;
    return blocks > more ? blocks : more;
}

extern "C" ps_status ps_krylov_pass_cuda(const ps_krylov_device_pass *pass, ps_stream *stream)
{
    PS_TRY(ps_stream_enter(stream));
    if (pass->system->precision == PS_SINGLE)
        launch_pass<float>(pass, stream);
    else
        launch_pass<double>(pass, stream);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

extern "C" ps_status ps_krylov_fixed_cuda(const ps_krylov_device_system *system, ps_stream *stream)
{
    PS_TRY(ps_stream_enter(stream));
    if (system->precision == PS_SINGLE)
        launch_fixed<float>(system, stream);
    else
        launch_fixed<double>(system, stream);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}
