/*
 * Part of the *_cuda.cu files of hbem, after device_number_body.h: recompression of U V^T by Gram
 * matrices in fp64 (numbers[rank][rank], row by row), by a block of threads of two warps or more.
 *
 *     U^H U = Ru^H Ru,  V^H V = Rv^H Rv,  Ru Rv^T Q = P Sigma
 *     U' = U Rv^T Q,  V' = V Rv^-1 conj(Q)
 *
 * The product U' V'^T is U V^T whatever R is; what R decides is how well the singular values are
 * known: to 1e-8 of the largest.
 */
template <int parts> using small = number<double, parts>;

template <int parts> struct small_matrices {
    small<parts> *gram[2], *core, *turn; /* [rank][rank]; core and turn column by column */
    double *sigma;                       /* [rank] squares                               */
    int *order;                          /* [rank]                                       */
};

/* gram[a][b] = a^H b, b >= a: by a thread each, or by a warp each where vectors are long. */
template <int parts, typename real>
__device__ void fill_gram(const real *vectors, int n, int rank, small<parts> *gram)
{
    const int group = n > 128 ? WARP : 1, lane = threadIdx.x % group;
    for (int e = threadIdx.x / group; e < rank * rank; e += blockDim.x / group) {
        const int a = e / rank, b = e % rank;
        if (b < a) continue;
        const real *x = vectors + (size_t)a * parts * n, *y = vectors + (size_t)b * parts * n;
        small<parts> sum = zero_number<double, parts>();
        for (int c = lane; c < n; c += group)
            add_product(sum, conjugate(widen(load<parts>(x, n, c))), widen(load<parts>(y, n, c)));
        if (group == WARP)
            for (int p = 0; p < parts; ++p) sum.part[p] = warp_sum(sum.part[p]);
        if (lane == 0) gram[e] = sum;
    }
}

/* |U V^T|^2 = Re sum_ab gu[a][b] gv[a][b]. */
template <int parts>
__device__ double norm_of(const small_matrices<parts> &s, int rank, double *scratch)
{
    double sum = 0;
    for (int e = threadIdx.x; e < rank * rank; e += blockDim.x) {
        const int a = e / rank, b = e % rank;
        if (b >= a)
            sum += (b > a ? 2 : 1) * product(s.gram[0][e], s.gram[1][e]).part[0];
    }
    return sqrt(fmax(block_sum(sum, scratch), 0.));
}

/* In place, upper triangle: G = R^H R; by one warp. A pivot that is lost in rounding is raised. */
template <int parts> __device__ void cholesky(small<parts> *g, int rank, double least)
{
    const int lane = threadIdx.x % WARP;
    for (int j = 0; j < rank; ++j) {
        double floor = least * g[j * rank + j].part[0];
        __syncwarp();
        for (int b = j + lane; b < rank; b += WARP) {
            small<parts> sum = g[j * rank + b];
            for (int p = 0; p < j; ++p)
                subtract_product(sum, conjugate(g[p * rank + j]), g[p * rank + b]);
            g[j * rank + b] = sum;
        }
        __syncwarp();
        double pivot = sqrt(fmax(fmax(g[j * rank + j].part[0], floor), 1e-300));
        __syncwarp();
        for (int b = j + lane; b < rank; b += WARP)
            for (int p = 0; p < parts; ++p)
                g[j * rank + b].part[p] = b > j ? g[j * rank + b].part[p] / pivot
                                                : (p == 0 ? pivot : 0);
        __syncwarp();
    }
}

/* core[b][a] = sum_c Ru[a][c] Rv[b][c]; turn = 1. */
template <int parts> __device__ void fill_core(const small_matrices<parts> &s, int rank)
{
    for (int e = threadIdx.x; e < rank * rank; e += blockDim.x) {
        const int b = e / rank, a = e % rank;
        small<parts> sum = zero_number<double, parts>(), one = sum;
        for (int c = max(a, b); c < rank; ++c)
            add_product(sum, s.gram[0][a * rank + c], s.gram[1][b * rank + c]);
        if (a == b) one.part[0] = 1;
        s.core[e] = sum;
        s.turn[e] = one;
    }
}

/* x' = c x - s conj(e) y, y' = s e x ... on columns of n numbers: with y~ = conj(e) y. */
template <int parts>
PS_INLINE void rotate(small<parts> *x, small<parts> *y, int n, double c, double s,
                      const small<parts> &phase)
{
    for (int i = 0; i < n; ++i) {
        small<parts> a = x[i], b = product(conjugate(phase), y[i]);
        for (int p = 0; p < parts; ++p) {
            x[i].part[p] = c * a.part[p] - s * b.part[p];
            y[i].part[p] = s * a.part[p] + c * b.part[p];
        }
    }
}

