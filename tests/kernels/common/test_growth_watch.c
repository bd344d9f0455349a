/*
 * What grows is told from what rings, drifts and echoes, on made-up levels and on marches with
 * dense matrices: the one-point outer rule is unstable (numerics guide, 4), three points are not.
 */
#include <lapacke.h>
#include <stdlib.h>

#include "kernels/common/growth_watch.h"
#include "runtime/scope.h"
#include "tests/check.h"
#include "tests/support/cube.h"
#include "tests/support/interaction_case.h"

enum { NEVER = 1 << 30 };

/* When a series of levels is suspected and found growing; NEVER. */
typedef struct verdict {
    int64_t suspected, certain;
    double largest; /* up to there */
} verdict;

typedef struct series_watch {
    ps_growth_watch watch;
    verdict found;
} series_watch;

static void take(series_watch *s, int64_t n, int64_t quiet, int64_t window, double level)
{
    if (s->found.certain != NEVER) return;
    s->found.largest = worse_of(s->found.largest, level);
    ps_growth growth = ps_growth_watch_step(&s->watch, quiet, window, level, s->found.largest);
    if (growth == PS_GROWTH_SUSPECTED) {
        assert_int_equal(s->found.suspected, NEVER); /* told once */
        s->found.suspected = n;
    }
    if (growth == PS_GROWTH_CERTAIN) s->found.certain = n;
}

/* ---- made-up levels: a pulse of height 1 until step 100, then this ---- */

typedef double (*level_function)(double t, double parameter);

static double exponential(double t, double rate) { return 1e-6 * exp(rate * t) + exp(-t / 20); }
static double linear(double t, double rate) { return rate * t + exp(-t / 20); }
static double random_walk(double t, double rate) { return rate * pow(t, 1.5) + exp(-t / 20); }
static double ringing(double t, double period)
{
    return 0.3 * exp(-t / 2000) * fabs(cos(2 * acos(-1) * t / period)) + exp(-t / 20);
}
/* Two bodies: each crossing an echo, half as strong, focused on a few unknowns. */
static double echoes(double t, double spacing)
{
    double since = fmod(t, spacing);
    return pow(0.5, floor(t / spacing)) * exp(-since * since / 50) + 1e-9;
}

static verdict watch_levels(level_function level, double parameter, int64_t steps)
{
    series_watch s = {.found = {NEVER, NEVER, 0}};
    for (int64_t n = 1; n <= steps; ++n)
        take(&s, n, n - 100, 40, n <= 100 ? 1 : level((double)(n - 100), parameter));
    return s.found;
}

static void exponentials_are_found(void **state)
{
    static const double rates[] = {0.4, 0.05, 6.7e-4};
    for (int i = 0; i < 3; ++i) {
        verdict found = watch_levels(exponential, rates[i], 200000);
        assert_true(found.suspected < found.certain && found.certain < NEVER);
        check_at_most(found.largest, 1e4); /* far below a million times the pulse */
    }
}

static void nothing_else_is(void **state)
{
    static const double small[] = {1e-9, 1e-6, 1e-3, 1}, periods[] = {3, 37, 400, 3000};
    static const double spacings[] = {17, 40, 75};
    for (int i = 0; i < 4; ++i) {
        assert_int_equal(watch_levels(linear, small[i], 300000).suspected, NEVER);
        assert_int_equal(watch_levels(random_walk, small[i], 300000).suspected, NEVER);
        assert_int_equal(watch_levels(ringing, periods[i], 300000).suspected, NEVER);
    }
    for (int i = 0; i < 3; ++i)
        assert_int_equal(watch_levels(echoes, spacings[i], 300000).suspected, NEVER);
}

/* A second pulse, a thousand times the first, starts the watch anew. */
static void loads_are_no_growth(void **state)
{
    series_watch s = {.found = {NEVER, NEVER, 0}};
    for (int64_t n = 1; n <= 4000; ++n) {
        int64_t quiet = n > 2000 ? n - 2100 : n - 100;
        double ring = quiet > 0 ? exp(-(double)quiet / 60) : 1;
        take(&s, n, quiet, 40, n > 2000 ? 1000 * ring : ring);
    }
    assert_int_equal(s.found.suspected, NEVER);
}

