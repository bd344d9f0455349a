/* Device memory of several processes, by CUDA IPC (runtime/device_share.h). */
#include <cuda_runtime.h>

#include <cstring>

#include "runtime/cuda_check.h"
extern "C" {
#include "runtime/device_share.h"
}

namespace {

/* What the driver maps at once: memory of this size and its multiples is an allocation alone. */
constexpr int64_t page = 2 << 20;

ps_status enter(ps_device *device)
{
    const ps_device_info info = ps_device_describe(device);
    if (info.kind != PS_DEVICE_CUDA)
        return ps_fail(PS_FAILED, "only CUDA devices share memory between processes");
    PS_CUDA(cudaSetDevice(info.ordinal));
    return PS_OK;
}

ps_status write_ticket(ps_device *device, void *memory, ps_share_ticket *ticket)
{
    cudaDeviceProp properties;
    cudaIpcMemHandle_t handle;
    static_assert(sizeof handle == sizeof ticket->memory, "a handle of another size");
    static_assert(sizeof properties.uuid == sizeof ticket->device, "a UUID of another size");
    PS_CUDA(cudaGetDeviceProperties(&properties, ps_device_describe(device).ordinal));
    PS_CUDA(cudaIpcGetMemHandle(&handle, memory));
    memcpy(ticket->device, &properties.uuid, sizeof ticket->device);
    memcpy(ticket->memory, &handle, sizeof handle);
    return PS_OK;
}

} // namespace

extern "C" ps_status ps_share_alloc(ps_device *device, int64_t bytes, void **out,
                                    ps_share_ticket *ticket)
{
    void *memory = NULL;
    PS_TRY(enter(device));
    PS_TRY(ps_device_alloc(device, (bytes > 0 ? bytes + page - 1 : page) / page * page, &memory));
    ps_status status = write_ticket(device, memory, ticket);
    if (status != PS_OK) {
        (void)cudaGetLastError();
        ps_device_free(device, memory);
        return status;
    }
    *out = memory;
    return PS_OK;
}

extern "C" ps_status ps_share_reach(ps_device *device, const ps_share_ticket *ticket, void **out)
{
    cudaIpcMemHandle_t handle;
    PS_TRY(enter(device));
    memcpy(&handle, ticket->memory, sizeof handle);
    cudaError_t error = cudaIpcOpenMemHandle(out, handle, cudaIpcMemLazyEnablePeerAccess);
    if (error == cudaSuccess) return PS_OK;
    (void)cudaGetLastError();
    return ps_fail(PS_FAILED, "device %d does not reach another process's memory: %s",
                   ps_device_describe(device).ordinal, cudaGetErrorString(error));
}

extern "C" void ps_share_leave(ps_device *device, void *memory)
{
    if (!memory || enter(device) != PS_OK) return;
    (void)cudaIpcCloseMemHandle(memory);
    (void)cudaGetLastError();
}
