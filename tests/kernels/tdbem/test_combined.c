/*
 * The combined field equation (Burton-Miller in time): moments of its matrices, both squares of a
 * mirrored pair, passivity and the roots of the guide's table (tdbem-any.md, 3).
 */
#include "tests/check.h"

#include <complex.h>
#include <lapacke.h>
#include <stdbool.h>

#include "tests/support/interaction_case.h"

/* Of area 4 pi. The roots of the guide's plain equation, and all others then, come with an h that
 * is 3 % below the mean edge. */
static void sphere80(interaction_case *c, icosphere *mesh, double courant, double alpha)
{
    icosphere_init(mesh, 1);
    icosphere_scale_to_area(mesh);
    double shell = .97 * icosphere_mean_edge(mesh) / courant;
    interaction_case_init(c, mesh, PS_SOUND_HARD, 6, shell);
    c->interaction.combined = alpha;
}

/* What the combined equation adds is alpha/c times {I/2 (d_k0 - d_k1) - [(k+1) Q_k - (2k-1) Q_{k-1}
 * + (k-2) Q_{k-2}]}, of which the sum over k is 0 and the sum of k times it is sum_l Q_l - I/2. A
 * closed surface is seen under half of all directions, sum_l Q_l 1 = -I 1/2: so rows of it add up
 * to -I 1. */
static void test_moments(void **state)
{
    icosphere mesh;
    interaction_case c;
    sphere80(&c, &mesh, 2, .25);
    c.interaction.speed = 1.7;
    int64_t k_max, k_plain, n = c.interaction.unknowns;
    double *m = interaction_dense(&c.interaction, &k_max);
    c.interaction.combined = 0;
    double *plain = interaction_dense(&c.interaction, &k_plain);
    assert_int_equal(k_max, k_plain);
    for (int64_t i = 0; i < n; ++i) {
        double zeroth = 0, first = 0, mass = 0;
        for (int64_t k = 0; k <= k_max; ++k)
            for (int64_t j = 0; j < n; ++j) {
                double more = m[(k * n + j) * n + i] - plain[(k * n + j) * n + i];
                zeroth += more;
                first += (double)k * more;
            }
        for (int64_t p = c.around_start[i]; p < c.around_start[i + 1]; ++p)
            mass += c.triangles[c.around[p]].area / 3;
        check_near(zeroth, 0, 1e-13, 0);
        check_near(first, -.25 / 1.7 * mass, 0, 3e-13);
    }
    free(m);
    free(plain);
    interaction_case_release(&c);
    icosphere_release(&mesh);
}

static bool same_tile(const ps_interaction_tile *a, const ps_interaction_tile *b)
{
    size_t entries = (size_t)(a->rows * a->slices);
    if (a->value_count != b->value_count || a->near_count != b->near_count ||
        memcmp(a->starts, b->starts, 2 * entries) || memcmp(a->lengths, b->lengths, 2 * entries) ||
        memcmp(a->values, b->values, (size_t)a->value_count * sizeof *a->values))
        return false;
    for (int64_t e = 0; e < a->near_count; ++e)
        for (int64_t f = 0, met = 0; f <= b->near_count && !met; ++f) {
            if (f == b->near_count) return false;
            met = a->near_rows[e] == b->near_rows[f] && a->near_columns[e] == b->near_columns[f] &&
                  a->near_values[e] == b->near_values[f];
        }
    return true;
}

/* A square and its mirror, made together, are those that are made alone, to the bit; and differ. */
static void test_mirror(void **state)
{
    icosphere mesh;
    interaction_case c;
    sphere80(&c, &mesh, 2, .25);
    const ps_interaction *a = &c.interaction;
    ps_interaction_tile tile, mirror, alone, other;
    interaction_tile_init(a, 3, 11, 14, 23, &tile);
    interaction_tile_init(a, 14, 23, 3, 11, &mirror);
    interaction_tile_init(a, 3, 11, 14, 23, &alone);
    interaction_tile_init(a, 14, 23, 3, 11, &other);
    int64_t bytes = ps_interaction_workspace(a, 3, 11, 14, 23);
    void *workspace = malloc((size_t)bytes);
    check_ok(ps_interaction_compute_both(a, &tile, &mirror, workspace, bytes));
    interaction_tile_compute(a, &alone);
    interaction_tile_compute(a, &other);
    assert_true(same_tile(&tile, &alone));
    assert_true(same_tile(&mirror, &other));
    int64_t *offsets = calloc(32, sizeof *offsets);
    check_ok(ps_interaction_transpose(&tile, offsets, &other));
    assert_false(same_tile(&mirror, &other));
    free(offsets);
    free(workspace);
    interaction_tile_release(&tile);
    interaction_tile_release(&mirror);
    interaction_tile_release(&alone);
    interaction_tile_release(&other);
    interaction_case_release(&c);
    icosphere_release(&mesh);
}

