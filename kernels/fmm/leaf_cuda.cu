/*
 * P2M and L2P on the device: a warp a leaf, its particles in the lanes.
 *
 * P2M of l <= 8 is a product on tensor cores, M[(m0 m1)][m2] = sum_j (q S S)[(m0 m1)][j] S[j][m2],
 * with two m0 and eight m1 to a left operand; it is made of S in shared memory as it is needed. L2P
 * reads the locals of its leaf from shared memory, all lanes the same number at a time.
 */
#include <cuda_runtime.h>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/fmm/moment_device.h"
}

namespace
{

#include "kernels/fmm/device_body.h"
#include "kernels/fmm/tensor_body.h"

enum {
    WARP = 32,
    WARPS = 4, /* a block */
    TENSOR_ORDER = 8,
    PITCH = 40, /* of rows of 32 particles: pairs of rows fall on different banks */
    ORDER_MAX = PS_FMM_ORDER_MAX
};
struct launch {
    ps_fmm_device_leaves leaves;
    ps_fmm_device_vectors vectors;
    int order, sides;
    bool add;
    double polynomials[ORDER_MAX][ORDER_MAX]; /* as in ps_fmm_interpolation */
    const ps_fmm_device_leaf *each;           /* leaves of any levels; NULL: of one */
};

/* A warp's leaf. */
struct leaf {
    int64_t number; /* of its vector */
    int begin, end;
    double centre[3], scale;
};

__device__ bool find_leaf(const launch &in, leaf *out)
{
    const ps_fmm_device_leaves &l = in.leaves;
    out->number = (int64_t)blockIdx.x * WARPS + threadIdx.x / WARP;
    if (out->number >= l.cells) return false;
    if (in.each) {
        const ps_fmm_device_leaf one = in.each[out->number];
        out->number = one.vector;
        out->begin = one.begin;
        out->end = one.end;
        out->scale = 2 / one.width;
        for (int d = 0; d < 3; ++d) out->centre[d] = one.centre[d];
        return true;
    }
    double width = ldexp(l.box.width, -l.level);
    out->begin = l.set.start[out->number];
    out->end = l.set.start[out->number + 1];
    out->scale = 2 / width;
    cell_centre(l.box, width, l.keys[out->number], out->centre);
    return true;
}

/* S(a, xi) for all a, and S' if wanted; xi of particle i, 0 behind the end. order 0: in.order. */
template <int order, bool slopes, int room>
KERNEL_INLINE void basis_at(const launch &in, const leaf &own, int i, double (&value)[3][room],
                            double (&slope)[3][room])
{
    const int all = order ? order : in.order;
#pragma unroll
    for (int d = 0; d < 3; ++d) {
        double x = 0;
        if (i < own.end)
            x = (in.leaves.set.rows[d * in.leaves.set.stride + i] - own.centre[d]) * own.scale;
        double t_before = 1, t = x, u_before = 0, u = 1;
        for (int a = 0; a < all; ++a) {
            value[d][a] = in.polynomials[0][a];
            slope[d][a] = 0;
        }
        for (int n = 1; n < all; ++n) {
            for (int a = 0; a < all; ++a) {
                double p = in.polynomials[n][a];
                value[d][a] = fma(p, t, value[d][a]);
                if (slopes) slope[d][a] = fma(p, n * u, slope[d][a]);
            }
            double t_next = 2 * x * t - t_before, u_next = 2 * x * u - u_before;
            t_before = t;
            t = t_next;
            u_before = u;
            u = u_next;
        }
    }
}

/* ---- P2M ---- */

template <typename real, int order>
__global__ __launch_bounds__(WARPS *WARP) void p2m_tensor(const __grid_constant__ launch in)
{
    constexpr int pairs = (order + 1) / 2;
    __shared__ __align__(16) double rows[WARPS][3][TENSOR_ORDER][PITCH];
    const int lane = threadIdx.x % WARP, side = blockIdx.y, g = lane / 4, column = 2 * (lane % 4);
    double(&s)[3][TENSOR_ORDER][PITCH] = rows[threadIdx.x / WARP];
    leaf own;
    if (!find_leaf(in, &own)) return;
    if constexpr (order < TENSOR_ORDER)
        for (int a = order; a < TENSOR_ORDER; ++a)
            for (int d = 0; d < 3; ++d) s[d][a][lane] = 0;
    fragment sum[pairs] = {};
    for (int i = own.begin; i < own.end; i += WARP) {
        double value[3][order], slope[3][order], charge = 0;
        basis_at<order, false>(in, own, i + lane, value, slope);
        if (i + lane < own.end)
            charge = in.leaves.set.rows[(3 + side) * in.leaves.set.stride + i + lane];
        __syncwarp();
#pragma unroll
        for (int a = 0; a < order; ++a) {
            s[0][a][lane] = charge * value[0][a];
            s[1][a][lane] = value[1][a];
            s[2][a][lane] = value[2][a];
        }
        __syncwarp();
        for (int j = 0; j < WARP && i + j < own.end; j += 8) {
            double2 y = *reinterpret_cast<double2 *>(&s[1][g][j + column]);
            double2 z = *reinterpret_cast<double2 *>(&s[2][g][j + column]);
#pragma unroll
            for (int p = 0; p < pairs; ++p) {
                double2 x0 = *reinterpret_cast<double2 *>(&s[0][2 * p][j + column]);
                double2 x1 = *reinterpret_cast<double2 *>(&s[0][2 * p + 1][j + column]);
                fragment a = {{x0.x * y.x, x0.y * y.y, x1.x * y.x, x1.y * y.y}};
                product(sum[p], a, z);
            }
        }
    }
    real *to = static_cast<real *>(in.vectors.values) + side * in.vectors.stride +
               own.number * (order * order * order);
#pragma unroll
    for (int p = 0; p < pairs; ++p)
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            int m0 = 2 * p + i / 2, m2 = column + i % 2;
            if (m0 < order && g < order && m2 < order)
                to[(m0 * order + g) * order + m2] = (real)sum[p].v[i];
        }
}

