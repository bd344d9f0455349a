/*
 * device_prism_field: the closed forms of kernels/common/prism_field.h for one prism and one
 * station in a thread of a CUDA device: the same differences, formed in the same way
 * (prism_edge_body.h), and the same rules for what they are not good enough for.
 */
#ifndef PS_KERNELS_COMMON_DEVICE_PRISM_FIELD_H
#define PS_KERNELS_COMMON_DEVICE_PRISM_FIELD_H

#ifdef __CUDACC__

extern "C" {
#include "kernels/common/prism_field.h"
}

namespace ps_prism
{

constexpr double EPSILON = 4e-16; /* of the sums, as prism_edge_body.h has it */

/* Bounds less the station, and sides. */
struct brick {
    double bound[3][2], side[3];
};

/* ln(1 + a / b), a >= 0, b > 0. */
__device__ __forceinline__ double log_ratio(double a, double b)
{
    double q = a / b;
    return isinf(q) ? log(a) - log(b) : log1p(q);
}

/* The angle of (x, y), -pi .. pi; 0 of (0, 0), pi whatever the sign of a zero. */
__device__ __forceinline__ double angle_of(double x, double y)
{
    return y == 0 ? (x < 0 ? 3.14159265358979323846 : 0) : atan2(y, x);
}

/* An edge: its ends along its own axis, their distances, the square of that of its line. */
struct line {
    double side, low, high, near, far, square;
    bool mixed;
};

__device__ __forceinline__ double edge_logarithm(const line &l)
{
    double upper = l.far + fabs(l.high), lower = l.near + fabs(l.low);
    double product = upper * lower;
    double a = 2 * l.side * (l.mixed ? product : l.low >= 0 ? upper : lower);
    double b = l.mixed ? l.square * (upper + lower) : l.square + product;
    return b == 0 ? 0 : log_ratio(a, b);
}

__device__ __forceinline__ void face_turn(const line &l, double x, double y, double out[2])
{
    double weight = fabs(l.high) * l.near + fabs(l.low) * l.far;
    double along = x * x * (l.near * l.far) + y * y * (l.low * l.high);
    double same = l.square * l.side * fabs(l.low + l.high);
    out[0] = along * (l.mixed ? 1 : weight);
    out[1] = fabs(x) * y * (l.mixed ? weight : same);
}

__device__ __forceinline__ double solid_angle(const double upper[2], const double lower[2],
                                              bool above, double x)
{
    double re = upper[0] * lower[0] + upper[1] * lower[1];
    double im = upper[1] * lower[0] - upper[0] * lower[1];
    double angle = angle_of(re, im);
    return above && (im < 0 || x == 0) ? angle + 6.28318530717958647693 : angle;
}

struct integrals {
    double edge[3][2][2], angle[3][2];
    bool on_edge[3];
};

__device__ __forceinline__ void integrate(const brick &b, integrals *out)
{
    double r[8];
#pragma unroll
    for (int c = 0; c < 8; ++c) {
        double x = b.bound[0][c & 1], y = b.bound[1][c >> 1 & 1], z = b.bound[2][c >> 2 & 1];
        r[c] = sqrt(x * x + y * y + z * z);
    }
#pragma unroll
    for (int a = 0; a < 3; ++a) {
        const int e = (a + 1) % 3, f = (a + 2) % 3;
        const bool inside = b.bound[a][0] < 0 && b.bound[a][1] > 0;
        const bool touching = b.bound[a][0] <= 0 && b.bound[a][1] >= 0;
        double turn[2][2][2];
        out->on_edge[a] = false;
#pragma unroll
        for (int p = 0; p < 2; ++p)
#pragma unroll
            for (int q = 0; q < 2; ++q) {
                const int at = p << e | q << f;
                double x = b.bound[e][p], y = b.bound[f][q];
                line l = {b.side[a],      b.bound[a][0], b.bound[a][1], r[at],
                          r[at | 1 << a], x * x + y * y, inside};
                out->edge[a][p][q] = edge_logarithm(l);
                out->on_edge[a] = out->on_edge[a] || (touching && l.square == 0);
                face_turn(l, x, y, turn[p][q]);
            }
        bool above = inside && b.bound[f][0] < 0 && b.bound[f][1] > 0;
#pragma unroll
        for (int p = 0; p < 2; ++p)
            out->angle[e][p] = solid_angle(turn[p][1], turn[p][0], above, b.bound[e][p]);
    }
}

__device__ __forceinline__ double face_potential(const brick &b, const integrals &n, int d, int i)
{
    const int e = (d + 1) % 3, f = (d + 2) % 3;
    double sum = -fabs(b.bound[d][i]) * n.angle[d][i];
    sum += b.bound[e][1] * n.edge[f][i][1] - b.bound[e][0] * n.edge[f][i][0];
    return sum + (b.bound[f][1] * n.edge[e][1][i] - b.bound[f][0] * n.edge[e][0][i]);
}

__device__ __forceinline__ void potential_and_gradient(const brick &b, const integrals &n,
                                                       double *out)
{
    out[0] = 0;
#pragma unroll
    for (int d = 0; d < 3; ++d) {
        double low = face_potential(b, n, d, 0), high = face_potential(b, n, d, 1);
        out[0] += 0.5 * (b.bound[d][1] * high - b.bound[d][0] * low);
        out[1 + d] = low - high;
    }
}

/* xx yy zz xy xz yz */
__device__ __forceinline__ void second_derivatives(const brick &b, const integrals &n, double *out)
{
#pragma unroll
    for (int a = 0; a < 3; ++a) {
        bool undefined = n.on_edge[(a + 1) % 3] || n.on_edge[(a + 2) % 3];
        double high = b.bound[a][1] > 0 ? -n.angle[a][1] : n.angle[a][1];
        double low = b.bound[a][0] < 0 ? -n.angle[a][0] : n.angle[a][0];
        out[a] = undefined ? nan("") : high + low;
        double mixed = n.edge[a][1][1] - n.edge[a][1][0] - n.edge[a][0][1] + n.edge[a][0][0];
        out[5 - a] = n.on_edge[a] ? nan("") : mixed;
    }
}

/* Numbers that a kind takes: V, g at 0 .. 3, T at 4 .. 9. */
template <int kind> __device__ __forceinline__ void closed_form(const brick &b, double *numbers)
{
    integrals n;
    integrate(b, &n);
    if constexpr (kind != PS_PRISM_MAGNETIC) potential_and_gradient(b, n, numbers);
    if constexpr (kind != PS_PRISM_GRAVITY) second_derivatives(b, n, numbers + 4);
}

template <int kind>
__device__ __forceinline__ void add_point(const double d[3], double mass, double *numbers)
{
    double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2], inverse = 1 / sqrt(square);
    double potential = mass * inverse, cube = potential * inverse * inverse;
    if constexpr (kind != PS_PRISM_MAGNETIC) {
        numbers[0] += potential;
#pragma unroll
        for (int a = 0; a < 3; ++a) numbers[1 + a] += cube * d[a];
    }
    if constexpr (kind != PS_PRISM_GRAVITY) {
        double fifth = 3 * cube * inverse * inverse;
#pragma unroll
        for (int a = 0; a < 3; ++a) numbers[4 + a] += fifth * d[a] * d[a] - cube;
        numbers[7] += fifth * d[0] * d[1];
        numbers[8] += fifth * d[0] * d[2];
        numbers[9] += fifth * d[1] * d[2];
    }
}

