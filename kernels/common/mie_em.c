#include "kernels/common/mie_em.h"

#include <math.h>

#include "kernels/common/complex_pair.h"
#include "kernels/common/mie.h"

static const double SPEED = 299792458.0, Z0 = 376.730313668;

/* j_n of a complex argument, n < count, by Miller's downward recurrence, scaled to the larger of
 * j_0 and j_1; small arguments by the leading terms. */
static void bessel_j(double complex z, int count, double complex *j)
{
    double size = cabs(z);
    if (size < 1e-6) {
        double complex power = 1;
        for (int n = 0; n < count; ++n) {
            j[n] = power * (1 - z * z / (2 * (2 * n + 3)));
            power *= z / (2 * n + 3);
        }
        return;
    }
    int start = (count > (int)size ? count : (int)size) + 30 + (int)(4 * cbrt(size));
    double complex above = 0, here = 1e-300, first[2] = {0, 0};
    for (int n = start; n >= 0; --n) {
        if (n < count) j[n] = here;
        if (n < 2) first[n] = here;
        double complex below = (2 * n + 1) / z * here - above;
        above = here;
        here = below;
        if (cabs(here) <= 1e200) continue;
        here *= 1e-200;
        above *= 1e-200;
        for (int m = n; m < count; ++m) j[m] *= 1e-200;
        for (int m = n; m < 2; ++m) first[m] *= 1e-200;
    }
    double complex j0 = csin(z) / z, j1 = size < .1 ? first[1] / first[0] * j0 : (j0 - ccos(z)) / z;
    double complex scale = cabs(j1) > cabs(j0) ? j1 / first[1] : j0 / first[0];
    for (int n = 0; n < count; ++n) j[n] *= scale;
}

/* [z f_n]' = z f_{n-1} - n f_n */
static double complex slope(const double complex *f, int n, double complex z)
{
    return z * f[n - 1] - n * f[n];
}

static void coefficients(ps_mie_em *s, double complex m, double x, const double complex *j,
                         const double complex *h, const double complex *inner)
{
    double complex z = m * x;
    double mu = s->mu;
    for (int n = 1; n <= s->terms; ++n) {
        double complex sj = slope(j, n, x), sh = slope(h, n, x);
        if (s->pec) {
            ps_complex_put(sj / sh, s->a[n]);
            ps_complex_put(j[n] / h[n], s->b[n]);
            continue;
        }
        double complex si = slope(inner, n, z);
        double complex low_a = m * m * inner[n] * sh - mu * h[n] * si;
        double complex low_b = mu * inner[n] * sh - h[n] * si;
        double complex wronskian = mu * (j[n] * sh - h[n] * sj);
        ps_complex_put((m * m * inner[n] * sj - mu * j[n] * si) / low_a, s->a[n]);
        ps_complex_put((mu * inner[n] * sj - j[n] * si) / low_b, s->b[n]);
        ps_complex_put(wronskian / low_b, s->c[n]);
        ps_complex_put(m * wronskian / low_a, s->d[n]);
    }
}

static ps_status check(const ps_mie_em_sphere *sphere, double frequency)
{
    if (!(sphere->radius > 0) || !(frequency > 0) || !isfinite(sphere->radius * frequency))
        return ps_fail(PS_INVALID, "a sphere of radius %g m at %g Hz: both must be positive",
                       sphere->radius, frequency);
    if (!sphere->pec && !(sphere->eps > 0 && sphere->mu > 0 && sphere->sigma >= 0))
        return ps_fail(PS_INVALID,
                       "a sphere with eps %g, mu %g, sigma %g: eps and mu must be positive, sigma "
                       "not negative",
                       sphere->eps, sphere->mu, sphere->sigma);
    return PS_OK;
}

ps_status ps_mie_em_init(ps_mie_em *s, const ps_mie_em_sphere *sphere, double frequency)
{
    double real[PS_MIE_EM_TERMS_MAX + 1], y[PS_MIE_EM_TERMS_MAX + 1];
    double complex j[PS_MIE_EM_TERMS_MAX + 1], h[PS_MIE_EM_TERMS_MAX + 1];
    double complex inner[PS_MIE_EM_TERMS_MAX + 1];
    PS_TRY(check(sphere, frequency));
    double w = 2 * M_PI * frequency, k = w / SPEED, x = k * sphere->radius;
    double terms = ceil(x + 12 + 4 * cbrt(x));
    double complex m = csqrt((sphere->eps + I * sphere->sigma * Z0 / k) * sphere->mu);
    if (!(terms < PS_MIE_EM_TERMS_MAX - 2))
        return ps_fail(PS_INVALID, "the series for the sphere serves kR < 400, not %g", x);
    if (!sphere->pec && !(fabs(cimag(m * x)) < 300))
        return ps_fail(PS_INVALID,
                       "the field decays by more than e^300 inside the sphere; take a PEC "
                       "one");
    *s = (ps_mie_em){.k = k,
                     .radius = sphere->radius,
                     .frequency = frequency,
                     .mu = sphere->mu,
                     .pec = sphere->pec};
    ps_complex_put(k * m, s->inside);
    int valid = ps_spherical_bessel(x, (int)terms + 1, real, y);
    s->terms = valid - 1 < (int)terms ? valid - 1 : (int)terms;
    for (int n = 0; n <= s->terms; ++n) {
        j[n] = real[n];
        h[n] = real[n] + I * y[n];
    }
    if (!s->pec) bessel_j(m * x, s->terms + 1, inner);
    coefficients(s, m, x, j, h, inner);
    return PS_OK;
}

