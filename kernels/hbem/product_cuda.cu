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

/* ---- steps: what a warp multiplies at once ----
 * Each lane copies what it needs of a step to shared memory, some steps ahead, and reads back only
 * what it has copied itself: no lane waits for another. Units of 16 bytes, those of the lanes side
 * by side. */

template <typename real, int parts> struct steps {
    enum {
        AHEAD = 4,
        QUAD = 4 * sizeof(real) / 16, /* units of four numbers   */
        LEFT = parts * 2 * QUAD,      /* two of them in each part */
        UNITS = LEFT + parts * 2,
        BYTES = AHEAD * UNITS * 32 * 16 /* of a warp               */
    };
    uint32_t at; /* of this lane's first unit */
    __device__ steps(void *shared)
    {
        at = (uint32_t)__cvta_generic_to_shared(shared) +
             ((threadIdx.x / 32) * AHEAD * UNITS * 32 + threadIdx.x % 32) * 16;
    }
    __device__ __forceinline__ uint32_t unit(int stage, int u) const
    {
        return at + (stage * UNITS + u) * 512;
    }
    /* Two neighbouring fours of numbers of the matrix: vectors 0 and 1. */
    __device__ __forceinline__ void copy_left(int stage, int vector, int part, const real *from,
                                              bool there) const
    {
#pragma unroll
        for (int u = 0; u < QUAD; ++u)
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                             unit(stage, (part * 2 + vector) * QUAD + u)),
                         "l"(reinterpret_cast<const char *>(from) + 16 * u), "r"(there ? 16 : 0)
                         : "memory");
    }
    /* Four numbers of a side. */
    __device__ __forceinline__ void copy_right(int stage, int part, const double *from,
                                               bool there) const
    {
#pragma unroll
        for (int u = 0; u < 2; ++u)
            asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(
                             unit(stage, LEFT + part * 2 + u)),
                         "l"(from + 2 * u), "r"(there ? 16 : 0)
                         : "memory");
    }
    /* One number of a side: i of two. */
    __device__ __forceinline__ void copy_one(int stage, int part, int i, const double *from,
                                             bool there) const
    {
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(
                         unit(stage, LEFT + part * 2) + 8 * i),
                     "l"(from), "r"(there ? 8 : 0)
                     : "memory");
    }
    __device__ __forceinline__ void commit() const
    {
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    /* Waits for the oldest step. */
    __device__ __forceinline__ void wait() const
    {
        asm volatile("cp.async.wait_group %0;" ::"n"(AHEAD - 1) : "memory");
    }
    __device__ __forceinline__ void left(int stage, int vector, int part, double out[4]) const
    {
#pragma unroll
        for (int u = 0; u < QUAD; ++u) {
            const uint32_t from = unit(stage, (part * 2 + vector) * QUAD + u);
            if (QUAD == 1) {
                float q[4];
                asm volatile("ld.shared.v4.f32 {%0,%1,%2,%3}, [%4];"
                             : "=f"(q[0]), "=f"(q[1]), "=f"(q[2]), "=f"(q[3])
                             : "r"(from)
                             : "memory");
                for (int i = 0; i < 4; ++i) out[i] = q[i];
            } else
                asm volatile("ld.shared.v2.f64 {%0,%1}, [%2];"
                             : "=d"(out[2 * u]), "=d"(out[2 * u + 1])
                             : "r"(from)
                             : "memory");
        }
    }
    __device__ __forceinline__ void right(int stage, int part, int u, double out[2]) const
    {
        asm volatile("ld.shared.v2.f64 {%0,%1}, [%2];"
                     : "=d"(out[0]), "=d"(out[1])
                     : "r"(unit(stage, LEFT + part * 2 + u))
                     : "memory");
    }
    /* c += the two vectors, in rows of c, times four numbers. */
    __device__ __forceinline__ void along(int stage, double (*c)[4]) const
    {
        double a[parts][2][4];
#pragma unroll
        for (int p = 0; p < parts; ++p)
            for (int v = 0; v < 2; ++v) left(stage, v, p, a[p][v]);
#pragma unroll
        for (int q = 0; q < 2; ++q) {
            double l[parts][4], r[parts][2];
#pragma unroll
            for (int p = 0; p < parts; ++p) {
                for (int i = 0; i < 4; ++i) l[p][i] = a[p][i % 2][2 * q + i / 2];
                right(stage, p, q, r[p]);
            }
            multiply_parts<parts>(c, l, r);
        }
    }
    /* c += four rows of each vector times the two numbers. */
    __device__ __forceinline__ void across(int stage, double (*c)[2][4]) const
    {
        double a[parts][2][4], r[parts][2];
#pragma unroll
        for (int p = 0; p < parts; ++p) {
            for (int v = 0; v < 2; ++v) left(stage, v, p, a[p][v]);
            right(stage, p, 0, r[p]);
        }
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            double l[parts][4], own[parts][4];
#pragma unroll
            for (int p = 0; p < parts; ++p)
                for (int i = 0; i < 4; ++i) {
                    l[p][i] = a[p][i / 2][2 * h + i % 2];
                    own[p][i] = c[p][h][i];
                }
            multiply_parts<parts>(own, l, r);
#pragma unroll
            for (int p = 0; p < parts; ++p)
                for (int i = 0; i < 4; ++i) c[p][h][i] = own[p][i];
        }
    }
};

