#include "kernels/fmm/adaptive_operators.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/common/reals.h"
#include "kernels/fmm/adaptive_share.h"
#include "kernels/fmm/moment_p2p.h"
#include "runtime/sizes.h"

typedef ps_adaptive_scene scene;
typedef ps_adaptive_thread room;

/* ---- vectors ---- */

static int64_t vector_bytes(const ps_adaptive_problem *p)
{
    return p->interpolation.points * ps_real_bytes(p->far);
}

static int64_t code_bytes(const ps_adaptive_problem *p, int level)
{
    return p->tables[level]->length * ps_real_bytes(p->far);
}

int64_t ps_adaptive_vector_bytes(const ps_adaptive_problem *p)
{
    int64_t bytes = 2 * ps_padded(p->sides * p->tree->cells * vector_bytes(p));
    for (int l = ps_adaptive_far_level(p->tree); l < p->tree->levels; ++l)
        bytes += ps_padded(p->sides * ps_adaptive_level_cells(p->tree, l) * code_bytes(p, l));
    return bytes;
}

static int64_t sums_bytes(const ps_adaptive_problem *p)
{
    int64_t longest = 0;
    for (int l = ps_adaptive_far_level(p->tree); l < p->tree->levels; ++l)
        longest = code_bytes(p, l) > longest ? code_bytes(p, l) : longest;
    return ps_padded(PS_FMM_BLOCK * longest);
}

static int64_t points_bytes(const ps_adaptive_problem *p)
{
    return ps_padded(8 * (3 + 5 * p->sides) * (int64_t)p->interpolation.points);
}

int64_t ps_adaptive_workspace(const ps_adaptive_problem *p, int threads)
{
    return threads *
           (ps_padded((int64_t)sizeof(ps_fmm_m2l_block)) + sums_bytes(p) + points_bytes(p));
}

ps_adaptive_thread ps_adaptive_thread_of(const ps_adaptive_problem *p, void *workspace, int thread)
{
    char *at = (char *)workspace + thread * ps_adaptive_workspace(p, 1);
    room r = {.block = (ps_fmm_m2l_block *)at};
    r.sums = at + ps_padded((int64_t)sizeof(ps_fmm_m2l_block));
    r.points = (double *)(r.sums + sums_bytes(p));
    return r;
}

void ps_adaptive_thread_release(room *r)
{
    ps_adaptive_lists_release(&r->lists);
    free(r->runs);
}

ps_adaptive_scene ps_adaptive_scene_of(ps_adaptive_problem *p, void *vectors)
{
    scene s = {.p = p, .t = p->tree, .targets = p->tree->same ? &p->sources : &p->targets};
    int64_t all = ps_padded(p->sides * s.t->cells * vector_bytes(p));
    s.mutual = s.t->same && !ps_fmm_needs_moments(p->function.kernel, &p->sources, s.targets);
    s.multipoles = vectors;
    s.locals = s.multipoles + all;
    char *at = s.locals + all;
    for (int l = ps_adaptive_far_level(s.t); l < s.t->levels; ++l) {
        s.coded[l] = at;
        at += ps_padded(p->sides * ps_adaptive_level_cells(s.t, l) * code_bytes(p, l));
    }
    return s;
}

void ps_adaptive_clear(const scene *s, bool given)
{
    int64_t all = s->locals - s->multipoles;
    memset(given ? s->locals : s->multipoles, 0, (size_t)(given ? all : 2 * all));
}

static void *vector_of(const scene *s, char *vectors, int side, int64_t cell)
{
    return vectors + (side * s->t->cells + cell) * vector_bytes(s->p);
}

static ps_fmm_leaf leaf_of(const scene *s, const ps_fmm_particles *particles, ps_fmm_range range,
                           const ps_adaptive_cell *c)
{
    ps_fmm_leaf leaf = {.particles = particles,
                        .range = range,
                        .sides = s->p->sides,
                        .vector_stride = s->t->cells * s->p->interpolation.points};
    ps_adaptive_centre(&s->t->box, c, leaf.centre, &leaf.width);
    return leaf;
}

/* ---- upward ---- */

