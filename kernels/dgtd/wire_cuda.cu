/*
 * Thin wires on CUDA (kernels/dgtd/device_wire.h): a warp a current in both products, and a block
 * an element where currents act on E.
 */
#include <cuda_runtime.h>

#include <cmath>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/dgtd/device_wire.h"
}

namespace
{

#define LEAF __device__
#include "kernels/dgtd/port_body.h"
#undef LEAF

enum { WARP = 32, WARPS = 8, THREADS = WARP * WARPS };

template <typename real> constexpr int lanes = 64 / (int)sizeof(real);

/* Over a warp, in its lane 0. */
__device__ double add_lanes(double sum)
{
    for (int half = WARP / 2; half > 0; half /= 2) sum += __shfl_down_sync(~0u, sum, half);
    return sum;
}

/* The current that this warp has in hand first, and from one to the next. */
__device__ int64_t first_current() { return blockIdx.x * WARPS + threadIdx.x / WARP; }
__device__ int64_t next_current() { return (int64_t)gridDim.x * WARPS; }

/* Of the field: t . int g N E dV, by lanes. */
template <typename real>
__device__ double take_field(const ps_dgtd_device_wire *x, int nodes, const real *electric,
                             int64_t m)
{
    constexpr int L = lanes<real>;
    const int64_t first = x->entry_first[m], count = (x->entry_first[m + 1] - first) * nodes;
    double sum = 0;
    for (int64_t i = threadIdx.x % WARP; i < count; i += WARP) {
        const int32_t entry = x->entries[first + i / nodes];
        const int j = (int)(i % nodes);
        const int64_t slot = x->pair_slots[entry / 2];
        const double *t = x->directions + 3 * x->pair_segments[entry / 2];
        const real *e = electric + slot / L * (3 * nodes * L) + slot % L;
        sum += x->weights[(int64_t)entry * nodes + j] *
               (t[0] * e[j * L] + t[1] * e[(nodes + j) * L] + t[2] * e[(2 * nodes + j) * L]);
    }
    return sum;
}

/* The voltages at the network's node that are known before the step. */
__device__ double take_network(const ps_dgtd_device_wire *x, double t, double dt)
{
    const ps_dgtd_network *n = &x->network;
    double sum = network_source(&n->source, t - dt / 2) - n->resistance * x->state[x->feed];
    if (n->capacitance > 0) sum -= x->state[x->currents + x->segments] / n->capacitance;
    return sum;
}

template <typename real>
__global__ __launch_bounds__(THREADS) void gather(const ps_dgtd_device_wire *wires, int nodes,
                                                  const real *electric, double t, double dt)
{
    const ps_dgtd_device_wire *x = wires + blockIdx.y;
    if (x->elements == 0) return; /* another rank's */
    for (int64_t m = first_current(); m < x->currents; m += next_current()) {
        double sum = take_field(x, nodes, electric, m);
        for (int64_t k = threadIdx.x % WARP; k < x->segments; k += WARP)
            sum -= x->potentials[m * x->segments + k] * x->state[x->currents + k];
        sum = add_lanes(sum);
        if (threadIdx.x % WARP > 0) continue;
        if (m == x->feed) sum += take_network(x, t, dt);
        x->force[m] = dt * sum;
    }
}

/* Charges and what the network is told, once all currents are there; by one block. */
__device__ void finish(const ps_dgtd_device_wire *x, double t, double dt, double *signals)
{
    double *charge = x->state + x->currents, *kept = charge + x->segments;
    for (int64_t k = threadIdx.x; k < x->segments; k += THREADS)
        for (int h = 0; h < 2; ++h)
            if (x->ends[2 * k + h] >= 0)
                charge[k] += (h ? -dt : dt) * __ldcg(x->state + x->ends[2 * k + h]);
    if (x->feed < 0 || threadIdx.x > 0) return;
    const ps_dgtd_network *n = &x->network;
    const double current = __ldcg(x->state + x->feed), slope = __ldcg(x->force + x->currents) / dt;
    kept[0] += dt * current;
    double voltage = network_source(&n->source, t) - n->resistance * current -
                     n->inductance * (1.5 * slope - .5 * kept[1]);
    if (n->capacitance > 0) voltage -= (kept[0] - dt * current / 2) / n->capacitance;
    kept[1] = slope;
    if (x->port < 0) return;
    signals[2 * x->port] = voltage;
    signals[2 * x->port + 1] = current;
}

__global__ __launch_bounds__(THREADS) void move(const ps_dgtd_device_wire *wires, unsigned *done,
                                                double t, double dt, double *signals)
{
    __shared__ bool last;
    const ps_dgtd_device_wire *x = wires + blockIdx.y;
    if (x->elements == 0) return;
    for (int64_t m = first_current(); m < x->currents; m += next_current()) {
        double sum = 0;
        for (int64_t k = threadIdx.x % WARP; k < x->currents; k += WARP)
            sum += x->inverse[m * x->currents + k] * x->force[k];
        sum = add_lanes(sum);
        if (threadIdx.x % WARP > 0) continue;
        x->state[m] += sum;
        if (m == x->feed) x->force[x->currents] = sum;
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicInc(done + blockIdx.y, gridDim.x - 1) + 1 == gridDim.x;
    __syncthreads();
    if (!last) return;
    __threadfence();
    finish(x, t, dt, signals);
}

/* blockIdx.x: the element. */
template <typename real>
__global__ void apply(const ps_dgtd_device_wire *x, int nodes, real *electric, int64_t begin,
                      int64_t end)
{
    constexpr int L = lanes<real>;
    const int64_t slot = x->slots[blockIdx.x];
    const int i = threadIdx.x, c = i / nodes, j = i % nodes;
    if (slot < begin * L || slot >= end * L || c >= 3) return;
    double change = 0;
    for (int64_t p = x->first[blockIdx.x]; p < x->first[blockIdx.x + 1]; ++p) {
        const int32_t segment = x->pair_segments[p];
        for (int h = 0; h < 2; ++h) {
            const int32_t m = x->ends[2 * segment + h];
            if (m >= 0)
                change -= x->directions[3 * segment + c] * x->state[m] *
                          x->loads[(2 * p + h) * nodes + j];
        }
    }
    real *e = electric + slot / L * (3 * nodes * L) + i * L + slot % L;
    *e = (real)(*e + change);
}

template <typename real>
cudaError_t launch_apply(const ps_dgtd_device_wires *x, const ps_dgtd_device_wires_step *s,
                         cudaStream_t queue)
{
    for (int64_t k = 0; k < x->count;
         ++k) { /* one after the other: two may have an element in common */
        const ps_dgtd_device_wire *wire = x->host + k;
        if (wire->elements == 0) continue;
        apply<real>
            <<<(unsigned)wire->elements, (unsigned)(3 * x->nodes + WARP - 1) / WARP * WARP, 0,
               queue>>>(x->there + k, x->nodes, static_cast<real *>(s->electric), s->begin, s->end);
    }
    return cudaGetLastError();
}

} // namespace

extern "C" ps_status ps_dgtd_wires_advance_cuda(const ps_dgtd_device_wires *x,
                                                const ps_dgtd_device_wires_step *step,
                                                ps_stream *stream)
{
    PS_TRY(ps_stream_enter(stream));
    const cudaStream_t queue = static_cast<cudaStream_t>(ps_stream_handle(stream));
    const dim3 grid((unsigned)((x->most + WARPS - 1) / WARPS), (unsigned)x->count);
    if (step->device->precision == PS_SINGLE)
        gather<<<grid, THREADS, 0, queue>>>(
            x->there, x->nodes, static_cast<const float *>(step->electric), step->t, step->dt);
    else
        gather<<<grid, THREADS, 0, queue>>>(
            x->there, x->nodes, static_cast<const double *>(step->electric), step->t, step->dt);
    move<<<grid, THREADS, 0, queue>>>(x->there, x->done, step->t, step->dt,
                                      x->signals + 2 * step->row * x->port_count);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

extern "C" ps_status ps_dgtd_wires_apply_cuda(const ps_dgtd_device_wires *x,
                                              const ps_dgtd_device_wires_step *step,
                                              ps_stream *stream)
{
    PS_TRY(ps_stream_enter(stream));
    const cudaStream_t queue = static_cast<cudaStream_t>(ps_stream_handle(stream));
    PS_CUDA(step->device->precision == PS_SINGLE ? launch_apply<float>(x, step, queue)
                                                 : launch_apply<double>(x, step, queue));
    return PS_OK;
}
