/*
 * check_hbem: H-matrices assembled on the device against the CPU's: near leaves number by number,
 * ranks of entry ACA, errors of the whole against graded entries, equal bits in a second run, and
 * errors where clusters of blocks have all leaves. A box is of slender triangles, whose pairs are
 * hard and in several leaves, in both orders; an image is a sphere's functions against those of the
 * sphere mirrored, nearly touching. Ends with "N passed, N failed, N skipped".
 * Arguments, for slow tools such as compute-sanitizer: the number of one case alone; "blocks" for
 * no clusters of blocks, with which racecheck does not end.
 */
#include <stdio.h>

#include "tests/support/distance.h"
#include "tests/support/hbem_device.h"
#include "tests/support/hbem_hmatrix.h"
#include "tests/support/verdict.h"

typedef enum body { SPHERE, CUBE, L_SHAPE, BOX, IMAGE } body;

typedef struct device_case {
    body body;
    int n;
    ps_hbem_space_kind kind;
    ps_hbem_kernel kernel;
    double k, tolerance;
    int leaf;
    ps_precision precision;
    bool symmetric, skeleton;
    double absorption; /* Np/m */
} device_case;

#define P0 PS_SPACE_P0
#define P1 PS_SPACE_P1
#define DP1 PS_SPACE_DP1
static const device_case cases[] = {
    {SPHERE, 11, P1, PS_KERNEL_SLP, 0, 1e-4, 16, PS_DOUBLE, true, false, 0},
    {SPHERE, 11, P1, PS_KERNEL_SLP, 0, 1e-4, 16, PS_DOUBLE, true, true, 0},
    {SPHERE, 11, P1, PS_KERNEL_SLP, 0, 1e-4, 16, PS_SINGLE, false, false, 0},
    {SPHERE, 11, P1, PS_KERNEL_SLP, 0, 1e-4, 16, PS_SINGLE, false, true, 0},
    {SPHERE, 15, P1, PS_KERNEL_DLP, 3, 1e-4, 32, PS_DOUBLE, false, false, 0},
    {SPHERE, 15, P1, PS_KERNEL_DLP, 3, 1e-4, 32, PS_SINGLE, false, true, 0},
    {SPHERE, 15, P1, PS_KERNEL_ADLP, 3, 1e-4, 32, PS_SINGLE, false, true, 0},
    {SPHERE, 15, P1, PS_KERNEL_ADLP, 0, 1e-5, 32, PS_DOUBLE, false, true, 0},
    {SPHERE, 15, P1, PS_KERNEL_HYPS, 4, 1e-4, 32, PS_SINGLE, true, true, 0},
    {SPHERE, 15, P1, PS_KERNEL_HYPS, 0, 1e-4, 32, PS_SINGLE, true, false, 0},
    {SPHERE, 17, P1, PS_KERNEL_SLP, 5, 1e-6, 48, PS_DOUBLE, true, true, 0},
    {SPHERE, 11, P0, PS_KERNEL_SLP, 0, 1e-4, 20, PS_SINGLE, true, true, 0},
    {SPHERE, 7, DP1, PS_KERNEL_DLP, 0, 1e-4, 30, PS_DOUBLE, false, true, 0},
    {CUBE, 7, P1, PS_KERNEL_DLP, 0, 1e-4, 32, PS_DOUBLE, false, false, 0},
    {CUBE, 7, P1, PS_KERNEL_DLP, 0, 1e-4, 32, PS_SINGLE, false, true, 0},
    {CUBE, 6, P0, PS_KERNEL_DLP, 3, 1e-4, 32, PS_SINGLE, false, true, 0},
    {CUBE, 7, P1, PS_KERNEL_SLP, 0, 1e-3, 32, PS_SINGLE, true, true, 0},
    {L_SHAPE, 7, P1, PS_KERNEL_HYPS, 0, 1e-4, 32, PS_DOUBLE, true, true, 0},
    {L_SHAPE, 7, P1, PS_KERNEL_ADLP, 0, 1e-4, 32, PS_SINGLE, false, true, 0},
    {L_SHAPE, 7, P1, PS_KERNEL_DLP, 0, 1e-4, 32, PS_SINGLE, false, false, 0},
    {SPHERE, 11, P1, PS_KERNEL_SLP, 3, 1e-4, 16, PS_DOUBLE, true, true, 2},
    {SPHERE, 15, P1, PS_KERNEL_DLP, 3, 1e-4, 32, PS_DOUBLE, false, false, .7},
    {CUBE, 7, P1, PS_KERNEL_DLP, 3, 1e-4, 32, PS_SINGLE, false, true, .7},
    {SPHERE, 15, P1, PS_KERNEL_ADLP, 3, 1e-4, 32, PS_SINGLE, false, true, .5},
    {CUBE, 6, P0, PS_KERNEL_SLP, 3, 1e-4, 32, PS_SINGLE, true, true, 1},
    {SPHERE, 15, P1, PS_KERNEL_HYPS, 4, 1e-4, 32, PS_SINGLE, true, true, 1},
    {L_SHAPE, 7, P1, PS_KERNEL_HYPS, 3, 1e-4, 32, PS_DOUBLE, true, true, .5},
    {L_SHAPE, 7, P1, PS_KERNEL_ADLP, 2, 1e-4, 32, PS_DOUBLE, false, false, 1},
    {BOX, 2, P1, PS_KERNEL_SLP, 0, 1e-4, 8, PS_DOUBLE, false, false, 0},
    {BOX, 2, P1, PS_KERNEL_SLP, 0, 1e-4, 8, PS_SINGLE, true, true, 0},
    {BOX, 2, P1, PS_KERNEL_DLP, 0, 1e-4, 8, PS_DOUBLE, false, false, 0},
    {BOX, 2, P1, PS_KERNEL_HYPS, 0, 1e-4, 8, PS_DOUBLE, false, false, 0},
    {BOX, 2, P1, PS_KERNEL_HYPS, 0, 1e-4, 8, PS_SINGLE, true, true, 0},
    {BOX, 2, P0, PS_KERNEL_SLP, .2, 1e-4, 8, PS_DOUBLE, false, false, 0},
    {BOX, 2, P1, PS_KERNEL_SLP, .2, 1e-4, 8, PS_DOUBLE, false, false, .1},
    {BOX, 2, P1, PS_KERNEL_ADLP, .2, 1e-4, 8, PS_DOUBLE, false, false, .1},
    {BOX, 2, P1, PS_KERNEL_HYPS, .2, 1e-4, 8, PS_SINGLE, true, true, .1},
    {IMAGE, 6, P1, PS_KERNEL_DLP, 2, 1e-4, 16, PS_DOUBLE, false, false, 0},
    {IMAGE, 6, P1, PS_KERNEL_HYPS, 2, 1e-4, 16, PS_DOUBLE, false, false, 0},
    {IMAGE, 6, P1, PS_KERNEL_SLP, 2, 1e-4, 16, PS_DOUBLE, false, false, .4},
    {IMAGE, 6, P1, PS_KERNEL_DLP, 2, 1e-4, 16, PS_DOUBLE, false, false, .4},
    {IMAGE, 6, P1, PS_KERNEL_ADLP, 2, 1e-4, 16, PS_SINGLE, false, true, .4},
    {IMAGE, 6, P1, PS_KERNEL_HYPS, 2, 1e-4, 16, PS_DOUBLE, false, false, .4},
    {IMAGE, 6, P1, PS_KERNEL_HYPS, 2, 1e-4, 16, PS_SINGLE, false, true, .4},
    {SPHERE, 6, P1, PS_KERNEL_HYPS, 2, 1e-3, 8, PS_SINGLE, false, true, .5}, /* for slow tools */
    {SPHERE, 6, P1, PS_KERNEL_HYPS, 2, 1e-3, 8, PS_SINGLE, false, true, 0},  /* for slow tools */
    {SPHERE, 4, P1, PS_KERNEL_SLP, 0, 1e-3, 4, PS_SINGLE, false, true, 0},   /* and slower ones */
};
enum { CASES = sizeof cases / sizeof *cases };

