/*
 * check_fmm_ops: every operator of kernels/fmm/device_ops.h against the CPU's on the same input,
 * by relative L2 norm: fp64 to 1e-13, fp32 to 1e-6; and whole levels against groups cut anywhere,
 * bit by bit. Ends with "N passed, N failed, N skipped". Argument: the number of one case alone
 * (for slow tools such as compute-sanitizer).
 */
#include <stdio.h>

#include "kernels/common/reals.h"
#include "runtime/blas_threads.h"
#include "tests/support/fmm_device_case.h"
#include "tests/support/verdict.h"

typedef struct op_case {
    int order, basis, height, sides;
    ps_distribution distribution;
    ps_fmm_function function;
    ps_precision far, near;
    bool gradient;
    int64_t count;
} op_case;

#define CUBE PS_DISTRIBUTION_CUBE
#define ELLIPSOID PS_DISTRIBUTION_ELLIPSOID
static const op_case cases[] = {
    {3, 1, 4, 1, CUBE, {PS_FMM_INVERSE, 0}, PS_DOUBLE, PS_DOUBLE, true, 4001},
    {5, 1, 4, 1, CUBE, {PS_FMM_INVERSE, 0}, PS_DOUBLE, PS_DOUBLE, true, 4003},
    {7, 1, 4, 1, CUBE, {PS_FMM_INVERSE, 0}, PS_DOUBLE, PS_DOUBLE, true, 9001},
    {5, 1, 6, 1, ELLIPSOID, {PS_FMM_INVERSE, 0}, PS_DOUBLE, PS_DOUBLE, true, 20001},
    {4, 1, 4, 3, CUBE, {PS_FMM_INVERSE, 0}, PS_DOUBLE, PS_DOUBLE, true, 3001},
    {6, 1, 4, 2, ELLIPSOID, {PS_FMM_INVERSE, 0}, PS_DOUBLE, PS_DOUBLE, false, 3001},
    {8, 1, 4, 1, CUBE, {PS_FMM_INVERSE, 0}, PS_DOUBLE, PS_DOUBLE, true, 3001},
    {3, 0, 4, 1, CUBE, {PS_FMM_INVERSE_SQUARE, 0}, PS_DOUBLE, PS_DOUBLE, true, 3001},
    {4, 0, 5, 1, ELLIPSOID, {PS_FMM_INVERSE_FOURTH, 0}, PS_DOUBLE, PS_DOUBLE, true, 3001},
    {5, 0, 4, 1, CUBE, {PS_FMM_DISTANCE, 0}, PS_DOUBLE, PS_DOUBLE, true, 3001},
    {6, 0, 4, 1, CUBE, {PS_FMM_EXPONENTIAL, 3}, PS_DOUBLE, PS_DOUBLE, true, 3001},
    {7, 0, 4, 1, CUBE, {PS_FMM_YUKAWA, 2}, PS_DOUBLE, PS_DOUBLE, true, 3001},
    {8, 0, 4, 1, CUBE, {PS_FMM_GAUSSIAN, 2}, PS_DOUBLE, PS_DOUBLE, true, 3001},
    {9, 0, 4, 1, CUBE, {PS_FMM_INVERSE, 0}, PS_DOUBLE, PS_DOUBLE, true, 3001},
    {3, 0, 4, 1, CUBE, {PS_FMM_SQUARE, 0}, PS_DOUBLE, PS_DOUBLE, true, 3001},
    {5, 0, 4, 1, CUBE, {PS_FMM_FOURTH, 0}, PS_DOUBLE, PS_DOUBLE, false, 3001},
    {4, 1, 4, 1, CUBE, {PS_FMM_USER, 0}, PS_DOUBLE, PS_DOUBLE, true, 3001},
    {3, 1, 4, 1, CUBE, {PS_FMM_INVERSE, 0}, PS_SINGLE, PS_SINGLE, true, 4001},
    {5, 0, 4, 2, CUBE, {PS_FMM_INVERSE, 0}, PS_SINGLE, PS_SINGLE, true, 4001},
    {7, 1, 4, 1, CUBE, {PS_FMM_YUKAWA, 2}, PS_SINGLE, PS_SINGLE, false, 4001},
    {3, 1, 4, 1, CUBE, {PS_FMM_INVERSE, 0}, PS_DOUBLE, PS_SINGLE, true, 30001},
    {3, 1, 3, 1, ELLIPSOID, {PS_FMM_EXPONENTIAL, 1}, PS_DOUBLE, PS_SINGLE, true, 8001},
    {3, 1, 3, 1, ELLIPSOID, {PS_FMM_DISTANCE, 0}, PS_DOUBLE, PS_SINGLE, true, 3001},
    {3, 1, 3, 1, CUBE, {PS_FMM_INVERSE_SQUARE, 0}, PS_DOUBLE, PS_SINGLE, true, 3001},
    {3, 1, 3, 1, CUBE, {PS_FMM_GAUSSIAN, 4}, PS_DOUBLE, PS_SINGLE, true, 3001},
    {3, 1, 3, 1, CUBE, {PS_FMM_USER, 0}, PS_DOUBLE, PS_SINGLE, true, 3001},
    {2, 1, 3, 1, CUBE, {PS_FMM_INVERSE, 0}, PS_DOUBLE, PS_DOUBLE, true, 2001},
};
enum { CASES = sizeof cases / sizeof *cases };

