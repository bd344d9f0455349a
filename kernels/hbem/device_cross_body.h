/*
 * Part of the *_cuda.cu files of hbem: cross approximation with checked
 * rows as in aca.c, by a team of threads, of a matrix that is a struct with
 *
 *     begin<side>(at)   prepares row `at` (side 0) or column `at` (side 1); all threads
 *     value<side>(c)    number c of it
 *     DEAR              whether numbers cost more than a call
 */
#ifndef PS_KERNELS_HBEM_DEVICE_CROSS_BODY_H
#define PS_KERNELS_HBEM_DEVICE_CROSS_BODY_H

#include "kernels/hbem/device_team_body.h"

enum { GROUPS = 8, REST_LEAST = 2, CHECK_LINES = 2, RANK_MAX = PS_HBEM_DEVICE_RANK_MAX };

/* What a block of threads shares. */
template <typename real, int parts> struct cross_shared {
    number<real, parts> coefficient[RANK_MAX + 1];
    number<double, parts> dots[2][RANK_MAX];
    double sums[WARPS_MAX];
    real largest[WARPS_MAX], best[WARPS_MAX];
    int at[WARPS_MAX], ints[WARPS_MAX];
    const int32_t *stratum, *listed; /* [rows]; [strata] which rows are checked of */
    int strata;
};

/* The scalars are the same in all threads. */
template <typename real, int parts> struct crosses {
    int length[2];        /* rows, columns                                                  */
    real *vector[2];      /* u[rank][part][rows], v[rank][part][columns]                    */
    real *triangle[2];    /* [rank][rank][part]: v_p(j_l), p < l; u_p(i_l), p <= l (p = l: pivot) */
    int *pivot[2];        /* [rank] rows, columns                                           */
    uint8_t *used;        /* [rows] 1: used, 2: being checked                               */
    const uint8_t *group; /* [rows] as ps_hbem_device_side                                */
    unsigned groups;      /* which there are; bit GROUPS: creased ones                    */
    cross_shared<real, parts> *shared;
    int rank, limit, used_count, next, check_rows;
    double norm2, error, zero, scale;
    real largest; /* square of the largest entry so far */
    uint64_t random;
    unsigned rows_done[2];
};

template <typename real> struct residual_sums {
    double sum;
    real best, largest;
    int at;
};

/* The larger of two entries, the first of equal ones. */
template <typename real> PS_INLINE void merge(residual_sums<real> &s, real best, int at)
{
    if (at >= 0 && (best > s.best || (best == s.best && (s.at < 0 || at < s.at)))) {
        s.best = best;
        s.at = at;
    }
}

template <typename real, int parts>
PS_INLINE void put_sums(const residual_sums<real> &s, cross_shared<real, parts> *shared, int to)
{
    shared->sums[to] = s.sum;
    shared->best[to] = s.best;
    shared->largest[to] = s.largest;
    shared->at[to] = s.at;
}

/* Of the blocks of a team. */
template <typename real, int parts>
__device__ residual_sums<real> reduce_blocks(const residual_sums<real> &own,
                                             cross_shared<real, parts> *shared)
{
    residual_sums<real> s = {0, -1, 0, -1};
    if (threadIdx.x == 0) put_sums(own, shared, 0);
    team_sync();
    for (int b = 0; b < team_blocks(); ++b) {
        s.sum += of_block(shared->sums, b);
        s.largest = max(s.largest, of_block(shared->largest, b));
        merge(s, of_block(shared->best, b), of_block(shared->at, b));
    }
    team_sync();
    return s;
}

