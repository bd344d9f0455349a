/*
 * The order of tasks where several ranks share them. A rank has the groups whose first leaf lies in
 * its interval of leaves, on all levels; it does their tasks, in the order of their data, so that
 * the bits are those of one rank. What it needs of others' pieces they send (fmm guide 4):
 *
 *     P2P of all leaves first, as it needs nobody; P2M
 *     M2M, level by level      multipoles of children, to the owner of the parents
 *     M2L of all levels        codes of the source groups
 *     L2L, level by level      locals of the parents
 *     reduction                copies of augmented leaves, to the owner of the leaves
 *     at the end               sums of all groups, to rank 0
 *
 * With a journal only P2P that makes copies for others comes first; M2L, L2L, L2P and P2P of the
 * leaves, and the reduction, follow group after group, when no rank waits for another one any more.
 */
#include <stdlib.h>

#include "compute/fmm/flow.h"
#include "compute/fmm/run.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

enum {
    BATCH_BYTES = 4 << 20, /* sent by all ranks in one call */
    ALL_RANKS = -1         /* as a rank: of none, who sees what all send */
};

/* ---- who has what ---- */

static uint64_t first_leaf_key(const ps_octree *tree, int level, int64_t group)
{
    int64_t cell = group * tree->group_size;
    for (; level < tree->height - 1; ++level) cell = tree->child_start[level][cell];
    return tree->keys[level][cell];
}

int fmm_owner(const fmm_problem *p, const ps_octree *tree, int level, int64_t group)
{
    uint64_t key = first_leaf_key(tree, level, group);
    int owner = 0;
    for (int r = 1; r < p->ranks; ++r)
        if (p->boundaries[r] <= key) owner = r;
    return owner;
}

static double weight_of(const fmm_problem *p, int64_t g)
{
    const ps_octree *tree = p->fmm.targets;
    int64_t first, end;
    ps_octree_group(tree, p->leaf, g, &first, &end);
    fmm_task near = {.kind = FMM_P2P}, far = {.kind = FMM_M2L}, particles = {.kind = FMM_L2P};
    near.flop = p->lists.near_flop[g];
    if (p->far)
        far.flop = (double)p->lists.far_pairs[p->leaf][g] * 4 * p->fmm.sides *
                   p->fmm.interpolation.points * p->mean_rank[p->leaf];
    particles.flop = 10.0 * p->fmm.sides * p->fmm.interpolation.points *
                     (double)(tree->particle_start[end] - tree->particle_start[first]);
    return fmm_forecast(p, &near) + fmm_forecast(p, &far) + fmm_forecast(p, &particles);
}

ps_status fmm_share_groups(fmm_problem *p)
{
    int64_t groups = ps_octree_groups(p->fmm.targets, p->leaf);
    double all = 0, sum = 0;
    PS_TRY(PS_ALLOC(&p->boundaries, p->ranks, "intervals of ranks"));
    for (int r = 1; r < p->ranks; ++r) p->boundaries[r] = UINT64_MAX;
    for (int64_t g = 0; g < groups; ++g) all += weight_of(p, g);
    for (int64_t g = 0, r = 1; g < groups && r < p->ranks; ++g) {
        /* a boundary lies where the middle of a group has passed its share */
        double weight = weight_of(p, g);
        for (; r < p->ranks && g > 0 && sum + weight / 2 >= all * (double)r / p->ranks; ++r)
            p->boundaries[r] = first_leaf_key(p->fmm.targets, p->leaf, g);
        sum += weight;
    }
    return PS_OK;
}

/* ---- transfers ---- */

typedef struct mail {
    flow *f;
    fmm_transfer *list; /* those of this rank */
    int64_t count, capacity;
    int64_t bytes; /* of all ranks, since the last call */
} mail;

static ps_status send_all(mail *m)
{
    ps_status status = m->f->visit->transfers(m->f->context, m->list, m->count);
    m->count = 0;
    m->bytes = 0;
    return status;
}

static ps_status add_transfer(mail *m, int64_t piece, int from, int to, int64_t group)
{
    int64_t bytes = fmm_pool_bytes(m->f->pool, piece);
    if (from == to && group < 0) return PS_OK;
    if (m->bytes > 0 && m->bytes + bytes > BATCH_BYTES) PS_TRY(send_all(m));
    m->bytes += bytes;
    int rank = m->f->p->rank;
    if (from != rank && to != rank && rank != ALL_RANKS) return PS_OK;
    PS_TRY(ps_grow((void **)&m->list, &m->capacity, m->count + 1, sizeof *m->list, "transfers"));
    m->list[m->count++] = (fmm_transfer){piece, from, to, group};
    return PS_OK;
}

static ps_status end_mail(mail *m, ps_status status)
{
    if (status == PS_OK) status = send_all(m);
    free(m->list);
    return status;
}