static void lift_cell(const scene *s, int32_t cell)
{
    const struct ps_fmm_cell_functions *f = ps_fmm_cell_functions_of(PS_BACKEND_CPU, s->p->far);
    const ps_adaptive_cell *c = &s->t->cell[cell];
    if (ps_adaptive_size(c->sources) == 0) return;
    if (ps_adaptive_is_leaf(c)) {
        ps_fmm_leaf leaf = leaf_of(s, &s->p->sources, c->sources, c);
        void *vector = vector_of(s, s->multipoles, 0, cell);
        if (s->p->sources.charges) f->p2m(&s->p->interpolation, &leaf, vector);
        if (s->p->sources.dipoles) f->p2m_dipoles(&s->p->interpolation, &leaf, vector);
        return;
    }
    for (int side = 0; side < s->p->sides; ++side)
        for (int32_t child = c->child; child < c->child + c->children; ++child)
            f->m2m(&s->p->interpolation, s->t->cell[child].octant,
                   vector_of(s, s->multipoles, side, child),
                   vector_of(s, s->multipoles, side, cell));
}

ps_status ps_adaptive_lift(const scene *s, int level, int64_t first, int64_t end, room *r)
{
    for (int64_t c = first; c < end; ++c) lift_cell(s, (int32_t)c);
    return PS_OK;
}

ps_status ps_adaptive_encode(const scene *s, int level, int64_t first, int64_t end, room *r)
{
    const struct ps_fmm_m2l_functions *f = ps_fmm_m2l_functions_of(PS_BACKEND_CPU, s->p->far);
    int64_t begin = s->t->level_start[level], all = ps_adaptive_level_cells(s->t, level);
    for (int side = 0; side < s->p->sides; ++side)
        f->encode(s->p->tables[level], vector_of(s, s->multipoles, side, first), end - first,
                  s->coded[level] + (side * all + first - begin) * code_bytes(s->p, level));
    return PS_OK;
}

/* ---- across ---- */

/* Cells [first, end), PS_FMM_BLOCK at most, of a level. */
ps_status ps_adaptive_m2l(const scene *s, int level, int64_t first, int64_t end, room *r)
{
    const struct ps_fmm_m2l_functions *f = ps_fmm_m2l_functions_of(PS_BACKEND_CPU, s->p->far);
    const ps_fmm_m2l_table *table = s->p->tables[level];
    int64_t begin = s->t->level_start[level], all = ps_adaptive_level_cells(s->t, level), used = 0;
    int64_t bytes = code_bytes(s->p, level);
    ps_fmm_m2l_block *b = r->block;
    for (int64_t c = first; c < end; ++c) {
        b->start[c - first] = used;
        used += ps_adaptive_far(s->t, &s->p->rule, (int32_t)c, b->listed + used, b->codes + used);
    }
    b->start[end - first] = used;
    if (used == 0) return PS_OK;
    ps_fmm_m2l_block_sort(b, end - first);
    for (int side = 0; side < s->p->sides; ++side) {
        for (int64_t i = 0; i < used; ++i)
            b->vectors[i] = s->coded[level] + (side * all + b->sources[i] - begin) * bytes;
        ps_fmm_m2l_block_sum(table, b, end - first, bytes, r->sums);
        f->decode(table, r->sums, end - first, s->p->factors[level],
                  vector_of(s, s->locals, side, first));
    }
    return PS_OK;
}

/* The Chebyshev points of a cell as particles: charges, then results behind the positions. */
static ps_fmm_particles points_of(const scene *s, const ps_adaptive_cell *c, double *at)
{
    const ps_fmm_interpolation *in = &s->p->interpolation;
    int64_t n = in->points;
    double centre[3], width;
    ps_adaptive_centre(&s->t->box, c, centre, &width);
    for (int m = 0; m < n; ++m) {
        double point[3];
        ps_fmm_point(in, m, point);
        for (int d = 0; d < 3; ++d) at[d * n + m] = centre[d] + 0.5 * width * point[d];
    }
    return (ps_fmm_particles){.position = {at, at + n, at + 2 * n},
                              .charges = at + 3 * n,
                              .potential = at + (3 + s->p->sides) * n,
                              .gradient = at + (3 + 2 * s->p->sides) * n,
                              .stride = n};
}

static ps_fmm_p2p p2p_of(const scene *s, const ps_adaptive_cell *c)
{
    ps_fmm_p2p p2p = {.function = s->p->function, .sides = s->p->sides};
    ps_adaptive_centre(&s->t->box, c, p2p.centre, &p2p.width);
    return p2p;
}

