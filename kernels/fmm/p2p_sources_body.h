/*
 * Part of p2p_cuda.cu, in its namespace and after its tiles: a launch, and the sources of a tile as
 * one list, found by near cells or by runs, that a warp brings stage after stage into shared
 * memory.
 */
struct launch {
    ps_fmm_device_leaves targets;
    const int32_t *near;
    ps_fmm_device_sources_table sources;
    double parameter;
    const unsigned *count;
    const tile *tiles;
    int each; /* tiles a block at a time */
    unsigned
        *next; /* [sides] tiles taken beyond the first of each block; NULL: no more than those */
    bool add;
    /* Leaves of any levels, their sources by runs; NULL: by `near`. */
    const ps_fmm_device_leaf *any;
    const int32_t *run_start;
    const ps_fmm_device_run *runs;
};

/* A leaf's targets. */
KERNEL_INLINE int leaf_begin(const launch &in, int leaf)
{
    return in.any ? in.any[leaf].begin : in.targets.set.start[leaf];
}

KERNEL_INLINE int leaf_end(const launch &in, int leaf)
{
    return in.any ? in.any[leaf].end : in.targets.set.start[leaf + 1];
}

/* Parts of a leaf's list of sources: as many runs as a warp has room for. */
KERNEL_INLINE int parts_of(const launch &in, int leaf)
{
    if (!in.any) return 1;
    int count = in.run_start[leaf + 1] - in.run_start[leaf];
    return max(1, (count + PS_FMM_DEVICE_NEAR - 1) / PS_FMM_DEVICE_NEAR);
}

/* The sources of a tile as one list 0 .. total: number v of run i is at x[i] + v. */
struct runs {
    const double *x[PS_FMM_DEVICE_NEAR];
    int64_t stride[PS_FMM_DEVICE_NEAR];
    int prefix[PS_FMM_DEVICE_NEAR + 1], total;
    int own, own_end; /* of the leaf at the targets' own place */
};

/* Sorts a number a lane. */
KERNEL_INLINE unsigned sorted(unsigned x, int lane)
{
#pragma unroll
    for (int size = 2; size <= WARP; size *= 2)
#pragma unroll
        for (int distance = size / 2; distance > 0; distance /= 2) {
            unsigned other = __shfl_xor_sync(ALL, x, distance);
            bool least = !(lane & distance) == !(lane & size);
            x = least ? min(x, other) : max(x, other);
        }
    return x;
}

/* By a warp: the leaves around in ascending order; what follows each other in memory is one run. */
__device__ void find_runs(const launch &in, int leaf, int lane, runs *out)
{
    const int32_t *near = in.near + (int64_t)leaf * PS_FMM_DEVICE_NEAR;
    const unsigned own = (unsigned)near[PS_FMM_DEVICE_NEAR / 2];
    unsigned code = sorted(lane < PS_FMM_DEVICE_NEAR ? (unsigned)near[lane] : ~0u, lane);
    ps_fmm_device_sources set = in.sources.one;
    int first = 0, count = 0;
    const bool same = code == own;
    if (code != ~0u) {
        if (in.sources.table) {
            set = in.sources.table[code >> in.sources.shift];
            code &= (1u << in.sources.shift) - 1;
        }
        first = set.start[code];
        count = set.start[code + 1] - first;
    }
    int sum = count;
    for (int step = 1; step < WARP; step *= 2) {
        int before = __shfl_up_sync(ALL, sum, step);
        if (lane >= step) sum += before;
    }
    const double *begin = set.rows + first;
    uint64_t end_before = __shfl_up_sync(ALL, (unsigned long long)(begin + count), 1);
    int64_t stride_before = __shfl_up_sync(ALL, (long long)set.stride, 1);
    bool head =
        count > 0 && (lane == 0 || end_before != (uint64_t)begin || stride_before != set.stride);
    unsigned heads = __ballot_sync(ALL, head);
    int run = __popc(heads & ((1u << lane) - 1));
    if (head) {
        out->x[run] = begin - (sum - count);
        out->stride[run] = set.stride;
        out->prefix[run] = sum - count;
    }
    if (lane == WARP - 1) {
        out->prefix[run + head] = sum;
        out->total = sum;
        if (own == ~0u) out->own = out->own_end = 0;
    }
    if (same && own != ~0u) {
        out->own = sum - count;
        out->own_end = sum;
    }
    __syncwarp();
}

