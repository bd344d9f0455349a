/*
 * product_walk_body: how a warp of product_cuda.cu walks over its items or visits, copying for one
 * step after the other (product_steps_body.h). Addresses of numbers that are not there may lie
 * anywhere: nothing is read from them.
 */
#ifndef PS_KERNELS_HBEM_PRODUCT_WALK_BODY_H
#define PS_KERNELS_HBEM_PRODUCT_WALK_BODY_H

#include "kernels/hbem/product_steps_body.h"

/* What a lane keeps of an item or a visit of its warp: all take it from there at its turn. */
template <typename real> struct record {
    const real *base;
    int32_t count, stride, part, from, kind, to; /* kind: of an item the length */
    __device__ __forceinline__ record of_lane(int lane) const
    {
        record r;
        r.base = reinterpret_cast<const real *>(
            __shfl_sync(~0u, reinterpret_cast<unsigned long long>(base), lane));
        r.count = __shfl_sync(~0u, count, lane);
        r.stride = __shfl_sync(~0u, stride, lane);
        r.part = __shfl_sync(~0u, part, lane);
        r.from = __shfl_sync(~0u, from, lane);
        r.kind = __shfl_sync(~0u, kind, lane);
        r.to = __shfl_sync(~0u, to, lane);
        return r;
    }
};

template <typename real>
__device__ __forceinline__ const real *base_of(const view &v, int chunk, int64_t offset)
{
    return reinterpret_cast<const real *>(static_cast<const char *>(v.bases[chunk]) + offset);
}