/* Adds a cell to the runs of sources: consecutive ones are one run. */
static ps_status add_run(const scene *s, room *r, int64_t first, int64_t *count, ps_fmm_range range)
{
    if (*count > first && r->runs[*count - 1].end == range.begin) {
        r->runs[*count - 1].end = range.end;
        return PS_OK;
    }
    if (*count == r->capacity)
        PS_TRY(s->t->room((void **)&r->runs, &r->capacity, *count + 1, sizeof *r->runs, "runs"));
    r->runs[(*count)++] = range;
    return PS_OK;
}

static ps_status p2l_cell(const scene *s, int32_t cell, room *r)
{
    const ps_adaptive_cell *c = &s->t->cell[cell];
    int points = s->p->interpolation.points;
    int64_t runs = 0;
    PS_TRY(ps_adaptive_near_of(s->t, &s->p->rule, cell, &r->lists));
    if (r->lists.near.count == 0) return PS_OK;
    for (int64_t i = 0; i < r->lists.near.count; ++i)
        PS_TRY(add_run(s, r, 0, &runs, s->t->cell[r->lists.near.items[i]].sources));
    ps_fmm_particles nodes = points_of(s, c, r->points);
    nodes.charges = NULL;
    memset(nodes.potential, 0, sizeof(double) * (size_t)(4 * s->p->sides * points));
    ps_fmm_p2p p2p = p2p_of(s, c);
    p2p.targets = &nodes;
    p2p.sources = &s->p->sources;
    p2p.target = (ps_fmm_range){0, points};
    p2p.runs = r->runs;
    p2p.one_sided = p2p.run_count = runs;
    ps_fmm_interact(PS_DOUBLE, &p2p);
    for (int side = 0; side < s->p->sides; ++side) {
        void *local = vector_of(s, s->locals, side, cell);
        for (int m = 0; m < points; ++m)
            ps_real_put(s->p->far, local, m,
                        ps_real_at(s->p->far, local, m) + nodes.potential[side * points + m]);
    }
    return PS_OK;
}

ps_status ps_adaptive_p2l(const scene *s, int level, int64_t first, int64_t end, room *r)
{
    for (int64_t c = first; c < end; ++c) PS_TRY(p2l_cell(s, (int32_t)c, r));
    return PS_OK;
}

void ps_adaptive_beyond(const scene *s, bool cells, ps_fmm_range targets)
{
    int64_t first = s->t->levels > PS_IMAGES_SMOOTH ? s->t->level_start[PS_IMAGES_SMOOTH] : 0;
    for (int side = 0; side < s->p->sides; ++side)
        ps_adaptive_images_beyond(
            &(ps_images_beyond){.periodic = s->p->periodic,
                                .tree = s->t,
                                .interpolation = &s->p->interpolation,
                                .precision = s->p->far,
                                .multipoles = vector_of(s, s->multipoles, side, (int32_t)first),
                                .locals = cells ? vector_of(s, s->locals, side, first) : NULL,
                                .sources = &s->p->sources,
                                .targets = s->targets,
                                .wanted = targets,
                                .side = side});
}

/* ---- downward ---- */

static void lower_cell(const scene *s, int32_t cell)
{
    const struct ps_fmm_cell_functions *f = ps_fmm_cell_functions_of(PS_BACKEND_CPU, s->p->far);
    const ps_adaptive_cell *c = &s->t->cell[cell];
    if (ps_adaptive_size(c->targets) == 0) return;
    for (int side = 0; side < s->p->sides; ++side)
        f->l2l(&s->p->interpolation, c->octant, vector_of(s, s->locals, side, c->parent),
               vector_of(s, s->locals, side, cell));
}

ps_status ps_adaptive_lower(const scene *s, int level, int64_t first, int64_t end, room *r)
{
    for (int64_t c = first; c < end; ++c) lower_cell(s, (int32_t)c);
    return PS_OK;
}

