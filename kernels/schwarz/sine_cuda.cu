/*
 * Sine transforms on CUDA (fast_device.h) of many lines at once. Tables: sine_tables_cuda.cu.
 *
 * The sines S_jk = sqrt(2/(n+1)) sin(pi (j+1)(k+1) / (n+1)), j, k = 0 .. n-1, have
 * S_j,n-1-k = (-1)^j S_jk. Sums x_k + x_n-1-k therefore give the even modes and differences the odd
 * ones, half the products of S; the other way the even modes give what is alike at k and n-1-k, and
 * the odd ones what is opposite. If n is even, S_n-1-j,k = (-1)^k S_jk, too: mode n-1-j is to the
 * differences, every other one negated, what mode j is to the sums, and one matrix does for both
 * parities. All products are of fp64 on the tensor units (mma.m16n8k8), where vectors are fp32,
 * too: that rate is theirs, and it costs no accuracy.
 *
 * A block of 8 warps has two groups, which take 32 lines at a time and up to PS_SINE_TILES x 8
 * results of each parity; a warp has a quarter of the results. Sines of all steps stay in shared
 * memory where they fit; else they go round in as many slots as there is room for, and the group
 * that is the last to leave a slot has it filled anew. So one group multiplies while the other one
 * stores, and neither waits for the other but where it is a whole round ahead. Sines come by bulk
 * copies, lines by copies of the threads, some steps ahead.
 */
#include <cuda_runtime.h>
#include <cuda_pipeline.h>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/schwarz/device_kernels.h"
}

namespace
{

enum {
    THREADS = 256,
    DEPTH = PS_SINE_DEPTH, /* of a step */
    GROUPS = 2,
    OF_GROUP = THREADS / GROUPS,
    LINES = 32,
    PARTS = 4,                     /* warps of a group, over the results */
    TILES = PS_SINE_TILES / PARTS, /* of 8 results, that a warp has at most */
    MANY_STAGES = 6,               /* of lines */
    FEW_STAGES = 3,
    SLOTS = 32 /* of sines, at most */
};

static_assert(DEPTH == 8, "a step is one product deep");

/* How a launch uses shared memory: slots for a step of sines each, then each group's stages of
 * lines. */
struct sine_plan {
    int slots, stages, size; /* size: of a slot, in doubles */
};

#include "kernels/schwarz/sine_lines_body.h"

/* ---- a warp's products ---- */

__device__ void multiply(double c[4], const double a[4], const double2 &b)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
                 : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b.x), "d"(b.y));
#else
    for (int half = 0; half < 2; ++half)
        for (int k = 0; k < 2; ++k)
            asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, "
                         "{%0, %1};"
                         : "+d"(c[2 * half]), "+d"(c[2 * half + 1])
                         : "d"(a[2 * k + half]), "d"(k == 0 ? b.x : b.y));
#endif
}

/* Addresses in shared memory, and what is there. */
__device__ uint32_t shared_at(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

__device__ double2 read_two(uint32_t at)
{
    double2 v;
    asm volatile("ld.shared.v2.f64 {%0, %1}, [%2];" : "=d"(v.x), "=d"(v.y) : "r"(at));
    return v;
}

__device__ double read_one(uint32_t at, double)
{
    double v;
    asm volatile("ld.shared.f64 %0, [%1];" : "=d"(v) : "r"(at));
    return v;
}

__device__ double read_one(uint32_t at, float)
{
    float v;
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(at));
    return v;
}

