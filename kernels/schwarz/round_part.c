#include "kernels/schwarz/round_part.h"

#include <math.h>
#include <stdbool.h>

/* Ends of pieces, ascending. */
typedef struct pieces {
    int count;
    double end[24];
} pieces;

static pieces between(double low, double high) { return (pieces){2, {low, high}}; }

static void cut(pieces *p, double at)
{
    int k = p->count;
    if (!(at > p->end[0] && at < p->end[k - 1])) return;
    for (; p->end[k - 1] > at; --k) p->end[k] = p->end[k - 1];
    p->end[k] = at;
    ++p->count;
}

/* Where a circle of this radius is as far from its middle line as `distance`. */
static void cut_both(pieces *p, double radius, double distance)
{
    if (!(fabs(distance) < radius)) return;
    double at = sqrt((radius - distance) * (radius + distance));
    cut(p, -at);
    cut(p, at);
}

typedef struct part {
    double radius;
    const double *x, *y;
} part;

/* On each piece; `ends`: what is not smooth where pieces end is so in the sine of an angle. */
static double integrate(const pieces *p, double (*at)(const part *, double), const part *of,
                        bool ends)
{
    static const double node[5] = {0.1488743389816312, 0.4333953941292472, 0.6794095682990244,
                                   0.8650633666889845, 0.9739065285171717};
    static const double weight[5] = {0.2955242247147529, 0.2692667193099963, 0.2190863625159820,
                                     0.1494513491505806, 0.0666713443086881};
    const double quarter = 1.57079632679489661923;
    double sum = 0;
    for (int k = 0; k + 1 < p->count; ++k) {
        double middle = (p->end[k] + p->end[k + 1]) / 2, half = (p->end[k + 1] - p->end[k]) / 2;
        for (int g = 0; g < 10; ++g) {
            double t = g % 2 ? node[g / 2] : -node[g / 2], w = weight[g / 2];
            if (ends) {
                w *= quarter * cos(quarter * t);
                t = sin(quarter * t);
            }
            sum += w * half * at(of, middle + half * t);
        }
    }
    return sum;
}

/* Of the chord at x = radius sin(angle), in which it is smooth. */
static double chord(const part *of, double angle)
{
    double half = of->radius * cos(angle);
    return half * fmax(fmin(half, of->y[1]) - fmax(-half, of->y[0]), 0);
}

double ps_disc_part(double radius, const double x[2], const double y[2])
{
    const part of = {radius, x, y};
    double low = fmax(x[0], -radius), high = fmin(x[1], radius);
    if (!(low < high)) return 0;
    pieces p = between(low, high);
    for (int k = 0; k < 2; ++k) cut_both(&p, radius, y[k]);
    for (int k = 0; k < p.count; ++k) p.end[k] = asin(p.end[k] / radius);
    return integrate(&p, chord, &of, false);
}

static double slice(const part *of, double z)
{
    return ps_disc_part(sqrt(fmax((of->radius - z) * (of->radius + z), 0)), of->x, of->y);
}

double ps_ball_part(double radius, const double x[2], const double y[2], const double z[2])
{
    const part of = {radius, x, y};
    double low = fmax(z[0], -radius), high = fmin(z[1], radius);
    if (!(low < high)) return 0;
    pieces p = between(low, high);
    for (int k = 0; k < 2; ++k) {
        cut_both(&p, radius, x[k]);
        cut_both(&p, radius, y[k]);
        for (int l = 0; l < 2; ++l) cut_both(&p, radius, hypot(x[k], y[l]));
    }
    return integrate(&p, slice, &of, true);
}
