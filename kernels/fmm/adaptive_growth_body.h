/*
 * The steps of adaptive_growth.h, one index of one step at a time: the includer defines
 * KERNEL_INLINE and GROWTH_ADD(int64_t *to, value), whose sums may come in any order, after
 * kernels/fmm/adaptive_growth.h. Run by adaptive_growth_cuda.cu, and on the host by the tests.
 */
KERNEL_INLINE int32_t cell_size(const ps_growth_cell *c) { return c->end - c->begin; }

/* ---- dividing ---- */

KERNEL_INLINE int octant_at(const ps_growth_arrays *g, int level, int64_t i)
{
    return (int)(g->keys[i] >> 3 * (PS_GROWTH_LEVEL - level) & 7);
}

KERNEL_INLINE bool is_divided(const ps_growth_arrays *g, const ps_growth_cell *c)
{
    return cell_size(c) > g->leaf_size && c->level < PS_GROWTH_LEVEL;
}

/* `cells` is the number of particles here. */
KERNEL_INLINE void step_root(const ps_growth_arrays *g, int64_t i)
{
    ps_growth_cell c = {0};
    c.end = g->cells;
    c.parent = c.child = -1;
    g->cell[i] = c;
    for (int n = 0; n < 27; ++n) g->around[i][n] = n == 13 ? 0 : -1;
}

KERNEL_INLINE void step_borders(const ps_growth_arrays *g, int64_t i)
{
    const ps_growth_cell *c = &g->cell[g->first + i / 8];
    int octant = (int)(i % 8);
    int32_t low = c->begin, high = c->end;
    if (!is_divided(g, c)) return;
    while (low < high && octant > 0) {
        int32_t middle = low + (high - low) / 2;
        if (octant_at(g, c->level + 1, middle) < octant)
            low = middle + 1;
        else
            high = middle;
    }
    g->borders[i] = low;
}

KERNEL_INLINE int32_t border_end(const ps_growth_arrays *g, const ps_growth_cell *c, int64_t i)
{
    return i % 8 == 7 ? c->end : g->borders[i + 1];
}

KERNEL_INLINE void step_count(const ps_growth_arrays *g, int64_t i)
{
    ps_growth_cell *c = &g->cell[g->first + i];
    int children = 0;
    if (is_divided(g, c))
        for (int o = 0; o < 8; ++o) children += border_end(g, c, 8 * i + o) > g->borders[8 * i + o];
    else if (cell_size(c) > g->leaf_size)
        *g->overfull = 1;
    c->children = (uint8_t)children;
    g->count[0][i] = children;
}

KERNEL_INLINE void step_fill(const ps_growth_arrays *g, int64_t i)
{
    int32_t parent = (int32_t)(g->first + i / 8);
    ps_growth_cell *p = &g->cell[parent];
    int octant = (int)(i % 8), before = 0;
    if (octant == 0) p->child = p->children ? g->end + g->start[0][i / 8] : -1;
    if (p->children == 0) return;
    int32_t begin = g->borders[i], end = border_end(g, p, i);
    if (begin == end) return;
    for (int64_t o = i - octant; o < i; ++o) before += border_end(g, p, o) > g->borders[o];
    ps_growth_cell c = {0};
    c.begin = begin;
    c.end = end;
    c.parent = parent;
    c.child = -1;
    for (int d = 0; d < 3; ++d) c.place[d] = 2 * p->place[d] + (octant >> (2 - d) & 1);
    c.octant = (uint8_t)octant;
    c.level = (uint8_t)(p->level + 1);
    g->cell[g->end + g->start[0][i / 8] + before] = c;
}

/* The child of a cell in an octant, or -1. */
KERNEL_INLINE int32_t child_in(const ps_growth_arrays *g, int32_t cell, int octant)
{
    const ps_growth_cell *c = &g->cell[cell];
    for (int32_t i = c->child; i < c->child + c->children; ++i)
        if (g->cell[i].octant == octant) return i;
    return -1;
}