struct warp_products : warp_sums {
    /* A step: the two halves of 16 x UNITS lines, of which MODES makes sums and differences. The
     * sines of the odd parity lie `odd` bytes behind those of the even one, or are the same (ONE).
     */
    template <bool MODES, bool ONE, int UNITS, typename stage>
    __device__ __forceinline__ void add(uint32_t lines, uint32_t sines, int odd, int tiles)
    {
        typedef typename stage::real real;
        const uint32_t lane =
            stage::place(threadIdx.x % 32 / 4, threadIdx.x % 4) * (uint32_t)sizeof(real);
        const int next = 64 * sizeof(double);
        double left[2][2][4];
#pragma unroll
        for (int i = 0; i < UNITS; ++i)
#pragma unroll
            for (int q = 0; q < 4; ++q) {
                const uint32_t at =
                    lines + stage::on(lane, 4 * (q / 2)) +
                    (16 * i + 8 * (q % 2)) * stage::LINE_STRIDE * (uint32_t)sizeof(real);
                const double first = read_one(at, real()),
                             second = read_one(at + stage::HALF * sizeof(real), real());
                left[0][i][q] = MODES ? first + second : first;
                left[1][i][q] = MODES ? first - second : second;
            }
        double2 even = read_two(sines), other = ONE ? even : read_two(sines + odd);
#pragma unroll
        for (int j = 0; j < TILES; ++j) {
            if (j >= tiles) break;
            const double2 now[2] = {even, other};
            if (j + 1 < TILES) { /* beyond the last tile: something, unused */
                even = read_two(sines + next * (j + 1));
                other = ONE ? even : read_two(sines + next * (j + 1) + odd);
            }
#pragma unroll
            for (int p = 0; p < 2; ++p)
#pragma unroll
                for (int i = 0; i < UNITS; ++i) multiply(of[p][i][j], left[p][i], now[p]);
        }
    }

    template <bool MODES, bool ONE, bool FEWER, typename stage>
    __device__ __forceinline__ void add_lines(int count, uint32_t lines, uint32_t sines, int odd,
                                              int tiles)
    {
        if (count > 16)
            add<MODES, ONE, 2, stage>(lines, sines, odd, tiles);
        else if (FEWER && count > 0)
            add<MODES, ONE, 1, stage>(lines, sines, odd, tiles);
    }
};

/* ---- copies that a thread asks for and all wait for ---- */

/* One of a slot of sines: it turns over when they are there. */
struct gate {
    uint32_t at; /* in shared memory */
    __device__ gate(uint32_t gates, int slot)
        : at(gates + slot * (uint32_t)sizeof(unsigned long long))
    {
    }
#if __CUDA_ARCH__ >= 900
    __device__ void ready() const
    {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __device__ void copy(uint32_t to, const double *from, uint32_t bytes) const
    {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(bytes)
                     : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                     "[%0], [%1], %2, [%3];" ::"r"(to),
                     "l"(from), "r"(bytes), "r"(at)
                     : "memory");
    }
    __device__ void wait(uint32_t turn) const
    {
        asm volatile("{\n"
                     ".reg .pred there;\n"
                     "again: mbarrier.try_wait.parity.shared::cta.b64 there, [%0], %1;\n"
                     "@!there bra again;\n"
                     "}" ::"r"(at),
                     "r"(turn)
                     : "memory");
    }
#endif
};

/* The lines of a group of a launch: 32 at a time, and what is left over last, or first in the
 * second group, whose stores then fall between those of the first one. */
struct share {
    int begin, end, early;
    template <bool ROWS> __device__ static share of(const ps_sine_transform &t, int group)
    {
        const int unit = ROWS ? 16 : 32;
        const int64_t units = (t.lines + unit - 1) / unit;
        const int64_t groups = GROUPS * (gridDim.x / t.sines.chunks);
        const int64_t at = GROUPS * (blockIdx.x / t.sines.chunks) + group;
        share s = {(int)(units * at / groups) * unit, (int)(units * (at + 1) / groups) * unit, 0};
        if (group == 1) s.early = (s.begin - s.end) & (LINES - 1);
        return s;
    }
    __device__ int pieces() const { return (end - begin + LINES - 1) / LINES; }
    __device__ int first(int piece) const
    {
        return piece == 0 ? begin : begin - early + LINES * piece;
    }
    __device__ int count(int piece) const /* <= 0: none */
    {
        return min(LINES - (piece == 0 ? early : 0), end - first(piece));
    }
};

/* ---- the transform ---- */

/* Asks for one value; 0 where it is not there. */
template <typename real> __device__ void copy_value(uint32_t to, const real *from, bool there)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from),
                 "n"((int)sizeof(real)), "r"(there ? (int)sizeof(real) : 0)
                 : "memory");
}

/* What a thread fetches of its group's lines, step after step: the values of both halves at its
 * depths, for sums and differences, or modes of the parities. */