template <typename real, int parts>
PS_INLINE residual_sums<real> reduce(residual_sums<real> s, cross_shared<real, parts> *shared)
{
    for (int o = WARP / 2; o > 0; o /= 2) {
        s.largest = max(s.largest, __shfl_xor_sync(ALL, s.largest, o));
        s.sum += __shfl_xor_sync(ALL, s.sum, o);
        real best = __shfl_xor_sync(ALL, s.best, o);
        merge(s, best, __shfl_xor_sync(ALL, s.at, o));
    }
    if (threadIdx.x % WARP == 0) put_sums(s, shared, threadIdx.x / WARP);
    __syncthreads();
    s = {0, -1, 0, -1};
    for (int w = 0; w < (int)blockDim.x / WARP; ++w) {
        s.sum += shared->sums[w];
        s.largest = max(s.largest, shared->largest[w]);
        merge(s, shared->best[w], shared->at[w]);
    }
    __syncthreads();
    return team_blocks() > 1 ? reduce_blocks(s, shared) : s;
}

/* Row (side 0) or column (1) `at` less the crosses so far, to `out` unless NULL; the coefficients
 * of the crosses stay in shared memory. `masked`: the largest of those not used. */
template <int side, class matrix, typename real, int parts>
PS_INLINE residual_sums<real> find_residual(matrix &a, const crosses<real, parts> &s, int at,
                                            real *out, bool masked)
{
    const int height = s.length[side], length = s.length[1 - side], rank = s.rank;
    const real *basis = s.vector[side], *other = s.vector[1 - side];
    a.template begin<side>(at);
    for (int l = threadIdx.x; l < rank; l += blockDim.x)
        s.shared->coefficient[l] = load<parts>(basis + (size_t)l * parts * height, height, at);
    __syncthreads();
    residual_sums<real> sums = {0, -1, 0, -1};
    for (int c = team_thread(); c < length; c += team_threads()) {
        number<real, parts> value = a.template value<side>(c);
        if (side == 0) sums.largest = max(sums.largest, square(value));
#pragma unroll 4
        for (int l = 0; l < rank; ++l)
            subtract_product(value, s.shared->coefficient[l],
                             load<parts>(other + (size_t)l * parts * length, length, c));
        if (out) store(out, length, c, value);
        real own = square(value);
        sums.sum += own;
        if (own > sums.best && !(masked && s.used[c])) {
            sums.best = own;
            sums.at = c;
        }
    }
    return reduce(sums, s.shared);
}

/* The same, called: the matrix and the crosses are copies, so that they stay in registers. */
template <int side, class matrix, typename real, int parts>
__device__ __noinline__ residual_sums<real> call_residual(matrix *a, const crosses<real, parts> s,
                                                          int at, real *out, bool masked)
{
    matrix own = *a;
    residual_sums<real> sums = find_residual<side>(own, s, at, out, masked);
    *a = own;
    return sums;
}

/* Of matrices whose numbers are dear it is called from all places, of cheap ones it is expanded:
 * calls made small leaves slower by half. */
template <int side, class matrix, typename real, int parts>
PS_INLINE residual_sums<real> residual(matrix &a, const crosses<real, parts> &s, int at, real *out,
                                       bool masked)
{
    if constexpr (matrix::DEAR)
        return call_residual<side>(&a, s, at, out, masked);
    else
        return find_residual<side>(a, s, at, out, masked);
}

/* ---- which row next, as in aca.c ---- */

/* group GROUPS: creased rows. */
PS_INLINE bool is_of_group(unsigned own, int group)
{
    return group == GROUPS ? own >= PS_HBEM_CREASED : (int)(own % PS_HBEM_CREASED) == group;
}

/* An unused row of [begin, end) from a random one on, of a group unless that is -1; -1: none. */
template <typename real, int parts>
__device__ __noinline__ int first_unused(const crosses<real, parts> s, int begin, int end,
                                         int group)
{
    int start = (int)((s.random >> 33) % (uint64_t)(end - begin)), found = INT_MAX;
    for (int e = team_thread(); e < end - begin; e += team_threads()) {
        int i = begin + (start + e < end - begin ? start + e : start + e - (end - begin));
        if (s.used[i] || (group >= 0 && !is_of_group(s.group[i], group))) continue;
        found = e;
        break;
    }
    found = team_least(found, s.shared->ints);
    if (found == INT_MAX) return -1;
    return begin + (start + found < end - begin ? start + found : start + found - (end - begin));
}

