/*
 * hbem on CPU cores: nanoseconds per kernel evaluation of the vector kernels (6 x 6 points, rows of
 * far blocks, one core), and H-matrices: seconds of one core's time, bytes and error. One JSON
 * record a line.
 *
 * The floor of an evaluation is the issue of its multiplications, one a cycle at the clock that
 * independent multiply-adds show; an assembly has none stated.
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <time.h>

#include "runtime/scope.h"
#include "tests/support/hbem_hmatrix.h"
#include "tests/support/peak_flops.h"
#include "tests/support/record.h"

/* Nanoseconds of a vector instruction of one core. */
static double instruction_time(void) { return 1e9 * 8 * 2 / peak_flops(); }

/* Instructions of an evaluation that need a multiplier, AVX-512, as pair_six_body.h has them, what
 * a pair of triangles costs shared out; a reciprocal root counts for two. */
static const double instructions_of[PS_PRECISION_COUNT][PS_HBEM_KERNELS][2] = {
    [PS_SINGLE] = {{7.4, 22.7}, {9.8, 27.3}, {8.9, 27.3}, {12.8, 30.9}},
    [PS_DOUBLE] = {{9.4, 31}, {11.8, 35.6}, {10.9, 35.6}, {14.8, 39.2}}};
static const char *const kernel_names[PS_HBEM_KERNELS] = {"slp", "dlp", "adlp", "hyps"};

static void put(void *to, ps_precision precision, int index, double value)
{
    if (precision == PS_SINGLE)
        ((float *)to)[index] = (float)value;
    else
        ((double *)to)[index] = value;
}

/* Corners (9) and normals (3) of triangles 0.2 wide, about the origin. */
static void fill_panel(void *panel, ps_precision precision, int blocks, int width)
{
    for (int e = 0; e < blocks * 12 * width; ++e) {
        int row = e / width % 12, triangle = e / (12 * width) * width + e % width;
        double middle = sin(1.7 * (3 * triangle + row % 3));
        put(panel, precision, e, row < 9 ? middle + .1 * sin(2.9 * e) : middle);
    }
}

/* Points (3), normals (3) and coefficients (1): those of `rule` on triangles 0.2 wide. */
static void fill_sources(void *sources, ps_precision precision, int count, const ps_hbem_rule *rule)
{
    for (int e = 0; e < count * 7; ++e) {
        int triangle = e / 7 / rule->count;
        const double *hat = rule->hat[e / 7 % rule->count];
        double value = 3 + cos(2.3 * (3 * triangle + e % 7));
        for (int l = 0; l < 3 && e % 7 < 3; ++l)
            value += .1 * hat[l] * sin(3.1 * (e % 7 + 3 * l + 9 * triangle));
        put(sources, precision, e, value);
    }
}

/* Nanoseconds an evaluation, best of several. */
static double evaluation_time(ps_precision precision, int kernel, int wave)
{
    enum { BLOCKS = 16, SOURCES = 36 };
    static double panel[BLOCKS * 12 * 8] __attribute__((aligned(64)));
    static double sums[BLOCKS * 6 * 8] __attribute__((aligned(64)));
    static ps_hbem_source_f64 sources[SOURCES];
    int width = precision == PS_SINGLE ? 16 : 8;
    fill_panel(panel, precision, BLOCKS, width);
    ps_hbem_rule rule;
    ps_hbem_rule_six(&rule);
    fill_sources(sources, precision, SOURCES, &rule);
    ps_hbem_row_job job = {.sources = sources,
                           .source_count = SOURCES,
                           .together = 6,
                           .panel = panel,
                           .blocks = BLOCKS,
                           .rule = &rule,
                           .wavenumber = 4.2,
                           .sums = sums};
    ps_hbem_row_function row = ps_hbem_pair_functions_here()->row[precision][kernel][wave];
    double best = 1e30, evaluations = (double)BLOCKS * width * 6 * SOURCES;
    for (int trial = 0; trial < 12; ++trial) {
        double start = thread_seconds();
        for (int repeat = 0; repeat < 100; ++repeat) row(&job);
        best = fmin(best, thread_seconds() - start);
    }
    return 1e9 * best / (100 * evaluations);
}

static void bench_evaluations(double instruction)
{
    for (int wave = 0; wave < 2; ++wave)
        for (int kernel = 0; kernel < PS_HBEM_KERNELS; ++kernel)
            for (int precision = PS_DOUBLE; precision >= PS_SINGLE; --precision) {
                char name[64];
                int width = precision == PS_SINGLE ? 16 : 8;
                snprintf(name, sizeof name, "hbem-cpu/%s-%s-%s", wave ? "helmholtz" : "laplace",
                         kernel_names[kernel], precision == PS_SINGLE ? "fp32" : "fp64");
                bench_record_core(name, "time per kernel evaluation",
                                  evaluation_time((ps_precision)precision, kernel, wave), "ns",
                                  instruction * instructions_of[precision][kernel][wave] / width,
                                  "P1, 6 x 6 points");
            }
}

