/*
 * Part of pair_integrals_cpu.c, once per precision, after pair_row_body.h: rows of the six-point
 * rule on both sides, with AVX-512; fewer registers do not hold what it keeps.
 *
 * The points of the rule are the middle of a triangle and `reach` (1, or `ratio`) times three
 * directions g that add up to 0, so that with u between the middles
 *
 *     |x_p - y_q|^2 = |u|^2 + 2 u.(x_p - x) + |x_p - x|^2 - 2 u.(y_q - y) + |y_q - y|^2
 *                     - 2 reach_p reach_q g_i.g_j
 *
 * is a sum of three numbers a pair of points: one of p, one of q and one of 27. Lengths of waves
 * are in units of 1/k. |u| exceeds what is added to it in far blocks, so nothing cancels.
 */
#ifdef __AVX512F__
enum { N(SIX_TRIANGLES) = 24, N(SIX_TERMS) = SINGLE ? 2 : 4 };

/* Of a source triangle: -2 g of points 0 and 1, |x_p - x|^2, c_p times the units of the kernel,
 * and that times the series of (1 - e)^(-m/2). */
typedef struct N(six_source) {
    real middle[3], minus_two[2][3], normal[3], square[6], factor[6], series[6][N(SIX_TERMS)];
} N(six_source);

typedef struct N(six_sources) {
    int count;
    real ratio, scale;
    N(six_source) of[N(SIX_TRIANGLES)];
} N(six_sources);

/* Of the lanes' triangles: middle, g of points 0 and 1, |y_q - y|^2, sums at the points. */
typedef struct N(six_lanes) {
    N(lanes) middle[3], side[2][3], square[6], sum[2][6];
    const N(lanes) * normal;
} N(six_lanes);

/* Of a pair: squared distances are of_x[p] + of_y[q] + cross[levels of p and q][j][i];
 * (x_p - y).n_y, (x - y_q).n_x, n_x.n_y (for waves the first and the last times c_p). */
typedef struct N(six_pair) {
    N(lanes) of_x[6], of_y[6], cross[3][3][3], plane_y[6], plane_x[6], normals[6];
} N(six_pair);

/* The power of 1/r of a kernel of Laplace; waves have one less, by the units of length. */
INLINE int N(six_power)(int kernel)
{
    return kernel == PS_KERNEL_SLP ? 1 : kernel == PS_KERNEL_HYPS ? 5 : 3;
}

/* (1 - e)^(-m/2) for |e| <= 2^-13, fp64 with the fourth power of e spread over the others. */
INLINE void N(six_series)(int m, real factor, real series[N(SIX_TERMS)])
{
    real term = factor;
    for (int n = 0; n < (int)N(SIX_TERMS); ++n) {
        series[n] = term;
        term *= (real)(m + 2 * n) / (real)(2 * n + 2);
    }
#if !SINGLE
    series[0] -= term * 0x1p-55;
    series[2] += term * 0x1p-26;
#endif
}

INLINE void N(six_source_set)(const N(source) * point, int kernel, const N(six_sources) * all,
                              N(six_source) * to)
{
    real unit = 1, length[3] = {0};
    int m = N(six_power)(kernel);
    for (int n = 0; n < (m + 1) / 2; ++n) unit *= all->scale;
    for (int c = 0; c < 3; ++c) {
        real sum = 0, side[3];
        for (int p = 0; p < 6; ++p) sum += point[p].x[c];
        sum *= (real)(1. / 6);
        for (int i = 0; i < 3; ++i) {
            side[i] = all->scale * (point[i].x[c] - sum);
            length[i] += side[i] * side[i];
        }
        to->middle[c] = all->scale * sum;
        to->normal[c] = point->normal[c];
        for (int i = 0; i < 2; ++i) to->minus_two[i][c] = -2 * side[i];
    }
    for (int p = 0; p < 6; ++p) {
        to->square[p] = length[p % 3] * (p < 3 ? 1 : all->ratio * all->ratio);
        to->factor[p] = unit * point[p].coefficient;
        N(six_series)(m, to->factor[p], to->series[p]);
    }
}

