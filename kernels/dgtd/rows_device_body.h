/* The rows of a half step of an element (half_step_cuda.cu), whose values stay in registers from
 * the first coefficient read to the update. */
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
    const ps_dgtd_device_unit *units;                                /* NULL: the slots above */
    uint32_t unit_count;
    real *increments;                        /* LOCAL; KEPT: of what is kept */
    const int32_t *counts, *law_of, *row_of; /* POLES, TENSORS */
    const int64_t *first;
    const real *laws;
    real *state;
    const ps_dgtd_device_port
        *ports;     /* not LOCAL: what changes E of groups that are PS_DGTD_PORTED */
    int port_count; /* 0: E of none                                        */
};

template <typename real> __device__ __forceinline__ real dot(const real (&t)[3], const real (&u)[3])
{
    return t[0] * u[0] + t[1] * u[1] + t[2] * u[2];
}

/* Whether a thread keeps covariant components in registers for the faces, or fetches them again. */
template <typename real, int P> constexpr bool keeps = sizeof(real) == 4 || P < 4;
template <typename real, int P> constexpr int kept = keeps<real, P> ? lattice<P>::nodes : 1;

/* What a thread knows of its element. CHANGING: the source is what a launch before this one makes,
 * which may not be over when this one begins (launch_early in half_step_cuda.cu). */
template <typename real, int P, bool CHANGING> struct element {
    const real *__restrict__ own;      /* coefficient 0 of the source */
    const real *__restrict__ tangents; /* component 0                 */
    uint32_t row;                      /* of links and kinds, face 0  */
    bool bordered;
    uint32_t links[CHANGING ? 4 : 1]; /* which those that are not fetch when they need them */
};

template <typename real, int P, bool C>
__device__ __forceinline__ void tangent(const element<real, P, C> &e, int a, real (&t)[3])
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

/* A value of the source; one that changes may not be fetched before the launch that makes it is
 * over, nor from where the device keeps what is constant. */
template <bool CHANGING> __device__ __forceinline__ float source_value(const float *from)
{
    if constexpr (CHANGING) {
        float x;
        asm volatile("ld.global.f32 %0, [%1];" : "=f"(x) : "l"(from));
        return x;
    } else {
        return __ldg(from);
    }
}
template <bool CHANGING> __device__ __forceinline__ double source_value(const double *from)
{
    if constexpr (CHANGING) {
        double x;
        asm volatile("ld.global.f64 %0, [%1];" : "=d"(x) : "l"(from));
        return x;
    } else {
        return __ldg(from);
    }
}

/* t = t_plus - t_minus; minus -1: none. */
template <int PLUS, int MINUS, typename real, int P, bool C>
__device__ __forceinline__ void difference(const element<real, P, C> &e, real (&t)[3])
{
    constexpr int L = lanes<real>;
    for (int c = 0; c < 3; ++c) {
        t[c] =
            P < 3 ? __ldg(e.tangents + (3 * PLUS + c) * L) : again(e.tangents + (3 * PLUS + c) * L);
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
template <int F, int PLUS_A, int MINUS_A, int PLUS_B, int MINUS_B, int P, typename real, bool C>
__device__ __forceinline__ void
jumps(const view<real> &x, const element<real, P, C> &e, const real (&h)[3][kept<real, P>],
      real (&ja)[lattice<P>::face_nodes], real (&jb)[lattice<P>::face_nodes])
{
    constexpr int L = lanes<real>, NP = lattice<P>::nodes, NF = lattice<P>::face_nodes;
    const uint32_t at = e.row + F * L, link = C ? e.links[C ? F : 0] : __ldg(x.links + at);
    const uint32_t slot = link >> 2;
    const uint32_t select = 0x4440 | (link & 3);
    const real *__restrict__ other = x.source + (slot / L * (3 * NP * L) + slot % L);
    const real sign = e.bordered ? x.sign[x.kinds[at]] : real(1);
    real ta[3], tb[3];
    each<(NF + batch<P> - 1) / batch<P>>([&](auto part) {
        constexpr int begin = part * batch<P>, size = NF - begin < batch<P> ? NF - begin : batch<P>;
        real there[size][3];
        each<size>([&](auto k) {
            constexpr uint32_t packed = lattice_of<P>.packed[begin + k];
            const real *__restrict__ from = other + __byte_perm(packed, 0, select) * L;
            for (int c = 0; c < 3; ++c) there[k][c] = source_value<C>(from + c * NP * L);
        });
        if (part == 0) {
            difference<PLUS_A, MINUS_A>(e, ta);
            difference<PLUS_B, MINUS_B>(e, tb);
        }
        each<size>([&](auto k) {
            constexpr int m = begin + k, n = lattice_of<P>.face[F][m];
            for (int c = 0; c < 3; ++c) {
                there[k][c] *= sign;
                if constexpr (!keeps<real, P>)
                    there[k][c] -= C ? source_value<true>(e.own + (c * NP + n) * L)
                                     : again(e.own + (c * NP + n) * L);
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
template <typename real, int P, bool C>
__device__ __forceinline__ void sum_rows(const view<real> &x, const element<real, P, C> &e,
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
            for (int c = 0; c < 3; ++c) u[c] = source_value<C>(e.own + (c * NP + n) * lanes<real>);
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