KERNEL_INLINE void step_around(const ps_growth_arrays *g, int64_t i)
{
    int32_t cell = (int32_t)(g->end + i / 27);
    const ps_growth_cell *c = &g->cell[cell];
    int n = (int)(i % 27), part = 0, octant = 0;
    const int step[3] = {9, 3, 1};
    for (int d = 0; d < 3; ++d) {
        int v = (c->octant >> (2 - d) & 1) + n / step[d] % 3 + 1; /* 2 more than the place */
        part = 3 * part + v / 2;
        octant = 2 * octant + (v & 1);
    }
    int32_t uncle = g->around[c->parent][part];
    g->around[cell][n] = uncle >= 0 ? child_in(g, uncle, octant) : -1;
}

/* ---- kinds of cells ---- */

KERNEL_INLINE void step_kinds(const ps_growth_arrays *g, int64_t i)
{
    const ps_growth_cell *c = &g->cell[i];
    uint32_t mask = 0;
    for (int n = 0; n < 27; ++n) {
        int32_t other = g->around[i][n];
        if (other >= 0 && g->cell[other].children == 0) mask |= (uint32_t)1 << n;
    }
    g->leaves_around[i] = mask;
    g->count[0][i] = c->children == 0;
    g->count[1][i] = c->children != 0;
}

KERNEL_INLINE void step_boxes(const ps_growth_arrays *g, int64_t i)
{
    const ps_growth_cell *c = &g->cell[i];
    ps_fmm_device_cell box;
    box.width = ldexp(g->box.width, -c->level);
    for (int d = 0; d < 3; ++d)
        box.centre[d] = g->box.corner[d] + ((double)c->place[d] + 0.5) * box.width;
    ((ps_fmm_device_cell *)g->part[PS_PLAN_BOXES])[i] = box;
    ((int32_t *)g->part[PS_PLAN_P2L_CELL])[i] = (int32_t)i;
    if (c->children) return;
    int32_t number = g->leaf_number[i];
    ps_fmm_device_leaf leaf = {0};
    for (int d = 0; d < 3; ++d) leaf.centre[d] = box.centre[d];
    leaf.width = box.width;
    leaf.begin = leaf.own = c->begin;
    leaf.end = leaf.own_end = c->end;
    leaf.vector = (int32_t)i;
    ((ps_fmm_device_leaf *)g->part[PS_PLAN_SOURCES])[number] = leaf;
    ((int32_t *)g->part[PS_PLAN_M2P_LEAF])[number] = number;
}

KERNEL_INLINE void codes_of(const ps_growth_arrays *g, int32_t cell, int32_t *codes)
{
    for (int o = 0; o < 8; ++o) codes[o] = -1;
    if (cell < 0) return;
    const ps_growth_cell *c = &g->cell[cell];
    for (int32_t i = c->child; i < c->child + c->children; ++i)
        codes[g->cell[i].octant] = i - g->level_start[c->level + 1];
}

KERNEL_INLINE void step_far(const ps_growth_arrays *g, int64_t i)
{
    int32_t cell = (int32_t)(i / 28), n = (int32_t)(i % 28);
    const ps_growth_cell *c = &g->cell[cell];
    if (n == 27) {
        codes_of(g, cell, (int32_t *)g->part[PS_PLAN_CHILDREN] + 8 * (int64_t)cell);
        if (cell == 0) ((int32_t *)g->part[PS_PLAN_BLOCK])[0] = 0;
        for (int32_t k = c->child; k < c->child + c->children; ++k)
            ((int32_t *)g->part[PS_PLAN_BLOCK])[k] = g->divided[cell] - g->divided_start[c->level];
        return;
    }
    if (c->children == 0 || c->level == 0) return;
    int64_t row = g->divided[cell] - g->divided_start[1];
    codes_of(g, g->around[cell][n],
             (int32_t *)g->part[PS_PLAN_FAR] + row * PS_FMM_DEVICE_FAR + 8 * n);
}

/* ---- the order of cells ---- */

