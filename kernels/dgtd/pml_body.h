/* Body of pml.c for one precision: `real`, LANES and NAME are the includer's. */
#include "kernels/dgtd/pml_node_body.h"

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
        real f[3][6], m[3][3];
        for (int k = 0; k < 18; ++k) f[k / 6][k % 6] = (real)from[k * LANES];
        for (int k = 0; k < 9 && pml->turned; ++k)
            m[k / 3][k % 3] = (real)pml->frames[(row * 9 + k) * LANES + l];
        const int bits = NAME(stretched)(f);
        real gain = work ? (real)ps_dgtd_gain(system, which, group * LANES + l) : 1;
        for (int i = 0; i < nodes; ++i) {
            real added[3], out[3];
            int64_t at = i * LANES + l;
            for (int c = 0; c < 3; ++c) added[c] = now[c * stride + at] - former[c * stride + at];
            NAME(filter_node)(f, pml->turned ? m : NULL, bits, stride, state + at, added, out);
            for (int c = 0; c < 3; ++c) {
                now[c * stride + at] = former[c * stride + at] + out[c];
                if (work) work[c * stride + at] = (out[c] - added[c]) / gain;
            }
        }
    }
}
