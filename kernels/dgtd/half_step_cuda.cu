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
#include "kernels/dgtd/device_kernels.h"
}

namespace {

#include "kernels/dgtd/bernstein_body.h"

template <typename real> constexpr int lanes = 64 / (int)sizeof(real);

/* Threads of a block, and blocks that a multiprocessor must hold, which bounds the registers; face
 * nodes whose neighbours are fetched at once. Measured on an H200: few threads with all they need
 * in registers are faster than more that share them or fetch twice. */
template <typename real, int P> __host__ __device__ constexpr int threads()
{
    return sizeof(real) == 4 && P % 2 == 1 ? 192 : 128;
}
template <typename real, int P> __host__ __device__ constexpr int residents()
{
    constexpr int blocks[2][4] = {{5, 4, 2, 2}, {4, 3, 2, 2}};
    return blocks[sizeof(real) == 8][P - 1];
}
template <int P> constexpr int batch = P == 2 ? 5 : lattice<P>::face_nodes;

template <typename real> struct view {
    const real *tangents;
    const int32_t *links;
    const uint8_t *kinds, *bordered;
    const uint16_t *material;
    const real *keep, *gain; /* of the field, by material */
    const real *source;
    real *target;
    real sign[PS_DGTD_FACES]; /* ghost values over own ones, by kind of face */
    uint32_t begin[PS_DGTD_DEVICE_PARTS], end[PS_DGTD_DEVICE_PARTS]; /* slots of blockIdx.y */
    real *increments; /* LOCAL: of the parts whose bit is set: what they become, whatever it was */
    uint32_t fresh;
};

template <typename real> __device__ __forceinline__ real dot(const real (&t)[3], const real (&u)[3])
{
    return t[0] * u[0] + t[1] * u[1] + t[2] * u[2];
}

/* Whether a thread keeps the covariant components of its element in registers for the faces, or
 * fetches its own traces again. */
template <typename real, int P> constexpr bool keeps = sizeof(real) == 4 || P < 4;
template <typename real, int P> constexpr int kept = keeps<real, P> ? lattice<P>::nodes : 1;

/* What a thread knows of its element. */
template <typename real, int P> struct element {
    const real *__restrict__ own;      /* coefficient 0 of the source */
    const real *__restrict__ tangents; /* component 0                 */
    uint32_t row;                      /* of links and kinds, face 0  */
    bool bordered;
};

template <typename real, int P>
__device__ __forceinline__ void tangent(const element<real, P> &e, int a, real (&t)[3])
{
    for (int c = 0; c < 3; ++c) t[c] = __ldg(e.tangents + (3 * a + c) * lanes<real>);
}

/* A load that the compiler may not merge with an earlier one, which would keep the value. */
__device__ __forceinline__ float again(const float *from)
{
    float x;
    asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(x) : "l"(from));
    return x;
}
__device__ __forceinline__ double again(const double *from)
{
    double x;
    asm volatile("ld.global.nc.f64 %0, [%1];" : "=d"(x) : "l"(from));
    return x;
}

/* t = t_plus - t_minus; minus -1: none. */
template <int PLUS, int MINUS, typename real, int P>
__device__ __forceinline__ void difference(const element<real, P> &e, real (&t)[3])
{
    constexpr int L = lanes<real>;
    for (int c = 0; c < 3; ++c) {
        t[c] = P < 3 ? __ldg(e.tangents + (3 * PLUS + c) * L)
                     : again(e.tangents + (3 * PLUS + c) * L);
        if constexpr (MINUS >= 0)
            t[c] -= P < 3 ? __ldg(e.tangents + (3 * MINUS + c) * L)
                          : again(e.tangents + (3 * MINUS + c) * L);
    }
}

