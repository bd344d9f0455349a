/*
 * Interaction matrices: reference entries, invariants, structure, bitwise symmetry, whatever the
 * tile. The passivity of both formulations is in test_passivity.c.
 */
#include "kernels/common/vec3.h"
#include "tests/check.h"

#include <stdbool.h>

#include "tests/support/adaptive_entry.h"
#include "tests/support/distance.h"
#include "tests/support/interaction_case.h"
#include "tests/support/shell_reference.h"

/* Converged entries S_l(i,j) of sphere80 with D = 0.15: shared/numerics/tdbem-ref/
 * sphere80-single-layer-entries.txt (inner integral exact, outer adaptive). */
static const struct {
    int i, j, l;
    double value;
} reference[] = {{0, 0, 0, 7.68493372378522e-03},   {0, 0, 1, 3.36432258823944e-03},
                 {0, 0, 2, 8.50526214118986e-04},   {0, 0, 3, 4.19538676490491e-05},
                 {0, 0, 4, 2.50562943658297e-09},   {0, 4, 0, 8.24968889443371e-04},
                 {0, 4, 1, 1.75846355800037e-03},   {0, 4, 2, 1.61729356185640e-03},
                 {0, 4, 3, 6.81230130180460e-04},   {0, 4, 4, 1.55147980003647e-04},
                 {0, 4, 5, 2.07920101527254e-05},   {0, 4, 6, 4.55168848024714e-07},
                 {0, 1, 3, 1.03575750359162e-03},   {0, 56, 11, 2.80778446602820e-05},
                 {0, 56, 12, 7.92650449397379e-04}, {0, 56, 13, 4.13731839392574e-06},
                 {0, 50, 10, 1.76850505981953e-06}, {0, 50, 11, 5.20414873724124e-04},
                 {0, 50, 12, 3.41517231702959e-04}, {0, 50, 13, 1.14881792603497e-06}};
enum { REFERENCES = sizeof reference / sizeof reference[0] };

static double largest_of_pair(int i, int j)
{
    double largest = 0;
    for (int n = 0; n < REFERENCES; ++n)
        if (reference[n].i == i && reference[n].j == j)
            largest = worse_of(largest, reference[n].value);
    return largest;
}

/* The converged integrals agree with the reference within what it is good for. */
static void test_reference_entries(void **state)
{
    PS_SCOPED(interaction_case_release) interaction_case c = {0};
    interaction_case_sphere(&c, 1, 0, PS_SOUND_SOFT_S, 6, .15);
    double shells[32];
    for (int e = 0; e < REFERENCES; ++e) {
        int i = reference[e].i, j = reference[e].j;
        bool same = e > 0 && reference[e - 1].i == i && reference[e - 1].j == j;
        if (!same)
            adaptive_entry(&c.triangles[i], &c.triangles[j], .15, 2e-9 * largest_of_pair(i, j), 32,
                           shells);
        check_near(shells[reference[e].l], reference[e].value, 1e-8 * largest_of_pair(i, j), 0);
    }
}

/* 4 pi times the five (0,0) entries is int int 1/r over a triangle, known in closed form:
 * -(4 A^2/3) sum ln(1 - 2 l_i/P)/l_i. */
static void test_self_entry_closed_form(void **state)
{
    PS_SCOPED(interaction_case_release) interaction_case c = {0};
    interaction_case_sphere(&c, 1, 0, PS_SOUND_SOFT_S, 6, .15);
    const ps_triangle *t = c.triangles;
    double around = t->length[0] + t->length[1] + t->length[2], exact = 0, sum = 0, shells[8];
    for (int e = 0; e < 3; ++e) exact -= log(1 - 2 * t->length[e] / around) / t->length[e];
    exact *= 4 * t->area * t->area / 3 / (4 * acos(-1));
    check_near(exact, .0119417388975, 1e-13, 0);
    adaptive_entry(t, t, .15, 3e-11, 8, shells);
    for (int l = 0; l < 8; ++l) sum += shells[l];
    check_near(sum, exact, 2e-10, 0);
}

