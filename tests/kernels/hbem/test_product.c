/* Products with H-matrices (kernels/hbem/product.h) against their definition, entry by entry. */
#include "kernels/hbem/product_transposed.h"

#include "tests/check.h"
#include "tests/support/hbem_hmatrix.h"

enum { SIDES = 6 };

/* y = A x from the entries of the leaves. */
static void by_definition(const ps_hmatrix *matrix, const double *x, double *y)
{
    for (int64_t leaf = 0; leaf < matrix->leaf_count; ++leaf) {
        const ps_hmatrix_leaf *at = &matrix->leaves[leaf];
        bool twice = matrix->symmetric && at->row_begin != at->column_begin;
        for (int64_t i = at->row_begin; i < at->row_end; ++i)
            for (int64_t j = at->column_begin; j < at->column_end; ++j)
                for (int turned = 0; turned <= (twice ? 1 : 0); ++turned) {
                    double a[2];
                    int64_t to = turned ? j : i, from = turned ? i : j;
                    hbem_leaf_entry(matrix, leaf, i - at->row_begin, j - at->column_begin, a);
                    double re = x[from], im = matrix->parts > 1 ? x[matrix->columns + from] : 0;
                    y[to] += a[0] * re - a[1] * im;
                    if (matrix->parts > 1) y[matrix->rows + to] += a[0] * im + a[1] * re;
                }
    }
}

static void check_product(ps_hbem_kernel kernel, double k, ps_precision precision, bool symmetric)
{
    PS_SCOPED(hbem_body_release) hbem_body b = {0};
    PS_SCOPED(hbem_hmatrix_free) hbem_hmatrix h = {0};
    hbem_body_sphere(&b, 7, PS_SPACE_P1, 1e-2, 16);
    ps_hbem_operator op = hbem_case_operator(&b.c, kernel, k);
    op.far_precision = precision;
    hbem_body_hmatrix(&b, &op, 2, symmetric, 1e-3, &h);
    hbem_hmatrix_run(&h, 2);
    int64_t n = b.c.space.dofs * h.matrix.parts, all = SIDES * n;
    PS_SCOPED_MEMORY double *x = calloc((size_t)(4 * all), 8);
    double *expected = x + all, *y[2] = {expected + all, expected + 2 * all};
    for (int64_t e = 0; e < all; ++e) x[e] = sin((double)(e * e % 1000));
    for (int side = 0; side < SIDES; ++side)
        by_definition(&h.matrix, x + side * n, expected + side * n);
    for (int threads = 1; threads <= 2; ++threads) {
        omp_set_num_threads(threads);
        hbem_hmatrix_apply(&h.matrix, SIDES, x, y[threads - 1]);
    }
    assert_memory_equal(y[0], y[1], (size_t)all * 8); /* bits do not depend on threads */
    for (int side = 0; side < SIDES; ++side) {        /* nor on how many sides there are */
        memset(y[1], 0, (size_t)n * 8);
        hbem_hmatrix_apply(&h.matrix, 1, x + side * n, y[1]);
        assert_memory_equal(y[0] + side * n, y[1], (size_t)n * 8);
    }
    check_all_near(y[0], expected, all, 1e-13);
}

static void test_product(void **state)
{
    for (int precision = 0; precision < PS_PRECISION_COUNT; ++precision) {
        check_product(PS_KERNEL_DLP, 0, (ps_precision)precision, false);
        check_product(PS_KERNEL_DLP, 2, (ps_precision)precision, false);
        check_product(PS_KERNEL_SLP, 0, (ps_precision)precision, true);
        check_product(PS_KERNEL_HYPS, 2, (ps_precision)precision, true);
    }
}

/* sum x_i y_i without a conjugate, of vectors of `parts` parts. */
static void bilinear(const double *x, const double *y, int64_t n, int parts, double out[2])
{
    out[0] = out[1] = 0;
    for (int64_t i = 0; i < n; ++i) {
        double a = parts > 1 ? x[n + i] : 0, b = parts > 1 ? y[n + i] : 0;
        out[0] += x[i] * y[i] - a * b;
        out[1] += x[i] * b + a * y[i];
    }
}