template <typename real, bool ROWS, bool MODES, bool ONE> struct fetcher {
    typedef stage_of<real, ROWS> stage;
    const ps_sine_transform &t;
    const share &mine;
    const real *low, *high; /* its next values of each half, and those four depths on */
    int limit;              /* depths that its line has: 0 of one that is not there */
    int piece, depth;
    uint32_t stages, stage_now, stages_end, low_at, high_at; /* bytes */

    __device__ fetcher(const ps_sine_transform &transform, const share &s, uint32_t lines,
                       int count)
        : t(transform), mine(s), piece(-1), stages(lines), stage_now(lines),
          stages_end(lines + count * stage::BYTES)
    {
        /* The odd parity of one matrix: negated differences at odd depths. */
        const bool turned = MODES && ONE && own_depth() % 2 == 1;
        const int half = stage::HALF * sizeof(real);
        low_at = stage::place(own_line(), own_depth()) * (int)sizeof(real) + (turned ? half : 0);
        high_at = low_at + (turned ? -half : half);
        next_piece();
    }
    /* How far apart values of a half are. */
    __device__ int64_t low_step() const { return (MODES ? 1 : 2) * (ROWS ? 1 : t.from.next); }
    __device__ int64_t high_step() const { return MODES || ONE ? -low_step() : low_step(); }
    __device__ int64_t high_start() const
    {
        const int n = (int)t.sines.n;
        return (MODES ? n - 1 : odd_mode(n, 0)) * (ROWS ? 1 : t.from.next);
    }
    __device__ static int own_line()
    {
        const int thread = threadIdx.x % OF_GROUP;
        return ROWS ? thread / 4 : thread % LINES;
    }
    __device__ static int own_depth()
    {
        const int thread = threadIdx.x % OF_GROUP;
        return ROWS ? thread % 4 : thread / LINES;
    }
    __device__ void next_piece()
    {
        const int count = mine.count(++piece);
        const int line = ROWS ? own_line() : line_beside<MODES>(own_line());
        const int at = mine.first(piece) + line;
        const int64_t start = line < count && at < t.lines ? start_of(t.from, at) : -1;
        depth = own_depth();
        limit = start >= 0 ? ((int)t.sines.n + 1) / 2 : 0;
        low = static_cast<const real *>(t.in) + start + depth * low_step();
        high = low + high_start() + depth * (high_step() - low_step());
    }
    __device__ void fetch()
    {
        const int odd_less = MODES || ONE ? 0 : 1; /* the odd parity has a mode less */
        if (piece < mine.pieces()) {
#pragma unroll
            for (int on = 0; on < DEPTH; on += 4) {
                copy_value(stage_now + stage::on(low_at, on), low + on * low_step(),
                           depth + on < limit);
                copy_value(stage_now + stage::on(high_at, on), high + on * high_step(),
                           depth + on < limit - odd_less);
            }
        }
        __pipeline_commit();
        stage_now = stage_now + stage::BYTES == stages_end ? stages : stage_now + stage::BYTES;
        depth += DEPTH;
        low += DEPTH * low_step();
        high += DEPTH * high_step();
        if (depth >= t.sines.steps * DEPTH) next_piece();
    }
};

/* The sines of a block in slots of shared memory. */
struct sine_ring {
    const double *from; /* of all steps */
    double *memory;
    uint32_t gates, left; /* left: how often groups left each slot */

    /* By bulk copies of one thread, or by all threads. */
    __device__ void fetch(const sine_plan &plan, int step, int slot, bool one) const
    {
        double *to = memory + slot * plan.size;
        const double *of = from + (int64_t)step * plan.size;
#if __CUDA_ARCH__ >= 900
        if (one) gate(gates, slot).copy(shared_at(to), of, plan.size * (int)sizeof(double));
#else
        for (int e = 2 * threadIdx.x; e < plan.size; e += 2 * THREADS)
            __pipeline_memcpy_async(to + e, of + e, 2 * sizeof(double));
#endif
    }
    /* A thread's group has left a slot: whether the thread is the one that fetches into it. */
    __device__ bool leave(int slot) const
    {
        uint32_t before = 0;
#if __CUDA_ARCH__ >= 900
        if (threadIdx.x % OF_GROUP == 0)
            asm volatile("atom.acq_rel.cta.shared::cta.add.u32 %0, [%1], 1;"
                         : "=r"(before)
                         : "r"(left + slot * (uint32_t)sizeof(uint32_t))
                         : "memory");
#endif
        return before % 2 == 1;
    }
};