void ps_mie_em_efficiency(const ps_mie_em *s, ps_mie_em_efficiencies *out)
{
    double x = s->k * s->radius, extinction = 0, scattering = 0, lost = 0;
    double complex back = 0;
    for (int n = s->terms; n >= 1; --n) {
        double complex a = ps_complex_of(s->a[n]), b = ps_complex_of(s->b[n]);
        extinction += (2 * n + 1) * creal(a + b);
        scattering += (2 * n + 1) * (creal(a * conj(a)) + creal(b * conj(b)));
        lost += (2 * n + 1) * (creal(a - a * conj(a)) + creal(b - b * conj(b)));
        back += (2 * n + 1) * (n % 2 ? -1 : 1) * (a - b);
    }
    out->extinction = 2 / (x * x) * extinction;
    out->scattering = 2 / (x * x) * scattering;
    out->absorption = 2 / (x * x) * lost;
    out->backscattering = creal(back * conj(back)) / (x * x);
}

/* pi_n, tau_n, n = 1 .. terms, at c = cos theta. */
static void angles(double c, int terms, double *pi, double *tau)
{
    pi[0] = 0;
    pi[1] = 1;
    for (int n = 2; n <= terms; ++n)
        pi[n] = ((2 * n - 1) * c * pi[n - 1] - n * pi[n - 2]) / (n - 1);
    for (int n = 1; n <= terms; ++n) tau[n] = n * c * pi[n] - (n + 1) * pi[n - 1];
}

/* Directions of spherical coordinates at a point; on the axis phi = 0. */
typedef struct frame {
    double r, cos_theta, sin_theta, cos_phi, sin_phi;
} frame;

static frame frame_at(const double x[3])
{
    double across = hypot(x[0], x[1]), r = hypot(across, x[2]);
    frame f = {.r = r,
               .cos_theta = r > 0 ? x[2] / r : 1,
               .sin_theta = r > 0 ? across / r : 0,
               .cos_phi = across > 0 ? x[0] / across : 1,
               .sin_phi = across > 0 ? x[1] / across : 0};
    return f;
}

static void to_cartesian(const frame *f, const double complex u[3], double out[3][2])
{
    double complex rho = f->sin_theta * u[0] + f->cos_theta * u[1];
    ps_complex_put(f->cos_phi * rho - f->sin_phi * u[2], out[0]);
    ps_complex_put(f->sin_phi * rho + f->cos_phi * u[2], out[1]);
    ps_complex_put(f->cos_theta * u[0] - f->sin_theta * u[1], out[2]);
}

/* Radial functions of one kind: z_n and [rho z_n]'/rho, z_n/rho; n = 1 .. terms. */
typedef struct radial {
    int terms;
    double complex z[PS_MIE_EM_TERMS_MAX], slope[PS_MIE_EM_TERMS_MAX], over[PS_MIE_EM_TERMS_MAX];
} radial;

static void fill_radial(radial *r, const double complex *z, int terms, double complex rho)
{
    r->terms = terms;
    for (int n = 1; n <= terms; ++n) {
        r->z[n] = z[n];
        r->over[n] = z[n] / rho;
        r->slope[n] = z[n - 1] - n * r->over[n];
    }
}

/* sum E_n (m_n M_o1n + n_n N_e1n) and sum E_n (m_n N_o1n + n_n M_e1n): E, and H up to a factor. */
static void sum_series(const radial *f, const frame *at, const double complex *m,
                       const double complex *n_factor, double complex e[3], double complex h[3])
{
    double pi[PS_MIE_EM_TERMS_MAX], tau[PS_MIE_EM_TERMS_MAX];
    double complex power = 1;
    angles(at->cos_theta, f->terms, pi, tau);
    for (int c = 0; c < 3; ++c) e[c] = h[c] = 0;
    for (int n = 1; n <= f->terms; ++n) {
        power *= I;
        double complex en = power * (2 * n + 1) / ((double)n * (n + 1));
        double complex p = en * m[n], q = en * n_factor[n];
        double complex radial_part = (double)n * (n + 1) * at->sin_theta * pi[n] * f->over[n];
        double c = at->cos_phi, s = at->sin_phi;
        e[0] += c * q * radial_part;
        e[1] += c * (p * pi[n] * f->z[n] + q * tau[n] * f->slope[n]);
        e[2] -= s * (p * tau[n] * f->z[n] + q * pi[n] * f->slope[n]);
        h[0] += s * p * radial_part;
        h[1] += s * (p * tau[n] * f->slope[n] - q * pi[n] * f->z[n]);
        h[2] += c * (p * pi[n] * f->slope[n] - q * tau[n] * f->z[n]);
    }
}

