/*
 * The combined field equation (Burton-Miller in time): moments of its matrices, both squares of a
 * mirrored pair, passivity and the roots of the guide's table (tdbem-any.md, 3). And the matrices
 * of linings, which are made of the same integrals.
 */
#include "tests/check.h"

#include "tests/support/distance.h"
#include "tests/support/hermitian.h"
#include "tests/support/interaction_case.h"

/* Of area 4 pi. The roots of the guide's plain equation, and all others then, come with an h that
 * is 3 % below the mean edge. */
static void sphere80(interaction_case *c, double courant, double alpha)
{
    icosphere mesh;
    icosphere_init(&mesh, 1);
    icosphere_scale_to_area(&mesh);
    interaction_case_init(c, &mesh, PS_SOUND_HARD, 6, .97 * icosphere_mean_edge(&mesh) / courant);
    c->sphere = mesh;
    c->interaction.combined = alpha;
}

/* What the combined equation adds is alpha/c times {I/2 (d_k0 - d_k1) - [(k+1) Q_k - (2k-1) Q_{k-1}
 * + (k-2) Q_{k-2}]}, of which the sum over k is 0 and the sum of k times it is sum_l Q_l - I/2. A
 * closed surface is seen under half of all directions, sum_l Q_l 1 = -I 1/2: so rows of it add up
 * to -I 1. */
static void test_moments(void **state)
{
    PS_SCOPED(interaction_case_release) interaction_case c = {0};
    sphere80(&c, 2, .25);
    c.interaction.speed = 1.7;
    int64_t k_max, k_plain, n = c.interaction.unknowns;
    PS_SCOPED_MEMORY double *m = interaction_dense(&c.interaction, &k_max);
    c.interaction.combined = 0;
    PS_SCOPED_MEMORY double *plain = interaction_dense(&c.interaction, &k_plain);
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
    PS_SCOPED(interaction_case_release) interaction_case c = {0};
    sphere80(&c, 2, .25);
    const ps_interaction *a = &c.interaction;
    PS_SCOPED(interaction_tile_release)
    ps_interaction_tile tile = {0}, mirror = {0}, alone = {0}, other = {0};
    interaction_tile_init(a, 3, 11, 14, 23, &tile);
    interaction_tile_init(a, 14, 23, 3, 11, &mirror);
    interaction_tile_init(a, 3, 11, 14, 23, &alone);
    interaction_tile_init(a, 14, 23, 3, 11, &other);
    int64_t bytes = ps_interaction_workspace(a, 3, 11, 14, 23);
    PS_SCOPED_MEMORY void *workspace = malloc((size_t)bytes);
    check_ok(ps_interaction_compute_both(a, &tile, &mirror, workspace, bytes));
    interaction_tile_compute(a, &alone);
    interaction_tile_compute(a, &other);
    assert_true(same_tile(&tile, &alone));
    assert_true(same_tile(&mirror, &other));
    PS_SCOPED_MEMORY int64_t *offsets = calloc(32, sizeof *offsets);
    check_ok(ps_interaction_transpose(&tile, offsets, &other));
    assert_false(same_tile(&mirror, &other));
}

/* Least eigenvalue of the Hermitian part of M(z)/(1 - z), z = e^{i angle}, over its largest. */
static double passivity_at(const double *m, int64_t k_max, int64_t n, double angle)
{
    double ends[2];
    hermitian_ends(m, k_max, n, angle, true, ends);
    return ends[0] / ends[1];
}

/* Roots of det sum_k z^{-k} M^k = 0, from the companion matrix of -(M^0)^{-1} M^k: how many are 1,
 * and the largest modulus of the others. */
static double largest_root(const double *m, int64_t k_max, int64_t n, int *ones)
{
    int64_t size = n * k_max;
    PS_SCOPED_MEMORY double *companion = calloc((size_t)(size * size), sizeof *companion);
    PS_SCOPED_MEMORY double *real = calloc((size_t)size, sizeof *real),
                            *imaginary = calloc((size_t)size, 8);
    PS_SCOPED_MEMORY double *m0 = malloc((size_t)(n * n) * sizeof *m0),
                            *right = malloc((size_t)(n * size) * 8);
    PS_SCOPED_MEMORY int *pivots = malloc((size_t)n * sizeof *pivots);
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
            largest = worse_of(largest, hypot(real[r], imaginary[r]));
    }
    return largest;
}