/* Any order: a lane has points lane, lane + 32, .. */
template <typename real>
__global__ __launch_bounds__(WARPS *WARP) void p2m_any(const __grid_constant__ launch in)
{
    extern __shared__ double shared[];
    const int lane = threadIdx.x % WARP, side = blockIdx.y, order = in.order;
    double *s = shared + threadIdx.x / WARP * 3 * ORDER_MAX * WARP;
    leaf own;
    if (!find_leaf(in, &own)) return;
    real *to = static_cast<real *>(in.vectors.values) + side * in.vectors.stride +
               own.number * (order * order * order);
    for (int m = lane; m < order * order * order; m += WARP) to[m] = 0;
    for (int i = own.begin; i < own.end; i += WARP) {
        double value[3][ORDER_MAX], slope[3][ORDER_MAX], charge = 0;
        basis_at<0, false>(in, own, i + lane, value, slope);
        if (i + lane < own.end)
            charge = in.leaves.set.rows[(3 + side) * in.leaves.set.stride + i + lane];
        __syncwarp();
        for (int d = 0; d < 3; ++d)
            for (int a = 0; a < order; ++a)
                s[(d * ORDER_MAX + a) * WARP + lane] = d == 0 ? charge * value[d][a] : value[d][a];
        __syncwarp();
        for (int m = lane; m < order * order * order; m += WARP) {
            const double *x = s + m / (order * order) * WARP,
                         *y = s + (ORDER_MAX + m / order % order) * WARP,
                         *z = s + (2 * ORDER_MAX + m % order) * WARP;
            double sum = 0;
            for (int j = 0; j < WARP; ++j) sum += x[j] * y[j] * z[j];
            to[m] = (real)((double)to[m] + sum);
        }
    }
}

/* ---- L2P ---- */