/* ---- marches ---- */

enum { PULSE = 60, STEPS = 4000 };

/* Right-hand side of step n into x: a pulse with a random pattern less what is past. */
static void right_side(const double *m, int64_t k_max, int64_t n, const double *past,
                       const double *pattern, int64_t size, double *x)
{
    double pulse = n < 2 * PULSE ? exp(-pow((double)(n - PULSE) / 8.0, 2)) : 0;
    for (int64_t i = 0; i < size; ++i) x[i] = pulse * pattern[i];
    for (int64_t k = 1; k <= k_max && k < n; ++k) {
        const double *matrix = m + k * size * size, *a = past + (n - k) % (k_max + 1) * size;
        for (int64_t j = 0; j < size; ++j)
            for (int64_t i = 0; i < size; ++i) x[i] -= matrix[j * size + i] * a[j];
    }
}

static double level_of(const double *a, int64_t size, bool hard)
{
    double most = 0, mean = 0;
    for (int64_t i = 0; i < size; ++i) {
        most = worse_of(most, fabs(a[i]));
        mean += a[i] / (double)size;
    }
    return hard ? most - fabs(mean) : most;
}

static verdict march(const icosphere *mesh, ps_formulation formulation, int points, double courant)
{
    PS_SCOPED(interaction_case_release) interaction_case c = {0};
    interaction_case_init(&c, mesh, formulation, points, icosphere_mean_edge(mesh) / courant);
    int64_t k_max, size = c.interaction.unknowns;
    PS_SCOPED_MEMORY double *m = interaction_dense(&c.interaction, &k_max);
    PS_SCOPED_MEMORY double *past = calloc((size_t)((k_max + 1) * size), sizeof *past);
    PS_SCOPED_MEMORY double *pattern = calloc((size_t)size, sizeof *pattern);
    series_watch s = {.found = {NEVER, NEVER, 0}};
    uint64_t seed = 3;
    for (int64_t i = 0; i < size; ++i) pattern[i] = check_random(&seed);
    assert_int_equal(LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', (int)size, m, (int)size), 0);
    for (int64_t n = 1; n <= STEPS && s.found.certain == NEVER; ++n) {
        double *x = past + n % (k_max + 1) * size;
        right_side(m, k_max, n, past, pattern, size, x);
        LAPACKE_dpotrs(LAPACK_COL_MAJOR, 'L', (int)size, 1, m, (int)size, x, (int)size);
        take(&s, n, n - 2 * PULSE, k_max < 16 ? 16 : k_max,
             level_of(x, size, formulation == PS_SOUND_HARD));
    }
    return s.found;
}

static void one_point_grows(void **state)
{
    PS_SCOPED(icosphere_release) icosphere sphere = {0}, cube = {0};
    icosphere_init(&sphere, 1);
    cube_init(&cube, 3);
    verdict found[2] = {march(&sphere, PS_SOUND_HARD, 1, 4), march(&cube, PS_SOUND_SOFT_S, 1, 8)};
    for (int i = 0; i < 2; ++i) {
        print_message("suspected at %lld, certain at %lld, largest %.3g\n",
                      (long long)found[i].suspected, (long long)found[i].certain, found[i].largest);
        assert_true(found[i].certain < NEVER);
    }
}

static void three_points_do_not(void **state)
{
    PS_SCOPED(icosphere_release) icosphere sphere = {0}, cube = {0};
    icosphere_init(&sphere, 1);
    cube_init(&cube, 3);
    assert_int_equal(march(&sphere, PS_SOUND_HARD, 3, 4).suspected, NEVER);
    assert_int_equal(march(&sphere, PS_SOUND_SOFT_S, 3, 4).suspected, NEVER);
    assert_int_equal(march(&cube, PS_SOUND_SOFT_S, 3, 8).suspected, NEVER);
    assert_int_equal(march(&cube, PS_SOUND_HARD, 3, 2).suspected, NEVER);
}
