/*
 * Part of the far_*_cuda.cu files: the kernels of far leaves. A team of
 * threads takes leaf after leaf of its size.
 */
#ifndef PS_KERNELS_HBEM_DEVICE_FAR_BODY_H
#define PS_KERNELS_HBEM_DEVICE_FAR_BODY_H

#include "kernels/hbem/device_shape_body.h"
#include "kernels/hbem/device_leaf_body.h"

/* ---- skeleton ---- */

/* A point of the rule of a leaf in a triangle, with its weight. */
template <typename real>
PS_INLINE real weighted_point(const far_leaf<real> &leaf, int entry, const place<real> &t, int q,
                              real y[3])
{
    const real *h = leaf.shared->rule[q];
    point_at(t, h, y);
    return hats_at(h, entry & 7) * h[3] * t.jacobian;
}

/* Of function i, for pivots from `first` on: int phi K(., y) 4 pi. */
template <int side, int own_kernel, int wave, int AT_ONCE, typename real>
PS_INLINE void sum_points(const far_leaf<real> &leaf, int i, int first, int rank,
                          const far_shared<real, parts_of(wave)> &shared,
                          number<real, parts_of(wave)> sum[AT_ONCE])
{
    const ps_hbem_device_side *own = leaf.side[side];
    const int dof = leaf.begin[side] + i;
    for (int c = 0; c < AT_ONCE; ++c) sum[c] = zero_number<real, parts_of(wave)>();
    for (int e = own->entry_start[dof]; e < own->entry_start[dof + 1]; ++e) {
        place<real> t;
        place_at(&leaf.triangles[own->entry[e] >> 3], leaf.shared->origin, &t);
        for (int q = 0; q < leaf.shared->points; ++q) {
            real y[3], weight = weighted_point(leaf, own->entry[e], t, q, y);
#pragma unroll
            for (int c = 0; c < AT_ONCE; ++c) {
                const real *x = shared.pivot[min(first + c, rank - 1)];
                real d[3] = {x[0] - y[0], x[1] - y[1], x[2] - y[2]};
                number<real, parts_of(wave)> value =
                    kernel_at<own_kernel, wave>(d, x + 3, t.normal, leaf.k);
                for (int p = 0; p < parts_of(wave); ++p) sum[c].part[p] += weight * value.part[p];
            }
        }
    }
}

/* The same where some are creased: means over their points, which are in shared memory. */
template <int side, int own_kernel, int wave, int AT_ONCE, typename real>
__device__ __noinline__ void sum_means(const far_leaf<real> &leaf, int i, int count,
                                       const far_shared<real, parts_of(wave)> &shared,
                                       number<real, parts_of(wave)> out[AT_ONCE])
{
    const ps_hbem_device_side *own = leaf.side[side];
    const int dof = leaf.begin[side] + i;
    number<real, parts_of(wave)> sum[AT_ONCE];
    for (int c = 0; c < AT_ONCE; ++c) sum[c] = zero_number<real, parts_of(wave)>();
    for (int e = own->entry_start[dof]; e < own->entry_start[dof + 1]; ++e) {
        place<real> t;
        place_at(&leaf.triangles[own->entry[e] >> 3], leaf.shared->origin, &t);
        for (int q = 0; q < leaf.shared->points; ++q) {
            real y[3], weight = weighted_point(leaf, own->entry[e], t, q, y);
#pragma unroll
            for (int c = 0; c < AT_ONCE; ++c) {
                if (c >= count) break;
#pragma unroll 2
                for (int n = 0; n < shared.many[c]; ++n) {
                    const real *x = shared.source.point[c * MEAN_MOST + n].x;
                    real d[3] = {x[0] - y[0], x[1] - y[1], x[2] - y[2]};
                    number<real, parts_of(wave)> value = kernel_at<own_kernel, wave>(
                        d, shared.source.normal[c * MEAN_MOST + n].n, t.normal, leaf.k);
                    for (int p = 0; p < parts_of(wave); ++p)
                        sum[c].part[p] += weight * value.part[p];
                }
            }
        }
    }
#pragma unroll
    for (int c = 0; c < AT_ONCE; ++c) {
        const real share = c < count ? 1 / (real)shared.many[c] : 0;
        for (int p = 0; p < parts_of(wave); ++p) out[c].part[p] = share * sum[c].part[p];
    }
}

