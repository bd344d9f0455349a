#include "runtime/partitioner.h"

#ifdef PS_WITH_SCOTCH

/* Debian has its headers in a folder of their own, others do not. */
#if __has_include(<scotch/scotch.h>)
#include <scotch/scotch.h>
#else
#include <scotch.h>
#endif

bool ps_partitioner_available(void) { return true; }

/* 0 on success, as all of Scotch. */
static int partition_bound(SCOTCH_Graph *graph, int64_t parts, double imbalance, int32_t *part)
{
    SCOTCH_Strat strategy;
    if (SCOTCH_stratInit(&strategy)) return 1;
    int failed =
        SCOTCH_stratGraphMapBuild(&strategy, SCOTCH_STRATDEFAULT, (SCOTCH_Num)parts, imbalance) ||
        SCOTCH_graphPart(graph, (SCOTCH_Num)parts, &strategy, part);
    SCOTCH_stratExit(&strategy);
    return failed;
}

static int partition_built(SCOTCH_Graph *graph, int64_t parts, double imbalance, int32_t *part)
{
    SCOTCH_Context context;
    SCOTCH_Graph bound;
    if (SCOTCH_contextInit(&context)) return 1;
    int failed = SCOTCH_contextOptionSetNum(&context, SCOTCH_OPTIONNUMDETERMINISTIC, 1) ||
                 SCOTCH_contextOptionSetNum(&context, SCOTCH_OPTIONNUMRANDOMFIXEDSEED, 1) ||
                 SCOTCH_contextThreadSpawn(&context, 1, NULL);
    if (!failed) {
        SCOTCH_contextRandomSeed(&context, 1);
        SCOTCH_contextRandomReset(&context);
        failed = SCOTCH_graphInit(&bound) || SCOTCH_contextBindGraph(&context, graph, &bound);
        if (!failed) failed = partition_bound(&bound, parts, imbalance, part);
        if (!failed) SCOTCH_graphExit(&bound);
    }
    SCOTCH_contextExit(&context);
    return failed;
}

ps_status ps_partition_graph(const ps_graph *x, int64_t parts, double imbalance, int32_t *part)
{
    SCOTCH_Graph graph;
    if (sizeof(SCOTCH_Num) != sizeof(int32_t))
        return ps_fail(PS_FAILED,
                       "this Scotch counts in %d bytes, 4 are expected; choose another "
                       "method",
                       (int)sizeof(SCOTCH_Num));
    if (SCOTCH_graphInit(&graph)) return ps_fail(PS_FAILED, "Scotch does not start");
    /* Scotch only reads these. */
    int failed =
        SCOTCH_graphBuild(&graph, 0, (SCOTCH_Num)x->count, (SCOTCH_Num *)x->start,
                          (SCOTCH_Num *)x->start + 1, (SCOTCH_Num *)x->weights, NULL,
                          x->start[x->count], (SCOTCH_Num *)x->neighbours, (SCOTCH_Num *)x->edges);
    if (!failed) failed = partition_built(&graph, parts, imbalance, part);
    SCOTCH_graphExit(&graph);
    return failed ? ps_fail(PS_FAILED, "Scotch could not cut %lld elements into %lld parts",
                            (long long)x->count, (long long)parts)
                  : PS_OK;
}

#else

bool ps_partitioner_available(void) { return false; }

ps_status ps_partition_graph(const ps_graph *graph, int64_t parts, double imbalance, int32_t *part)
{
    return ps_fail(PS_USAGE, "Penstock was built without Scotch");
}

#endif
