#include "kernels/fmm/adaptive_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/common/word_sort.h"
#include "runtime/balance.h"
#include "runtime/sizes.h"

enum { PIECE = 1024 /* leaves or cells whose lists are made at a time */ };

ps_adaptive_rule ps_adaptive_device_rule(int order)
{
    enum { FEWEST = 128 };
    int64_t points = (int64_t)order * order * order;
    return (ps_adaptive_rule){.points = points > FEWEST ? points : FEWEST, .pairs = 0};
}

double ps_adaptive_device_m2l_pairs(int order) { return 0.74 * pow(order, 3.2); }

int64_t ps_adaptive_device_leaf_size(int order)
{
    /* Leaves of at most S particles make so many times S ordered pairs a particle, and so many M2L
     * over S. */
    static const double pairs = 12.4, m2l = 660;
    return (int64_t)sqrt(m2l / pairs *
                         (ps_adaptive_device_m2l_pairs(order) + PS_ADAPTIVE_DEVICE_OTHERS));
}

static ps_status make_part(ps_adaptive_plan *p, ps_adaptive_part which, int64_t count, size_t size)
{
    if (count > INT32_MAX)
        return ps_fail(PS_EXHAUSTED, "an adaptive tree with lists of more than %d entries",
                       INT32_MAX);
    p->part[which].count = count;
    p->part[which].size = (int64_t)size;
    int64_t capacity = 0;
    return p->tree->room(&p->part[which].at, &capacity, count + 1, size, "a plan of lists");
}

/* ---- boxes ---- */

/* Whether a cell has targets that the plan is for. */
static bool is_own(const ps_adaptive_plan *p, int64_t cell)
{
    ps_fmm_range c = p->tree->cell[cell].targets;
    return !p->shared || (c.begin < p->own.end && c.end > p->own.begin);
}

static void fill_leaf(const ps_adaptive_plan *p, int64_t number)
{
    const ps_adaptive_tree *t = p->tree;
    const ps_adaptive_cell *c = &t->cell[t->leaf[number]];
    ps_fmm_device_leaf leaf = {.begin = (int32_t)c->sources.begin,
                               .end = (int32_t)c->sources.end,
                               .own = (int32_t)c->sources.begin,
                               .own_end = (int32_t)c->sources.end,
                               .vector = t->leaf[number]};
    ps_adaptive_centre(&t->box, c, leaf.centre, &leaf.width);
    ((ps_fmm_device_leaf *)p->part[PS_PLAN_SOURCES].at)[number] = leaf;
    if (t->same && !p->shared) return;
    leaf.begin = (int32_t)c->targets.begin;
    leaf.end = is_own(p, t->leaf[number]) ? (int32_t)c->targets.end : leaf.begin;
    ((ps_fmm_device_leaf *)p->part[PS_PLAN_TARGETS].at)[number] = leaf;
}

static ps_status make_boxes(ps_adaptive_plan *p)
{
    const ps_adaptive_tree *t = p->tree;
    PS_TRY(make_part(p, PS_PLAN_SOURCES, t->leaves, sizeof(ps_fmm_device_leaf)));
    PS_TRY(make_part(p, PS_PLAN_TARGETS, t->same && !p->shared ? 0 : t->leaves,
                     sizeof(ps_fmm_device_leaf)));
    PS_TRY(make_part(p, PS_PLAN_BOXES, t->cells, sizeof(ps_fmm_device_cell)));
    ps_fmm_device_cell *boxes = p->part[PS_PLAN_BOXES].at;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < t->leaves; ++i) fill_leaf(p, i);
#pragma omp parallel for schedule(static)
    for (int64_t c = 0; c < t->cells; ++c)
        ps_adaptive_centre(&t->box, &t->cell[c], boxes[c].centre, &boxes[c].width);
    return PS_OK;
}

/* ---- up, down and across ---- */

/* Codes of the children of a cell by octant; `source`: of those alone that have sources. */
static void children_of(const ps_adaptive_tree *t, const ps_adaptive_cell *c, bool source,
                        int32_t codes[8])
{
    for (int o = 0; o < 8; ++o) codes[o] = -1;
    for (int32_t i = c->child; i < c->child + c->children; ++i)
        if (!source || ps_adaptive_size(t->cell[i].sources) > 0)
            codes[t->cell[i].octant] =
                (int32_t)(ps_adaptive_twin(t, i) - t->level_start[c->level + 1]);
}

