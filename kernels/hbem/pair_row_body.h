/*
 * Part of pair_integrals_cpu.c, once per precision, after pair_lanes_body.h: points of one side
 * against triangles of the other in lanes. `SHORT_PHASE_POINTS` is defined: points of a pair of
 * triangles from which on a common phase for them pays.
 */

/* Of a row: points of the lanes' triangles, sums at them, middles, normals. */
typedef struct N(targets) {
    int count;
    N(lanes) point[PS_HBEM_POINTS_MAX][3], sum[2][PS_HBEM_POINTS_MAX], middle[3];
    const N(lanes) * normal;
} N(targets);

INLINE void N(middle_of)(const N(source) * source, int points, real middle[3])
{
    const real share = 1 / (real)points;
    for (int c = 0; c < 3; ++c) {
        middle[c] = 0;
        for (int p = 0; p < points; ++p) middle[c] += source[p].x[c];
        middle[c] *= share;
    }
}

/* The phase of the distance of the middles. */
INLINE void N(set_middle_phase)(const N(source) * source, int points, const N(targets) * t,
                                N(waves) * w)
{
    real middle[3];
    N(lanes) d[3], inverse;
    N(middle_of)(source, points, middle);
    for (int c = 0; c < 3; ++c) d[c] = middle[c] - t->middle[c];
    N(lanes) square = N(dot)(d, d);
    N(reciprocal_root)(&square, &inverse);
    N(lanes) phase = w->k * (square * inverse);
    N(set_phase)(w, &phase);
}

/* c times (x - y).n_y and n_x.n_y of the points of a flat triangle: the same for all points y of a
 * lane. */
INLINE void N(set_planes)(const N(source) * source, int points, int kernel, const N(targets) * t,
                          N(factors) * plane)
{
    N(lanes) nx[3], d[3];
    for (int c = 0; c < 3; ++c) nx[c] = source->normal[c] - (N(lanes)){0};
    N(lanes) product = N(dot)(nx, t->normal);
    for (int p = 0; p < points; ++p) {
        for (int c = 0; c < 3; ++c) d[c] = source[p].x[c] - t->point[0][c];
        plane[p].main = source[p].coefficient * N(dot)(d, t->normal);
        if (kernel == PS_KERNEL_HYPS) plane[p].product = source[p].coefficient * product;
    }
}

/* Adds c K of the points of one flat triangle: (x - y).n_x is one number for all of them. */
INLINE void N(add_triangle)(const N(source) * source, int points, int kernel, N(waves) * w,
                            N(targets) * t)
{
    const int of_y = kernel == PS_KERNEL_DLP || kernel == PS_KERNEL_HYPS;
    const int of_x = kernel == PS_KERNEL_ADLP || kernel == PS_KERNEL_HYPS;
    N(lanes) nx[3], d[3], dx = {0}, value[2];
    N(factors) plane[PS_HBEM_POINTS_MAX], f;
    for (int c = 0; c < 3; ++c) nx[c] = source->normal[c] - (N(lanes)){0};
    if (of_y) N(set_planes)(source, points, kernel, t, plane);
    if (w->near) N(set_middle_phase)(source, points, t, w);
    for (int q = 0; q < t->count; ++q) {
        N(lanes) sum[2] = {{0}};
        for (int c = 0; c < 3; ++c) d[c] = source->x[c] - t->point[q][c];
        if (of_x) dx = N(dot)(d, nx) * (real)(kernel == PS_KERNEL_HYPS ? 3 : -1);
        for (int p = 0; p < points; ++p) {
            f.main = source[p].coefficient - (N(lanes)){0};
            if (of_y) f = plane[p];
            if (kernel == PS_KERNEL_HYPS) f.main *= dx;
            for (int c = 0; c < 3; ++c) d[c] = source[p].x[c] - t->point[q][c];
            N(kernel)(kernel, w, d, &f, value);
            for (int part = 0; part <= w->wave; ++part) sum[part] += value[part];
        }
        if (w->near) N(turn)(w, &sum[0], &sum[1]);
        for (int part = 0; part <= w->wave; ++part)
            t->sum[part][q] += kernel == PS_KERNEL_ADLP ? dx * sum[part] : sum[part];
    }
}

