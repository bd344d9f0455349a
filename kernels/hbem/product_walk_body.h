/*
 * product_walk_body: how a warp of product_cuda.cu walks over its items or visits, copying for one
 * step after the other (product_steps_body.h).
 */

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

/* Items, from `next` on. */
template <typename real, int parts> struct item_walk {
    const view &v;
    const steps<real, parts> &r;
    const ps_product_item *next, *end;
    const double *x; /* of the lane's side */
    const real *base;
    ps_product_item w;
    int e;
    bool side, over;

    /* Takes the next item. */
    __device__ __forceinline__ void begin()
    {
        over = next == end;
        if (over) return;
        w = *next++;
        base =
            reinterpret_cast<const real *>(static_cast<const char *>(v.bases[w.chunk]) + w.offset);
        e = 0;
    }

    /* Copies for a step. *left: vectors of an item that ends with it; 0: goes on; -1: no step. */
    __device__ __forceinline__ void copy(int stage, int *left, int *to)
    {
        const int group = threadIdx.x % 32 / 4, quarter = threadIdx.x % 4;
        *left = over ? -1 : 0;
        if (!over) {
            const bool there = e + 4 * quarter < w.length;
            const int64_t place = there ? e + 4 * quarter : 0;
#pragma unroll
            for (int p = 0; p < parts; ++p) {
#pragma unroll
                for (int i = 0; i < 2; ++i) {
                    const bool use = there && group + 8 * i < w.count;
                    const int64_t at = (int64_t)(group + 8 * i) * w.stride + p * w.part + place;
                    r.copy_left(stage, i, p, base + (use ? at : 0), use);
                }
                r.copy_right(stage, p, x + p * v.column_places + w.from + place, side && there);
            }
            e += 16;
            if (e >= w.length) {
                *left = w.count;
                *to = w.to;
                begin();
            }
        }
        r.commit();
    }
};

enum { NO_STEP, ACROSS, LOWER, UPPER }; /* what a step of a visit is */

/* Every WARPS-th visit of a tile, from i on below high. */
template <typename real, int parts> struct visit_walk {
    const view &v;
    const steps<real, parts> &r;
    const ps_product_visit *visits;
    int64_t i, high;
    int width, rows; /* of the tile                                    */
    int64_t side;    /* where the lane's side begins, in vectors; 0    */
    bool use_side;   /* there is such a side                           */
    ps_product_visit w, next;
    const real *base;
    int l, half;

    __device__ __forceinline__ void start()
    {
        if (i < high) next = fetch(visits + i);
        begin();
    }
    /* Takes the visit that was fetched, and fetches the next one. */
    __device__ __forceinline__ void begin()
    {
        w = next;
        l = half = 0;
        if (i >= high) return;
        base =
            reinterpret_cast<const real *>(static_cast<const char *>(v.bases[w.chunk]) + w.offset);
        if (i + WARPS < high) next = fetch(visits + i + WARPS);
    }
    /* The tile's rows are vectors: half of them, over 16 places. */
    __device__ __forceinline__ void copy_turned(int stage)
    {
        const int group = threadIdx.x % 32 / 4, quarter = threadIdx.x % 4;
        const bool there = l + 4 * quarter < w.count;
        const int64_t e = there ? l + 4 * quarter : 0;
        const double *x = v.padded + side * v.column_places + w.from + e;
#pragma unroll
        for (int p = 0; p < parts; ++p) {
#pragma unroll
            for (int j = 0; j < 2; ++j) {
                const int at = 4 * group + 2 * half + j;
                const bool use = there && at < rows;
                r.copy_left(stage, j, p, base + (use ? (int64_t)at * w.stride + p * w.part + e : 0),
                            use);
            }
            r.copy_right(stage, p, x + p * v.column_places, use_side && there);
        }
    }
    /* Eight vectors over the tile's rows. */
    __device__ __forceinline__ void copy_across(int stage)
    {
        const int group = threadIdx.x % 32 / 4, quarter = threadIdx.x % 4;
        const bool rank = w.kind == PS_PRODUCT_RANK;
        const int64_t number_part = rank ? v.numbers : v.columns;
        const double *numbers = (rank ? v.t : v.x) + side * number_part + w.from;
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            const int at = l + quarter + 4 * j;
            const bool there = at < w.count, use = there && 4 * group < width;
#pragma unroll
            for (int p = 0; p < parts; ++p) {
                r.copy_left(stage, j, p,
                            base + (use ? (int64_t)at * w.stride + p * w.part + 4 * group : 0),
                            use);
                r.copy_one(stage, p, j, numbers + (there ? p * number_part + at : 0),
                           use_side && there);
            }
        }
    }
    /* Copies for a step, and says what it is. */
    __device__ __forceinline__ int copy(int stage)
    {
        int what = NO_STEP;
        if (i < high && w.kind == PS_PRODUCT_TURNED) {
            what = half ? UPPER : LOWER;
            copy_turned(stage);
            l += half ? 16 : 0;
            half = !half;
        } else if (i < high) {
            what = ACROSS;
            copy_across(stage);
            l += 8;
        }
        if (i < high && l >= w.count) {
            i += WARPS;
            begin();
        }
        r.commit();
        return what;
    }
};
