#include "kernels/common/mie_em.h"
#include "tests/check.h"

static double size(double x[3][2])
{
    double sum = 0;
    for (int i = 0; i < 6; ++i) sum += x[i / 2][i % 2] * x[i / 2][i % 2];
    return sqrt(sum);
}

/* Absorption and field at the centre of three spheres: numerics guide, section 6, six digits. */
static void reference_values(void **state)
{
    static const struct {
        double radius, frequency, eps, sigma, absorption, centre;
    } cases[] = {{.05, 9e8, 41.5, .97, 1.17487, .41450},
                 {.2, 3e8, 4, .02, 1.24456, .85614},
                 {.2, 3e8, 4, 0, 0, 1.03291}};
    for (int i = 0; i < 3; ++i) {
        ps_mie_em series;
        ps_mie_em_efficiencies q;
        const ps_mie_em_sphere sphere = {cases[i].radius, cases[i].eps, 1, cases[i].sigma, 0};
        double e[3][2], h[3][2];
        check_ok(ps_mie_em_init(&series, &sphere, cases[i].frequency));
        ps_mie_em_efficiency(&series, &q);
        check_near(q.absorption, cases[i].absorption, 5e-6, 0);
        check_near(q.extinction, q.scattering + q.absorption, 0, 1e-12);
        ps_mie_em_field(&series, PS_MIE_EM_TOTAL, (double[3]){0, 0, 0}, e, h);
        check_near(size(e), cases[i].centre, 5e-6, 0);
        check_near(hypot(series.d[1][0], series.d[1][1]), cases[i].centre, 5e-6, 0);
    }
}

/* Tangential E and H, and eps_c E_n, are continuous across the surface; E_t = 0 on a conductor. */
static void boundary_conditions(void **state)
{
    static const ps_mie_em_sphere spheres[] = {
        {.05, 41.5, 1, .97, 0}, {.3, 2.5, 1.7, 0, 0}, {.1, 4, 1, 50, 0}, {.2, 1, 1, 0, 1}};
    uint64_t seed = 9;
    for (int i = 0; i < 4; ++i) {
        ps_mie_em series;
        check_ok(ps_mie_em_init(&series, &spheres[i], 1.1e9));
        for (int n = 0; n < 20; ++n) {
            double z = 2 * check_random(&seed) - 1, phi = 6.283 * check_random(&seed), in[3],
                   out[3];
            double normal[3] = {sqrt(1 - z * z) * cos(phi), sqrt(1 - z * z) * sin(phi), z};
            double e[2][3][2], h[2][3][2];
            for (int c = 0; c < 3; ++c) {
                in[c] = normal[c] * spheres[i].radius * (1 - 1e-13);
                out[c] = normal[c] * spheres[i].radius * (1 + 1e-13);
            }
            ps_mie_em_field(&series, PS_MIE_EM_TOTAL, in, e[0], h[0]);
            ps_mie_em_field(&series, PS_MIE_EM_TOTAL, out, e[1], h[1]);
            for (int part = 0; part < 2; ++part)
                for (int c = 0; c < 3; ++c) {
                    int a = (c + 1) % 3, b = (c + 2) % 3;
                    double jump_e = 0, jump_h = 0;
                    for (int k = 0; k < 2; ++k) {
                        double sign = k ? 1 : -1;
                        jump_e += sign * (normal[a] * e[k][b][part] - normal[b] * e[k][a][part]);
                        jump_h += sign * (normal[a] * h[k][b][part] - normal[b] * h[k][a][part]);
                    }
                    check_near(jump_e, 0, 1e-9, 0);
                    if (!spheres[i].pec) check_near(jump_h * 376.73, 0, 1e-9, 0);
                }
        }
    }
}