/* Waits for copies that are due and for all threads that share them. */
__device__ void wait_for_step(const sine_plan &plan, int group)
{
    if (plan.stages == MANY_STAGES)
        __pipeline_wait_prior(MANY_STAGES - 2);
    else
        __pipeline_wait_prior(FEW_STAGES - 2);
#if __CUDA_ARCH__ >= 900
    asm volatile("bar.sync %0, %1;" ::"r"(1 + group), "n"((int)OF_GROUP) : "memory");
#else
    __syncthreads();
#endif
}

template <typename real, bool ROWS, bool MODES, bool ONE>
__global__ void __launch_bounds__(THREADS, 1)
    transform(const __grid_constant__ ps_sine_transform t, const __grid_constant__ sine_plan plan)
{
    typedef stage_of<real, ROWS> stage;
    extern __shared__ __align__(128) double memory[];
    __shared__ unsigned long long gates[SLOTS];
    __shared__ uint32_t left[SLOTS];
    const int group = threadIdx.x / OF_GROUP, warp = threadIdx.x / 32 % PARTS;
    /* Parts with a tile more are with the next scheduler in the second group. */
    const int part = (warp + group) % PARTS, odd = 16 * 32 * t.sines.chunk_tiles;
    const int first = part * t.sines.chunk_tiles / PARTS;
    const int tiles = (part + 1) * t.sines.chunk_tiles / PARTS - first;
    const int chunk = blockIdx.x % t.sines.chunks, steps = t.sines.steps;
    const int first_result = 8 * (chunk * t.sines.chunk_tiles + first);
    const share mine = share::of<ROWS>(t, group);
    const int pieces = max(mine.pieces(), share::of<ROWS>(t, 1 - group).pieces());
    const uint32_t sines_at = shared_at(memory), slot_bytes = plan.size * (uint32_t)sizeof(double);
    const uint32_t sines_end = sines_at + plan.slots * slot_bytes;
    const uint32_t lines_at = sines_end + group * plan.stages * stage::BYTES;
    const uint32_t lines_end = lines_at + plan.stages * stage::BYTES;
    const uint32_t own_sines = 16 * (32 * first + threadIdx.x % 32);
    fetcher<real, ROWS, MODES, ONE> next(t, mine, lines_at, plan.stages);
    const sine_ring ring = {t.sines.values +
                                (int64_t)((MODES ? 0 : t.sines.chunks) + chunk) * steps * plan.size,
                            memory, shared_at(gates), shared_at(left)};
    const bool stay = plan.slots == steps;
    if (threadIdx.x < SLOTS) {
        left[threadIdx.x] = 0;
#if __CUDA_ARCH__ >= 900
        gate(ring.gates, threadIdx.x).ready();
#endif
    }
    __syncthreads();
    for (int q = 0; q < plan.slots - (stay ? 0 : 1); ++q) ring.fetch(plan, q, q, threadIdx.x == 0);
    for (int q = 0; q < plan.stages - 1; ++q) next.fetch();
    uint32_t now = lines_at, sines_now = sines_at, turn = 0;
    int slot = 0;
    for (int piece = 0; piece < pieces; ++piece) {
        const int count = mine.count(piece);
        warp_products sums = {};
        for (int s = 0; s < steps; ++s) {
            wait_for_step(plan, group);
            if (!stay) { /* all of the group have left the slot before this one */
                const int before = slot == 0 ? plan.slots - 1 : slot - 1;
                const int step = s - 1 + plan.slots, again = step < steps ? 0 : steps;
                if (again == 0 || piece + 1 < pieces)
                    ring.fetch(plan, step - again, before, ring.leave(before));
            }
            next.fetch();
#if __CUDA_ARCH__ >= 900
            gate(ring.gates, slot).wait(turn);
#endif
            sums.add_lines<MODES, ONE, ROWS, stage>(count, now, sines_now + own_sines, odd, tiles);
            now = now + stage::BYTES == lines_end ? lines_at : now + stage::BYTES;
            sines_now += slot_bytes;
            ++slot;
            if (sines_now == sines_end) {
                slot = 0;
                sines_now = sines_at;
                turn ^= stay ? 0 : 1;
            }
        }
        if (count > 0)
            store<real, ROWS, MODES>(t, sums, mine.first(piece), count, first_result, tiles);
    }
    __pipeline_wait_prior(0);
}

