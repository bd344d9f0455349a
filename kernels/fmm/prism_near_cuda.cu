/*
 * The near field of prisms on the device, by closed forms; transposed; and all prisms directly
 * (kernels/fmm/device_prism.h).
 *
 * Near: a block has up to 32 stations of a cell. Candidates, the pieces of the 27 cells around, are
 * cut and packed in shared memory by all threads, in their order; then warps take stations and
 * lanes take prisms, so that the expensive part, the closed form, has full warps whatever was left
 * out. With fewer than four stations warps share them, and sums of parts are added in their order.
 */
#include <cuda_runtime.h>

#include "kernels/common/device_prism_field.h"
#include "kernels/fmm/device_prism_body.h"
#include "runtime/cuda_check.h"

namespace
{

enum { PACK = 2 * THREADS, STATIONS = PS_DEVICE_PRISM_STATIONS, NEIGHBOURS = 27 };

KERNEL_INLINE void brick_at(const double low[3], const double high[3], const double station[3],
                            ps_prism::brick *b)
{
#pragma unroll
    for (int d = 0; d < 3; ++d) {
        b->bound[d][0] = low[d] - station[d];
        b->bound[d][1] = high[d] - station[d];
        b->side[d] = high[d] - low[d];
    }
}

KERNEL_INLINE double sum_of_warp(double x)
{
    for (int step = WARP / 2; step > 0; step /= 2) x += __shfl_xor_sync(0xffffffffu, x, step);
    return x;
}

/* ---- near ---- */

template <int kind> struct near_room {
    double low[3][PACK], high[3][PACK], weight[weights_of_kind(kind)][PACK];
    double station[3][STATIONS], sum[STATIONS][numbers_of_kind(kind)];
    int32_t first[NEIGHBOURS], before[NEIGHBOURS + 1]; /* pieces of the cells around */
    int64_t place[NEIGHBOURS][3];
    int kept[WARPS];
};

/* A candidate, cut; false where another cell around is the first one that it is in. */
template <int kind>
KERNEL_INLINE bool take(const ps_device_prisms &s, int level, const int64_t centre[3],
                        const near_room<kind> &room, int candidate, int64_t *prism, double low[3],
                        double high[3])
{
    int n = 0;
    for (int step = 16; step > 0; step /= 2)
        if (n + step < NEIGHBOURS && room.before[n + step] <= candidate) n += step;
    *prism = s.piece[room.first[n] + candidate - room.before[n]];
    cells_of cells = find_cells(s, level, *prism);
    int64_t first[3], last[3];
#pragma unroll
    for (int d = 0; d < 3; ++d) {
        first[d] = cells.first[d] > centre[d] - 1 ? cells.first[d] : centre[d] - 1;
        last[d] = cells.last[d] < centre[d] + 1 ? cells.last[d] : centre[d] + 1;
        if (room.place[n][d] != first[d]) return false;
    }
    return cut(s, level, *prism, cells, first, last, low, high);
}

/* Sums of the pack: to each station those of its part of the prisms. */
template <int kind>
KERNEL_INLINE void sum_pack(near_room<kind> &room, int prisms, int stations, int parts)
{
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, part = warp % parts;
    for (int i = warp / parts; i < stations; i += WARPS / parts) {
        const double station[3] = {room.station[0][i], room.station[1][i], room.station[2][i]};
        double out[numbers_of_kind(kind)] = {};
        for (int j = part * WARP + lane; j < prisms; j += parts * WARP) {
            const double low[3] = {room.low[0][j], room.low[1][j], room.low[2][j]};
            const double high[3] = {room.high[0][j], room.high[1][j], room.high[2][j]};
            double weight[weights_of_kind(kind)];
#pragma unroll
            for (int w = 0; w < weights_of_kind(kind); ++w) weight[w] = room.weight[w][j];
            ps_prism::brick b;
            brick_at(low, high, station, &b);
            ps_prism::add_field<kind>(b, weight, out);
        }
#pragma unroll
        for (int k = 0; k < numbers_of_kind(kind); ++k) {
            double sum = sum_of_warp(out[k]);
            if (lane == 0) room.sum[i * parts + part][k] += sum;
        }
    }
}

/* Where the pieces around begin, and how many there are before each cell's. */
template <int kind>
KERNEL_INLINE void meet_neighbours(const ps_device_prisms &s, int level, const int32_t *around,
                                   near_room<kind> &room)
{
    if (threadIdx.x < NEIGHBOURS) {
        int32_t cell = around[threadIdx.x];
        int64_t place[3] = {-1, -1, -1};
        if (cell >= 0) place_of(s.sources.keys[level][cell], place);
        for (int d = 0; d < 3; ++d) room.place[threadIdx.x][d] = place[d];
        room.first[threadIdx.x] = cell >= 0 ? s.start[level][cell] : 0;
        room.before[threadIdx.x + 1] =
            cell >= 0 ? s.start[level][cell + 1] - s.start[level][cell] : 0;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        room.before[0] = 0;
        for (int n = 0; n < NEIGHBOURS; ++n) room.before[n + 1] += room.before[n];
    }
}

template <int kind>
__global__ void __launch_bounds__(THREADS)
    near_level(const __grid_constant__ ps_device_prisms s, int level, const int32_t *around,
               const ps_device_prism_item *items, unsigned long long *pairs)
{
    __shared__ near_room<kind> room;
    const ps_device_prism_item item = items[blockIdx.x];
    const int stations = item.end - item.first, warp = threadIdx.x / WARP,
              lane = threadIdx.x % WARP;
    const int parts = stations >= 4 ? 1 : stations >= 2 ? 2 : 4;
    int64_t centre[3];
    place_of(s.targets.keys[level][item.cell], centre);
    meet_neighbours<kind>(s, level, around + (int64_t)NEIGHBOURS * item.cell, room);
    for (int i = threadIdx.x; i < 3 * stations; i += THREADS)
        room.station[i / stations][i % stations] = s.place[i / stations][item.first + i % stations];
    for (int i = threadIdx.x; i < STATIONS * numbers_of_kind(kind); i += THREADS)
        room.sum[i / numbers_of_kind(kind)][i % numbers_of_kind(kind)] = 0;
    __syncthreads();
    const int candidates = room.before[NEIGHBOURS];
    int packed = 0, summed = 0;
    for (int base = 0; base < candidates; base += THREADS) {
        double low[3], high[3];
        int64_t prism = 0;
        bool keep = base + (int)threadIdx.x < candidates &&
                    take<kind>(s, level, centre, room, base + threadIdx.x, &prism, low, high);
        unsigned vote = __ballot_sync(0xffffffffu, keep);
        if (lane == 0) room.kept[warp] = __popc(vote);
        __syncthreads();
        int at = packed + __popc(vote & ((1u << lane) - 1));
        for (int w = 0; w < WARPS; ++w) {
            if (w < warp) at += room.kept[w];
            packed += room.kept[w];
        }
        if (keep) {
#pragma unroll
            for (int d = 0; d < 3; ++d) {
                room.low[d][at] = low[d];
                room.high[d][at] = high[d];
            }
#pragma unroll
            for (int w = 0; w < weights_of_kind(kind); ++w) room.weight[w][at] = s.weight[w][prism];
        }
        __syncthreads();
        if (packed < THREADS && base + THREADS < candidates) continue;
        sum_pack<kind>(room, packed, stations, parts);
        summed += packed;
        packed = 0;
        __syncthreads();
    }
    if (threadIdx.x == 0 && summed > 0) atomicAdd(pairs, (unsigned long long)summed * stations);
    for (int i = threadIdx.x; i < stations * numbers_of_kind(kind); i += THREADS) {
        int k = i / stations, at = i % stations;
        double sum = room.sum[at * parts][k];
        for (int p = 1; p < parts; ++p) sum += room.sum[at * parts + p][k];
        s.result[k][item.first + at] += sum;
    }
}

/* ---- near, transposed: a warp a prism ---- */

/* Adds to out the stations [first, end), lanes side by side. */
template <int kind>
KERNEL_INLINE void gather_stations(const ps_device_prisms &s, const double low[3],
                                   const double high[3], int32_t first, int32_t end, double *out)
{
    for (int32_t i = first + (int32_t)(threadIdx.x % WARP); i < end; i += WARP) {
        const double station[3] = {s.place[0][i], s.place[1][i], s.place[2][i]};
        double data[numbers_of_kind(kind)];
#pragma unroll
        for (int k = 0; k < numbers_of_kind(kind); ++k) data[k] = s.result[k][i];
        ps_prism::brick b;
        brick_at(low, high, station, &b);
        ps_prism::add_transposed<kind>(b, data, out);
    }
}

template <int kind>
KERNEL_INLINE void gather_around(const ps_device_prisms &s, int64_t prism, double *out)
{
    const int level = s.level[prism], lane = threadIdx.x % WARP;
    const cells_of cells = find_cells(s, level, prism);
    const int64_t side = (int64_t)1 << level;
    int64_t from[3], width[3];
    for (int d = 0; d < 3; ++d) {
        from[d] = cells.first[d] > 0 ? cells.first[d] - 1 : 0;
        width[d] = (cells.last[d] + 1 < side ? cells.last[d] + 1 : side - 1) - from[d] + 1;
    }
    const int64_t count = width[0] * width[1] * width[2];
    for (int64_t base = 0; base < count; base += WARP) {
        const int64_t number = base + lane;
        double low[3] = {0, 0, 0}, high[3] = {0, 0, 0};
        int32_t first = 0, end = 0;
        if (number < count) {
            int64_t at[3] = {from[0] + number / (width[1] * width[2]),
                             from[1] + number / width[2] % width[1], from[2] + number % width[2]};
            int64_t around_first[3], around_last[3];
            int32_t cell = find_key(s.targets.keys[level], s.targets.cells[level], key_of(at));
            for (int d = 0; d < 3; ++d) {
                around_first[d] = cells.first[d] > at[d] - 1 ? cells.first[d] : at[d] - 1;
                around_last[d] = cells.last[d] < at[d] + 1 ? cells.last[d] : at[d] + 1;
            }
            if (cell >= 0 && cut(s, level, prism, cells, around_first, around_last, low, high))
                stations_of(s.targets, level, cell, &first, &end);
        }
        unsigned found = __ballot_sync(0xffffffffu, end > first);
        for (; found; found &= found - 1) {
            const int from_lane = __ffs((int)found) - 1;
            double own_low[3], own_high[3];
            for (int d = 0; d < 3; ++d) {
                own_low[d] = __shfl_sync(0xffffffffu, low[d], from_lane);
                own_high[d] = __shfl_sync(0xffffffffu, high[d], from_lane);
            }
            gather_stations<kind>(s, own_low, own_high, __shfl_sync(0xffffffffu, first, from_lane),
                                  __shfl_sync(0xffffffffu, end, from_lane), out);
            __syncwarp();
        }
    }
}

template <int kind>
__global__ void __launch_bounds__(THREADS)
    near_transposed(const __grid_constant__ ps_device_prisms s)
{
    const int64_t prism = (int64_t)blockIdx.x * WARPS + threadIdx.x / WARP;
    double out[weights_of_kind(kind)] = {};
    if (prism >= s.prisms) return;
    if (s.height < 3) {
        const double low[3] = {s.low[0][prism], s.low[1][prism], s.low[2][prism]};
        const double high[3] = {s.high[0][prism], s.high[1][prism], s.high[2][prism]};
        gather_stations<kind>(s, low, high, 0, s.stations, out);
    } else {
        gather_around<kind>(s, prism, out);
    }
#pragma unroll
    for (int w = 0; w < weights_of_kind(kind); ++w) {
        double sum = sum_of_warp(out[w]);
        if (threadIdx.x % WARP == 0) s.weight[w][prism] += sum;
    }
}

/* ---- directly ---- */

template <int kind>
__global__ void __launch_bounds__(THREADS)
    direct_part(const __grid_constant__ ps_device_prisms s, const int32_t *index, int64_t offset,
                int64_t count, double *room)
{
    __shared__ double sums[WARPS][numbers_of_kind(kind)];
    const int64_t first = (int64_t)blockIdx.x * PS_DEVICE_PRISM_PART, number = offset + blockIdx.y;
    const int64_t end =
        first + PS_DEVICE_PRISM_PART < s.prisms ? first + PS_DEVICE_PRISM_PART : (int64_t)s.prisms;
    const int32_t i = index[number];
    const double station[3] = {s.place[0][i], s.place[1][i], s.place[2][i]};
    double out[numbers_of_kind(kind)] = {};
    for (int64_t j = first + threadIdx.x; j < end; j += THREADS) {
        const double low[3] = {s.low[0][j], s.low[1][j], s.low[2][j]};
        const double high[3] = {s.high[0][j], s.high[1][j], s.high[2][j]};
        double weight[weights_of_kind(kind)];
#pragma unroll
        for (int w = 0; w < weights_of_kind(kind); ++w) weight[w] = s.weight[w][j];
        ps_prism::brick b;
        brick_at(low, high, station, &b);
        ps_prism::add_field<kind>(b, weight, out);
    }
#pragma unroll
    for (int k = 0; k < numbers_of_kind(kind); ++k) {
        double sum = sum_of_warp(out[k]);
        if (threadIdx.x % WARP == 0) sums[threadIdx.x / WARP][k] = sum;
    }
    __syncthreads();
    if (threadIdx.x < numbers_of_kind(kind)) {
        double sum = 0;
        for (int w = 0; w < WARPS; ++w) sum += sums[w][threadIdx.x];
        room[(blockIdx.x * numbers_of_kind(kind) + threadIdx.x) * count + number] = sum;
    }
}

__global__ void add_parts(const double *room, int64_t parts, int64_t numbers, double *out)
{
    int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= numbers) return;
    double sum = 0;
    for (int64_t p = 0; p < parts; ++p) sum += room[p * numbers + i];
    out[i] = sum;
}

} // namespace

