#include "kernels/fmm/evaluate.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "kernels/fmm/tree_lists.h"
#include "runtime/memory.h"

enum { NEAR_BLOCK = 64, RANGE = 128 /* cells a thread takes at a time */ };

static size_t real_bytes(const ps_fmm_problem *p)
{
    return p->far == PS_SINGLE ? sizeof(float) : sizeof(double);
}

static int64_t rounded(int64_t bytes) { return (bytes + 63) / 64 * 64; }

/* The place of a cell, from its key. */
static void centre_of(const ps_octree *tree, int level, int64_t cell, double centre[3],
                      double *width)
{
    int64_t place[3];
    ps_tree_cell(tree->keys[level][cell], place);
    *width = ldexp(tree->box.width, -level);
    for (int d = 0; d < 3; ++d) centre[d] = tree->box.corner[d] + ((double)place[d] + 0.5) * *width;
}

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

/* Bytes of the vectors of one cell and side: multipoles or locals, and codes. */
static int64_t vector_bytes(const ps_fmm_problem *p)
{
    return p->interpolation.points * (int64_t)real_bytes(p);
}

static int64_t code_bytes(const ps_fmm_problem *p, int level)
{
    return p->tables[level]->length * (int64_t)real_bytes(p);
}

int64_t ps_fmm_problem_bytes(const ps_fmm_problem *p)
{
    int64_t bytes = 0;
    for (int l = 2; l < p->sources->height; ++l)
        bytes += rounded(p->sides * p->sources->cells[l] * vector_bytes(p)) +
                 rounded(p->sides * p->sources->cells[l] * code_bytes(p, l)) +
                 rounded(p->sides * p->targets->cells[l] * vector_bytes(p));
    return bytes;
}

void ps_fmm_problem_place(ps_fmm_problem *p, void *block)
{
    char *at = block;
    for (int l = 2; l < p->sources->height; ++l) {
        int64_t sources = rounded(p->sides * p->sources->cells[l] * vector_bytes(p));
        int64_t targets = rounded(p->sides * p->targets->cells[l] * vector_bytes(p));
        p->multipoles[l] = at;
        p->locals[l] = at + sources;
        memset(at, 0, (size_t)(sources + targets));
        at += sources + targets;
        p->coded[l] = at;
        at += rounded(p->sides * p->sources->cells[l] * code_bytes(p, l));
    }
}

static void *vector_of(const ps_fmm_problem *p, void *vectors, int64_t cells, int side,
                       int64_t cell)
{
    return (char *)vectors + (side * cells + cell) * vector_bytes(p);
}

/* ---- operators ---- */

static ps_fmm_leaf leaf_of(const ps_fmm_problem *p, const ps_octree *tree,
                           const ps_fmm_particles *particles, int64_t cell)
{
    int level = tree->height - 1;
    ps_fmm_leaf leaf = {.particles = particles,
                        .range = {tree->particle_start[cell], tree->particle_start[cell + 1]},
                        .sides = p->sides,
                        .vector_stride = tree->cells[level] * p->interpolation.points};
    centre_of(tree, level, cell, leaf.centre, &leaf.width);
    return leaf;
}

static const ps_fmm_particles *target_set(const ps_fmm_problem *p)
{
    return p->sources == p->targets ? &p->source_set : &p->target_set;
}

void ps_fmm_p2m_cells(const ps_fmm_problem *p, int64_t first, int64_t end)
{
    const struct ps_fmm_cell_functions *f = ps_fmm_cell_functions_of(PS_BACKEND_CPU, p->far);
    int level = p->sources->height - 1;
    for (int64_t c = first; c < end; ++c) {
        ps_fmm_leaf leaf = leaf_of(p, p->sources, &p->source_set, c);
        f->p2m(&p->interpolation, &leaf, vector_of(p, p->multipoles[level], 0, 0, c));
    }
}

void ps_fmm_m2m_cells(const ps_fmm_problem *p, int level, int64_t first, int64_t end)
{
    const struct ps_fmm_cell_functions *f = ps_fmm_cell_functions_of(PS_BACKEND_CPU, p->far);
    const ps_octree *tree = p->sources;
    const int64_t *children = tree->child_start[level], *cells = tree->cells;
    for (int side = 0; side < p->sides; ++side)
        for (int64_t c = first; c < end; ++c)
            for (int64_t child = children[c]; child < children[c + 1]; ++child)
                f->m2m(&p->interpolation, (int)(tree->keys[level + 1][child] & 7),
                       vector_of(p, p->multipoles[level + 1], cells[level + 1], side, child),
                       vector_of(p, p->multipoles[level], cells[level], side, c));
}

