/* Products with H-matrices on CUDA (kernels/hbem/product_device.h). */
#include <cuda_runtime.h>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/hbem/product_device.h"
}

namespace
{

enum { WARPS = PS_PRODUCT_SLOTS, THREADS = 32 * WARPS, SIDES = PS_PRODUCT_DEVICE_SIDES };

/* Of a launch: `sides` of all sides, pointers moved to the first of them. */
struct view {
    int sides;
    int64_t columns, rows, row_places, column_places, numbers, slot; /* slot: numbers of one */
    const void *const *bases;
    const double *x, *padded;
    double *sums, *t;
};

#include "kernels/hbem/product_walk_body.h"

/* ---- reduce: t = V^T x ---- */

enum { ITEMS = 8 }; /* one after the other by a warp */

/* The products of an item; c is 0 again. */
template <int parts>
__device__ __forceinline__ void leave_products(const view &v, int count, int to, double (*c)[4])
{
    const int group = threadIdx.x % 32 / 4, quarter = threadIdx.x % 4;
#pragma unroll
    for (int p = 0; p < parts; ++p)
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int s = 2 * quarter + i % 2, l = group + 8 * (i / 2);
            if (s < v.sides && l < count)
                v.t[((int64_t)s * parts + p) * v.numbers + to + l] = c[p][i];
            c[p][i] = 0;
        }
}

template <typename real, int parts>
__global__ void __launch_bounds__(THREADS)
    reduce(const __grid_constant__ view v, const ps_product_item *items, int64_t count)
{
    enum { AHEAD = steps<real, parts>::AHEAD };
    extern __shared__ int4 shared[];
    const steps<real, parts> r(shared);
    const int group = threadIdx.x % 32 / 4;
    const int64_t first = ((int64_t)blockIdx.x * WARPS + threadIdx.x / 32) * ITEMS;
    if (first >= count) return;
    const bool side = group < v.sides;
    item_walk<real, parts> walk = {v, r, v.padded + (side ? group * parts * v.column_places : 0),
                                   side, (int)(first + ITEMS < count ? ITEMS : count - first)};
    int left[AHEAD], to[AHEAD];
    double c[parts][4] = {};
    walk.start(items + first);
#pragma unroll
    for (int stage = 0; stage < AHEAD; ++stage) walk.copy(stage, &left[stage], &to[stage]);
    for (;;) {
#pragma unroll
        for (int stage = 0; stage < AHEAD; ++stage) {
            r.wait();
            if (left[stage] < 0) return;
            r.along(stage, c);
            __syncwarp();
            if (left[stage] > 0) leave_products<parts>(v, left[stage], to[stage], c);
            walk.copy(stage, &left[stage], &to[stage]);
        }
    }
}

/* ---- joins ---- */

__global__ void __launch_bounds__(THREADS)
    join(const __grid_constant__ view v, const ps_product_join *joins, int64_t count, int parts)
{
    const int64_t index = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32;
    if (index >= count) return;
    const ps_product_join w = joins[index];
    double *t = v.t + blockIdx.y * v.numbers;
    for (int l = threadIdx.x % 32; l < w.count; l += 32) {
        double sum = 0;
        for (int p = 0; p < w.pieces; ++p) sum += t[w.from + (int64_t)p * w.count + l];
        t[w.to + l] = sum;
    }
}

/* ---- expand: rows of a tile ---- */

