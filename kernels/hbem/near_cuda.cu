/* Close pairs of near leaves, as entries_near.c does them, in lists; the others:
 * near_regular_cuda.cu. */
#include <cuda_runtime.h>
#include <math.h>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/hbem/device_kernels.h"
#include "kernels/hbem/narrow.h"
}

namespace
{

#include "kernels/hbem/device_list_body.h"
#include "kernels/hbem/device_hard_body.h"

enum { ADDING = 64, MOMENTS = 128 };

/* ---- moments of close pairs ---- */

/* Gauss points along of narrow rules, on [0, 1]: node, weight. */
__device__ const double narrow_line[][PS_HBEM_ALONG_MOST][2] = {
    {{0.046910077030668018, 0.1184634425280945},
     {0.23076534494715845, 0.23931433524968324},
     {0.5, 0.28444444444444444},
     {0.7692346550528415, 0.23931433524968324},
     {0.95308992296933193, 0.1184634425280945}},
    {{0.033765242898423975, 0.085662246189585248},
     {0.1693953067668677, 0.1803807865240693},
     {0.38069040695840151, 0.23395696728634563},
     {0.61930959304159849, 0.23395696728634563},
     {0.83060469323313235, 0.1803807865240693},
     {0.96623475710157603, 0.085662246189585248}},
    {{0.019855071751231856, 0.050614268145188088},
     {0.10166676129318658, 0.11119051722668723},
     {0.2372337950418355, 0.15685332293894369},
     {0.40828267875217511, 0.181341891689181},
     {0.59171732124782495, 0.181341891689181},
     {0.7627662049581645, 0.15685332293894369},
     {0.89833323870681348, 0.11119051722668723},
     {0.9801449282487682, 0.050614268145188088}}};

/* The narrow rule in place of a regular one by a block; returns its points. */
template <typename real> __device__ int put_narrow(int regular, real (*rule)[4])
{
    const int points = PS_HBEM_ACROSS * ps_hbem_narrow_along(regular);
    for (int q = threadIdx.x; q < points; q += MOMENTS) {
        double point[4];
        ps_hbem_narrow_point(narrow_line[regular - 2], q, point);
        for (int e = 0; e < 4; ++e) rule[q][e] = (real)point[e];
    }
    return points;
}

template <typename real, int kernel, int wave>
__global__ void __launch_bounds__(MOMENTS)
    close_moments(const __grid_constant__ ps_hbem_near_launch in, int kind)
{
    __shared__ real rule[PS_HBEM_POINTS_MAX][4];
    constexpr ps_precision precision = sizeof(real) == 4 ? PS_SINGLE : PS_DOUBLE;
    const bool narrow = kind > PS_HBEM_CLOSE_NARROW;
    const int r = kind - (narrow ? (int)PS_HBEM_CLOSE_NARROW : (int)PS_PAIR_CONTACTS);
    const bool regular = r >= 0 && r < in.op.rules.rules;
    int points = regular ? in.op.rules.count[r] : 0;
    const real *from = regular ? (const real *)in.op.rules.point[precision][r] : NULL;
    if (narrow)
        points = put_narrow(r, rule);
    else
        for (int e = threadIdx.x; e < 4 * points; e += MOMENTS) rule[e / 4][e % 4] = from[e];
    __syncthreads();
    const int64_t count = in.class_count[kind], step = (int64_t)gridDim.x * MOMENTS;
    for (int64_t i = (int64_t)blockIdx.x * MOMENTS + threadIdx.x; i < count; i += step) {
        const int64_t at = in.list[in.class_start[kind] + i];
        real *out = (real *)in.moments + 9 * parts_of(wave) * at;
        close_pair<real> p;
        moments_of<real, parts_of(wave)> m;
        open_pair<kernel>(in, in.pairs[at], &p);
        if (regular)
            regular_moments<kernel, wave>(p, rule, points, &m);
        else
            joint_moments<kernel, wave>(p, (const real *)in.op.rules.joint[precision][kind],
                                        in.op.rules.joint_count[kind], &m);
        put_moments<kernel, wave>(p, m, in.op, out);
    }
}

/* Whether two pairs are of the same triangles in the same order, or `turned`, and so have the same
 * moments, or transposed ones. */
PS_INLINE bool is_same(const ps_hbem_near_launch &in, const ps_hbem_close_pair &a,
                       const ps_hbem_close_pair &b, bool turned)
{
    const int32_t *row = in.op.test.slot_triangle, *column = in.op.trial.slot_triangle;
    return turned ? row[a.row] == column[b.column] && column[a.column] == row[b.row]
                  : row[a.row] == row[b.row] && column[a.column] == column[b.column];
}

/* Clusters that share a triangle have its pairs each: all but one of a pair of triangles are
 * marked; either_way: of both orders, where the kernel does not tell x from y. Which one is no
 * matter, as a pair is integrated in the order of its triangles. Returns whether it is marked. */
__device__ bool mark_seen(const ps_hbem_near_launch &in, int at, bool either_way)
{
    const ps_hbem_close_pair own = in.pairs[at];
    uint64_t r = (uint64_t)in.op.test.slot_triangle[own.row];
    uint64_t c = (uint64_t)in.op.trial.slot_triangle[own.column];
    const uint64_t first = either_way && c < r ? c : r;
    uint64_t place = ((first << 32) + (r + c - first)) * 0x9e3779b97f4a7c15u;
    place = (place ^ place >> 32) * 0xbf58476d1ce4e5b9u >> 20;
    for (;; ++place) {
        place &= (uint64_t)in.seen_size - 1;
        const int there = atomicCAS(&in.seen[place], -1, at);
        if (there == -1) return false;
        if (is_same(in, own, in.pairs[there], false) ||
            (either_way && is_same(in, own, in.pairs[there], true))) {
            in.pairs[at].kind = -1 - there;
            return true;
        }
    }
}

/* Whether a double layer of a pair is 0, as one triangle lies in the plane of the other, whose
 * normal counts. */
template <int kernel>
__device__ bool is_flat(const ps_hbem_near_launch &in, const ps_hbem_close_pair &pair)
{
    if (kernel != PS_KERNEL_DLP && kernel != PS_KERNEL_ADLP) return false;
    const ps_hbem_triangle *row = &in.op.triangles[in.op.test.slot_triangle[pair.row]];
    const ps_hbem_triangle *column = &in.op.triangles[in.op.trial.slot_triangle[pair.column]];
    return kernel == PS_KERNEL_DLP ? hard_coplanar(row, column) : hard_coplanar(column, row);
}

/* Hard pairs that are to be integrated to in.left: neither marked as seen, where pairs are shared,
 * nor 0. */
template <typename real, int kernel, int parts>
__global__ void __launch_bounds__(LISTING)
    sift_hard(const __grid_constant__ ps_hbem_near_launch in, bool share)
{
    const bool either_way = kernel == PS_KERNEL_SLP || kernel == PS_KERNEL_HYPS;
    const int lane = threadIdx.x % WARP;
    const unsigned count = in.class_count[PS_HBEM_CLOSE_HARD], step = gridDim.x * LISTING;
    for (unsigned base = blockIdx.x * LISTING; base < count; base += step) {
        const unsigned i = base + threadIdx.x;
        int at = 0;
        bool left = i < count;
        if (left) at = in.list[in.class_start[PS_HBEM_CLOSE_HARD] + i];
        if (left && share) left = !mark_seen(in, at, either_way);
        if (left && is_flat<kernel>(in, in.pairs[at])) {
            left = false;
            for (int e = 0; e < 9 * parts; ++e)
                ((real *)in.moments)[(int64_t)9 * parts * at + e] = 0;
        }
        const unsigned all = __ballot_sync(ALL, left);
        unsigned to = 0;
        if (lane == 0 && all) to = atomicAdd(in.left_count, (unsigned)__popc(all));
        to = __shfl_sync(ALL, to, 0);
        if (left) in.left[to + __popc(all & ((1u << lane) - 1))] = at;
    }
}

/* Moments of those that are marked, transposed where the other one has the triangles turned. */
template <typename real, int parts>
__global__ void __launch_bounds__(LISTING) copy_seen(const __grid_constant__ ps_hbem_near_launch in)
{
    const unsigned count = in.class_count[PS_HBEM_CLOSE_HARD], step = gridDim.x * LISTING;
    for (unsigned i = blockIdx.x * LISTING + threadIdx.x; i < count; i += step) {
        const int64_t at = in.list[in.class_start[PS_HBEM_CLOSE_HARD] + i];
        const ps_hbem_close_pair own = in.pairs[at];
        if (own.kind >= 0) continue;
        const int64_t there = -1 - own.kind;
        const bool straight = is_same(in, own, in.pairs[there], false);
        const real *from = (const real *)in.moments + 9 * parts * there;
        real *to = (real *)in.moments + 9 * parts * at;
        for (int e = 0; e < 9 * parts; ++e)
            to[e] = from[straight ? e : e / 9 * 9 + 3 * (e % 3) + e % 9 / 3];
    }
}

/* A warp takes one pair after the other: what they cost differs by three powers of ten. Four blocks
 * a processor: their chains of roots and logarithms wait for each other more than some registers
 * that are spilled cost. */
template <typename real, int kernel, int wave>
__global__ void __launch_bounds__(MOMENTS, 4)
    hard_pairs(const __grid_constant__ ps_hbem_near_launch in)
{
    __shared__ hard_room rooms[MOMENTS / WARP];
    const int lane = threadIdx.x % WARP;
    const unsigned count = *in.left_count;
    for (;;) {
        unsigned i = 0;
        if (lane == 0) i = atomicAdd(&in.class_cursor[PS_HBEM_CLOSE_HARD], 1u);
        i = __shfl_sync(ALL, i, 0);
        if (i >= count) return;
        const int64_t at = in.left[i];
        close_pair<double> p;
        moments_of<double, parts_of(wave)> m;
        open_pair<kernel>(in, in.pairs[at], &p);
        hard_pair_moments<kernel, wave>(in, p, &rooms[threadIdx.x / WARP], &m);
        if (lane == 0)
            put_moments<kernel, wave>(p, m, in.op, (real *)in.moments + 9 * parts_of(wave) * at);
    }
}

/* The first of the pairs [low, high) of a leaf whose row slot is not below `slot`. */
__device__ int64_t first_of_slot(const ps_hbem_near_launch &in, int64_t low, int64_t high, int slot)
{
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (in.pairs[middle].row < slot)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Adds the moments of a leaf's pairs: a thread has a row. What is read does not change any more, so
 * that several pairs are on their way at once. */
template <typename store, typename real, int parts>
__global__ void __launch_bounds__(ADDING) add_pairs(const __grid_constant__ ps_hbem_near_launch in)
{
    const int64_t begin = in.first[blockIdx.x] - in.first[0];
    const int64_t end = in.first[blockIdx.x + 1] - in.first[0];
    const ps_hbem_device_leaf leaf = in.near.leaves[blockIdx.x];
    const int i = threadIdx.x, m = leaf.row_end - leaf.row_begin;
    const int64_t n = leaf.column_end - leaf.column_begin;
    if (begin == end || i >= m) return;
    const int dof = leaf.row_begin + i;
    store *out = (store *)in.near.arena.values + in.near.blocks[blockIdx.x].offset + i;
    for (int e = in.op.test.item_start[dof]; e < in.op.test.item_start[dof + 1]; ++e) {
        const int slot = in.op.test.item[e] / 3, hat = in.op.test.item[e] % 3;
        const int64_t low = first_of_slot(in, begin, end, slot);
        const int64_t high = first_of_slot(in, low, end, slot + 1);
#pragma unroll 4
        for (int64_t p = low; p < high; ++p) {
            const int32_t *dofs = in.op.trial.slot_dof + 3 * (int64_t)__ldg(&in.pairs[p].column);
            const real *moments = (const real *)in.moments + 9 * parts * p + 3 * hat;
            int column[3];
            real add[3 * parts];
            for (int c = 0; c < 3; ++c) column[c] = __ldg(dofs + c);
            for (int a = 0; a < 3 * parts; ++a) add[a] = __ldg(moments + 9 * (a / 3) + a % 3);
            for (int c = 0; c < 3; ++c) {
                if (column[c] < 0) continue;
                const int64_t j = column[c] - leaf.column_begin;
                for (int part = 0; part < parts; ++part)
                    out[(part * n + j) * m] += (store)add[3 * part + c];
            }
        }
    }
}

/* ---- launches ---- */

template <typename store, typename real, int kernel, int wave> ps_status load_close()
{
    constexpr int parts = parts_of(wave);
    PS_TRY(load_function(close_moments<real, kernel, wave>));
    PS_TRY(load_function(sift_hard<real, kernel, parts>));
    PS_TRY(load_function(hard_pairs<real, kernel, wave>));
    PS_TRY(load_function(copy_seen<real, parts>));
    return load_function(add_pairs<store, real, parts>);
}

template <typename store, typename real, int kernel, int wave>
ps_status launch_close(const ps_hbem_near_launch *in, cudaStream_t stream)
{
    enum { BLOCKS = 132 * 8 };
    if (in->near.count == 0) return load_close<store, real, kernel, wave>();
    for (int kind = PS_PAIR_VERTEX; kind < PS_PAIR_CONTACTS + in->op.rules.rules; ++kind) {
        close_moments<real, kernel, wave><<<BLOCKS, MOMENTS, 0, stream>>>(*in, kind);
        PS_CUDA(cudaGetLastError());
    }
    for (int rule = 2; rule < in->op.rules.rules; ++rule) {
        close_moments<real, kernel, wave>
            <<<BLOCKS, MOMENTS, 0, stream>>>(*in, PS_HBEM_CLOSE_NARROW + rule);
        PS_CUDA(cudaGetLastError());
    }
    const bool share = ps_hbem_one_side(&in->op);
    PS_CUDA(cudaMemsetAsync(&in->class_cursor[PS_HBEM_CLOSE_HARD], 0, sizeof *in->class_cursor,
                            stream));
    PS_CUDA(cudaMemsetAsync(in->left_count, 0, sizeof *in->left_count, stream));
    if (share)
        PS_CUDA(cudaMemsetAsync(in->seen, 0xff, (size_t)in->seen_size * sizeof *in->seen, stream));
    sift_hard<real, kernel, parts_of(wave)><<<BLOCKS, LISTING, 0, stream>>>(*in, share);
    PS_CUDA(cudaGetLastError());
    hard_pairs<real, kernel, wave><<<BLOCKS, MOMENTS, 0, stream>>>(*in);
    PS_CUDA(cudaGetLastError());
    if (share) copy_seen<real, parts_of(wave)><<<BLOCKS, LISTING, 0, stream>>>(*in);
    PS_CUDA(cudaGetLastError());
    add_pairs<store, real, parts_of(wave)><<<(unsigned)in->near.count, ADDING, 0, stream>>>(*in);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

} // namespace

extern "C" ps_status ps_hbem_near_close_cuda(const ps_hbem_near_launch *launch, ps_stream *stream)
{
    static const near_function table[PS_PRECISION_COUNT][PS_HBEM_KERNELS][MODES] = {
        NEAR_TABLE(launch_close, float, float), NEAR_TABLE(launch_close, double, double)};
    return run_table(table, launch, stream);
}

extern "C" ps_status ps_hbem_near_count_cuda(const ps_hbem_near_launch *launch, ps_stream *stream)
{
    PS_TRY(ps_stream_enter(stream));
    if (launch->near.count == 0) return load_function(count_pairs);
    count_pairs<<<(unsigned)launch->near.count, LISTING, 0,
                  static_cast<cudaStream_t>(ps_stream_handle(stream))>>>(*launch);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

extern "C" ps_status ps_hbem_near_list_cuda(const ps_hbem_near_launch *launch, ps_stream *stream)
{
    enum { BLOCKS = 132 * 8 };
    PS_TRY(ps_stream_enter(stream));
    if (launch->near.count == 0) {
        PS_TRY(load_function(list_pairs));
        PS_TRY(load_function(class_pairs));
        PS_TRY(load_function(start_classes));
        return load_function(sort_pairs);
    }
    cudaStream_t on = static_cast<cudaStream_t>(ps_stream_handle(stream));
    const size_t shared = sizeof(int) * (size_t)launch->op.test.most_slots;
    list_pairs<<<(unsigned)launch->near.count, LISTING, shared, on>>>(*launch);
    PS_CUDA(cudaGetLastError());
    PS_CUDA(cudaMemsetAsync(launch->class_count, 0,
                            PS_HBEM_CLOSE_KINDS * sizeof *launch->class_count, on));
    class_pairs<<<BLOCKS, LISTING, 0, on>>>(*launch);
    PS_CUDA(cudaGetLastError());
    start_classes<<<1, 1, 0, on>>>(*launch);
    PS_CUDA(cudaGetLastError());
    sort_pairs<<<BLOCKS, LISTING, 0, on>>>(*launch);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}
