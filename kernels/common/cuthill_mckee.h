/*
 * cuthill_mckee: the reverse Cuthill-McKee order of a sparse symmetric pattern, and bandwidths.
 *
 * E. Cuthill, J. McKee, Proc. 24th Nat. Conf. ACM (1969) 157-172. Breadth first from a node; the
 * neighbours of a node follow by increasing degree, equal ones by index. No allocation; serial.
 */
#ifndef PS_KERNELS_COMMON_CUTHILL_MCKEE_H
#define PS_KERNELS_COMMON_CUTHILL_MCKEE_H

#include <stdint.h>

/* A pattern that its owner can list: degree, and neighbours (oneself may be among them, and is left
 * out). Both must be symmetric. neighbours writes at most `capacity` items. */
typedef struct ps_graph {
    int64_t nodes;
    int capacity;
    int (*neighbours)(const void *context, int64_t node, int32_t *out);
    const void *context;
} ps_graph;

enum { PS_GRAPH_DEGREE = 256 }; /* greatest capacity */

/* place[node]: its position in the reverse order, all components; starts are the nodes of least
 * degree and then least index. workspace: nodes. */
void ps_cuthill_mckee(const ps_graph *graph, int32_t *place, int32_t *workspace);

#endif
