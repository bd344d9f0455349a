/*
 * The lists of an octree file against its trees. Tasks access what the lists name and nothing else,
 * so a list with a gap would give sums with a gap; making the lists again costs about a hundredth
 * of the evaluation.
 */
#include <stdlib.h>
#include <string.h>

#include "compute/fmm/fmm.h"
#include "kernels/fmm/tree_lists.h"
#include "runtime/comm.h"
#include "runtime/compare.h"
#include "runtime/first_failure.h"
#include "runtime/memory.h"

enum { BLOCK = 256 /* cells whose interaction lists are made at a time */ };

/* A thread's. */
typedef struct list_room {
    ps_tree_list far, near; /* of a block of cells; of a group of leaves */
    int64_t *groups, *stamp, *leaves;
    int64_t mark;
} list_room;

static ps_status room_init(const fmm_problem *p, list_room *room)
{
    int64_t size = p->header->group_size, leaves = ps_octree_leaves(p->fmm.targets);
    int64_t near = PS_TREE_NEAR_MAX * (size < leaves ? size : leaves);
    int64_t groups = p->lists.groups_max;
    memset(room, 0, sizeof *room);
    PS_TRY(PS_ALLOC(&room->far.start, BLOCK + 1, "lists of groups"));
    PS_TRY(PS_ALLOC(&room->far.sources, (int64_t)BLOCK * PS_TREE_FAR_MAX, "lists of groups"));
    PS_TRY(PS_ALLOC(&room->near.start, near + 1, "lists of groups"));
    PS_TRY(PS_ALLOC(&room->near.sources, near, "lists of groups"));
    PS_TRY(PS_ALLOC(&room->leaves, near, "lists of groups"));
    PS_TRY(PS_ALLOC(&room->groups, groups, "lists of groups"));
    return PS_ALLOC(&room->stamp, groups, "lists of groups");
}

static void room_release(list_room *room)
{
    PS_FREE(room->far.start, room->far.sources, room->near.start, room->near.sources, room->leaves,
            room->groups, room->stamp);
}

static bool is_list(const ps_group_list *list, int64_t group, const int64_t *items, int64_t count)
{
    const int64_t *stored = list->items + list->start[group];
    return list->start[group + 1] - list->start[group] == count &&
           (count == 0 || memcmp(stored, items, (size_t)count * sizeof *items) == 0);
}

static bool far_fits(const fmm_problem *p, int level, int64_t group, list_room *room)
{
    int64_t first, end, found = 0, pairs = 0;
    ps_octree_group(p->fmm.targets, level, group, &first, &end);
    ++room->mark;
    for (int64_t c = first; c < end; c += BLOCK) {
        int64_t last = c + BLOCK < end ? c + BLOCK : end;
        ps_tree_far(p->fmm.targets, p->fmm.sources, level, c, last, &room->far);
        int64_t count = room->far.start[last - c];
        found += ps_tree_source_groups(room->far.sources, count, p->header->group_size, -1,
                                       room->mark, room->stamp, room->groups + found);
        pairs += count;
    }
    qsort(room->groups, (size_t)found, sizeof *room->groups, ps_compare_i64);
    return is_list(&p->lists.far[level], group, room->groups, found) &&
           p->lists.far_pairs[level][group] == pairs;
}

static bool near_fits(const fmm_problem *p, int64_t group, list_room *room)
{
    const fmm_lists *lists = &p->lists;
    const ps_octree *targets = p->fmm.targets, *sources = p->fmm.sources;
    int64_t first, end;
    ps_octree_group(targets, p->leaf, group, &first, &end);
    ps_tree_near(targets, sources, first, end, &room->near);
    int64_t count = room->near.start[end - first];
    int64_t found =
        ps_tree_source_groups(room->near.sources, count, p->header->group_size,
                              p->same ? group : -1, ++room->mark, room->stamp, room->groups);
    ps_tree_pairs pairs = ps_tree_count_pairs(targets, sources, &room->near, first, end);
    if (!is_list(&lists->near, group, room->groups, found) ||
        lists->near_pairs[group] != pairs.inside ||
        lists->augmented_pairs[group] != pairs.augmented)
        return false;
    if (!p->same) return true;
    found = ps_tree_augmented(&room->near, first, end, room->leaves);
    return is_list(&lists->augmented, group, room->leaves, found);
}

static ps_status check_group(const fmm_problem *p, int level, int64_t group, list_room *room)
{
    bool good = (level < 2 || far_fits(p, level, group, room)) &&
                (level < p->leaf || near_fits(p, group, room));
    if (good) return PS_OK;
    return ps_fail(PS_INVALID,
                   "%s: the lists of group %lld of level %d are not those of the tree: the file is "
                   "damaged; build the octree again",
                   ps_store_path(ps_octree_file_store(p->file)), (long long)group, level);
}

static ps_status check_level(const fmm_problem *p, int level)
{
    ps_failure failure = {0};
    int64_t groups = ps_octree_groups(p->fmm.targets, level);
#pragma omp parallel
    {
        list_room room;
        ps_note_failure(&failure, room_init(p, &room));
#pragma omp for schedule(dynamic, 1)
        for (int64_t g = p->rank; g < groups; g += p->ranks)
            if (!ps_has_failed(&failure))
                ps_note_failure(&failure, check_group(p, level, g, &room));
        room_release(&room);
    }
    return ps_first_failure(&failure);
}

ps_status fmm_lists_check(const fmm_problem *p)
{
    ps_status status = PS_OK;
    for (int level = p->leaf < 2 ? p->leaf : 2; level <= p->leaf && status == PS_OK; ++level)
        status = check_level(p, level);
    return ps_comm_agree(status);
}
