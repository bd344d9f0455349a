#include "kernels/common/mie.h"
#include "tests/check.h"

/* The guide's values (2.10): k = 2, R = 1, theta = 0 and pi. */
static void values_of_the_guide(void **state)
{
    static const struct {
        ps_mie_quantity quantity;
        double value[2][2];
    } table[] = {
        {PS_MIE_SOFT_DENSITY, {{.6524624143, .4414302891}, {4.6397737671, -.3327760824}}},
        {PS_MIE_SOFT_FAR, {{-1.3313709618, 1.4995437322}, {.4215600042, -.3320347630}}},
        {PS_MIE_HARD_SURFACE, {{-1.1274360756, -.0327695701}, {-1.0889213027, -1.2542124973}}},
    };
    const double cosines[2] = {1, -1};
    for (size_t q = 0; q < sizeof table / sizeof *table; ++q) {
        double out[2][2];
        check_ok(ps_mie(table[q].quantity, NULL, 2, 1, 2, cosines, out));
        for (int i = 0; i < 4; ++i)
            check_near(out[i / 2][i % 2], table[q].value[i / 2][i % 2], 1e-10, 0);
    }
}

/* The guide of hbem (6): rigid unit sphere, every 30 degrees: Phi and F at k = 1 and 5, to the nine
 * digits there; and the cross-sections int |F|^2. */
static void values_of_hbem(void **state)
{
    static const struct {
        double k, cross_section, value[7][4];
    } table[] = {{1,
                  1.01042686,
                  {{.0337487522, 1.0675871, .174854161, .0804072148},
                   {.23586879, .964092637, .107233499, .0755306898},
                   {.68056674, .565997506, -.0574836904, .0624132566},
                   {.962081172, -.147352174, -.238538582, .0449793875},
                   {.824087094, -.865550192, -.373945423, .0281033667},
                   {.484353921, -1.27334161, -.447153537, .0161016316},
                   {.320617271, -1.38168403, -.468913135, .0117829565}}},
                 {5,
                  4.09463715,
                  {{-.270230842, 1.11286008, .807506847, 1.62920435},
                   {.410302916, -.323680842, -.424075098, .848703353},
                   {-.758556662, .288930048, .294176708, .0666435205},
                   {1.23869636, -.152093341, .190180461, -.336267481},
                   {-1.46725169, -.70670851, -.446924197, -.230883873},
                   {-.38333176, 1.79274335, -.390938655, .254152254},
                   {.821492061, 1.68443273, -.369269786, .365979224}}}};
    for (int which = 0; which < 2; ++which) {
        double k = table[which].k, total;
        for (int i = 0; i < 7; ++i) {
            double cosine = cos(M_PI * i / 6), phi[2], far[2];
            const double *expected = table[which].value[i];
            check_ok(ps_mie(PS_MIE_HARD_SURFACE, NULL, k, 1, 1, &cosine, &phi));
            check_ok(ps_mie(PS_MIE_HARD_FAR, NULL, k, 1, 1, &cosine, &far));
            for (int part = 0; part < 2; ++part) {
                check_near(phi[part], expected[part], 0, 6e-9);
                check_near(far[part], expected[2 + part], 0, 6e-9);
            }
        }
        check_ok(ps_mie_cross_section(1, k, 1, &total));
        check_near(total, table[which].cross_section, 0, 5e-9);
    }
}

/* j_n y_{n-1} - j_{n-1} y_n = 1/x^2 links the two recurrences at every order. */
static void wronskian(void **state)
{
    static const double x[] = {1e-3, .05, .1, .7, 3.14159265358979, 4.4934094579, 20, 137.3, 700};
    double j[1024], y[1024];
    for (size_t i = 0; i < sizeof x / sizeof *x; ++i) {
        int valid = ps_spherical_bessel(x[i], (int)(x[i] + 12 + 4 * cbrt(x[i])), j, y);
        assert_true(valid >= 12);
        for (int n = 1; n < valid; ++n)
            check_near((j[n] * y[n - 1] - j[n - 1] * y[n]) * x[i] * x[i], 1, 0, 1e-12);
    }
}

/* Closed forms of low order, where they do not cancel. */
static void low_orders(void **state)
{
    double j[8], y[8];
    for (double x = .8; x < 40; x *= 1.37) {
        ps_spherical_bessel(x, 8, j, y);
        check_near(j[0], sin(x) / x, 1e-15, 1e-13);
        check_near(j[2], (3 / (x * x) - 1) * sin(x) / x - 3 * cos(x) / (x * x), 1e-14, 1e-12);
        check_near(y[1], -cos(x) / (x * x) - sin(x) / x, 1e-14, 1e-12);
    }
}

/* Orders beyond the range of doubles end the arrays with zeros. */
static void overflow_ends_the_orders(void **state)
{
    double j[64], y[64];
    int valid = ps_spherical_bessel(1e-6, 64, j, y);
    assert_true(valid > 10 && valid < 30);
    assert_true(fabs(y[valid - 1]) < 1e140);
    for (int n = valid; n < 64; ++n) assert_true(j[n] == 0 && y[n] == 0);
}

/* Energy: the cross-section equals (4 pi/k) Im f(0). */
static void optical_theorem(void **state)
{
    const double forward = 1;
    for (int hard = 0; hard < 2; ++hard)
        for (double kr = .01; kr < 600; kr *= 2.3) {
            const double radius = 1.7, k = kr / radius;
            double f[1][2], section;
            check_ok(
                ps_mie(hard ? PS_MIE_HARD_FAR : PS_MIE_SOFT_FAR, NULL, k, radius, 1, &forward, f));
            check_ok(ps_mie_cross_section(hard, k, radius, &section));
            check_near(4 * M_PI / k * f[0][1], section, 0, 1e-11);
        }
}

