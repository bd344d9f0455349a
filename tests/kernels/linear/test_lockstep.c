/* Solvers for several right-hand sides in step: residuals, bits, restarts, refusals. */
#include "kernels/linear/lockstep.h"

#include <omp.h>
#include <stdlib.h>

#include "runtime/memory.h"
#include "tests/check.h"

enum { N = 100, SIDES = 5 };

/* A dense matrix, [parts][row][column]. */
typedef struct dense {
    int parts;
    int64_t products, vectors;
    double *a;
} dense;

static dense make_matrix(int parts, double diagonal)
{
    uint64_t seed = 7;
    dense d = {.parts = parts, .a = calloc((size_t)(parts * N * N), sizeof *d.a)};
    for (int64_t e = 0; e < parts * N * N; ++e) d.a[e] = check_random(&seed) - .5;
    for (int64_t i = 0; i < N; ++i) d.a[i * N + i] += diagonal;
    return d;
}

/* B^T B / N + 1/10 */
static dense make_positive(void)
{
    dense d = {.parts = 1, .a = calloc(N * N, sizeof *d.a)};
    PS_SCOPED_MEMORY double *b = make_matrix(1, 0).a;
    for (int64_t i = 0; i < N; ++i)
        for (int64_t j = 0; j < N; ++j) {
            for (int64_t k = 0; k < N; ++k) d.a[i * N + j] += b[k * N + i] * b[k * N + j] / N;
            d.a[i * N + j] += i == j ? .1 : 0;
        }
    return d;
}

static double row_times(const double *row, const double *x)
{
    double sum = 0;
    for (int64_t j = 0; j < N; ++j) sum += row[j] * x[j];
    return sum;
}

static ps_status apply(void *context, int64_t count, const double *x, double *y)
{
    dense *d = context;
    ++d->products;
    d->vectors += count;
    for (int64_t s = 0; s < count; ++s, x += d->parts * N, y += d->parts * N)
        for (int64_t i = 0; i < N; ++i) {
            const double *re = d->a + i * N, *im = re + N * N;
            y[i] = row_times(re, x);
            if (d->parts == 1) continue;
            y[i] -= row_times(im, x + N);
            y[N + i] = row_times(re, x + N) + row_times(im, x);
        }
    return PS_OK;
}

static ps_status jacobi(void *context, int64_t count, const double *r, double *z)
{
    const dense *d = context;
    for (int64_t i = 0; i < count * N; ++i) z[i] = r[i] / d->a[i % N * (N + 1)];
    return PS_OK;
}

typedef struct bench {
    dense matrix;
    ps_lockstep_system system;
    ps_lockstep_options options;
    ps_lockstep solver;
    double *b, *memory[PS_LOCKSTEP_PIECES];
    int64_t doubles[PS_LOCKSTEP_PIECES];
} bench;

static void attach(bench *t)
{
    ps_lockstep_memory(&t->system, &t->options, t->doubles);
    for (int i = 0; i < PS_LOCKSTEP_PIECES; ++i) t->memory[i] = calloc((size_t)t->doubles[i], 8);
    check_ok(ps_lockstep_attach(&t->solver, &t->system, &t->options, t->memory));
}

static void detach(bench *t)
{
    for (int i = 0; i < PS_LOCKSTEP_PIECES; ++i) free(t->memory[i]);
}

/* Random right-hand sides. */
static void set_up(bench *t, dense matrix, ps_lockstep_method method)
{
    uint64_t seed = 3;
    int64_t size = matrix.parts * N;
    *t = (bench){.matrix = matrix, .options = {method, 1e-8, 200, 30}};
    t->b = calloc((size_t)(SIDES * size), sizeof *t->b);
    for (int64_t i = 0; i < SIDES * size; ++i) t->b[i] = check_random(&seed) - .5;
    t->system = (ps_lockstep_system){.context = &t->matrix,
                                     .shape = {matrix.parts, N},
                                     .sides = SIDES,
                                     .b = t->b,
                                     .apply = apply};
}

static void run(bench *t)
{
    attach(t);
    check_ok(ps_lockstep_begin(&t->solver));
    while (!ps_lockstep_finished(&t->solver)) check_ok(ps_lockstep_step(&t->solver));
}

static void tear_down(bench *t)
{
    detach(t);
    PS_FREE(t->b, t->matrix.a);
}

