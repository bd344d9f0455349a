/*
 * P2P on the device, one-sided: every target adds up all sources around its leaf.
 *
 * A warp takes a *tile*: some targets of a leaf. Each thread holds 4 (fp32: 8) of them in
 * registers, and the 4, 8, 16 or 32 lanes that hold the same ones share out the sources; a leaf is
 * cut into tiles of 8, 4, 2 and 1 such sets, so that few lanes are wasted. Sources are walked as
 * one list whatever leaves they lie in, 32 at a time on their way to shared memory while the ones
 * before are at work. Tiles of a leaf, and of leaves next to each other, run side by side and find
 * their sources in the cache.
 *
 * In fp32 close leaves (p2p_close.h) are left out, and then summed in fp64.
 *
 * Double precision operations a pair for 1/r with gradient: 3 differences, 3 for r^2, 5 for the
 * root, 7 for K, c and the sums: 18, the test for distance 0 is an integer's.
 */
#include <cuda_runtime.h>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/fmm/moment_device.h"
#include "kernels/fmm/p2p_close.h"
}

namespace
{

#include "kernels/fmm/device_body.h"
#include "kernels/fmm/kernel_lanes_body.h"

enum {
    WARP = 32,
    COUNTING = 256,
    STAGES = 3, /* of sources in shared memory */
    FLUSH = 8,  /* fp32 sums over this many stages at most */
    COUNTER_BYTES = 256
};
constexpr unsigned ALL = 0xffffffffu;

struct tile {
    int32_t leaf, first; /* target */
};

template <typename real> struct shape { /* targets a thread */
    static constexpr int targets = sizeof(real) == sizeof(double) ? 4 : 8;
};

/* Sets of targets in the tile that begins a rest of so many: 8, 4, 2 or 1. */
__host__ __device__ inline int tile_sets(int rest, int targets)
{
    int sets = (rest + targets - 1) / targets;
    return sets >= 8 ? 8 : sets >= 4 ? 4 : sets >= 2 ? 2 : 1;
}

/* At least 32 targets each but for three a leaf. */
int64_t tiles_max(int64_t leaves, int64_t particles) { return particles / 32 + 3 * leaves; }

/* ---- tiles ---- */

/* Lists the tiles of 256 leaves in a stretch of its own; *count is how many there are. only: those
 * of leaves where `close` is that; close NULL: of all. */
__global__ void list_tiles(const int32_t *start, const ps_fmm_device_leaf *each, int64_t leaves,
                           int targets, const unsigned char *close, bool only, unsigned *count,
                           tile *tiles)
{
    __shared__ unsigned sums[COUNTING / WARP], base;
    int64_t leaf = (int64_t)blockIdx.x * COUNTING + threadIdx.x;
    int32_t first = 0, end = 0;
    if (leaf < leaves && (!close || close[leaf] == only)) {
        first = each ? each[leaf].begin : start[leaf];
        end = each ? each[leaf].end : start[leaf + 1];
    }
    unsigned own = 0;
    for (int i = first; i < end; i += targets * tile_sets(end - i, targets)) ++own;
    unsigned sum = own;
    int lane = threadIdx.x % WARP;
    for (int step = 1; step < WARP; step *= 2) {
        unsigned before = __shfl_up_sync(ALL, sum, step);
        if (lane >= step) sum += before;
    }
    if (lane == WARP - 1) sums[threadIdx.x / WARP] = sum;
    __syncthreads();
    for (int w = 0; w < (int)threadIdx.x / WARP; ++w) sum += sums[w];
    if (threadIdx.x == COUNTING - 1) base = atomicAdd(count, sum);
    __syncthreads();
    tile *to = tiles + base + sum - own;
    for (int i = first; i < end; i += targets * tile_sets(end - i, targets))
        *to++ = {(int32_t)leaf, i};
}

#include "kernels/fmm/p2p_sources_body.h"

#include "kernels/fmm/p2p_close_body.h"

/* ---- pairs ---- */

/* One source with the targets of a thread; sums[component * targets + target]. */
template <typename vreal, int kernel, bool gradient, typename real, int values>
KERNEL_INLINE void interact(const source<real> &s, const real (&at)[3][vreal::targets], real b,
                            real (&sums)[values])
{
    constexpr int n = vreal::targets;
    vreal d[3], r2, parameter, k, c;
    EACH_LANE d[0].v[i] = at[0][i] - s.x;
    EACH_LANE d[1].v[i] = at[1][i] - s.y;
    EACH_LANE d[2].v[i] = at[2][i] - s.z;
    EACH_LANE r2.v[i] = d[0].v[i] * d[0].v[i];
    EACH_LANE r2.v[i] = fma(d[1].v[i], d[1].v[i], r2.v[i]);
    EACH_LANE r2.v[i] = fma(d[2].v[i], d[2].v[i], r2.v[i]);
    EACH_LANE parameter.v[i] = b;
    kernel_at<kernel>(r2, parameter, &k, &c);
    if constexpr (vreal::careful && !vanishes_at_0(kernel)) {
        EACH_LANE k.v[i] = r2.v[i] > 0 ? k.v[i] : (real)0;
        EACH_LANE c.v[i] = r2.v[i] > 0 ? c.v[i] : (real)0;
    }
    EACH_LANE sums[i] = fma(s.charge, k.v[i], sums[i]);
    if constexpr (gradient) {
        EACH_LANE c.v[i] = s.charge * c.v[i];
#pragma unroll
        for (int r = 0; r < 3; ++r)
            EACH_LANE sums[(1 + r) * n + i] = fma(c.v[i], d[r].v[i], sums[(1 + r) * n + i]);
    }
}

/* Sources 0 .. left of a stage, every `step`-th from `first` on. */
template <typename vreal, int kernel, bool gradient, typename real, int values>
KERNEL_INLINE void interact_stage(const stage &now, int first, int left, int step,
                                  const real (&at)[3][vreal::targets], real b, real (&sums)[values])
{
#pragma unroll 1
    for (int i = 0; i < left; i += step)
        interact<vreal, kernel, gradient>(source_of<real>(now, i + first), at, b, sums);
}

/* Sums of `count` values over the lanes of each group of `lanes`: afterwards a lane has those of
 * the values from number (lane % lanes) count / lanes on (the same in lanes / count lanes, if there
 * are more lanes than values). */
template <int lanes, int left, typename real, int count>
KERNEL_INLINE void reduce(real (&value)[count], int lane)
{
    if constexpr (lanes > 1) {
        bool upper = lane & lanes / 2;
        if constexpr (left > 1) {
#pragma unroll
            for (int i = 0; i < left / 2; ++i) {
                real given = upper ? value[i] : value[left / 2 + i];
                real kept = upper ? value[left / 2 + i] : value[i];
                value[i] = kept + __shfl_xor_sync(ALL, given, lanes / 2);
            }
            reduce<lanes / 2, left / 2>(value, lane);
        } else {
            value[0] += __shfl_xor_sync(ALL, value[0], lanes / 2);
            reduce<lanes / 2, 1>(value, lane);
        }
    }
}

/* A warp's targets and what they belong to. */
template <typename real> struct targets_of {
    real at[3][shape<real>::targets];
    double offset[3];
    int first, end; /* of the lane's set, and of the leaf */
};

template <typename real>
KERNEL_INLINE void take_targets(const launch &in, tile t, int lanes, targets_of<real> *out)
{
    const ps_fmm_device_sources &own = in.targets.set;
    out->end = leaf_end(in, t.leaf);
    out->first = t.first + (int)(threadIdx.x % WARP) / lanes * shape<real>::targets;
    for (int d = 0; d < 3; ++d) out->offset[d] = 0;
    if (sizeof(real) < sizeof(double)) {
        if (in.any)
            for (int d = 0; d < 3; ++d) out->offset[d] = in.any[t.leaf].centre[d];
        else
            cell_centre(in.targets.box, ldexp(in.targets.box.width, -in.targets.level),
                        in.targets.keys[t.leaf], out->offset);
    }
#pragma unroll
    for (int i = 0; i < shape<real>::targets; ++i)
#pragma unroll
        for (int d = 0; d < 3; ++d) {
            int number = min(out->first + i, out->end - 1);
            out->at[d][i] = (real)(own.rows[d * own.stride + number] - out->offset[d]);
        }
}

/* Adds or puts the sums that a lane has. */
template <typename real, bool gradient, int lanes>
KERNEL_INLINE void put_sums(const launch &in, int side, bool add, const targets_of<real> &to,
                            const double *sums)
{
    constexpr int targets = shape<real>::targets, values = (gradient ? 4 : 1) * targets;
    constexpr int each = values > lanes ? values / lanes : 1, shared = lanes / (values / each);
    const int lane = threadIdx.x % lanes;
    if (lane % shared) return;
#pragma unroll
    for (int i = 0; i < each; ++i) {
        int value = lane / shared * each + i, component = value / targets;
        int number = to.first + value % targets;
        if (number >= to.end) continue;
        int64_t stride = in.targets.set.stride;
        double *at = component == 0 ? in.targets.potential + side * stride
                                    : in.targets.gradient + (3 * side + component - 1) * stride;
        at[number] = add ? at[number] + sums[i] : sums[i];
    }
}

/* One tile by a warp, `lanes` a set of targets. */
template <typename real, int kernel, bool gradient, int lanes>
__device__ void run_tile(const launch &in, tile t, int side, bool add, team &own)
{
    constexpr int targets = shape<real>::targets, values = (gradient ? 4 : 1) * targets;
    constexpr int each = values > lanes ? values / lanes : 1;
    const int lane = threadIdx.x % WARP, total = own.all.total;
    const int stages = (total + WARP - 1) / WARP;
    targets_of<real> to;
    cursor c = {nullptr, 0, 0, -1};
    double result[each] = {};
    for (int s = 0; s < STAGES - 1; ++s)
        fetch_source(own.all, s * WARP + lane, side, in.targets.set.rows, c, own.stages[s]);
    take_targets(in, t, lanes, &to);
    for (int s = 0; s < stages;) {
        real sums[values] = {};
        int stop = sizeof(real) == sizeof(double) ? stages : min(stages, s + FLUSH * lanes);
#pragma unroll 1
        for (; s < stop; ++s) {
            asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
            narrow<real>(own.stages[s % STAGES], to.offset);
            __syncwarp();
            fetch_source(own.all, (s + STAGES - 1) * WARP + lane, side, in.targets.set.rows, c,
                         own.stages[(s + STAGES - 1) % STAGES]);
            const stage &now = own.stages[s % STAGES];
            const int begin = s * WARP, left = min(WARP, total - begin);
            /* The targets' own leaf has sources at their places, and behind the end lie zeros. */
            const bool careful =
                left < WARP || (begin < own.all.own_end && begin + WARP > own.all.own);
            if (careful)
                interact_stage<numbers<real, targets, true>, kernel, gradient>(
                    now, lane % lanes, left, lanes, to.at, (real)in.parameter, sums);
            else
                interact_stage<numbers<real, targets, false>, kernel, gradient>(
                    now, lane % lanes, left, lanes, to.at, (real)in.parameter, sums);
        }
        reduce<lanes, values>(sums, lane);
#pragma unroll
        for (int i = 0; i < each; ++i) result[i] += (double)sums[i];
    }
    put_sums<real, gradient, lanes>(in, side, add, to, result);
}

/* A part of a tile's sources; the first one overwrites or adds as is asked, others add. */
template <typename real, int kernel, bool gradient>
KERNEL_INLINE void do_part(const launch &in, const tile &t, int part, int side, team &own)
{
    const bool add = in.add || part > 0;
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncwarp();
    if (in.any)
        take_runs(in, t.leaf, part, threadIdx.x, &own.all);
    else
        find_runs(in, t.leaf, threadIdx.x, &own.all);
    switch (tile_sets(leaf_end(in, t.leaf) - t.first, shape<real>::targets)) {
    case 8:
        run_tile<real, kernel, gradient, 4>(in, t, side, add, own);
        break;
    case 4:
        run_tile<real, kernel, gradient, 8>(in, t, side, add, own);
        break;
    case 2:
        run_tile<real, kernel, gradient, 16>(in, t, side, add, own);
        break;
    default:
        run_tile<real, kernel, gradient, 32>(in, t, side, add, own);
    }
}

template <typename real, int kernel, bool gradient>
KERNEL_INLINE void do_tile(const launch &in, const tile &t, int side, team &own)
{
    const int parts = parts_of(in, t.leaf);
#pragma unroll 1
    for (int part = 0; part < parts; ++part)
        do_part<real, kernel, gradient>(in, t, part, side, own);
}

/* The first of the tiles that a block takes next. */
__device__ inline int64_t more_tiles(const launch &in, int64_t count)
{
    unsigned taken = 0;
    if (!in.next) return count;
    if (threadIdx.x == 0) taken = atomicAdd(in.next + blockIdx.y, (unsigned)in.each);
    return (int64_t)gridDim.x * in.each + __shfl_sync(0xffffffffu, taken, 0);
}

/* A block is a warp: tiles take different times, and nobody waits for the longest. */
template <typename real, int kernel, bool gradient>
__global__ __launch_bounds__(WARP, 16) void p2p_tiles(const __grid_constant__ launch in)
{
    __shared__ team own;
    const int64_t count = *in.count;
    for (int64_t first = (int64_t)blockIdx.x * in.each; first < count;
         first = more_tiles(in, count))
        for (int64_t i = first; i < first + in.each && i < count; ++i)
            do_tile<real, kernel, gradient>(in, in.tiles[i], blockIdx.y, own);
}

/* ---- launches ---- */

template <typename real, int kernel>
void start_kernel(const launch &in, dim3 grid, cudaStream_t stream)
{
    if (in.targets.gradient)
        p2p_tiles<real, kernel, true><<<grid, WARP, 0, stream>>>(in);
    else
        p2p_tiles<real, kernel, false><<<grid, WARP, 0, stream>>>(in);
}

template <typename real>
void start(const launch &in, ps_fmm_kernel kernel, dim3 grid, cudaStream_t stream)
{
    using starter = void (*)(const launch &, dim3, cudaStream_t);
#define STARTER(NAME, name) start_kernel<real, PS_FMM_##NAME>,
    static const starter starters[PS_FMM_KERNEL_COUNT] = {
        PS_FMM_COMMON_KERNELS(STARTER) start_kernel<real, PS_FMM_USER>};
#undef STARTER
    starters[kernel](in, grid, stream);
}

} // namespace

