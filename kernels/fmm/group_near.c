#include "kernels/fmm/group_near.h"

#include <string.h>

#include "kernels/fmm/group_far.h"
#include "kernels/fmm/moment_p2p.h"
#include "kernels/fmm/tree_lists.h"
#include "runtime/search.h"

enum { NEAR_BLOCK = 64 /* leaves whose lists are made at a time */ };

void ps_fmm_near_start(const ps_octree *tree, const int64_t *leaves, int64_t count, int64_t *start)
{
    start[0] = 0;
    for (int64_t i = 0; i < count; ++i)
        start[i + 1] =
            start[i] + tree->particle_start[leaves[i] + 1] - tree->particle_start[leaves[i]];
}

ps_fmm_particles ps_fmm_group_particles(const double *columns, double *results, int64_t particles,
                                        int sides)
{
    ps_fmm_particles set = {.stride = particles};
    for (int d = 0; d < 3 && columns; ++d) set.position[d] = columns + d * particles;
    if (columns) set.charges = columns + 3 * particles;
    if (results) set.potential = results;
    if (results) set.gradient = results + sides * particles;
    return set;
}

/* Runs of particles of consecutive leaves. */
typedef struct near_runs {
    ps_fmm_range runs[2 * PS_TREE_NEAR_MAX];
    int64_t count;
} near_runs;

static void add_run(near_runs *runs, ps_fmm_range range)
{
    if (runs->count && runs->runs[runs->count - 1].end == range.begin)
        runs->runs[runs->count - 1].end = range.end;
    else
        runs->runs[runs->count++] = range;
}

/* Where a leaf is in a list; -1 if it is not. */
static int64_t find_leaf(const ps_fmm_near_sources *s, int64_t leaf)
{
    int64_t low;
    PS_LOWER_BOUND(low, 0, s->count, at, s->leaves[at] < leaf);
    return low < s->count && s->leaves[low] == leaf ? low : -1;
}

/* Adds a neighbour of `leaf` to the runs that only act, or to the mutual ones, or to none. */
static void add_neighbour(const ps_octree *tree, const ps_fmm_near_sources *s, int64_t leaf,
                          int64_t source, near_runs *acting, near_runs *mutual)
{
    if (s->leaves) {
        int64_t i = find_leaf(s, source);
        if (i >= 0) add_run(mutual, (ps_fmm_range){s->start[i], s->start[i + 1]});
        return;
    }
    if (source < s->first || source >= s->end) return;
    ps_fmm_range range = {tree->particle_start[source] - s->begin,
                          tree->particle_start[source + 1] - s->begin};
    bool shared = source >= s->mutual_first && source < s->mutual_end;
    if (!shared || source == leaf)
        add_run(acting, range);
    else if (source > leaf)
        add_run(mutual, range);
}

static void p2p_leaf(const ps_fmm_problem *p, const ps_tree_list *near, int64_t in_list,
                     ps_fmm_p2p *p2p, int64_t leaf, const ps_fmm_near_sources *s)
{
    near_runs mutual, runs;
    mutual.count = runs.count = 0;
    for (int64_t i = near->start[in_list]; i < near->start[in_list + 1]; ++i)
        add_neighbour(p->sources, s, leaf, near->sources[i], &runs, &mutual);
    if (runs.count + mutual.count == 0) return;
    p2p->runs = runs.runs;
    p2p->one_sided = runs.count;
    p2p->run_count = runs.count + mutual.count;
    memcpy(runs.runs + runs.count, mutual.runs, (size_t)mutual.count * sizeof *mutual.runs);
    ps_fmm_cell_centre(p->targets, p->targets->height - 1, leaf, p2p->centre, &p2p->width);
    ps_fmm_interact(p->near, p2p);
}

void ps_fmm_group_p2p(const ps_fmm_problem *p, int64_t first, int64_t end,
                      const ps_fmm_particles *targets, int64_t begin,
                      const ps_fmm_near_sources *sources)
{
    int64_t start[NEAR_BLOCK + 1], listed[NEAR_BLOCK * PS_TREE_NEAR_MAX];
    uint16_t codes[NEAR_BLOCK * PS_TREE_NEAR_MAX];
    ps_tree_list near = {start, listed, codes};
    const int64_t *place = p->targets->particle_start;
    ps_fmm_p2p p2p = {.function = p->function,
                      .sides = p->sides,
                      .targets = targets,
                      .sources = sources->particles};
    for (int64_t c = first; c < end; c += NEAR_BLOCK) {
        int64_t last = c + NEAR_BLOCK < end ? c + NEAR_BLOCK : end;
        ps_tree_near(p->targets, p->sources, c, last, &near);
        for (int64_t leaf = c; leaf < last; ++leaf) {
            p2p.target = (ps_fmm_range){place[leaf] - begin, place[leaf + 1] - begin};
            p2p_leaf(p, &near, leaf - c, &p2p, leaf, sources);
        }
    }
}
