/* lists: for every group of targets the groups that it needs, and what it will cost. */
#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "kernels/fmm/tree_lists.h"
#include "runtime/first_failure.h"
#include "runtime/memory.h"
#include "runtime/sizes.h"

typedef struct list_job {
    const ps_octree *targets, *sources;
    int level;
    bool near; /* near and augmented lists, or far ones */
    int64_t **items, **augmented, *counts, *augmented_counts; /* [groups] of the result */
    tree_lists *out;
} list_job;

/* A thread's: lists of all cells of a group, and the distinct groups in them. */
typedef struct list_space {
    ps_tree_list list;
    int64_t *groups, *stamp;
} list_space;

static ps_status space_init(const list_job *job, list_space *s)
{
    int64_t cells = ps_smaller(job->targets->group_size, job->targets->cells[job->level]);
    int64_t source_groups = ps_octree_groups(job->sources, job->level);
    int64_t entries = cells * (job->near ? PS_TREE_NEAR_MAX : PS_TREE_FAR_MAX);
    memset(s, 0, sizeof *s);
    PS_TRY(PS_ALLOC(&s->list.start, cells + 1, "lists of a group"));
    PS_TRY(ps_alloc_untouched((void **)&s->list.sources, 8 * entries, "lists of a group"));
    PS_TRY(ps_alloc_untouched((void **)&s->groups, 8 * entries, "lists of a group"));
    return PS_ALLOC(&s->stamp, source_groups, "marks of groups");
}

static void space_release(list_space *s)
{
    PS_FREE(s->list.start, s->list.sources, s->groups, s->stamp);
}

static ps_status keep(const int64_t *items, int64_t count, int64_t **out, int64_t *out_count)
{
    PS_TRY(ps_alloc_untouched((void **)out, 8 * count, "a list of groups"));
    memcpy(*out, items, (size_t)count * sizeof *items);
    *out_count = count;
    return PS_OK;
}

/* ---- one group ---- */

static ps_status far_of_group(const list_job *job, int64_t group, list_space *s,
                              int64_t histogram[190])
{
    int64_t first, end;
    ps_octree_group(job->targets, job->level, group, &first, &end);
    ps_tree_far(job->targets, job->sources, job->level, first, end, &s->list);
    int64_t count = s->list.start[end - first];
    job->out->far_pairs[job->level][group] = count;
    for (int64_t c = 0; job->level == job->targets->height - 1 && c < end - first; ++c)
        ++histogram[s->list.start[c + 1] - s->list.start[c]];
    int64_t found = ps_tree_source_groups(s->list.sources, count, job->sources->group_size, -1,
                                          group + 1, s->stamp, s->groups);
    return keep(s->groups, found, &job->items[group], &job->counts[group]);
}

static ps_status near_of_group(const list_job *job, int64_t group, list_space *s,
                               int64_t *near_leaves)
{
    int64_t first, end;
    bool same = job->targets == job->sources;
    ps_octree_group(job->targets, job->level, group, &first, &end);
    ps_tree_near(job->targets, job->sources, first, end, &s->list);
    int64_t count = s->list.start[end - first];
    *near_leaves += count;
    ps_tree_pairs pairs = ps_tree_count_pairs(job->targets, job->sources, &s->list, first, end);
    job->out->near_pairs[group] = pairs.inside;
    job->out->augmented_pairs[group] = pairs.augmented;
    int64_t found = ps_tree_source_groups(s->list.sources, count, job->sources->group_size,
                                          same ? group : -1, group + 1, s->stamp, s->groups);
    PS_TRY(keep(s->groups, found, &job->items[group], &job->counts[group]));
    if (!same) return PS_OK;
    found = ps_tree_augmented(&s->list, first, end, s->groups);
    return keep(s->groups, found, &job->augmented[group], &job->augmented_counts[group]);
}

/* ---- all groups of a level ---- */

static ps_status run_groups(const list_job *job)
{
    ps_failure failure = {0};
    int64_t groups = ps_octree_groups(job->targets, job->level), near_leaves = 0;
    int64_t histogram[190] = {0};
#pragma omp parallel reduction(+ : near_leaves, histogram[:190])
    {
        list_space space;
        ps_note_failure(&failure, space_init(job, &space));
#pragma omp for schedule(dynamic)
        for (int64_t g = 0; g < groups; ++g) {
            if (ps_has_failed(&failure)) continue;
            ps_note_failure(&failure, job->near ? near_of_group(job, g, &space, &near_leaves)
                                                : far_of_group(job, g, &space, histogram));
        }
        space_release(&space);
    }
    job->out->near_leaves += near_leaves;
    for (int i = 0; i < 190; ++i) job->out->far_histogram[i] += histogram[i];
    return ps_first_failure(&failure);
}