/* The residual that is said is that of x, and at most 1.1 times the tolerance. */
static void check_solved(bench *t)
{
    int64_t size = t->matrix.parts * N;
    PS_SCOPED_MEMORY double *y = calloc((size_t)size, sizeof *y);
    for (int64_t s = 0; s < t->system.sides; ++s) {
        apply(&t->matrix, 1, t->solver.x + s * size, y);
        double residual = relative_l2(y, t->b + s * size, size);
        assert_true(t->solver.sides[s].converged);
        check_at_most(residual, 1.1e-8);
        check_near(t->solver.sides[s].residual, residual, 1e-13, 1e-3);
    }
}

static void test_methods(void **state)
{
    for (int parts = 1; parts <= 2; ++parts)
        for (int method = PS_LOCKSTEP_GMRES; method <= PS_LOCKSTEP_BLOCK; ++method)
            for (int64_t cycle = 7; cycle <= 60; cycle += 53) {
                PS_SCOPED(tear_down) bench t = {0};
                set_up(&t, make_matrix(parts, 12), (ps_lockstep_method)method);
                t.options.restart = cycle;
                run(&t);
                check_solved(&t);
            }
}

static void test_cg(void **state)
{
    PS_SCOPED(tear_down) bench t = {0};
    set_up(&t, make_positive(), PS_LOCKSTEP_CG);
    run(&t);
    check_solved(&t);
    int64_t plain = t.matrix.products;
    detach(&t);
    for (int64_t i = 0; i < N; ++i) /* badly scaled: D A D */
        for (int64_t j = 0; j < N; ++j)
            t.matrix.a[i * N + j] *= pow(10, (double)(i % 3)) * pow(10, (double)(j % 3));
    t.system.precondition = jacobi;
    t.matrix.products = 0;
    run(&t);
    check_solved(&t);
    check_at_most((double)t.matrix.products, 2. * (double)plain);
    detach(&t);
    for (int64_t e = 0; e < N * N; ++e) t.matrix.a[e] = -t.matrix.a[e];
    attach(&t);
    t.system.precondition = NULL;
    check_ok(ps_lockstep_begin(&t.solver));
    check_fails(ps_lockstep_step(&t.solver), PS_FAILED, "not positive definite");
}

/* Five sides together, one by one, and on one thread: the same bits and counts; sides that are done
 * cost no more products. */
static void test_lockstep_bits(void **state)
{
    for (int method = PS_LOCKSTEP_GMRES; method <= PS_LOCKSTEP_CG; ++method) {
        if (method == PS_LOCKSTEP_BLOCK) continue;
        PS_SCOPED(tear_down) bench t = {0};
        bench one;
        bool cg = method == PS_LOCKSTEP_CG;
        set_up(&t, cg ? make_positive() : make_matrix(2, 15), (ps_lockstep_method)method);
        int64_t size = t.matrix.parts * N;
        for (int64_t i = 0; i < size; ++i) t.b[size + i] = 0; /* done at once */
        for (int64_t i = 0; i < size; ++i) t.b[2 * size + i] = i == 0;
        t.options.restart = 9;
        run(&t);
        check_near(t.solver.x[size + 3], 0, 0, 0);
        omp_set_num_threads(1);
        int64_t vectors = 0;
        for (int64_t s = 0; s < SIDES; ++s) {
            one = t;
            one.system.context = &one.matrix;
            one.system.b = t.b + s * size;
            one.system.sides = 1;
            one.matrix.vectors = 0;
            run(&one);
            assert_memory_equal(one.solver.x, t.solver.x + s * size, (size_t)size * 8);
            assert_int_equal(one.solver.sides[0].steps, t.solver.sides[s].steps);
            vectors += one.matrix.vectors;
            detach(&one);
        }
        assert_int_equal(vectors, t.matrix.vectors);
        omp_set_num_threads(omp_get_num_procs());
    }
}

/* The state of every step, put into a new solver, leads to the same bits. */
static void test_restart(void **state)
{
    for (int method = PS_LOCKSTEP_GMRES; method <= PS_LOCKSTEP_CG; ++method) {
        PS_SCOPED(tear_down) bench t = {0};
        bool cg = method == PS_LOCKSTEP_CG;
        set_up(&t, cg ? make_positive() : make_matrix(2, 15), (ps_lockstep_method)method);
        t.options.restart = 6;
        run(&t);
        int64_t size = t.matrix.parts * N;
        PS_SCOPED_MEMORY double *expected = calloc((size_t)(SIDES * size), 8);
        memcpy(expected, t.solver.x, (size_t)(SIDES * size) * 8);
        detach(&t);
        attach(&t);
        check_ok(ps_lockstep_begin(&t.solver));
        while (!ps_lockstep_finished(&t.solver)) {
            bench next = t;
            next.system.context = &t.matrix;
            check_ok(ps_lockstep_step(&t.solver));
            assert_true(ps_lockstep_sound(&t.solver));
            attach(&next);
            int64_t count = ps_lockstep_used(&t.solver);
            memcpy(next.memory[0], t.memory[0], (size_t)t.doubles[0] * 8);
            memcpy(next.memory[1], t.memory[1], (size_t)count * 8);
            for (int64_t i = count; i < next.doubles[1]; ++i) next.memory[1][i] = NAN;
            detach(&t);
            memcpy(t.memory, next.memory, sizeof t.memory);
            check_ok(ps_lockstep_attach(&t.solver, &t.system, &t.options, t.memory));
        }
        assert_memory_equal(expected, t.solver.x, (size_t)(SIDES * size) * 8);
    }
}

