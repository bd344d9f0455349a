/*
 * Lumped ports on CUDA (kernels/dgtd/device_port.h): blocks of threads add up V and V* of a port,
 * and the last of them to be done makes the step of the network; sums in double.
 */
#include <cuda_runtime.h>

#include <cmath>

#include "runtime/cuda_check.h"
#include "runtime/cuda_overlap.h"
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

/* sum[0], sum[1] over the block, in thread 0. */
__device__ void add_up(double (&sum)[2])
{
    constexpr int WARP = 32, WARPS = THREADS / WARP;
    __shared__ double shared[2][WARPS];
    for (int k = 0; k < 2; ++k)
        for (int half = WARP / 2; half > 0; half /= 2)
            sum[k] += __shfl_down_sync(~0u, sum[k], half);
    if (threadIdx.x % WARP == 0)
        for (int k = 0; k < 2; ++k) shared[k][threadIdx.x / WARP] = sum[k];
    __syncthreads();
    for (int k = 0; k < 2 && threadIdx.x == 0; ++k)
        for (int w = 1; w < WARPS; ++w) sum[k] += shared[k][w];
    __syncthreads();
}

/* By all threads of a block; measured, and what becomes of the state, of thread 0 alone. */
__device__ void advance_line(ps_dgtd_device_port *x, double ahead, double t, double dt)
{
    const ps_dgtd_line *line = &x->network.line;
    const line_gains gains = line_gains_of(line, dt);
    const line_state state = line_state_at(line, x->line);
    const int64_t active = line_active(line, t, dt);
    for (int64_t k = threadIdx.x; k < active; k += THREADS) line_move_current(&gains, &state, k);
    __syncthreads();
    if (threadIdx.x == 0) x->current = line_join(&x->network, &gains, &state, x->rise, ahead, t);
    for (int64_t k = threadIdx.x; k < active; k += THREADS)
        if (k > 0) line_move_voltage(&gains, &state, k);
}

__device__ void advance(ps_dgtd_device_port *x, const double measured[2], double source, double t,
                        double dt, double *signals)
{
    const network_step step = {x->rise, (measured[0] + measured[1]) / 2, measured[1] - measured[0],
                               source, dt};
    if (x->states > 0) advance_line(x, measured[1], t, dt);
    if (threadIdx.x > 0) return;
    if (x->states == 0) x->current = network_current(&x->network, &step, x->state);
    signals[0] = step.mean + x->rise * x->current / 2;
    signals[1] = x->current;
}

/* A value of an element of a port, or of a source behind them, and its shares of V and V*. */
struct share {
    int64_t place;
    double volts, kept;
};

template <typename real>
__device__ share share_of(const ps_dgtd_device_port &port, unsigned values, unsigned i)
{
    const unsigned own = (unsigned)port.elements * values;
    if (i < own) {
        const int64_t at = place<real>(__ldg(port.slots + i / values), values, i % values);
        return {at, __ldg(port.volts + i), __ldg(port.kept + i)};
    }
    const unsigned k = i - own;
    return {place<real>(__ldg(port.source_slots + k / values), values, k % values), 0,
            __ldg(port.flux + k)};
}

/* Adds up values first, first + stride, .. of a port's elements, then of its sources: the first few
 * shares are fetched while the kernel before still runs. */
template <typename real>
__device__ void measure_values(const ps_dgtd_device_port &port, unsigned values,
                               const real *electric, const real *magnetic, double (&sum)[2])
{
    constexpr unsigned EACH = PS_DGTD_PORT_ITEMS / THREADS;
    const unsigned own = (unsigned)port.elements * values;
    const unsigned all = own + (unsigned)port.sources * values, stride = gridDim.x * THREADS;
    const unsigned first = blockIdx.x * THREADS + threadIdx.x;
    share early[EACH] = {};
    for (unsigned k = 0; k < EACH; ++k)
        if (first + k * stride < all) early[k] = share_of<real>(port, values, first + k * stride);
    ps_overlap_wait();
    for (unsigned i = first; i < all; i += EACH * stride)
        for (unsigned k = 0; k < EACH && i + k * stride < all; ++k) {
            const unsigned at = i + k * stride;
            const share s = i == first ? early[k] : share_of<real>(port, values, at);
            const double u = (at < own ? electric : magnetic)[s.place];
            sum[0] += s.volts * u;
            sum[1] += s.kept * u;
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
    ps_overlap_begin();
    const double source = threadIdx.x == 0 ? network_source(&port->network.source, t) : 0;
    measure_values<real>(*port, (unsigned)x.values, electric, magnetic, sum);
    if (port->elements == 0) return; /* another rank's */
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
    if (gridDim.x > 1) add_up(sum);
    advance(port, sum, source, t, dt, x.signals + 2 * (row * x.count + blockIdx.y));
}

template <typename real>
cudaError_t launch_measure(const ps_dgtd_device_ports *x, const ps_dgtd_device_ports_step *s,
                           cudaStream_t queue)
{
    static_assert((int)PS_DGTD_PORT_BLOCKS <= (int)THREADS, "a block adds up the sums of all");
    const int64_t blocks = (x->items + PS_DGTD_PORT_ITEMS - 1) / PS_DGTD_PORT_ITEMS;
    const dim3 grid((unsigned)(blocks < PS_DGTD_PORT_BLOCKS ? blocks : PS_DGTD_PORT_BLOCKS),
                    (unsigned)x->count);
    return ps_launch_overlapped(measure<real>, grid, THREADS, 0, queue, *x,
                                static_cast<const real *>(s->electric),
                                static_cast<const real *>(s->magnetic), s->row, s->t, s->dt);
}

} // namespace

extern "C" ps_status ps_dgtd_ports_cuda(const ps_dgtd_device_ports *x,
                                        const ps_dgtd_device_ports_step *step, ps_stream *stream)
{
    PS_TRY(ps_stream_enter(stream));
    const cudaStream_t queue = static_cast<cudaStream_t>(ps_stream_handle(stream));
    PS_CUDA(step->device->precision == PS_SINGLE ? launch_measure<float>(x, step, queue)
                                                 : launch_measure<double>(x, step, queue));
    return PS_OK;
}
