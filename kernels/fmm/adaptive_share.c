#include "kernels/fmm/adaptive_share.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/first_failure.h"
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
    int64_t low = t->level_start[level], high = t->level_start[level + 1];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        ps_fmm_range own = t->cell[middle].targets;
        if (ends ? own.end > target : own.begin >= target)
            high = middle;
        else
            low = middle + 1;
    }
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
} counting;

static ps_status count_cell(const counting *k, int32_t cell, ps_adaptive_lists *lists,
                            int64_t *work)
{
    const ps_adaptive_tree *t = k->t;
    int64_t far[PS_ADAPTIVE_FAR_MAX], targets = ps_adaptive_size(t->cell[cell].targets);
    *work = k->costs.m2l * ps_adaptive_far(t, k->rule, cell, far, NULL);
    PS_TRY(ps_adaptive_lists_of(t, k->rule, cell, lists));
    *work += k->costs.points * targets * lists->far.count;
    for (int64_t i = 0; i < lists->near.count; ++i)
        *work += k->costs.points * ps_adaptive_size(t->cell[lists->near.items[i]].sources);
    for (int64_t i = 0; i < lists->direct.count; ++i)
        *work += targets * ps_adaptive_size(t->cell[lists->direct.items[i]].sources);
    return PS_OK;
}

static ps_status count_cells(const counting *k, const int32_t *numbers, int64_t *work)
{
    const ps_adaptive_tree *t = k->t;
    ps_failure failure = {0};
#pragma omp parallel
    {
        ps_adaptive_lists lists = {0};
#pragma omp for schedule(dynamic, 64)
        for (int64_t c = 0; c < t->cells; ++c) {
            int64_t own = 0;
            if (ps_has_failed(&failure)) continue;
            ps_note_failure(&failure, count_cell(k, (int32_t)c, &lists, &own));
#pragma omp atomic
            work[numbers[c]] += own;
        }
        ps_adaptive_lists_release(&lists);
    }
    return ps_first_failure(&failure);
}

ps_status ps_adaptive_leaf_work(const ps_adaptive_tree *t, const ps_adaptive_rule *rule,
                                ps_adaptive_costs costs, int64_t *work)
{
    const counting k = {t, rule, costs};
    int32_t *numbers;
    memset(work, 0, (size_t)t->leaves * sizeof *work);
    ps_status status = number_leaves(t, &numbers);
    if (status == PS_OK) status = count_cells(&k, numbers, work);
    free(numbers);
    return status;
}
