/*
 * Part of the *_cuda.cu files of hbem, inside a namespace: real and complex numbers, the kernels of
 * pair_integrals.h at a pair of points, and sums over a block of threads.
 */
#ifndef PS_KERNELS_HBEM_DEVICE_NUMBER_BODY_H
#define PS_KERNELS_HBEM_DEVICE_NUMBER_BODY_H

enum { WARP = 32, WARPS_MAX = 16 };
constexpr unsigned ALL = 0xffffffffu;
#define PS_INLINE __device__ __forceinline__

/* What kernels are of, the constant `wave` everywhere: Laplace's, waves, and waves in a medium that
 * absorbs, whose wave number is k + i loss. */
enum { STILL, WAVES, DAMPED, MODES };

__host__ __device__ constexpr int parts_of(int wave) { return wave == STILL ? 1 : 2; }

/* Of an operator or a launch. */
template <class medium> int mode_of(const medium &of)
{
    return of.absorption > 0 ? DAMPED : of.wavenumber != 0 ? WAVES : STILL;
}

template <typename real> struct wave_number {
    real k, loss;
};

/* ---- numbers of one part or two ---- */

template <typename real, int parts> struct number {
    real part[parts];
};

template <typename real, int parts> PS_INLINE number<real, parts> zero_number()
{
    number<real, parts> a;
    for (int p = 0; p < parts; ++p) a.part[p] = 0;
    return a;
}

/* Element i of a vector whose parts are `stride` apart. */
template <int parts, typename real>
PS_INLINE number<real, parts> load(const real *vector, int64_t stride, int64_t i)
{
    number<real, parts> a;
    for (int p = 0; p < parts; ++p) a.part[p] = vector[p * stride + i];
    return a;
}

template <int parts, typename real>
PS_INLINE void store(real *vector, int64_t stride, int64_t i, const number<real, parts> &a)
{
    for (int p = 0; p < parts; ++p) vector[p * stride + i] = a.part[p];
}

template <typename real, int parts> PS_INLINE real square(const number<real, parts> &a)
{
    real sum = a.part[0] * a.part[0];
    if constexpr (parts == 2) sum += a.part[1] * a.part[1];
    return sum;
}

template <typename real, int parts>
PS_INLINE number<real, parts> product(const number<real, parts> &a, const number<real, parts> &b)
{
    number<real, parts> c;
    c.part[0] = a.part[0] * b.part[0];
    if constexpr (parts == 2) {
        c.part[0] -= a.part[1] * b.part[1];
        c.part[1] = a.part[0] * b.part[1] + a.part[1] * b.part[0];
    }
    return c;
}

/* a += b c */
template <typename real, int parts>
PS_INLINE void add_product(number<real, parts> &a, const number<real, parts> &b,
                           const number<real, parts> &c)
{
    a.part[0] += b.part[0] * c.part[0];
    if constexpr (parts == 2) {
        a.part[0] -= b.part[1] * c.part[1];
        a.part[1] += b.part[0] * c.part[1];
        a.part[1] += b.part[1] * c.part[0];
    }
}

/* a -= b c */
template <typename real, int parts>
PS_INLINE void subtract_product(number<real, parts> &a, const number<real, parts> &b,
                                const number<real, parts> &c)
{
    a.part[0] -= b.part[0] * c.part[0];
    if constexpr (parts == 2) {
        a.part[0] += b.part[1] * c.part[1];
        a.part[1] -= b.part[0] * c.part[1];
        a.part[1] -= b.part[1] * c.part[0];
    }
}

template <typename real, int parts>
PS_INLINE number<real, parts> conjugate(const number<real, parts> &a)
{
    number<real, parts> b = a;
    if constexpr (parts == 2) b.part[1] = -b.part[1];
    return b;
}

template <typename real, int parts> PS_INLINE number<real, parts> inverse(number<real, parts> a)
{
    real s = 1 / square(a);
    number<real, parts> b = conjugate(a);
    for (int p = 0; p < parts; ++p) b.part[p] *= s;
    return b;
}

template <typename real, int parts>
PS_INLINE number<double, parts> widen(const number<real, parts> &a)
{
    number<double, parts> b;
    for (int p = 0; p < parts; ++p) b.part[p] = a.part[p];
    return b;
}

