/*
 * Sine transforms on CUDA (fast_device.h) of many lines at once. Tables: sine_tables_cuda.cu.
 *
 * The sines S_jk = sqrt(2/(n+1)) sin(pi (j+1)(k+1) / (n+1)), j, k = 0 .. n-1, have
 * S_j,n-1-k = (-1)^j S_jk. Sums x_k + x_n-1-k therefore give the even modes and differences the odd
 * ones, half the products of S; the other way the even modes give what is alike at k and n-1-k, and
 * the odd ones what is opposite. Both halves of a line go through a block together, so that every
 * value is read and written once. All products are of fp64 on the tensor units (mma.m16n8k8), where
 * vectors are fp32, too: that rate is theirs, and it costs no accuracy.
 *
 * A block of 8 warps has LINES lines and up to PS_SINE_TILES x 8 results of each parity; a warp has
 * 32 lines and a quarter of the results. Blocks stay, take one piece of work after the other, and
 * fetch the first steps of the next one while they store the last. Sines come by one bulk copy a
 * step: they are two thirds of what a block fetches, and copies by threads would keep those from
 * multiplying.
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
    STAGES = 3,
    LINES = 64,
    PARTS = 4,                     /* warps over the results */
    TILES = PS_SINE_TILES / PARTS, /* of 8 results, that a warp has at most */
    PITCH_MOST = 8 * PS_SINE_TILES + 4,
    B_SIZE = 2 * DEPTH * PITCH_MOST
};

static_assert(PS_SINE_TILES * 8 % 16 == 0, "the longest pitch is 4 more than a multiple of 16");

/* ---- a warp's results ---- */

__device__ void multiply(double c[4], const double a[4], const double b[2])
{
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#else
    for (int half = 0; half < 2; ++half)
        for (int k = 0; k < 2; ++k)
            asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, "
                "{%0, %1};"
                : "+d"(c[2 * half]), "+d"(c[2 * half + 1])
                : "d"(a[2 * k + half]), "d"(b[k]));
#endif
}

/*
 * How a stage of lines lies in shared memory. Where values of a line are consecutive (ROWS), the
 * two halves lie in pairs, and lines 8 more than a multiple of 16 apart; else a half after the
 * other, each value of the depth with all lines.
 */
template <typename real, bool ROWS> struct stage_of {
    enum {
        PAIRS = ROWS,
        LINE_STRIDE = ROWS ? 2 * DEPTH + 8 : 1,
        DEPTH_STRIDE = ROWS ? 2 : LINES + (sizeof(real) == 8 ? 4 : 8),
        HALF_STRIDE = ROWS ? 1 : DEPTH * DEPTH_STRIDE,
        SIZE = ROWS ? LINES * LINE_STRIDE : 2 * HALF_STRIDE,
        BYTES = B_SIZE * sizeof(double) + SIZE * sizeof(real)
    };
};

template <typename real> struct pair_of;
template <> struct pair_of<double> {
    typedef double2 type;
};
template <> struct pair_of<float> {
    typedef float2 type;
};

/* A value of each half. */
template <typename stage, typename real>
__device__ void read_halves(const real *at, real *first, real *second)
{
    if (stage::PAIRS) {
        const typename pair_of<real>::type both =
            *reinterpret_cast<const typename pair_of<real>::type *>(at);
        *first = both.x;
        *second = both.y;
    } else {
        *first = at[0];
        *second = at[stage::HALF_STRIDE];
    }
}

/* Results of both parities: 2 x TILES tiles of 16 x 8. */
struct warp_sums {
    double of[2][2][TILES][4]; /* [parity][16 lines] */

    /* Eight values of the depth: the two halves of the lines, of which MODES makes sums and
     * differences. */
    template <bool MODES, typename stage, typename real>
    __device__ void add(const real *lines, const double *b, int pitch, int tiles)
    {
        const int lane = threadIdx.x % 32, row = lane / 4, part = lane % 4;
        double left[2][2][4];
#pragma unroll
        for (int i = 0; i < 2; ++i)
#pragma unroll
            for (int q = 0; q < 4; ++q) { /* lines +0, +8; then four values on */
                real first, second;
                read_halves<stage>(lines + (16 * i + row + 8 * (q % 2)) * stage::LINE_STRIDE +
                                       (part + 4 * (q / 2)) * stage::DEPTH_STRIDE,
                                   &first, &second);
                left[0][i][q] = MODES ? first + second : first;
                left[1][i][q] = MODES ? first - second : second;
            }
        b += part * pitch + row;
#pragma unroll
        for (int j = 0; j < TILES; ++j) {
            if (j >= tiles) break;
#pragma unroll
            for (int p = 0; p < 2; ++p) {
                double right[2];
#pragma unroll
                for (int q = 0; q < 2; ++q) right[q] = b[(p * DEPTH + 4 * q) * pitch + 8 * j];
#pragma unroll
                for (int i = 0; i < 2; ++i) multiply(of[p][i][j], left[p][i], right);
            }
        }
    }
};

