/* Cluster trees and H-matrices: leaves by kind, rank and level. The tables alone are read. */
#include <math.h>

#include "formats/hmatrix.h"
#include "kernels/common/reals.h"
#include "postprocess/inspect/inspect.h"
#include "runtime/scope.h"

enum { LEVELS = 48, RANK_BINS = 32 };

typedef struct level_figures {
    int64_t dense[LEVELS], low_rank[LEVELS], levels;
    double bytes[LEVELS], rank[LEVELS];
} level_figures;

/* Halvings from all rows down to the leaf's. */
static int level_of(const ps_hmatrix *m, const ps_hmatrix_leaf *at)
{
    int level = (int)lround(log2((double)m->rows / (double)(at->row_end - at->row_begin)));
    return level < 0 ? 0 : level < LEVELS ? level : LEVELS - 1;
}

static level_figures by_level(const ps_hmatrix *m)
{
    level_figures f = {0};
    for (int64_t l = 0; l < m->leaf_count; ++l) {
        int level = level_of(m, &m->leaves[l]);
        int64_t rank = m->blocks[l].rank;
        if (level >= f.levels) f.levels = level + 1;
        rank == PS_RANK_DENSE ? ++f.dense[level] : ++f.low_rank[level];
        if (rank > 0) f.rank[level] += (double)rank;
        f.bytes[level] += (double)ps_hmatrix_numbers(m, l, rank) * ps_real_bytes(m->precision);
    }
    for (int64_t level = 0; level < f.levels; ++level)
        if (f.low_rank[level]) f.rank[level] /= (double)f.low_rank[level];
    return f;
}

static void report_levels(const ps_hmatrix *m, ps_report *report)
{
    level_figures f = by_level(m);
    ps_report_section(report, "levels");
    ps_report_ints(report, "dense_leaves", f.dense, f.levels);
    ps_report_ints(report, "low_rank_leaves", f.low_rank, f.levels);
    ps_report_reals(report, "mean_rank", f.rank, f.levels);
    ps_report_reals(report, "bytes", f.bytes, f.levels);
}

static void report_ranks(const ps_hmatrix *m, int64_t rank_max, ps_report *report)
{
    int64_t width = rank_max / RANK_BINS + 1, bins = rank_max / width + 1;
    int64_t from[RANK_BINS + 1] = {0}, leaves[RANK_BINS + 1] = {0};
    for (int64_t l = 0; l < m->leaf_count; ++l)
        if (m->blocks[l].rank >= 0) ++leaves[m->blocks[l].rank / width];
    for (int64_t b = 0; b < bins; ++b) from[b] = b * width;
    ps_report_section(report, "ranks");
    ps_report_ints(report, "rank_from", from, bins);
    ps_report_ints(report, "leaves", leaves, bins);
}

static void report_matrix(const ps_hmatrix_file *file, bool histogram, ps_report *report)
{
    const ps_hmatrix_overview *o = ps_hmatrix_file_overview(file);
    const ps_hmatrix *m = &o->shape;
    double bytes = (double)ps_hmatrix_bytes(m), cells = (double)m->rows * (double)m->columns;
    ps_report_section(report, "matrix");
    ps_report_int(report, "rows", m->rows);
    ps_report_int(report, "columns", m->columns);
    ps_hmatrix_report(file, report);
    ps_report_real(report, "compression", cells * m->parts * ps_real_bytes(m->precision) / bytes);
    report_levels(m, report);
    if (histogram) report_ranks(m, ps_hmatrix_summarise(m).rank_max, report);
}

ps_status inspect_report_hmatrix(ps_store *store, bool histogram, ps_report *report)
{
    PS_SCOPED(ps_hmatrix_close) ps_hmatrix_file *file = NULL;
    PS_TRY(ps_hmatrix_open(ps_store_path(store), &file));
    report_matrix(file, histogram, report);
    return PS_OK;
}

ps_status inspect_report_clusters(ps_store *store, ps_report *report)
{
    PS_SCOPED(ps_clusters_release) ps_clusters c = {0};
    int64_t far = 0;
    PS_TRY(ps_clusters_load(ps_store_path(store), &c));
    for (int64_t l = 0; l < c.leaves.count; ++l) far += c.leaves.far[l];
    ps_report_section(report, "block_tree");
    ps_report_int(report, "rows", c.tree[0].dofs);
    ps_report_int(report, "columns", c.tree[1].dofs);
    ps_report_int(report, "row_clusters", c.tree[0].node_count);
    ps_report_int(report, "column_clusters", c.tree[1].node_count);
    ps_report_int(report, "near_leaves", c.leaves.count - far);
    ps_report_int(report, "far_leaves", far);
    return PS_OK;
}