/* Gauss's rule with 2 or 3 points along each axis, added. */
template <int kind>
__device__ __noinline__ void add_gauss(const brick &b, int points, double *numbers)
{
    const double at = points == 2 ? .57735026918962576451 : .77459666924148337704;
    const double outer = points == 2 ? .5 : 5. / 18;
    double volume = b.side[0] * b.side[1] * b.side[2];
    for (int c = 0; c < points * points * points; ++c) {
        double d[3], share = volume;
        int rest = c;
        for (int k = 0; k < 3; ++k) {
            int i = rest % points;
            bool middle = points == 3 && i == 1;
            double x = middle ? 0 : i == 0 ? -at : at;
            d[k] = b.bound[k][0] + (0.5 + 0.5 * x) * b.side[k];
            share *= middle ? 8. / 18 : outer;
            rest /= points;
        }
        add_point<kind>(d, share, numbers);
    }
}

enum manner { CLOSED, GAUSS_2, GAUSS_3, HALVE };
__device__ __forceinline__ manner manner_of(const brick &b)
{
    double farthest = 0, most = fmax(fmax(b.side[0], b.side[1]), b.side[2]);
#pragma unroll
    for (int d = 0; d < 3; ++d) {
        double x = fmax(fabs(b.bound[d][0]), fabs(b.bound[d][1]));
        farthest += x * x;
    }
    double longest = most * most;
    double rest = fmin(fmin(b.side[0] * b.side[1], b.side[1] * b.side[2]), b.side[2] * b.side[0]);
    if (farthest > 1e4 * longest) return GAUSS_2;
    if (farthest * EPSILON <= PS_PRISM_LOSS * rest) return CLOSED;
    return farthest > 400 * longest ? GAUSS_3 : HALVE;
}

