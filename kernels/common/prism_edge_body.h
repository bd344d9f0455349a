/*
 * The integrals of prism_field.h over edges and faces, a vector of prisms at a time: a part of
 * prism_field_cpu.c, behind lanes_body.h. Each is a difference that is formed before anything is
 * rounded that matters:
 *
 *     ln((b2 + r2)/(b1 + r1)) = ln(1 + 2 L / ((r2 - b2) + (r1 + b1))),   r - b = rho^2 / (r + b)
 *     b2 r1 - b1 r2 = rho^2 L |b1 + b2| / (|b2| r1 + |b1| r2)            for b1, b2 of one sign
 *
 * L the length, rho the distance of the edge's line.
 */

typedef uint64_t vunsigned __attribute__((vector_size(LANE_BYTES)));

#define PS_PRISM_EPSILON 4e-16 /* of the closed form's sums, measured: tests/kernels/common */

KERNEL_INLINE vreal v_select(vinteger mask, vreal a, vreal b)
{
    return (vreal)(((vinteger)a & mask) | ((vinteger)b & ~mask));
}
KERNEL_INLINE vreal v_absolute(vreal x) { return (vreal)((vinteger)x & INT64_MAX); }
KERNEL_INLINE bool v_any(vinteger mask)
{
    int64_t any = 0;
    for (int i = 0; i < LANES; ++i) any |= mask[i];
    return any != 0;
}
KERNEL_INLINE bool v_all(vinteger mask) { return !v_any(~mask); }

KERNEL_INLINE vreal v_root(vreal x)
{
#if defined(__AVX512F__)
    return _mm512_sqrt_pd(x);
#elif defined(__AVX__)
    return _mm256_sqrt_pd(x);
#elif defined(__x86_64__)
    return _mm_sqrt_pd(x);
#else
    for (int i = 0; i < LANES; ++i) x[i] = sqrt(x[i]);
    return x;
#endif
}

/* sum u^k / (2 k + 1), |u| <= 0.04: atanh(f) = f S(f^2), atan(f) = f S(-f^2). */
KERNEL_INLINE vreal odd_series(vreal u)
{
    enum { TERMS = 12 };
    vreal sum = v_of(1. / (2 * TERMS - 1));
#pragma GCC unroll 12
    for (int k = TERMS - 2; k >= 0; --k) sum = sum * u + 1. / (2 * k + 1);
    return sum;
}

/* ln(1 + a / b), a >= 0, b > 0, to rounding whatever the quotient: 2 atanh(a / (a + 2 b)) with b
 * times the power of two that brings it nearest to a + b. */
KERNEL_INLINE vreal log_ratio(vreal a, vreal b)
{
    const double ln2 = 0.69314718055994530942;
    vreal sum = a + b;
    vunsigned power = ((vunsigned)sum - (vunsigned)b + ((uint64_t)1 << 51)) >> 52;
    vreal times = (vreal)(power | 0x4330000000000000u) - 0x1p52;
    vreal scaled = (vreal)((vunsigned)b + (power << 52));
    vreal f = v_select(power == 0, a, sum - scaled) / (sum + scaled);
    return times * ln2 + 2 * f * odd_series(f * f);
}

/* The angle of (x, y), -pi .. pi; 0 of (0, 0). */
KERNEL_INLINE vreal angle_of(vreal x, vreal y)
{
    const double tan_16 = 0.19891236737965800691, tan_3_16 = 0.66817863791929891999,
                 tan_8 = 0.41421356237309504880, pi = 3.14159265358979323846;
    vreal width = v_absolute(x), height = v_absolute(y), zero = v_of(0);
    vinteger steep = height > width;
    vreal n = v_select(steep, width, height), d = v_select(steep, height, width);
    d = v_select(d == 0, v_of(1), d);
    vinteger second = n > tan_16 * d, third = n > tan_3_16 * d;
    vreal c = v_select(third, v_of(1), v_select(second, v_of(tan_8), zero));
    vreal base = v_select(third, v_of(pi / 4), v_select(second, v_of(pi / 8), zero));
    vreal f = (n - c * d) / (d + c * n), angle = base + f * odd_series(-f * f);
    angle = v_select(steep, pi / 2 - angle, angle);
    angle = v_select(x < 0, pi - angle, angle);
    return v_select(y < 0, -angle, angle);
}

/* An edge: its ends along its own axis less the station, their distances, rho^2. */
typedef struct line {
    vreal side, low, high, near, far, square; /* near: distance of the lower end */
    vinteger mixed;                           /* low < 0 < high                  */
} line;

/* 0 where the station is on the edge: what it is multiplied with in V and g is 0 there. */
KERNEL_INLINE vreal edge_logarithm(const line *l)
{
    vreal upper = l->far + v_absolute(l->high), lower = l->near + v_absolute(l->low);
    vreal product = upper * lower;
    vreal one = v_select(l->low >= 0, upper, lower);
    vreal a = 2 * l->side * v_select(l->mixed, product, one);
    vreal b = v_select(l->mixed, l->square * (upper + lower), l->square + product);
    vinteger on = b == 0;
    return log_ratio(v_select(on, v_of(0), a), v_select(on, v_of(1), b));
}

/* A positive multiple of exp(i (atan(e2) - atan(e1))), e = y b / (|x| r) at the ends of the edge: x
 * is the distance of the face's plane, y that of the edge within it. */
KERNEL_INLINE void face_turn(const line *l, vreal x, vreal x_square, vreal y, vreal y_square,
                             vreal out[2])
{
    vreal weight = v_absolute(l->high) * l->near + v_absolute(l->low) * l->far;
    vreal along = x_square * (l->near * l->far) + y_square * (l->low * l->high);
    vreal same = l->square * l->side * v_absolute(l->low + l->high);
    out[0] = along * v_select(l->mixed, v_of(1), weight);
    out[1] = v_absolute(x) * y * v_select(l->mixed, weight, same);
}

/* The solid angle between two edges of a face; above: the station's foot is inside of the face,
 * where the angle may exceed pi. */
KERNEL_INLINE vreal solid_angle(const vreal upper[2], const vreal lower[2], vinteger above, vreal x)
{
    const double two_pi = 6.28318530717958647693;
    vreal re = upper[0] * lower[0] + upper[1] * lower[1];
    vreal im = upper[1] * lower[0] - upper[0] * lower[1];
    vreal angle = angle_of(re, im);
    return angle + v_keep(above & ((im < 0) | (x == 0)), v_of(two_pi));
}
