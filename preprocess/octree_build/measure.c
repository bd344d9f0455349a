/* measure: what pairs, cells and particles cost on a core of this machine. */
#include <math.h>
#include <stdlib.h>

#include "build.h"
#include "kernels/fmm/distribution.h"
#include "kernels/fmm/evaluate.h"
#include "kernels/fmm/m2l_table.h"
#include "kernels/fmm/tree.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

enum { COUNT = 20000, REPEATS = 3 };

/* A cube of particles at one height, with all that its evaluation needs. */
typedef struct sample {
    ps_octree tree;
    ps_fmm_problem problem;
    ps_fmm_m2l_table tables[PS_OCTREE_LEVELS_MAX];
    void *blocks[PS_OCTREE_LEVELS_MAX];
    double *unsorted, *numbers; /* positions; sorted positions, charges, results */
    uint64_t *keys;             /* and workspace, and order */
    void *table_workspace, *vectors, *workspace;
} sample;

static void release(sample *s)
{
    ps_octree_release(&s->tree);
    for (int l = 0; l < PS_OCTREE_LEVELS_MAX; ++l) free(s->blocks[l]);
    PS_FREE(s->unsorted, s->numbers, s->keys, s->table_workspace, s->vectors, s->workspace);
}

static ps_status grow_tree(sample *s, int height)
{
    const ps_octree_box unit = {{0, 0, 0}, 1};
    int64_t cells[PS_OCTREE_LEVELS_MAX], work = ps_tree_sort_workspace(COUNT, height - 1);
    PS_TRY(PS_ALLOC(&s->unsorted, 3 * COUNT, "a sample"));
    PS_TRY(PS_ALLOC(&s->keys, 2 * COUNT + work, "a sample"));
    double *const columns[3] = {s->unsorted, s->unsorted + COUNT, s->unsorted + 2 * COUNT};
    int64_t *order = (int64_t *)s->keys + COUNT;
    ps_distribution_positions(PS_DISTRIBUTION_CUBE, 1, 0, COUNT, columns);
    ps_tree_points points = {COUNT, columns[0], columns[1], columns[2]};
    ps_tree_sort(&unit, height - 1, &points, s->keys + 2 * COUNT, s->keys, order);
    ps_tree_count(s->keys, COUNT, height - 1, cells);
    PS_TRY(ps_octree_init(&s->tree, height, &unit, cells, cells[height - 1]));
    ps_tree_fill(s->keys, COUNT, &s->tree);
    int sides = s->problem.sides;
    PS_TRY(PS_ALLOC(&s->numbers, (3 + 5 * sides) * COUNT, "a sample"));
    for (int d = 0; d < 3; ++d) ps_tree_gather(columns[d], order, COUNT, s->numbers + d * COUNT);
    for (int64_t i = 0; i < sides * COUNT; ++i) s->numbers[3 * COUNT + i] = 1;
    double *results = s->numbers + (3 + sides) * COUNT;
    s->problem.source_set =
        (ps_fmm_particles){.position = {s->numbers, s->numbers + COUNT, s->numbers + 2 * COUNT},
                           .charges = s->numbers + 3 * COUNT,
                           .potential = results,
                           .gradient = results + sides * COUNT,
                           .stride = COUNT};
    s->problem.sources = s->problem.targets = &s->tree;
    return PS_OK;
}

static ps_status make_tables(sample *s, ps_fmm_table_spec *spec)
{
    int degree;
    bool one = ps_fmm_kernel_degree(spec->function.kernel, &degree);
    PS_TRY(ps_alloc_untouched(&s->table_workspace, ps_fmm_table_workspace(spec), "operators"));
    for (int l = 2; l < s->tree.height; ++l) {
        int own = one ? 2 : l;
        s->problem.tables[l] = &s->tables[own];
        s->problem.factors[l] = ps_fmm_level_factor(&s->tree.box, l, spec->function.kernel);
        if (own != l) continue;
        spec->rho = one ? 1 : ldexp(1, -l - 1);
        PS_TRY(ps_fmm_table_make(spec, s->table_workspace, &s->tables[l]));
        PS_TRY(ps_alloc(&s->blocks[l], ps_fmm_m2l_bytes(&s->tables[l]), 1, "operators"));
        ps_fmm_m2l_attach(&s->tables[l], s->blocks[l]);
        ps_fmm_table_fill(spec, s->table_workspace, &s->tables[l]);
    }
    return PS_OK;
}