/* Points of the lanes' triangles. */
INLINE void N(set_targets)(const ps_hbem_rule *rule, int wave, const N(lanes) * panel,
                           N(targets) * t)
{
    t->count = rule->count;
    t->normal = panel + 9;
    for (int c = 0; c < 3; ++c)
        t->middle[c] = (panel[c] + panel[3 + c] + panel[6 + c]) * (real)(1. / 3);
    for (int q = 0; q < rule->count; ++q) {
        const double *hat = rule->hat[q];
        for (int c = 0; c < 3; ++c)
            t->point[q][c] =
                (real)hat[0] * panel[c] + (real)hat[1] * panel[3 + c] + (real)hat[2] * panel[6 + c];
        for (int part = 0; part <= wave; ++part) t->sum[part][q] = (N(lanes)){0};
    }
}

/* sums[part][m] of w_q phi_m(y_q) times the sums at the points. */
INLINE void N(sum_moments)(const ps_hbem_rule *rule, int wave, const N(lanes) * straight,
                           const N(lanes) * across, N(lanes) * sums)
{
    for (int part = 0; part <= wave; ++part)
        for (int m = 0; m < 3; ++m) {
            N(lanes) total = {0};
            for (int q = 0; q < rule->count; ++q)
                total += (real)(rule->hat[q][m] * rule->weight[q]) * (part ? across : straight)[q];
            sums[3 * part + m] = total;
        }
}

/* One block of lanes against all sources: the body of ps_hbem_row_function. With `near` all phases
 * are short. */
INLINE void N(row_block)(const ps_hbem_row_job *job, int kernel, const N(waves) * how,
                         N(targets) * t, N(lanes) * sums)
{
    const N(source) *source = job->sources;
    N(waves) w = {.wave = how->wave,
                  .near = how->near,
                  .damped = how->damped,
                  .k = (real)job->wavenumber,
                  .loss = (real)job->absorption};
    int points = job->together > 0 ? job->together : 1;
    for (int64_t s = 0; s < job->source_count; s += points)
        N(add_triangle)(source + s, points, kernel, &w, t);
    N(sum_moments)(job->rule, how->wave, t->sum[0], t->sum[1], sums);
}

/* The farthest that a point of a source triangle is from the middle of them, squared. */
INLINE real N(source_reach)(const ps_hbem_row_job *job, int together)
{
    const N(source) *source = job->sources;
    real most = 0, middle[3];
    for (int64_t s = 0; s < job->source_count; s += together) {
        N(middle_of)(source + s, together, middle);
        for (int p = 0; p < together; ++p) {
            real square = 0;
            for (int c = 0; c < 3; ++c)
                square += (source[s + p].x[c] - middle[c]) * (source[s + p].x[c] - middle[c]);
            most = square > most ? square : most;
        }
    }
    return most;
}

/* The same of points of lanes, and whether both fit a short phase. */
INLINE int N(phase_is_short)(const N(targets) * t, real reach, real k)
{
    N(lanes) most = {0};
    real largest = 0;
    for (int q = 0; q < t->count; ++q) {
        N(lanes) d[3];
        for (int c = 0; c < 3; ++c) d[c] = t->point[q][c] - t->middle[c];
        N(lanes) square = N(dot)(d, d);
        N(raise)(&most, &square);
    }
    for (int lane = 0; lane < (int)(sizeof most / sizeof(real)); ++lane)
        largest = most[lane] > largest ? most[lane] : largest;
    return k * (ROOT(largest) + ROOT(reach)) <= (real)SHORT_PHASE;
}

INLINE void N(row)(const ps_hbem_row_job *job, int kernel, int wave, int damped)
{
    const N(waves) far = {.wave = wave, .damped = damped};
    const N(waves) near = {.wave = wave, .near = 1, .damped = damped};
    const N(lanes) *panel = job->panel;
    N(lanes) *sums = job->sums;
    N(targets) t;
    int together = job->together > 0 ? job->together : 1;
    int several = wave && together * job->rule->count >= SHORT_PHASE_POINTS;
    real reach = several ? N(source_reach)(job, together) : 0;
    for (int64_t b = 0; b < job->blocks; ++b) {
        N(set_targets)(job->rule, wave, panel + PS_HBEM_PANEL_ROWS * b, &t);
        if (wave && several && N(phase_is_short)(&t, reach, (real)job->wavenumber))
            N(row_block)(job, kernel, &near, &t, sums + 3 * (1 + wave) * b);
        else
            N(row_block)(job, kernel, &far, &t, sums + 3 * (1 + wave) * b);
    }
}
