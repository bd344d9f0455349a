/*
 * partitioner: k-way partition of a graph by Scotch (F. Pellegrini, "Scotch and PT-Scotch graph
 * partitioning software", 2012). partitioner.c is the only file that knows Scotch.
 */
#ifndef PS_RUNTIME_PARTITIONER_H
#define PS_RUNTIME_PARTITIONER_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/status.h"

/* Neighbours of node i are neighbours[start[i] .. start[i + 1]), each edge from both ends. */
typedef struct ps_graph {
    int64_t count;
    const int32_t *start;      /* [count + 1]               */
    const int32_t *neighbours; /* [start[count]] < 2^31     */
    const int32_t *weights;    /* [count] >= 1; NULL: all 1 */
    const int32_t *edges;      /* [start[count]] >= 1, what it costs to cut each; NULL: all 1 */
} ps_graph;

/* False where Penstock was built without Scotch. */
bool ps_partitioner_available(void);

/* part[count] within 0 .. parts - 1: few cut edges, weights within `imbalance` (0.01: 1 %) of their
 * mean where that can be. The same on every run: one thread, fixed seed. PS_USAGE without
 * Scotch; PS_FAILED if it fails. */
ps_status ps_partition_graph(const ps_graph *graph, int64_t parts, double imbalance, int32_t *part);

#endif
