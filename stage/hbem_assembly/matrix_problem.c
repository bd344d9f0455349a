#include "stage/hbem_assembly/matrix_problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stage/hbem_assembly/cluster_making.h"
#include "stage/hbem_assembly/entry_check.h"
#include "stage/hbem_assembly/standing.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

/* ---- the scene ---- */

/* Surface, spaces and rules of clusters that are there. */
static ps_status fill_scene(ps_hbem_scene *s, const ps_hbem_matrix_options *options)
{
    double start = ps_clock();
    ps_hbem_outline outline = ps_hbem_outline_of(&s->clusters);
    int64_t bytes = ps_hbem_setup_bytes(&outline);
    PS_TRY(ps_alloc_untouched(&s->memory, bytes, "the surface"));
    PS_TRY(ps_hbem_setup_init(&s->setup, &outline, s->memory));
    ps_hbem_setup_order(&s->setup, s->clusters.tree);
    s->rules = options->rules > 0 ? options->rules : options->tolerance;
    PS_TRY(PS_ALLOC(&s->points, ps_hbem_quadrature_points(s->rules), "rules"));
    ps_hbem_quadrature_init(&s->quadrature, s->rules, s->points);
    s->bytes = bytes + 9 * s->clusters.leaves.count + 24 * s->clusters.vertex_count +
               12 * s->clusters.triangle_count;
    ps_debug("surface and spaces of clusters in %.3f s", ps_clock() - start);
    return PS_OK;
}

static ps_status finish_scene(ps_hbem_scene *scene, const ps_hbem_matrix_options *options)
{
    ps_status status = fill_scene(scene, options);
    if (status != PS_OK) ps_hbem_scene_release(scene);
    return status;
}

ps_status ps_hbem_scene_init(ps_hbem_scene *scene, const char *path,
                             const ps_hbem_matrix_options *options)
{
    double start = ps_clock();
    memset(scene, 0, sizeof *scene);
    PS_TRY(ps_clusters_load(path, &scene->clusters));
    ps_debug("clusters read in %.3f s", ps_clock() - start);
    return finish_scene(scene, options);
}

ps_status ps_hbem_scene_derive(ps_hbem_scene *scene, const ps_hbem_scene *base,
                               const ps_hbem_space_kind space[2],
                               const ps_hbem_matrix_options *options)
{
    memset(scene, 0, sizeof *scene);
    PS_TRY(ps_hbem_derive_clusters(&base->clusters, space[0], space[1], &scene->clusters));
    return finish_scene(scene, options);
}

ps_status ps_hbem_scene_mirror(ps_hbem_scene *scene, const ps_hbem_scene *base,
                               const ps_reflectors *mirrors, int copy,
                               const ps_hbem_matrix_options *options)
{
    memset(scene, 0, sizeof *scene);
    scene->mirrors = *mirrors;
    scene->image = copy;
    PS_TRY(ps_hbem_mirror_clusters(&base->clusters, mirrors, copy, &scene->clusters));
    return finish_scene(scene, options);
}

/* Checks how the body stands; what is open and stands is closed with its images. */
static ps_status face_planes(ps_hbem_scene *s, const ps_reflectors *mirrors)
{
    bool touches = false;
    s->mirrors = *mirrors;
    PS_TRY(ps_hbem_standing_check(&s->setup.surface, s->clusters.triangles, &s->mirrors, &touches));
    s->clusters.closed = s->clusters.closed || touches;
    return PS_OK;
}

ps_status ps_hbem_scene_beside(ps_hbem_scene *scene, const char *path, const ps_reflectors *mirrors,
                               int image, const ps_hbem_matrix_options *options)
{
    PS_SCOPED(ps_hbem_scene_release) ps_hbem_scene own = {0};
    if (image == 0) {
        PS_TRY(ps_hbem_scene_init(scene, path, options));
        return mirrors->count > 0 ? face_planes(scene, mirrors) : PS_OK;
    }
    memset(scene, 0, sizeof *scene);
    PS_TRY(ps_hbem_scene_init(&own, path, options));
    PS_TRY(face_planes(&own, mirrors));
    return ps_hbem_scene_mirror(scene, &own, &own.mirrors, image, options);
}

