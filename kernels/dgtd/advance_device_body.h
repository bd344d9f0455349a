/* What becomes of the rows of an element (rows_device_body.h): its update, in media with poles, too
 * (device_media.h). */

/* What an update is beside the plain one: of local steps (device_local.h), of H some of whose old
 * values are kept elsewhere, where new ones go, too, or of E in media with poles, some of them with
 * tensors (device_media.h). BARE: a plain one that asks for neither units nor ports: to a kernel
 * that has no register left, asking for what is not there costs a quarter of its time. */
enum kind { PLAIN, LOCAL, KEPT, POLES, TENSORS, BARE };

/* out += t in, t symmetric: xx, yy, zz, xy, xz, yz. */
template <typename real>
__device__ __forceinline__ void add_turned(const real (&t)[6], const real (&in)[3], real (&out)[3])
{
    out[0] += t[0] * in[0] + t[3] * in[1] + t[4] * in[2];
    out[1] += t[3] * in[0] + t[1] * in[1] + t[5] * in[2];
    out[2] += t[4] * in[0] + t[5] * in[1] + t[2] * in[2];
}

/* The medium of an element. */
template <typename real> struct medium {
    real k[6], m[6]; /* without tensors k[0] alone is used */
    const real *factors;
    real *state; /* of coefficient 0 */
    int states, pairs;
};

template <typename real, int P, kind K>
__device__ __forceinline__ medium<real> open_medium(const view<real> &x, uint32_t g, uint32_t lane,
                                                    uint16_t material)
{
    medium<real> y = {};
    const int32_t row = __ldg(x.row_of + g), law = row < 0 ? 0 : __ldg(x.law_of + material);
    const real *from = x.laws + law * PS_DGTD_LAW_REALS;
    y.k[0] = law == 0 ? __ldg(x.keep + material) : __ldg(from);
    for (int i = 1; i < 6 && K == TENSORS; ++i)
        y.k[i] = law == 0 ? y.k[0] * (i < 3) : __ldg(from + i);
    for (int i = 0; i < 6 && K == TENSORS; ++i) y.m[i] = __ldg(from + 6 + i);
    if (law == 0) return y;
    y.factors = from + 12;
    y.states = __ldg(x.counts + 2 * law);
    y.pairs = __ldg(x.counts + 2 * law + 1);
    y.state = x.state + __ldg(x.first + row) * (3 * lattice<P>::nodes * lanes<real>) + lane;
    return y;
}

/* Coefficients that are fetched with their states at once. Measured on an H200, a Debye pole in P3:
 * 1.03 s with five, .78 with four, .76 with ten, which take more registers where poles are pairs. */
template <int P> constexpr int response_batch = P % 2 == 1 ? 4 : 5;

/* What COUNT states, two of a pair, add to E; to: where they are a step on. */
template <int COUNT, int STRIDE, typename real>
__device__ __forceinline__ real follow(const real (&f)[2][4], real e, const real (&u)[2],
                                       real *__restrict__ to)
{
    real sum = 0;
    for (int v = 0; v < COUNT; ++v) {
        real change = f[v][1] * u[v] + f[v][3] * e;
        if (COUNT == 2) change += f[v][2] * u[1 - v];
        sum += f[v][0] * u[v];
        __stcs(to + v * STRIDE, u[v] + change);
    }
    return sum;
}

/* r += K e + M add u, and u a step on, for COUNT states (0: K e alone). K becomes 0, as the next
 * states shall not add it again. */
template <int COUNT, kind K, typename real, int P>
__device__ __forceinline__ void respond(medium<real> &y, const real *__restrict__ electric,
                                        rows<real, P> &r)
{
    constexpr int L = lanes<real>, NP = lattice<P>::nodes, B = response_batch<P>, S = 3 * NP * L;
    real f[2][4] = {}, *__restrict__ state = y.state;
    for (int i = 0; i < 4 * COUNT; ++i) f[i / 4][i % 4] = __ldg(y.factors + i);
    each<NP / B>([&](auto part) {
        constexpr int begin = part * B;
        real e[B][3], u[B][3][2] = {};
        for (int i = 0; i < 3 * B; ++i) {
            const int k = i / 3, c = i % 3, at = (c * NP + begin + k) * L;
            e[k][c] = electric[at];
            for (int v = 0; v < COUNT; ++v) u[k][c][v] = __ldcs(state + v * S + at);
        }
        each<B>([&](auto k) {
            constexpr int n = begin + k;
            real sum[3], out[3] = {r.template at<0, n>(), r.template at<1, n>(),
                                   r.template at<2, n>()};
            for (int c = 0; c < 3; ++c) {
                sum[c] = follow<COUNT, S>(f, e[k][c], u[k][c], state + (c * NP + n) * L);
                if (K != TENSORS) out[c] += y.k[0] * e[k][c] + sum[c];
            }
            if (K == TENSORS) add_turned(y.k, e[k], out);
            if (K == TENSORS) add_turned(y.m, sum, out);
            each<3>([&](auto c) { r.template at<c, n>() = out[c]; });
        });
    });
    for (int i = 0; i < (K == TENSORS ? 6 : 1); ++i) y.k[i] = 0;
    y.factors += 4 * COUNT;
    y.state += COUNT * S;
}

/* r becomes E' of an element in a medium: r turned by t, which has the gain, and what E and the
 * states add (dispersion.h). */
