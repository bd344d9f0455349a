/*
 * The half step on CUDA (kernels/dgtd/device_state.h): a thread an element, whose three
 * contravariant rows stay in registers from the first coefficient read to the update. All operators
 * are arithmetic with constants (bernstein_body.h); neighbours' traces come through the caches.
 */
#include <cuda_runtime.h>

#include <cstdint>
#include <utility>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/dgtd/device_kernels.h"
#include "kernels/dgtd/device_media.h"
}

namespace {

#include "kernels/dgtd/rows_device_body.h"
#include "kernels/dgtd/advance_device_body.h"

template <typename real, int P, kind K>
__global__ __launch_bounds__((threads<real, P>()), (residents<real, P>())) void half_step(
    const __grid_constant__ view<real> x)
{
    extern __shared__ double shared[];
    const uint32_t thread = blockIdx.x * threads<real, P>() + threadIdx.x;
    uint32_t slot = x.begin[blockIdx.y] + thread, lanes = slot < x.end[blockIdx.y];
    if (K == LOCAL || K == KEPT || (K != BARE && x.units)) {
        if (thread / PS_DGTD_UNIT >= x.unit_count) return;
        const uint2 unit = __ldg(reinterpret_cast<const uint2 *>(x.units) + thread / PS_DGTD_UNIT);
        slot = unit.x * PS_DGTD_UNIT + thread % PS_DGTD_UNIT;
        lanes = unit.y >> thread % PS_DGTD_UNIT;
    }
    const bool marked = (K == LOCAL || K == KEPT) && (lanes >> PS_DGTD_UNIT & 1);
    if (lanes & 1) advance<real, P, K>(x, slot, marked, shared);
}

/* Slots of parts [begin, end), or of the units; the most of a part. */
template <typename real> uint32_t set_slots(const ps_dgtd_device_sweep *s, view<real> *x)
{
    if (s->units) {
        x->units = s->units->list;
        x->unit_count = (uint32_t)s->units->count;
        return x->unit_count * PS_DGTD_UNIT;
    }
    uint32_t most = 0;
    for (int k = 0; k < s->count; ++k) {
        x->begin[k] = (uint32_t)s->parts[k].begin * lanes<real>;
        x->end[k] = (uint32_t)s->parts[k].end * lanes<real>;
        most = x->end[k] - x->begin[k] > most ? x->end[k] - x->begin[k] : most;
    }
    return most;
}

/* A launch that may begin before the one before it on the queue is over, whose end it waits for
 * behind what it reads of the mesh (follow_launch), where the code that runs was made for a compute
 * capability that can. */
template <typename real>
ps_status launch_early(void (*kernel)(view<real>), dim3 blocks, unsigned size, int bytes,
                       cudaStream_t queue, const view<real> &x)
{
    cudaLaunchConfig_t how = {};
    cudaLaunchAttribute early = {};
    cudaFuncAttributes code;
    PS_CUDA(cudaFuncGetAttributes(&code, kernel));
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    how.gridDim = blocks;
    how.blockDim = dim3(size);
    how.dynamicSmemBytes = (size_t)bytes;
    how.stream = queue;
    how.attrs = &early;
    how.numAttrs = code.ptxVersion >= 90;
    PS_CUDA(cudaLaunchKernelEx(&how, kernel, x));
    return PS_OK;
}

template <typename real, int P, kind K>
ps_status launch(const ps_dgtd_device_sweep *s, cudaStream_t queue)
{
    const ps_dgtd_device *d = s->device;
    const real *steps = static_cast<const real *>(d->steps) + 2 * d->materials * s->field;
    view<real> x = {static_cast<const real *>(d->tangents), d->links, d->kinds, d->bordered,
                    d->material, steps, steps + d->materials,
                    static_cast<const real *>(s->source), static_cast<real *>(s->target), {},
                    {}, {}, nullptr, 0, static_cast<real *>(s->increments)};
    if (const ps_dgtd_device_media *media = K == POLES || K == TENSORS ? d->media : nullptr) {
        x.counts = media->counts;
        x.law_of = media->law_of;
        x.row_of = media->row_of;
        x.first = media->first;
        x.laws = static_cast<const real *>(media->laws);
        x.state = static_cast<real *>(media->state);
    }
    if (const ps_dgtd_device_ports *ports = K == LOCAL || s->field == PS_DGTD_H ? nullptr : d->ports) {
        x.ports = ports->there;
        x.port_count = (int)ports->count;
    }
    const uint32_t most = set_slots(s, &x);
    if (most == 0) return PS_OK;
    for (int kind = 0; kind < PS_DGTD_FACES; ++kind)
        x.sign[kind] = (real)ps_dgtd_ghost_signs[s->field][kind];
    constexpr unsigned size = threads<real, P>();
    const dim3 blocks((most + size - 1) / size, s->units ? 1 : (unsigned)s->count);
    constexpr int bytes = shared_bytes<real, P>;
    static_assert(bytes <= 48 << 10, "more than a block has without asking");
    if (K == LOCAL && s->early)
        return launch_early(half_step<real, P, K>, blocks, size, bytes, queue, x);
    half_step<real, P, K><<<blocks, size, bytes, queue>>>(x);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

template <typename real, kind K> ps_status by_order(const ps_dgtd_device_sweep *s, cudaStream_t queue)
{
    switch (s->device->order) {
    case 1: return launch<real, 1, K>(s, queue);
    case 2: return launch<real, 2, K>(s, queue);
    case 3: return launch<real, 3, K>(s, queue);
    default: return launch<real, 4, K>(s, queue);
    }
}

/* Whether the order's kernels have no register left, and nothing to ask for. All half steps of a
 * march are of one kind, so that its bits depend neither on windows nor on ranges. */
bool is_bare(const ps_dgtd_device_sweep *s)
{
    const ps_dgtd_device *d = s->device;
    return d->order == 4 && !d->media && !d->ports && !d->stepped && !s->units && !s->increments;
}

template <kind K> ps_status by_precision(const ps_dgtd_device_sweep *s, ps_stream *stream)
{
    PS_TRY(ps_stream_enter(stream));
    const cudaStream_t queue = static_cast<cudaStream_t>(ps_stream_handle(stream));
    if (K == PLAIN && is_bare(s))
        return s->device->precision == PS_SINGLE ? launch<float, 4, BARE>(s, queue)
                                                 : launch<double, 4, BARE>(s, queue);
    return s->device->precision == PS_SINGLE ? by_order<float, K>(s, queue)
                                             : by_order<double, K>(s, queue);
}

} // namespace

extern "C" ps_status ps_dgtd_half_step_cuda(const ps_dgtd_device_sweep *s, ps_stream *stream)
{
    const ps_dgtd_device_media *media = s->field == PS_DGTD_E ? s->device->media : nullptr;
    if (s->increments) return by_precision<KEPT>(s, stream);
    if (!media) return by_precision<PLAIN>(s, stream);
    return media->host->tensors ? by_precision<TENSORS>(s, stream) : by_precision<POLES>(s, stream);
}

extern "C" ps_status ps_dgtd_local_step_cuda(const ps_dgtd_device_sweep *s, ps_stream *stream)
{
    return by_precision<LOCAL>(s, stream);
}
