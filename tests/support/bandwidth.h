/*
 * bandwidth: the reverse Cuthill-McKee order of a sparse symmetric pattern, and the bandwidths it
 * gives the matrices of boxes.
 *
 * E. Cuthill, J. McKee, Proc. 24th Nat. Conf. ACM (1969) 157-172. Breadth first from a node; the
 * neighbours of a node follow by increasing degree, equal ones by index. No allocation; serial.
 */
#ifndef PS_TESTS_SUPPORT_BANDWIDTH_H
#define PS_TESTS_SUPPORT_BANDWIDTH_H

#include "kernels/schwarz/grid.h"

/* A pattern that its owner can list: degree, and neighbours (oneself may be among them, and is left
 * out). Both must be symmetric. neighbours writes at most `capacity` items. */
typedef struct pattern {
    int64_t nodes;
    int capacity;
    int (*neighbours)(const void *context, int64_t node, int32_t *out);
    const void *context;
} pattern;

enum { PATTERN_DEGREE = 256 }; /* greatest capacity */

/* degree[node] while it waits, then ~place < 0; so place doubles as the mark. */
static inline void append(int32_t *place, int32_t *queue, int64_t *tail, int32_t node)
{
    place[node] = ~(int32_t)*tail;
    queue[(*tail)++] = node;
}

/* Appends the waiting neighbours of a node by increasing degree. */
static inline void visit(const pattern *graph, int32_t *place, int32_t *queue, int64_t *tail,
                         int32_t node)
{
    int32_t list[PATTERN_DEGREE];
    int count = graph->neighbours(graph->context, node, list), kept = 0;
    for (int n = 0; n < count; ++n) {
        int32_t item = list[n];
        if (item == node || place[item] < 0) continue;
        int at = kept++;
        for (; at > 0 && (place[list[at - 1]] > place[item] ||
                          (place[list[at - 1]] == place[item] && list[at - 1] > item));
             --at)
            list[at] = list[at - 1];
        list[at] = item;
    }
    for (int n = 0; n < kept; ++n) append(place, queue, tail, list[n]);
}

static inline int64_t waiting_least(const pattern *graph, const int32_t *place)
{
    int64_t best = -1;
    for (int64_t n = 0; n < graph->nodes; ++n)
        if (place[n] >= 0 && (best < 0 || place[n] < place[best])) best = n;
    return best;
}

/* place[node]: its position in the reverse order, all components; starts are the nodes of least
 * degree and then least index. workspace: nodes. */
static inline void cuthill_mckee(const pattern *graph, int32_t *place, int32_t *queue)
{
    int32_t list[PATTERN_DEGREE];
    int64_t head = 0, tail = 0;
    for (int64_t n = 0; n < graph->nodes; ++n) {
        int count = graph->neighbours(graph->context, n, list);
        place[n] = count;
    }
    while (tail < graph->nodes) {
        append(place, queue, &tail, (int32_t)waiting_least(graph, place));
        while (head < tail) {
            int32_t node = queue[head++];
            visit(graph, place, queue, &tail, node);
        }
    }
    for (int64_t n = 0; n < graph->nodes; ++n) place[n] = (int32_t)(graph->nodes - 1) - ~place[n];
}

/* All nodes joined by elements, fixed or not, with x running fastest (node k ny nx + j nx + i):
 * the graph whose reverse Cuthill-McKee order gives the bandwidths of table 5. context: a
 * ps_q1_grid. */
static inline int grid_neighbours(const void *context, int64_t node, int32_t *out)
{
    const int64_t *n = ((const ps_q1_grid *)context)->nodes;
    int64_t at[3] = {node % n[0], node / n[0] % n[1], node / (n[0] * n[1])};
    int count = 0;
    for (int64_t k = at[2] - 1; k <= at[2] + 1; ++k)
        for (int64_t j = at[1] - 1; j <= at[1] + 1; ++j)
            for (int64_t i = at[0] - 1; i <= at[0] + 1; ++i)
                if (i >= 0 && i < n[0] && j >= 0 && j < n[1] && k >= 0 && k < n[2])
                    out[count++] = (int32_t)((k * n[1] + j) * n[0] + i);
    return count;
}

/* max |place - place| + 1 over entries that elimination leaves, of an order of these nodes. */
static inline int64_t grid_bandwidth(const ps_q1_grid *grid, const int32_t *place)
{
    const int64_t *n = grid->nodes;
    int64_t widest = 0;
    for (int64_t node = 0; node < ps_q1_grid_size(grid); ++node) {
        int32_t list[27];
        int count = grid_neighbours(grid, node, list);
        if (count < 27) continue; /* on the boundary: the row of the identity */
        for (int c = 0; c < 27; ++c) {
            int64_t i = list[c] % n[0], j = list[c] / n[0] % n[1], k = list[c] / (n[0] * n[1]);
            bool inside = i > 0 && i < n[0] - 1 && j > 0 && j < n[1] - 1 && k > 0 && k < n[2] - 1;
            int64_t apart = place[node] - place[list[c]];
            if (inside && apart > widest) widest = apart;
        }
    }
    return widest + 1;
}

#endif
