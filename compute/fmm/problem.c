/* The problem: an octree with its lists, a kernel, an accuracy. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compute/fmm/run.h"
#include "kernels/fmm/order_choice.h"
#include "kernels/fmm/tree.h"
#include "kernels/fmm/tree_lists.h"
#include "runtime/comm.h"
#include "runtime/compare.h"
#include "runtime/first_failure.h"
#include "runtime/memory.h"

static ps_status load_trees(fmm_problem *p)
{
    PS_TRY(ps_octree_load_tree(p->file, PS_OCTREE_SOURCES, &p->trees[0]));
    if (!p->same) PS_TRY(ps_octree_load_tree(p->file, PS_OCTREE_TARGETS, &p->trees[1]));
    p->fmm.sources = &p->trees[0];
    p->fmm.targets = p->same ? &p->trees[0] : &p->trees[1];
    return PS_OK;
}

/* ---- lists ---- */

static ps_status get_forecast(const fmm_problem *p, ps_octree_forecast which, int level,
                              int64_t **out)
{
    int64_t groups;
    PS_TRY(ps_octree_get_forecast(p->file, which, level, out, &groups));
    if (groups == ps_octree_groups(p->fmm.targets, level)) return PS_OK;
    return ps_fail(PS_INVALID, "%s: forecasts of another number of groups than the tree has",
                   ps_store_path(ps_octree_file_store(p->file)));
}

static ps_status get_list(const fmm_problem *p, ps_octree_list which, int level, int64_t limit,
                          ps_group_list *out)
{
    PS_TRY(ps_octree_get_list(p->file, which, level, out));
    bool good = out->groups == ps_octree_groups(p->fmm.targets, level);
    for (int64_t i = 0; good && i < out->start[out->groups]; ++i)
        good = out->items[i] >= 0 && out->items[i] < limit;
    if (good) return PS_OK;
    return ps_fail(PS_INVALID, "%s: a list of groups does not fit the tree",
                   ps_store_path(ps_octree_file_store(p->file)));
}

/* Groups of the augmented leaves of each group, without repetition; leaves ascend. */
static ps_status make_owners(fmm_problem *p)
{
    const ps_group_list *leaves = &p->lists.augmented;
    ps_group_list *out = &p->lists.owners;
    int64_t found = 0, size = p->header->group_size;
    out->groups = leaves->groups;
    PS_TRY(PS_ALLOC(&out->start, leaves->groups + 1, "lists of groups"));
    PS_TRY(PS_ALLOC(&out->items, leaves->start[leaves->groups], "lists of groups"));
    for (int64_t g = 0; g < leaves->groups; ++g) {
        int64_t last = -1;
        for (int64_t i = leaves->start[g]; i < leaves->start[g + 1]; ++i) {
            if (leaves->items[i] / size == last) continue;
            last = leaves->items[i] / size;
            out->items[found++] = last;
        }
        out->start[g + 1] = found;
    }
    return PS_OK;
}

/* The other way round: for each group those that have leaves of it, ascending. */
static ps_status make_copied(fmm_problem *p)
{
    const ps_group_list *owners = &p->lists.owners;
    ps_group_list *out = &p->lists.copied;
    int64_t groups = owners->groups, count = owners->start[groups], *at;
    out->groups = groups;
    PS_TRY(PS_ALLOC(&out->start, groups + 1, "lists of groups"));
    PS_TRY(PS_ALLOC(&out->items, count, "lists of groups"));
    for (int64_t i = 0; i < count; ++i) ++out->start[owners->items[i] + 1];
    for (int64_t g = 0; g < groups; ++g) out->start[g + 1] += out->start[g];
    PS_TRY(PS_ALLOC(&at, groups, "lists of groups"));
    memcpy(at, out->start, (size_t)groups * sizeof *at);
    for (int64_t g = 0; g < groups; ++g)
        for (int64_t i = owners->start[g]; i < owners->start[g + 1]; ++i)
            out->items[at[owners->items[i]]++] = g;
    free(at);
    return PS_OK;
}

static int64_t longest(const ps_group_list *list)
{
    int64_t most = 0;
    for (int64_t g = 0; g < list->groups; ++g)
        if (list->start[g + 1] - list->start[g] > most) most = list->start[g + 1] - list->start[g];
    return most;
}

static void measure_augmented(fmm_problem *p)
{
    const int64_t *place = p->fmm.sources->particle_start;
    const ps_group_list *list = &p->lists.augmented;
    for (int64_t g = 0; g < list->groups; ++g) {
        int64_t count = 0;
        for (int64_t i = list->start[g]; i < list->start[g + 1]; ++i)
            count += place[list->items[i] + 1] - place[list->items[i]];
        if (count > p->lists.augmented_particles_max) p->lists.augmented_particles_max = count;
    }
    p->lists.augmented_leaves_max = longest(list);
    p->lists.copied_max = longest(&p->lists.copied);
}

