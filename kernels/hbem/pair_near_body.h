/* Part of pair_integrals_cpu.c: pairs in lanes, fp64. */

INLINE void put_point(const lanes_f64 corner[9], const double hat[3], lanes_f64 out[3])
{
    for (int c = 0; c < 3; ++c)
        out[c] = hat[0] * corner[c] + hat[1] * corner[3 + c] + hat[2] * corner[6 + c];
}

/* total[part][l][m] += scale value[part] x_l y_m */
INLINE void add_moments(int wave, const lanes_f64 sum[2][3], const double y[3], double weight,
                        lanes_f64 total[2][3][3])
{
    for (int part = 0; part <= wave; ++part)
        for (int m = 0; m < 3; ++m) {
            double factor = weight * y[m];
            for (int l = 0; l < 3; ++l) total[part][l][m] += factor * sum[part][l];
        }
}

/* `plane`: (x - y).n of the operator's plane; SLP has none. */
INLINE void kernel_between(int kernel, const waves_f64 *w, const lanes_f64 d[3],
                           const lanes_f64 *plane, lanes_f64 value[2])
{
    factors_f64 f = {.main = *plane};
    if (kernel == PS_KERNEL_SLP) f.main = 1 - (lanes_f64){0};
    if (kernel == PS_KERNEL_ADLP) f.main = -*plane;
    kernel_f64(kernel, w, d, &f, value);
}

INLINE void store_moments(int wave, const lanes_f64 total[2][3][3], double *moments)
{
    lanes_f64 *out = (lanes_f64 *)moments;
    for (int part = 0; part <= wave; ++part)
        for (int e = 0; e < 9; ++e) out[9 * part + e] = total[part][e / 3][e % 3] * (1 / FOUR_PI);
}

/* Turns moments by e^{i phase}. */
INLINE void turn_moments(const waves_f64 *w, int whole, lanes_f64 total[2][3][3])
{
    for (int e = 0; e < (whole ? 1 : 9); ++e)
        turn_f64(w, &total[0][e / 3][e % 3], &total[1][e / 3][e % 3]);
}

INLINE int all_below(const lanes_f64 *value, double bound)
{
    for (int lane = 0; lane < PS_HBEM_LANES_F64; ++lane)
        if (!((*value)[lane] <= bound)) return 0;
    return 1;
}

/* The farthest corner from a point. */
INLINE lanes_f64 reach_from(const lanes_f64 point[3], const lanes_f64 corner[9])
{
    lanes_f64 most = {0}, d[3], inverse;
    for (int l = 0; l < 3; ++l) {
        for (int c = 0; c < 3; ++c) d[c] = corner[3 * l + c] - point[c];
        lanes_f64 square = dot_f64(d, d);
        raise_f64(&most, &square);
    }
    reciprocal_root_f64(&most, &inverse);
    return most * inverse;
}

/* With `whole` the sum over all hats alone, as moment 0 of each part. */
INLINE void regular_with(const ps_hbem_pair_job *job, int kernel, const waves_f64 *w, int whole)
{
    const lanes_f64 *x = (const lanes_f64 *)job->x, *y = (const lanes_f64 *)job->y;
    const ps_hbem_rule *rule = job->rule;
    lanes_f64 points[PS_HBEM_POINTS_MAX][3], plane[PS_HBEM_POINTS_MAX], total[2][3][3] = {{{{0}}}};
    lanes_f64 d[3], value[2], of_x = {0};
    double weighted[PS_HBEM_POINTS_MAX][3];
    for (int p = 0; p < rule->count; ++p) {
        put_point(x, rule->hat[p], points[p]);
        for (int l = 0; l < 3; ++l)
            weighted[p][l] = rule->weight[p] * (whole ? 1 : rule->hat[p][l]);
        for (int c = 0; c < 3; ++c) d[c] = points[p][c] - y[c];
        if (kernel == PS_KERNEL_DLP) plane[p] = dot_f64(d, y + 9);
    }
    for (int q = 0; q < rule->count; ++q) {
        lanes_f64 at[3], sum[2][3] = {{{0}}};
        put_point(y, rule->hat[q], at);
        for (int c = 0; c < 3; ++c) d[c] = x[c] - at[c];
        if (kernel == PS_KERNEL_ADLP) of_x = dot_f64(d, x + 9);
        for (int p = 0; p < rule->count; ++p) {
            for (int c = 0; c < 3; ++c) d[c] = points[p][c] - at[c];
            kernel_between(kernel, w, d, kernel == PS_KERNEL_DLP ? &plane[p] : &of_x, value);
            for (int part = 0; part <= w->wave; ++part)
                for (int l = 0; l < (whole ? 1 : 3); ++l)
                    sum[part][l] += weighted[p][l] * value[part];
        }
        if (whole)
            for (int part = 0; part <= w->wave; ++part)
                total[part][0][0] += rule->weight[q] * sum[part][0];
        else
            add_moments(w->wave, (const lanes_f64(*)[3])sum, rule->hat[q], rule->weight[q], total);
    }
    if (w->near) turn_moments(w, whole, total);
    store_moments(w->wave, (const lanes_f64(*)[3][3])total, job->moments);
}

