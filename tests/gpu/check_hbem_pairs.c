/*
 * check_hbem_pairs: rows and columns of far blocks through pairs on a CUDA device (pair_rows)
 * against the processor's: all kernels, Laplace, waves and absorption, both precisions, three
 * spaces, odd chunks; and an H-matrix assembled by them. Of a row's largest number fp64 is within
 * 1e-12, fp32 within 2e-5 (double layers cancel). Ends with "N passed, N failed, N skipped".
 */
#include <stdio.h>

#include "tests/support/distance.h"
#include "tests/support/hbem_hmatrix.h"
#include "tests/support/hbem_pair_device.h"
#include "tests/support/verdict.h"

static void tell(const char *what, const ps_hbem_operator *op, double value, double limit)
{
    bool good = value <= limit; /* NaN is not */
    if (verdict_count(good))
        printf("%s kernel %d k %g + %gi %s, space %d, %s: %.2e, at most %.1e\n",
               good ? "ok" : "FAILED", op->kernel, op->wavenumber, op->absorption,
               op->far_precision == PS_SINGLE ? "fp32" : "fp64", op->test->kind, what, value,
               limit);
    fflush(stdout);
}

/* A few rows and columns of a far leaf. */
static void check_lines(ps_hbem_pair_rows *rows, const ps_hbem_operator *op,
                        const ps_hmatrix_leaf *leaf)
{
    ps_hbem_range r = {leaf->row_begin, leaf->row_end}, c = {leaf->column_begin, leaf->column_end};
    PS_SCOPED(hbem_workspace_free)
    ps_hbem_workspace w = hbem_workspace_make(ps_hbem_entries_bytes(op, r, c));
    ps_hbem_far far;
    must(ps_hbem_far_open(&far, op, r, c, &w));
    double limit = op->far_precision == PS_SINGLE ? 2e-5 : 1e-12;
    for (int n = 0; n < 6; ++n) {
        bool column = n % 2;
        int64_t length = column ? r.end - r.begin : c.end - c.begin;
        int64_t count = ps_hbem_parts(op) * length;
        int64_t index = (column ? c.end - c.begin : r.end - r.begin) * (n / 2) / 3;
        PS_SCOPED_MEMORY double *got = malloc((size_t)count * 16);
        double *expected = got + count;
        if (column)
            ps_hbem_far_column(&far, index, expected);
        else
            ps_hbem_far_row(&far, index, expected);
        must(ps_hbem_pair_rows_get(rows, &far, column, index, got));
        tell(column ? "column" : "row", op, relative_most(got, expected, count), limit);
    }
}

static void check_matrix(ps_device *device, const ps_hbem_operator *op, const ps_block_tree *blocks)
{
    PS_SCOPED(hbem_hmatrix_free) hbem_hmatrix own = {0}, cpu = {0};
    hbem_pair_device all = {.threads = 2}, *p = &all;
    hbem_pair_open(p, device, op, 200, 150);
    hbem_hmatrix_set(&own, op, blocks, 1e-4);
    own.assembly.rows = &p->source;
    hbem_hmatrix_run(&own, p->threads);
    hbem_hmatrix_set(&cpu, op, blocks, 1e-4);
    hbem_hmatrix_run(&cpu, p->threads);
    double other = 0;
    for (int64_t l = 0; l < own.matrix.leaf_count; ++l)
        other += own.matrix.blocks[l].rank != cpu.matrix.blocks[l].rank;
    tell("blocks of other rank", op, other / (double)own.matrix.leaf_count, .01);
    PS_SCOPED_MEMORY double *exact = hbem_dense(op);
    tell("error of the whole", op, hbem_hmatrix_error(&own.matrix, exact), 2e-4);
    tell("no pair on the device", op, hbem_pair_close(p) == 0, 0);
}

/* absorption: the imaginary part of k */
static void check_case(ps_device *device, ps_hbem_space_kind kind, ps_hbem_kernel kernel, double k,
                       double absorption, ps_precision precision)
{
    PS_SCOPED(hbem_case_release) hbem_case body = {0};
    PS_SCOPED(hbem_tree_free) ps_cluster_tree tree = {0};
    PS_SCOPED(hbem_hmatrix_free) hbem_hmatrix leaves = {0};
    hbem_pair_device p = {.threads = 1};
    bool whole = kind == PS_SPACE_P1 && k > 0 && precision == PS_SINGLE;
    hbem_sphere(&body, whole ? 9 : 13, kind, 1e-4);
    hbem_tree_make(&tree, &body.space, whole ? 10 : 16);
    ps_hbem_operator op = hbem_case_operator(&body, kernel, k);
    op.one_rule = true;
    op.absorption = absorption;
    op.far_precision = precision;
    ps_block_tree blocks = {&tree, &tree, 2, false};
    hbem_pair_open(&p, device, &op, 1, 37);
    hbem_hmatrix_set(&leaves, &op, &blocks, 1e-4);
    int checked = 0;
    for (int64_t l = 0; l < leaves.matrix.leaf_count && checked < 3; ++l)
        if (leaves.leaves[l].far && ++checked) check_lines(&p.rows[0], &op, &leaves.leaves[l]);
    if (whole) check_matrix(device, &op, &blocks);
    tell("no pair on the device", &op, hbem_pair_close(&p) == 0, 0);
}

int main(void)
{
    if (!verdict_open(0)) return verdict_end();
    ps_device *device = verdict.device;
    for (int kernel = PS_KERNEL_SLP; kernel < PS_HBEM_KERNELS; ++kernel)
        for (int wave = 0; wave < 3; ++wave)
            for (int precision = PS_SINGLE; precision <= PS_DOUBLE; ++precision)
                check_case(device, PS_SPACE_P1, (ps_hbem_kernel)kernel, wave ? 3 : 0,
                           wave == 2 ? .8 : 0, (ps_precision)precision);
    check_case(device, PS_SPACE_P0, PS_KERNEL_SLP, 0, 0, PS_SINGLE);
    check_case(device, PS_SPACE_DP1, PS_KERNEL_DLP, 2, 0, PS_DOUBLE);
    return verdict_end();
}