/* By a warp: a part of the runs of a leaf. */
__device__ void take_runs(const launch &in, int leaf, int part, int lane, runs *out)
{
    const int run = in.run_start[leaf] + part * PS_FMM_DEVICE_NEAR + lane;
    const int own = in.any[leaf].own, own_end = in.any[leaf].own_end;
    const bool there = lane < PS_FMM_DEVICE_NEAR && run < in.run_start[leaf + 1];
    ps_fmm_device_run one = {0, 0};
    if (there) one = in.runs[run];
    const int count = one.end - one.begin;
    const bool has_own = there && own < own_end && one.begin <= own && own_end <= one.end;
    int sum = count;
    for (int step = 1; step < WARP; step *= 2) {
        int before = __shfl_up_sync(ALL, sum, step);
        if (lane >= step) sum += before;
    }
    const int all = __popc(__ballot_sync(ALL, there));
    const bool any_own = __any_sync(ALL, has_own);
    if (there) {
        out->x[lane] = in.sources.one.rows + one.begin - (sum - count);
        out->stride[lane] = in.sources.one.stride;
        out->prefix[lane] = sum - count;
    }
    if (lane == WARP - 1) {
        out->prefix[all] = sum;
        out->total = sum;
        if (!any_own) out->own = out->own_end = 0;
    }
    if (has_own) {
        out->own = sum - count + own - one.begin;
        out->own_end = out->own + own_end - own;
    }
    __syncwarp();
}

/* Sources of a stage, x y and z q side by side. */
struct stage {
    double2 xy[WARP], zq[WARP];
};

struct team { /* what a warp has in shared memory */
    runs all;
    stage stages[STAGES];
};

/* A thread's place in the list. */
struct cursor {
    const double *x;
    int64_t stride;
    int limit, run;
};

/* `there` false: 0. */
KERNEL_INLINE void copy_number(double *to, const double *from, bool there)
{
    unsigned at = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(at), "l"(from),
                 "r"(there ? 8 : 0)
                 : "memory");
}

/* Starts the copies of source number v to a lane's place in a stage; behind the end: 0, and
 * in_no_run is some address. */
KERNEL_INLINE void fetch_source(const runs &all, int v, int side, const double *in_no_run,
                                cursor &c, stage &to)
{
    const int lane = threadIdx.x % WARP;
    const bool there = v < all.total;
    while (there && v >= c.limit) {
        c.limit = all.prefix[++c.run + 1];
        c.x = all.x[c.run];
        c.stride = all.stride[c.run];
    }
    const double *at = there ? c.x + v : in_no_run;
    const int64_t step = there ? c.stride : 0;
    copy_number(&to.xy[lane].x, at, there);
    copy_number(&to.xy[lane].y, at + step, there);
    copy_number(&to.zq[lane].x, at + 2 * step, there);
    copy_number(&to.zq[lane].y, at + (3 + side) * step, there);
    asm volatile("cp.async.commit_group;" ::: "memory");
}

template <typename real> struct source {
    real x, y, z, charge;
};

/* Where fp32 sums, a lane's own source of a stage, in its place, relative to `offset`: once, and
 * not by every lane that has targets of its own. */
template <typename real> KERNEL_INLINE void narrow(stage &s, const double offset[3])
{
    if constexpr (sizeof(real) < sizeof(double)) {
        const int lane = threadIdx.x % WARP;
        const double2 xy = s.xy[lane], zq = s.zq[lane];
        reinterpret_cast<float4 &>(s.xy[lane]) =
            make_float4((float)(xy.x - offset[0]), (float)(xy.y - offset[1]),
                        (float)(zq.x - offset[2]), (float)zq.y);
    }
}

template <typename real> KERNEL_INLINE source<real> source_of(const stage &s, int i)
{
    if constexpr (sizeof(real) == sizeof(double)) {
        const double2 xy = s.xy[i], zq = s.zq[i];
        return {xy.x, xy.y, zq.x, zq.y};
    } else {
        const float4 all = reinterpret_cast<const float4 &>(s.xy[i]);
        return {all.x, all.y, all.z, all.w};
    }
}
