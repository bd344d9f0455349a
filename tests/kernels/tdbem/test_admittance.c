/* Walls that give way (kernels/tdbem/admittance.h): the recursion against the convolution by
 * quadrature, what it absorbs, its symbol, the proof of passivity, and the text. */
#include "tests/check.h"
#include "tests/support/distance.h"

#include <complex.h>
#include <stdlib.h>

#include "kernels/tdbem/admittance.h"

enum { STEPS = 60, RULE = 8 };

/* The wall of the numerics guide: .1 + 1.2 s / (s^2 + 1.5 s + 4). */
static const char guide[] = "all:b0=.1:pair=.6,-.24271195,.75,1.854049622";
static const char mixed[] = "all:impedance=4:pole=.5,3:pole=-.02,.3:pair=.1,.05,.2,7";

static ps_admittance parse(const char *text)
{
    char where[PS_WHERE_MAX];
    ps_admittance beta;
    check_ok(ps_admittance_parse(text, where, &beta));
    return beta;
}

/* b*w for one signal. */
static void run(const ps_admittance *beta, double dt, int64_t count, const double *w, double *out)
{
    ps_admittance_filter filter;
    double state[2 * PS_POLES_MAX] = {0};
    ps_admittance_filter_init(beta, dt, &filter);
    for (int64_t n = 0; n < count; ++n) {
        out[n] = filter.direct * w[n];
        ps_admittance_past(&filter, 1, state, &out[n]);
        ps_admittance_advance(&filter, 1, &w[n], state);
    }
}

/* The kernel without its delta. */
static double kernel(const ps_admittance *beta, double t)
{
    double sum = 0;
    for (int j = 0; j < beta->count; ++j) {
        const ps_pole *p = &beta->poles[j];
        double complex a = p->residue[0] + I * p->residue[1], l = p->lambda[0] + I * p->lambda[1];
        sum += (p->pair ? 2 : 1) * creal(a * cexp(-l * t));
    }
    return sum;
}

/* Gauss-Legendre on (0, 1). */
static const double places[RULE] = {.0198550717512319, .1016667612931866, .2372337950418355,
                                    .4082826787521751, .5917173212478249, .7627662049581645,
                                    .8983332387068134, .9801449282487681};
static const double weights[RULE] = {.0506142681451881, .1111905172266872, .1568533229389436,
                                     .1813418916891810, .1813418916891810, .1568533229389436,
                                     .1111905172266872, .0506142681451881};

/* Mean over a step of what v = 1 in the step `back` before leaves; 0: in itself. */
static double mean_by_quadrature(const ps_admittance *beta, double dt, int back)
{
    double sum = 0;
    for (int a = 0; a < RULE; ++a)
        for (int b = 0; b < RULE; ++b) {
            double t = places[a], from = back ? places[b] : places[b] * t;
            sum += weights[a] * weights[b] * (back ? 1 : t) *
                   kernel(beta, ((double)back + t - from) * dt);
        }
    return sum * dt;
}

static void test_convolution(void **state)
{
    static const double steps[] = {1e-4, .05, .4};
    uint64_t seed = 7;
    for (int c = 0; c < 6; ++c) {
        ps_admittance beta = parse(c % 2 ? guide : mixed);
        double dt = steps[c / 2], w[STEPS], out[STEPS], means[STEPS], largest = 0;
        for (int n = 0; n < STEPS; ++n) w[n] = (2 * congruence_uniform(&seed) - 1);
        for (int n = 0; n < STEPS; ++n) means[n] = mean_by_quadrature(&beta, dt, n);
        run(&beta, dt, STEPS, w, out);
        for (int n = 0; n < STEPS; ++n) largest = worse_of(largest, fabs(out[n]));
        for (int n = 0; n < STEPS; ++n) {
            double sum = beta.b0 * w[n];
            for (int m = 0; m <= n; ++m) sum += means[n - m] * w[m];
            check_near(out[n], sum, 1e-12 * largest, 0);
        }
    }
}

/* What is absorbed up to any step is not negative, whatever the signal, and small steps of slow
 * poles lose no digits. */
static void test_absorbs(void **state)
{
    static const char *const walls[] = {guide, mixed, "a:pair=.6,-.24271195,.75,1.854049622",
                                        "a:b0=1:pair=-.000999,0,.001,1000"};
    uint64_t seed = 3;
    for (int c = 0; c < 4; ++c)
        for (int kind = 0; kind < 4; ++kind) {
            ps_admittance beta = parse(walls[c]);
            double w[400], out[400], absorbed = 0, most = 0;
            for (int n = 0; n < 400; ++n)
                w[n] = kind == 0   ? (2 * congruence_uniform(&seed) - 1)
                       : kind == 1 ? cos(.02 * n)
                       : kind == 2 ? 1 - 2 * (n % 2)
                                   : sin(.3 * n);
            run(&beta, c == 3 ? 1e-3 : .07, 400, w, out);
            for (int n = 0; n < 400; ++n) {
                absorbed += w[n] * out[n];
                most = worse_of(most, absorbed);
                check_at_most(-absorbed, 1e-8 * most);
            }
        }
}

