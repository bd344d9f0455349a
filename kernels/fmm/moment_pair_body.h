/*
 * What a source does at a target, to second derivatives (moment_p2p.h), once for CPU lanes and CUDA
 * threads. Included behind moment_function_body.h.
 */
enum { ROWS = 10 }; /* phi, its gradient, its second derivatives */

/* From a source to a target, and the radial functions there: 0 at distance 0. */
typedef struct separation {
    vreal r[3], f[4];
} separation;

KERNEL_INLINE void add_charges(const separation *s, vreal q, bool twice, vreal sums[ROWS])
{
    vreal slope = q * s->f[1];
    sums[0] += q * s->f[0];
    for (int d = 0; d < 3; ++d) sums[1 + d] += slope * s->r[d];
    if (!twice) return;
    vreal second = q * s->f[2];
    for (int d = 0, row = 4; d < 3; ++d)
        for (int e = d; e < 3; ++e, ++row) {
            sums[row] += second * s->r[d] * s->r[e];
            if (e == d) sums[row] += slope;
        }
}

KERNEL_INLINE void add_dipoles(const separation *s, const vreal p[3], bool twice, vreal sums[ROWS])
{
    vreal along = p[0] * s->r[0] + p[1] * s->r[1] + p[2] * s->r[2], second = along * s->f[2];
    sums[0] -= along * s->f[1];
    for (int d = 0; d < 3; ++d) sums[1 + d] -= s->f[1] * p[d] + second * s->r[d];
    if (!twice) return;
    vreal third = along * s->f[3];
    for (int d = 0, row = 4; d < 3; ++d)
        for (int e = d; e < 3; ++e, ++row) {
            sums[row] -= s->f[2] * (p[d] * s->r[e] + p[e] * s->r[d]) + third * s->r[d] * s->r[e];
            if (e == d) sums[row] -= second;
        }
}