INLINE void N(six_sources_set)(const ps_hbem_row_job *job, int kernel, int wave,
                               N(six_sources) * all)
{
    const double(*hat)[3] = job->rule->hat;
    all->count = (int)(job->source_count / 6);
    all->scale = wave ? (real)job->wavenumber : 1;
    all->ratio = (real)((hat[3][0] - hat[3][1]) / (hat[0][0] - hat[0][1]));
    for (int s = 0; s < all->count; ++s)
        N(six_source_set)((const N(source) *)job->sources + 6 * s, kernel, all, &all->of[s]);
}

INLINE void N(six_lanes_set)(const ps_hbem_row_job *job, const N(six_sources) * all,
                             const N(lanes) * panel, N(six_lanes) * t)
{
    const double *hat = job->rule->hat[0];
    real reach = all->scale * (real)(hat[0] - hat[1]);
    N(lanes) length[3] = {{0}};
    t->normal = panel + 9;
    for (int c = 0; c < 3; ++c) {
        N(lanes) middle = (panel[c] + panel[3 + c] + panel[6 + c]) * (real)(1. / 3);
        for (int j = 0; j < 3; ++j) {
            N(lanes) side = reach * (panel[3 * j + c] - middle);
            length[j] += side * side;
            if (j < 2) t->side[j][c] = side;
        }
        t->middle[c] = all->scale * middle;
    }
    for (int q = 0; q < 6; ++q) {
        t->square[q] = length[q % 3] * (q < 3 ? 1 : all->ratio * all->ratio);
        t->sum[0][q] = t->sum[1][q] = (N(lanes)){0};
    }
}

/* a[2] from a[0] and a[1], as all three add up to 0. */
INLINE void N(third)(N(lanes) a[3]) { a[2] = -(a[0] + a[1]); }

