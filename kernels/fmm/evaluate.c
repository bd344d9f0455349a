#include "kernels/fmm/evaluate.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "kernels/fmm/group_far.h"
#include "kernels/fmm/group_near.h"
#include "kernels/fmm/moment_p2p.h"
#include "runtime/memory.h"
#include "runtime/sizes.h"

enum { RANGE = 128 /* cells a thread takes at a time */ };

double ps_fmm_level_factor(const ps_octree_box *box, int level, ps_fmm_kernel kernel)
{
    int degree;
    double factor = 1, half = ldexp(box->width, -level - 1);
    if (!ps_fmm_kernel_degree(kernel, &degree)) return 1;
    for (int i = 0; i < degree; ++i) factor *= half;
    for (int i = 0; i < -degree; ++i) factor /= half;
    return factor;
}

/* ---- vectors ---- */

/* Those that begin as 0 lie side by side. */
int64_t ps_fmm_problem_attach(ps_fmm_problem *p, void *block)
{
    int64_t used = 0, vector = p->sides * ps_fmm_vector_bytes(p);
    for (int l = 2; l < p->sources->height; ++l) {
        int64_t sources = p->sources->cells[l], begin = used;
        p->multipoles[l] = ps_host_part(block, &used, sources * vector);
        p->locals[l] = ps_host_part(block, &used, p->targets->cells[l] * vector);
        if (block) memset(p->multipoles[l], 0, (size_t)(used - begin));
        p->coded[l] = ps_host_part(block, &used, p->sides * sources * ps_fmm_code_bytes(p, l));
    }
    return used;
}

int64_t ps_fmm_problem_bytes(const ps_fmm_problem *p)
{
    ps_fmm_problem copy = *p;
    return ps_fmm_problem_attach(&copy, NULL);
}

/* ---- operators: a level is one group ---- */

static const ps_fmm_particles *target_set(const ps_fmm_problem *p)
{
    return p->sources == p->targets ? &p->source_set : &p->target_set;
}

static ps_fmm_groups whole(const ps_octree *tree, int level, void *const *vectors)
{
    return (ps_fmm_groups){tree->cells[level], tree->cells[level], &vectors[level]};
}

void ps_fmm_p2m_cells(const ps_fmm_problem *p, int level, int64_t first, int64_t end, void *w)
{
    ps_fmm_groups to = whole(p->sources, level, p->multipoles);
    ps_fmm_group_p2m(p, first, end, &p->source_set, 0, &to);
}

void ps_fmm_m2m_cells(const ps_fmm_problem *p, int level, int64_t first, int64_t end, void *w)
{
    ps_fmm_groups from = whole(p->sources, level + 1, p->multipoles),
                  to = whole(p->sources, level, p->multipoles);
    ps_fmm_group_m2m(p, level, first, end, &from, &to);
}

void ps_fmm_encode_cells(const ps_fmm_problem *p, int level, int64_t first, int64_t end, void *w)
{
    ps_fmm_groups from = whole(p->sources, level, p->multipoles),
                  to = whole(p->sources, level, p->coded);
    ps_fmm_group_encode(p, level, first, end, &from, &to);
}

void ps_fmm_m2l_cells(const ps_fmm_problem *p, int level, int64_t first, int64_t end,
                      void *workspace)
{
    ps_fmm_groups from = whole(p->sources, level, p->coded),
                  to = whole(p->targets, level, p->locals);
    ps_fmm_group_m2l(p, level, first, end, &from, &to, workspace);
}

void ps_fmm_l2l_cells(const ps_fmm_problem *p, int level, int64_t first, int64_t end, void *w)
{
    const int64_t *start = p->targets->child_start[level];
    ps_fmm_groups from = whole(p->targets, level, p->locals),
                  to = whole(p->targets, level + 1, p->locals);
    ps_fmm_group_l2l(p, level + 1, start[first], start[end], &from, &to);
}

void ps_fmm_l2p_cells(const ps_fmm_problem *p, int level, int64_t first, int64_t end, void *w)
{
    ps_fmm_groups from = whole(p->targets, level, p->locals);
    ps_fmm_group_l2p(p, first, end, target_set(p), 0, &from);
}

/* ---- P2P ---- */

void ps_fmm_p2p_cells(const ps_fmm_problem *p, int level, int64_t first, int64_t end, void *w)
{
    bool same = p->sources == p->targets;
    ps_fmm_near_sources all = {.particles = &p->source_set,
                               .end = ps_octree_leaves(p->sources),
                               .mutual_first = same ? first : 0,
                               .mutual_end = same ? end : 0};
    ps_fmm_group_p2p(p, first, end, target_set(p), 0, &all);
}

/* ---- all of it ---- */

int64_t ps_fmm_evaluate_workspace(const ps_fmm_problem *p, int threads)
{
    return p->targets->height > 2 ? threads * ps_fmm_m2l_workspace(p) : 0;
}

