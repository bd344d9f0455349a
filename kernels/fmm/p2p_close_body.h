/*
 * Part of p2p_cuda.cu, in its namespace and after its sources: which leaves are close
 * (p2p_close.h), by a warp each. Where targets are sources, the leaf's own pairs come first, and
 * its surroundings only where a target lies at its surface.
 */
constexpr int SEARCHERS = 4; /* warps of a block */

struct close_leaf {
    double centre[3], half, close;
    int begin, end;
};

KERNEL_INLINE close_leaf close_leaf_of(const launch &in, int leaf)
{
    close_leaf out;
    double width;
    if (in.any) {
        width = in.any[leaf].width;
        for (int d = 0; d < 3; ++d) out.centre[d] = in.any[leaf].centre[d];
    } else {
        width = ldexp(in.targets.box.width, -in.targets.level);
        cell_centre(in.targets.box, width, in.targets.keys[leaf], out.centre);
    }
    out.begin = in.any ? in.any[leaf].begin : in.targets.set.start[leaf];
    out.end = leaf_end(in, leaf);
    out.half = width / 2;
    out.close = width * PS_FMM_CLOSE;
    return out;
}

/* Whether a place is within `reach` of the centre along every axis. */
KERNEL_INLINE bool within(const close_leaf &l, const double at[3], double reach)
{
    return fabs(at[0] - l.centre[0]) < reach && fabs(at[1] - l.centre[1]) < reach &&
           fabs(at[2] - l.centre[2]) < reach;
}

/* Whether one of the targets [begin, end) is in another place, near `at`. */
KERNEL_INLINE bool near_target(const launch &in, const close_leaf &l, const double at[3], int end)
{
    const double *rows = in.targets.set.rows;
    const int64_t stride = in.targets.set.stride;
    bool found = false;
    for (int i = l.begin; i < end; ++i) {
        double x = fabs(rows[i] - at[0]);
        if (!(x < l.close)) continue;
        double most =
            fmax(x, fmax(fabs(rows[stride + i] - at[1]), fabs(rows[2 * stride + i] - at[2])));
        found |= most > 0 && most < l.close;
    }
    return found;
}

KERNEL_INLINE void place_of(const double *x, int64_t stride, int64_t i, double at[3])
{
#pragma unroll
    for (int d = 0; d < 3; ++d) at[d] = x[d * stride + i];
}

/* By a warp: targets outside of the leaf's cell, and pairs of its own if targets are sources;
 * *edge: a target is where others' sources may be near. */
KERNEL_INLINE bool own_close(const launch &in, const close_leaf &l, int lane, bool same, bool *edge)
{
    bool found = false, outside = false;
    for (int i = l.begin + lane; i < l.end; i += WARP) {
        double at[3];
        place_of(in.targets.set.rows, in.targets.set.stride, i, at);
        found |= !within(l, at, l.half + 2 * l.close) || (same && near_target(in, l, at, i));
        outside |= !(same && within(l, at, l.half - 2 * l.close));
    }
    *edge = __any_sync(ALL, outside);
    return __any_sync(ALL, found);
}

/* By a warp: pairs with the sources of a part of the list; `same`: those inside are known. */
KERNEL_INLINE bool others_close(const launch &in, const close_leaf &l, int lane, bool same,
                                const runs &all)
{
    bool found = false;
    int run = -1, limit = 0;
    for (int v = lane; v < all.total; v += WARP) {
        while (v >= limit) limit = all.prefix[++run + 1];
        double at[3];
        place_of(all.x[run], all.stride[run], v, at);
        if (within(l, at, l.half + 2 * l.close) && !(same && within(l, at, l.half - 2 * l.close)))
            found |= near_target(in, l, at, l.end);
    }
    return __any_sync(ALL, found);
}

__global__ __launch_bounds__(SEARCHERS *WARP) void find_close(const __grid_constant__ launch in,
                                                              unsigned char *close)
{
    __shared__ runs lists[SEARCHERS];
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const int64_t leaf = (int64_t)blockIdx.x * SEARCHERS + warp;
    if (leaf >= in.targets.cells) return;
    const close_leaf l = close_leaf_of(in, (int)leaf);
    const bool same = !in.sources.table && in.sources.one.rows == in.targets.set.rows;
    bool edge = false;
    bool found = !(2 * l.half > PS_FMM_FP32_LEAST_WIDTH && 2 * l.half < PS_FMM_FP32_MOST_WIDTH);
    if (!found) found = own_close(in, l, lane, same, &edge);
    const int parts = found || !edge ? 0 : parts_of(in, (int)leaf);
    for (int part = 0; part < parts && !found; ++part) {
        if (in.any)
            take_runs(in, (int)leaf, part, lane, &lists[warp]);
        else
            find_runs(in, (int)leaf, lane, &lists[warp]);
        found = others_close(in, l, lane, same, lists[warp]);
        __syncwarp();
    }
    if (lane == 0) close[leaf] = found;
}
