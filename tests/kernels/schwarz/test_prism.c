/* Exact attractions of prisms and spheres (kernels/schwarz/prism.h): the guide's values, section 6,
 * and quadrature. */
#include "kernels/schwarz/prism.h"

#include "tests/check.h"
#include "tests/support/gravity_exact.h"

/* 10 x 10 x 4 km, top at 2 km, -300 kg/m3. */
static const ps_prism body = {{-5e3, -5e3, 2e3}, {5e3, 5e3, 6e3}, -300};

static void guide_values(void **unused)
{
    static const double x[] = {0, 1e4, 2e4}, vertical[] = {-21.817363, -3.043250, -.404003},
                        potential[] = {-1.491160, -.752984, -.395455};
    for (int s = 0; s < 3; ++s) {
        double point[3] = {x[s], 0, 0};
        check_near(ps_prism_vertical(&body, point, PS_NEWTON) / PS_MILLIGAL, vertical[s], 6e-7,
                   1e-6);
        check_near(ps_prism_potential(&body, point, PS_NEWTON), potential[s], 6e-7, 1e-6);
    }
}

/* Outside, on a face, an edge and a corner, flat and far: 40 digits, of the guide of potentials,
 * section 4 (the far one is Gauss's rule here). */
static void forty_digits(void **unused)
{
    static const struct {
        ps_prism prism;
        double point[3], potential, vertical;
    } known[] = {
        {{{-1, -2, -3}, {1, 2, 3}, 1}, {4, 1, -2}, 9.9563941874, .63930081978},
        {{{-1, -2, -3}, {1, 2, 3}, 1}, {1, .5, .25}, 24.149888682, -.30781918079},
        {{{-1, -2, -3}, {1, 2, 3}, 1}, {1, 2, .5}, 18.94086767, -.46334314263},
        {{{-1, -2, -3}, {1, 2, 3}, 1}, {1, 2, 3}, 14.309624449, -3.5815023304},
        {{{0, 0, -1}, {100, 100, 0}, 1}, {30, 20, 0}, 310.88240523, -6.1998737284},
        {{{0, 0, -1}, {100, 100, 0}, 1}, {5000, 3000, 200}, 1.7343667803, -1.0460918908e-5},
        {{{10, -5, 2}, {11, 7, 2.5}, 1}, {-3, 4, 1}, .42127552489, .0026198495829}};
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
        check_near(ps_prism_potential(&known[i].prism, known[i].point, 1), known[i].potential, 0,
                   i == 5 ? 5e-10 : 1e-10);
        check_near(ps_prism_vertical(&known[i].prism, known[i].point, 1), known[i].vertical, 0,
                   i == 5 ? 1e-8 : 1e-10);
    }
}

/* Gauss points and weights on [0, 1], order 6. */
static const double node[3] = {.11270166537925831, .5, .88729833462074169};
static const double weight[3] = {5 / 18., 8 / 18., 5 / 18.};

/* Integrals of 1 / R and dz / R^3 over the body by `parts`^3 cells of 27 points. */
static void integrate(const double point[3], int parts, double *potential, double *vertical)
{
    double h[3], at[3];
    for (int a = 0; a < 3; ++a) h[a] = (body.high[a] - body.low[a]) / parts;
    *potential = *vertical = 0;
    for (int cell = 0; cell < parts * parts * parts; ++cell)
        for (int g = 0; g < 27; ++g) {
            int which[3] = {cell % parts, cell / parts % parts, cell / (parts * parts)};
            int order[3] = {g % 3, g / 3 % 3, g / 9};
            double w = PS_NEWTON * body.density, rr = 0;
            for (int a = 0; a < 3; ++a) {
                at[a] = body.low[a] + (which[a] + node[order[a]]) * h[a] - point[a];
                w *= weight[order[a]] * h[a];
                rr += at[a] * at[a];
            }
            *potential += w / sqrt(rr);
            *vertical += w * at[2] / (rr * sqrt(rr));
        }
}

static void against_quadrature(void **unused)
{
    static const double points[][3] = {{0, 0, 0},         {3e3, -7e3, -1e3}, {-2e4, 1e4, 3e3},
                                       {100, 9e3, 1.2e4}, {6e3, 6e3, 4e3},   {-5e3, -5e3, 0},
                                       {5e3, 1e4, 2e3},   {-9e3, 5e3, 6e3}};
    for (int i = 0; i < 8; ++i) {
        double v, g;
        integrate(points[i], 24, &v, &g);
        check_near(ps_prism_potential(&body, points[i], PS_NEWTON), v, 0, 2e-6);
        check_near(ps_prism_vertical(&body, points[i], PS_NEWTON), g, 1e-12, 2e-5);
    }
}

