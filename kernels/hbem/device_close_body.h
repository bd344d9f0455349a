/*
 * Part of the near_*_cuda.cu files: pairs of triangles that are close to each
 * other: which class, and their moments. As entries_near.c has it.
 */
#ifndef PS_KERNELS_HBEM_DEVICE_CLOSE_BODY_H
#define PS_KERNELS_HBEM_DEVICE_CLOSE_BODY_H

#include "kernels/hbem/device_number_body.h"

/* Whether the first rule is not good enough by centroids and radii. Rounded as written, so that
 * all kernels agree. */
PS_INLINE bool is_close(const double x[5], const double y[5], double reach)
{
    double apart = __dadd_rn(__dadd_rn(x[3], y[3]), __dmul_rn(reach, fmax(x[4], y[4]))), sum = 0;
    for (int c = 0; c < 3; ++c) {
        double d = __dadd_rn(x[c], -y[c]);
        sum = __fma_rn(d, d, sum);
    }
    return sum < __dmul_rn(apart, apart);
}

/* Centroid, radius, diameter. */
PS_INLINE void sphere_of(const ps_hbem_triangle *t, double out[5])
{
    for (int c = 0; c < 3; ++c) out[c] = t->centroid[c];
    out[3] = t->radius;
    out[4] = t->diameter;
}

/* Shared vertices first, in the same order in both; returns their number. order: 2 bits each. */
PS_INLINE int order_shared(const ps_hbem_triangle *a, const ps_hbem_triangle *b, int order[2])
{
    int used[2] = {0, 0}, shared = 0;
    order[0] = order[1] = 0;
    for (int l = 0; l < 3; ++l)
        for (int m = 0; m < 3; ++m)
            if (a->vertex[l] == b->vertex[m]) {
                order[0] |= l << 2 * shared;
                order[1] |= m << 2 * shared;
                ++shared;
                used[0] |= 1 << l;
                used[1] |= 1 << m;
            }
    for (int s = 0; s < 2; ++s)
        for (int l = 0, next = shared; l < 3; ++l)
            if (!(used[s] >> l & 1)) order[s] |= l << 2 * next++;
    return shared;
}

/* The apex of each triangle second, as narrow rules have it. */
PS_INLINE void order_needles(const ps_hbem_triangle *a, const ps_hbem_triangle *b, int order[2])
{
    for (int s = 0; s < 2; ++s) {
        const int apex = ps_hbem_needle(s ? b : a, 1e300);
        order[s] = (apex + 2) % 3 | apex << 2 | (apex + 1) % 3 << 4;
    }
}

__device__ int class_of(const ps_hbem_device_rules &rules, const ps_hbem_triangle *first,
                        const ps_hbem_triangle *second)
{
    int order[2], apex[2], shared = order_shared(first, second, order);
    int rule = shared ? 0 : ps_hbem_rule_of(rules.distance, rules.rules, first, second, apex);
    const bool hard = shared ? ps_hbem_is_hard(first, second, shared) : rule < 0;
    if (hard && rules.cells != NULL) return PS_HBEM_CLOSE_HARD;
    if (rule < 0) rule = rules.rules - 1;
    if (rule >= PS_HBEM_RULES) return (int)PS_HBEM_CLOSE_NARROW + rule - PS_HBEM_RULES;
    return shared ? shared : (int)PS_PAIR_CONTACTS + rule;
}

/* ---- moments ---- */

/* Two triangles in the order of rules, relative to a corner of the first. `normal` is that of the
 * second, or minus that of the first where x and y are exchanged (DLP) or are not (ADLP): the
 * kernel is then that of DLP. */
template <typename real> struct close_pair {
    real x[3][3], y[3][3], normal[3];
    wave_number<real> k;
    int order[2];
    bool exchanged;
    const ps_hbem_triangle *first, *second;
};

template <int kernel, typename real>
__device__ void open_pair(const ps_hbem_near_launch &in, const ps_hbem_close_pair &at,
                          close_pair<real> *p)
{
    const int row = in.op.test.slot_triangle[at.row], column = in.op.trial.slot_triangle[at.column];
    p->exchanged = row > column;
    p->first = &in.op.triangles[p->exchanged ? column : row];
    p->second = &in.op.triangles[p->exchanged ? row : column];
    p->k = {(real)in.op.wavenumber, (real)in.op.absorption};
    if (at.kind > PS_HBEM_CLOSE_NARROW)
        order_needles(p->first, p->second, p->order);
    else
        order_shared(p->first, p->second, p->order);
    const double *origin = p->first->corner[p->order[0] & 3];
    for (int a = 0; a < 3; ++a)
        for (int c = 0; c < 3; ++c) {
            p->x[a][c] = (real)(p->first->corner[p->order[0] >> 2 * a & 3][c] - origin[c]);
            p->y[a][c] = (real)(p->second->corner[p->order[1] >> 2 * a & 3][c] - origin[c]);
        }
    const bool by_first = p->exchanged == (kernel == PS_KERNEL_DLP);
    for (int c = 0; c < 3; ++c)
        p->normal[c] = (real)(by_first ? -p->first->normal[c] : p->second->normal[c]);
}