/* Counters are indices: those of a file that no run has written are found before they are used. */
static void test_counters_of_no_run(void **state)
{
    static const int64_t wrong[] = {-1, 1000000000, INT64_MIN, INT64_MAX};
    for (int method = PS_LOCKSTEP_GMRES; method <= PS_LOCKSTEP_BLOCK; ++method) {
        PS_SCOPED(tear_down) bench t = {0};
        set_up(&t, make_matrix(2, 15), (ps_lockstep_method)method);
        attach(&t);
        check_ok(ps_lockstep_begin(&t.solver));
        for (int k = 0; k < 3; ++k) check_ok(ps_lockstep_step(&t.solver));
        int64_t *counters[] = {&t.solver.progress->step, &t.solver.progress->basis,
                               &t.solver.progress->fresh, &t.solver.progress->closing,
                               &t.solver.sides[1].columns};
        for (size_t c = 0; c < sizeof counters / sizeof *counters; ++c)
            for (size_t w = 0; w < sizeof wrong / sizeof *wrong; ++w) {
                int64_t was = *counters[c];
                *counters[c] = wrong[w];
                assert_false(ps_lockstep_sound(&t.solver));
                assert_int_equal(ps_lockstep_used(&t.solver), SIDES * t.matrix.parts * N);
                *counters[c] = was;
            }
        assert_true(ps_lockstep_sound(&t.solver));
    }
}

/* One space for all: fewer products; sides that depend on others cost nothing. */
static void test_block(void **state)
{
    int64_t products[2];
    for (int method = PS_LOCKSTEP_GMRES; method <= PS_LOCKSTEP_BLOCK; ++method) {
        PS_SCOPED(tear_down) bench t = {0};
        set_up(&t, make_matrix(2, 12), (ps_lockstep_method)method);
        for (int64_t i = 0; i < 2 * N; ++i) t.b[4 * 2 * N + i] = 2 * t.b[i] - t.b[2 * N + i];
        t.options.restart = 80;
        run(&t);
        products[method] = t.matrix.products;
        int64_t vectors = t.matrix.vectors;
        check_solved(&t);
        if (method == PS_LOCKSTEP_BLOCK) {
            assert_int_equal(vectors, 4 * (products[method] - 1) + SIDES);
            for (int64_t i = 0; i < 2 * N; ++i)
                check_near(t.solver.x[8 * N + i], 2 * t.solver.x[i] - t.solver.x[2 * N + i], 1e-7,
                           0);
        }
    }
    assert_true(products[1] < products[0]);
}

static void test_refusals(void **state)
{
    PS_SCOPED(tear_down) bench t = {0};
    set_up(&t, make_matrix(2, 12), PS_LOCKSTEP_GMRES);
    t.options.limit = 4;
    run(&t);
    for (int64_t s = 0; s < SIDES; ++s) {
        assert_false(t.solver.sides[s].converged);
        assert_int_equal(t.solver.sides[s].steps, 4);
        assert_true(t.solver.sides[s].residual < 1 && t.solver.sides[s].residual > 1e-8);
    }
    detach(&t);
    t.matrix.a[5] = NAN;
    attach(&t);
    check_ok(ps_lockstep_begin(&t.solver));
    check_fails(ps_lockstep_step(&t.solver), PS_FAILED, "not finite after 0 steps");
    t.b[2 * N * 3] = INFINITY;
    check_fails(ps_lockstep_begin(&t.solver), PS_FAILED, "right-hand side 3 is not finite");
    check_fails_if(t.options.restart, 0,
                   ps_lockstep_attach(&t.solver, &t.system, &t.options, t.memory), PS_USAGE,
                   "0 in a");
    t.options.restart = 5;
    t.options.method = PS_LOCKSTEP_CG;
    check_fails(ps_lockstep_attach(&t.solver, &t.system, &t.options, t.memory), PS_USAGE, "real");
}