static void measure_groups(fmm_problem *p)
{
    p->lists.groups_max = 1;
    for (int l = 0; l <= p->leaf; ++l)
        for (int side = 0; side < 2; ++side) {
            int64_t groups = ps_octree_groups(side ? p->fmm.targets : p->fmm.sources, l);
            if (groups > p->lists.groups_max) p->lists.groups_max = groups;
        }
}

/* The upper half of the P2P tasks by their work are the large ones (RR-8513, section 3.1). */
static ps_status find_median(fmm_problem *p)
{
    double *flop;
    int64_t groups = ps_octree_groups(p->fmm.targets, p->leaf);
    PS_TRY(PS_ALLOC(&flop, groups, "work of groups"));
    memcpy(flop, p->lists.near_flop, (size_t)groups * sizeof *flop);
    qsort(flop, (size_t)groups, sizeof *flop, ps_compare_reals);
    p->lists.median_flop = groups > 1 ? flop[(groups - 1) / 2] : -1;
    free(flop);
    return PS_OK;
}

/* Ordered pairs of the leaves of a group with those of other groups. */
static ps_status outside_pairs(const fmm_problem *p, int64_t group, int64_t *out)
{
    int64_t first, end, *room;
    ps_octree_group(p->fmm.targets, p->leaf, group, &first, &end);
    int64_t leaves = end - first;
    PS_TRY(ps_alloc_untouched((void **)&room, 8 * (1 + (1 + PS_TREE_NEAR_MAX) * leaves),
                              "lists of leaves"));
    ps_tree_list near = {.start = room, .sources = room + leaves + 1};
    ps_tree_near(p->fmm.targets, p->fmm.sources, first, end, &near);
    *out = ps_tree_count_pairs(p->fmm.targets, p->fmm.sources, &near, first, end).outside;
    free(room);
    return PS_OK;
}

static ps_status measure_near(fmm_problem *p)
{
    fmm_lists *lists = &p->lists;
    ps_failure failure = {0};
    int64_t groups = ps_octree_groups(p->fmm.targets, p->leaf);
    PS_TRY(PS_ALLOC(&lists->near_flop, groups, "work of groups"));
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t g = 0; g < groups; ++g) {
        double ordered = p->same ? 0 : (double)lists->near_pairs[g];
        double mutual = p->same ? (double)lists->near_pairs[g] : 0;
        int64_t outside = 0;
        if (p->mutual) mutual += (double)lists->augmented_pairs[g];
        if (p->same && !p->mutual) ps_note_failure(&failure, outside_pairs(p, g, &outside));
        lists->near_flop[g] = PS_FMM_P2P_FLOPS * (mutual + 0.5 * (ordered + (double)outside));
    }
    return ps_first_failure(&failure);
}

ps_status fmm_pairs_choose(const fmm_options *options, fmm_problem *p)
{
    bool gpus = ps_comm_any(p->gpus > 0) && options->gpu_kinds != FMM_GPU_TABLE;
    bool mutual = options->pairs == FMM_PAIRS_AUTO ? !gpus : options->pairs == FMM_PAIRS_MUTUAL;
    p->mutual = p->same && mutual;
    PS_TRY(measure_near(p));
    return find_median(p);
}

static ps_status load_lists(fmm_problem *p)
{
    fmm_lists *lists = &p->lists;
    for (int l = 2; l <= p->leaf; ++l) {
        PS_TRY(get_list(p, PS_OCTREE_FAR_GROUPS, l, ps_octree_groups(p->fmm.sources, l),
                        &lists->far[l]));
        PS_TRY(get_forecast(p, PS_OCTREE_FAR_PAIRS, l, &lists->far_pairs[l]));
    }
    PS_TRY(get_list(p, PS_OCTREE_NEAR_GROUPS, p->leaf, ps_octree_groups(p->fmm.sources, p->leaf),
                    &lists->near));
    PS_TRY(get_forecast(p, PS_OCTREE_NEAR_PAIRS, p->leaf, &lists->near_pairs));
    PS_TRY(get_forecast(p, PS_OCTREE_AUGMENTED_PAIRS, p->leaf, &lists->augmented_pairs));
    measure_groups(p);
    if (!p->same) return PS_OK;
    PS_TRY(get_list(p, PS_OCTREE_AUGMENTED, p->leaf, ps_octree_leaves(p->fmm.sources),
                    &lists->augmented));
    PS_TRY(make_owners(p));
    PS_TRY(make_copied(p));
    measure_augmented(p);
    return PS_OK;
}

/* ---- all ---- */