/* The fixed rules are within what the guide measured, of the pair's largest entry. */
static void check_rule(int points, double bound, double at_least)
{
    PS_SCOPED(interaction_case_release) interaction_case c = {0};
    interaction_case_sphere(&c, 1, 0, PS_SOUND_SOFT_S, points, .15);
    int64_t k_max, n = 80;
    double worst = 0;
    PS_SCOPED_MEMORY double *m = interaction_dense(&c.interaction, &k_max);
    for (int e = 0; e < REFERENCES; ++e) {
        double actual = m[(reference[e].l * n + reference[e].j) * n + reference[e].i];
        double off = fabs(actual - reference[e].value);
        worst = worse_of(worst, off / largest_of_pair(reference[e].i, reference[e].j));
    }
    check_at_most(worst, bound);
    check_at_most(at_least, worst); /* a rule this coarse cannot be better */
}

static void test_rules(void **state)
{
    check_rule(3, .11, 1e-3);
    check_rule(6, .05, 1e-3);
    check_rule(7, .05, 1e-3);
    check_rule(12, .025, 1e-4);
}

/* Whole shells on a sphere of radius R: sum_ij S_l = 2 pi R^2 D (1 - O(h^2)). */
static double shell_sum_error(int levels)
{
    PS_SCOPED(icosphere_release) icosphere mesh = {0};
    PS_SCOPED(interaction_case_release) interaction_case c = {0};
    icosphere_init(&mesh, levels);
    icosphere_scale_to_area(&mesh);
    interaction_case_init(&c, &mesh, PS_SOUND_SOFT_S, 3, .25);
    int64_t k_max, n = mesh.triangle_count;
    double worst = 0, exact = 2 * acos(-1) * .25;
    PS_SCOPED_MEMORY double *m = interaction_dense(&c.interaction, &k_max);
    for (int64_t l = 0; l < 7; ++l) {
        double sum = 0;
        for (int64_t v = 0; v < n * n; ++v) sum += m[l * n * n + v];
        worst = worse_of(worst, fabs(sum / exact - 1));
    }
    return worst;
}

static void test_whole_shells(void **state)
{
    double coarse = shell_sum_error(1), fine = shell_sum_error(2), finest = shell_sum_error(3);
    check_at_most(coarse, .08);
    check_at_most(fine, coarse / 3);
    check_at_most(finest, fine / 3);
    check_at_most(finest, .005);
}

/* M-form: sum_k M^k = 0 for every pair, and M^k = S_k - S_{k-1}. */
static void test_m_form(void **state)
{
    PS_SCOPED(interaction_case_release) interaction_case s = {0}, d = {0};
    interaction_case_sphere(&s, 1, .05, PS_SOUND_SOFT_S, 3, .2);
    interaction_case_sphere(&d, 1, .05, PS_SOUND_SOFT_M, 3, .2);
    int64_t k_s, k_m, n = s.sphere.triangle_count;
    PS_SCOPED_MEMORY double *a = interaction_dense(&s.interaction, &k_s),
                            *b = interaction_dense(&d.interaction, &k_m);
    assert_int_equal(k_m, k_s + 1);
    for (int64_t v = 0; v < n * n; ++v) {
        double sum = 0, largest = 0;
        for (int64_t k = 0; k <= k_m; ++k) {
            double now = k <= k_s ? a[k * n * n + v] : 0, before = k ? a[(k - 1) * n * n + v] : 0;
            largest = worse_of(largest, now);
            sum += b[k * n * n + v];
            check_near(b[k * n * n + v], now - before, 3e-12 * largest + 3e-12 * before, 0);
        }
        check_near(sum, 0, 5e-12 * largest, 0);
    }
}

/* ---- sound-hard ---- */

