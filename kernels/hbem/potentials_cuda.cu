/* Potentials on CUDA (kernels/hbem/potentials_device.h): a thread a target, sources in tiles that
 * the block makes in shared memory, parts of the sources in blockIdx.y, whose sums are added up in
 * order by a second kernel. */
#include <cuda_runtime.h>

#include <cmath>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/hbem/potentials_device.h"
}

namespace {

enum { THREADS = 128, ROW = PS_DEVICE_POTENTIAL_ROW };

/* The constant WAVE: Laplace's, waves, waves in a medium that absorbs. */
enum { STILL, WAVES, DAMPED };

struct view {
    double wavenumber, turns, loss; /* k, k/pi, the imaginary part of k */
    int numbers;
    int64_t sources, targets, share; /* share: sources of a part */
    const double *triangles, *densities, *places;
    double *partial;
};

/* sin and cos of pi t, any t: reduced in fp64. */
__device__ void sine_cosine(double t, double *sine, double *cosine) { sincospi(t, sine, cosine); }
__device__ void sine_cosine(double t, float *sine, float *cosine)
{
    __sincosf(3.14159265358979f * (float)(t - 2 * rint(.5 * t)), sine, cosine);
}

/* The kernel function without its constant factor. What has no phase in it is in fp64 too: turning
 * its parts into fp32 would take longer. */
template <int KIND, int WAVE, typename real>
__device__ void value_at(const view &v, const double x[3], const double *y, const double *n,
                         real value[2])
{
    if (KIND == PS_POTENTIAL_FAR_SINGLE || KIND == PS_POTENTIAL_FAR_DOUBLE) {
        sine_cosine(-v.turns * (x[0] * y[0] + x[1] * y[1] + x[2] * y[2]), &value[1], &value[0]);
        if (KIND == PS_POTENTIAL_FAR_SINGLE) return;
        const real slope = (real)(x[0] * n[0] + x[1] * n[1] + x[2] * n[2]);
        value[0] *= slope;
        value[1] *= slope;
        return;
    }
    const double d[3] = {x[0] - y[0], x[1] - y[1], x[2] - y[2]};
    const double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2], root = rsqrt(square);
    real sine = 0, cosine = 1;
    if (WAVE) sine_cosine(v.turns * (square * root), &sine, &cosine);
    if (WAVE == DAMPED) {
        const real rest = exp((real)(-v.loss * (square * root)));
        sine *= rest;
        cosine *= rest;
    }
    if (KIND == PS_POTENTIAL_SINGLE) {
        value[0] = (real)root * cosine;
        value[1] = (real)root * sine;
        return;
    }
    const real p = (real)(root * root * (root * (d[0] * n[0] + d[1] * n[1] + d[2] * n[2])));
    const real q = WAVE ? (real)(v.wavenumber * (square * root)) : 0; /* p (1 - iq) e^{iq} */
    value[0] = p * (cosine + q * sine);
    value[1] = p * (sine - q * cosine);
    if (WAVE == DAMPED) {
        const real fall = p * (real)(v.loss * (square * root));
        value[0] += fall * cosine;
        value[1] += fall * sine;
    }
}

template <int NUMBERS, typename real> struct tile {
    double place[THREADS][3], normal[THREADS][3];
    real strength[THREADS][NUMBERS];
};

/* Source `id` of all: point id % points of triangle id / points. */
template <int NUMBERS, typename real>
__device__ void make_source(const view &v, const ps_hbem_rule &rule, int64_t id,
                            tile<NUMBERS, real> &to, int at)
{
    const int64_t t = id / rule.count;
    const int q = (int)(id - t * rule.count);
    const double *row = v.triangles + ROW * t, *hat = rule.hat[q];
    const double weight = rule.weight[q] * row[12];
    for (int c = 0; c < 3; ++c) {
        to.place[at][c] = hat[0] * row[c] + hat[1] * row[3 + c] + hat[2] * row[6 + c];
        to.normal[at][c] = row[9 + c];
    }
    const double *density = v.densities + 3 * t * v.numbers;
    for (int e = 0; e < NUMBERS; ++e) {
        double sum = 0;
        for (int l = 0; e < v.numbers && l < 3; ++l) sum += hat[l] * density[l * v.numbers + e];
        to.strength[at][e] = (real)(weight * sum);
    }
}

