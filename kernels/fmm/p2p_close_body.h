/*
 * Part of p2p_cuda.cu, in its namespace and after its sources: which leaves are close
 * (p2p_close.h), by a warp each. Where targets are sources, a leaf's own pairs are found by codes
 * of places, and its sources around, of which there are many more, are read for the few targets
 * alone that lie at its surface, their first coordinates before the others.
 */
constexpr int SEARCHERS = 4; /* warps of a block */
constexpr int BATCH = 128;   /* targets of a leaf that a warp compares with others */
constexpr int AHEAD = 4;     /* sources that a lane reads before it looks at the first one */

/* Places nearer than one step of 10 bits an axis: their codes' difference, plus one in each axis,
 * has none of the other bits. */
constexpr unsigned EACH_AXIS = 1 | 1 << 10 | 1 << 20, OTHER_BITS = ~(3 * EACH_AXIS);
constexpr unsigned NOWHERE = 1023 * EACH_AXIS;

struct close_leaf {
    double centre[3], half, close, steps; /* steps: of code_of, in a unit of length */
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
    out.begin = leaf_begin(in, leaf);
    out.end = leaf_end(in, leaf);
    out.half = width / 2;
    out.close = width * PS_FMM_CLOSE;
    out.steps = (1 - 1e-6) / out.close;
    return out;
}

KERNEL_INLINE void place_of(const launch &in, int i, double at[3])
{
#pragma unroll
    for (int d = 0; d < 3; ++d) at[d] = in.targets.set.rows[d * in.targets.set.stride + i];
}

/* Whether a place is within `reach` of the centre along every axis. */
KERNEL_INLINE bool within(const close_leaf &l, const double at[3], double reach)
{
    return fabs(at[0] - l.centre[0]) < reach && fabs(at[1] - l.centre[1]) < reach &&
           fabs(at[2] - l.centre[2]) < reach;
}

/* Whether two places are not one, and nearer than `close` along every axis. */
KERNEL_INLINE bool are_close(const double a[3], const double b[3], double close)
{
    double most = fmax(fabs(a[0] - b[0]), fmax(fabs(a[1] - b[1]), fabs(a[2] - b[2])));
    return most > 0 && most < close;
}

/* ---- pairs of a leaf's own ---- */

/* A place in steps a little longer than what is close. */
KERNEL_INLINE unsigned code_of(const close_leaf &l, const double at[3])
{
    unsigned code = 0;
#pragma unroll
    for (int d = 0; d < 3; ++d)
        code |= (unsigned)(int)((at[d] - l.centre[d]) * l.steps + 256) << 10 * d;
    return code;
}

/* How many of `count` codes may be close to one. */
KERNEL_INLINE int near_codes(unsigned code, const unsigned *codes, int count)
{
    const uint4 *four = reinterpret_cast<const uint4 *>(codes);
    int near = 0;
    code += EACH_AXIS;
    for (int i = 0; i < count; i += 4) {
        uint4 c = four[i / 4];
        near += ((code - c.x) & OTHER_BITS) == 0;
        near += ((code - c.y) & OTHER_BITS) == 0;
        near += ((code - c.z) & OTHER_BITS) == 0;
        near += ((code - c.w) & OTHER_BITS) == 0;
    }
    return near;
}

/* By a warp: whether two of a leaf's targets are close; the first BATCH have codes. */
KERNEL_INLINE bool own_close(const launch &in, const close_leaf &l, int lane, unsigned *codes)
{
    bool found = false;
    double at[3], other[3];
    for (int first = l.begin; first < l.end && !__any_sync(ALL, found); first += BATCH) {
        const int count = min(BATCH, l.end - first);
        __syncwarp();
        for (int i = lane; i < count && first > l.begin; i += WARP) {
            place_of(in, first + i, at);
            codes[i] = code_of(l, at);
        }
        if (lane < 3) codes[count + lane] = NOWHERE; /* to a multiple of 4 */
        __syncwarp();
        for (int i = lane; first + i < l.end; i += WARP) { /* with those before the end of its 32 */
            const int upto = min(count, i - lane + WARP);
            if (i >= count) place_of(in, first + i, at);
            if (near_codes(i < count ? codes[i] : code_of(l, at), codes, upto) <= (i < count))
                continue;
            place_of(in, first + i, at);
            for (int j = first; j < first + upto; ++j) {
                place_of(in, j, other);
                found |= are_close(at, other, l.close);
            }
        }
    }
    return __any_sync(ALL, found);
}

/* ---- pairs with others' ---- */

