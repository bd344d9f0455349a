/*
 * Part of the *_cuda.cu files of hbem: what a far leaf is, the points
 * of its functions, and its rows and columns: of entries, and of the kernel at a point a function.
 */
#ifndef PS_KERNELS_HBEM_DEVICE_SOURCE_BODY_H
#define PS_KERNELS_HBEM_DEVICE_SOURCE_BODY_H

#include "kernels/hbem/device_cross_body.h"
#include "kernels/hbem/device_memory_body.h"

enum { SOURCES = 288, RULE_POINTS = PS_HBEM_POINTS_MAX, FIRST_POINTS = 6 };
enum { TILE_MOST = SOURCES / FIRST_POINTS };

/* A point of a function with its weight (hats, J and 1/(4 pi) included). */
template <typename real> struct alignas(16) source {
    real x[3], weight;
};
template <typename real> struct alignas(16) normal_of {
    real n[3], spare;
};

/* Of a block of threads, in shared memory: triangles of a side with their points by the rule of the
 * leaf and, where that is not the first one, by the first one too, for those that are far enough
 * from a triangle of the other side. */
template <typename real> struct source_shared {
    source<real> point[SOURCES]; /* these two lend their room to small matrices */
    normal_of<real> normal[SOURCES];
    real rule[RULE_POINTS][4], first[FIRST_POINTS][4];
    real sphere[TILE_MOST][5]; /* of the triangles; see sphere_at */
    real reach;                /* from here on, in diameters, the first rule does */
    double box[2][8]; /* low, high, largest diameter and jacobian: rows, columns */
    double origin[3], gap, scale;
    int rule_of, points, stride; /* points of the rule; of a triangle */
};

/* A leaf at work. */
template <typename real> struct far_leaf {
    const ps_hbem_device_side *side[2];
    const ps_hbem_triangle *triangles;
    int begin[2], length[2];
    int slots[2], slot_begin[2];
    source_shared<real> *shared;
    wave_number<real> k;
};

/* ---- setting up ---- */

/* Boxes of the two sides, by one warp each. */
template <typename real> PS_INLINE void measure_boxes(const far_leaf<real> &f)
{
    const int side = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    if (side > 1) return;
    const ps_hbem_device_side *s = f.side[side];
    const int first = s->cluster_of[f.begin[side]];
    const int last = s->cluster_of[f.begin[side] + f.length[side] - 1];
    double box[8] = {1e300, 1e300, 1e300, -1e300, -1e300, -1e300, 0, 0};
    for (int c = first + lane; c <= last; c += WARP)
        for (int e = 0; e < 8; ++e) {
            double own = s->box[8 * (int64_t)c + e];
            box[e] = e < 3 ? fmin(box[e], own) : fmax(box[e], own);
        }
    for (int e = 0; e < 8; ++e)
        for (int o = WARP / 2; o > 0; o /= 2) {
            double other = __shfl_xor_sync(ALL, box[e], o);
            box[e] = e < 3 ? fmin(box[e], other) : fmax(box[e], other);
        }
    if (lane == 0)
        for (int e = 0; e < 8; ++e) f.shared->box[side][e] = box[e];
}