/* Makes columns x and y of core orthogonal; false where they are. */
template <int parts>
__device__ bool make_orthogonal(const small_matrices<parts> &s, int rank, int x, int y)
{
    small<parts> *a = s.core + x * rank, *b = s.core + y * rank;
    small<parts> mixed = zero_number<double, parts>();
    double aa = 0, bb = 0;
    for (int i = 0; i < rank; ++i) {
        aa += square(a[i]);
        bb += square(b[i]);
        add_product(mixed, conjugate(a[i]), b[i]);
    }
    double size = sqrt(square(mixed));
    if (!(size > 1e-8 * sqrt(aa * bb)) || size < 1e-290) return false;
    double zeta = (bb - aa) / (2 * size);
    double t = (zeta < 0 ? -1 : 1) / (fabs(zeta) + sqrt(1 + zeta * zeta));
    double c = 1 / sqrt(1 + t * t);
    for (int p = 0; p < parts; ++p) mixed.part[p] /= size;
    rotate(a, b, rank, c, c * t, mixed);
    rotate(s.turn + x * rank, s.turn + y * rank, rank, c, c * t, mixed);
    return true;
}

/* One-sided Jacobi by one warp; pairs of a round are disjoint. sigma, order. */
template <int parts> __device__ void jacobi(const small_matrices<parts> &s, int rank)
{
    enum { SWEEPS = 24 };
    const int lane = threadIdx.x % WARP, even = rank + rank % 2, last = even - 1;
    for (int sweep = 0; sweep < SWEEPS; ++sweep) {
        bool turned = false;
        for (int round = 0; round < last; ++round) {
            for (int i = lane; i < even / 2; i += WARP) {
                int x = i ? (round + i) % last : last, y = i ? (round - i + last) % last : round;
                if (x < rank && y < rank)
                    turned |= make_orthogonal(s, rank, min(x, y), max(x, y));
            }
            __syncwarp();
        }
        if (!__any_sync(ALL, turned)) break;
    }
    for (int b = lane; b < rank; b += WARP) {
        double sum = 0;
        for (int a = 0; a < rank; ++a) sum += square(s.core[b * rank + a]);
        s.sigma[b] = sum;
    }
    __syncwarp();
    for (int b = lane; b < rank; b += WARP) {
        int before = 0;
        for (int c = 0; c < rank; ++c)
            before += s.sigma[c] > s.sigma[b] || (s.sigma[c] == s.sigma[b] && c < b);
        s.order[before] = b;
    }
    __syncwarp();
}

/* How many singular values to keep: the tail is at most tolerance times all. */
template <int parts>
__device__ int kept_rank(const small_matrices<parts> &s, int rank, double tolerance)
{
    double all = 0, tail = 0;
    for (int l = 0; l < rank; ++l) all += s.sigma[s.order[l]];
    while (rank > 0) {
        tail += s.sigma[s.order[rank - 1]];
        if (tail > tolerance * tolerance * all) break;
        --rank;
    }
    return rank;
}

/* Of the first `kept` columns k of Q: core[k] = Rv^T Q_k; turn := Rv^-1 conj(Q_k), into gram[0]. */
template <int parts>
__device__ void fill_turns(const small_matrices<parts> &s, int rank, int kept)
{
    for (int e = threadIdx.x; e < kept * rank; e += blockDim.x) {
        const int k = e / rank, p = e % rank;
        const small<parts> *q = s.turn + s.order[k] * rank;
        small<parts> sum = zero_number<double, parts>();
        for (int c = 0; c <= p; ++c) add_product(sum, s.gram[1][c * rank + p], q[c]);
        s.core[k * rank + p] = sum;
    }
    for (int k = threadIdx.x; k < kept; k += blockDim.x) {
        const small<parts> *q = s.turn + s.order[k] * rank;
        small<parts> *to = s.gram[0] + k * rank;
        for (int p = rank - 1; p >= 0; --p) {
            small<parts> sum = conjugate(q[p]);
            for (int c = p + 1; c < rank; ++c)
                subtract_product(sum, s.gram[1][p * rank + c], to[c]);
            to[p] = product(sum, inverse(s.gram[1][p * rank + p]));
        }
    }
    __syncthreads();
}

/* out[k][part][n] = sum_p vectors[p] turns[k][p]. */
template <int parts, typename real>
__device__ void turn_vectors(const real *vectors, int n, int rank, int kept,
                             const small<parts> *turns, real *out)
{
    enum { AT_ONCE = 4 };
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        for (int k = 0; k < kept; k += AT_ONCE) {
            small<parts> sum[AT_ONCE];
            for (int c = 0; c < AT_ONCE; ++c) sum[c] = zero_number<double, parts>();
            for (int p = 0; p < rank; ++p) {
                small<parts> x = widen(load<parts>(vectors + (size_t)p * parts * n, n, i));
#pragma unroll
                for (int c = 0; c < AT_ONCE; ++c)
                    if (k + c < kept) add_product(sum[c], x, turns[(k + c) * rank + p]);
            }
#pragma unroll
            for (int c = 0; c < AT_ONCE; ++c)
                for (int part = 0; part < parts; ++part)
                    if (k + c < kept)
                        out[((size_t)(k + c) * parts + part) * n + i] = (real)sum[c].part[part];
        }
}
