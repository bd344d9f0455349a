#include "kernels/common/mie.h"

#include <math.h>
#include <stddef.h>

#include "kernels/common/complex_pair.h"

static const double HUGE_Y = 1e140;

/* j_0 and j_1 with full relative accuracy. */
static void bessel_j01(double x, double out[2])
{
    out[0] = sin(x) / x;
    out[1] = x < 0.1 ? x / 3 * (1 - x * x / 10 * (1 - x * x / 28 * (1 - x * x / 54)))
                     : (out[0] - cos(x)) / x;
}

/* Upward: j does not decay before n = x, so nothing is lost for count < x. */
static void bessel_j_upward(double x, int count, double *j)
{
    double first[2];
    bessel_j01(x, first);
    for (int n = 0; n < count; ++n) j[n] = n < 2 ? first[n] : (2 * n - 1) / x * j[n - 1] - j[n - 2];
}

/* j by Miller's downward recurrence from well beyond both count and x, scaled to the larger
 * of j_0 and j_1 (they have no common zero). */
static void bessel_j_downward(double x, int count, double *j)
{
    int start = (count > (int)x ? count : (int)x) + 30 + (int)(4 * cbrt(x));
    double above = 0, here = 1e-300, first[2] = {0, 0};
    for (int n = start; n >= 0; --n) {
        /* here = j_n, above = j_{n+1}, up to a factor */
        if (n < count) j[n] = here;
        if (n < 2) first[n] = here;
        double below = (2 * n + 1) / x * here - above;
        above = here;
        here = below;
        if (fabs(here) > 1e200) {
            here *= 1e-200;
            above *= 1e-200;
            for (int m = n; m < count; ++m) j[m] *= 1e-200;
            if (n < 2) first[n] *= 1e-200;
            if (n < 1) first[1] *= 1e-200;
        }
    }
    double exact[2];
    bessel_j01(x, exact);
    int larger = fabs(exact[1]) > fabs(exact[0]);
    double scale = exact[larger] / first[larger];
    for (int n = 0; n < count; ++n) j[n] *= scale;
}

int ps_spherical_bessel(double x, int count, double *j, double *y)
{
    if (count < x)
        bessel_j_upward(x, count, j);
    else
        bessel_j_downward(x, count, j);
    int valid = 0;
    double below = sin(x) / x, here = -cos(x) / x; /* y_{-1}, y_0 */
    while (valid < count && fabs(here) < HUGE_Y) {
        double above = (2 * valid + 1) / x * here - below;
        y[valid++] = here;
        below = here;
        here = above;
    }
    for (int n = valid; n < count; ++n) j[n] = y[n] = 0;
    return valid;
}

/* Legendre polynomials P_0..P_{count-1} at c by the three-term recurrence. */
static void legendre(double c, int count, double *out)
{
    if (count > 0) out[0] = 1;
    if (count > 1) out[1] = c;
    for (int n = 2; n < count; ++n)
        out[n] = ((2 * n - 1) * c * out[n - 1] - (n - 1) * out[n - 2]) / n;
}

/* Number of terms for kr, or 0 if there are too many. */
static int term_count(double kr)
{
    double terms = ceil(kr + 12 + 4 * cbrt(kr));
    return terms <= PS_MIE_TERMS_MAX - 2 ? (int)terms : 0;
}

static double complex power_of_i(int n)
{
    static const double re[4] = {1, 0, -1, 0}, im[4] = {0, 1, 0, -1};
    return re[n & 3] + I * im[n & 3];
}

/* Derivative by f_n' = f_{n-1} - (n+1)/x f_n, f_{-1}' from f_0' = -f_1. */
static double slope(const double *f, int n, double x)
{
    return n ? f[n - 1] - (n + 1) / x * f[n] : -f[1];
}

typedef struct sphere_series {
    int terms;
    double complex h[PS_MIE_TERMS_MAX];         /* h_n or, hard, h_n' at kR */
    double complex numerator[PS_MIE_TERMS_MAX]; /* j_n or j_n' at kR        */
} sphere_series;

static ps_status series_at(bool hard, const double *beta, double kr, sphere_series *series)
{
    double j[PS_MIE_TERMS_MAX], y[PS_MIE_TERMS_MAX];
    int terms = term_count(kr);
    if (!(kr > 0) || !terms)
        return ps_fail(PS_INVALID, "the series for the sphere serves 0 < kR < %d, not %g",
                       PS_MIE_TERMS_MAX - 64, kr);
    int valid = ps_spherical_bessel(kr, terms + 1, j, y);
    series->terms = valid < terms ? valid : terms;
    for (int n = 0; n < series->terms; ++n) {
        if (hard && n == 0 && valid < 2) y[1] = -1 / (kr * kr); /* kR < 1e-70 */
        double complex give = beta ? I * (beta[0] + I * beta[1]) : 0;
        series->numerator[n] = (hard ? slope(j, n, kr) : j[n]) + give * j[n];
        series->h[n] = (hard ? slope(j, n, kr) : j[n]) + I * (hard ? slope(y, n, kr) : y[n]) +
                       give * (j[n] + I * y[n]);
    }
    return PS_OK;
}

