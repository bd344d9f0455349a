/*
 * Each operator of kernels/fmm/device_ops.h on the CUDA device, one right-hand side, potential and
 * gradient, 1/r in a common basis cut at eps: the levels of a cube and of an ellipsoid with as many
 * particles a leaf as 30 million have on the heights of the numerics guide. Prints JSON records.
 *
 * Floors: the arithmetic of the operator at 32.3 TF/s in fp64 (P2P: 19 instructions an ordered
 * pair; fp32: 14 at 55.9 TF/s; M2L and codes: unpadded, not on tensor cores, so that a fraction
 * may exceed 1), or its least traffic at 4.29 TB/s, whatever takes longer. Argument: a case alone.
 */
#include <stdio.h>

#include "tests/support/device_clock.h"
#include "tests/support/fmm_device_case.h"
#include "tests/support/record.h"

static const double fp64 = 32.3e12, fp32 = 55.9e12, bandwidth = 4.29e12;
enum { REPEATS = 5 };

typedef struct bench_case {
    const char *name;
    ps_distribution distribution;
    int64_t count;
    int height, order;
    ps_precision near;
} bench_case;

static const bench_case cases[] = {
    {"cube-acc3-14", PS_DISTRIBUTION_CUBE, 3750000, 7, 3, PS_DOUBLE},
    {"cube-acc5-14", PS_DISTRIBUTION_CUBE, 3750000, 7, 5, PS_DOUBLE},
    {"cube-acc5-114", PS_DISTRIBUTION_CUBE, 3750000, 6, 5, PS_DOUBLE},
    {"cube-acc7-114", PS_DISTRIBUTION_CUBE, 3750000, 6, 7, PS_DOUBLE},
    {"cube-acc3-114-mixed", PS_DISTRIBUTION_CUBE, 3750000, 6, 3, PS_SINGLE},
    {"ellipsoid-acc3-40", PS_DISTRIBUTION_ELLIPSOID, 1875000, 9, 3, PS_DOUBLE},
    {"ellipsoid-acc7-40", PS_DISTRIBUTION_ELLIPSOID, 1875000, 9, 7, PS_DOUBLE},
};
enum { CASES = sizeof cases / sizeof *cases };

typedef struct bench {
    const bench_case *of;
    tree_case tree;
    fmm_case cpu;
    fmm_device_case gpu;
    device_clock clock;
    ps_fmm_device_family up, down; /* from the leaves' parents */
    ps_fmm_device_m2l m2l;
    ps_fmm_device_p2p p2p;
    double pairs, far_pairs, m2l_flop; /* ordered pairs of particles; of cells of the leaf level */
} bench;

/* What there is to do on the leaf level. */
static void count_work(bench *b)
{
    const ps_octree *tree = &b->tree.tree;
    const ps_fmm_m2l_table *table = b->cpu.problem.tables[tree->height - 1];
    const int64_t *place = tree->particle_start;
    int64_t start[65], items[64 * PS_TREE_FAR_MAX], cells = tree->cells[tree->height - 1];
    uint16_t codes[64 * PS_TREE_FAR_MAX];
    ps_tree_list list = {start, items, codes};
    for (int64_t first = 0; first < cells; first += 64) {
        int64_t end = first + 64 < cells ? first + 64 : cells;
        ps_tree_far(tree, tree, tree->height - 1, first, end, &list);
        b->far_pairs += (double)start[end - first];
        for (int64_t i = 0; i < start[end - first]; ++i)
            b->m2l_flop += 4.0 * table->rank[codes[i]] * table->size;
        ps_tree_near(tree, tree, first, end, &list);
        for (int64_t c = first; c < end; ++c)
            for (int64_t i = start[c - first]; i < start[c - first + 1]; ++i)
                b->pairs +=
                    (double)((place[c + 1] - place[c]) * (place[items[i] + 1] - place[items[i]]));
    }
}

typedef ps_status (*operator_fn)(bench *b);

static int leaf_level(const bench *b) { return b->tree.tree.height - 1; }

static ps_status p2m(bench *b)
{
    return ps_fmm_device_p2m(&b->gpu.method, &b->gpu.leaves, &b->gpu.multipoles[leaf_level(b)],
                             b->gpu.stream);
}
static ps_status m2m(bench *b)
{
    return ps_fmm_device_m2m(&b->gpu.method, &b->up, false, b->gpu.stream);
}
static ps_status encode(bench *b)
{
    int l = leaf_level(b);
    return ps_fmm_device_encode(&b->gpu.method, &b->gpu.tables[l], b->gpu.leaves.cells,
                                &b->gpu.multipoles[l], &b->gpu.coded[l], b->gpu.stream);
}
static ps_status m2l(bench *b)
{
    return ps_fmm_device_m2l_run(&b->gpu.method, &b->gpu.tables[leaf_level(b)], &b->m2l,
                                 b->gpu.stream);
}
static ps_status l2l(bench *b)
{
    return ps_fmm_device_l2l(&b->gpu.method, &b->down, b->gpu.stream);
}
static ps_status l2p(bench *b)
{
    return ps_fmm_device_l2p(&b->gpu.method, &b->gpu.leaves, &b->gpu.locals[leaf_level(b)], true,
                             b->gpu.stream);
}
static ps_status p2p(bench *b)
{
    return ps_fmm_device_p2p_run(&b->gpu.method, &b->p2p, b->gpu.stream);
}