/* sum_n response z^n against beta: second order in the step. */
static void test_symbol(void **state)
{
    ps_admittance beta = parse(guide);
    double w = 2, exact[2], errors[3];
    ps_admittance_at(&beta, w, exact);
    /* 1.2 s/(s^2 + 1.5 s + 4) at s = -2i, its resonance, is 1.2/1.5. */
    check_near(exact[0], .9, 0, 1e-7);
    check_near(exact[1], 0, 1e-7, 0);
    for (int c = 0; c < 3; ++c) {
        enum { MANY = 4000 };
        static double unit[MANY], out[MANY];
        double dt = .05 * (1 << c);
        double complex sum = 0;
        unit[0] = 1;
        run(&beta, dt, MANY, unit, out);
        for (int n = 0; n < MANY; ++n) sum += out[n] * cexp(I * w * dt * n);
        errors[c] = cabs(sum - exact[0] - I * exact[1]) / .9;
        check_at_most(-creal(sum), 0);
    }
    check_at_most(errors[0], .01 / 14 * 1.5); /* (w dt)^2/14, as the guide measured */
    check_near(errors[1] / errors[0], 4, .2, 0);
    check_near(errors[2] / errors[1], 4, .2, 0);
}

static void test_passivity(void **state)
{
    char where[PS_WHERE_MAX], text[256];
    ps_admittance beta;
    /* Re beta of the guide's resonance is 1.8 x/((4-x)^2 + 2.25 x): 0 at rest and far above. */
    parse("a:pair=.6,-.242711950090,.75,1.854049621773557");
    check_fails(ps_admittance_parse("a:b0=-.01:pair=.6,-.24271195,.75,1.854049622", where, &beta),
                PS_USAGE, "at 0 Hz");
    /* A dip of a thousandth of a bandwidth, which samples would miss: 1 - a/(.001) at w = 1000. */
    parse("a:b0=1:pair=-.0009999,0,.001,1000");
    check_fails(ps_admittance_parse("a:b0=1:pair=-.0010001,0,.001,1000", where, &beta), PS_USAGE,
                "at 159.155 Hz");
    /* Two terms each of which is negative somewhere, and whose sum is not: bounds must close in. */
    parse("a:pole=1,1:pole=-.5,2");
    check_fails(ps_admittance_parse("a:pole=1,1:pole=-2,1.5", where, &beta), PS_USAGE,
                "not passive");
    /* 1/(1+x) - A/(4+x) >= 0 for all x exactly when A <= 1: A = a lambda = 2 a. */
    for (int i = -1; i <= 1; i += 2) {
        snprintf(text, sizeof text, "a:pole=1,1:pole=%.17g,2", -.5 - i * 1e-3);
        ps_status status = ps_admittance_parse(text, where, &beta);
        assert_int_equal(status, i > 0 ? PS_USAGE : PS_OK);
    }
    /* Poles over four decades, as a liner has in Hz. */
    parse("a:b0=.05:pole=30,60:pair=900,100,400,6000:pair=2e4,-3e3,9e3,9e4");
}

static void test_text(void **state)
{
    char where[PS_WHERE_MAX], text[PS_ADMITTANCE_TEXT], again[PS_ADMITTANCE_TEXT];
    ps_admittance beta, copy;
    check_ok(ps_admittance_parse("rear wall:b0=.25:impedance=4:pole=.1,3", where, &beta));
    assert_string_equal(where, "rear wall");
    check_near(beta.b0, .5, 0, 0);
    ps_admittance_print(where, &beta, text, sizeof text);
    check_ok(ps_admittance_parse(text, where, &copy));
    ps_admittance_print(where, &copy, again, sizeof again);
    assert_string_equal(text, again);
    assert_memory_equal(&beta, &copy, sizeof beta);
    static const char *const wrong[][2] = {
        {"", "part of the mesh"},           {"all", "nothing gives way"},
        {"all:b0=0", "nothing gives way"},  {"all:b0=x", "one number"},
        {"all:b0=1,2", "one number"},       {"all:pole=1", "two numbers"},
        {"all:pair=1,2,3", "four numbers"}, {"all:beta=1", "unknown part"},
        {"all:impedance=0", "soft"},        {"all:b0=1:pole=1,-2", "does not decay"},
        {"all:b0=-1", "not passive"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i)
        check_fails(ps_admittance_parse(wrong[i][0], where, &beta), PS_USAGE, wrong[i][1]);
    char many[512] = "all:b0=1";
    for (int i = 0; i <= PS_POLES_MAX; ++i) strcat(many, ":pole=1,1");
    check_fails(ps_admittance_parse(many, where, &beta), PS_USAGE, "too many");
}
