/*
 * The CUDA side of runtime/device.h. Linked statically with the CUDA runtime, which opens the
 * driver at run time: the same executables start on machines without one, and find no device.
 *
 * The current device is a property of the host thread, and buffers may be allocated by other
 * threads than those that compute, so every call sets it (it costs well below a microsecond).
 */
#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <system_error>
#include <thread>

#include "runtime/cuda_check.h"
extern "C" {
#include "runtime/device_backend.h"
#include "runtime/memory.h"
}

namespace {

struct cuda_device {
    ps_device base;
    /* The first failure of a call that had nobody to tell, such as a free: the next call that
     * returns a status reports it. */
    std::atomic<int> late;
};

struct cuda_stream {
    ps_stream base;
    cudaStream_t stream;
};

struct cuda_event {
    ps_event base;
    cudaEvent_t event;
};

cuda_device *of(ps_device *device) { return reinterpret_cast<cuda_device *>(device); }
cudaStream_t of(ps_stream *stream) { return reinterpret_cast<cuda_stream *>(stream)->stream; }
cudaEvent_t of(ps_event *event) { return reinterpret_cast<cuda_event *>(event)->event; }

void note(ps_device *device, cudaError_t error)
{
    int none = cudaSuccess;
    if (error != cudaSuccess) of(device)->late.compare_exchange_strong(none, error);
}

/* Makes the device current, and reports what went wrong before with nobody to tell. */
ps_status enter(ps_device *device)
{
    int late = of(device)->late.exchange(cudaSuccess);
    if (late != cudaSuccess)
        return ps_fail(PS_FAILED, "CUDA: an earlier release on device %d failed: %s",
                       device->ordinal, cudaGetErrorString(static_cast<cudaError_t>(late)));
    PS_CUDA(cudaSetDevice(device->ordinal));
    return PS_OK;
}

/* For calls that return nothing. */
void make_current(ps_device *device) { note(device, cudaSetDevice(device->ordinal)); }

void release(ps_device *device) { delete of(device); }

void describe(const ps_device *device, ps_device_info *out)
{
    cudaDeviceProp properties;
    size_t available = 0, total = 0;
    out->kind = PS_DEVICE_CUDA;
    cudaError_t error = cudaGetDeviceProperties(&properties, device->ordinal);
    if (error != cudaSuccess) {
        snprintf(out->name, sizeof out->name, "CUDA device: %s", cudaGetErrorString(error));
    } else {
        snprintf(out->name, sizeof out->name, "%.*s", (int)sizeof out->name - 1, properties.name);
        out->multiprocessors = properties.multiProcessorCount;
        out->memory_total = static_cast<int64_t>(properties.totalGlobalMem);
    }
    if (cudaSetDevice(device->ordinal) == cudaSuccess &&
        cudaMemGetInfo(&available, &total) == cudaSuccess)
        out->memory_free = static_cast<int64_t>(available);
}

ps_status too_much(ps_device *device, const char *kind, int64_t bytes, cudaError_t error)
{
    (void)cudaGetLastError(); /* a refused allocation is no lasting error: clear it */
    return ps_fail(error == cudaErrorMemoryAllocation ? PS_EXHAUSTED : PS_FAILED,
                   "CUDA: %.1f MB of %s memory for device %d: %s; lower --device-memory or "
                   "--host-memory", (double)bytes / 1e6, kind, device->ordinal,
                   cudaGetErrorString(error));
}

ps_status allocate(ps_device *device, int64_t bytes, void **out)
{
    PS_TRY(enter(device));
    cudaError_t error = cudaMalloc(out, bytes > 0 ? static_cast<size_t>(bytes) : 1);
    return error == cudaSuccess ? PS_OK : too_much(device, "device", bytes, error);
}

void free_memory(ps_device *device, void *memory)
{
    make_current(device);
    note(device, cudaFree(memory));
}

constexpr size_t page = 4096, huge_page = 2 << 20;

/* Writes to each page, by several threads where there is much: the system hands out, and clears,
 * the memory as it is touched. */
void touch(char *memory, size_t bytes)
{
    constexpr int most = 8;
    auto part = [=](size_t begin, size_t end) {
        for (size_t i = begin; i < end; i += page) static_cast<volatile char *>(memory)[i] = 0;
    };
    const size_t parts = std::min<size_t>(std::min(most, ps_processor_count()),
                                          1 + bytes / (8 * huge_page));
    const size_t step = (bytes / parts + huge_page) / huge_page * huge_page;
    std::thread threads[most];
    for (size_t t = 1; t < parts; ++t) {
        const size_t begin = std::min(bytes, t * step), end = std::min(bytes, begin + step);
        try {
            threads[t] = std::thread(part, begin, end);
        } catch (const std::system_error &) { /* no further thread is to be had */
            part(begin, end);
        }
    }
    part(0, std::min(bytes, step));
    for (std::thread &thread : threads)
        if (thread.joinable()) thread.join();
}

/* Memory in huge pages that is pinned afterwards, for all devices of the process: five times as
 * fast as cudaHostAlloc (12.8 GB/s against 2.5 on an H200's host), and copies are as fast. */
ps_status allocate_pinned(ps_device *device, int64_t bytes, void **out)
{
    PS_TRY(enter(device));
    const size_t size = (std::max<size_t>(1, static_cast<size_t>(bytes)) + page - 1) / page * page;
    void *memory = size < 2 * huge_page ? aligned_alloc(page, size) : ps_alloc_pages(size);
    if (!memory) return too_much(device, "pinned host", bytes, cudaErrorMemoryAllocation);
    touch(static_cast<char *>(memory), size);
    cudaError_t error = cudaHostRegister(memory, size, cudaHostRegisterPortable);
    if (error != cudaSuccess) {
        free(memory);
        return too_much(device, "pinned host", bytes, error);
    }
    *out = memory;
    return PS_OK;
}

void free_pinned(ps_device *device, void *memory)
{
    make_current(device);
    note(device, cudaHostUnregister(memory));
    free(memory);
}

/* ---- rings: one piece of memory at many addresses, by the driver's own calls ---- */

struct ring_calls {
    decltype(&cuMemGetAllocationGranularity) granularity;
    decltype(&cuMemAddressReserve) reserve;
    decltype(&cuMemAddressFree) give_back;
    decltype(&cuMemCreate) create;
    decltype(&cuMemRelease) release;
    decltype(&cuMemMap) map;
    decltype(&cuMemUnmap) unmap;
    decltype(&cuMemSetAccess) allow;
};

template <typename F> ps_status find_call(const char *name, F *out)
{
    cudaDriverEntryPointQueryResult result;
    void *found = nullptr;
    PS_CUDA(cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &result));
    if (result != cudaDriverEntryPointSuccess || !found)
        return ps_fail(PS_FAILED, "CUDA: the driver has no %s", name);
    *out = reinterpret_cast<F>(found);
    return PS_OK;
}

