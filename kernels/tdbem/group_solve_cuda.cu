/*
 * The steps of a group in one cooperative kernel (kernels/tdbem/group_solve.h).
 *
 * A block of 512 threads a multiprocessor owns consecutive warps of 32 rows: their part of the
 * vectors, and of M^0 as far as it fits, stays in its shared memory for the whole group. What other
 * blocks need goes through memory of the device, word by word, without fences: a word is VACANT
 * until its owner has spoken, and who needs it looks until it is not. What is said from one meeting
 * of all blocks to the next has four places in turn. A place is made vacant when all have come to
 * the next meeting (then all are done with it); the owner's fence in the meeting after puts that
 * before what he says in the one after that; and only then is the place looked at again.
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
    LANES = 2, /* threads a row */
    OWNERS = THREADS / LANES,
    BATCH = 12, /* entries that a thread asks for at a time */
    PIECE = PS_M0_PIECE / LANES,
    STRIDE = PS_NEAR_STRIDE,
    PASS = WARPS * STRIDE * WARP,
    BLOCKS_MAX = 160, /* five a thread of a warp */
    NUMBERS = 5, /* that a block says in a meeting, at most */
    TURNS = 4
};

/* Vectors of a block: in shared memory; in memory of the device, touched once a step (RADIATION:
 * what is owed to the STRIDE steps of a pass); and those shown to all. */
enum { X, R, U, W, Z, Q, S, P, SCALE, VECTORS };
enum { BEFORE, AX, AX_BEFORE, RIGHT, RADIATION, KEPT = RADIATION + STRIDE };
enum { FACTOR, ANSWER, SHOWN }; /* what M^0 is to multiply next; the iterate */

typedef unsigned long long word;

/* All ones are a NaN that no arithmetic gives. */
const word VACANT = ~0ull;
const double below_is_zero = 1e-140, truth_margin = 1e-14;

struct task {
    ps_group_solve s;
    int room;         /* rows of a block, a multiple of 32                                   */
    int halo_room;    /* and of the values of other rows that it needs                       */
    int pieces;       /* of 32 rows that a pass takes at a time                              */
    int held;         /* rows of 32 values of M^0 in shared memory                           */
    void *past;       /* [N][past_stride] answers of the group, a^{n0+t} at group + t; else 0 */
    int past_stride;
    word *shown;      /* [TURNS][SHOWN][N]                                                   */
    word *numbers;    /* [TURNS][NUMBERS][BLOCKS_MAX]                                        */
    double *kept;     /* [blocks][KEPT][room]                                                */
};

struct block {
    int first, rows, halo_count;
    unsigned meetings;
    double *scratch;      /* [pieces][PASS] for passes, [NUMBERS][OWNERS] for meetings */
    double *vectors;      /* [VECTORS][room]  */
    double *halo;         /* [halo_room]      */
    int *halo_column;     /* [halo_room]      */
    const int *warp_halo, *warp_value; /* [room / 32 + 1] where they begin for 32 rows        */
    const double *value;  /* of M^0, as packed */
    const uint16_t *place;
};

__device__ double &at(const task &t, const block &k, int vector, int row)
{
    return k.vectors[vector * t.room + row];
}

/* The past of unknown i. */
template <typename real> __device__ real *past_of(const task &t, int64_t i)
{
    return static_cast<real *>(t.past) + i * t.past_stride;
}

__device__ double &kept(const task &t, int vector, int row)
{
    return t.kept[((int64_t)blockIdx.x * KEPT + vector) * t.room + row];
}

/* ---- words that all see ---- */

__device__ word spoken(double v)
{
    return v == v ? __double_as_longlong(v) : 0x7ff8000000000000ull;
}

__device__ word look(const word *at)
{
    word said;
    asm volatile("ld.relaxed.gpu.global.b64 %0, [%1];" : "=l"(said) : "l"(at));
    return said;
}

__device__ void say(word *at, word what)
{
    asm volatile("st.relaxed.gpu.global.b64 [%0], %1;" ::"l"(at), "l"(what));
}

/* [N]: what is shown between `meeting` and the next one. */
__device__ word *shown(const task &t, unsigned meeting, int which)
{
    return t.shown + ((meeting % TURNS) * SHOWN + which) * t.s.unknowns;
}

