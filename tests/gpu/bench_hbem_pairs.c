/*
 * The scheme of Vater, Betcke, Dilba (pairs on the device, assembled by the cores) beside the cores
 * alone and beside whole leaves on the device: K of a hull as long as the paper's submarine, with
 * fewer triangles. Prints JSON records; floor: the pairs' moments over the bus at 55 GB/s.
 * Arguments: cells from the axis to the side (14), and rows of how many pairs go to the device
 * (10000).
 */
#include <stdio.h>

#include "tests/support/hbem_bodies.h"
#include "tests/support/hbem_device.h"
#include "tests/support/hbem_hmatrix.h"
#include "tests/support/hbem_pair_device.h"
#include "tests/support/record.h"

static void record(const char *what, double seconds, double floor, const char *size,
                   const char *device)
{
    bench_record(device, "submarine-setup-paper", what, seconds, "s", floor, size);
}

/* Seconds by the cores, with rows from elsewhere if there is a source. */
static double by_cores(const ps_hbem_operator *op, const ps_block_tree *blocks, int threads,
                       const ps_hbem_row_source *rows)
{
    PS_SCOPED(hbem_hmatrix_free) hbem_hmatrix h = {0};
    hbem_hmatrix_set(&h, op, blocks, 1e-4);
    h.assembly.rows = rows;
    hbem_hmatrix_run(&h, threads);
    return h.seconds;
}

/* The second run: the first one warms up. */
static double by_device(ps_device *device, const ps_hbem_operator *op, ps_cluster_tree *tree,
                        const ps_block_tree *blocks)
{
    double seconds = 0;
    ps_hbem_device_far_options options = {1e-4, 8, PS_HBEM_DEVICE_RANK_MAX, true, false, 0};
    int64_t count;
    PS_SCOPED_MEMORY ps_hmatrix_leaf *leaves = hbem_leaves(blocks, &count);
    for (int run = 0; run < 2; ++run) {
        hbem_device d;
        hbem_device_open(&d, device, op, tree);
        hbem_device_leaves(&d, leaves, count, options.max_rank, (int64_t)2e9);
        hbem_device_run_near(&d, 60000000);
        hbem_device_run_far(&d, &options, (int64_t)8e9);
        seconds = d.seconds[1] + d.seconds[2] + d.seconds[3];
        if (d.report.over_rank + d.report.over_arena > 0) abort();
        hbem_device_close(&d);
    }
    return seconds;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 14, threads = omp_get_max_threads();
    ps_device *device;
    PS_SCOPED(hbem_case_release) hbem_case body = {0};
    PS_SCOPED(hbem_tree_free) ps_cluster_tree tree = {0};
    hbem_pair_device p = {.threads = threads};
    char size[160];
    must(ps_device_open("cuda:0", 0, &device));
    hbem_hull_make(&body, n, 31);
    hbem_case_finish(&body, PS_SPACE_P1, 1e-4);
    hbem_tree_make(&tree, &body.space, 40);
    ps_hbem_operator op = hbem_case_operator(&body, PS_KERNEL_DLP, 4.18879);
    op.far_precision = PS_SINGLE;
    ps_block_tree blocks = {&tree, &tree, 2, false};
    ps_device_info info = ps_device_describe(device);
    snprintf(size, sizeof size, "N = %lld, k = 4.18879, eps 1e-4, crosses of entries, %d cores",
             (long long)body.space.dofs, threads);
    record("K by whole leaves on the device", by_device(device, &op, &tree, &blocks), 0, size,
           info.name);
    hbem_pair_open(&p, device, &op, argc > 2 ? atoll(argv[2]) : 10000, 1 << 15);
    double seconds = by_cores(&op, &blocks, threads, &p.source);
    double floor = (double)hbem_pair_close(&p) * 72 / 55e9;
    record("K by pairs on the device", seconds, floor, size, info.name);
    record("K by the cores", by_cores(&op, &blocks, threads, NULL), 0, size, info.name);
    ps_device_close(&device);
    return 0;
}