/* u . A v = v . A^T u, of a matrix of two spaces, in leaves that are dense and of low rank. */
static void check_transposed(double k, ps_precision precision)
{
    PS_SCOPED(hbem_body_release) hbem_body b = {0};
    PS_SCOPED(hbem_space_free) ps_hbem_space other = {0};
    PS_SCOPED(hbem_tree_free) ps_cluster_tree tree = {0};
    PS_SCOPED(hbem_hmatrix_free) hbem_hmatrix h = {0};
    ps_hmatrix view;
    ps_product_plan plan;
    hbem_body_sphere(&b, 7, PS_SPACE_P1, 1e-2, 16);
    hbem_space_make(&other, PS_SPACE_P0, &b.c.surface);
    hbem_tree_make(&tree, &other, 16);
    ps_hbem_operator op = hbem_case_operator(&b.c, PS_KERNEL_DLP, k);
    op.test = &other;
    op.far_precision = precision;
    ps_block_tree blocks = {&tree, &b.tree, 2, false};
    hbem_hmatrix_set(&h, &op, &blocks, 1e-3);
    hbem_hmatrix_run(&h, 2);
    int64_t rows = h.matrix.rows, columns = h.matrix.columns, parts = h.matrix.parts;
    PS_SCOPED_MEMORY double *u = calloc((size_t)(SIDES * parts * (rows + columns)), 16);
    double *v = u + SIDES * parts * rows, *av = v + SIDES * parts * columns,
           *atu = av + SIDES * parts * rows;
    for (int64_t e = 0; e < SIDES * parts * (rows + columns); ++e)
        u[e] = sin((double)(e * e % 997));
    hbem_hmatrix_apply(&h.matrix, SIDES, v, av);
    check_ok(ps_product_transposed_view(&h.matrix, &view));
    int64_t first = ps_product_segments(&view) + 1, visits = ps_product_transposed_visits(&view);
    PS_SCOPED_MEMORY int64_t *arrays =
        calloc((size_t)(first + visits + 2 * view.leaf_count + 1), 8);
    ps_product_plan_transposed(&plan, &view, arrays, arrays + first, arrays + first + visits);
    PS_SCOPED_MEMORY double *scratch = calloc((size_t)ps_product_scratch(&plan, SIDES) + 1, 8);
    ps_hmatrix_product(&plan, SIDES, u, atu, scratch);
    for (int side = 0; side < SIDES; ++side) {
        double left[2], right[2];
        bilinear(u + side * parts * rows, av + side * parts * rows, rows, (int)parts, left);
        bilinear(v + side * parts * columns, atu + side * parts * columns, columns, (int)parts,
                 right);
        for (int part = 0; part < parts; ++part)
            check_near(left[part], right[part], 1e-13 * hypot(left[0], left[1]), 0);
    }
}

static void test_transposed(void **state)
{
    check_transposed(0, PS_DOUBLE);
    check_transposed(2, PS_SINGLE);
    ps_hmatrix symmetric = {.symmetric = true}, view;
    check_fails(ps_product_transposed_view(&symmetric, &view), PS_USAGE, "its own transpose");
}

/* Assembly gives the same bits with one thread and with two. */
static void test_threads(void **state)
{
    PS_SCOPED(hbem_body_release) hbem_body b = {0};
    PS_SCOPED(hbem_hmatrix_free) hbem_hmatrix one = {0}, two = {0};
    hbem_body_sphere(&b, 7, PS_SPACE_P1, 1e-2, 16);
    ps_hbem_operator op = hbem_case_operator(&b.c, PS_KERNEL_ADLP, 2);
    hbem_body_hmatrix(&b, &op, 2, false, 1e-3, &one);
    hbem_body_hmatrix(&b, &op, 2, false, 1e-3, &two);
    hbem_hmatrix_run(&one, 1);
    hbem_hmatrix_run(&two, 2);
    assert_true(hbem_hmatrix_same(&one.matrix, &two.matrix));
}
