#include "kernels/fmm/adaptive_tree.h"

#include <math.h>

#include "kernels/common/space_curve.h"
#include "kernels/common/word_sort.h"
#include "runtime/search.h"

/* ---- the root ---- */

enum { CORNER_BITS = 20 };

/* The root of width 2^exponent with its corner just below `lower`; whether it holds all. */
static bool is_held(const double lower[3], const double upper[3], int exponent, ps_octree_box *box)
{
    bool held = true;
    box->width = ldexp(1, exponent);
    for (int d = 0; d < 3; ++d) {
        double step = ldexp(box->width, -CORNER_BITS);
        box->corner[d] = floor(lower[d] / step) * step;
        held = held && upper[d] < box->corner[d] + box->width;
    }
    return held;
}

ps_status ps_adaptive_root(const double lower[3], const double upper[3], ps_octree_box *box,
                           int *deepest)
{
    enum { FEWEST = 3 };
    double widest = 0, largest = 0;
    int exponent, places;
    for (int d = 0; d < 3; ++d) {
        widest = fmax(widest, upper[d] - lower[d]);
        largest = fmax(largest, fmax(fabs(lower[d]), fabs(upper[d])));
    }
    if (!(widest > 0)) widest = largest > 0 ? largest : 1; /* all at one place */
    frexp(widest, &exponent);
    while (!is_held(lower, upper, exponent, box)) ++exponent;
    /* Half a cell is a bit more, and the upper border of the root another one. */
    frexp(largest + box->width, &places);
    *deepest = 52 - (places - exponent) - 1;
    if (*deepest > PS_ADAPTIVE_DEEPEST) *deepest = PS_ADAPTIVE_DEEPEST;
    if (*deepest >= FEWEST) return PS_OK;
    return ps_fail(
        PS_INVALID,
        "particles within %.3g of each other at coordinates of %.3g: fp64 tells no cells "
        "apart there; move the origin",
        widest, largest);
}

/* ---- keys ---- */

/* The lower 21 levels of a particle's key. The upper ones are those of ps_tree_keys on level 21:
 * both scales differ by a power of 2, so that they belong to one number. */
uint64_t ps_adaptive_low_key(const ps_octree_box *box, const ps_tree_points *p, int64_t i)
{
    const double scale = ldexp((double)((int64_t)1 << PS_ADAPTIVE_WORD) / box->width,
                               PS_ADAPTIVE_DEEPEST - PS_ADAPTIVE_WORD);
    const double last = (double)(((int64_t)1 << PS_ADAPTIVE_DEEPEST) - 1);
    const double at[3] = {p->x[i], p->y[i], p->z[i]};
    uint32_t low[3];
    for (int d = 0; d < 3; ++d) {
        double cell = (at[d] - box->corner[d]) * scale;
        cell = cell < last ? cell : last;
        low[d] =
            (uint32_t)((int64_t)(cell > 0 ? cell : 0) & (((int64_t)1 << PS_ADAPTIVE_WORD) - 1));
    }
    return ps_morton_key(low[0], low[1], low[2]);
}

int64_t ps_adaptive_sort_workspace(int64_t count)
{
    int64_t words = ps_tree_sort_workspace(count, PS_ADAPTIVE_WORD);
    return words > 4 * count ? words : 4 * count;
}

/* Particles [first, end) share the upper levels: brought into the order of the lower ones. */
static void sort_run(const ps_octree_box *box, const ps_adaptive_set *set, int64_t first,
                     int64_t end, uint64_t *words)
{
    int64_t count = end - first;
    for (int64_t i = 0; i < count; ++i) {
        words[2 * i] = ps_adaptive_low_key(box, &set->points, set->order[first + i]);
        words[2 * i + 1] = (uint64_t)set->order[first + i];
    }
    words = ps_word_sort(words, count, 2, 0, 3 * PS_ADAPTIVE_WORD, words + 2 * count);
    for (int64_t i = 0; i < count; ++i) set->order[first + i] = (int64_t)words[2 * i + 1];
}

int64_t ps_adaptive_sort(const ps_octree_box *box, uint64_t *workspace, ps_adaptive_set *set)
{
    int64_t count = set->points.count;
    int64_t outside =
        ps_tree_sort(box, PS_ADAPTIVE_WORD, &set->points, workspace, set->keys, set->order);
    for (int64_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && set->keys[end] == set->keys[first]; ++end) continue;
        if (end > first + 1) sort_run(box, set, first, end, workspace);
    }
    return outside;
}

/* ---- dividing ---- */

/* Of sorted particle i. */
static inline uint64_t low_at(const ps_adaptive_tree *t, const ps_adaptive_set *set, int64_t i)
{
    return set->low ? set->low[i] : ps_adaptive_low_key(&t->box, &set->points, set->order[i]);
}