/* The least seconds of each stage. */
static ps_status evaluate(sample *s, double seconds[PS_FMM_STAGES])
{
    ps_fmm_problem *p = &s->problem;
    PS_TRY(ps_alloc_untouched(&s->vectors, ps_fmm_problem_bytes(p), "vectors"));
    PS_TRY(ps_alloc_untouched(&s->workspace, ps_fmm_evaluate_workspace(p, 1), "workspace"));
    for (int i = 0; i < PS_FMM_STAGES; ++i) seconds[i] = INFINITY;
    for (int r = 0; r < REPEATS; ++r) {
        ps_fmm_problem_attach(p, s->vectors);
        ps_fmm_evaluate(p, 1, s->workspace);
        for (int i = 0; i < PS_FMM_STAGES; ++i) seconds[i] = fmin(seconds[i], p->seconds[i]);
    }
    return PS_OK;
}

/* Full levels, n = 2^level cells an axis: ordered pairs of neighbours, (3n - 2)^3; of M2L,
 * (6n - 8)^3 - (3n - 2)^3 (fmm guide 6). */
static double near_cells(int level) { return pow(3 * ldexp(1, level) - 2, 3); }
static double far_cells(int level) { return pow(6 * ldexp(1, level) - 8, 3) - near_cells(level); }

static ps_status measure_height(const ps_fmm_table_spec *spec, int sides, int height,
                                double seconds[PS_FMM_STAGES])
{
    PS_SCOPED(release)
    sample s = {
        .problem = {
            .function = spec->function, .sides = sides, .far = PS_DOUBLE, .near = PS_DOUBLE}};
    ps_fmm_table_spec own = *spec;
    PS_TRY(ps_fmm_interpolation_init(&s.problem.interpolation, spec->order));
    PS_TRY(grow_tree(&s, height));
    PS_TRY(make_tables(&s, &own));
    return evaluate(&s, seconds);
}

/* P2P at two heights tells a pair from a leaf; everything else is as at the larger one. */
ps_status measure_rates(const ps_fmm_function *function, int order, double epsilon, int sides,
                        work_rates *out)
{
    enum { LOW = 4, HIGH = 5 };
    double low[PS_FMM_STAGES], high[PS_FMM_STAGES], far = 0, cells = 0;
    ps_fmm_table_spec spec = {
        .function = *function, .order = order, .epsilon = epsilon, .precision = PS_DOUBLE};
    spec.basis_epsilon = ps_fmm_basis_epsilon(function->kernel, spec.epsilon);
    PS_TRY(measure_height(&spec, sides, LOW, low));
    PS_TRY(measure_height(&spec, sides, HIGH, high));
    for (int l = 2; l < HIGH; ++l) {
        far += far_cells(l);
        cells += ldexp(1, 3 * l);
    }
    double leaves[2] = {ldexp(1, 3 * (LOW - 1)), ldexp(1, 3 * (HIGH - 1))}, pairs[2];
    for (int i = 0; i < 2; ++i)
        pairs[i] = near_cells(LOW - 1 + i) * pow(COUNT / leaves[i], 2) + COUNT; /* Poisson */
    double determinant = pairs[0] * leaves[1] - pairs[1] * leaves[0];
    out->pair = (low[PS_FMM_P2P] * leaves[1] - high[PS_FMM_P2P] * leaves[0]) / determinant;
    out->leaf = (high[PS_FMM_P2P] * pairs[0] - low[PS_FMM_P2P] * pairs[1]) / determinant;
    out->m2l = high[PS_FMM_M2L] / far;
    out->cell = (high[PS_FMM_M2M] + high[PS_FMM_ENCODE] + high[PS_FMM_L2L]) / cells;
    out->particle = (high[PS_FMM_P2M] + high[PS_FMM_L2P]) / COUNT;
    if (out->pair > 0 && out->leaf >= 0) return PS_OK;
    out->pair = low[PS_FMM_P2P] / pairs[0]; /* times that a busy machine has spoilt */
    out->leaf = 0;
    return PS_OK;
}