/* |rows of H - exact rows| / |exact rows| over sampled rows. */
static double sampled_error(const hbem_hmatrix *h, const ps_hbem_operator *op, int samples)
{
    int64_t n = op->trial->dofs, parts = ps_hbem_parts(op);
    double error = 0, norm = 0;
    for (int s = 0; s < samples; ++s) {
        int64_t i = op->test->dofs * s / samples;
        PS_SCOPED_MEMORY double *exact =
            hbem_block(op, (ps_hbem_range){i, i + 1}, (ps_hbem_range){0, n});
        for (int64_t leaf = 0; leaf < h->matrix.leaf_count; ++leaf) {
            const ps_hmatrix_leaf *at = &h->leaves[leaf];
            double own[2];
            if (i < at->row_begin || i >= at->row_end) continue;
            for (int64_t j = at->column_begin; j < at->column_end; ++j) {
                hbem_leaf_entry(&h->matrix, leaf, i - at->row_begin, j - at->column_begin, own);
                for (int64_t part = 0; part < parts; ++part) {
                    double value = exact[part * n + j];
                    error += (own[part] - value) * (own[part] - value);
                    norm += value * value;
                }
            }
        }
    }
    return sqrt(error / norm);
}

typedef struct assembly_case {
    const char *name;
    int n; /* of the sphere */
    ps_hbem_space_kind kind;
    ps_hbem_kernel kernel;
    double k, eta, reference; /* CPU seconds of H2Lib where measured (guide, issue), else 0 */
    bool symmetric, skeleton;
} assembly_case;

static void bench_assembly(const assembly_case *a)
{
    PS_SCOPED(hbem_case_release) hbem_case c = {0};
    PS_SCOPED(hbem_tree_free) ps_cluster_tree tree = {0};
    PS_SCOPED(hbem_hmatrix_free) hbem_hmatrix h = {0};
    char size[96];
    hbem_case_sphere(&c, a->n);
    hbem_case_finish(&c, a->kind, 1e-4);
    hbem_tree_make(&tree, &c.space, 32);
    ps_hbem_operator op = hbem_case_operator(&c, a->kernel, a->k);
    ps_block_tree blocks = {&tree, &tree, a->eta, a->symmetric};
    hbem_hmatrix_set(&h, &op, &blocks, 1e-4);
    h.assembly.skeleton = a->skeleton;
    double start = thread_seconds();
    hbem_hmatrix_run(&h, 1);
    double seconds = thread_seconds() - start;
    snprintf(size, sizeof size, "N = %lld, eps 1e-4, eta %g, leaf 32%s%s", (long long)c.space.dofs,
             a->eta, a->symmetric ? ", upper half" : "", a->skeleton ? ", skeleton" : "");
    bench_record_core(a->name, "assembly, CPU time", seconds, "s", 0, size);
    if (a->reference > 0)
        bench_record_core(a->name, "times faster than H2Lib", a->reference / seconds, "", 0, size);
    bench_record_core(a->name, "memory per dof",
                      (double)ps_hmatrix_bytes(&h.matrix) / (double)c.space.dofs, "B", 0, size);
    if (!a->symmetric)
        bench_record_core(a->name, "relative error of 200 rows", sampled_error(&h, &op, 200), "", 0,
                          size);
    PS_SCOPED_MEMORY double *x = calloc(2 * (size_t)c.space.dofs, 8),
                            *y = calloc(2 * (size_t)c.space.dofs, 8);
    for (int64_t i = 0; i < 2 * c.space.dofs; ++i) x[i] = sin((double)i);
    double best = 1e30;
    for (int trial = 0; trial < 3; ++trial) {
        start = thread_seconds();
        hbem_hmatrix_apply(&h.matrix, 1, x, y);
        best = fmin(best, thread_seconds() - start);
    }
    bench_record_core(a->name, "product", (double)ps_hmatrix_bytes(&h.matrix) / best * 1e-9, "GB/s",
                      0, size);
}

/* Arguments: which assemblies, from 0; all if there are none; -1: evaluations. */
int main(int argc, char **argv)
{
    omp_set_num_threads(1);
    const assembly_case cases[] = {
        {"hbem-cpu/assembly-p1-slp", 45, PS_SPACE_P1, PS_KERNEL_SLP, 0, 2, 56, false, false},
        {"hbem-cpu/assembly-p1-slp", 45, PS_SPACE_P1, PS_KERNEL_SLP, 0, 2, 56, false, true},
        {"hbem-cpu/assembly-p1-slp", 45, PS_SPACE_P1, PS_KERNEL_SLP, 0, 2, 56, true, false},
        {"hbem-cpu/assembly-p1-slp", 45, PS_SPACE_P1, PS_KERNEL_SLP, 0, 2, 56, true, true},
        {"hbem-cpu/assembly-p1-hyps", 45, PS_SPACE_P1, PS_KERNEL_HYPS, 0, 2, 0, true, false},
        {"hbem-cpu/assembly-p1-dlp-wave", 45, PS_SPACE_P1, PS_KERNEL_DLP, 4.2, 2, 0, false, false},
        {"hbem-cpu/assembly-p1-dlp-wave", 45, PS_SPACE_P1, PS_KERNEL_DLP, 4.2, 2, 0, false, true},
        {"hbem-cpu/assembly-p0-slp", 64, PS_SPACE_P0, PS_KERNEL_SLP, 0, 2, 7.6, false, false},
        {"hbem-cpu/assembly-p0-slp", 64, PS_SPACE_P0, PS_KERNEL_SLP, 0, 2, 7.6, true, false},
        {"hbem-cpu/assembly-p0-slp", 64, PS_SPACE_P0, PS_KERNEL_SLP, 0, 2, 7.6, true, true}};
    enum { CASES = sizeof cases / sizeof *cases };
    if (argc == 1 || atoi(argv[1]) < 0) bench_evaluations(instruction_time());
    for (int e = 0; argc == 1 && e < CASES; ++e) bench_assembly(&cases[e]);
    for (int a = 1; a < argc; ++a)
        if (atoi(argv[a]) >= 0 && atoi(argv[a]) < CASES) bench_assembly(&cases[atoi(argv[a])]);
    return 0;
}
