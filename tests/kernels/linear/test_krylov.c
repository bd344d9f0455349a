/* Krylov methods on the matrices of the paper's table 5: iteration counts beside the guide's, rows
 * against stencil, failures (kernels/linear/krylov.h, krylov_team.h). */
#include "kernels/linear/krylov_team.h"

#include <omp.h>
#include <stdlib.h>

#include "kernels/schwarz/load.h"
#include "runtime/memory.h"
#include "tests/check.h"

typedef struct problem {
    ps_q1_grid grid;
    ps_slab_stencil stencil;
    ps_csr matrix;
    double *inverse, *b, *x; /* [rows] each, one behind the other */
    int64_t rows;
} problem;

/* -Lap u = 1, u = 0 on the boundary. */
static problem make(int which, bool assemble)
{
    problem p = {0};
    check_ok(ps_gravi_grid(which, &p.grid));
    ps_slab slab = ps_slab_whole(&p.grid);
    ps_slab_stencil_make(&slab, &p.stencil);
    p.rows = ps_q1_grid_size(&p.grid);
    check_ok(PS_ALLOC(&p.inverse, 3 * p.rows, "vectors"));
    p.b = p.inverse + p.rows;
    p.x = p.b + p.rows;
    ps_unit_load(&p.grid, &p.stencil, p.b);
    if (assemble) {
        check_ok(ps_stencil_assemble(&p.stencil, &p.matrix));
        check_ok(ps_csr_inverse_diagonal(&p.matrix, false, p.inverse));
    }
    return p;
}

static void release(problem *p)
{
    ps_csr_release(&p->matrix);
    free(p->inverse);
}

static int64_t iteration_limit = 3000;

static ps_status solve(problem *p, ps_krylov_method method, double tolerance,
                       ps_krylov_result *result)
{
    ps_krylov_system system = {.b = p->b, .x = p->x};
    if (p->matrix.rows > 0)
        system.matrix = &p->matrix, system.inverse_diagonal = p->inverse;
    else
        system.stencil = &p->stencil;
    PS_SCOPED_MEMORY double *work = NULL;
    check_ok(PS_ALLOC(&work, ps_krylov_cpu_workspace(method, &system), "vectors"));
    memset(p->x, 0, (size_t)p->rows * sizeof *p->x);
    return ps_krylov_cpu_solve(method, &system, tolerance, iteration_limit, work, result);
}

static double true_residual(const problem *p)
{
    PS_SCOPED_MEMORY double *y = NULL;
    check_ok(PS_ALLOC(&y, p->rows, "y"));
    ps_stencil_multiply(&p->stencil, p->x, y);
    return relative_l2(y, p->b, p->rows);
}

static void count_at(int which, bool assemble, const double expected[3])
{
    PS_SCOPED(release) problem p = make(which, assemble);
    for (int m = 0; m < PS_KRYLOV_METHODS; ++m) {
        static const double band[] = {2.01, 0, 1.01}, share[] = {0, .2, 0};
        ps_krylov_result result;
        check_ok(solve(&p, m, 1e-6, &result));
        assert_true(result.converged);
        check_near((double)result.iterations, expected[m], band[m], share[m]);
        check_at_most(true_residual(&p), 1.1e-6);
    }
}

/* m = 36 and 46; BiCGStab in the middle of the guide's range. */
static void counts_of_rows(void **unused)
{
    count_at(0, true, (const double[]){153, 95, 142});
    count_at(2, true, (const double[]){203, 126, 188});
}

static void counts_of_the_stencil(void **unused)
{
    count_at(0, false, (const double[]){153, 95, 142});
    count_at(4, false, (const double[]){289, 188, 265});
}

/* Products in fp32 are those of fp64, rounded. */
static void narrow_products(void **unused)
{
    PS_SCOPED(release) problem p = make(0, true);
    uint64_t seed = 3;
    PS_SCOPED_MEMORY float *x = NULL, *values = NULL;
    PS_SCOPED_MEMORY double *wide = NULL;
    check_ok(PS_ALLOC(&x, 2 * p.rows, "vectors"));
    check_ok(PS_ALLOC(&wide, 3 * p.rows, "vectors"));
    check_ok(PS_ALLOC(&values, p.matrix.nnz, "values"));
    float *y = x + p.rows;
    double *exact = wide + p.rows, *narrow = exact + p.rows;
    for (int64_t i = 0; i < p.rows; ++i) wide[i] = x[i] = (float)(check_random(&seed) - .5);
    for (int64_t e = 0; e < p.matrix.nnz; ++e) values[e] = (float)p.matrix.values[e];
    ps_stencil_multiply(&p.stencil, wide, exact);
    for (int stencil = 0; stencil < 2; ++stencil) {
        if (stencil)
            ps_stencil_multiply_narrow(&p.stencil, x, y);
        else
            ps_csr_multiply_narrow(&p.matrix, values, x, y);
        for (int64_t i = 0; i < p.rows; ++i) narrow[i] = y[i];
        check_at_most(relative_l2(narrow, exact, p.rows), 1e-6);
    }
}