/* ---- kernels ---- */

/* 1 / sqrt(a) of normal numbers. */
PS_INLINE float reciprocal_root(float a)
{
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(a));
    return y;
}

/* One step of third order from the device's estimate: errors e of 1e-6 become 5/16 e^3. */
PS_INLINE double reciprocal_root(double a)
{
    double y;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(a));
    double e = fma(-a * y, y, 1.);
    return fma(y * e, fma(.375, e, .5), y);
}

/* Two-term reduction to a turn: 6.28125 times a number of turns below 2^15 is exact. Adding
 * 1.5 2^23 rounds to an integer. */
PS_INLINE void sine_cosine(float x, float *sine, float *cosine)
{
    float turns = fmaf(x, .15915494309f, 12582912.f) - 12582912.f;
    float r = fmaf(-turns, 6.28125f, x);
    __sincosf(fmaf(-turns, 1.9353071795864769e-3f, r), sine, cosine);
}

/* Of |x| < 2^20: reduction to an eighth of a turn with pi/2 in two terms, and the polynomials of
 * fdlibm's k_sin.c and k_cos.c; to 2e-16. */
PS_INLINE void sine_cosine(double x, double *sine, double *cosine)
{
    double shifted = fma(x, .63661977236758138, 6755399441055744.);
    double quarters = shifted - 6755399441055744.;
    double r = fma(-quarters, 6.123233995736766e-17, fma(-quarters, 1.5707963267948966, x));
    double s = r * r, a = 1.58969099521155010221e-10, b = -1.13596475577881948265e-11;
    a = fma(a, s, -2.50507602534068634195e-08);
    b = fma(b, s, 2.08757232129817482790e-09);
    a = fma(a, s, 2.75573137070700676789e-06);
    b = fma(b, s, -2.75573143513906633035e-07);
    a = fma(a, s, -1.98412698298579493134e-04);
    b = fma(b, s, 2.48015872894767294178e-05);
    a = fma(a, s, 8.33333333332248946124e-03);
    b = fma(b, s, -1.38888888888741095749e-03);
    a = fma(a, s, -1.66666666666666324348e-01);
    b = fma(b, s, 4.16666666666666019037e-02);
    a = fma(r * s, a, r);
    b = fma(s, fma(s, b, -.5), 1.);
    const int quarter = __double2loint(shifted);
    double p = quarter & 1 ? b : a, q = quarter & 1 ? a : b;
    *sine = quarter & 2 ? -p : p;
    *cosine = (quarter + 1) & 2 ? -q : q;
}

/* e^{-x}, x >= 0. */
PS_INLINE float decay(float x) { return __expf(-x); }

/* 2^-n e^{-r}, |r| <= ln(2)/2, and the exponential series to rounding. */
PS_INLINE double decay(double x)
{
    constexpr double terms[] = {1. / 39916800, 1. / 3628800, 1. / 362880, 1. / 40320,
                                1. / 5040,     1. / 720,     1. / 120,    1. / 24,
                                1. / 6,        1. / 2,       1.,          1.};
    x = fmin(x, 690.);
    const double shifted = fma(x, 1.44269504088896340736, 6755399441055744.);
    const double n = shifted - 6755399441055744.;
    const double r = fma(n, 1.90821492927058770002e-10, fma(n, 6.93147180369123816490e-01, -x));
    double sum = 1. / 479001600;
#pragma unroll
    for (double term : terms) sum = fma(sum, r, term);
    return sum * __hiloint2double((1023 - __double2loint(shifted)) << 20, 0);
}

/* k^2 */
template <int wave, typename real>
PS_INLINE number<real, parts_of(wave)> squared(const wave_number<real> &k)
{
    number<real, parts_of(wave)> out = zero_number<real, parts_of(wave)>();
    out.part[0] = k.k * k.k;
    if constexpr (wave == DAMPED) {
        out.part[0] -= k.loss * k.loss;
        out.part[1] = 2 * k.k * k.loss;
    }
    return out;
}

__host__ __device__ constexpr int exchanged(int kernel)
{
    return kernel == PS_KERNEL_DLP    ? PS_KERNEL_ADLP
           : kernel == PS_KERNEL_ADLP ? PS_KERNEL_DLP
                                      : kernel;
}