/* ---- reduce: t = V^T x ---- */

enum { ITEMS = 8 }; /* one after the other by a warp */

/* Where a warp stands with its copies. */
template <typename real> struct item_walk {
    const ps_product_item *next, *end;
    const real *base;
    int e, length, stride, part, from, count, to;
    __device__ __forceinline__ void begin(const view &v)
    {
        const ps_product_item w = *next++;
        base =
            reinterpret_cast<const real *>(static_cast<const char *>(v.bases[w.chunk]) + w.offset);
        e = 0;
        length = w.length;
        stride = w.stride;
        part = w.part;
        from = w.from;
        count = w.count;
        to = w.to;
    }
};

template <typename real, int parts>
__global__ void __launch_bounds__(THREADS)
    reduce(const __grid_constant__ view v, const ps_product_item *items, int64_t count)
{
    typedef steps<real, parts> ring;
    extern __shared__ int4 shared[];
    const ring r(shared);
    const int lane = threadIdx.x % 32, group = lane / 4, quarter = lane % 4;
    const int64_t first = ((int64_t)blockIdx.x * WARPS + threadIdx.x / 32) * ITEMS;
    if (first >= count) return;
    const bool side = group < v.sides;
    const double *x = v.padded + (side ? (int64_t)group * parts * v.column_places : 0);
    item_walk<real> w;
    w.next = items + first;
    w.end = items + (first + ITEMS < count ? first + ITEMS : count);
    w.begin(v);
    int to[ring::AHEAD],
        left[ring::AHEAD]; /* left: vectors of an item that ends; 0: goes on; -1: no step */
    bool over = false;
    auto copy = [&](int stage) {
        left[stage] = over ? -1 : 0;
        if (!over) {
            const bool there = w.e + 4 * quarter < w.length;
            const int64_t place = there ? w.e + 4 * quarter : 0;
#pragma unroll
            for (int p = 0; p < parts; ++p) {
#pragma unroll
                for (int i = 0; i < 2; ++i) {
                    const bool use = there && group + 8 * i < w.count;
                    r.copy_left(stage, i, p,
                                use ? w.base + (int64_t)(group + 8 * i) * w.stride + p * w.part +
                                          place
                                    : w.base,
                                use);
                }
                r.copy_right(stage, p, x + p * v.column_places + w.from + place, side && there);
            }
            w.e += 16;
            if (w.e >= w.length) {
                left[stage] = w.count;
                to[stage] = w.to;
                if (w.next < w.end)
                    w.begin(v);
                else
                    over = true;
            }
        }
        r.commit();
    };
#pragma unroll
    for (int stage = 0; stage < ring::AHEAD; ++stage) copy(stage);
    double c[parts][4] = {};
    for (;;) {
#pragma unroll
        for (int stage = 0; stage < ring::AHEAD; ++stage) {
            r.wait();
            if (left[stage] < 0) return;
            r.along(stage, c);
            if (left[stage] > 0) {
#pragma unroll
                for (int p = 0; p < parts; ++p)
#pragma unroll
                    for (int i = 0; i < 4; ++i) {
                        const int s = 2 * quarter + i % 2, l = group + 8 * (i / 2);
                        if (s < v.sides && l < left[stage])
                            v.t[((int64_t)s * parts + p) * v.numbers + to[stage] + l] = c[p][i];
                        c[p][i] = 0;
                    }
            }
            copy(stage);
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

/* Where a warp stands with its copies: visit i of those below high, at vector or place l of it. */
struct visit_walk {
    int64_t i, high;
    ps_product_visit w, next;
    int l, half;
};

template <typename real, int parts>
__global__ void __launch_bounds__(THREADS)
    expand(const __grid_constant__ view v, const __grid_constant__ tile_view tiles)
{
    typedef steps<real, parts> ring;
    enum { NONE, ACROSS, LOWER, UPPER }; /* what a step is */
    extern __shared__ int4 shared[];
    const ring r(shared);
    const int tile = blockIdx.x, slot = threadIdx.x / 32;
    const int group = threadIdx.x % 32 / 4, quarter = threadIdx.x % 4;
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
    const int64_t mine = side ? (int64_t)group * parts : 0;
    visit_walk w = {};
    w.high = high;
    w.i = low + ((slot - (low - first)) & (WARPS - 1));
    const real *base = nullptr;
    auto begin = [&]() { /* the visit that was fetched; fetches the next one */
                         w.w = w.next;
                         w.l = w.half = 0;
                         if (w.i >= high) return;
                         base = reinterpret_cast<const real *>(
                             static_cast<const char *>(v.bases[w.w.chunk]) + w.w.offset);
                         if (w.i + WARPS < high) w.next = fetch(tiles.visits + w.i + WARPS);
    };
    auto copy = [&](int stage) {
        int what = NONE;
        if (w.i < high) {
            if (w.w.kind == PS_PRODUCT_TURNED) {
                what = w.half ? UPPER : LOWER;
                const bool there = w.l + 4 * quarter < w.w.count;
                const int64_t e = there ? w.l + 4 * quarter : 0;
                const double *x = v.padded + mine * v.column_places + w.w.from + e;
#pragma unroll
                for (int p = 0; p < parts; ++p) {
#pragma unroll
                    for (int i = 0; i < 2; ++i) {
                        const int at = 4 * group + 2 * w.half + i;
                        const bool use = there && at < rows;
                        r.copy_left(stage, i, p,
                                    use ? base + (int64_t)at * w.w.stride + p * w.w.part + e : base,
                                    use);
                    }
                    r.copy_right(stage, p, x + p * v.column_places, side && there);
                }
                w.l += w.half ? 16 : 0;
                w.half = !w.half;
            } else {
                what = ACROSS;
                const int64_t number_part = w.w.kind == PS_PRODUCT_RANK ? v.numbers : v.columns;
                const double *numbers =
                    (w.w.kind == PS_PRODUCT_RANK ? v.t : v.x) + mine * number_part + w.w.from;
#pragma unroll
                for (int i = 0; i < 2; ++i) {
                    const int at = w.l + quarter + 4 * i;
                    const bool there = at < w.w.count, use = there && row;
#pragma unroll
                    for (int p = 0; p < parts; ++p) {
                        r.copy_left(stage, i, p,
                                    use ? base + (int64_t)at * w.w.stride + p * w.w.part + 4 * group
                                        : base,
                                    use);
                        r.copy_one(stage, p, i, numbers + (there ? p * number_part + at : 0),
                                   side && there);
                    }
                }
                w.l += 8;
            }
            if (w.l >= w.w.count) {
                w.i += WARPS;
                begin();
            }
        }
        r.commit();
        return what;
    };
    if (w.i < high) w.next = fetch(tiles.visits + w.i);
    begin();
    int what[ring::AHEAD];
#pragma unroll
    for (int stage = 0; stage < ring::AHEAD; ++stage) what[stage] = copy(stage);
    double c[parts][2][4] = {};
    if (!tiles.fresh) move_sums<parts>(v, place, width, false, c);
    for (bool going = true; going;) {
#pragma unroll
        for (int stage = 0; stage < ring::AHEAD; ++stage) {
            r.wait();
            if (what[stage] == NONE) {
                going = false;
                break;
            }
            if (what[stage] == ACROSS)
                r.across(stage, c);
            else {
#pragma unroll
                for (int h = 0; h < 2; ++h) {
                    if ((what[stage] == UPPER) != (h == 1)) continue;
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
            what[stage] = copy(stage);
        }
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
