/*
 * The far field of prisms on the device: P2M of pieces and L2P with second derivatives, and both
 * transposed (kernels/fmm/device_prism.h). Each is a small part of a sum, and is kept simple.
 */
#include <cuda_runtime.h>

#include "kernels/fmm/device_prism_body.h"
#include "runtime/cuda_check.h"

namespace
{

enum {
    ORDER_MAX = PS_FMM_ORDER_MAX,
    PITCH = WARP + 1, /* of rows of 32 numbers in shared memory */
    NUMBERS = PS_PRISM_NUMBERS
};

/* ---- moments ---- */

struct polynomials {
    int order;
    double value[ORDER_MAX][ORDER_MAX];
};

/* Of up to 32 pieces of a cell: integrals of S, and differences at the ends, along each axis. */
struct moment_room {
    double whole[3][ORDER_MAX][PITCH], ends[3][ORDER_MAX][PITCH];
    double weight[3][WARP];
};

struct source_cell {
    int64_t place[3];
    double centre[3], width;
    int32_t first, end; /* pieces */
};

KERNEL_INLINE source_cell cell_of(const ps_device_prisms &s, int level, int64_t c)
{
    source_cell out;
    uint64_t key = s.sources.keys[level][c];
    out.width = ldexp(s.box.width, -level);
    cell_centre(s.box, out.width, key, out.centre);
    place_of(key, out.place);
    out.first = s.start[level][c];
    out.end = s.start[level][c + 1];
    return out;
}

KERNEL_INLINE double inside(double x) { return fmin(fmax(x, -1.), 1.); }

/* Divided differences, as kernels/fmm/prism_cell_cpu.c has them; a thread has an axis of a piece.
 */
template <bool dipoles>
KERNEL_INLINE void moments_at(const ps_device_prisms &s, const polynomials &p, int level,
                              const source_cell &cell, int32_t base, moment_room &room)
{
    const int axis = threadIdx.x / WARP, lane = threadIdx.x % WARP, order = p.order;
    if (axis >= 3) return;
    double a = 0, b = 0, length = 0;
    if (base + lane < cell.end) {
        const int64_t prism = s.piece[base + lane];
        const cells_of cells = find_cells(s, level, prism);
        double low[3], high[3];
        cut(s, level, prism, cells, cell.place, cell.place, low, high);
        a = inside((low[axis] - cell.centre[axis]) * (2 / cell.width));
        b = inside((high[axis] - cell.centre[axis]) * (2 / cell.width));
        length = high[axis] - low[axis];
    }
    double at_before = 1, at = a, before = 0, difference = 1;
    for (int m = 0; m < order; ++m) {
        room.whole[axis][m][lane] = p.value[0][m];
        if (dipoles) room.ends[axis][m][lane] = 0;
    }
    for (int n = 1; n < order; ++n) {
        double next = 2 * (b * difference + at) - before;
        double mean = n == 1 ? 0.25 * next : next * (0.5 / (n + 1)) - before * (0.5 / (n - 1));
        for (int m = 0; m < order; ++m) {
            room.whole[axis][m][lane] += p.value[n][m] * mean;
            if (dipoles) room.ends[axis][m][lane] += p.value[n][m] * difference;
        }
        double at_next = 2 * a * at - at_before;
        at_before = at;
        at = at_next;
        before = difference;
        difference = next;
    }
    for (int m = 0; m < order; ++m) {
        room.whole[axis][m][lane] *= length;
        if (dipoles) room.ends[axis][m][lane] *= length * (2 / cell.width);
    }
}

template <bool dipoles>
__global__ void __launch_bounds__(THREADS)
    p2m(const __grid_constant__ ps_device_prisms s, const __grid_constant__ polynomials p,
        int level, double *multipoles)
{
    __shared__ moment_room room;
    constexpr int MOST = (ORDER_MAX * ORDER_MAX * ORDER_MAX + THREADS - 1) / THREADS;
    const int order = p.order, points = order * order * order;
    const source_cell cell = cell_of(s, level, blockIdx.x);
    double sum[MOST] = {};
    for (int32_t base = cell.first; base < cell.end; base += WARP) {
        const int count = cell.end - base < WARP ? cell.end - base : WARP;
        moments_at<dipoles>(s, p, level, cell, base, room);
        for (int i = threadIdx.x; i < (dipoles ? 3 : 1) * count; i += THREADS)
            room.weight[i / count][i % count] = s.weight[i / count][s.piece[base + i % count]];
        __syncthreads();
#pragma unroll
        for (int q = 0; q < MOST; ++q) {
            const int m = q * THREADS + threadIdx.x;
            if (m >= points) break;
            const int m0 = m / (order * order), m1 = m / order % order, m2 = m % order;
            const double *x = room.whole[0][m0], *y = room.whole[1][m1], *z = room.whole[2][m2];
            for (int j = 0; j < count; ++j) {
                if (!dipoles) {
                    sum[q] += room.weight[0][j] * x[j] * y[j] * z[j];
                    continue;
                }
                sum[q] -= room.weight[0][j] * room.ends[0][m0][j] * y[j] * z[j] +
                          room.weight[1][j] * x[j] * room.ends[1][m1][j] * z[j] +
                          room.weight[2][j] * x[j] * y[j] * room.ends[2][m2][j];
            }
        }
        __syncthreads();
    }
    if (cell.first == cell.end) return;
#pragma unroll
    for (int q = 0; q < MOST; ++q) {
        const int m = q * THREADS + threadIdx.x;
        if (m < points) multipoles[(int64_t)blockIdx.x * points + m] += sum[q];
    }
}

template <bool dipoles>
__global__ void __launch_bounds__(THREADS)
    p2m_transposed(const __grid_constant__ ps_device_prisms s,
                   const __grid_constant__ polynomials p, int level, const double *locals,
                   int64_t pieces, double *by_piece)
{
    __shared__ moment_room room;
    __shared__ double parts[3][WARPS][WARP];
    const int order = p.order, points = order * order * order, warp = threadIdx.x / WARP,
              lane = threadIdx.x % WARP;
    const source_cell cell = cell_of(s, level, blockIdx.x);
    const double *own = locals + (int64_t)blockIdx.x * points;
    for (int32_t base = cell.first; base < cell.end; base += WARP) {
        moments_at<dipoles>(s, p, level, cell, base, room);
        __syncthreads();
        double sum[3] = {0, 0, 0};
        for (int m = warp; m < order * order; m += WARPS) {
            const int m0 = m / order, m1 = m % order;
            double line = 0, end = 0;
            for (int m2 = 0; m2 < order; ++m2) {
                line += own[m * order + m2] * room.whole[2][m2][lane];
                if (dipoles) end += own[m * order + m2] * room.ends[2][m2][lane];
            }
            const double x = room.whole[0][m0][lane], y = room.whole[1][m1][lane];
            if (dipoles) {
                sum[0] -= line * room.ends[0][m0][lane] * y;
                sum[1] -= line * x * room.ends[1][m1][lane];
                sum[2] -= end * x * y;
            } else {
                sum[0] += line * x * y;
            }
        }
        for (int w = 0; w < (dipoles ? 3 : 1); ++w) parts[w][warp][lane] = sum[w];
        __syncthreads();
        for (int w = warp; w < (dipoles ? 3 : 1); w += WARPS)
            if (base + lane < cell.end)
                by_piece[w * pieces + base + lane] =
                    parts[w][0][lane] + parts[w][1][lane] + parts[w][2][lane] + parts[w][3][lane];
        __syncthreads();
    }
}

/* A thread a prism: its pieces, cell after cell. */
__global__ void __launch_bounds__(THREADS)
    gather_pieces(const __grid_constant__ ps_device_prisms s, int weights, int64_t pieces,
                  const double *by_piece)
{
    const int64_t prism = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (prism >= s.prisms) return;
    const int level = s.level[prism];
    const cells_of cells = find_cells(s, level, prism);
    double sum[3] = {0, 0, 0};
    if (level < 2) return; /* whole in every near field */
    for (int64_t x = cells.first[0]; x <= cells.last[0]; ++x)
        for (int64_t y = cells.first[1]; y <= cells.last[1]; ++y)
            for (int64_t z = cells.first[2]; z <= cells.last[2]; ++z) {
                const int64_t at[3] = {x, y, z};
                int32_t cell = find_key(s.sources.keys[level], s.sources.cells[level], key_of(at));
                if (cell < 0) continue;
                int32_t low = s.start[level][cell], high = s.start[level][cell + 1];
                while (low < high) {
                    int32_t middle = low + (high - low) / 2;
                    if (s.piece[middle] < prism)
                        low = middle + 1;
                    else
                        high = middle;
                }
                for (int w = 0; w < weights; ++w) sum[w] += by_piece[w * pieces + low];
            }
    for (int w = 0; w < weights; ++w) s.weight[w][prism] += sum[w];
}

/* ---- stations ---- */

/* S, S' and S'' by the caller's lengths along an axis. */
KERNEL_INLINE void basis_at(const polynomials &p, double x, double scale, int most,
                            double *const out[3], int pitch)
{
    const int order = p.order;
    double t[3] = {x, 1, 0}, before[3] = {1, 0, 0};
    for (int m = 0; m < order; ++m) {
        out[0][m * pitch] = p.value[0][m];
        for (int k = 1; k < most; ++k) out[k][m * pitch] = 0;
    }
    for (int n = 1; n < order; ++n) {
        for (int m = 0; m < order; ++m)
            for (int k = 0; k < most; ++k) out[k][m * pitch] += p.value[n][m] * t[k];
        for (int k = 2; k >= 0; --k) { /* (x T)'' = x T'' + 2 T' */
            double next = 2 * x * t[k] - before[k];
            if (k > 0) next += 2 * k * t[k - 1];
            before[k] = t[k];
            t[k] = next;
        }
    }
    double by = 1;
    for (int k = 1; k < most; ++k) {
        by *= scale;
        for (int m = 0; m < order; ++m) out[k][m * pitch] *= by;
    }
}

/* How often V, g, T (xx yy zz xy xz yz) are differentiated along x, y, z. */
__constant__ int8_t times_along[NUMBERS][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1},
                                               {2, 0, 0}, {0, 2, 0}, {0, 0, 2}, {1, 1, 0},
                                               {1, 0, 1}, {0, 1, 1}};