/* 4 pi K for d = x - y. */
template <int kernel, int wave, typename real>
PS_INLINE number<real, parts_of(wave)> kernel_at(const real d[3], const real nx[3],
                                                 const real ny[3], wave_number<real> k)
{
    number<real, parts_of(wave)> out;
    real square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    real inverse = reciprocal_root(square), sine = 0, cosine = 1, phase = 0, fall = 0;
    if constexpr (wave != 0) {
        phase = k.k * (square * inverse);
        sine_cosine(phase, &sine, &cosine);
    }
    if constexpr (wave == DAMPED) {
        fall = k.loss * (square * inverse);
        const real rest = decay(fall);
        sine *= rest;
        cosine *= rest;
    }
    if constexpr (kernel == PS_KERNEL_SLP) {
        out.part[0] = wave ? inverse * cosine : inverse;
        if constexpr (wave != 0) out.part[1] = inverse * sine;
        return out;
    }
    real a = inverse * inverse, cube = inverse * a, dx = 0, dy = 0, p, q = 0;
    if (kernel != PS_KERNEL_DLP) dx = d[0] * nx[0] + d[1] * nx[1] + d[2] * nx[2];
    if (kernel != PS_KERNEL_ADLP) dy = d[0] * ny[0] + d[1] * ny[1] + d[2] * ny[2];
    if (kernel == PS_KERNEL_HYPS) {
        real b = nx[0] * ny[0] + nx[1] * ny[1] + nx[2] * ny[2];
        real m = dx * dy * a, m3 = 3 * m - b;
        p = wave ? m3 - phase * phase * m : m3;
        q = -phase * m3;
        if constexpr (wave == DAMPED) {
            p += fall * (m3 + fall * m);
            q -= 2 * phase * fall * m;
        }
    } else {
        p = kernel == PS_KERNEL_DLP ? dy : -dx;
        q = -phase * p;
        if constexpr (wave == DAMPED) p += fall * p;
    }
    out.part[0] = wave ? cube * (cosine * p - sine * q) : cube * p;
    if constexpr (wave != 0) out.part[1] = cube * (sine * p + cosine * q);
    return out;
}

/* ---- triangles ---- */

/* A triangle relative to an origin. */
template <typename real> struct place {
    real corner[3][3], normal[3], jacobian;
};

template <typename real>
PS_INLINE void place_at(const ps_hbem_triangle *t, const double origin[3], place<real> *out)
{
    for (int l = 0; l < 3; ++l)
        for (int c = 0; c < 3; ++c) out->corner[l][c] = (real)(t->corner[l][c] - origin[c]);
    for (int c = 0; c < 3; ++c) out->normal[c] = (real)t->normal[c];
    out->jacobian = (real)t->jacobian;
}

/* The point of hats h. */
template <typename real> PS_INLINE void point_at(const place<real> &t, const real *h, real out[3])
{
    for (int c = 0; c < 3; ++c)
        out[c] = h[0] * t.corner[0][c] + h[1] * t.corner[1][c] + h[2] * t.corner[2][c];
}

/* ---- over the threads of a block ---- */

template <typename type> PS_INLINE type warp_sum(type a)
{
    for (int o = WARP / 2; o > 0; o /= 2) a += __shfl_xor_sync(ALL, a, o);
    return a;
}

/* scratch[WARPS_MAX]; all threads get the sum. */
template <typename type> PS_INLINE type block_sum(type a, type *scratch)
{
    a = warp_sum(a);
    if (threadIdx.x % WARP == 0) scratch[threadIdx.x / WARP] = a;
    __syncthreads();
    type sum = 0;
    for (int w = 0; w < (int)blockDim.x / WARP; ++w) sum += scratch[w];
    __syncthreads();
    return sum;
}

PS_INLINE int block_least(int a, int *scratch)
{
    for (int o = WARP / 2; o > 0; o /= 2) a = min(a, __shfl_xor_sync(ALL, a, o));
    if (threadIdx.x % WARP == 0) scratch[threadIdx.x / WARP] = a;
    __syncthreads();
    for (int w = 0; w < (int)blockDim.x / WARP; ++w) a = min(a, scratch[w]);
    __syncthreads();
    return a;
}

#endif