/* A multipole that acts on the targets of a leaf. */
static void m2p(const scene *s, const ps_adaptive_cell *leaf, int32_t cell, room *r)
{
    ps_fmm_particles nodes = points_of(s, &s->t->cell[cell], r->points);
    int points = s->p->interpolation.points;
    const ps_fmm_range all = {0, points};
    for (int side = 0; side < s->p->sides; ++side) {
        const void *vector = vector_of(s, s->multipoles, side, cell);
        for (int m = 0; m < points; ++m)
            r->points[(3 + side) * points + m] = ps_real_at(s->p->far, vector, m);
    }
    ps_fmm_p2p p2p = p2p_of(s, leaf);
    p2p.targets = s->targets;
    p2p.sources = &nodes;
    p2p.target = leaf->targets;
    p2p.runs = &all;
    p2p.one_sided = p2p.run_count = 1;
    ps_fmm_interact(PS_DOUBLE, &p2p);
}

static ps_status l2p_leaf(const scene *s, int32_t cell, room *r)
{
    const struct ps_fmm_cell_functions *f = ps_fmm_cell_functions_of(PS_BACKEND_CPU, s->p->far);
    const ps_adaptive_cell *c = &s->t->cell[cell];
    if (ps_adaptive_size(c->targets) == 0) return PS_OK;
    if (c->level >= ps_adaptive_far_level(s->t)) {
        ps_fmm_leaf leaf = leaf_of(s, s->targets, c->targets, c);
        const void *vector = vector_of(s, s->locals, 0, cell);
        f->l2p(&s->p->interpolation, &leaf, vector);
        if (s->targets->hessian) f->l2p_hessian(&s->p->interpolation, &leaf, vector);
    }
    PS_TRY(ps_adaptive_lists_of(s->t, &s->p->rule, cell, &r->lists));
    for (int64_t i = 0; i < r->lists.far.count; ++i) m2p(s, c, r->lists.far.items[i], r);
    return PS_OK;
}

ps_status ps_adaptive_l2p(const scene *s, int level, int64_t first, int64_t end, room *r)
{
    for (int64_t l = first; l < end; ++l) PS_TRY(l2p_leaf(s, s->t->leaf[l], r));
    return PS_OK;
}

/* ---- P2P ---- */

/* A leaf of a portion whose leaves hold the particles `portion`. Relations of two leaves are
 * mutual: the first one of a portion sums both sides. */
static ps_status p2p_leaf(const scene *s, int32_t cell, ps_fmm_range portion, room *r)
{
    const ps_adaptive_cell *c = &s->t->cell[cell];
    const ps_adaptive_list *list = &r->lists.direct;
    int64_t runs = 0, one_sided;
    if (ps_adaptive_size(c->targets) == 0) return PS_OK;
    PS_TRY(ps_adaptive_lists_of(s->t, &s->p->rule, cell, &r->lists));
    for (int mutual = 0; mutual < 2; ++mutual) {
        one_sided = mutual ? runs : 0;
        for (int64_t i = 0; i < list->count; ++i) {
            const ps_adaptive_cell *o = &s->t->cell[list->items[i]];
            bool shared = s->mutual && list->items[i] != cell && ps_adaptive_is_leaf(o) &&
                          o->sources.begin >= portion.begin && o->sources.end <= portion.end;
            if (shared != (mutual == 1)) continue;
            if (mutual && o->sources.begin < c->sources.begin) continue;
            PS_TRY(add_run(s, r, one_sided, &runs, o->sources));
        }
    }
    ps_fmm_p2p p2p = p2p_of(s, c);
    p2p.targets = s->targets;
    p2p.sources = &s->p->sources;
    p2p.target = c->targets;
    p2p.runs = r->runs;
    p2p.one_sided = one_sided;
    p2p.run_count = runs;
    if (runs) ps_fmm_interact(s->p->near, &p2p);
    return PS_OK;
}

static ps_status p2p_portion(const scene *s, int64_t number, room *r)
{
    const ps_adaptive_tree *t = s->t;
    ps_fmm_range leaves = ps_adaptive_portion_leaves(t, number, number + 1);
    ps_fmm_range portion = {t->cell[t->leaf[leaves.begin]].sources.begin,
                            t->cell[t->leaf[leaves.end - 1]].sources.end};
    for (int64_t l = leaves.begin; l < leaves.end; ++l) PS_TRY(p2p_leaf(s, t->leaf[l], portion, r));
    return PS_OK;
}

ps_status ps_adaptive_p2p(const scene *s, int level, int64_t first, int64_t end, room *r)
{
    for (int64_t n = first; n < end; ++n) PS_TRY(p2p_portion(s, n, r));
    return PS_OK;
}