/* Numbers the divided cells of each level, and says of their children which block they are. */
static ps_status number_blocks(ps_adaptive_plan *p)
{
    const ps_adaptive_tree *t = p->tree;
    int64_t rows = 0;
    PS_TRY(make_part(p, PS_PLAN_BLOCK, t->cells, sizeof(int32_t)));
    int32_t *block = p->part[PS_PLAN_BLOCK].at;
    memset(block, 0, (size_t)t->cells * sizeof *block);
    p->block_start[0] = p->block_start[1] = p->block_start[2] = 0;
    for (int l = 2; l < t->levels; ++l) {
        int64_t number = 0;
        for (int64_t c = t->level_start[l - 1]; c < t->level_start[l]; ++c) {
            const ps_adaptive_cell *cell = &t->cell[c];
            if (cell->children == 0) continue; /* a leaf, or a closed cell of an essential tree */
            for (int i = 0; i < cell->children; ++i) block[cell->child + i] = (int32_t)number;
            ++number;
        }
        rows += number;
        p->block_start[l + 1] = rows;
    }
    return make_part(p, PS_PLAN_FAR, rows * PS_FMM_DEVICE_FAR, sizeof(int32_t));
}

static ps_status make_far(ps_adaptive_plan *p)
{
    const ps_adaptive_tree *t = p->tree;
    PS_TRY(number_blocks(p));
    PS_TRY(make_part(p, PS_PLAN_CHILDREN, 8 * t->cells, sizeof(int32_t)));
    int32_t *children = p->part[PS_PLAN_CHILDREN].at, *far = p->part[PS_PLAN_FAR].at;
    const int32_t *block = p->part[PS_PLAN_BLOCK].at;
#pragma omp parallel for schedule(dynamic, 256)
    for (int64_t c = 0; c < t->cells; ++c) {
        const ps_adaptive_cell *cell = &t->cell[c];
        children_of(t, cell, false, children + 8 * c);
        if (cell->level < 1 || cell->children == 0) continue;
        int64_t row = p->block_start[cell->level + 1] + block[cell->child];
        for (int n = 0; n < 27; ++n) {
            int32_t other = t->around[c][n], *to = far + row * PS_FMM_DEVICE_FAR + 8 * n;
            if (other >= 0)
                children_of(t, &t->cell[other], true, to);
            else
                for (int o = 0; o < 8; ++o) to[o] = -1;
        }
    }
    return PS_OK;
}

enum { AROUND_BITS = 27, OCTANT_BITS = 3, LEVEL_BITS = 6 };

static uint64_t label_of(const ps_adaptive_plan *p, int64_t c)
{
    const ps_adaptive_tree *t = p->tree;
    const ps_adaptive_cell *cell = &t->cell[c];
    uint64_t label = (uint64_t)cell->level << 1 | !is_own(p, c);
    label = label << OCTANT_BITS | cell->octant;
    label <<= AROUND_BITS;
    for (int n = 0; n < 27 && cell->parent >= 0; ++n)
        label |= (uint64_t)(t->around[cell->parent][n] >= 0) << n;
    return label;
}

static ps_status make_order(ps_adaptive_plan *p)
{
    const ps_adaptive_tree *t = p->tree;
    uint64_t *words = NULL;
    int64_t capacity = 0;
    PS_TRY(make_part(p, PS_PLAN_ORDER, t->cells, sizeof(int32_t)));
    PS_TRY(make_part(p, PS_PLAN_OCTANTS, 9 * t->levels, sizeof(int32_t)));
    PS_TRY(t->room((void **)&words, &capacity, 4 * t->cells, sizeof *words, "the order of cells"));
    int32_t *order = p->part[PS_PLAN_ORDER].at, *octants = p->part[PS_PLAN_OCTANTS].at;
#pragma omp parallel for schedule(static)
    for (int64_t c = 0; c < t->cells; ++c) {
        words[2 * c] = label_of(p, c);
        words[2 * c + 1] = (uint64_t)c;
    }
    uint64_t *sorted = ps_word_sort(
        words, t->cells, 2, 0, AROUND_BITS + OCTANT_BITS + 1 + LEVEL_BITS, words + 2 * t->cells);
    memset(octants, 0, (size_t)(9 * t->levels) * sizeof *octants);
    for (int64_t i = 0; i < t->cells; ++i) {
        const ps_adaptive_cell *c = &t->cell[sorted[2 * i + 1]];
        order[i] = (int32_t)((int64_t)sorted[2 * i + 1] - t->level_start[c->level]);
        octants[9 * c->level + c->octant + 1] += is_own(p, (int64_t)sorted[2 * i + 1]);
    }
    for (int l = 0; l < t->levels; ++l)
        for (int o = 0; o < 8; ++o) octants[9 * l + o + 1] += octants[9 * l + o];
    free(words);
    return PS_OK;
}

