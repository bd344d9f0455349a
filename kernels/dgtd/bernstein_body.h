/* Element arithmetic on Bernstein coefficients (bernstein.h), unrolled at compile time: all indices
 * are constants, all arrays registers. Part of half_step_cuda.cu. */

template <int value> struct constant {
    __host__ __device__ constexpr operator int() const { return value; }
};

/* f(0), f(1), .. f(count - 1) of constants. */
template <class F, int... I>
__device__ __forceinline__ void each_of(F &&f, std::integer_sequence<int, I...>)
{
    (f(constant<I>{}), ...);
}
template <int count, class F> __device__ __forceinline__ void each(F &&f)
{
    each_of(f, std::make_integer_sequence<int, count>{});
}

/* Number of coefficient (i1, i, j, k) of a tetrahedron, k slowest, and of (m0, m1, m2) of a
 * triangle, as reference.h numbers nodes. */
__host__ __device__ constexpr int triangle_count(int p) { return (p + 1) * (p + 2) / 2; }
__host__ __device__ constexpr int triangle_number(int p, int m1, int m2)
{
    return m2 * (p + 1) - m2 * (m2 - 1) / 2 + m1;
}
__host__ __device__ constexpr int tetrahedron_number(int p, int i, int j, int k)
{
    int before = 0;
    for (int layer = 0; layer < k; ++layer) before += triangle_count(p - layer);
    return before + triangle_number(p - k, i, j);
}

/* Barycentric indices of the coefficients, those less one, and the coefficients of faces. */
template <int P> struct lattice {
    static constexpr int nodes = (P + 1) * (P + 2) * (P + 3) / 6, face_nodes = triangle_count(P),
                         lower = P * (P + 1) * (P + 2) / 6; /* coefficients of degree P - 1 */
    int index[nodes][4];
    int below[nodes][4]; /* number at degree P - 1 of index - e_l; -1: none */
    int face[4][face_nodes];
    uint32_t packed[face_nodes]; /* face[.][m] as the four bytes of a word */
    __host__ __device__ constexpr lattice() : index(), below(), face(), packed()
    {
        constexpr int opposite[4] = {3, 2, 0, 1};
        int n = 0, count[4] = {};
        for (int k = 0; k <= P; ++k)
            for (int j = 0; j + k <= P; ++j)
                for (int i = 0; i + j + k <= P; ++i, ++n) {
                    const int a[4] = {P - i - j - k, i, j, k};
                    for (int l = 0; l < 4; ++l) {
                        index[n][l] = a[l];
                        below[n][l] = a[l] == 0 ? -1
                                                : tetrahedron_number(P - 1, i - (l == 1),
                                                                     j - (l == 2), k - (l == 3));
                    }
                    for (int f = 0; f < 4; ++f)
                        if (a[opposite[f]] == 0) face[f][count[f]++] = n;
                }
        for (int m = 0; m < face_nodes; ++m)
            for (int f = 0; f < 4; ++f) packed[m] |= (uint32_t)face[f][m] << (8 * f);
    }
};
template <int P> constexpr lattice<P> lattice_of{};

/* Barycentric indices of a triangle's coefficients. */
template <int D> struct triangle {
    static constexpr int nodes = triangle_count(D);
    int index[nodes][3];
    __host__ __device__ constexpr triangle() : index()
    {
        int n = 0;
        for (int k = 0; k <= D; ++k)
            for (int j = 0; j + k <= D; ++j, ++n) {
                index[n][0] = D - j - k;
                index[n][1] = j;
                index[n][2] = k;
            }
    }
};
template <int D> constexpr triangle<D> triangle_of{};

/* Number in the tetrahedron of coefficient m of layer j over face F. */
template <int P, int F, int j, int m> __host__ __device__ constexpr int layer_node()
{
    constexpr int opposite[4] = {3, 2, 0, 1};
    constexpr int corners[4][3] = {{0, 1, 2}, {0, 1, 3}, {1, 2, 3}, {0, 2, 3}};
    int a[4] = {};
    a[opposite[F]] = j;
    for (int s = 0; s < 3; ++s) a[corners[F][s]] = triangle_of<P - j>.index[m][s];
    return tetrahedron_number(P, a[1], a[2], a[3]);
}

/* Factor of layer j after unscaled reductions: (-1)^j C(p,j)/(1+j) (p-j)!/p! / 2. */
__host__ __device__ constexpr double layer_factor(int p, int j)
{
    double factor = .5;
    for (int q = 1; q <= j; ++q) factor /= -q;
    return factor / (1 + j);
}

