/* partitioner: a strip and a grid of nodes, weights, the same answer twice. */
#include "runtime/partitioner.h"

#include <stdlib.h>

#include "tests/check.h"

enum { SIDE = 30, NODES = SIDE * SIDE };

typedef struct grid {
    int32_t start[NODES + 1], neighbours[4 * NODES], weights[NODES], part[NODES];
    ps_graph graph;
} grid;

static void grid_init(grid *g)
{
    int32_t at = 0;
    for (int v = 0; v < NODES; ++v) {
        int x = v % SIDE, y = v / SIDE;
        g->start[v] = at;
        if (x > 0) g->neighbours[at++] = v - 1;
        if (x < SIDE - 1) g->neighbours[at++] = v + 1;
        if (y > 0) g->neighbours[at++] = v - SIDE;
        if (y < SIDE - 1) g->neighbours[at++] = v + SIDE;
        g->weights[v] = 1;
    }
    g->start[NODES] = at;
    g->graph = (ps_graph){NODES, g->start, g->neighbours, g->weights, NULL};
}

static int cut_of(const grid *g)
{
    int cut = 0;
    for (int v = 0; v < NODES; ++v)
        for (int32_t i = g->start[v]; i < g->start[v + 1]; ++i)
            cut += g->part[v] != g->part[g->neighbours[i]];
    return cut / 2;
}

static double heaviest(const grid *g, int parts)
{
    double weights[16] = {0}, total = 0, most = 0;
    for (int v = 0; v < NODES; ++v) {
        assert_in_range(g->part[v], 0, parts - 1);
        weights[g->part[v]] += g->weights[v];
        total += g->weights[v];
    }
    for (int q = 0; q < parts; ++q) most = fmax(most, weights[q]);
    return most * parts / total;
}

static void skip_without_scotch(void)
{
    if (!ps_partitioner_available()) skip();
}

static void cuts_a_grid(void **state)
{
    static grid g;
    skip_without_scotch();
    grid_init(&g);
    for (int parts = 2; parts <= 9; ++parts) {
        check_ok(ps_partition_graph(&g.graph, parts, .02, g.part));
        /* Squares of n/k nodes would cut about 2 n^.5 (k^.5 - 1) of the edges. */
        check_at_most(cut_of(&g), 1.5 * 2 * SIDE * (sqrt(parts) - 1) + 10);
        check_at_most(heaviest(&g, parts), 1.06);
    }
}

/* Edges along y cost 50: parts are columns, whole from end to end. */
static void costs_of_edges_count(void **state)
{
    static grid g;
    static int32_t costs[4 * NODES];
    skip_without_scotch();
    grid_init(&g);
    for (int v = 0; v < NODES; ++v)
        for (int32_t i = g.start[v]; i < g.start[v + 1]; ++i)
            costs[i] = abs(g.neighbours[i] - v) == SIDE ? 50 : 1;
    g.graph.edges = costs;
    check_ok(ps_partition_graph(&g.graph, 5, .02, g.part));
    for (int v = 0; v < NODES; ++v) assert_int_equal(g.part[v], g.part[v % SIDE]);
}

static void weights_count(void **state)
{
    static grid g;
    skip_without_scotch();
    grid_init(&g);
    for (int v = 0; v < NODES; ++v) g.weights[v] = v % SIDE < 10 ? 8 : 1;
    check_ok(ps_partition_graph(&g.graph, 4, .02, g.part));
    check_at_most(heaviest(&g, 4), 1.06);
}

static void says_the_same_again(void **state)
{
    static grid g, again;
    skip_without_scotch();
    grid_init(&g);
    grid_init(&again);
    check_ok(ps_partition_graph(&g.graph, 7, .01, g.part));
    check_ok(ps_partition_graph(&again.graph, 3, .01, again.part));
    check_ok(ps_partition_graph(&again.graph, 7, .01, again.part));
    assert_memory_equal(g.part, again.part, sizeof g.part);
}

static void without_scotch(void **state)
{
    static grid g;
    if (ps_partitioner_available()) skip();
    grid_init(&g);
    check_fails(ps_partition_graph(&g.graph, 4, .02, g.part), PS_USAGE, "without Scotch");
}
