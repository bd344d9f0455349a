/*
 * cuda_check: how *_cuda.cu files check CUDA calls. Include it after <cuda_runtime.h>.
 *
 * PS_CUDA(call) returns from the calling function, which returns ps_status, with a message that
 * names the call, its place and CUDA's text: PS_EXHAUSTED for want of memory, else PS_FAILED.
 * After a kernel launch: PS_CUDA(cudaGetLastError()); what fails while a kernel runs comes out
 * of the next ps_stream_wait.
 */
#ifndef PS_RUNTIME_CUDA_CHECK_H
#define PS_RUNTIME_CUDA_CHECK_H

#ifdef __cplusplus
extern "C" {
#endif
#include "runtime/status.h"
#ifdef __cplusplus
}
#endif

#define PS_CUDA(call)                                                                              \
    do {                                                                                           \
        cudaError_t ps_error_ = (call);                                                            \
        if (ps_error_ != cudaSuccess)                                                              \
            return ps_fail(ps_error_ == cudaErrorMemoryAllocation ? PS_EXHAUSTED : PS_FAILED,      \
                           "CUDA: %s at %s:%d: %s: %s", #call, __FILE__, __LINE__,                 \
                           cudaGetErrorName(ps_error_), cudaGetErrorString(ps_error_));            \
    } while (0)

#endif