/* The factor of (2n+1) P_n in the series of each quantity. */
static void coefficients(ps_mie_quantity quantity, double k, double radius,
                         const sphere_series *series, double complex *out)
{
    double kr = k * radius;
    for (int n = 0; n < series->terms; ++n) {
        double complex h = series->h[n];
        switch (quantity) {
        case PS_MIE_SOFT_DENSITY:
            out[n] = I / (k * radius * radius) * power_of_i(n) / h;
            break;
        case PS_MIE_HARD_SURFACE:
            out[n] = I / (kr * kr) * power_of_i(n) / h;
            break;
        case PS_MIE_SOFT_FAR:
        case PS_MIE_HARD_FAR:
            out[n] = I / k * series->numerator[n] / h;
            break;
        }
        out[n] *= 2 * n + 1;
    }
}

static double complex legendre_sum(const double complex *factors, int terms, double c)
{
    double p[PS_MIE_TERMS_MAX];
    double complex sum = 0;
    legendre(c, terms, p);
    for (int n = terms - 1; n >= 0; --n) sum += factors[n] * p[n];
    return sum;
}

static ps_status check_admittance(bool hard, const double *beta)
{
    if (hard || !beta) return PS_OK;
    return ps_fail(PS_INVALID, "a soft sphere gives way altogether: it has no admittance");
}

static double static_limit(ps_mie_quantity quantity, double radius)
{
    switch (quantity) {
    case PS_MIE_SOFT_DENSITY:
        return -1 / radius;
    case PS_MIE_SOFT_FAR:
        return -radius;
    case PS_MIE_HARD_SURFACE:
        return 1;
    default:
        return 0;
    }
}

ps_status ps_mie(ps_mie_quantity quantity, const double beta[2], double k, double radius,
                 int64_t count, const double *cosines, double (*out)[2])
{
    sphere_series series;
    double complex factors[PS_MIE_TERMS_MAX];
    bool hard = quantity == PS_MIE_HARD_SURFACE || quantity == PS_MIE_HARD_FAR;
    PS_TRY(check_admittance(hard, beta));
    if (k == 0) {
        for (int64_t i = 0; i < count; ++i) {
            out[i][0] = static_limit(quantity, radius);
            out[i][1] = 0;
        }
        return PS_OK;
    }
    PS_TRY(series_at(hard, beta, k * radius, &series));
    coefficients(quantity, k, radius, &series, factors);
    for (int64_t i = 0; i < count; ++i) {
        ps_complex_put(legendre_sum(factors, series.terms, cosines[i]), out[i]);
    }
    return PS_OK;
}

ps_status ps_mie_scattered(bool hard, const double beta[2], double k, double radius, int64_t count,
                           const double *cosines, const double *distances, double (*out)[2])
{
    sphere_series series;
    double j[PS_MIE_TERMS_MAX], y[PS_MIE_TERMS_MAX];
    double complex factors[PS_MIE_TERMS_MAX];
    PS_TRY(check_admittance(hard, beta));
    if (k == 0) {
        for (int64_t i = 0; i < count; ++i) {
            out[i][0] = hard ? 0 : -radius / distances[i];
            out[i][1] = 0;
        }
        return PS_OK;
    }
    PS_TRY(series_at(hard, beta, k * radius, &series));
    for (int64_t i = 0; i < count; ++i) {
        if (!(distances[i] >= radius * (1 - 1e-12)))
            return ps_fail(PS_INVALID, "a point at %g m lies inside the sphere of radius %g m",
                           distances[i], radius);
        ps_spherical_bessel(k * distances[i], series.terms, j, y);
        for (int n = 0; n < series.terms; ++n)
            factors[n] = -(2 * n + 1) * power_of_i(n) * (j[n] + I * y[n]) *
                         (series.numerator[n] / series.h[n]);
        ps_complex_put(legendre_sum(factors, series.terms, cosines[i]), out[i]);
    }
    return PS_OK;
}

ps_status ps_mie_cross_section(int hard, double k, double radius, double *out)
{
    sphere_series series;
    PS_TRY(series_at(hard, NULL, k * radius, &series));
    double sum = 0;
    for (int n = series.terms - 1; n >= 0; --n) {
        double c = cabs(series.numerator[n] / series.h[n]);
        sum += (2 * n + 1) * c * c;
    }
    *out = 4 * M_PI / (k * k) * sum;
    return PS_OK;
}