/* Groups of cells [first, end) of a level to a rank; the last one sent before is not sent again. */
static ps_status send_cells(mail *m, const ps_octree *tree, fmm_what what, int level,
                            const int64_t cells[2], int to, int64_t last[2])
{
    for (int64_t g = cells[0] / tree->group_size; g * tree->group_size < cells[1]; ++g) {
        if (last[0] == g && last[1] == to) continue;
        last[0] = g;
        last[1] = to;
        PS_TRY(add_transfer(m, fmm_piece(m->f->pool, what, level, g),
                            fmm_owner(m->f->p, tree, level, g), to, -1));
    }
    return PS_OK;
}

/* What the groups of a level of a tree want of the level above or below. */
static ps_status send_family(flow *f, const ps_octree *tree, int level, fmm_what what, int other)
{
    mail m = {.f = f};
    ps_status status = PS_OK;
    int64_t last[2] = {-1, -1};
    for (int64_t g = 0; g < ps_octree_groups(tree, level) && status == PS_OK; ++g) {
        int64_t first, end, cells[2];
        ps_octree_group(tree, level, g, &first, &end);
        cells[0] =
            other > level ? tree->child_start[level][first] : ps_fmm_parent(tree, level, first);
        cells[1] =
            other > level ? tree->child_start[level][end] : ps_fmm_parent(tree, level, end - 1) + 1;
        status = send_cells(&m, tree, what, other, cells, fmm_owner(f->p, tree, level, g), last);
    }
    return end_mail(&m, status);
}

/* stamp[source groups]: the last rank that has it; ranks ascend with target groups. */
static ps_status send_codes_of_level(mail *m, int level, int64_t *stamp)
{
    const fmm_problem *p = m->f->p;
    const ps_group_list *list = &p->lists.far[level];
    for (int64_t g = 0; g < list->groups; ++g) {
        int to = fmm_owner(p, p->fmm.targets, level, g);
        for (int64_t i = list->start[g]; i < list->start[g + 1]; ++i) {
            int64_t s = list->items[i];
            if (stamp[s] == to + 1) continue;
            stamp[s] = to + 1;
            PS_TRY(add_transfer(m, fmm_piece(m->f->pool, FMM_CODED, level, s),
                                fmm_owner(p, p->fmm.sources, level, s), to, -1));
        }
    }
    return PS_OK;
}

static ps_status send_codes(flow *f)
{
    mail m = {.f = f};
    ps_status status = PS_OK;
    for (int l = 2; l <= f->p->leaf && status == PS_OK; ++l) {
        int64_t *stamp;
        PS_TRY(PS_ALLOC(&stamp, ps_octree_groups(f->p->fmm.sources, l), "marks of groups"));
        status = send_codes_of_level(&m, l, stamp);
        free(stamp);
    }
    return end_mail(&m, status);
}

static ps_status send_copies(flow *f)
{
    const fmm_problem *p = f->p;
    const ps_group_list *owners = &p->lists.owners;
    mail m = {.f = f};
    ps_status status = PS_OK;
    for (int64_t g = 0; g < owners->groups && status == PS_OK; ++g) {
        int from = fmm_owner(p, p->fmm.targets, p->leaf, g), last = from;
        if (!flow_wants_p2p(f, g)) continue;
        for (int64_t i = owners->start[g]; i < owners->start[g + 1] && status == PS_OK; ++i) {
            int to = fmm_owner(p, p->fmm.targets, p->leaf, owners->items[i]);
            if (to == last) continue;
            last = to;
            status = add_transfer(&m, fmm_piece(f->pool, FMM_COPIES, 0, g), from, to, -1);
        }
    }
    return end_mail(&m, status);
}

static ps_status send_results(flow *f)
{
    mail m = {.f = f};
    ps_status status = PS_OK;
    int64_t groups = ps_octree_groups(f->p->fmm.targets, f->p->leaf);
    for (int64_t g = 0; g < groups && status == PS_OK; ++g)
        if (!flow_is_done(f, g))
            status = add_transfer(&m, fmm_piece(f->pool, FMM_NEAR, 0, g),
                                  fmm_owner(f->p, f->p->fmm.targets, f->p->leaf, g), 0, g);
    return end_mail(&m, status);
}

/* ---- tasks ---- */

typedef ps_status (*add_leaf)(flow *f, int64_t group);
typedef ps_status (*add_cells)(flow *f, int level, int64_t group);

static ps_status own_leaves(flow *f, const ps_octree *tree, add_leaf add)
{
    for (int64_t g = 0; g < ps_octree_groups(tree, f->p->leaf); ++g)
        if (fmm_owner(f->p, tree, f->p->leaf, g) == f->p->rank) PS_TRY(add(f, g));
    return PS_OK;
}

static ps_status own_cells(flow *f, const ps_octree *tree, int level, add_cells add)
{
    for (int64_t g = 0; g < ps_octree_groups(tree, level); ++g)
        if (fmm_owner(f->p, tree, level, g) == f->p->rank) PS_TRY(add(f, level, g));
    return PS_OK;
}

