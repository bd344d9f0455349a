#include "kernels/fmm/adaptive_essential.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/common/word_sort.h"
#include "runtime/search.h"
#include "runtime/sizes.h"

/* Of a cell of the whole. */
enum {
    HELD = 1,      /* it is in the tree                            */
    OPEN = 2,      /* with its children                            */
    PARTICLES = 4, /* with its particles                           */
    TARGETS = 8,   /* with what of its targets is of the stretch   */
    GIVEN = 16     /* with its multipole, which others have made   */
};

typedef struct maker {
    const ps_adaptive_tree *whole;
    const ps_adaptive_rule *rule;
    ps_essential *out;
    ps_fmm_range targets; /* of the whole */
} maker;

static void put(const maker *m, int32_t cell, uint8_t marks)
{
    uint8_t *at = &m->out->marks[cell];
    if ((__atomic_load_n(at, __ATOMIC_RELAXED) & marks) != marks)
        __atomic_fetch_or(at, marks, __ATOMIC_RELAXED);
}

static ps_status start(const ps_adaptive_tree *whole, ps_fmm_range targets, maker *m)
{
    ps_essential *e = m->out;
    PS_TRY(whole->room((void **)&e->marks, &e->capacity[0], whole->cells, sizeof *e->marks,
                       "marks of cells"));
    PS_TRY(whole->room((void **)&e->number, &e->capacity[1], whole->cells, sizeof *e->number,
                       "numbers of cells"));
    memset(e->marks, 0, (size_t)whole->cells * sizeof *e->marks);
    m->whole = whole;
    m->targets = targets;
    return PS_OK;
}

/* ---- which cells ---- */

/* What lies below cells that a leaf touches, as far as U and W look. */
static void mark_descent(const maker *m, int32_t leaf, int32_t top)
{
    const ps_adaptive_tree *t = m->whole;
    put(m, top, HELD | OPEN);
    for (int32_t s = t->cell[top].child; s < t->cell[top].child + t->cell[top].children; ++s)
        if (!ps_adaptive_is_leaf(&t->cell[s]) && ps_adaptive_adjacent(&t->cell[leaf], &t->cell[s]))
            mark_descent(m, leaf, s);
}

static void mark_list(const maker *m, const ps_adaptive_list *list, uint8_t marks)
{
    for (int64_t i = 0; i < list->count; ++i) put(m, list->items[i], marks);
}

/* A cell with targets of the stretch, and all that its lists have and look at. */
static ps_status mark_around(const void *self, int64_t item, ps_adaptive_lists *lists)
{
    const maker *m = self;
    int32_t cell = (int32_t)item;
    const ps_adaptive_tree *t = m->whole;
    const ps_adaptive_cell *c = &t->cell[cell];
    int64_t far[PS_ADAPTIVE_FAR_MAX];
    bool leaf = ps_adaptive_is_leaf(c);
    put(m, cell, HELD | TARGETS | (leaf ? PARTICLES : OPEN));
    for (int n = 0; n < 27; ++n) {
        int32_t beside = t->around[cell][n], above = c->parent < 0 ? -1 : t->around[c->parent][n];
        if (beside >= 0) put(m, beside, HELD);
        if (above >= 0) put(m, above, HELD | OPEN);
        if (leaf && beside >= 0 && !ps_adaptive_is_leaf(&t->cell[beside]))
            mark_descent(m, cell, beside);
    }
    int count = ps_adaptive_far(t, m->rule, cell, far, NULL);
    for (int i = 0; i < count; ++i) put(m, (int32_t)far[i], HELD | GIVEN);
    PS_TRY(ps_adaptive_lists_of(t, m->rule, cell, lists));
    mark_list(m, &lists->direct, HELD | PARTICLES);
    mark_list(m, &lists->far, HELD | GIVEN);
    mark_list(m, &lists->near, HELD | PARTICLES);
    return PS_OK;
}

static ps_status mark_level_around(const maker *m, int level)
{
    ps_fmm_range own = ps_adaptive_cells_of(m->whole, level, m->targets);
    return ps_adaptive_each(m, mark_around, own.begin, own.end, 64);
}

/* ---- particles ---- */

/* Whole ranges of cells, one within another or apart: sorted, those that follow each other as one.
 */
static ps_status join_runs(const maker *m, int64_t count)
{
    ps_essential *e = m->out;
    enum { BITS = 40 };
    uint64_t *sorted = ps_word_sort(e->words, count, 2, 0, BITS, e->words + 2 * count);
    PS_TRY(m->whole->room((void **)&e->runs, &e->capacity[3], count + 1, sizeof *e->runs,
                          "runs of particles"));
    PS_TRY(m->whole->room((void **)&e->at, &e->capacity[4], count + 1, sizeof *e->at,
                          "runs of particles"));
    e->run_count = 0;
    for (int64_t i = 0; i < count; ++i) {
        int64_t begin = (int64_t)sorted[2 * i], end = (int64_t)sorted[2 * i + 1];
        ps_fmm_range *last = e->run_count ? &e->runs[e->run_count - 1] : NULL;
        if (last && begin <= last->end)
            last->end = ps_larger(last->end, end);
        else
            e->runs[e->run_count++] = (ps_fmm_range){begin, end};
    }
    int64_t used = 0;
    for (int64_t i = 0; i < e->run_count; ++i) {
        e->at[i] = used;
        used += ps_adaptive_size(e->runs[i]) + 1;
    }
    e->tree.sets[0].points = (ps_tree_points){.count = used > 0 ? used - 1 : 0};
    return PS_OK;
}