/* ---- copies that a thread asks for and all wait for ---- */

/* One of a stage: it turns over when the sines of a step are there. */
struct gate {
    uint32_t at; /* in shared memory */
    __device__ explicit gate(const unsigned long long *word)
        : at((uint32_t)__cvta_generic_to_shared(word))
    {
    }
#if __CUDA_ARCH__ >= 900
    __device__ void ready() const
    {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __device__ void copy(double *to, const double *from, uint32_t bytes) const
    {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(bytes)
                     : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                     "[%0], [%1], %2, [%3];" ::"r"((uint32_t)__cvta_generic_to_shared(to)),
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

/* ---- the transform ---- */

__device__ int64_t start_of(const ps_line_places &at, int64_t line)
{
    return (int64_t)((uint32_t)line / (uint32_t)at.group) * at.batch +
           (int64_t)((uint32_t)line % (uint32_t)at.group) * at.step;
}

/* What one thread fetches of the pieces of work of its block, step after step. */
template <typename real, bool ROWS, bool MODES> struct fetcher {
    typedef stage_of<real, ROWS> stage;
    enum { EACH = LINES * DEPTH / THREADS, OWN = ROWS ? EACH : 1 };
    const ps_sine_transform &t;
    int64_t start[OWN]; /* of the thread's lines; < 0: none */
    int64_t piece;
    int step, chunk;

    __device__ explicit fetcher(const ps_sine_transform &transform)
        : t(transform), piece((int64_t)blockIdx.x - gridDim.x), step(0)
    {
        next_piece();
    }
    __device__ int line_of(int e) const
    {
        return ROWS ? threadIdx.x / DEPTH + e * (THREADS / DEPTH) : threadIdx.x % LINES;
    }
    __device__ int depth_of(int e) const
    {
        return ROWS ? threadIdx.x % DEPTH : threadIdx.x / LINES + e * (THREADS / LINES);
    }
    __device__ void next_piece()
    {
        piece += gridDim.x;
        chunk = (int)(piece % t.sines.chunks);
#pragma unroll
        for (int e = 0; e < OWN; ++e) {
            const int64_t line = piece / t.sines.chunks * LINES + line_of(e);
            start[e] = line < t.lines ? start_of(t.from, line) : -1;
        }
    }
    __device__ void fetch(double *memory, const gate &sines)
    {
        if (piece < t.pieces) {
            fetch_sines(memory, sines);
            real *lines = reinterpret_cast<real *>(memory + B_SIZE);
#pragma unroll
            for (int e = 0; e < EACH; ++e) fetch_pair(lines, e);
        }
        __pipeline_commit();
        if (++step == t.sines.steps) {
            step = 0;
            next_piece();
        }
    }
    __device__ void fetch_sines(double *memory, const gate &sines) const
    {
        const int size = 2 * DEPTH * t.sines.pitch;
        const int64_t from = ((MODES ? 0 : t.sines.chunks) + chunk) * (int64_t)t.sines.steps + step;
#if __CUDA_ARCH__ >= 900
        if (threadIdx.x == 0)
            sines.copy(memory, t.sines.values + from * size, size * (int)sizeof(double));
#else
        for (int e = 2 * threadIdx.x; e < size; e += 2 * THREADS)
            __pipeline_memcpy_async(memory + e, t.sines.values + from * size + e,
                                    2 * sizeof(double));
#endif
    }
    __device__ void fetch_pair(real *lines, int e) const
    {
        const int64_t k = step * DEPTH + depth_of(e), from = start[ROWS ? e : 0];
        const int64_t place[2] = {MODES ? k : 2 * k, MODES ? t.sines.n - 1 - k : 2 * k + 1};
        const real *all = static_cast<const real *>(t.in);
        lines += line_of(e) * stage::LINE_STRIDE + depth_of(e) * stage::DEPTH_STRIDE;
        if constexpr (ROWS &&
                      !MODES) { /* both at once: rows of modes are padded to an even length */
            const bool there = from >= 0 && place[0] < t.sines.n;
            __pipeline_memcpy_async(lines, there ? all + from + place[0] : all, 2 * sizeof(real),
                                    there ? 0 : 2 * sizeof(real));
        } else {
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const bool there = from >= 0 && 2 * k < t.sines.n && place[half] < t.sines.n;
                __pipeline_memcpy_async(lines + half * stage::HALF_STRIDE,
                                        there ? all + from + place[half] * t.from.next : all,
                                        sizeof(real), there ? 0 : sizeof(real));
            }
        }
    }
};

/* Writes two values at an even place of memory, or one by one. */
template <typename real> __device__ void store_two(real *at, double first, double second)
{
    typedef typename pair_of<real>::type pair;
    if (reinterpret_cast<uintptr_t>(at) % sizeof(pair) == 0) {
        pair both;
        both.x = (real)first;
        both.y = (real)second;
        *reinterpret_cast<pair *>(at) = both;
    } else {
        at[0] = (real)first;
        at[1] = (real)second;
    }
}

__device__ void exchange(double *v) { *v = __shfl_xor_sync(~0u, *v, 1); }

/* A lane has the modes 2j .. 2j + 3 of a row, its neighbour four more: an even lane takes the first
 * two of each, an odd one the others, so that neighbours write next to each other. */
template <typename real>
__device__ void store_modes(const ps_sine_transform &t, real *line, int64_t j, double v[4])
{
    const bool odd = threadIdx.x % 2;
    double give[2] = {odd ? v[0] : v[2], odd ? v[1] : v[3]};
    exchange(give);
    exchange(give + 1);
    const int64_t own = odd ? 2 * j + 2 : 2 * j, other = odd ? 2 * j - 2 : 2 * j + 4;
    const double keep[2] = {odd ? v[2] : v[0], odd ? v[3] : v[1]};
    if (!line) return;
    if (odd) { /* the neighbour's last two, then the own */
        if (other < t.stored) store_two(line + other, give[0], give[1]);
        if (own < t.stored) store_two(line + own, keep[0], keep[1]);
    } else {
        if (own < t.stored) store_two(line + own, keep[0], keep[1]);
        if (other < t.stored) store_two(line + other, give[0], give[1]);
    }
}

/* What the parities of a line give at results j and j + 1, at both ends of it. */
template <typename real>
__device__ void store_nodes(const ps_sine_transform &t, real *line, int64_t j, const double even[2],
                            const double odd[2])
{
    const int64_t n = t.sines.n;
    if (!line) return;
    if (2 * (j + 1) < n - 1) {
        store_two(line + j, even[0] + odd[0], even[1] + odd[1]);
        store_two(line + n - 2 - j, even[1] - odd[1], even[0] - odd[0]);
        return;
    }
    for (int q = 0; q < 2; ++q) {
        if (2 * (j + q) >= n) break;
        line[j + q] = (real)(even[q] + odd[q]);
        if (2 * (j + q) != n - 1) line[n - 1 - j - q] = (real)(even[q] - odd[q]);
    }
}

/* The same where lines lie side by side. */
template <bool MODES, typename real>
__device__ void store_beside(const ps_sine_transform &t, real *line, int64_t j, double even,
                             double odd)
{
    const int64_t next = t.to.next, n = t.sines.n;
    if (!line || 2 * j >= n) return;
    if (MODES) {
        line[2 * j * next] = (real)even;
        if (2 * j + 1 < n) line[(2 * j + 1) * next] = (real)odd;
    } else {
        line[j * next] = (real)(even + odd);
        if (2 * j != n - 1) line[(n - 1 - j) * next] = (real)(even - odd);
    }
}

template <typename real, bool ROWS, bool MODES>
__device__ void store(const ps_sine_transform &t, const warp_sums &sums, int64_t first_line,
                      int64_t first_result, int tiles)
{
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int down = 0; down < 2; ++down) {
            const int64_t at = first_line + 16 * i + 8 * down + lane / 4;
            const bool there =
                at < t.lines && (uint32_t)at % (uint32_t)t.to.group < (uint32_t)t.group_stored;
            real *line = there ? static_cast<real *>(t.out) + start_of(t.to, at) : nullptr;
#pragma unroll
            for (int tile = 0; tile < TILES; ++tile) {
                if (tile >= tiles) break;
                const int64_t j = first_result + 8 * tile + 2 * (lane % 4);
                const double *even = sums.of[0][i][tile] + 2 * down;
                const double *odd = sums.of[1][i][tile] + 2 * down;
                if (ROWS && MODES) {
                    double modes[4] = {even[0], odd[0], even[1], odd[1]};
                    store_modes(t, line, j, modes);
                } else if (ROWS) {
                    store_nodes(t, line, j, even, odd);
                } else {
#pragma unroll
                    for (int q = 0; q < 2; ++q)
                        store_beside<MODES>(t, line, j + q, even[q], odd[q]);
                }
            }
        }
}

template <typename real, bool ROWS, bool MODES>
__global__ void __launch_bounds__(THREADS, 1) transform(const __grid_constant__ ps_sine_transform t)
{
    typedef stage_of<real, ROWS> stage;
    extern __shared__ __align__(128) double memory[];
    __shared__ unsigned long long gates[STAGES];
    const int stride = (int)stage::BYTES / (int)sizeof(double), pitch = t.sines.pitch;
    const int group = threadIdx.x / 128, warp = threadIdx.x / 32 % PARTS;
    /* Parts with a tile more are with the next scheduler in the second group. */
    const int part = (warp + group) % PARTS;
    const int first = part * t.sines.chunk_tiles / PARTS;
    const int tiles = (part + 1) * t.sines.chunk_tiles / PARTS - first;
    const int lines = group * 32 * stage::LINE_STRIDE;
    fetcher<real, ROWS, MODES> ahead(t);
#if __CUDA_ARCH__ >= 900
    if (threadIdx.x < STAGES) gate(gates + threadIdx.x).ready();
    __syncthreads();
#endif
    for (int s = 0; s < STAGES - 1; ++s) ahead.fetch(memory + s * stride, gate(gates + s));
    int now = 0, next = STAGES - 1;
    uint32_t turn = 0;
    for (int64_t piece = blockIdx.x; piece < t.pieces; piece += gridDim.x) {
        warp_sums sums = {};
        for (int s = 0; s < t.sines.steps; ++s) {
            __pipeline_wait_prior(STAGES - 2);
            __syncthreads();
            /* A scheduler has a warp of each group: one asks for the next step, while the other one
             * multiplies. */
            if (group == 0) ahead.fetch(memory + next * stride, gate(gates + next));
#if __CUDA_ARCH__ >= 900
            gate(gates + now).wait(turn);
#endif
            const double *b = memory + now * stride + 8 * first;
            const real *x = reinterpret_cast<const real *>(memory + now * stride + B_SIZE) + lines;
#pragma unroll
            for (int k = 0; k < DEPTH; k += 8) {
                if (2 * (s * DEPTH + k) < t.sines.n)
                    sums.template add<MODES, stage>(x + k * stage::DEPTH_STRIDE, b + k * pitch,
                                                    pitch, tiles);
                if (k == 0 && group == 1) ahead.fetch(memory + next * stride, gate(gates + next));
            }
            if (++now == STAGES) {
                now = 0;
                turn ^= 1;
            }
            next = next + 1 == STAGES ? 0 : next + 1;
        }
        store<real, ROWS, MODES>(t, sums, piece / t.sines.chunks * LINES + 32 * group,
                                 8 * (piece % t.sines.chunks * t.sines.chunk_tiles + first), tiles);
    }
    __pipeline_wait_prior(0);
}

template <typename real, bool ROWS, bool MODES>
ps_status launch(ps_sine_transform t, cudaStream_t on)
{
    const int bytes = STAGES * (int)stage_of<real, ROWS>::BYTES;
    int device, processors;
    t.pieces = (t.lines + LINES - 1) / LINES * t.sines.chunks;
    PS_CUDA(cudaGetDevice(&device));
    PS_CUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    PS_CUDA(cudaFuncSetAttribute(transform<real, ROWS, MODES>,
                                 cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    const unsigned blocks = (unsigned)(t.pieces < processors ? t.pieces : processors);
    transform<real, ROWS, MODES><<<blocks, THREADS, bytes, on>>>(t);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
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
    if (t->lines >= INT32_MAX)
        return ps_fail(PS_USAGE, "%lld lines are more than a transform takes", (long long)t->lines);
    return precision == PS_SINGLE ? launch_as<float>(t, on) : launch_as<double>(t, on);
}
