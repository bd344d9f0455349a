/*
 * The steps of a group in one cooperative kernel (kernels/tdbem/group_solve.h).
 *
 * A block of 512 threads a multiprocessor owns consecutive warps of 32 rows: their part of the
 * vectors, and of M^0 and the values that it multiplies as far as they fit, stay in its shared
 * memory for the whole group. What other
 * blocks need goes through memory of the device (group_solve_meet_body.h). An iteration is as long
 * as the code of one warp between two meetings, so that code is kept short.
 */
#include <cuda_runtime.h>

#include <cmath>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/tdbem/group_solve_device.h"
}

namespace
{

#include "kernels/tdbem/group_solve_meet_body.h"
#include "kernels/tdbem/group_solve_owed_body.h"
#include "kernels/tdbem/group_solve_lining_body.h"

/* Calls use(row, M^0 times the halo) for every row, by the thread that owns it. */
template <typename Use> __device__ void each_product(const task &t, const block &k, Use use)
{
#pragma unroll 1
    for (int row = threadIdx.x; row < k.rows; row += THREADS) {
        const int w = row / WARP, begin = k.warp_value[w], width = k.warp_value[w + 1] - begin;
        const double *value = k.value + begin * WARP + row % WARP, *x = k.halo + k.warp_halo[w];
        const uint16_t *place = k.place + begin * WARP + row % WARP;
        double sum = 0;
#pragma unroll 1
        for (int q = 0; q < width; q += PS_M0_PIECE)
#pragma unroll
            for (int i = 0; i < PS_M0_PIECE; ++i)
                sum += value[(q + i) * WARP] * x[place[(q + i) * WARP]];
        use(row, sum);
    }
}

/* ---- a step ---- */

struct step_sums {
    double size, rest; /* |b|^2, |b - M^0 x|^2 */
};

/* The right-hand side of step g, and the residual of the straight line through the last two
 * answers, whose products with M^0 are there. */
template <typename real, int SYSTEM>
__device__ step_sums begin_step(const task &t, block &k, int g, ps_group_step *step)
{
    double value[5] = {0}; /* |b|^2, |r|^2; largest |b|, |l|, |D^-1 l| */
    const real *sums = static_cast<const real *>(t.s.sums);
    auto use = [&](int row, double owed) {
        const int64_t i = k.first + row;
        double load = t.s.loads[g * t.s.unknowns + i], scale = at(t, k, SCALE, row);
        owed += static_cast<double>(sums[i * t.s.sums_stride + g]) +
                kept(t, RADIATION + g % STRIDE, row);
        if (SYSTEM == LINED) owed += kept(t, GIVEN, row);
        double right = load - owed, x = at(t, k, X, row), ax = kept(t, AX, row);
        double r = right - (2 * ax - kept(t, AX_BEFORE, row));
        at(t, k, X, row) = 2 * x - kept(t, BEFORE, row);
        kept(t, BEFORE, row) = x;
        kept(t, AX_BEFORE, row) = ax;
        kept(t, RIGHT, row) = right;
        at(t, k, R, row) = r;
        at(t, k, U, row) = scale * r;
        show(t, k, FACTOR, row, scale * r);
        value[0] += right * right;
        value[1] += r * r;
        value[2] = fmax(value[2], fabs(right));
        value[3] = fmax(value[3], fabs(load));
        value[4] = fmax(value[4], fabs(load * scale));
    };
    if (SYSTEM == LINED) give_way<real>(t, k, g);
    each_owed<real>(t, t.s.near, k, g, use);
    meet<2, 3>(t, k, value);
    step->right = value[2];
    step->load = value[3];
    step->response = value[4];
    return {value[0], value[1]};
}

/* Of a row, in registers. */
struct row_state {
    double r, u, w, scale;
};

/* Shows what the next iteration multiplies, and the iterate; gamma = r.u, delta = w.u, |r|^2. */
__device__ void show_row(const task &t, const block &k, int row, const row_state &s, double x,
                         double *value)
{
    show(t, k, FACTOR, row, s.scale * s.w);
    show(t, k, ANSWER, row, x);
    value[0] += s.r * s.u;
    value[1] += s.w * s.u;
    value[2] += s.r * s.r;
}

__device__ row_state read_row(const task &t, const block &k, int row)
{
    return {at(t, k, R, row), at(t, k, U, row), at(t, k, W, row), at(t, k, SCALE, row)};
}

/* One iteration: all recurrences of a row, n = M^0 D^-1 w. */
__device__ void advance_row(const task &t, const block &k, int row, double n, double alpha,
                            double beta, double *value)
{
    row_state s = read_row(t, k, row);
    double x = at(t, k, X, row), old[4];
    for (int v = 0; v < 4; ++v) old[v] = beta != 0 ? at(t, k, Z + v, row) : 0;
    const double z = n + beta * old[0], q = s.scale * s.w + beta * old[1];
    const double s_ = s.w + beta * old[2], p = s.u + beta * old[3];
    x += alpha * p;
    s.r -= alpha * s_;
    s.u -= alpha * q;
    s.w -= alpha * z;
    show_row(t, k, row, s, x, value);
    const double now[] = {x, s.r, s.u, s.w, z, q, s_, p};
    for (int v = 0; v < 8; ++v) at(t, k, X + v, row) = now[v];
}

/* From u shown: iterates until the recurrence has come to the tolerance, or to the limit. */
__device__ void iterate(const task &t, block &k, double size, int *iterations)
{
    const double enough = t.s.tolerance * t.s.tolerance * size;
    double below = 0, inverse = 0,
           value[3] = {0}; /* of the last alpha = gamma / below; 1 / gamma */
    each_product(t, k, [&](int row, double w) {
        at(t, k, W, row) = w;
        show_row(t, k, row, read_row(t, k, row), at(t, k, X, row), value);
    });
    meet<3, 0>(t, k, value);
    while (!(value[2] <= enough) && isfinite(value[2]) && *iterations < t.s.limit) {
        const double beta = value[0] * inverse;
        below = value[1] - beta * beta * below;
        const double alpha = value[0] / below;
        inverse = 1 / value[0];
        value[0] = value[1] = value[2] = 0;
        each_product(t, k,
                     [&](int row, double n) { advance_row(t, k, row, n, alpha, beta, value); });
        meet<3, 0>(t, k, value);
        ++*iterations;
    }
}

#include "kernels/tdbem/group_solve_unsymmetric_body.h"

/* Rounds the answer of a row and keeps it; value: its part of the mean, the largest. */
template <typename real>
__device__ void keep_answer(const task &t, const block &k, int row, int g, double *value)
{
    const int64_t i = k.first + row;
    const real a = static_cast<real>(at(t, k, X, row));
    static_cast<real *>(t.s.recent)[g * t.s.unknowns + i] = a;
    past_of<real>(t, i)[t.s.group + g] = a;
    value[0] += t.s.weights[i] * static_cast<double>(a);
    value[1] = fmax(value[1], fabs(static_cast<double>(a)));
}

/* Keeps the answer; returns |b - M^0 x|^2 from its definition, and leaves the start of another
 * iteration. zero: the answer is 0. */
template <typename real>
__device__ double find_truth(const task &t, block &k, int g, bool zero, ps_group_step *step)
{
    double value[3] = {0};
    if (!zero) watch_halo(t, k, ANSWER, threadIdx.x / WARP, WARPS);
    __syncthreads();
    each_product(t, k, [&](int row, double product) {
        double ax = zero ? 0 : product, r = kept(t, RIGHT, row) - ax;
        if (zero) at(t, k, X, row) = 0;
        kept(t, AX, row) = ax;
        at(t, k, R, row) = r;
        at(t, k, U, row) = at(t, k, SCALE, row) * r;
        show(t, k, FACTOR, row, at(t, k, U, row));
        value[0] += r * r;
        keep_answer<real>(t, k, row, g, value + 1);
    });
    meet<2, 1, true>(t, k, value);
    step->mean = value[1];
    step->largest = value[2];
    return value[0];
}

template <typename real, int SYSTEM>
__device__ void solve_step(const task &t, block &k, int g, ps_group_step *step)
{
    int iterations = 0;
    step_sums sums = begin_step<real, SYSTEM>(t, k, g, step);
    step->state = PS_GROUP_NOT_FINITE;
    if (!isfinite(sums.size)) return;
    const bool zero = step->right < below_is_zero;
    const double size = sqrt(sums.size), enough = (t.s.tolerance + truth_margin) * size;
    for (step->state = PS_GROUP_SKIPPED; step->state == PS_GROUP_SKIPPED;) {
        if (!zero && SYSTEM != SYMMETRIC)
            iterate_unsymmetric(t, k, sums.size, &iterations);
        else if (!zero)
            iterate(t, k, sums.size, &iterations);
        const double rest = sqrt(find_truth<real>(t, k, g, zero, step));
        step->residual = zero ? 0 : rest / size;
        if (zero || rest <= enough)
            step->state = PS_GROUP_SOLVED;
        else if (iterations >= t.s.limit || !isfinite(rest))
            step->state = PS_GROUP_NOT_CONVERGED;
    }
    step->iterations = iterations;
}

/* ---- the group ---- */

/* Where the part of M^0 begins: its own 32-row pieces, the halo, and its values. */
template <int HELD> __device__ void open_matrix(const task &t, block &k, int *from)
{
    const ps_packed_m0 &m = t.s.m0;
    const int warps = (k.rows + WARP - 1) / WARP, first = k.first / WARP;
    const int64_t begin = m.value_start[first], halo = m.halo_start[first];
    int *warp_halo = from, *warp_value = from + warps + 1;
    k.halo_count = m.halo_start[first + warps] - (int)halo;
    for (int w = threadIdx.x; w <= warps; w += THREADS) {
        warp_halo[w] = m.halo_start[first + w] - (int)halo;
        warp_value[w] = m.value_start[first + w] - (int)begin;
    }
    if (HELD == HOLDS_VECTORS) {
        k.halo = t.halo + halo;
        k.halo_column = m.halo + halo;
    } else {
        for (int i = threadIdx.x; i < k.halo_count; i += THREADS)
            k.halo_column[i] = m.halo[halo + i];
    }
    k.warp_halo = warp_halo;
    k.pass_begin = from + 2 * (t.room / WARP + 1);
    k.pass_end = k.pass_begin + t.room / WARP;
    k.warp_value = warp_value;
    k.value = m.values + begin * WARP;
    k.place = m.places + begin * WARP;
    if (HELD != HOLDS_MATRIX) return;
    const int count = (m.value_start[first + warps] - (int)begin) * WARP;
    double *value = k.halo + t.halo_room;
    uint16_t *place = reinterpret_cast<uint16_t *>(k.pass_end + t.room / WARP);
    for (int e = threadIdx.x; e < count; e += THREADS) {
        value[e] = k.value[e];
        place[e] = k.place[e];
    }
    k.value = value;
    k.place = place;
}

/* Memory of the block, its part of M^0 and of the vectors before the group. */
template <typename real, int HELD> __device__ block open_block(const task &t, double *shared)
{
    block k = {};
    k.first = blockIdx.x * t.room;
    k.rows = (int)min((int64_t)t.room, t.s.unknowns - k.first);
    k.scratch = shared;
    k.vectors = k.scratch + SCRATCH;
    k.halo = k.vectors + VECTORS * t.room;
    k.halo_column = reinterpret_cast<int *>(k.halo + t.halo_room + t.held * WARP);
    open_matrix<HELD>(t, k, k.halo_column + t.halo_room);
    for (int row = threadIdx.x; row < k.rows; row += THREADS) {
        at(t, k, SCALE, row) = t.s.scale[k.first + row];
        at(t, k, X, row) = t.s.last[0][k.first + row];
        kept(t, BEFORE, row) = t.s.last[1][k.first + row];
    }
    for (int64_t i = threadIdx.x; i < (int64_t)k.rows * t.past_stride; i += THREADS)
        past_of<real>(t, k.first)[i] = 0;
    __syncthreads();
    return k;
}

/* vector = M^0 x, before the first meeting. */
__device__ void multiply_last(const task &t, const block &k, const double *x, int vector)
{
    for (int i = threadIdx.x; i < k.halo_count; i += THREADS) k.halo[i] = x[k.halo_column[i]];
    __syncthreads();
    each_product(t, k, [&](int row, double ax) { kept(t, vector, row) = ax; });
    __syncthreads();
}

template <typename real> __device__ void close_block(const task &t, const block &k)
{
    for (int row = threadIdx.x; row < k.rows; row += THREADS) {
        const int64_t i = k.first + row;
        const real *past = past_of<real>(t, i) + t.s.group + t.s.count;
        const double second = t.s.count > 1 ? static_cast<double>(past[-2]) : t.s.last[0][i];
        t.s.last[0][i] = static_cast<double>(past[-1]);
        t.s.last[1][i] = second;
    }
}

template <typename real, int HELD, int SYSTEM>
__global__ void __launch_bounds__(THREADS, 1) solve_group(const __grid_constant__ task t)
{
    extern __shared__ double shared[];
    block k = open_block<real, HELD>(t, shared);
    multiply_last(t, k, t.s.last[0], AX);
    multiply_last(t, k, t.s.last[1], AX_BEFORE);
    for (int g = 0; g < t.s.count; ++g) {
        ps_group_step step = {};
        if (g % STRIDE == 0)
            pass_over_far<real>(t, t.s.near, k, g, [&](int b, int row, double owed) {
                kept(t, RADIATION + b, row) = owed;
            });
        if (SYSTEM == LINED && g % STRIDE == 0) pass_over_linings<real>(t, k, g);
        solve_step<real, SYSTEM>(t, k, g, &step);
        if (blockIdx.x == 0 && threadIdx.x == 0) t.s.steps[g] = step;
        if (step.state != PS_GROUP_SOLVED) return;
        if (SYSTEM == LINED) advance_linings<real>(t, k, g);
    }
    close_block<real>(t, k);
}

/* ---- the host's side ---- */

int past_stride(int64_t group) { return (int)(2 * group + STRIDE); }

/* Words that are vacant at first. */
int64_t vacant_words(int64_t unknowns) { return TURNS * (SHOWN * unknowns + NUMBERS * BLOCKS_MAX); }

int64_t kept_doubles(int64_t unknowns)
{
    return (unknowns + (int64_t)WARP * (BLOCKS_MAX + 1)) * KEPT;
}

void lay_out(task *t)
{
    const int64_t n = t->s.unknowns;
    word *first = static_cast<word *>(t->s.workspace);
    t->past_stride = past_stride(t->s.group);
    t->numbers = first;
    t->shown = first + TURNS * NUMBERS * BLOCKS_MAX;
    t->past = first + vacant_words(n);
    t->kept = reinterpret_cast<double *>(t->past) + n * t->past_stride;
    t->halo = t->kept + kept_doubles(n);
}

struct device_limits {
    int processors, shared;
};

ps_status find_limits(const void *kernel, device_limits *out)
{
    int device;
    cudaFuncAttributes own;
    PS_CUDA(cudaGetDevice(&device));
    PS_CUDA(cudaFuncGetAttributes(&own, kernel));
    PS_CUDA(cudaDeviceGetAttribute(&out->processors, cudaDevAttrMultiProcessorCount, device));
    PS_CUDA(cudaDeviceGetAttribute(&out->shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    out->shared -= (int)own.sharedSizeBytes;
    return PS_OK;
}

/* Shared memory of a block. */
int64_t shared_bytes(const task &t)
{
    return (int64_t)sizeof(double) * (SCRATCH + VECTORS * t.room + t.halo_room) +
           (int64_t)sizeof(int) * (t.halo_room + 2 * (2 * (t.room / WARP) + 1)) +
           (int64_t)t.held * WARP * (int64_t)(sizeof(double) + sizeof(uint16_t));
}

/* Splits the rows over blocks, and the shared memory over what wants it; *held says what got it. */
ps_status plan(task *t, const device_limits &limits, int *blocks, int *held)
{
    const int64_t warps = (t->s.unknowns + WARP - 1) / WARP, most = INT32_MAX / WARP;
    const int processors = limits.processors < BLOCKS_MAX ? limits.processors : BLOCKS_MAX;
    const int64_t each = (warps + processors - 1) / processors;
    const int64_t values = each * t->s.m0.value_most, halo = each * t->s.m0.halo_most;
    *blocks = (int)((warps + each - 1) / each);
    for (*held = HOLDS_MATRIX; *held >= HOLDS_VECTORS && each <= most; --*held) {
        const int64_t here = *held >= HOLDS_HALO ? halo : 0,
                      rows = *held >= HOLDS_MATRIX ? values : 0;
        if (here > most || rows > most) continue;
        t->room = (int)(each * WARP);
        t->halo_room = (int)here;
        t->held = (int)rows;
        if (shared_bytes(*t) <= limits.shared) return PS_OK;
    }
    return ps_fail(PS_FAILED,
                   "%lld unknowns are more than one device of %d multiprocessors "
                   "solves in groups: use more of them, or --device cpu",
                   (long long)t->s.unknowns, limits.processors);
}

template <int SYSTEM> const void *kernel_of(ps_precision precision, int held)
{
    static const void *const kernels[PS_PRECISION_COUNT][3] = {
        {reinterpret_cast<const void *>(solve_group<float, HOLDS_VECTORS, SYSTEM>),
         reinterpret_cast<const void *>(solve_group<float, HOLDS_HALO, SYSTEM>),
         reinterpret_cast<const void *>(solve_group<float, HOLDS_MATRIX, SYSTEM>)},
        {reinterpret_cast<const void *>(solve_group<double, HOLDS_VECTORS, SYSTEM>),
         reinterpret_cast<const void *>(solve_group<double, HOLDS_HALO, SYSTEM>),
         reinterpret_cast<const void *>(solve_group<double, HOLDS_MATRIX, SYSTEM>)}};
    return kernels[precision][held];
}

const void *kernel_for(const ps_group_solve *solve, int held)
{
    if (solve->lining_count > 0) return kernel_of<LINED>(solve->precision, held);
    return solve->unsymmetric ? kernel_of<UNSYMMETRIC>(solve->precision, held)
                              : kernel_of<SYMMETRIC>(solve->precision, held);
}

} // namespace

extern "C" int64_t ps_group_solve_cuda_workspace(int64_t unknowns, int64_t group, int64_t halo)
{
    return (vacant_words(unknowns) + unknowns * past_stride(group) + kept_doubles(unknowns) +
            halo) *
           (int64_t)sizeof(double);
}

extern "C" ps_status ps_group_solve_cuda(const ps_group_solve *solve, ps_stream *stream)
{
    const cudaStream_t queue = static_cast<cudaStream_t>(ps_stream_handle(stream));
    task t = {};
    device_limits limits;
    int blocks, held;
    t.s = *solve;
    lay_out(&t);
    PS_TRY(ps_stream_enter(stream));
    PS_TRY(find_limits(kernel_for(solve, HOLDS_MATRIX), &limits));
    PS_TRY(plan(&t, limits, &blocks, &held));
    const void *kernel = kernel_for(solve, held);
    const int shared = (int)shared_bytes(t);
    PS_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    PS_CUDA(cudaMemsetAsync(solve->workspace, 0xff,
                            (size_t)vacant_words(solve->unknowns) * sizeof(word), queue));
    PS_CUDA(cudaMemsetAsync(solve->steps, 0, (size_t)solve->group * sizeof *solve->steps, queue));
    void *arguments[] = {&t};
    PS_CUDA(cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(THREADS), arguments,
                                        (size_t)shared, queue));
    return PS_OK;
}
