/* libpenstock.so by its public headers alone: sums, integrals, and what failures say. */
#include <penstock/penstock.h>
#include <pthread.h>
#include <stdlib.h>

#include "tests/check.h"

#define good(expression)                                                                           \
    do {                                                                                           \
        penstock_status status_ = (expression);                                                    \
        if (status_ != PENSTOCK_OK) {                                                              \
            print_error("%s: %d: %s\n", #expression, status_, penstock_message());                 \
            _fail(__FILE__, __LINE__);                                                             \
        }                                                                                          \
    } while (0)

#define refused(expression, code, text)                                                            \
    do {                                                                                           \
        penstock_status status_ = (expression);                                                    \
        if (status_ != (code) || !strstr(penstock_message(), (text))) {                            \
            print_error("%s: got %d \"%s\"\n", #expression, status_, penstock_message());          \
            _fail(__FILE__, __LINE__);                                                             \
        }                                                                                          \
    } while (0)

/* ---- messages ---- */

static void *no_message(void *out)
{
    *(int *)out = penstock_message()[0] == 0;
    return NULL;
}

static void failures(void **state)
{
    penstock_file *file = NULL;
    penstock_hmatrix *matrix = NULL;
    penstock_verdict verdict;
    pthread_t other;
    int empty = 0;
    refused(penstock_file_open("missing.h5", &file), PENSTOCK_INVALID, "missing.h5");
    assert_null(file);
    pthread_create(&other, NULL, no_message, &empty);
    pthread_join(other, NULL);
    assert_true(empty); /* messages are of threads */
    check_write("text.h5", "no HDF5");
    refused(penstock_hmatrix_open("text.h5", 0, &matrix), PENSTOCK_INVALID, "text.h5");
    assert_null(matrix);
    refused(penstock_verify("text.h5", true, &verdict), PENSTOCK_INVALID, "text.h5");
    assert_non_null(strstr(verdict.first_problem, "text.h5"));
    penstock_file_close(&file);
    penstock_hmatrix_close(&matrix);
    assert_non_null(strchr(penstock_version(), '.'));
}

/* ---- sums ---- */

enum { SOURCES = 4000, TARGETS = 3500, SIDES = 2 };

typedef struct places {
    double source[3][SOURCES], target[3][TARGETS], charges[SIDES * SOURCES];
} places;

/* Half of the sources in a spot that is a thousandth wide. */
static penstock_sum some_places(places *p)
{
    uint64_t seed = 7;
    for (int d = 0; d < 3; ++d) {
        for (int i = 0; i < SOURCES; ++i)
            p->source[d][i] = check_random(&seed) * (i % 2 ? 1e-3 : 1);
        for (int i = 0; i < TARGETS; ++i) p->target[d][i] = check_random(&seed);
    }
    for (int i = 0; i < SIDES * SOURCES; ++i) p->charges[i] = check_random(&seed) - 0.3;
    return (penstock_sum){.sources = SOURCES,
                          .targets = TARGETS,
                          .source = {p->source[0], p->source[1], p->source[2]},
                          .target = {p->target[0], p->target[1], p->target[2]},
                          .charges = p->charges,
                          .sides = SIDES,
                          .kernel = "inverse",
                          .accuracy = 1e-2};
}

/* By the definition: sums[0] potential, [1..3] gradient. */
static void directly(const penstock_sum *s, int side, const double at[3], double sums[4])
{
    memset(sums, 0, 4 * sizeof *sums);
    for (int64_t j = 0; j < s->sources; ++j) {
        double d[3], square, q = s->charges[side * s->sources + j];
        for (int a = 0; a < 3; ++a) d[a] = at[a] - s->source[a][j];
        square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        if (square == 0) continue;
        double b = s->parameter, r = sqrt(square), k = exp(-b * r) / r;
        sums[0] += q * k;
        for (int a = 0; a < 3; ++a) sums[1 + a] -= q * k * (1 + b * r) / square * d[a];
    }
}

static void check_sum(const penstock_sum *s, bool far)
{
    bool same = s->target[0] == NULL;
    int64_t n = same ? s->sources : s->targets;
    PS_SCOPED_MEMORY double *potential = calloc((size_t)(4 * SIDES * n), 8);
    double *gradient = potential + SIDES * n;
    double error[2] = {0}, norm[2] = {0}, sums[4];
    penstock_sum_figures figures;
    good(penstock_sum_run(s, potential, gradient, &figures));
    assert_int_equal(figures.order > 0, far);
    check_at_most(figures.potential, s->accuracy);
    check_at_most(figures.gradient, s->accuracy);
    for (int side = 0; side < SIDES; ++side)
        for (int64_t i = 0; i < n; i += 7) {
            double at[3];
            for (int d = 0; d < 3; ++d) at[d] = same ? s->source[d][i] : s->target[d][i];
            directly(s, side, at, sums);
            for (int a = 0; a < 4; ++a) {
                double got = a ? gradient[(3 * side + a - 1) * n + i] : potential[side * n + i];
                error[a > 0] += (got - sums[a]) * (got - sums[a]);
                norm[a > 0] += sums[a] * sums[a];
            }
        }
    for (int a = 0; a < 2; ++a) check_at_most(sqrt(error[a] / norm[a]), s->accuracy);
}

static void sums(void **state)
{
    static places p;
    penstock_sum s = some_places(&p);
    check_sum(&s, true);
    s.kernel = "yukawa";
    s.parameter = 3;
    s.accuracy = 1e-10; /* operators for that would take longer than all pairs */
    check_sum(&s, false);
    s = some_places(&p);
    for (int d = 0; d < 3; ++d) s.target[d] = NULL;
    check_sum(&s, true);
}

static void sums_refused(void **state)
{
    static places p;
    penstock_sum s = some_places(&p), one[4] = {s, s, s, s};
    double potential[SIDES * TARGETS];
    static const char *const texts[4] = {"nothing", "1e-30", "parameter -1", "9 sets"};
    one[0].kernel = "nothing";
    one[1].accuracy = 1e-30;
    one[2].kernel = "yukawa";
    one[2].parameter = -1;
    one[3].sides = 9;
    for (int i = 0; i < 4; ++i)
        refused(penstock_sum_run(&one[i], potential, NULL, NULL), PENSTOCK_USAGE, texts[i]);
    p.source[1][5] = NAN;
    refused(penstock_sum_run(&s, potential, NULL, NULL), PENSTOCK_INVALID, "source y: number 5");
}

/* ---- integrals ---- */

/* A cube of edge 1, n x n squares a face, their diagonals alike: 12 n^2 triangles; vertices of
 * edges are shared. */
enum { N = 3, VERTICES = 6 * N * N + 2, TRIANGLES = 12 * N * N };
typedef struct cube {
    double vertices[VERTICES][3];
    int32_t triangles[TRIANGLES][3];
    int32_t count;
} cube;

static int32_t vertex(cube *c, const int at[3])
{
    double x[3] = {(double)at[0] / N, (double)at[1] / N, (double)at[2] / N};
    for (int32_t v = 0; v < c->count; ++v)
        if (memcmp(c->vertices[v], x, sizeof x) == 0) return v;
    memcpy(c->vertices[c->count], x, sizeof x);
    return c->count++;
}

static penstock_surface make_cube(cube *c)
{
    int32_t t = 0;
    c->count = 0;
    for (int axis = 0; axis < 3; ++axis)
        for (int side = 0; side < 2; ++side)
            for (int i = 0; i < N; ++i)
                for (int j = 0; j < N; ++j) {
                    int32_t v[4];
                    for (int k = 0; k < 4; ++k) {
                        int at[3];
                        at[axis] = side * N;
                        at[(axis + 1) % 3] = i + (k == 1 || k == 2);
                        at[(axis + 2) % 3] = j + (k >= 2);
                        v[side ? k : 3 - k] = vertex(c, at);
                    }
                    memcpy(c->triangles[t++], (int32_t[3]){v[0], v[1], v[2]}, 12);
                    memcpy(c->triangles[t++], (int32_t[3]){v[0], v[2], v[3]}, 12);
                }
    assert_int_equal(c->count, VERTICES);
    return (penstock_surface){VERTICES, TRIANGLES, c->vertices[0], c->triangles[0]};
}

static penstock_boundary *open_operator(const penstock_surface *surface, const char *kernel,
                                        double k)
{
    penstock_boundary *b;
    penstock_boundary_operator op = {kernel, "p0", "p0", k, 1e-6};
    good(penstock_boundary_open(surface, &op, &b));
    return b;
}

/* K 1 = -1/2 on a closed surface; waves of little k are static ones; blocks are of the whole. */
static void boundary_entries(void **state)
{
    cube c;
    penstock_surface surface = make_cube(&c);
    static double a[3 * TRIANGLES * TRIANGLES];
    double area = 0.5 / (N * N);
    double *wave = a + TRIANGLES * TRIANGLES, block[2][3];
    int64_t rows, columns;
    penstock_boundary *b = open_operator(&surface, "dlp", 0);
    penstock_boundary_size(b, &rows, &columns);
    assert_int_equal(rows, TRIANGLES);
    assert_int_equal(columns, TRIANGLES);
    good(penstock_boundary_entries(b, 0, rows, 0, columns, a));
    for (int64_t i = 0; i < rows; ++i) {
        double sum = 0;
        for (int64_t j = 0; j < columns; ++j) sum += a[i * columns + j];
        check_near(sum, -0.5 * area, 0, 1e-5);
    }
    good(penstock_boundary_entries(b, 70, 72, 33, 36, block[0]));
    for (int i = 0; i < 2; ++i)
        assert_memory_equal(block[i], a + (70 + i) * columns + 33, sizeof block[i]);
    refused(penstock_boundary_entries(b, 0, rows + 1, 0, 1, a), PENSTOCK_USAGE, "rows 0 to");
    penstock_boundary_close(&b);
    b = open_operator(&surface, "slp", 0);
    good(penstock_boundary_entries(b, 0, rows, 0, columns, a));
    penstock_boundary_close(&b);
    b = open_operator(&surface, "slp", 1e-3);
    good(penstock_boundary_entries(b, 0, rows, 0, columns, wave));
    penstock_boundary_close(&b);
    for (int64_t e = 0; e < rows * columns; ++e) check_near(wave[2 * e], a[e], 0, 1e-5);
    for (int64_t e = 0; e < rows * columns; ++e) /* e^{ikr}/(4 pi r) = 1/(4 pi r) + ik/(4 pi) */
        check_near(wave[2 * e + 1], 1e-3 * area * area / (4 * M_PI), 0, 1e-5);
    penstock_boundary_operator bad = {"hyps", "p0", "p0", 0, 1e-4};
    refused(penstock_boundary_open(&surface, &bad, &b), PENSTOCK_USAGE, "continuous");
    penstock_boundary_operator waves = {"slp", "p0", "p0", 100, 1e-4};
    refused(penstock_boundary_open(&surface, &waves, &b), PENSTOCK_INVALID, "wavelength");
    assert_null(b);
}

/* The time sum of the retarded single layer is the static one: two families, one integral. */
static void retarded_entries(void **state)
{
    enum { ENTRIES = TRIANGLES * TRIANGLES };
    cube c;
    penstock_surface surface = make_cube(&c);
    penstock_retarded *r = NULL;
    int64_t unknowns, lags;
    static double zero[ENTRIES], fixed[ENTRIES];
    static int32_t first[ENTRIES], lengths[ENTRIES];
    good(penstock_retarded_open(&surface, "sound-soft-s", 0.15, 1, 12, &r));
    penstock_retarded_size(r, &unknowns, &lags);
    assert_int_equal(unknowns, TRIANGLES);
    penstock_retarded_block block = {0, TRIANGLES, 0, TRIANGLES, zero, first, lengths, NULL, 0, 0};
    block.capacity = penstock_retarded_bound(r, &block);
    block.values = malloc((size_t)block.capacity * 8);
    good(penstock_retarded_entries(r, &block));
    penstock_boundary *b = open_operator(&surface, "slp", 0);
    good(penstock_boundary_entries(b, 0, unknowns, 0, unknowns, fixed));
    penstock_boundary_close(&b);
    int64_t at = 0;
    double error = 0, norm = 0;
    for (int64_t e = 0; e < ENTRIES; ++e) { /* [column][row], and both are symmetric */
        double sum = zero[e];
        for (int l = 0; l < lengths[e]; ++l) sum += block.values[at++];
        if (lengths[e]) assert_in_range(first[e], 1, lags);
        error += (sum - fixed[e]) * (sum - fixed[e]);
        norm += fixed[e] * fixed[e];
    }
    assert_int_equal(at, block.count);
    check_at_most(sqrt(error / norm), 2e-3);
    free(block.values);
    penstock_retarded_close(&r);
    refused(penstock_retarded_open(&surface, "sound-soft-s", 10, 1, 6, &r), PENSTOCK_USAGE, "--dt");
    refused(penstock_retarded_open(&surface, "loud", 0.1, 1, 6, &r), PENSTOCK_USAGE, "loud");
    int32_t turned = c.triangles[5][0];
    c.triangles[5][0] = c.triangles[5][1];
    c.triangles[5][1] = turned;
    refused(penstock_retarded_open(&surface, "sound-hard", 0.15, 1, 6, &r), PENSTOCK_INVALID,
            "oriented");
    c.triangles[5][2] = 1000;
    refused(penstock_retarded_open(&surface, "sound-soft-s", 0.15, 1, 6, &r), PENSTOCK_INVALID,
            "triangle 5");
    assert_null(r);
}