/* Items, `count` of them, at most 32. */
template <typename real, int parts> struct item_walk {
    const view &v;
    const steps<real, parts> &r;
    const double *x; /* of the lane's side */
    bool side;
    int count, index;
    record<real> mine, w;
    const real *left_at[2]; /* what the lane copies next */
    const double *right_at;
    int rest; /* places from there to the end of the item */

    __device__ __forceinline__ void start(const ps_product_item *items)
    {
        if (r.lane < count) {
            const ps_product_item item = items[r.lane];
            mine = {base_of<real>(v, item.chunk, item.offset), item.count, item.stride, item.part,
                    item.from, item.length, item.to};
        }
        index = 0;
        begin();
    }
    /* Takes the next item. */
    __device__ __forceinline__ void begin()
    {
        if (index == count) return;
        w = mine.of_lane(index);
        const int group = r.lane / 4, first = r.place(4, r.lane % 4, 0);
        left_at[0] = w.base + (int64_t)group * w.stride + first;
        left_at[1] = left_at[0] + 8 * (int64_t)w.stride;
        right_at = x + w.from + first;
        rest = w.kind - first;
    }

    /* Copies for a step. *left: vectors of an item that ends with it; 0: goes on; -1: no step. */
    __device__ __forceinline__ void copy(int stage, int *left, int *to)
    {
        enum { APART = steps<real, parts>::EACH == 4 ? 2 : 8 }; /* of a lane's numbers 0 and 2 */
        const int group = r.lane / 4;
        *left = index < count ? 0 : -1;
        if (index < count) {
#pragma unroll
            for (int u = 0; u < 2; ++u) {
                const bool there = u * APART < rest;
#pragma unroll
                for (int p = 0; p < parts; ++p) {
                    r.copy_right(stage, p, u, right_at + p * v.column_places + u * APART,
                                 side && there);
#pragma unroll
                    for (int i = 0; i < 2 && u < r.QUAD; ++i)
                        copy_16(r.unit(r.own, stage, r.left_unit(i, p, u)),
                                left_at[i] + p * w.part + u * APART,
                                there && group + 8 * i < w.count);
                }
            }
            left_at[0] += 16;
            left_at[1] += 16;
            right_at += 16;
            rest -= 16;
            if (rest + r.place(4, r.lane % 4, 0) <= 0) {
                *left = w.count;
                *to = w.to;
                ++index;
                begin();
            }
        }
        commit_copies();
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
    record<real> mine, w;
    ps_product_visit next; /* of the 32 that follow those in `mine` */
    int turn, l, half;
    const real *left_at; /* across: what the lane copies next */
    const double *right_at;
    int64_t four, number_part; /* numbers of four vectors; of a part of t or x */

    /* Fetches the lane's visit of 32. */
    __device__ __forceinline__ void fetch(int64_t first)
    {
        const int64_t own = first + WARPS * r.lane;
        if (own >= high) return;
        union {
            int4 halves[2];
            ps_product_visit visit;
        } u;
        static_assert(sizeof(ps_product_visit) == sizeof u.halves, "two loads of 16 bytes");
        u.halves[0] = __ldcs(reinterpret_cast<const int4 *>(visits + own));
        u.halves[1] = __ldcs(reinterpret_cast<const int4 *>(visits + own) + 1);
        next = u.visit;
    }
    __device__ __forceinline__ void start()
    {
        next = {};
        fetch(i);
        turn = 0;
        begin();
    }
    /* Takes the next visit; every 32nd, those that were fetched, and fetches more. */
    __device__ __forceinline__ void begin()
    {
        l = half = 0;
        if (i >= high) return;
        if (turn == 0) {
            mine = {base_of<real>(v, next.chunk, next.offset), next.count, next.stride, next.part,
                    next.from, next.kind, 0};
            fetch(i + 32 * WARPS);
        }
        w = mine.of_lane(turn);
        turn = (turn + 1) % 32;
        four = 4 * (int64_t)w.stride;
        left_at = w.base + (int64_t)(r.lane / 8) * w.stride + r.place(8, r.lane % 8, 0);
        number_part = w.kind == PS_PRODUCT_RANK ? v.numbers : v.columns;
        right_at = (w.kind == PS_PRODUCT_RANK ? v.t : v.x) + side * number_part + w.from +
                   r.lane % 4;
    }
    /* The tile's rows are vectors: half of them, over 16 places. */
    __device__ __forceinline__ void copy_turned(int stage)
    {
        const int group = r.lane / 4, quarter = r.lane % 4;
#pragma unroll
        for (int u = 0; u < 2; ++u) {
            const int place = l + r.place(4, quarter, u * 2 / r.EACH) + u * 2 % r.EACH;
            const bool there = place < w.count;
            const int64_t e = there ? place : 0;
            const double *x = v.padded + side * v.column_places + w.from + e;
#pragma unroll
            for (int p = 0; p < parts; ++p) {
                r.copy_right(stage, p, u, x + p * v.column_places, use_side && there);
#pragma unroll
                for (int j = 0; j < 2 && u < r.QUAD; ++j) {
                    const int at = r.row(group, 2 * half + j);
                    const bool use = there && at < rows;
                    const int64_t of = (int64_t)at * w.stride + p * w.part + e;
                    copy_16(r.unit(r.own, stage, r.left_unit(j, p, u)), w.base + of, use);
                }
            }
        }
    }
    /* Eight vectors over the tile's rows: eight lanes copy of one vector. */
    __device__ __forceinline__ void copy_across(int stage)
    {
        const int rest = w.count - l;
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            const bool use = r.lane / 8 + 4 * j < rest, there = r.lane % 4 + 4 * j < rest;
#pragma unroll
            for (int p = 0; p < parts; ++p) {
#pragma unroll
                for (int u = 0; u < r.QUAD; ++u)
                    copy_16(r.unit(r.put, stage, r.left_unit(j, p, u)),
                            left_at + j * four + p * w.part + r.place(8, 0, u),
                            use && r.place(8, r.lane % 8, u) < width);
                r.copy_one(stage, p, j, right_at + 4 * j + p * number_part, use_side && there);
            }
        }
        left_at += 2 * four;
        right_at += 8;
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
        commit_copies();
        return what;
    }
};

#endif
