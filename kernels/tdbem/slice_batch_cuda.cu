/* The device side of slice_batch: a kernel for the parts, and one that adds them. */
#include <cuda_runtime.h>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/tdbem/slice_batch_internal.h"
}

namespace {

enum { THREADS = 256 };

/* sums[row][g] += sum over splits, ascending; a thread for every row and g of a strand. */
template <typename real> __global__ void reduce_kernel(const __grid_constant__ ps_slice_launch in)
{
    int64_t all = static_cast<int64_t>(in.strand_count) * in.group * in.strand_rows;
    int64_t at = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
    if (at >= all) return;
    int row = static_cast<int>(at % in.strand_rows),
        g = static_cast<int>(at / in.strand_rows % in.group);
    const ps_slice_strand strand = in.strands[at / in.strand_rows / in.group];
    if (row >= strand.rows) return;
    const real *from = static_cast<const real *>(in.scratch) + at;
    real sum = 0;
#pragma unroll 4
    for (int split = 0; split < in.splits; ++split) sum += from[split * all];
    static_cast<real *>(in.sums)[(strand.row + row) * in.sums_stride + g] += sum;
}

} // namespace

extern "C" ps_status ps_slice_reduce_cuda(const ps_slice_batch_plan *plan,
                                          const ps_slice_launch *launch, void *stream)
{
    int64_t all = plan->strands * plan->group * plan->strand_rows;
    int blocks = static_cast<int>((all + THREADS - 1) / THREADS);
    cudaStream_t on = static_cast<cudaStream_t>(stream);
    if (plan->precision == PS_SINGLE)
        reduce_kernel<float><<<blocks, THREADS, 0, on>>>(*launch);
    else
        reduce_kernel<double><<<blocks, THREADS, 0, on>>>(*launch);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

extern "C" ps_status ps_slice_parts_cuda(const ps_slice_batch_plan *plan,
                                         const ps_slice_launch *launch, void *stream)
{
    if (ps_batch_has_panels(plan)) return ps_slice_full_cuda(plan, launch, stream);
    return plan->kernel == PS_SLICE_KERNEL_ROWS ? ps_slice_rows_cuda(plan, launch, stream)
                                                : ps_slice_teams_cuda(plan, launch, stream);
}
