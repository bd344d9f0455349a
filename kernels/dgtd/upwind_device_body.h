/* What the upwind flux adds to an element (upwind.h), on Bernstein coefficients: a face after the
 * other, all operators as arithmetic with constants (bernstein_body.h). Part of upwind_cuda.cu. */

/* What a thread needs of the system and the fields. */
template <typename real> struct upwind_view {
    const real *tangents, *own, *other, *gain; /* own, gain: by material */
    const int32_t *links;
    const uint8_t *kinds;
    const uint16_t *material;
    const real *former, *source; /* of the target before the half step, of the other field */
    real *target;
    real former_sign[PS_DGTD_FACES], source_sign[PS_DGTD_FACES];
    int field;
    uint32_t begin[PS_DGTD_DEVICE_PARTS], end[PS_DGTD_DEVICE_PARTS]; /* slots of blockIdx.y */
};

/* out[c][m] = sign u_k - u_i on face F. */
template <int F, int P, typename real>
__device__ __forceinline__ void face_jumps(const real *field, uint32_t slot, uint32_t link,
                                           real sign, real (&out)[3][lattice<P>::face_nodes])
{
    constexpr int L = 64 / (int)sizeof(real), NP = lattice<P>::nodes;
    const uint32_t there = link >> 2, shift = 8 * (link & 3);
    const real *own = field + (slot / L * (3 * NP * L) + slot % L);
    const real *other = field + (there / L * (3 * NP * L) + there % L);
    each<lattice<P>::face_nodes>([&](auto at) {
        constexpr int m = at, n = lattice_of<P>.face[F][m];
        constexpr uint32_t packed = lattice_of<P>.packed[m];
        const uint32_t k = packed >> shift & 255;
        for (int c = 0; c < 3; ++c)
            out[c][m] = sign * other[(c * NP + k) * L] - own[(c * NP + n) * L];
    });
}

/* r += LIFT_F (p [u]_t + d n x [source]) of a face with normal n F; see upwind.h for p and d. */
template <int F, int P, typename real>
__device__ __forceinline__ void add_face(const upwind_view<real> &x, uint32_t slot,
                                         const real (&normal)[3], real gain,
                                         real (&r)[3][lattice<P>::nodes])
{
    constexpr int L = 64 / (int)sizeof(real), NF = lattice<P>::face_nodes;
    const uint32_t row = slot / L * (4 * L) + F * L + slot % L, link = (uint32_t)x.links[row];
    const real there = x.other[row], own = x.own[x.material[slot]];
    if (!(there > 0)) return;
    const real square = normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2];
    const real sum = own + there, g = x.field == PS_DGTD_E ? gain : -gain;
    const real penalty = sqrt(square) * g / sum * (x.field == PS_DGTD_E ? 1 : own * there);
    const int kind = x.kinds[row];
    real jump[3][NF], terms[3][NF];
    face_jumps<F, P>(x.former, slot, link, x.former_sign[kind], jump);
    for (int m = 0; m < NF; ++m) {
        const real along =
            (normal[0] * jump[0][m] + normal[1] * jump[1][m] + normal[2] * jump[2][m]) / square;
        for (int c = 0; c < 3; ++c) terms[c][m] = penalty * (jump[c][m] - along * normal[c]);
    }
    if (there != own) {
        const real shift = g * (there - own) / (2 * sum);
        face_jumps<F, P>(x.source, slot, link, x.source_sign[kind], jump);
        for (int m = 0; m < NF; ++m)
            for (int c = 0; c < 3; ++c)
                terms[c][m] += shift * (normal[(c + 1) % 3] * jump[(c + 2) % 3][m] -
                                        normal[(c + 2) % 3] * jump[(c + 1) % 3][m]);
    }
    for (int c = 0; c < 3; ++c)
        lift<P, F>(terms[c], [&](auto n, real factor, real v) { r[c][n] += factor * v; });
}

/* Outward normals times F_f of the faces: - grad t, - grad s, grad (r + s + t), - grad r. */
template <typename real>
__device__ __forceinline__ void face_normals(const real *tangents, real (&normal)[4][3])
{
    constexpr int L = 64 / (int)sizeof(real);
    real t[9], det = 0;
    for (int k = 0; k < 9; ++k) t[k] = tangents[k * L];
    for (int c = 0; c < 3; ++c) {
        const int a = (c + 1) % 3, b = (c + 2) % 3;
        const real r = t[3 + a] * t[6 + b] - t[3 + b] * t[6 + a];
        const real u = t[6 + a] * t[b] - t[6 + b] * t[a], v = t[a] * t[3 + b] - t[b] * t[3 + a];
        det += t[c] * r;
        normal[0][c] = -v;
        normal[1][c] = -u;
        normal[2][c] = r + u + v;
        normal[3][c] = -r;
    }
    for (int k = 0; k < 12; ++k) normal[k / 3][k % 3] /= det;
}

template <typename real, int P>
__device__ __forceinline__ void upwind_element(const upwind_view<real> &x, uint32_t slot)
{
    constexpr int L = 64 / (int)sizeof(real), NP = lattice<P>::nodes;
    real normal[4][3], r[3][NP];
    face_normals(x.tangents + (slot / L * (9 * L) + slot % L), normal);
    for (int i = 0; i < 3 * NP; ++i) r[i / NP][i % NP] = 0;
    const real gain = x.gain[x.material[slot]];
    add_face<0, P>(x, slot, normal[0], gain, r);
    add_face<1, P>(x, slot, normal[1], gain, r);
    add_face<2, P>(x, slot, normal[2], gain, r);
    add_face<3, P>(x, slot, normal[3], gain, r);
    real *target = x.target + (slot / L * (3 * NP * L) + slot % L);
    each<3 * NP>([&](auto at) { target[at * L] += r[at / NP][at % NP]; });
}
