/* Products with H-matrices on CUDA (kernels/hbem/product_device.h). A warp multiplies 16 rows of
 * some matrix by 8 columns, the sides, over 8 terms at a time. Which rows and terms are at hand
 * together is free: they are those that lie side by side in memory, so loads have 16 bytes. */
#include <cuda_runtime.h>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/hbem/product_device.h"
}

namespace
{

#ifndef REDUCE_BLOCKS
#define REDUCE_BLOCKS 8
#define EXPAND_BLOCKS 6
#endif
enum { WARPS = PS_PRODUCT_SLOTS, THREADS = 32 * WARPS, SIDES = PS_PRODUCT_DEVICE_SIDES };

/* Of a launch: `sides` of all sides, pointers moved to the first of them. */
struct view {
    int sides;
    int64_t columns, rows, row_places, column_places, numbers, slot; /* slot: numbers of one */
    const void *const *bases;
    const double *x, *padded;
    double *sums, *t;
};

/* c[16 x 8] += a[16 x 8] b[8 x 8]: lane l holds rows l/4 (a0, a2) and l/4 + 8 (a1, a3) of a, terms
 * l%4 (a0, a1; b0) and l%4 + 4, column l/4 of b, columns 2 (l%4) and the next of c. */
__device__ __forceinline__ void multiply(double c[4], double a0, double a1, double a2, double a3,
                                         double b0, double b1)
{
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a0), "d"(a1), "d"(a2), "d"(a3), "d"(b0), "d"(b1));
#else
#define SMALL(c0, c1, a, b)                                                                        \
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"            \
        : "+d"(c0), "+d"(c1)                                                                       \
        : "d"(a), "d"(b))
    SMALL(c[0], c[1], a0, b0);
    SMALL(c[0], c[1], a2, b1);
    SMALL(c[2], c[3], a1, b0);
    SMALL(c[2], c[3], a3, b1);
#undef SMALL
#endif
}

/* Parts of numbers: c += a b. */
template <int parts>
__device__ __forceinline__ void multiply_parts(double (*c)[4], const double (*a)[4],
                                               const double (*b)[2])
{
    multiply(c[0], a[0][0], a[0][1], a[0][2], a[0][3], b[0][0], b[0][1]);
    if (parts == 1) return;
    multiply(c[1], a[0][0], a[0][1], a[0][2], a[0][3], b[1][0], b[1][1]);
    multiply(c[0], a[1][0], a[1][1], a[1][2], a[1][3], -b[1][0], -b[1][1]);
    multiply(c[1], a[1][0], a[1][1], a[1][2], a[1][3], b[0][0], b[0][1]);
}

/* Four numbers; 0 where there are none. */
__device__ __forceinline__ float4 load(const float *from, bool there)
{
    return there ? __ldcs(reinterpret_cast<const float4 *>(from)) : make_float4(0, 0, 0, 0);
}
struct double_quad {
    double x, y, z, w;
};
__device__ __forceinline__ double_quad load(const double *from, bool there)
{
    const double2 *at = reinterpret_cast<const double2 *>(from);
    const double2 none = make_double2(0, 0), a = there ? __ldcs(at) : none,
                  b = there ? __ldcs(at + 1) : none;
    return {a.x, a.y, b.x, b.y};
}
/* The same of numbers that are read again. */
__device__ __forceinline__ double_quad load_kept(const double *from, bool there)
{
    const double2 *at = reinterpret_cast<const double2 *>(from);
    const double2 none = make_double2(0, 0), a = there ? __ldg(at) : none,
                  b = there ? __ldg(at + 1) : none;
    return {a.x, a.y, b.x, b.y};
}
template <typename real> struct quad_of {
    typedef float4 type;
};
template <> struct quad_of<double> {
    typedef double_quad type;
};
template <typename Quad> __device__ __forceinline__ double pick(const Quad &q, int i)
{
    return i == 0 ? q.x : i == 1 ? q.y : i == 2 ? q.z : q.w;
}