/* One stage on a level, in ranges of `range` cells. */
typedef struct step {
    ps_fmm_stage stage;
    ps_fmm_cells *cells;
    int level;
    int64_t count, range;
} step;

static void run(ps_fmm_problem *p, const step *s, int threads, void *workspace)
{
    double start = ps_processor_seconds();
    int64_t each = p->targets->height > 2 ? ps_fmm_m2l_workspace(p) : 0;
    int64_t ranges = (s->count + s->range - 1) / s->range;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int64_t r = 0; r < ranges; ++r) {
        int64_t first = r * s->range,
                end = first + s->range < s->count ? first + s->range : s->count;
        s->cells(p, s->level, first, end, (char *)workspace + omp_get_thread_num() * each);
    }
    p->seconds[s->stage] += ps_processor_seconds() - start;
}

void ps_fmm_transfer(ps_fmm_problem *p, int threads, void *workspace)
{
    int leaves = p->sources->height - 1;
    const int64_t *sources = p->sources->cells, *targets = p->targets->cells;
    for (int l = leaves - 1; l >= 2; --l)
        run(p, &(step){PS_FMM_M2M, ps_fmm_m2m_cells, l, sources[l], RANGE}, threads, workspace);
    for (int l = 2; l <= leaves; ++l)
        run(p, &(step){PS_FMM_ENCODE, ps_fmm_encode_cells, l, sources[l], RANGE}, threads,
            workspace);
    for (int l = 2; l <= leaves; ++l)
        run(p, &(step){PS_FMM_M2L, ps_fmm_m2l_cells, l, targets[l], PS_FMM_BLOCK}, threads,
            workspace);
    for (int l = 2; l < leaves; ++l)
        run(p, &(step){PS_FMM_L2L, ps_fmm_l2l_cells, l, targets[l], RANGE}, threads, workspace);
}

static void far_field(ps_fmm_problem *p, int threads, void *workspace)
{
    int leaves = p->sources->height - 1;
    int64_t sources = p->sources->cells[leaves], targets = p->targets->cells[leaves];
    run(p, &(step){PS_FMM_P2M, ps_fmm_p2m_cells, leaves, sources, RANGE}, threads, workspace);
    ps_fmm_transfer(p, threads, workspace);
    run(p, &(step){PS_FMM_L2P, ps_fmm_l2p_cells, leaves, targets, RANGE}, threads, workspace);
}

void ps_fmm_evaluate(ps_fmm_problem *p, int threads, void *workspace)
{
    int leaves = p->targets->height - 1;
    int64_t count = p->targets->cells[leaves];
    memset(p->seconds, 0, sizeof p->seconds);
    if (p->targets->height > 2) far_field(p, threads, workspace);
    run(p, &(step){PS_FMM_P2P, ps_fmm_p2p_cells, leaves, count, (count + threads - 1) / threads},
        threads, workspace);
}

/* ---- directly ---- */

void ps_fmm_direct_add(const ps_fmm_function *function, int sides, double width,
                       const ps_fmm_particles *targets, int64_t count,
                       const ps_fmm_particles *sources, int64_t source_count)
{
    const ps_fmm_range all = {0, source_count};
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t i = 0; i < count; i += 4) {
        ps_fmm_p2p p2p = {.function = *function,
                          .sides = sides,
                          .targets = targets,
                          .sources = sources,
                          .target = {i, count - i < 4 ? count : i + 4},
                          .runs = &all,
                          .one_sided = 1,
                          .run_count = 1,
                          .width = width};
        ps_fmm_interact(PS_DOUBLE, &p2p);
    }
}

/* Positions of targets, a block at a time. */
static void direct_block(const ps_fmm_problem *p, const int64_t *indices, ps_fmm_particles targets,
                         int64_t first, int64_t count)
{
    enum { PIECE = 1024 };
    double place[3][PIECE];
    for (int d = 0; d < 3; ++d) {
        for (int64_t i = 0; i < count; ++i)
            place[d][i] = target_set(p)->position[d][indices[first + i]];
        targets.position[d] = place[d];
    }
    targets.potential += first;
    targets.gradient += first;
    ps_fmm_direct_add(&p->function, p->sides, p->sources->box.width, &targets, count,
                      &p->source_set, p->sources->particles);
}

void ps_fmm_direct(const ps_fmm_problem *p, const int64_t *indices, int64_t count,
                   double *potential, double *gradient)
{
    memset(potential, 0, (size_t)(p->sides * count) * sizeof *potential);
    memset(gradient, 0, (size_t)(3 * p->sides * count) * sizeof *gradient);
    ps_fmm_particles targets = {.potential = potential, .gradient = gradient, .stride = count};
    for (int64_t first = 0; first < count; first += 1024)
        direct_block(p, indices, targets, first, count - first < 1024 ? count - first : 1024);
}