/* NUMBERS: room for the densities' parts; those beyond v.numbers are 0. */
template <int KIND, int WAVE, int NUMBERS, typename real>
__global__ void __launch_bounds__(THREADS)
    sum_parts(const __grid_constant__ view v, const __grid_constant__ ps_hbem_rule rule)
{
    enum { PARTS = WAVE ? 2 : 1 };
    __shared__ tile<NUMBERS, real> sources;
    const int64_t target = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    const int64_t begin = blockIdx.y * v.share;
    const int64_t end = begin + v.share < v.sources ? begin + v.share : v.sources;
    double x[3] = {0, 0, 0}, total[NUMBERS] = {0};
    for (int c = 0; target < v.targets && c < 3; ++c) x[c] = v.places[3 * target + c];
    for (int64_t first = begin; first < end; first += THREADS) {
        const int count = end - first < THREADS ? (int)(end - first) : THREADS;
        real sum[NUMBERS] = {0};
        __syncthreads();
        if ((int)threadIdx.x < count)
            make_source(v, rule, first + threadIdx.x, sources, (int)threadIdx.x);
        __syncthreads();
        if (target >= v.targets) continue;
        for (int s = 0; s < count; ++s) {
            real value[2];
            value_at<KIND, WAVE, real>(v, x, sources.place[s], sources.normal[s], value);
            const real *strength = sources.strength[s];
#pragma unroll
            for (int e = 0; e < NUMBERS; e += PARTS) {
                sum[e] += strength[e] * value[0];
                if (!WAVE) continue;
                sum[e] -= strength[e + PARTS - 1] * value[1];
                sum[e + PARTS - 1] += strength[e] * value[1];
                sum[e + PARTS - 1] += strength[e + PARTS - 1] * value[0];
            }
        }
#pragma unroll
        for (int e = 0; e < NUMBERS; ++e) total[e] += sum[e];
    }
    if (target >= v.targets) return;
#pragma unroll
    for (int e = 0; e < NUMBERS; ++e)
        if (e < v.numbers)
            v.partial[((int64_t)blockIdx.y * v.targets + target) * v.numbers + e] = total[e];
}

__global__ void add_parts(const double *partial, int64_t parts, int64_t values, double *sums)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    double sum = 0;
    if (i >= values) return;
    for (int64_t p = 0; p < parts; ++p) sum += partial[p * values + i];
    sums[i] = sum;
}

template <int KIND, int WAVE, typename real>
ps_status launch(const ps_device_potential *p, const view &v, const ps_hbem_rule &rule,
                 cudaStream_t queue)
{
    const dim3 grid((unsigned)((v.targets + THREADS - 1) / THREADS), (unsigned)p->splits);
    enum { PARTS = WAVE ? 2 : 1 };
    if (p->columns == 1)
        sum_parts<KIND, WAVE, PARTS, real><<<grid, THREADS, 0, queue>>>(v, rule);
    else
        sum_parts<KIND, WAVE, PS_DEVICE_POTENTIAL_COLUMNS * PARTS, real>
            <<<grid, THREADS, 0, queue>>>(v, rule);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

/* A potential at a distance, of the medium it is in. */
template <int KIND, typename real>
ps_status launch_near(const ps_device_potential *p, const view &v, const ps_hbem_rule &rule,
                      cudaStream_t queue)
{
    if (p->absorption > 0) return launch<KIND, DAMPED, real>(p, v, rule, queue);
    return p->wavenumber > 0 ? launch<KIND, WAVES, real>(p, v, rule, queue)
                             : launch<KIND, STILL, real>(p, v, rule, queue);
}

template <typename real>
ps_status launch_kind(const ps_device_potential *p, const view &v, const ps_hbem_rule &rule,
                      cudaStream_t queue)
{
    switch (p->kind) {
    case PS_POTENTIAL_SINGLE: return launch_near<PS_POTENTIAL_SINGLE, real>(p, v, rule, queue);
    case PS_POTENTIAL_DOUBLE: return launch_near<PS_POTENTIAL_DOUBLE, real>(p, v, rule, queue);
    case PS_POTENTIAL_FAR_SINGLE:
        return launch<PS_POTENTIAL_FAR_SINGLE, WAVES, real>(p, v, rule, queue);
    default: return launch<PS_POTENTIAL_FAR_DOUBLE, WAVES, real>(p, v, rule, queue);
    }
}

} // namespace

extern "C" ps_status ps_device_potential_run(const ps_device_potential *p, const ps_hbem_rule *rule,
                                             ps_stream *stream)
{
    const cudaStream_t queue = static_cast<cudaStream_t>(ps_stream_handle(stream));
    const int64_t sources = p->triangle_count * rule->count, values = p->target_count * p->numbers;
    const int64_t tiles = (sources + THREADS - 1) / THREADS;
    const view v = {p->wavenumber, p->wavenumber / M_PI, p->absorption, p->numbers, sources, p->target_count,
                    (tiles + p->splits - 1) / p->splits * THREADS, p->triangles, p->densities,
                    p->targets, p->partial};
    if (!queue) return ps_fail(PS_FAILED, "potentials on a device need a stream of CUDA");
    if (values == 0) return PS_OK;
    PS_TRY(ps_stream_enter(stream));
    PS_TRY(p->precision == PS_SINGLE ? launch_kind<float>(p, v, *rule, queue)
                                     : launch_kind<double>(p, v, *rule, queue));
    add_parts<<<(unsigned)((values + THREADS - 1) / THREADS), THREADS, 0, queue>>>(
        p->partial, p->splits, values, p->sums);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}
