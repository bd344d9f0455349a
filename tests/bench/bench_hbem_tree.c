/*
 * Cluster tree and leaves of the block tree of the numerics guide's largest case, 4.2 million
 * functions (P0 on a sphere), on all cores. One JSON record a line. An argument divides the number
 * of triangles.
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/common/vec3.h"
#include "kernels/hbem/block_tree.h"
#include "runtime/memory.h"
#include "runtime/program.h"
#include "tests/support/hbem_case.h"

enum { SIDE = 725 };

static void record(const char *quantity, double value, const char *unit, int64_t dofs)
{
    printf("{\"case\": \"hbem-cpu/tree\", \"quantity\": \"%s\", \"value\": %.4g, \"unit\": \"%s\", "
           "\"floor\": 0, \"fraction\": 0, \"size\": \"N = %lld, eta 2, leaf 32\", \"device\": "
           "\"cpu-%s-%d-cores\", \"revision\": \"%s\"}\n",
           quantity, value, unit, (long long)dofs, ps_isa_name(ps_isa_here()),
           omp_get_max_threads(), ps_revision());
    fflush(stdout);
}

/* Point (i, j) of an octahedron's face cut n-fold, projected. */
static void face_point(int octant, int n, int i, int j, double out[3])
{
    double p[3] = {i, j, n - i - j}, r = ps_norm3(p);
    for (int c = 0; c < 3; ++c) out[c] = (octant >> c & 1 ? -1 : 1) * p[c] / r;
}

static void put_triangle(hbem_case *c, int octant, int n, const int at[3][2])
{
    for (int l = 0; l < 3; ++l) {
        c->corners[3 * c->triangle_count + l] = (int32_t)c->vertex_count;
        face_point(octant, n, at[l][0], at[l][1], c->vertices + 3 * c->vertex_count++);
    }
    ++c->triangle_count;
}

/* A sphere of 8 n^2 triangles that share no vertices: enough for P0. */
static void make_sphere(hbem_case *c, int n)
{
    size_t count = 8 * (size_t)n * (size_t)n;
    memset(c, 0, sizeof *c);
    c->vertices = malloc(9 * count * sizeof *c->vertices);
    c->corners = malloc(3 * count * sizeof *c->corners);
    c->triangles = malloc(count * sizeof *c->triangles);
    for (int octant = 0; octant < 8; ++octant)
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n - i; ++j) {
                put_triangle(c, octant, n, (const int[3][2]){{i, j}, {i + 1, j}, {i, j + 1}});
                if (i + j + 1 < n)
                    put_triangle(c, octant, n,
                                 (const int[3][2]){{i + 1, j}, {i + 1, j + 1}, {i, j + 1}});
            }
    hbem_case_surface(c);
    hbem_space_make(&c->space, PS_SPACE_P0, &c->surface);
}

static void bench_tree(const hbem_case *c, ps_cluster_cut cut, const char *name, void *scratch,
                       ps_cluster_tree *tree)
{
    ps_cluster_method method = {32, cut};
    double best = INFINITY;
    for (int trial = 0; trial < 3; ++trial) {
        double start = ps_clock();
        ps_cluster_build(tree, &c->space, &method, scratch);
        best = fmin(best, ps_clock() - start);
    }
    record(name, best, "s", c->space.dofs);
}

static void bench_leaves(const ps_cluster_tree *tree)
{
    ps_cluster_leaves leaves;
    ps_block_tree blocks = {tree, tree, 2, false};
    double start = ps_clock();
    hbem_case_ok(ps_cluster_leaves_init(&leaves, ps_block_tree_cut(&blocks, 0, NULL)));
    ps_block_tree_cut(&blocks, 0, &leaves);
    record("leaves of the block tree", ps_clock() - start, "s", tree->dofs);
    record("number of leaves", (double)leaves.count, "", tree->dofs);
    ps_cluster_leaves_release(&leaves);
}

int main(int argc, char **argv)
{
    hbem_case c;
    int share = argc > 1 ? atoi(argv[1]) : 1;
    make_sphere(&c, (int)(SIDE / sqrt(share > 0 ? share : 1)));
    ps_cluster_tree tree = {0};
    tree.nodes = malloc((size_t)ps_cluster_nodes(c.space.dofs, 32) * sizeof *tree.nodes);
    tree.order = malloc((size_t)c.space.dofs * sizeof *tree.order);
    ps_hbem_workspace scratch = hbem_workspace_make(ps_cluster_scratch(c.space.dofs));
    bench_tree(&c, PS_CUT_MORTON, "cluster tree along the Morton curve", scratch.base, &tree);
    bench_tree(&c, PS_CUT_HILBERT, "cluster tree along the Hilbert curve", scratch.base, &tree);
    bench_tree(&c, PS_CUT_MEDIAN, "cluster tree by medians", scratch.base, &tree);
    bench_leaves(&tree);
    free(scratch.base);
    free(tree.nodes);
    free(tree.order);
    hbem_case_release(&c);
    return 0;
}
