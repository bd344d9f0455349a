#include "kernels/schwarz/prism.h"

#include <math.h>
#include <stdbool.h>

#include "kernels/common/prism_field.h"
#include "kernels/common/vec3.h"

/* Number `which` of V, g_x, g_y, g_z. */
static double closed_form(const ps_prism *prism, const double point[3], double gravity, int which)
{
    const double *low = prism->low, *high = prism->high;
    const ps_prism_set one = {.count = 1,
                              .low = {low, low + 1, low + 2},
                              .high = {high, high + 1, high + 2},
                              .weight = {&prism->density}};
    double out[4] = {0};
    ps_prism_field_functions_here()->add(PS_PRISM_GRAVITY, &one, 0, 1, point, out);
    return gravity * out[which];
}

double ps_prism_potential(const ps_prism *prism, const double point[3], double gravity)
{
    return closed_form(prism, point, gravity, 0);
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
    return closed_form(prism, point, gravity, 3);
}

double ps_sphere_potential(double mass, const double centre[3], const double point[3],
                           double gravity)
{
    return gravity * mass / ps_distance3(centre, point);
}