/* The lists of all groups one after the other; those of single groups are freed. */
static ps_status join(int64_t **items, const int64_t *counts, int64_t groups, ps_group_list *out)
{
    ps_status status = PS_ALLOC(&out->start, groups + 1, "lists of groups");
    for (int64_t g = 0; g < groups && status == PS_OK; ++g)
        out->start[g + 1] = out->start[g] + counts[g];
    out->groups = groups;
    if (status == PS_OK)
        status =
            ps_alloc_untouched((void **)&out->items, 8 * out->start[groups], "lists of groups");
    for (int64_t g = 0; g < groups; ++g) {
        if (status == PS_OK && counts[g] > 0)
            memcpy(out->items + out->start[g], items[g], (size_t)counts[g] * sizeof **items);
        free(items[g]);
        items[g] = NULL;
    }
    return status;
}

static ps_status make_level(list_job *job, ps_group_list *list, ps_group_list *augmented)
{
    int64_t groups = ps_octree_groups(job->targets, job->level);
    PS_TRY(PS_ALLOC(&job->items, 4 * groups, "lists of groups"));
    job->augmented = job->items + groups;
    job->counts = (int64_t *)(job->items + 2 * groups);
    job->augmented_counts = job->counts + groups;
    ps_status status = run_groups(job), joined = join(job->items, job->counts, groups, list);
    if (status == PS_OK) status = joined;
    if (augmented) {
        joined = join(job->augmented, job->augmented_counts, groups, augmented);
        if (status == PS_OK) status = joined;
    }
    free(job->items);
    return status;
}

ps_status lists_make(const ps_octree *targets, const ps_octree *sources, tree_lists *out)
{
    memset(out, 0, sizeof *out);
    list_job job = {.targets = targets, .sources = sources, .out = out};
    for (int l = 2; l < targets->height; ++l) {
        job.level = l;
        PS_TRY(PS_ALLOC(&out->far_pairs[l], ps_octree_groups(targets, l), "forecasts"));
        PS_TRY(make_level(&job, &out->far[l], NULL));
    }
    job.level = targets->height - 1;
    job.near = true;
    int64_t groups = ps_octree_groups(targets, job.level);
    PS_TRY(PS_ALLOC(&out->near_pairs, groups, "forecasts"));
    PS_TRY(PS_ALLOC(&out->augmented_pairs, groups, "forecasts"));
    return make_level(&job, &out->near, targets == sources ? &out->augmented : NULL);
}

ps_status lists_write(const tree_lists *lists, const ps_octree *targets, bool same,
                      ps_octree_file *file)
{
    int leaf = targets->height - 1;
    for (int l = 2; l < targets->height; ++l) {
        int64_t groups = ps_octree_groups(targets, l);
        PS_TRY(ps_octree_put_list(file, PS_OCTREE_FAR_GROUPS, l, &lists->far[l]));
        PS_TRY(ps_octree_put_forecast(file, PS_OCTREE_FAR_PAIRS, l, lists->far_pairs[l], groups));
    }
    int64_t groups = ps_octree_groups(targets, leaf);
    PS_TRY(ps_octree_put_list(file, PS_OCTREE_NEAR_GROUPS, leaf, &lists->near));
    if (same) PS_TRY(ps_octree_put_list(file, PS_OCTREE_AUGMENTED, leaf, &lists->augmented));
    PS_TRY(ps_octree_put_forecast(file, PS_OCTREE_NEAR_PAIRS, leaf, lists->near_pairs, groups));
    return ps_octree_put_forecast(file, PS_OCTREE_AUGMENTED_PAIRS, leaf, lists->augmented_pairs,
                                  groups);
}

void lists_release(tree_lists *lists)
{
    for (int l = 0; l < PS_OCTREE_LEVELS_MAX; ++l) {
        ps_group_list_release(&lists->far[l]);
        free(lists->far_pairs[l]);
    }
    ps_group_list_release(&lists->near);
    ps_group_list_release(&lists->augmented);
    free(lists->near_pairs);
    free(lists->augmented_pairs);
    memset(lists, 0, sizeof *lists);
}