/* h_plus - h_minus of coefficient n, where they are kept. */
template <int PLUS, int MINUS, int n, typename real, int KEPT>
__device__ __forceinline__ real own_part(const real (&h)[3][KEPT])
{
    if constexpr (MINUS >= 0) return h[PLUS][n] - h[MINUS][n];
    return h[PLUS][n];
}

/* ja, jb = (t_plus - t_minus) . (sign u_k - u_i) over the coefficients of face F. */
template <int F, int PLUS_A, int MINUS_A, int PLUS_B, int MINUS_B, int P, typename real>
__device__ __forceinline__ void jumps(const view<real> &x, const element<real, P> &e,
                                      const real (&h)[3][kept<real, P>],
                                      real (&ja)[lattice<P>::face_nodes],
                                      real (&jb)[lattice<P>::face_nodes])
{
    constexpr int L = lanes<real>, NP = lattice<P>::nodes, NF = lattice<P>::face_nodes;
    const uint32_t at = e.row + F * L, link = __ldg(x.links + at), slot = link >> 2;
    const uint32_t select = 0x4440 | (link & 3);
    const real *__restrict__ other = x.source + (slot / L * (3 * NP * L) + slot % L);
    const real sign = e.bordered ? x.sign[x.kinds[at]] : real(1);
    real ta[3], tb[3];
    each<(NF + batch<P> - 1) / batch<P>>([&](auto part) {
        constexpr int begin = part * batch<P>,
                      size = NF - begin < batch<P> ? NF - begin : batch<P>;
        real there[size][3];
        each<size>([&](auto k) {
            constexpr uint32_t packed = lattice_of<P>.packed[begin + k];
            const real *__restrict__ from = other + __byte_perm(packed, 0, select) * L;
            for (int c = 0; c < 3; ++c) there[k][c] = __ldg(from + c * NP * L);
        });
        if (part == 0) {
            difference<PLUS_A, MINUS_A>(e, ta);
            difference<PLUS_B, MINUS_B>(e, tb);
        }
        each<size>([&](auto k) {
            constexpr int m = begin + k, n = lattice_of<P>.face[F][m];
            for (int c = 0; c < 3; ++c) {
                there[k][c] *= sign;
                if constexpr (!keeps<real, P>) there[k][c] -= again(e.own + (c * NP + n) * L);
            }
            ja[m] = dot(ta, there[k]);
            jb[m] = dot(tb, there[k]);
            if constexpr (keeps<real, P>) {
                ja[m] -= own_part<PLUS_A, MINUS_A, n>(h);
                jb[m] -= own_part<PLUS_B, MINUS_B, n>(h);
            }
        });
    });
}

/* How many of an element's three rows lie in shared memory, a value of each thread side by side;
 * the others are registers. One where three do not fit: 1.91 s in P4 and fp64 on an H200, where
 * none, with spills, takes 2.34, two 2.03 and three 2.64. */
template <typename real, int P> constexpr int shared_rows = sizeof(real) == 8 && P == 4 ? 1 : 0;
template <typename real, int P>
constexpr int shared_bytes =
    shared_rows<real, P> * lattice<P>::nodes * threads<real, P>() * (int)sizeof(real);

template <typename real, int P> struct rows {
    static constexpr int S = shared_rows<real, P>;
    real r[S < 3 ? 3 - S : 1][S < 3 ? lattice<P>::nodes : 1];
    real *shared; /* of this thread */
    template <int a, int n> __device__ __forceinline__ real &at()
    {
        if constexpr (a < S)
            return shared[(a * lattice<P>::nodes + n) * threads<real, P>()];
        else
            return r[a - S][n];
    }
};