template <kind K, typename real, int P>
__device__ __forceinline__ void respond_all(medium<real> &y, const real *electric, real (&t)[3][3],
                                            rows<real, P> &r)
{
    if constexpr (K == TENSORS)
        for (int a = 0; a < 3; ++a) {
            real turned[3] = {};
            add_turned(y.m, t[a], turned);
            for (int c = 0; c < 3; ++c) t[a][c] = turned[c];
        }
    each<lattice<P>::nodes>([&](auto n) {
        const real v[3] = {r.template at<0, n>(), r.template at<1, n>(), r.template at<2, n>()};
        each<3>([&](auto c) {
            r.template at<c, n>() = t[0][c] * v[0] + t[1][c] * v[1] + t[2][c] * v[2];
        });
    });
    if (y.states == 0) respond<0, K>(y, electric, r);
    for (int v = 0; v < y.pairs; ++v) respond<2, K>(y, electric, r);
    for (int v = 2 * y.pairs; v < y.states; ++v) respond<1, K>(y, electric, r);
}

/* E of an element changes by what the currents of ports (device_port.h) do to it. */
template <typename real, int P>
__device__ __forceinline__ void apply_ports(const view<real> &x, uint32_t slot)
{
    constexpr int NP = lattice<P>::nodes, L = lanes<real>;
    real *electric = x.target + (slot / L * (3 * NP * L) + slot % L);
    for (const ps_dgtd_device_port *port = x.ports; port < x.ports + x.port_count; ++port) {
        int64_t low = 0, high = port->elements;
        while (low < high) {
            const int64_t middle = (low + high) / 2;
            if (port->slots[middle] < slot)
                low = middle + 1;
            else
                high = middle;
        }
        if (low == port->elements || port->slots[low] != slot) continue;
        const double *loads = port->loads + low * (3 * NP);
        for (int i = 0; i < 3 * NP; ++i) {
            real *e = electric + i * L;
            *e = (real)(*e + port->current * loads[i]);
        }
    }
}

/* Behind the launch before this one, which lets the next one begin: launch_early(). */
__device__ __forceinline__ void follow_launch()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* The half step of the element of a slot; marked: an increment, whatever it was (LOCAL), or one
 * whose old value is kept (KEPT). */
template <typename real, int P, kind K>
__device__ __forceinline__ void advance(const view<real> &x, uint32_t slot, bool marked,
                                        double *shared)
{
    constexpr int NP = lattice<P>::nodes, L = lanes<real>;
    const uint32_t g = slot / L, lane = slot % L;
    element<real, P, K == LOCAL> e = {x.source + (g * (3 * NP * L) + lane),
                                      x.tangents + (g * (9 * L) + lane), g * (4 * L) + lane,
                                      (x.bordered[g] & ~PS_DGTD_PORTED) != 0};
    rows<real, P> r;
    real t[3][3];
    if constexpr (K == LOCAL) {
        for (int f = 0; f < 4; ++f) e.links[f] = __ldg(x.links + e.row + f * L);
        follow_launch();
    }
    r.shared = reinterpret_cast<real *>(shared) + (shared_rows<real, P> ? threadIdx.x : 0);
    sum_rows(x, e, r);
    for (int a = 0; a < 3; ++a) tangent(e, a, t[a]);
    const uint16_t material = x.material[slot];
    const real det = t[0][0] * (t[1][1] * t[2][2] - t[1][2] * t[2][1]) +
                     t[0][1] * (t[1][2] * t[2][0] - t[1][0] * t[2][2]) +
                     t[0][2] * (t[1][0] * t[2][1] - t[1][1] * t[2][0]);
    const real gain = __ldg(x.gain + material) / (2 * det);
    for (int k = 0; k < 9; ++k) t[k / 3][k % 3] *= gain;
    if constexpr (K == POLES || K == TENSORS) {
        real *electric = x.target + (g * (3 * NP * L) + lane);
        medium<real> y = open_medium<real, P, K>(x, g, lane, material);
        respond_all<K>(y, electric, t, r);
        each<3 * NP>([&](auto at) {
            constexpr int c = at / NP, n = at % NP;
            __stcs(electric + at * L, r.template at<c, n>());
        });
    } else {
        const real keep = __ldg(x.keep + material);
        const uint32_t first = g * (3 * NP * L) + lane;
        real *__restrict__ target = (K == LOCAL && marked ? x.increments : x.target) + first;
        real *kept = (K == KEPT && marked ? x.increments : x.target) + first;
        constexpr int B = K != KEPT ? 1 : sizeof(real) == 4 ? 3 * NP : NP; /* fetched at once */
        each<3 * NP / B>([&](auto part) {
            real before[B]; /* all before one is written, as the device cannot tell them apart */
            each<B>([&](auto k) {
                constexpr int at = part * B + k;
                before[k] = K == LOCAL && marked
                                ? real(0)
                                : keep * __ldcs(K == KEPT ? kept + at * L : target + at * L);
            });
            each<B>([&](auto k) {
                constexpr int at = part * B + k, c = at / NP, n = at % NP;
                const real now =
                    before[k] + (t[0][c] * r.template at<0, n>() + t[1][c] * r.template at<1, n>() +
                                 t[2][c] * r.template at<2, n>());
                __stcs(target + at * L, now);
                if (K == KEPT && marked) __stcs(kept + at * L, now);
            });
        });
    }
    if (K != LOCAL && K != BARE && x.port_count > 0 && (x.bordered[g] & PS_DGTD_PORTED))
        apply_ports<real, P>(x, slot);
}
