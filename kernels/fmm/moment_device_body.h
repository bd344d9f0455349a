/*
 * Moments on a device, a target, a point or a particle at a time: the includer defines
 * KERNEL_INLINE, v_exp and v_sine_cosine for vreal = real = double, after
 * kernels/fmm/device_adaptive.h. moment_cuda.cu runs them; the tests run them on the host.
 */
KERNEL_INLINE double v_rsqrt(double x) { return 1 / sqrt(x); }
KERNEL_INLINE double v_of(double x) { return x; }
#include "kernels/fmm/moment_function_body.h"
#include "kernels/fmm/moment_pair_body.h"

KERNEL_INLINE void radial_at(int kernel, double r2, double b, double f[4])
{
#define RADIAL_CASE(NAME, name)                                                                    \
    case PS_FMM_##NAME:                                                                            \
        radial_##name(r2, b, f);                                                                   \
        break;
    switch (kernel) {
        PS_FMM_COMMON_KERNELS(RADIAL_CASE)
        RADIAL_CASE(COSINE, cosine)
    default:
        radial_sine(r2, b, f);
    }
#undef RADIAL_CASE
}

/* ---- pairs ---- */

/* A source: its place, its charge and its dipole; what it has not is 0. */
typedef struct moment_source {
    double at[3], charge, dipole[3];
} moment_source;

/* Of particle j of rows[3 + columns][stride]. */
KERNEL_INLINE moment_source source_at(const ps_fmm_device_moments *m, const double *rows,
                                      int64_t stride, int side, int64_t j)
{
    moment_source s = {{0, 0, 0}, 0, {0, 0, 0}};
    for (int d = 0; d < 3; ++d) s.at[d] = rows[d * stride + j];
    if (m->charges >= 0) s.charge = rows[(3 + m->charges + side) * stride + j];
    for (int d = 0; d < 3 && m->dipoles >= 0; ++d)
        s.dipole[d] = rows[(3 + m->dipoles + 3 * side + d) * stride + j];
    return s;
}

/* Adds what it does at x. kernel -1: that of the function, told when it runs. */
KERNEL_INLINE void act_on(int kernel, const ps_fmm_function *f, const moment_source *s,
                          const double x[3], bool charges, bool dipoles, bool twice,
                          double sums[ROWS])
{
    separation from;
    double r2 = 0;
    for (int d = 0; d < 3; ++d) {
        from.r[d] = x[d] - s->at[d];
        r2 += from.r[d] * from.r[d];
    }
    radial_at(kernel < 0 ? (int)f->kernel : kernel, r2 > 0 ? r2 : 1, f->parameter, from.f);
    for (int n = 0; n < 4; ++n) from.f[n] = r2 > 0 ? from.f[n] : 0;
    if (charges) add_charges(&from, s->charge, twice, sums);
    if (dipoles) add_dipoles(&from, s->dipole, twice, sums);
}

/* ---- interpolation ---- */

/* S, S' and S'' of all points of an axis at x. */
KERNEL_INLINE void basis_of(int order, const double (*polynomials)[PS_FMM_ORDER_MAX], double x,
                            double value[], double slope[], double curve[])
{
    double t_before = 1, t = x, u_before = 0, u = 1, v_before = 0, v = 0; /* v: u' */
    for (int a = 0; a < order; ++a) {
        value[a] = polynomials[0][a];
        slope[a] = curve[a] = 0;
    }
    for (int n = 1; n < order; ++n) {
        for (int a = 0; a < order; ++a) {
            double p = polynomials[n][a];
            value[a] += p * t;
            slope[a] += p * n * u;
            curve[a] += p * n * v;
        }
        double t_next = 2 * x * t - t_before, u_next = 2 * x * u - u_before,
               v_next = 2 * u + 2 * x * v - v_before;
        t_before = t;
        t = t_next;
        u_before = u;
        u = u_next;
        v_before = v;
        v = v_next;
    }
}

/* What a particle gives point (m0, m1, m2); scale: d xi / d x. */
KERNEL_INLINE double moment_at(const moment_source *s, double scale, const double value[3],
                               const double slope[3])
{
    double across = s->dipole[0] * slope[0] * value[1] + s->dipole[1] * value[0] * slope[1];
    double plain = value[0] * value[1];
    return s->charge * plain * value[2] +
           scale * (across * value[2] + s->dipole[2] * plain * slope[2]);
}

/* Potential, gradient and second derivatives in cell coordinates, from locals[order^3]. */
KERNEL_INLINE void expand_twice(int order, const double *locals, double value[3][PS_FMM_ORDER_MAX],
                                double slope[3][PS_FMM_ORDER_MAX],
                                double curve[3][PS_FMM_ORDER_MAX], double out[ROWS])
{
    for (int r = 0; r < ROWS; ++r) out[r] = 0;
    for (int m0 = 0; m0 < order; ++m0) {
        double v0 = value[0][m0], s0 = slope[0][m0], c0 = curve[0][m0];
        double plain = 0, y = 0, z = 0, yy = 0, yz = 0, zz = 0;
        for (int m1 = 0; m1 < order; ++m1) {
            const double *row = locals + (m0 * order + m1) * order;
            double v = 0, s = 0, c = 0;
            for (int m2 = 0; m2 < order; ++m2) {
                v += row[m2] * value[2][m2];
                s += row[m2] * slope[2][m2];
                c += row[m2] * curve[2][m2];
            }
            plain += v * value[1][m1];
            y += v * slope[1][m1];
            z += s * value[1][m1];
            yy += v * curve[1][m1];
            yz += s * slope[1][m1];
            zz += c * value[1][m1];
        }
        out[0] += v0 * plain;
        out[1] += s0 * plain;
        out[2] += v0 * y;
        out[3] += v0 * z;
        out[4] += c0 * plain;
        out[5] += s0 * y;
        out[6] += s0 * z;
        out[7] += v0 * yy;
        out[8] += v0 * yz;
        out[9] += v0 * zz;
    }
}
