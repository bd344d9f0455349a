/*
 * cuda_overlap: kernels whose blocks are put on the device while the kernel before them on their
 * stream still ends. Include it after <cuda_runtime.h>.
 *
 * From the last thread of a kernel to the first of the next one on its stream some 2 us pass, as
 * much as a kernel of a few thousand threads takes. Devices of compute capability 9 begin a kernel
 * that was launched by ps_launch_overlapped as soon as all blocks of the one before have begun and
 * called ps_overlap_begin (or have ended); it then waits in ps_overlap_wait until that one has
 * ended and what it wrote is visible. All threads of such a kernel call both, and none of them
 * reads before the wait what any kernel writes, nor writes anything: what comes before it may fetch
 * constants alone. As each kernel waits for the one before, each comes after all that were launched
 * before it, whether these overlap or not.
 *
 * On other devices, or where the code was made for them, it is a launch like any other and the two
 * calls do nothing.
 */
#ifndef PS_RUNTIME_CUDA_OVERLAP_H
#define PS_RUNTIME_CUDA_OVERLAP_H
#ifdef __CUDACC__

#include <atomic>

/* A type that arguments do not decide. */
template <typename T> struct ps_overlap_as_told {
    using type = T;
};

__device__ __forceinline__ void ps_overlap_begin()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}

__device__ __forceinline__ void ps_overlap_wait()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

/* Whether launches overlap is asked of the code of the kernel: what was made for older devices and is
 * translated for a newer one has not the two calls. Errors as those of a launch. */
template <typename... Parameters>
cudaError_t ps_launch_overlapped(void (*kernel)(Parameters...), dim3 blocks, unsigned threads,
                                 size_t shared_bytes, cudaStream_t queue,
                                 typename ps_overlap_as_told<Parameters>::type... parameters)
{
    enum { DEVICES = 64, UNKNOWN = 0, NO = 1, YES = 2 };
    static std::atomic<signed char> known[DEVICES];
    int device = 0;
    const bool listed = cudaGetDevice(&device) == cudaSuccess && device < DEVICES;
    if (listed && known[device] == UNKNOWN) {
        cudaFuncAttributes of;
        const bool can = cudaFuncGetAttributes(&of, kernel) == cudaSuccess && of.ptxVersion >= 90;
        known[device] = can ? YES : NO;
    }
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = blocks;
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = shared_bytes;
    config.stream = queue;
    config.attrs = &attribute;
    config.numAttrs = listed && known[device] == YES ? 1 : 0;
    return cudaLaunchKernelEx(&config, kernel, parameters...);
}

#endif
#endif