template <typename real, int parts>
PS_INLINE int pick(crosses<real, parts> &s, int begin, int end, int group)
{
    if (end <= begin) return -1;
    s.random = s.random * 6364136223846793005u + 1442695040888963407u;
    if (group >= 0 && !(s.groups >> group & 1)) return -1;
    return first_unused(s, begin, end, group);
}

/* The rows of a stratum that no cross has used, and the first of them from a random one on. */
struct stratum_rows {
    int unused, first;
};

template <typename real, int parts>
__device__ __noinline__ stratum_rows rows_of_stratum(const crosses<real, parts> s, int stratum)
{
    const int m = s.length[0], start = (int)((s.random >> 33) % (uint64_t)m);
    int unused = 0, found = INT_MAX;
    for (int e = team_thread(); e < m; e += team_threads()) {
        int i = start + e < m ? start + e : start + e - m;
        if (s.used[i] || s.shared->stratum[i] != stratum) continue;
        ++unused;
        found = min(found, e);
    }
    found = team_least(found, s.shared->ints);
    unused = team_sum(unused, s.shared->ints);
    if (unused == 0) return {0, -1};
    return {unused, start + found < m ? start + found : start + found - m};
}

/* One row of stratum e of the list, -1: it has none; *stands_for: how many of a stratum no cross
 * has used. */
template <typename real, int parts>
PS_INLINE int pick_stratum(crosses<real, parts> &s, int e, int *stands_for)
{
    const uint64_t before = s.random;
    const int stratum = s.shared->listed[e];
    s.random = before * 6364136223846793005u + 1442695040888963407u;
    const stratum_rows own = rows_of_stratum(s, stratum);
    *stands_for = stratum < 0 ? 0 : own.unused;
    if (own.unused > 0) return own.first;
    s.random = before;
    return -1;
}

/* Rows checked so far: of strata, which stand for `covered` rows and add up weighted, and others;
 * all: of both.
 */
template <typename real> struct row_check {
    int rows, others, covered, worst;
    double worst_square, weighted, sum, all;
};

/* Row i, which stands for so many of a stratum; 0: of none. */
template <class matrix, typename real, int parts>
__device__ void check_row(matrix &a, crosses<real, parts> &s, int i, int stands_for,
                          row_check<real> &c)
{
    if (i < 0) return;
    __syncthreads();
    if (team_thread() == 0) s.used[i] = 2;
    residual_sums<real> sums = residual<0>(a, s, i, (real *)NULL, false);
    s.largest = max(s.largest, sums.largest);
    ++s.rows_done[0];
    if (c.worst < 0 || sums.sum > c.worst_square) {
        c.worst = i;
        c.worst_square = sums.sum;
    }
    ++c.rows;
    c.covered += stands_for;
    c.weighted += stands_for * sums.sum;
    c.all += sums.sum;
    if (stands_for > 0) return;
    c.sum += sums.sum;
    ++c.others;
}

/* What counts as zero. */
template <typename real, int parts> PS_INLINE double zero_of(const crosses<real, parts> &s)
{
    return s.zero * fmax(s.scale, sqrt((double)s.largest));
}

/* Rows that were being checked are unused again. */
template <typename real, int parts> PS_INLINE void take_marks_back(const crosses<real, parts> &s)
{
    for (int i = team_thread(); i < s.length[0]; i += team_threads())
        if (s.used[i] == 2) s.used[i] = 0;
    team_sync();
}

template <typename real, int parts> PS_INLINE bool is_pivot(const crosses<real, parts> &s, int j)
{
    for (int l = 0; l < s.rank; ++l)
        if (s.pivot[1][l] == j) return true;
    return false;
}

/* A column of each half, that no cross has, against all rows: a few rows that are far from what
 * crosses took are seen there. Returns what they say of the square of the error; may set the row to
 * go on with. */