/* 32 bytes at once. */
struct half_record {
    int4 first, second;
};
template <typename Record> __device__ __forceinline__ Record fetch(const Record *from)
{
    union {
        half_record halves;
        Record record;
    } u;
    static_assert(sizeof(Record) == sizeof(half_record), "two loads of 16 bytes");
    const int4 *at = reinterpret_cast<const int4 *>(from);
    u.halves.first = __ldcs(at);
    u.halves.second = __ldcs(at + 1);
    return u.record;
}

/* ---- reduce: t = V^T x ---- */

/* c += 16 vectors, of which a lane has two, times x over 16 places, of which it has 4. */
template <typename real, int parts>
__device__ __forceinline__ void reduce_step(double (*c)[4], const real *const *vectors,
                                            const bool *have, int64_t part, const double *x,
                                            int64_t x_part, bool side, bool there)
{
    typename quad_of<real>::type a[parts][2];
    double_quad b[parts];
#pragma unroll
    for (int p = 0; p < parts; ++p) {
        a[p][0] = load(vectors[0] + p * part, there && have[0]);
        a[p][1] = load(vectors[1] + p * part, there && have[1]);
        b[p] = load_kept(x + p * x_part, side && there);
    }
#pragma unroll
    for (int q = 0; q < 4; q += 2) {
        double left[parts][4], right[parts][2];
#pragma unroll
        for (int p = 0; p < parts; ++p) {
            for (int i = 0; i < 4; ++i) left[p][i] = pick(a[p][i % 2], q + i / 2);
            for (int i = 0; i < 2; ++i) right[p][i] = pick(b[p], q + i);
        }
        multiply_parts<parts>(c, left, right);
    }
}

template <typename real, int parts>
__global__ void __launch_bounds__(THREADS, REDUCE_BLOCKS)
    reduce(const __grid_constant__ view v, const ps_product_item *items, int64_t count)
{
    const int64_t index = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32;
    const int lane = threadIdx.x % 32, group = lane / 4, quarter = lane % 4;
    if (index >= count) return;
    const ps_product_item w = items[index];
    const bool side = group < v.sides;
    const real *base =
        reinterpret_cast<const real *>(static_cast<const char *>(v.bases[w.chunk]) + w.offset);
    const real *vectors[2] = {base + (int64_t)group * w.stride + 4 * quarter,
                              base + (int64_t)(group + 8) * w.stride + 4 * quarter};
    const bool have[2] = {group < w.count, group + 8 < w.count};
    const double *x = v.padded + (int64_t)group * parts * v.column_places + w.from + 4 * quarter;
    double c[parts][4] = {};
    for (int e = 0; e < w.length; e += 16) {
        reduce_step<real, parts>(c, vectors, have, w.part, x, v.column_places, side,
                                 e + 4 * quarter < w.length);
        vectors[0] += 16;
        vectors[1] += 16;
        x += 16;
    }
#pragma unroll
    for (int p = 0; p < parts; ++p)
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int s = 2 * quarter + i % 2, l = group + 8 * (i / 2);
            if (s < v.sides && l < w.count)
                v.t[((int64_t)s * parts + p) * v.numbers + w.to + l] = c[p][i];
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

/* c[part][half][4]: row 4 group + 2 half + i / 2, side 2 quarter + i % 2. Eight vectors from l on,
 * times t (or x), whose numbers of a part begin at `numbers`. */
template <typename real, int parts>
__device__ __forceinline__ void expand_step(double (*c)[2][4], const ps_product_visit &w,
                                            const real *base, int l, bool row, bool side,
                                            const double *numbers, int64_t number_part)
{
    const int quarter = threadIdx.x % 4, group = threadIdx.x % 32 / 4;
    typename quad_of<real>::type a[parts][2];
    double right[parts][2];
#pragma unroll
    for (int p = 0; p < parts; ++p)
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const int at = l + quarter + 4 * i;
            a[p][i] =
                load(base + (int64_t)at * w.stride + p * w.part + 4 * group, row && at < w.count);
            right[p][i] = side && at < w.count ? numbers[p * number_part + at] : 0;
        }
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        double left[parts][4], own[parts][4];
#pragma unroll
        for (int p = 0; p < parts; ++p)
            for (int i = 0; i < 4; ++i) {
                left[p][i] = pick(a[p][i / 2], 2 * h + i % 2);
                own[p][i] = c[p][h][i];
            }
        multiply_parts<parts>(own, left, right);
        for (int p = 0; p < parts; ++p)
            for (int i = 0; i < 4; ++i) c[p][h][i] = own[p][i];
    }
}