/* w_a += (d_b h_c - d_c h_b) of degree P - 1 where d_b = d/dl_{b+1} - d/dl_0 without its factor,
 * of coefficient n of h. */
template <int P, int n, typename real>
__device__ __forceinline__ void add_differences(real (&w)[3][lattice<P>::lower], const real (&h)[3])
{
    constexpr int first = lattice_of<P>.below[n][0];
    if constexpr (first >= 0) {
        w[0][first] += h[1] - h[2];
        w[1][first] += h[2] - h[0];
        w[2][first] += h[0] - h[1];
    }
    each<3>([&](auto axis) {
        constexpr int d = axis, q = lattice_of<P>.below[n][d + 1];
        if constexpr (q >= 0) {
            w[(d + 2) % 3][q] += h[(d + 1) % 3];
            w[(d + 1) % 3][q] -= h[(d + 2) % 3];
        }
    });
}

/* set(a, n, value): rows of w elevated to degree P, times P. */
template <int P, typename real, class S>
__device__ __forceinline__ void elevate(const real (&w)[3][lattice<P>::lower], S &&set)
{
    each<3 * lattice<P>::nodes>([&](auto at) {
        constexpr int n = at % lattice<P>::nodes, a = at / lattice<P>::nodes;
        real sum = -real(0); /* which, unlike 0, any compiler may leave out */
        each<4>([&](auto which) {
            constexpr int l = which, q = lattice_of<P>.below[n][l],
                          factor = lattice_of<P>.index[n][l];
            if constexpr (q >= 0) sum += real(factor) * w[a][q];
        });
        set(constant<a>{}, constant<n>{}, sum);
    });
}

/* out = 2 L_0 in: the elevation and its transpose, unscaled. */
template <int P, typename real>
__device__ __forceinline__ void lift_trace(const real (&in)[triangle_count(P)],
                                           real (&out)[triangle_count(P)])
{
    each<triangle_count(P)>([&](auto row) {
        constexpr int m = row, m0 = triangle_of<P>.index[m][0], m1 = triangle_of<P>.index[m][1],
                      m2 = triangle_of<P>.index[m][2];
        real sum = real((m0 + 1) * (m0 + 1) + (m1 + 1) * (m1 + 1) + (m2 + 1) * (m2 + 1)) * in[m];
        each<9>([&](auto pair) {
            constexpr int up = pair / 3, down = pair % 3; /* column index + e_up - e_down */
            constexpr int factor =
                (triangle_of<P>.index[m][up] + 1) * triangle_of<P>.index[m][down];
            if constexpr (up != down && factor > 0) {
                constexpr int c =
                    triangle_number(P, m1 + (up == 1) - (down == 1), m2 + (up == 2) - (down == 2));
                sum += real(factor) * in[c];
            }
        });
        out[m] = sum;
    });
}

/* out = in reduced from degree D to D - 1, times D: the transposed elevation. */
template <int D, typename real>
__device__ __forceinline__ void reduce(const real (&in)[triangle_count(D)],
                                       real (&out)[triangle_count(D - 1)])
{
    each<triangle_count(D - 1)>([&](auto row) {
        constexpr int m = row, m0 = triangle_of<D - 1>.index[m][0],
                      m1 = triangle_of<D - 1>.index[m][1], m2 = triangle_of<D - 1>.index[m][2];
        out[m] = real(m0 + 1) * in[triangle_number(D, m1, m2)] +
                 real(m1 + 1) * in[triangle_number(D, m1 + 1, m2)] +
                 real(m2 + 1) * in[triangle_number(D, m1, m2 + 1)];
    });
}

/* add(node, factor, values of layer j ..) for layers j and above. */
template <int P, int F, int j, typename real, class A>
__device__ __forceinline__ void add_layers(const real (&v)[triangle_count(P - j)], A &&add)
{
    each<triangle_count(P - j)>([&](auto m) {
        constexpr int node = layer_node<P, F, j, m>();
        constexpr double factor = layer_factor(P, j);
        add(constant<node>{}, real(factor), v[m]);
    });
    if constexpr (j < P) {
        real next[triangle_count(P - j - 1)];
        reduce<P - j>(v, next);
        add_layers<P, F, j + 1>(next, add);
    }
}

/* add(node, factor, value) with factor * value = (LIFT_F jump)[node], each node once. */
template <int P, int F, typename real, class A>
__device__ __forceinline__ void lift(const real (&jump)[triangle_count(P)], A &&add)
{
    real v[triangle_count(P)];
    lift_trace<P>(jump, v);
    add_layers<P, F, 0>(v, add);
}