template <int kind> __host__ __device__ constexpr int derivatives()
{
    return kind == PS_PRISM_TENSOR ? 3 : 2;
}
template <int kind> __host__ __device__ constexpr int first_number()
{
    return kind == PS_PRISM_MAGNETIC ? 1 : 0;
}

/* A warp a leaf, a lane a station. */
template <int kind>
__global__ void __launch_bounds__(THREADS)
    l2p(const __grid_constant__ ps_device_prisms s, const __grid_constant__ polynomials p,
        const double *locals)
{
    constexpr int most = derivatives<kind>();
    const int leaves = s.height - 1, order = p.order;
    const int64_t leaf = (int64_t)blockIdx.x * WARPS + threadIdx.x / WARP;
    if (leaf >= s.targets.cells[leaves]) return;
    const double width = ldexp(s.box.width, -leaves), *own = locals + leaf * order * order * order;
    double centre[3], basis[3][most][ORDER_MAX];
    cell_centre(s.box, width, s.targets.keys[leaves][leaf], centre);
    for (int32_t i = s.targets.particle_start[leaf] + (int32_t)(threadIdx.x % WARP);
         i < s.targets.particle_start[leaf + 1]; i += WARP) {
        for (int d = 0; d < 3; ++d) {
            double *rows[3] = {basis[d][0], basis[d][1], basis[d][most - 1]};
            basis_at(p, (s.place[d][i] - centre[d]) * (2 / width), 2 / width, most, rows, 1);
        }
        double sum[NUMBERS] = {};
        for (int m0 = 0; m0 < order; ++m0) {
            double plane[3][3] = {};
            for (int m1 = 0; m1 < order; ++m1) {
                const double *row = own + (m0 * order + m1) * order;
                double line[3] = {0, 0, 0};
                for (int m2 = 0; m2 < order; ++m2)
#pragma unroll
                    for (int k = 0; k < most; ++k) line[k] += row[m2] * basis[2][k][m2];
#pragma unroll
                for (int y = 0; y < most; ++y)
#pragma unroll
                    for (int z = 0; z + y < most; ++z) plane[y][z] += line[z] * basis[1][y][m1];
            }
            sum[0] += plane[0][0] * basis[0][0][m0];
            sum[1] += plane[0][0] * basis[0][1][m0];
            sum[2] += plane[1][0] * basis[0][0][m0];
            sum[3] += plane[0][1] * basis[0][0][m0];
            if (kind != PS_PRISM_TENSOR) continue;
            sum[4] += plane[0][0] * basis[0][most - 1][m0];
            sum[5] += plane[2][0] * basis[0][0][m0];
            sum[6] += plane[0][2] * basis[0][0][m0];
            sum[7] += plane[1][0] * basis[0][1][m0];
            sum[8] += plane[0][1] * basis[0][1][m0];
            sum[9] += plane[1][1] * basis[0][0][m0];
        }
#pragma unroll
        for (int k = 0; k < numbers_of_kind(kind); ++k)
            s.result[k][i] += sum[first_number<kind>() + k];
    }
}

