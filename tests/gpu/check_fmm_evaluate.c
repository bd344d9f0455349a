/*
 * check_fmm_evaluate: whole evaluations on the CUDA device against those of the CPU and against
 * direct sums: cube, ellipsoid, one place, one particle; one set and two; precisions, right-hand
 * sides, kernels. Ends with "N passed, N failed, N skipped".
 */
#include <omp.h>
#include <stdio.h>

#include "tests/support/resident_case.h"
#include "tests/support/verdict.h"

typedef enum points_kind { CUBE, ELLIPSOID, ONE_PLACE } points_kind;

typedef struct check_case {
    const char *name;
    points_kind kind;
    int64_t count, targets; /* targets 0: the sources */
    int height;
    fmm_options options;
    double bound;     /* of the difference from the CPU, potential and gradient              */
    double direct[2]; /* of the error against direct sums, or 0                               */
} check_case;

/* A CPU problem whose targets may be another tree. */
typedef struct host_case {
    tree_case trees[2];
    fmm_case fmm;
    double *target_rows, *target_results, *columns;
} host_case;

static void host_release(host_case *h)
{
    fmm_case_release(&h->fmm);
    tree_case_release(&h->trees[0]);
    tree_case_release(&h->trees[1]);
    free(h->target_rows);
    free(h->target_results);
    free(h->columns);
}

static ps_status make_points(tree_case *t, points_kind kind, int64_t count, int height,
                             uint64_t seed)
{
    const ps_octree_box unit = {{0, 0, 0}, 1};
    double *columns[3];
    PS_TRY(tree_case_alloc(t, count, height - 1));
    for (int d = 0; d < 3; ++d) columns[d] = t->x + d * count;
    ps_distribution_positions(kind == ELLIPSOID ? PS_DISTRIBUTION_ELLIPSOID : PS_DISTRIBUTION_CUBE,
                              seed, 0, count, columns);
    ps_distribution_charges(PS_CHARGES_UNIFORM, seed, 0, 0, count, t->q);
    for (int64_t i = 0; i < 3 * count && kind == ONE_PLACE; ++i) t->x[i] = 0.75;
    return tree_case_build(t, &unit, height, 100);
}

/* Makes other particles the targets. */
static ps_status host_targets(host_case *h)
{
    tree_case *t = &h->trees[1];
    ps_fmm_problem *p = &h->fmm.problem;
    int64_t n = t->count, sides = p->sides;
    PS_TRY(PS_ALLOC(&h->target_rows, 3 * n, "targets"));
    PS_TRY(PS_ALLOC(&h->target_results, 4 * sides * n, "results"));
    const double *columns[3] = {t->x, t->y, t->z};
    for (int d = 0; d < 3; ++d) ps_tree_gather(columns[d], t->order, n, h->target_rows + d * n);
    p->targets = &t->tree;
    p->target_set =
        (ps_fmm_particles){.position = {h->target_rows, h->target_rows + n, h->target_rows + 2 * n},
                           .potential = h->target_results,
                           .gradient = h->target_results + sides * n,
                           .stride = n};
    free(h->fmm.vectors);
    return ps_alloc_untouched(&h->fmm.vectors, ps_fmm_problem_bytes(p), "vectors");
}

static ps_status host_init(host_case *h, const check_case *c)
{
    int sides = c->options.sides ? c->options.sides : 1;
    int64_t n = c->count;
    fmm_options options = c->options;
    options.far = options.near = PS_DOUBLE; /* the reference */
    PS_TRY(make_points(&h->trees[0], c->kind, n, c->height, 1));
    PS_TRY(fmm_case_init(&h->fmm, &options, &h->trees[0], omp_get_max_threads()));
    if (c->targets) {
        PS_TRY(make_points(&h->trees[1], c->kind, c->targets, c->height, 2));
        PS_TRY(host_targets(h));
    }
    PS_TRY(PS_ALLOC(&h->columns, (3 + sides) * n, "columns"));
    memcpy(h->columns, h->trees[0].x, (size_t)(4 * n) * 8);
    for (int s = 1; s < sides; ++s)
        for (int64_t i = 0; i < n; ++i) h->columns[(3 + s) * n + i] = (s + 1) * h->trees[0].q[i];
    fmm_case_run(&h->fmm);
    return PS_OK;
}

