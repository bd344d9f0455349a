/*
 * Part of pair_integrals_cpu.c and potentials_cpu.c, once per precision: vectors of `real`, their
 * reciprocal root, sine and cosine, and the kernels. `real`, `integer` (of its size), `N(name)`,
 * `SINGLE` (0, 1) and `ROOT` are defined.
 */
#ifndef SHORT_PHASE
#define SHORT_PHASE 1.5 /* rad: below it phases need no reduction */
#endif
typedef real N(lanes) __attribute__((vector_size(64)));
typedef integer N(bits) __attribute__((vector_size(64)));

/* 1/sqrt(a), a > 0 normal: 14 bits, then Newton's step (fp32) or one of fourth order. */
INLINE void N(reciprocal_root)(const N(lanes) * a, N(lanes) * out)
{
#if defined(__AVX512F__) && SINGLE
    N(lanes) y = (N(lanes))_mm512_rsqrt14_ps((__m512)*a);
    *out = y + ((real).5 * y) * (1 - *a * y * y);
#elif defined(__AVX512F__)
    N(lanes) y = (N(lanes))_mm512_rsqrt14_pd((__m512d)*a);
    N(lanes) e = 1 - *a * y * y;
    *out = y + y * (e * (.5 + e * (.375 + e * .3125)));
#else
    for (int i = 0; i < (int)(sizeof *a / sizeof(real)); ++i) (*out)[i] = 1 / ROOT((*a)[i]);
#endif
}

/* a^(-3/2), as above: the root's and the cube's series in one. */
INLINE void N(reciprocal_cube)(const N(lanes) * a, N(lanes) * out)
{
#if defined(__AVX512F__) && SINGLE
    N(lanes) y = (N(lanes))_mm512_rsqrt14_ps((__m512)*a), square = y * y;
    *out = (square * y) * (1 + (real)1.5 * (1 - *a * square));
#elif defined(__AVX512F__)
    N(lanes) y = (N(lanes))_mm512_rsqrt14_pd((__m512d)*a), square = y * y;
    N(lanes) e = 1 - *a * square;
    *out = (square * y) * (1 + e * (1.5 + e * (1.875 + e * 2.1875)));
#else
    N(lanes) y;
    N(reciprocal_root)(a, &y);
    *out = y * y * y;
#endif
}

/* x = q pi/2 + r, |r| <= pi/4; q from the low bits of x 2/pi + magic, of either sign. */
INLINE void N(sine_cosine)(const N(lanes) * x, N(lanes) * sine, N(lanes) * cosine)
{
#if SINGLE
    const real magic = 12582912.f, p1 = 1.5703125f, p2 = 4.837512969970703125e-4f,
               p3 = 7.54978995489188e-8f;
#else
    const real magic = 6755399441055744., p1 = 1.57079632673412561417e+00,
               p2 = 6.07710050630396597660e-11, p3 = 2.02226624879595063154e-21;
#endif
    N(lanes) t = *x * (real)0.63661977236758134308 + magic;
    N(lanes) n = t - magic;
    N(lanes) r = ((*x - n * p1) - n * p2) - n * p3;
    N(lanes) z = r * r;
#if SINGLE
    N(lanes) s = r + r * z * (-1.6666654611e-1f + z * (8.3321608736e-3f - z * 1.9515295891e-4f));
    N(lanes)
    c = 1 - z * .5f +
        z * z * (4.166664568298827e-2f + z * (-1.388731625493765e-3f + z * 2.443315711809948e-5f));
#else
    N(lanes) s = -2.50507602534068634195e-08 + z * 1.58969099521155010221e-10;
    s = 8.33333333332248946124e-03 +
        z * (-1.98412698298579493134e-04 + z * (2.75573137070700676789e-06 + z * s));
    s = r + r * z * (-1.66666666666666324348e-01 + z * s);
    N(lanes) c = 2.08757232129817482790e-09 - z * 1.13596475577881948265e-11;
    c = -1.38888888888741095749e-03 +
        z * (2.48015872894767294178e-05 + z * (-2.75573143513906633035e-07 + z * c));
    c = 1 - z * .5 + z * z * (4.16666666666666019037e-02 + z * c);
#endif
    N(bits) q = (N(bits))t, swap = -(q & 1);
    const int top = 8 * (int)sizeof(real) - 2;
    N(bits) sb = ((N(bits))s & ~swap) | ((N(bits))c & swap);
    N(bits) cb = ((N(bits))c & ~swap) | ((N(bits))s & swap);
    *sine = (N(lanes))(sb ^ ((q & 2) << top));
    *cosine = (N(lanes))(cb ^ (((q + 1) & 2) << top));
}

/* The same for |x| <= SHORT_PHASE: polynomials in x^2 at Chebyshev points of [0, SHORT_PHASE^2],
 * 1e-15 (fp32: 3e-8) of the functions. */
INLINE void N(short_sine_cosine)(const N(lanes) * x, N(lanes) * sine, N(lanes) * cosine)
{
    N(lanes) z = *x * *x;
#if SINGLE
    N(lanes) s = -1.98143704e-4f + z * 2.61806942e-6f, c = -1.38594656e-3f + z * 2.32937176e-5f;
    s = -.166666606f + z * (8.33311791e-3f + z * s);
    c = -.499999339f + z * (4.16643117e-2f + z * c);
    *sine = *x * (.999999997f + z * s);
    *cosine = .99999997f + z * c;
#else
    N(lanes) s = 1.6049982236014743725e-10 + z * -7.3980474476542766308e-13;
    N(lanes) c = 2.0861389818272932534e-9 + z * -1.1048023194067751186e-11;
    s = 2.7557317411550693641e-6 + z * (-2.5051936296248965498e-8 + z * s);
    c = 2.4801584229382101299e-5 + z * (-2.7557027471733473053e-7 + z * c);
    s = 8.3333333333041786144e-3 + z * (-1.9841269830898415451e-4 + z * s);
    c = 4.1666666666172553796e-2 + z * (-1.3888888871310376881e-3 + z * c);
    *sine = *x * (.99999999999999994511 + z * (-.16666666666666354377 + z * s));
    *cosine = .99999999999999906973 + z * (-.49999999999994707492 + z * c);
#endif
}