static ps_status find_runs(const maker *m)
{
    const ps_adaptive_tree *t = m->whole;
    ps_essential *e = m->out;
    int64_t count = 0, found = 0;
    for (int64_t c = 0; c < t->cells; ++c) count += (e->marks[c] & PARTICLES) != 0;
    PS_TRY(t->room((void **)&e->words, &e->capacity[2], 4 * count + 1, sizeof *e->words,
                   "runs of particles"));
    for (int64_t c = 0; c < t->cells; ++c) {
        if (!(e->marks[c] & PARTICLES)) continue;
        e->words[2 * found] = (uint64_t)t->cell[c].sources.begin;
        e->words[2 * found++ + 1] = (uint64_t)t->cell[c].sources.end;
    }
    e->listed = count;
    return join_runs(m, count);
}

/* Where particles of the whole are in the tree, which has them. */
static int64_t place_of(const ps_essential *e, int64_t particle)
{
    int64_t behind;
    PS_LOWER_BOUND(behind, 1, e->run_count, at, e->runs[at].begin <= particle);
    return e->at[behind - 1] + particle - e->runs[behind - 1].begin;
}

/* ---- cells ---- */

static bool is_held(const maker *m, int64_t cell)
{
    int32_t parent = m->whole->cell[cell].parent;
    return m->out->marks[cell] || (parent >= 0 && m->out->marks[parent] & OPEN);
}

static void number_cells(const maker *m)
{
    const ps_adaptive_tree *w = m->whole;
    ps_essential *e = m->out;
    ps_adaptive_tree *t = &e->tree;
    t->cells = t->levels = 0;
    for (int l = 0; l < w->levels; ++l) {
        t->level_start[l] = t->cells;
        for (int64_t c = w->level_start[l]; c < w->level_start[l + 1]; ++c)
            e->number[c] = is_held(m, c) ? (int32_t)t->cells++ : -1;
        t->level_start[l + 1] = t->cells;
        if (t->cells > t->level_start[l]) t->levels = l + 1;
    }
}

/* Its targets of the stretch; of a cell without any a place on the right side of those. */
static ps_fmm_range targets_of(const maker *m, const ps_adaptive_cell *c, uint8_t marks)
{
    ps_fmm_range own = m->out->own, all = m->targets;
    if (!(marks & TARGETS)) {
        int64_t side = c->targets.begin < all.begin ? own.begin : own.end;
        return (ps_fmm_range){side, side};
    }
    return (ps_fmm_range){own.begin + ps_larger(c->targets.begin, all.begin) - all.begin,
                          own.begin + ps_smaller(c->targets.end, all.end) - all.begin};
}

static void fill_cell(const maker *m, int64_t cell)
{
    const ps_adaptive_tree *w = m->whole;
    ps_essential *e = m->out;
    int32_t number = e->number[cell];
    uint8_t marks = e->marks[cell];
    if (number < 0) return;
    ps_adaptive_cell c = w->cell[cell];
    int64_t size = ps_adaptive_size(c.sources);
    c.targets = targets_of(m, &w->cell[cell], marks);
    c.sources.begin = marks & PARTICLES ? place_of(e, c.sources.begin) : 0;
    c.sources.end = c.sources.begin + size;
    c.parent = c.parent < 0 ? -1 : e->number[c.parent];
    bool open = c.child >= 0 && marks & OPEN, leaf = c.child < 0 && marks & PARTICLES;
    if (open) c.child = e->number[c.child];
    if (!open && !leaf) c.child = c.children = 0;
    e->tree.cell[number] = c;
    e->whole[number] = (int32_t)cell;
    e->given[number] = (marks & GIVEN) != 0;
    for (int n = 0; n < 27; ++n) {
        int32_t other = w->around[cell][n];
        e->tree.around[number][n] = other < 0 ? -1 : e->number[other];
    }
}

static ps_status make_room(const maker *m, int64_t leaves)
{
    ps_essential *e = m->out;
    ps_adaptive_tree *t = &e->tree;
    ps_adaptive_room *room = &t->room;
    *room = m->whole->room;
    PS_TRY((*room)((void **)&t->cell, &t->capacity[0], t->cells, sizeof *t->cell, "cells"));
    PS_TRY((*room)((void **)&t->around, &t->capacity[1], t->cells, sizeof *t->around, "cells"));
    PS_TRY((*room)((void **)&t->leaf, &t->capacity[2], leaves, sizeof *t->leaf, "leaves"));
    PS_TRY((*room)((void **)&e->whole, &e->capacity[5], t->cells, sizeof *e->whole, "cells"));
    return (*room)((void **)&e->given, &e->capacity[6], t->cells, sizeof *e->given, "cells");
}