/* r = 2 (curl_h + LIFT F/2 n x [.]) in contravariant components. */
template <typename real, int P>
__device__ __forceinline__ void sum_rows(const view<real> &x, const element<real, P> &e,
                                         rows<real, P> &r)
{
    constexpr int NF = lattice<P>::face_nodes, NP = lattice<P>::nodes;
    real ja[NF], jb[NF], h[3][kept<real, P>];
    {
        real w[3][lattice<P>::lower], t[3][3];
        for (int a = 0; a < 3; ++a) tangent(e, a, t[a]);
        each<3 * lattice<P>::lower>([&](auto i) { w[i % 3][i / 3] = -real(0); });
        each<NP>([&](auto n) {
            real u[3];
            for (int c = 0; c < 3; ++c) u[c] = __ldg(e.own + (c * NP + n) * lanes<real>);
            const real now[3] = {dot(t[0], u), dot(t[1], u), dot(t[2], u)};
            if constexpr (keeps<real, P>)
                for (int a = 0; a < 3; ++a) h[a][n] = now[a];
            add_differences<P, n>(w, now);
        });
        elevate<P, real>(w, [&](auto a, auto n, real sum) { r.template at<a, n>() = sum; });
    }
    jumps<0, 1, -1, 0, -1>(x, e, h, ja, jb);
    lift<P, 0>(ja, [&](auto n, real factor, real v) { r.template at<0, n>() += factor * v; });
    lift<P, 0>(jb, [&](auto n, real factor, real v) { r.template at<1, n>() -= factor * v; });
    jumps<1, 2, -1, 0, -1>(x, e, h, ja, jb);
    lift<P, 1>(ja, [&](auto n, real factor, real v) { r.template at<0, n>() -= factor * v; });
    lift<P, 1>(jb, [&](auto n, real factor, real v) { r.template at<2, n>() += factor * v; });
    jumps<3, 2, -1, 1, -1>(x, e, h, ja, jb);
    lift<P, 3>(ja, [&](auto n, real factor, real v) { r.template at<1, n>() += factor * v; });
    lift<P, 3>(jb, [&](auto n, real factor, real v) { r.template at<2, n>() -= factor * v; });
    jumps<2, 2, 1, 0, 2>(x, e, h, ja, jb);
    lift<P, 2>(ja, [&](auto n, real factor, real v) {
        r.template at<0, n>() += factor * v;
        r.template at<2, n>() -= factor * v;
    });
    lift<P, 2>(jb, [&](auto n, real factor, real v) {
        r.template at<1, n>() += factor * v;
        r.template at<2, n>() -= factor * v;
    });
}

/* The half step of the element of a slot. LOCAL: one of local steps (device_local.h). */
template <typename real, int P, bool LOCAL>
__device__ __forceinline__ void advance(const view<real> &x, uint32_t slot, double *shared)
{
    constexpr int NP = lattice<P>::nodes, L = lanes<real>;
    const uint32_t g = slot / L, lane = slot % L;
    const element<real, P> e = {x.source + (g * (3 * NP * L) + lane),
                                x.tangents + (g * (9 * L) + lane), g * (4 * L) + lane,
                                x.bordered[g] != 0};
    rows<real, P> r;
    real t[3][3];
    r.shared = reinterpret_cast<real *>(shared) + (shared_rows<real, P> ? threadIdx.x : 0);
    sum_rows(x, e, r);
    for (int a = 0; a < 3; ++a) tangent(e, a, t[a]);
    const uint16_t material = x.material[slot];
    const real keep = __ldg(x.keep + material);
    const real det = t[0][0] * (t[1][1] * t[2][2] - t[1][2] * t[2][1]) +
                     t[0][1] * (t[1][2] * t[2][0] - t[1][0] * t[2][2]) +
                     t[0][2] * (t[1][0] * t[2][1] - t[1][1] * t[2][0]);
    const real gain = __ldg(x.gain + material) / (2 * det);
    for (int k = 0; k < 9; ++k) t[k / 3][k % 3] *= gain;
    const bool fresh = LOCAL && (x.fresh >> blockIdx.y & 1);
    real *__restrict__ target = (fresh ? x.increments : x.target) + (g * (3 * NP * L) + lane);
    each<3 * NP>([&](auto at) {
        constexpr int c = at / NP, n = at % NP;
        real *to = target + at * L;
        const real before = fresh ? real(0) : keep * __ldcs(to);
        __stcs(to, before +
                       (t[0][c] * r.template at<0, n>() + t[1][c] * r.template at<1, n>() +
                        t[2][c] * r.template at<2, n>()));
    });
}

