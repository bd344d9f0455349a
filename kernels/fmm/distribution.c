#include "kernels/fmm/distribution.h"

#include <math.h>
#include <stdbool.h>

#include "kernels/common/counter_random.h"

enum {
    CLUSTER_DRAW = 3,      /* whose a particle is; those before are its place there */
    CHARGE_DRAW = 1 << 20, /* draws from here on are charges */
    ROOTS = 16             /* of the trees of clusters */
};

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

/* In a direction at random, by draws 1 and 2. */
static void at_distance(uint64_t seed, uint64_t i, double r, double out[3])
{
    double c = 2 * ps_counter_uniform(seed, i, 1) - 1, s = sqrt(1 - c * c);
    double angle = 2 * M_PI * ps_counter_uniform(seed, i, 2);
    out[0] = r * s * cos(angle);
    out[1] = r * s * sin(angle);
    out[2] = r * c;
}

static void of_plummer(uint64_t seed, uint64_t i, double out[3])
{
    double mass = 0.999 * (1 - ps_counter_uniform(seed, i, 0)); /* within the radius; not 0 */
    at_distance(seed, i, 1 / sqrt(pow(mass, -2.0 / 3) - 1), out);
}

/* Nodes are numbered as in a heap: roots ROOTS .. 2 ROOTS - 1, clusters PS_CLUSTERS + k; their
 * draws are of items from the end down, where no particles are. */
ps_cluster ps_cluster_of(uint64_t seed, int k)
{
    const double slope = .9, most = 1e3, reach = .25, shrink = pow(2, 1 / 1.23);
    double u = ps_counter_uniform(seed, UINT64_MAX - (uint64_t)k, 3);
    ps_cluster c = {.mass = pow(1 - u * (1 - pow(most, -slope)), -1 / slope)};
    c.length = .01 * cbrt(c.mass / most);
    for (int node = PS_CLUSTERS + k, level = 5; node >= ROOTS; node /= 2, --level) {
        uint64_t item = UINT64_MAX - PS_CLUSTERS - (uint64_t)node;
        double p[3], radius = reach * pow(shrink, -level) * cbrt(ps_counter_uniform(seed, item, 0));
        if (level == 0)
            in_cube(seed, item, p);
        else
            at_distance(seed, item, radius, p);
        for (int d = 0; d < 3; ++d) c.centre[d] += p[d];
    }
    return c;
}

typedef struct clusters {
    ps_cluster of[PS_CLUSTERS];
    double until[PS_CLUSTERS]; /* sums of masses */
} clusters;

static void all_clusters(uint64_t seed, clusters *c)
{
    double sum = 0;
    for (int k = 0; k < PS_CLUSTERS; ++k) {
        c->of[k] = ps_cluster_of(seed, k);
        c->until[k] = sum += c->of[k].mass;
    }
}

static void in_clusters(const clusters *c, uint64_t seed, uint64_t i, double out[3])
{
    double u = c->until[PS_CLUSTERS - 1] * ps_counter_uniform(seed, i, CLUSTER_DRAW);
    int k = 0;
    for (int half = PS_CLUSTERS / 2; half > 0; half /= 2)
        if (c->until[k + half - 1] <= u) k += half;
    of_plummer(seed, i, out);
    for (int d = 0; d < 3; ++d) out[d] = c->of[k].centre[d] + c->of[k].length * out[d];
}

void ps_distribution_positions(ps_distribution distribution, uint64_t seed, int64_t first,
                               int64_t count, double *const *columns)
{
    static void (*const make[])(uint64_t, uint64_t, double[3]) = {in_cube, on_ellipsoid,
                                                                  of_plummer};
    clusters c;
    bool clustered = distribution == PS_DISTRIBUTION_CLUSTERS;
    if (clustered) all_clusters(seed, &c);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; ++i) {
        double p[3];
        if (clustered)
            in_clusters(&c, seed, (uint64_t)(first + i), p);
        else
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