static ps_status measure(bench *b, const char *what, operator_fn run, double floor)
{
    double seconds;
    for (int r = -1; r < REPEATS; ++r) {
        if (r == 0) PS_TRY(device_clock_start(&b->clock));
        PS_TRY(run(b));
    }
    PS_TRY(device_clock_stop(&b->clock, &seconds));
    seconds /= REPEATS;
    bench_record(bench_device(b->gpu.device), text("fmm-kernel/%s-%s", what, b->of->name), "time",
                 1e3 * seconds, "ms", 1e3 * floor,
                 text("%lld particles, %lld leaves, %.4g pairs of particles, %.4g of cells",
                      (long long)b->tree.count, (long long)b->gpu.leaves.cells, b->pairs,
                      b->far_pairs));
    return PS_OK;
}

static double larger(double a, double b) { return a > b ? a : b; }

static ps_status measure_all(bench *b)
{
    double l = b->of->order, cube = l * l * l, size = b->cpu.problem.tables[2]->size;
    double n = (double)b->tree.count, cells = (double)b->gpu.leaves.cells;
    double p2m_flop = n * (2 * cube + 2 * l * l + 6 * l * (l - 1));
    double l2p_flop = n * (4 * cube + 6 * l * l + 8 * l + 12 * l * (l - 1));
    double code_flop = 2 * size * cube * cells, vector = 8 * cube * cells, code = 8 * size * cells;
    double slots = b->of->near == PS_SINGLE ? 14 * 2 / fp32 : 19 * 2 / fp64;
    PS_TRY(measure(b, "p2m", p2m, larger(p2m_flop / fp64, (32 * n + vector) / bandwidth)));
    PS_TRY(measure(b, "m2m", m2m, larger(6 * l * cube * cells / fp64, vector * 1.125 / bandwidth)));
    PS_TRY(measure(b, "encode", encode, larger(code_flop / fp64, (vector + code) / bandwidth)));
    PS_TRY(measure(b, "m2l", m2l,
                   larger((b->m2l_flop + code_flop) / fp64, (vector + code) / bandwidth)));
    PS_TRY(measure(b, "l2l", l2l, larger(6 * l * cube * cells / fp64, vector * 2.125 / bandwidth)));
    PS_TRY(measure(b, "l2p", l2p, larger(l2p_flop / fp64, ((24 + 64) * n + vector) / bandwidth)));
    return measure(b, "p2p", p2p, b->pairs * slots);
}

static ps_status bench_one(const bench_case *of, ps_device *device)
{
    bench b = {.of = of};
    const cell_cut whole = {0};
    fmm_options options = {.order = of->order,
                           .basis = 1,
                           .function = {PS_FMM_INVERSE, 0},
                           .far = PS_DOUBLE,
                           .near = of->near};
    PS_TRY(tree_case_random(&b.tree, of->distribution, of->count, of->height, 128));
    PS_TRY(fmm_case_init(&b.cpu, &options, &b.tree, 1));
    PS_TRY(fmm_device_init(&b.gpu, &b.cpu, device, true));
    PS_TRY(device_clock_open(&b.clock, b.gpu.stream));
    int l = leaf_level(&b);
    const int64_t *cells = b.tree.tree.cells;
    count_work(&b);
    PS_TRY(family_of(&b.gpu, l - 1, whole, 0, cells[l - 1], false, &b.up));
    PS_TRY(family_of(&b.gpu, l - 1, whole, 0, cells[l - 1], true, &b.down));
    PS_TRY(m2l_of(&b.gpu, l, whole, 0, cells[l], &b.m2l));
    PS_TRY(near_of(&b.gpu, whole, 0, cells[l], &b.gpu.leaves, &b.p2p));
    PS_TRY(ps_fill_zero(b.gpu.stream, b.gpu.locals[l - 1].values, 8 * b.gpu.locals[l - 1].stride));
    PS_TRY(measure_all(&b));
    device_clock_close(&b.clock);
    fmm_device_release(&b.gpu);
    fmm_case_release(&b.cpu);
    tree_case_release(&b.tree);
    return PS_OK;
}

int main(int argc, char **argv)
{
    ps_device *device;
    ps_status status = ps_device_open("cuda:0", 0, &device);
    for (int i = 0; i < CASES && status == PS_OK; ++i)
        if (argc < 2 || strcmp(argv[1], cases[i].name) == 0) status = bench_one(&cases[i], device);
    if (status != PS_OK) fprintf(stderr, "bench_fmm_ops: %s\n", ps_message());
    return status;
}
