#include "kernels/hbem/rules.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "runtime/sizes.h"

/* P_n and P'_n at x. */
static void legendre(int n, double x, double *value, double *slope)
{
    double before = 1, p = x;
    for (int j = 2; j <= n; ++j) {
        double next = ((2 * j - 1) * x * p - (j - 1) * before) / j;
        before = p;
        p = next;
    }
    *value = p;
    *slope = n * (x * p - before) / (x * x - 1);
}

void ps_hbem_gauss(int n, double *node, double *weight)
{
    for (int i = 0; i < n; ++i) {
        double x = cos(M_PI * (n - i - .25) / (n + .5)), value, slope;
        for (int step = 0; step < 8; ++step) {
            legendre(n, x, &value, &slope);
            x -= value / slope;
        }
        legendre(n, x, &value, &slope);
        node[i] = (1 + x) / 2;
        weight[i] = 1 / ((1 - x * x) * slope * slope);
    }
}

/* Orbits of points under the symmetries of the triangle: a point of hats a, b, 1 - a - b has as
 * many images as its hats have orders. Weights are for an area of 1. */
typedef struct symmetric_orbit {
    double weight, a, b;
} symmetric_orbit;

static const symmetric_orbit degree4[] = {{.223381589678011, .445948490915965, .445948490915965},
                                          {.109951743655322, .091576213509771, .091576213509771}};
static const symmetric_orbit degree6[] = {
    {.11678627572637511, .24928674517091268, .24928674517091268},
    {.050844906370205924, .06308901449150152, .06308901449150152},
    {.08285107561837614, .05314504984481885, .31035245103378245}};
static const symmetric_orbit degree8[] = {
    {.14431560767778986, 1. / 3, 1. / 3},
    {.0950916342672821, .45929258829272623, .45929258829272623},
    {.10321737053471693, .1705693077517646, .1705693077517646},
    {.03245849762319773, .050547228317031005, .050547228317031005},
    {.02723031417443663, .00839477740996312, .2631128296346256}};
static const symmetric_orbit degree10[] = {
    {.09081799038276138, 1. / 3, 1. / 3},
    {.03672595775646275, .4855776333836592, .4855776333836592},
    {.04532105943553121, .10948157548503383, .10948157548503383},
    {.0727579168454251, .14170721941487102, .3079398387641213},
    {.02832724253105264, .0250035347626782, .24667256063990217},
    {.009421666963731708, .009540815400298828, .06680325101219596}};
static const symmetric_orbit degree14[] = {
    {.021883581359517776, .4889639103665139, .4889639103665139},
    {.032788353514113834, .4176447192536752, .4176447192536752},
    {.05177410446357343, .27347752831053107, .27347752831053107},
    {.042162588739567027, .17720553243270623, .17720553243270623},
    {.014433699681214164, .06179988313406744, .06179988313406744},
    {.0049234036072284115, .019390961257930377, .019390961257930377},
    {.024665753213776242, .057124757425763124, .17226668788913937},
    {.03857151080890464, .09291624937946336, .3368614598849654},
    {.014436308115348542, .014646950059030571, .2983728821490402},
    {.005010228846029926, .0012683309550593465, .11897449771152008}};

static void put_orbit(const symmetric_orbit *orbit, ps_hbem_rule *rule)
{
    const double of[3] = {orbit->a, orbit->b, 1 - orbit->a - orbit->b};
    const bool middle = orbit->a == 1. / 3, two = orbit->a == orbit->b;
    for (int image = 0; image < (middle ? 1 : two ? 3 : 6); ++image, ++rule->count) {
        int last = image % 3, first = (last + (image < 3 ? 1 : 2)) % 3;
        rule->hat[rule->count][last] = of[2];
        rule->hat[rule->count][first] = of[0];
        rule->hat[rule->count][3 - first - last] = of[1];
        rule->weight[rule->count] = orbit->weight;
    }
}

/* degree: 4, 6, 8, 10 or 14, of 6, 12, 16, 25, 42 points (Dunavant 1985): all weights are positive,
 * no point is outside. */