/* What is close to some of the targets lies in here. */
struct close_box {
    double low[3], high[3];
};

/* By a warp: of targets from lowest to highest in steps of code_of. */
KERNEL_INLINE close_box box_of(const close_leaf &l, const int lowest[3], const int highest[3])
{
    const double step = 1.00001 * l.close;
    close_box b;
#pragma unroll
    for (int d = 0; d < 3; ++d) {
        b.low[d] = l.centre[d] + (__reduce_min_sync(ALL, lowest[d]) - 258) * step;
        b.high[d] = l.centre[d] + (__reduce_max_sync(ALL, highest[d]) - 253) * step;
    }
    return b;
}

/* Whether one of the leaf's targets is close to `at`. */
KERNEL_INLINE bool near_target(const launch &in, const close_leaf &l, const double at[3])
{
    bool found = false;
    for (int i = l.begin; i < l.end; ++i) {
        if (!(fabs(in.targets.set.rows[i] - at[0]) < l.close)) continue;
        double target[3];
        place_of(in, i, target);
        found |= are_close(at, target, l.close);
    }
    return found;
}

/* By a warp: whether a source of a part of the list, in the box, is close to a target. own: the
 * leaf's own are known not to be. */
KERNEL_INLINE bool others_close(const launch &in, const close_leaf &l, const close_box &b, int lane,
                                bool own, const runs &all)
{
    bool found = false;
    int run = -1, limit = 0;
    for (int from = lane; from < all.total; from += AHEAD * WARP) {
        const double *x[AHEAD];
        double first[AHEAD];
        int in_run[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; ++k) {
            const int v = min(from + k * WARP, all.total - 1);
            while (v >= limit) limit = all.prefix[++run + 1];
            x[k] = all.x[run] + v;
            in_run[k] = run;
            first[k] = *x[k];
        }
#pragma unroll
        for (int k = 0; k < AHEAD; ++k) {
            const int v = from + k * WARP;
            if (!(first[k] > b.low[0] && first[k] < b.high[0])) continue;
            if (own && v >= all.own && v < all.own_end) continue;
            const int64_t stride = all.stride[in_run[k]];
            const double at[3] = {first[k], x[k][stride], x[k][2 * stride]};
            if (at[1] > b.low[1] && at[1] < b.high[1] && at[2] > b.low[2] && at[2] < b.high[2])
                found |= near_target(in, l, at);
        }
    }
    return __any_sync(ALL, found);
}

__global__ __launch_bounds__(SEARCHERS *WARP) void find_close(const __grid_constant__ launch in,
                                                              unsigned char *close)
{
    __shared__ union {
        uint4 four[BATCH / 4 + 1];
        unsigned codes[BATCH + 4];
        runs list;
    } room[SEARCHERS];
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const int64_t number = (int64_t)blockIdx.x * SEARCHERS + warp;
    if (number >= in.targets.cells) return;
    const int leaf = (int)number;
    const close_leaf l = close_leaf_of(in, leaf);
    const bool own = !in.sources.table && in.sources.one.rows == in.targets.set.rows;
    int lowest[3] = {1024, 1024, 1024}, highest[3] = {0, 0, 0};
    bool outside = false, surface = false;
    for (int i = l.begin + lane; i < l.end; i += WARP) {
        double at[3];
        place_of(in, i, at);
        outside |= !within(l, at, l.half + l.close);
        const unsigned code = code_of(l, at);
        if (i - l.begin < BATCH) room[warp].codes[i - l.begin] = code;
        if (own && within(l, at, l.half - l.close)) continue;
        surface = true;
        for (int d = 0; d < 3; ++d) {
            int step = (int)(code >> 10 * d & 1023);
            lowest[d] = min(lowest[d], step);
            highest[d] = max(highest[d], step);
        }
    }
    bool found = __any_sync(ALL, outside) ||
                 !(2 * l.half > PS_FMM_FP32_LEAST_WIDTH && 2 * l.half < PS_FMM_FP32_MOST_WIDTH);
    if (!found && own) found = own_close(in, l, lane, room[warp].codes);
    if (!found && __any_sync(ALL, surface)) {
        const close_box b = box_of(l, lowest, highest);
        const int parts = parts_of(in, leaf);
        for (int part = 0; part < parts && !found; ++part) {
            __syncwarp();
            if (in.any)
                take_runs(in, leaf, part, lane, &room[warp].list);
            else
                find_runs(in, leaf, lane, &room[warp].list);
            found = others_close(in, l, b, lane, own, room[warp].list);
        }
    }
    if (lane == 0) close[leaf] = found;
}