/* One case at work. */
typedef struct check {
    const op_case *of;
    int number;
    bool failed;
    tree_case tree;
    fmm_case cpu;
    fmm_device_case gpu;
} check;

static void tell(check *k, const char *what, int level, double error, double limit)
{
    bool good = error <= limit; /* NaN is not */
    k->failed |= !good;
    if (verdict_count(good))
        printf("%s case %d %s level %d: error %.2e, at most %.0e\n", good ? "ok" : "FAILED",
               k->number, what, level, error, limit);
}

/* |got - want| / |want|. */
static double difference(ps_precision precision, const void *got, const void *want, int64_t count)
{
    double error = 0, norm = 0;
    for (int64_t i = 0; i < count; ++i) {
        double x = ps_real_at(precision, got, i), y = ps_real_at(precision, want, i);
        error += (x - y) * (x - y);
        norm += y * y;
    }
    return norm > 0 ? sqrt(error / norm) : sqrt(error);
}

/* Device vectors of `count` numbers against the host's. */
static ps_status compare(check *k, const char *what, int level, const ps_fmm_device_vectors *got,
                         const void *want, int64_t count)
{
    int64_t bytes = count * device_real(&k->gpu);
    void *host;
    PS_TRY(ps_alloc_untouched(&host, bytes, "vectors"));
    ps_status status = device_fetch(&k->gpu, host, got->values, bytes);
    if (status == PS_OK)
        tell(k, what, level, difference(k->of->far, host, want, count),
             k->of->far == PS_SINGLE ? 1e-6 : 1e-13);
    free(host);
    return status;
}

static int64_t numbers_of(check *k, int level, int64_t length)
{
    return k->cpu.problem.sides * k->tree.tree.cells[level] * length;
}

static ps_status send(check *k, const ps_fmm_device_vectors *to, const void *from, int64_t count)
{
    PS_TRY(ps_copy_to_device(k->gpu.stream, to->values, from, count * device_real(&k->gpu)));
    return ps_stream_wait(k->gpu.stream);
}

/* ---- the far field ---- */

static ps_status check_up(check *k)
{
    const ps_fmm_problem *p = &k->cpu.problem;
    int leaves = p->sources->height - 1;
    int64_t points = p->interpolation.points;
    ps_fmm_p2m_cells(p, leaves, 0, p->sources->cells[leaves], NULL);
    PS_TRY(ps_fmm_device_p2m(&k->gpu.method, &k->gpu.leaves, &k->gpu.multipoles[leaves],
                             k->gpu.stream));
    PS_TRY(compare(k, "P2M", leaves, &k->gpu.multipoles[leaves], p->multipoles[leaves],
                   numbers_of(k, leaves, points)));
    for (int l = leaves - 1; l >= 2; --l) {
        ps_fmm_device_family family;
        ps_fmm_m2m_cells(p, l, 0, p->sources->cells[l], NULL);
        PS_TRY(
            send(k, &k->gpu.multipoles[l + 1], p->multipoles[l + 1], numbers_of(k, l + 1, points)));
        PS_TRY(family_of(&k->gpu, l, (cell_cut){0}, 0, p->sources->cells[l], false, &family));
        PS_TRY(ps_fmm_device_m2m(&k->gpu.method, &family, false, k->gpu.stream));
        PS_TRY(compare(k, "M2M", l, &k->gpu.multipoles[l], p->multipoles[l],
                       numbers_of(k, l, points)));
    }
    for (int l = 2; l <= leaves; ++l) {
        ps_fmm_encode_cells(p, l, 0, p->sources->cells[l], NULL);
        PS_TRY(send(k, &k->gpu.multipoles[l], p->multipoles[l], numbers_of(k, l, points)));
        PS_TRY(ps_fmm_device_encode(&k->gpu.method, &k->gpu.tables[l], p->sources->cells[l],
                                    &k->gpu.multipoles[l], &k->gpu.coded[l], k->gpu.stream));
        PS_TRY(compare(k, "encode", l, &k->gpu.coded[l], p->coded[l],
                       numbers_of(k, l, p->tables[l]->length)));
    }
    return PS_OK;
}