ps_status find_calls(ring_calls *calls)
{
    PS_TRY(find_call("cuMemGetAllocationGranularity", &calls->granularity));
    PS_TRY(find_call("cuMemAddressReserve", &calls->reserve));
    PS_TRY(find_call("cuMemAddressFree", &calls->give_back));
    PS_TRY(find_call("cuMemCreate", &calls->create));
    PS_TRY(find_call("cuMemRelease", &calls->release));
    PS_TRY(find_call("cuMemMap", &calls->map));
    PS_TRY(find_call("cuMemUnmap", &calls->unmap));
    return find_call("cuMemSetAccess", &calls->allow);
}

size_t rounded(int64_t bytes, size_t unit)
{
    return (std::max<size_t>(1, static_cast<size_t>(bytes)) + unit - 1) / unit * unit;
}

/* Maps `handle`, of `ring` bytes, all over the reserved addresses. */
CUresult map_all(const ring_calls &calls, CUmemGenericAllocationHandle handle, CUdeviceptr memory,
                 size_t all, size_t ring, const CUmemAccessDesc *access)
{
    CUresult result = CUDA_SUCCESS;
    size_t at = 0;
    for (; at < all && result == CUDA_SUCCESS; at += ring)
        result = calls.map(memory + at, ring, 0, handle, 0);
    if (result == CUDA_SUCCESS) result = calls.allow(memory, all, access, 1);
    for (size_t done = 0; result != CUDA_SUCCESS && done < at; done += ring)
        (void)calls.unmap(memory + done, ring);
    return result;
}