template <class matrix, typename real, int parts>
__device__ double check_columns(matrix &a, crosses<real, parts> &s, int *worst)
{
    const int n = s.length[1];
    double sum = 0;
    real best = -1;
#pragma unroll 1
    for (int half = 0; half < CHECK_LINES; ++half) {
        s.random = s.random * 6364136223846793005u + 1442695040888963407u;
        int j =
            (int)(((uint64_t)half * (uint64_t)n + (s.random >> 33) % (uint64_t)n) / CHECK_LINES);
        for (int tries = 0; tries < n && is_pivot(s, j); ++tries) j = j + 1 < n ? j + 1 : 0;
        residual_sums<real> column = residual<1>(a, s, j, (real *)NULL, true);
        ++s.rows_done[1];
        sum += column.sum;
        if (column.at < 0 || column.best <= best) continue;
        best = column.best;
        *worst = column.at;
    }
    return (double)n / CHECK_LINES * sum;
}

/* The row to go on with, or -1: good enough. One row of each stratum, then one of each group, the
 * others from equal parts of the rows; two columns stand for as many rows. */
template <class matrix, typename real, int parts>
__device__ int check_rows(matrix &a, crosses<real, parts> &s, double tolerance)
{
    row_check<real> c = {0, 0, 0, -1, 0, 0, 0, 0};
    const int m = s.length[0], wanted = max(s.check_rows - CHECK_LINES, 1),
              strata = s.shared->strata;
    int stratum = 0, group = 0, part = 0, equal = 0, rest = 0;
#pragma unroll 1
    while (true) {
        int low = 0, high = m, of = -1, stands_for = 0, i;
        if (stratum < strata) {
            i = pick_stratum(s, stratum++, &stands_for);
            of = 0;
        } else {
            if (group < GROUPS && c.rows < wanted) {
                of = group++;
            } else {
                if (part == 0) {
                    rest = m - s.used_count - c.covered;
                    equal = max(wanted - c.rows, rest > 0 ? (int)REST_LEAST : 0);
                }
                if (part >= equal) break;
                low = (int)((int64_t)m * part / equal);
                high = (int)((int64_t)m * ++part / equal);
            }
            i = pick(s, low, high, of);
        }
        if (i < 0 && of < 0) i = pick(s, 0, m, -1);
        check_row(a, s, i, stands_for, c);
    }
    take_marks_back(s);
    double square = c.weighted + (c.others > 0 ? (double)rest / c.others * c.sum : 0);
    if (c.rows > 0) square = fmax(square, (double)(m - s.used_count) / c.rows * c.all);
    int of_column = -1;
    const double columns = check_columns(a, s, &of_column);
    if (columns > square && of_column >= 0) {
        square = columns;
        c.worst = of_column;
    }
    const double estimate = sqrt(square), norm = sqrt(s.norm2);
    const double floor = zero_of(s) * sqrt((double)m * s.length[1]);
    s.error = norm > 0 ? estimate / norm : 0;
    return estimate <= fmax(tolerance * norm, floor) ? -1 : c.worst;
}

/* ---- crosses ---- */

/* Products u_l^H u and v_l^H v of this block's share of the rows; a warp has a cross l. */
template <typename real, int parts> __device__ void fill_dots(const crosses<real, parts> &s)
{
    const int lane = team_block() * WARP + threadIdx.x % WARP, lanes = team_blocks() * WARP;
    for (int l = threadIdx.x / WARP; l < s.rank; l += blockDim.x / WARP)
        for (int side = 0; side < 2; ++side) {
            const int n = s.length[side];
            const real *old = s.vector[side] + (size_t)l * parts * n;
            const real *own = s.vector[side] + (size_t)s.rank * parts * n;
            number<real, parts> sum = zero_number<real, parts>();
#pragma unroll 4
            for (int c = lane; c < n; c += lanes)
                add_product(sum, conjugate(load<parts>(old, n, c)), load<parts>(own, n, c));
            for (int p = 0; p < parts; ++p) sum.part[p] = warp_sum(sum.part[p]);
            if (threadIdx.x % WARP == 0) s.shared->dots[side][l] = widen(sum);
        }
}