/* ---- launches ---- */

typedef struct card {
    int processors, memory;
} card;

ps_status look_at(card *out)
{
    int device;
    PS_CUDA(cudaGetDevice(&device));
    PS_CUDA(cudaDeviceGetAttribute(&out->processors, cudaDevAttrMultiProcessorCount, device));
    PS_CUDA(cudaDeviceGetAttribute(&out->memory, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    out->memory -= SLOTS * (int)(sizeof(unsigned long long) + sizeof(uint32_t)); /* gates, left */
    return PS_OK;
}

/* Lines many steps ahead, beside sines that stay or have as many slots: few of them would cost more
 * than sines that go round. Returns the bytes of shared memory. */
int make_plan(const ps_sine_table *s, const card *c, int stage, sine_plan *plan)
{
    plan->size = (int)(ps_sine_table_size(s) / (2 * s->chunks * s->steps));
    const int slot = plan->size * (int)sizeof(double);
    for (int few = 0; few < 2; ++few) {
        plan->stages = few ? FEW_STAGES : MANY_STAGES;
        const int lines = GROUPS * plan->stages * stage, room = (c->memory - lines) / slot;
        const int most = room < SLOTS ? room : SLOTS;
        plan->slots = s->steps < most ? s->steps : most;
        if (plan->slots == s->steps || plan->slots >= plan->stages)
            return lines + plan->slots * slot;
    }
    return -1;
}

template <typename real, bool ROWS, bool MODES, bool ONE>
ps_status launch_kernel(const ps_sine_transform &t, cudaStream_t on)
{
    const int64_t each = ROWS ? 32 : 64; /* lines that keep a block busy */
    card here;
    sine_plan plan;
    PS_TRY(look_at(&here));
    const int bytes = make_plan(&t.sines, &here, (int)stage_of<real, ROWS>::BYTES, &plan);
    if (bytes < 0)
        return ps_fail(PS_FAILED, "sine transforms want more shared memory than the device has");
    PS_CUDA(cudaFuncSetAttribute(transform<real, ROWS, MODES, ONE>,
                                 cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    const int64_t useful = (t.lines + each - 1) / each, most = here.processors / t.sines.chunks;
    const int64_t blocks = most < 1 ? 1 : useful < most ? useful : most;
    transform<real, ROWS, MODES, ONE>
        <<<(unsigned)(blocks * t.sines.chunks), THREADS, bytes, on>>>(t, plan);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

template <typename real, bool ROWS, bool MODES>
ps_status launch(const ps_sine_transform &t, cudaStream_t on)
{
    return t.sines.matrices == 1 ? launch_kernel<real, ROWS, MODES, true>(t, on)
                                 : launch_kernel<real, ROWS, MODES, false>(t, on);
}

template <typename real> ps_status launch_as(const ps_sine_transform *t, cudaStream_t on)
{
    if (t->along)
        return t->to_modes ? launch<real, true, true>(*t, on) : launch<real, true, false>(*t, on);
    return t->to_modes ? launch<real, false, true>(*t, on) : launch<real, false, false>(*t, on);
}

} // namespace

extern "C" ps_status ps_sine_transform_cuda(ps_precision precision, const ps_sine_transform *t,
                                            ps_stream *stream)
{
    PS_TRY(ps_stream_enter(stream));
    cudaStream_t on = static_cast<cudaStream_t>(ps_stream_handle(stream));
    if (t->lines >= INT32_MAX - THREADS)
        return ps_fail(PS_USAGE, "%lld lines are more than a transform takes", (long long)t->lines);
    return precision == PS_SINGLE ? launch_as<float>(t, on) : launch_as<double>(t, on);
}
