/*
 * Stability of both formulations is passivity (numerics guide 2.7): on |z| = 1
 *     Herm[(1 - z) S(z)] >= 0 (sound-soft),  Herm[M(z) / (1 - z)] >= 0 (sound-hard),
 * X(z) = sum_k z^k X^k. Checked on about 60 points, log-spaced near z = 1 too. The one-point outer
 * rule must fail, or the test could not see an unstable matrix; so must 3 points on thin bodies
 * whose triangles are not cut.
 */
#include "tests/check.h"

#include <stdlib.h>

#include "kernels/tdbem/half_values.h"
#include "tests/support/cube.h"
#include "tests/support/hermitian.h"
#include "tests/support/interaction_case.h"
#include "tests/support/thin_bodies.h"

/* Smallest eigenvalue of the Hermitian part of factor * X(z), over the largest modulus of any
 * eigenvalue seen at z. */
static double smallest(const double *m, int64_t k_max, int64_t n, double angle, bool hard)
{
    double ends[2];
    hermitian_ends(m, k_max, n, angle, hard, ends);
    return ends[0] / fmax(fabs(ends[0]), fabs(ends[1]));
}

/* Rounds every row-vector of M^1 .. M^k_max to halves (kernels/tdbem/half_values.h). */
static void round_to_halves(double *m, int64_t k_max, int64_t n)
{
    PS_SCOPED_MEMORY double *vector = calloc((size_t)k_max, sizeof *vector);
    PS_SCOPED_MEMORY uint16_t *halves = calloc((size_t)k_max, sizeof *halves);
    ps_half_error error = {0};
    for (int64_t v = 0; v < n * n; ++v) {
        for (int64_t k = 1; k <= k_max; ++k) vector[k - 1] = m[k * n * n + v];
        int s = ps_half_encode_row(vector, PS_DOUBLE, k_max, halves, 1, &error);
        for (int64_t k = 1; k <= k_max; ++k)
            m[k * n * n + v] = ldexp((double)ps_half_decode(halves[k - 1]), s - 127);
    }
    for (int64_t k = 1; k <= k_max; ++k) /* alike for (i,j) and (j,i), to the bit */
        for (int64_t i = 0; i < n; ++i)
            for (int64_t j = 0; j < i; ++j)
                assert_true(m[k * n * n + i * n + j] == m[k * n * n + j * n + i]);
    check_at_most(error.largest, 0x1p-11);
    check_at_most(1e-5, error.largest);
}

/* The smallest eigenvalue over the circle. */
static double smallest_of_circle(const double *m, int64_t k_max, int64_t n, bool hard)
{
    double least = 1;
    for (int p = 0; p < 40; ++p)
        least = fmin(least, smallest(m, k_max, n, acos(-1) * (p + .5) / 40, hard));
    for (int p = 0; p < 20; ++p)
        least = fmin(least, smallest(m, k_max, n, pow(10, -3 + 2.9 * p / 19), hard));
    return least;
}

static double case_passivity(interaction_case *c)
{
    int64_t k_max, n = c->interaction.unknowns;
    PS_SCOPED_MEMORY double *m = interaction_dense(&c->interaction, &k_max);
    return smallest_of_circle(m, k_max, n, c->interaction.formulation == PS_SOUND_HARD);
}

static double passivity(const icosphere *mesh, ps_formulation formulation, int points,
                        double courant)
{
    PS_SCOPED(interaction_case_release) interaction_case c = {0};
    interaction_case_init(&c, mesh, formulation, points, icosphere_mean_edge(mesh) / courant);
    return case_passivity(&c);
}

/* Without the cuts of kernels/tdbem/cut.h. */
static double uncut_passivity(const icosphere *mesh, ps_formulation formulation, int points,
                              double courant)
{
    PS_SCOPED(interaction_case_release) interaction_case c = {0};
    interaction_case_init(&c, mesh, formulation, points, icosphere_mean_edge(mesh) / courant);
    for (int64_t t = 0; t < mesh->triangle_count; ++t) c.triangles[t].cut = 1;
    ps_interaction_set_reach(&c.interaction, c.reach);
    return case_passivity(&c);
}

