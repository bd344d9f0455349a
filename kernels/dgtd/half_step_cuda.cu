/*
 * The half step on CUDA (kernels/dgtd/device_state.h): a thread an element, whose three
 * contravariant rows stay in registers from the first coefficient read to the update. All operators
 * are arithmetic with constants (bernstein_body.h); neighbours' traces come through the caches.
 */
#include <cuda_runtime.h>

#include <cstdint>
#include <utility>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/dgtd/device_launch.h"
}

namespace {

#include "kernels/dgtd/bernstein_body.h"

enum { THREADS = 128 };

template <typename real> constexpr int lanes = 64 / (int)sizeof(real);

/* Blocks that a multiprocessor must hold: bounds the registers. */
template <typename real, int P> constexpr int residents()
{
    constexpr int blocks[2][4] = {{8, 5, 4, 3}, {6, 3, 2, 2}};
    return blocks[sizeof(real) == 8][P - 1];
}

template <typename real> struct view {
    const real *tangents;
    const int32_t *links;
    const uint8_t *kinds, *bordered;
    const uint16_t *material;
    const real *keep, *gain; /* of the field, by material */
    const real *source;
    real *target;
    real sign[PS_DGTD_FACES]; /* ghost values over own ones, by kind of face */
    int64_t begin, end;       /* slots */
};

/* A load that the compiler may not merge with an earlier one: it would keep the value in a
 * register over hundreds of instructions. */
__device__ __forceinline__ float load_again(const float *p)
{
    float x;
    asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(x) : "l"(p));
    return x;
}
__device__ __forceinline__ double load_again(const double *p)
{
    double x;
    asm volatile("ld.global.nc.f64 %0, [%1];" : "=d"(x) : "l"(p));
    return x;
}

/* Coefficient n of an element whose first one is at `own`. */
template <int P, typename real>
__device__ __forceinline__ void load(const real *__restrict__ own, int n, real (&u)[3])
{
    for (int c = 0; c < 3; ++c)
        u[c] = P < 3 ? __ldg(own + (c * lattice<P>::nodes + n) * lanes<real>)
                     : load_again(own + (c * lattice<P>::nodes + n) * lanes<real>);
}

template <typename real> __device__ __forceinline__ real dot(const real (&t)[3], const real (&u)[3])
{
    return t[0] * u[0] + t[1] * u[1] + t[2] * u[2];
}

/* ja, jb = ta, tb . (sign u_k - u_i) over the coefficients of face F. */
template <int P, int F, typename real>
__device__ __forceinline__ void jumps(const view<real> &x, const real *__restrict__ own,
                                      const uint32_t row, const uint32_t stride, const bool bordered,
                                      const real (&ta)[3], const real (&tb)[3],
                                      real (&ja)[lattice<P>::face_nodes],
                                      real (&jb)[lattice<P>::face_nodes])
{
    constexpr int size = 3 * lattice<P>::nodes * lanes<real>;
    const uint32_t at = row + F * stride, link = __ldg(x.links + at), slot = link >> 2;
    const uint32_t select = 0x4440 | (link & 3);
    const real *__restrict__ other =
        x.source + (slot / lanes<real> * size + slot % lanes<real>);
    const real sign = bordered ? x.sign[x.kinds[at]] : real(1);
    each<lattice<P>::face_nodes>([&](auto node) {
        constexpr int m = node, n = lattice_of<P>.face[F][m];
        constexpr uint32_t packed = lattice_of<P>.packed[m];
        const real *__restrict__ from = other + __byte_perm(packed, 0, select) * lanes<real>;
        real u[3];
        load<P>(own, n, u);
        for (int c = 0; c < 3; ++c)
            u[c] = sign * __ldg(from + c * lattice<P>::nodes * lanes<real>) - u[c];
        ja[m] = dot(ta, u);
        jb[m] = dot(tb, u);
    });
}