void ps_fmm_encode_cells(const ps_fmm_problem *p, int level, int64_t first, int64_t end)
{
    const struct ps_fmm_m2l_functions *f = ps_fmm_m2l_functions_of(PS_BACKEND_CPU, p->far);
    int64_t cells = p->sources->cells[level];
    for (int side = 0; side < p->sides; ++side)
        f->encode(p->tables[level], vector_of(p, p->multipoles[level], cells, side, first),
                  end - first,
                  (char *)p->coded[level] + (side * cells + first) * code_bytes(p, level));
}

void ps_fmm_l2l_cells(const ps_fmm_problem *p, int level, int64_t first, int64_t end)
{
    const struct ps_fmm_cell_functions *f = ps_fmm_cell_functions_of(PS_BACKEND_CPU, p->far);
    const ps_octree *tree = p->targets;
    const int64_t *children = tree->child_start[level], *cells = tree->cells;
    for (int side = 0; side < p->sides; ++side)
        for (int64_t c = first; c < end; ++c)
            for (int64_t child = children[c]; child < children[c + 1]; ++child)
                f->l2l(&p->interpolation, (int)(tree->keys[level + 1][child] & 7),
                       vector_of(p, p->locals[level], cells[level], side, c),
                       vector_of(p, p->locals[level + 1], cells[level + 1], side, child));
}

void ps_fmm_l2p_cells(const ps_fmm_problem *p, int64_t first, int64_t end)
{
    const struct ps_fmm_cell_functions *f = ps_fmm_cell_functions_of(PS_BACKEND_CPU, p->far);
    int level = p->targets->height - 1;
    for (int64_t c = first; c < end; ++c) {
        ps_fmm_leaf leaf = leaf_of(p, p->targets, target_set(p), c);
        f->l2p(&p->interpolation, &leaf, vector_of(p, p->locals[level], 0, 0, c));
    }
}

/* ---- M2L ---- */

/* Pairs of a block of targets, and the same sorted by offset. */
typedef struct far_pairs {
    int64_t start[PS_FMM_BLOCK + 1];
    int64_t listed[PS_FMM_BLOCK * PS_TREE_FAR_MAX];
    uint16_t codes[PS_FMM_BLOCK * PS_TREE_FAR_MAX];
    int64_t begin[PS_FMM_OFFSETS + 1]; /* of an offset in the two below */
    int64_t targets[PS_FMM_BLOCK * PS_TREE_FAR_MAX];
    int64_t sources[PS_FMM_BLOCK * PS_TREE_FAR_MAX];
} far_pairs;

static int64_t longest_code(const ps_fmm_problem *p)
{
    int64_t bytes = 0;
    for (int l = 2; l < p->targets->height; ++l)
        if (code_bytes(p, l) > bytes) bytes = code_bytes(p, l);
    return bytes;
}

int64_t ps_fmm_m2l_workspace(const ps_fmm_problem *p)
{
    return rounded(sizeof(far_pairs)) + PS_FMM_BLOCK * longest_code(p);
}

static void sort_pairs(far_pairs *pairs, int64_t cells)
{
    int64_t count = pairs->start[cells], *begin = pairs->begin;
    memset(begin, 0, sizeof pairs->begin);
    for (int64_t i = 0; i < count; ++i) ++begin[pairs->codes[i] + 1];
    for (int t = 0; t < PS_FMM_OFFSETS; ++t) begin[t + 1] += begin[t];
    for (int64_t c = 0; c < cells; ++c)
        for (int64_t i = pairs->start[c]; i < pairs->start[c + 1]; ++i) {
            int64_t to = begin[pairs->codes[i]]++;
            pairs->targets[to] = c;
            pairs->sources[to] = pairs->listed[i];
        }
    memmove(begin + 1, begin, PS_FMM_OFFSETS * sizeof *begin);
    begin[0] = 0;
}