extern "C" ps_status ps_device_prism_near(const ps_device_prisms *s, int level,
                                          const int32_t *around, const ps_device_prism_item *items,
                                          int64_t count, int64_t *pairs, ps_stream *stream)
{
    if (count == 0) return PS_OK;
    PS_TRY(ps_stream_enter(stream));
#define START(kind)                                                                                \
    near_level<kind><<<(unsigned)count, THREADS, 0, handle_of(stream)>>>(                          \
        *s, level, around, items, reinterpret_cast<unsigned long long *>(pairs))
    WITH_KIND(s->kind, START)
#undef START
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

extern "C" ps_status ps_device_prism_near_transposed(const ps_device_prisms *s, ps_stream *stream)
{
    PS_TRY(ps_stream_enter(stream));
    unsigned blocks = blocks_for(s->prisms, WARPS);
#define START(kind) near_transposed<kind><<<blocks, THREADS, 0, handle_of(stream)>>>(*s)
    WITH_KIND(s->kind, START)
#undef START
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

extern "C" ps_status ps_device_prism_direct(const ps_device_prisms *s, const int32_t *index,
                                            int64_t count, double *room, double *out,
                                            ps_stream *stream)
{
    enum { ROWS = 1 << 15 };
    PS_TRY(ps_stream_enter(stream));
    cudaStream_t on = handle_of(stream);
    unsigned parts = blocks_for(s->prisms, PS_DEVICE_PRISM_PART);
    int64_t numbers = ps_prism_kind_numbers(s->kind) * count;
    for (int64_t at = 0; at < count; at += ROWS) {
        dim3 grid(parts, (unsigned)(count - at < ROWS ? count - at : ROWS));
#define START(kind) direct_part<kind><<<grid, THREADS, 0, on>>>(*s, index, at, count, room)
        WITH_KIND(s->kind, START)
#undef START
        PS_CUDA(cudaGetLastError());
    }
    add_parts<<<blocks_for(numbers, THREADS), THREADS, 0, on>>>(room, parts, numbers, out);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}
