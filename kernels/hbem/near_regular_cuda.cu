/*
 * Regular pairs of near leaves by the 6-point rule: lanes are slots of the columns, which walk the
 * slots of the rows together; moments go to sums[row][hat][lane] in shared memory, each lane to its
 * own, and at the end entries gather them hat by hat. A lane, in fp64 two neighbours, has a column
 * slot: sums in shared memory are what limits how many threads there are.
 */
#include <cuda_runtime.h>
#include <math.h>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/hbem/device_kernels.h"
#include "kernels/hbem/narrow.h"
}

namespace
{

#include "kernels/hbem/device_near_body.h"

enum { TILE = 16, SHARED_AIM = 56 << 10, SHARED_MOST = 227 << 10 };

/* Lanes of a column slot: each has points 3 o + l of it for some o. */
template <typename real> __host__ __device__ constexpr int lanes_of()
{
    return sizeof(real) == 8 ? 2 : 1;
}

/* A row's triangle in shared memory. */
template <typename real> struct alignas(16) row_slot {
    real point[6][3], normal[3], scale; /* J / (4 pi) */
    real curl[3][3];
    double sphere[5];
    int dof[3], spare;
};

/* A column's triangle in registers, with the points of the lane. */
template <typename real> struct column_slot {
    real point[6 / lanes_of<real>()][3], normal[3], jacobian, curl[3][3];
    double sphere[5];
    int half; /* which of its lanes */
};

/* Of the 6-point rule: points 3 o + l, o = 0, 1, have hats a but 1 - 2 a at l. */
template <typename real> struct six {
    real near_part[2], all_part[2]; /* w (1 - 3 a), w a */
};

/* Points [first, first + points) of the rule. */
template <int points, typename real, class slot>
PS_INLINE void put_slot(const ps_hbem_triangle *t, const double origin[3], const real *rule,
                        int first, slot *out)
{
    place<real> p;
    place_at(t, origin, &p);
    for (int q = 0; q < points; ++q) point_at(p, rule + 4 * (first + q), out->point[q]);
    for (int c = 0; c < 3; ++c) out->normal[c] = p.normal[c];
    for (int e = 0; e < 9; ++e) out->curl[e / 3][e % 3] = (real)curl_at(t, e / 3, e % 3);
    sphere_of(t, out->sphere);
}

/* Moments of a pair without J, by the points of the lane. */
template <int form, int wave, typename real>
PS_INLINE void six_moments(const row_slot<real> &x, const column_slot<real> &y,
                           const six<real> &rule, wave_number<real> k,
                           moments_of<real, parts_of(wave)> *m)
{
    constexpr int orbits = 2 / lanes_of<real>();
    clear(m);
#pragma unroll
    for (int o = 0; o < orbits; ++o) {
        const bool second = orbits == 2 ? o == 1 : y.half == 1;
        const real near_part = second ? rule.near_part[1] : rule.near_part[0];
        const real all_part = second ? rule.all_part[1] : rule.all_part[0];
        number<real, parts_of(wave)> all[3];
        for (int l = 0; l < 3; ++l) all[l] = zero_number<real, parts_of(wave)>();
#pragma unroll
        for (int c = 0; c < 3; ++c) {
            number<real, parts_of(wave)> sum[3];
            for (int l = 0; l < 3; ++l) sum[l] = zero_number<real, parts_of(wave)>();
#pragma unroll
            for (int p = 0; p < 2; ++p) {
                number<real, parts_of(wave)> value[3],
                    together = zero_number<real, parts_of(wave)>();
#pragma unroll
                for (int l = 0; l < 3; ++l) {
                    real d[3];
                    for (int e = 0; e < 3; ++e)
                        d[e] = x.point[3 * p + l][e] - y.point[3 * o + c][e];
                    value[l] = kernel_at<form, wave>(d, x.normal, y.normal, k);
                }
                for (int part = 0; part < parts_of(wave); ++part) {
                    together.part[part] =
                        value[0].part[part] + value[1].part[part] + value[2].part[part];
                    for (int l = 0; l < 3; ++l)
                        sum[l].part[part] += rule.near_part[p] * value[l].part[part] +
                                             rule.all_part[p] * together.part[part];
                }
            }
            for (int part = 0; part < parts_of(wave); ++part)
                for (int l = 0; l < 3; ++l) {
                    m->at[l][c].part[part] += near_part * sum[l].part[part];
                    all[l].part[part] += sum[l].part[part];
                }
        }
        for (int part = 0; part < parts_of(wave); ++part)
            for (int e = 0; e < 9; ++e)
                m->at[e / 3][e % 3].part[part] += all_part * all[e / 3].part[part];
    }
}

/* The weak form of HYPS from moments of g that include J J. */
template <int wave, typename real, int parts>
PS_INLINE void weak_form(const row_slot<real> &x, const column_slot<real> &y, wave_number<real> k,
                         moments_of<real, parts> *m)
{
    number<real, parts> square = squared<wave>(k);
    real total[parts] = {}, along = 0, jj = x.scale * y.jacobian * (real)(4 * M_PI);
    for (int part = 0; part < parts; ++part) {
        for (int e = 0; e < 9; ++e) total[part] += m->at[e / 3][e % 3].part[part];
        total[part] /= jj;
    }
    for (int c = 0; c < 3; ++c) along += x.normal[c] * y.normal[c];
    for (int part = 0; part < parts; ++part) square.part[part] *= along;
    for (int e = 0; e < 9; ++e) {
        real curls = 0;
        for (int c = 0; c < 3; ++c) curls += x.curl[e / 3][c] * y.curl[e % 3][c];
        number<real, parts> *to = &m->at[e / 3][e % 3], from = *to;
        for (int part = 0; part < parts; ++part)
            to->part[part] = curls * total[part] - square.part[0] * from.part[part];
        if constexpr (wave == DAMPED) {
            to->part[0] += square.part[1] * from.part[1];
            to->part[1] -= square.part[1] * from.part[0];
        }
    }
}

/* Adds up the moments of the lanes of a column slot: all have them. */
template <typename real, int parts> PS_INLINE void join_lanes(moments_of<real, parts> *m)
{
    if constexpr (lanes_of<real>() == 2) {
        const unsigned both = 3u << (threadIdx.x % WARP & ~1u);
        for (int part = 0; part < parts; ++part)
            for (int e = 0; e < 9; ++e) {
                real *to = &m->at[e / 3][e % 3].part[part];
                *to += __shfl_xor_sync(both, *to, 1);
            }
    }
}

/* A block of threads at work on a leaf. */
template <typename real> struct near_leaf {
    leaf_slots slots;
    int m, n, row_begin, column_begin;
    double origin[3];
    int lanes;  /* column slots at once: of threads */
    real *sums; /* [part][row][3 lanes + 1] */
    row_slot<real> *tile;
    const real *rule;
};

template <typename real>
__device__ void load_tile(const ps_hbem_near_launch &in, const near_leaf<real> &leaf, int first)
{
    for (int r = threadIdx.x; r < TILE && first + r < leaf.slots.rows; r += blockDim.x) {
        const int64_t slot = leaf.slots.row_begin + first + r;
        const ps_hbem_triangle *t = &in.op.triangles[in.op.test.slot_triangle[slot]];
        put_slot<6>(t, leaf.origin, leaf.rule, 0, &leaf.tile[r]);
        leaf.tile[r].scale = (real)(t->jacobian / (4 * M_PI));
        for (int l = 0; l < 3; ++l) {
            int dof = in.op.test.slot_dof[3 * slot + l];
            leaf.tile[r].dof[l] = dof < 0 ? -1 : dof - leaf.row_begin;
        }
    }
}

/* One row slot against the column slot of this thread; the second of two lanes has the last hat. */
template <typename real, int kernel, int wave>
PS_INLINE void add_pair(const near_leaf<real> &leaf, const row_slot<real> &x,
                        const column_slot<real> &y, const six<real> &rule, wave_number<real> k)
{
    constexpr int form = kernel == PS_KERNEL_HYPS ? PS_KERNEL_SLP : kernel;
    constexpr int lanes = lanes_of<real>();
    const int width = 3 * leaf.lanes + 1;
    moments_of<real, parts_of(wave)> m;
    six_moments<form, wave>(x, y, rule, k, &m);
    join_lanes(&m);
    const real scale = x.scale * y.jacobian;
    for (int part = 0; part < parts_of(wave); ++part)
        for (int e = 0; e < 9; ++e) m.at[e / 3][e % 3].part[part] *= scale;
    if (kernel == PS_KERNEL_HYPS) weak_form<wave>(x, y, k, &m);
#pragma unroll
    for (int l = 0; l < 3; ++l) {
        if (x.dof[l] < 0) continue;
        for (int part = 0; part < parts_of(wave); ++part) {
            real *to = leaf.sums + (size_t)(part * leaf.m + x.dof[l]) * width + threadIdx.x / lanes;
#pragma unroll
            for (int c = 0; c < 3; ++c)
                if (lanes == 1 || (c == 2) == (y.half == 1))
                    to[c * leaf.lanes] += m.at[l][c].part[part];
        }
    }
}

/* Entries from the sums of column slots [first, first + lanes). */
template <typename store, typename real, int parts>
__device__ void gather(const ps_hbem_near_launch &in, const near_leaf<real> &leaf, int first,
                       store *out)
{
    const int width = 3 * leaf.lanes + 1;
    for (int e = threadIdx.x; e < leaf.m * leaf.n; e += blockDim.x) {
        const int i = e % leaf.m, j = e / leaf.m, dof = leaf.column_begin + j;
        real sum[parts];
        for (int part = 0; part < parts; ++part)
            sum[part] = first ? (real)out[(size_t)part * leaf.m * leaf.n + e] : (real)0;
        for (int k = in.op.trial.item_start[dof]; k < in.op.trial.item_start[dof + 1]; ++k) {
            const int item = in.op.trial.item[k];
            const int lane = item / 3 - leaf.slots.column_begin - first;
            if (lane < 0 || lane >= leaf.lanes) continue;
            for (int part = 0; part < parts; ++part)
                sum[part] +=
                    leaf.sums[(size_t)(part * leaf.m + i) * width + item % 3 * leaf.lanes + lane];
        }
        for (int part = 0; part < parts; ++part)
            out[(size_t)part * leaf.m * leaf.n + e] = (store)sum[part];
    }
}

template <typename store, typename real, int kernel, int wave>
__global__ void __launch_bounds__(128) regular_pairs(const __grid_constant__ ps_hbem_near_launch in)
{
    extern __shared__ __align__(16) double dynamic_shared[];
    __shared__ real rule[6][4];
    const ps_hbem_device_leaf at = in.near.leaves[blockIdx.x];
    near_leaf<real> leaf = {slots_of(in, blockIdx.x),
                            at.row_end - at.row_begin,
                            at.column_end - at.column_begin,
                            at.row_begin,
                            at.column_begin,
                            {},
                            (int)blockDim.x / lanes_of<real>(),
                            NULL,
                            (row_slot<real> *)dynamic_shared,
                            rule[0]};
    leaf.sums = (real *)(leaf.tile + TILE);
    const double *a = in.op.test.box + 8 * (int64_t)in.op.test.cluster_of[at.row_begin];
    const double *b = in.op.trial.box + 8 * (int64_t)in.op.trial.cluster_of[at.column_begin];
    for (int c = 0; c < 3; ++c) leaf.origin[c] = (a[c] + a[3 + c] + b[c] + b[3 + c]) / 4;
    constexpr ps_precision precision = sizeof(real) == 4 ? PS_SINGLE : PS_DOUBLE;
    if (threadIdx.x < 24)
        rule[threadIdx.x / 4][threadIdx.x % 4] =
            ((const real *)in.op.rules.point[precision][0])[threadIdx.x];
    __syncthreads();
    six<real> six_rule;
    for (int o = 0; o < 2; ++o) {
        six_rule.all_part[o] = rule[3 * o][1] * rule[3 * o][3];
        six_rule.near_part[o] = rule[3 * o][0] * rule[3 * o][3] - six_rule.all_part[o];
    }
    const wave_number<real> k = {(real)in.op.wavenumber, (real)in.op.absorption};
    const int numbers = parts_of(wave) * leaf.m * (3 * leaf.lanes + 1);
    const bool apart = all_apart(in, blockIdx.x);
    store *out = (store *)in.near.arena.values + in.near.blocks[blockIdx.x].offset;
    for (int first = 0; first < leaf.slots.columns; first += leaf.lanes) {
        const int column = first + (int)threadIdx.x / lanes_of<real>();
        const bool here = column < leaf.slots.columns;
        column_slot<real> y = {};
        y.half = threadIdx.x % lanes_of<real>();
        if (here) {
            const ps_hbem_triangle *t =
                &in.op.triangles[in.op.trial.slot_triangle[leaf.slots.column_begin + column]];
            put_slot<6 / lanes_of<real>()>(t, leaf.origin, rule[0], 3 * y.half, &y);
            y.jacobian = (real)t->jacobian;
        }
        for (int e = threadIdx.x; e < numbers; e += blockDim.x) leaf.sums[e] = 0;
        for (int row = 0; row < leaf.slots.rows; row += TILE) {
            __syncthreads();
            load_tile(in, leaf, row);
            __syncthreads();
            const int count = min((int)TILE, leaf.slots.rows - row);
            for (int r = 0; here && r < count; ++r)
                if (apart || !is_close(leaf.tile[r].sphere, y.sphere, in.op.rules.distance[0]))
                    add_pair<real, kernel, wave>(leaf, leaf.tile[r], y, six_rule, k);
        }
        __syncthreads();
        gather<store, real, parts_of(wave)>(in, leaf, first, out);
        __syncthreads();
    }
}

/* ---- launches ---- */

template <typename store, typename real, int kernel, int wave>
ps_status launch_regular(const ps_hbem_near_launch *in, cudaStream_t stream)
{
    const int64_t row = (int64_t)parts_of(wave) * in->op.test.most_dofs * sizeof(real);
    int threads = 128;
    const int64_t tile = TILE * sizeof(row_slot<real>);
    const int lanes = lanes_of<real>();
    while (threads > WARP && tile + row * (3 * threads / lanes + 1) > SHARED_AIM) threads /= 2;
    const int64_t bytes = tile + row * (3 * threads / lanes + 1);
    if (bytes > SHARED_MOST)
        return ps_fail(PS_USAGE,
                       "leaf clusters of %d functions are too large for the device: "
                       "build the tree with smaller leaves",
                       in->op.test.most_dofs);
    const void *function = (const void *)regular_pairs<store, real, kernel, wave>;
    if (in->near.count == 0) return load_function(function);
    PS_CUDA(
        cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
    regular_pairs<store, real, kernel, wave>
        <<<(unsigned)in->near.count, threads, (size_t)bytes, stream>>>(*in);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

} // namespace

extern "C" ps_status ps_hbem_near_regular_cuda(const ps_hbem_near_launch *launch, ps_stream *stream)
{
    static const near_function table[PS_PRECISION_COUNT][PS_HBEM_KERNELS][MODES] = {
        NEAR_TABLE(launch_regular, float, float), NEAR_TABLE(launch_regular, double, double)};
    return run_table(table, launch, stream);
}
