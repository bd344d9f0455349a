/*
 * stencil_cuda_body: the matrix-free product with a slab's operator (grid.h) on CUDA, for kernels
 * that make what is multiplied, or do something with the product, on the way.
 *
 * A warp has 32 nodes of each of J + 2 lines along z, of which it multiplies the inner 30 and J,
 * and marches along x; the warps of a block lie side by side along y, so that the lines between
 * them come from the cache. Of a plane come two weighted sums a node, one for its own plane of the
 * product and one for both planes beside:
 *
 *   own = sum_jk plane[|dj|][|dk|] u,  beside = sum_jk side[|dj|][|dk|] u,
 *   (A u)_i = own_i + beside_(i-1) + beside_(i+1)
 *
 * so that each value is loaded once a warp, neighbours along z come by shuffles, and a node costs
 * some 20 flops. A Work has, where `plane` is the place of a plane in a vector and `at` that of a
 * node in the plane, in bytes (stencil_at; a plane has less than 2^32 of them),
 *
 *   raw fetch(plane, at), real value(raw, kind)   what is multiplied
 *   operands ahead(plane, at)                     what `emit` needs, loaded early
 *   void emit(operands, node, u, product)         where node.seen, the product's place
 *
 * Seen are open nodes only, or with FIXED all nodes, products of fixed ones being u itself. Without
 * FIXED what is multiplied must be 0 on fixed nodes. Values beyond the rim of y and z are those of
 * some other node: they reach products of fixed nodes only, or such that are not seen.
 */

enum { STENCIL_WARPS = 4, STENCIL_THREADS = 32 * STENCIL_WARPS, STENCIL_WIDTH = 30 };

template <typename real> struct stencil_view {
    int nx, ny, nz;
    int first, last; /* planes that are multiplied */
    int free[2];
    real plane[3][2][2], side[2][2];
    real inverse[3];      /* 1 / diagonal, of the kinds of planes */
    int tiles_z, tiles_y; /* blocks beside one another */
    int planes;           /* that a block marches      */
};

template <typename real> __device__ int plane_kind(const stencil_view<real> &s, int i)
{
    return i == 0 ? 1 : i == s.nx - 1 ? 2 : 0;
}

template <typename real> __device__ bool plane_fixed(const stencil_view<real> &s, int i)
{
    return (i == 0 && !s.free[0]) || (i == s.nx - 1 && !s.free[1]);
}

/* Planes are the same for a whole block: so an address costs an addition. */
template <typename real>
__device__ inline real *stencil_at(real *vector, int64_t plane, unsigned at)
{
    return (real *)((char *)(vector + plane) + at);
}
template <typename real>
__device__ inline const real *stencil_at(const real *vector, int64_t plane, unsigned at)
{
    return (const real *)((const char *)(vector + plane) + at);
}

/* A warp's place: nodes (., y + l, z), l = 0 .. J + 1, of planes first .. last. */
template <int J> struct stencil_place {
    int first, last;
    unsigned at[J + 2]; /* bytes into a plane, of other nodes where there are none */
    bool open[J + 2];   /* not fixed by y and z */
    bool seen[J + 2];   /* products that are emitted */
};

template <int J, bool FIXED, typename real>
__device__ bool stencil_find(const stencil_view<real> &s, stencil_place<J> *out)
{
    const int lane = threadIdx.x % 32;
    const int rest = blockIdx.x / s.tiles_z, column = rest % s.tiles_y;
    const int z = (int)(blockIdx.x % s.tiles_z) * STENCIL_WIDTH + lane - 1;
    const int first_y = (column * STENCIL_WARPS + (int)(threadIdx.x / 32)) * J - 1;
    const bool inner = lane > 0 && lane <= STENCIL_WIDTH;
    out->first = s.first + rest / s.tiles_y * s.planes;
    out->last = min(out->first + s.planes - 1, s.last);
#pragma unroll
    for (int l = 0; l < J + 2; ++l) {
        const int y = first_y + l;
        out->at[l] =
            (min(max(y, 0), s.ny - 1) * s.nz + min(max(z, 0), s.nz - 1)) * (unsigned)sizeof(real);
        out->open[l] = z > 0 && z < s.nz - 1 && y > 0 && y < s.ny - 1;
        out->seen[l] = inner && (FIXED ? z < s.nz && y < s.ny : out->open[l]);
    }
    return first_y + 1 < s.ny;
}

/* The two weighted sums of J nodes; u[J + 2] of the lane's own z. */
template <int J, typename real>
__device__ void stencil_sums(const stencil_view<real> &s, int kind, const real *u, real *own,
                             real *beside)
{
    const real(*w)[2] = s.plane[kind];
    real across[J + 2]; /* both neighbours along z */
#pragma unroll
    for (int l = 0; l < J + 2; ++l)
        across[l] = __shfl_up_sync(0xffffffffu, u[l], 1) + __shfl_down_sync(0xffffffffu, u[l], 1);
#pragma unroll
    for (int j = 0; j < J; ++j) {
        const real c = u[j + 1], y = u[j] + u[j + 2];
        const real z = across[j + 1], yz = across[j] + across[j + 2];
        own[j] = w[0][0] * c + w[1][0] * y + w[0][1] * z + w[1][1] * yz;
        beside[j] = s.side[0][0] * c + s.side[1][0] * y + s.side[0][1] * z + s.side[1][1] * yz;
    }
}

/* A product's place, the kind of its plane. */
struct stencil_node {
    int64_t plane;
    unsigned at;
    int kind;
    bool seen;
};

