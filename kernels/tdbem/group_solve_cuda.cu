/*
 * The steps of a group in one cooperative kernel (kernels/tdbem/group_solve.h).
 *
 * A block of 512 threads a multiprocessor owns consecutive warps of 32 rows: their part of M^0
 * and of all vectors stay in its shared memory as far as they fit, for the whole group. What other
 * blocks need (the vector that M^0 is to multiply next, the answers) goes through memory of the
 * device, and so do the partial sums: every block adds those of all blocks in the same order.
 */
#include <cuda_runtime.h>

#include <cmath>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/tdbem/group_solve_device.h"
}

namespace {

enum {
    THREADS = 512,
    WARP = 32,
    WARPS = THREADS / WARP,
    LANES = 2, /* threads a row of M^0 */
    ROWS_AT_ONCE = THREADS / LANES,
    BATCH = 12, /* entries that a thread asks for at a time */
    STRIDE = PS_NEAR_STRIDE,
    BLOCKS_MAX = THREADS,
    SLOT = 6,  /* numbers that a block contributes to a meeting, at most */
    BUFFERS = 3 /* of slots, in turn */
};

/* The vectors of a block, `room` apart; RADIATION: what is owed to the STRIDE steps of a pass. */
enum { X, BEFORE, AX, AX_BEFORE, RIGHT, R, U, W, Z, Q, S, P, SCALE, RADIATION,
       VECTORS = RADIATION + STRIDE };

const double below_is_zero = 1e-140, truth_margin = 1e-14;

struct task {
    ps_group_solve s;
    int room;           /* rows of a block, a multiple of 32                                  */
    bool vectors_shared, matrix_shared;
    double *past;       /* [N][past_stride] answers of the group, a^{n0+t} at group + t; else 0 */
    int past_stride;
    double *gather[2];  /* [N] what M^0 multiplies, before and after the next meeting         */
    double *answer;     /* [N] the iterate                                                    */
    double *slots;      /* [BUFFERS][blocks][SLOT], VACANT where nothing has been said yet    */
    double *vectors;    /* [blocks][VECTORS][room] where shared memory is too small           */
};

struct block {
    int first, rows;
    unsigned meetings;
    double *vectors;
    double *passes;     /* [WARPS][STRIDE][WARP] for passes over the far part */
    const int *start;   /* [rows + 1] */
    const int *column;
    const double *value;
};

__device__ double &at(const task &t, const block &k, int vector, int row)
{
    return k.vectors[vector * t.room + row];
}

__device__ const double *gathered(const task &t, const block &k)
{
    return t.gather[k.meetings & 1];
}

__device__ double &published(const task &t, const block &k, int row)
{
    return t.gather[(k.meetings + 1) & 1][k.first + row];
}

/* ---- meetings of all blocks ---- */

__device__ double warp_sum(double v)
{
    for (int d = WARP / 2; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);
    return v;
}

__device__ double warp_max(double v)
{
    for (int d = WARP / 2; d > 0; d /= 2) v = fmax(v, __shfl_xor_sync(~0u, v, d));
    return v;
}

__device__ double warp_reduce(double v, bool sum) { return sum ? warp_sum(v) : warp_max(v); }

/* What was written before can be seen by who sees what is written after; and what others wrote
 * before what was read, by what is read after. */
__device__ void fence() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }

/* All ones are a NaN that no arithmetic gives; one that came in is replaced. */
const unsigned long long VACANT = ~0ull;

__device__ unsigned long long spoken(double v)
{
    return v == v ? __double_as_longlong(v) : 0x7ff8000000000000ull;
}

__device__ volatile unsigned long long *slot(const task &t, unsigned meeting, int party)
{
    return reinterpret_cast<unsigned long long *>(t.slots) +
           ((meeting % BUFFERS) * gridDim.x + party) * SLOT;
}

/*
 * This block has come: its numbers, one a warp in `share`. By warp 0. That it comes to this meeting
 * means that all have come to the last one and are done with the slots before: those of the
 * meeting before the last are made vacant for the next one.
 */