/* [BLOCKS_MAX]: number `i` of every block in a meeting. */
__device__ word *numbers(const task &t, unsigned meeting, int i)
{
    return t.numbers + ((meeting % TURNS) * NUMBERS + i) * BLOCKS_MAX;
}

__device__ void show(const task &t, const block &k, int which, int row, double v)
{
    say(shown(t, k.meetings + 1, which) + k.first + row, spoken(v));
}

__device__ void fence() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }

/* This warp's share of the halo, from what has been shown since the last meeting. */
__device__ void watch_halo(const task &t, const block &k, int which, int warp, int warps)
{
    const word *all = shown(t, k.meetings, which);
    const int step = warps * WARP;
#pragma unroll 1
    for (int i = warp * WARP + threadIdx.x % WARP; i < k.halo_count; i += 2 * step) {
        const int j = i + step < k.halo_count ? i + step : i;
        const word *here = all + k.halo_column[i], *there = all + k.halo_column[j];
        word a, b;
        do {
            a = look(here);
            b = look(there);
        } while (a == VACANT || b == VACANT);
        k.halo[i] = __longlong_as_double(a);
        k.halo[j] = __longlong_as_double(b);
    }
}

/* All have come to this meeting: what was said before the last one is forgotten. */
__device__ void forget(const task &t, const block &k)
{
    word *factor = shown(t, k.meetings - 1, FACTOR), *answer = shown(t, k.meetings - 1, ANSWER);
#pragma unroll 1
    for (int row = threadIdx.x; row < k.rows; row += THREADS) {
        say(factor + k.first + row, VACANT);
        say(answer + k.first + row, VACANT);
    }
    if (threadIdx.x < NUMBERS) say(numbers(t, k.meetings - 1, threadIdx.x) + blockIdx.x, VACANT);
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

__device__ double join(double a, double b, bool sum) { return sum ? a + b : fmax(a, b); }

__device__ double warp_reduce(double v, bool sum) { return sum ? warp_sum(v) : warp_max(v); }

/* A warp says number `i` of its block, from one value an owner of rows in `mine`, waits for those
 * of all blocks and returns the sum (or maximum) of them all. */
__device__ double ask_all(const task &t, const block &k, int i, const double *mine, bool sum)
{
    const int lane = threadIdx.x % WARP;
    double v = mine[lane];
    word *all = numbers(t, k.meetings, i), said[BLOCKS_MAX / WARP];
#pragma unroll
    for (int o = WARP; o < OWNERS; o += WARP) v = join(v, mine[lane + o], sum);
    v = warp_reduce(v, sum);
    if (lane == 0) say(all + blockIdx.x, spoken(v));
    for (bool waiting = true; waiting;) {
        waiting = false;
#pragma unroll
        for (int p = 0; p < BLOCKS_MAX / WARP; ++p)
            said[p] = p * WARP + lane < gridDim.x ? look(all + p * WARP + lane) : 0;
#pragma unroll
        for (int p = 0; p < BLOCKS_MAX / WARP; ++p) waiting = waiting || said[p] == VACANT;
    }
    __syncwarp();
    v = __longlong_as_double(said[0]);
#pragma unroll
    for (int p = 1; p < BLOCKS_MAX / WARP; ++p) v = join(v, __longlong_as_double(said[p]), sum);
    return warp_reduce(v, sum);
}

/*
 * All blocks meet. value[SUMS + MAXES]: the share of each owner of rows (other threads: ignored) on
 * entry, the sums and maxima over all owners of all blocks on return. After it the halo holds the
 * factors shown since the last meeting. OPEN: also what was written otherwise is seen by all.
 */
template <int SUMS, int MAXES, bool OPEN = false>
__device__ void meet(const task &t, block &k, double *value)
{
    __shared__ double totals[NUMBERS];
    const int count = SUMS + MAXES, warp = threadIdx.x / WARP, owner = threadIdx.x / LANES;
    if (threadIdx.x % LANES == 0)
        for (int i = 0; i < count; ++i) k.scratch[i * OWNERS + owner] = value[i];
    if (OPEN) fence();
    __syncthreads();
    ++k.meetings;
    if (warp < count) {
        const double *mine = k.scratch + warp * OWNERS;
        const double total = ask_all(t, k, warp, mine, MAXES == 0 || warp < SUMS);
        if (threadIdx.x % WARP == 0) totals[warp] = total;
    } else {
        watch_halo(t, k, FACTOR, warp - count, WARPS - count);
    }
    fence();
    __syncthreads();
    for (int i = 0; i < count; ++i) value[i] = totals[i];
    forget(t, k);
}

/* ---- rows ---- */

/* Calls use(row, sum over the lanes of part(row, lane)) for every row, by the owner of it. */
template <typename Part, typename Use>
__device__ void each_row(const block &k, Part part, Use use)
{
    const int lane = threadIdx.x % LANES;
    for (int base = 0; base < k.rows; base += OWNERS) {
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

/* each_row with the rows of M^0 times the halo. */
template <typename Use> __device__ void each_product(const block &k, Use use)
{
    auto part = [&](int row, int lane) {
        const int w = row / WARP, begin = k.warp_value[w], r = row % WARP;
        const double *value = k.value + begin * WARP + r, *x = k.halo + k.warp_halo[w];
        const uint16_t *place = k.place + begin * WARP + r;
        const int width = k.warp_value[w + 1] - begin;
        double sum = 0;
#pragma unroll 1
        for (int q = lane; q < width; q += PIECE * LANES)
#pragma unroll
            for (int i = 0; i < PIECE; ++i)
                sum += value[(q + i * LANES) * WARP] * x[place[(q + i * LANES) * WARP]];
        return sum;
    };
    each_row(k, part, use);
}

/* ---- radiation ---- */

/* A vector on its way: its head, or more of it, has been asked for and is not there yet. Places of
 * the past that are not known yet, or wanted no more, hold zeros. */
template <typename real> struct flight {
    enum { AHEAD = 56 / sizeof(real) };
    int4 v; /* ps_near_vector */
    int start, width;
    const real *from, *before; /* values; the past at step g less start */
    real value[AHEAD], past[AHEAD + STRIDE - 1];
};

template <typename real>
__device__ void ask_head(const task &t, int64_t p, int64_t end, flight<real> *f)
{
    if (p >= end) p = end - 1;
    f->v = __ldg(reinterpret_cast<const int4 *>(t.s.near.vectors) + p);
    f->start = __ldg(t.s.near.starts + p * WARP + threadIdx.x % WARP);
}

/* value[q], and past[q + b] = the answer of step g + STRIDE - 1 - start - (q + b). */
template <typename real> __device__ void ask_values(const task &t, int g, flight<real> *f)
{
    f->from = static_cast<const real *>(t.s.near.values) + (int64_t)f->v.w * WARP +
              threadIdx.x % WARP;
    f->before = past_of<real>(t, f->v.x) + t.s.group + g - f->start;
    f->width = min(f->v.z, g + STRIDE - f->v.y);
#pragma unroll
    for (int q = 0; q < f->AHEAD; ++q)
        f->value[q] = q < f->width ? __ldcs(f->from + q * WARP) : 0;
#pragma unroll
    for (int q = 0; q < f->AHEAD + STRIDE - 1; ++q)
        f->past[q] = q < f->width + STRIDE - 1 ? f->before[STRIDE - 1 - q] : 0;
}

/* What the answers before step g owe to steps g .. g + STRIDE - 1, over one vector in the run's
 * precision, over vectors in fp64. */
template <typename real> __device__ void add_vector(const flight<real> &f, double *sum)
{
    real part[STRIDE] = {0};
#pragma unroll
    for (int q = 0; q < f.AHEAD; ++q)
#pragma unroll
        for (int b = 0; b < STRIDE; ++b) part[b] += f.value[q] * f.past[q + STRIDE - 1 - b];
#pragma unroll 1
    for (int q = f.AHEAD; q < f.width; ++q)
        for (int b = 0; b < STRIDE; ++b) part[b] += __ldcs(f.from + q * WARP) * f.before[b - q];
    for (int b = 0; b < STRIDE; ++b) sum[b] += static_cast<double>(part[b]);
}

/* The part of this warp of threads in what is owed to 32 rows from `row` on. While a vector is
 * added, the values of the next one and the head of the one after are on their way. */
template <typename real>
__device__ void add_vectors(const task &t, const block &k, int row, int g, double *sum)
{
    const int reached = min(g + STRIDE - 1, (int)t.s.group - 1);
    const int64_t w = (k.first + row) / WARP, begin = t.s.near.vector_start[w];
    const int64_t end = begin + t.s.near.reach[w * t.s.group + reached];
    int64_t p = begin + threadIdx.x / WARP;
    if (g == 0 || p >= end) return;
    flight<real> now, next;
    ask_head(t, p, end, &now);
    ask_head(t, p + WARPS, end, &next);
    ask_values(t, g, &now);
#pragma unroll 1
    for (; p < end; p += WARPS) {
        ask_values(t, g, &next);
        flight<real> after;
        ask_head(t, p + 2 * WARPS, end, &after);
        add_vector(now, sum);
        now = next;
        next.v = after.v;
        next.start = after.start;
    }
}

/* RADIATION = what steps 0 .. g-1 owe to steps g .. g + STRIDE - 1, g a multiple of STRIDE: every
 * warp of threads takes its part of `pieces` times 32 rows before the parts are added. */
template <typename real> __device__ void pass_over_far(const task &t, const block &k, int g)
{
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, each = STRIDE * WARP;
    for (int base = 0; base < k.rows; base += t.pieces * WARP) {
        const int rows = min(k.rows - base, t.pieces * WARP);
        for (int row = 0; row < rows; row += WARP) {
            double sum[STRIDE] = {0};
            add_vectors<real>(t, k, base + row, g, sum);
            for (int b = 0; b < STRIDE; ++b)
                k.scratch[(row / WARP * WARPS + warp) * each + b * WARP + lane] = sum[b];
        }
        __syncthreads();
        for (int i = threadIdx.x; i < (rows + WARP - 1) / WARP * each; i += THREADS) {
            const double *part = k.scratch + i / each * WARPS * each + i % each;
            double total = 0;
            for (int w = 0; w < WARPS; ++w) total += part[w * each];
            kept(t, RADIATION + i % each / WARP, base + i / each * WARP + i % WARP) = total;
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
               static_cast<double>(
                   past_of<real>(t, column)[t.s.group + g - back]);
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
                kept(t, RADIATION + g % STRIDE, row);
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
    each_row(k, [&](int row, int lane) { return inner_part<real>(t, k.first + row, g, lane); },
             use);
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
    double below = 0, inverse = 0, value[3] = {0}; /* of the last alpha = gamma / below; 1 / gamma */
    each_product(k, [&](int row, double w) {
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
        each_product(k, [&](int row, double n) { advance_row(t, k, row, n, alpha, beta, value); });
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
    each_product(k, [&](int row, double product) {
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

/* Where the part of M^0 begins: its own 32-row pieces, halo columns, and, HELD, its values. */
template <bool HELD> __device__ void open_matrix(const task &t, block &k, int *from)
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
    for (int i = threadIdx.x; i < k.halo_count; i += THREADS) k.halo_column[i] = m.halo[halo + i];
    k.warp_halo = warp_halo;
    k.warp_value = warp_value;
    k.value = m.values + begin * WARP;
    k.place = m.places + begin * WARP;
    if (!HELD) return;
    const int count = (m.value_start[first + warps] - (int)begin) * WARP;
    double *value = k.halo + t.halo_room;
    uint16_t *place = reinterpret_cast<uint16_t *>(from + 2 * (t.room / WARP + 1));
    for (int e = threadIdx.x; e < count; e += THREADS) {
        value[e] = k.value[e];
        place[e] = k.place[e];
    }
    k.value = value;
    k.place = place;
}

/* Memory of the block, its part of M^0 and of the vectors before the group. */
template <typename real, bool HELD>
__device__ block open_block(const task &t, double *shared)
{
    block k = {};
    k.first = blockIdx.x * t.room;
    k.rows = (int)min((int64_t)t.room, t.s.unknowns - k.first);
    k.scratch = shared;
    k.vectors = k.scratch + t.pieces * PASS;
    k.halo = k.vectors + VECTORS * t.room;
    k.halo_column = reinterpret_cast<int *>(k.halo + t.halo_room + (HELD ? t.held * WARP : 0));
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
    each_product(k, [&](int row, double ax) { kept(t, vector, row) = ax; });
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

template <typename real, bool HELD>
__global__ void __launch_bounds__(THREADS, 1) solve_group(const __grid_constant__ task t)
{
    extern __shared__ double shared[];
    block k = open_block<real, HELD>(t, shared);
    multiply_last(t, k, t.s.last[0], AX);
    multiply_last(t, k, t.s.last[1], AX_BEFORE);
    for (int g = 0; g < t.s.count; ++g) {
        ps_group_step step = {};
        if (g % STRIDE == 0) pass_over_far<real>(t, k, g);
        solve_step<real>(t, k, g, &step);
        if (blockIdx.x == 0 && threadIdx.x == 0) t.s.steps[g] = step;
        if (step.state != PS_GROUP_SOLVED) return;
    }
    close_block<real>(t, k);
}

/* ---- the host's side ---- */

int past_stride(int64_t group) { return (int)(2 * group + STRIDE); }

/* Words that are vacant at first. */
int64_t vacant_words(int64_t unknowns) { return TURNS * (SHOWN * unknowns + NUMBERS * BLOCKS_MAX); }

void place(task *t)
{
    const int64_t n = t->s.unknowns;
    word *first = static_cast<word *>(t->s.workspace);
    t->past_stride = past_stride(t->s.group);
    t->numbers = first;
    t->shown = first + TURNS * NUMBERS * BLOCKS_MAX;
    t->past = first + vacant_words(n);
    t->kept = reinterpret_cast<double *>(t->past) + n * t->past_stride;
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
    return (int64_t)sizeof(double) * (t.pieces * PASS + VECTORS * t.room + t.halo_room) +
           (int64_t)sizeof(int) * (t.halo_room + 2 * (t.room / WARP + 1)) +
           (int64_t)t.held * WARP * (int64_t)(sizeof(double) + sizeof(uint16_t));
}

/* Splits the rows over blocks, and the shared memory over what wants it. */
ps_status plan(task *t, const device_limits &limits, int *blocks)
{
    const int64_t warps = (t->s.unknowns + WARP - 1) / WARP, most = INT32_MAX / WARP;
    const int processors = limits.processors < BLOCKS_MAX ? limits.processors : BLOCKS_MAX;
    const int64_t each = (warps + processors - 1) / processors;
    const int64_t values = each * t->s.m0.value_most, halo = each * t->s.m0.halo_most;
    const bool countable = values <= most && halo <= most;
    *blocks = (int)((warps + each - 1) / each);
    if (countable) {
        t->room = (int)(each * WARP);
        t->halo_room = (int)halo;
        t->pieces = 1;
    }
    if (!countable || shared_bytes(*t) > limits.shared)
        return ps_fail(PS_FAILED, "%lld unknowns are more than one device of %d multiprocessors "
                       "solves in groups: use more of them, or --device cpu",
                       (long long)t->s.unknowns, limits.processors);
    t->held = (int)values;
    if (shared_bytes(*t) > limits.shared) t->held = 0;
    const int64_t left = (limits.shared - shared_bytes(*t)) / (int64_t)(PASS * sizeof(double));
    t->pieces += (int)(left < each - 1 ? left : each - 1);
    return PS_OK;
}

const void *kernel_for(ps_precision precision, bool held)
{
    static const void *const kernels[PS_PRECISION_COUNT][2] = {
        {reinterpret_cast<const void *>(solve_group<float, false>),
         reinterpret_cast<const void *>(solve_group<float, true>)},
        {reinterpret_cast<const void *>(solve_group<double, false>),
         reinterpret_cast<const void *>(solve_group<double, true>)}};
    return kernels[precision][held];
}

} // namespace

extern "C" int64_t ps_group_solve_cuda_workspace(int64_t unknowns, int64_t group)
{
    const int64_t kept = (unknowns + (int64_t)WARP * (BLOCKS_MAX + 1)) * KEPT;
    return (vacant_words(unknowns) + unknowns * past_stride(group) + kept) *
           (int64_t)sizeof(double);
}

extern "C" ps_status ps_group_solve_cuda(const ps_group_solve *solve, ps_stream *stream)
{
    const cudaStream_t queue = static_cast<cudaStream_t>(ps_stream_handle(stream));
    task t = {};
    device_limits limits;
    int blocks;
    t.s = *solve;
    place(&t);
    PS_TRY(ps_stream_enter(stream));
    PS_TRY(find_limits(kernel_for(solve->precision, true), &limits));
    PS_TRY(plan(&t, limits, &blocks));
    const void *kernel = kernel_for(solve->precision, t.held > 0);
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
