/* Moving sources: they obey the wave equation where they are not, and their slopes are those of the
 * field. */
#include <math.h>
#include <string.h>

#include "kernels/tdbem/sound.h"
#include "tests/check.h"

static ps_sound rotor(ps_sound_kind kind)
{
    return (ps_sound){
        .kind = kind,
        .place = {1.2, .3, -.2},
        .velocity = {.05, -.1, .2},
        .centre = {.1, 0, .1},
        .axis = {0, .6, .8},
        .turning = .4,
        .force = {.6, 0, .8},
        .signal = {.kind = PS_SIGNAL_TONE, .amplitude = 2, .frequency = .15, .ramp = 3}};
}

static void the_field_obeys_the_wave_equation(void **state)
{
    for (int kind = PS_SOUND_PLANE; kind <= PS_SOUND_DIPOLE; ++kind) {
        ps_sound s = rotor((ps_sound_kind)kind);
        if (kind == PS_SOUND_PLANE) memcpy(s.place, (double[]){0, .6, .8}, sizeof s.place);
        const double x[3] = {3, -1, 2}, t = 9, c = 1.3, h = .02;
        double here = ps_sound_field(&s, c, x, t), laplace = 0, curve;
        for (int k = 0; k < 3; ++k)
            for (int side = -1; side <= 1; side += 2) {
                double near[3] = {x[0], x[1], x[2]}, far[3] = {x[0], x[1], x[2]};
                near[k] += side * h;
                far[k] += 2 * side * h;
                laplace += (16 * ps_sound_field(&s, c, near, t) - ps_sound_field(&s, c, far, t) -
                            15 * here) /
                           (12 * h * h);
            }
        curve = (16 * (ps_sound_field(&s, c, x, t + h) + ps_sound_field(&s, c, x, t - h)) -
                 ps_sound_field(&s, c, x, t + 2 * h) - ps_sound_field(&s, c, x, t - 2 * h) -
                 30 * here) /
                (12 * h * h);
        check_near(laplace, curve / (c * c), 0, 1e-5);
        assert_true(fabs(curve) > 1e-3);
    }
}

/* A source at rest in a flow along x: q(t - sigma/c)/(4 pi R*), sigma = (R* - M x)/b2, R*^2 = x^2 +
 * b2 (y^2 + z^2), b2 = 1 - M^2 (the convected wave equation in primed coordinates). */
static void a_source_in_a_flow_has_its_exact_field(void **state)
{
    const double c = 1.3, flow[3] = {.3 * c, 0, 0},
                 x[5][3] = {{2, 0, 0}, {-3, 0, 0}, {.5, 2, -1}, {-1, .3, .2}, {0, 0, 4}};
    ps_sound s = rotor(PS_SOUND_MONOPOLE);
    memset(s.velocity, 0, sizeof s.velocity);
    s.turning = 0;
    const ps_sound carried = ps_sound_in_flow(&s, flow);
    for (int i = 0; i < 5; ++i) {
        const double t = 9, b2 = 1 - .09, *r = x[i];
        double away = sqrt(r[0] * r[0] + b2 * (r[1] * r[1] + r[2] * r[2])), q[2], at[3];
        ps_signal_at(&s.signal, t - (away - .3 * r[0]) / b2 / c, q);
        for (int k = 0; k < 3; ++k) at[k] = s.place[k] + r[k] - flow[k] * t;
        check_near(ps_sound_field(&carried, c, at, t), q[0] / (4 * M_PI * away), 1e-13, 1e-12);
        assert_true(fabs(q[0]) > 1e-3);
    }
}

static void slopes_are_those_of_the_field(void **state)
{
    for (int kind = PS_SOUND_PLANE; kind <= PS_SOUND_DIPOLE; ++kind) {
        ps_sound s = rotor((ps_sound_kind)kind);
        if (kind == PS_SOUND_PLANE) memcpy(s.place, (double[]){0, .6, .8}, sizeof s.place);
        const double x[3] = {3, -1, 2}, v[3] = {2. / 3, -1. / 3, 2. / 3}, t = 9, c = 1.3, h = 1e-3;
        double at[4], y[3];
        for (int i = 0; i < 4; ++i) {
            for (int k = 0; k < 3; ++k) y[k] = x[k] + (i < 2 ? i - 2 : i - 1) * h * v[k];
            at[i] = ps_sound_field(&s, c, y, t);
        }
        check_near(ps_sound_slope(&s, c, x, v, t, .004),
                   (at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * h), 1e-11, 1e-7);
    }
}

/* A point force is the difference of two monopoles that go with it: F.grad of the monopole, taken
 * negative. */
static void a_dipole_is_two_monopoles(void **state)
{
    ps_sound d = rotor(PS_SOUND_DIPOLE), m = rotor(PS_SOUND_MONOPOLE);
    const double x[3] = {3, -1, 2}, t = 9, c = 1.3, h = 1e-3;
    double sum = 0;
    for (int side = -1; side <= 1; side += 2) {
        ps_sound moved = m;
        for (int k = 0; k < 3; ++k) moved.place[k] += side * h * d.force[k];
        sum += side * ps_sound_field(&moved, c, x, t) / (2 * h);
    }
    check_near(ps_sound_field(&d, c, x, t), sum, 0, 1e-5);
}