template <int SUMS, int MAXES>
__device__ void arrive(const task &t, const block &k, const double (*share)[SLOT])
{
    const int lane = threadIdx.x % WARP;
    double total[SUMS + MAXES];
    if (lane < SLOT) slot(t, k.meetings + 1, blockIdx.x)[lane] = VACANT;
    for (int i = 0; i < SUMS + MAXES; ++i)
        total[i] = warp_reduce(lane < WARPS ? share[lane][i] : 0, i < SUMS);
    __syncwarp();
    if (lane > 0) return;
    fence();
    for (int i = 0; i < SUMS + MAXES; ++i)
        slot(t, k.meetings, blockIdx.x)[i] = spoken(total[i]);
}

/* Waits for a block and takes its numbers. */
template <int COUNT> __device__ void await(const task &t, const block &k, int party, double *value)
{
    const volatile unsigned long long *from = slot(t, k.meetings, party);
    unsigned long long said[COUNT];
    for (bool all = false; !all;) {
        all = true;
        for (int i = 0; i < COUNT; ++i) said[i] = from[i];
        for (int i = 0; i < COUNT; ++i) all = all && said[i] != VACANT;
    }
    fence();
    for (int i = 0; i < COUNT; ++i) value[i] = __longlong_as_double(said[i]);
}

/*
 * All blocks meet: what was written before is seen by all after. value[SUMS + MAXES]: each thread's
 * share on entry, the sums and maxima over all threads of all blocks on return.
 */
template <int SUMS, int MAXES> __device__ void meet(const task &t, block &k, double *value)
{
    __shared__ double share[WARPS][SLOT], totals[BLOCKS_MAX / WARP][SLOT];
    const int count = SUMS + MAXES, warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    const int party = threadIdx.x, parties = (gridDim.x + WARP - 1) / WARP;
    for (int i = 0; i < count; ++i) {
        value[i] = warp_reduce(value[i], i < SUMS);
        if (lane == 0) share[warp][i] = value[i];
        value[i] = 0;
    }
    __syncthreads();
    ++k.meetings;
    if (warp == 0) arrive<SUMS, MAXES>(t, k, share);
    __syncwarp();
    if (party < gridDim.x) await<count>(t, k, party, value);
    __syncwarp();
    for (int i = 0; i < count && warp < parties; ++i) {
        double total = warp_reduce(value[i], i < SUMS);
        if (lane == 0) totals[warp][i] = total;
    }
    __syncthreads();
    for (int i = 0; i < count; ++i) {
        value[i] = totals[0][i];
        for (int p = 1; p < parties; ++p)
            value[i] = i < SUMS ? value[i] + totals[p][i] : fmax(value[i], totals[p][i]);
    }
}

/* ---- rows ---- */

/* Calls use(row, sum over the lanes of part(row, lane)) for every row, on one thread a row. */
template <typename Part, typename Use>
__device__ void each_row(const block &k, Part part, Use use)
{
    const int lane = threadIdx.x % LANES;
    for (int base = 0; base < k.rows; base += ROWS_AT_ONCE) {
        int row = base + threadIdx.x / LANES;
        double sum = row < k.rows ? part(row, lane) : 0;
        for (int d = 1; d < LANES; d *= 2) sum += __shfl_xor_sync(~0u, sum, d);
        if (row < k.rows && lane == 0) use(row, sum);
    }
}

/* sum of term(e), e = begin + lane, LANES apart below end; terms by BATCH together, so that what
 * they wait for is under way at the same time. */
template <typename Term> __device__ double sum_terms(int begin, int end, int lane, Term term)
{
    double sum = 0;
    for (int e = begin + lane; e < end; e += BATCH * LANES) {
        double some[BATCH];
#pragma unroll
        for (int i = 0; i < BATCH; ++i) some[i] = e + i * LANES < end ? term(e + i * LANES) : 0;
#pragma unroll
        for (int i = 0; i < BATCH; ++i) sum += some[i];
    }
    return sum;
}

/* each_row with the rows of M^0 times x[N]. */
template <typename Use> __device__ void each_product(const block &k, const double *x, Use use)
{
    auto term = [&](int e) { return k.value[e] * x[k.column[e]]; };
    each_row(k, [&](int row, int lane) {
        return sum_terms(k.start[row], k.start[row + 1], lane, term);
    }, use);
}

/* ---- radiation ---- */

/* A vector of a warp as a lane sees it. */
struct vector_head {
    int4 v; /* ps_near_vector */
    int start;
};

