/* penstock-octree-build: particles become an octree with groups and lists. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "build.h"
#include "kernels/fmm/chebyshev.h"
#include "kernels/fmm/order_choice.h"
#include "kernels/fmm/tree.h"
#include "preprocess/octree_build/figure_table.h"
#include "runtime/log.h"
#include "runtime/report.h"
#include "runtime/scope.h"
#include "stage/product.h"

static struct {
    int64_t order, group;
    double accuracy, leaf_size, parameter;
    const char *box, *targets, *height_text, *kernel;
    bool clamp;
    int height; /* 0: to be chosen */
    ps_interval checkpoint_every;
} chosen = {.order = 5,
            .height_text = "auto",
            .kernel = "inverse",
            .parameter = 1,
            .checkpoint_every = {.seconds = 60}};

static const ps_option options[] = {
    PS_TEXT("height", &chosen.height_text, "H", PS_IDENTITY,
            "levels of the tree, 1 to 21; auto: from --leaf-size, that of the least time for "
            "--accuracy, or of the least work for --order"),
    PS_REAL("accuracy", &chosen.accuracy, "ACC", 0, PS_FMM_ORDER_MAX, PS_IDENTITY,
            "digits that penstock-fmm is to reach, or a relative error (5, 1e-5): height and "
            "groups are chosen by what its parts cost on a core of this machine, measured now"),
    PS_TEXT("kernel", &chosen.kernel, "NAME", PS_IDENTITY, "with --accuracy: as of penstock-fmm"),
    PS_REAL("parameter", &chosen.parameter, "B", -1e300, 1e300, PS_IDENTITY,
            "with --accuracy: of the kernel"),
    PS_REAL("leaf-size", &chosen.leaf_size, "N", 0, 1e18, PS_IDENTITY,
            "the least height at which leaves hold N particles or fewer on average"),
    PS_INT("order", &chosen.order, "L", 2, 20, PS_IDENTITY,
           "interpolation points an axis, for the choice of the height and the forecast"),
    PS_INT("group", &chosen.group, "N", 0, 65536, PS_IDENTITY,
           "cells of a group; 0: with --accuracy chosen for the threads, otherwise 2000"),
    PS_TEXT("box", &chosen.box, "X,Y,Z,W", PS_IDENTITY,
            "corner and width of the root; default: the least cube around all particles"),
    PS_FLAG("clamp", &chosen.clamp, PS_IDENTITY,
            "particles outside --box go into its outermost cells instead of being refused; "
            "penstock-fmm takes them only where there is no far field, height 1 or 2"),
    PS_TEXT("targets", &chosen.targets, "FILE", PS_IDENTITY,
            "particles at which results are wanted, if they are not the sources"),
    PS_INTERVAL("checkpoint-every", &chosen.checkpoint_every, PS_EVERY, 0,
                "keep what was chosen and finished tiles (uncompressed) in OUTPUT.items until "
                "OUTPUT is there: from then on, as far as time and disk allow; 1step: all of them; "
                "0: none"),
    PS_OPTION_END};

static ps_status parse_height(void)
{
    int64_t height = 0;
    bool automatic = strcmp(chosen.height_text, "auto") == 0;
    if (!automatic && ps_parse_int(chosen.height_text, &height) != PS_OK) height = -1;
    if (height < 0 || height > PS_OCTREE_LEVELS_MAX)
        return ps_fail(PS_USAGE, "--height %s: levels are 1 to %d, or auto", chosen.height_text,
                       PS_OCTREE_LEVELS_MAX);
    chosen.height = (int)height;
    return PS_OK;
}

/* ---- the box ---- */

static ps_status parse_box(const char *text, ps_octree_box *box)
{
    double v[4];
    int count;
    if (ps_parse_reals(text, ',', v, 4, &count) != PS_OK || count != 4 || !(v[3] > 0) ||
        !isfinite(v[0] + v[1] + v[2] + v[3]))
        return ps_fail(PS_USAGE, "--box %s: corner and width are expected as x,y,z,w", text);
    memcpy(box->corner, v, sizeof box->corner);
    box->width = v[3];
    return PS_OK;
}

