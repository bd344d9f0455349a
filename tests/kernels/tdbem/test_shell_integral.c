/*
 * Shell integrals against the scalar reference, in and out of every degenerate position, on all
 * instruction sets of this machine.
 */
#include "tests/check.h"

#include <stdbool.h>
#include <stdlib.h>

#include "kernels/common/vec3.h"
#include "kernels/tdbem/shell_integral.h"
#include "runtime/isa.h"
#include "runtime/scope.h"
#include "tests/support/distance.h"
#include "tests/support/icosphere.h"
#include "tests/support/shell_reference.h"

enum { CAPACITY = 512, QUANTITIES = 9 };

static const ps_shell_functions *functions; /* under test */

typedef struct results {
    double inverse[CAPACITY][PS_LANES] __attribute__((aligned(64)));
    double one[CAPACITY][PS_LANES] __attribute__((aligned(64)));
    double distance[CAPACITY][PS_LANES] __attribute__((aligned(64)));
    double hat[3][CAPACITY][PS_LANES] __attribute__((aligned(64)));
    double flux[3][CAPACITY][PS_LANES] __attribute__((aligned(64)));
    ps_shell_values values;
} results;

static results *results_new(void)
{
    results *r = aligned_alloc(64, (sizeof *r + 63) / 64 * 64);
    assert_non_null(r);
    memset(r, 0, sizeof *r);
    r->values.capacity = CAPACITY;
    r->values.inverse = r->inverse;
    r->values.one = r->one;
    r->values.distance = r->distance;
    for (int a = 0; a < 3; ++a) r->values.hat[a] = r->hat[a];
    for (int a = 0; a < 3; ++a) r->values.flux[a] = r->flux[a];
    return r;
}

static ps_triangle make_triangle(const double v[9])
{
    ps_triangle t;
    int32_t corners[3] = {0, 1, 2};
    check_ok(ps_triangles_init(v, corners, 1, &t));
    return t;
}

static double quantity(const results *r, int q, int64_t i, int c)
{
    const double(*all[])[PS_LANES] = {r->inverse, r->one,     r->distance, r->hat[0], r->hat[1],
                                      r->hat[2],  r->flux[0], r->flux[1],  r->flux[2]};
    return all[q][i][c];
}

/* Largest deviation from the reference, relative to the pair's largest value, per quantity; of the
 * flux, which may be as small as the point is close to the plane, to what it would be head on. */
static void compare_lane(const results *r, int c, const double x[3], const ps_triangle *t,
                         double shell, double worst[QUANTITIES])
{
    double largest[QUANTITIES] = {0}, off[QUANTITIES] = {0};
    for (int64_t i = -1; i <= r->values.count[c]; ++i) {
        wide expected[QUANTITIES] = {0};
        int64_t l = r->values.first[c] + i;
        if (l < 0) continue;
        reference_shell(x, t, l, shell, expected);
        bool within = i >= 0 && i < r->values.count[c];
        for (int q = 0; q < QUANTITIES; ++q) {
            double actual = within ? quantity(r, q, i, c) : 0;
            largest[q] = worse_of(largest[q], fabs((double)expected[q]));
            off[q] = worse_of(off[q], fabs(actual - (double)expected[q]));
        }
    }
    double away = ps_distance3(x, t->centroid) + t->radius;
    for (int q = 6; q < QUANTITIES; ++q) largest[q] = worse_of(largest[q], largest[0] / away);
    for (int q = 0; q < QUANTITIES; ++q)
        if (off[q] > 0) worst[q] = worse_of(worst[q], off[q] / largest[q]);
}

static const double unit_triangle[9] = {0, 0, 0, 1, 0, 0, .3, .9, 0};

static void check_points(const double (*points)[3], int count, const ps_triangle *t, double shell,
                         const double bound[QUANTITIES])
{
    PS_SCOPED_MEMORY results *r = results_new();
    ps_shell_lanes lanes;
    double worst[QUANTITIES] = {0};
    for (int first = 0; first < count; first += PS_LANES) {
        for (int c = 0; c < PS_LANES; ++c) {
            int p = first + c < count ? first + c : count - 1;
            ps_shell_lanes_set(&lanes, c, points[p], t);
        }
        assert_true(functions->flux(&lanes, shell, &r->values) <= CAPACITY);
        for (int c = 0; c < PS_LANES; ++c) {
            int p = first + c < count ? first + c : count - 1;
            compare_lane(r, c, points[p], t, shell, worst);
        }
    }
    for (int q = 0; q < QUANTITIES; ++q) {
        if (!(worst[q] <= bound[q])) print_error("quantity %d of D = %g: ", q, shell);
        check_at_most(worst[q], bound[q]);
    }
}

static void for_each_isa(void (*test)(void))
{
    for (ps_isa isa = PS_ISA_BASE; isa <= PS_ISA_AVX512; ++isa) {
        functions = ps_shell_functions_of(isa);
        if (functions) test();
    }
}

static void random_positions(void)
{
    ps_triangle t = make_triangle(unit_triangle);
    enum { N = 200 };
    static double points[N][3];
    uint64_t seed = 7;
    for (int i = 0; i < N; ++i)
        for (int c = 0; c < 3; ++c) points[i][c] = (c == 2 ? 1.5 : 3) * (check_random(&seed) - .4);
    const double bound[] = {1e-13, 1e-13, 1e-13, 1e-12, 1e-12, 1e-12, 1e-12, 1e-12, 1e-12};
    const double shells[] = {.05, .13, .4, 1.1, 7};
    for (int s = 0; s < 5; ++s) check_points(points, N, &t, shells[s], bound);
}

