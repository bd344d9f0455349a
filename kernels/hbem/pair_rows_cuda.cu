/* Unassembled moments of regular pairs, a thread a pair. */
#include <cuda_runtime.h>
#include <math.h>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/hbem/pair_rows.h"
}

namespace
{

#include "kernels/hbem/device_number_body.h"

enum { PAIRS = 128 };

template <int kernel, int wave, typename real>
__device__ void moments_of_pair(const place<real> &x, const place<real> &y, const real (*rule)[4],
                                int points, wave_number<real> k,
                                number<real, parts_of(wave)> m[3][3])
{
    for (int e = 0; e < 9; ++e) m[e / 3][e % 3] = zero_number<real, parts_of(wave)>();
    for (int a = 0; a < points; ++a) {
        number<real, parts_of(wave)> sum[3];
        real p[3];
        point_at(x, rule[a], p);
        for (int c = 0; c < 3; ++c) sum[c] = zero_number<real, parts_of(wave)>();
        for (int b = 0; b < points; ++b) {
            real q[3], d[3];
            point_at(y, rule[b], q);
            for (int c = 0; c < 3; ++c) d[c] = p[c] - q[c];
            number<real, parts_of(wave)> value = kernel_at<kernel, wave>(d, x.normal, y.normal, k);
            for (int part = 0; part < parts_of(wave); ++part)
                for (int c = 0; c < 3; ++c)
                    sum[c].part[part] += rule[b][3] * rule[b][c] * value.part[part];
        }
        for (int part = 0; part < parts_of(wave); ++part)
            for (int e = 0; e < 9; ++e)
                m[e / 3][e % 3].part[part] += rule[a][3] * rule[a][e / 3] * sum[e % 3].part[part];
    }
}

template <typename real, int kernel, int wave>
__global__ void __launch_bounds__(PAIRS)
    pair_moments(const __grid_constant__ ps_hbem_pair_launch in)
{
    __shared__ real rule[PS_HBEM_POINTS_MAX][4];
    for (int e = threadIdx.x; e < 4 * in.points; e += PAIRS)
        rule[e / 4][e % 4] = ((const real *)in.rule)[e];
    __syncthreads();
    const int64_t at = (int64_t)blockIdx.x * PAIRS + threadIdx.x, pair = in.first + at;
    if (at >= in.pairs) return;
    place<real> x, y;
    number<real, parts_of(wave)> m[3][3];
    place_at(&in.triangles[in.fixed[pair / in.count]], in.origin, &x);
    place_at(&in.triangles[in.list[pair % in.count]], in.origin, &y);
    moments_of_pair<kernel, wave>(x, y, rule, in.points, {(real)in.wavenumber, (real)in.absorption},
                                  m);
    const real scale = x.jacobian * y.jacobian * (real)(1 / (4 * M_PI));
    real *out = (real *)in.moments + at;
    for (int part = 0; part < parts_of(wave); ++part)
        for (int e = 0; e < 9; ++e)
            out[(9 * part + e) * in.pairs] = m[e / 3][e % 3].part[part] * scale;
}

template <typename real, int wave> const void *function_of(ps_hbem_kernel kernel)
{
    switch (kernel) {
    case PS_KERNEL_SLP:
        return (const void *)pair_moments<real, PS_KERNEL_SLP, wave>;
    case PS_KERNEL_DLP:
        return (const void *)pair_moments<real, PS_KERNEL_DLP, wave>;
    case PS_KERNEL_ADLP:
        return (const void *)pair_moments<real, PS_KERNEL_ADLP, wave>;
    default:
        return (const void *)pair_moments<real, PS_KERNEL_HYPS, wave>;
    }
}

template <typename real> const void *function_for(const ps_hbem_pair_launch &launch)
{
    switch (mode_of(launch)) {
    case STILL:
        return function_of<real, STILL>(launch.kernel);
    case WAVES:
        return function_of<real, WAVES>(launch.kernel);
    default:
        return function_of<real, DAMPED>(launch.kernel);
    }
}

} // namespace

extern "C" ps_status ps_hbem_pair_moments_cuda(const ps_hbem_pair_launch *launch, ps_stream *stream)
{
    const void *function = launch->precision == PS_SINGLE ? function_for<float>(*launch)
                                                          : function_for<double>(*launch);
    void *arguments[] = {(void *)launch};
    PS_TRY(ps_stream_enter(stream));
    PS_CUDA(cudaLaunchKernel(function, dim3((unsigned)((launch->pairs + PAIRS - 1) / PAIRS)),
                             dim3(PAIRS), arguments, 0,
                             static_cast<cudaStream_t>(ps_stream_handle(stream))));
    return PS_OK;
}