static ps_status check_inside(const build *b, const ps_particle_header *h, const char *path)
{
    static const char axes[] = "xyz";
    for (int d = 0; d < 3; ++d) {
        double end = b->box.corner[d] + b->box.width;
        if (chosen.clamp || (h->lower[d] >= b->box.corner[d] && h->upper[d] <= end)) continue;
        return ps_fail(PS_INVALID,
                       "%s: %c goes from %.17g to %.17g, out of the box, which goes "
                       "from %.17g to %.17g; --clamp takes such particles",
                       path, axes[d], h->lower[d], h->upper[d], b->box.corner[d], end);
    }
    return PS_OK;
}

static ps_status find_box(build *b)
{
    double lower[3], upper[3];
    const ps_particle_header *s = ps_particles_header(b->files[0]);
    const ps_particle_header *t = b->files[1] ? ps_particles_header(b->files[1]) : s;
    for (int d = 0; d < 3; ++d) {
        lower[d] = fmin(s->lower[d], t->lower[d]);
        upper[d] = fmax(s->upper[d], t->upper[d]);
    }
    b->box = ps_octree_bounding_box(lower, upper);
    PS_TRY_IN(ps_tree_check_span(lower, upper), "%s", b->run->operands[0]);
    if (!chosen.box) return PS_OK;
    PS_TRY(parse_box(chosen.box, &b->box));
    PS_TRY(check_inside(b, s, b->run->operands[0]));
    return b->files[1] ? check_inside(b, t, chosen.targets) : PS_OK;
}

/* Times of all heights in their order of worth, for people who want to know. */
static void tell_choice(const build *b, const tree_counts *counts, const work_rates *rates)
{
    int64_t particles = ps_particles_header(b->files[0])->count;
    ps_info("per core: %.3g s a million ordered pairs, %.3g s a million M2L, %.3g s a million "
            "particles",
            1e6 * rates->pair, 1e6 * rates->m2l, 1e6 * rates->particle);
    for (int h = b->height > 2 ? b->height - 1 : 1; h <= b->height + 1 && h <= PS_OCTREE_LEVELS_MAX;
         ++h)
        ps_info("height %d%s: forecast %.3g s of a core", h, h == b->height ? " (chosen)" : "",
                work_of_height(particles, counts, rates, h));
}

static ps_status find_height(build *b)
{
    const tree_counts *counts = &b->counts[0];
    double epsilon = 0;
    work_rates rates = flop_rates((int)chosen.order);
    ps_fmm_function function = {.parameter = chosen.parameter};
    const ps_particle_header *h = ps_particles_header(b->files[0]);
    if (b->height == 0) b->height = chosen.height;
    if (b->height > 0) return PS_OK;
    PS_TRY(count_cells(b->files[0], &b->box, PS_OCTREE_LEVELS_MAX, &b->counts[0]));
    if (chosen.leaf_size > 0) {
        b->height = height_for_leaf_size(h->count, counts, chosen.leaf_size);
        return PS_OK;
    }
    PS_TRY(ps_fmm_kernel_parse(chosen.kernel, &function.kernel));
    if (chosen.accuracy > 0) {
        int order;
        ps_fmm_order_for(function.kernel, ps_fmm_tolerance(chosen.accuracy), true, &order,
                         &epsilon);
        chosen.order = order;
    }
    if (chosen.accuracy > 0)
        PS_TRY(measure_rates(&function, (int)chosen.order, epsilon, h->right_hand_sides, &rates));
    b->height = height_of_least_work(h->count, counts, &rates);
    if (chosen.accuracy > 0) tell_choice(b, counts, &rates);
    return PS_OK;
}

/* ---- the journal ---- */

/* What was chosen is part of what the journal is of: measured again it might be something else. */
static ps_status open_journal(build *b, const ps_product *product)
{
    char more[128];
    PS_SCOPED_MEMORY char *identity = NULL;
    snprintf(more, sizeof more, "used_height=%d\nused_order=%lld\nused_group=%lld\n", b->height,
             (long long)chosen.order, (long long)b->group);
    PS_TRY(ps_product_identity(product, more, &identity));
    return ps_journal_open(b->run, b->items, 0, identity, chosen.checkpoint_every, &b->journal);
}

