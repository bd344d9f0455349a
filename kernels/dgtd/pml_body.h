/* Body of pml.c for one precision: `real`, LANES and NAME are the includer's. */

/* One stage: its output, and its state for the next time. */
static inline real NAME(stage)(const real f[3], real in, real *state)
{
    real out = f[0] * in + *state;
    *state = f[1] * in - f[2] * out;
    return out;
}

static void NAME(filter)(const ps_dgtd_pml *pml, const ps_dgtd_system *system, ps_dgtd_field which,
                         void *field, int64_t row)
{
    const int nodes = system->reference->nodes;
    const int64_t group = pml->groups[row], stride = (int64_t)nodes * LANES;
    real *now = (real *)field + 3 * group * stride;
    const real *former = (const real *)pml->former + 3 * row * stride;
    real *state = (real *)pml->state[which] + PS_DGTD_PML_STATES * row * stride;
    real *work = pml->work ? (real *)pml->work + 3 * (group - pml->work_group) * stride : NULL;
    for (int l = 0; l < LANES; ++l) {
        if (work && !pml->layer[row * LANES + l])
            for (int i = 0; i < 3 * nodes; ++i) work[i * LANES + l] = 0;
        if (!pml->layer[row * LANES + l]) continue;
        const double *from = pml->factors + row * PS_DGTD_PML_FACTORS * LANES + l;
        real f[3][6], m[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
        for (int k = 0; k < 18; ++k) f[k / 6][k % 6] = (real)from[k * LANES];
        for (int k = 0; k < 9 && pml->turned; ++k)
            m[k / 3][k % 3] = (real)pml->frames[(row * 9 + k) * LANES + l];
        real gain = work ? (real)ps_dgtd_gain(system, which, group * LANES + l) : 1;
        for (int i = 0; i < nodes; ++i) {
            real added[3], out[3] = {0, 0, 0};
            int64_t at = i * LANES + l;
            for (int c = 0; c < 3; ++c) added[c] = now[c * stride + at] - former[c * stride + at];
            for (int k = 0; k < 3; ++k) {
                real *z = state + 3 * k * stride + at;
                real d = m[k][0] * added[0] + m[k][1] * added[1] + m[k][2] * added[2];
                d = NAME(stage)(f[k] + 3, d, z);
                d = NAME(stage)(f[(k + 1) % 3], d, z + stride);
                d = NAME(stage)(f[(k + 2) % 3], d, z + 2 * stride);
                for (int c = 0; c < 3; ++c) out[c] += m[k][c] * d;
            }
            for (int c = 0; c < 3; ++c) {
                now[c * stride + at] = former[c * stride + at] + out[c];
                if (work) work[c * stride + at] = (out[c] - added[c]) / gain;
            }
        }
    }
}