typedef struct check {
    const device_case *of;
    int number;
    bool no_clusters;
    hbem_case body;
    ps_hbem_space image;         /* of an image: its trial functions */
    ps_cluster_tree tree, trial; /* trial: of an image               */
    ps_hbem_operator op;
    hbem_hmatrix cpu, gpu;
    double *exact;
} check;

static void tell(check *k, const char *what, double value, double limit)
{
    bool good = value <= limit; /* NaN is not */
    if (verdict_count(good))
        printf("%s case %d %s: %.2e, at most %.1e\n", good ? "ok" : "FAILED", k->number, what,
               value, limit);
    fflush(stdout);
}

/* Largest difference of a near leaf, which is dense, relative to the largest near leaf; Frobenius.
 */
static double near_difference(const check *k)
{
    double worst = 0, largest = 0;
    for (int64_t leaf = 0; leaf < k->gpu.matrix.leaf_count; ++leaf) {
        if (k->gpu.leaves[leaf].far) continue;
        double error = 0, norm = 0;
        int64_t numbers = ps_hmatrix_numbers(&k->gpu.matrix, leaf, PS_RANK_DENSE);
        for (int64_t e = 0; e < numbers; ++e) {
            double a = hbem_number(&k->gpu.matrix, leaf, e);
            double b = hbem_number(&k->cpu.matrix, leaf, e);
            error += (a - b) * (a - b);
            norm += b * b;
        }
        largest = worse_of(largest, norm);
        worst = error <= worst ? worst : error;
    }
    return sqrt(worst / largest);
}