/* The series satisfies its boundary condition: u_inc + u_sc = 0, or, hard, equals the surface
 * value; and the scattered field decays to the far field. */
static void boundary_and_infinity(void **state)
{
    for (int hard = 0; hard < 2; ++hard)
        for (double k = .3; k < 30; k *= 2.1) {
            const double radius = .8;
            for (double c = -1; c <= 1; c += .25) {
                double u[1][2], surface[1][2] = {{0, 0}}, far[1][2], distance = radius;
                check_ok(ps_mie_scattered(hard, NULL, k, radius, 1, &c, &distance, u));
                if (hard) check_ok(ps_mie(PS_MIE_HARD_SURFACE, NULL, k, radius, 1, &c, surface));
                check_near(u[0][0] + cos(k * radius * c), surface[0][0], 1e-9, 0);
                check_near(u[0][1] + sin(k * radius * c), surface[0][1], 1e-9, 0);
                distance = 1e7;
                check_ok(ps_mie_scattered(hard, NULL, k, radius, 1, &c, &distance, u));
                check_ok(
                    ps_mie(hard ? PS_MIE_HARD_FAR : PS_MIE_SOFT_FAR, NULL, k, radius, 1, &c, far));
                double co = cos(k * distance), si = sin(k * distance);
                check_near(u[0][0] * distance, far[0][0] * co - far[0][1] * si, 1e-5, 0);
                check_near(u[0][1] * distance, far[0][1] * co + far[0][0] * si, 1e-5, 0);
            }
        }
}

/* The density is the normal derivative: p = -d_r (u_inc + u_sc), by central differences. */
static void density_is_the_derivative(void **state)
{
    const double k = 3.1, radius = 1, step = 1e-4;
    for (double c = -1; c <= 1; c += .5) {
        double p[1][2], u[2][2], cosines[2] = {c, c}, r[2] = {radius, radius + 2 * step};
        check_ok(ps_mie(PS_MIE_SOFT_DENSITY, NULL, k, radius, 1, &c, p));
        double middle[1][2], half = radius + step;
        check_ok(ps_mie_scattered(0, NULL, k, radius, 2, cosines, r, u));
        check_ok(ps_mie_scattered(0, NULL, k, radius, 1, &c, &half, middle));
        for (int part = 0; part < 2; ++part) {
            double v[3] = {u[0][part], middle[0][part], u[1][part]};
            for (int s = 0; s < 3; ++s) {
                double phase = k * (radius + s * step) * c;
                v[s] += part ? sin(phase) : cos(phase);
            }
            check_near((3 * v[0] - 4 * v[1] + v[2]) / (2 * step), p[0][part], 1e-6, 0);
        }
    }
}

static void static_limits(void **state)
{
    const double radius = 2.5, c[2] = {.3, -1};
    static const ps_mie_quantity all[] = {PS_MIE_SOFT_DENSITY, PS_MIE_SOFT_FAR, PS_MIE_HARD_SURFACE,
                                          PS_MIE_HARD_FAR};
    const double expected[] = {-1 / 2.5, -2.5, 1, 0};
    for (int q = 0; q < 4; ++q) {
        double zero[2][2], low[2][2];
        check_ok(ps_mie(all[q], NULL, 0, radius, 2, c, zero));
        check_ok(ps_mie(all[q], NULL, 1e-9, radius, 2, c, low));
        for (int i = 0; i < 2; ++i) {
            check_near(zero[i][0], expected[q], 0, 0);
            check_near(low[i][0], expected[q], 1e-7, 0);
            check_near(low[i][1], 0, 1e-7, 0);
        }
    }
}

static void refusals(void **state)
{
    double c = 0, r = .5, out[1][2];
    check_fails(ps_mie(PS_MIE_SOFT_FAR, NULL, 1e4, 1, 1, &c, out), PS_INVALID, "kR");
    check_fails(ps_mie_scattered(0, NULL, 1, 1, 1, &c, &r, out), PS_INVALID, "inside the sphere");
}

/* A sphere that gives way: values of the numerics guide at k = 2, beta = .1 + 1.2 s/(s^2+1.5 s+4)
 * at s = -2i, which is .9; scattered and surface agree there, and beta = 0 is the hard sphere. */
static void test_lined(void **state)
{
    static const double cosines[3] = {1, 0, -1}, surface[3] = {1, 1, 1};
    static const double beta[2] = {.9, 0}, none[2] = {0, 0};
    static const double guide[3][2] = {
        {-.3094282248, -.5509827341}, {.6610325265, .2030348110}, {-.4673121113, -.9416826700}};
    double out[3][2], scattered[3][2], hard[3][2];
    check_ok(ps_mie(PS_MIE_HARD_SURFACE, beta, 2, 1, 3, cosines, out));
    check_ok(ps_mie_scattered(true, beta, 2, 1, 3, cosines, surface, scattered));
    for (int i = 0; i < 3; ++i) {
        check_near(out[i][0], guide[i][0], 1e-9, 0);
        check_near(out[i][1], guide[i][1], 1e-9, 0);
        check_near(scattered[i][0] + cos(2 * cosines[i]), guide[i][0], 1e-9, 0);
        check_near(scattered[i][1] + sin(2 * cosines[i]), guide[i][1], 1e-9, 0);
    }
    check_ok(ps_mie(PS_MIE_HARD_FAR, none, 2, 1, 3, cosines, out));
    check_ok(ps_mie(PS_MIE_HARD_FAR, NULL, 2, 1, 3, cosines, hard));
    for (int i = 0; i < 3; ++i) check_near(out[i][0], hard[i][0], 1e-15, 0);
    check_fails(ps_mie(PS_MIE_SOFT_FAR, beta, 2, 1, 3, cosines, out), PS_INVALID, "gives way");
}