/* |S|^2 grows by |u|^2 |v|^2 + 2 Re sum_l (u_l^H u)(v_l^H v). */
template <typename real, int parts>
__device__ void grow_norm(crosses<real, parts> &s, double square_product)
{
    double mixed = 0;
    fill_dots(s);
    team_sync();
    for (int l = threadIdx.x; l < s.rank; l += blockDim.x) {
        number<double, parts> sum[2] = {};
        for (int e = 0; e < 2 * team_blocks(); ++e) {
            number<double, parts> own = of_block(&s.shared->dots[e % 2][l], e / 2);
            for (int p = 0; p < parts; ++p) sum[e % 2].part[p] += own.part[p];
        }
        mixed += product(sum[0], sum[1]).part[0];
    }
    mixed = block_sum(mixed, s.shared->sums);
    s.norm2 = fmax(s.norm2 + square_product + 2 * mixed, square_product * 1e-30);
    team_sync();
}

/* Keeps the coefficients in shared memory as row `rank` of a triangle. */
template <int side, typename real, int parts>
PS_INLINE void keep_coefficients(const crosses<real, parts> &s)
{
    real *to = s.triangle[side] + (size_t)s.rank * s.limit * parts;
    for (int e = team_thread(); e < s.rank * parts; e += team_threads())
        to[e] = s.shared->coefficient[e / parts].part[e % parts];
}

/* One cross from row i; false where the row is zero. *size = |u| |v|. s.next: the largest of u. */
template <class matrix, typename real, int parts>
__device__ bool add_cross(matrix &a, crosses<real, parts> &s, int i, double *size)
{
    const int m = s.length[0], n = s.length[1], k = s.rank;
    real *u = s.vector[0] + (size_t)k * parts * m, *v = s.vector[1] + (size_t)k * parts * n;
    if (team_thread() == 0) s.used[i] = 1;
    residual_sums<real> row = residual<0>(a, s, i, v, false);
    ++s.used_count;
    ++s.rows_done[0];
    s.largest = max(s.largest, row.largest);
    double zero = zero_of(s);
    if (!((double)row.best > zero * zero)) return false;
    const int j = row.at;
    number<real, parts> pivot = load<parts>(v, n, j), factor = inverse(pivot);
    keep_coefficients<1>(s);
    if (team_thread() == 0) {
        real *diagonal = s.triangle[1] + ((size_t)k * s.limit + k) * parts;
        for (int p = 0; p < parts; ++p) diagonal[p] = pivot.part[p];
        s.pivot[0][k] = i;
        s.pivot[1][k] = j;
    }
    team_sync();
    double sum = 0;
    for (int c = team_thread(); c < n; c += team_threads()) {
        number<real, parts> value = product(load<parts>(v, n, c), factor);
        store(v, n, c, value);
        sum += square(value);
    }
    sum = team_sum(sum, s.shared->sums);
    residual_sums<real> column = residual<1>(a, s, j, u, true);
    ++s.rows_done[1];
    keep_coefficients<0>(s);
    s.next = column.at;
    *size = sqrt(column.sum * sum);
    grow_norm(s, column.sum * sum);
    ++s.rank;
    return true;
}

/* Goes on from row s.next until the criterion and the check hold; false: the limit came first. */
template <class matrix, typename real, int parts>
__device__ bool iterate(matrix &a, crosses<real, parts> &s, double tolerance)
{
    int i = s.next;
    while (i >= 0) {
        double size = 0;
        if (s.rank == s.limit) return false;
        bool cross = add_cross(a, s, i, &size);
        if (s.used_count == s.length[0]) {
            s.error = 0;
            s.next = -1;
            return true;
        }
        if (cross && size > tolerance * sqrt(s.norm2))
            i = s.next;
        else
            i = s.check_rows > 0 ? check_rows(a, s, tolerance) : -1;
    }
    return true;
}

#endif
