#include "kernels/schwarz/prism.h"

#include <math.h>

/* The arctangent of a / b, whichever the sign of b. */
static double angle(double a, double b)
{
    if (a == 0) return 0;
    return atan2(b < 0 ? -a : a, fabs(b));
}

/* factor ln(c + r), r^2 = c^2 + u^2 + v^2; 0 in the limit where the logarithm is infinite, as
 * the factor is 0 there. */
static double scaled_log(double factor, double c, double r, double u, double v)
{
    if (factor == 0) return 0;
    if (c > 0) return factor * log(c + r);
    double rest = u * u + v * v;
    return rest > 0 ? factor * (log(rest) - log(r - c)) : 0;
}

static double corner_potential(double x, double y, double z)
{
    double r = sqrt(x * x + y * y + z * z);
    return scaled_log(x * y, z, r, x, y) + scaled_log(y * z, x, r, y, z) +
           scaled_log(z * x, y, r, z, x) -
           (x * x * angle(y * z, x * r) + y * y * angle(z * x, y * r) +
            z * z * angle(x * y, z * r)) /
               2;
}

static double corner_vertical(double x, double y, double z)
{
    double r = sqrt(x * x + y * y + z * z);
    return scaled_log(x, y, r, z, x) + scaled_log(y, x, r, y, z) - z * angle(x * y, z * r);
}

static double corner_sum(const ps_prism *prism, const double point[3],
                         double (*corner)(double, double, double))
{
    double sum = 0;
    for (int c = 0; c < 8; ++c) {
        double d[3];
        int lower = 0;
        for (int a = 0; a < 3; ++a) {
            int high = c >> a & 1;
            d[a] = (high ? prism->high[a] : prism->low[a]) - point[a];
            lower += !high;
        }
        double value = corner(d[0], d[1], d[2]);
        sum += lower % 2 == 0 ? value : -value;
    }
    return sum;
}

double ps_prism_potential(const ps_prism *prism, const double point[3], double gravity)
{
    return gravity * prism->density * corner_sum(prism, point, corner_potential);
}

double ps_prism_vertical(const ps_prism *prism, const double point[3], double gravity)
{
    return -gravity * prism->density * corner_sum(prism, point, corner_vertical);
}

static double distance(const double a[3], const double b[3])
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                (a[2] - b[2]) * (a[2] - b[2]));
}

double ps_sphere_potential(double mass, const double centre[3], const double point[3],
                           double gravity)
{
    return gravity * mass / distance(centre, point);
}