/* The tree of what is marked; leaves are [leaves.begin, leaves.end) of the whole's. */
static ps_status make(const maker *m, ps_fmm_range leaves)
{
    const ps_adaptive_tree *w = m->whole;
    ps_essential *e = m->out;
    ps_adaptive_tree *t = &e->tree;
    t->box = w->box;
    t->deepest = w->deepest;
    t->leaf_size = w->leaf_size;
    t->least = w->least;
    t->same = true;
    t->portion = ps_adaptive_portion_size(w);
    PS_TRY(find_runs(m));
    number_cells(m);
    PS_TRY(make_room(m, ps_adaptive_size(leaves)));
    int64_t begin =
        ps_adaptive_size(m->targets) && e->run_count ? place_of(e, m->targets.begin) : 0;
    e->own = (ps_fmm_range){begin, begin + ps_adaptive_size(m->targets)};
#pragma omp parallel for schedule(static)
    for (int64_t c = 0; c < w->cells; ++c) fill_cell(m, c);
    t->leaves = 0;
    for (int64_t l = leaves.begin; l < leaves.end; ++l)
        t->leaf[t->leaves++] = e->number[w->leaf[l]];
    return PS_OK;
}

/* ---- all ---- */

/* The number among the leaves of the first one that begins at a target or behind it. */
static int64_t leaf_at(const ps_adaptive_tree *t, int64_t target)
{
    int64_t low;
    PS_LOWER_BOUND(low, 0, t->leaves, at, t->cell[t->leaf[at]].targets.begin < target);
    return low;
}

ps_status ps_essential_below(const ps_adaptive_tree *whole, ps_fmm_range targets, ps_essential *out)
{
    maker m = {.out = out};
    PS_TRY(start(whole, targets, &m));
#pragma omp parallel for schedule(static)
    for (int64_t c = 0; c < whole->cells; ++c) {
        const ps_adaptive_cell *cell = &whole->cell[c];
        bool within = cell->sources.begin >= targets.begin && cell->sources.end <= targets.end;
        if (within) out->marks[c] = HELD | (ps_adaptive_is_leaf(cell) ? PARTICLES : OPEN);
    }
    return make(&m, (ps_fmm_range){leaf_at(whole, targets.begin), leaf_at(whole, targets.end)});
}

/* Cells around a border, from the root down. */
static void mark_border(const maker *m, int64_t border)
{
    const ps_adaptive_tree *t = m->whole;
    int32_t cell = 0;
    while (cell >= 0 && t->cell[cell].sources.begin < border &&
           border < t->cell[cell].sources.end) {
        const ps_adaptive_cell *c = &t->cell[cell];
        int32_t next = -1;
        put(m, cell, HELD | OPEN);
        for (int32_t s = c->child; s < c->child + c->children; ++s) {
            next = t->cell[s].sources.begin < border && border < t->cell[s].sources.end ? s : next;
            put(m, s, HELD);
        }
        cell = next;
    }
}

ps_status ps_essential_above(const ps_adaptive_tree *whole, const int64_t *borders, int64_t count,
                             ps_essential *out)
{
    maker m = {.out = out};
    PS_TRY(start(whole, (ps_fmm_range){0, 0}, &m));
    for (int64_t i = 0; i < count; ++i) mark_border(&m, borders[i]);
    for (int64_t c = 0; c < whole->cells; ++c)
        if (out->marks[c] == HELD) out->marks[c] |= GIVEN;
    return make(&m, (ps_fmm_range){0, 0});
}

ps_status ps_essential_around(const ps_adaptive_tree *whole, const ps_adaptive_rule *rule,
                              int64_t first, int64_t end, ps_essential *out)
{
    maker m = {.out = out, .rule = rule};
    PS_TRY(start(whole, ps_adaptive_portion_targets(whole, first, end), &m));
    for (int l = 0; l < whole->levels; ++l) PS_TRY(mark_level_around(&m, l));
    return make(&m, ps_adaptive_portion_leaves(whole, first, end));
}

int64_t ps_essential_fixed_bytes(const ps_adaptive_tree *whole)
{
    return whole->cells * (int64_t)(sizeof(uint8_t) + sizeof(int32_t));
}

int64_t ps_essential_bytes(const ps_essential *e)
{
    int64_t cell =
        sizeof *e->tree.cell + sizeof *e->tree.around + sizeof *e->whole + sizeof *e->given;
    return e->tree.cells * cell + e->tree.leaves * (int64_t)sizeof *e->tree.leaf +
           e->run_count * (int64_t)(sizeof *e->runs + sizeof *e->at) +
           4 * e->listed * (int64_t)sizeof *e->words;
}

void ps_essential_release(ps_essential *e)
{
    void *arrays[] = {e->tree.cell, e->tree.around, e->tree.leaf, e->whole,  e->given,
                      e->runs,      e->at,          e->marks,     e->number, e->words};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i) free(arrays[i]);
    *e = (ps_essential){0};
}
