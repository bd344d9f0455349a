/*
 * Part of pair_integrals_cpu.c, once per precision: vectors of `real`, their reciprocal root, sine
 * and cosine, and the kernels. `real`, `integer` (of its size), `N(name)` and `SINGLE` (0, 1) are
 * defined.
 */
typedef real N(lanes) __attribute__((vector_size(64)));
typedef integer N(bits) __attribute__((vector_size(64)));

/* 1/sqrt(a), a > 0 normal. fp64: 14 bits, then a step of fourth order. */
INLINE void N(reciprocal_root)(const N(lanes) * a, N(lanes) * out)
{
#if defined(__AVX512F__) && SINGLE
    N(lanes) y = (N(lanes))_mm512_rsqrt14_ps((__m512)*a);
    N(lanes) e = 1 - *a * y * y;
    *out = y + y * (e * ((real).5 + (real).375 * e));
#elif defined(__AVX512F__)
    N(lanes) y = (N(lanes))_mm512_rsqrt14_pd((__m512d)*a);
    N(lanes) e = 1 - *a * y * y;
    *out = y + y * (e * (.5 + e * (.375 + e * .3125)));
#else
    for (int i = 0; i < (int)(sizeof *a / sizeof(real)); ++i) (*out)[i] = 1 / ROOT((*a)[i]);
#endif
}

/* x = q pi/2 + r, |r| <= pi/4; q from the low bits of x 2/pi + magic, of either sign. */
INLINE void N(sine_cosine)(const N(lanes) *x, N(lanes) *sine, N(lanes) *cosine)
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

/* What the kernels take of normals: (x - y).n_x, (x - y).n_y, n_x.n_y; each where it is needed. */
typedef struct N(normals) {
    N(lanes) dx, dy, product;
} N(normals);

INLINE N(lanes) N(dot)(const N(lanes) a[3], const N(lanes) b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* 4 pi K for d = x - y: value[0] and, for waves, value[1]. Constant `kernel` and `wave`. */
INLINE void N(kernel)(int kernel, int wave, const N(lanes) d[3], const N(normals) * n, real k,
                      N(lanes) value[2])
{
    N(lanes) square = N(dot)(d, d), inverse;
    N(reciprocal_root)(&square, &inverse);
    N(lanes) a = inverse * inverse, sine, cosine, phase;
    if (wave) {
        phase = k * (square * inverse);
        N(sine_cosine)(&phase, &sine, &cosine);
    }
    if (kernel == PS_KERNEL_SLP) {
        value[0] = wave ? inverse * cosine : inverse;
        if (wave) value[1] = inverse * sine;
        return;
    }
    N(lanes) cube = inverse * a, p, q;
    if (kernel == PS_KERNEL_HYPS) {
        N(lanes) m = n->dx * n->dy * a, m3 = 3 * m - n->product;
        p = wave ? m3 - phase * phase * m : m3;
        if (wave) q = -phase * m3;
    } else {
        p = kernel == PS_KERNEL_DLP ? n->dy : -n->dx;
        if (wave) q = -phase * p;
    }
    value[0] = cube * (wave ? cosine * p - sine * q : p);
    if (wave) value[1] = cube * (sine * p + cosine * q);
}

/* Adds c K of the points of one flat triangle to sum[part]: (x - y).n_x is one number for all. */
INLINE void N(add_triangle)(const N(source) * source, int points, int kernel, int wave,
                            const N(lanes) y[3], const N(lanes) ny[3], real k, N(lanes) sum[2])
{
    N(normals) n;
    N(lanes) nx[3], d[3], value[2];
    for (int c = 0; c < 3; ++c) nx[c] = source->normal[c] - (N(lanes)){0};
    for (int c = 0; c < 3; ++c) d[c] = source->x[c] - y[c];
    n.dx = N(dot)(d, nx);
    n.product = N(dot)(nx, ny);
    for (int p = 0; p < points; ++p) {
        for (int c = 0; c < 3; ++c) d[c] = source[p].x[c] - y[c];
        if (kernel == PS_KERNEL_DLP || kernel == PS_KERNEL_HYPS) n.dy = N(dot)(d, ny);
        N(kernel)(kernel, wave, d, &n, k, value);
        for (int part = 0; part <= wave; ++part) sum[part] += source[p].coefficient * value[part];
    }
}

/* One block of lanes against all sources: the body of ps_hbem_row_function. */
INLINE void N(row_block)(const ps_hbem_row_job *job, int kernel, int wave, const N(lanes) * panel,
                         N(lanes) * sums)
{
    const N(source) *source = job->sources;
    N(lanes) total[2][3] = {{{0}}};
    int together = job->together > 0 ? job->together : 1;
    for (int q = 0; q < job->rule->count; ++q) {
        const double *hat = job->rule->hat[q];
        N(lanes) y[3], sum[2] = {{0}};
        for (int c = 0; c < 3; ++c)
            y[c] =
                (real)hat[0] * panel[c] + (real)hat[1] * panel[3 + c] + (real)hat[2] * panel[6 + c];
        for (int64_t s = 0; s < job->source_count; s += together)
            N(add_triangle)
            (source + s, together, kernel, wave, y, panel + 9, (real)job->wavenumber, sum);
        for (int part = 0; part <= wave; ++part)
            for (int m = 0; m < 3; ++m)
                total[part][m] += (real)(hat[m] * job->rule->weight[q]) * sum[part];
    }
    for (int part = 0; part <= wave; ++part)
        for (int m = 0; m < 3; ++m) sums[3 * part + m] = total[part][m];
}

INLINE void N(row)(const ps_hbem_row_job *job, int kernel, int wave)
{
    const N(lanes) *panel = job->panel;
    N(lanes) *sums = job->sums;
    for (int64_t b = 0; b < job->blocks; ++b)
        N(row_block)(job, kernel, wave, panel + PS_HBEM_PANEL_ROWS * b, sums + 3 * (1 + wave) * b);
}