/* Vectors of crosses [from, rank) of functions of `side` against the kernel at the pivots of the
 * other: u_l = (int phi K(., y_l) - sum_{p<l} v_p(y_l) u_p) / (4 pi), v_l likewise by the pivot. */
template <int side, int kernel, int wave, typename real>
__device__ void integrate(const point_matrix<real, kernel, wave> &points,
                          const far_leaf<real> &leaf, const crosses<real, parts_of(wave)> &s,
                          int from, far_shared<real, parts_of(wave)> &shared, real *out)
{
    enum { AT_ONCE = sizeof(real) == 4 && !wave ? 8 : 4, parts = parts_of(wave) };
    static_assert(AT_ONCE * MEAN_MOST <= SOURCES, "points of so many pivots are shared");
    constexpr int own_kernel = side == 0 ? exchanged(kernel) : kernel;
    const int n = s.length[side];
    for (int e = threadIdx.x; e < s.rank * points.PLANES; e += blockDim.x) {
        const int l = e / points.PLANES, c = e % points.PLANES;
        shared.pivot[l][c] =
            points.at[1 - side][(size_t)c * s.length[1 - side] + s.pivot[1 - side][l]];
    }
    for (int first = from; first < s.rank; first += AT_ONCE) {
        const int count = min((int)AT_ONCE, s.rank - first), warp = threadIdx.x / WARP;
        __syncthreads();
        bool creased = false;
        for (int c = 0; points.PLANES > 3 && c < count; ++c)
            creased |= isnan(shared.pivot[first + c][0]);
        for (int c = warp; creased && c < count; c += blockDim.x / WARP)
            shared.many[c] = points.share_points(1 - side, s.pivot[1 - side][first + c],
                                                 c * MEAN_MOST, threadIdx.x % WARP, WARP);
        if (creased) __syncthreads();
        for (int i = team_thread(); i < n; i += team_threads()) {
            number<real, parts> sum[AT_ONCE];
            if (creased) { /* apart, so that the others stay in registers */
                number<real, parts> means[AT_ONCE];
                sum_means<side, own_kernel, wave, AT_ONCE>(leaf, i, count, shared, means);
                for (int c = 0; c < AT_ONCE; ++c) sum[c] = means[c];
            } else
                sum_points<side, own_kernel, wave, AT_ONCE>(leaf, i, first, s.rank, shared, sum);
#pragma unroll
            for (int c = 0; c < AT_ONCE; ++c) {
                if (c >= count) break;
                const int l = first + c;
                const real *row = s.triangle[side] + (size_t)l * s.limit * parts;
                if (side == 0)
                    for (int p = 0; p < parts; ++p) sum[c].part[p] *= (real)(1 / (4 * M_PI));
                for (int p = 0; p < l; ++p)
                    subtract_product(sum[c], load<parts>(row + p * parts, 1, 0),
                                     load<parts>(out + (size_t)p * parts * n, n, i));
                if (side == 1)
                    sum[c] = product(sum[c], inverse(load<parts>(row + l * parts, 1, 0)));
                store(out + (size_t)l * parts * n, n, i, sum[c]);
            }
        }
    }
}

/* Rows and columns of the sample: one of each group of normals and one on a crease first, then by
 * strata. */
template <typename real, int parts>
__device__ void choose_sample(crosses<real, parts> &s, far_shared<real, parts> &shared, int rows,
                              int columns)
{
    int count = 0;
#pragma unroll 1
    for (int g = 0; g <= GROUPS && count < rows; ++g) {
        int i = pick(s, 0, s.length[0], g);
        if (i >= 0 && threadIdx.x == 0) shared.sample[0][count] = i;
        count += i >= 0;
    }
    const int strata = rows - count;
    for (int p = 0; p < strata; ++p) {
        s.random = s.random * 6364136223846793005u + 1442695040888963407u;
        int low = (int)((int64_t)s.length[0] * p / strata);
        int high = max(low + 1, (int)((int64_t)s.length[0] * (p + 1) / strata));
        if (threadIdx.x == 0)
            shared.sample[0][count] = low + (int)((s.random >> 33) % (uint64_t)(high - low));
        ++count;
    }
    for (int p = 0; p < columns; ++p) {
        s.random = s.random * 6364136223846793005u + 1442695040888963407u;
        int low = (int)((int64_t)s.length[1] * p / columns);
        int high = max(low + 1, (int)((int64_t)s.length[1] * (p + 1) / columns));
        if (threadIdx.x == 0)
            shared.sample[1][p] = low + (int)((s.random >> 33) % (uint64_t)(high - low));
    }
    __syncthreads();
}