/* phi and the gradient in cell coordinates; locals in rows of `pitch`. */
template <int order, bool gradient, int room>
KERNEL_INLINE void expand(const double *locals, int all, int pitch, const double (&value)[3][room],
                          const double (&slope)[3][room], double (&out)[4])
{
    const int count = order ? order : all;
    for (int r = 0; r < 4; ++r) out[r] = 0;
#pragma unroll(order ? order : 1)
    for (int m0 = 0; m0 < count; ++m0) {
        double plain = 0, along_1 = 0, along_2 = 0;
#pragma unroll(order ? order : 1)
        for (int m1 = 0; m1 < count; ++m1) {
            const double *row = locals + (m0 * count + m1) * pitch;
            double v = 0, s = 0;
#pragma unroll(order ? order : 1)
            for (int m2 = 0; m2 < count; ++m2) {
                v = fma(row[m2], value[2][m2], v);
                if (gradient) s = fma(row[m2], slope[2][m2], s);
            }
            plain = fma(v, value[1][m1], plain);
            if (!gradient) continue;
            along_1 = fma(v, slope[1][m1], along_1);
            along_2 = fma(s, value[1][m1], along_2);
        }
        out[0] = fma(plain, value[0][m0], out[0]);
        if (!gradient) continue;
        out[1] = fma(plain, slope[0][m0], out[1]);
        out[2] = fma(along_1, value[0][m0], out[2]);
        out[3] = fma(along_2, value[0][m0], out[3]);
    }
}

KERNEL_INLINE void put(double *to, bool add, double value) { *to = add ? *to + value : value; }

template <typename real, int order, bool gradient>
__global__ __launch_bounds__(WARPS *WARP) void l2p(const __grid_constant__ launch in)
{
    constexpr int room = order ? order : ORDER_MAX;
    extern __shared__ __align__(16) double shared[];
    const int lane = threadIdx.x % WARP, side = blockIdx.y, all = order ? order : in.order;
    const int pitch = (all + 1) / 2 * 2, points = all * all * all;
    double *locals = shared + threadIdx.x / WARP * all * all * pitch;
    leaf own;
    if (!find_leaf(in, &own)) return;
    const real *from = static_cast<const real *>(in.vectors.values) + side * in.vectors.stride +
                       own.number * points;
    for (int m = lane; m < points; m += WARP) locals[m / all * pitch + m % all] = (double)from[m];
    __syncwarp();
    const int64_t stride = in.leaves.set.stride;
    for (int i = own.begin + lane; i < own.end; i += WARP) {
        double value[3][room], slope[3][room], out[4];
        asm volatile("" ::: "memory"); /* locals are not to stay in registers */
        basis_at<order, gradient>(in, own, i, value, slope);
        expand<order, gradient>(locals, all, pitch, value, slope, out);
        put(in.leaves.potential + side * stride + i, in.add, out[0]);
        for (int d = 0; gradient && d < 3; ++d)
            put(in.leaves.gradient + (3 * side + d) * stride + i, in.add, out[1 + d] * own.scale);
    }
}

/* ---- launches ---- */

launch launch_of(const ps_fmm_device_method *method, const ps_fmm_device_leaves *leaves,
                 const ps_fmm_device_vectors *vectors, bool add)
{
    launch in = {.leaves = *leaves,
                 .vectors = *vectors,
                 .order = method->interpolation.order,
                 .sides = method->sides,
                 .add = add};
    for (int n = 0; n < ORDER_MAX; ++n)
        for (int a = 0; a < ORDER_MAX; ++a)
            in.polynomials[n][a] = method->interpolation.polynomials[n][a];
    return in;
}

dim3 grid_of(const launch &in)
{
    return dim3((unsigned)((in.leaves.cells + WARPS - 1) / WARPS), (unsigned)in.sides);
}