INLINE N(lanes) N(dot_scalar)(const N(lanes) a[3], const real b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Squared distances, in parts. */
INLINE void N(six_distances)(const N(six_source) * s, const N(six_lanes) * t, real ratio,
                             const N(lanes) u[3], N(six_pair) * pair)
{
    N(lanes) square = N(dot)(u, u), of_x[3], of_y[3], u2[3];
    for (int c = 0; c < 3; ++c) u2[c] = u[c] + u[c];
    for (int i = 0; i < 2; ++i) {
        of_x[i] = N(dot_scalar)(u, s->minus_two[i]);
        of_y[i] = N(dot)(u2, t->side[i]);
    }
    N(third)(of_x);
    N(third)(of_y);
    for (int p = 0; p < 6; ++p) {
        N(lanes) x = of_x[p % 3], y = of_y[p % 3];
        pair->of_x[p] = (square + s->square[p]) - (p < 3 ? x : ratio * x);
        pair->of_y[p] = t->square[p] - (p < 3 ? y : ratio * y);
    }
    for (int j = 0; j < 2; ++j) {
        for (int i = 0; i < 2; ++i)
            pair->cross[0][j][i] = N(dot_scalar)(t->side[j], s->minus_two[i]);
        N(third)(pair->cross[0][j]);
    }
    for (int i = 0; i < 3; ++i)
        pair->cross[0][2][i] = -(pair->cross[0][0][i] + pair->cross[0][1][i]);
    for (int level = 1; level < 3; ++level)
        for (int e = 0; e < 9; ++e)
            pair->cross[level][e / 3][e % 3] = ratio * pair->cross[level - 1][e / 3][e % 3];
}

/* What kernels with normals need. */
INLINE void N(six_planes)(const N(six_source) * s, const N(six_lanes) * t, real ratio, int kernel,
                          const N(lanes) u[3], N(six_pair) * pair)
{
    N(lanes) side[3];
    if (kernel == PS_KERNEL_DLP || kernel == PS_KERNEL_HYPS) {
        N(lanes) middle = N(dot)(u, t->normal);
        for (int i = 0; i < 2; ++i) side[i] = N(dot_scalar)(t->normal, s->minus_two[i]);
        N(third)(side);
        for (int p = 0; p < 6; ++p)
            pair->plane_y[p] = middle - (p < 3 ? (real).5 : (real).5 * ratio) * side[p % 3];
    }
    if (kernel == PS_KERNEL_ADLP || kernel == PS_KERNEL_HYPS) {
        N(lanes) middle = N(dot_scalar)(u, s->normal);
        for (int j = 0; j < 2; ++j) side[j] = N(dot_scalar)(t->side[j], s->normal);
        N(third)(side);
        for (int q = 0; q < 6; ++q)
            pair->plane_x[q] = middle - (q < 3 ? side[q % 3] : ratio * side[q % 3]);
    }
    if (kernel == PS_KERNEL_HYPS) pair->normals[0] = N(dot_scalar)(t->normal, s->normal);
}

/* c r^-m, c in the series. */
INLINE void N(six_root)(int m, const N(lanes) * square, const N(six_source) * s, int p,
                        N(lanes) * first, N(lanes) * second)
{
    const real *series = s->series[p];
#if SINGLE
    N(lanes) y = (N(lanes))_mm512_rsqrt14_ps((__m512)*square), y2 = y * y, e = 1 - *square * y2;
    *second = series[0] + e * series[1];
#else
    N(lanes) y = (N(lanes))_mm512_rsqrt14_pd((__m512d)*square), y2 = y * y, e = 1 - *square * y2;
    *second = series[0] + e * (series[1] + e * (series[2] + e * series[3]));
#endif
    *first = m == 1 ? y : m == 3 ? y * y2 : y * y2 * y2;
}

/* Laplace, of points p and q: sum[1] of HYPS is without n_x.n_y, ADLP's and HYPS's without planes
 * of x. */
INLINE void N(six_static)(const N(six_source) * s, int p, int kernel, const N(lanes) * square,
                          const N(six_pair) * pair, N(lanes) sum[2])
{
    N(lanes) first, second;
    N(six_root)(N(six_power)(kernel), square, s, p, &first, &second);
    if (kernel == PS_KERNEL_SLP || kernel == PS_KERNEL_ADLP) {
        sum[0] += first * second;
        return;
    }
    first *= second;
    sum[0] += pair->plane_y[p] * first;
    if (kernel == PS_KERNEL_HYPS) sum[1] += *square * first;
}

/* Waves, in units of 1/k, of points p and q: e^{ir} (a - i b). */
INLINE void N(six_wave)(int kernel, const N(waves) * w, const N(lanes) * square,
                        const N(lanes) * plane, const N(lanes) * normals, N(lanes) sum[2])
{
    N(lanes) inverse, sine, cosine;
    N(reciprocal_root)(square, &inverse);
    N(lanes) phase = *square * inverse;
    if (w->near) {
        phase -= w->phase;
        N(short_sine_cosine)(&phase, &sine, &cosine);
    } else {
        N(sine_cosine)(&phase, &sine, &cosine);
    }
    if (kernel == PS_KERNEL_SLP) {
        N(lanes) a = *plane * inverse;
        sum[0] += a * cosine;
        sum[1] += a * sine;
        return;
    }
    N(lanes) b = inverse * inverse * *plane, a = b;
    if (kernel == PS_KERNEL_HYPS) {
        N(lanes) main = b;
        b = (main - *normals) * (inverse * inverse);
        a = b - (real)(1. / 3) * main;
    }
    a *= inverse;
    sum[0] += a * cosine;
    sum[0] += b * sine;
    sum[1] += a * sine;
    sum[1] -= b * cosine;
}

/* Sums over the points of a source triangle at point q of the lanes'. */
INLINE void N(six_at)(const N(six_source) * s, int kernel, const N(waves) * w,
                      const N(six_pair) * pair, int q, N(lanes) sum[2])
{
    for (int p = 0; p < 6; ++p) {
        N(lanes)
        square = (pair->of_x[p] + pair->of_y[q]) + pair->cross[p / 3 + q / 3][q % 3][p % 3];
        if (!w->wave) {
            N(six_static)(s, p, kernel, &square, pair, sum);
            continue;
        }
        N(lanes) plane = s->factor[p] - (N(lanes)){0}, normals = {0};
        if (kernel == PS_KERNEL_DLP) plane = pair->plane_y[p];
        if (kernel == PS_KERNEL_HYPS) {
            plane = pair->plane_y[p] * pair->plane_x[q];
            normals = pair->normals[p];
        }
        N(six_wave)(kernel, w, &square, &plane, &normals, sum);
    }
}

/* Adds a source triangle. */
INLINE void N(six_add)(const N(six_source) * s, real ratio, int kernel, N(waves) * w,
                       N(six_lanes) * t)
{
    N(lanes) u[3];
    N(six_pair) pair;
    for (int c = 0; c < 3; ++c) u[c] = s->middle[c] - t->middle[c];
    N(six_distances)(s, t, ratio, u, &pair);
    N(six_planes)(s, t, ratio, kernel, u, &pair);
    if (w->wave && (kernel == PS_KERNEL_DLP || kernel == PS_KERNEL_HYPS))
        for (int p = 5; p >= 0; --p) {
            pair.plane_y[p] *= s->factor[p] * (kernel == PS_KERNEL_HYPS ? 3 : 1);
            if (kernel == PS_KERNEL_HYPS) pair.normals[p] = s->factor[p] * pair.normals[0];
        }
    if (w->near) {
        N(lanes) square = N(dot)(u, u), phase;
        N(reciprocal_root)(&square, &phase);
        phase *= square;
        N(set_phase)(w, &phase);
    }
    for (int q = 0; q < 6; ++q) {
        N(lanes) sum[2] = {{0}};
        N(six_at)(s, kernel, w, &pair, q, sum);
        if (w->near) N(turn)(w, &sum[0], &sum[1]);
        if (kernel == PS_KERNEL_HYPS && !w->wave)
            sum[0] = 3 * pair.plane_x[q] * sum[0] - pair.normals[0] * sum[1];
        for (int part = 0; part <= w->wave; ++part)
            t->sum[part][q] += kernel == PS_KERNEL_ADLP ? -pair.plane_x[q] * sum[part] : sum[part];
    }
}

INLINE void N(six_block)(const ps_hbem_row_job *job, const N(six_sources) * all, int kernel,
                         int wave, int near, N(six_lanes) * t, N(lanes) * sums)
{
    N(waves) w = {.wave = wave, .near = near, .k = all->scale};
    for (int s = 0; s < all->count; ++s) N(six_add)(&all->of[s], all->ratio, kernel, &w, t);
    N(sum_moments)(job->rule, wave, t->sum[0], t->sum[1], sums);
}

/* Whether phases of points of the lanes and of the sources differ little from those of the
 * middles. */
INLINE int N(six_is_near)(const N(six_sources) * all, const N(six_lanes) * t)
{
    N(lanes) most = {0};
    real lanes = 0, sources = 0;
    for (int q = 0; q < 6; ++q) N(raise)(&most, &t->square[q]);
    for (int lane = 0; lane < (int)(sizeof most / sizeof(real)); ++lane)
        lanes = most[lane] > lanes ? most[lane] : lanes;
    for (int s = 0; s < all->count; ++s)
        for (int p = 0; p < 6; ++p)
            sources = all->of[s].square[p] > sources ? all->of[s].square[p] : sources;
    return ROOT(lanes) + ROOT(sources) <= (real)SHORT_PHASE;
}

INLINE void N(six_row)(const ps_hbem_row_job *job, int kernel, int wave)
{
    N(six_sources) all;
    N(six_lanes) t;
    N(six_sources_set)(job, kernel, wave, &all);
    for (int64_t b = 0; b < job->blocks; ++b) {
        N(lanes) *sums = (N(lanes) *)job->sums + 3 * (1 + wave) * b;
        N(six_lanes_set)(job, &all, (const N(lanes) *)job->panel + PS_HBEM_PANEL_ROWS * b, &t);
        if (wave && N(six_is_near)(&all, &t))
            N(six_block)(job, &all, kernel, wave, 1, &t, sums);
        else
            N(six_block)(job, &all, kernel, wave, 0, &t, sums);
    }
}
#endif

/* A row, however it is fastest: six sources together, with a rule of six, are the points of
 * ps_hbem_rule_six, as the rule is. */
INLINE void N(any_row)(const ps_hbem_row_job *job, int kernel, int mode)
{
    const int wave = mode != 0, damped = mode == 2;
#ifdef __AVX512F__
    if (!damped && job->together == 6 && job->rule->count == 6 && job->source_count <= 6 * N(SIX_TRIANGLES))
        N(six_row)(job, kernel, wave);
    else
#endif
        N(row)(job, kernel, wave, damped);
}