/* Exact entries of the sample to shared.sampled. */
template <int kernel, int wave, typename real>
__device__ __noinline__ void evaluate_sample(const far_leaf<real> &leaf,
                                             far_shared<real, parts_of(wave)> &shared, int rows,
                                             int columns)
{
    const ps_hbem_device_side *row_side = leaf.side[0], *own = leaf.side[1];
    const int stride = leaf.shared->stride, fit = SOURCES / stride * stride;
    if (threadIdx.x == 0) {
        shared.sample_first[0] = 0;
        for (int r = 0; r < rows; ++r) {
            const int32_t *start = row_side->entry_start + leaf.begin[0] + shared.sample[0][r];
            shared.sample_first[r + 1] = shared.sample_first[r] + (start[1] - start[0]) * stride;
        }
    }
    for (int e = threadIdx.x; e < rows * CHECK_COLUMNS; e += blockDim.x)
        shared.sampled[e / CHECK_COLUMNS][e % CHECK_COLUMNS] = zero_number<real, parts_of(wave)>();
    __syncthreads();
    for (int first = 0; first < shared.sample_first[rows]; first += fit) {
        for (int r = 0; r < rows; ++r)
            put_sources(leaf, 0, leaf.begin[0] + shared.sample[0][r], first,
                        shared.sample_first[r]);
        __syncthreads();
        for (int e = threadIdx.x; e < rows * columns; e += blockDim.x) {
            const int r = e / columns, c = e % columns;
            const int from = max(shared.sample_first[r] - first, 0);
            const int to = min(shared.sample_first[r + 1] - first, fit);
            const int dof = leaf.begin[1] + shared.sample[1][c];
            number<real, parts_of(wave)> total = shared.sampled[r][c];
            for (int k = own->entry_start[dof]; from < to && k < own->entry_start[dof + 1]; ++k) {
                const int entry = own->entry[k];
                const ps_hbem_triangle *at = &leaf.triangles[entry >> 3];
                place<real> t;
                place_at(at, leaf.shared->origin, &t);
                number<real, parts_of(wave)> hats[3];
                for (int l = 0; l < 3; ++l) hats[l] = zero_number<real, parts_of(wave)>();
                add_triangle<kernel, wave>(leaf, from, to, at, t, hats);
                for (int l = 0; l < 3; ++l)
                    for (int p = 0; p < parts_of(wave); ++p)
                        if (entry >> l & 1) total.part[p] += t.jacobian * hats[l].part[p];
            }
            shared.sampled[r][c] = total;
        }
        __syncthreads();
    }
}

/* Estimate of the error of sum u v^T from the sample, absolute; *largest: of an exact entry. */
template <typename real, int parts>
__device__ double sample_error(const crosses<real, parts> &s, far_shared<real, parts> &shared,
                               real *const vectors[2], int rows, int columns, double *largest)
{
    const int m = s.length[0], n = s.length[1];
    double sum = 0, most = 0;
    for (int e = threadIdx.x; e < rows * columns; e += blockDim.x) {
        const int r = e / columns, c = e % columns;
        number<real, parts> value = shared.sampled[r][c];
        most += square(value);
        for (int l = 0; l < s.rank; ++l)
            subtract_product(
                value, load<parts>(vectors[0] + (size_t)l * parts * m, m, shared.sample[0][r]),
                load<parts>(vectors[1] + (size_t)l * parts * n, n, shared.sample[1][c]));
        sum += square(value);
    }
    *largest = sqrt(block_sum(most, shared.cross.sums) / (rows * columns));
    return sqrt((double)m * n / (rows * columns) * block_sum(sum, shared.cross.sums));
}