/* e^{-x}, x >= 0: 2^-n e^{-r}, |r| <= ln(2)/2, and the exponential series to rounding. Beyond 690
 * (fp32: 86) it stays what it is there. */
INLINE void N(decay)(const N(lanes) * x, N(lanes) * out)
{
#if SINGLE
    const real magic = 12582912.f, high = .693359375f, low = -2.12194440e-4f, top = 86.f;
    const int terms = 7, bias = 127, shift = 23;
#else
    const real magic = 6755399441055744., high = 6.93147180369123816490e-01,
               low = 1.90821492927058770002e-10, top = 690.;
    const int terms = 12, bias = 1023, shift = 52;
#endif
    N(bits) below = (N(bits))(*x < top);
    N(lanes) limit = top - (N(lanes)){0};
    N(lanes) a = (N(lanes))(((N(bits)) * x & below) | ((N(bits))limit & ~below));
    N(lanes) n = (a * (real)1.44269504088896340736 + magic) - magic;
    N(lanes) r = (a - n * high) - n * low, sum = 1 - (N(lanes)){0};
    for (int i = terms; i > 0; --i) sum = 1 - sum * r * (real)(1. / i);
    N(bits) exponent = (bias - __builtin_convertvector(n, N(bits))) << shift;
    *out = sum * (N(lanes))exponent;
}

/* Waves: e^{ikr} itself or, with `near`, e^{i(kr - phase)}, |kr - phase| <= SHORT_PHASE, sums of
 * which are turned by e^{i phase} afterwards; with `damped` k has the imaginary part `loss` > 0,
 * rad/m. `wave`, `near` and `damped` are constants. */
typedef struct N(waves) {
    int wave, near, damped;
    real k, loss;
    N(lanes) phase, sine, cosine; /* of the phase */
} N(waves);

INLINE N(lanes) N(dot)(const N(lanes) a[3], const N(lanes) b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* a = max(a, b), lane by lane. */
INLINE void N(raise)(N(lanes) * a, const N(lanes) * b)
{
    N(bits) keep = (N(bits))(*a > *b);
    *a = (N(lanes))(((N(bits)) * a & keep) | ((N(bits)) * b & ~keep));
}

INLINE void N(set_phase)(N(waves) * w, const N(lanes) * phase)
{
    w->phase = *phase;
    N(sine_cosine)(phase, &w->sine, &w->cosine);
}

INLINE void N(turn)(const N(waves) * w, N(lanes) * straight, N(lanes) * across)
{
    N(lanes) a = *straight, b = *across;
    *straight = a * w->cosine - b * w->sine;
    *across = a * w->sine + b * w->cosine;
}

/* The factors of a kernel that are not the distance's, times any coefficient: main is 1 (SLP),
 * (x - y).n_y (DLP), -(x - y).n_x (ADLP), 3 (x - y).n_x (x - y).n_y (HYPS); product is n_x.n_y
 * (HYPS). */
typedef struct N(factors) {
    N(lanes) main, product;
} N(factors);

/* 4 pi K for d = x - y: value[0] and, for waves, value[1]. Constant `kernel`. */
INLINE void N(kernel)(int kernel, const N(waves) * w, const N(lanes) d[3], const N(factors) * f,
                      N(lanes) value[2])
{
    N(lanes) square = N(dot)(d, d), inverse, cube, sine, cosine;
    if (!w->wave && (kernel == PS_KERNEL_DLP || kernel == PS_KERNEL_ADLP)) {
        N(reciprocal_cube)(&square, &cube);
        value[0] = f->main * cube;
        return;
    }
    N(reciprocal_root)(&square, &inverse);
    if (w->wave) {
        N(lanes) phase = w->k * (square * inverse);
        if (w->near) phase -= w->phase;
        if (w->near)
            N(short_sine_cosine)(&phase, &sine, &cosine);
        else
            N(sine_cosine)(&phase, &sine, &cosine);
    }
    if (w->damped) {
        N(lanes) far = w->loss * (square * inverse), rest;
        N(decay)(&far, &rest);
        sine *= rest;
        cosine *= rest;
    }
    if (kernel == PS_KERNEL_SLP) {
        N(lanes) a = f->main * inverse;
        value[0] = w->wave ? a * cosine : a;
        if (w->wave) value[1] = a * sine;
        return;
    }
    /* e^{ikr} / r^3 (p - ikr q) */
    N(lanes) a = inverse * inverse, q = f->main, p = q;
    cube = inverse * a;
    if (kernel == PS_KERNEL_HYPS) {
        q = f->main * a - f->product;
        p = w->wave ? q - (w->k * w->k / 3) * f->main : q;
        if (w->damped) p += (w->loss * w->loss / 3) * f->main;
    }
    N(lanes) straight = p * cube, across = q * (w->k * a);
    if (w->damped) straight += q * (w->loss * a);
    if (w->damped && kernel == PS_KERNEL_HYPS)
        across += (2 * w->k * w->loss / 3) * f->main * cube;
    value[0] = w->wave ? straight * cosine + across * sine : straight;
    if (w->wave) value[1] = straight * sine - across * cosine;
}