/* curl phi_a . curl phi_b of corners a, b of two triangles. */
static double curls(const ps_triangle *s, int a, const ps_triangle *t, int b)
{
    double u[3], v[3];
    for (int c = 0; c < 3; ++c) {
        u[c] = (s->vertex[(a + 2) % 3][c] - s->vertex[(a + 1) % 3][c]) / (2 * s->area);
        v[c] = (t->vertex[(b + 2) % 3][c] - t->vertex[(b + 1) % 3][c]) / (2 * t->area);
    }
    return ps_dot3(u, v);
}

/* sum_k M^k = dt int int curl phi_i . curl phi_j / (4 pi r): W telescopes, the pieces of B sum
 * to 1. The right side from the sound-soft matrices of the same triangles. Its rows sum to 0. */
static void test_hard_sum(void **state)
{
    PS_SCOPED(interaction_case_release) interaction_case hard = {0}, soft = {0};
    interaction_case_sphere(&hard, 1, .05, PS_SOUND_HARD, 3, .25);
    interaction_case_sphere(&soft, 1, .05, PS_SOUND_SOFT_S, 3, .25);
    hard.interaction.speed = 2;
    int64_t k_hard, k_soft, n = hard.sphere.vertex_count, t = hard.sphere.triangle_count;
    PS_SCOPED_MEMORY double *m = interaction_dense(&hard.interaction, &k_hard);
    PS_SCOPED_MEMORY double *s = interaction_dense(&soft.interaction, &k_soft);
    assert_int_equal(k_hard, k_soft + 2);
    PS_SCOPED_MEMORY double *expected = calloc((size_t)(n * n), sizeof *expected);
    for (int64_t p = 0; p < t; ++p)
        for (int64_t q = 0; q < t; ++q)
            for (int ab = 0; ab < 9; ++ab) {
                double whole = 0;
                for (int64_t l = 0; l <= k_soft; ++l) whole += s[(l * t + q) * t + p];
                expected[hard.sphere.triangles[3 * q + ab % 3] * n +
                         hard.sphere.triangles[3 * p + ab / 3]] +=
                    .125 * whole * curls(&soft.triangles[p], ab / 3, &soft.triangles[q], ab % 3);
            }
    double largest = largest_of(expected, n * n);
    for (int64_t j = 0; j < n; ++j) {
        double row = 0;
        for (int64_t i = 0; i < n; ++i) {
            double sum = 0;
            for (int64_t k = 0; k <= k_hard; ++k) sum += m[(k * n + j) * n + i];
            check_near(sum, expected[j * n + i], 2e-11 * largest, 0);
            row += sum;
        }
        check_near(row, 0, 2e-11 * largest, 0);
    }
}

/* W_l [9] and C^p_l [3] of one order of a pair of triangles, from the scalar reference: outer on
 * s, inner on t. */
static void reference_moments(const interaction_case *c, int64_t s, int64_t t, int64_t shells,
                              double (*out)[12])
{
    ps_point points[PS_RULE_POINTS_MAX];
    ps_triangle_points(&c->triangles[s], &c->interaction.rule, 1, points);
    for (int q = 0; q < c->interaction.rule.count; ++q)
        for (int64_t l = 0; l < shells; ++l) {
            wide value[9];
            reference_shell(points[q].x, &c->triangles[t], l, c->interaction.shell, value);
            double weight = points[q].weight / (4 * acos(-1));
            for (int p = 0; p < 3; ++p) out[l][9 + p] += weight * (double)value[p];
            for (int ab = 0; ab < 9; ++ab)
                out[l][ab] += weight * points[q].barycentric[ab / 3] * (double)value[3 + ab % 3];
        }
}

