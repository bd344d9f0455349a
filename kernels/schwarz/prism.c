#include "kernels/schwarz/prism.h"

#include <math.h>
#include <stdbool.h>

#include "kernels/common/vec3.h"

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

/* Whether the point is far in terms of the longest side. */
static bool is_far(const ps_prism *prism, const double point[3])
{
    double square = 0, longest = 0;
    for (int a = 0; a < 3; ++a) {
        double away = (prism->low[a] + prism->high[a]) / 2 - point[a];
        square += away * away;
        longest = fmax(longest, prism->high[a] - prism->low[a]);
    }
    return square > PS_PRISM_FAR * PS_PRISM_FAR * longest * longest;
}

/* Gauss's rule of three points along each axis: sum over 27 points of weight z / r^3. */
static double gauss_vertical(const ps_prism *prism, const double point[3])
{
    static const double at[3] = {-.77459666924148337704, 0, .77459666924148337704};
    static const double weight[3] = {5. / 18, 8. / 18, 5. / 18};
    double d[3][3], sum = 0, volume = 1;
    for (int a = 0; a < 3; ++a) {
        double half = (prism->high[a] - prism->low[a]) / 2;
        for (int k = 0; k < 3; ++k) d[a][k] = (prism->low[a] - point[a]) + half + at[k] * half;
        volume *= 2 * half;
    }
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            for (int k = 0; k < 3; ++k) {
                double square = d[0][i] * d[0][i] + d[1][j] * d[1][j] + d[2][k] * d[2][k];
                sum += weight[i] * weight[j] * weight[k] * d[2][k] / (square * sqrt(square));
            }
    return volume * sum;
}

double ps_prism_vertical(const ps_prism *prism, const double point[3], double gravity)
{
    if (is_far(prism, point)) return gravity * prism->density * gauss_vertical(prism, point);
    return -gravity * prism->density * corner_sum(prism, point, corner_vertical);
}

double ps_sphere_potential(double mass, const double centre[3], const double point[3],
                           double gravity)
{
    return gravity * mass / ps_distance3(centre, point);
}