/* Origin, rule and scale, as ps_hbem_far_open and assembly.c have them; by one thread. */
template <typename real>
__device__ void measure_leaf(const far_leaf<real> &f, const ps_hbem_device_rules &rules, int kernel)
{
    source_shared<real> *s = f.shared;
    double gap2 = 0, apart2 = 0;
    for (int c = 0; c < 3; ++c) {
        double centre[2],
            gap = fmax(s->box[0][c] - s->box[1][3 + c], s->box[1][c] - s->box[0][3 + c]);
        for (int side = 0; side < 2; ++side)
            centre[side] = (s->box[side][c] + s->box[side][3 + c]) / 2;
        s->origin[c] = (centre[0] + centre[1]) / 2;
        if (gap > 0) gap2 += gap * gap;
        apart2 += (centre[0] - centre[1]) * (centre[0] - centre[1]);
    }
    double distance = sqrt(gap2) / fmax(s->box[0][6], s->box[1][6]);
    int r = 0;
    while (r + 1 < rules.rules && distance < rules.distance[r]) ++r;
    int power = kernel == PS_KERNEL_SLP ? 1 : kernel == PS_KERNEL_HYPS ? 3 : 2;
    s->rule_of = r;
    s->points = rules.count[r];
    s->stride = s->points + (r > 0 ? (int)FIRST_POINTS : 0);
    s->reach = (real)(1.5 * rules.distance[0]);
    const double apart = sqrt(apart2);
    s->gap = (power == 1 ? 1 / apart : power == 2 ? 1 / apart2 : 1 / (apart * apart2)) / 16;
    s->scale = s->box[0][7] * s->box[1][7] / (4 * M_PI) * s->gap;
}

template <typename real>
__device__ void copy_rule(const ps_hbem_device_rules &rules, int rule, real (*out)[4])
{
    const real *from = (const real *)rules.point[sizeof(real) == 4 ? PS_SINGLE : PS_DOUBLE][rule];
    for (int e = threadIdx.x; e < 4 * rules.count[rule]; e += blockDim.x)
        out[e / 4][e % 4] = from[e];
}

template <typename real>
__device__ void open_leaf(far_leaf<real> &f, const ps_hbem_device_rules &rules, int kernel)
{
    for (int side = 0; side < 2; ++side) {
        const ps_hbem_device_side *s = f.side[side];
        const int last = s->cluster_of[f.begin[side] + f.length[side] - 1];
        f.slot_begin[side] = s->slot_begin[s->cluster_of[f.begin[side]]];
        f.slots[side] = s->slot_begin[last + 1] - f.slot_begin[side];
    }
    measure_boxes(f);
    __syncthreads();
    if (threadIdx.x == 0) measure_leaf(f, rules, kernel);
    __syncthreads();
    copy_rule(rules, f.shared->rule_of, f.shared->rule);
    copy_rule(rules, 0, f.shared->first);
    __syncthreads();
}

/* From a slot's triangle: centroid relative to the leaf's origin, radius, diameter. */
template <typename real>
PS_INLINE void sphere_at(const ps_hbem_triangle *t, const double origin[3], real out[5])
{
    for (int c = 0; c < 3; ++c) out[c] = (real)(t->centroid[c] - origin[c]);
    out[3] = (real)t->radius;
    out[4] = (real)t->diameter;
}

template <typename real> PS_INLINE bool are_apart(const real x[5], const real y[5], real reach)
{
    const real least = x[3] + y[3] + reach * max(x[4], y[4]);
    const real d[3] = {x[0] - y[0], x[1] - y[1], x[2] - y[2]};
    return d[0] * d[0] + d[1] * d[1] + d[2] * d[2] >= least * least;
}

/* Sum of the hats in a mask at point q. */
template <typename real> PS_INLINE real hats_at(const real *h, int mask)
{
    return (mask & 1 ? h[0] : 0) + (mask & 2 ? h[1] : 0) + (mask & 4 ? h[2] : 0);
}

/* Points of the triangles of function `dof`, from number `first` on, to shared memory from `at` on;
 * no more than fit. */
