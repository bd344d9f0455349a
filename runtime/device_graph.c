#include "runtime/device_graph.h"

#include <stddef.h>

/* Without CUDA; runtime/device_graph_cuda.cu has the rest. */
#ifndef PS_WITH_CUDA
static ps_status none(void) { return ps_fail(PS_FAILED, "this build has no CUDA"); }

ps_status ps_graph_begin(ps_stream *stream) { return none(); }
ps_status ps_graph_end(ps_stream *stream, ps_graph **out)
{
    *out = NULL;
    return none();
}
ps_status ps_graph_launch(ps_graph *graph, ps_stream *stream) { return none(); }
void ps_graph_close(ps_graph **graph) {}
#endif