/* Whether a cell has targets of the share. */
KERNEL_INLINE bool is_own(const ps_growth_arrays *g, const ps_growth_cell *c)
{
    return !g->shared || (c->begin < g->own_end && c->end > g->own_begin);
}

enum { GROWTH_AROUND_BITS = 27 };

KERNEL_INLINE void step_labels(const ps_growth_arrays *g, int64_t i)
{
    const ps_growth_cell *c = &g->cell[i];
    uint64_t label = (uint64_t)c->level << 1 | !is_own(g, c);
    label = (label << 3 | c->octant) << GROWTH_AROUND_BITS;
    for (int n = 0; n < 27 && c->parent >= 0; ++n)
        label |= (uint64_t)(g->around[c->parent][n] >= 0) << n;
    g->labels[i] = label;
    g->numbers[i] = (int32_t)i;
}

KERNEL_INLINE void step_order(const ps_growth_arrays *g, int64_t i)
{
    int32_t cell = g->numbers[i];
    ((int32_t *)g->part[PS_PLAN_ORDER])[i] = cell - g->level_start[g->cell[cell].level];
}

KERNEL_INLINE void step_octants(const ps_growth_arrays *g, int64_t i)
{
    int level = (int)(i / 9);
    int32_t low = g->level_start[level], high = g->level_start[level + 1], first = low;
    uint64_t label = (((uint64_t)level << 4) + (uint64_t)(i % 9)) << GROWTH_AROUND_BITS;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (g->labels[middle] < label)
            low = middle + 1;
        else
            high = middle;
    }
    ((int32_t *)g->part[PS_PLAN_OCTANTS])[i] = low - first;
}

/* ---- lists ---- */

/* By values, as are cells below: pointers would keep them out of registers. */
KERNEL_INLINE bool touch(ps_growth_cell a, ps_growth_cell b)
{
    bool a_fine = a.level > b.level, meets = true;
    int shift = a_fine ? a.level - b.level : b.level - a.level;
    for (int d = 0; d < 3; ++d) {
        int32_t fine = a_fine ? a.place[d] : b.place[d], coarse = a_fine ? b.place[d] : a.place[d];
        meets = meets && fine + 1 >= coarse << shift && fine <= (coarse + 1) << shift;
    }
    return meets;
}

/* Where lists go; NULL: they are counted. What is more than there is room for is counted alone. */
typedef struct growth_lists {
    ps_fmm_device_run *direct, *near;
    int32_t *far;
    int32_t direct_room, far_room;
    int32_t directs, fars, nears, end; /* end: of the last direct run */
    int64_t held;                      /* sources of direct cells     */
} growth_lists;

/* What a leaf begins with: leaves that act directly, and colleagues that are divided, sorted by
 * their particles. At most 27 cells touch it there, and 26 leaves its parent alone. */
enum { GROWTH_TOPS = 27 + 26 };
typedef struct growth_tops {
    int32_t begin[GROWTH_TOPS], cell[GROWTH_TOPS], count;
} growth_tops;

KERNEL_INLINE void put_top(int32_t begin, int32_t cell, growth_tops *tops)
{
    int32_t at = tops->count++;
    for (; at > 0 && tops->begin[at - 1] > begin; --at) {
        tops->begin[at] = tops->begin[at - 1];
        tops->cell[at] = tops->cell[at - 1];
    }
    tops->begin[at] = begin;
    tops->cell[at] = cell;
}

/* Cells come along the Morton order: what follows each other is one run. */
KERNEL_INLINE void put_direct(ps_growth_cell cell, growth_lists *out)
{
    bool more = out->directs == 0 || out->end != cell.begin;
    out->directs += more;
    out->held += cell.end - cell.begin;
    out->end = cell.end;
    if (out->directs > out->direct_room) return;
    if (more) out->direct[out->directs - 1].begin = cell.begin;
    out->direct[out->directs - 1].end = out->end;
}

KERNEL_INLINE void put_near(ps_growth_cell cell, growth_lists *out)
{
    if (out->near) {
        out->near[out->nears].begin = cell.begin;
        out->near[out->nears].end = cell.end;
    }
    ++out->nears;
}