/* Least eigenvalue of the Hermitian part of M(z)/(1 - z), z = e^{i angle}, over its largest. */
static double passivity_at(const double *m, int64_t k_max, int64_t n, double angle)
{
    double complex z = cexp(I * angle), power = 1 / (1 - z);
    double complex *x = calloc((size_t)(n * n), sizeof *x), *h = calloc((size_t)(n * n), sizeof *h);
    double *values = calloc((size_t)n, sizeof *values);
    for (int64_t k = 0; k <= k_max; ++k, power *= z)
        for (int64_t v = 0; v < n * n; ++v) x[v] += power * m[k * n * n + v];
    for (int64_t j = 0; j < n; ++j)
        for (int64_t i = 0; i < n; ++i) h[j * n + i] = (x[j * n + i] + conj(x[i * n + j])) / 2;
    int size = (int)n;
    assert_int_equal(LAPACKE_zheev(LAPACK_COL_MAJOR, 'N', 'U', size, (void *)h, size, values), 0);
    double least = values[0] / values[n - 1];
    free(x);
    free(h);
    free(values);
    return least;
}

/* Roots of det sum_k z^{-k} M^k = 0, from the companion matrix of -(M^0)^{-1} M^k: how many are 1,
 * and the largest modulus of the others. */
static double largest_root(const double *m, int64_t k_max, int64_t n, int *ones)
{
    int64_t size = n * k_max;
    double *companion = calloc((size_t)(size * size), sizeof *companion);
    double *real = calloc((size_t)size, sizeof *real), *imaginary = calloc((size_t)size, 8);
    double *m0 = malloc((size_t)(n * n) * sizeof *m0), *right = malloc((size_t)(n * size) * 8);
    int *pivots = malloc((size_t)n * sizeof *pivots);
    memcpy(m0, m, (size_t)(n * n) * sizeof *m0);
    memcpy(right, m + n * n, (size_t)(n * size) * sizeof *right);
    assert_int_equal(
        LAPACKE_dgesv(LAPACK_COL_MAJOR, (int)n, (int)size, m0, (int)n, pivots, right, (int)n), 0);
    for (int64_t j = 0; j < size; ++j) {
        for (int64_t i = 0; i < n; ++i) companion[j * size + i] = -right[j * n + i];
        if (j + n < size) companion[j * size + j + n] = 1;
    }
    assert_int_equal(LAPACKE_dgeev(LAPACK_COL_MAJOR, 'N', 'N', (int)size, companion, (int)size,
                                   real, imaginary, NULL, 1, NULL, 1),
                     0);
    double largest = 0;
    *ones = 0;
    for (int64_t r = 0; r < size; ++r) {
        if (hypot(real[r] - 1, imaginary[r]) < 1e-4)
            ++*ones;
        else
            largest = fmax(largest, hypot(real[r], imaginary[r]));
    }
    free(companion);
    free(real);
    free(imaginary);
    free(m0);
    free(right);
    free(pivots);
    return largest;
}

static void check_row(double courant, double alpha, double root, double passivity)
{
    icosphere mesh;
    interaction_case c;
    double least = 1;
    int ones;
    sphere80(&c, &mesh, courant, alpha);
    int64_t k_max, n = c.interaction.unknowns;
    double *m = interaction_dense(&c.interaction, &k_max);
    check_near(largest_root(m, k_max, n, &ones), root, 1.5e-3, 0);
    assert_int_equal(ones, alpha > 0 ? 1 : 2); /* the constant in space; without: a drift, too */
    for (int p = 0; p < 10; ++p)
        least = fmin(least, passivity_at(m, k_max, n, acos(-1) * (p + 1) / 10));
    for (int p = 0; p < 10; ++p)
        least = fmin(least, passivity_at(m, k_max, n, pow(10, -3 + 2.4 * p / 9)));
    check_near(least, passivity, 0, .2);
    free(m);
    interaction_case_release(&c);
    icosphere_release(&mesh);
}

/* Largest root after z = 1, and the passivity minimum over the norm. */
static void test_guide(void **state)
{
    check_row(1, 0, .9591, 1.1e-2);
    check_row(2, 0, .9917, 4.3e-3);
    check_row(1, .25, .741, 5.2e-2);
    check_row(2, .25, .911, 4.2e-2);
    check_row(3, .25, .944, 3.8e-2);
    check_row(2, .5, .837, 7.4e-2);
    check_row(2, 1, .746, .11);
}