template <typename real>
__device__ void put_sources(const far_leaf<real> &f, int side, int dof, int first, int at)
{
    const ps_hbem_device_side *s = f.side[side];
    const int stride = f.shared->stride, begin = s->entry_start[dof];
    const int count = (s->entry_start[dof + 1] - begin) * stride;
    for (int e = threadIdx.x; e < count; e += blockDim.x) {
        int to = at + e - first;
        if (to < 0 || to >= SOURCES / stride * stride) continue;
        const int entry = s->entry[begin + e / stride], q = e % stride;
        const real *h =
            q < f.shared->points ? f.shared->rule[q] : f.shared->first[q - f.shared->points];
        const ps_hbem_triangle *from = &f.triangles[entry >> 3];
        place<real> t;
        place_at(from, f.shared->origin, &t);
        source<real> *p = &f.shared->point[to];
        point_at(t, h, p->x);
        p->weight = hats_at(h, entry & 7) * h[3] * t.jacobian * (real)(1 / (4 * M_PI));
        for (int c = 0; c < 3; ++c) f.shared->normal[to].n[c] = t.normal[c];
        if (q == 0) sphere_at(from, f.shared->origin, f.shared->sphere[to / stride]);
    }
}

/* sum_p weight_p K(x_p, y) over sources [from, to); K of the source's side first. */
template <int kernel, int wave, typename real>
PS_INLINE void add_sources(const source_shared<real> *s, int from, int to, const real y[3],
                           const real ny[3], wave_number<real> k, number<real, parts_of(wave)> &sum)
{
#pragma unroll 6
    for (int p = from; p < to; ++p) {
        source<real> x = s->point[p];
        normal_of<real> nx = {};
        if (kernel != PS_KERNEL_SLP && kernel != PS_KERNEL_DLP) nx = s->normal[p];
        real d[3] = {x.x[0] - y[0], x.x[1] - y[1], x.x[2] - y[2]};
        number<real, parts_of(wave)> value = kernel_at<kernel, wave>(d, nx.n, ny, k);
        for (int part = 0; part < parts_of(wave); ++part)
            sum.part[part] += x.weight * value.part[part];
    }
}

/* A triangle of the other side with the hats' integrals, J excluded, against sources [from, to):
 * all by the rule of the leaf, or each triangle by the one that does. */
template <int kernel, int wave, typename real>
PS_INLINE void add_triangle(const far_leaf<real> &f, int from, int to, const ps_hbem_triangle *at,
                            const place<real> &t, number<real, parts_of(wave)> total[3])
{
    const source_shared<real> *s = f.shared;
    const bool several = s->stride > s->points;
    real sphere[5];
    if (several) sphere_at(at, s->origin, sphere);
    for (int step = several ? s->stride : to - from; from < to; from += step) {
        const bool first = several && are_apart(s->sphere[from / s->stride], sphere, s->reach);
        const real(*rule)[4] = first ? s->first : s->rule;
        const int count = first ? (int)FIRST_POINTS : s->points;
        const int begin = first ? from + s->points : from;
        const int end = several ? begin + count : to;
        for (int q = 0; q < count; ++q) {
            number<real, parts_of(wave)> sum = zero_number<real, parts_of(wave)>();
            real y[3];
            point_at(t, rule[q], y);
            add_sources<kernel, wave>(s, begin, end, y, t.normal, f.k, sum);
            for (int l = 0; l < 3; ++l)
                for (int part = 0; part < parts_of(wave); ++part)
                    total[l].part[part] += rule[q][l] * rule[q][3] * sum.part[part];
        }
    }
}

/* ---- entries ---- */