/* P-CG in fp32 with residuals in fp64: the iterations of fp64 to within 2 %, x as good as told; b
 * of the fixed rows is taken over, the last value of x is the first guess; the bits do not depend
 * on threads. Alone, fp32 does not get there. */
static void narrow_vectors(void **unused)
{
    static const int64_t expected[] = {153, 256};
    static const double tolerance[] = {1e-6, 1e-10};
    PS_SCOPED(release) problem p = make(0, false);
    ps_krylov_system system = {.stencil = &p.stencil, .b = p.b, .x = p.x};
    const ps_krylov_cpu_control few = {.tolerance = 1e-6, .limit = 9};
    PS_SCOPED_MEMORY double *work = NULL, *other = NULL;
    ps_krylov_result result;
    check_ok(PS_ALLOC(&work, ps_krylov_cpu_mixed_workspace(&p.stencil), "vectors"));
    check_ok(PS_ALLOC(&other, p.rows, "x"));
    for (int t = 0; t < 2; ++t)
        for (int threads = 1; threads < 3; ++threads) {
            ps_krylov_cpu_control control = {.tolerance = tolerance[t], .limit = 3000};
            omp_set_num_threads(threads);
            memset(p.x, 0, (size_t)p.rows * sizeof *p.x);
            check_ok(ps_krylov_cpu_mixed(&system, &control, work, &result));
            assert_true(result.converged);
            check_near((double)result.iterations, (double)expected[t], 0, .02);
            check_at_most(true_residual(&p), tolerance[t]);
            if (threads == 2) assert_memory_equal(other, p.x, (size_t)p.rows * sizeof *p.x);
            memcpy(other, p.x, (size_t)p.rows * sizeof *p.x);
        }
    p.b[7] = 2;
    check_ok(ps_krylov_cpu_mixed(&system, &few, work, &result));
    assert_int_equal(result.iterations, 0);
    assert_true(p.x[7] == 2);
    memset(p.x, 0, (size_t)p.rows * sizeof *p.x);
    p.b[7] = 0;
    check_fails(ps_krylov_cpu_mixed(&system, &few, work, &result), PS_FAILED, "after 9 iterations");
    system.narrow = true;
    check_fails(ps_krylov_cpu_mixed(&system, &few, work, &result), PS_USAGE, "fp32");
}

static void tight_tolerance(void **unused)
{
    PS_SCOPED(release) problem p = make(0, false);
    ps_krylov_result result;
    check_ok(solve(&p, PS_KRYLOV_CG, 1e-10, &result));
    check_near((double)result.iterations, 256, 2.01, 0);
    check_at_most(true_residual(&p), 1.1e-10);
}

/* Rows and stencil are one operator; free faces too; x.Ay = y.Ax. */
static void stencil_is_the_matrix(void **unused)
{
    uint64_t seed = 3;
    for (int faces = 0; faces < 4; ++faces) {
        ps_slab slab = {.free = {faces & 1, faces & 2}, .p = {.3, .7}, .q = {1.2, .4}};
        check_ok(ps_q1_grid_make((const int64_t[3]){7, 6, faces == 3 ? 1040 : 9},
                                 (const double[3]){3, 4, 5}, &slab.grid));
        ps_slab_stencil stencil;
        PS_SCOPED(ps_csr_release) ps_csr matrix = {0};
        ps_slab_stencil_make(&slab, &stencil);
        int64_t n = ps_q1_grid_size(&slab.grid);
        check_ok(ps_stencil_assemble(&stencil, &matrix));
        check_ok(ps_csr_check(&matrix, n));
        PS_SCOPED_MEMORY double *memory = NULL;
        check_ok(PS_ALLOC(&memory, 5 * n, "vectors"));
        double *v[5] = {memory, memory + n, memory + 2 * n, memory + 3 * n, memory + 4 * n};
        for (int64_t i = 0; i < n; ++i) {
            v[0][i] = check_random(&seed) - .5;
            v[3][i] = check_random(&seed) - .5;
        }
        ps_stencil_multiply(&stencil, v[0], v[1]);
        ps_csr_multiply(&matrix, v[0], v[2]);
        ps_stencil_multiply(&stencil, v[3], v[4]);
        double xay = 0, yax = 0, size = 0;
        for (int64_t i = 0; i < n; ++i) {
            check_near(v[1][i], v[2][i], 1e-11, 1e-12);
            xay += v[0][i] * v[4][i];
            yax += v[3][i] * v[1][i];
            size += fabs(v[3][i] * v[1][i]);
        }
        check_near(xay, yax, 1e-13 * size, 0);
    }
}