/* The leaves beside a cell and its ancestors: X, and, of a leaf, U (adaptive_lists.c). */
KERNEL_INLINE void find_coarse_of(const ps_growth_arrays *g, int32_t cell, growth_tops *tops,
                                  growth_lists *out)
{
    const ps_growth_cell c = g->cell[cell];
    const ps_growth_cell parent = g->cell[c.parent < 0 ? cell : c.parent];
    for (int32_t a = cell; a >= 0; a = g->cell[a].parent) {
        uint32_t mask = g->leaves_around[a];
        for (int n = 0; mask >> n; ++n) {
            if (!(mask >> n & 1)) continue;
            int32_t number = g->around[a][n];
            const ps_growth_cell leaf = g->cell[number];
            bool beside = touch(c, leaf);
            if (!beside && !touch(parent, leaf)) continue;
            if (!beside && (c.children || c.end - c.begin > g->points))
                put_near(leaf, out);
            else if (tops)
                put_top(leaf.begin, number, tops);
        }
    }
}

/* What lies below a cell that a leaf touches: U and W. */
KERNEL_INLINE void descend_from(const ps_growth_arrays *g, ps_growth_cell leaf, int32_t top,
                                int32_t child, growth_lists *out)
{
    int32_t at = child;
    while (at >= 0) {
        ps_growth_cell c = g->cell[at];
        bool beside = touch(leaf, c);
        if (beside && c.children) {
            at = c.child;
            continue;
        }
        if (beside || c.end - c.begin <= g->points) {
            put_direct(c, out);
        } else {
            if (out->fars < out->far_room) out->far[out->fars] = at;
            ++out->fars;
        }
        while (at >= 0) { /* the next one that is not below */
            const ps_growth_cell above = g->cell[c.parent];
            if (at + 1 < above.child + above.children) {
                ++at;
                break;
            }
            at = c.parent == top ? -1 : c.parent;
            c = above;
        }
    }
}

/* U and W of a leaf, along the Morton order. */
KERNEL_INLINE void lists_of(const ps_growth_arrays *g, int32_t cell, growth_lists *out)
{
    const ps_growth_cell leaf = g->cell[cell];
    growth_tops tops;
    tops.count = 0;
    find_coarse_of(g, cell, &tops, out);
    for (int n = 0; n < 27; ++n) {
        int32_t other = g->around[cell][n];
        if (other < 0 || g->leaves_around[cell] >> n & 1) continue;
        put_top(g->cell[other].begin, other, &tops);
    }
    for (int32_t i = 0; i < tops.count; ++i) {
        const ps_growth_cell top = g->cell[tops.cell[i]];
        if (top.children)
            descend_from(g, leaf, tops.cell[i], top.child, out);
        else
            put_direct(top, out);
    }
}

KERNEL_INLINE int32_t cell_of_leaf(const ps_growth_arrays *g, int64_t leaf)
{
    return ((const ps_fmm_device_leaf *)g->part[PS_PLAN_SOURCES])[leaf].vector;
}

KERNEL_INLINE void add_work(const ps_growth_arrays *g, int which, int64_t i, int64_t value)
{
    if (value) GROWTH_ADD(&g->work[which * PS_GROWTH_SLOTS + i % PS_GROWTH_SLOTS], value);
}

KERNEL_INLINE void add_to_bucket(const ps_growth_arrays *g, const ps_growth_cell *c, int64_t work)
{
    int64_t bucket = (int64_t)c->begin * PS_GROWTH_BUCKETS / g->particles;
    if (work) GROWTH_ADD(&g->buckets[bucket], work);
}