/* Upward, and down to the locals that the groups of leaves want; with `leaves` to their own. */
static ps_status far_of_ranks(flow *f, bool leaves)
{
    const ps_octree *sources = f->p->fmm.sources, *targets = f->p->fmm.targets;
    int leaf = f->p->leaf, last = leaves ? leaf : leaf - 1;
    PS_TRY(own_leaves(f, sources, flow_add_p2m));
    PS_TRY(own_cells(f, sources, leaf, flow_add_encode));
    for (int l = leaf - 1; l >= 2; --l) {
        PS_TRY(send_family(f, f->p->fmm.sources, l, FMM_MULTIPOLES, l + 1));
        PS_TRY(own_cells(f, sources, l, flow_add_m2m));
        PS_TRY(own_cells(f, sources, l, flow_add_encode));
    }
    PS_TRY(send_codes(f));
    for (int l = 2; l <= last; ++l) PS_TRY(own_cells(f, targets, l, flow_add_m2l));
    for (int l = 3; l <= leaf; ++l) {
        PS_TRY(send_family(f, f->p->fmm.targets, l, FMM_LOCALS, l - 1));
        if (l <= last) PS_TRY(own_cells(f, targets, l, flow_add_l2l));
    }
    return leaves ? own_leaves(f, targets, flow_add_l2p) : PS_OK;
}

/* Whether another rank has leaves of which P2P of this group makes copies. */
static bool crosses(const flow *f, int64_t g)
{
    const ps_group_list *owners = &f->p->lists.owners;
    for (int64_t i = f->p->mutual ? owners->start[g] : 0; f->p->mutual && i < owners->start[g + 1];
         ++i)
        if (fmm_owner(f->p, f->p->fmm.targets, f->p->leaf, owners->items[i]) != f->p->rank)
            return true;
    return false;
}

static ps_status add_crossing(flow *f, int64_t g)
{
    return crosses(f, g) && flow_wants_p2p(f, g) ? flow_add_p2p(f, g) : PS_OK;
}

static ps_status add_group(flow *f, int64_t g)
{
    if (!crosses(f, g) && flow_wants_p2p(f, g)) PS_TRY(flow_add_p2p(f, g));
    return flow_add_rest(f, g);
}

/* All that others wait for, then each group of leaves to its end. */
static ps_status by_groups(flow *f)
{
    PS_TRY(own_leaves(f, f->p->fmm.targets, add_crossing));
    if (f->p->far) PS_TRY(far_of_ranks(f, false));
    if (f->p->mutual) PS_TRY(send_copies(f));
    f->visit->alone(f->context);
    return own_leaves(f, f->p->fmm.targets, add_group);
}

static ps_status all_at_once(flow *f)
{
    PS_TRY(own_leaves(f, f->p->fmm.targets, flow_add_p2p));
    if (f->p->far) PS_TRY(far_of_ranks(f, true));
    if (f->p->mutual) PS_TRY(send_copies(f));
    return own_leaves(f, f->p->fmm.targets, flow_add_reduce);
}

ps_status flow_of_ranks(flow *f)
{
    PS_TRY(f->p->by_groups ? by_groups(f) : all_at_once(f));
    return send_results(f);
}

/* ---- what they would send ---- */

typedef struct census {
    const fmm_pool *pool;
    int64_t *messages, *sent; /* [ranks] */
} census;

static ps_status no_task(void *context, const fmm_task *task) { return PS_OK; }
static void no_matter(void *context) {}

static ps_status count_transfers(void *context, const fmm_transfer *list, int64_t count)
{
    census *c = context;
    for (int64_t i = 0; i < count; ++i) {
        if (list[i].from == list[i].to) continue;
        ++c->messages[list[i].from];
        c->sent[list[i].from] += fmm_pool_bytes(c->pool, list[i].piece);
    }
    return PS_OK;
}

static ps_status count_ranks(fmm_problem *p, census *c, ps_rank_traffic *out)
{
    const fmm_visit counting = {no_task, count_transfers, no_matter};
    PS_SCOPED_MEMORY double *work = NULL;
    PS_TRY(fmm_share_groups(p));
    PS_TRY(PS_ALLOC(&c->messages, p->ranks, "traffic of ranks"));
    PS_TRY(PS_ALLOC(&c->sent, p->ranks, "traffic of ranks"));
    PS_TRY(PS_ALLOC(&work, p->ranks, "traffic of ranks"));
    PS_TRY(fmm_flow(p, c->pool, NULL, &counting, c));
    for (int64_t g = 0; g < ps_octree_groups(p->fmm.targets, p->leaf); ++g)
        work[fmm_owner(p, p->fmm.targets, p->leaf, g)] += weight_of(p, g);
    for (int r = 0; r < p->ranks; ++r)
        ps_rank_traffic_add(out, c->messages[r], c->sent[r], work[r]);
    return PS_OK;
}

ps_status fmm_rank_traffic(const fmm_problem *problem, const fmm_pool *pool, int64_t ranks,
                           ps_rank_traffic *out)
{
    fmm_problem p = *problem;
    census c = {.pool = pool};
    p.ranks = (int)ranks;
    p.rank = ALL_RANKS;
    p.boundaries = NULL;
    p.near_first = p.leaves_at_once = false;
    p.reductions = 1;
    *out = (ps_rank_traffic){.unit = "run", .ranks = ranks, .sums = -1};
    ps_status status = count_ranks(&p, &c, out);
    PS_FREE(p.boundaries, c.messages, c.sent);
    return status;
}
