/* What is done to fields on CUDA beside the half step (kernels/dgtd/device_state.h): change of
 * basis, halo, inner products, probes, running sums, currents. */
#include <cuda_runtime.h>

#include <cstring>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/dgtd/device_kernels.h"
}

namespace {

enum { THREADS = 128, N = PS_DGTD_MAX_NODES };

template <typename real> constexpr int lanes = 64 / (int)sizeof(real);

unsigned blocks_of(int64_t items) { return (unsigned)((items + THREADS - 1) / THREADS); }

int nodes_of(const ps_dgtd_device *d) { return (d->order + 1) * (d->order + 2) * (d->order + 3) / 6; }
int face_nodes_of(const ps_dgtd_device *d) { return (d->order + 1) * (d->order + 2) / 2; }

/* A thread a component of an element: all its values are read before one is written. */
template <typename real>
__global__ void convert(int nodes, const double *__restrict__ matrix, const real *from, real *to,
                        int64_t items)
{
    const int64_t item = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (item >= items) return;
    const int64_t base = item / lanes<real> * nodes * lanes<real> + item % lanes<real>;
    double in[N];
    for (int i = 0; i < nodes; ++i) in[i] = (double)from[base + i * lanes<real>];
    for (int i = 0; i < nodes; ++i) {
        double sum = 0;
        for (int j = 0; j < nodes; ++j) sum += matrix[i * nodes + j] * in[j];
        to[base + i * lanes<real>] = (real)sum;
    }
}

/* A thread a value of buffer[count][3][face nodes]. */
template <typename real>
__global__ void move_faces(const __grid_constant__ ps_dgtd_face_nodes table, int nodes, int face_nodes,
                           real *field, const int32_t *__restrict__ faces, int64_t count,
                           real *buffer, int out)
{
    const int64_t item = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (item >= count * 3 * face_nodes) return;
    const int m = (int)(item % face_nodes), c = (int)(item / face_nodes % 3);
    const int32_t face = faces[item / (3 * face_nodes)];
    const int64_t slot = face >> 2, L = lanes<real>;
    real *at = field + slot / L * 3 * nodes * L + slot % L +
               (c * nodes + table.node[face & 3][m]) * L;
    if (out)
        buffer[item] = *at;
    else
        *at = buffer[item];
}

template <typename real>
__device__ double abs_determinant(const real *__restrict__ t)
{
    const int L = lanes<real>;
    double a[9];
    for (int k = 0; k < 9; ++k) a[k] = (double)t[k * L];
    return fabs(a[0] * (a[4] * a[8] - a[5] * a[7]) + a[1] * (a[5] * a[6] - a[3] * a[8]) +
                a[2] * (a[3] * a[7] - a[4] * a[6]));
}

/* A thread an element; the elements of a group are then added in order. */
template <typename real>
__global__ void inner(const ps_dgtd_device d, int nodes, const double *__restrict__ weights,
                      const real *__restrict__ a, const real *__restrict__ b, int64_t begin,
                      int64_t end, double *__restrict__ partial)
{
    constexpr int L = lanes<real>;
    __shared__ double terms[THREADS];
    const int64_t slot = begin * L + (int64_t)blockIdx.x * THREADS + threadIdx.x, g = slot / L;
    double sum = 0;
    if (g < end) {
        const int64_t base = g * 3 * nodes * L + slot % L;
        for (int c = 0; c < 3; ++c)
            for (int i = 0; i < nodes; ++i) {
                double row = 0;
                for (int j = 0; j < nodes; ++j)
                    row += d.mass[i * nodes + j] * (double)b[base + (c * nodes + j) * L];
                sum += row * (double)a[base + (c * nodes + i) * L];
            }
        const real *tangents = static_cast<const real *>(d.tangents) + g * 9 * L + slot % L;
        sum *= abs_determinant(tangents) / 2 * weights[d.material[slot]];
    }
    terms[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x % L || g >= end) return;
    double total = 0;
    for (int l = 0; l < L; ++l) total += terms[threadIdx.x + l];
    partial[g] = total;
}

/* A block a row of `terms`: its threads add up every so many, and then each other's sums, always in
 * the same order. */
enum { SUMMANDS = 1024 };
__global__ void add_groups(const double *__restrict__ terms, int64_t groups, double *out)
{
    __shared__ double sums[SUMMANDS];
    const double *row = terms + blockIdx.x * groups;
    double sum = 0;
    for (int64_t g = threadIdx.x; g < groups; g += SUMMANDS) sum += row[g];
    sums[threadIdx.x] = sum;
    for (int half = SUMMANDS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (threadIdx.x == 0) out[blockIdx.x] = sums[0];
}

template <typename real>
__global__ void probe(int nodes, const real *__restrict__ field, const int64_t *__restrict__ slots,
                      const double *__restrict__ weights, int64_t count, double *__restrict__ out)
{
    constexpr int L = lanes<real>;
    const int64_t item = (int64_t)blockIdx.x * THREADS + threadIdx.x, k = item / 3, c = item % 3;
    if (k >= count) return;
    const real *at = field + (slots[k] / L * 3 + c) * nodes * L + slots[k] % L;
    double sum = 0;
    for (int i = 0; i < nodes; ++i) sum += weights[k * nodes + i] * (double)at[i * L];
    out[item] = sum;
}

struct dft_factors {
    double of[PS_DGTD_DEVICE_FREQUENCIES][2];
};

/* A thread a value of the field. */
template <typename real>
__global__ void add_sums(const __grid_constant__ dft_factors factors, int frequencies, int64_t size,
                         const real *__restrict__ field, int64_t begin, int64_t items,
                         real *__restrict__ sums)
{
    const int64_t item = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (item >= items) return;
    const int64_t g = begin + item / size, i = item % size;
    const real value = field[g * size + i];
    real *to = sums + g * frequencies * 2 * size + i;
    for (int f = 0; f < 2 * frequencies; ++f)
        to[f * size] += (real)factors.of[f / 2][f % 2] * value;
}

/* A thread an element and some of its values: few elements take no longer than one such thread. */
enum { ADDED_EACH = 4 };
template <typename real>
__global__ void add_units(const ps_dgtd_device_unit *__restrict__ units, int64_t count, int values,
                          const real *__restrict__ from, real *__restrict__ to)
{
    constexpr uint32_t L = lanes<real>;
    const uint32_t thread = blockIdx.x * THREADS + threadIdx.x, lane = thread % PS_DGTD_UNIT;
    if (thread / PS_DGTD_UNIT >= count) return;
    const ps_dgtd_device_unit unit = units[thread / PS_DGTD_UNIT];
    if (!(unit.lanes >> lane & 1)) return;
    const uint32_t slot = unit.index * PS_DGTD_UNIT + lane;
    const int64_t at = (int64_t)(slot / L) * values * L + slot % L;
    const int first = blockIdx.y * ADDED_EACH;
    real sum[ADDED_EACH]; /* all are fetched before the first is written */
#pragma unroll
    for (int i = 0; i < ADDED_EACH; ++i)
        if (first + i < values) sum[i] = to[at + (first + i) * L] + from[at + (first + i) * L];
#pragma unroll
    for (int i = 0; i < ADDED_EACH; ++i)
        if (first + i < values) to[at + (first + i) * L] = sum[i];
}

/* A thread an element of the current and node. */
template <typename real>
__global__ void add_current(const ps_dgtd_device d, int nodes, const int64_t *__restrict__ slots,
                            const double *__restrict__ loads, int64_t count, double3 moment,
                            int64_t begin, int64_t end, real *electric)
{
    constexpr int L = lanes<real>;
    const int64_t item = (int64_t)blockIdx.x * THREADS + threadIdx.x, k = item / nodes;
    if (k >= count || slots[k] < begin * L || slots[k] >= end * L) return;
    const int i = (int)(item % nodes);
    const real *gains = static_cast<const real *>(d.steps) + d.materials;
    const double scale = (double)gains[d.material[slots[k]]] * loads[item];
    const double axis[3] = {moment.x, moment.y, moment.z};
    real *at = electric + slots[k] / L * 3 * nodes * L + slots[k] % L + i * L;
    for (int c = 0; c < 3; ++c)
        at[c * nodes * L] = (real)((double)at[c * nodes * L] - scale * axis[c]);
}

/* ---- by precision ---- */

template <typename real>
void launch_halo(const ps_dgtd_device *d, void *field, const int32_t *faces, int64_t count,
                 void *buffer, int out, cudaStream_t queue)
{
    const int nf = face_nodes_of(d);
    ps_dgtd_face_nodes table;
    ps_dgtd_list_face_nodes(d->order, &table);
    move_faces<real><<<blocks_of(count * 3 * nf), THREADS, 0, queue>>>(
        table, nodes_of(d), nf, static_cast<real *>(field), faces, count,
        static_cast<real *>(buffer), out);
}

template <typename real>
void launch_inner(const ps_dgtd_device *d, const double *weights, const void *a, const void *b,
                  int64_t begin, int64_t end, double *partial, cudaStream_t queue)
{
    inner<real><<<blocks_of((end - begin) * lanes<real>), THREADS, 0, queue>>>(
        *d, nodes_of(d), weights, static_cast<const real *>(a), static_cast<const real *>(b),
        begin, end, partial);
}

template <typename real>
void launch_dft(const ps_dgtd_device *d, const void *field, const double *factors, int frequencies,
                int64_t begin, int64_t end, void *sums, cudaStream_t queue)
{
    dft_factors copy;
    const int64_t size = 3 * nodes_of(d) * lanes<real>;
    memcpy(copy.of, factors, (size_t)frequencies * sizeof copy.of[0]);
    add_sums<real><<<blocks_of((end - begin) * size), THREADS, 0, queue>>>(
        copy, frequencies, size, static_cast<const real *>(field), begin, (end - begin) * size,
        static_cast<real *>(sums));
}

template <typename real>
void launch_add(const ps_dgtd_device *d, const ps_dgtd_device_sweep *s, cudaStream_t queue)
{
    const int values = 3 * nodes_of(d);
    const dim3 blocks((unsigned)blocks_of(s->units->count * PS_DGTD_UNIT),
                      (unsigned)((values + ADDED_EACH - 1) / ADDED_EACH));
    add_units<real><<<blocks, THREADS, 0, queue>>>(s->units->list, s->units->count, values,
                                                   static_cast<const real *>(s->source),
                                                   static_cast<real *>(s->target));
}

template <typename real>
void launch_current(const ps_dgtd_device *d, const ps_dgtd_device_current *x, void *electric,
                    double rate, int64_t begin, int64_t end, cudaStream_t queue)
{
    const double3 moment = {rate * x->axis[0], rate * x->axis[1], rate * x->axis[2]};
    const int nodes = nodes_of(d);
    add_current<real><<<blocks_of(x->count * nodes), THREADS, 0, queue>>>(
        *d, nodes, x->slots, x->loads, x->count, moment, begin, end,
        static_cast<real *>(electric));
}

ps_status enter(ps_stream *stream, cudaStream_t *queue)
{
    PS_TRY(ps_stream_enter(stream));
    *queue = static_cast<cudaStream_t>(ps_stream_handle(stream));
    return PS_OK;
}

} // namespace

#define BY_PRECISION(call, ...)                                                       \
    do {                                                                              \
        cudaStream_t queue;                                                           \
        PS_TRY(enter(stream, &queue));                                                \
        if (device->precision == PS_SINGLE)                                           \
            call<float>(__VA_ARGS__, queue);                                          \
        else                                                                          \
            call<double>(__VA_ARGS__, queue);                                         \
        PS_CUDA(cudaGetLastError());                                                  \
        return PS_OK;                                                                 \
    } while (0)

namespace {

template <typename real>
void launch_convert(const ps_dgtd_device *d, const double *matrix, const void *from, void *to,
                    int64_t groups, cudaStream_t queue)
{
    const int64_t items = groups * 3 * lanes<real>;
    convert<real><<<blocks_of(items), THREADS, 0, queue>>>(
        nodes_of(d), matrix, static_cast<const real *>(from), static_cast<real *>(to), items);
}

template <typename real>
void launch_probe(const ps_dgtd_device *d, const void *field, const int64_t *slots,
                  const double *weights, int64_t count, double *out, cudaStream_t queue)
{
    probe<real><<<blocks_of(3 * count), THREADS, 0, queue>>>(
        nodes_of(d), static_cast<const real *>(field), slots, weights, count, out);
}

} // namespace

extern "C" ps_status ps_dgtd_convert_cuda(const ps_dgtd_device *device, const double *matrix,
                                          const void *from, void *to, int64_t groups,
                                          ps_stream *stream)
{
    BY_PRECISION(launch_convert, device, matrix, from, to, groups);
}

extern "C" ps_status ps_dgtd_halo_cuda(const ps_dgtd_device *device, void *field,
                                       const int32_t *faces, int64_t count, void *buffer, int out,
                                       ps_stream *stream)
{
    BY_PRECISION(launch_halo, device, field, faces, count, buffer, out);
}

extern "C" ps_status ps_dgtd_inner_cuda(const ps_dgtd_device *device, const double *weights,
                                        const void *a, const void *b, int64_t begin, int64_t end,
                                        double *partial, ps_stream *stream)
{
    BY_PRECISION(launch_inner, device, weights, a, b, begin, end, partial);
}

extern "C" ps_status ps_dgtd_add_groups_cuda(const double *terms, int64_t groups, int64_t rows,
                                             double *out, ps_stream *stream)
{
    cudaStream_t queue;
    PS_TRY(enter(stream, &queue));
    add_groups<<<(unsigned)rows, SUMMANDS, 0, queue>>>(terms, groups, out);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

extern "C" ps_status ps_dgtd_probe_cuda(const ps_dgtd_device *device, const void *field,
                                        const int64_t *slots, const double *weights, int64_t count,
                                        double *out, ps_stream *stream)
{
    BY_PRECISION(launch_probe, device, field, slots, weights, count, out);
}

extern "C" ps_status ps_dgtd_dft_cuda(const ps_dgtd_device *device, const void *field,
                                      const double *factors, int frequencies, int64_t begin,
                                      int64_t end, void *sums, ps_stream *stream)
{
    BY_PRECISION(launch_dft, device, field, factors, frequencies, begin, end, sums);
}

extern "C" ps_status ps_dgtd_current_cuda(const ps_dgtd_device *device,
                                          const ps_dgtd_device_current *current, void *electric,
                                          double rate, int64_t begin, int64_t end,
                                          ps_stream *stream)
{
    BY_PRECISION(launch_current, device, current, electric, rate, begin, end);
}

extern "C" ps_status ps_dgtd_local_add_cuda(const ps_dgtd_device_sweep *sweep, ps_stream *stream)
{
    const ps_dgtd_device *device = sweep->device;
    BY_PRECISION(launch_add, device, sweep);
}