/* Whether two pieces of device memory hold the same bits. */
static ps_status same_bits(check *k, const char *what, int level, const void *a, const void *b,
                           int64_t bytes)
{
    void *host[2];
    PS_TRY(ps_alloc_untouched(&host[0], bytes, "bits"));
    PS_TRY(ps_alloc_untouched(&host[1], bytes, "bits"));
    ps_status status = device_fetch(&k->gpu, host[0], a, bytes);
    if (status == PS_OK) status = device_fetch(&k->gpu, host[1], b, bytes);
    if (status == PS_OK) tell(k, what, level, memcmp(host[0], host[1], (size_t)bytes) ? 1 : 0, 0);
    free(host[0]);
    free(host[1]);
    return status;
}

/* M2L of a level in ranges of cells, with sources from a table of groups: the same bits as of the
 * level at once. */
static ps_status m2l_by_groups(check *k, int level)
{
    const cell_cut cut = {13, 4};
    int64_t points = k->cpu.problem.interpolation.points, cells = k->tree.tree.cells[level];
    int64_t bytes = numbers_of(k, level, points) * device_real(&k->gpu);
    ps_fmm_device_vectors whole = k->gpu.locals[level];
    PS_TRY(device_room(&k->gpu, bytes, &k->gpu.locals[level].values));
    for (int64_t first = 0; first < cells; first += cells / 3 + 1) {
        int64_t end = first + cells / 3 + 1 < cells ? first + cells / 3 + 1 : cells;
        ps_fmm_device_m2l part;
        PS_TRY(m2l_of(&k->gpu, level, cut, first, end, &part));
        PS_TRY(ps_fmm_device_m2l_run(&k->gpu.method, &k->gpu.tables[level], &part, k->gpu.stream));
    }
    PS_TRY(same_bits(k, "M2L by groups", level, whole.values, k->gpu.locals[level].values, bytes));
    k->gpu.locals[level] = whole;
    return PS_OK;
}

static ps_status check_across(check *k)
{
    const ps_fmm_problem *p = &k->cpu.problem;
    int64_t points = p->interpolation.points;
    for (int l = 2; l < p->sources->height; ++l) {
        ps_fmm_device_m2l m2l;
        int64_t count = numbers_of(k, l, points), bytes = count * device_real(&k->gpu);
        memset(p->locals[l], 0, (size_t)bytes);
        ps_fmm_m2l_cells(p, l, 0, p->targets->cells[l], k->cpu.workspace);
        PS_TRY(send(k, &k->gpu.coded[l], p->coded[l], numbers_of(k, l, p->tables[l]->length)));
        PS_TRY(m2l_of(&k->gpu, l, (cell_cut){0}, 0, p->targets->cells[l], &m2l));
        PS_TRY(ps_fmm_device_m2l_run(&k->gpu.method, &k->gpu.tables[l], &m2l, k->gpu.stream));
        PS_TRY(compare(k, "M2L", l, &k->gpu.locals[l], p->locals[l], count));
        PS_TRY(m2l_by_groups(k, l));
        PS_TRY(ps_fill_zero(k->gpu.stream, k->gpu.locals[l].values, bytes));
        m2l.add = true;
        PS_TRY(ps_fmm_device_m2l_run(&k->gpu.method, &k->gpu.tables[l], &m2l, k->gpu.stream));
        PS_TRY(compare(k, "M2L, added", l, &k->gpu.locals[l], p->locals[l], count));
    }
    return PS_OK;
}

/* Results of the leaves against `want`, potentials and gradients apart. */
static ps_status compare_results(check *k, const char *what, const double *want, double limit)
{
    int64_t n = k->tree.count, sides = k->cpu.problem.sides;
    double *got;
    PS_TRY(PS_ALLOC(&got, 4 * sides * n, "results"));
    ps_status status = device_fetch(&k->gpu, got, k->gpu.leaves.potential, 32 * sides * n);
    if (status == PS_OK) {
        tell(k, what, 0, difference(PS_DOUBLE, got, want, sides * n), limit);
        if (k->of->gradient)
            tell(k, what, 1,
                 difference(PS_DOUBLE, got + sides * n, want + sides * n, 3 * sides * n), limit);
    }
    free(got);
    return status;
}

