/*
 * no_cuda: what stands in for functions of *_cuda.cu files in a build without CUDA. A family's
 * device_none.c includes the headers that declare them and names each one:
 *
 *     PS_NO_CUDA(ps_dgtd_dft_cuda);
 *
 * That makes it another name of a function that refuses. Both return a ps_status, and a function
 * that looks at no argument leaves those of the caller where they are: what the calling
 * conventions of ELF systems allow, and how kernels name the system calls that they lack.
 */
#ifndef PS_RUNTIME_NO_CUDA_H
#define PS_RUNTIME_NO_CUDA_H

#include "runtime/status.h"

#ifndef PS_WITH_CUDA
#pragma GCC diagnostic ignored "-Wattribute-alias"
static ps_status ps_no_cuda(void) { return ps_fail(PS_FAILED, "this build has no CUDA"); }
#define PS_NO_CUDA(name) extern __typeof__(name) name __attribute__((alias("ps_no_cuda")))
#endif

#endif
