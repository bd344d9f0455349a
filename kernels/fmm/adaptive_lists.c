#include "kernels/fmm/adaptive_lists.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/fmm/tree_lists.h"
#include "runtime/first_failure.h"

#define KERNEL_INLINE static inline
#include "kernels/fmm/morton_body.h"

static ps_status append(const ps_adaptive_tree *t, ps_adaptive_list *list, int32_t cell)
{
    if (list->count == list->capacity)
        PS_TRY(t->room((void **)&list->items, &list->capacity, list->count + 1, sizeof *list->items,
                       "interaction lists"));
    list->items[list->count++] = cell;
    return PS_OK;
}

static inline int64_t sources_of(const ps_adaptive_cell *c) { return ps_adaptive_size(c->sources); }
static inline int64_t targets_of(const ps_adaptive_cell *c) { return ps_adaptive_size(c->targets); }

/* ---- V ---- */

/* A pair of V that is summed directly. */
static inline bool is_short(const ps_adaptive_tree *t, const ps_adaptive_rule *rule,
                            const ps_adaptive_cell *target, int32_t source)
{
    return ps_adaptive_is_leaf(target) && !ps_adaptive_is_image(t, source) &&
           targets_of(target) * sources_of(&t->cell[source]) <= rule->pairs;
}

/* Cells of V with sources: those that the rule takes out, or the others. codes may be NULL. */
static int list_far(const ps_adaptive_tree *t, const ps_adaptive_rule *rule, int32_t cell,
                    bool taken, int64_t *sources, uint16_t *codes)
{
    const ps_adaptive_cell *c = &t->cell[cell];
    int found = 0;
    if (c->parent < 0 || targets_of(c) == 0) return 0;
    for (int n = 0; n < 27; ++n) {
        int32_t other = t->around[c->parent][n];
        if (other < 0) continue;
        const ps_adaptive_cell *o = &t->cell[other];
        for (int32_t s = o->child; s < o->child + o->children; ++s) {
            const ps_adaptive_cell *source = &t->cell[s];
            int offset[3], reach = 0;
            for (int d = 0; d < 3; ++d) {
                offset[d] = (int)(source->place[d] - c->place[d]);
                reach = abs(offset[d]) > reach ? abs(offset[d]) : reach;
            }
            if (reach < 2 || sources_of(source) == 0 || is_short(t, rule, c, s) != taken) continue;
            if (codes) codes[found] = (uint16_t)ps_tree_code(offset[0], offset[1], offset[2]);
            sources[found++] = ps_adaptive_twin(t, s);
        }
    }
    return found;
}

int ps_adaptive_far(const ps_adaptive_tree *t, const ps_adaptive_rule *rule, int32_t cell,
                    int64_t *sources, uint16_t *codes)
{
    return list_far(t, rule, cell, false, sources, codes);
}

/* ---- U, W ---- */

static ps_status add_direct(const ps_adaptive_tree *t, int32_t source, ps_adaptive_lists *out)
{
    return sources_of(&t->cell[source]) ? append(t, &out->direct, source) : PS_OK;
}

/* What lies below a cell that a leaf touches: U and W. */
static ps_status descend(const ps_adaptive_tree *t, const ps_adaptive_rule *rule, int32_t leaf,
                         int32_t top, ps_adaptive_lists *out)
{
    const ps_adaptive_cell *b = &t->cell[leaf];
    out->stack.count = 0;
    PS_TRY(append(t, &out->stack, top));
    while (out->stack.count > 0) {
        int32_t parent = out->stack.items[--out->stack.count];
        const ps_adaptive_cell *p = &t->cell[parent];
        for (int32_t s = p->child; s < p->child + p->children; ++s) {
            const ps_adaptive_cell *c = &t->cell[s];
            if (sources_of(c) == 0) continue;
            bool few = sources_of(c) <= rule->points || ps_adaptive_is_image(t, s);
            if (!ps_adaptive_adjacent(b, c))
                PS_TRY(append(t, few ? &out->direct : &out->far, s));
            else
                PS_TRY(append(t, ps_adaptive_is_leaf(c) ? &out->direct : &out->stack, s));
        }
    }
    return PS_OK;
}

