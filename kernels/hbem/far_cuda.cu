/* Far leaves of all sizes side by side, each size on a stream of its own. */
#include <cuda_runtime.h>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/hbem/device_kernels.h"
}

namespace
{

#include "kernels/hbem/device_memory_body.h"

/* Whether leaves of a size are integrated whole (far_small_cuda.cu). */
bool is_whole(const ps_hbem_far_launch &launch)
{
    return launch.size == PS_HBEM_FAR_SMALL && ps_hbem_one_side(&launch.op);
}

ps_status launch_size(const ps_hbem_far_launch *launch, cudaStream_t stream)
{
    if (is_whole(*launch)) return ps_hbem_far_small_cuda(launch, stream);
    switch (launch->op.kernel) {
    case PS_KERNEL_SLP:
        return ps_hbem_far_slp_cuda(launch, stream);
    case PS_KERNEL_DLP:
        return ps_hbem_far_dlp_cuda(launch, stream);
    case PS_KERNEL_ADLP:
        return ps_hbem_far_adlp_cuda(launch, stream);
    default:
        return ps_hbem_far_hyps_cuda(launch, stream);
    }
}

/* On a stream of its own, which starts after `ready` and which `stream` waits for. */
ps_status launch_aside(const ps_hbem_far_launch *launch, cudaEvent_t event, cudaStream_t aside,
                       cudaStream_t stream)
{
    PS_CUDA(cudaStreamWaitEvent(aside, event, 0));
    PS_TRY(launch_size(launch, aside));
    cudaEvent_t done;
    PS_CUDA(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    cudaError_t recorded = cudaEventRecord(done, aside);
    cudaError_t waiting = cudaStreamWaitEvent(stream, done, 0);
    cudaEventDestroy(done);
    PS_CUDA(recorded);
    PS_CUDA(waiting);
    return PS_OK;
}

/* Streams and events that are destroyed while at work go when that is done. */
ps_status launch_side_by_side(const ps_hbem_far_launch *launches, int count, cudaStream_t stream)
{
    cudaEvent_t ready;
    ps_status status = PS_OK;
    PS_CUDA(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
    cudaError_t recorded = cudaEventRecord(ready, stream);
    for (int s = 0; s < count && status == PS_OK && recorded == cudaSuccess; ++s) {
        cudaStream_t aside;
        recorded = cudaStreamCreateWithFlags(&aside, cudaStreamNonBlocking);
        if (recorded != cudaSuccess) break;
        status = launch_aside(&launches[s], ready, aside, stream);
        cudaStreamDestroy(aside);
    }
    cudaEventDestroy(ready);
    PS_CUDA(recorded);
    return status;
}

/* Far leaves take up to 1,088 bytes of stack a thread in fp32, more than the 1,024 of a new device.
 * It grows by itself at a launch, which then waits for all near leaves that are at work. */
ps_status grow_stack()
{
    const size_t enough = 1280;
    size_t there = 0;
    PS_CUDA(cudaDeviceGetLimit(&there, cudaLimitStackSize));
    if (there < enough) PS_CUDA(cudaDeviceSetLimit(cudaLimitStackSize, enough));
    return PS_OK;
}

} // namespace

extern "C" int64_t ps_hbem_far_stride(const ps_hbem_far_launch *in)
{
    const int parts = in->op.wavenumber != 0 ? 2 : 1;
    const bool whole = is_whole(*in), points = in->options.skeleton && !whole;
    far_memory<float> in_single;
    far_memory<double> in_double;
    return in->op.precision == PS_SINGLE ? cut_memory((char *)NULL, in->most, in->most_slots,
                                                      in->limit, parts, points, whole, &in_single)
                                         : cut_memory((char *)NULL, in->most, in->most_slots,
                                                      in->limit, parts, points, whole, &in_double);
}

extern "C" ps_status ps_hbem_far_launch_cuda(const ps_hbem_far_launch *launches, int count,
                                             bool aside, ps_stream *stream)
{
    PS_TRY(ps_stream_enter(stream));
    if (count > 0 && launches->count == 0) PS_TRY(grow_stack());
    cudaStream_t on = static_cast<cudaStream_t>(ps_stream_handle(stream));
    if (aside) return launch_side_by_side(launches, count, on);
    for (int s = 0; s < count; ++s) PS_TRY(launch_size(&launches[s], on));
    return PS_OK;
}