__device__ vector_head read_head(const task &t, int64_t p)
{
    return {__ldg(reinterpret_cast<const int4 *>(t.s.near.vectors) + p),
            __ldg(t.s.near.starts + p * WARP + threadIdx.x % WARP)};
}

/* One vector: what the answers before step g owe to steps g .. g + STRIDE - 1. Places of the past
 * that are not known yet hold zeros. */
template <typename real>
__device__ void add_vector(const task &t, const vector_head &head, int g, double *sum)
{
    const double *past = t.past + (int64_t)head.v.x * t.past_stride + t.s.group + g - head.start;
    const real *value = static_cast<const real *>(t.s.near.values) + (int64_t)head.v.w * WARP +
                        threadIdx.x % WARP;
    const int width = min(head.v.z, g + STRIDE - head.v.y), ahead = 8;
    double window[STRIDE];
    for (int b = 1; b < STRIDE; ++b) window[b] = past[b];
    for (int begin = 0; begin < width; begin += ahead) {
        real some[ahead];
        double before[ahead];
#pragma unroll
        for (int q = 0; q < ahead; ++q) {
            const bool there = begin + q < width;
            some[q] = there ? __ldcs(value + (begin + q) * WARP) : 0;
            before[q] = there ? past[-begin - q] : 0;
        }
#pragma unroll
        for (int q = 0; q < ahead; ++q) {
            const double m = static_cast<double>(some[q]);
            window[0] = before[q];
            for (int b = 0; b < STRIDE; ++b) sum[b] += m * window[b];
            for (int b = STRIDE - 1; b > 0; --b) window[b] = window[b - 1];
        }
    }
}

/* The part of this warp of threads in what is owed to 32 rows from `row` on. */
template <typename real>
__device__ void add_vectors(const task &t, const block &k, int row, int g, double *sum)
{
    const int reached = min(g + STRIDE - 1, (int)t.s.group - 1);
    const int64_t w = (k.first + row) / WARP, begin = t.s.near.vector_start[w];
    const int64_t end = begin + t.s.near.reach[w * t.s.group + reached];
    int64_t p = begin + threadIdx.x / WARP;
    if (g == 0 || p >= end) return;
    for (vector_head next = read_head(t, p); p < end; p += WARPS) {
        const vector_head head = next;
        if (p + WARPS < end) next = read_head(t, p + WARPS);
        add_vector<real>(t, head, g, sum);
    }
}

/* RADIATION = what steps 0 .. g-1 owe to steps g .. g + STRIDE - 1, g a multiple of STRIDE. */
template <typename real> __device__ void pass_over_far(const task &t, const block &k, int g)
{
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    for (int row = 0; row < k.rows; row += WARP) {
        double sum[STRIDE] = {0};
        add_vectors<real>(t, k, row, g, sum);
        for (int b = 0; b < STRIDE; ++b) k.passes[(warp * STRIDE + b) * WARP + lane] = sum[b];
        __syncthreads();
        if (threadIdx.x < STRIDE * WARP) {
            double total = 0;
            for (int i = 0; i < WARPS; ++i) total += k.passes[i * STRIDE * WARP + threadIdx.x];
            at(t, k, RADIATION + warp, row + lane) = total;
        }
        __syncthreads();
    }
}

/* What the steps since the last pass owe to step g: a lane's part of a row. */
template <typename real> __device__ double inner_part(const task &t, int i, int g, int lane)
{
    const ps_packed_near &near = t.s.near;
    const int64_t first = (int64_t)(STRIDE - 1) * i;
    auto term = [&](int e) {
        unsigned word = near.inner_words[e], column = word & ((1u << PS_NEAR_COLUMN_BITS) - 1);
        int back = (int)(word >> PS_NEAR_COLUMN_BITS) + 1;
        return static_cast<double>(static_cast<const real *>(near.inner_values)[e]) *
               t.past[(int64_t)column * t.past_stride + t.s.group + g - back];
    };
    return sum_terms(near.inner_start[first], near.inner_start[first + g % STRIDE], lane, term);
}

/* ---- a step ---- */

struct step_sums {
    double size, rest; /* |b|^2, |b - M^0 x|^2 */
};

/* The right-hand side of step g, and the residual of the straight line through the last two
 * answers, whose products with M^0 are there. */