/* A transposed dense leaf: the tile's rows are vectors, two of each group of lanes at a time. */
template <typename real, int parts>
__device__ __forceinline__ void expand_turned(double (*c)[2][4], const view &v,
                                              const ps_product_visit &w, const real *base, int rows)
{
    const int quarter = threadIdx.x % 4, group = threadIdx.x % 32 / 4;
    const double *x = v.padded + (int64_t)group * parts * v.column_places + w.from + 4 * quarter;
    const real *vectors[2] = {base + (int64_t)(4 * group) * w.stride + 4 * quarter};
    vectors[1] = vectors[0] + w.stride;
    for (int e = 0; e < w.count; e += 16) {
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            const real *at[2] = {vectors[0] + 2 * h * (int64_t)w.stride + e,
                                 vectors[1] + 2 * h * (int64_t)w.stride + e};
            const bool have[2] = {4 * group + 2 * h < rows, 4 * group + 2 * h + 1 < rows};
            double own[parts][4];
#pragma unroll
            for (int p = 0; p < parts; ++p)
                for (int i = 0; i < 4; ++i) own[p][i] = c[p][h][i];
            reduce_step<real, parts>(own, at, have, w.part, x + e, v.column_places, group < v.sides,
                                     e + 4 * quarter < w.count);
#pragma unroll
            for (int p = 0; p < parts; ++p)
                for (int i = 0; i < 4; ++i) c[p][h][i] = own[p][i];
        }
    }
}

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

template <int parts>
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
                      row = 4 * group + 2 * h + i / 2;
            if (s >= v.sides || row >= width) continue;
            double *at = sums + ((int64_t)s * parts + p) * v.row_places + row;
            if (out)
                *at = c[p][h][i];
            else
                c[p][h][i] = *at;
        }
}

template <typename real, int parts>
__global__ void __launch_bounds__(THREADS, EXPAND_BLOCKS)
    expand(const __grid_constant__ view v, const __grid_constant__ tile_view tiles)
{
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
    const int rows = tiles.begin[tile + 1] - tiles.begin[tile];
    const bool side = group < v.sides, row = 4 * group < width;
    double c[parts][2][4] = {};
    if (!tiles.fresh) move_sums<parts>(v, place, width, false, c);
    int64_t i = low + ((slot - (low - first)) & (WARPS - 1));
    ps_product_visit next = {};
    if (i < high) next = fetch(tiles.visits + i);
    for (; i < high; i += WARPS) {
        const ps_product_visit w = next;
        if (i + WARPS < high) next = fetch(tiles.visits + i + WARPS);
        const real *base =
            reinterpret_cast<const real *>(static_cast<const char *>(v.bases[w.chunk]) + w.offset);
        if (w.kind == PS_PRODUCT_TURNED) {
            expand_turned<real, parts>(c, v, w, base, rows);
            continue;
        }
        const int64_t number_part = w.kind == PS_PRODUCT_RANK ? v.numbers : v.columns;
        const double *numbers =
            (w.kind == PS_PRODUCT_RANK ? v.t : v.x) + (int64_t)group * parts * number_part + w.from;
        for (int l = 0; l < w.count; l += 8)
            expand_step<real, parts>(c, w, base, l, row, side, numbers, number_part);
    }
    move_sums<parts>(v, place, width, true, c);
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
    if (items > 0)
        reduce<real, parts><<<blocks_of(items), THREADS, 0, queue>>>(v, t->item + item, items);
    if (joins > 0)
        join<<<dim3(blocks_of(joins), v.sides * parts), THREADS, 0, queue>>>(v, t->join + join_at,
                                                                             joins, parts);
    expand<real, parts><<<(unsigned)t->tiles[0], THREADS, 0, queue>>>(v, tiles);
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