template <typename real, int P>
__global__ __launch_bounds__(THREADS, (residents<real, P>())) void half_step(
    const __grid_constant__ view<real> x)
{
    constexpr int NP = lattice<P>::nodes, NF = lattice<P>::face_nodes, L = lanes<real>;
    const int64_t slot = x.begin + (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (slot >= x.end) return;
    const uint32_t g = (uint32_t)slot / L, lane = (uint32_t)slot % L;
    const real *__restrict__ own = x.source + (g * (3 * NP * L) + lane);
    real t[3][3], r[3][NP];
    for (int k = 0; k < 9; ++k) t[k / 3][k % 3] = __ldg(x.tangents + (g * (9 * L) + k * L + lane));
    {
        real w[3][lattice<P>::lower];
        each<3 * lattice<P>::lower>([&](auto i) { w[i % 3][i / 3] = -real(0); });
        each<NP>([&](auto n) {
            real u[3];
            load<P>(own, n, u);
            const real h[3] = {dot(t[0], u), dot(t[1], u), dot(t[2], u)};
            add_differences<P, n>(w, h);
        });
        elevate<P>(w, r);
    }
    const uint32_t row = g * (4 * L) + lane;
    const bool bordered = x.bordered[g];
    real ja[NF], jb[NF];
    jumps<P, 0>(x, own, row, L, bordered, t[1], t[0], ja, jb);
    lift<P, 0>(ja, [&](auto n, real factor, real v) { r[0][n] += factor * v; });
    lift<P, 0>(jb, [&](auto n, real factor, real v) { r[1][n] -= factor * v; });
    jumps<P, 1>(x, own, row, L, bordered, t[2], t[0], ja, jb);
    lift<P, 1>(ja, [&](auto n, real factor, real v) { r[0][n] -= factor * v; });
    lift<P, 1>(jb, [&](auto n, real factor, real v) { r[2][n] += factor * v; });
    jumps<P, 3>(x, own, row, L, bordered, t[2], t[1], ja, jb);
    lift<P, 3>(ja, [&](auto n, real factor, real v) { r[1][n] += factor * v; });
    lift<P, 3>(jb, [&](auto n, real factor, real v) { r[2][n] -= factor * v; });
    {
        real ta[3], tb[3];
        for (int c = 0; c < 3; ++c) {
            ta[c] = t[2][c] - t[1][c];
            tb[c] = t[0][c] - t[2][c];
        }
        jumps<P, 2>(x, own, row, L, bordered, ta, tb, ja, jb);
        lift<P, 2>(ja, [&](auto n, real factor, real v) {
            r[0][n] += factor * v;
            r[2][n] -= factor * v;
        });
        lift<P, 2>(jb, [&](auto n, real factor, real v) {
            r[1][n] += factor * v;
            r[2][n] -= factor * v;
        });
    }
    const uint16_t material = x.material[slot];
    const real keep = __ldg(x.keep + material);
    const real det = t[0][0] * (t[1][1] * t[2][2] - t[1][2] * t[2][1]) +
                     t[0][1] * (t[1][2] * t[2][0] - t[1][0] * t[2][2]) +
                     t[0][2] * (t[1][0] * t[2][1] - t[1][1] * t[2][0]);
    const real gain = __ldg(x.gain + material) / (2 * det);
    for (int k = 0; k < 9; ++k) t[k / 3][k % 3] *= gain;
    real *__restrict__ target = x.target + (g * (3 * NP * L) + lane);
    each<3 * NP>([&](auto at) {
        constexpr int c = at / NP, n = at % NP;
        real *to = target + at * L;
        *to = keep * *to + (t[0][c] * r[0][n] + t[1][c] * r[1][n] + t[2][c] * r[2][n]);
    });
}

/* r = (curl + LIFT ..)/2 above: the derivatives' 1/2 and that of the lift are in the gain. */
template <typename real, int P>
ps_status launch(const ps_dgtd_device_sweep *s, cudaStream_t queue)
{
    const ps_dgtd_device *d = s->device;
    const real *steps = static_cast<const real *>(d->steps) + 2 * d->materials * s->field;
    view<real> x = {static_cast<const real *>(d->tangents), d->links, d->kinds, d->bordered,
                    d->material, steps, steps + d->materials,
                    static_cast<const real *>(s->source), static_cast<real *>(s->target), {},
                    s->begin * lanes<real>, s->end * lanes<real>};
    for (int kind = 0; kind < PS_DGTD_FACES; ++kind)
        x.sign[kind] = (real)ps_dgtd_ghost_signs[s->field][kind];
    const int64_t blocks = (x.end - x.begin + THREADS - 1) / THREADS;
    half_step<real, P><<<(unsigned)blocks, THREADS, 0, queue>>>(x);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

template <typename real> ps_status by_order(const ps_dgtd_device_sweep *s, cudaStream_t queue)
{
    switch (s->device->order) {
    case 1: return launch<real, 1>(s, queue);
    case 2: return launch<real, 2>(s, queue);
    case 3: return launch<real, 3>(s, queue);
    default: return launch<real, 4>(s, queue);
    }
}

} // namespace

extern "C" ps_status ps_dgtd_half_step_cuda(const ps_dgtd_device_sweep *s, ps_stream *stream)
{
    PS_TRY(ps_stream_enter(stream));
    const cudaStream_t queue = static_cast<cudaStream_t>(ps_stream_handle(stream));
    return s->device->precision == PS_SINGLE ? by_order<float>(s, queue)
                                             : by_order<double>(s, queue);
}