/* g_z = dV/dz, inside too; and finite on faces, edges and corners. */
static void vertical_is_the_gradient(void **unused)
{
    static const double points[][3] = {
        {100, 200, 300}, {1e3, 2e3, 3e3}, {0, 0, 4.5e3}, {1e4, 0, 0}, {-2e3, 8e3, 7e3}};
    for (int i = 0; i < 5; ++i) {
        double up[3], down[3], step = 1;
        memcpy(up, points[i], sizeof up);
        memcpy(down, points[i], sizeof down);
        up[2] -= step;
        down[2] += step;
        double gradient = (ps_prism_potential(&body, down, PS_NEWTON) -
                           ps_prism_potential(&body, up, PS_NEWTON)) /
                          (2 * step);
        check_near(ps_prism_vertical(&body, points[i], PS_NEWTON), gradient, 2e-11, 2e-6);
    }
    for (int c = 0; c < 27; ++c) {
        double point[3], near[3];
        int pick[3] = {c % 3, c / 3 % 3, c / 9};
        for (int a = 0; a < 3; ++a) {
            double middle = (body.low[a] + body.high[a]) / 2;
            point[a] = pick[a] == 0 ? body.low[a] : pick[a] == 1 ? middle : body.high[a];
            near[a] = point[a] + 1e-3;
        }
        check_near(ps_prism_potential(&body, point, PS_NEWTON),
                   ps_prism_potential(&body, near, PS_NEWTON), 0, 1e-5);
        check_near(ps_prism_vertical(&body, point, PS_NEWTON),
                   ps_prism_vertical(&body, near, PS_NEWTON), 1e-7, 1e-5);
    }
}

/* Far away a prism is a point, to 1e-6 at 1000 km: nothing has cancelled. */
static void far_away(void **unused)
{
    double mass = -300 * 4e11, centre[3] = {0, 0, 4e3}, point[3] = {7e5, -5e5, -4e5};
    check_near(ps_prism_potential(&body, point, PS_NEWTON),
               ps_sphere_potential(mass, centre, point, PS_NEWTON), 0, 2e-5);
    check_near(ps_prism_vertical(&body, point, PS_NEWTON),
               sphere_vertical(mass, centre, point, PS_NEWTON), 0, 1e-3);
}

static void spheres(void **unused)
{
    static const double x[] = {0, 5e3, 1e4, 5e4},
                        expected[] = {-2.683895, -.948900, -.240055, -.002644};
    double mass = -300 * 4 / 3. * 3.14159265358979323846 * 8e9, centre[3] = {0, 0, 5e3};
    for (int s = 0; s < 4; ++s) {
        double point[3] = {x[s], 0, 0};
        check_near(sphere_vertical(mass, centre, point, PS_NEWTON) / PS_MILLIGAL, expected[s], 6e-7,
                   1e-6);
    }
}

/* Two halves are the whole; a wide plate is a Bouguer slab, 4.19359 mGal. */
static void sums(void **unused)
{
    ps_prism halves[2] = {body, body};
    halves[0].high[0] = halves[1].low[0] = 1234;
    const double points[2][3] = {{0, 0, 0}, {7e3, -2e3, -500}};
    for (int i = 0; i < 2; ++i) {
        double v = 0, g = 0;
        for (int h = 0; h < 2; ++h) {
            v += ps_prism_potential(&halves[h], points[i], PS_NEWTON);
            g += ps_prism_vertical(&halves[h], points[i], PS_NEWTON);
        }
        check_near(v, ps_prism_potential(&body, points[i], PS_NEWTON), 0, 1e-10);
        check_near(g, ps_prism_vertical(&body, points[i], PS_NEWTON), 0, 1e-9);
    }
    ps_prism plate = {{-1e7, -1e7, 1e3}, {1e7, 1e7, 2e3}, 100};
    check_near(ps_prism_vertical(&plate, points[0], PS_NEWTON) / PS_MILLIGAL, 4.19359, 0, 2e-4);
}