/* ---- lists ---- */

/* Entries of items [first, first + PIECE): how many of each, and all of them. */
typedef struct piece {
    int32_t count[PIECE];
    void *entries;
    int64_t used, capacity;
} piece;

static ps_status append(const ps_adaptive_tree *t, piece *p, const void *entry, size_t size)
{
    if (p->used == p->capacity)
        PS_TRY(t->room(&p->entries, &p->capacity, p->used + 1, size, "lists"));
    memcpy((char *)p->entries + (size_t)p->used++ * size, entry, size);
    return PS_OK;
}

/* Adds the sources of cells as runs; what follows each other is one. */
static ps_status append_runs(const ps_adaptive_tree *t, const ps_adaptive_list *list, int64_t item,
                             piece *p)
{
    p->count[item] = 0;
    for (int64_t i = 0; i < list->count; ++i) {
        ps_fmm_range r = t->cell[list->items[i]].sources;
        ps_fmm_device_run run = {(int32_t)r.begin, (int32_t)r.end};
        ps_fmm_device_run *last = (ps_fmm_device_run *)p->entries + p->used - 1;
        if (p->count[item] > 0 && last->end == run.begin) {
            last->end = run.end;
            continue;
        }
        PS_TRY(append(t, p, &run, sizeof run));
        ++p->count[item];
    }
    return PS_OK;
}

static ps_status append_cells(const ps_adaptive_tree *t, const ps_adaptive_list *list, int64_t item,
                              piece *p)
{
    p->count[item] = (int32_t)list->count;
    for (int64_t i = 0; i < list->count; ++i)
        PS_TRY(append(t, p, &list->items[i], sizeof *list->items));
    return PS_OK;
}

/* starts[items + 1] and entries from pieces; if `of` is a part, items without entries are left
 * out, and it tells the others' numbers. */
static ps_status join(ps_adaptive_plan *p, const piece *pieces, int64_t items, int of, int start,
                      int entries, size_t size)
{
    int64_t all = 0, kept = 0, found = 0, parts = (items + PIECE - 1) / PIECE;
    for (int64_t i = 0; i < parts; ++i) all += pieces[i].used;
    for (int64_t i = 0; i < items; ++i) kept += of < 0 || pieces[i / PIECE].count[i % PIECE] > 0;
    if (of >= 0) PS_TRY(make_part(p, (ps_adaptive_part)of, kept, sizeof(int32_t)));
    PS_TRY(make_part(p, (ps_adaptive_part)start, kept + 1, sizeof(int32_t)));
    PS_TRY(make_part(p, (ps_adaptive_part)entries, all, size));
    int32_t *starts = p->part[start].at;
    starts[0] = 0;
    for (int64_t i = 0; i < items; ++i) {
        int32_t count = pieces[i / PIECE].count[i % PIECE];
        if (of >= 0 && count == 0) continue;
        if (of >= 0) ((int32_t *)p->part[of].at)[found] = (int32_t)i;
        starts[found + 1] = starts[found] + count;
        ++found;
    }
    char *to = p->part[entries].at;
    for (int64_t i = 0; i < parts; ++i) {
        if (pieces[i].used) memcpy(to, pieces[i].entries, (size_t)pieces[i].used * size);
        to += (size_t)pieces[i].used * size;
    }
    return PS_OK;
}

/* The lists of a piece of the leaves, or of the cells. */
typedef struct work {
    const ps_adaptive_plan *plan;
    piece *runs, *far, *near;
} work;

static ps_status list_leaves(const void *self, int64_t number, ps_adaptive_lists *lists)
{
    const work *w = self;
    const ps_adaptive_tree *t = w->plan->tree;
    int64_t first = number * PIECE, end = ps_smaller(first + PIECE, t->leaves);
    for (int64_t i = first; i < end; ++i) {
        if (!is_own(w->plan, t->leaf[i])) continue;
        PS_TRY(ps_adaptive_lists_of(t, &w->plan->rule, t->leaf[i], lists));
        PS_TRY(append_runs(t, &lists->direct, i - first, &w->runs[number]));
        PS_TRY(append_cells(t, &lists->far, i - first, &w->far[number]));
    }
    return PS_OK;
}

static ps_status list_cells(const void *self, int64_t number, ps_adaptive_lists *lists)
{
    const work *w = self;
    const ps_adaptive_tree *t = w->plan->tree;
    int64_t first = number * PIECE, end = ps_smaller(first + PIECE, t->cells);
    for (int64_t i = first; i < end; ++i) {
        if (!is_own(w->plan, i)) continue;
        PS_TRY(ps_adaptive_near_of(t, &w->plan->rule, (int32_t)i, lists));
        PS_TRY(append_runs(t, &lists->near, i - first, &w->near[number]));
    }
    return PS_OK;
}