template <typename real>
__device__ step_sums begin_step(const task &t, block &k, int g, ps_group_step *step)
{
    double value[5] = {0}; /* |b|^2, |r|^2; largest |b|, |l|, |D^-1 l| */
    const real *sums = static_cast<const real *>(t.s.sums);
    auto use = [&](int row, double owed) {
        const int64_t i = k.first + row;
        double load = t.s.loads[g * t.s.unknowns + i], scale = at(t, k, SCALE, row);
        owed += static_cast<double>(sums[i * t.s.sums_stride + g]) +
                at(t, k, RADIATION + g % STRIDE, row);
        double right = load - owed, x = at(t, k, X, row), ax = at(t, k, AX, row);
        double r = right - (2 * ax - at(t, k, AX_BEFORE, row));
        at(t, k, X, row) = 2 * x - at(t, k, BEFORE, row);
        at(t, k, BEFORE, row) = x;
        at(t, k, AX_BEFORE, row) = ax;
        at(t, k, RIGHT, row) = right;
        at(t, k, R, row) = r;
        published(t, k, row) = at(t, k, U, row) = scale * r;
        value[0] += right * right;
        value[1] += r * r;
        value[2] = fmax(value[2], fabs(right));
        value[3] = fmax(value[3], fabs(load));
        value[4] = fmax(value[4], fabs(load * scale));
    };
    each_row(k, [&](int row, int lane) { return inner_part<real>(t, k.first + row, g, lane); },
             use);
    meet<2, 3>(t, k, value);
    step->right = value[2];
    step->load = value[3];
    step->response = value[4];
    return {value[0], value[1]};
}

/* gamma = r.u, delta = w.u, |r|^2 */
__device__ void add_products(const task &t, const block &k, int row, double *value)
{
    double r = at(t, k, R, row), u = at(t, k, U, row), w = at(t, k, W, row);
    t.answer[k.first + row] = at(t, k, X, row);
    published(t, k, row) = at(t, k, SCALE, row) * w;
    value[0] += r * u;
    value[1] += w * u;
    value[2] += r * r;
}

/* One iteration: all recurrences of a row, n = M^0 D^-1 w. */
__device__ void advance_row(const task &t, const block &k, int row, double n, double alpha,
                            double beta)
{
    auto follow = [&](int vector, double with) {
        return at(t, k, vector, row) = beta != 0 ? with + beta * at(t, k, vector, row) : with;
    };
    double u = at(t, k, U, row), w = at(t, k, W, row);
    double z = follow(Z, n), q = follow(Q, at(t, k, SCALE, row) * w), s = follow(S, w);
    double p = follow(P, u);
    at(t, k, X, row) += alpha * p;
    at(t, k, R, row) -= alpha * s;
    at(t, k, U, row) = u - alpha * q;
    at(t, k, W, row) = w - alpha * z;
}

/* From u published: iterates until the recurrence has come to the tolerance, or to the limit. */
__device__ void iterate(const task &t, block &k, double size, int *iterations)
{
    double alpha = 1, beta = 0, gamma = 1, value[3] = {0};
    each_product(k, gathered(t, k), [&](int row, double w) {
        at(t, k, W, row) = w;
        add_products(t, k, row, value);
    });
    meet<3, 0>(t, k, value);
    for (bool first = true;; first = false) {
        double enough = t.s.tolerance * t.s.tolerance * size;
        if (value[2] <= enough || !isfinite(value[2]) || *iterations >= t.s.limit) return;
        beta = first ? 0 : value[0] / gamma;
        alpha = value[0] / (first ? value[1] : value[1] - beta * value[0] / alpha);
        gamma = value[0];
        value[0] = value[1] = value[2] = 0;
        each_product(k, gathered(t, k), [&](int row, double n) {
            advance_row(t, k, row, n, alpha, beta);
            add_products(t, k, row, value);
        });
        meet<3, 0>(t, k, value);
        ++*iterations;
    }
}

/* Rounds the answer of a row and keeps it; value: its part of the mean, the largest. */
template <typename real>
__device__ void keep_answer(const task &t, const block &k, int row, int g, double *value)
{
    const int64_t i = k.first + row;
    const real a = static_cast<real>(at(t, k, X, row));
    static_cast<real *>(t.s.recent)[g * t.s.unknowns + i] = a;
    t.past[i * t.past_stride + t.s.group + g] = static_cast<double>(a);
    value[0] += t.s.weights[i] * static_cast<double>(a);
    value[1] = fmax(value[1], fabs(static_cast<double>(a)));
}