/* ---- U, X: leaves of the cell's level and above ---- */

/* Whether what a leaf does to a cell of its W, or what that does to the leaf, is summed directly:
 * then it is in the lists of leaves. */
static bool is_direct(const ps_adaptive_rule *rule, const ps_adaptive_cell *small)
{
    return ps_adaptive_is_leaf(small) && targets_of(small) <= rule->points;
}

/* A leaf beside one of the cell's ancestors, or beside the cell. */
static ps_status add_coarse(const ps_adaptive_tree *t, const ps_adaptive_rule *rule, int32_t cell,
                            int32_t leaf, ps_adaptive_lists *out)
{
    const ps_adaptive_cell *c = &t->cell[cell], *b = &t->cell[leaf];
    if (sources_of(b) == 0) return PS_OK;
    if (ps_adaptive_adjacent(c, b))
        return ps_adaptive_is_leaf(c) ? append(t, &out->direct, leaf) : PS_OK;
    if (!ps_adaptive_adjacent(&t->cell[c->parent], b)) return PS_OK; /* X of an ancestor */
    return append(t, is_direct(rule, c) ? &out->direct : &out->near, leaf);
}

static ps_status find_coarse(const ps_adaptive_tree *t, const ps_adaptive_rule *rule, int32_t cell,
                             ps_adaptive_lists *out)
{
    for (int32_t a = cell; a >= 0; a = t->cell[a].parent)
        for (uint32_t mask = t->cell[a].leaves_around; mask; mask &= mask - 1) {
            int32_t leaf = t->around[a][__builtin_ctz(mask)];
            PS_TRY(add_coarse(t, rule, cell, leaf, out));
        }
    return PS_OK;
}

/* ---- all ---- */

typedef bool (*before_fn)(const ps_adaptive_tree *t, int32_t a, int32_t b);

/* Copies of images lie behind all other particles. */
static bool has_sources_before(const ps_adaptive_tree *t, int32_t a, int32_t b)
{
    return t->cell[a].sources.begin < t->cell[b].sources.begin;
}

/* Of cells apart from each other, by their places: an essential tree has no particles of W. */
static bool lies_before(const ps_adaptive_tree *t, int32_t a, int32_t b)
{
    const ps_adaptive_cell *cells[2] = {&t->cell[a], &t->cell[b]};
    int finest = cells[0]->level > cells[1]->level ? cells[0]->level : cells[1]->level;
    int64_t place[2][3];
    for (int i = 0; i < 2; ++i)
        for (int d = 0; d < 3; ++d) place[i][d] = cells[i]->place[d] << (finest - cells[i]->level);
    return comes_before(place[0], place[1]);
}

/* By Shell's method: lists are short as a rule, and long beside a cusp. */
static void sort_list(const ps_adaptive_tree *t, before_fn before, ps_adaptive_list *list)
{
    int64_t gap = 1;
    while (3 * gap + 1 < list->count) gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3)
        for (int64_t i = gap; i < list->count; ++i) {
            int32_t item = list->items[i];
            int64_t j = i;
            for (; j >= gap && before(t, item, list->items[j - gap]); j -= gap)
                list->items[j] = list->items[j - gap];
            list->items[j] = item;
        }
}

ps_status ps_adaptive_near_of(const ps_adaptive_tree *t, const ps_adaptive_rule *rule, int32_t cell,
                              ps_adaptive_lists *out)
{
    out->direct.count = out->far.count = out->near.count = 0;
    if (targets_of(&t->cell[cell]) == 0) return PS_OK;
    return find_coarse(t, rule, cell, out);
}