/* The matrix of entries: sums[part][3][slots] of hats for the row or column at hand. */
template <typename real, int kernel, int wave> struct entry_matrix {
    enum { DEAR = 1 };
    far_leaf<real> leaf;
    real *sums;
    unsigned long long pairs;

    template <int side> __device__ __noinline__ void begin(int at)
    {
        const ps_hbem_device_side *own = leaf.side[side];
        const int dof = leaf.begin[side] + at, stride = leaf.shared->stride;
        const int entries = own->entry_start[dof + 1] - own->entry_start[dof];
        const int fit = SOURCES / stride * stride;
        for (int first = 0; first == 0 || first < entries * stride; first += fit) {
            put_sources(leaf, side, dof, first, 0);
            __syncthreads();
            int count = min(fit, entries * stride - first);
            add_slots<side>(count, first > 0);
            team_sync();
        }
        pairs += (unsigned long long)entries * leaf.slots[1 - side];
    }

    /* The other side's slots against the sources in shared memory. */
    template <int side> __device__ void add_slots(int count, bool add)
    {
        const ps_hbem_device_side *other = leaf.side[1 - side];
        const int slots = leaf.slots[1 - side], first = leaf.slot_begin[1 - side];
        for (int s = team_thread(); s < slots; s += team_threads()) {
            const ps_hbem_triangle *from = &leaf.triangles[other->slot_triangle[first + s]];
            place<real> t;
            place_at(from, leaf.shared->origin, &t);
            number<real, parts_of(wave)> total[3];
            for (int l = 0; l < 3; ++l) total[l] = zero_number<real, parts_of(wave)>();
            add_triangle<side == 0 ? kernel : exchanged(kernel), wave>(leaf, 0, count, from, t,
                                                                       total);
            for (int part = 0; part < parts_of(wave); ++part)
                for (int l = 0; l < 3; ++l) {
                    real *to = sums + (size_t)(3 * part + l) * slots + s;
                    real value = total[l].part[part] * t.jacobian;
                    *to = add ? *to + value : value;
                }
        }
    }

    template <int side> PS_INLINE number<real, parts_of(wave)> value(int c)
    {
        const ps_hbem_device_side *other = leaf.side[1 - side];
        const int dof = leaf.begin[1 - side] + c, slots = leaf.slots[1 - side];
        number<real, parts_of(wave)> sum = zero_number<real, parts_of(wave)>();
        for (int e = other->item_start[dof]; e < other->item_start[dof + 1]; ++e) {
            int item = other->item[e] - 3 * leaf.slot_begin[1 - side];
            for (int part = 0; part < parts_of(wave); ++part)
                sum.part[part] += sums[(size_t)(3 * part + item % 3) * slots + item / 3];
        }
        return sum;
    }
};

/* ---- the kernel at points ---- */

/* The mean of 4 pi K over `count` points in shared memory and n from `other` on, whose numbers are
 * `length` apart. */
template <int kernel, int wave, typename real>
__device__ __noinline__ number<real, parts_of(wave)> mean_value(const source_shared<real> *s,
                                                                int count, const real *other, int n,
                                                                int length, wave_number<real> k)
{
    number<real, parts_of(wave)> sum = zero_number<real, parts_of(wave)>();
    for (int p = 0; p < n; ++p, other += 6 * (size_t)length) {
        real y[6];
        for (int c = 0; c < 6; ++c) y[c] = other[(size_t)c * length];
#pragma unroll 4
        for (int e = 0; e < count; ++e) {
            const real *x = s->point[e].x;
            const real d[3] = {x[0] - y[0], x[1] - y[1], x[2] - y[2]};
            const number<real, parts_of(wave)> value =
                kernel_at<kernel, wave>(d, s->normal[e].n, y + 3, k);
            for (int part = 0; part < parts_of(wave); ++part) sum.part[part] += value.part[part];
        }
    }
    for (int part = 0; part < parts_of(wave); ++part) sum.part[part] /= (real)(count * n);
    return sum;
}

/* 4 pi K at a point of each function: at[side][3][length], relative to the leaf's origin, and
 * normals after them. Creased functions have NaN there, and their points, [6][length] each, after
 * their number in more[side]. */
