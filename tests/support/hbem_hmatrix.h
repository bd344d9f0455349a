/*
 * hbem_hmatrix: an H-matrix of an operator on one space, in memory: tree, leaves, assembly,
 * product.
 */
#ifndef PS_TESTS_SUPPORT_HBEM_HMATRIX_H
#define PS_TESTS_SUPPORT_HBEM_HMATRIX_H

#include <omp.h>

#include "kernels/hbem/assembly.h"
#include "kernels/hbem/cluster_tree.h"
#include "kernels/hbem/product.h"
#include "runtime/memory.h"
#include "tests/support/hbem_case.h"

/* A store into memory: context is a ps_hmatrix. */
static inline ps_status hbem_keep(void *context, int64_t leaf, const ps_hmatrix_block *block)
{
    return ps_hmatrix_put(context, leaf, block);
}

/* The tree of a space, which is put into its order. */
static inline void hbem_tree_cut(ps_cluster_tree *tree, ps_hbem_space *space, int64_t leaf_size,
                                 ps_cluster_cut cut)
{
    size_t dofs = (size_t)space->dofs;
    PS_SCOPED(hbem_workspace_free)
    ps_hbem_workspace work = hbem_workspace_make(ps_cluster_scratch(space->dofs));
    PS_SCOPED_MEMORY int32_t *scratch = calloc(dofs, sizeof *scratch);
    ps_cluster_method method = {leaf_size, cut};
    tree->nodes = calloc((size_t)ps_cluster_nodes(space->dofs, leaf_size), sizeof *tree->nodes);
    tree->order = calloc(dofs, sizeof *tree->order);
    ps_cluster_build(tree, space, &method, work.base);
    ps_hbem_space_reorder(space, tree->order, scratch);
}

static inline void hbem_tree_make(ps_cluster_tree *tree, ps_hbem_space *space, int64_t leaf_size)
{
    hbem_tree_cut(tree, space, leaf_size, PS_CUT_MEDIAN);
}

static inline void hbem_tree_free(ps_cluster_tree *tree) { PS_FREE(tree->nodes, tree->order); }

/* A body whose functions are in the order of their tree. */
typedef struct hbem_body {
    hbem_case c;
    ps_cluster_tree tree;
} hbem_body;

static inline void hbem_body_sphere(hbem_body *b, int n, ps_hbem_space_kind kind, double tolerance,
                                    int64_t leaf_size)
{
    hbem_sphere(&b->c, n, kind, tolerance);
    hbem_tree_make(&b->tree, &b->c.space, leaf_size);
}

static inline void hbem_body_cells(hbem_body *b, int n, int l_shape, ps_hbem_space_kind kind,
                                   double tolerance, int64_t leaf_size)
{
    hbem_cells(&b->c, n, l_shape, kind, tolerance);
    hbem_tree_make(&b->tree, &b->c.space, leaf_size);
}

static inline void hbem_body_release(hbem_body *b)
{
    hbem_tree_free(&b->tree);
    hbem_case_release(&b->c);
}

typedef struct hbem_hmatrix {
    ps_hbem_assembly assembly;
    ps_hmatrix_leaf *leaves;
    ps_hmatrix matrix;
    double seconds; /* of assembly, wall */
} hbem_hmatrix;

/* Assembly of these leaves, with the settings of a test to change before hbem_hmatrix_run. */
static inline void hbem_hmatrix_over(hbem_hmatrix *h, const ps_hbem_operator *op,
                                     ps_hmatrix_leaf *leaves, int64_t count, bool symmetric,
                                     double tolerance)
{
    *h = (hbem_hmatrix){.leaves = leaves};
    h->assembly = (ps_hbem_assembly){.op = op,
                                     .leaves = leaves,
                                     .leaf_count = count,
                                     .tolerance = tolerance,
                                     .check_rows = 8,
                                     .max_rank = 400,
                                     .recompress = true};
    h->matrix = (ps_hmatrix){.rows = op->test->dofs,
                             .columns = op->trial->dofs,
                             .leaf_count = count,
                             .parts = ps_hbem_parts(op),
                             .symmetric = symmetric,
                             .precision = op->far_precision,
                             .leaves = leaves};
    must(ps_hmatrix_init(&h->matrix));
}

/* The leaves of a block tree; free() them. */
static inline ps_hmatrix_leaf *hbem_leaves(const ps_block_tree *blocks, int64_t *count)
{
    *count = ps_block_tree_leaves(blocks, NULL);
    ps_hmatrix_leaf *leaves = calloc((size_t)*count, sizeof *leaves);
    ps_block_tree_leaves(blocks, leaves);
    return leaves;
}

static inline void hbem_hmatrix_set(hbem_hmatrix *h, const ps_hbem_operator *op,
                                    const ps_block_tree *blocks, double tolerance)
{
    int64_t count;
    ps_hmatrix_leaf *leaves = hbem_leaves(blocks, &count);
    hbem_hmatrix_over(h, op, leaves, count, blocks->symmetric, tolerance);
}