/* Lists of most leaves are short enough to be kept where they are counted. */
KERNEL_INLINE void step_list_count(const ps_growth_arrays *g, int64_t i)
{
    growth_lists lists = {0};
    int32_t cell = cell_of_leaf(g, i);
    int64_t size = cell_size(&g->cell[cell]);
    lists.direct = g->kept[i].direct;
    lists.direct_room = PS_GROWTH_KEPT_RUNS;
    lists.far = g->kept[i].far;
    lists.far_room = PS_GROWTH_KEPT_FAR;
    lists_of(g, cell, &lists);
    g->count[0][i] = lists.directs;
    g->count[1][i] = lists.fars;
    if (!g->shared) return;
    add_work(g, 0, i, size * lists.held);
    add_work(g, 2, i, size * lists.fars);
    add_to_bucket(g, &g->cell[cell], size * (lists.held + g->costs.points * lists.fars));
}

KERNEL_INLINE void step_list_fill(const ps_growth_arrays *g, int64_t i)
{
    growth_lists lists = {0};
    const int32_t *runs = (const int32_t *)g->part[PS_PLAN_RUN_START] + i;
    const int32_t *fars = (const int32_t *)g->part[PS_PLAN_M2P_START] + i;
    lists.direct = (ps_fmm_device_run *)g->part[PS_PLAN_RUNS] + runs[0];
    lists.direct_room = runs[1] - runs[0];
    lists.far = (int32_t *)g->part[PS_PLAN_M2P_CELLS] + fars[0];
    lists.far_room = fars[1] - fars[0];
    if (!is_own(g, &g->cell[cell_of_leaf(g, i)])) return;
    if (lists.direct_room > PS_GROWTH_KEPT_RUNS || lists.far_room > PS_GROWTH_KEPT_FAR) {
        lists_of(g, cell_of_leaf(g, i), &lists);
        return;
    }
    for (int32_t k = 0; k < lists.direct_room; ++k) lists.direct[k] = g->kept[i].direct[k];
    for (int32_t k = 0; k < lists.far_room; ++k) lists.far[k] = g->kept[i].far[k];
}

KERNEL_INLINE void step_near_count(const ps_growth_arrays *g, int64_t i)
{
    growth_lists lists = {0};
    if (is_own(g, &g->cell[i])) find_coarse_of(g, (int32_t)i, NULL, &lists);
    g->count[0][i] = lists.nears;
}

KERNEL_INLINE void step_near_fill(const ps_growth_arrays *g, int64_t i)
{
    growth_lists lists = {0};
    lists.near = (ps_fmm_device_run *)g->part[PS_PLAN_P2L_RUNS] +
                 ((const int32_t *)g->part[PS_PLAN_P2L_START])[i];
    if (is_own(g, &g->cell[i])) find_coarse_of(g, (int32_t)i, NULL, &lists);
}

/* ---- work ---- */

KERNEL_INLINE int64_t held_by(const ps_fmm_device_run *runs, const int32_t *start, int64_t i)
{
    int64_t held = 0;
    for (int32_t r = start[i]; r < start[i + 1]; ++r) held += runs[r].end - runs[r].begin;
    return held;
}

KERNEL_INLINE void step_work_leaves(const ps_growth_arrays *g, int64_t i)
{
    const int32_t *fars = (const int32_t *)g->part[PS_PLAN_M2P_START];
    const ps_fmm_device_leaf *leaf = (const ps_fmm_device_leaf *)g->part[PS_PLAN_SOURCES] + i;
    int64_t size = leaf->end - leaf->begin;
    add_work(g, 0, i,
             size * held_by((const ps_fmm_device_run *)g->part[PS_PLAN_RUNS],
                            (const int32_t *)g->part[PS_PLAN_RUN_START], i));
    add_work(g, 2, i, size * (fars[i + 1] - fars[i]));
}

/* Cells of V. */
KERNEL_INLINE int64_t count_far(const ps_growth_arrays *g, const ps_growth_cell *c)
{
    int64_t far = 0;
    for (int n = 0; n < 27 && c->level > 1; ++n) {
        int32_t other = g->around[c->parent][n];
        if (other < 0) continue;
        const ps_growth_cell *o = &g->cell[other];
        for (int32_t k = o->child; k < o->child + o->children; ++k) far += !touch(*c, g->cell[k]);
    }
    return far;
}

