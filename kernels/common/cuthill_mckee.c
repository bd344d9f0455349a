#include "kernels/common/cuthill_mckee.h"

/* degree[node] while it waits, then ~place < 0; so place doubles as the mark. */
static void append(int32_t *place, int32_t *queue, int64_t *tail, int32_t node)
{
    place[node] = ~(int32_t)*tail;
    queue[(*tail)++] = node;
}

/* Appends the waiting neighbours of a node by increasing degree. */
static void visit(const ps_graph *graph, int32_t *place, int32_t *queue, int64_t *tail,
                  int32_t node)
{
    int32_t list[PS_GRAPH_DEGREE];
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

static int64_t waiting_least(const ps_graph *graph, const int32_t *place)
{
    int64_t best = -1;
    for (int64_t n = 0; n < graph->nodes; ++n)
        if (place[n] >= 0 && (best < 0 || place[n] < place[best])) best = n;
    return best;
}

void ps_cuthill_mckee(const ps_graph *graph, int32_t *place, int32_t *queue)
{
    int32_t list[PS_GRAPH_DEGREE];
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