/* Halves across the longest side, lower ones first, a stack of what was cut; added. A cut is not
 * led through the station, which would lie on an edge that is none. */
template <int kind> __device__ __noinline__ void add_halves(brick b, double *numbers)
{
    enum { DEPTH = 96 };
    struct cut {
        double middle, high, rest; /* of the whole: its upper bound, the upper half's side */
        double low, side;
        int8_t axis, upper;
    } cuts[DEPTH];
    int depth = 0;
    for (;;) {
        manner m = manner_of(b);
        if (m == HALVE && depth < DEPTH) {
            int axis = b.side[1] > b.side[0] ? 1 : 0;
            if (b.side[2] > b.side[axis]) axis = 2;
            double side = b.side[axis], half = 0.5 * side, middle = b.bound[axis][0] + half;
            if (fabs(middle) < 1e-3 * side) {
                half = 0.4375 * side;
                middle = b.bound[axis][0] + half;
            }
            cuts[depth++] = {
                middle, b.bound[axis][1], side - half, b.bound[axis][0], side, (int8_t)axis, 0};
            b.bound[axis][1] = middle;
            b.side[axis] = half;
            continue;
        }
        if (m == GAUSS_2 || m == GAUSS_3) {
            add_gauss<kind>(b, m == GAUSS_2 ? 2 : 3, numbers);
        } else {
            double some[PS_PRISM_NUMBERS];
            closed_form<kind>(b, some);
            for (int k = kind == PS_PRISM_MAGNETIC ? 4 : 0; k < (kind ? PS_PRISM_NUMBERS : 4); ++k)
                numbers[k] += some[k];
        }
        /* Back to a cut whose upper half is left. */
        while (depth > 0 && cuts[depth - 1].upper) {
            const cut &c = cuts[--depth];
            b.bound[c.axis][0] = c.low;
            b.bound[c.axis][1] = c.high;
            b.side[c.axis] = c.side;
        }
        if (depth == 0) return;
        cut &c = cuts[depth - 1];
        c.upper = 1;
        b.bound[c.axis][0] = c.middle;
        b.bound[c.axis][1] = c.high;
        b.side[c.axis] = c.rest;
    }
}

/* The numbers of a prism: [10], of which those of the kind are set. */
template <int kind> __device__ __forceinline__ void numbers_of(const brick &b, double *numbers)
{
    manner m = manner_of(b);
    if (m == CLOSED) {
        closed_form<kind>(b, numbers);
        return;
    }
#pragma unroll
    for (int k = 0; k < PS_PRISM_NUMBERS; ++k) numbers[k] = 0;
    if (m == GAUSS_2)
        add_gauss<kind>(b, 2, numbers);
    else
        add_halves<kind>(b, numbers);
}

/* T m */
__device__ __forceinline__ void times(const double *t, const double m[3], double out[3])
{
    out[0] = t[0] * m[0] + t[3] * m[1] + t[4] * m[2];
    out[1] = t[3] * m[0] + t[1] * m[1] + t[5] * m[2];
    out[2] = t[4] * m[0] + t[5] * m[1] + t[2] * m[2];
}

/* Adds to out[numbers of the kind] the field of a prism of weight[1 or 3]. */
template <int kind>
__device__ __forceinline__ void add_field(const brick &b, const double *weight, double *out)
{
    double numbers[PS_PRISM_NUMBERS];
    numbers_of<kind>(b, numbers);
    if constexpr (kind == PS_PRISM_MAGNETIC) {
        double product[3];
        times(numbers + 4, weight, product);
#pragma unroll
        for (int k = 0; k < 3; ++k) out[k] += product[k];
    } else {
#pragma unroll
        for (int k = 0; k < (kind == PS_PRISM_GRAVITY ? 4 : 10); ++k)
            out[k] += weight[0] * numbers[k];
    }
}

/* Adds to out[1 or 3] its transpose applied to data[numbers of the kind]. */
template <int kind>
__device__ __forceinline__ void add_transposed(const brick &b, const double *data, double *out)
{
    double numbers[PS_PRISM_NUMBERS];
    numbers_of<kind>(b, numbers);
    if constexpr (kind == PS_PRISM_MAGNETIC) {
        double product[3];
        times(numbers + 4, data, product);
#pragma unroll
        for (int k = 0; k < 3; ++k) out[k] += product[k];
    } else {
        double sum = 0;
#pragma unroll
        for (int k = 0; k < (kind == PS_PRISM_GRAVITY ? 4 : 10); ++k) sum += data[k] * numbers[k];
        out[0] += sum;
    }
}

} // namespace ps_prism

#endif
#endif
