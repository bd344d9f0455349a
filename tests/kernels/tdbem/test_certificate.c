/*
 * The passivity certificate (kernels/tdbem/passivity.h) against dense matrices: weights and sums of
 * row-vectors give H(theta); Lanczos' method gives its least eigenvalue, as LAPACK does; a rule
 * that is not passive is found out.
 */
#include "tests/check.h"

#include <complex.h>
#include <lapacke.h>
#include <stdlib.h>

#include "kernels/tdbem/passivity.h"
#include "tests/support/distance.h"
#include "tests/support/interaction_case.h"

static const double angles[PS_PASSIVITY_ANGLES] = {M_PI, 2.2, 1.2, .5};

/* H(theta) of all matrices m[k][j][i], from its definition. */
static void dense(const double *m, int64_t k_max, int64_t n, ps_formulation formulation,
                  double theta, double *h)
{
    double complex z = cexp(I * theta), power = 1, factor = 1;
    if (formulation == PS_SOUND_SOFT_S) factor = 1 - z;
    if (formulation == PS_SOUND_HARD) factor = 1 / (1 - z);
    memset(h, 0, (size_t)(n * n) * sizeof *h);
    for (int64_t k = 0; k <= k_max; ++k, power *= z)
        for (int64_t v = 0; v < n * n; ++v) h[v] += creal(factor * power) * m[k * n * n + v];
}

/* The same from a tile, as an assembly makes it. */
static void gathered(const ps_interaction_tile *tile, ps_formulation formulation, float *out[4])
{
    PS_SCOPED_MEMORY double *weights =
        calloc((size_t)(tile->k_max + 1) * PS_PASSIVITY_ANGLES, sizeof *weights);
    ps_passivity_weights(formulation, tile->k_max, angles, false, weights);
    ps_passivity_functions_here()->fill_f64(tile->rows * tile->slices, tile->starts, tile->lengths,
                                            tile->values, weights, 4, out);
    for (int64_t e = 0; e < tile->near_count; ++e)
        for (int t = 0; t < 4; ++t)
            out[t][tile->near_columns[e] * tile->rows + tile->near_rows[e]] +=
                (float)(weights[t] * tile->near_values[e]);
}

typedef struct matrix {
    int64_t n;
    const double *values;
} matrix;

static ps_status multiply(void *context, const double *x, double *y)
{
    const matrix *a = context;
    for (int64_t i = 0; i < a->n; ++i) {
        y[i] = 0;
        for (int64_t j = 0; j < a->n; ++j) y[i] += a->values[i * a->n + j] * x[j];
    }
    return PS_OK;
}

static double lanczos(int64_t n, const double *values, int steps)
{
    ps_lanczos_result found;
    PS_SCOPED_MEMORY double *work = calloc((size_t)ps_lanczos_workspace(n, steps), sizeof *work);
    matrix a = {n, values};
    assert_int_equal(ps_lanczos_least(n, NULL, steps, multiply, &a, work, &found), PS_OK);
    return found.least;
}

static double lapack(int64_t n, const double *values)
{
    PS_SCOPED_MEMORY double *copy = malloc((size_t)(n * n) * sizeof *copy),
                            *w = calloc((size_t)n, sizeof *w);
    memcpy(copy, values, (size_t)(n * n) * sizeof *copy);
    assert_int_equal(LAPACKE_dsyev(LAPACK_COL_MAJOR, 'N', 'U', (int)n, copy, (int)n, w), 0);
    return w[0];
}

static void check_case(ps_formulation formulation, int points, bool passive)
{
    PS_SCOPED(icosphere_release) icosphere sphere = {0};
    PS_SCOPED(interaction_case_release) interaction_case c = {0};
    PS_SCOPED(interaction_tile_release) ps_interaction_tile tile = {0};
    int64_t k_max, n;
    float *out[4];
    icosphere_init(&sphere, 1);
    interaction_case_init(&c, &sphere, formulation, points, icosphere_mean_edge(&sphere) / 4);
    n = c.interaction.unknowns;
    double least = 1;
    PS_SCOPED_MEMORY double *m = interaction_dense(&c.interaction, &k_max),
                            *h = calloc((size_t)(n * n), sizeof *h);
    PS_SCOPED_MEMORY float *memory = calloc((size_t)(4 * n * n), sizeof *memory);
    for (int t = 0; t < 4; ++t) out[t] = memory + t * n * n;
    interaction_tile_init(&c.interaction, 0, n, 0, n, &tile);
    interaction_tile_compute(&c.interaction, &tile);
    gathered(&tile, formulation, out);
    for (int t = 0; t < 4; ++t) {
        double largest = 0;
        dense(m, k_max, n, formulation, angles[t], h);
        for (int64_t v = 0; v < n * n; ++v) largest = worse_of(largest, fabs(h[v]));
        for (int64_t v = 0; v < n * n; ++v) check_near((double)out[t][v], h[v], 1e-6 * largest, 0);
        double exact = lapack(n, h);
        check_near(lanczos(n, h, (int)n), exact, 1e-9 * largest, 0);
        check_at_most(exact - 1e-9 * largest, lanczos(n, h, 30)); /* an upper bound */
        least = fmin(least, lanczos(n, h, 30) / largest);
    }
    if (passive)
        check_at_most(-least, 1e-9);
    else
        check_at_most(1e-3, -least);
}

static void test_certificate(void **state)
{
    check_case(PS_SOUND_SOFT_S, 3, true);
    check_case(PS_SOUND_SOFT_M, 3, true);
    check_case(PS_SOUND_HARD, 3, true);
    check_case(PS_SOUND_HARD, 1, false);
}