/* The octant, on `level` (from 1 on), of the cell that holds sorted particle i. */
static inline int octant_of(const ps_adaptive_tree *t, const ps_adaptive_set *set, int level,
                            int64_t i)
{
    if (level <= PS_ADAPTIVE_WORD) return (int)(set->keys[i] >> 3 * (PS_ADAPTIVE_WORD - level) & 7);
    return (int)(low_at(t, set, i) >> 3 * (PS_ADAPTIVE_DEEPEST - level) & 7);
}

/* Where each octant of a level begins within a range of a cell of the level above: border[9]. */
static void find_borders(const ps_adaptive_tree *t, int set, int level, ps_fmm_range range,
                         int64_t border[9])
{
    border[0] = range.begin;
    border[8] = range.end;
    for (int octant = 1; octant < 8; ++octant) {
        int64_t low;
        PS_LOWER_BOUND(low, border[octant - 1], range.end, at,
                       octant_of(t, &t->sets[set], level, at) < octant);
        border[octant] = low;
    }
}

typedef struct full_key {
    uint64_t high, low;
} full_key;

static full_key key_at(const ps_adaptive_tree *t, int set, int64_t i)
{
    const ps_adaptive_set *s = &t->sets[set];
    return (full_key){s->keys[i], low_at(t, s, i)};
}

/* Whether all particles of a cell share all levels: no division parts them. */
static bool is_one_place(const ps_adaptive_tree *t, const ps_adaptive_cell *c)
{
    full_key first = {0, 0};
    bool known = false;
    for (int set = 0; set < (t->same ? 1 : 2); ++set) {
        ps_fmm_range r = set ? c->targets : c->sources;
        if (r.begin == r.end) continue;
        if (t->sets[set].keys[r.begin] != t->sets[set].keys[r.end - 1]) return false;
        full_key a = key_at(t, set, r.begin), b = key_at(t, set, r.end - 1);
        if (!known) first = a;
        known = true;
        if (a.high != first.high || b.high != first.high) return false;
        if (a.low != first.low || b.low != first.low) return false;
    }
    return true;
}

static void borders_of(const ps_adaptive_tree *t, const ps_adaptive_cell *c, int64_t border[2][9])
{
    find_borders(t, 0, c->level + 1, c->sources, border[0]);
    find_borders(t, t->same ? 0 : 1, c->level + 1, c->targets, border[1]);
}

static int count_children(const ps_adaptive_tree *t, const ps_adaptive_cell *c)
{
    int64_t border[2][9], held = ps_adaptive_size(c->sources);
    int children = 0;
    if (!t->same) held += ps_adaptive_size(c->targets);
    bool must = c->level < t->least;
    if (!must && (held <= t->leaf_size || c->level >= t->deepest || is_one_place(t, c))) return 0;
    borders_of(t, c, border);
    for (int o = 0; o < 8; ++o)
        children += border[0][o + 1] > border[0][o] || border[1][o + 1] > border[1][o];
    return children;
}

/* The child of a cell (or of none, -1) in an octant; -1 if there is none. */
static inline int32_t child_at(const ps_adaptive_tree *t, int32_t cell, int octant)
{
    if (cell < 0 || t->cell[cell].child < 0) return -1;
    const ps_adaptive_cell *c = &t->cell[cell];
    for (int32_t child = c->child; child < c->child + c->children; ++child)
        if (t->cell[child].octant == octant) return child;
    return -1;
}

/* A colleague of a child is a child of a colleague of its parent. */
static void find_colleagues(const ps_adaptive_tree *t, int32_t cell)
{
    const ps_adaptive_cell *c = &t->cell[cell];
    const int32_t *above = t->around[c->parent];
    for (int n = 0; n < 27; ++n) {
        int part = 0, octant = 0;
        for (int axis = 0, step = 9; axis < 3; ++axis, step /= 3) {
            int v = (c->octant >> (2 - axis) & 1) + n / step % 3 + 1; /* 2 more than the place */
            part = 3 * part + v / 2;
            octant = 2 * octant + (v & 1);
        }
        t->around[cell][n] = child_at(t, above[part], octant);
    }
}

static void fill_children(const ps_adaptive_tree *t, int32_t parent)
{
    const ps_adaptive_cell *p = &t->cell[parent];
    int64_t border[2][9];
    int32_t at = p->child;
    if (at < 0) return;
    borders_of(t, p, border);
    for (int o = 0; o < 8; ++o) {
        if (border[0][o + 1] == border[0][o] && border[1][o + 1] == border[1][o]) continue;
        ps_adaptive_cell *c = &t->cell[at++];
        *c = (ps_adaptive_cell){.sources = {border[0][o], border[0][o + 1]},
                                .targets = {border[1][o], border[1][o + 1]},
                                .parent = parent,
                                .child = -1,
                                .octant = (uint8_t)o,
                                .level = (uint8_t)(p->level + 1)};
        for (int d = 0; d < 3; ++d) c->place[d] = 2 * p->place[d] + (o >> (2 - d) & 1);
    }
}