void ps_hbem_scene_release(ps_hbem_scene *s)
{
    ps_clusters_release(&s->clusters);
    free(s->points);
    free(s->memory);
    memset(s, 0, sizeof *s);
}

/* ---- an operator ---- */

ps_status ps_hbem_parse_absorption(const char *text, double *out)
{
    char *unit;
    double value = strtod(text, &unit);
    bool decibels = strcmp(unit, "dB/m") == 0;
    if (unit == text || !(decibels || strcmp(unit, "Np/m") == 0) || !(value >= 0 && value < 1e9))
        return ps_fail(PS_USAGE,
                       "--absorption: \"%s\" is no number with dB/m or Np/m behind it, not "
                       "below 0",
                       text);
    *out = decibels ? value * M_LN10 / 20 : value;
    return PS_OK;
}

static bool is_symmetric(const ps_hbem_problem *p)
{
    return p->scene->clusters.same &&
           (p->op.kernel == PS_KERNEL_SLP || p->op.kernel == PS_KERNEL_HYPS);
}

static ps_status check(const ps_hbem_problem *p, const ps_hbem_matrix_options *options)
{
    /* At 1e-7 a quarter to a half of the blocks of a clean sphere miss twice that. */
    const double single_least = 1e-6;
    PS_TRY(ps_hbem_operator_check(&p->op));
    if (p->op.far_precision == PS_SINGLE && options->tolerance < single_least)
        return ps_fail(PS_USAGE,
                       "--epsilon %g with --precision fp32: single precision keeps %g at best on "
                       "any body: take that, or fp64",
                       options->tolerance, single_least);
    if (p->op.weak_far && p->op.kernel != PS_KERNEL_HYPS)
        return ps_fail(PS_USAGE, "--hyps weak: only --operator hyps has a weak form");
    if (p->op.weak_far && options->skeleton)
        return ps_fail(PS_USAGE, "--hyps weak takes crosses of entries: not with --skeleton");
    if (!p->scene->clusters.closed && p->op.kernel != PS_KERNEL_SLP)
        return ps_fail(PS_INVALID,
                       "the surface is open: the operator %s needs a closed one (on a screen, "
                       "slp alone)",
                       ps_hbem_kernel_name(p->op.kernel));
    if (p->op.wavenumber == 0 || options->force_coarse) return PS_OK;
    return ps_hbem_check_wavelength(&p->scene->setup.surface, p->op.wavenumber);
}

static void set_header(ps_hbem_problem *p, const ps_hbem_operator_choice *choice,
                       const ps_hbem_matrix_options *options)
{
    ps_hmatrix_header *h = &p->tables.header;
    const ps_clusters *c = &p->scene->clusters;
    *h = (ps_hmatrix_header){.kernel = p->op.kernel,
                             .wavenumber = p->op.wavenumber,
                             .absorption = p->op.absorption,
                             .mirrors = p->scene->mirrors,
                             .image = p->scene->image,
                             .space = {c->space[0], c->space[1]},
                             .same = c->same,
                             .symmetric = is_symmetric(p),
                             .precision = p->op.far_precision,
                             .tolerance = options->tolerance,
                             .eta = c->eta,
                             .rules = p->scene->rules,
                             .row_sum_error = NAN,
                             .entry_error = NAN,
                             .check_rows = options->check_rows};
    strcpy(h->mode, choice->dense ? "dense" : "hmatrix");
    bool weak = choice->dense || choice->weak;
    strcpy(h->form, p->op.kernel == PS_KERNEL_HYPS ? weak ? "weak" : "direct" : "kernel");
    memcpy(h->cluster_hash, c->content_hash, sizeof h->cluster_hash);
    memcpy(h->mesh_hash, c->mesh_hash, sizeof h->mesh_hash);
    memcpy(p->tables.tree, c->tree, sizeof c->tree);
}

ps_status ps_hbem_problem_init(ps_hbem_problem *p, const ps_hbem_scene *scene,
                               const ps_hbem_operator_choice *choice,
                               const ps_hbem_matrix_options *options)
{
    *p = (ps_hbem_problem){.scene = scene,
                           .op = {.kernel = choice->kernel,
                                  .wavenumber = choice->wavenumber,
                                  .absorption = choice->absorption,
                                  .test = &scene->setup.space[0],
                                  .trial = &scene->setup.space[1],
                                  .quadrature = &scene->quadrature,
                                  .far_precision = options->precision ? PS_SINGLE : PS_DOUBLE,
                                  .weak_far = choice->weak}};
    PS_TRY(check(p, options));
    set_header(p, choice, options);
    return PS_OK;
}

