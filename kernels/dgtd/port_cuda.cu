/*
 * Lumped ports on CUDA (kernels/dgtd/device_port.h): blocks of threads add up V and V* of a port,
 * and the last of them to be done makes the step of the network; sums in double.
 */
#include <cuda_runtime.h>

#include <cmath>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/dgtd/device_kernels.h"
}

namespace {

#define LEAF __device__
#include "kernels/dgtd/port_body.h"
#undef LEAF

enum { THREADS = 256 };

template <typename real> constexpr int lanes = 64 / (int)sizeof(real);

/* Where a value of an element lies in a field. */
template <typename real> __device__ int64_t place(int64_t slot, unsigned values, unsigned value)
{
    constexpr int L = lanes<real>;
    return slot / L * (values * L) + (value * L + slot % L);
}

/* sum[0], sum[1] over the block, in thread 0; halves are added to halves. */
__device__ void add_up(double (&sum)[2])
{
    __shared__ double shared[2][THREADS];
    for (int k = 0; k < 2; ++k) shared[k][threadIdx.x] = sum[k];
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x >= half) continue;
        for (int k = 0; k < 2; ++k) shared[k][threadIdx.x] += shared[k][threadIdx.x + half];
    }
    for (int k = 0; k < 2 && threadIdx.x == 0; ++k) sum[k] = shared[k][0];
}

__device__ void advance(ps_dgtd_device_port *x, const double measured[2], double t, double dt,
                        double *signals)
{
    const network_step step = {x->rise, (measured[0] + measured[1]) / 2, measured[1] - measured[0],
                               network_source(&x->network.source, t), dt};
    x->current = network_current(&x->network, &step, x->state);
    signals[0] = step.mean + x->rise * x->current / 2;
    signals[1] = x->current;
}

/* Of values first, first + stride, .. of a port's elements, then of its sources. */
template <typename real>
__device__ void measure_values(const ps_dgtd_device_port &port, unsigned values,
                               const real *electric, const real *magnetic, double (&sum)[2])
{
    const unsigned own = (unsigned)port.elements * values;
    const unsigned all = own + (unsigned)port.sources * values;
#pragma unroll 4
    for (unsigned i = blockIdx.x * THREADS + threadIdx.x; i < all; i += gridDim.x * THREADS) {
        const bool is_own = i < own;
        const unsigned k = is_own ? i : i - own;
        const int64_t slot = (is_own ? port.slots : port.source_slots)[k / values];
        const double u = (is_own ? electric : magnetic)[place<real>(slot, values, k % values)];
        if (is_own) sum[0] += port.volts[k] * u;
        sum[1] += (is_own ? port.kept : port.flux)[k] * u;
    }
}

/* blockIdx.y: the port. */
template <typename real>
__global__ __launch_bounds__(THREADS) void measure(const __grid_constant__ ps_dgtd_device_ports x,
                                                   const real *electric, const real *magnetic,
                                                   int64_t row, double t, double dt)
{
    __shared__ bool last;
    ps_dgtd_device_port *port = x.there + blockIdx.y;
    double *partial = x.partial + blockIdx.y * 2 * PS_DGTD_PORT_BLOCKS, sum[2] = {};
    if (port->elements == 0) return; /* another rank's */
    measure_values<real>(*port, (unsigned)x.values, electric, magnetic, sum);
    add_up(sum);
    if (threadIdx.x == 0) {
        for (int k = 0; k < 2; ++k) partial[2 * blockIdx.x + k] = sum[k];
        __threadfence();
        last = atomicInc(x.done + blockIdx.y, gridDim.x - 1) + 1 == gridDim.x;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    for (int k = 0; k < 2; ++k)
        sum[k] = threadIdx.x < gridDim.x ? __ldcg(partial + 2 * threadIdx.x + k) : 0;
    add_up(sum);
    if (threadIdx.x == 0) advance(port, sum, t, dt, x.signals + 2 * (row * x.count + blockIdx.y));
}

/* Port first + blockIdx.y; slots [begin, end). */
template <typename real>
__global__ __launch_bounds__(THREADS) void apply(const __grid_constant__ ps_dgtd_device_ports x,
                                                 real *electric, int64_t first, int64_t begin,
                                               int64_t end)
{
    const ps_dgtd_device_port *port = x.there + first + blockIdx.y;
    const unsigned i = blockIdx.x * THREADS + threadIdx.x, values = (unsigned)x.values;
    if (i >= port->elements * x.values) return;
    const int64_t slot = port->slots[i / values];
    if (slot < begin || slot >= end) return;
    real *e = electric + place<real>(slot, values, i % values);
    *e = (real)(*e + port->current * port->loads[i]);
}

template <typename real>
void launch_measure(const ps_dgtd_device_ports *x, const ps_dgtd_device_ports_step *s,
                    cudaStream_t queue)
{
    static_assert((int)PS_DGTD_PORT_BLOCKS <= (int)THREADS, "a block adds up the sums of all");
    const int64_t blocks = (x->items + PS_DGTD_PORT_ITEMS - 1) / PS_DGTD_PORT_ITEMS;
    const dim3 grid((unsigned)(blocks < PS_DGTD_PORT_BLOCKS ? blocks : PS_DGTD_PORT_BLOCKS),
                    (unsigned)x->count);
    measure<real><<<grid, THREADS, 0, queue>>>(*x, static_cast<const real *>(s->electric),
                                               static_cast<const real *>(s->magnetic), s->row, s->t,
                                               s->dt);
}

template <typename real>
void launch_apply(const ps_dgtd_device_ports *x, void *electric, const ps_dgtd_device_part *part,
                  cudaStream_t queue)
{
    const int64_t some = x->apart ? x->count : 1;
    const dim3 grid((unsigned)((x->items + THREADS - 1) / THREADS), (unsigned)some);
    for (int64_t k = 0; k < x->count; k += some)
        apply<real><<<grid, THREADS, 0, queue>>>(*x, static_cast<real *>(electric), k,
                                                 part->begin * lanes<real>,
                                                 part->end * lanes<real>);
}

} // namespace

extern "C" ps_status ps_dgtd_ports_cuda(const ps_dgtd_device_ports *x,
                                        const ps_dgtd_device_ports_step *step, ps_stream *stream)
{
    PS_TRY(ps_stream_enter(stream));
    const cudaStream_t queue = static_cast<cudaStream_t>(ps_stream_handle(stream));
    if (step->device->precision == PS_SINGLE)
        launch_measure<float>(x, step, queue);
    else
        launch_measure<double>(x, step, queue);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

extern "C" ps_status ps_dgtd_ports_apply_cuda(const ps_dgtd_device_ports *x,
                                              const ps_dgtd_device *device, void *electric,
                                              const ps_dgtd_device_part *part, ps_stream *stream)
{
    PS_TRY(ps_stream_enter(stream));
    const cudaStream_t queue = static_cast<cudaStream_t>(ps_stream_handle(stream));
    if (device->precision == PS_SINGLE)
        launch_apply<float>(x, electric, part, queue);
    else
        launch_apply<double>(x, electric, part, queue);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}
