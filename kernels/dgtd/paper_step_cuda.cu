/*
 * The half step as the paper does it on GPUs (Cabel, Charles, Lanteri 2011, section on the CUDA
 * kernels): intVolume, intSurface and updateField one after the other with a table of flux balances
 * between them in device memory, dense reference matrices in constant memory, everything else that
 * is used more than once in shared memory. A block holds NBTET elements, a multiple of 16.
 *
 * Low orders (1, 2): a launch each; intVolume and updateField a thread a degree of freedom,
 * intSurface a thread a face node, all four faces. High orders (3, 4): intVolume in subsets of the
 * degrees of freedom, intSurface a launch a face, updateField two degrees of freedom a thread.
 *
 * Kept for comparison. The matrices are those for Bernstein coefficients, and components are
 * covariant, so that the fields are those of half_step_cuda.cu.
 */
#include <cuda_runtime.h>

#include <mutex>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/dgtd/device_kernels.h"
}

namespace {

/* D[3][NP][NP], then LIFT[4][NP][NF], of the order and precision that `filled` tells. */
constexpr int TABLE = 3 * 35 * 35 + 4 * 35 * 15;
__constant__ double constant_table[TABLE];

template <typename real> constexpr int lanes = 64 / (int)sizeof(real);

template <typename real, int P> struct shape {
    static constexpr int L = lanes<real>, NP = (P + 1) * (P + 2) * (P + 3) / 6,
                         NF = (P + 1) * (P + 2) / 2, FACES = 3 * NP * NP;
    static constexpr bool high = P > 2;
    static constexpr int NBTET = P == 1 ? 64 : P == 2 ? 32 : 16;
    static constexpr int SUBSETS = P < 3 ? 1 : P == 3 ? 2 : 3, SUBSET = (NP + SUBSETS - 1) / SUBSETS;
};

template <typename real> struct view {
    const real *tangents;
    const int32_t *links;
    const uint8_t *kinds, *bordered;
    const uint16_t *material;
    const real *keep, *gain;
    const real *source;
    real *target, *flux;
    real sign[PS_DGTD_FACES];
    int64_t begin, end; /* slots */
    ps_dgtd_face_nodes faces;
};

template <typename real> __device__ const real *table()
{
    return reinterpret_cast<const real *>(constant_table);
}

/* Tangent component k of a slot. */
template <typename real> __device__ real tangent(const view<real> &x, int64_t slot, int k)
{
    constexpr int L = lanes<real>;
    return x.tangents[slot / L * 9 * L + k * L + slot % L];
}

template <int NP, typename real> __device__ int64_t first_value(int64_t slot)
{
    constexpr int L = lanes<real>;
    return slot / L * 3 * NP * L + slot % L;
}

/* flux = eps_abc D_b h_c for degrees of freedom from `first` on. */
template <typename real, int P>
__global__ void int_volume(const __grid_constant__ view<real> x, int first)
{
    using S = shape<real, P>;
    __shared__ real geometry[9][S::NBTET], field[3][S::NP][S::NBTET];
    const int e = threadIdx.x % S::NBTET, q = threadIdx.x / S::NBTET, i = first + q;
    const int rows = blockDim.x / S::NBTET;
    const int64_t slot = x.begin + (int64_t)blockIdx.x * S::NBTET + e;
    const bool inside = slot < x.end;
    const int64_t base = inside ? first_value<S::NP, real>(slot) : 0;
    for (int k = q; k < 9 && inside; k += rows) geometry[k][e] = tangent(x, slot, k);
    __syncthreads();
    for (int n = q; n < S::NP && inside; n += rows) {
        real u[3];
        for (int c = 0; c < 3; ++c) u[c] = x.source[base + (c * S::NP + n) * S::L];
        for (int a = 0; a < 3; ++a)
            field[a][n][e] = geometry[3 * a][e] * u[0] + geometry[3 * a + 1][e] * u[1] +
                             geometry[3 * a + 2][e] * u[2];
    }
    __syncthreads();
    if (!inside || i >= S::NP) return;
    const real *d = table<real>() + i * S::NP;
    real r[3] = {0, 0, 0};
    for (int j = 0; j < S::NP; ++j) {
        const real h[3] = {field[0][j][e], field[1][j][e], field[2][j][e]};
        const real dr = d[j], ds = d[S::NP * S::NP + j], dt = d[2 * S::NP * S::NP + j];
        r[0] += ds * h[2] - dt * h[1];
        r[1] += dt * h[0] - dr * h[2];
        r[2] += dr * h[1] - ds * h[0];
    }
    for (int a = 0; a < 3; ++a) x.flux[base + (a * S::NP + i) * S::L] = r[a];
}

/* jump[a] = eps_abc nu_b [h]_c of face node m at face f. */
template <typename real, int P>
__device__ void jump_at(const view<real> &x, const real *g, int stride, int64_t slot, int f, int m,
                        real (&jump)[3])
{
    using S = shape<real, P>;
    const int64_t group = slot / S::L, at = (group * 4 + f) * S::L + slot % S::L;
    const int32_t link = x.links[at];
    const int64_t own = first_value<S::NP, real>(slot) + x.faces.node[f][m] * S::L;
    const int64_t other = first_value<S::NP, real>(link >> 2) + x.faces.node[link & 3][m] * S::L;
    const real sign = x.bordered[group] ? x.sign[x.kinds[at]] : real(1);
    real u[3], h[3];
    for (int c = 0; c < 3; ++c)
        u[c] = sign * x.source[other + c * S::NP * S::L] - x.source[own + c * S::NP * S::L];
    for (int a = 0; a < 3; ++a)
        h[a] = g[3 * a * stride] * u[0] + g[(3 * a + 1) * stride] * u[1] +
               g[(3 * a + 2) * stride] * u[2];
    jump[0] = f == 0 ? h[1] : f == 1 ? -h[2] : f == 2 ? h[2] - h[1] : real(0);
    jump[1] = f == 0 ? -h[0] : f == 1 ? real(0) : f == 2 ? h[0] - h[2] : h[2];
    jump[2] = f == 0 ? real(0) : f == 1 ? h[0] : f == 2 ? h[1] - h[0] : -h[1];
}

/* flux += LIFT/2 of the jumps of faces [first, last). */
template <typename real, int P>
__global__ void int_surface(const __grid_constant__ view<real> x, int first, int last)
{
    using S = shape<real, P>;
    constexpr int ROWS = (S::NP + S::NF - 1) / S::NF;
    __shared__ real geometry[9][S::NBTET], jumps[3][S::NF][S::NBTET];
    const int e = threadIdx.x % S::NBTET, m = threadIdx.x / S::NBTET;
    const int64_t slot = x.begin + (int64_t)blockIdx.x * S::NBTET + e;
    const bool inside = slot < x.end;
    real r[3][ROWS];
    for (int k = m; k < 9 && inside; k += S::NF) geometry[k][e] = tangent(x, slot, k);
    for (int a = 0; a < 3; ++a)
        for (int k = 0; k < ROWS; ++k) r[a][k] = 0;
    for (int f = first; f < last; ++f) {
        __syncthreads();
        if (inside) {
            real jump[3];
            jump_at<real, P>(x, &geometry[0][e], S::NBTET, slot, f, m, jump);
            for (int a = 0; a < 3; ++a) jumps[a][m][e] = jump[a];
        }
        __syncthreads();
        for (int k = 0; k < ROWS && inside; ++k) {
            const int i = m + k * S::NF;
            if (i >= S::NP) break;
            const real *lift = table<real>() + S::FACES + (f * S::NP + i) * S::NF;
            for (int n = 0; n < S::NF; ++n)
                for (int a = 0; a < 3; ++a) r[a][k] += lift[n] * jumps[a][n][e];
        }
    }
    if (!inside) return;
    real *flux = x.flux + first_value<S::NP, real>(slot);
    for (int k = 0; k < ROWS; ++k)
        for (int a = 0; a < 3 && m + k * S::NF < S::NP; ++a)
            flux[(a * S::NP + m + k * S::NF) * S::L] += r[a][k] / 2;
}

/* target = keep target + gain/det t_a flux_a. */
template <typename real, int P>
__global__ void update_field(const __grid_constant__ view<real> x)
{
    using S = shape<real, P>;
    constexpr int EACH = S::high ? 2 : 1;
    __shared__ real geometry[9][S::NBTET];
    const int e = threadIdx.x % S::NBTET, q = threadIdx.x / S::NBTET;
    const int rows = blockDim.x / S::NBTET;
    const int64_t slot = x.begin + (int64_t)blockIdx.x * S::NBTET + e;
    const bool inside = slot < x.end;
    for (int k = q; k < 9 && inside; k += rows) geometry[k][e] = tangent(x, slot, k);
    __syncthreads();
    if (!inside) return;
    real t[3][3];
    for (int k = 0; k < 9; ++k) t[k / 3][k % 3] = geometry[k][e];
    const real det = t[0][0] * (t[1][1] * t[2][2] - t[1][2] * t[2][1]) +
                     t[0][1] * (t[1][2] * t[2][0] - t[1][0] * t[2][2]) +
                     t[0][2] * (t[1][0] * t[2][1] - t[1][1] * t[2][0]);
    const real keep = x.keep[x.material[slot]], gain = x.gain[x.material[slot]] / det;
    const int64_t base = first_value<S::NP, real>(slot);
    for (int i = q * EACH; i < (q + 1) * EACH && i < S::NP; ++i) {
        real r[3];
        for (int a = 0; a < 3; ++a) r[a] = gain * x.flux[base + (a * S::NP + i) * S::L];
        for (int c = 0; c < 3; ++c) {
            real *to = x.target + base + (c * S::NP + i) * S::L;
            *to = keep * *to + (t[0][c] * r[0] + t[1][c] * r[1] + t[2][c] * r[2]);
        }
    }
}

/* Puts the matrices of the device's order into constant memory. It is one for all streams of a
 * device: where it held others, whatever may use them is waited for. */
ps_status fill_constants(const ps_dgtd_device *d, int ordinal, cudaStream_t queue)
{
    struct key {
        int order, precision;
    };
    enum { DEVICES = 64 };
    static std::mutex lock;
    static key filled[DEVICES];
    const key wanted = {d->order, (int)d->precision};
    const int np = (d->order + 1) * (d->order + 2) * (d->order + 3) / 6,
              nf = (d->order + 1) * (d->order + 2) / 2;
    const size_t bytes = (size_t)(3 * np * np + 4 * np * nf) * (d->precision == PS_SINGLE ? 4 : 8);
    std::lock_guard<std::mutex> hold(lock);
    if (ordinal < DEVICES && filled[ordinal].order == wanted.order &&
        filled[ordinal].precision == wanted.precision)
        return PS_OK;
    PS_CUDA(cudaDeviceSynchronize());
    PS_CUDA(cudaMemcpyToSymbolAsync(constant_table, d->dense, bytes, 0, cudaMemcpyDeviceToDevice,
                                    queue));
    PS_CUDA(cudaStreamSynchronize(queue));
    if (ordinal < DEVICES) filled[ordinal] = wanted;
    return PS_OK;
}

template <typename real, int P>
ps_status launch(const ps_dgtd_device_sweep *s, view<real> *x, cudaStream_t queue)
{
    using S = shape<real, P>;
    ps_dgtd_list_face_nodes(P, &x->faces);
    const unsigned blocks = (unsigned)((x->end - x->begin + S::NBTET - 1) / S::NBTET);
    for (int subset = 0; subset < S::SUBSETS; ++subset)
        int_volume<real, P><<<blocks, S::NBTET * S::SUBSET, 0, queue>>>(*x, subset * S::SUBSET);
    for (int f = 0; f < (S::high ? 4 : 1); ++f)
        int_surface<real, P><<<blocks, S::NBTET * S::NF, 0, queue>>>(*x, f, S::high ? f + 1 : 4);
    update_field<real, P>
        <<<blocks, S::NBTET * (S::high ? (S::NP + 1) / 2 : S::NP), 0, queue>>>(*x);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

template <typename real>
ps_status by_order(const ps_dgtd_device_sweep *s, const ps_dgtd_device_part *part,
                   cudaStream_t queue)
{
    const ps_dgtd_device *d = s->device;
    const real *steps = static_cast<const real *>(d->steps) + 2 * d->materials * s->field;
    view<real> x = {static_cast<const real *>(d->tangents), d->links, d->kinds, d->bordered,
                    d->material, steps, steps + d->materials,
                    static_cast<const real *>(s->source), static_cast<real *>(s->target),
                    static_cast<real *>(d->flux), {}, part->begin * lanes<real>,
                    part->end * lanes<real>, {}};
    for (int kind = 0; kind < PS_DGTD_FACES; ++kind)
        x.sign[kind] = (real)ps_dgtd_ghost_signs[s->field][kind];
    switch (d->order) {
    case 1: return launch<real, 1>(s, &x, queue);
    case 2: return launch<real, 2>(s, &x, queue);
    case 3: return launch<real, 3>(s, &x, queue);
    default: return launch<real, 4>(s, &x, queue);
    }
}

} // namespace

extern "C" ps_status ps_dgtd_paper_step_cuda(const ps_dgtd_device_sweep *s, ps_stream *stream)
{
    PS_TRY(ps_stream_enter(stream));
    const cudaStream_t queue = static_cast<cudaStream_t>(ps_stream_handle(stream));
    int ordinal;
    PS_CUDA(cudaGetDevice(&ordinal));
    PS_TRY(fill_constants(s->device, ordinal, queue));
    for (const ps_dgtd_device_part *part = s->parts; part < s->parts + s->count; ++part)
        PS_TRY(s->device->precision == PS_SINGLE ? by_order<float>(s, part, queue)
                                                 : by_order<double>(s, part, queue));
    return PS_OK;
}