static int64_t kept_choice(const build *b, const char *name, int64_t most)
{
    char text[64];
    int64_t value = 0;
    if (!ps_journal_value(b->items, name, text) || ps_parse_int(text, &value) != PS_OK) return 0;
    return value <= most ? value : 0;
}

/* A run that is continued has the tree that it had come to. */
static ps_status continue_run(build *b, const ps_product *product)
{
    if (b->run->fresh || b->run->plan) return PS_OK; /* with nothing to go on from */
    int64_t height = kept_choice(b, "used_height", PS_OCTREE_LEVELS_MAX);
    int64_t order = kept_choice(b, "used_order", PS_FMM_ORDER_MAX);
    int64_t group = kept_choice(b, "used_group", INT32_MAX);
    if (height < 1 || order < 1 || group < 1) return PS_OK;
    b->height = (int)height;
    chosen.order = order;
    b->group = group;
    return open_journal(b, product);
}

/* ---- the trees ---- */

/* The leaves that made the tree are in it, and go. */
static ps_status make_tree(build *b, int side)
{
    const leaf_list *leaves = &b->runs[side].leaves;
    int64_t cells[PS_OCTREE_LEVELS_MAX];
    ps_octree *tree = &b->trees[side];
    ps_tree_count(leaves->keys, leaves->count, b->height - 1, cells);
    b->group = group_for(b, leaves->count);
    PS_TRY(ps_octree_init(tree, b->height, &b->box, cells, b->group));
    tree->particles = b->runs[side].particles;
    memcpy(tree->keys[b->height - 1], leaves->keys, 8 * (size_t)leaves->count);
    tree->particle_start[0] = 0;
    for (int64_t l = 0; l < leaves->count; ++l)
        tree->particle_start[l + 1] = tree->particle_start[l] + leaves->sizes[l];
    ps_tree_fill_above(tree);
    leaf_list_release(&b->runs[side].leaves);
    return PS_OK;
}

static ps_status sort_side(build *b, int side)
{
    runs_plan(b, side, b->capacity, &b->runs[side]);
    PS_TRY(runs_make(b->files[side], &b->box, b->output, &b->runs[side]));
    if (b->runs[side].runs > 1)
        ps_info("%lld particles in %lld runs", (long long)b->runs[side].particles,
                (long long)b->runs[side].runs);
    return make_tree(b, side);
}

/* ---- the file ---- */

static void set_header(const build *b, ps_octree_header *h)
{
    const ps_particle_header *s = ps_particles_header(b->files[0]);
    *h = (ps_octree_header){.height = b->height,
                            .right_hand_sides = s->right_hand_sides,
                            .moments = s->moments,
                            .group_size = b->group,
                            .box = b->box,
                            .same = !b->files[1]};
    h->count[0] = s->count;
    h->count[1] = h->same ? s->count : ps_particles_header(b->files[1])->count;
    memcpy(h->length_units, s->length_units, sizeof h->length_units);
    memcpy(h->charge_units, s->charge_units, sizeof h->charge_units);
}

static ps_status fill_file(build *b, const ps_product *product, ps_octree_file *file,
                           int64_t *coincident)
{
    int sides = b->files[1] ? 2 : 1;
    PS_TRY(ps_product_record(product, ps_octree_file_store(file)));
    for (int s = 0; s < sides; ++s)
        PS_TRY(ps_octree_put_tree(file, (ps_octree_side)s, &b->trees[s]));
    PS_TRY(lists_write(&b->lists, &b->trees[sides - 1], sides == 1, file));
    for (int s = 0; s < sides; ++s)
        PS_TRY(write_tiles(&b->runs[s], &b->trees[s], b->journal, file, (ps_octree_side)s,
                           coincident));
    return PS_OK;
}

