/*
 * group_solve_owed_body: what the steps of a group owe each other, from the packed near matrices. A
 * part of group_solve_cuda.cu.
 */

/* ---- passes over the far part, one in STRIDE steps ---- */

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
__device__ void ask_head(const ps_packed_near &near, int p, int end, flight<real> *f)
{
    p = min(p, end - 1);
    f->v = __ldg(reinterpret_cast<const int4 *>(near.vectors) + p);
    f->start = __ldg(near.starts + (int64_t)p * WARP + threadIdx.x % WARP);
}

/* value[q], and past[q + b] = the answer of step g + STRIDE - 1 - start - (q + b). */
template <typename real>
__device__ void ask_values(const task &t, const ps_packed_near &near, int g, flight<real> *f)
{
    f->from = static_cast<const real *>(near.values) + (int64_t)f->v.w * WARP + threadIdx.x % WARP;
    f->before = past_of<real>(t, f->v.x) + t.s.group + g - f->start;
    f->width = min(f->v.z, g + STRIDE - f->v.y);
#pragma unroll
    for (int q = 0; q < f->AHEAD; ++q) f->value[q] = q < f->width ? __ldcs(f->from + q * WARP) : 0;
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

/* The part of this warp of threads in what vectors begin .. end - 1 owe. While a vector is added,
 * the values of the next one and the head of the one after are on their way. */
template <typename real>
__device__ void add_vectors(const task &t, const ps_packed_near &near, int begin, int end, int g,
                            double *sum)
{
    int p = begin + threadIdx.x / WARP;
    if (p >= end) return;
    flight<real> now, next;
    ask_head(near, p, end, &now);
    ask_head(near, p + WARPS, end, &next);
    ask_values(t, near, g, &now);
#pragma unroll 1
    for (; p < end; p += WARPS) {
        ask_values(t, near, g, &next);
        flight<real> after;
        ask_head(near, p + 2 * WARPS, end, &after);
        add_vector(now, sum);
        now = next;
        next.v = after.v;
        next.start = after.start;
    }
}

/* Which vectors a pass takes of every 32 rows. */
__device__ void open_pass(const task &t, const ps_packed_near &near, const block &k, int g)
{
    const int reached = min(g + STRIDE - 1, (int)t.s.group - 1);
    for (int i = threadIdx.x; i * WARP < k.rows; i += THREADS) {
        const int64_t w = k.first / WARP + i;
        k.pass_begin[i] = (int)near.vector_start[w];
        k.pass_end[i] = k.pass_begin[i] + (g > 0 ? near.reach[w * t.s.group + reached] : 0);
    }
    __syncthreads();
}

/* Calls keep(b, row, what steps 0 .. g-1 owe to step g + b), b < STRIDE, for every row; g is a
 * multiple of STRIDE. */
template <typename real, typename Keep>
__device__ void pass_over_far(const task &t, const ps_packed_near &near, const block &k, int g,
                              Keep keep)
{
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    open_pass(t, near, k, g);
    for (int row = 0; row < k.rows; row += WARP) {
        double sum[STRIDE] = {0};
        add_vectors<real>(t, near, k.pass_begin[row / WARP], k.pass_end[row / WARP], g, sum);
        for (int b = 0; b < STRIDE; ++b) k.scratch[(warp * STRIDE + b) * WARP + lane] = sum[b];
        __syncthreads();
        if (threadIdx.x < STRIDE * WARP) {
            double total = 0;
            for (int i = 0; i < WARPS; ++i) total += k.scratch[i * STRIDE * WARP + threadIdx.x];
            keep(warp, row + lane, total);
        }
        __syncthreads();
    }
}

/* ---- the inner part, every step ---- */

/* What the steps since the last pass owe to step g at row i: entries `lane`, OWED_LANES apart;
 * BATCH of them at a time, so that what they wait for is under way together. */
template <typename real>
__device__ double inner_part(const task &t, const ps_packed_near &near, int i, int g, int lane)
{
    const int64_t first = (int64_t)(STRIDE - 1) * i;
    const int end = near.inner_start[first + g % STRIDE];
    double sum = 0;
    for (int e = near.inner_start[first] + lane; e < end; e += BATCH * OWED_LANES) {
        double some[BATCH];
#pragma unroll
        for (int j = 0; j < BATCH; ++j) {
            const int at = min(e + j * OWED_LANES, end - 1);
            const unsigned said = near.inner_words[at];
            const int column = said & ((1u << PS_NEAR_COLUMN_BITS) - 1);
            const int back = (int)(said >> PS_NEAR_COLUMN_BITS) + 1;
            some[j] = static_cast<double>(static_cast<const real *>(near.inner_values)[at]) *
                      static_cast<double>(past_of<real>(t, column)[t.s.group + g - back]);
        }
#pragma unroll
        for (int j = 0; j < BATCH; ++j) sum += e + j * OWED_LANES < end ? some[j] : 0;
    }
    return sum;
}

/* Calls use(row, inner_part) for every row, on one thread a row. */
template <typename real, typename Use>
__device__ void each_owed(const task &t, const ps_packed_near &near, const block &k, int g, Use use)
{
    const int lane = threadIdx.x % OWED_LANES;
    for (int base = 0; base < k.rows; base += THREADS / OWED_LANES) {
        const int row = base + threadIdx.x / OWED_LANES;
        double sum = row < k.rows ? inner_part<real>(t, near, k.first + row, g, lane) : 0;
        for (int d = 1; d < OWED_LANES; d *= 2) sum += __shfl_xor_sync(~0u, sum, d);
        if (row < k.rows && lane == 0) use(row, sum);
    }
}
