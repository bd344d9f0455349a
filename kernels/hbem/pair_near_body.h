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

INLINE void kernel_between(int kernel, int wave, const lanes_f64 d[3], const lanes_f64 *x,
                           const lanes_f64 *y, double k, lanes_f64 value[2])
{
    normals_f64 n;
    if (kernel == PS_KERNEL_ADLP) n.dx = dot_f64(d, x + 9);
    if (kernel == PS_KERNEL_DLP) n.dy = dot_f64(d, y + 9);
    kernel_f64(kernel, wave, d, &n, k, value);
}

INLINE void store_moments(int wave, const lanes_f64 total[2][3][3], double *moments)
{
    lanes_f64 *out = (lanes_f64 *)moments;
    for (int part = 0; part <= wave; ++part)
        for (int e = 0; e < 9; ++e) out[9 * part + e] = total[part][e / 3][e % 3] * (1 / FOUR_PI);
}

/* With `whole` the sum over all hats alone, as moment 0 of each part. */
INLINE void regular(const ps_hbem_pair_job *job, int kernel, int wave, int whole)
{
    const lanes_f64 *x = (const lanes_f64 *)job->x, *y = (const lanes_f64 *)job->y;
    const ps_hbem_rule *rule = job->rule;
    lanes_f64 points[PS_HBEM_POINTS_MAX][3], total[2][3][3] = {{{{0}}}};
    double weighted[PS_HBEM_POINTS_MAX][3];
    for (int p = 0; p < rule->count; ++p) {
        put_point(x, rule->hat[p], points[p]);
        for (int l = 0; l < 3; ++l)
            weighted[p][l] = rule->weight[p] * (whole ? 1 : rule->hat[p][l]);
    }
    for (int q = 0; q < rule->count; ++q) {
        lanes_f64 at[3], sum[2][3] = {{{0}}};
        put_point(y, rule->hat[q], at);
        for (int p = 0; p < rule->count; ++p) {
            lanes_f64 d[3], value[2];
            for (int c = 0; c < 3; ++c) d[c] = points[p][c] - at[c];
            kernel_between(kernel, wave, d, x, y, job->wavenumber, value);
            for (int part = 0; part <= wave; ++part)
                for (int l = 0; l < (whole ? 1 : 3); ++l)
                    sum[part][l] += weighted[p][l] * value[part];
        }
        if (whole)
            for (int part = 0; part <= wave; ++part)
                total[part][0][0] += rule->weight[q] * sum[part][0];
        else
            add_moments(wave, (const lanes_f64(*)[3])sum, rule->hat[q], rule->weight[q], total);
    }
    store_moments(wave, (const lanes_f64(*)[3][3])total, job->moments);
}

/* x - y from the vertex that both triangles begin with: nothing large cancels. */
INLINE void joint(const ps_hbem_pair_job *job, int kernel, int wave, int whole)
{
    const lanes_f64 *x = (const lanes_f64 *)job->x, *y = (const lanes_f64 *)job->y;
    lanes_f64 total[2][3][3] = {{{{0}}}}, x1[3], x2[3], y1[3], y2[3];
    for (int c = 0; c < 3; ++c) {
        x1[c] = x[3 + c] - x[c], x2[c] = x[6 + c] - x[c];
        y1[c] = y[3 + c] - y[c], y2[c] = y[6 + c] - y[c];
    }
    for (int q = 0; q < job->joint_count; ++q) {
        const ps_hbem_joint_point *at = &job->joint[q];
        lanes_f64 d[3], value[2], sum[2][3];
        for (int c = 0; c < 3; ++c)
            d[c] = at->x[1] * x1[c] + at->x[2] * x2[c] - at->y[1] * y1[c] - at->y[2] * y2[c];
        kernel_between(kernel, wave, d, x, y, job->wavenumber, value);
        if (whole) {
            for (int part = 0; part <= wave; ++part) total[part][0][0] += at->weight * value[part];
            continue;
        }
        for (int part = 0; part <= wave; ++part)
            for (int l = 0; l < 3; ++l) sum[part][l] = at->x[l] * value[part];
        add_moments(wave, (const lanes_f64(*)[3])sum, at->y, at->weight, total);
    }
    store_moments(wave, (const lanes_f64(*)[3][3])total, job->moments);
}