static void bits_do_not_depend_on_threads(void **unused)
{
    PS_SCOPED(release) problem p = make(0, false);
    ps_krylov_result first, other;
    PS_SCOPED_MEMORY double *kept = NULL;
    check_ok(PS_ALLOC(&kept, p.rows, "kept"));
    omp_set_num_threads(1);
    check_ok(solve(&p, PS_KRYLOV_CG, 1e-6, &first));
    memcpy(kept, p.x, (size_t)p.rows * sizeof *kept);
    omp_set_num_threads(3);
    check_ok(solve(&p, PS_KRYLOV_CG, 1e-6, &other));
    omp_set_num_threads(1);
    assert_int_equal(first.iterations, other.iterations);
    assert_memory_equal(kept, p.x, (size_t)p.rows * sizeof *kept);
}

/* A state is bytes of a file: passes are indices, and those of another method have no end. */
static void states_of_no_solve_are_told(void **unused)
{
    for (int m = 0; m < PS_KRYLOV_METHODS; ++m) {
        ps_krylov_method method = (ps_krylov_method)m;
        ps_krylov_state good;
        ps_krylov_state_begin(method, 1e-8, 100, &good);
        assert_false(ps_krylov_state_sound(&good, method, 0)); /* before the first pass */
        for (int k = 0; k < 3; ++k) good.sums[k] = 1;
        ps_krylov_state_step(&good);
        assert_true(ps_krylov_state_sound(&good, method, 0));
        assert_false(ps_krylov_state_sound(&good, method, 1));
        assert_false(ps_krylov_state_sound(&good, (ps_krylov_method)((m + 1) % 3), 0));
        for (int pass = -1; pass <= PS_KRYLOV_PASSES + 1; ++pass) {
            ps_krylov_state bad = good;
            bad.pass = pass;
            bool own = pass > (int)ps_krylov_first_pass(method) &&
                       pass <= (int)ps_krylov_first_pass(method) + (m == 1 ? 4 : 2);
            assert_int_equal(ps_krylov_state_sound(&bad, method, 0), own);
            bad.verdict = PS_KRYLOV_CONVERGED;
            assert_int_equal(ps_krylov_state_sound(&bad, method, 0), pass == PS_KRYLOV_PASSES);
            bad.verdict = 99;
            assert_false(ps_krylov_state_sound(&bad, method, 0));
        }
    }
}

static void failures_are_told(void **unused)
{
    PS_SCOPED(release) problem p = make(0, true);
    ps_krylov_result result;
    int64_t middle = p.rows / 2 + 17;
    double *at = NULL;
    for (int64_t e = p.matrix.row_start[middle]; e < p.matrix.row_start[middle + 1]; ++e)
        if (p.matrix.columns[e] == middle) at = p.matrix.values + e;
    assert_non_null(at);
    double kept = *at;
    *at = 0;
    check_fails(ps_csr_inverse_diagonal(&p.matrix, false, p.inverse), PS_INVALID, "Jacobi");
    for (int64_t i = 0; i < p.rows; ++i) p.inverse[i] = 1;
    *at = -1e6; /* indefinite, and seen to be at once */
    p.b[middle] = 1e3;
    check_fails(solve(&p, PS_KRYLOV_CG, 1e-6, &result), PS_FAILED, "indefinite");
    *at = kept;
    p.b[middle] = NAN;
    for (int m = 0; m < PS_KRYLOV_METHODS; ++m)
        check_fails(solve(&p, m, 1e-6, &result), PS_FAILED, "not finite");
    p.b[middle] = 1;
    check_ok(ps_csr_inverse_diagonal(&p.matrix, false, p.inverse));
    iteration_limit = 10;
    for (int m = 0; m < PS_KRYLOV_METHODS; ++m) {
        check_fails(solve(&p, m, 1e-6, &result), PS_FAILED, ps_krylov_name(m));
        assert_int_equal(result.iterations, 10);
    }
    iteration_limit = 3000;
    memset(p.b, 0, (size_t)p.rows * sizeof *p.b);
    check_ok(solve(&p, PS_KRYLOV_CG, 1e-6, &result));
    assert_int_equal(result.iterations, 0);
}