/* The same of an operator between the functions of a body. */
static inline void hbem_body_hmatrix(const hbem_body *b, const ps_hbem_operator *op, double eta,
                                     bool symmetric, double tolerance, hbem_hmatrix *h)
{
    ps_block_tree blocks = {&b->tree, &b->tree, eta, symmetric};
    hbem_hmatrix_set(h, op, &blocks, tolerance);
}

static inline void hbem_hmatrix_run(hbem_hmatrix *h, int threads)
{
    ps_hbem_workspace workspaces[64];
    int64_t bytes = ps_hbem_assembly_bytes(&h->assembly);
    for (int t = 0; t < threads; ++t) workspaces[t] = hbem_workspace_make(bytes);
    double start = omp_get_wtime();
    must(ps_hbem_assemble(&h->assembly, threads, workspaces, hbem_keep, &h->matrix));
    h->seconds = omp_get_wtime() - start;
    for (int t = 0; t < threads; ++t) free(workspaces[t].base);
}

static inline void hbem_hmatrix_free(hbem_hmatrix *h)
{
    ps_hmatrix_release(&h->matrix);
    free(h->leaves);
}

/* y += A x with a plan made for it alone. */
static inline void hbem_hmatrix_apply(const ps_hmatrix *matrix, int64_t sides, const double *x,
                                      double *y)
{
    ps_product_plan plan;
    ps_product_plan_init(&plan, matrix,
                         calloc((size_t)ps_product_segments(matrix) + 1, sizeof(int64_t)),
                         calloc((size_t)ps_product_visits(matrix) + 1, sizeof(int64_t)),
                         calloc(2 * (size_t)matrix->leaf_count + 1, sizeof(int64_t)));
    double *scratch = calloc((size_t)ps_product_scratch(&plan, sides) + 1, sizeof *scratch);
    ps_hmatrix_product(&plan, sides, x, y, scratch);
    PS_FREE(scratch, plan.first, plan.visits, plan.shares);
}

/* Whether two matrices of the same leaves have the same bits. */
static inline bool hbem_hmatrix_same(const ps_hmatrix *a, const ps_hmatrix *b)
{
    bool same = a->precision == b->precision;
    for (int64_t leaf = 0; same && leaf < a->leaf_count; ++leaf) {
        int64_t rank = a->blocks[leaf].rank, numbers = ps_hmatrix_numbers(a, leaf, rank);
        size_t bytes = (size_t)numbers * (a->precision == PS_SINGLE ? 4 : 8);
        same = b->blocks[leaf].rank == rank &&
               memcmp(a->blocks[leaf].values, b->blocks[leaf].values, bytes) == 0;
    }
    return same;
}

/* Number of a part of a block. */
static inline double hbem_number(const ps_hmatrix *matrix, int64_t leaf, int64_t index)
{
    const void *values = matrix->blocks[leaf].values;
    return matrix->precision == PS_SINGLE ? (double)((const float *)values)[index]
                                          : ((const double *)values)[index];
}

/* An entry of a leaf, from its definition (formats/hmatrix_blocks.h). */
static inline void hbem_leaf_entry(const ps_hmatrix *matrix, int64_t leaf, int64_t i, int64_t j,
                                   double out[2])
{
    const ps_hmatrix_leaf *at = &matrix->leaves[leaf];
    int64_t m = at->row_end - at->row_begin, n = at->column_end - at->column_begin;
    int64_t rank = matrix->blocks[leaf].rank, parts = matrix->parts;
    out[0] = out[1] = 0;
    if (rank == PS_RANK_DENSE) {
        for (int64_t part = 0; part < parts; ++part)
            out[part] = hbem_number(matrix, leaf, (part * n + j) * m + i);
        return;
    }
    for (int64_t l = 0; l < rank; ++l) {
        int64_t u = l * parts * m + i, v = rank * parts * m + l * parts * n + j;
        double a = hbem_number(matrix, leaf, u), c = hbem_number(matrix, leaf, v);
        double b = parts > 1 ? hbem_number(matrix, leaf, u + m) : 0;
        double d = parts > 1 ? hbem_number(matrix, leaf, v + n) : 0;
        out[0] += a * c - b * d;
        out[1] += a * d + b * c;
    }
}

/* |H - reference|_F / |reference|_F; reference[part][column][row] in the order of the tree. */
static inline double hbem_hmatrix_error(const ps_hmatrix *matrix, const double *reference)
{
    double error = 0, norm = 0;
    for (int64_t leaf = 0; leaf < matrix->leaf_count; ++leaf) {
        const ps_hmatrix_leaf *at = &matrix->leaves[leaf];
        double weight = matrix->symmetric && at->row_begin != at->column_begin ? 2 : 1, own[2];
        for (int64_t j = at->column_begin; j < at->column_end; ++j)
            for (int64_t i = at->row_begin; i < at->row_end; ++i) {
                hbem_leaf_entry(matrix, leaf, i - at->row_begin, j - at->column_begin, own);
                for (int part = 0; part < matrix->parts; ++part) {
                    double exact = reference[(part * matrix->columns + j) * matrix->rows + i];
                    error += weight * (own[part] - exact) * (own[part] - exact);
                    norm += weight * exact * exact;
                }
            }
    }
    return sqrt(error / norm);
}

#endif