/* The first visit of [low, high) whose chunk is `chunk` or later. */
__device__ int64_t search(const ps_product_visit *visits, int64_t low, int64_t high, int64_t chunk)
{
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (visits[middle].chunk < chunk)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Where the tables of tiles are, and which chunks are taken. */
struct tile_view {
    const int32_t *begin, *place;
    const int64_t *visit_first;
    const ps_product_visit *visits;
    int64_t first_chunk, end_chunk;
    bool whole, fresh; /* all chunks; sums begin here */
};

template <typename real, int parts>
__device__ __forceinline__ void move_sums(const view &v, int64_t place, int width, bool out,
                                          double (*c)[2][4])
{
    const int quarter = threadIdx.x % 4, group = threadIdx.x % 32 / 4;
    double *sums = v.sums + (threadIdx.x / 32) * v.slot + place;
#pragma unroll
    for (int p = 0; p < parts; ++p)
#pragma unroll
        for (int e = 0; e < 8; ++e) {
            const int h = e / 4, i = e % 4, s = 2 * quarter + i % 2,
                      row = steps<real, parts>::row(group, 2 * h + i / 2);
            if (s >= v.sides || row >= width) continue;
            double *at = sums + ((int64_t)s * parts + p) * v.row_places + row;
            if (out)
                *at = c[p][h][i];
            else
                c[p][h][i] = *at;
        }
}

/* c += a step of a visit. */
template <typename real, int parts>
__device__ __forceinline__ void take_step(const steps<real, parts> &r, int stage, int what,
                                          double (*c)[2][4])
{
    if (what == ACROSS) {
        r.across(stage, c);
        return;
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        if ((what == UPPER) != (h == 1)) continue;
        double own[parts][4];
#pragma unroll
        for (int p = 0; p < parts; ++p)
            for (int i = 0; i < 4; ++i) own[p][i] = c[p][h][i];
        r.along(stage, own);
#pragma unroll
        for (int p = 0; p < parts; ++p)
            for (int i = 0; i < 4; ++i) c[p][h][i] = own[p][i];
    }
}

template <typename real, int parts>
__global__ void __launch_bounds__(THREADS)
    expand(const __grid_constant__ view v, const __grid_constant__ tile_view tiles)
{
    enum { AHEAD = steps<real, parts>::AHEAD };
    extern __shared__ int4 shared[];
    const steps<real, parts> r(shared);
    const int tile = blockIdx.x, slot = threadIdx.x / 32, group = threadIdx.x % 32 / 4;
    const int64_t first = tiles.visit_first[tile];
    int64_t low = first, high = tiles.visit_first[tile + 1];
    if (!tiles.whole) {
        low = search(tiles.visits, first, high, tiles.first_chunk);
        high = search(tiles.visits, low, high, tiles.end_chunk);
        if (low == high && !tiles.fresh) return;
    }
    const int64_t place = tiles.place[tile];
    const int width = (int)(tiles.place[tile + 1] - place);
    visit_walk<real, parts> walk = {v,
                                    r,
                                    tiles.visits,
                                    low + ((slot - (low - first)) & (WARPS - 1)),
                                    high,
                                    width,
                                    tiles.begin[tile + 1] - tiles.begin[tile],
                                    group < v.sides ? group * parts : 0,
                                    group < v.sides};
    int what[AHEAD];
    double c[parts][2][4] = {};
    walk.start();
#pragma unroll
    for (int stage = 0; stage < AHEAD; ++stage) what[stage] = walk.copy(stage);
    if (!tiles.fresh) move_sums<real, parts>(v, place, width, false, c);
    for (bool going = true; going;) {
#pragma unroll
        for (int stage = 0; stage < AHEAD; ++stage) {
            r.wait();
            going = what[stage] != NO_STEP;
            if (!going) break;
            take_step<real, parts>(r, stage, what[stage], c);
            __syncwarp();
            what[stage] = walk.copy(stage);
        }
    }
    move_sums<real, parts>(v, place, width, true, c);
}

/* ---- vectors ---- */

/* A tile by a warp, a vector by blockIdx.y: into places, or from sums. */
__global__ void __launch_bounds__(THREADS)
    spread(const int32_t *begin, const int32_t *place, int64_t tiles, const double *x,
           int64_t length, double *padded)
{
    const int64_t tile = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32;
    const int i = threadIdx.x % 32;
    if (tile >= tiles) return;
    const int32_t from = begin[tile], to = place[tile];
    if (i < place[tile + 1] - to)
        padded[blockIdx.y * (int64_t)place[tiles] + to + i] =
            i < begin[tile + 1] - from ? x[blockIdx.y * length + from + i] : 0;
}

__global__ void __launch_bounds__(THREADS)
    gather(const int32_t *begin, const int32_t *place, int64_t tiles, const double *sums,
           int64_t slot, int64_t length, double *y)
{
    const int64_t tile = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32;
    const int i = threadIdx.x % 32;
    if (tile >= tiles || i >= begin[tile + 1] - begin[tile]) return;
    const double *at = sums + blockIdx.y * (int64_t)place[tiles] + place[tile] + i;
    double sum = at[0];
    for (int s = 1; s < PS_PRODUCT_SLOTS; ++s) sum += at[s * slot];
    y[blockIdx.y * length + begin[tile] + i] = sum;
}

__global__ void set_bases(const void **bases, const int64_t *chunk_at, int64_t first, int64_t count,
                          const char *base)
{
    for (int64_t c = first + threadIdx.x; c < first + count; c += blockDim.x)
        bases[c] = base + (chunk_at[c] - chunk_at[first]);
}

/* ---- launches ---- */

unsigned blocks_of(int64_t warps) { return (unsigned)((warps + WARPS - 1) / WARPS); }

ps_status enter(ps_stream *stream, cudaStream_t *queue)
{
    *queue = static_cast<cudaStream_t>(ps_stream_handle(stream));
    if (!*queue) return ps_fail(PS_FAILED, "products on a device need a stream of CUDA");
    return ps_stream_enter(stream);
}

template <typename real, int parts>
ps_status run_group(const ps_product_device *d, const view &v, const tile_view &tiles,
                    cudaStream_t queue)
{
    const ps_product_tables *t = &d->tables;
    const int64_t item = t->item_first[tiles.first_chunk],
                  join_at = t->join_first[tiles.first_chunk];
    const int64_t items = t->item_first[tiles.end_chunk] - item;
    const int64_t joins = t->join_first[tiles.end_chunk] - join_at;
    const int shared = WARPS * steps<real, parts>::BYTES;
    PS_CUDA(cudaFuncSetAttribute(reduce<real, parts>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 shared));
    PS_CUDA(cudaFuncSetAttribute(expand<real, parts>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 shared));
    if (items > 0)
        reduce<real, parts><<<blocks_of((items + ITEMS - 1) / ITEMS), THREADS, shared, queue>>>(
            v, t->item + item, items);
    if (joins > 0)
        join<<<dim3(blocks_of(joins), v.sides * parts), THREADS, 0, queue>>>(v, t->join + join_at,
                                                                             joins, parts);
    expand<real, parts><<<(unsigned)t->tiles[0], THREADS, shared, queue>>>(v, tiles);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

} // namespace

extern "C" ps_status ps_product_device_begin(const ps_product_device *d, ps_stream *stream)
{
    const ps_product_tables *t = &d->tables;
    cudaStream_t queue;
    PS_TRY(enter(stream, &queue));
    spread<<<dim3(blocks_of(t->tiles[1]), (unsigned)(d->sides * t->matrix->parts)), THREADS, 0,
             queue>>>(t->begin[1], t->place[1], t->tiles[1], d->x, t->matrix->columns, d->padded);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

extern "C" ps_status ps_product_device_locate(const ps_product_device *d, int64_t first_chunk,
                                              int64_t chunk_count, const void *base,
                                              ps_stream *stream)
{
    cudaStream_t queue;
    PS_TRY(enter(stream, &queue));
    set_bases<<<1, 256, 0, queue>>>(d->bases, d->tables.chunk_at, first_chunk, chunk_count,
                                    static_cast<const char *>(base));
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

extern "C" ps_status ps_product_device_run(const ps_product_device *d, int64_t first_chunk,
                                           int64_t chunk_count, ps_stream *stream)
{
    const ps_product_tables *t = &d->tables;
    const ps_hmatrix *m = t->matrix;
    const int64_t slot = d->sides * m->parts * t->places[0];
    const tile_view tiles = {t->begin[0],
                             t->place[0],
                             t->visit_first,
                             t->visit,
                             first_chunk,
                             first_chunk + chunk_count,
                             chunk_count == t->chunks,
                             first_chunk == 0};
    cudaStream_t queue;
    PS_TRY(enter(stream, &queue));
    for (int64_t first = 0; first < d->sides; first += SIDES) {
        const int64_t left = d->sides - first, at = first * m->parts;
        const view v = {left < SIDES ? (int)left : SIDES,
                        m->columns,
                        m->rows,
                        t->places[0],
                        t->places[1],
                        t->numbers,
                        slot,
                        d->bases,
                        d->x + at * m->columns,
                        d->padded + at * t->places[1],
                        d->sums + at * t->places[0],
                        d->t};
        ps_status (*const run)(const ps_product_device *, const view &, const tile_view &,
                               cudaStream_t) =
            m->precision == PS_SINGLE ? (m->parts == 1 ? run_group<float, 1> : run_group<float, 2>)
            : m->parts == 1           ? run_group<double, 1>
                                      : run_group<double, 2>;
        PS_TRY(run(d, v, tiles, queue));
    }
    return PS_OK;
}

extern "C" ps_status ps_product_device_end(const ps_product_device *d, ps_stream *stream)
{
    const ps_product_tables *t = &d->tables;
    const int64_t vectors = d->sides * t->matrix->parts;
    cudaStream_t queue;
    PS_TRY(enter(stream, &queue));
    gather<<<dim3(blocks_of(t->tiles[0]), (unsigned)vectors), THREADS, 0, queue>>>(
        t->begin[0], t->place[0], t->tiles[0], d->sums, vectors * t->places[0], t->matrix->rows,
        d->y);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}