/* |x - y| / |y| of columns [first, end) of results: x in the caller's order, y sorted. Where y is
 * 0, as for coincident particles, |x|. */
static double apart(const tree_case *t, const double *x, const double *y, int first, int end)
{
    double difference = 0, size = 0;
    for (int c = first; c < end; ++c)
        for (int64_t i = 0; i < t->count; ++i) {
            double here = x[c * t->count + t->order[i]], there = y[c * t->count + i];
            difference += (here - there) * (here - there);
            size += there * there;
        }
    return sqrt(size > 0 ? difference / size : difference);
}

static ps_status judge(const check_case *c, const char *what, double value, double bound)
{
    if (value <= bound) return PS_OK;
    return ps_fail(PS_FAILED, "%s: %.3g, allowed %.3g", what, value, bound);
}

/* The device's results take the place of the CPU's, sorted, to be compared with direct sums. */
static ps_status judge_directly(const check_case *c, host_case *h, const double *results)
{
    const tree_case *t = &h->trees[0];
    double errors[2];
    if (c->direct[0] == 0 || c->targets) return PS_OK;
    for (int column = 0; column < 4; ++column)
        ps_tree_gather(results + column * t->count, t->order, t->count,
                       h->fmm.results + column * t->count);
    PS_TRY(fmm_case_errors(&h->fmm, 700, 0, errors));
    PS_TRY(judge(c, "potential from direct sums", errors[0], c->direct[0]));
    return judge(c, "gradient from direct sums", errors[1], c->direct[1]);
}

static ps_status compare(const check_case *c, host_case *h, double *results, double *again,
                         bool serial)
{
    int sides = c->options.sides ? c->options.sides : 1, set = c->targets > 0;
    const tree_case *t = &h->trees[set];
    const double *reference = set ? h->target_results : h->fmm.results;
    const resident_particles sets[2] = {{c->count, h->columns}, {c->targets, h->trees[1].x}};
    const ps_octree_box unit = {{0, 0, 0}, 1};
    resident_case r = {0};
    ps_status status;
    PS_GUARD(status, done, resident_case_open(&r));
    PS_GUARD(status, done, resident_case_particles(&r, sets, sides));
    PS_GUARD(status, done, resident_case_operators(&r, &c->options, &unit, c->height));
    PS_GUARD(status, done, resident_case_shape(&r, &unit, c->height, serial));
    PS_GUARD(status, done, resident_case_run(&r));
    PS_GUARD(status, done, resident_case_fetch(&r, results));
    r.resident.near_blocks = 3; /* no matter for the bits */
    PS_GUARD(status, done, resident_case_run(&r));
    PS_GUARD(status, done, resident_case_fetch(&r, again));
    if (memcmp(results, again, (size_t)(4 * sides * t->count) * 8))
        PS_GUARD(status, done, ps_fail(PS_FAILED, "the bits do not repeat"));
    double potential = apart(t, results, reference, 0, sides);
    double gradient = apart(t, results, reference, sides, 4 * sides);
    printf("%s: potential %.2g gradient %.2g from the CPU\n", c->name, potential, gradient);
    PS_GUARD(status, done, judge(c, "potential from the CPU", potential, c->bound));
    PS_GUARD(status, done, judge(c, "gradient from the CPU", gradient, 10 * c->bound));
    if (serial) status = judge_directly(c, h, results); /* overwrites the reference */
done:
    resident_case_release(&r);
    return status;
}

static ps_status check(const check_case *c)
{
    host_case h = {0};
    int sides = c->options.sides ? c->options.sides : 1;
    int64_t n = c->targets ? c->targets : c->count;
    double *results = malloc((size_t)(4 * sides * n) * 8);
    double *again = malloc((size_t)(4 * sides * n) * 8);
    ps_status status = host_init(&h, c);
    for (int serial = 0; serial < 2 && status == PS_OK; ++serial)
        status = compare(c, &h, results, again, serial);
    free(results);
    free(again);
    host_release(&h);
    return status;
}

/* Order, basis (fmm_options), precisions of the far and the near field, sides (0: one), kernel. */
#define METHOD(l, b, far_field, near_field, many, name, number)                                    \
    {                                                                                              \
        .order = l, .basis = b, .far = far_field, .near = near_field, .sides = many, .function = { \
            PS_FMM_##name,                                                                         \
            number                                                                                 \
        }                                                                                          \
    }
