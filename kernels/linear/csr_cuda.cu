/* Sparse products on CUDA (csr_device.h). */
#include <cuda_runtime.h>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/linear/csr_device.h"
}

namespace {

#include "kernels/linear/csr_cuda_body.h"

template <typename real> struct store_row {
    real *y;
    __device__ void operator()(int64_t row, real sum) const { y[row] = sum; }
};

template <typename form, typename real>
__global__ void __launch_bounds__(form::threads) multiply(csr_view<real> a, real *y)
{
    extern __shared__ double products[];
    store_row<real> out = {y};
    csr_all<form>(a, reinterpret_cast<real *>(products), out);
}

template <typename real> struct launch_product {
    const csr_view<real> &a;
    real *y;
    cudaStream_t on;
    template <typename form> void operator()(form) const
    {
        multiply<form, real><<<csr_blocks<form>(a.rows), form::threads, csr_shared<form, real>(),
                               on>>>(a, y);
    }
};

template <typename real>
void run(const ps_csr_device *m, const void *x, void *y, cudaStream_t on)
{
    const csr_view<real> a = {m->rows, m->row_start, m->columns,
                              static_cast<const real *>(m->values), static_cast<const real *>(x)};
    csr_choose(m->shape, launch_product<real>{a, static_cast<real *>(y), on});
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