/* Guide 2.3, second line, as printed. */
static double reference_spline(double (*c)[12], int64_t shells, int64_t k, double shell)
{
    static const double part[3][3] = {{.5, 0, 0}, {-1, 3, -1.5}, {.5, -3, 4.5}};
    double o = (double)(k - 2), sum = 0;
    for (int64_t l = k - 2; l <= k; ++l) {
        if (l < 0 || l >= shells) continue;
        const double *a = part[l - (k - 2)];
        double q2 = a[0], q1 = a[1] - 2 * a[0] * o, q0 = a[2] - a[1] * o + a[0] * o * o;
        sum += q2 * c[l][11] / (shell * shell) + q1 * c[l][10] / shell + q0 * c[l][9];
    }
    return sum;
}

/* Adds M^k of one pair of triangles, from its moments averaged over both orders. */
static void reference_add(const interaction_case *c, int64_t s, int64_t t, double (*w)[12],
                          int64_t shells, double *m)
{
    const icosphere *mesh = &c->sphere;
    int64_t n = mesh->vertex_count;
    double D = c->interaction.shell, speed = c->interaction.speed, dt = D / speed;
    double normals = ps_dot3(c->triangles[s].normal, c->triangles[t].normal);
    for (int ab = 0; ab < 9; ++ab)
        for (int64_t k = 0; k < shells + 2; ++k) {
            double second = 0;
            for (int64_t l = k - 2; l <= k; ++l)
                if (l >= 0 && l < shells) second += (l == k - 1 ? -2 : 1) * w[l][ab];
            int64_t i = mesh->triangles[3 * s + ab / 3], j = mesh->triangles[3 * t + ab % 3];
            m[(k * n + j) * n + i] +=
                normals * second / (speed * speed * dt) +
                dt * curls(&c->triangles[s], ab / 3, &c->triangles[t], ab % 3) *
                    reference_spline(w, shells, k, D);
        }
}

/* Every entry against a literal evaluation of the guide's 2.3 and 2.4 with the same outer rule. */
static void test_hard_entries(void **state)
{
    PS_SCOPED(interaction_case_release) interaction_case c = {0};
    interaction_case_sphere(&c, 0, .1, PS_SOUND_HARD, 3, .35);
    c.interaction.speed = 1.7;
    enum { SHELLS = 8 };
    int64_t k_max, n = c.sphere.vertex_count;
    PS_SCOPED_MEMORY double *m = interaction_dense(&c.interaction, &k_max),
                            *expected = calloc((size_t)((SHELLS + 2) * n * n), sizeof *expected);
    assert_true(k_max < SHELLS + 2);
    for (int64_t s = 0; s < c.sphere.triangle_count; ++s)
        for (int64_t t = 0; t < c.sphere.triangle_count; ++t) {
            double one[SHELLS][12] = {{0}}, other[SHELLS][12] = {{0}};
            reference_moments(&c, s, t, SHELLS, one);
            reference_moments(&c, t, s, SHELLS, other);
            for (int l = 0; l < SHELLS; ++l)
                for (int p = 0; p < 12; ++p) {
                    int turned = p < 9 ? p % 3 * 3 + p / 3 : p;
                    one[l][p] = (one[l][p] + other[l][turned]) / 2;
                }
            reference_add(&c, s, t, one, SHELLS, expected);
        }
    double largest = largest_of(expected, (k_max + 1) * n * n);
    for (int64_t v = 0; v < (SHELLS + 2) * n * n; ++v)
        check_near(v < (k_max + 1) * n * n ? m[v] : 0, expected[v], 1e-11 * largest, 0);
}

/* ---- tiles ---- */

static void compare_tile(const ps_interaction_tile *tile, const double *dense, int64_t n)
{
    const double *value = tile->values;
    for (int64_t s = 0; s < tile->slices; ++s)
        for (int64_t r = 0; r < tile->rows; ++r) {
            int64_t v = s * tile->rows + r, i = tile->first_row + r, j = tile->first_slice + s;
            for (int q = 0; q < tile->lengths[v]; ++q, ++value) {
                int64_t k = tile->starts[v] + q;
                assert_true(*value == dense[(k * n + j) * n + i]);
                assert_true(*value == dense[(k * n + i) * n + j]); /* symmetric, bit for bit */
            }
        }
    assert_int_equal(value - tile->values, tile->value_count);
    for (int64_t e = 0; e < tile->near_count; ++e)
        assert_true(tile->near_values[e] == dense[tile->near_columns[e] * n + tile->near_rows[e]]);
}