ps_status ps_adaptive_lists_of(const ps_adaptive_tree *t, const ps_adaptive_rule *rule,
                               int32_t cell, ps_adaptive_lists *out)
{
    const ps_adaptive_cell *c = &t->cell[cell];
    int64_t taken[PS_ADAPTIVE_FAR_MAX];
    PS_TRY(ps_adaptive_near_of(t, rule, cell, out));
    if (targets_of(c) == 0) return PS_OK;
    if (!ps_adaptive_is_leaf(c)) return PS_OK;
    for (int n = 0; n < 27; ++n) {
        int32_t other = t->around[cell][n];
        if (other >= 0 && !ps_adaptive_is_leaf(&t->cell[other]))
            PS_TRY(descend(t, rule, cell, other, out));
    }
    int count = list_far(t, rule, cell, true, taken, NULL);
    for (int i = 0; i < count; ++i) PS_TRY(add_direct(t, (int32_t)taken[i], out));
    sort_list(t, has_sources_before, &out->direct);
    sort_list(t, lies_before, &out->far);
    return PS_OK;
}

void ps_adaptive_lists_release(ps_adaptive_lists *lists)
{
    ps_adaptive_list *all[] = {&lists->direct, &lists->far, &lists->near, &lists->stack};
    for (int i = 0; i < 4; ++i) free(all[i]->items);
    *lists = (ps_adaptive_lists){0};
}

ps_status ps_adaptive_each(const void *self, ps_adaptive_item_fn act, int64_t begin, int64_t end,
                           int together)
{
    ps_failure failure = {0};
#pragma omp parallel
    {
        ps_adaptive_lists lists = {0};
#pragma omp for schedule(dynamic, together)
        for (int64_t i = begin; i < end; ++i)
            if (!ps_has_failed(&failure)) ps_note_failure(&failure, act(self, i, &lists));
        ps_adaptive_lists_release(&lists);
    }
    return ps_first_failure(&failure);
}

/* ---- work ---- */

static void add_work(const ps_adaptive_tree *t, int32_t cell, const ps_adaptive_lists *lists,
                     ps_adaptive_work *work)
{
    int64_t targets = targets_of(&t->cell[cell]);
    for (int64_t i = 0; i < lists->direct.count; ++i)
        work->direct += targets * sources_of(&t->cell[lists->direct.items[i]]);
    for (int64_t i = 0; i < lists->near.count; ++i)
        work->p2l += sources_of(&t->cell[lists->near.items[i]]);
    work->m2p += targets * lists->far.count;
    work->direct_cells += lists->direct.count;
    work->m2p_cells += lists->far.count;
    work->p2l_cells += lists->near.count;
}

static void add_all(const ps_adaptive_work *from, ps_adaptive_work *to)
{
    to->direct += from->direct;
    to->m2l += from->m2l;
    to->m2p += from->m2p;
    to->p2l += from->p2l;
    to->direct_cells += from->direct_cells;
    to->m2p_cells += from->m2p_cells;
    to->p2l_cells += from->p2l_cells;
}

ps_status ps_adaptive_count(const ps_adaptive_tree *t, const ps_adaptive_rule *rule,
                            ps_adaptive_work *out)
{
    ps_failure failure = {0};
    *out = (ps_adaptive_work){0};
#pragma omp parallel
    {
        ps_adaptive_lists lists = {0};
        ps_adaptive_work own = {0};
        int64_t sources[PS_ADAPTIVE_FAR_MAX];
#pragma omp for schedule(dynamic, 64) nowait
        for (int64_t c = 0; c < t->cells; ++c) {
            if (ps_has_failed(&failure)) continue;
            own.m2l += ps_adaptive_far(t, rule, (int32_t)c, sources, NULL);
            ps_note_failure(&failure, ps_adaptive_lists_of(t, rule, (int32_t)c, &lists));
            add_work(t, (int32_t)c, &lists, &own);
        }
#pragma omp critical(ps_adaptive_work)
        add_all(&own, out);
        ps_adaptive_lists_release(&lists);
    }
    return ps_first_failure(&failure);
}

/* ---- the rule ---- */

int64_t ps_adaptive_leaf_size(int order) { return lround(48 * pow(2, 0.5 * (order - 3))); }

ps_adaptive_rule ps_adaptive_rule_of(int order)
{
    /* On cores an M2L costs as much as 0.035 l^5 pairs of particles (that is 110 at l = 5), if
     * these fill vectors, which so few do not. */
    return (ps_adaptive_rule){.points = order * order * order,
                              .pairs = (int64_t)(0.01 * pow(order, 5))};
}