/* Bytes of counters and tiles; a byte a leaf follows: whether it is close. */
static int64_t tile_bytes(int64_t leaves, int64_t particles)
{
    return COUNTER_BYTES + tiles_max(leaves, particles) * (int64_t)sizeof(tile);
}

extern "C" int64_t ps_fmm_device_p2p_workspace(int64_t leaves, int64_t particles)
{
    return tile_bytes(leaves, particles) + (leaves + 15) / 16 * 16;
}

namespace
{

/* Blocks of which `limit` work on a multiprocessor at a time. */
ps_status blocks_at_most(int limit, int64_t *blocks)
{
    int device, multiprocessors;
    PS_CUDA(cudaGetDevice(&device));
    PS_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    int64_t room = (int64_t)limit * multiprocessors;
    *blocks = *blocks < room ? *blocks : room;
    return PS_OK;
}

/* Lists tiles and sums them in one precision; `in` lacks what is of the tiles. close, only as in
 * list_tiles; limit: blocks of ps_fmm_device_p2p. */
template <typename real>
ps_status sum_tiles(const ps_fmm_device_method *method, launch in, int limit,
                    const unsigned char *close, bool only, void *workspace, cudaStream_t on)
{
    const ps_fmm_device_leaves *t = &in.targets;
    unsigned *count = static_cast<unsigned *>(workspace);
    tile *tiles = reinterpret_cast<tile *>(static_cast<char *>(workspace) + COUNTER_BYTES);
    in.count = count;
    in.tiles = tiles;
    in.each = t->particles >= 32 * t->cells ? 1 : 4; /* short leaves: many places are empty */
    in.next = limit > 0 ? count + 1 : nullptr;
    PS_CUDA(cudaMemsetAsync(count, 0, COUNTER_BYTES, on));
    list_tiles<<<(unsigned)((t->cells + COUNTING - 1) / COUNTING), COUNTING, 0, on>>>(
        t->set.start, in.any, t->cells, shape<real>::targets, close, only, count, tiles);
    PS_CUDA(cudaGetLastError());
    int64_t blocks = (tiles_max(t->cells, t->particles) + in.each - 1) / in.each;
    if (limit > 0) PS_TRY(blocks_at_most(limit, &blocks));
    start<real>(in, method->function.kernel, dim3((unsigned)blocks, (unsigned)method->sides), on);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

/* Leaves that are close, in fp64, behind the others: they are few, and few blocks look for them. */
ps_status run(const ps_fmm_device_method *method, const launch &in, int limit, void *workspace,
              ps_stream *stream)
{
    enum { FEW = 16 };
    const int64_t cells = in.targets.cells;
    if (cells == 0) return PS_OK;
    PS_TRY(ps_stream_enter(stream));
    cudaStream_t on = static_cast<cudaStream_t>(ps_stream_handle(stream));
    if (method->near == PS_DOUBLE)
        return sum_tiles<double>(method, in, limit, nullptr, true, workspace, on);
    unsigned char *close =
        static_cast<unsigned char *>(workspace) + tile_bytes(cells, in.targets.particles);
    find_close<<<(unsigned)((cells + SEARCHERS - 1) / SEARCHERS), SEARCHERS * WARP, 0, on>>>(in,
                                                                                             close);
    PS_CUDA(cudaGetLastError());
    PS_TRY(sum_tiles<float>(method, in, limit, close, false, workspace, on));
    return sum_tiles<double>(method, in, limit > 0 ? limit : FEW, close, true, workspace, on);
}

} // namespace

extern "C" ps_status ps_fmm_device_p2p_run(const ps_fmm_device_method *method,
                                           const ps_fmm_device_p2p *p2p, ps_stream *stream)
{
    launch in = {.targets = p2p->targets,
                 .near = p2p->near,
                 .sources = p2p->sources,
                 .parameter = method->function.parameter,
                 .add = p2p->add};
    return run(method, in, p2p->blocks, p2p->workspace, stream);
}

extern "C" ps_status ps_fmm_device_p2p_any_run(const ps_fmm_device_method *method,
                                               const ps_fmm_device_p2p_any *p2p, ps_stream *stream)
{
    if (p2p->targets.moments) return ps_fmm_device_moment_p2p(method, p2p, stream);
    launch in = {.targets = p2p->targets.leaves,
                 .sources = {.one = p2p->sources},
                 .parameter = method->function.parameter,
                 .any = p2p->targets.each,
                 .run_start = p2p->run_start,
                 .runs = p2p->runs};
    return run(method, in, 0, p2p->workspace, stream);
}
