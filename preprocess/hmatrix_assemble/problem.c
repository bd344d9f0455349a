#include <stdlib.h>
#include <string.h>

#include "assemble.h"
#include "runtime/log.h"
#include "runtime/memory.h"

/* Clusters that blocks of a dense matrix are not cut below. */
enum { DENSE_BLOCK = 512 };

static bool is_symmetric(const assemble_problem *p)
{
    return p->clusters.same && (p->op.kernel == PS_KERNEL_SLP || p->op.kernel == PS_KERNEL_HYPS);
}

static ps_status check(const assemble_problem *p, const assemble_options *options)
{
    PS_TRY(ps_hbem_operator_check(&p->op));
    if (p->op.weak_far && p->op.kernel != PS_KERNEL_HYPS)
        return ps_fail(PS_USAGE, "--hyps weak: only --operator hyps has a weak form");
    if (p->op.weak_far && options->skeleton)
        return ps_fail(PS_USAGE, "--hyps weak takes crosses of entries: not with --skeleton");
    if (!p->clusters.closed && p->op.kernel != PS_KERNEL_SLP)
        return ps_fail(PS_INVALID,
                       "the surface is open: --operator %s needs a closed one (on a screen, "
                       "slp alone)",
                       ps_hbem_kernel_name(p->op.kernel));
    if (options->wavenumber == 0 || options->force_coarse) return PS_OK;
    return ps_hbem_check_wavelength(&p->setup.surface, options->wavenumber);
}

static ps_status set_operator(assemble_problem *p, const assemble_options *options)
{
    double rules = options->rules > 0 ? options->rules : options->tolerance;
    ps_hbem_outline outline = ps_hbem_outline_of(&p->clusters);
    int64_t bytes = ps_hbem_setup_bytes(&outline);
    PS_TRY(ps_alloc_untouched(&p->memory, bytes, "the surface"));
    p->bytes += bytes;
    PS_TRY(ps_hbem_setup_init(&p->setup, &outline, p->memory));
    ps_hbem_setup_order(&p->setup, p->clusters.tree);
    PS_TRY(PS_ALLOC(&p->points, ps_hbem_quadrature_points(rules), "rules"));
    ps_hbem_quadrature_init(&p->quadrature, rules, p->points);
    p->op = (ps_hbem_operator){.kernel = (ps_hbem_kernel)options->kernel,
                               .wavenumber = options->wavenumber,
                               .test = &p->setup.space[0],
                               .trial = &p->setup.space[1],
                               .quadrature = &p->quadrature,
                               .far_precision = options->precision ? PS_SINGLE : PS_DOUBLE,
                               .weak_far = options->hyps == 1};
    return check(p, options);
}

static void set_header(assemble_problem *p, const assemble_options *options)
{
    ps_hmatrix_header *h = &p->tables.header;
    const ps_clusters *c = &p->clusters;
    *h = (ps_hmatrix_header){.kernel = p->op.kernel,
                             .wavenumber = p->op.wavenumber,
                             .space = {c->space[0], c->space[1]},
                             .same = c->same,
                             .symmetric = is_symmetric(p),
                             .precision = p->op.far_precision,
                             .tolerance = options->tolerance,
                             .eta = c->eta,
                             .rules = options->rules > 0 ? options->rules : options->tolerance,
                             .check_rows = options->check_rows};
    strcpy(h->mode, options->mode ? "dense" : "hmatrix");
    bool weak = options->mode || p->op.weak_far;
    strcpy(h->form, p->op.kernel == PS_KERNEL_HYPS ? weak ? "weak" : "direct" : "kernel");
    memcpy(h->cluster_hash, c->content_hash, sizeof h->cluster_hash);
    memcpy(h->mesh_hash, c->mesh_hash, sizeof h->mesh_hash);
    memcpy(p->tables.tree, c->tree, sizeof c->tree);
}

/* Blocks of a dense matrix: nothing is far. */
static ps_status dense_leaves(assemble_problem *p)
{
    const ps_cluster_tree *tree = p->clusters.tree;
    ps_cluster_leaves *nodes = &p->tables.nodes;
    ps_block_tree blocks = {&tree[0], &tree[1], -1, p->tables.header.symmetric};
    if (p->clusters.same) blocks.columns = &tree[0];
    PS_TRY(ps_cluster_leaves_init(nodes, ps_block_tree_nodes(&blocks, DENSE_BLOCK, NULL)));
    ps_block_tree_nodes(&blocks, DENSE_BLOCK, nodes);
    PS_TRY(PS_ALLOC(&p->leaves, nodes->count, "leaves of a matrix"));
    for (int64_t l = 0; l < nodes->count; ++l)
        p->leaves[l] = ps_cluster_leaf_at(nodes, &tree[0], &tree[1], l);
    return PS_OK;
}

static ps_status init(assemble_problem *p, const char *path, const assemble_options *options)
{
    double start = ps_clock();
    PS_TRY(ps_clusters_load(path, &p->clusters));
    double loaded = ps_clock();
    PS_TRY(set_operator(p, options));
    set_header(p, options);
    double made = ps_clock();
    if (options->mode)
        PS_TRY(dense_leaves(p));
    else
        PS_TRY(ps_clusters_leaves(&p->clusters, is_symmetric(p), &p->leaves, &p->tables.nodes));
    ps_debug("clusters read in %.3f s, surface and spaces %.3f s, leaves %.3f s", loaded - start,
             made - loaded, ps_clock() - made);
    p->bytes += p->clusters.leaves.count * 9 +
                p->tables.nodes.count * (9 + (int64_t)sizeof *p->leaves) +
                24 * p->clusters.vertex_count + 12 * p->clusters.triangle_count;
    p->assembly = (ps_hbem_assembly){.op = &p->op,
                                     .leaves = p->leaves,
                                     .leaf_count = p->tables.nodes.count,
                                     .tolerance = options->tolerance,
                                     .check_rows = (int)options->check_rows,
                                     .max_rank = options->max_rank,
                                     .recompress = options->recompress,
                                     .skeleton = options->skeleton};
    p->shape = (ps_hmatrix){.rows = p->op.test->dofs,
                            .columns = p->op.trial->dofs,
                            .leaf_count = p->assembly.leaf_count,
                            .parts = ps_hbem_parts(&p->op),
                            .symmetric = p->tables.header.symmetric,
                            .precision = p->tables.header.precision,
                            .leaves = p->leaves};
    return PS_OK;
}

ps_status assemble_problem_init(assemble_problem *problem, const char *path,
                                const assemble_options *options)
{
    memset(problem, 0, sizeof *problem);
    ps_status status = init(problem, path, options);
    if (status != PS_OK) assemble_problem_release(problem);
    return status;
}

void assemble_problem_release(assemble_problem *p)
{
    ps_cluster_leaves_release(&p->tables.nodes);
    ps_clusters_release(&p->clusters);
    free(p->leaves);
    free(p->points);
    free(p->memory);
    memset(p, 0, sizeof *p);
}