/* What a warp carries from plane to plane. */
template <int J, typename real, typename raw> struct stencil_state {
    raw ahead[J + 2]; /* of the plane that comes next */
    real before[J], sum[J], beside[J];
};

/* Planes that do not exist count as zeros. PLAIN: all of them do. */
template <int J, bool PLAIN, typename real, typename Work>
__device__ void stencil_load(const stencil_view<real> &s, const stencil_place<J> &at, int i,
                             const Work &work, typename Work::raw *out)
{
    const int64_t plane = (int64_t)i * s.ny * s.nz;
    if (!PLAIN && (i < 0 || i >= s.nx)) {
#pragma unroll
        for (int l = 0; l < J + 2; ++l) out[l] = typename Work::raw();
        return;
    }
#pragma unroll
    for (int l = 0; l < J + 2; ++l) out[l] = work.fetch(plane, at.at[l]);
}

/* Takes plane i, asks for the next one, and emits the products of the plane before. */
template <int J, bool FIXED, bool PLAIN, bool EMIT, typename real, typename Work>
__device__ void stencil_step(const stencil_view<real> &s, const stencil_place<J> &at, int i,
                             Work &work, stencil_state<J, real, typename Work::raw> *m)
{
    const int kind = PLAIN ? 0 : plane_kind(s, i), kind_before = PLAIN ? 0 : plane_kind(s, i - 1);
    const bool masked = FIXED && !PLAIN && plane_fixed(s, i);
    const bool kept = FIXED && !PLAIN && plane_fixed(s, i - 1);
    const int64_t plane = (int64_t)(i - 1) * s.ny * s.nz;
    real u[J + 2], own[J], beside[J], center[J];
    typename Work::operands operands[J];
#pragma unroll
    for (int l = 0; l < J + 2; ++l) {
        u[l] = work.value(m->ahead[l], kind);
        if (l > 0 && l <= J) center[l - 1] = u[l];
        if (FIXED && (masked || !at.open[l])) u[l] = 0;
    }
    if (i <= at.last) stencil_load<J, PLAIN>(s, at, i + 1, work, m->ahead);
#pragma unroll
    for (int j = 0; j < J && EMIT; ++j) operands[j] = work.ahead(plane, at.at[j + 1]);
    stencil_sums<J>(s, kind, u, own, beside);
#pragma unroll
    for (int j = 0; j < J; ++j) {
        const bool as_is = FIXED && (kept || !at.open[j + 1]);
        const stencil_node node = {plane, at.at[j + 1], kind_before, at.seen[j + 1]};
        if (EMIT)
            work.emit(operands[j], node, m->before[j],
                      as_is ? m->before[j] : m->sum[j] + beside[j]);
        m->sum[j] = own[j] + m->beside[j];
        m->beside[j] = beside[j];
        m->before[j] = center[j];
    }
}

template <int J, bool FIXED, bool PLAIN, typename real, typename Work>
__device__ void stencil_planes(const stencil_view<real> &s, const stencil_place<J> &at, Work &work)
{
    stencil_state<J, real, typename Work::raw> m;
#pragma unroll
    for (int j = 0; j < J; ++j) m.before[j] = m.sum[j] = m.beside[j] = 0;
    stencil_load<J, PLAIN>(s, at, at.first - 1, work, m.ahead);
    stencil_step<J, FIXED, PLAIN, false>(s, at, at.first - 1, work, &m);
    stencil_step<J, FIXED, PLAIN, false>(s, at, at.first, work, &m);
    for (int i = at.first + 1; i <= at.last + 1; ++i)
        stencil_step<J, FIXED, PLAIN, true>(s, at, i, work, &m);
}

template <int J, bool FIXED, typename real, typename Work>
__device__ void stencil_march(const stencil_view<real> &s, Work &work)
{
    stencil_place<J> at;
    if (!stencil_find<J, FIXED>(s, &at)) return;
    if (at.first > 1 && at.last < s.nx - 2) /* away from the first and the last plane */
        stencil_planes<J, FIXED, true>(s, at, work);
    else
        stencil_planes<J, FIXED, false>(s, at, work);
}

/* ---- host ---- */

/* The view with J lines a warp and so many planes a block. fixed: all planes are multiplied. */
template <typename real>
stencil_view<real> stencil_view_of(const ps_slab_stencil *s, int J, bool fixed, int64_t planes)
{
    stencil_view<real> v = {(int)s->nodes[0], (int)s->nodes[1], (int)s->nodes[2]};
    v.first = fixed || s->free[0] ? 0 : 1;
    v.last = fixed || s->free[1] ? v.nx - 1 : v.nx - 2;
    for (int b = 0; b < 2; ++b) {
        v.free[b] = s->free[b];
        for (int c = 0; c < 2; ++c) {
            v.side[b][c] = (real)s->side[b][c];
            for (int a = 0; a < 3; ++a) v.plane[a][b][c] = (real)s->plane[a][b][c];
        }
    }
    for (int a = 0; a < 3; ++a) v.inverse[a] = (real)(1 / s->plane[a][0][0]);
    v.tiles_z = (v.nz + STENCIL_WIDTH - 1) / STENCIL_WIDTH;
    v.tiles_y = (v.ny + STENCIL_WARPS * J - 1) / (STENCIL_WARPS * J);
    v.planes = (int)planes;
    return v;
}

template <typename real> unsigned stencil_blocks(const stencil_view<real> &v)
{
    return (unsigned)((v.last - v.first + v.planes) / v.planes * v.tiles_z * v.tiles_y);
}