template <typename real, int kernel, int wave>
__device__ bool skeleton_leaf(const ps_hbem_far_launch &in, far_leaf<real> &leaf,
                              const far_memory<real> &memory,
                              far_shared<real, parts_of(wave)> &shared)
{
    enum { parts = parts_of(wave), TRIES = 3 };
    point_matrix<real, kernel, wave> points;
    crosses<real, parts> s;
    points.fill(leaf, memory.points);
    start_crosses(in, leaf, memory, shared, shared.source.gap, s);
    real *vectors[2] = {memory.vectors, memory.vectors + (size_t)s.limit * parts * s.length[0]};
    const int rows = min((int)CHECK_ROWS, s.length[0]);
    const int columns = min((int)CHECK_COLUMNS, s.length[1]);
    double tolerance = in.options.crosses / 3;
#pragma unroll 1
    for (int t = 0, done = 0; t < TRIES; ++t, tolerance /= 8) {
        if (s.next < 0 || !iterate(points, s, tolerance)) return false;
        team_sync();
        integrate<0>(points, leaf, s, done, shared, vectors[0]);
        team_sync();
        integrate<1>(points, leaf, s, done, shared, vectors[1]);
        done = s.rank;
        team_sync();
        if (t == 0) {
            choose_sample(s, shared, rows, columns);
            evaluate_sample<kernel, wave>(leaf, shared, rows, columns);
        }
        double largest, error = sample_error(s, shared, vectors, rows, columns, &largest);
        small_matrices<parts> small_ones = small_of(memory, shared, s.rank);
#pragma unroll 1
        for (int side = 0; side < 2; ++side)
            fill_gram<parts>(vectors[side], s.length[side], s.rank, small_ones.gram[side]);
        team_sync();
        double norm = norm_of(small_ones, s.rank, shared.cross.sums);
        double floor =
            s.zero * fmax(shared.source.scale, largest) * sqrt((double)s.length[0] * s.length[1]);
        if (error <= fmax(in.options.crosses * norm, floor))
            return put_factors(in, memory, shared, s.length, vectors, s.rank,
                               norm > 0 ? error / norm : 0);
        if (s.next >= 0 && s.used[s.next]) return false;
        team_sync();
    }
    return false;
}

/* ---- entries ---- */

template <typename real, int kernel, int wave>
__device__ void entry_leaf(const ps_hbem_far_launch &in, const far_leaf<real> &leaf,
                           const far_memory<real> &memory, far_shared<real, parts_of(wave)> &shared)
{
    entry_matrix<real, kernel, wave> entries;
    entries.leaf = leaf;
    entries.sums = memory.sums;
    entries.pairs = 0;
    const bool done = cross_matrix(in, entries, leaf, memory, shared);
    if (team_thread() != 0) return;
    if (!done) atomicAdd(&in.report->over_rank, 1u);
    atomicAdd(&in.report->by_entries, 1u);
    atomicAdd(&in.report->pairs, entries.pairs);
}

/* Leaf after leaf, by skeletons if wanted, and by entries where those fail. The bound of one block
 * a processor keeps the compiler from going down to 64 registers, which it then spills. */
template <typename real, int kernel, int wave>
__global__ void __launch_bounds__(512, 1) far_leaves(const __grid_constant__ ps_hbem_far_launch in)
{
    extern __shared__ __align__(16) double dynamic_shared[];
    far_shared<real, parts_of(wave)> &shared = *(far_shared<real, parts_of(wave)> *)dynamic_shared;
    far_memory<real> memory;
    cut_memory(in.workspace + in.stride * (blockIdx.x / team_blocks()), in.most, in.most_slots,
               in.limit, parts_of(wave), in.options.skeleton, false, &memory);
    while (take_leaf(in, shared)) {
        far_leaf<real> leaf;
        open_far(in, shared, kernel, leaf);
        if (in.options.skeleton && skeleton_leaf<real, kernel, wave>(in, leaf, memory, shared))
            continue;
        team_sync();
        entry_leaf<real, kernel, wave>(in, leaf, memory, shared);
    }
}

/* ---- launches ---- */

template <typename real, int kernel, int wave>
ps_status launch_far(const ps_hbem_far_launch *in, cudaStream_t stream)
{
    return launch_teams((const void *)far_leaves<real, kernel, wave>,
                        (int)sizeof(far_shared<real, parts_of(wave)>), in, stream);
}

template <int kernel> ps_status launch_kernel(const ps_hbem_far_launch *in, void *stream)
{
    typedef ps_status (*function)(const ps_hbem_far_launch *, cudaStream_t);
    static const function all[PS_PRECISION_COUNT][MODES] = {
        {launch_far<float, kernel, STILL>, launch_far<float, kernel, WAVES>,
         launch_far<float, kernel, DAMPED>},
        {launch_far<double, kernel, STILL>, launch_far<double, kernel, WAVES>,
         launch_far<double, kernel, DAMPED>}};
    return all[in->op.precision][mode_of(in->op)](in, static_cast<cudaStream_t>(stream));
}

#endif