template <typename real>
PS_INLINE void combine(const real corner[3][3], const real h[3], real out[3])
{
    for (int c = 0; c < 3; ++c)
        out[c] = h[0] * corner[0][c] + h[1] * corner[1][c] + h[2] * corner[2][c];
}

template <int kernel, int wave, typename real>
PS_INLINE number<real, parts_of(wave)> close_value(const close_pair<real> &p, const real x[3],
                                                   const real y[3])
{
    real d[3] = {x[0] - y[0], x[1] - y[1], x[2] - y[2]};
    constexpr int form =
        kernel == PS_KERNEL_SLP || kernel == PS_KERNEL_HYPS ? PS_KERNEL_SLP : PS_KERNEL_DLP;
    return kernel_at<form, wave>(d, p.normal, p.normal, p.k);
}

template <typename real, int parts> struct moments_of {
    number<real, parts> at[3][3];
};

template <typename real, int parts> PS_INLINE void clear(moments_of<real, parts> *m)
{
    for (int e = 0; e < 9; ++e) m->at[e / 3][e % 3] = zero_number<real, parts>();
}

/* m += weight x_l y_m value */
template <typename real, int parts>
PS_INLINE void add_moments(moments_of<real, parts> *m, const real x[3], const real y[3],
                           real weight, const number<real, parts> &value)
{
    for (int part = 0; part < parts; ++part)
        for (int l = 0; l < 3; ++l) {
            real a = x[l] * weight * value.part[part];
            for (int c = 0; c < 3; ++c) m->at[l][c].part[part] += a * y[c];
        }
}

template <int kernel, int wave, typename real>
__device__ void joint_moments(const close_pair<real> &p, const real *points, int count,
                              moments_of<real, parts_of(wave)> *m)
{
    clear(m);
#pragma unroll 2
    for (int q = 0; q < count; ++q) {
        real at[8], x[3], y[3];
        for (int e = 0; e < 8; ++e) at[e] = points[8 * q + e];
        combine(p.x, at, x);
        combine(p.y, at + 3, y);
        add_moments(m, at, at + 3, at[6], close_value<kernel, wave>(p, x, y));
    }
}

template <int kernel, int wave, typename real>
__device__ void regular_moments(const close_pair<real> &p, const real (*rule)[4], int count,
                                moments_of<real, parts_of(wave)> *m)
{
    clear(m);
    for (int a = 0; a < count; ++a) {
        number<real, parts_of(wave)> sum[3];
        real x[3];
        combine(p.x, rule[a], x);
        for (int c = 0; c < 3; ++c) sum[c] = zero_number<real, parts_of(wave)>();
#pragma unroll 4
        for (int b = 0; b < count; ++b) {
            real y[3];
            combine(p.y, rule[b], y);
            number<real, parts_of(wave)> value = close_value<kernel, wave>(p, x, y);
            for (int part = 0; part < parts_of(wave); ++part)
                for (int c = 0; c < 3; ++c)
                    sum[c].part[part] += rule[b][3] * rule[b][c] * value.part[part];
        }
        for (int part = 0; part < parts_of(wave); ++part)
            for (int l = 0; l < 3; ++l)
                for (int c = 0; c < 3; ++c)
                    m->at[l][c].part[part] += rule[a][3] * rule[a][l] * sum[c].part[part];
    }
}

/* Surface curl of hat l times J. */
PS_INLINE double curl_at(const ps_hbem_triangle *t, int l, int c)
{
    return t->corner[(l + 2) % 3][c] - t->corner[(l + 1) % 3][c];
}

/* out[part][row hat][column hat], J J and 1/(4 pi) included; HYPS by parts. */
template <int kernel, int wave, typename real, typename result>
__device__ void put_moments(const close_pair<real> &p, const moments_of<real, parts_of(wave)> &m,
                            const ps_hbem_device_operator &op, result *out)
{
    const double scale = p.first->jacobian * p.second->jacobian / (4 * M_PI);
    number<double, parts_of(wave)> square =
        squared<wave>(wave_number<double>{op.wavenumber, op.absorption});
    double total[2] = {0, 0}, along = 0;
    for (int part = 0; part < parts_of(wave); ++part)
        for (int e = 0; e < 9; ++e) total[part] += m.at[e / 3][e % 3].part[part] / (4 * M_PI);
    for (int c = 0; c < 3; ++c) along += p.first->normal[c] * p.second->normal[c];
    for (int part = 0; part < parts_of(wave); ++part) square.part[part] *= along;
    for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) {
            const int l = p.order[0] >> 2 * a & 3, n = p.order[1] >> 2 * b & 3;
            const int to = p.exchanged ? 3 * n + l : 3 * l + n;
            double curls = 0;
            for (int c = 0; c < 3; ++c) curls += curl_at(p.first, l, c) * curl_at(p.second, n, c);
            for (int part = 0; part < parts_of(wave); ++part) {
                double value = m.at[a][b].part[part] * scale;
                if (kernel == PS_KERNEL_HYPS) {
                    value = curls * total[part] - square.part[0] * value;
                    if constexpr (wave == DAMPED) {
                        const double other = m.at[a][b].part[1 - part] * scale * square.part[1];
                        value += part == 0 ? other : -other;
                    }
                }
                out[9 * part + to] = (result)value;
            }
        }
}

#endif
