#include "kernels/fmm/adaptive_share.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/search.h"
#include "runtime/sizes.h"

/* ---- portions ---- */

int64_t ps_adaptive_portion_size(const ps_adaptive_tree *t)
{
    enum { PORTIONS = 48, FEWEST = 64, MOST = 2048 };
    if (t->portion) return t->portion;
    return ps_larger(FEWEST, ps_smaller(t->leaves / PORTIONS, MOST));
}

int64_t ps_adaptive_portions(const ps_adaptive_tree *t)
{
    int64_t each = ps_adaptive_portion_size(t);
    return (t->leaves + each - 1) / each;
}

ps_fmm_range ps_adaptive_portion_leaves(const ps_adaptive_tree *t, int64_t first, int64_t end)
{
    int64_t each = ps_adaptive_portion_size(t);
    return (ps_fmm_range){ps_smaller(first * each, t->leaves), ps_smaller(end * each, t->leaves)};
}

ps_fmm_range ps_adaptive_portion_targets(const ps_adaptive_tree *t, int64_t first, int64_t end)
{
    ps_fmm_range leaves = ps_adaptive_portion_leaves(t, first, end);
    if (leaves.begin == leaves.end) return (ps_fmm_range){0, 0};
    return (ps_fmm_range){t->cell[t->leaf[leaves.begin]].targets.begin,
                          t->cell[t->leaf[leaves.end - 1]].targets.end};
}

/* The first cell of a level whose targets end behind `target`, or begin there or behind it. */
static int64_t find_cell(const ps_adaptive_tree *t, int level, int64_t target, bool ends)
{
    int64_t low;
    PS_LOWER_BOUND(low, t->level_start[level], t->level_start[level + 1], at,
                   ends ? t->cell[at].targets.end <= target : t->cell[at].targets.begin < target);
    return low;
}

ps_fmm_range ps_adaptive_cells_of(const ps_adaptive_tree *t, int level, ps_fmm_range targets)
{
    int64_t first = find_cell(t, level, targets.begin, true);
    return (ps_fmm_range){first, ps_larger(first, find_cell(t, level, targets.end, false))};
}

/* ---- work ---- */

/* Of each cell the number of the first leaf below it. */
static ps_status number_leaves(const ps_adaptive_tree *t, int32_t **out)
{
    int64_t capacity = 0;
    *out = NULL;
    PS_TRY(t->room((void **)out, &capacity, t->cells, sizeof **out, "numbers of leaves"));
    int32_t *numbers = *out;
    for (int64_t l = 0; l < t->leaves; ++l) numbers[t->leaf[l]] = (int32_t)l;
    for (int64_t c = t->cells - 1; c >= 0; --c)
        if (!ps_adaptive_is_leaf(&t->cell[c])) numbers[c] = numbers[t->cell[c].child];
    return PS_OK;
}

typedef struct counting {
    const ps_adaptive_tree *t;
    const ps_adaptive_rule *rule;
    ps_adaptive_costs costs;
    int32_t *numbers; /* of cells: a leaf */
    int64_t *work;    /* of leaves        */
} counting;

static ps_status count_cell(const void *self, int64_t item, ps_adaptive_lists *lists)
{
    const counting *k = self;
    const ps_adaptive_tree *t = k->t;
    int32_t cell = (int32_t)item;
    int64_t far[PS_ADAPTIVE_FAR_MAX], targets = ps_adaptive_size(t->cell[cell].targets);
    int64_t work = k->costs.m2l * ps_adaptive_far(t, k->rule, cell, far, NULL);
    PS_TRY(ps_adaptive_lists_of(t, k->rule, cell, lists));
    work += k->costs.points * targets * lists->far.count;
    for (int64_t i = 0; i < lists->near.count; ++i)
        work += k->costs.points * ps_adaptive_size(t->cell[lists->near.items[i]].sources);
    for (int64_t i = 0; i < lists->direct.count; ++i)
        work += targets * ps_adaptive_size(t->cell[lists->direct.items[i]].sources);
#pragma omp atomic
    k->work[k->numbers[cell]] += work;
    return PS_OK;
}

ps_status ps_adaptive_leaf_work(const ps_adaptive_tree *t, const ps_adaptive_rule *rule,
                                ps_adaptive_costs costs, int64_t *work)
{
    counting k = {t, rule, costs, NULL, work};
    memset(work, 0, (size_t)t->leaves * sizeof *work);
    ps_status status = number_leaves(t, &k.numbers);
    if (status == PS_OK) status = ps_adaptive_each(&k, count_cell, 0, t->cells, 64);
    free(k.numbers);
    return status;
}
