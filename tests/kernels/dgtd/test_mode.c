/* mode: solves Maxwell's equations, is tangential to metal, and what is refused. */
#include "kernels/dgtd/mode.h"

#include "tests/check.h"

static const ps_dgtd_mode example = {
    {.1, -.2, .3}, {1, .8, 1.3}, {1, 2, 1}, {1, -.5, .26}, {2.5, 1.5, .7}};

/* curl_a = sum_bc eps_abc d_b u_c by differences: curl[field][component]. */
static void curls(const ps_dgtd_mode *mode, const double point[3], double t, double curl[2][3])
{
    const double h = 1e-5;
    for (int i = 0; i < 6; ++i) curl[i / 3][i % 3] = 0;
    for (int b = 0; b < 3; ++b) {
        double u[2][2][3];
        for (int side = 0; side < 2; ++side) {
            double moved[3] = {point[0], point[1], point[2]};
            moved[b] += side ? h : -h;
            ps_dgtd_mode_at(mode, moved, t, u[side][0], u[side][1]);
        }
        for (int f = 0; f < 2; ++f) {
            int c = (b + 1) % 3, a = (b + 2) % 3;
            curl[f][a] += (u[1][f][c] - u[0][f][c]) / (2 * h);
            curl[f][c] -= (u[1][f][a] - u[0][f][a]) / (2 * h);
        }
    }
}

static void solves_maxwell(void **state)
{
    const double h = 1e-5;
    uint64_t seed = 3;
    ps_dgtd_mode mode = example;
    /* A.k = 0 */
    mode.amplitude[2] = -(mode.amplitude[0] * 1 / 1. + mode.amplitude[1] * 2 / .8) * 1.3;
    double w, w1;
    check_ok(ps_dgtd_mode_check(&mode, &w, &w1));
    check_near(w1 * w1, w * w - .7 * .7 / 2.5 / 2.5 / 4, 0, 1e-14);
    for (int i = 0; i < 20; ++i) {
        double x[3], t = 2 * check_random(&seed), curl[2][3], u[3][2][3];
        for (int c = 0; c < 3; ++c) x[c] = mode.corner[c] + check_random(&seed) * mode.extent[c];
        curls(&mode, x, t, curl);
        for (int k = 0; k < 3; ++k) ps_dgtd_mode_at(&mode, x, t + (k - 1) * h, u[k][0], u[k][1]);
        for (int c = 0; c < 3; ++c) {
            double rate[2] = {(u[2][0][c] - u[0][0][c]) / (2 * h),
                              (u[2][1][c] - u[0][1][c]) / (2 * h)};
            check_near(2.5 * rate[0], curl[1][c] - .7 * u[1][0][c], 1e-7, 0);
            check_near(1.5 * rate[1], -curl[0][c], 1e-7, 0);
        }
    }
}

static void tangential_field_vanishes(void **state)
{
    double e[3], h[3];
    const double wall[3] = {1.1, .13, .9};
    ps_dgtd_mode mode = example;
    mode.amplitude[2] = -(1 - .5 * 2 / .8) * 1.3;
    ps_dgtd_mode_at(&mode, wall, .3, e, h);
    check_near(e[1], 0, 1e-15, 0);
    check_near(e[2], 0, 1e-15, 0);
    check_near(h[0], 0, 1e-15, 0);
    check_at_most(.01, fabs(e[0]));
    mode.medium.sigma = 0;
    ps_dgtd_mode_at(&mode, wall, 0, e, h);
    for (int c = 0; c < 3; ++c) check_near(h[c], 0, 0, 0);
}

static void refusals(void **state)
{
    double w, w1;
    ps_dgtd_mode mode = {{0}, {1, 1, 1}, {1, 1, 1}, {1, -1, 0}, {1, 1, 0}};
    check_ok(ps_dgtd_mode_check(&mode, &w, &w1));
    check_near(w, 5.441398092702653, 0, 1e-15);
#define refused(place, value, text)                                                                \
    check_fails_if(mode.place, value, ps_dgtd_mode_check(&mode, &w, &w1), PS_INVALID, text)
    refused(amplitude[1], 1, "not orthogonal");
    refused(medium.sigma, 11, "conducts too well");
    refused(number[2], -1, "half waves");
    mode = (ps_dgtd_mode){{0}, {1, 1, 1}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}};
    check_fails(ps_dgtd_mode_check(&mode, &w, &w1), PS_INVALID, "zero everywhere");
    mode.number[2] = 1;
    check_ok(ps_dgtd_mode_check(&mode, &w, &w1));
}