static ps_status write_file(build *b, const ps_product *product)
{
    ps_octree_header header;
    ps_octree_file *file = NULL;
    ps_store_identity own = product->identity;
    int64_t coincident = 0, clamped = b->runs[0].outside + b->runs[1].outside;
    set_header(b, &header);
    own.disk_estimate =
        8 * (b->runs[0].columns + 1) * header.count[0] + (header.same ? 0 : 32 * header.count[1]);
    PS_TRY(ps_octree_create(b->output, &own, &header, &file));
    ps_status status = fill_file(b, product, file, &coincident);
    if (status != PS_OK) {
        ps_octree_close(&file);
        return status;
    }
    /* The bounding cube may miss its own particles by a rounding; those are not outside. */
    if (!chosen.box) clamped = 0;
    if (coincident > 0)
        ps_warning("%lld particles are at the place of another one", (long long)coincident);
    if (clamped > 0) ps_warning("%lld particles are outside the box", (long long)clamped);
    return ps_octree_commit(&file, coincident, clamped);
}

/* ---- the run ---- */

static ps_status open_particles(build *b, ps_product *product)
{
    PS_TRY(parse_height());
    if (chosen.height > 0 && chosen.leaf_size > 0)
        return ps_fail(PS_USAGE, "--height and --leaf-size exclude one another");
    PS_TRY(ps_particles_open(b->run->operands[0], &b->files[0]));
    PS_TRY(ps_product_input(product, "sources", ps_particles_store(b->files[0])));
    product->identity.format_version =
        ps_moments_version(ps_particles_header(b->files[0])->moments);
    if (!chosen.targets) return PS_OK;
    PS_TRY(ps_particles_open(chosen.targets, &b->files[1]));
    return ps_product_input(product, "targets", ps_particles_store(b->files[1]));
}

static void release(build *b)
{
    for (int s = 0; s < 2; ++s) {
        runs_release(&b->runs[s]);
        ps_octree_release(&b->trees[s]);
        ps_particles_close(&b->files[s]);
    }
    lists_release(&b->lists);
    ps_journal_close(&b->journal, false);
}

static ps_status run_build(ps_run *run)
{
    PS_SCOPED(release)
    build b = {.run = run, .output = run->output, .runs = {{.file = -1}, {.file = -1}}};
    ps_product product;
    ps_product_init(run, PS_OCTREE_FORMAT, PS_OCTREE_VERSION, &product);
    PS_TRY(open_particles(&b, &product));
    if (!run->plan) snprintf(b.items, sizeof b.items, "%.4180s.items", run->output);
    if (ps_product_is_up_to_date(&product)) return ps_journal_tidy(b.items, &product);
    PS_TRY(continue_run(&b, &product));
    int sides = b.files[1] ? 2 : 1;
    if (b.group == 0) b.group = chosen.group || chosen.accuracy > 0 ? chosen.group : GROUP;
    PS_TRY(find_box(&b));
    PS_TRY(find_height(&b));
    PS_TRY(find_room(&b));
    if (run->plan) return PS_OK;
    for (int s = 0; s < sides; ++s) PS_TRY(sort_side(&b, s));
    if (!b.journal) PS_TRY(open_journal(&b, &product));
    PS_TRY(lists_make(&b.trees[sides - 1], &b.trees[0], &b.lists));
    PS_TRY(write_file(&b, &product));
    ps_journal_close(&b.journal, true);
    report_tree(run, &b.trees[sides - 1], &b.trees[0], &b.lists, (int)chosen.order);
    return PS_OK;
}

const ps_program ps_this_program = {
    .name = "octree-build",
    .synopsis = "PARTICLES OUTPUT",
    .description = "Sorts the particles of PARTICLES into an octree of uniform depth and writes "
                   "it: the non-empty cells of every level, sorted particles in chunks of groups "
                   "of leaves, where each was in PARTICLES, and for every group of cells which "
                   "groups it needs and what it will cost (specs/octree.md). Particles need not "
                   "fit memory; the cells have to. Without --height and --leaf-size the height is "
                   "that of the least time for --accuracy, or of the least work for --order. A "
                   "run that was ended goes on from what it chose and from finished tiles.",
    .examples = "  penstock-octree-build galaxy.h5 tree.h5\n"
                "  penstock-octree-build galaxy.h5 tree.h5 --accuracy 5\n"
                "  penstock-octree-build cube.h5 tree.h5 --height 7 --box 0,0,0,1\n"
                "  penstock-octree-build sources.h5 tree.h5 --targets probes.h5 --leaf-size 60",
    .options = options,
    .figures = figure_table,
    .run = run_build};