ps_status allocate_ring(ps_device *device, int64_t bytes, int64_t *ring, void **out)
{
    ring_calls calls;
    CUmemAllocationProp kind = {};
    CUmemGenericAllocationHandle handle = 0;
    CUdeviceptr memory = 0;
    size_t unit = 0;
    PS_TRY(enter(device));
    PS_TRY(find_calls(&calls));
    kind.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    kind.location = {CU_MEM_LOCATION_TYPE_DEVICE, device->ordinal};
    const CUmemAccessDesc access = {kind.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUresult result = calls.granularity(&unit, &kind, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    if (result != CUDA_SUCCESS)
        return ps_fail(PS_FAILED, "CUDA: device %d maps no memory (error %d)", device->ordinal,
                       static_cast<int>(result));
    const size_t size = rounded(*ring, unit), all = rounded(bytes, size);
    result = calls.create(&handle, size, &kind, 0);
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        return too_much(device, "device", static_cast<int64_t>(size), cudaErrorMemoryAllocation);
    if (result == CUDA_SUCCESS) result = calls.reserve(&memory, all, 0, 0, 0);
    if (result == CUDA_SUCCESS) result = map_all(calls, handle, memory, all, size, &access);
    if (handle) (void)calls.release(handle); /* mappings keep the memory */
    if (result != CUDA_SUCCESS) {
        if (memory) (void)calls.give_back(memory, all);
        return ps_fail(PS_FAILED, "CUDA: a ring of %.1f MB cannot be mapped (error %d)",
                       (double)size / 1e6, static_cast<int>(result));
    }
    *ring = static_cast<int64_t>(size);
    *out = reinterpret_cast<void *>(memory);
    return PS_OK;
}

void free_ring(ps_device *device, void *memory, int64_t bytes, int64_t ring)
{
    ring_calls calls;
    const size_t all = rounded(bytes, static_cast<size_t>(ring));
    const CUdeviceptr at = reinterpret_cast<CUdeviceptr>(memory);
    make_current(device);
    if (find_calls(&calls) != PS_OK) return;
    for (size_t part = 0; part < all; part += static_cast<size_t>(ring))
        (void)calls.unmap(at + part, static_cast<size_t>(ring));
    (void)calls.give_back(at, all);
}

/* ---- streams: not ordered with the default stream, so that copies overlap kernels ---- */

ps_status stream_open(ps_device *device, bool ahead, ps_stream **out)
{
    PS_TRY(enter(device));
    cudaStream_t made;
    int least, greatest; /* priorities: the greatest is the smallest number */
    PS_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    PS_CUDA(cudaStreamCreateWithPriority(&made, cudaStreamNonBlocking, ahead ? greatest : least));
    cuda_stream *stream = new (std::nothrow) cuda_stream();
    if (!stream) {
        note(device, cudaStreamDestroy(made));
        return ps_fail(PS_EXHAUSTED, "no memory for a stream");
    }
    stream->stream = made;
    *out = &stream->base;
    return PS_OK;
}

void stream_release(ps_stream *stream)
{
    make_current(stream->device);
    note(stream->device, cudaStreamSynchronize(of(stream)));
    note(stream->device, cudaStreamDestroy(of(stream)));
    delete reinterpret_cast<cuda_stream *>(stream);
}

ps_status stream_wait(ps_stream *stream)
{
    PS_TRY(enter(stream->device));
    PS_CUDA(cudaStreamSynchronize(of(stream)));
    return PS_OK;
}

void *stream_handle(ps_stream *stream) { return of(stream); }

ps_status stream_enter(ps_stream *stream) { return enter(stream->device); }

ps_status copy(ps_stream *stream, void *to, const void *from, int64_t bytes, cudaMemcpyKind kind)
{
    PS_TRY(enter(stream->device));
    PS_CUDA(cudaMemcpyAsync(to, from, static_cast<size_t>(bytes), kind, of(stream)));
    return PS_OK;
}

ps_status copy_to_device(ps_stream *stream, void *to, const void *from, int64_t bytes)
{
    return copy(stream, to, from, bytes, cudaMemcpyHostToDevice);
}

ps_status copy_to_host(ps_stream *stream, void *to, const void *from, int64_t bytes)
{
    return copy(stream, to, from, bytes, cudaMemcpyDeviceToHost);
}

ps_status copy_on_device(ps_stream *stream, void *to, const void *from, int64_t bytes)
{
    return copy(stream, to, from, bytes, cudaMemcpyDeviceToDevice);
}

/* Lets the current device reach the memory of `peer`, if the machine can; asked once a pair. */
ps_status reach(int device, int peer)
{
    enum { DEVICES = 64 };
    static std::atomic<bool> asked[DEVICES][DEVICES];
    int can = 0;
    if (device >= DEVICES || peer >= DEVICES || asked[device][peer].exchange(true)) return PS_OK;
    PS_CUDA(cudaDeviceCanAccessPeer(&can, device, peer));
    if (!can) return PS_OK;
    cudaError_t error = cudaDeviceEnablePeerAccess(peer, 0);
    if (error != cudaErrorPeerAccessAlreadyEnabled) PS_CUDA(error);
    (void)cudaGetLastError();
    return PS_OK;
}

ps_status copy_peer(ps_stream *stream, void *to, ps_device *source, const void *from,
                    int64_t bytes)
{
    PS_TRY(enter(stream->device));
    PS_TRY(reach(stream->device->ordinal, source->ordinal));
    PS_CUDA(cudaMemcpyPeerAsync(to, stream->device->ordinal, from, source->ordinal,
                                static_cast<size_t>(bytes), of(stream)));
    return PS_OK;
}

/* One call for all pieces, where CUDA and the driver know of it. */
bool copy_batch(cudaStream_t stream, const ps_copies *c)
{
#if CUDART_VERSION >= 13000
    cudaMemcpyAttributes attributes = {};
    size_t first = 0;
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    if (cudaMemcpyBatchAsync(c->to, c->from, c->bytes, static_cast<size_t>(c->count), &attributes,
                             &first, 1, stream) == cudaSuccess)
        return true;
    (void)cudaGetLastError();
#else
    (void)stream;
    (void)c;
#endif
    return false;
}

ps_status copy_all(ps_stream *stream, const ps_copies *copies)
{
    PS_TRY(enter(stream->device));
    if (copies->count > 1 && copy_batch(of(stream), copies)) return PS_OK;
    for (int k = 0; k < copies->count; ++k)
        PS_CUDA(cudaMemcpyAsync(copies->to[k], copies->from[k], copies->bytes[k],
                                cudaMemcpyDefault, of(stream)));
    return PS_OK;
}

ps_status fill_zero(ps_stream *stream, void *memory, int64_t bytes)
{
    PS_TRY(enter(stream->device));
    PS_CUDA(cudaMemsetAsync(memory, 0, static_cast<size_t>(bytes), of(stream)));
    return PS_OK;
}

/* ---- events ---- */

ps_status event_open(ps_device *device, ps_event **out)
{
    PS_TRY(enter(device));
    cudaEvent_t made;
    PS_CUDA(cudaEventCreateWithFlags(&made, cudaEventBlockingSync));
    cuda_event *event = new (std::nothrow) cuda_event();
    if (!event) {
        note(device, cudaEventDestroy(made));
        return ps_fail(PS_EXHAUSTED, "no memory for an event");
    }
    event->event = made;
    *out = &event->base;
    return PS_OK;
}

void event_release(ps_event *event)
{
    make_current(event->device);
    note(event->device, cudaEventDestroy(of(event)));
    delete reinterpret_cast<cuda_event *>(event);
}

ps_status event_record(ps_event *event, ps_stream *stream)
{
    PS_TRY(enter(event->device));
    PS_CUDA(cudaEventRecord(of(event), of(stream)));
    return PS_OK;
}

ps_status event_wait(ps_event *event, ps_stream *stream)
{
    PS_TRY(enter(event->device));
    PS_CUDA(cudaStreamWaitEvent(of(stream), of(event), 0));
    return PS_OK;
}

ps_status event_sync(ps_event *event)
{
    PS_TRY(enter(event->device));
    PS_CUDA(cudaEventSynchronize(of(event)));
    return PS_OK;
}

ps_status event_is_done(ps_event *event, bool *out)
{
    PS_TRY(enter(event->device));
    cudaError_t error = cudaEventQuery(of(event));
    *out = error == cudaSuccess;
    if (error != cudaErrorNotReady) PS_CUDA(error);
    (void)cudaGetLastError();
    return PS_OK;
}

ps_status event_seconds(ps_event *start, ps_event *end, double *out)
{
    float milliseconds = 0;
    PS_TRY(enter(start->device));
    PS_CUDA(cudaEventSynchronize(of(end)));
    PS_CUDA(cudaEventElapsedTime(&milliseconds, of(start), of(end)));
    *out = 1e-3 * milliseconds;
    return PS_OK;
}

const ps_device_ops ops = {
    release,      describe,       allocate,   free_memory,    allocate_pinned, free_pinned,
    allocate_ring, free_ring,
    stream_open,  stream_release, stream_wait, stream_handle, stream_enter,    copy_to_device,
    copy_to_host, fill_zero,      copy_on_device, copy_peer,  copy_all, event_open, event_release,
    event_record, event_wait,     event_sync, event_is_done,  event_seconds,
};

} // namespace

extern "C" int ps_device_cuda_count(const char **why)
{
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    *why = error == cudaSuccess ? "the driver knows of none" : cudaGetErrorString(error);
    if (error == cudaSuccess) return count;
    (void)cudaGetLastError();
    return 0;
}

extern "C" ps_status ps_device_cuda_open(int ordinal, ps_device **out)
{
    PS_CUDA(cudaSetDevice(ordinal));
    PS_CUDA(cudaFree(NULL)); /* makes the context, so that a broken device is found here */
    cuda_device *device = new (std::nothrow) cuda_device();
    if (!device) return ps_fail(PS_EXHAUSTED, "no memory for a device");
    device->base.ops = &ops;
    device->base.ordinal = ordinal;
    device->late = cudaSuccess;
    *out = &device->base;
    return PS_OK;
}