/* L2P by the CPU in fp64, of locals of either precision: its fp32 loses a digit of gradients. */
static ps_status l2p_on_cpu(check *k)
{
    ps_fmm_problem p = k->cpu.problem;
    int leaves = p.targets->height - 1;
    int64_t count = numbers_of(k, leaves, p.interpolation.points);
    double *locals;
    PS_TRY(PS_ALLOC(&locals, count, "locals"));
    for (int64_t i = 0; i < count; ++i) locals[i] = ps_real_at(p.far, p.locals[leaves], i);
    p.far = PS_DOUBLE;
    p.locals[leaves] = locals;
    memset(k->cpu.results, 0, (size_t)(32 * p.sides * k->tree.count));
    ps_fmm_l2p_cells(&p, leaves, 0, p.targets->cells[leaves], NULL);
    free(locals);
    return PS_OK;
}

static ps_status check_down(check *k)
{
    const ps_fmm_problem *p = &k->cpu.problem;
    int leaves = p->targets->height - 1;
    int64_t points = p->interpolation.points, sides = p->sides;
    for (int l = 2; l < leaves; ++l) {
        ps_fmm_device_family family;
        PS_TRY(send(k, &k->gpu.locals[l], p->locals[l], numbers_of(k, l, points)));
        PS_TRY(send(k, &k->gpu.locals[l + 1], p->locals[l + 1], numbers_of(k, l + 1, points)));
        ps_fmm_l2l_cells(p, l, 0, p->targets->cells[l], NULL);
        PS_TRY(family_of(&k->gpu, l, (cell_cut){5, 3}, 0, p->targets->cells[l], true, &family));
        PS_TRY(ps_fmm_device_l2l(&k->gpu.method, &family, k->gpu.stream));
        PS_TRY(compare(k, "L2L", l, &k->gpu.locals[l + 1], p->locals[l + 1],
                       numbers_of(k, l + 1, points)));
    }
    PS_TRY(l2p_on_cpu(k));
    PS_TRY(send(k, &k->gpu.locals[leaves], p->locals[leaves], numbers_of(k, leaves, points)));
    for (int add = 0; add < 2; ++add) { /* overwritten, then added to 0 */
        if (add)
            PS_TRY(
                ps_fill_zero(k->gpu.stream, k->gpu.leaves.potential, 32 * sides * k->tree.count));
        PS_TRY(ps_fmm_device_l2p(&k->gpu.method, &k->gpu.leaves, &k->gpu.locals[leaves], add,
                                 k->gpu.stream));
        PS_TRY(compare_results(k, "L2P", k->cpu.results, 1e-13));
    }
    return PS_OK;
}

/* ---- the near field ---- */

/* All leaves by the CPU, one-sided. */
static void near_on_cpu(check *k)
{
    const ps_fmm_problem *p = &k->cpu.problem;
    const struct ps_fmm_p2p_functions *f = ps_fmm_p2p_functions_of(PS_BACKEND_CPU, p->near);
    const ps_octree *tree = p->sources;
    const int64_t *start = tree->particle_start;
    int level = tree->height - 1;
    memset(k->cpu.results, 0, (size_t)(32 * p->sides * k->tree.count));
    for (int64_t leaf = 0; leaf < tree->cells[level]; ++leaf) {
        int64_t around[27], place[3];
        ps_fmm_range runs[27];
        ps_fmm_p2p p2p = {.function = p->function,
                          .sides = p->sides,
                          .targets = &p->source_set,
                          .sources = &p->source_set,
                          .target = {start[leaf], start[leaf + 1]},
                          .runs = runs,
                          .width = ldexp(tree->box.width, -level)};
        ps_tree_around(tree, level, tree->keys[level][leaf], around);
        ps_tree_cell(tree->keys[level][leaf], place);
        for (int d = 0; d < 3; ++d)
            p2p.centre[d] = tree->box.corner[d] + ((double)place[d] + 0.5) * p2p.width;
        for (int n = 0; n < 27; ++n)
            if (around[n] >= 0)
                runs[p2p.run_count++] = (ps_fmm_range){start[around[n]], start[around[n] + 1]};
        p2p.one_sided = p2p.run_count;
        f->interact[p->function.kernel](&p2p);
    }
}