static void put_symmetric(int degree, ps_hbem_rule *rule)
{
#define ORBITS(n)                                                                                  \
    {                                                                                              \
        n, degree##n, sizeof degree##n / sizeof *degree##n                                         \
    }
    static const struct {
        int degree;
        const symmetric_orbit *orbit;
        size_t orbits;
    } all[] = {ORBITS(4), ORBITS(6), ORBITS(8), ORBITS(10), ORBITS(14)};
#undef ORBITS
    double sum = 0;
    int r = 0;
    while (r < 4 && all[r].degree < degree) ++r;
    memset(rule, 0, sizeof *rule);
    for (size_t n = 0; n < all[r].orbits; ++n) put_orbit(&all[r].orbit[n], rule);
    for (int q = 0; q < rule->count; ++q) sum += rule->weight[q];
    for (int q = 0; q < rule->count; ++q) rule->weight[q] /= 2 * sum;
}

void ps_hbem_rule_six(ps_hbem_rule *rule) { put_symmetric(4, rule); }

void ps_hbem_rule_collapsed(int n, ps_hbem_rule *rule)
{
    double node[PS_HBEM_GAUSS_MAX], weight[PS_HBEM_GAUSS_MAX];
    ps_hbem_gauss(n, node, weight);
    memset(rule, 0, sizeof *rule);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j, ++rule->count) {
            double x = node[i], y = node[j] * (1 - node[i]);
            memcpy(rule->hat[rule->count], (double[3]){1 - x - y, x, y}, 3 * sizeof(double));
            rule->weight[rule->count] = weight[i] * weight[j] * (1 - node[i]);
        }
}

/* ---- pairs that touch: regions in (x1, x2; y1, y2), 0 <= x2 <= x1 <= 1 ---- */

static const int regions_of[PS_PAIR_CONTACTS] = {0, 2, 5, 6};

int ps_hbem_joint_count(ps_hbem_contact contact, int n)
{
    return regions_of[contact] * n * n * n * n;
}

static void exchange(double z[4])
{
    for (int c = 0; c < 2; ++c) {
        double keep = z[c];
        z[c] = z[c + 2];
        z[c + 2] = keep;
    }
}

static double identical_region(int region, const double p[4], double z[4])
{
    double xi = p[0], e1 = p[1], e12 = p[1] * p[2], e123 = e12 * p[3];
    const double map[3][4] = {{1, 1 - e1 + e12, 1 - e123, 1 - e1},
                              {1, e1 - e12 + e123, 1 - e12, e1 - e12},
                              {1 - e123, e1 - e123, 1, e1 - e12}};
    for (int c = 0; c < 4; ++c) z[c] = xi * map[region % 3][c];
    if (region >= 3) exchange(z);
    return xi * xi * xi * e1 * e1 * p[2];
}

static double edge_region(int region, const double p[4], double z[4])
{
    double xi = p[0], e1 = p[1], e12 = p[1] * p[2], e123 = e12 * p[3];
    const double map[5][4] = {{1, e1 * p[3], 1 - e12, e1 * (1 - p[2])},
                              {1, e1, 1 - e123, e12 * (1 - p[3])},
                              {1 - e12, e1 * (1 - p[2]), 1, e123},
                              {1 - e123, e12 * (1 - p[3]), 1, e1},
                              {1 - e123, e1 * (1 - p[2] * p[3]), 1, e12}};
    for (int c = 0; c < 4; ++c) z[c] = xi * map[region][c];
    return xi * xi * xi * e1 * e1 * (region ? p[2] : 1);
}

static double vertex_region(int region, const double p[4], double z[4])
{
    double xi = p[0];
    const double map[4] = {1, p[1], p[2], p[2] * p[3]};
    for (int c = 0; c < 4; ++c) z[c] = xi * map[c];
    if (region) exchange(z);
    return xi * xi * xi * p[2];
}

static void put_hats(double s, double t, double hat[3])
{
    hat[0] = 1 - s;
    hat[1] = s - t;
    hat[2] = t;
}

void ps_hbem_joint_rule(ps_hbem_contact contact, int n, ps_hbem_joint_point *points)
{
    double (*const maps[])(int, const double *, double *) = {NULL, vertex_region, edge_region,
                                                             identical_region};
    double node[PS_HBEM_GAUSS_MAX], weight[PS_HBEM_GAUSS_MAX], z[4];
    ps_hbem_gauss(n, node, weight);
    int total = n * n * n * n;
    for (int e = 0; e < regions_of[contact] * total; ++e, ++points) {
        double p[4], w = 1;
        for (int c = 0, rest = e % total; c < 4; ++c, rest /= n) {
            p[c] = node[rest % n];
            w *= weight[rest % n];
        }
        points->weight = w * maps[contact](e / total, p, z);
        put_hats(z[0], z[1], points->x);
        put_hats(z[2], z[3], points->y);
    }
}

/* ---- cells ---- */

static int padded(int count) { return (int)ps_round_up(count, PS_HBEM_CELL_PAD); }