/* Sum of ranks of far leaves; a dense one counts as what is as large. */
static double ranks(const hbem_hmatrix *h)
{
    double sum = 0;
    for (int64_t leaf = 0; leaf < h->matrix.leaf_count; ++leaf) {
        const ps_hmatrix_leaf *at = &h->leaves[leaf];
        int64_t m = at->row_end - at->row_begin, n = at->column_end - at->column_begin;
        int64_t rank = h->matrix.blocks[leaf].rank;
        if (at->far) sum += rank >= 0 ? (double)rank : (double)(m * n) / (double)(m + n);
    }
    return sum;
}

static double leaves_of_other_rank(const check *k)
{
    double count = 0, all = 0;
    for (int64_t leaf = 0; leaf < k->gpu.matrix.leaf_count; ++leaf) {
        all += k->gpu.leaves[leaf].far;
        count += k->cpu.matrix.blocks[leaf].rank != k->gpu.matrix.blocks[leaf].rank;
    }
    return count / all;
}

static double leaves_of_other_bits(const check *k, const ps_hmatrix *other)
{
    double count = 0;
    int64_t size = other->precision == PS_SINGLE ? 4 : 8;
    for (int64_t leaf = 0; leaf < other->leaf_count; ++leaf) {
        const ps_hmatrix_block *a = &k->gpu.matrix.blocks[leaf], *b = &other->blocks[leaf];
        int64_t numbers = ps_hmatrix_numbers(other, leaf, b->rank);
        count += a->rank != b->rank || memcmp(a->values, b->values, (size_t)(numbers * size)) != 0;
    }
    return count;
}

static void run_device(check *k, ps_device *device, bool clusters, ps_hmatrix *into)
{
    hbem_device d;
    ps_hbem_device_far_options options = {k->of->tolerance, 8, 64, true, k->of->skeleton, 0};
    int64_t most = 0, n = k->body.space.dofs;
    for (int64_t l = 0; l < k->gpu.matrix.leaf_count; ++l)
        most += ps_hmatrix_numbers(into, l, PS_RANK_DENSE) + 4;
    hbem_device_open_sides(&d, device, &k->op, &k->tree, &k->trial, NULL);
    d.one_size = clusters;
    hbem_device_leaves(&d, k->gpu.leaves, k->gpu.matrix.leaf_count, 64, most);
    hbem_device_run_near(&d, n < 500 ? 1 << 20 : 5000);
    hbem_device_run_far(&d, &options, 64 << 20);
    tell(k, "leaves over rank or memory", d.report.over_rank + d.report.over_arena, 0);
    if (getenv("VERBOSE"))
        printf("case %d: %lld near, %lld far leaves, %lld close pairs; %u by entries, %u dense\n",
               k->number, (long long)d.near_count, (long long)d.far_count,
               (long long)d.close_first[d.near_count], d.report.by_entries, d.report.dense);
    hbem_device_fetch(&d, into);
    hbem_device_close(&d);
}

static void check_clusters(check *k, ps_device *device)
{
    PS_SCOPED(ps_hmatrix_release) ps_hmatrix again = k->gpu.matrix;
    must(ps_hmatrix_init(&again));
    run_device(k, device, true, &again);
    tell(k, "error of the whole, by clusters of blocks", hbem_hmatrix_error(&again, k->exact),
         2 * k->of->tolerance);
}

/* Ranks, errors of the whole, a second run. */
static void check_far(check *k, ps_device *device)
{
    const device_case *of = k->of;
    PS_SCOPED(ps_hmatrix_release) ps_hmatrix again = k->gpu.matrix;
    k->exact = hbem_dense(&k->op);
    if (!of->skeleton) tell(k, "far leaves of other rank", leaves_of_other_rank(k), .01);
    tell(k, "ranks", ranks(&k->gpu) / ranks(&k->cpu), of->skeleton ? 1.15 : 1.01);
    if (getenv("VERBOSE"))
        printf("case %d: error of the CPU's %.2e\n", k->number,
               hbem_hmatrix_error(&k->cpu.matrix, k->exact));
    tell(k, "error of the whole", hbem_hmatrix_error(&k->gpu.matrix, k->exact), 2 * of->tolerance);
    must(ps_hmatrix_init(&again));
    run_device(k, device, false, &again);
    tell(k, "leaves of other bits", leaves_of_other_bits(k, &again), 0);
    if (!k->no_clusters) check_clusters(k, device);
    free(k->exact);
}