static ps_status join_all(ps_adaptive_plan *p, const work *w)
{
    const ps_adaptive_tree *t = p->tree;
    PS_TRY(ps_adaptive_each(w, list_leaves, 0, (t->leaves + PIECE - 1) / PIECE, 1));
    PS_TRY(ps_adaptive_each(w, list_cells, 0, (t->cells + PIECE - 1) / PIECE, 1));
    PS_TRY(join(p, w->runs, t->leaves, -1, PS_PLAN_RUN_START, PS_PLAN_RUNS,
                sizeof(ps_fmm_device_run)));
    PS_TRY(join(p, w->far, t->leaves, PS_PLAN_M2P_LEAF, PS_PLAN_M2P_START, PS_PLAN_M2P_CELLS,
                sizeof(int32_t)));
    return join(p, w->near, t->cells, PS_PLAN_P2L_CELL, PS_PLAN_P2L_START, PS_PLAN_P2L_RUNS,
                sizeof(ps_fmm_device_run));
}

static ps_status make_lists(ps_adaptive_plan *p)
{
    int64_t leaves = p->tree->leaves / PIECE + 1, cells = p->tree->cells / PIECE + 1;
    int64_t all = 2 * leaves + cells, capacity = 0;
    piece *pieces = NULL;
    PS_TRY(p->tree->room((void **)&pieces, &capacity, all, sizeof *pieces, "pieces of lists"));
    memset(pieces, 0, (size_t)all * sizeof *pieces);
    work w = {p, pieces, pieces + leaves, pieces + 2 * leaves};
    ps_status status = join_all(p, &w);
    for (int64_t i = 0; i < all; ++i) free(pieces[i].entries);
    free(pieces);
    return status;
}

/* ---- all ---- */

/* Cuts leaves along the Morton order. */
static ps_status cut(const ps_adaptive_tree *tree, const ps_adaptive_rule *rule,
                     const ps_adaptive_own *share)
{
    int64_t *weights = NULL, capacity = 0;
    PS_TRY(
        tree->room((void **)&weights, &capacity, tree->leaves, sizeof *weights, "work of leaves"));
    ps_status status = ps_adaptive_leaf_work(tree, rule, share->costs, weights);
    if (status == PS_OK) ps_split_equal(weights, tree->leaves, share->ranks, share->first);
    for (int k = 0; k <= share->ranks && status == PS_OK; ++k)
        share->first[k] = share->first[k] < tree->leaves
                              ? tree->cell[tree->leaf[share->first[k]]].targets.begin
                              : tree->cell[0].targets.end;
    free(weights);
    return status;
}

static ps_status make_own(ps_adaptive_plan *p, const ps_adaptive_own *share)
{
    const ps_adaptive_tree *t = p->tree;
    bool essential =
        t->same && ps_adaptive_size(t->cell[0].targets) < ps_adaptive_size(t->cell[0].sources);
    p->own = t->cell[0].targets;
    p->shared = essential || (share && share->ranks > 1);
    if (p->shared && !essential) {
        PS_TRY(cut(t, &p->rule, share));
        p->own = (ps_fmm_range){share->first[share->rank], share->first[share->rank + 1]};
    }
    for (int l = 0; l < t->levels; ++l) p->cells[l] = ps_adaptive_cells_of(t, l, p->own);
    return PS_OK;
}

ps_status ps_adaptive_plan_make(const ps_adaptive_tree *tree, ps_adaptive_rule rule,
                                const ps_adaptive_own *share, ps_adaptive_plan *plan)
{
    *plan = (ps_adaptive_plan){.tree = tree, .rule = rule};
    for (int set = 0; set < (tree->same ? 1 : 2); ++set)
        if (tree->sets[set].points.count > INT32_MAX)
            return ps_fail(PS_EXHAUSTED, "more than %d particles of an adaptive tree on a device",
                           INT32_MAX);
    PS_TRY(make_own(plan, share));
    PS_TRY(make_boxes(plan));
    PS_TRY(make_far(plan));
    PS_TRY(make_order(plan));
    return make_lists(plan);
}

void ps_adaptive_plan_release(ps_adaptive_plan *plan)
{
    for (int i = 0; i < PS_PLAN_PARTS; ++i) free(plan->part[i].at);
    *plan = (ps_adaptive_plan){0};
}
