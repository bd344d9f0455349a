/*
 * stencil_cuda_body: the matrix-free product with a slab's operator (grid.h) on CUDA, for kernels
 * that make what is multiplied, or do something with the product, on the way.
 *
 * A warp has 32 nodes of each of J + 2 lines along z, of which it multiplies the inner 30 and J, and
 * marches along x. Of a plane come two weighted sums a node, one for its own plane of the product
 * and one for both planes beside:
 *
 *   own = sum_jk plane[|dj|][|dk|] u,  beside = sum_jk side[|dj|][|dk|] u,
 *   (A u)_i = own_i + beside_(i-1) + beside_(i+1)
 *
 * so that each value is loaded once a warp, neighbours along z come by shuffles, and a node costs
 * some 20 flops. A Work has
 *
 *   raw fetch(index), real value(raw, plane)    what is multiplied
 *   operands ahead(index)                       what `emit` needs, loaded early
 *   void emit(operands, index, plane, u, product)
 *
 * and sees open nodes only, or with FIXED all nodes, products of fixed ones being u itself. Without
 * FIXED what is multiplied must be 0 on fixed nodes.
 */

enum { STENCIL_WARPS = 8, STENCIL_THREADS = 32 * STENCIL_WARPS, STENCIL_WIDTH = 30 };

template <typename real> struct stencil_view {
    int nx, ny, nz;
    int first, last; /* planes that are multiplied */
    int free[2];
    real plane[3][2][2], side[2][2];
    real inverse[3];      /* 1 / diagonal, of the kinds of planes */
    int tiles_z, tiles_y; /* warps beside one another */
    int planes;           /* that a warp marches      */
};

template <typename real> __device__ int plane_kind(const stencil_view<real> &s, int i)
{
    return i == 0 ? 1 : i == s.nx - 1 ? 2 : 0;
}

template <typename real> __device__ bool plane_fixed(const stencil_view<real> &s, int i)
{
    return (i == 0 && !s.free[0]) || (i == s.nx - 1 && !s.free[1]);
}

/* A warp's place: nodes (., y + l, z), l = 0 .. J + 1, planes first .. last. */
template <int J> struct stencil_place {
    int y, z, first, last;
    bool in[J + 2], open[J + 2]; /* within the slab; not fixed by y and z */
};

template <int J, typename real>
__device__ bool stencil_find(const stencil_view<real> &s, stencil_place<J> *out)
{
    const int lane = threadIdx.x % 32;
    const int task = blockIdx.x * STENCIL_WARPS + threadIdx.x / 32;
    const int rest = task / s.tiles_z;
    out->z = task % s.tiles_z * STENCIL_WIDTH + lane - 1;
    out->y = rest % s.tiles_y * J - 1;
    out->first = s.first + rest / s.tiles_y * s.planes;
    out->last = min(out->first + s.planes - 1, s.last);
#pragma unroll
    for (int l = 0; l < J + 2; ++l) {
        const int y = out->y + l;
        out->in[l] = out->z >= 0 && out->z < s.nz && y >= 0 && y < s.ny;
        out->open[l] = out->z > 0 && out->z < s.nz - 1 && y > 0 && y < s.ny - 1;
    }
    return out->first <= s.last;
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
        across[l] =
            __shfl_up_sync(0xffffffffu, u[l], 1) + __shfl_down_sync(0xffffffffu, u[l], 1);
#pragma unroll
    for (int j = 0; j < J; ++j) {
        const real c = u[j + 1], y = u[j] + u[j + 2];
        const real z = across[j + 1], yz = across[j] + across[j + 2];
        own[j] = w[0][0] * c + w[1][0] * y + w[0][1] * z + w[1][1] * yz;
        beside[j] = s.side[0][0] * c + s.side[1][0] * y + s.side[0][1] * z + s.side[1][1] * yz;
    }
}

template <int J, bool FIXED, typename real, typename Work>
__device__ void stencil_load(const stencil_view<real> &s, const stencil_place<J> &at, int i,
                             const Work &work, typename Work::raw *out)
{
    const bool inside = i >= 0 && i < s.nx;
    const int64_t index = ((int64_t)i * s.ny + at.y) * s.nz + at.z;
#pragma unroll
    for (int l = 0; l < J + 2; ++l) {
        out[l] = typename Work::raw();
        if (inside && at.in[l]) out[l] = work.fetch(index + (int64_t)l * s.nz);
    }
}

template <int J, bool FIXED, typename real, typename Work>
__device__ void stencil_march(const stencil_view<real> &s, Work &work)
{
    stencil_place<J> at;
    if (!stencil_find(s, &at)) return;
    const int lane = threadIdx.x % 32;
    const bool inner = lane > 0 && lane <= STENCIL_WIDTH;
    typename Work::raw raw[J + 2];
    real u[J + 2], before[J], sum[J], beside_before[J];
#pragma unroll
    for (int j = 0; j < J; ++j) before[j] = sum[j] = beside_before[j] = 0;
    stencil_load<J, FIXED>(s, at, at.first - 1, work, raw);
    for (int i = at.first - 1; i <= at.last + 1; ++i) {
        real own[J], beside[J], center[J];
        typename Work::operands operands[J];
        const bool masked = FIXED && plane_fixed(s, i), emits = i > at.first;
        const int64_t index = ((int64_t)(i - 1) * s.ny + at.y + 1) * s.nz + at.z;
#pragma unroll
        for (int l = 0; l < J + 2; ++l) {
            u[l] = work.value(raw[l], plane_kind(s, i));
            if (l > 0 && l <= J) center[l - 1] = u[l];
            if (FIXED && (masked || !at.open[l])) u[l] = 0;
        }
        if (i <= at.last) stencil_load<J, FIXED>(s, at, i + 1, work, raw);
#pragma unroll
        for (int j = 0; j < J; ++j)
            if (emits && inner && at.open[j + 1])
                operands[j] = work.ahead(index + (int64_t)j * s.nz);
        stencil_sums<J>(s, plane_kind(s, i), u, own, beside);
#pragma unroll
        for (int j = 0; j < J; ++j) {
            const int64_t node = index + (int64_t)j * s.nz;
            if (emits && inner && at.open[j + 1] && !(FIXED && plane_fixed(s, i - 1)))
                work.emit(operands[j], node, plane_kind(s, i - 1), before[j], sum[j] + beside[j]);
            else if (FIXED && emits && inner && at.in[j + 1])
                work.emit(operands[j], node, plane_kind(s, i - 1), before[j], before[j]);
            sum[j] = own[j] + beside_before[j];
            beside_before[j] = beside[j];
            before[j] = center[j];
        }
    }
}

/* ---- host ---- */

/* The view with planes spread over some `warps` warps; J lines a warp. FIXED: all planes. */
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
    v.tiles_y = (v.ny + J - 1) / J;
    v.planes = (int)planes;
    return v;
}

template <typename real> unsigned stencil_blocks(const stencil_view<real> &v)
{
    const int64_t chunks = (v.last - v.first + v.planes) / v.planes;
    return (unsigned)((chunks * v.tiles_z * v.tiles_y + STENCIL_WARPS - 1) / STENCIL_WARPS);
}
