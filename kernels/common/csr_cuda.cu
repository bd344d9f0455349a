/* Sparse products on CUDA (csr_device.h). */
#include <cuda_runtime.h>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/common/csr_device.h"
}

namespace {

#include "kernels/common/csr_cuda_body.h"

template <typename real> struct store_row {
    real *y;
    __device__ void operator()(int64_t row, real sum) const { y[row] = sum; }
};

template <bool stream, int width, typename real>
__global__ void __launch_bounds__(CSR_THREADS) multiply(csr_view<real> a, real *y)
{
    extern __shared__ double products[];
    store_row<real> out = {y};
    csr_all<stream, width>(a, reinterpret_cast<real *>(products), out);
}

template <bool stream, int width, typename real>
void launch(const csr_view<real> &a, real *y, cudaStream_t on)
{
    multiply<stream, width, real>
        <<<csr_blocks(a.rows, width), CSR_THREADS, csr_shared(stream, sizeof(real)), on>>>(a, y);
}

template <bool stream, typename real>
void choose(int width, const csr_view<real> &a, real *y, cudaStream_t on)
{
    switch (width) {
    case 2: launch<stream, 2>(a, y, on); break;
    case 4: launch<stream, 4>(a, y, on); break;
    case 8: launch<stream, 8>(a, y, on); break;
    case 16: launch<stream, 16>(a, y, on); break;
    default: launch<stream, 32>(a, y, on);
    }
}

template <typename real>
void run(const ps_csr_device *m, const void *x, void *y, cudaStream_t on)
{
    const csr_view<real> a = {m->rows, m->row_start, m->columns,
                              static_cast<const real *>(m->values), static_cast<const real *>(x)};
    if (m->shape.stream)
        choose<true>(m->shape.width, a, static_cast<real *>(y), on);
    else
        choose<false>(m->shape.width, a, static_cast<real *>(y), on);
}

} // namespace

extern "C" ps_status ps_csr_multiply_cuda(const ps_csr_device *matrix, const void *x, void *y,
                                          ps_stream *stream)
{
    PS_TRY(ps_stream_enter(stream));
    cudaStream_t on = static_cast<cudaStream_t>(ps_stream_handle(stream));
    if (matrix->precision == PS_SINGLE)
        run<float>(matrix, x, y, on);
    else
        run<double>(matrix, x, y, on);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}