template <typename real, int P, bool LOCAL>
__global__ __launch_bounds__((threads<real, P>()), (residents<real, P>())) void half_step(
    const __grid_constant__ view<real> x)
{
    extern __shared__ double shared[];
    const uint32_t slot = x.begin[blockIdx.y] + blockIdx.x * threads<real, P>() + threadIdx.x;
    if (slot < x.end[blockIdx.y]) advance<real, P, LOCAL>(x, slot, shared);
}

template <typename real, int P, bool LOCAL>
ps_status launch(const ps_dgtd_local_sweep *s, cudaStream_t queue)
{
    const ps_dgtd_device *d = s->device;
    const real *steps = static_cast<const real *>(d->steps) + 2 * d->materials * s->field;
    view<real> x = {static_cast<const real *>(d->tangents), d->links, d->kinds, d->bordered,
                    d->material, steps, steps + d->materials,
                    static_cast<const real *>(s->source), static_cast<real *>(s->target), {},
                    {}, {}, static_cast<real *>(s->increments), s->fresh};
    uint32_t most = 0;
    for (int k = 0; k < s->count; ++k) {
        x.begin[k] = s->begin[k];
        x.end[k] = s->end[k];
        most = x.end[k] - x.begin[k] > most ? x.end[k] - x.begin[k] : most;
    }
    for (int kind = 0; kind < PS_DGTD_FACES; ++kind)
        x.sign[kind] = (real)ps_dgtd_ghost_signs[s->field][kind];
    const dim3 blocks((most + threads<real, P>() - 1) / threads<real, P>(), (unsigned)s->count);
    constexpr int bytes = shared_bytes<real, P>;
    static_assert(bytes <= 48 << 10, "more than a block has without asking");
    half_step<real, P, LOCAL><<<blocks, threads<real, P>(), bytes, queue>>>(x);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

template <typename real, bool LOCAL>
ps_status by_order(const ps_dgtd_local_sweep *s, cudaStream_t queue)
{
    switch (s->device->order) {
    case 1: return launch<real, 1, LOCAL>(s, queue);
    case 2: return launch<real, 2, LOCAL>(s, queue);
    case 3: return launch<real, 3, LOCAL>(s, queue);
    default: return launch<real, 4, LOCAL>(s, queue);
    }
}

template <bool LOCAL> ps_status by_precision(const ps_dgtd_local_sweep *s, ps_stream *stream)
{
    PS_TRY(ps_stream_enter(stream));
    const cudaStream_t queue = static_cast<cudaStream_t>(ps_stream_handle(stream));
    return s->device->precision == PS_SINGLE ? by_order<float, LOCAL>(s, queue)
                                             : by_order<double, LOCAL>(s, queue);
}

} // namespace

extern "C" ps_status ps_dgtd_half_step_cuda(const ps_dgtd_device_sweep *s, ps_stream *stream)
{
    const uint32_t lanes = s->device->precision == PS_SINGLE ? 16 : 8;
    ps_dgtd_local_sweep slots = {s->device, s->field, s->target, nullptr, s->source, s->count,
                                 0,         {},       {}};
    for (int k = 0; k < s->count; ++k) {
        slots.begin[k] = (uint32_t)s->parts[k].begin * lanes;
        slots.end[k] = (uint32_t)s->parts[k].end * lanes;
    }
    return by_precision<false>(&slots, stream);
}

extern "C" ps_status ps_dgtd_local_step_cuda(const ps_dgtd_local_sweep *s, ps_stream *stream)
{
    return by_precision<true>(s, stream);
}