static void incident(const ps_mie_em *s, const double x[3], double sign, double e[3][2],
                     double h[3][2])
{
    double complex wave = sign * cexp(I * s->k * x[2]);
    ps_complex_put(ps_complex_of(e[0]) + wave, e[0]);
    ps_complex_put(ps_complex_of(h[1]) + wave / Z0, h[1]);
}

/* Inside: the total field. H = k1/(i w mu1) .. of curl E. */
static void inside(const ps_mie_em *s, const frame *at, double complex e[3], double complex h[3])
{
    double complex z[PS_MIE_EM_TERMS_MAX + 1], m[PS_MIE_EM_TERMS_MAX],
        n_factor[PS_MIE_EM_TERMS_MAX];
    radial f;
    double r = at->r > 1e-9 * s->radius ? at->r : 1e-9 * s->radius;
    double complex k1 = ps_complex_of(s->inside), rho = k1 * r;
    bessel_j(rho, s->terms + 1, z);
    fill_radial(&f, z, s->terms, rho);
    for (int n = 1; n <= s->terms; ++n) {
        m[n] = ps_complex_of(s->c[n]);
        n_factor[n] = -I * ps_complex_of(s->d[n]);
    }
    sum_series(&f, at, m, n_factor, e, h);
    for (int c = 0; c < 3; ++c) h[c] *= k1 / (I * s->k * s->mu * Z0);
}

/* Outside: the scattered field. */
static void outside(const ps_mie_em *s, const frame *at, double complex e[3], double complex h[3])
{
    double j[PS_MIE_EM_TERMS_MAX + 1], y[PS_MIE_EM_TERMS_MAX + 1];
    double complex z[PS_MIE_EM_TERMS_MAX + 1], m[PS_MIE_EM_TERMS_MAX],
        n_factor[PS_MIE_EM_TERMS_MAX];
    radial f;
    double rho = s->k * at->r;
    int valid = ps_spherical_bessel(rho, s->terms + 1, j, y);
    int terms = valid - 1 < s->terms ? valid - 1 : s->terms;
    for (int n = 0; n <= terms; ++n) z[n] = j[n] + I * y[n];
    fill_radial(&f, z, terms, rho);
    for (int n = 1; n <= terms; ++n) {
        m[n] = -ps_complex_of(s->b[n]);
        n_factor[n] = I * ps_complex_of(s->a[n]);
    }
    sum_series(&f, at, m, n_factor, e, h);
    for (int c = 0; c < 3; ++c) h[c] /= I * Z0;
}

void ps_mie_em_field(const ps_mie_em *s, ps_mie_em_part part, const double point[3], double e[3][2],
                     double h[3][2])
{
    frame at = frame_at(point);
    double complex u[3] = {0}, v[3] = {0};
    int within = at.r < s->radius;
    if (!within)
        outside(s, &at, u, v);
    else if (!s->pec)
        inside(s, &at, u, v);
    to_cartesian(&at, u, e);
    to_cartesian(&at, v, h);
    if (within && part == PS_MIE_EM_SCATTERED) incident(s, point, -1, e, h);
    if (!within && part == PS_MIE_EM_TOTAL) incident(s, point, 1, e, h);
}

void ps_mie_em_far(const ps_mie_em *s, const double direction[3], double e[3][2])
{
    double pi[PS_MIE_EM_TERMS_MAX], tau[PS_MIE_EM_TERMS_MAX];
    double complex s1 = 0, s2 = 0;
    frame at = frame_at(direction);
    angles(at.cos_theta, s->terms, pi, tau);
    for (int n = 1; n <= s->terms; ++n) {
        double factor = (2 * n + 1) / ((double)n * (n + 1));
        double complex a = ps_complex_of(s->a[n]), b = ps_complex_of(s->b[n]);
        s1 += factor * (a * pi[n] + b * tau[n]);
        s2 += factor * (a * tau[n] + b * pi[n]);
    }
    double complex scale = I / s->k; /* 1/(-ik) */
    double complex u[3] = {0, scale * at.cos_phi * s2, -scale * at.sin_phi * s1};
    to_cartesian(&at, u, e);
}
