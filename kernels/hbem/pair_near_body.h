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

INLINE void store_moments(int wave, const lanes_f64 total[2][3][3], double *moments)
{
    lanes_f64 *out = (lanes_f64 *)moments;
    for (int part = 0; part <= wave; ++part)
        for (int e = 0; e < 9; ++e) out[9 * part + e] = total[part][e / 3][e % 3] * (1 / FOUR_PI);
}

INLINE void regular(const ps_hbem_pair_job *job, int kernel, int wave)
{
    const lanes_f64 *x = (const lanes_f64 *)job->x, *y = (const lanes_f64 *)job->y;
    const ps_hbem_rule *rule = job->rule;
    lanes_f64 points[PS_HBEM_POINTS_MAX][3], total[2][3][3] = {{{{0}}}};
    for (int p = 0; p < rule->count; ++p) put_point(x, rule->hat[p], points[p]);
    for (int q = 0; q < rule->count; ++q) {
        lanes_f64 at[3], sum[2][3] = {{{0}}};
        put_point(y, rule->hat[q], at);
        for (int p = 0; p < rule->count; ++p) {
            lanes_f64 d[3], value[2];
            for (int c = 0; c < 3; ++c) d[c] = points[p][c] - at[c];
            kernel_f64(kernel, wave, d, x + 9, y + 9, job->wavenumber, value);
            for (int part = 0; part <= wave; ++part)
                for (int l = 0; l < 3; ++l)
                    sum[part][l] += rule->weight[p] * rule->hat[p][l] * value[part];
        }
        add_moments(wave, (const lanes_f64(*)[3])sum, rule->hat[q], rule->weight[q], total);
    }
    store_moments(wave, (const lanes_f64(*)[3][3])total, job->moments);
}

INLINE void joint(const ps_hbem_pair_job *job, int kernel, int wave)
{
    const lanes_f64 *x = (const lanes_f64 *)job->x, *y = (const lanes_f64 *)job->y;
    lanes_f64 total[2][3][3] = {{{{0}}}};
    for (int q = 0; q < job->joint_count; ++q) {
        const ps_hbem_joint_point *point = &job->joint[q];
        lanes_f64 from[3], to[3], d[3], value[2], sum[2][3];
        put_point(x, point->x, from);
        put_point(y, point->y, to);
        for (int c = 0; c < 3; ++c) d[c] = from[c] - to[c];
        kernel_f64(kernel, wave, d, x + 9, y + 9, job->wavenumber, value);
        for (int part = 0; part <= wave; ++part)
            for (int l = 0; l < 3; ++l) sum[part][l] = point->x[l] * value[part];
        add_moments(wave, (const lanes_f64(*)[3])sum, point->y, point->weight, total);
    }
    store_moments(wave, (const lanes_f64(*)[3][3])total, job->moments);
}
