/*
 * product_steps_body: what a warp of product_cuda.cu multiplies at once: 16 rows of some matrix by
 * 8 columns, the sides, over 8 terms. Which rows and terms a lane holds is free: they are those
 * that lie side by side in memory, so that loads have 16 bytes.
 */
#ifndef PS_KERNELS_HBEM_PRODUCT_STEPS_BODY_H
#define PS_KERNELS_HBEM_PRODUCT_STEPS_BODY_H

#include "kernels/hbem/product_copies_body.h"

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
 * Lanes copy what the warp needs of a step to shared memory, some steps ahead: units of 16 bytes,
 * each where the lane that wants it looks, so that lanes side by side read what lies side by side
 * in the matrix. Four numbers of a vector are a unit of fp32, and two of fp64, which are 8 numbers
 * (along) or 16 (across) apart. */

template <typename real, int parts> struct steps {
    enum {
        AHEAD = PS_PRODUCT_AHEAD,
        QUAD = 4 * sizeof(real) / 16, /* units of four numbers   */
        EACH = 4 / QUAD,              /* numbers of a unit       */
        LEFT = parts * 2 * QUAD,      /* two fours in each part  */
        UNITS = LEFT + parts * 2,
        BYTES = AHEAD * UNITS * 32 * 16 /* of a warp               */
    };
    int lane;
    /* The first unit that is the lane's own, that it copies across for another, and that another
     * copies across for it. */
    uint32_t own, put, got;
    __device__ steps(void *shared)
    {
        lane = threadIdx.x % 32;
        const uint32_t at = (uint32_t)__cvta_generic_to_shared(shared) +
                            (threadIdx.x / 32) * AHEAD * UNITS * 32 * 16;
        own = at + lane * 16;
        put = at + across_lane(lane / 8, lane % 8) * 16;
        got = at + across_lane(lane % 4, lane / 4) * 16;
    }
    /* Numbers of four that lie in unit u of lane group or quarter i of `lanes`. */
    static __device__ __forceinline__ int place(int lanes, int i, int u)
    {
        return EACH * (i + lanes * u);
    }
    /* The row of number n of four that a lane has across. */
    static __device__ __forceinline__ int row(int group, int n)
    {
        return place(8, group, n / EACH) + n % EACH;
    }
    /* Where the lane that wants units of column `quarter` and rows of `group` looks: no two of 8
     * lanes in the same banks. */
    static __device__ __forceinline__ int across_lane(int quarter, int group)
    {
        return quarter * 8 + (group ^ (2 * quarter));
    }
    static __device__ __forceinline__ uint32_t unit(uint32_t first, int stage, int u)
    {
        return first + (stage * UNITS + u) * 32 * 16;
    }
    /* Two vectors, 0 and 1. */
    static __device__ __forceinline__ int left_unit(int vector, int part, int u)
    {
        return (part * 2 + vector) * QUAD + u;
    }
    /* Four numbers of a side. */
    __device__ __forceinline__ void copy_right(int stage, int part, int u, const double *from,
                                               bool there) const
    {
        copy_16_kept(unit(own, stage, LEFT + part * 2 + u), from, there);
    }
    /* One number of a side: i of two. */
    __device__ __forceinline__ void copy_one(int stage, int part, int i, const double *from,
                                             bool there) const
    {
        copy_8_kept(unit(own, stage, LEFT + part * 2) + 8 * i, from, there);
    }
    /* Waits for the oldest step. */
    __device__ __forceinline__ void wait() const { wait_copies<AHEAD - 1>(); }
    __device__ __forceinline__ void left(uint32_t first, int stage, int vector, int part,
                                         double out[4]) const
    {
#pragma unroll
        for (int u = 0; u < QUAD; ++u) {
            real q[EACH];
            load_16(unit(first, stage, left_unit(vector, part, u)), q);
#pragma unroll
            for (int i = 0; i < EACH; ++i) out[EACH * u + i] = q[i];
        }
    }
    __device__ __forceinline__ void right(int stage, int part, int u, double out[2]) const
    {
        load_16(unit(own, stage, LEFT + part * 2 + u), out);
    }
    /* c += the two vectors, in rows of c, times four numbers. */
    __device__ __forceinline__ void along(int stage, double (*c)[4]) const
    {
        double a[parts][2][4];
#pragma unroll
        for (int p = 0; p < parts; ++p)
            for (int v = 0; v < 2; ++v) left(own, stage, v, p, a[p][v]);
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
            for (int v = 0; v < 2; ++v) left(got, stage, v, p, a[p][v]);
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

#endif