static void m2l_block(const ps_fmm_problem *p, int level, int64_t first, int64_t end,
                      far_pairs *pairs)
{
    const struct ps_fmm_m2l_functions *f = ps_fmm_m2l_functions_of(PS_BACKEND_CPU, p->far);
    char *sums = (char *)pairs + rounded(sizeof *pairs);
    int64_t code = code_bytes(p, level);
    ps_tree_list list = {pairs->start, pairs->listed, pairs->codes};
    ps_tree_far(p->targets, p->sources, level, first, end, &list);
    sort_pairs(pairs, end - first);
    for (int side = 0; side < p->sides; ++side) {
        memset(sums, 0, (size_t)((end - first) * code));
        const char *coded = (const char *)p->coded[level] + side * p->sources->cells[level] * code;
        for (int t = 0; t < PS_FMM_OFFSETS; ++t) {
            int64_t begin = pairs->begin[t], count = pairs->begin[t + 1] - begin;
            ps_fmm_m2l_pairs some = {t, count, pairs->targets + begin, pairs->sources + begin};
            if (count) f->interact(p->tables[level], &some, coded, sums);
        }
        f->decode(p->tables[level], sums, end - first, p->factors[level],
                  vector_of(p, p->locals[level], p->targets->cells[level], side, first));
    }
}

void ps_fmm_m2l_cells(const ps_fmm_problem *p, int level, int64_t first, int64_t end,
                      void *workspace)
{
    for (int64_t c = first; c < end; c += PS_FMM_BLOCK)
        m2l_block(p, level, c, c + PS_FMM_BLOCK < end ? c + PS_FMM_BLOCK : end, workspace);
}

/* ---- P2P ---- */

/* Runs of particles of consecutive leaves. */
typedef struct near_runs {
    ps_fmm_range runs[PS_TREE_NEAR_MAX];
    int64_t count;
} near_runs;

static void add_run(near_runs *runs, const ps_octree *tree, int64_t leaf)
{
    int64_t begin = tree->particle_start[leaf], end = tree->particle_start[leaf + 1];
    if (runs->count && runs->runs[runs->count - 1].end == begin)
        runs->runs[runs->count - 1].end = end;
    else
        runs->runs[runs->count++] = (ps_fmm_range){begin, end};
}

static void p2p_leaf(const ps_fmm_problem *p, const ps_tree_list *near, int64_t in_list,
                     int64_t leaf, ps_fmm_range own)
{
    const struct ps_fmm_p2p_functions *f = ps_fmm_p2p_functions_of(PS_BACKEND_CPU, p->near);
    const int64_t *start = p->targets->particle_start;
    near_runs mutual = {.count = 0}, runs = {.count = 0};
    for (int64_t i = near->start[in_list]; i < near->start[in_list + 1]; ++i) {
        int64_t source = near->sources[i];
        bool shared = p->sources == p->targets && source >= own.begin && source < own.end;
        if (!shared || source == leaf)
            add_run(&runs, p->sources, source);
        else if (source > leaf)
            add_run(&mutual, p->sources, source);
    }
    ps_fmm_p2p p2p = {.function = p->function,
                      .sides = p->sides,
                      .targets = target_set(p),
                      .sources = &p->source_set,
                      .target = {start[leaf], start[leaf + 1]},
                      .runs = runs.runs,
                      .one_sided = runs.count,
                      .run_count = runs.count + mutual.count};
    memcpy(runs.runs + runs.count, mutual.runs, (size_t)mutual.count * sizeof *mutual.runs);
    centre_of(p->targets, p->targets->height - 1, leaf, p2p.centre, &p2p.width);
    f->interact[p->function.kernel](&p2p);
}

void ps_fmm_p2p_cells(const ps_fmm_problem *p, int64_t first, int64_t end)
{
    int64_t start[NEAR_BLOCK + 1], sources[NEAR_BLOCK * PS_TREE_NEAR_MAX];
    uint16_t codes[NEAR_BLOCK * PS_TREE_NEAR_MAX];
    ps_tree_list near = {start, sources, codes};
    ps_fmm_range own = {first, end};
    for (int64_t c = first; c < end; c += NEAR_BLOCK) {
        int64_t last = c + NEAR_BLOCK < end ? c + NEAR_BLOCK : end;
        ps_tree_near(p->targets, p->sources, c, last, &near);
        for (int64_t leaf = c; leaf < last; ++leaf) p2p_leaf(p, &near, leaf - c, leaf, own);
    }
}

/* ---- all of it ---- */

typedef void (*cells_fn)(const ps_fmm_problem *p, int level, int64_t first, int64_t end,
                         void *workspace);

