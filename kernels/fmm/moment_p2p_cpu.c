/* The lanes of moment_p2p.h: sources in the lanes, one target at a time. */
#include "kernels/fmm/moment_p2p.h"

#include <math.h>

#define real double
#define LANES_SINGLE 0
#include "kernels/common/lanes_body.h"

/* sin(x) and cos(x) of 0 <= x < 1e6, to about an ulp of 1: x - n pi/2 in three parts of 33 bits
 * (Cody and Waite), then the series on [-pi/4, pi/4]. */
KERNEL_INLINE void v_sine_cosine(vreal x, vreal *sine, vreal *cosine)
{
    enum { TERMS = 8 };
    const real magic = 0x1.8p52;
    vreal shifted = x * 0x1.45f306dc9c883p-1 + magic, n = shifted - magic;
    vreal r = x - n * 0x1.921fb544p+0 - n * 0x1.0b4611a6p-34 - n * 0x1.3198a2ep-69, t = r * r;
    vreal s = v_of(0), c = v_of(0);
    for (int k = TERMS; k >= 1; --k) {
        s = (1 + s) * t * (real)(-1.0 / (2 * k * (2 * k + 1)));
        c = (1 + c) * t * (real)(-1.0 / (2 * k * (2 * k - 1)));
    }
    s = r + r * s;
    c = 1 + c;
    vinteger quarter = (vinteger)shifted, odd = -(quarter & 1);
    vreal first = (vreal)(((vinteger)s & ~odd) | ((vinteger)c & odd));
    vreal second = (vreal)(((vinteger)c & ~odd) | ((vinteger)s & odd));
    *sine = (vreal)((vinteger)first ^ (quarter >> 1 << 63));
    *cosine = (vreal)((vinteger)second ^ ((quarter + 1) >> 1 << 63));
}

#include "kernels/fmm/moment_function_body.h"
#include "kernels/fmm/moment_pair_body.h"

typedef void (*radial)(vreal r2, vreal b, vreal f[4]);

KERNEL_INLINE void separate(const ps_fmm_p2p *p, radial function, int64_t target, int64_t from,
                            int64_t count, separation *s)
{
    vreal r2 = v_of(0);
    for (int d = 0; d < 3; ++d) {
        s->r[d] =
            -v_from_doubles(p->sources->position[d] + from, count, p->targets->position[d][target]);
        r2 += s->r[d] * s->r[d];
    }
    vinteger apart = r2 > 0;
    for (int i = (int)(count < LANES ? count : LANES); i < LANES; ++i) apart[i] = 0;
    r2 = v_keep(apart, r2) + v_keep(~apart, v_of(1));
    function(r2, v_of(p->function.parameter), s->f);
    for (int n = 0; n < 4; ++n) s->f[n] = v_keep(apart, s->f[n]);
}

KERNEL_INLINE void sum_run(const ps_fmm_p2p *p, radial function, bool twice, bool dipoles,
                           int64_t target, ps_fmm_range run, vreal sums[PS_FMM_SIDES_MAX][ROWS])
{
    const ps_fmm_particles *from = p->sources;
    for (int64_t j = run.begin; j < run.end; j += LANES) {
        int64_t count = run.end - j;
        separation s;
        separate(p, function, target, j, count, &s);
        for (int side = 0; side < p->sides; ++side) {
            if (from->charges)
                add_charges(&s, v_from_doubles(from->charges + side * from->stride + j, count, 0),
                            twice, sums[side]);
            if (!dipoles) continue;
            vreal moment[3];
            for (int d = 0; d < 3; ++d)
                moment[d] =
                    v_from_doubles(from->dipoles + (3 * side + d) * from->stride + j, count, 0);
            add_dipoles(&s, moment, twice, sums[side]);
        }
    }
}

KERNEL_INLINE void put_sums(const ps_fmm_p2p *p, bool twice, int64_t target,
                            vreal sums[PS_FMM_SIDES_MAX][ROWS])
{
    const ps_fmm_particles *to = p->targets;
    for (int side = 0; side < p->sides; ++side) {
        to->potential[side * to->stride + target] += v_sum(sums[side][0]);
        for (int d = 0; d < 3; ++d)
            to->gradient[(3 * side + d) * to->stride + target] += v_sum(sums[side][1 + d]);
        for (int d = 0; d < 6 && twice; ++d)
            to->hessian[(6 * side + d) * to->stride + target] += v_sum(sums[side][4 + d]);
    }
}

KERNEL_INLINE void sum_all(const ps_fmm_p2p *p, radial function, bool twice, bool dipoles)
{
    for (int64_t i = p->target.begin; i < p->target.end; ++i) {
        vreal sums[PS_FMM_SIDES_MAX][ROWS];
        memset(sums, 0, sizeof sums[0] * (size_t)p->sides);
        for (int64_t run = 0; run < p->run_count; ++run)
            sum_run(p, function, twice, dipoles, i, p->runs[run], sums);
        put_sums(p, twice, i, sums);
    }
}

#define FUNCTIONS(NAME, name)                                                                      \
    static void name##_00(const ps_fmm_p2p *p) { sum_all(p, radial_##name, false, false); }        \
    static void name##_01(const ps_fmm_p2p *p) { sum_all(p, radial_##name, false, true); }         \
    static void name##_10(const ps_fmm_p2p *p) { sum_all(p, radial_##name, true, false); }         \
    static void name##_11(const ps_fmm_p2p *p) { sum_all(p, radial_##name, true, true); }
PS_FMM_COMMON_KERNELS(FUNCTIONS)
FUNCTIONS(COSINE, cosine)
FUNCTIONS(SINE, sine)

#define ENTRY(NAME, name) [PS_FMM_##NAME] = {{name##_00, name##_01}, {name##_10, name##_11}},
const struct ps_fmm_moment_functions PS_ISA_TABLE(ps_fmm_moment) = {
    .interact = {PS_FMM_COMMON_KERNELS(ENTRY) ENTRY(COSINE, cosine) ENTRY(SINE, sine)}};