template <typename real, int kernel, int wave> struct point_matrix {
    enum { DEAR = 0, PLANES = kernel == PS_KERNEL_SLP ? 3 : 6 };
    source_shared<real> *shared;
    real *at[2], *more[2];
    int length[2], own_points; /* in shared memory, of the row or column at hand */
    real fixed[6];
    wave_number<real> k;

    __device__ void fill(const far_leaf<real> &f, real *room)
    {
        shared = f.shared;
        k = f.k;
        for (int side = 0; side < 2; ++side) {
            length[side] = f.length[side];
            at[side] = room;
            more[side] = room + PLANES * (size_t)length[side];
            room = more[side] + (PLANES > 3 ? (1 + 6 * MEAN_MOST) * (size_t)length[side] : 0);
        }
        for (int side = 0; side < 2; ++side)
            for (int i = team_thread(); i < length[side]; i += team_threads()) {
                const int64_t dof = f.begin[side] + i;
                const bool creased = PLANES > 3 && f.side[side]->group[dof] >= PS_HBEM_CREASED;
                for (int c = 0; c < PLANES; ++c) {
                    double value = c < 3 ? f.side[side]->point[3 * dof + c] - f.shared->origin[c]
                                         : f.side[side]->normal[3 * dof + c - 3];
                    at[side][(size_t)c * length[side] + i] =
                        creased && c == 0 ? (real)NAN : (real)value;
                }
                if (creased) put_points(f, side, i);
            }
    }

    __device__ void put_points(const far_leaf<real> &f, int side, int i)
    {
        const int first = f.side[side]->entry_start[f.begin[side] + i];
        const int entries = f.side[side]->entry_start[f.begin[side] + i + 1] - first;
        const int count = min(entries, (int)MEAN_MOST);
        real *to = more[side] + i;
        *to = (real)count;
        for (int p = 0; p < count; ++p) {
            const int entry = f.side[side]->entry[first + p * entries / count];
            const ps_hbem_triangle *t = &f.triangles[entry >> 3];
            for (int c = 0; c < 6; ++c)
                *(to += length[side]) =
                    (real)(c < 3 ? t->centroid[c] - f.shared->origin[c] : t->normal[c - 3]);
        }
    }

    /* Where the points of a function are, numbers `length` apart. */
    PS_INLINE const real *points_of(int side, int i, int *count) const
    {
        const real *from = at[side] + i;
        *count = 1;
        if (PLANES == 3 || !isnan(*from)) return from;
        from = more[side] + i;
        *count = (int)*from;
        return from + length[side];
    }

    /* Those of function i of a side to shared memory from `to` on, by `lanes` threads; returns
     * their number. */
    PS_INLINE int share_points(int side, int i, int to, int lane, int lanes) const
    {
        int count;
        const real *from = points_of(side, i, &count);
        for (int e = lane; e < 6 * count; e += lanes) {
            const real value = from[(size_t)e * length[side]];
            if (e % 6 < 3)
                shared->point[to + e / 6].x[e % 6] = value;
            else
                shared->normal[to + e / 6].n[e % 6 - 3] = value;
        }
        return count;
    }

    template <int side> __device__ void begin(int i)
    {
        for (int c = 0; c < PLANES; ++c) fixed[c] = at[side][(size_t)c * length[side] + i];
        own_points = 1;
        if (PLANES > 3 && isnan(fixed[0]))
            own_points = share_points(side, i, 0, threadIdx.x, blockDim.x);
        else if (PLANES > 3 && threadIdx.x == 0)
            for (int c = 0; c < 3; ++c) {
                shared->point[0].x[c] = fixed[c];
                shared->normal[0].n[c] = fixed[3 + c];
            }
    }

    template <int side> PS_INLINE number<real, parts_of(wave)> value(int c)
    {
        constexpr int form = side == 0 ? kernel : exchanged(kernel);
        const real *other = at[1 - side] + c;
        const int n = length[1 - side];
        real d[3], normal[3] = {};
        for (int e = 0; e < 3; ++e) d[e] = fixed[e] - other[(size_t)e * n];
        if (PLANES > 3)
            for (int e = 0; e < 3; ++e) normal[e] = other[(size_t)(3 + e) * n];
        if (PLANES > 3 && isnan(d[0])) {
            int count;
            other = points_of(1 - side, c, &count);
            return mean_value<form, wave>(shared, own_points, other, count, n, k);
        }
        return kernel_at<form, wave>(d, fixed + 3, normal, k);
    }
};

#endif
