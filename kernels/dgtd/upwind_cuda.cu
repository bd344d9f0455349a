/* The upwind flux on CUDA (kernels/dgtd/device_upwind.h). */
#include <cuda_runtime.h>

#include <cstdint>
#include <utility>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/dgtd/device_kernels.h"
}

namespace {

#include "kernels/dgtd/bernstein_body.h"
#include "kernels/dgtd/upwind_device_body.h"

enum { THREADS = 128 };
template <typename real> constexpr int lanes = 64 / (int)sizeof(real);

template <typename real, int P>
__global__ __launch_bounds__(THREADS) void add_upwind(const __grid_constant__ upwind_view<real> x)
{
    const uint32_t slot = x.begin[blockIdx.y] + blockIdx.x * THREADS + threadIdx.x;
    if (slot < x.end[blockIdx.y]) upwind_element<real, P>(x, slot);
}

template <typename real>
ps_status launch(const ps_dgtd_device_sweep *s, const ps_dgtd_device_upwind *u, cudaStream_t queue)
{
    const ps_dgtd_device *d = s->device;
    const real *steps = static_cast<const real *>(d->steps) + (2 * s->field + 1) * d->materials;
    upwind_view<real> x = {static_cast<const real *>(d->tangents), static_cast<const real *>(u->own),
                           static_cast<const real *>(u->other), steps, d->links, d->kinds,
                           d->material, static_cast<const real *>(u->former[s->field]),
                           static_cast<const real *>(s->source), static_cast<real *>(s->target),
                           {}, {}, (int)s->field, {}, {}};
    uint32_t most = 0;
    for (int kind = 0; kind < PS_DGTD_FACES; ++kind) {
        x.former_sign[kind] = (real)ps_dgtd_ghost_signs[1 - s->field][kind];
        x.source_sign[kind] = (real)ps_dgtd_ghost_signs[s->field][kind];
    }
    for (int k = 0; k < s->count; ++k) {
        x.begin[k] = (uint32_t)s->parts[k].begin * lanes<real>;
        x.end[k] = (uint32_t)s->parts[k].end * lanes<real>;
        most = x.end[k] - x.begin[k] > most ? x.end[k] - x.begin[k] : most;
    }
    const dim3 blocks((most + THREADS - 1) / THREADS, (unsigned)s->count);
    switch (d->order) {
    case 1: add_upwind<real, 1><<<blocks, THREADS, 0, queue>>>(x); break;
    case 2: add_upwind<real, 2><<<blocks, THREADS, 0, queue>>>(x); break;
    case 3: add_upwind<real, 3><<<blocks, THREADS, 0, queue>>>(x); break;
    default: add_upwind<real, 4><<<blocks, THREADS, 0, queue>>>(x); break;
    }
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

} // namespace

extern "C" ps_status ps_dgtd_upwind_cuda(const ps_dgtd_device_sweep *s,
                                         const ps_dgtd_device_upwind *upwind, ps_stream *stream)
{
    PS_TRY(ps_stream_enter(stream));
    const cudaStream_t queue = static_cast<cudaStream_t>(ps_stream_handle(stream));
    return s->device->precision == PS_SINGLE ? launch<float>(s, upwind, queue)
                                             : launch<double>(s, upwind, queue);
}
