/*
 * Octrees in memory, one core, in seconds of its time: sorted keys, levels, lists. The aim for
 * keys, order and levels is 20 M particles/s and core (about a tenth of what the evaluation takes);
 * the fraction is of that.
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>

#include "kernels/fmm/tree_lists.h"
#include "runtime/program.h"
#include "tests/support/record.h"
#include "tests/support/tree_case.h"

enum { BLOCK = 1024, REPEATS = 3 };
#define AIM 20e6

static void record(const char *name, const char *quantity, double value, double aim, int64_t count)
{
    bench_record("cpu", text("fmm-tree-%s", name), quantity, value, "particles/s/core", aim,
                 text("N = %lld, one thread", (long long)count));
}

/* Seconds for all lists of a tree. */
static double time_lists(const ps_octree *tree, int64_t *far, int64_t *near)
{
    static int64_t start[BLOCK + 1], items[BLOCK * PS_TREE_FAR_MAX];
    static uint16_t codes[BLOCK * PS_TREE_FAR_MAX];
    ps_tree_list list = {start, items, codes};
    double begin = ps_processor_seconds();
    *far = *near = 0;
    for (int l = tree->height - 1; l >= 2; --l)
        for (int64_t first = 0; first < tree->cells[l]; first += BLOCK) {
            int64_t end = first + BLOCK < tree->cells[l] ? first + BLOCK : tree->cells[l];
            ps_tree_far(tree, tree, l, first, end, &list);
            *far += start[end - first];
            if (l < tree->height - 1) continue;
            ps_tree_near(tree, tree, first, end, &list);
            *near += start[end - first];
        }
    return ps_processor_seconds() - begin;
}

static ps_status measure(const char *name, ps_distribution distribution, int64_t count, int height)
{
    const ps_octree_box unit = {{0, 0, 0}, 1};
    tree_case t;
    int64_t far, near, cells[PS_OCTREE_LEVELS_MAX];
    double built = INFINITY, sorted = INFINITY, listed = INFINITY, gathered = INFINITY;
    PS_TRY(tree_case_random(&t, distribution, count, height, 128));
    ps_tree_points points = {count, t.x, t.y, t.z};
    for (int r = 0; r < REPEATS; ++r) {
        double begin = ps_processor_seconds();
        ps_tree_sort(&unit, height - 1, &points, t.workspace, t.keys, t.order);
        double middle = ps_processor_seconds();
        ps_tree_count(t.keys, count, height - 1, cells);
        ps_tree_fill(t.keys, count, &t.tree);
        double end = ps_processor_seconds();
        ps_tree_gather(t.x, t.order, count, (double *)t.workspace);
        gathered = fmin(gathered, ps_processor_seconds() - end);
        sorted = fmin(sorted, middle - begin);
        built = fmin(built, end - begin);
        listed = fmin(listed, time_lists(&t.tree, &far, &near));
    }
    fprintf(stderr,
            "%-10s N = %lld h = %d: %lld leaves; order %.1f, levels %.1f, gather of a column %.1f, "
            "lists %.1f ns a particle; %.1f M2L pairs a leaf, %.2f ns each\n",
            name, (long long)count, height, (long long)cells[height - 1],
            1e9 * sorted / (double)count, 1e9 * (built - sorted) / (double)count,
            1e9 * gathered / (double)count, 1e9 * listed / (double)count,
            (double)far / (double)cells[height - 1], 1e9 * listed / (double)(far + near));
    record(name, "keys, order and levels", (double)count / built, AIM, count);
    record(name, "lists of M2L and P2P", (double)count / listed, AIM, count);
    tree_case_release(&t);
    return PS_OK;
}

int main(void)
{
    omp_set_num_threads(1);
    ps_status status = measure("cube", PS_DISTRIBUTION_CUBE, 1000000, 6);
    if (status == PS_OK) status = measure("ellipsoid", PS_DISTRIBUTION_ELLIPSOID, 1000000, 9);
    if (status == PS_OK) status = measure("cube", PS_DISTRIBUTION_CUBE, 8000000, 7);
    if (status == PS_OK) status = measure("ellipsoid", PS_DISTRIBUTION_ELLIPSOID, 8000000, 10);
    if (status != PS_OK) fprintf(stderr, "bench_fmm_tree: %s\n", ps_message());
    return status;
}