INLINE void regular(const ps_hbem_pair_job *job, int kernel, int mode, int whole)
{
    const int wave = mode != 0;
    waves_f64 w = {
        .wave = wave, .damped = mode == 2, .k = job->wavenumber, .loss = job->absorption};
    if (wave) {
        const lanes_f64 *x = (const lanes_f64 *)job->x, *y = (const lanes_f64 *)job->y;
        const double third[3] = {1. / 3, 1. / 3, 1. / 3};
        lanes_f64 middle[2][3], d[3], inverse;
        put_point(x, third, middle[0]);
        put_point(y, third, middle[1]);
        lanes_f64 most = w.k * (reach_from(middle[0], x) + reach_from(middle[1], y));
        if (all_below(&most, SHORT_PHASE)) {
            for (int c = 0; c < 3; ++c) d[c] = middle[0][c] - middle[1][c];
            lanes_f64 square = dot_f64(d, d);
            reciprocal_root_f64(&square, &inverse);
            square *= w.k * inverse;
            set_phase_f64(&w, &square);
            w.near = 1;
            regular_with(job, kernel, &w, whole);
            return;
        }
    }
    regular_with(job, kernel, &w, whole);
}

/* x - y from the vertex that both triangles begin with: nothing large cancels. */
INLINE void joint_with(const ps_hbem_pair_job *job, int kernel, const waves_f64 *w, int whole)
{
    const lanes_f64 *x = (const lanes_f64 *)job->x, *y = (const lanes_f64 *)job->y;
    lanes_f64 total[2][3][3] = {{{{0}}}}, x1[3], x2[3], y1[3], y2[3], plane = {0};
    for (int c = 0; c < 3; ++c) {
        x1[c] = x[3 + c] - x[c], x2[c] = x[6 + c] - x[c];
        y1[c] = y[3 + c] - y[c], y2[c] = y[6 + c] - y[c];
    }
    for (int q = 0; q < job->joint_count; ++q) {
        const ps_hbem_joint_point *at = &job->joint[q];
        lanes_f64 d[3], value[2], sum[2][3];
        for (int c = 0; c < 3; ++c)
            d[c] = at->x[1] * x1[c] + at->x[2] * x2[c] - at->y[1] * y1[c] - at->y[2] * y2[c];
        if (kernel != PS_KERNEL_SLP) plane = dot_f64(d, kernel == PS_KERNEL_DLP ? y + 9 : x + 9);
        kernel_between(kernel, w, d, &plane, value);
        if (whole) {
            for (int part = 0; part <= w->wave; ++part)
                total[part][0][0] += at->weight * value[part];
            continue;
        }
        for (int part = 0; part <= w->wave; ++part)
            for (int l = 0; l < 3; ++l) sum[part][l] = at->x[l] * value[part];
        add_moments(w->wave, (const lanes_f64(*)[3])sum, at->y, at->weight, total);
    }
    if (w->near) turn_moments(w, whole, total);
    store_moments(w->wave, (const lanes_f64(*)[3][3])total, job->moments);
}

/* No distance of a touching pair is above the reaches of both triangles from their common vertex:
 * half of it is the phase. */
INLINE void joint(const ps_hbem_pair_job *job, int kernel, int mode, int whole)
{
    const int wave = mode != 0;
    waves_f64 w = {
        .wave = wave, .damped = mode == 2, .k = job->wavenumber, .loss = job->absorption};
    if (wave) {
        const lanes_f64 *x = (const lanes_f64 *)job->x, *y = (const lanes_f64 *)job->y;
        lanes_f64 half = w.k / 2 * (reach_from(x, x) + reach_from(y, y));
        if (all_below(&half, SHORT_PHASE)) {
            set_phase_f64(&w, &half);
            w.near = 1;
            joint_with(job, kernel, &w, whole);
            return;
        }
    }
    joint_with(job, kernel, &w, whole);
}
