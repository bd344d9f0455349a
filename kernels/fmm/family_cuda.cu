/*
 * M2M and L2L on the device: a block a parent, a team of threads a child. A thread contracts one
 * line of l numbers of the child's vector in shared memory with E, axis by axis, in place.
 */
#include <cuda_runtime.h>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/fmm/device_ops.h"
}

namespace
{

#include "kernels/fmm/device_body.h"

enum {
    WARP = 32,
    CHILDREN = PS_FMM_DEVICE_CHILDREN,
    THREADS_MAX = 512,
    ORDER_MAX = PS_FMM_ORDER_MAX
};

struct launch {
    ps_fmm_device_family family;
    int order;
    bool add;
    double child[2][ORDER_MAX][ORDER_MAX]; /* as in ps_fmm_interpolation */
};

/* Threads of a team: a line each, in whole parts of a warp. */
__host__ __device__ constexpr int team_threads(int order)
{
    int lines = order * order;
    return lines <= 16 ? 16 : (lines + WARP - 1) / WARP * WARP;
}

/* Whether a parent has any children: a leaf of an adaptive tree has none. */
KERNEL_INLINE bool has_children(const int32_t *codes)
{
    for (int c = 0; c < CHILDREN; ++c)
        if (codes[c] >= 0) return true;
    return false;
}

/* Children at a time. */
__host__ __device__ constexpr int teams(int order)
{
    int most = THREADS_MAX / team_threads(order);
    return most < CHILDREN ? most : CHILDREN;
}

/* Contracts the lines along an axis; transposed: with E^T. order 0: `all`. */
template <int order, bool transposed>
KERNEL_INLINE void contract(const launch &in, int all, int axis, int half, int line, double *vector)
{
    const int count = order ? order : all;
    constexpr int room = order ? order : ORDER_MAX;
    int step = axis == 0 ? count * count : axis == 1 ? count : 1;
    int first = axis == 0   ? line
                : axis == 1 ? line / count * count * count + line % count
                            : line * count;
    double from[room], to[room];
    for (int b = 0; b < count; ++b) from[b] = vector[first + b * step];
    for (int a = 0; a < count; ++a) {
        double sum = 0;
        for (int b = 0; b < count; ++b)
            sum = fma(transposed ? in.child[half][b][a] : in.child[half][a][b], from[b], sum);
        to[a] = sum;
    }
    for (int a = 0; a < count; ++a) vector[first + a * step] = to[a];
}

/* All three axes of the children's vectors [child][l^3], of those that are there; the block meets
 * behind each. */
template <int order, bool transposed>
KERNEL_INLINE void transfer(const launch &in, const int32_t *codes, double *vectors)
{
    const int count = order ? order : in.order, points = count * count * count;
    const int threads = team_threads(count), at_once = teams(count);
    const int line = threadIdx.x % threads;
    for (int axis = 0; axis < 3; ++axis) {
        for (int c = threadIdx.x / threads; c < CHILDREN; c += at_once)
            if (line < count * count && codes[c] >= 0)
                contract<order, transposed>(in, count, axis, c >> (2 - axis) & 1, line,
                                            vectors + c * points);
        __syncthreads();
    }
}

template <typename real, int order>
__global__ __launch_bounds__(THREADS_MAX) void m2m(const __grid_constant__ launch in)
{
    extern __shared__ double vectors[];
    const int count = order ? order : in.order, points = count * count * count;
    const int64_t parent = blockIdx.x;
    const int side = blockIdx.y;
    const int32_t *codes = in.family.children + parent * CHILDREN;
    if (in.add && !has_children(codes)) return;
    for (int c = 0; c < CHILDREN; ++c) {
        int32_t code = codes[c];
        const real *from =
            code >= 0 ? vector_at<real>(in.family.child, code, side, points) : nullptr;
        for (int m = threadIdx.x; m < points; m += blockDim.x)
            vectors[c * points + m] = from ? (double)from[m] : 0;
    }
    __syncthreads();
    transfer<order, false>(in, codes, vectors);
    real *to = static_cast<real *>(in.family.parent.values) + side * in.family.parent.stride +
               parent * points;
    for (int m = threadIdx.x; m < points; m += blockDim.x) {
        double sum = in.add ? (double)to[m] : 0;
        for (int c = 0; c < CHILDREN; ++c) sum += vectors[c * points + m];
        to[m] = (real)sum;
    }
}

template <typename real, int order>
__global__ __launch_bounds__(THREADS_MAX) void l2l(const __grid_constant__ launch in)
{
    extern __shared__ double vectors[];
    const int count = order ? order : in.order, points = count * count * count;
    const int64_t parent = blockIdx.x;
    const int side = blockIdx.y;
    const int32_t *codes = in.family.children + parent * CHILDREN;
    if (!has_children(codes)) return;
    const real *from = static_cast<const real *>(in.family.parent.values) +
                       side * in.family.parent.stride + parent * points;
    for (int m = threadIdx.x; m < points; m += blockDim.x) {
        double value = (double)from[m];
        for (int c = 0; c < CHILDREN; ++c) vectors[c * points + m] = value;
    }
    __syncthreads();
    transfer<order, true>(in, codes, vectors);
    for (int c = 0; c < CHILDREN; ++c) {
        int32_t code = codes[c];
        if (code < 0) continue;
        real *to = vector_at<real>(in.family.child, code, side, points);
        for (int m = threadIdx.x; m < points; m += blockDim.x)
            to[m] = (real)((double)to[m] + vectors[c * points + m]);
    }
}

/* ---- launches ---- */

template <typename real, int order, bool up>
ps_status start(const launch &in, int sides, cudaStream_t stream)
{
    const int l = in.order, bytes = CHILDREN * l * l * l * (int)sizeof(double);
    const dim3 grid((unsigned)in.family.parents, (unsigned)sides);
    const int threads = team_threads(l) * teams(l);
    auto kernel = up ? m2m<real, order> : l2l<real, order>;
    PS_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    kernel<<<grid, threads, bytes, stream>>>(in);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

template <typename real, bool up>
ps_status start_order(const launch &in, int sides, cudaStream_t on)
{
    switch (in.order) {
    case 3:
        return start<real, 3, up>(in, sides, on);
    case 5:
        return start<real, 5, up>(in, sides, on);
    case 7:
        return start<real, 7, up>(in, sides, on);
    default:
        return start<real, 0, up>(in, sides, on);
    }
}

template <bool up>
ps_status run(const ps_fmm_device_method *method, const ps_fmm_device_family *family, bool add,
              ps_stream *stream)
{
    if (family->parents == 0) return PS_OK;
    PS_TRY(ps_stream_enter(stream));
    cudaStream_t on = static_cast<cudaStream_t>(ps_stream_handle(stream));
    launch in = {.family = *family, .order = method->interpolation.order, .add = add};
    for (int o = 0; o < 2; ++o)
        for (int a = 0; a < ORDER_MAX; ++a)
            for (int b = 0; b < ORDER_MAX; ++b)
                in.child[o][a][b] = method->interpolation.child[o][a][b];
    return method->far == PS_SINGLE ? start_order<float, up>(in, method->sides, on)
                                    : start_order<double, up>(in, method->sides, on);
}

} // namespace

extern "C" ps_status ps_fmm_device_m2m(const ps_fmm_device_method *method,
                                       const ps_fmm_device_family *family, bool add,
                                       ps_stream *stream)
{
    return run<true>(method, family, add, stream);
}

extern "C" ps_status ps_fmm_device_l2l(const ps_fmm_device_method *method,
                                       const ps_fmm_device_family *family, ps_stream *stream)
{
    return run<false>(method, family, false, stream);
}