/* Groups of leaves whose sources come from a table: the same bits. */
static ps_status p2p_by_groups(check *k)
{
    const cell_cut cut = {7, 3};
    int64_t cells = k->gpu.leaves.cells, n = k->tree.count, sides = k->cpu.problem.sides;
    void *results;
    PS_TRY(device_room(&k->gpu, 32 * sides * n, &results));
    PS_TRY(ps_fill_zero(k->gpu.stream, results, 32 * sides * n));
    if (!k->of->gradient)
        PS_TRY(ps_fill_zero(k->gpu.stream, k->gpu.leaves.potential + sides * n, 24 * sides * n));
    for (int64_t first = 0; first < cells; first += cells / 2 + 1) {
        int64_t end = first + cells / 2 + 1 < cells ? first + cells / 2 + 1 : cells;
        ps_fmm_device_leaves part;
        ps_fmm_device_p2p p2p;
        PS_TRY(leaves_of(&k->gpu, first, end, k->gpu.leaves.set.rows, results, k->of->gradient,
                         &part));
        PS_TRY(near_of(&k->gpu, cut, first, end, &part, &p2p));
        p2p.add = true;
        PS_TRY(ps_fmm_device_p2p_run(&k->gpu.method, &p2p, k->gpu.stream));
    }
    return same_bits(k, "P2P by groups", 0, k->gpu.leaves.potential, results, 32 * sides * n);
}

static ps_status check_near(check *k)
{
    ps_fmm_device_p2p p2p;
    near_on_cpu(k);
    PS_TRY(near_of(&k->gpu, (cell_cut){0}, 0, k->gpu.leaves.cells, &k->gpu.leaves, &p2p));
    PS_TRY(ps_fmm_device_p2p_run(&k->gpu.method, &p2p, k->gpu.stream));
    PS_TRY(compare_results(k, "P2P", k->cpu.results, k->of->near == PS_SINGLE ? 1e-6 : 1e-13));
    return p2p_by_groups(k);
}

/* ---- all of it ---- */

/* Particles, tree and operators, which take longest: of several cases side by side. */
static ps_status prepare_case(check *k)
{
    const op_case *o = k->of;
    fmm_options options = {.order = o->order,
                           .basis = o->basis,
                           .function = o->function,
                           .far = o->far,
                           .near = o->near,
                           .sides = o->sides,
                           .epsilon = o->function.kernel == PS_FMM_SQUARE ? 1e-14 : 0};
    PS_TRY(tree_case_random(&k->tree, o->distribution, o->count, o->height, 128));
    return fmm_case_init(&k->cpu, &options, &k->tree, 1);
}

static ps_status run_case(check *k, ps_device *device)
{
    const op_case *o = k->of;
    ps_fmm_problem_attach(&k->cpu.problem, k->cpu.vectors);
    PS_TRY(fmm_device_init(&k->gpu, &k->cpu, device, o->gradient));
    PS_TRY(check_up(k));
    PS_TRY(check_across(k));
    PS_TRY(check_down(k));
    PS_TRY(check_near(k));
    fmm_device_release(&k->gpu);
    fmm_case_release(&k->cpu);
    tree_case_release(&k->tree);
    return PS_OK;
}

static void check_device(const char *only)
{
    static check checks[CASES];
    static ps_status prepared[CASES];
    double start = ps_clock();
    ps_blas_threads_single();
#pragma omp parallel for schedule(dynamic, 1)
    for (int i = 0; i < CASES; ++i) {
        if (only && atoi(only) != i) continue;
        checks[i] = (check){.of = &cases[i], .number = i};
        prepared[i] = prepare_case(&checks[i]);
    }
    printf("prepared in %.1f s\n", ps_clock() - start);
    for (int i = 0; i < CASES; ++i) {
        if (only && atoi(only) != i) continue;
        check k = checks[i];
        start = ps_clock();
        ps_status status = prepared[i];
        if (status == PS_OK) status = run_case(&k, verdict.device);
        if (status != PS_OK) {
            verdict_of(status, "case %d", i);
            return;
        }
        printf("%s case %d (l %d, %s%s%s) in %.1f s\n", k.failed ? "FAILED" : "ok", i,
               cases[i].order, ps_fmm_kernel_name(cases[i].function.kernel),
               cases[i].basis ? ", basis" : "",
               cases[i].far == PS_SINGLE    ? ", fp32"
               : cases[i].near == PS_SINGLE ? ", mixed"
                                            : "",
               ps_clock() - start);
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    if (verdict_open(0)) check_device(argc > 1 ? argv[1] : NULL);
    return verdict_end();
}
