#include "build.h"
#include "kernels/hbem/assembly.h"
#include "kernels/hbem/block_tree.h"
#include "runtime/memory.h"
#include "runtime/report.h"
#include "runtime/scope.h"
#include "stage/hbem_assembly/cluster_making.h"
#include "stage/hbem_assembly/matrix_problem.h"
#include "stage/plan.h"

typedef struct leaf_figures {
    int64_t near, far;
    double near_numbers, numbers[3], half_numbers[3]; /* by tolerance; all of the upper half */
} leaf_figures;

static const double tolerances[3] = {1e-3, 1e-4, 1e-6};

static void count_leaves(const build_job *job, leaf_figures *f)
{
    const ps_clusters *c = &job->clusters;
    for (int64_t l = 0; l < c->leaves.count; ++l) {
        ps_hmatrix_leaf leaf = ps_cluster_leaf_at(&c->leaves, &c->tree[0], &c->tree[1], l);
        leaf.far ? ++f->far : ++f->near;
        if (!leaf.far)
            f->near_numbers +=
                (double)ps_hbem_expected_numbers(&leaf, .1, job->options->wavenumber, 0);
    }
}

/* Of the leaves that penstock-hmatrix-assemble makes by default. */
static ps_status expect(const build_job *job, int e, leaf_figures *f)
{
    const ps_hbem_matrix_options usual = PS_HBEM_MATRIX_DEFAULTS;
    const ps_clusters *c = &job->clusters;
    double k = job->options->wavenumber, tolerance = tolerances[e];
    ps_hbem_leaf_rule rule = {.eta = c->eta};
    if (k > 0) rule.spread = ps_hbem_spread_of_rank(tolerance, k, (double)usual.cut_rank);
    PS_SCOPED(ps_cluster_leaves_release) ps_cluster_leaves leaves = {0};
    PS_TRY(ps_hbem_leaves_by(c, &rule, &leaves));
    for (int64_t l = 0; l < leaves.count; ++l) {
        ps_hmatrix_leaf leaf = ps_cluster_leaf_at(&leaves, &c->tree[0], &c->tree[1], l);
        double spread = ps_cluster_spread(&c->tree[0].nodes[leaves.row[l]],
                                          &c->tree[1].nodes[leaves.column[l]]);
        double numbers = (double)ps_hbem_expected_numbers(&leaf, tolerance, k, spread);
        f->numbers[e] += numbers;
        if (leaf.row_begin <= leaf.column_begin) f->half_numbers[e] += numbers;
    }
    return PS_OK;
}

static int64_t depth_of(const ps_cluster_tree *tree)
{
    int64_t depth = 0, longest = tree->dofs;
    for (; longest > tree->leaf_size; longest = (longest + 1) / 2) ++depth;
    return depth;
}

static void report_side(const build_job *job, int side, ps_report *r)
{
    const ps_cluster_tree *tree = &job->clusters.tree[side];
    ps_report_section(r, job->clusters.same ? "space" : side ? "trial" : "test");
    ps_report_text(r, "functions", ps_hbem_space_name(job->clusters.space[side]));
    ps_report_int(r, "dofs", tree->dofs);
    ps_report_int(r, "clusters", tree->node_count);
    ps_report_int(r, "depth", depth_of(tree));
}

static void report_memory(const build_job *job, const leaf_figures *f, ps_report *r)
{
    double whole[3], half[3];
    for (int e = 0; e < 3; ++e) {
        whole[e] = 8 * f->numbers[e];
        half[e] = 8 * f->half_numbers[e];
    }
    ps_report_section(r, "expected");
    ps_report_reals(r, "tolerance", tolerances, 3);
    ps_report_reals(r, "matrix", whole, 3);
    if (job->clusters.same) ps_report_reals(r, "symmetric_matrix", half, 3);
    ps_report_real(r, "dense_matrix",
                   8 * (double)job->clusters.tree[0].dofs * (double)job->clusters.tree[1].dofs *
                       (job->options->wavenumber != 0 ? 2 : 1));
}

int64_t build_disk(const build_job *job)
{
    return 9 * job->clusters.leaves.count + 36 * job->mesh.triangle_count;
}

ps_status build_plan(const build_job *job, const ps_run *run, ps_report *r)
{
    const ps_need need = {.writer = build_disk(job),
                          .disk = build_disk(job),
                          .seconds = 2e-6 * (double)job->mesh.triangle_count};
    return ps_plan_take(run, &need, r);
}

ps_status build_report(const build_job *job, const ps_run *run)
{
    leaf_figures f = {0};
    count_leaves(job, &f);
    for (int e = 0; e < 3; ++e) PS_TRY(expect(job, e, &f));
    PS_SCOPED(ps_report_print) ps_report *r = ps_report_new(run);
    ps_report_int(r, "vertices", job->mesh.vertex_count);
    ps_report_int(r, "triangles", job->mesh.triangle_count);
    if (job->options->wavenumber != 0)
        ps_report_real(
            r, "elements_per_wavelength",
            ps_hbem_elements_per_wavelength(&job->setup.surface, job->options->wavenumber));
    ps_report_int(r, "near_leaves", f.near);
    ps_report_int(r, "far_leaves", f.far);
    ps_report_real(r, "near_numbers", f.near_numbers);
    ps_report_real(r, "tree_time", job->tree_seconds);
    ps_report_real(r, "leaf_time", job->leaf_seconds);
    if (!run->plan) ps_report_run(r, ps_memory_peak());
    for (int side = 0; side < (job->clusters.same ? 1 : 2); ++side) report_side(job, side, r);
    report_memory(job, &f, r);
    return run->plan ? build_plan(job, run, r) : PS_OK;
}