/* M^0 is positive definite for any step. */
static void check_definite(const icosphere *mesh, ps_formulation formulation, double courant)
{
    PS_SCOPED(interaction_case_release) interaction_case c = {0};
    interaction_case_init(&c, mesh, formulation, 6, icosphere_mean_edge(mesh) / courant);
    int64_t k_max, n = c.interaction.unknowns;
    PS_SCOPED_MEMORY double *m = interaction_dense(&c.interaction, &k_max);
    assert_int_equal(LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', (int)n, m, (int)n), 0);
}

static void test_soft(void **state)
{
    PS_SCOPED(icosphere_release) icosphere sphere = {0}, cube = {0};
    icosphere_init(&sphere, 1);
    cube_init(&cube, 3);
    static const int rules[] = {3, 6, 12};
    for (int r = 0; r < 3; ++r) {
        check_at_most(-passivity(&sphere, PS_SOUND_SOFT_S, rules[r], 4), 1e-12);
        if (r < 2) check_at_most(-passivity(&cube, PS_SOUND_SOFT_S, rules[r], 8), 1e-12);
    }
    check_at_most(1e-3, -passivity(&cube, PS_SOUND_SOFT_S, 1, 8)); /* one point is unstable */
}

static void test_hard(void **state)
{
    PS_SCOPED(icosphere_release) icosphere sphere = {0}, jittered = {0};
    icosphere_init(&sphere, 1);
    icosphere_init(&jittered, 1);
    icosphere_jitter(&jittered, .06);
    static const double courants[] = {.5, 2, 4, 8};
    for (int q = 0; q < 4; ++q)
        check_at_most(-passivity(&sphere, PS_SOUND_HARD, 3, courants[q]), 1e-9);
    check_at_most(-passivity(&sphere, PS_SOUND_HARD, 6, 2), 1e-9);
    check_at_most(-passivity(&jittered, PS_SOUND_HARD, 3, 3), 1e-9);
    check_at_most(1e-3, -passivity(&sphere, PS_SOUND_HARD, 1, 4));
}

static void check_thin(const icosphere *mesh)
{
    for (int points = 3; points <= 6; points += 3)
        for (double courant = 1; courant <= 4; courant *= 2) {
            check_at_most(-passivity(mesh, PS_SOUND_SOFT_S, points, courant), 1e-12);
            check_at_most(-passivity(mesh, PS_SOUND_HARD, points, courant), 1e-9);
        }
}

static void test_sharp_edge(void **state)
{
    static const wedge_shape shapes[] = {{4, 4, .02, 1, .5, .5},  /* crowded                      */
                                         {4, 4, .002, 1, 1, .3},  /* sheets h/260 apart           */
                                         {4, 4, .005, 3, .5, .3}, /* slivers along the edge       */
                                         {4, 4, .05, 1, .5, .5}}; /* only some triangles are cut  */
    for (int s = 0; s < 4; ++s) {
        PS_SCOPED(icosphere_release) icosphere wedge = {0};
        wedge_init(&wedge, &shapes[s]);
        check_thin(&wedge);
        if (s == 2) {
            check_at_most(1e-2, -uncut_passivity(&wedge, PS_SOUND_HARD, 3, 4));
            check_at_most(1e-2, -uncut_passivity(&wedge, PS_SOUND_SOFT_S, 3, 4));
            check_at_most(1e-4, -uncut_passivity(&wedge, PS_SOUND_HARD, 6, 4));
        }
    }
}

static void test_slivers(void **state)
{
    PS_SCOPED(icosphere_release) icosphere spindle = {0};
    spindle_init(&spindle, 40, .1, .1, .8);
    check_thin(&spindle);
    check_at_most(1e-2, -uncut_passivity(&spindle, PS_SOUND_HARD, 3, 4));
    check_at_most(1e-3, -uncut_passivity(&spindle, PS_SOUND_HARD, 6, 4));
}

static void test_definite(void **state)
{
    PS_SCOPED(icosphere_release) icosphere sphere = {0}, cube = {0};
    icosphere_init(&sphere, 1);
    cube_init(&cube, 3);
    static const double courants[] = {.5, 1, 4, 8};
    for (int q = 0; q < 4; ++q) {
        check_definite(&sphere, PS_SOUND_SOFT_S, courants[q]);
        check_definite(&cube, PS_SOUND_SOFT_S, courants[q]);
        check_definite(&sphere, PS_SOUND_HARD, courants[q]);
        check_definite(&cube, PS_SOUND_HARD, courants[q]);
    }
}

/* Values as halves keep the sphere passive. */
static void test_halves(void **state)
{
    static const int rules[] = {3, 6};
    PS_SCOPED(icosphere_release) icosphere sphere = {0};
    icosphere_init(&sphere, 1);
    for (int r = 0; r < 2; ++r) {
        PS_SCOPED(interaction_case_release) interaction_case c = {0};
        interaction_case_init(&c, &sphere, PS_SOUND_SOFT_S, rules[r],
                              icosphere_mean_edge(&sphere) / 4);
        int64_t k_max, n = c.interaction.unknowns;
        PS_SCOPED_MEMORY double *m = interaction_dense(&c.interaction, &k_max);
        round_to_halves(m, k_max, n);
        check_at_most(-smallest_of_circle(m, k_max, n, false), 1e-12);
    }
}
