/*
 * group_solve_meet_body: what a block of group_solve_cuda.cu has, and how all blocks meet. A part
 * of that file.
 *
 * What other blocks need goes through memory of the device, word by word, without fences: a word is
 * VACANT until its owner has spoken, and who needs it looks until it is not. What is said from one
 * meeting of all blocks to the next has four places in turn. A place is made vacant when all have
 * come to the next meeting (then all are done with it); the owner's fence in the meeting after puts
 * that before what he says in the one after that; and only then is the place looked at again.
 */

enum {
    THREADS = 512,
    WARP = 32,
    WARPS = THREADS / WARP,
    OWED_LANES = 2, /* threads a row of the inner part */
    BATCH = 12,     /* entries of it that a thread asks for at a time */
    STRIDE = PS_NEAR_STRIDE,
    BLOCKS_MAX = 160, /* five a thread of a warp */
    NUMBERS = 5,      /* that a block says in a meeting, at most */
    SCRATCH = NUMBERS * THREADS,
    TURNS = 4
};

/* Vectors of a block: in shared memory; in memory of the device, touched once a step (RADIATION:
 * what is owed to the STRIDE steps of a pass; GIVEN: what linings take of a step); and those shown
 * to all. */
enum { X, R, U, W, Z, Q, S, P, SCALE, VECTORS };
enum { BEFORE, AX, AX_BEFORE, RIGHT, GIVEN, RADIATION, KEPT = RADIATION + STRIDE };
enum { FACTOR, ANSWER, SHOWN }; /* what M^0 is to multiply next; the iterate */

/* What of its rows a block has in shared memory: always the vectors; with them the halo; and the
 * values of M^0, too. */
enum { HOLDS_VECTORS, HOLDS_HALO, HOLDS_MATRIX };

/* What the system is: symmetric or not, or not symmetric and with linings. */
enum { SYMMETRIC, UNSYMMETRIC, LINED };

static_assert(WARPS * STRIDE * WARP <= SCRATCH, "a pass fits the scratch of a block");

typedef unsigned long long word;

/* All ones are a NaN that no arithmetic gives. */
const word VACANT = ~0ull;
const double below_is_zero = 1e-140, truth_margin = 1e-14;

struct task {
    ps_group_solve s;
    int room;      /* rows of a block, a multiple of 32                                   */
    int halo_room; /* and of the values of other rows that it needs                       */
    int held;      /* rows of 32 values of M^0 in shared memory                           */
    double *halo;  /* [halo_count of M^0] where shared memory does not hold the halo      */
    void *past;    /* [N][past_stride] answers of the group, a^{n0+t} at group + t; else 0 */
    int past_stride;
    word *shown;   /* [TURNS][SHOWN][N]                                                   */
    word *numbers; /* [TURNS][NUMBERS][BLOCKS_MAX]                                        */
    double *kept;  /* [blocks][KEPT][room]                                                */
};

struct block {
    int first, rows, halo_count;
    unsigned meetings;
    double *scratch;                   /* [SCRATCH]: of a pass [WARPS][STRIDE][WARP], of a meeting
                                          [NUMBERS][THREADS] */
    double *vectors;                   /* [VECTORS][room]  */
    double *halo;                      /* [halo_room]      */
    int32_t *halo_column;              /* [halo_room]      */
    int *pass_begin, *pass_end;        /* [room / 32] vectors of a pass */
    const int *warp_halo, *warp_value; /* [room / 32 + 1] where they begin for 32 rows        */
    const double *value;               /* of M^0, as packed */
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

/* A warp says number `i` of its block, from one value a thread in `mine`, waits for those of all
 * blocks and returns the sum (or maximum) of them all. */
__device__ double ask_all(const task &t, const block &k, int i, const double *mine, bool sum)
{
    const int lane = threadIdx.x % WARP;
    double v = mine[lane];
    word *all = numbers(t, k.meetings, i), said[BLOCKS_MAX / WARP];
#pragma unroll
    for (int o = WARP; o < THREADS; o += WARP) v = join(v, mine[lane + o], sum);
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
 * All blocks meet. value[SUMS + MAXES]: each thread's share on entry, the sums and maxima over all
 * threads of all blocks on return. After it the halo holds the
 * factors shown since the last meeting (HALO; without, none need be). OPEN: also what was written
 * otherwise is seen by all.
 */
template <int SUMS, int MAXES, bool OPEN = false, bool HALO = true>
__device__ void meet(const task &t, block &k, double *value)
{
    __shared__ double totals[NUMBERS];
    const int count = SUMS + MAXES, warp = threadIdx.x / WARP;
    for (int i = 0; i < count; ++i) k.scratch[i * THREADS + threadIdx.x] = value[i];
    if (OPEN) fence();
    __syncthreads();
    ++k.meetings;
    if (warp < count) {
        const double *mine = k.scratch + warp * THREADS;
        const double total = ask_all(t, k, warp, mine, MAXES == 0 || warp < SUMS);
        if (threadIdx.x % WARP == 0) totals[warp] = total;
    } else if (HALO) {
        watch_halo(t, k, FACTOR, warp - count, WARPS - count);
    }
    fence();
    __syncthreads();
    for (int i = 0; i < count; ++i) value[i] = totals[i];
    forget(t, k);
}
