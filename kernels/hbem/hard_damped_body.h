/*
 * After hard_body.h, for cores and devices: hard pairs of waves in an absorbing medium. The
 * static part is 1/r - k^2 r/2 with a complex square: hard_static is linear in k^2, so it is taken
 * for 0 and for |k|^2.
 */

/* moments[2][9] of the static part. */
INLINE void hard_damped_static(const ps_hbem_hard_job *job, int kernel, hard_room *room,
                               double *moments)
{
    ps_hbem_hard_job of = *job;
    const double k = job->wavenumber, loss = job->absorption, size = k * k + loss * loss;
    double still[9], whole[9];
    of.wavenumber = 0;
    hard_static(&of, kernel, room, still);
    of.wavenumber = sqrt(size);
    hard_static(&of, kernel, room, whole);
    for (int e = 0; e < 9; ++e) {
        const double slope = (whole[e] - still[e]) / size;
        moments[e] = still[e] + (k * k - loss * loss) * slope;
        moments[9 + e] = 2 * k * loss * slope;
    }
}

/* What is left of the kernel: with q = ikr, e^q - 1 - q^2/2 over r, or e^q (1 - q) - 1 + q^2/2
 * times the height over r^3. Where abs(q) is small, so is what is lost of the digits of 1. */
INLINE void hard_damped_smooth(const ps_hbem_hard_job *job, int kernel, const lanes d[3],
                               const double normal[3], lanes value[2])
{
    const double k = job->wavenumber, loss = job->absorption;
    const lanes r = ROOT_OF(between_closed(d, d)), phase = k * r, fall = loss * r;
    const lanes half = .5 * (fall * fall - phase * phase), turn = -(phase * fall); /* q^2/2 */
    const lanes rest = DECAY_OF(fall);
    lanes sine, cosine;
    SINE_COSINE(phase, sine, cosine);
    sine *= rest;
    cosine *= rest;
    if (kernel == PS_KERNEL_SLP) {
        value[0] = (cosine - 1 - half) / r;
        value[1] = (sine - turn) / r;
    } else {
        const lanes factor = along_closed(d, normal) / (r * r * r);
        value[0] = factor * ((1 + fall) * cosine + phase * sine - 1 + half);
        value[1] = factor * ((1 + fall) * sine - phase * cosine + turn);
    }
}

INLINE void hard_left(const ps_hbem_hard_job *job, int kernel, const lanes d[3],
                      const double normal[3], lanes value[2])
{
    if (job->absorption > 0)
        hard_damped_smooth(job, kernel, d, normal, value);
    else
        hard_smooth(kernel, job->wavenumber, d, normal, value);
}

/* hard_moments, of any medium. */
INLINE void hard_all_moments(const ps_hbem_hard_job *job, int kernel, hard_room *room,
                             double *moments)
{
    const ps_hbem_triangle *source = kernel == PS_KERNEL_ADLP ? job->x : job->y;
    const ps_hbem_triangle *other = kernel == PS_KERNEL_ADLP ? job->y : job->x;
    if (!(job->absorption > 0)) {
        hard_moments(job, kernel, room, moments);
        return;
    }
    for (int e = 0; e < 18; ++e) moments[e] = 0;
    if (kernel != PS_KERNEL_SLP && hard_coplanar(other, source)) return;
    hard_damped_static(job, kernel, room, moments);
    hard_rest(job, kernel, moments);
}
#undef lanes
