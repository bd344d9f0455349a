#include "kernels/dgtd/mode.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

static void waves(const ps_dgtd_mode *x, double k[3], double *undamped)
{
    double square = 0;
    for (int c = 0; c < 3; ++c) {
        k[c] = pi * x->number[c] / x->extent[c];
        square += k[c] * k[c];
    }
    *undamped = sqrt(square / (x->medium.eps * x->medium.mu));
}

ps_status ps_dgtd_mode_check(const ps_dgtd_mode *x, double *undamped, double *damped)
{
    double k[3], along = 0, size = 0, least = 0, s = x->medium.sigma / x->medium.eps;
    for (int c = 0; c < 3; ++c)
        if (x->number[c] < 0 || !(x->extent[c] > 0))
            return ps_fail(PS_INVALID, "a mode has half waves >= 0 in a box of positive sides");
    waves(x, k, undamped);
    for (int c = 0; c < 3; ++c) {
        /* The field of a component vanishes where one of the other two numbers is 0. */
        int lives = x->number[(c + 1) % 3] > 0 && x->number[(c + 2) % 3] > 0;
        along += x->amplitude[c] * k[c];
        size += fabs(x->amplitude[c] * k[c]);
        least += lives * fabs(x->amplitude[c]);
    }
    if (!(least > 0))
        return ps_fail(PS_INVALID,
                       "mode (%d, %d, %d) with amplitude (%g, %g, %g) is zero everywhere",
                       x->number[0], x->number[1], x->number[2], x->amplitude[0], x->amplitude[1],
                       x->amplitude[2]);
    if (!(fabs(along) <= 1e-12 * size))
        return ps_fail(PS_INVALID,
                       "the amplitude (%g, %g, %g) of mode (%d, %d, %d) is not orthogonal to its "
                       "wave vector (%g, %g, %g)",
                       x->amplitude[0], x->amplitude[1], x->amplitude[2], x->number[0],
                       x->number[1], x->number[2], k[0], k[1], k[2]);
    if (!(s < 2 * *undamped))
        return ps_fail(PS_INVALID,
                       "mode (%d, %d, %d) does not oscillate: the medium conducts too "
                       "well",
                       x->number[0], x->number[1], x->number[2]);
    *damped = sqrt(*undamped * *undamped - s * s / 4);
    return PS_OK;
}

void ps_dgtd_mode_at(const ps_dgtd_mode *x, const double point[3], double t, double e[3],
                     double h[3])
{
    double k[3], w, sine[3], cosine[3], s = x->medium.sigma / x->medium.eps;
    waves(x, k, &w);
    double w1 = sqrt(w * w - s * s / 4), damp = exp(-s * t / 2), et = damp * cos(w1 * t);
    double ht = -(s / 2 * et - w1 * damp * sin(w1 * t)) / w;
    for (int c = 0; c < 3; ++c) sincos(k[c] * (point[c] - x->corner[c]), &sine[c], &cosine[c]);
    for (int a = 0; a < 3; ++a) {
        int b = (a + 1) % 3, c = (a + 2) % 3;
        double turned = x->amplitude[b] * k[c] - x->amplitude[c] * k[b];
        e[a] = et * x->amplitude[a] * cosine[a] * sine[b] * sine[c];
        h[a] = ht * turned / (x->medium.mu * w) * sine[a] * cosine[b] * cosine[c];
    }
}