/* A block a leaf; stations 32 at a time in shared memory. */
struct station_room {
    double basis[3][3][ORDER_MAX][PITCH];
    double data[NUMBERS][WARP];
};

template <int kind>
__global__ void __launch_bounds__(THREADS)
    l2p_transposed(const __grid_constant__ ps_device_prisms s,
                   const __grid_constant__ polynomials p, double *multipoles)
{
    __shared__ station_room room;
    constexpr int MOST = (ORDER_MAX * ORDER_MAX * ORDER_MAX + THREADS - 1) / THREADS;
    constexpr int numbers = numbers_of_kind(kind), most = derivatives<kind>();
    const int leaves = s.height - 1, order = p.order, points = order * order * order,
              axis = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    const double width = ldexp(s.box.width, -leaves);
    const int32_t end = s.targets.particle_start[blockIdx.x + 1];
    double centre[3], sum[MOST] = {};
    cell_centre(s.box, width, s.targets.keys[leaves][blockIdx.x], centre);
    for (int32_t base = s.targets.particle_start[blockIdx.x]; base < end; base += WARP) {
        const int count = end - base < WARP ? end - base : WARP;
        if (axis < 3 && lane < count) {
            double *rows[3] = {&room.basis[axis][0][0][lane], &room.basis[axis][1][0][lane],
                               &room.basis[axis][2][0][lane]};
            basis_at(p, (s.place[axis][base + lane] - centre[axis]) * (2 / width), 2 / width, most,
                     rows, PITCH);
        }
        for (int i = threadIdx.x; i < numbers * count; i += THREADS)
            room.data[i / count][i % count] = s.result[i / count][base + i % count];
        __syncthreads();
#pragma unroll
        for (int q = 0; q < MOST; ++q) {
            const int m = q * THREADS + threadIdx.x;
            if (m >= points) break;
            const int m0 = m / (order * order), m1 = m / order % order, m2 = m % order;
            for (int j = 0; j < count; ++j)
#pragma unroll
                for (int k = 0; k < numbers; ++k) {
                    const int8_t *t = times_along[first_number<kind>() + k];
                    sum[q] += room.data[k][j] * room.basis[0][t[0]][m0][j] *
                              room.basis[1][t[1]][m1][j] * room.basis[2][t[2]][m2][j];
                }
        }
        __syncthreads();
    }
#pragma unroll
    for (int q = 0; q < MOST; ++q) {
        const int m = q * THREADS + threadIdx.x;
        if (m < points) multipoles[(int64_t)blockIdx.x * points + m] += sum[q];
    }
}