static void mark_leaves_around(const ps_adaptive_tree *t, int32_t cell)
{
    uint32_t mask = 0;
    for (int n = 0; n < 27; ++n) {
        int32_t other = t->around[cell][n];
        if (other >= 0 && t->cell[other].children == 0) mask |= (uint32_t)1 << n;
    }
    t->cell[cell].leaves_around = mask;
}

void ps_adaptive_look_around(const ps_adaptive_tree *t, int32_t cell)
{
    find_colleagues(t, cell);
    mark_leaves_around(t, cell);
}

static ps_status make_room(ps_adaptive_tree *t, int64_t cells)
{
    if (cells > INT32_MAX)
        return ps_fail(PS_EXHAUSTED, "an adaptive tree of more than %d cells", INT32_MAX);
    PS_TRY(t->room((void **)&t->cell, &t->capacity[0], cells, sizeof *t->cell, "cells"));
    return t->room((void **)&t->around, &t->capacity[1], cells, sizeof *t->around, "cells");
}

/* Divides the cells of a level. */
static ps_status divide_level(ps_adaptive_tree *t, int level)
{
    int64_t first = t->level_start[level], end = t->level_start[level + 1], next = end;
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t c = first; c < end; ++c)
        t->cell[c].children = (uint8_t)count_children(t, &t->cell[c]);
    for (int64_t c = first; c < end; ++c) {
        t->cell[c].child = t->cell[c].children ? (int32_t)next : -1;
        next += t->cell[c].children;
        t->leaves += t->cell[c].children == 0;
        if (next > INT32_MAX) break;
    }
    PS_TRY(make_room(t, next));
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t c = first; c < end; ++c) {
        mark_leaves_around(t, (int32_t)c);
        fill_children(t, (int32_t)c);
    }
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t c = end; c < next; ++c) find_colleagues(t, (int32_t)c);
    t->cells = next;
    return PS_OK;
}

/* Leaves along the Morton order: down to the first child, else to the next sibling. */
static ps_status list_leaves(ps_adaptive_tree *t)
{
    int32_t cell = 0;
    int64_t found = 0;
    PS_TRY(t->room((void **)&t->leaf, &t->capacity[2], t->leaves, sizeof *t->leaf, "leaves"));
    while (cell >= 0) {
        const ps_adaptive_cell *c = &t->cell[cell];
        if (c->child >= 0) {
            cell = c->child;
            continue;
        }
        t->leaf[found++] = cell;
        while (cell > 0 && cell + 1 == t->cell[t->cell[cell].parent].child +
                                           t->cell[t->cell[cell].parent].children)
            cell = t->cell[cell].parent;
        cell = cell > 0 ? cell + 1 : -1;
    }
    return PS_OK;
}

ps_status ps_adaptive_divide(ps_adaptive_tree *t)
{
    int64_t targets = t->sets[t->same ? 0 : 1].points.count;
    t->leaves = t->cells = t->levels = t->images = 0;
    t->level_start[0] = 0;
    if (t->sets[0].points.count + targets == 0) return PS_OK;
    PS_TRY(make_room(t, 1));
    t->cell[0] = (ps_adaptive_cell){
        .sources = {0, t->sets[0].points.count}, .targets = {0, targets}, .parent = -1};
    for (int n = 0; n < 27; ++n) t->around[0][n] = n == 13 ? 0 : -1;
    t->cells = 1;
    while (t->cells > t->level_start[t->levels]) {
        t->level_start[t->levels + 1] = t->cells;
        PS_TRY(divide_level(t, t->levels));
        ++t->levels;
        if (t->levels == PS_ADAPTIVE_LEVELS) break;
    }
    return list_leaves(t);
}

/* ---- geometry ---- */

bool ps_adaptive_adjacent(const ps_adaptive_cell *a, const ps_adaptive_cell *b)
{
    const ps_adaptive_cell *coarse = a->level <= b->level ? a : b, *fine = coarse == a ? b : a;
    int shift = fine->level - coarse->level;
    for (int d = 0; d < 3; ++d)
        if (fine->place[d] + 1 < coarse->place[d] << shift ||
            fine->place[d] > (coarse->place[d] + 1) << shift)
            return false;
    return true;
}

void ps_adaptive_centre(const ps_octree_box *box, const ps_adaptive_cell *cell, double centre[3],
                        double *width)
{
    *width = ldexp(box->width, -cell->level);
    for (int d = 0; d < 3; ++d)
        centre[d] = box->corner[d] + ((double)cell->place[d] + 0.5) * *width;
}
