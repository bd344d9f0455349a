/*
 * Far leaves of up to 64 rows and columns: integrated whole, pair by pair of triangles, then
 * compressed by crosses of what is there. A pair serves nine entries, which rows and columns of
 * entries integrate one by one, and the rows that are checked are there already: the whole block
 * costs less than a few rows, and what crosses through points miss of long triangles does not
 * matter.
 */
#include <cuda_runtime.h>
#include <limits.h>
#include <math.h>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/hbem/device_kernels.h"
}

namespace
{

#include "kernels/hbem/device_shape_body.h"
#include "kernels/hbem/device_leaf_body.h"

/* A block's: row slots of a tile. */
template <typename real, int parts> struct whole_shared {
    far_shared<real, parts> far;
    int dof[TILE_MOST][3]; /* rows of the leaf, or below 0 */
};

template <typename real, int parts> struct whole_leaf {
    far_leaf<real> far;
    whole_shared<real, parts> *shared;
    real *sums, *block; /* [part][row][hat][WHOLE_SLOTS]; as in the arena */
};

/* Row slots [first, first + count) of the leaf to the tile. */
template <typename real, int parts>
__device__ void put_tile(const whole_leaf<real, parts> &leaf, int first, int count)
{
    source_shared<real> *s = leaf.far.shared;
    const ps_hbem_device_side *side = leaf.far.side[0];
    const int stride = leaf.far.shared->stride;
    for (int e = threadIdx.x; e < count * stride; e += blockDim.x) {
        const int64_t slot = leaf.far.slot_begin[0] + first + e / stride;
        const int q = e % stride;
        const ps_hbem_triangle *from = &leaf.far.triangles[side->slot_triangle[slot]];
        place<real> t;
        place_at(from, s->origin, &t);
        point_at(t, q < s->points ? s->rule[q] : leaf.far.shared->first[q - s->points],
                 s->point[e].x);
        if (q > 0) continue;
        sphere_at(from, s->origin, leaf.far.shared->sphere[e / stride]);
        normal_of<real> *n = &s->normal[e / stride];
        for (int c = 0; c < 3; ++c) n->n[c] = t.normal[c];
        n->spare = t.jacobian * (real)(1 / (4 * M_PI));
        for (int l = 0; l < 3; ++l) {
            const int dof = side->slot_dof[3 * slot + l];
            leaf.shared->dof[e / stride][l] = dof < 0 ? -1 : dof - leaf.far.begin[0];
        }
    }
}

/* Row slot e of the tile against a column's triangle, to the sums of this thread. */
template <int kernel, int wave, typename real>
PS_INLINE void add_pair(const whole_leaf<real, parts_of(wave)> &leaf, int e, const place<real> &t,
                        const real sphere[5])
{
    const source_shared<real> *s = leaf.far.shared;
    const bool first =
        s->stride > s->points && are_apart(s->sphere[e], sphere, s->reach);
    const real(*rule)[4] = first ? leaf.far.shared->first : s->rule;
    const int count = first ? (int)FIRST_POINTS : s->points;
    const source<real> *points = s->point + e * leaf.far.shared->stride + (first ? s->points : 0);
    const normal_of<real> nx = s->normal[e];
    number<real, parts_of(wave)> m[3][3];
    for (int l = 0; l < 9; ++l) m[l / 3][l % 3] = zero_number<real, parts_of(wave)>();
    for (int b = 0; b < count; ++b) {
        number<real, parts_of(wave)> sum[3];
        real y[3];
        point_at(t, rule[b], y);
        for (int l = 0; l < 3; ++l) sum[l] = zero_number<real, parts_of(wave)>();
#pragma unroll 6
        for (int a = 0; a < count; ++a) {
            const real *x = points[a].x;
            const real d[3] = {x[0] - y[0], x[1] - y[1], x[2] - y[2]};
            const number<real, parts_of(wave)> value =
                kernel_at<kernel, wave>(d, nx.n, t.normal, leaf.far.k);
            for (int part = 0; part < parts_of(wave); ++part) {
                const real weighted = rule[a][3] * value.part[part];
                for (int l = 0; l < 3; ++l) sum[l].part[part] += rule[a][l] * weighted;
            }
        }
        for (int part = 0; part < parts_of(wave); ++part)
            for (int l = 0; l < 9; ++l)
                m[l / 3][l % 3].part[part] += rule[b][3] * rule[b][l % 3] * sum[l / 3].part[part];
    }
    const real scale = nx.spare * t.jacobian;
    for (int l = 0; l < 3; ++l) {
        const int i = leaf.shared->dof[e][l];
        if (i < 0) continue;
        for (int part = 0; part < parts_of(wave); ++part) {
            real *to =
                leaf.sums + ((part * leaf.far.length[0] + i) * 3) * WHOLE_SLOTS + threadIdx.x;
            for (int c = 0; c < 3; ++c) to[c * WHOLE_SLOTS] += scale * m[l][c].part[part];
        }
    }
}

/* Entries from the sums of column slots [first, first + WHOLE_SLOTS). */
template <typename real, int parts>
__device__ void gather(const whole_leaf<real, parts> &leaf, int first)
{
    const int m = leaf.far.length[0], n = leaf.far.length[1];
    const ps_hbem_device_side *side = leaf.far.side[1];
    for (int e = threadIdx.x; e < m * n; e += blockDim.x) {
        const int i = e % m, dof = leaf.far.begin[1] + e / m;
        number<real, parts> sum = zero_number<real, parts>();
        if (first > 0) sum = load<parts>(leaf.block, m * n, e);
        for (int k = side->item_start[dof]; k < side->item_start[dof + 1]; ++k) {
            const int item = side->item[k], lane = item / 3 - leaf.far.slot_begin[1] - first;
            if (lane < 0 || lane >= WHOLE_SLOTS) continue;
            for (int part = 0; part < parts; ++part)
                sum.part[part] += leaf.sums[((part * m + i) * 3 + item % 3) * WHOLE_SLOTS + lane];
        }
        store(leaf.block, m * n, e, sum);
    }
}

/* All entries of the leaf to its block. */
template <int kernel, int wave, typename real>
__device__ void integrate_leaf(const whole_leaf<real, parts_of(wave)> &leaf)
{
    const int m = leaf.far.length[0], fit = SOURCES / leaf.far.shared->stride;
    for (int first = 0; first < leaf.far.slots[1]; first += WHOLE_SLOTS) {
        const int column = first + (int)threadIdx.x;
        const bool here = column < leaf.far.slots[1];
        place<real> t = {};
        real sphere[5] = {};
        if (here) {
            const ps_hbem_triangle *from =
                &leaf.far
                     .triangles[leaf.far.side[1]->slot_triangle[leaf.far.slot_begin[1] + column]];
            place_at(from, leaf.far.shared->origin, &t);
            sphere_at(from, leaf.far.shared->origin, sphere);
        }
        for (int e = 0; e < parts_of(wave) * m * 3; ++e)
            leaf.sums[e * WHOLE_SLOTS + threadIdx.x] = 0;
        for (int row = 0; row < leaf.far.slots[0]; row += fit) {
            const int count = min(fit, leaf.far.slots[0] - row);
            __syncthreads();
            put_tile(leaf, row, count);
            __syncthreads();
            for (int e = 0; here && e < count; ++e) add_pair<kernel, wave>(leaf, e, t, sphere);
        }
        __syncthreads();
        gather(leaf, first);
        __syncthreads();
    }
}

/* The block as a matrix of crosses. */
template <typename real, int parts> struct block_matrix {
    enum { DEAR = 1 };
    const real *block;
    int rows, columns, own;

    template <int side> __device__ void begin(int at) { own = at; }

    template <int side> PS_INLINE number<real, parts> value(int c)
    {
        return load<parts>(block, rows * columns, side == 0 ? c * rows + own : own * rows + c);
    }
};

template <typename real, int parts>
__device__ __noinline__ void compress_leaf(const ps_hbem_far_launch &in,
                                           const whole_leaf<real, parts> &leaf,
                                           const far_memory<real> &memory)
{
    block_matrix<real, parts> block = {leaf.block, leaf.far.length[0], leaf.far.length[1], 0};
    const bool done = cross_matrix(in, block, leaf.far, memory, leaf.shared->far);
    if (threadIdx.x != 0) return;
    if (!done) atomicAdd(&in.report->over_rank, 1u);
    atomicAdd(&in.report->pairs,
              (unsigned long long)leaf.far.slots[0] * (unsigned long long)leaf.far.slots[1]);
}

template <typename real, int kernel, int wave>
__global__ void __launch_bounds__(WHOLE_SLOTS)
    whole_leaves(const __grid_constant__ ps_hbem_far_launch in)
{
    extern __shared__ __align__(16) double dynamic_shared[];
    whole_shared<real, parts_of(wave)> &shared =
        *(whole_shared<real, parts_of(wave)> *)dynamic_shared;
    far_memory<real> memory;
    cut_memory(in.workspace + in.stride * blockIdx.x, in.most, in.most_slots, in.limit,
               parts_of(wave), false, true, &memory);
    while (take_leaf(in, shared.far)) {
        whole_leaf<real, parts_of(wave)> leaf;
        open_far(in, shared.far, kernel, leaf.far);
        leaf.shared = &shared;
        leaf.sums = memory.sums;
        leaf.block = memory.block;
        integrate_leaf<kernel, wave>(leaf);
        compress_leaf(in, leaf, memory);
    }
}

template <typename real, int kernel, int wave>
ps_status launch_whole(const ps_hbem_far_launch *in, cudaStream_t stream)
{
    return launch_teams((const void *)whole_leaves<real, kernel, wave>,
                        (int)sizeof(whole_shared<real, parts_of(wave)>), in, stream);
}

typedef ps_status (*whole_function)(const ps_hbem_far_launch *, cudaStream_t);

#define WHOLE_MODES(real, kernel)                                                                  \
    {                                                                                              \
        launch_whole<real, kernel, STILL>, launch_whole<real, kernel, WAVES>,                      \
            launch_whole<real, kernel, DAMPED>                                                     \
    }
#define WHOLE_TABLE(real)                                                                          \
    {                                                                                              \
        WHOLE_MODES(real, PS_KERNEL_SLP), WHOLE_MODES(real, PS_KERNEL_DLP),                        \
            WHOLE_MODES(real, PS_KERNEL_ADLP), WHOLE_MODES(real, PS_KERNEL_HYPS)                   \
    }

} // namespace

extern "C" ps_status ps_hbem_far_small_cuda(const ps_hbem_far_launch *launch, void *stream)
{
    static const whole_function table[PS_PRECISION_COUNT][PS_HBEM_KERNELS][MODES] = {
        WHOLE_TABLE(float), WHOLE_TABLE(double)};
    return table[launch->op.precision][launch->op.kernel][mode_of(launch->op)](
        launch, static_cast<cudaStream_t>(stream));
}