/* Of a dense matrix nothing is far, and its blocks are cut as far as clusters are, since devices
 * take no larger ones; of waves blocks of high ranks are cut. */
static ps_status make_leaves(ps_hbem_problem *p, const ps_hbem_matrix_options *options)
{
    const ps_clusters *c = &p->scene->clusters;
    double k = p->op.wavenumber;
    bool dense = strcmp(p->tables.header.mode, "dense") == 0, cut = k > 0 && options->cut_rank > 0;
    ps_hbem_leaf_rule rule = {.symmetric = p->tables.header.symmetric, .eta = c->eta};
    if (!dense && !cut) return ps_clusters_leaves(c, is_symmetric(p), &p->leaves, &p->tables.nodes);
    if (dense)
        rule.eta = -1;
    else
        rule.spread = ps_hbem_spread_of_rank(options->tolerance, k, (double)options->cut_rank);
    ps_cluster_leaves *nodes = &p->tables.nodes;
    PS_TRY(ps_hbem_leaves_by(c, &rule, nodes));
    PS_TRY(PS_ALLOC(&p->leaves, nodes->count, "leaves of a matrix"));
    for (int64_t l = 0; l < nodes->count; ++l)
        p->leaves[l] = ps_cluster_leaf_at(nodes, &c->tree[0], &c->tree[c->same ? 0 : 1], l);
    return PS_OK;
}

ps_status ps_hbem_problem_leaves(ps_hbem_problem *p, const ps_hbem_matrix_options *options)
{
    double start = ps_clock();
    PS_TRY(make_leaves(p, options));
    p->bytes = p->tables.nodes.count * (9 + (int64_t)sizeof *p->leaves);
    /* Crosses through points go to a share of eps of their own, and gained nothing from less. */
    double crosses = options->skeleton ? options->tolerance
                                       : ps_hbem_cross_tolerance(&p->op, options->tolerance);
    p->assembly = (ps_hbem_assembly){.op = &p->op,
                                     .leaves = p->leaves,
                                     .leaf_count = p->tables.nodes.count,
                                     .tolerance = options->tolerance,
                                     .crosses = crosses,
                                     .check_rows = (int)options->check_rows,
                                     .max_rank = options->max_rank,
                                     .recompress = options->recompress,
                                     .skeleton = options->skeleton,
                                     .plane = p->scene->setup.plane,
                                     .stratum = p->scene->setup.stratum};
    p->shape = (ps_hmatrix){.rows = p->op.test->dofs,
                            .columns = p->op.trial->dofs,
                            .leaf_count = p->assembly.leaf_count,
                            .parts = ps_hbem_parts(&p->op),
                            .symmetric = p->tables.header.symmetric,
                            .precision = p->tables.header.precision,
                            .leaves = p->leaves};
    ps_debug("leaves of %s in %.3f s", ps_hbem_kernel_name(p->op.kernel), ps_clock() - start);
    return PS_OK;
}

ps_status ps_hbem_problem_check_entries(ps_hbem_problem *p, const ps_run *run)
{
    double start = ps_clock();
    ps_hmatrix_header *h = &p->tables.header;
    double limit = ps_hbem_entry_check_limit(h->tolerance, h->rules);
    ps_hbem_entry_check check;
    PS_TRY(ps_hbem_entry_check_run(&p->op, limit, &check));
    h->entry_error = check.error;
    ps_debug("entries of %lld pairs compared in %.3f s, error %.2g", (long long)check.pairs,
             ps_clock() - start, check.error);
    if (check.error <= limit) return PS_OK;
    return ps_refuse(run, "entries", PS_HBEM_ENTRY_CHECK_REFUSED,
                     PS_HBEM_ENTRY_CHECK_FIGURES(check, limit));
}

void ps_hbem_problem_release(ps_hbem_problem *p)
{
    ps_cluster_leaves_release(&p->tables.nodes);
    free(p->leaves);
    memset(p, 0, sizeof *p);
}
