#include "runtime/device_graph.h"

#include <stddef.h>

#include "runtime/no_cuda.h"

/* Without CUDA; runtime/device_graph_cuda.cu has the rest. */
#ifndef PS_WITH_CUDA
PS_NO_CUDA(ps_graph_begin);
PS_NO_CUDA(ps_graph_launch);
ps_status ps_graph_end(ps_stream *stream, ps_graph **out)
{
    *out = NULL;
    return ps_no_cuda();
}
void ps_graph_close(ps_graph **graph) {}
#endif
