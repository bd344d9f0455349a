#include "kernels/fmm/distribution.h"

#include <math.h>

#include "kernels/common/counter_random.h"

enum { CHARGE_DRAW = 1 << 20 }; /* draws from here on are charges */

static void in_cube(uint64_t seed, uint64_t i, double p[3])
{
    for (int d = 0; d < 3; ++d) p[d] = ps_counter_uniform(seed, i, (uint64_t)d);
}

/* Densities are compared with the largest, b * 5.72 at |p| = 0.683 a, rather than with any bound
 * above it: the distribution is the same, and more trials are accepted. */
static void on_ellipsoid(uint64_t seed, uint64_t i, double out[3])
{
    const double a = 0.5, b = 0.1, largest = 5.72;
    const double cy = cos(M_PI / 8), sy = sin(M_PI / 8), cz = sqrt(0.5);
    double s = 0, root = 1;
    for (uint64_t draw = 1;; draw += 2) {
        s = 2 * ps_counter_uniform(seed, i, draw) - 1;
        root = sqrt(1 - s * s);
        if (largest * ps_counter_uniform(seed, i, draw + 1) <= root * (1 + 10 * fabs(s))) break;
    }
    double angle = 2 * M_PI * ps_counter_uniform(seed, i, 0);
    double p = a * s, u = b * root * cos(angle), v = b * root * sin(angle);
    double x = cy * p + sy * v, z = cy * v - sy * p;
    out[0] = 0.5 + cz * (x - u);
    out[1] = 0.5 + cz * (x + u);
    out[2] = 0.5 + z;
}

static void of_plummer(uint64_t seed, uint64_t i, double out[3])
{
    double mass = 0.999 * (1 - ps_counter_uniform(seed, i, 0)); /* within the radius; not 0 */
    double r = 1 / sqrt(pow(mass, -2.0 / 3) - 1);
    double c = 2 * ps_counter_uniform(seed, i, 1) - 1, s = sqrt(1 - c * c);
    double angle = 2 * M_PI * ps_counter_uniform(seed, i, 2);
    out[0] = r * s * cos(angle);
    out[1] = r * s * sin(angle);
    out[2] = r * c;
}

void ps_distribution_positions(ps_distribution distribution, uint64_t seed, int64_t first,
                               int64_t count, double *const *columns)
{
    static void (*const make[])(uint64_t, uint64_t, double[3]) = {in_cube, on_ellipsoid,
                                                                  of_plummer};
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; ++i) {
        double p[3];
        make[distribution](seed, (uint64_t)(first + i), p);
        for (int d = 0; d < 3; ++d) columns[d][i] = p[d];
    }
}

void ps_distribution_charges(ps_charges charges, uint64_t seed, int s, int64_t first, int64_t count,
                             double *q)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; ++i) {
        double u = ps_counter_uniform(seed, (uint64_t)(first + i), (uint64_t)(CHARGE_DRAW + s));
        q[i] = charges == PS_CHARGES_UNIT ? 1 : charges == PS_CHARGES_UNIFORM ? u : 2 * u - 1;
    }
}
