/* Recorded launches, by CUDA graphs (runtime/device_graph.h). */
#include <cuda_runtime.h>

#include "runtime/cuda_check.h"
extern "C" {
#include "runtime/device_graph.h"
}

namespace {

cudaStream_t queue_of(ps_stream *stream)
{
    return static_cast<cudaStream_t>(ps_stream_handle(stream));
}

cudaGraphExec_t of(ps_graph *graph) { return reinterpret_cast<cudaGraphExec_t>(graph); }

} // namespace

extern "C" ps_status ps_graph_begin(ps_stream *stream)
{
    if (!queue_of(stream)) return ps_fail(PS_FAILED, "only CUDA devices record launches");
    PS_TRY(ps_stream_enter(stream));
    PS_CUDA(cudaStreamBeginCapture(queue_of(stream), cudaStreamCaptureModeThreadLocal));
    return PS_OK;
}

extern "C" ps_status ps_graph_end(ps_stream *stream, ps_graph **out)
{
    cudaGraph_t captured;
    cudaGraphExec_t made;
    *out = nullptr;
    PS_CUDA(cudaStreamEndCapture(queue_of(stream), &captured));
    const cudaError_t error = cudaGraphInstantiate(&made, captured, 0);
    cudaGraphDestroy(captured);
    PS_CUDA(error);
    *out = reinterpret_cast<ps_graph *>(made);
    return PS_OK;
}

extern "C" ps_status ps_graph_launch(ps_graph *graph, ps_stream *stream)
{
    PS_TRY(ps_stream_enter(stream));
    PS_CUDA(cudaGraphLaunch(of(graph), queue_of(stream)));
    return PS_OK;
}

extern "C" void ps_graph_close(ps_graph **graph)
{
    if (*graph) cudaGraphExecDestroy(of(*graph));
    *graph = nullptr;
}