static void check_tiles(ps_formulation formulation, int points, const ps_reflectors *mirrors)
{
    PS_SCOPED(interaction_case_release) interaction_case c = {0};
    interaction_case_sphere(&c, 1, .08, formulation, points, .2);
    if (mirrors) interaction_case_mirror(&c, &c.sphere, mirrors);
    int64_t k_max, n = c.interaction.unknowns;
    PS_SCOPED_MEMORY double *dense = interaction_dense(&c.interaction, &k_max);
    uint64_t seed = 3;
    for (int trial = 0; trial < 12; ++trial) {
        int64_t row = (int64_t)(check_random(&seed) * (double)n);
        int64_t slice = (int64_t)(check_random(&seed) * (double)n);
        int64_t rows = 1 + (int64_t)(check_random(&seed) * (double)(n - row));
        int64_t slices = 1 + (int64_t)(check_random(&seed) * (double)(n - slice));
        PS_SCOPED(interaction_tile_release) ps_interaction_tile tile = {0}, mirror = {0};
        PS_SCOPED_MEMORY int64_t *offsets = calloc((size_t)n, sizeof *offsets);
        interaction_tile_init(&c.interaction, row, rows, slice, slices, &tile);
        interaction_tile_init(&c.interaction, slice, slices, row, rows, &mirror);
        interaction_tile_compute(&c.interaction, &tile);
        compare_tile(&tile, dense, n);
        check_ok(ps_interaction_transpose(&tile, offsets, &mirror));
        compare_tile(&mirror, dense, n);
        assert_int_equal(tile.value_count, mirror.value_count);
    }
}

static void test_tiles(void **state)
{
    check_tiles(PS_SOUND_SOFT_S, 3, NULL);
    check_tiles(PS_SOUND_SOFT_M, 7, NULL);
    check_tiles(PS_SOUND_HARD, 3, NULL);
}

/* With images the matrices stay symmetric to the bit, and row-vectors within their bounds: that the
 * values are those of body and images is tests/stages/test_mirror.sh. */
static void test_tiles_with_images(void **state)
{
    const ps_reflectors mirrors = {2,
                                   {{{0, 0, -1.5}, {0, .6, .8}, 1}, {{-2.5, 0, 0}, {1, 0, 0}, -1}}};
    check_tiles(PS_SOUND_SOFT_S, 3, &mirrors);
    check_tiles(PS_SOUND_SOFT_M, 3, &mirrors);
    check_tiles(PS_SOUND_HARD, 3, &mirrors);
}

/* A capacity or workspace that is too small is an error, not an overrun. */
static void test_capacities(void **state)
{
    PS_SCOPED(interaction_case_release) interaction_case c = {0};
    PS_SCOPED(interaction_tile_release) ps_interaction_tile tile = {0};
    char workspace[64];
    interaction_case_sphere(&c, 0, 0, PS_SOUND_SOFT_S, 3, .3);
    interaction_tile_init(&c.interaction, 0, 20, 0, 20, &tile);
    check_fails(ps_interaction_compute(&c.interaction, &tile, workspace, sizeof workspace),
                PS_EXHAUSTED, "workspace");
    int64_t bytes = ps_interaction_workspace(&c.interaction, 0, 20, 0, 20);
    PS_SCOPED_MEMORY void *enough = malloc((size_t)bytes);
    tile.value_capacity = 10;
    check_fails(ps_interaction_compute(&c.interaction, &tile, enough, bytes), PS_FAILED,
                "capacity");
}