/* Padding repeats the last point, over all of the arrays: vectors of devices are wider. */
static void put_smooth(int n, ps_hbem_smooth_rule *out)
{
    ps_hbem_rule rule;
    ps_hbem_rule_collapsed(n, &rule);
    out->count = rule.count;
    out->padded = padded(rule.count);
    for (int q = 0; q < PS_HBEM_CELL_POINTS; ++q) {
        int from = q < rule.count ? q : rule.count - 1;
        for (int l = 0; l < 3; ++l) out->hat[l][q] = rule.hat[from][l];
        out->weight[q] = q < rule.count ? rule.weight[q] : 0;
    }
}

static void put_cells(double tolerance, int n, int smooth, ps_hbem_cell_rule *out)
{
    double node[PS_HBEM_GAUSS_MAX], weight[PS_HBEM_GAUSS_MAX];
    ps_hbem_gauss(n, node, weight);
    *out = (ps_hbem_cell_rule){.tolerance = tolerance, .n = n, .padded = padded(n * n)};
    for (int i = 0; i < n; ++i) {
        out->line[i] = weight[i];
        for (int k = 0; k < 2; ++k) {
            int degree = n - 1 - k;
            double value = 1, slope;
            if (degree > 0) legendre(degree, 2 * node[i] - 1, &value, &slope);
            out->tail[k][i] = (2 * degree + 1) * weight[i] * value;
        }
    }
    for (int q = 0; q < PS_HBEM_CELL_POINTS; ++q) {
        int from = q < n * n ? q : n * n - 1;
        out->u[q] = node[from % n];
        out->z[q] = node[from / n];
        out->weight[q] = q < n * n ? weight[from % n] * weight[from / n] : 0;
    }
    put_smooth(smooth, &out->smooth[0]);
    put_smooth(smooth + 1, &out->smooth[1]);
}

/* ---- which rule where ---- */

/* Distances for tolerances 1e-3, 1e-4, 1e-5, 1e-6 from which the rules of degree 4, 6, 8, 10 and 14
 * err by less than a twentieth of it, as measured (specs/hbem.md, "Quadrature"). */
static const double reach[4][PS_HBEM_RULES] = {{.72, .45, .41, .27, .2},
                                               {1.15, .65, .53, .39, .27},
                                               {1.9, .87, .7, .51, .37},
                                               {2.75, 1.3, .95, .65, .47}};

static int level_of(double tolerance)
{
    double digits = ceil(-log10(tolerance) - 1e-9);
    return digits <= 3 ? 0 : digits >= 6 ? 3 : (int)digits - 3;
}

int ps_hbem_quadrature_points(double tolerance)
{
    int n = level_of(tolerance) + 4;
    return 13 * n * n * n * n;
}

static void put_joint_rules(ps_hbem_quadrature *quadrature, int n, ps_hbem_joint_point *points)
{
    quadrature->singular = n;
    for (int contact = PS_PAIR_VERTEX; contact < PS_PAIR_CONTACTS; ++contact) {
        quadrature->joint[contact] = points;
        quadrature->joint_count[contact] = ps_hbem_joint_count((ps_hbem_contact)contact, n);
        ps_hbem_joint_rule((ps_hbem_contact)contact, n, points);
        points += quadrature->joint_count[contact];
    }
}

void ps_hbem_quadrature_init(ps_hbem_quadrature *quadrature, double tolerance,
                             ps_hbem_joint_point *points)
{
    static const int degree[PS_HBEM_RULES] = {4, 6, 8, 10, 14};
    int level = level_of(tolerance);
    memset(quadrature, 0, sizeof *quadrature);
    quadrature->rules = PS_HBEM_RULES;
    for (int r = 0; r < PS_HBEM_RULES; ++r) {
        quadrature->distance[r] = reach[level][r];
        put_symmetric(degree[r], &quadrature->rule[r]);
    }
    put_joint_rules(quadrature, level + 4, points);
    static const int cells[4] = {5, 5, 6, 7}, smooth[4] = {4, 4, 5, 6};
    put_cells(pow(10, -level - 3), cells[level], smooth[level], &quadrature->cells);
}

void ps_hbem_quadrature_fixed(ps_hbem_quadrature *quadrature, int n, ps_hbem_joint_point *points)
{
    memset(quadrature, 0, sizeof *quadrature);
    quadrature->rules = 1;
    ps_hbem_rule_six(&quadrature->rule[0]);
    put_joint_rules(quadrature, n, points);
}
