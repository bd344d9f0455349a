/* report: what Table 4 of RR-8513 says of a tree, and the forecast. */
#include <math.h>

#include "build.h"
#include "runtime/memory.h"
#include "runtime/report.h"

static double ratio(double a, double b) { return b > 0 ? a / b : 0; }

static void report_particles(ps_report *r, const ps_octree *tree)
{
    int64_t leaves = ps_octree_leaves(tree), least = tree->particles, most = 0;
    double mean = ratio((double)tree->particles, (double)leaves), apart = 0;
    for (int64_t l = 0; l < leaves; ++l) {
        int64_t size = tree->particle_start[l + 1] - tree->particle_start[l];
        least = size < least ? size : least;
        most = size > most ? size : most;
        apart += fabs((double)size - mean);
    }
    ps_report_int(r, "particles", tree->particles);
    ps_report_int(r, "leaves", leaves);
    ps_report_real(r, "particles_per_leaf", mean);
    ps_report_int(r, "particles_per_leaf_min", least);
    ps_report_int(r, "particles_per_leaf_max", most);
    ps_report_real(r, "particles_per_leaf_difference", ratio(apart, (double)leaves));
}

/* sub-cells: of the cells above the leaves, as in Table 4. */
static void report_cells(ps_report *r, const ps_octree *tree)
{
    int leaf = tree->height - 1;
    double above = leaf > 0 ? (double)tree->cells[leaf - 1] : 0;
    ps_report_ints(r, "cells", tree->cells, tree->height);
    ps_report_real(r, "subcells_per_cell", ratio((double)tree->cells[leaf], above));
}

static void report_far(ps_report *r, const tree_lists *lists)
{
    double count = 0, sum = 0, apart = 0;
    for (int n = 0; n < 190; ++n) {
        count += (double)lists->far_histogram[n];
        sum += n * (double)lists->far_histogram[n];
    }
    double mean = ratio(sum, count);
    for (int n = 0; n < 190; ++n) apart += fabs(n - mean) * (double)lists->far_histogram[n];
    ps_report_real(r, "m2l_per_leaf", mean);
    ps_report_real(r, "m2l_per_leaf_difference", ratio(apart, count));
}

static int64_t total(const int64_t *values, int64_t count)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += values[i];
    return sum;
}

/* The formulas are those of specs/octree.md. */
static void report_forecast(ps_report *r, const ps_octree *targets, bool same,
                            const tree_lists *lists, int order)
{
    int leaf = targets->height - 1;
    int64_t groups = ps_octree_groups(targets, leaf), far = 0, cells = 0;
    int64_t inside = total(lists->near_pairs, groups);
    int64_t across = total(lists->augmented_pairs, groups);
    double l3 = (double)order * order * order, rank = order * order / 2.0;
    for (int l = 2; l < targets->height; ++l) {
        far += total(lists->far_pairs[l], ps_octree_groups(targets, l));
        cells += targets->cells[l];
    }
    ps_report_section(r, "forecast");
    ps_report_int(r, "groups", groups);
    ps_report_int(r, "order", order);
    ps_report_int(r, same ? "mutual_pairs" : "ordered_pairs", inside + across);
    ps_report_int(r, "augmented_pairs", across);
    ps_report_int(r, "m2l_pairs", far);
    ps_report_real(r, "p2p_flop", (same ? 46.0 : 34.0) * (double)(inside + across));
    ps_report_real(r, "m2l_flop", 4 * l3 * rank * (double)far);
    ps_report_real(r, "multipoles_and_locals", 16 * l3 * (double)cells);
    ps_report_int(r, "near_leaves", lists->near_leaves);
    ps_report_int(r, "augmented_leaves", same ? lists->augmented.start[groups] : 0);
}

void report_tree(const ps_run *run, const ps_octree *targets, const ps_octree *sources,
                 const tree_lists *lists, int order)
{
    ps_report *r = ps_report_new(run);
    ps_report_int(r, "height", sources->height);
    ps_report_int(r, "group_size", sources->group_size);
    ps_report_reals(r, "corner", sources->box.corner, 3);
    ps_report_real(r, "width", sources->box.width);
    report_particles(r, sources);
    report_cells(r, sources);
    report_far(r, lists);
    if (targets != sources) {
        ps_report_section(r, "targets");
        report_particles(r, targets);
        report_cells(r, targets);
    }
    report_forecast(r, targets, targets == sources, lists, order);
    ps_report_run(r, ps_memory_peak());
    ps_report_print(&r);
}