static void degenerate_positions(void)
{
    ps_triangle t = make_triangle(unit_triangle);
    const double points[][3] = {
        {0, 0, 0},   {1, 0, 0},      {.3, .9, 0},   /* vertices                        */
        {.5, 0, 0},  {.25, 0, 0},                   /* on an edge                      */
        {.4, .2, 0}, {.4, .2, 1e-9}, {.4, .2, -.3}, /* inside, d = 0, tiny, negative   */
        {2, 0, 0},   {-1, 0, 0},                    /* on the line of an edge, outside */
        {0, 0, .5},  {.5, 0, .25},   {2, 0, .25},   /* above a vertex, edge, edge line */
        {3, 2, 0},   {.5, 1e-8, 0},  {.5, -1e-8, 0}, {.5, -1e-5, 1e-6}, {1e-7, 1e-7, 1e-7}};
    const double bound[] = {1e-13, 1e-13, 1e-13, 1e-12, 1e-12, 1e-12, 1e-9, 1e-9, 1e-9};
    const double shells[] = {.05, .25, .5, 1, 3};
    for (int s = 0; s < 5; ++s)
        check_points(points, sizeof points / sizeof points[0], &t, shells[s], bound);
}

/* 180 edges away: errors grow like R/h, those of the hats like (R/h)^2. */
static void far_positions(void)
{
    ps_triangle t = make_triangle(unit_triangle);
    enum { N = 64 };
    static double points[N][3];
    uint64_t seed = 11;
    for (int i = 0; i < N; ++i) {
        double z = 2 * check_random(&seed) - 1, phi = 6.2831853 * check_random(&seed);
        double far = 180, flat = sqrt(1 - z * z);
        points[i][0] = far * flat * cos(phi);
        points[i][1] = far * flat * sin(phi);
        points[i][2] = far * z;
    }
    const double bound[] = {1e-12, 1e-12, 1e-11, 1e-9, 1e-9, 1e-9, 1e-9, 1e-9, 1e-9};
    check_points(points, N, &t, .53, bound);
}

/* A lane's bits do not depend on the other lanes, nor on which one it is. */
static void lanes_alone(void)
{
    PS_SCOPED_MEMORY results *together = results_new(), *alone = results_new();
    uint64_t seed = 5;
    for (int n = 0; n < 300; ++n) {
        ps_shell_lanes mixed, same;
        ps_triangle t[PS_LANES];
        double x[PS_LANES][3], v[9];
        for (int c = 0; c < PS_LANES; ++c) {
            for (int i = 0; i < 9; ++i) v[i] = check_random(&seed);
            for (int i = 0; i < 3; ++i) x[c][i] = 3 * check_random(&seed) - 1;
            t[c] = make_triangle(v);
            ps_shell_lanes_set(&mixed, c, x[c], &t[c]);
        }
        int c = n % PS_LANES, other = (n / PS_LANES) % PS_LANES;
        for (int lane = 0; lane < PS_LANES; ++lane) ps_shell_lanes_set(&same, lane, x[c], &t[c]);
        functions->flux(&mixed, .2, &together->values);
        functions->flux(&same, .2, &alone->values);
        assert_int_equal(together->values.count[c], alone->values.count[other]);
        for (int64_t i = 0; i < alone->values.count[other]; ++i)
            for (int q = 0; q < QUANTITIES; ++q)
                assert_true(quantity(together, q, i, c) == quantity(alone, q, i, other));
        functions->hats(&mixed, .2, &alone->values);
        for (int64_t i = 0; i < alone->values.count[c]; ++i)
            for (int q = 0; q < 6; ++q)
                assert_true(quantity(together, q, i, c) == quantity(alone, q, i, c));
        functions->soft(&mixed, .2, &alone->values);
        for (int64_t i = 0; i < alone->values.count[c]; ++i)
            assert_true(quantity(together, 0, i, c) == quantity(alone, 0, i, c));
    }
}

/* The flux through a closed surface of what lies on one of its faces: -2 pi. */
static void closed_surface(void)
{
    PS_SCOPED(icosphere_release) icosphere mesh = {0};
    icosphere_init(&mesh, 2);
    PS_SCOPED_MEMORY ps_triangle *t = malloc((size_t)mesh.triangle_count * sizeof *t);
    check_ok(ps_triangles_init(mesh.vertices, mesh.triangles, mesh.triangle_count, t));
    PS_SCOPED_MEMORY results *r = results_new();
    double sum = 0;
    for (int64_t i = 1; i < mesh.triangle_count; ++i) {
        ps_shell_lanes lanes;
        for (int c = 0; c < PS_LANES; ++c) ps_shell_lanes_set(&lanes, c, t[0].centroid, &t[i]);
        functions->flux(&lanes, .05, &r->values);
        for (int64_t l = 0; l < r->values.count[0]; ++l)
            for (int a = 0; a < 3; ++a) sum += r->flux[a][l][0];
    }
    check_near(sum, -2 * acos(-1), 5e-14, 0);
}

static void test_closed(void **state) { for_each_isa(closed_surface); }
static void test_lanes(void **state) { for_each_isa(lanes_alone); }
static void test_random(void **state) { for_each_isa(random_positions); }
static void test_degenerate(void **state) { for_each_isa(degenerate_positions); }
static void test_far(void **state) { for_each_isa(far_positions); }
