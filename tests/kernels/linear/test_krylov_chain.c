/* Conjugate gradients on matrices with known solutions (kernels/linear/krylov_team.h). */
#include "kernels/linear/krylov_team.h"

#include <omp.h>
#include <stdlib.h>

#include "runtime/memory.h"
#include "tests/check.h"

/* (2 + shift) on the diagonal times a varying scale, -1 beside it: symmetric, definite. */
static ps_csr chain(int64_t rows, double shift)
{
    ps_csr m;
    check_ok(ps_csr_init(&m, rows, 3 * rows));
    m.nnz = 0;
    for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = i - 1; j <= i + 1; ++j) {
            if (j < 0 || j >= rows) continue;
            double scale = (1 + (double)(i % 7)) * (1 + (double)(j % 7));
            m.columns[m.nnz] = (int32_t)j;
            m.values[m.nnz++] = i == j ? (2 + shift) * scale : -scale;
        }
        m.row_start[i + 1] = m.nnz;
    }
    return m;
}

typedef struct problem {
    ps_csr matrix;
    ps_krylov_system system;
    double *memory, *b, *x, *exact, *work;
} problem;

static void make(int64_t rows, double shift, problem *p)
{
    p->matrix = chain(rows, shift);
    p->system = (ps_krylov_system){.matrix = &p->matrix};
    int64_t work = ps_krylov_cpu_workspace(PS_KRYLOV_CG, &p->system);
    check_ok(PS_ALLOC(&p->memory, 4 * rows + work, "vectors"));
    p->system.b = p->b = p->memory;
    p->system.x = p->x = p->b + rows;
    p->exact = p->x + rows;
    double *scale = p->exact + rows;
    p->system.inverse_diagonal = scale;
    p->work = scale + rows;
    uint64_t seed = 7;
    for (int64_t i = 0; i < rows; ++i) p->exact[i] = check_random(&seed) - 0.5;
    ps_csr_multiply(&p->matrix, p->exact, p->b);
    check_ok(ps_csr_inverse_diagonal(&p->matrix, true, scale));
}

static void drop(problem *p)
{
    ps_csr_release(&p->matrix);
    free(p->memory);
}

static ps_krylov_result run(problem *p, double tolerance, int64_t limit)
{
    ps_krylov_result result;
    ps_status status =
        ps_krylov_cpu_solve(PS_KRYLOV_CG, &p->system, tolerance, limit, p->work, &result);
    assert_true((status == PS_OK) == result.converged);
    return result;
}

static void solves(void **state)
{
    for (int64_t rows = 1; rows < 20000; rows = 3 * rows + 7) {
        PS_SCOPED(drop) problem p = {0};
        make(rows, 0.5, &p);
        ps_krylov_result result = run(&p, 1e-13, 200);
        assert_true(result.converged);
        check_at_most(result.residual, 1e-13);
        for (int64_t i = 0; i < rows; ++i) check_near(p.x[i], p.exact[i], 2e-12, 0);
        /* condition (4.5/0.5): 2 sqrt(9) iterations a digit and a half at most */
        check_at_most((double)result.iterations, 60);
    }
}

static void exact_in_as_many_steps_as_rows(void **state)
{
    PS_SCOPED(drop) problem p = {0};
    make(5, 0, &p);
    ps_krylov_result result = run(&p, 1e-12, 5);
    assert_true(result.converged);
    assert_int_equal(result.iterations, 5);
}

static void a_good_guess_saves_iterations(void **state)
{
    PS_SCOPED(drop) problem p = {0};
    make(3000, 0.5, &p);
    ps_krylov_result cold = run(&p, 1e-10, 100);
    for (int64_t i = 0; i < 3000; ++i) p.x[i] = p.exact[i] * (1 + 1e-6);
    ps_krylov_result warm = run(&p, 1e-10, 100);
    check_at_most((double)warm.iterations, 0.6 * (double)cold.iterations);
    memcpy(p.x, p.exact, 3000 * sizeof *p.x);
    assert_int_equal(run(&p, 1e-10, 100).iterations, 0);
}

static void threads_do_not_matter(void **state)
{
    PS_SCOPED(drop) problem p = {0};
    make(30011, 0.1, &p);
    PS_SCOPED_MEMORY double *first = malloc(30011 * sizeof *first);
    for (int threads = 1; threads < 6; threads += 2) {
        omp_set_num_threads(threads);
        memset(p.x, 0, 30011 * sizeof *p.x);
        ps_krylov_result result = run(&p, 1e-12, 500);
        assert_true(result.converged);
        if (threads == 1) memcpy(first, p.x, 30011 * sizeof *first);
        assert_memory_equal(first, p.x, 30011 * sizeof *first);
    }
}

static void says_when_it_does_not_converge(void **state)
{
    PS_SCOPED(drop) problem p = {0};
    make(3000, 0, &p);
    ps_krylov_result result = run(&p, 1e-12, 20);
    assert_false(result.converged);
    assert_int_equal(result.iterations, 20);
    check_at_most(1e-6, result.residual);
    for (int which = 0; which < 2; ++which) {
        p.b[17] = which ? NAN : INFINITY;
        assert_false(run(&p, 1e-12, 20).converged);
    }
    memset(p.b, 0, 3000 * sizeof *p.b);
    p.b[3] = NAN; /* amid zeros */
    assert_false(run(&p, 1e-12, 20).converged);
}

static void nothing_gives_nothing(void **state)
{
    PS_SCOPED(drop) problem p = {0};
    make(10, 1, &p);
    for (int i = 0; i < 10; ++i) p.b[i] = i % 2 ? 1e-150 : 0, p.x[i] = 3;
    ps_krylov_result result = run(&p, 1e-12, 20);
    assert_true(result.converged);
    assert_int_equal(result.iterations, 0);
    for (int i = 0; i < 10; ++i) check_near(p.x[i], 0, 0, 0);
}

static void refuses_what_is_not_definite(void **state)
{
    PS_SCOPED(ps_csr_release) ps_csr m = chain(4, 1);
    double scale[4];
    m.values[m.row_start[2] + 1] = -1;
    check_fails(ps_csr_inverse_diagonal(&m, true, scale), PS_INVALID, "row 2");
    m.values[m.row_start[2] + 1] = NAN;
    check_fails(ps_csr_inverse_diagonal(&m, true, scale), PS_INVALID, "row 2");
}