/* H is the curl of E over i w mu: inside and outside, by differences. */
static void maxwell(void **state)
{
    const ps_mie_em_sphere sphere = {.05, 6, 1.5, .3, 0};
    static const double points[][3] = {{.01, .02, -.03}, {.04, -.05, .06}, {0, .03, .01}};
    ps_mie_em series;
    check_ok(ps_mie_em_init(&series, &sphere, 1.3e9));
    for (int i = 0; i < 3; ++i) {
        double e[3][2], h[3][2], d[3][3][2], step = 1e-5;
        for (int a = 0; a < 3; ++a) {
            double low[3], high[3], below[3][2], above[3][2];
            memcpy(low, points[i], sizeof low);
            memcpy(high, points[i], sizeof high);
            low[a] -= step;
            high[a] += step;
            ps_mie_em_field(&series, PS_MIE_EM_TOTAL, low, below, h);
            ps_mie_em_field(&series, PS_MIE_EM_TOTAL, high, above, h);
            for (int k = 0; k < 6; ++k)
                d[a][k / 2][k % 2] = (above[k / 2][k % 2] - below[k / 2][k % 2]) / (2 * step);
        }
        ps_mie_em_field(&series, PS_MIE_EM_TOTAL, points[i], e, h);
        double mu =
            size((double[3][2]){{points[i][0]}, {points[i][1]}, {points[i][2]}}) < .05 ? 1.5 : 1;
        double factor = 2 * M_PI * 1.3e9 * 4e-7 * M_PI * mu;
        for (int c = 0; c < 3; ++c) {
            int a = (c + 1) % 3, b = (c + 2) % 3; /* curl E = i w mu H */
            check_near(d[a][b][0] - d[b][a][0], -factor * h[c][1], 1e-4, 1e-6);
            check_near(d[a][b][1] - d[b][a][1], factor * h[c][0], 1e-4, 1e-6);
        }
    }
}

/* The far field is the limit of the near field; the optical theorem; Rayleigh; a large PEC sphere
 * backscatters like a disc of its cross-section. */
static void far_field(void **state)
{
    const ps_mie_em_sphere sphere = {.1, 3, 1, .1, 0};
    ps_mie_em series;
    ps_mie_em_efficiencies q;
    double e[3][2], near[3][2], h[3][2], direction[3] = {.48, -.6, .64}, point[3], r = 1e5;
    check_ok(ps_mie_em_init(&series, &sphere, 1e9));
    ps_mie_em_far(&series, direction, e);
    for (int c = 0; c < 3; ++c) point[c] = r * direction[c];
    ps_mie_em_field(&series, PS_MIE_EM_SCATTERED, point, near, h);
    check_near(r * size(near), size(e), 0, 1e-5);
    ps_mie_em_efficiency(&series, &q);
    ps_mie_em_far(&series, (double[3]){0, 0, 1}, e);
    check_near(4 * M_PI / series.k * e[0][1], q.extinction * M_PI * .01, 0, 1e-12);
    ps_mie_em_far(&series, (double[3]){0, 0, -1}, e);
    check_near(4 * M_PI * size(e) * size(e), q.backscattering * M_PI * .01, 0, 1e-12);
    const ps_mie_em_sphere small = {1e-3, 5, 1, 0, 0}; /* Q_sca = 8/3 x^4 |(eps-1)/(eps+2)|^2 */
    check_ok(ps_mie_em_init(&series, &small, 1e8));
    ps_mie_em_efficiency(&series, &q);
    check_near(q.scattering, 8. / 3 * pow(series.k * 1e-3, 4) * 16 / 49, 0, 1e-5);
    check_near(q.absorption, 0, 1e-20, 0);
    const ps_mie_em_sphere metal = {1, 1, 1, 0, 1}; /* Rayleigh: backscattering 9 x^4 */
    check_ok(ps_mie_em_init(&series, &metal, 3e6));
    ps_mie_em_efficiency(&series, &q);
    check_near(q.backscattering, 9 * pow(series.k, 4), 0, 5e-3);
    check_ok(ps_mie_em_init(&series, &metal, 299792458. * 50 / (2 * M_PI)));
    ps_mie_em_efficiency(&series, &q);
    check_near(q.backscattering, 1, .02, 0);
    check_near(q.extinction, 2, .2, 0);
}

static void refuses(void **state)
{
    static ps_mie_em series;
    check_fails(ps_mie_em_init(&series, &(ps_mie_em_sphere){0, 1, 1, 0, 0}, 1e9), PS_INVALID,
                "positive");
    check_fails(ps_mie_em_init(&series, &(ps_mie_em_sphere){1, -1, 1, 0, 0}, 1e9), PS_INVALID,
                "eps");
    check_fails(ps_mie_em_init(&series, &(ps_mie_em_sphere){1, 1, 1, 0, 0}, 1e12), PS_INVALID,
                "kR");
    check_fails(ps_mie_em_init(&series, &(ps_mie_em_sphere){1, 1, 1, 1e4, 0}, 1e9), PS_INVALID,
                "PEC");
}
