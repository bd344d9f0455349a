#include "kernels/fmm/group_far.h"

#include <math.h>
#include <string.h>

#include "kernels/common/reals.h"
#include "kernels/fmm/m2l_block.h"
#include "runtime/sizes.h"

int64_t ps_fmm_vector_bytes(const ps_fmm_problem *p)
{
    return p->interpolation.points * ps_real_bytes(p->far);
}

int64_t ps_fmm_code_bytes(const ps_fmm_problem *p, int level)
{
    return p->tables[level]->length * ps_real_bytes(p->far);
}

void ps_fmm_cell_centre(const ps_octree *tree, int level, int64_t cell, double centre[3],
                        double *width)
{
    int64_t place[3];
    ps_tree_cell(tree->keys[level][cell], place);
    *width = ldexp(tree->box.width, -level);
    for (int d = 0; d < 3; ++d) centre[d] = tree->box.corner[d] + ((double)place[d] + 0.5) * *width;
}

int64_t ps_fmm_parent(const ps_octree *tree, int level, int64_t child)
{
    const int64_t *start = tree->child_start[level - 1];
    return ps_range_of(start, tree->cells[level - 1], child);
}

/* ---- vectors ---- */

/* The group that was met last: consecutive cells are mostly in the same one. */
typedef struct cursor {
    const ps_fmm_groups *groups;
    int64_t first, end, bytes;
    char *base;
} cursor;

static cursor cursor_of(const ps_fmm_groups *groups, int64_t bytes)
{
    return (cursor){.groups = groups, .bytes = bytes};
}

static inline void *vector_at(cursor *c, int side, int64_t cell)
{
    if (cell < c->first || cell >= c->end) {
        int64_t g = cell / c->groups->size;
        ps_fmm_group_range(c->groups, g, &c->first, &c->end);
        c->base = c->groups->base[g];
    }
    return c->base + (side * (c->end - c->first) + cell - c->first) * c->bytes;
}

/* ---- particles ---- */

static ps_fmm_leaf leaf_of(const ps_fmm_problem *p, const ps_octree *tree,
                           const ps_fmm_particles *particles, int64_t begin, int64_t cell,
                           int64_t group_cells)
{
    ps_fmm_leaf leaf = {
        .particles = particles,
        .range = {tree->particle_start[cell] - begin, tree->particle_start[cell + 1] - begin},
        .sides = p->sides,
        .vector_stride = group_cells * p->interpolation.points};
    ps_fmm_cell_centre(tree, tree->height - 1, cell, leaf.centre, &leaf.width);
    return leaf;
}

void ps_fmm_group_p2m(const ps_fmm_problem *p, int64_t first, int64_t end,
                      const ps_fmm_particles *particles, int64_t begin,
                      const ps_fmm_groups *multipoles)
{
    const struct ps_fmm_cell_functions *f = ps_fmm_cell_functions_of(PS_BACKEND_CPU, p->far);
    cursor to = cursor_of(multipoles, ps_fmm_vector_bytes(p));
    for (int64_t c = first; c < end; ++c) {
        void *vector = vector_at(&to, 0, c);
        ps_fmm_leaf leaf = leaf_of(p, p->sources, particles, begin, c, to.end - to.first);
        f->p2m(&p->interpolation, &leaf, vector);
    }
}

void ps_fmm_group_l2p(const ps_fmm_problem *p, int64_t first, int64_t end,
                      const ps_fmm_particles *particles, int64_t begin, const ps_fmm_groups *locals)
{
    const struct ps_fmm_cell_functions *f = ps_fmm_cell_functions_of(PS_BACKEND_CPU, p->far);
    cursor from = cursor_of(locals, ps_fmm_vector_bytes(p));
    for (int64_t c = first; c < end; ++c) {
        const void *vector = vector_at(&from, 0, c);
        ps_fmm_leaf leaf = leaf_of(p, p->targets, particles, begin, c, from.end - from.first);
        f->l2p(&p->interpolation, &leaf, vector);
    }
}

/* ---- between levels ---- */