/* Keeps the answer; returns |b - M^0 x|^2 from its definition, and leaves the start of another
 * iteration. zero: the answer is 0. */
template <typename real>
__device__ double find_truth(const task &t, block &k, int g, bool zero, ps_group_step *step)
{
    double value[3] = {0};
    each_product(k, t.answer, [&](int row, double product) {
        double ax = zero ? 0 : product, r = at(t, k, RIGHT, row) - ax;
        if (zero) at(t, k, X, row) = 0;
        at(t, k, AX, row) = ax;
        at(t, k, R, row) = r;
        published(t, k, row) = at(t, k, U, row) = at(t, k, SCALE, row) * r;
        value[0] += r * r;
        keep_answer<real>(t, k, row, g, value + 1);
    });
    meet<2, 1>(t, k, value);
    step->mean = value[1];
    step->largest = value[2];
    return value[0];
}

template <typename real>
__device__ void solve_step(const task &t, block &k, int g, ps_group_step *step)
{
    int iterations = 0;
    step_sums sums = begin_step<real>(t, k, g, step);
    step->state = PS_GROUP_NOT_FINITE;
    if (!isfinite(sums.size)) return;
    const bool zero = step->right < below_is_zero;
    const double size = sqrt(sums.size), enough = (t.s.tolerance + truth_margin) * size;
    for (step->state = PS_GROUP_SKIPPED; step->state == PS_GROUP_SKIPPED;) {
        if (!zero) iterate(t, k, sums.size, &iterations);
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

/* Memory of the block; its part of M^0, and of the vectors before the group. */
__device__ block open_block(const task &t, double *shared)
{
    block k = {};
    const int64_t first = (int64_t)blockIdx.x * t.room, *row_start = t.s.m0.row_start;
    k.first = (int)first;
    k.rows = (int)min((int64_t)t.room, t.s.unknowns - first);
    const int64_t begin = row_start[first], entries = row_start[first + k.rows] - begin;
    k.passes = shared;
    shared += WARPS * STRIDE * WARP;
    k.vectors = t.vectors_shared ? shared : t.vectors + (int64_t)blockIdx.x * VECTORS * t.room;
    if (t.vectors_shared) shared += VECTORS * t.room;
    double *value = shared;
    int *column = reinterpret_cast<int *>(value + (t.matrix_shared ? entries : 0));
    int *start = column + (t.matrix_shared ? entries : 0);
    for (int64_t e = threadIdx.x; e < entries && t.matrix_shared; e += THREADS) {
        value[e] = t.s.m0.values[begin + e];
        column[e] = t.s.m0.columns[begin + e];
    }
    for (int row = threadIdx.x; row <= k.rows; row += THREADS)
        start[row] = (int)(row_start[first + row] - begin);
    for (int row = threadIdx.x; row < k.rows; row += THREADS) {
        at(t, k, SCALE, row) = t.s.scale[first + row];
        at(t, k, X, row) = t.s.last[0][first + row];
        at(t, k, BEFORE, row) = t.s.last[1][first + row];
    }
    for (int64_t i = threadIdx.x; i < (int64_t)k.rows * t.past_stride; i += THREADS)
        t.past[first * t.past_stride + i] = 0;
    k.value = t.matrix_shared ? value : t.s.m0.values + begin;
    k.column = t.matrix_shared ? column : t.s.m0.columns + begin;
    k.start = start;
    __syncthreads();
    return k;
}

__device__ void close_block(const task &t, const block &k)
{
    for (int row = threadIdx.x; row < k.rows; row += THREADS) {
        const int64_t i = k.first + row;
        const double *past = t.past + i * t.past_stride + t.s.group + t.s.count;
        const double second = t.s.count > 1 ? past[-2] : t.s.last[0][i];
        t.s.last[0][i] = past[-1];
        t.s.last[1][i] = second;
    }
}

template <typename real> __global__ void __launch_bounds__(THREADS, 1) solve_group(const task t)
{
    extern __shared__ double shared[];
    block k = open_block(t, shared);
    each_product(k, t.s.last[0], [&](int row, double ax) { at(t, k, AX, row) = ax; });
    each_product(k, t.s.last[1], [&](int row, double ax) { at(t, k, AX_BEFORE, row) = ax; });
    for (int g = 0; g < t.s.count; ++g) {
        ps_group_step step = {};
        if (g % STRIDE == 0) pass_over_far<real>(t, k, g);
        solve_step<real>(t, k, g, &step);
        if (blockIdx.x == 0 && threadIdx.x == 0) t.s.steps[g] = step;
        if (step.state != PS_GROUP_SOLVED) return;
    }
    close_block(t, k);
}

/* ---- the host's side ---- */

int past_stride(int64_t group) { return (int)(2 * group + STRIDE); }

/* Doubles in front of the vectors of the workspace. */
int64_t shown_doubles(int64_t unknowns, int64_t group)
{
    return unknowns * (past_stride(group) + 3) + BUFFERS * BLOCKS_MAX * SLOT;
}

void place(task *t)
{
    const int64_t n = t->s.unknowns;
    double *at = static_cast<double *>(t->s.workspace);
    t->past_stride = past_stride(t->s.group);
    t->slots = at;
    t->past = at += BUFFERS * BLOCKS_MAX * SLOT;
    t->gather[0] = at += n * t->past_stride;
    t->gather[1] = at += n;
    t->answer = at += n;
    t->vectors = at + n;
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

/* Splits the rows over blocks and chooses what stays in shared memory: its bytes. */
ps_status plan(task *t, const device_limits &limits, int *blocks, int64_t *shared)
{
    const int64_t warps = (t->s.unknowns + WARP - 1) / WARP;
    const int processors = limits.processors < BLOCKS_MAX ? limits.processors : BLOCKS_MAX;
    const int64_t each = (warps + processors - 1) / processors;
    *blocks = (int)((warps + each - 1) / each);
    t->room = (int)(each * WARP);
    *shared = (int64_t)sizeof(double) * WARPS * STRIDE * WARP + 4 * ((int64_t)t->room + 2);
    const int64_t vectors = (int64_t)sizeof(double) * VECTORS * t->room;
    const int64_t matrix = each * t->s.m0_longest * (int64_t)(sizeof(double) + sizeof(int));
    if (*shared > limits.shared || each * t->s.m0_longest > INT32_MAX)
        return ps_fail(PS_FAILED, "%lld unknowns are more than one device solves",
                       (long long)t->s.unknowns);
    t->vectors_shared = *shared + vectors <= limits.shared;
    if (t->vectors_shared) *shared += vectors;
    t->matrix_shared = *shared + matrix <= limits.shared;
    if (t->matrix_shared) *shared += matrix;
    return PS_OK;
}

} // namespace

extern "C" int64_t ps_group_solve_cuda_workspace(int64_t unknowns, int64_t group)
{
    const int64_t vectors = (unknowns + (int64_t)WARP * (BLOCKS_MAX + 1)) * VECTORS;
    return (shown_doubles(unknowns, group) + vectors) * (int64_t)sizeof(double);
}

extern "C" ps_status ps_group_solve_cuda(const ps_group_solve *solve, ps_stream *stream)
{
    static const void *const kernels[PS_PRECISION_COUNT] = {
        reinterpret_cast<const void *>(solve_group<float>),
        reinterpret_cast<const void *>(solve_group<double>)};
    const void *kernel = kernels[solve->precision];
    const cudaStream_t queue = static_cast<cudaStream_t>(ps_stream_handle(stream));
    task t = {};
    device_limits limits;
    int blocks;
    int64_t shared;
    t.s = *solve;
    place(&t);
    PS_TRY(ps_stream_enter(stream));
    PS_TRY(find_limits(kernel, &limits));
    PS_TRY(plan(&t, limits, &blocks, &shared));
    PS_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
    PS_CUDA(cudaMemsetAsync(t.slots, 0xff, (size_t)blocks * BUFFERS * SLOT * sizeof(double), queue));
    PS_CUDA(cudaMemsetAsync(solve->steps, 0, (size_t)solve->group * sizeof *solve->steps, queue));
    void *arguments[] = {&t};
    PS_CUDA(cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(THREADS), arguments,
                                        (size_t)shared, queue));
    return PS_OK;
}