/* Sixteen times as long as wide. */
static void stretch(hbem_case *c)
{
    for (int64_t v = 0; v < c->vertex_count; ++v) c->vertices[3 * v] *= 16;
    hbem_case_surface(c);
}

/* The body, and behind it its image in the plane z = -1.03. */
static void mirror(hbem_case *c)
{
    int64_t vertices = c->vertex_count, triangles = c->triangle_count;
    c->vertices = realloc(c->vertices, (size_t)vertices * 6 * sizeof *c->vertices);
    c->corners = realloc(c->corners, (size_t)triangles * 6 * sizeof *c->corners);
    c->triangles = realloc(c->triangles, (size_t)triangles * 2 * sizeof *c->triangles);
    for (int64_t e = 0; e < 3 * vertices; ++e)
        c->vertices[3 * vertices + e] = e % 3 == 2 ? -2.06 - c->vertices[e] : c->vertices[e];
    for (int64_t e = 0; e < 3 * triangles; ++e)
        c->corners[3 * triangles + e - e % 3 + (3 - e % 3) % 3] = c->corners[e] + (int32_t)vertices;
    c->vertex_count *= 2;
    c->triangle_count *= 2;
    hbem_case_surface(c);
}

static void make_body(check *k)
{
    const device_case *of = k->of;
    if (of->body == SPHERE || of->body == IMAGE)
        hbem_case_sphere(&k->body, of->n);
    else
        hbem_case_cells(&k->body, of->n, of->body == L_SHAPE);
    if (of->body == BOX) stretch(&k->body);
    if (of->body == IMAGE) mirror(&k->body);
    hbem_case_finish(&k->body, of->kind, of->tolerance);
}

/* The functions of the body and of its image instead of those of both together. */
static void take_halves(check *k)
{
    hbem_case *c = &k->body;
    for (int side = 0; side < 2; ++side) {
        ps_hbem_half half = {c->vertex_count / 2, c->triangle_count / 2, side == 1, true};
        ps_hbem_space *space = side ? &k->image : &c->space;
        if (side) hbem_space_make(space, k->of->kind, &c->surface);
        ps_hbem_space_init_half(space, k->of->kind, &c->surface, &half, space->start, space->item,
                                space->dof_of);
    }
    hbem_tree_make(&k->trial, &k->image, k->of->leaf);
}

static void check_case(check *k, ps_device *device)
{
    const device_case *of = k->of;
    const bool image = of->body == IMAGE;
    make_body(k);
    if (image) take_halves(k);
    hbem_tree_make(&k->tree, &k->body.space, of->leaf);
    k->op = hbem_case_operator(&k->body, of->kernel, of->k);
    if (image) k->op.trial = &k->image;
    k->op.absorption = of->absorption;
    k->op.far_precision = of->precision;
    ps_block_tree blocks = {&k->tree, image ? &k->trial : &k->tree, 2, of->symmetric};
    hbem_hmatrix_set(&k->cpu, &k->op, &blocks, of->tolerance);
    hbem_hmatrix_run(&k->cpu, omp_get_max_threads());
    hbem_hmatrix_set(&k->gpu, &k->op, &blocks, of->tolerance);
    run_device(k, device, false, &k->gpu.matrix);
    tell(k, "near leaves", near_difference(k), of->precision == PS_SINGLE ? 2e-5 : 1e-11);
    check_far(k, device);
    hbem_hmatrix_free(&k->cpu);
    hbem_hmatrix_free(&k->gpu);
    hbem_tree_free(&k->tree);
    if (image) hbem_tree_free(&k->trial);
    if (image) hbem_space_free(&k->image);
    hbem_case_release(&k->body);
}

int main(int argc, char **argv)
{
    check k = {.no_clusters = argc > 2 && strcmp(argv[2], "blocks") == 0};
    if (!verdict_open(0)) return verdict_end();
    for (int c = 0; c < CASES; ++c) {
        if (argc > 1 && atoi(argv[1]) != c) continue;
        k.of = &cases[c];
        k.number = c;
        check_case(&k, verdict.device);
    }
    return verdict_end();
}