#define FP64(l, b) METHOD(l, b, PS_DOUBLE, PS_DOUBLE, 0, INVERSE, 0)
#define OF(name, number) METHOD(5, 4, PS_DOUBLE, PS_DOUBLE, 0, name, number)
#define THREE_SIDES METHOD(5, 4, PS_DOUBLE, PS_DOUBLE, 3, INVERSE, 0)
#define MIXED METHOD(3, 2, PS_DOUBLE, PS_SINGLE, 0, INVERSE, 0)
#define FP32 METHOD(3, 2, PS_SINGLE, PS_SINGLE, 0, INVERSE, 0)
#define SAME 1e-12

static const check_case cases[] = {
    /* Small ones, for a checker of memory, first. */
    {"one particle, h 1", CUBE, 1, 0, 1, FP64(3, 2), SAME, {0}},
    {"one particle, h 4", CUBE, 1, 0, 4, FP64(3, 2), SAME, {0}},
    {"one place, h 4", ONE_PLACE, 65, 0, 4, FP64(5, 4), SAME, {0}},
    {"cube, h 2", CUBE, 500, 0, 2, FP64(3, 2), SAME, {0}},
    {"cube, h 4, two sets", CUBE, 700, 431, 4, FP64(3, 2), SAME, {0}},
    {"ellipsoid, h 6", ELLIPSOID, 900, 0, 6, FP64(5, 4), SAME, {0}},
    /* Twice the guide's errors. */
    {"cube, h 1", CUBE, 3001, 0, 1, FP64(3, 2), SAME, {SAME, SAME}},
    {"cube, h 4, l 3", CUBE, 20000, 0, 4, FP64(3, 2), SAME, {2.4e-4, 9.6e-3}},
    {"cube, h 4, l 5", CUBE, 20000, 0, 4, FP64(5, 4), SAME, {1.9e-6, 1.7e-4}},
    {"cube, h 4, l 7", CUBE, 20000, 0, 4, FP64(7, 4), SAME, {2.2e-8, 2.2e-6}},
    {"cube, h 4, l 5, 16 operators", CUBE, 20000, 0, 4, FP64(5, 0), SAME, {1.9e-6, 1.7e-4}},
    {"ellipsoid, h 6, l 3", ELLIPSOID, 20000, 0, 6, FP64(3, 2), SAME, {6.8e-4, 8.2e-4}},
    {"ellipsoid, h 6, l 7", ELLIPSOID, 20000, 0, 6, FP64(7, 4), SAME, {1.2e-7, 3.6e-7}},
    {"cube, h 5, l 3, more", CUBE, 200003, 0, 5, FP64(3, 2), SAME, {0}},
    {"ellipsoid, h 8, l 5, more", ELLIPSOID, 200003, 0, 8, FP64(5, 4), SAME, {0}},
    {"ellipsoid, h 12, l 3", ELLIPSOID, 100001, 0, 12, FP64(3, 2), SAME, {0}},
    {"cube, h 5, l 4, two sets", CUBE, 50021, 70001, 5, FP64(4, 4), SAME, {0}},
    {"cube, h 4, l 3, near field in fp32", CUBE, 20000, 0, 4, MIXED, 2e-6, {2.4e-4, 9.6e-3}},
    {"cube, h 4, l 3, all in fp32", CUBE, 20000, 0, 4, FP32, 2e-6, {2.4e-4, 9.6e-3}},
    {"cube, h 4, l 5, three sides", CUBE, 20000, 0, 4, THREE_SIDES, SAME, {0}},
    {"cube, h 4, l 5, exponential", CUBE, 20000, 0, 4, OF(EXPONENTIAL, 1), SAME, {4e-7, 4.4e-5}},
    {"cube, h 4, l 5, distance", CUBE, 20000, 0, 4, OF(DISTANCE, 0), SAME, {4e-7, 2e-5}},
};

int main(int argc, char **argv)
{
    int64_t largest = argc > 1 ? atoll(argv[1]) : INT64_MAX; /* smaller for a checker of memory */
    if (ps_device_count() > 0)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
            if (cases[i].count <= largest) verdict_of(check(&cases[i]), "%s", cases[i].name);
    return verdict_end();
}