static void check_row(double courant, double alpha, double root, double passivity)
{
    PS_SCOPED(interaction_case_release) interaction_case c = {0};
    double least = 1;
    int ones;
    sphere80(&c, courant, alpha);
    int64_t k_max, n = c.interaction.unknowns;
    PS_SCOPED_MEMORY double *m = interaction_dense(&c.interaction, &k_max);
    check_near(largest_root(m, k_max, n, &ones), root, 1.5e-3, 0);
    assert_int_equal(ones, alpha > 0 ? 1 : 2); /* the constant in space; without: a drift, too */
    for (int p = 0; p < 10; ++p)
        least = fmin(least, passivity_at(m, k_max, n, acos(-1) * (p + 1) / 10));
    for (int p = 0; p < 10; ++p)
        least = fmin(least, passivity_at(m, k_max, n, pow(10, -3 + 2.4 * p / 9)));
    check_near(least, passivity, 0, .2);
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

/* The matrices of a lining of the triangles with mask[t] (NULL: of all) beside alpha. */
static double *lining_dense(interaction_case *c, const uint8_t *mask, double alpha, int64_t *k_max)
{
    c->interaction.lined = mask;
    c->interaction.combined = alpha;
    double *g = interaction_dense(&c->interaction, k_max);
    c->interaction.lined = NULL;
    return g;
}

/* With alpha = 0, G^k is the transpose of what the combined equation adds, over alpha, with the
 * double layer's sign turned: together they are the mass matrix over c, d_k0 - d_k1. */
static void test_lining_is_transposed(void **state)
{
    PS_SCOPED(interaction_case_release) interaction_case c = {0};
    sphere80(&c, 2, .25);
    c.interaction.speed = 1.7;
    int64_t k_g, k_m, k_max, n = c.interaction.unknowns;
    uint8_t all[80];
    memset(all, 1, sizeof all);
    assert_int_equal(c.interaction.triangle_count, 80);
    PS_SCOPED_MEMORY double *m = interaction_dense(&c.interaction, &k_max);
    c.interaction.combined = 0;
    PS_SCOPED_MEMORY double *plain = interaction_dense(&c.interaction, &k_m);
    PS_SCOPED_MEMORY double *g = lining_dense(&c, all, 0, &k_g);
    assert_int_equal(k_g, k_max);
    for (int64_t k = 0; k <= k_max; ++k)
        for (int64_t i = 0; i < n; ++i) {
            double sum = 0, mass = 0;
            for (int64_t j = 0; j < n; ++j) {
                int64_t ij = (k * n + j) * n + i, ji = (k * n + i) * n + j;
                double both = (m[ij] - plain[ij]) / .25 + g[ji];
                if (k > 1) check_near(both, 0, 2e-14, 0);
                if (k == 1)
                    check_near(both, -(m[j * n + i] - plain[j * n + i]) / .25 - g[i * n + j], 2e-14,
                               0);
                sum += both;
            }
            for (int64_t p = c.around_start[i]; p < c.around_start[i + 1]; ++p)
                mass += c.triangles[c.around[p]].area / 3;
            if (k < 2) check_near(sum, (k ? -1 : 1) * mass / 1.7, 1e-13, 0);
        }
}

/* Linings of two parts add up to that of all, alpha's single layer with them; a vertex off a part
 * has no column there; and that layer, summed up twice, has the measure of a shell of the sphere,
 * 2 pi R^2 D. */
static void test_lining_parts(void **state)
{
    PS_SCOPED(interaction_case_release) interaction_case c = {0};
    sphere80(&c, 2, 0);
    uint8_t parts[2][80], all[80];
    int64_t k[4], n = c.interaction.unknowns;
    memset(all, 1, sizeof all);
    for (int t = 0; t < 80; ++t) {
        parts[0][t] = c.triangles[t].centroid[2] > .2;
        parts[1][t] = !parts[0][t];
    }
    PS_SCOPED_MEMORY double *whole = lining_dense(&c, all, .5, &k[0]),
                            *bare = lining_dense(&c, all, 0, &k[1]);
    PS_SCOPED_MEMORY double *upper = lining_dense(&c, parts[0], .5, &k[2]);
    PS_SCOPED_MEMORY double *lower = lining_dense(&c, parts[1], .5, &k[3]);
    double once = 0, twice = 0, shell = c.interaction.shell;
    for (int64_t l = 0; l <= k[0]; ++l) {
        for (int64_t j = 0; j < n; ++j) {
            bool in = false;
            for (int64_t p = c.around_start[j]; p < c.around_start[j + 1]; ++p)
                in |= parts[0][c.around[p]];
            for (int64_t i = 0; i < n; ++i) {
                int64_t at = (l * n + j) * n + i;
                double u = l <= k[2] ? upper[at] : 0, w = l <= k[3] ? lower[at] : 0;
                check_near(u + w, whole[at], 1e-14, 0);
                if (!in) check_near(u, 0, 0, 0);
                once += (whole[at] - (l <= k[1] ? bare[at] : 0)) * shell / .5;
            }
        }
        twice += once;
        if (l < 4) check_near(twice, 2 * acos(-1) * shell, 0, .05);
    }
    check_near(twice, 0, 1e-12, 0);
}

/* M + b0 G of a whole lined sphere, without and with alpha: no root is beyond the circle, and what
 * is at z = 1 is that of the rigid sphere. Without alpha a wall that gives way much is not passive
 * in the form of the certificate: roots are what tells there. */
static void test_lining_roots(void **state)
{
    static const double alphas[2] = {0, .25}, walls[2] = {.3, 3};
    uint8_t all[80];
    memset(all, 1, sizeof all);
    for (int a = 0; a < 2; ++a) {
        PS_SCOPED(interaction_case_release) interaction_case c = {0};
        sphere80(&c, 2, alphas[a]);
        int64_t k_max, k_g, n = c.interaction.unknowns;
        PS_SCOPED_MEMORY double *m = interaction_dense(&c.interaction, &k_max);
        PS_SCOPED_MEMORY double *g = lining_dense(&c, all, alphas[a], &k_g);
        assert_int_equal(k_max, k_g);
        for (int w = 0; w < 2; ++w) {
            PS_SCOPED_MEMORY double *sum = malloc((size_t)(n * n * (k_max + 1)) * sizeof *sum);
            double least = 1;
            int ones;
            for (int64_t v = 0; v < n * n * (k_max + 1); ++v) sum[v] = m[v] + walls[w] * g[v];
            double root = largest_root(sum, k_max, n, &ones);
            for (int p = 0; p < 10; ++p)
                least = fmin(least, passivity_at(sum, k_max, n, acos(-1) * (p + 1) / 10));
            print_message("alpha %g, b0 %g: root %.4f, passivity %.3g\n", alphas[a], walls[w], root,
                          least);
            check_at_most(root, a ? .98 : 1);
            if (w == 0 || a == 1) check_at_most(-least, 0);
            assert_int_equal(ones, a ? 1 : 2);
        }
    }
}