static void p2m_range(const ps_fmm_problem *p, int level, int64_t first, int64_t end, void *w)
{
    ps_fmm_p2m_cells(p, first, end);
}

static void m2m_range(const ps_fmm_problem *p, int level, int64_t first, int64_t end, void *w)
{
    ps_fmm_m2m_cells(p, level, first, end);
}

static void encode_range(const ps_fmm_problem *p, int level, int64_t first, int64_t end, void *w)
{
    ps_fmm_encode_cells(p, level, first, end);
}

static void l2l_range(const ps_fmm_problem *p, int level, int64_t first, int64_t end, void *w)
{
    ps_fmm_l2l_cells(p, level, first, end);
}

static void l2p_range(const ps_fmm_problem *p, int level, int64_t first, int64_t end, void *w)
{
    ps_fmm_l2p_cells(p, first, end);
}

static void p2p_range(const ps_fmm_problem *p, int level, int64_t first, int64_t end, void *w)
{
    ps_fmm_p2p_cells(p, first, end);
}

int64_t ps_fmm_evaluate_workspace(const ps_fmm_problem *p, int threads)
{
    return p->targets->height > 2 ? threads * ps_fmm_m2l_workspace(p) : 0;
}

/* One stage on a level, in ranges of `range` cells. */
typedef struct step {
    ps_fmm_stage stage;
    cells_fn cells;
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

static void far_field(ps_fmm_problem *p, int threads, void *workspace)
{
    int leaves = p->sources->height - 1;
    const int64_t *sources = p->sources->cells, *targets = p->targets->cells;
    run(p, &(step){PS_FMM_P2M, p2m_range, leaves, sources[leaves], RANGE}, threads, workspace);
    for (int l = leaves - 1; l >= 2; --l)
        run(p, &(step){PS_FMM_M2M, m2m_range, l, sources[l], RANGE}, threads, workspace);
    for (int l = 2; l <= leaves; ++l)
        run(p, &(step){PS_FMM_ENCODE, encode_range, l, sources[l], RANGE}, threads, workspace);
    for (int l = 2; l <= leaves; ++l)
        run(p, &(step){PS_FMM_M2L, ps_fmm_m2l_cells, l, targets[l], PS_FMM_BLOCK}, threads,
            workspace);
    for (int l = 2; l < leaves; ++l)
        run(p, &(step){PS_FMM_L2L, l2l_range, l, targets[l], RANGE}, threads, workspace);
    run(p, &(step){PS_FMM_L2P, l2p_range, leaves, targets[leaves], RANGE}, threads, workspace);
}

void ps_fmm_evaluate(ps_fmm_problem *p, int threads, void *workspace)
{
    int leaves = p->targets->height - 1;
    int64_t count = p->targets->cells[leaves];
    memset(p->seconds, 0, sizeof p->seconds);
    if (p->targets->height > 2) far_field(p, threads, workspace);
    run(p, &(step){PS_FMM_P2P, p2p_range, leaves, count, (count + threads - 1) / threads}, threads,
        workspace);
}

/* ---- directly ---- */

void ps_fmm_direct(const ps_fmm_problem *p, const int64_t *indices, int64_t count,
                   double *potential, double *gradient)
{
    const struct ps_fmm_p2p_functions *f = ps_fmm_p2p_functions_of(PS_BACKEND_CPU, PS_DOUBLE);
    const ps_fmm_range all = {0, p->sources->particles};
    memset(potential, 0, (size_t)(p->sides * count) * sizeof *potential);
    memset(gradient, 0, (size_t)(3 * p->sides * count) * sizeof *gradient);
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t i = 0; i < count; i += 4) {
        double place[3][4];
        int64_t some = count - i < 4 ? count - i : 4;
        for (int d = 0; d < 3; ++d)
            for (int64_t e = 0; e < some; ++e)
                place[d][e] = target_set(p)->position[d][indices[i + e]];
        ps_fmm_particles targets = {.position = {place[0], place[1], place[2]},
                                    .potential = potential + i,
                                    .gradient = gradient + i,
                                    .stride = count};
        ps_fmm_p2p p2p = {.function = p->function,
                          .sides = p->sides,
                          .targets = &targets,
                          .sources = &p->source_set,
                          .target = {0, some},
                          .runs = &all,
                          .one_sided = 1,
                          .run_count = 1,
                          .width = p->sources->box.width};
        f->interact[p->function.kernel](&p2p);
    }
}
