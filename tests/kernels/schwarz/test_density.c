/* Bodies and rectilinear models on cells: masses, places (kernels/schwarz/density.h). */
#include "kernels/schwarz/density.h"
#include "kernels/schwarz/round_part.h"

#include "tests/check.h"

enum { PLANE = 40 * 30 };

static ps_cells cells_over(int64_t nx, int64_t ny, int64_t nz, double width)
{
    ps_cells c = {.origin = {-width / 2, -width / 2, 0}};
    check_ok(ps_q1_grid_make((const int64_t[3]){nx, ny, nz}, (const double[3]){width, width, width},
                             &c.grid));
    return c;
}

/* The mass that a body leaves on the grid. */
static double mass_on(const ps_cells *c, const ps_body *body)
{
    double values[PLANE], mass = 0;
    int64_t plane = (c->grid.nodes[1] - 1) * (c->grid.nodes[2] - 1);
    for (int64_t i = 0; i < c->grid.nodes[0] - 1; ++i) {
        memset(values, 0, sizeof values);
        ps_body_add(c, body, i, values);
        for (int64_t k = 0; k < plane; ++k) mass += values[k];
    }
    return mass * c->grid.spacing[0] * c->grid.spacing[1] * c->grid.spacing[2];
}

static void keeps_masses(void **state)
{
    ps_cells c = cells_over(38, 41, 31, 10);
    const ps_body brick = {PS_BODY_BRICK, {-3.21, 2.7, -.1, .05, 1.03, 9.7}, -300};
    const ps_body ring = {PS_BODY_RING, {.3, -.2, 1.1, 4.2, 2.05, 7.3}, 50};
    const ps_body ball = {PS_BODY_BALL, {.1, .2, 5.1, 3.3}, 120};
    check_near(mass_on(&c, &brick), ps_body_mass(&brick), 0, 1e-13);
    check_near(mass_on(&c, &ring), ps_body_mass(&ring), 0, 1e-9);
    check_near(mass_on(&c, &ball), ps_body_mass(&ball), 0, 1e-9);
    check_near(ps_body_mass(&ball), 120 * 4 * 3.14159265358979 / 3 * 3.3 * 3.3 * 3.3, 0, 1e-12);
}

/* However small they are, or thin, in a cell or on the corner of eight. */
static void keeps_masses_of_small_bodies(void **state)
{
    ps_cells c = cells_over(11, 11, 11, 10);
    for (int k = 0; k < 4; ++k) {
        double r = 2 * pow(10, -2 * k), at = k % 2 ? .37 : 0;
        const ps_body ball = {PS_BODY_BALL, {at, -at, 5 + at, r}, 7};
        const ps_body pipe = {PS_BODY_RING, {at, -at, 0, r, 1.5, 7.3}, 7};
        const ps_body shell = {PS_BODY_RING, {at, -at, 3, 3 + r, 1.5, 7.3}, 7};
        check_near(mass_on(&c, &ball), ps_body_mass(&ball), 0, 1e-8);
        check_near(mass_on(&c, &pipe), ps_body_mass(&pipe), 0, 1e-8);
        check_near(mass_on(&c, &shell), ps_body_mass(&shell), 0, 1e-8 / r);
    }
    /* a cap of height h of a ball of radius r: pi h^2 (r - h / 3) */
    const ps_body ball = {PS_BODY_BALL, {0, 0, .6, 2}, 1};
    double cap = 3.14159265358979 * 1.4 * 1.4 * (2 - 1.4 / 3);
    double share = 1 - cap / ps_body_mass(&ball);
    check_near(mass_on(&c, &ball), share * ps_body_mass(&ball), 0, 1e-9);
    check_near(ps_body_share(&ball, (double[3][2]){{-5, 5}, {-5, 5}, {0, 10}}), share, 0, 1e-9);
}

/* Which axis the slices of a ball are along is no matter: their ends are found along each. */
static void parts_of_balls_know_no_axis(void **state)
{
    uint64_t seed = 11;
    double worst = 0;
    for (int t = 0; t < 20000; ++t) {
        double b[3][2], size = 1;
        for (int a = 0; a < 3; ++a) {
            b[a][0] = -1.2 + 2.2 * check_random(&seed);
            b[a][1] = b[a][0] + pow(10, -2 * check_random(&seed));
            size *= b[a][1] - b[a][0];
        }
        double off = fabs(ps_ball_part(1, b[0], b[1], b[2]) - ps_ball_part(1, b[2], b[0], b[1]));
        worst = worse_of(worst, off / size);
    }
    check_near(worst, 0, 3e-6, 0);
}

/* A brick that sticks out loses what is outside; one that is outside leaves nothing. */
static void cuts_at_the_box(void **state)
{
    ps_cells c = cells_over(11, 11, 11, 10);
    const ps_body half = {PS_BODY_BRICK, {-100, 0, -5, 5, 0, 10}, 2};
    const ps_body outside = {PS_BODY_BRICK, {6, 7, -5, 5, 0, 10}, 2};
    check_near(mass_on(&c, &half), 2 * 5 * 10 * 10, 0, 1e-13);
    check_near(mass_on(&c, &outside), 0, 0, 0);
}

/* Bricks of a rectilinear model are what the same bricks one by one give. */
static void rectilinear_equals_bricks(void **state)
{
    static const double x[3] = {-4.3, .2, 4.9}, y[3] = {-5, -1.7, 3.3}, z[4] = {.4, 1, 2.2, 9.9};
    static double density[12], values[PLANE], expected[PLANE], workspace[64];
    ps_rectilinear m = {{2, 2, 3}, {x, y, z}, density};
    ps_cells c = cells_over(14, 9, 12, 10);
    uint64_t seed = 5;
    double mass = 0;
    assert_true(ps_rectilinear_workspace(&m, &c) <= 64);
    for (int i = 0; i < 12; ++i) density[i] = check_random(&seed) - .5;
    for (int64_t i = 0; i < c.grid.nodes[0] - 1; ++i) {
        memset(values, 0, sizeof values);
        memset(expected, 0, sizeof expected);
        ps_rectilinear_add(&c, &m, i, values, workspace);
        for (int b = 0; b < 12; ++b) {
            int p = b / 6, q = b / 3 % 2, r = b % 3;
            const ps_body brick = {
                PS_BODY_BRICK, {x[p], x[p + 1], y[q], y[q + 1], z[r], z[r + 1]}, density[b]};
            ps_body_add(&c, &brick, i, expected);
        }
        for (int k = 0; k < 8 * 11; ++k) {
            check_near(values[k], expected[k], 1e-14, 0);
            mass += values[k] * c.grid.spacing[0] * c.grid.spacing[1] * c.grid.spacing[2];
        }
    }
    check_near(mass, ps_rectilinear_mass(&m), 0, 1e-12);
}

static void refuses(void **state)
{
    const ps_body flat = {PS_BODY_BRICK, {0, 1, 2, 2, 0, 1}, 1};
    const ps_body thin = {PS_BODY_RING, {0, 0, 2, 1, 0, 1}, 1};
    const ps_body point = {PS_BODY_BALL, {0, 0, 0, 0}, 1};
    const ps_body infinite = {PS_BODY_BALL, {0, 0, 0, 1}, INFINITY};
    check_fails(ps_body_check(&flat), PS_INVALID, "a brick is empty");
    check_fails(ps_body_check(&thin), PS_INVALID, "a ring is empty");
    check_fails(ps_body_check(&point), PS_INVALID, "a ball is empty");
    check_fails(ps_body_check(&infinite), PS_INVALID, "not finite");
}
