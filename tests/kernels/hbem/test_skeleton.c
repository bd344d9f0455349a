/* Skeleton far field (kernels/hbem/skeleton.h): whole matrices, ranks, and where it must not be
 * trusted. */

#include "tests/check.h"
#include "tests/support/hbem_hmatrix.h"

enum { LEAVES = 60 };

/* |block - far entries|^2 and |far entries|^2 of a leaf. */
static void compare_leaf(const hbem_hmatrix *h, int64_t leaf, ps_hbem_workspace work,
                         double sums[2])
{
    const ps_hmatrix_leaf *at = &h->leaves[leaf];
    int64_t m = at->row_end - at->row_begin, n = at->column_end - at->column_begin;
    ps_hbem_far far;
    PS_SCOPED_MEMORY double *column = calloc((size_t)m, 2 * sizeof *column);
    double own[2];
    check_ok(ps_hbem_far_open(&far, h->assembly.op, (ps_hbem_range){at->row_begin, at->row_end},
                              (ps_hbem_range){at->column_begin, at->column_end}, &work));
    for (int64_t j = 0; j < n; ++j) {
        ps_hbem_far_column(&far, j, column);
        for (int64_t i = 0; i < m; ++i) {
            hbem_leaf_entry(&h->matrix, leaf, i, j, own);
            for (int part = 0; part < h->matrix.parts; ++part) {
                double exact = column[part * m + i];
                sums[0] += (own[part] - exact) * (own[part] - exact);
                sums[1] += exact * exact;
            }
        }
    }
}

/* Far leaves, assembled with or without skeletons, against all their entries: the error of all
 * together; the mean rank. */
static double error_of(hbem_hmatrix *h, bool skeleton, double *rank)
{
    double sums[2] = {0};
    h->assembly.skeleton = skeleton;
    PS_SCOPED(hbem_workspace_free)
    ps_hbem_workspace work = hbem_workspace_make(ps_hbem_assembly_bytes(&h->assembly));
    *rank = 0;
    for (int64_t l = 0; l < h->assembly.leaf_count; ++l) {
        ps_hmatrix_block block;
        check_ok(ps_hbem_assemble_leaf(&h->assembly, l, &work, &block));
        check_ok(ps_hmatrix_put(&h->matrix, l, &block));
        work.used = 0;
        compare_leaf(h, l, work, sums);
    }
    *rank = ps_hmatrix_summarise(&h->matrix).rank_mean;
    return sqrt(sums[0] / sums[1]);
}

/* Keeps some of the far leaves, of all sizes. */
static void keep_far(hbem_hmatrix *h)
{
    int64_t far = 0, kept = 0, all = h->assembly.leaf_count;
    for (int64_t l = 0; l < all; ++l)
        if (h->leaves[l].far) h->leaves[far++] = h->leaves[l];
    int64_t step = far > LEAVES ? far / LEAVES : 1;
    for (int64_t l = 0; l < far; l += step) h->leaves[kept++] = h->leaves[l];
    h->assembly.leaf_count = h->matrix.leaf_count = kept;
}

/* A body with edges, and faces that decouple for the double layer. */
static void check_space(ps_hbem_space_kind kind, int n, double k, ps_precision precision)
{
    static const char *const names[] = {"SLP", "DLP", "ADLP", "HYPS"};
    PS_SCOPED(hbem_body_release) hbem_body b = {0};
    hbem_body_cells(&b, n, 1, kind, 1e-4, 32);
    for (int kernel = 0; kernel < PS_HBEM_KERNELS; ++kernel) {
        if (kernel == PS_KERNEL_HYPS && kind != PS_SPACE_P1) continue;
        ps_hbem_operator op = hbem_case_operator(&b.c, (ps_hbem_kernel)kernel, k);
        PS_SCOPED(hbem_hmatrix_free) hbem_hmatrix h = {0};
        double rank[2], error[2];
        op.far_precision = precision;
        hbem_body_hmatrix(&b, &op, 2, false, 1e-4, &h);
        keep_far(&h);
        for (int skeleton = 0; skeleton < 2; ++skeleton)
            error[skeleton] = error_of(&h, skeleton, &rank[skeleton]);
        print_message("    k = %g %s: error %.2e (entries %.2e), mean rank %.2f (%.2f)\n", k,
                      names[kernel], error[1], error[0], rank[1], rank[0]);
        check_at_most(error[1], 1.2e-4);
        check_near(rank[1], rank[0], 0.5, 0);
        h.matrix.leaf_count = h.assembly.leaf_count;
    }
}

static void test_laplace(void **state) { check_space(PS_SPACE_P1, 6, 0, PS_DOUBLE); }
static void test_helmholtz(void **state) { check_space(PS_SPACE_P1, 5, 3, PS_DOUBLE); }
static void test_single(void **state) { check_space(PS_SPACE_P1, 5, 0, PS_SINGLE); }
static void test_p0(void **state) { check_space(PS_SPACE_P0, 6, 0, PS_DOUBLE); }

/* The bordered block is consistent: points against functions, by rows and by columns. */
static void test_points(void **state)
{
    PS_SCOPED(hbem_body_release) hbem_body b = {0};
    PS_SCOPED(hbem_hmatrix_free) hbem_hmatrix h = {0};
    ps_hbem_far far;
    hbem_body_sphere(&b, 8, PS_SPACE_P1, 1e-4, 16);
    ps_hbem_operator op = hbem_case_operator(&b.c, PS_KERNEL_DLP, 2);
    hbem_body_hmatrix(&b, &op, 2, false, 1e-4, &h);
    keep_far(&h);
    const ps_hmatrix_leaf *at = &h.leaves[0];
    ps_hbem_range rows = {at->row_begin, at->row_end};
    ps_hbem_range columns = {at->column_begin, at->column_end};
    int64_t m = rows.end - rows.begin, n = columns.end - columns.begin;
    PS_SCOPED(hbem_workspace_free)
    ps_hbem_workspace work = hbem_workspace_make(ps_hbem_entries_bytes(&op, rows, columns));
    check_ok(ps_hbem_far_open(&far, &op, rows, columns, &work));
    int64_t t_count = far.row.triangle_count, u_count = far.column.triangle_count;
    PS_SCOPED_MEMORY double *row = calloc((size_t)(u_count + n), 2 * sizeof *row),
                            *column = calloc((size_t)(t_count + m), 2 * sizeof *column);
    for (int64_t t = 0; t < t_count; t += 7) {
        ps_hbem_far_point_row(&far, t, row);
        for (int64_t u = 0; u < u_count; u += 5) {
            ps_hbem_far_point_column(&far, u, column);
            for (int part = 0; part < 2; ++part)
                check_near(row[part * (u_count + n) + u], column[part * (t_count + m) + t], 1e-18,
                           1e-10);
        }
    }
}