void ps_fmm_group_m2m(const ps_fmm_problem *p, int level, int64_t first, int64_t end,
                      const ps_fmm_groups *children, const ps_fmm_groups *parents)
{
    const struct ps_fmm_cell_functions *f = ps_fmm_cell_functions_of(PS_BACKEND_CPU, p->far);
    const ps_octree *tree = p->sources;
    const int64_t *start = tree->child_start[level];
    cursor from = cursor_of(children, ps_fmm_vector_bytes(p)),
           to = cursor_of(parents, ps_fmm_vector_bytes(p));
    for (int side = 0; side < p->sides; ++side)
        for (int64_t c = first; c < end; ++c)
            for (int64_t child = start[c]; child < start[c + 1]; ++child)
                f->m2m(&p->interpolation, (int)(tree->keys[level + 1][child] & 7),
                       vector_at(&from, side, child), vector_at(&to, side, c));
}

void ps_fmm_group_l2l(const ps_fmm_problem *p, int level, int64_t first, int64_t end,
                      const ps_fmm_groups *parents, const ps_fmm_groups *children)
{
    const struct ps_fmm_cell_functions *f = ps_fmm_cell_functions_of(PS_BACKEND_CPU, p->far);
    const ps_octree *tree = p->targets;
    const int64_t *start = tree->child_start[level - 1];
    cursor from = cursor_of(parents, ps_fmm_vector_bytes(p)),
           to = cursor_of(children, ps_fmm_vector_bytes(p));
    for (int side = 0; side < p->sides && first < end; ++side)
        for (int64_t c = first, parent = ps_fmm_parent(tree, level, first); c < end; ++c) {
            if (c == start[parent + 1]) ++parent;
            f->l2l(&p->interpolation, (int)(tree->keys[level][c] & 7),
                   vector_at(&from, side, parent), vector_at(&to, side, c));
        }
}

/* ---- M2L ---- */

void ps_fmm_group_encode(const ps_fmm_problem *p, int level, int64_t first, int64_t end,
                         const ps_fmm_groups *multipoles, const ps_fmm_groups *coded)
{
    const struct ps_fmm_m2l_functions *f = ps_fmm_m2l_functions_of(PS_BACKEND_CPU, p->far);
    cursor from = cursor_of(multipoles, ps_fmm_vector_bytes(p)),
           to = cursor_of(coded, ps_fmm_code_bytes(p, level));
    for (int side = 0; side < p->sides && first < end; ++side)
        f->encode(p->tables[level], vector_at(&from, side, first), end - first,
                  vector_at(&to, side, first));
}

int64_t ps_fmm_m2l_workspace(const ps_fmm_problem *p)
{
    int64_t longest = 0;
    for (int l = 2; l < p->targets->height; ++l)
        if (ps_fmm_code_bytes(p, l) > longest) longest = ps_fmm_code_bytes(p, l);
    return ps_padded(sizeof(ps_fmm_m2l_block)) + PS_FMM_BLOCK * longest;
}

/* A block of targets within one group. */
static void m2l_block(const ps_fmm_problem *p, int level, int64_t first, int64_t end,
                      const ps_fmm_groups *coded, const ps_fmm_groups *locals,
                      ps_fmm_m2l_block *pairs)
{
    const struct ps_fmm_m2l_functions *f = ps_fmm_m2l_functions_of(PS_BACKEND_CPU, p->far);
    const ps_fmm_m2l_table *table = p->tables[level];
    char *sums = (char *)pairs + ps_padded(sizeof *pairs);
    int64_t code = ps_fmm_code_bytes(p, level);
    cursor from = cursor_of(coded, code), to = cursor_of(locals, ps_fmm_vector_bytes(p));
    ps_tree_list list = {pairs->start, pairs->listed, pairs->codes};
    ps_tree_far(p->targets, p->sources, level, first, end, &list);
    ps_fmm_m2l_block_sort(pairs, end - first);
    for (int side = 0; side < p->sides; ++side) {
        for (int64_t i = 0; i < pairs->start[end - first]; ++i)
            pairs->vectors[i] = vector_at(&from, side, pairs->sources[i]);
        ps_fmm_m2l_block_sum(table, pairs, end - first, code, sums);
        f->decode(table, sums, end - first, p->factors[level], vector_at(&to, side, first));
    }
}

void ps_fmm_group_m2l(const ps_fmm_problem *p, int level, int64_t first, int64_t end,
                      const ps_fmm_groups *coded, const ps_fmm_groups *locals, void *workspace)
{
    for (int64_t c = first; c < end; c += PS_FMM_BLOCK)
        m2l_block(p, level, c, c + PS_FMM_BLOCK < end ? c + PS_FMM_BLOCK : end, coded, locals,
                  workspace);
}