/* exp(-b r) with a negative b grows: beyond e^700 there are no numbers. */
static ps_status check_parameter(const fmm_problem *p)
{
    double b = p->fmm.function.parameter, w = p->header->box.width, exponent = 0;
    if (p->fmm.function.kernel == PS_FMM_EXPONENTIAL || p->fmm.function.kernel == PS_FMM_YUKAWA)
        exponent = -b * sqrt(3) * w;
    if (p->fmm.function.kernel == PS_FMM_GAUSSIAN) exponent = -b * 3 * w * w;
    if (exponent < 700) return PS_OK;
    return ps_fail(PS_USAGE,
                   "--parameter %g: the kernel %s grows to e^%.3g in a box of width %g, more than "
                   "fp64 holds; b is meant to be positive",
                   b, ps_fmm_kernel_name(p->fmm.function.kernel), exponent, w);
}

/* The accuracy that is asked, or order and epsilon; neither: FMM_ACCURACY_USUAL. */
static ps_status choose_order(const fmm_options *o, fmm_problem *p)
{
    bool given = o->order || o->epsilon > 0, asked = o->accuracy > 0;
    int order = o->order ? (int)o->order : 5;
    if (asked && given)
        return ps_fail(PS_USAGE, "--accuracy chooses --order and --epsilon; give the one or the "
                                 "others");
    p->epsilon = o->epsilon > 0 ? o->epsilon : pow(10, -order);
    if (!given && o->accuracy != 0) {
        p->accuracy = ps_fmm_tolerance(asked ? o->accuracy : FMM_ACCURACY_USUAL);
        fmm_sum_order(o, p, &order, &p->epsilon);
    }
    PS_TRY(fmm_sum_check_order(p, order));
    return ps_fmm_interpolation_init(&p->fmm.interpolation, order);
}

static ps_status choose(const fmm_options *o, fmm_problem *p)
{
    p->fmm.function.parameter = o->parameter;
    p->fmm.far = o->precision == 1 ? PS_SINGLE : PS_DOUBLE;
    p->fmm.near = o->precision == 0 ? PS_DOUBLE : PS_SINGLE;
    PS_TRY(fmm_sum_choose(o, p));
    PS_TRY(check_parameter(p));
    PS_TRY(fmm_periodic_choose(o, p));
    return choose_order(o, p);
}

/* What octree-build would have refused. */
static ps_status check_span(const fmm_problem *p)
{
    double upper[3];
    const ps_octree_box *box = &p->header->box;
    for (int d = 0; d < 3; ++d) upper[d] = box->corner[d] + box->width;
    ps_status status = ps_tree_check_span(box->corner, upper);
    if (status == PS_OK) return PS_OK;
    return ps_context(status, "%s", ps_store_path(ps_octree_file_store(p->file)));
}

ps_status fmm_problem_open(const ps_run *run, const fmm_options *options, fmm_problem *p)
{
    PS_TRY(ps_octree_open(run->operands[0], &p->file));
    p->header = ps_octree_file_header(p->file);
    if (!p->header->sorted) PS_TRY(check_span(p));
    p->same = p->header->same;
    p->leaf = p->header->height - 1;
    p->rank = ps_comm_rank();
    p->ranks = ps_comm_size();
    p->far = p->leaf >= 2;
    p->reductions = 1;
    PS_TRY(fmm_charges_open(options->charges, p));
    PS_TRY(choose(options, p));
    PS_TRY(fmm_charges_check(p));
    PS_TRY(load_trees(p));
    return load_lists(p);
}

void fmm_problem_forget(fmm_problem *p)
{
    PS_FREE(p->lists.near_flop, p->boundaries);
    p->lists.near_flop = NULL;
    p->boundaries = NULL;
    p->mutual = p->near_first = p->by_groups = p->leaves_at_once = false;
    p->reductions = 1;
    p->gpus = p->workers = 0;
}

void fmm_problem_release(fmm_problem *p)
{
    fmm_lists *lists = &p->lists;
    for (int l = 0; l < PS_OCTREE_LEVELS_MAX; ++l) {
        ps_group_list_release(&lists->far[l]);
        PS_FREE(lists->far_pairs[l], p->blocks[l]);
    }
    ps_group_list_release(&lists->near);
    ps_group_list_release(&lists->augmented);
    ps_group_list_release(&lists->owners);
    ps_group_list_release(&lists->copied);
    PS_FREE(p->boundaries, lists->near_pairs, lists->near_flop, lists->augmented_pairs, p->charges);
    ps_particles_close(&p->charge_file);
    ps_octree_release(&p->trees[0]);
    ps_octree_release(&p->trees[1]);
    ps_octree_close(&p->file);
    memset(p, 0, sizeof *p);
}
