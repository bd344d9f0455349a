/* Least values between bounds: the conditions of a least, without bounds the solution, the same bits from a state
 * that was put back after any step, what is refused. */
#include "kernels/linear/bounded.h"

#include <stdlib.h>

#include "tests/check.h"

enum { N = 80, LIMIT = 4000 };

typedef struct problem {
    double a[N * N], b[N], low[N], high[N];
    ps_bounded_system system;
    double *memory[PS_BOUNDED_PIECES];
    int64_t doubles[PS_BOUNDED_PIECES];
    ps_bounded solver;
} problem;

static ps_status apply(void *context, const double *x, double *y)
{
    const problem *p = context;
    for (int64_t i = 0; i < N; ++i) {
        y[i] = 0;
        for (int64_t j = 0; j < N; ++j) y[i] += p->a[i * N + j] * x[j];
    }
    return PS_OK;
}

static void take_memory(problem *p)
{
    ps_bounded_memory(N, p->doubles);
    for (int k = 0; k < PS_BOUNDED_PIECES; ++k) {
        p->memory[k] = calloc((size_t)p->doubles[k], sizeof(double));
        assert_non_null(p->memory[k]);
    }
    check_ok(ps_bounded_attach(&p->solver, &p->system, p->memory));
}

/* B'B / N + shift, whose least is beyond the bounds in a good part of its variables. */
static problem *make(double shift, bool bounds)
{
    static double factor[N * N];
    uint64_t seed = 11;
    problem *p = calloc(1, sizeof *p);
    for (int64_t e = 0; e < N * N; ++e) factor[e] = check_random(&seed) - .5;
    for (int64_t i = 0; i < N; ++i)
        for (int64_t j = 0; j < N; ++j) {
            for (int64_t k = 0; k < N; ++k)
                p->a[i * N + j] += factor[k * N + i] * factor[k * N + j] / N;
            p->a[i * N + j] += i == j ? shift : 0;
        }
    for (int64_t i = 0; i < N; ++i) {
        p->b[i] = check_random(&seed) - .5;
        p->low[i] = -.2 - check_random(&seed);
        p->high[i] = i % 7 == 0 ? p->low[i] : .3 + check_random(&seed); /* some cannot move */
    }
    p->system = (ps_bounded_system){.context = p, .length = N, .apply = apply};
    if (bounds) p->system.low = p->low, p->system.high = p->high;
    take_memory(p);
    return p;
}

static void start(problem *p, double tolerance, int64_t limit)
{
    for (int64_t i = 0; i < N; ++i)
        p->solver.x[i] = p->system.low ? fmin(fmax(0, p->low[i]), p->high[i]) : 0;
    apply(p, p->solver.x, p->solver.gradient);
    for (int64_t i = 0; i < N; ++i) p->solver.gradient[i] -= p->b[i];
    check_ok(ps_bounded_begin(&p->solver, tolerance, 1, limit));
}

static void finish(problem *p, double tolerance)
{
    start(p, tolerance, LIMIT);
    while (!ps_bounded_finished(&p->solver)) check_ok(ps_bounded_step(&p->solver));
    assert_true(p->solver.progress->converged);
}

static void end(problem **p)
{
    for (int k = 0; k < PS_BOUNDED_PIECES; ++k) free((*p)->memory[k]);
    free(*p);
}

static void test_without_bounds(void **state)
{
    PS_SCOPED(end) problem *p = make(.1, false);
    double y[N];
    finish(p, 1e-10);
    apply(p, p->solver.x, y);
    for (int64_t i = 0; i < N; ++i) check_near(y[i], p->b[i], 1e-9, 0);
    check_at_most((double)p->solver.progress->products, 150);
}

static void check_least(const problem *p, double tolerance, int64_t *held)
{
    double y[N];
    apply((void *)p, p->solver.x, y);
    *held = 0;
    for (int64_t i = 0; i < N; ++i) {
        double x = p->solver.x[i], g = y[i] - p->b[i];
        assert_true(x >= p->low[i] && x <= p->high[i]);
        if (p->low[i] == p->high[i]) continue;
        *held += x == p->low[i] || x == p->high[i];
        if (x > p->low[i]) check_at_most(g, tolerance);
        if (x < p->high[i]) check_at_most(-g, tolerance);
    }
}

static void test_between_bounds(void **state)
{
    static const double shift[3] = {1, .1, 1e-3};
    for (int k = 0; k < 3; ++k) {
        PS_SCOPED(end) problem *p = make(shift[k], true);
        int64_t held;
        finish(p, 1e-9);
        check_least(p, 2e-9, &held);
        assert_in_range(held, k == 0 ? 1 : 10, N - 5);
    }
}

static void test_bits_after_any_step(void **state)
{
    for (int bounds = 0; bounds < 2; ++bounds) {
        PS_SCOPED(end) problem *p = make(.01, bounds), *q = make(.01, bounds);
        finish(p, 1e-8);
        start(q, 1e-8, LIMIT);
        while (!ps_bounded_finished(&q->solver)) {
            double *old[PS_BOUNDED_PIECES];
            check_ok(ps_bounded_step(&q->solver));
            memcpy(old, q->memory, sizeof old);
            take_memory(q);
            for (int k = 0; k < PS_BOUNDED_WORK; ++k)
                memcpy(q->memory[k], old[k], 8 * (size_t)q->doubles[k]);
            assert_true(ps_bounded_resume(&q->solver, 1e-8, LIMIT));
            for (int k = 0; k < PS_BOUNDED_PIECES; ++k) free(old[k]);
        }
        assert_int_equal(q->solver.progress->products, p->solver.progress->products);
        assert_memory_equal(q->solver.x, p->solver.x, sizeof p->b);
    }
}

static void test_limit_and_refusals(void **state)
{
    PS_SCOPED(end) problem *p = make(.01, true);
    start(p, 1e-12, 5);
    while (!ps_bounded_finished(&p->solver)) check_ok(ps_bounded_step(&p->solver));
    assert_false(p->solver.progress->converged);
    p->b[3] = NAN;
    apply(p, p->solver.x, p->solver.gradient);
    p->solver.gradient[3] = NAN;
    p->solver.x[3] = .1;
    check_fails(ps_bounded_begin(&p->solver, 1e-8, 1, LIMIT), PS_FAILED, "not finite");
}
