#include "kernels/common/suboff.h"

#include <math.h>

static const double FOOT = .3048, LENGTH = 14.291667, RADIUS = 5. / 6, BOW = 10. / 3,
                    AFTERBODY = 10.645833, CAP = 13.979167, CAP_PART = .1175;

double ps_suboff_length(void) { return LENGTH * FOOT; }

static double bow(double x)
{
    double a = .3 * x - 1, a3 = a * a * a;
    double value = 1.126395101 * x * a3 * a + .442874707 * x * x * a3 + 1 - a3 * a * (1.2 * x + 1);
    return pow(fmax(value, 0), 1 / 2.1);
}

static double afterbody(double x)
{
    const double h = CAP_PART, a = 10, b = 44.6244;
    double u = (CAP - x) / 3.333333, h2 = h * h;
    double c3 = 20 - 20 * h2 - 4 * h * a - b / 3, c4 = -45 + 45 * h2 + 6 * h * a + b;
    double c5 = 36 - 36 * h2 - 4 * h * a - b, c6 = -10 + 10 * h2 + h * a + b / 3;
    return sqrt(h2 + u * u * (h * a + u * (c3 + u * (c4 + u * (c5 + u * c6)))));
}

static double cap(double x)
{
    double a = 3.2 * x - 44.733333;
    return CAP_PART * sqrt(fmax(1 - a * a, 0));
}

double ps_suboff_radius(double x)
{
    x /= FOOT;
    if (x <= 0 || x >= LENGTH) return 0;
    double part = x < BOW ? bow(x) : x < AFTERBODY ? 1 : x < CAP ? afterbody(x) : cap(x);
    return part * RADIUS * FOOT;
}