/* Edges above 8 D: the outer rule works on parts; whole sums stay those of a coarse step. */
static void test_subdivision(void **state)
{
    PS_SCOPED(interaction_case_release) interaction_case fine = {0}, coarse = {0};
    interaction_case_sphere(&fine, 0, 0, PS_SOUND_SOFT_S, 12, .05); /* edge 1.05 = 21 D */
    interaction_case_sphere(&coarse, 0, 0, PS_SOUND_SOFT_S, 12, 4);
    assert_int_equal(fine.interaction.parts_max, 3);
    assert_int_equal(coarse.interaction.parts_max, 1);
    int64_t k_fine, k_coarse, n = 20;
    PS_SCOPED_MEMORY double *a = interaction_dense(&fine.interaction, &k_fine);
    PS_SCOPED_MEMORY double *b = interaction_dense(&coarse.interaction, &k_coarse);
    assert_int_equal(k_coarse, 0);
    for (int64_t v = 0; v < n * n; ++v) {
        double sum = 0;
        for (int64_t k = 0; k <= k_fine; ++k) sum += a[k * n * n + v];
        check_near(sum, b[v], 0, v % (n + 1) == 0 ? 1e-2 : 2e-3);
    }
}

/* ---- structure ---- */

/* K, mean and largest length of row-vectors, k = 0 included, as the guide counts. */
static void check_structure(int levels, ps_formulation formulation, int points, double courant,
                            int64_t k, double mean, int64_t longest)
{
    PS_SCOPED(icosphere_release) icosphere mesh = {0};
    PS_SCOPED(interaction_case_release) interaction_case c = {0};
    icosphere_init(&mesh, levels);
    icosphere_scale_to_area(&mesh);
    interaction_case_init(&c, &mesh, formulation, points, icosphere_mean_edge(&mesh) / courant);
    int64_t n = c.interaction.unknowns, side = n < 320 ? n : 320, most = 0, k_max = 0, vectors = 0;
    double total = 0;
    for (int64_t row = 0; row < n; row += side) {
        PS_SCOPED(interaction_tile_release) ps_interaction_tile tile = {0};
        int64_t rows = n - row < side ? n - row : side;
        interaction_tile_init(&c.interaction, row, rows, 0, n, &tile);
        interaction_tile_compute(&c.interaction, &tile);
        for (int64_t e = 0; e < tile.near_count; ++e) /* may leave a gap: starts at 1 mostly */
            ++tile.lengths[tile.near_columns[e] * rows + tile.near_rows[e] - row];
        for (int64_t v = 0; v < n * rows; ++v) {
            total += tile.lengths[v];
            vectors += tile.lengths[v] > 0;
            most = tile.lengths[v] > most ? tile.lengths[v] : most;
        }
        k_max = tile.k_max > k_max ? tile.k_max : k_max;
    }
    assert_int_equal(k_max, k);
    assert_int_equal(most, longest);
    assert_int_equal(vectors, n * n);
    check_near(total / (double)vectors, mean, .055, 0);
}

static void test_structure(void **state)
{
    check_structure(3, PS_SOUND_SOFT_M, 3, 1, 14, 3.0, 4);
    check_structure(3, PS_SOUND_SOFT_M, 3, 2, 27, 4.0, 6);
    check_structure(3, PS_SOUND_SOFT_M, 3, 4, 53, 5.9, 9);
    check_structure(2, PS_SOUND_SOFT_M, 6, 4, 27, 6.4, 9);
    check_structure(2, PS_SOUND_SOFT_M, 6, 8, 54, 10.9, 16);
    check_structure(2, PS_SOUND_HARD, 6, 2, 15, 7.6, 10);
    check_structure(2, PS_SOUND_HARD, 6, 3, 21, 9.8, 14);
    check_structure(2, PS_SOUND_HARD, 6, 4, 28, 12.2, 18);
}