KERNEL_INLINE void step_work_cells(const ps_growth_arrays *g, int64_t i)
{
    if (!g->shared) add_work(g, 1, i, count_far(g, &g->cell[i]));
    add_work(g, 3, i,
             held_by((const ps_fmm_device_run *)g->part[PS_PLAN_P2L_RUNS],
                     (const int32_t *)g->part[PS_PLAN_P2L_START], i));
}

/* ---- shares ---- */

KERNEL_INLINE void step_share_work(const ps_growth_arrays *g, int64_t i)
{
    const ps_growth_cell *c = &g->cell[i];
    int64_t far = count_far(g, c);
    add_work(g, 1, i, far);
    add_to_bucket(g, c, g->costs.m2l * far);
}

/* The first cell of a level whose particles end behind one, or begin there or behind it. */
KERNEL_INLINE int32_t find_behind(const ps_growth_arrays *g, int level, int32_t particle, bool ends)
{
    int32_t low = g->level_start[level], high = g->level_start[level + 1];
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        const ps_growth_cell *c = &g->cell[middle];
        if (ends ? c->end > particle : c->begin >= particle)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Where the first cell of a level behind a cut begins: the first leaf behind it is the least of
 * those of all levels. */
KERNEL_INLINE void step_cuts(const ps_growth_arrays *g, int64_t i)
{
    int level = (int)(i % g->levels);
    int32_t cell = find_behind(g, level, g->cuts[i], false);
    g->cuts[i] = cell < g->level_start[level + 1] ? g->cell[cell].begin : g->particles;
}

KERNEL_INLINE void step_own_cells(const ps_growth_arrays *g, int64_t i)
{
    int level = (int)(i / 2);
    g->own_cells[i] = i % 2 ? find_behind(g, level, g->own_end, false)
                            : find_behind(g, level, g->own_begin, true);
}

KERNEL_INLINE void step_own_leaves(const ps_growth_arrays *g, int64_t i)
{
    ps_fmm_device_leaf leaf = ((const ps_fmm_device_leaf *)g->part[PS_PLAN_SOURCES])[i];
    if (!is_own(g, &g->cell[leaf.vector])) {
        leaf.end = leaf.begin;
        g->count[0][i] = g->count[1][i] = 0;
    }
    ((ps_fmm_device_leaf *)g->part[PS_PLAN_TARGETS])[i] = leaf;
}

KERNEL_INLINE void growth_step(ps_growth_step step, const ps_growth_arrays *g, int64_t i)
{
#define GROWTH_CASE(NAME, name)                                                                    \
    case PS_GROWTH_##NAME:                                                                         \
        step_##name(g, i);                                                                         \
        break;
    switch (step) {
        GROWTH_CASE(ROOT, root)
        GROWTH_CASE(BORDERS, borders)
        GROWTH_CASE(COUNT, count)
        GROWTH_CASE(FILL, fill)
        GROWTH_CASE(AROUND, around)
        GROWTH_CASE(KINDS, kinds)
        GROWTH_CASE(BOXES, boxes)
        GROWTH_CASE(FAR, far)
        GROWTH_CASE(LABELS, labels)
        GROWTH_CASE(ORDER, order)
        GROWTH_CASE(OCTANTS, octants)
        GROWTH_CASE(LIST_COUNT, list_count)
        GROWTH_CASE(LIST_FILL, list_fill)
        GROWTH_CASE(NEAR_COUNT, near_count)
        GROWTH_CASE(NEAR_FILL, near_fill)
        GROWTH_CASE(SHARE_WORK, share_work)
        GROWTH_CASE(CUTS, cuts)
        GROWTH_CASE(OWN_CELLS, own_cells)
        GROWTH_CASE(OWN_LEAVES, own_leaves)
        GROWTH_CASE(WORK_LEAVES, work_leaves)
        GROWTH_CASE(WORK_CELLS, work_cells)
    default:
        break;
    }
#undef GROWTH_CASE
}