polynomials polynomials_of(const ps_fmm_interpolation *n)
{
    polynomials p = {.order = n->order};
    for (int i = 0; i < ORDER_MAX; ++i)
        for (int m = 0; m < ORDER_MAX; ++m) p.value[i][m] = n->polynomials[i][m];
    return p;
}

} // namespace

extern "C" ps_status ps_device_prism_p2m(const ps_device_prisms *s,
                                         const ps_fmm_interpolation *interpolation, int level,
                                         double *multipoles, ps_stream *stream)
{
    PS_TRY(ps_stream_enter(stream));
    cudaStream_t on = handle_of(stream);
    unsigned cells = (unsigned)s->sources.cells[level];
    polynomials p = polynomials_of(interpolation);
    if (s->kind == PS_PRISM_MAGNETIC)
        p2m<true><<<cells, THREADS, 0, on>>>(*s, p, level, multipoles);
    else
        p2m<false><<<cells, THREADS, 0, on>>>(*s, p, level, multipoles);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

extern "C" ps_status ps_device_prism_p2m_transposed(const ps_device_prisms *s,
                                                    const ps_fmm_interpolation *interpolation,
                                                    int level, const double *locals, int64_t pieces,
                                                    double *by_piece, ps_stream *stream)
{
    PS_TRY(ps_stream_enter(stream));
    cudaStream_t on = handle_of(stream);
    unsigned cells = (unsigned)s->sources.cells[level];
    polynomials p = polynomials_of(interpolation);
    if (s->kind == PS_PRISM_MAGNETIC)
        p2m_transposed<true><<<cells, THREADS, 0, on>>>(*s, p, level, locals, pieces, by_piece);
    else
        p2m_transposed<false><<<cells, THREADS, 0, on>>>(*s, p, level, locals, pieces, by_piece);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

extern "C" ps_status ps_device_prism_gather_pieces(const ps_device_prisms *s, int64_t pieces,
                                                   const double *by_piece, ps_stream *stream)
{
    PS_TRY(ps_stream_enter(stream));
    gather_pieces<<<blocks_for(s->prisms, THREADS), THREADS, 0, handle_of(stream)>>>(
        *s, ps_prism_kind_weights(s->kind), pieces, by_piece);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

extern "C" ps_status ps_device_prism_l2p(const ps_device_prisms *s,
                                         const ps_fmm_interpolation *interpolation,
                                         const double *locals, ps_stream *stream)
{
    PS_TRY(ps_stream_enter(stream));
    unsigned blocks = blocks_for(s->targets.cells[s->height - 1], WARPS);
    polynomials p = polynomials_of(interpolation);
#define START(kind) l2p<kind><<<blocks, THREADS, 0, handle_of(stream)>>>(*s, p, locals)
    WITH_KIND(s->kind, START)
#undef START
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

extern "C" ps_status ps_device_prism_l2p_transposed(const ps_device_prisms *s,
                                                    const ps_fmm_interpolation *interpolation,
                                                    double *multipoles, ps_stream *stream)
{
    PS_TRY(ps_stream_enter(stream));
    unsigned blocks = (unsigned)s->targets.cells[s->height - 1];
    polynomials p = polynomials_of(interpolation);
#define START(kind)                                                                                \
    l2p_transposed<kind><<<blocks, THREADS, 0, handle_of(stream)>>>(*s, p, multipoles)
    WITH_KIND(s->kind, START)
#undef START
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}