template <typename real, int order> ps_status start_p2m(const launch &in, cudaStream_t stream)
{
    p2m_tensor<real, order><<<grid_of(in), WARPS * WARP, 0, stream>>>(in);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

template <typename real> ps_status start_p2m_any(const launch &in, cudaStream_t stream)
{
    size_t bytes = WARPS * 3 * ORDER_MAX * WARP * sizeof(double);
    p2m_any<real><<<grid_of(in), WARPS * WARP, bytes, stream>>>(in);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

template <typename real> ps_status start_p2m_order(const launch &in, cudaStream_t stream)
{
    switch (in.order) {
    case 3:
        return start_p2m<real, 3>(in, stream);
    case 4:
        return start_p2m<real, 4>(in, stream);
    case 5:
        return start_p2m<real, 5>(in, stream);
    case 6:
        return start_p2m<real, 6>(in, stream);
    case 7:
        return start_p2m<real, 7>(in, stream);
    case 8:
        return start_p2m<real, 8>(in, stream);
    default:
        return start_p2m_any<real>(in, stream);
    }
}

template <typename real, int order, bool gradient>
ps_status start_l2p(const launch &in, cudaStream_t stream)
{
    int all = in.order, bytes = WARPS * all * all * ((all + 1) / 2 * 2) * (int)sizeof(double);
    PS_CUDA(cudaFuncSetAttribute(l2p<real, order, gradient>,
                                 cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    l2p<real, order, gradient><<<grid_of(in), WARPS * WARP, bytes, stream>>>(in);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

template <typename real, bool gradient>
ps_status start_l2p_order(const launch &in, cudaStream_t stream)
{
    switch (in.order) {
    case 3:
        return start_l2p<real, 3, gradient>(in, stream);
    case 4:
        return start_l2p<real, 4, gradient>(in, stream);
    case 5:
        return start_l2p<real, 5, gradient>(in, stream);
    case 6:
        return start_l2p<real, 6, gradient>(in, stream);
    case 7:
        return start_l2p<real, 7, gradient>(in, stream);
    default:
        return start_l2p<real, 0, gradient>(in, stream);
    }
}

template <typename real> ps_status start_l2p_any(const launch &in, cudaStream_t stream)
{
    return in.leaves.gradient ? start_l2p_order<real, true>(in, stream)
                              : start_l2p_order<real, false>(in, stream);
}

ps_status run_p2m(const ps_fmm_device_method *method, const launch &in, ps_stream *stream)
{
    if (in.leaves.cells == 0) return PS_OK;
    PS_TRY(ps_stream_enter(stream));
    cudaStream_t on = static_cast<cudaStream_t>(ps_stream_handle(stream));
    return method->far == PS_SINGLE ? start_p2m_order<float>(in, on)
                                    : start_p2m_order<double>(in, on);
}

ps_status run_l2p(const ps_fmm_device_method *method, const launch &in, ps_stream *stream)
{
    if (in.leaves.cells == 0) return PS_OK;
    PS_TRY(ps_stream_enter(stream));
    cudaStream_t on = static_cast<cudaStream_t>(ps_stream_handle(stream));
    return method->far == PS_SINGLE ? start_l2p_any<float>(in, on) : start_l2p_any<double>(in, on);
}

} // namespace

extern "C" ps_status ps_fmm_device_p2m(const ps_fmm_device_method *method,
                                       const ps_fmm_device_leaves *leaves,
                                       const ps_fmm_device_vectors *multipoles, ps_stream *stream)
{
    return run_p2m(method, launch_of(method, leaves, multipoles, false), stream);
}

extern "C" ps_status ps_fmm_device_l2p(const ps_fmm_device_method *method,
                                       const ps_fmm_device_leaves *leaves,
                                       const ps_fmm_device_vectors *locals, bool add,
                                       ps_stream *stream)
{
    return run_l2p(method, launch_of(method, leaves, locals, add), stream);
}

extern "C" ps_status ps_fmm_device_p2m_any(const ps_fmm_device_method *method,
                                           const ps_fmm_device_any_leaves *leaves,
                                           const ps_fmm_device_vectors *multipoles,
                                           ps_stream *stream)
{
    if (leaves->moments) return ps_fmm_device_moment_p2m(method, leaves, multipoles, stream);
    launch in = launch_of(method, &leaves->leaves, multipoles, false);
    in.each = leaves->each;
    return run_p2m(method, in, stream);
}

extern "C" ps_status ps_fmm_device_l2p_any(const ps_fmm_device_method *method,
                                           const ps_fmm_device_any_leaves *leaves,
                                           const ps_fmm_device_vectors *locals, ps_stream *stream)
{
    if (leaves->moments) return ps_fmm_device_moment_l2p(method, leaves, locals, stream);
    launch in = launch_of(method, &leaves->leaves, locals, true);
    in.each = leaves->each;
    return run_l2p(method, in, stream);
}
